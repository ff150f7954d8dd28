#include "repl/display.h"

#include "support/characters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace melix::repl {

using interp::Value;
using types::TypeId;
using types::TypeKind;

namespace {

constexpr size_t mostDepth = 100; ///< of values in values
constexpr size_t mostLines = 400; ///< of one value, some more where it ends in many others

/// Which of many parts are shown: all, or so many of both ends.
struct Ends {
  size_t count, head, tail;
  Ends(size_t n, size_t most) : count(n), head(n), tail(0) {
    if (n <= most) return;
    head = (most + 1) / 2;
    tail = most / 2;
  }
  bool isCut() const { return head + tail < count; }
  size_t shown() const { return head + tail; }
  size_t number(size_t k) const { return k < head ? k : count - tail + (k - head); }
};

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

std::string padded(const std::string& text, size_t columns, bool isRight) {
  const size_t own = columnsOf(text);
  const std::string space(own < columns ? columns - own : 0, ' ');
  return isRight ? space + text : text + space;
}

class Display {
public:
  Display(types::TypeStore& types, const ShowLeaf& show, const DisplayOptions& options)
      : types_(types), show_(show), options_(options) {}

  /// Lines that are at most so many columns long where that can be.
  std::vector<std::string> lines(TypeId type, const Value& value, size_t columns, size_t depth = 0) {
    if (types_.kind(type) == TypeKind::Pack)
      return lines(types_[type].parts[0], opened(type, value), columns, depth);
    const bool isMatrix = types_.kind(type) == TypeKind::Array && isTable(type) && types_.rank(type) > 1;
    if (!isMatrix) {
      std::string line;
      ++made_;
      if (inLine(type, value, columns, depth, line)) return {line};
    }
    if (depth > mostDepth) return {"…"};
    switch (types_.kind(type)) {
    case TypeKind::Array:
      return isTable(type) ? array(type, value, columns) : elements(type, value, columns, depth);
    case TypeKind::Struct:
    case TypeKind::Enum:
    case TypeKind::Tuple: return parts(type, value, columns, depth);
    case TypeKind::List: return elements(type, value, columns, depth);
    default: return {show_(type, value)};
    }
  }

private:
  struct Part {
    std::string name; ///< empty of a positional one
    TypeId type;
    Value value;
  };
  /// The parts of a tuple, a struct or a case of an enum, with its name before the bracket.
  struct Whole {
    std::string name;
    std::vector<Part> parts;
  };

  /// The array in a row of a ragged one, which has its sizes beside it.
  Value opened(TypeId pack, const Value& value) const { return value.part(types_[pack].number); }
  /// The type with the sizes of the value.
  std::string typeOf(TypeId array, const interp::Array& a) const {
    std::string out = types_.print(types_.element(array)) + "[";
    for (size_t k = 0; k < a.dims.size(); ++k) out += (k > 0 ? ", " : "") + std::to_string(a.dims[k]);
    return out + "]";
  }

  static bool isEmptyArray(const Value& value) { return value.asArray().count == 0; }
  /// Whether an array stands in columns: its elements are numbers or the like, or they are texts in rows.
  bool isTable(TypeId type) const {
    const TypeId element = types_.element(type);
    return types_.isScalar(element) || (types_.kind(element) == TypeKind::Str && types_.rank(type) > 1);
  }

  Whole wholeOf(TypeId type, const Value& value) {
    Whole out;
    if (types_.kind(type) == TypeKind::Tuple) {
      const std::vector<TypeId> inner = types_[type].parts;
      for (size_t k = 0; k < inner.size(); ++k) out.parts.push_back({"", inner[k], value.part(k)});
      return out;
    }
    const types::Record& record = types_.recordInfo(types_[type].record);
    const uint32_t tag = record.isEnum ? value.asRecord().tag : 0;
    out.name = std::string(types_.names.text(record.isEnum ? record.cases[tag].name : record.name));
    const std::vector<types::Field> fields = record.cases[tag].fields;
    for (uint32_t k = 0; k < fields.size(); ++k) {
      const std::string name(fields[k].name ? types_.names.text(fields[k].name) : "");
      out.parts.push_back({name, types_.fieldType(type, tag, k), value.part(k)});
    }
    return out;
  }

  bool isPlainRecord(TypeId type) const {
    const TypeKind kind = types_.kind(type);
    if (kind == TypeKind::Tuple) return true;
    if (kind != TypeKind::Struct && kind != TypeKind::Enum) return false;
    return types_.recordInfo(types_[type].record).form == types::RecordForm::Plain;
  }

