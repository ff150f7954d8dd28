#include "fuzz/nests.h"

#include <algorithm>
#include <functional>
#include <regex>
#include <span>
#include <vector>

namespace melix::fuzz {
namespace {

using Texts = std::vector<std::string>;

std::string listed(const Texts& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

/// An array that the nest reads, over some of its axes in any order.
struct Input {
  std::string name, type;
  std::vector<size_t> axes;
};

class Writer {
public:
  explicit Writer(Random& random) : random_(random) {}

  std::string program() {
    chooseSizes();
    chooseInputs();
    const std::string nest = text();
    std::string params, args, made;
    for (const Input& in : inputs_) {
      params += (params.empty() ? "%" : ", %") + in.name + ": " + typeOf(in);
      args += (args.empty() ? "%" : ", %") + in.name;
      made += values(in);
    }
    Texts symbols, sizes;
    for (size_t a = 0; a < sizes_.size(); ++a) {
      symbols.push_back(symbol(a));
      sizes.push_back(std::to_string(sizes_[a]));
    }
    const bool known = chance(2);
    std::string f = "(" + params + ") -> (i64) {\n" + nest + "}\n";
    if (known)
      for (size_t a = 0; a < sizes_.size(); ++a)
        f = std::regex_replace(f, std::regex("\\b" + symbol(a) + "\\b"), sizes[a]);
    return "fn f " + (known ? "" : "[" + listed(symbols) + "] ") + f + "fn main () -> (i64) {\n" + made +
           "  %r = call @f " + args + (known ? "" : " dims [" + listed(sizes) + "]") +
           " : i64\n  yield %r\n}\n";
  }

private:
  size_t below(size_t n) { return random_() % n; }
  bool chance(size_t n) { return below(n) == 0; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[below(of.size())];
  }
  static std::string symbol(size_t axis) { return "N" + std::to_string(axis); }
  static std::string axis(size_t a) { return "i" + std::to_string(a); }
  std::string fresh() { return "%v" + std::to_string(count_++); }
  void line(const std::string& text) { body_ += std::string(indent_, ' ') + text + "\n"; }
  std::string let(const std::string& text) {
    const std::string v = fresh();
    line(v + " = " + text);
    return v;
  }

  void chooseSizes() {
    const std::vector<int64_t> some{0,  1,  2,  3,  4,  5,  7,  8,   13,  16,
                                    17, 25, 31, 33, 64, 65, 70, 100, 130, 300};
    int64_t points = 1;
    for (size_t a = 0, n = 1 + below(4); a < n; ++a) {
      int64_t size = any(some);
      if (size == 0 && !chance(4)) size = 9;
      if (n == 1 && chance(3)) size = 8150 + static_cast<int64_t>(below(100)); // around a block
      while (points * std::max<int64_t>(size, 1) > 9000) size = 1 + size / 3;
      points *= std::max<int64_t>(size, 1);
      sizes_.push_back(size);
    }
    points_ = points;
  }

  void chooseInputs() {
    const Texts types{"f32", "f32", "f32", "f64", "i64"};
    for (size_t k = 0, n = 1 + below(3); k < n; ++k) {
      Input in{"x" + std::to_string(k), any(types), {}};
      std::vector<size_t> axes(sizes_.size());
      for (size_t a = 0; a < axes.size(); ++a) axes[a] = a;
      std::shuffle(axes.begin(), axes.end(), random_);
      axes.resize(1 + below(axes.size()));
      if (chance(2)) std::sort(axes.begin(), axes.end());
      in.axes = axes;
      inputs_.push_back(in);
    }
    if (chance(3)) places_ = static_cast<int>(inputs_.size());
    if (places_ >= 0) inputs_.push_back({"g", "i64", {below(sizes_.size())}});
  }
  std::string typeOf(const Input& in) const {
    Texts dims;
    for (size_t a : in.axes) dims.push_back(symbol(a));
    return in.type + "[" + listed(dims) + "]";
  }

  /// In main: numbers of either sign, or for places those below the size of an axis, one of which may not be.
  std::string values(const Input& in) {
    const std::string p = "%" + in.name;
    Texts heads, kept, sizes;
    std::string flat = "    " + p + "f = const 0 : i64\n", last = p + "f";
    for (size_t k = 0; k < in.axes.size(); ++k) {
      const std::string i = in.name + "i" + std::to_string(k), n = std::to_string(sizes_[in.axes[k]]);
      heads.push_back("%" + i + ": " + n);
      kept.push_back(i);
      sizes.push_back(n);
      flat += "    %" + i + "n = const " + n + " : i64\n    %" + i + "m = mul " + last + ", %" + i +
              "n : i64\n    %" + i + "s = add %" + i + "m, %" + i + " : i64\n";
      last = "%" + i + "s";
    }
    const bool isPlace = in.name == "g";
    const int64_t modulus = isPlace ? std::max<int64_t>(sizes_[in.axes[0]], 1) + (chance(4) ? 1 : 0) : 1009;
    std::string out = "  " + p + " = nest (" + listed(heads) + ") -> collect[" + listed(kept) + "] {\n" +
                      flat + "    " + p + "k = const " + (isPlace ? "37" : "7919") + " : i64\n    " + p +
                      "a = mul " + last + ", " + p + "k : i64\n    " + p + "q = const " +
                      std::to_string(modulus) + " : i64\n    " + p + "b = irem " + p + "a, " + p +
                      "q : i64\n";
    std::string result = p + "b";
    if (!isPlace) {
      out += "    " + p + "h = const 504 : i64\n    " + p + "c = sub " + p + "b, " + p + "h : i64\n";
      result = p + "c";
      if (in.type != "i64") {
        out += "    " + p + "d = convert saturate " + p + "c : " + in.type + "\n    " + p +
               "e = const 37.0 : " + in.type + "\n    " + p + "g = div " + p + "d, " + p + "e : " + in.type +
               "\n";
        result = p + "g";
      }
    }
    return out + "    yield " + result + "\n  } : " + in.type + "[" + listed(sizes) + "]\n";
  }

  // --- the body of the nest

  Texts& pool(const std::string& type) { return type == "f32" ? f32_ : type == "f64" ? f64_ : ints_; }
  std::string number(const std::string& type) {
    Texts& of = pool(type);
    if (of.empty() || chance(8))
      of.push_back(let("const " +
                       (type == "i64" ? std::to_string(below(9)) : std::to_string(below(9)) + ".5") + " : " +
                       type));
    return any(of);
  }

  /// An element of an input at the point, at a place another one holds, at one after the point, or in a
  /// column.
  void read() {
    const Input& in = any(inputs_);
    Texts at;
    for (size_t a : in.axes) {
      std::string index = "%" + axis(a);
      const bool isHeld = places_ >= 0 && a == inputs_.back().axes[0] && chance(2);
      const bool isMoved = !isHeld && chance(12);
      const bool isColumn = !isHeld && !isMoved && a > 0 && sizes_[a] > 0 && chance(4);
      if (isHeld) index = let("get %g[%" + axis(a) + "] : i64");
      if (isMoved) {
        const std::string by = let("const " + std::to_string(below(3)) + " : i64");
        index = let("add " + index + ", " + by + " : i64");
      }
      if (isColumn) index = let("const " + std::to_string(below(static_cast<size_t>(sizes_[a]))) + " : i64");
      if (isHeld || isMoved || isColumn) line("check index \"\" " + index + " dims [" + symbol(a) + "]");
      at.push_back(index);
    }
    pool(in.type).push_back(let("get %" + in.name + "[" + listed(at) + "] : " + in.type));
  }

  void arithmetic() {
    const std::string type = any(Texts{"f32", "f32", "f64", "i64"});
    const std::string a = number(type), b = number(type);
    if (type == "i64") {
      const std::string op = any(Texts{"add", "sub", "mul", "and", "xor", "min", "max"});
      return ints_.push_back(let(op + " " + a + ", " + b + " : i64"));
    }
    switch (below(7)) {
    case 0: return pool(type).push_back(let("neg " + a + " : " + type));
    case 1: {
      const std::string c = let("abs " + a + " : " + type);
      return pool(type).push_back(let("sqrt " + c + " : " + type));
    }
    case 2: return pool(type).push_back(let("convert saturate " + number("i64") + " : " + type));
    default:
      const std::string op = any(Texts{"add", "sub", "mul", "mul", "div", "min", "max"});
      pool(type).push_back(let(op + " " + a + ", " + b + " : " + type));
    }
  }

  std::string condition() {
    const std::string type = any(Texts{"f32", "i64"}), how = any(Texts{"lt", "ge", "eq"});
    const std::string a = number(type), b = number(type);
    return let("cmp " + how + " " + a + ", " + b + " : bool");
  }

  /// What stands in a region is seen nowhere else.
  template <class Body>
  void inside(const Body& body) {
    const Texts f32 = f32_, f64 = f64_, ints = ints_;
    indent_ += 2;
    body();
    indent_ -= 2;
    f32_ = f32, f64_ = f64, ints_ = ints;
  }
  void branch() {
    const std::string type = any(Texts{"f32", "i64"}), c = condition(), r = fresh();
    line(r + " = if " + c + " {");
    inside([&] {
      some(1 + below(2));
      line("yield " + number(type));
    });
    line("} {");
    inside([&] {
      if (chance(2)) some(1);
      line("yield " + number(type));
    });
    line("} : " + type);
    pool(type).push_back(r);
  }

  static std::string order(const std::string& type, const std::string& row, bool lanes) {
    return lanes ? "lanes(" + std::string(type == "f64" ? "32" : "64") + ", " + row + ")" : "chain";
  }
  /// A sum, or another reduction, over an axis more; perhaps of a row that is made before.
  void inner() {
    const size_t a = below(sizes_.size());
    const std::string type = any(Texts{"f32", "f32", "f64", "i64"}), k = "k" + std::to_string(count_++);
    std::string row;
    if (chance(2)) {
      row = fresh();
      const std::string j = "k" + std::to_string(count_++);
      line(row + " = nest (%" + j + ": " + symbol(a) + ") -> collect[" + j + "] {");
      inside([&] {
        ints_.push_back("%" + j);
        some(1 + below(2));
        line("yield " + number(type));
      });
      line("} : " + type + "[" + symbol(a) + "]");
    }
    const std::string r = fresh();
    std::string how = any(Texts{"sum", "sum", "max", "min"});
    if (how == "sum" && type != "i64") how += " " + order(type, k, chance(2));
    line(r + " = nest (%" + k + ": " + symbol(a) + ") -> keep[] " + how + " {");
    inside([&] {
      ints_.push_back("%" + k);
      if (!row.empty()) pool(type).push_back(let("get " + row + "[%" + k + "] : " + type));
      some(1 + below(2));
      line("yield " + (row.empty() ? number(type) : pool(type).back()));
    });
    line("} : " + type);
    pool(type).push_back(r);
  }

  void some(size_t statements) {
    ++depth_;
    for (size_t s = 0; s < statements; ++s) {
      const size_t kind = below(12);
      if (kind < 5)
        read();
      else if (kind < 9 || depth_ > 2)
        arithmetic();
      else if (kind < 11)
        branch();
      else if (points_ < 3000)
        inner();
    }
    --depth_;
  }

  // --- results

  struct Result {
    std::string spec, type;
    std::vector<size_t> keep;
    std::string size; ///< of its only axis, where that is found by the nest
  };

  std::string text() {
    Texts axes;
    for (size_t a = 0; a < sizes_.size(); ++a) {
      axes.push_back("%" + axis(a) + ": " + symbol(a));
      ints_.push_back("%" + axis(a));
    }
    indent_ = 4;
    some(2 + below(6));
    Texts yields;
    std::vector<Result> results;
    const bool adds = chance(8);
    const size_t count = adds ? 1 : 1 + below(3);
    for (size_t k = 0; k < count; ++k)
      results.push_back(adds ? added(yields) : result(yields, k + 1 == count));
    line("yield " + listed(yields));
    Texts names, specs, types;
    for (size_t k = 0; k < results.size(); ++k) {
      names.push_back("%r" + std::to_string(k));
      if (!adds) specs.push_back(results[k].spec);
      types.push_back(typeOf(results[k]));
    }
    const std::string zero = adds ? "  %zeros = zero : " + types[0] + "\n" : "";
    std::string out = zero + "  " + listed(names) + " = nest (" + listed(axes) + ") -> " +
                      (adds ? "accs (%acc = %zeros)" : listed(specs)) + " {\n" + body_ +
                      "  } : " + listed(types) + "\n";
    std::string total = "%h";
    out += "  %h = const 17 : i64\n  %p = const 1099511628211 : i64\n";
    for (size_t k = 0; k < results.size(); ++k) total = mixed(out, results[k], k, total);
    return out + "  yield " + total + "\n";
  }
  static std::string typeOf(const Result& r) {
    Texts dims;
    for (size_t a : r.keep) dims.push_back(symbol(a));
    if (!r.size.empty()) dims = {r.size};
    return dims.empty() ? r.type : r.type + "[" + listed(dims) + "]";
  }

  Result result(Texts& yields, bool isLast) {
    Result r;
    r.type = any(Texts{"f32", "f32", "f64", "i64"});
    Texts kept;
    for (size_t a = 0; a < sizes_.size(); ++a) r.keep.push_back(a);
    if (isLast && sizes_.size() == 1 && chance(4)) {
      r.size = "D";
      r.spec = "filter defines [D]";
      yields.push_back(condition());
      yields.push_back(number(r.type));
      return r;
    }
    if (chance(3)) std::shuffle(r.keep.begin(), r.keep.end(), random_);
    const bool collects = chance(3);
    if (!collects) {
      std::sort(r.keep.begin(), r.keep.end());
      for (size_t gone = 1 + below(r.keep.size()); gone > 0; --gone)
        r.keep.erase(r.keep.begin() + static_cast<std::ptrdiff_t>(below(r.keep.size())));
    }
    for (size_t a : r.keep) kept.push_back(axis(a));
    yields.push_back(number(r.type));
    if (collects) {
      r.spec = "collect[" + listed(kept) + "]";
      return r;
    }
    std::vector<size_t> reduced;
    for (size_t a = 0; a < sizes_.size(); ++a)
      if (std::ranges::find(r.keep, a) == r.keep.end()) reduced.push_back(a);
    std::string how = any(Texts{"sum", "sum", "sum", "prod", "min", "max", "argmin", "argmax"});
    if (how.starts_with("arg") && reduced.size() > 1) how = how.substr(3); // a place for each axis
    if (how.starts_with("arg")) {
      r.type = "i64";
    } else if (r.type != "i64" && (how == "sum" || how == "prod")) {
      how += " " + order(r.type, axis(reduced.back()), chance(2));
    }
    r.spec = "keep[" + listed(kept) + "] " + how;
    return r;
  }
  Result added(Texts& yields) {
    Result r{"", any(Texts{"f32", "i64"}), {below(sizes_.size())}, ""};
    const std::string v = number(r.type), next = fresh();
    line(next + " = add_at %acc[%" + axis(r.keep[0]) + "] += " + v + " : acc " + typeOf(r));
    yields.push_back(next);
    return r;
  }

  /// Mixes the bits of a result into a number.
  std::string mixed(std::string& out, const Result& r, size_t k, const std::string& before) {
    const std::string n = std::to_string(k);
    Texts heads, at;
    const std::vector<size_t> axes = r.size.empty() ? r.keep : std::vector<size_t>{0};
    for (size_t d = 0; d < axes.size(); ++d) {
      const std::string i = "%e" + n + "_" + std::to_string(d);
      heads.push_back(i + ": " + (r.size.empty() ? symbol(axes[d]) : r.size));
      at.push_back(i);
    }
    const bool isScalar = axes.empty();
    std::string in = isScalar ? "  " : "    ", v = isScalar ? "%r" + n : "%b" + n;
    if (!isScalar) {
      out += "  %s" + n + " = nest (" + listed(heads) + ") -> keep[] sum {\n    " + v + " = get %r" + n +
             "[" + listed(at) + "] : " + r.type + "\n";
    }
    if (r.type != "i64") {
      out += in + "%c" + n + " = bitcast " + v + " : " + (r.type == "f32" ? "u32" : "u64") + "\n" + in +
             "%d" + n + " = convert wrap %c" + n + " : i64\n";
      v = "%d" + n;
    }
    if (!isScalar) {
      std::string weight = let2(out, "const 17 : i64");
      for (const std::string& i : at) {
        const std::string times = let2(out, "mul " + weight + ", %p : i64");
        weight = let2(out, "add " + times + ", " + i + " : i64");
      }
      const std::string term = let2(out, "mul " + weight + ", " + v + " : i64");
      out += "    yield " + term + "\n  } : i64\n";
      v = "%s" + n;
    }
    out += "  %m" + n + " = mul " + before + ", %p : i64\n  %h" + n + " = add %m" + n + ", " + v + " : i64\n";
    return "%h" + n;
  }
  std::string let2(std::string& out, const std::string& text) {
    const std::string v = fresh();
    out += "    " + v + " = " + text + "\n";
    return v;
  }

  Random& random_;
  std::vector<int64_t> sizes_;
  int64_t points_ = 1; ///< of the nest
  std::vector<Input> inputs_;
  int places_ = -1; ///< the input that holds places, if one does
  std::string body_;
  size_t indent_ = 0, depth_ = 0, count_ = 0;
  Texts f32_, f64_, ints_; ///< values at hand
};

} // namespace

std::string randomNest(Random& random) { return Writer(random).program(); }

} // namespace melix::fuzz
