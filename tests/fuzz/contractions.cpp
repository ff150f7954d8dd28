#include "fuzz/contractions.h"

#include <vector>

namespace melix::fuzz {

namespace {

/// What is read at two or three indices, and the extents that it is made with.
struct Side {
  std::string read;
  std::vector<std::string> extents;
};

class Writer {
public:
  explicit Writer(Random& random) : random_(random) {}

  std::string run() {
    const bool isInteger = oneIn(8);
    type_ = isInteger ? "int" : oneIn(3) ? "f64" : "f32";
    std::string out =
        numbers(isInteger) + "struct Holder[A, B] { w: " + type_ + "[A, B] }\n\nfn main() {\n" + sizes();
    if (!isInteger && oneIn(4)) return out + convolution();
    if (oneIn(4)) return out + folded(isInteger);
    if (oneIn(5)) return out + chained(isInteger);
    batched_ = oneIn(5), twoSums_ = !batched_ && oneIn(4);
    if (!batched_ && !twoSums_ && oneIn(4)) return out + spelledAt();
    const Side x = side("x", "i", "sm"), y = side("y", "j", "sn");
    out += array("x", x, 1) + array("y", y, 2) + oneAxis("mu", "sk", 3) + oneAxis("c", "sn", 4) +
           indices("i", "sm") + indices("j", "sn") + indices("k", "sk");
    out += "  let hx = Holder(w: [for p in 0..sm, q in 0..sk: val(p * 3 + q, 1)])\n"
           "  let hy = Holder(w: [for p in 0..sn, q in 0..sk: val(p * 3 + q, 2)])\n";
    out += "  let f = (x, y) => " + contraction(x, y) + "\n  let r = f(x, y)\n" + printed("r");
    if (!isInteger && !oneIn(3)) out += gradient(x, y);
    return out + "}\n";
  }

private:
  bool oneIn(unsigned n) { return random_() % n == 0; }
  std::string number(uint64_t n) { return std::to_string(n); }
  template <class... Texts>
  std::string oneOf(const Texts&... texts) {
    const std::string all[] = {texts...};
    return all[random_() % sizeof...(texts)];
  }

  std::string numbers(bool isInteger) {
    std::string special;
    if (!isInteger && oneIn(4)) special = "if v % 101 == 7 { 1 / 0.0 } else if v % 13 == 5 { -0.0 } else ";
    return "fn val(i: int, seed: int) -> " + type_ + " {\n  let v = (i * 7919 + seed * 104729) % 1009\n  " +
           special + (isInteger ? "v - 504" : "{ v as " + type_ + " / 1009 - 0.5 }") + "\n}\n\n";
  }

  uint64_t side() {
    if (oneIn(12)) return random_() % 2;
    if (oneIn(3)) {
      const uint64_t edges[] = {2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 32, 33, 63, 64, 65};
      return edges[random_() % std::size(edges)];
    }
    return 1 + random_() % 70;
  }
  std::string sizes() {
    uint64_t sm = side(), sn = side(), sk = side();
    hasRows_ = sn > 0;
    isLong_ = oneIn(20);
    if (isLong_) sk = 8190 + random_() % 600, sm = 1 + sm % 8, sn = 1 + sn % 20;
    auto size = [&](const char* name, uint64_t n) {
      return std::string("  let ") + name + " = " + (oneIn(2) ? number(n) : "black_box(" + number(n) + ")") +
             "\n";
    };
    return size("sm", sm) + size("sn", sn) + size("sk", sk) + size("sl", 1 + random_() % 5) +
           size("sb", random_() % 9);
  }

  /// The index of a window: how far it goes and its extent.
  std::string window(const std::string& at, const std::string& size, std::string& extent) {
    const std::string stride = number(1 + random_() % 3), hole = number(1 + random_() % 2);
    extent = "max(0, " + stride + " * (" + size + " - 1) + " + hole + " * (sk - 1) + 1)";
    return stride + " * " + at + " + " + hole + " * k";
  }