  /// The value on a line; false if that is longer than so many columns, or cuts anything.
  bool inLine(TypeId type, const Value& value, size_t columns, size_t depth, std::string& out) {
    if (depth > mostDepth) return false;
    auto add = [&](const std::string& text) {
      out += text;
      return columnsOf(out) <= columns;
    };
    auto within = [&](TypeId inner, const Value& part) {
      return inLine(inner, part, columns, depth + 1, out);
    };
    switch (types_.kind(type)) {
    case TypeKind::Pack: return within(types_[type].parts[0], opened(type, value));
    case TypeKind::Array: return inLine(type, value, 0, columns, depth, out);
    case TypeKind::List: {
      const interp::List& list = value.asList();
      if (list.items.size() > columns || !add("[")) return false;
      for (size_t k = 0; k < list.items.size(); ++k)
        if ((k > 0 && !add(", ")) || !element(types_[type].parts[0], value.part(k), columns, depth + 1, out))
          return false;
      return add("]");
    }
    case TypeKind::Tuple:
    case TypeKind::Struct:
    case TypeKind::Enum: {
      if (!isPlainRecord(type)) return isSmallDict(type, value, columns) && add(show_(type, value));
      const Whole whole = wholeOf(type, value);
      if (whole.parts.empty()) return add(show_(type, value));
      if (!add(whole.name + "(")) return false;
      for (size_t k = 0; k < whole.parts.size(); ++k) {
        const Part& part = whole.parts[k];
        if ((k > 0 && !add(", ")) || (!part.name.empty() && !add(part.name + ": ")) ||
            !within(part.type, part.value))
          return false;
      }
      return add(types_.kind(type) == TypeKind::Tuple && whole.parts.size() == 1 ? ",)" : ")");
    }
    default: return add(show_(type, value));
    }
  }

  /// The same of an array: the elements over its axes from the one of this number on.
  bool inLine(TypeId type, const Value& value, size_t axis, size_t columns, size_t depth, std::string& out,
              int64_t first = 0) {
    const interp::Array& a = value.asArray();
    const auto extent = static_cast<size_t>(a.dims[axis]);
    if (extent > columns) return false;
    int64_t stride = 1;
    for (size_t k = axis + 1; k < a.dims.size(); ++k) stride *= a.dims[k];
    out += '[';
    for (size_t k = 0; k < extent; ++k) {
      if (k > 0) out += ", ";
      const int64_t at = first + static_cast<int64_t>(k) * stride;
      const bool fits = axis + 1 < a.dims.size()
                            ? inLine(type, value, axis + 1, columns, depth, out, at)
                            : element(types_.element(type), elementOf(a, at), columns, depth + 1, out);
      if (!fits) return false;
    }
    out += ']';
    return columnsOf(out) <= columns;
  }

  bool element(TypeId type, const Value& value, size_t columns, size_t depth, std::string& out) {
    if (!types_.isScalar(type)) return inLine(type, value, columns, depth, out);
    out += shortOf(type, value);
    return columnsOf(out) <= columns;
  }

  static Value elementOf(const interp::Array& a, int64_t at) { return Value::sharing(a.element, a.at(at)); }

  bool isSmallDict(TypeId type, const Value& value, size_t columns) {
    return entriesOf(type, value) <= columns;
  }
  /// How many entries a Dict or Set has.
  size_t entriesOf(TypeId type, const Value& value) {
    const bool isSet = types_.recordInfo(types_[type].record).form == types::RecordForm::Set;
    return (isSet ? value.part(0) : value)
        .part(static_cast<size_t>(types::DictField::Entries))
        .asList()
        .items.size();
  }

  std::vector<std::string> parts(TypeId type, const Value& value, size_t columns, size_t depth) {
    if (!isPlainRecord(type)) return dict(type, value, columns, depth);
    const Whole whole = wholeOf(type, value);
    std::vector<std::string> out{whole.name + "("};
    const Ends ends(whole.parts.size(), std::max<size_t>(options_.rows, whole.parts.size() > 200 ? 20 : 200));
    for (size_t k = 0; k < ends.shown(); ++k) {
      if (ends.isCut() && k == ends.head) out.push_back("  " + leftOut("…", ends));
      const Part& part = whole.parts[ends.number(k)];
      append(out, part.name.empty() ? "" : part.name + ": ", part.type, part.value, columns, depth);
    }
    out.emplace_back(")");
    return out;
  }

  /// Adds the lines of a part, after its name and indented.
  void append(std::vector<std::string>& out, const std::string& name, TypeId type, const Value& value,
              size_t columns, size_t depth) {
    if (made_ >= mostLines) {
      if (out.back() != "  …") out.emplace_back("  …");
      return;
    }
    const size_t used = 2 + columnsOf(name);
    const std::vector<std::string> own =
        lines(type, value, columns > used + 20 ? columns - used : 20, depth + 1);
    for (size_t k = 0; k < own.size(); ++k) out.push_back("  " + (k == 0 ? name : "") + own[k]);
  }

