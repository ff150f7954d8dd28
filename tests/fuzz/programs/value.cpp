#include "fuzz/programs/value.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace melix::fuzz::programs {

namespace {

constexpr int64_t shownWhole = 1000, shownAtEnd = 3;

std::string realText(const Value& v) {
  if (std::isnan(v.d)) return "nan";
  if (std::isinf(v.d)) return v.d > 0 ? "inf" : "-inf";
  char buffer[64];
  auto end =
      v.kind == Kind::F32
          ? std::to_chars(buffer, buffer + 64, static_cast<float>(v.d), std::chars_format::scientific).ptr
          : std::to_chars(buffer, buffer + 64, v.d, std::chars_format::scientific).ptr;
  std::string shortest(buffer, end), sign;
  if (shortest[0] == '-') sign = "-", shortest.erase(0, 1);
  size_t e = shortest.find('e');
  int exponent = std::atoi(shortest.c_str() + e + 1);
  std::string digits = shortest.substr(0, 1) + (e > 2 ? shortest.substr(2, e - 2) : "");
  if (v.d != 0 && (exponent < -5 || exponent >= 16))
    return sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") + "e" +
           std::to_string(exponent);
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

struct ArrayText {
  const std::vector<Value>& items;
  const std::vector<int64_t>& dims;
  bool oneLine, shorten;
  std::string out{};

  void axis(size_t depth, int64_t first) {
    out += "[";
    int64_t stride = 1;
    for (size_t k = depth + 1; k < dims.size(); ++k) stride *= dims[k];
    bool inner = depth + 1 == dims.size();
    for (int64_t i = 0; i < dims[depth]; ++i) {
      if (i > 0) out += inner || oneLine ? ", " : ",\n" + std::string(depth + 1, ' ');
      if (shorten && dims[depth] > 2 * shownAtEnd && i == shownAtEnd) {
        out += "…";
        i = dims[depth] - shownAtEnd - 1;
        continue;
      }
      inner ? void(out += text(items[static_cast<size_t>(first + i)], true))
            : axis(depth + 1, first + i * stride);
    }
    out += "]";
  }
};

std::string arrayText(const std::vector<Value>& items, const std::vector<int64_t>& dims, bool oneLine) {
  if (items.empty()) return "[]";
  ArrayText writer{items, dims, oneLine, static_cast<int64_t>(items.size()) > shownWhole};
  writer.axis(0, 0);
  return writer.out;
}

std::string recordText(const Object& o) {
  std::string out = o.record ? o.record->name : "";
  if (o.record && o.items.empty()) return out;
  out += "(";
  for (size_t k = 0; k < o.items.size(); ++k)
    out += (k ? ", " : "") + (o.record ? o.record->fields[k].first + ": " : "") + text(o.items[k], true);
  return out + ")";
}

} // namespace

Value integerValue(Kind kind, int64_t exact) {
  unsigned bits = bitsOf(kind);
  if (bits < 64) {
    auto low = static_cast<uint64_t>(exact) << (64 - bits);
    exact =
        isSigned(kind) ? static_cast<int64_t>(low) >> (64 - bits) : static_cast<int64_t>(low >> (64 - bits));
  }
  return {kind, exact};
}

Value realValue(Kind kind, double value) {
  return {kind, 0, kind == Kind::F32 ? static_cast<double>(static_cast<float>(value)) : value};
}

Value boolValue(bool value) { return {Kind::Bool, value}; }

Value arrayValue(std::vector<int64_t> dims, std::vector<Value> items) {
  auto o = std::make_shared<Object>();
  o->dims = std::move(dims);
  o->items = std::move(items);
  return {Kind::Array, 0, 0, std::move(o)};
}

Value aggregate(Kind kind, std::vector<Value> items, const Record* record) {
  auto o = std::make_shared<Object>();
  o->items = std::move(items);
  o->record = record;
  return {kind, 0, 0, std::move(o)};
}

Object& own(Value& value) {
  if (value.o.use_count() > 1) value.o = std::make_shared<Object>(*value.o);
  return *value.o;
}

int64_t elements(const std::vector<int64_t>& dims) {
  int64_t out = 1;
  for (int64_t d : dims) out *= d;
  return out;
}

std::string text(const Value& v, bool nested) {
  switch (v.kind) {
  case Kind::Bool: return v.i ? "true" : "false";
  case Kind::U64: return std::to_string(static_cast<uint64_t>(v.i));
  case Kind::F32:
  case Kind::F64: return realText(v);
  case Kind::Unit: return "()";
  case Kind::Array: return arrayText(v.o->items, v.o->dims, nested);
  case Kind::List: return arrayText(v.o->items, {static_cast<int64_t>(v.o->items.size())}, true);
  case Kind::Tuple:
  case Kind::Struct:
  case Kind::Enum: return recordText(*v.o);
  default: return std::to_string(v.i);
  }
}

} // namespace melix::fuzz::programs