  Side side(const std::string& name, const std::string& at, const std::string& size) {
    std::string extent;
    if (batched_) {
      if (oneIn(2)) return {name + "[b, " + at + ", k]", {"sb", size, "sk"}};
      return {name + "[k, b, " + at + "]", {"sk", "sb", size}};
    }
    if (twoSums_) {
      if (oneIn(3)) {
        const std::string read = window(at, size, extent);
        return {name + "[" + read + ", l]", {extent, "sl"}};
      }
      if (oneIn(2)) return {name + "[k, l, " + at + "]", {"sk", "sl", size}};
      return {name + "[l, " + at + ", k]", {"sl", size, "sk"}};
    }
    switch (random_() % 10) {
    case 0:
    case 1: return {name + "[" + at + ", k]", {size, "sk"}};
    case 2:
    case 3: return {name + "[k, " + at + "]", {"sk", size}};
    case 4: return {name + "[ids_" + at + "[" + at + "], k]", {size, "sk"}};
    case 5: return {name + "[ids_k[k], " + at + "]", {"sk", size}};
    case 6: return {"(" + name + "[" + at + ", k] - mu[k])", {size, "sk"}};
    case 7: return {"(2 * " + name + "[k, " + at + "])", {"sk", size}};
    case 8: return {"h" + name + ".w[" + at + ", k]", {size, "sk"}};
    default: {
      const std::string read = window(at, size, extent);
      return {name + "[" + read + "]", {extent}};
    }
    }
  }

  std::string array(const std::string& name, const Side& side, int seed) {
    std::string axes, place = "0";
    const char* names[] = {"p", "q", "r"};
    for (size_t k = 0; k < side.extents.size(); ++k) {
      axes += (k > 0 ? ", " : "") + std::string(names[k]) + " in 0.." + side.extents[k];
      place = "(" + place + ") * 71 + " + names[k];
    }
    return "  let " + name + " = [for " + axes + ": val(" + place + ", " + std::to_string(seed) + ")]\n";
  }
  static std::string oneAxis(const std::string& name, const std::string& size, int seed) {
    return "  let " + name + " = [for p in 0.." + size + ": val(p, " + std::to_string(seed) + ")]\n";
  }
  static std::string indices(const std::string& at, const std::string& size) {
    return "  let ids_" + at + " = [for p in 0.." + size + ": (p * 7 + 3) % " + size + "]\n";
  }

  std::string term(const std::string& x, const std::string& y) {
    const std::string product = oneIn(4)   ? "(" + x + " - " + y + ")^2"
                                : oneIn(2) ? x + " * " + y
                                           : y + " * " + x;
    if (!oneIn(4)) return product;
    const std::string far = number(random_() % 40);
    return "if " +
           oneOf(std::string("k <= i"), std::string("j < k"), "i - k >= 0 and i - k < " + far,
                 "i + k < " + far, "2 * i - k <= " + far, "k > " + far, "i < " + far + " and j < " + far) +
           " { " + product + " } else { 0 }";
  }

  std::string contraction(const Side& x, const Side& y) {
    const std::string sums =
        twoSums_ ? oneOf(std::string("k in 0..sk, l in 0..sl"), std::string("l in 0..sl, k in 0..sk"))
                 : "k in 0..sk";
    std::string element = "sum(for " + sums + ": " + term(x.read, y.read) + ")";
    element =
        oneOf(element, "c[j] + " + element, "3 * " + element, element + " + i", "max(0, " + element + ")");
    const std::string b = batched_ ? "b in 0..sb, " : "", rows = "i in 0..sm", columns = "j in 0..sn";
    isTurned_ = oneIn(4);
    return "[for " + b + (isTurned_ ? columns + ", " + rows : rows + ", " + columns) + ": " + element + "]";
  }

  static std::string printed(const std::string& name) {
    return "  let flat_" + name + " = reshape(" + name + ", size(" + name + "))\n  for p in 0..size(" + name +
           ") { print(flat_" + name + "[p]) }\n";
  }

  std::string gradient(const Side& x, const Side& y) {
    const bool hasX = x.read[0] != 'h', hasY = y.read[0] != 'h'; // a field is no parameter
    if (!hasX && !hasY) return "";
    const std::string place = std::string(batched_ ? "b, " : "") + (isTurned_ ? "j, i" : "i, j");
    const std::string total = "sum(for " + std::string(batched_ ? "b in 0..sb, " : "") +
                              "i in 0..sm, j in 0..sn: f(x, y)[" + place + "] * val(i + 5 * j, 6))";
    const std::string by = hasX && (!hasY || oneIn(2)) ? "x" : "y";
    return "  let g = grad(" + by + " => " + total + ")(" + by + ")\n" + printed("g");
  }