  /// A List, or an array whose elements are no numbers: an element a line.
  std::vector<std::string> elements(TypeId type, const Value& value, size_t columns, size_t depth) {
    const bool isList = types_.kind(type) == TypeKind::List;
    const size_t count = isList ? value.asList().items.size() : static_cast<size_t>(value.asArray().count);
    const TypeId inner = isList ? types_[type].parts[0] : types_.element(type);
    std::vector<std::string> out{types_.print(type) + (isList ? " of " + std::to_string(count) + ":" : ":")};
    if (isList && types_.isScalar(inner)) {
      table({inner, [&value](size_t k) { return value.part(k); }}, Ends(1, 1), count, columns, out);
      return out;
    }
    const Ends ends(count, options_.rows);
    for (size_t k = 0; k < ends.shown(); ++k) {
      if (ends.isCut() && k == ends.head) out.push_back("  " + leftOut("…", ends));
      const size_t at = ends.number(k);
      append(out, "", inner, isList ? value.part(at) : elementOf(value.asArray(), static_cast<int64_t>(at)),
             columns, depth);
    }
    return out;
  }

  /// A Dict or Set: an entry a line. Places of entries that were removed hold none.
  std::vector<std::string> dict(TypeId type, const Value& value, size_t columns, size_t depth) {
    const bool isSet = types_.recordInfo(types_[type].record).form == types::RecordForm::Set;
    const TypeId inner = isSet ? types_.fieldType(type, 0, 0) : type;
    const Value own = isSet ? value.part(0) : value;
    constexpr auto entries = static_cast<uint32_t>(types::DictField::Entries);
    const Value list = own.part(entries);
    if (own.part(static_cast<size_t>(types::DictField::Gone)).asInteger() > 0) return {show_(type, value)};
    const TypeId pair = types_[types_.fieldType(inner, 0, entries)].parts[0];
    const size_t count = list.asList().items.size();
    std::vector<std::string> out{types_.print(type) + " of " + std::to_string(count) + ":"};
    const Ends ends(count, options_.rows);
    for (size_t k = 0; k < ends.shown(); ++k) {
      if (ends.isCut() && k == ends.head) out.push_back("  " + leftOut("…", ends));
      const Value entry = list.part(ends.number(k));
      const std::vector<TypeId> types = types_[pair].parts;
      const std::string key = join(lines(types[0], entry.part(0), columns, depth + 1));
      if (isSet)
        out.push_back("  " + key);
      else
        append(out, key + ": ", types[1], entry.part(1), columns, depth);
    }
    return out;
  }

  // Arrays and lists of numbers.

  /// Numbers one after another.
  struct Numbers {
    TypeId type; ///< of one
    std::function<Value(size_t)> at;
  };

  std::vector<std::string> array(TypeId type, const Value& value, size_t columns) {
    const interp::Array& a = value.asArray();
    std::vector<std::string> out{typeOf(type, a) + ":"};
    if (isEmptyArray(value)) {
      out[0] += " (empty)";
      return out;
    }
    const size_t rank = a.dims.size();
    const auto across = static_cast<size_t>(a.dims[rank - 1]),
               rows = rank > 1 ? static_cast<size_t>(a.dims[rank - 2]) : 1;
    const size_t slice = across * rows;
    const Ends slices(static_cast<size_t>(a.count) / slice, rank > 2 ? 4 : 1);
    for (size_t s = 0; s < slices.shown(); ++s) {
      if (slices.isCut() && s == slices.head) out.push_back(leftOut("…", slices));
      const size_t number = slices.number(s);
      if (rank > 2) out.push_back(headingOf(a, static_cast<int64_t>(number)));
      const Numbers numbers{types_.element(type), [&a, first = number * slice](size_t k) {
                              return elementOf(a, static_cast<int64_t>(first + k));
                            }};
      table(numbers, Ends(rows, rank > 2 ? options_.rows / 2 : options_.rows), across, columns, out);
    }
    return out;
  }

  /// The place of a matrix in an array of more axes: `[0, 2, :, :]`.
  static std::string headingOf(const interp::Array& a, int64_t number) {
    std::string out = ":, :]";
    for (size_t k = a.dims.size() - 2; k-- > 0;) {
      out = std::to_string(number % a.dims[k]) + ", " + out;
      number /= a.dims[k];
    }
    return "[" + out;
  }

  static std::string leftOut(const char* sign, const Ends& ends) {
    return std::string(sign) + " (" + std::to_string(ends.count - ends.shown()) + " more)";
  }

  /// As many columns as fit: fewer and fewer of both ends are tried.
  void table(const Numbers& numbers, const Ends& rows, size_t across, size_t columns,
             std::vector<std::string>& out) {
    for (size_t most = std::min(across, columns / 2);; most = most > 16 ? most * 7 / 8 : most - 1) {
      const Ends ends(across, std::max<size_t>(most, 1));
      const std::vector<std::vector<std::string>> cells = cellsOf(numbers, rows, ends);
      std::vector<size_t> widths(ends.shown(), 0);
      size_t all = ends.isCut() ? 3 : 0;
      for (size_t c = 0; c < widths.size(); ++c) {
        for (const std::vector<std::string>& row : cells) widths[c] = std::max(widths[c], columnsOf(row[c]));
        all += 2 + widths[c];
      }
      if (all > columns && most > 2) continue;
      for (size_t r = 0; r < cells.size(); ++r) {
        if (rows.isCut() && r == rows.head) out.push_back("  " + leftOut("⋮", rows));
        out.push_back(rowOf(cells[r], widths, ends, isRight(types_.kind(numbers.type))));
      }
      return;
    }
  }

  static std::string rowOf(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                           const Ends& ends, bool isRightAligned) {
    std::string line;
    for (size_t c = 0; c < widths.size(); ++c) {
      if (ends.isCut() && c == ends.head) line += "  …";
      line += "  " + padded(cells[c], widths[c], isRightAligned);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  static bool isRight(TypeKind kind) { return types::isFloatKind(kind) || types::isIntKind(kind); }

  std::vector<std::vector<std::string>> cellsOf(const Numbers& numbers, const Ends& rows,
                                                const Ends& columns) const {
    std::vector<std::vector<std::string>> cells(rows.shown());
    std::vector<double> floats;
    for (size_t r = 0; r < rows.shown(); ++r)
      for (size_t c = 0; c < columns.shown(); ++c) {
        const Value number = numbers.at(rows.number(r) * columns.count + columns.number(c));
        if (const std::optional<double> x = asFloat(numbers.type, number))
          floats.push_back(*x);
        else
          cells[r].push_back(show_(numbers.type, number));
      }
    if (floats.empty()) return cells;
    const std::string format = formatOf(floats);
    for (size_t k = 0; k < floats.size(); ++k)
      cells[k / columns.shown()].push_back(printed(format, floats[k]));
    return cells;
  }

  std::optional<double> asFloat(TypeId type, const Value& number) const {
    if (types_.kind(type) == TypeKind::F32) return number.asF32();
    if (types_.kind(type) == TypeKind::F64) return number.asF64();
    return std::nullopt;
  }

  /// A number among others on a line: floats have no more digits than are wanted.
  std::string shortOf(TypeId type, const Value& number) const {
    std::string whole = show_(type, number);
    const std::optional<double> x = asFloat(type, number);
    const auto digits =
        std::count_if(whole.begin(), whole.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!x || !std::isfinite(*x) || digits <= options_.digits || whole.ends_with(".0")) return whole;
    std::string text = printed("%." + std::to_string(options_.digits) + "g", *x);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  /// One format for all: as many decimals as any of them needs for the digits that are wanted, or a power of
  /// ten where the numbers are too far apart.
  std::string formatOf(const std::vector<double>& numbers) const {
    double largest = 0, least = HUGE_VAL;
    for (double x : numbers) {
      if (!std::isfinite(x) || x == 0) continue;
      largest = std::max(largest, std::fabs(x));
      least = std::min(least, std::fabs(x));
    }
    const std::string power = "%." + std::to_string(options_.digits - 1) + "e";
    if (largest >= 1e9 || (largest > 0 && largest < 1e-4)) return power;
    const int whole = largest >= 1 ? static_cast<int>(std::floor(std::log10(largest))) + 1 : 0;
    const int most =
        std::max(1, options_.digits - std::max(whole, 1) + (largest < 1 ? leadingZeros(largest) : 0));
    if (least < 0.5 * std::pow(10, -most)) return power; // it would read as 0
    int decimals = 1;
    for (double x : numbers) {
      if (!std::isfinite(x)) continue;
      const std::string text = printed("%." + std::to_string(most) + "f", x);
      const size_t last = text.find_last_not_of('0'), point = text.find('.');
      decimals = std::max(decimals, static_cast<int>(last - point));
    }
    return "%." + std::to_string(decimals) + "f";
  }
  /// Of a number below 1: how many digits after the point come before those that count, and one.
  static int leadingZeros(double x) { return x > 0 ? static_cast<int>(-std::floor(std::log10(x))) : 0; }

  static std::string printed(const std::string& format, double x) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    char text[400];
    const int length = std::snprintf(text, sizeof text, format.c_str(), x);
    return std::string(text, static_cast<size_t>(length));
  }

  types::TypeStore& types_;
  const ShowLeaf& show_;
  const DisplayOptions options_;
  size_t made_ = 0; ///< lines so far, but for brackets and tables
};

} // namespace

std::string display(types::TypeStore& types, TypeId type, const Value& value, const ShowLeaf& show,
                    const DisplayOptions& options) {
  return join(Display(types, show, options).lines(type, value, options.columns));
}

} // namespace melix::repl