  /// A loop in each point that goes on from turn to turn, forwards or backwards, and keeps some of what it
  /// has; what is kept is added up over points by a loop that goes either way.
  std::string chained(bool isInteger) {
    const std::string begin = oneIn(4) ? "1" : "0",
                      far = oneOf(std::string("sk"), std::string("sk"), std::string("max(sk - 1, 0)"));
    const std::string zeros = "zeros()", one = isInteger ? "1" : "1.0";
    auto place = [&] {
      return oneOf(std::string("j"), std::string("j"), std::string("j"), std::string("sk - 1 - j"),
                   std::string("j / 2"));
    };
    const std::string read = oneOf(std::string("y[j]"), std::string("y[sk - 1 - j]"),
                                   std::string("y[n % sk]"), std::string("first[j]"), std::string("1"));
    const std::string step = oneOf(std::string("p * t"), std::string("p + t"), std::string("p * t + " + read),
                                   std::string("max(p, t) - " + read));
    std::string loop = "      first[" + place() + "] " +
                       oneOf(std::string("="), std::string("="), std::string("+=")) + " p\n";
    if (oneIn(3)) loop += "      second[" + place() + "] = q * 2\n";
    if (oneIn(3)) loop += "      q = q * p + " + read + "\n";
    loop = oneIn(2) ? loop + "      p = " + step + "\n" : "      p = " + step + "\n" + loop;
    std::string out = oneAxis("x", "sm", 1) + oneAxis("y", "sk", 2) +
                      "  let f = (x, y) => [for n in 0..sm: {\n    let t = x[n]\n    var p = " +
                      oneOf(one, std::string("t")) + "\n    var q = y[0]\n    var first: " + type_ +
                      "[sk] = " + zeros + "\n    var second: " + type_ + "[sk] = " + zeros +
                      "\n    for j in " + begin + ".." + far + " {\n" + loop +
                      "    }\n    [for j in 0..sk: first[j] + second[j] * p - q]\n  }]\n";
    out = "  if sk == 0 { return }\n" + out;
    const std::string added = oneOf(std::string("j"), std::string("sk - 1 - j"));
    out += "  let r = f(x, y)\n" + printed("r") + "  var total: " + type_ +
           "[sk] = zeros()\n  for n in 0..sm { for j in 0..sk { total[" + added + "] += r[n, " + added +
           "] * x[n] } }\n" + printed("total");
    if (isInteger || oneIn(3)) return out + "}\n";
    const std::string by = oneOf(std::string("x"), std::string("y"));
    return out + "  let g = grad(" + by +
           " => sum(for n in 0..sm, j in 0..sk: f(x, y)[n, j] * val(n + 5 * j, 6)))(" + by + ")\n" +
           printed("g") + "}\n";
  }

  /// For points and parts, something of all sums of a matrix of the part with what both differ in.
  std::string folded(bool isInteger) {
    const bool hasParts = !oneIn(4);
    const std::string matrix =
        !hasParts || oneIn(5)
            ? "a[i, j]"
            : oneOf(std::string("a[k, i, j]"), std::string("a[i, j, k]"), std::string("a[k, j, i]"));
    const std::string at = oneOf(std::string("x[n, j]"), std::string("x[n, j]"), std::string("x[j, n]"),
                                 std::string("x[n * 2 + j]"));
    std::string extent = at == "x[n * 2 + j]" ? "2 * sm + sk" : "";
    auto extents = [&](const std::string& read) {
      std::vector<std::string> out;
      for (size_t place = read.find('[') + 1; place < read.size(); place += 3)
        out.push_back(read[place] == 'n'   ? "sm"
                      : read[place] == 'k' ? "sb"
                      : read[place] == 'i' ? "sn"
                                           : "sk");
      return out;
    };
    std::string out = array("x", {at, extent.empty() ? extents(at) : std::vector<std::string>{extent}}, 1) +
                      array("a", {matrix, extents(matrix)}, 2) + array("mu", {"", {"sb", "sk"}}, 3) +
                      oneAxis("c", "sn", 4) + oneAxis("w", "sk", 5);
    const std::string other =
        hasParts ? oneOf(std::string("mu[k, j]"), std::string("mu[k, j]"), std::string("w[j]")) : "w[j]";
    const std::string part =
        oneIn(5) ? at : "(" + at + oneOf(std::string(" - "), std::string(" * ")) + other + ")";
    const std::string chain =
        "sum(for j in 0..sk: " + (oneIn(2) ? matrix + " * " + part : part + " * " + matrix) + ")";
    const std::string row = oneOf("(" + chain + ")^2", chain, chain + " * c[i]", "max(c[i], " + chain + ")");
    const std::string best =
        hasRows_ ? oneOf(std::string("max"), std::string("min"), std::string("argmax")) : "sum";
    const std::string fold = oneIn(3) ? best : "sum";
    const std::string points = "n in 0..sm", parts = "k in 0..sb";
    isTurned_ = oneIn(4);
    const std::string axes = !hasParts ? points : isTurned_ ? parts + ", " + points : points + ", " + parts;
    out += "  let f = (x, a, mu) => [for " + axes + ": " + oneOf(std::string(""), std::string("2 * ")) +
           fold + "(for i in 0..sn: " + row + ")]\n  let r = f(x, a, mu)\n" + printed("r");
    if (isInteger || fold == "argmax" || oneIn(3)) return out + "}\n";
    const std::string by = oneOf(std::string("x"), std::string("a"),
                                 part.find("mu") != std::string::npos ? std::string("mu") : std::string("x"));
    const std::string place = !hasParts ? "n" : isTurned_ ? "k, n" : "n, k";
    return out + "  let g = grad(" + by + " => sum(for " + axes + ": f(x, a, mu)[" + place + "] * val(n" +
           (hasParts ? " + 5 * k" : "") + ", 6)))(" + by + ")\n" + printed("g") + "}\n";
  }

  /// Of an image with channels by windows, of any stride and hole, and its gradient by one of them.
  std::string convolution() {
    auto few = [&](const char* name, unsigned most) {
      const std::string n = number(1 + random_() % most);
      return std::string("  let ") + name + " = " + (oneIn(2) ? n : "black_box(" + n + ")") + "\n";
    };
    std::string out =
        few("sh", 14) + few("sw", 20) + few("sa", 4) + few("sq", 5) + few("sc", 9) + few("so", 20);
    const std::string stride = number(1 + random_() % 2), hole = number(1 + random_() % 2);
    auto far = [&](const char* places, const char* window) {
      return stride + " * (" + places + " - 1) + " + hole + " * (" + window + " - 1) + 1";
    };
    out += "  let x = [for p in 0.." + far("sh", "sa") + ", q in 0.." + far("sw", "sq") +
           ", r in 0..sc: val(p * 71 + q * 5 + r, 1)]\n"
           "  let w = [for p in 0..sa, q in 0..sq, r in 0..sc, s in 0..so: val(p * 71 + q * 5 + r * 17 + s, "
           "2)]\n"
           "  let f = (x, w) => [for i in 0..sh, j in 0..sw, o in 0..so: sum(for a in 0..sa, b in 0..sq, c "
           "in 0..sc: x[" +
           stride + " * i + " + hole + " * a, " + stride + " * j + " + hole +
           " * b, c] * w[a, b, c, o])]\n  let r = f(x, w)\n" + printed("r");
    const std::string by = oneOf(std::string("x"), std::string("w"));
    const std::string value = oneOf(std::string("0.5 * f(x, w)[i, j, o]^2"),
                                    std::string("f(x, w)[i, j, o] * val(i + 3 * j + o, 5)"));
    return out + "  let g = grad(" + by + " => sum(for i in 0..sh, j in 0..sw, o in 0..so: " + value + "))(" +
           by + ")\n" + printed("g") + "}\n";
  }

  /// By the operator, as a value, as what it is made of itself, and in a field.
  std::string spelledAt() {
    std::string out = "  let x = [for p in 0..sm, q in 0..sk: val(p * 71 + q, 1)]\n"
                      "  let y = [for p in 0..sk, q in 0..sn: val(p * 71 + q, 2)]\n";
    switch (isLong_ ? 0 : random_() % 4) {
    case 0: return out + "  let r = x @ y\n" + printed("r") + "}\n";
    case 1:
      return out +
             "  var r = x\n  let w = [for p in 0..sk, q in 0..sk: val(p + q * 3, 3)]\n  for _ in 0..3 { r = "
             "r @ w }\n" +
             printed("r") + "}\n";
    case 2: return out + "  let h = Holder(w: y)\n  let r = x @ h.w\n" + printed("r") + "}\n";
    default:
      return out + "  let v = [for p in 0..sk: val(p, 3)]\n  let r = x @ v\n  let q = v @ y\n" +
             printed("r") + printed("q") + "}\n";
    }
  }

  Random& random_;
  std::string type_;
  bool hasRows_ = false, isLong_ = false, batched_ = false, twoSums_ = false, isTurned_ = false;
};

} // namespace

std::string randomContraction(Random& random) { return Writer(random).run(); }

} // namespace melix::fuzz
