// Layers of products, soft-max and norms, for each of a batch.
#include "fuzz/contractions.h"

namespace melix::fuzz {

namespace {

class BatchWriter {
public:
  explicit BatchWriter(Random& random) : random_(random) {}

  std::string run() {
    type_ = oneIn(3) ? "f64" : "f32";
    return "fn val(i: int, seed: int) -> " + type_ + " = ((i * 7919 + seed * 104729) % 1009) as " + type_ +
           " / 1009 - 0.5\n\n" + halvings() + layer() + "fn main() {\n" + data() + results() + "}\n";
  }

private:
  bool oneIn(unsigned n) { return random_() % n == 0; }
  template <class... Texts>
  std::string oneOf(const Texts&... texts) {
    const std::string all[] = {std::string(texts)...};
    return all[random_() % sizeof...(texts)];
  }

  static std::string halvings() {
    return "fn halvings(n: int) -> int {\n  var count = 0\n  var rest = n\n  while rest > 1 {\n    rest = "
           "rest "
           "/ 2\n    count += 1\n  }\n  count\n}\n\n";
  }

  /// Some stages, each of what the one before gives.
  std::string layer() {
    const std::string mask = oneOf("u <= t", "u + 2 >= t", "t < u - 3", "(t + u) % 3 == 0", "u < 5"),
                      other = oneOf("0", "-inf");
    const std::string stages[] = {
        "a @ w",
        "a @ transpose(w)",
        "max(0, a + c)",
        "tanh(a)",
        "x + a",
        "softmax(a @ transpose(y)) @ y",
        "softmax([for t, u: if " + mask + " { sum(for e: a[t, e] * y[u, e]) } else { " + other + " }]) @ y",
        "softmax(a)",
        "[for t: { let d = a[t] - mean(a[t]); d / sqrt(mean(d * d) + 1) * c }]",
        "0.1 * (a @ transpose(a)) @ a",
        "[for t, e: a[t, e] * sum(for u: y[u, e])]",
        "[for t: softmax([for u: sum(for e: a[t, e] * y[u, e])]) @ y]",
        "[for t: a[t] * logsumexp([for u: sum(for e: a[t, e] * y[u, e])])]",
        "cumsum(a, over: 0)",
    };
    std::string out = "fn layer(x: " + type_ + "[T, E], y: " + type_ + "[U, E], w: " + type_ +
                      "[E, E], c: " + type_ + "[E]) -> " + type_ + "[T, E] {\n  var a = x\n";
    for (uint64_t k = 0, count = 1 + random_() % 4; k < count; ++k)
      out += "  a = " + stages[random_() % std::size(stages)] + "\n";
    return out + "  a + 0.1 * ((x @ w) * c + sum(y))\n}\n\n"; // of all of them
  }

  std::string size(const char* name, uint64_t n) {
    const std::string number = std::to_string(n);
    return std::string("  let ") + name + " = " + (oneIn(2) ? number : "black_box(" + number + ")") + "\n";
  }
  std::string data() {
    auto few = [&](uint64_t most) { return oneIn(10) ? random_() % 2 : 1 + random_() % most; };
    return size("sb", few(6)) + size("st", few(40)) + size("su", few(40)) + size("se", few(20)) +
           "  let x = [for b in 0..sb, t in 0..st, e in 0..se: val((b * 41 + t) * 23 + e, 1)]\n"
           "  let y = [for b in 0..sb, t in 0..su, e in 0..se: val((b * 41 + t) * 23 + e, 2)]\n"
           "  let z = [for t in 0..su, e in 0..se: val(t * 23 + e, 3)]\n"
           "  let w = [for d in 0..se, e in 0..se: val(d * 23 + e, 4)]\n"
           "  let c = [for e in 0..se: val(e, 5)]\n"
           "  let at = black_box([for b in 0..sb: (b * 5 + 3) % sb])\n"
           "  let power = black_box([for b in 0..sb: 2^(b % 3 % sb)])\n";
  }

  /// For each of the batch, and its gradient by one of what it is made of.
  std::string results() {
    const std::string each = oneOf(
        "[for b: layer(x[b], y[b], w, c)]", "[for b: layer(x[at[b]], y[b], w, c)]",
        "[for b: layer(x[halvings(power[b])], y[b], w, c)]",
        "[for b, h in 0..2: layer(x[b], (h + 1) * y[b], w, c)]",
        "[for b: [for h in 0..2: layer(x[b], y[b], "
        "(h + 1) * w, c)]]",
        "vmap(x => layer(x, z, w, c))(x)", "[for b: if b % 2 == 0 { layer(x[b], y[b], w, c) } else { x[b] }]",
        "[for b: {\n    var s = x[b]\n    for _ in 0..2 { s = layer(s, y[b], w, c) }\n    s\n  }]",
        "[for b: layer(layer(x[b], z, w, c), y[b], w, c)]");
    std::string out = "  let f = (x, y, w, c) => " + each + "\n  let r = f(x, y, w, c)\n" + printed("r");
    if (oneIn(3)) {
      out += "  var list: List[" + type_ +
             "[st, se]] = []\n  for m in x { list.push(m) }\n  let l = [for m in "
             "list: layer(m, z, w, c)]\n" +
             printed("l");
    } else if (oneIn(2)) {
      out += "  let g = [for b: grad(x => sum(layer(x, y[b], w, c)^2))(x[b])]\n" + printed("g");
    } else {
      const std::string by = each.find("y[b]") != std::string::npos ? oneOf("x", "y", "w", "c") : "w";
      out += "  let g = grad(" + by + " => sum(f(x, y, w, c)^2))(" + by + ")\n" + printed("g");
    }
    return out;
  }
  static std::string printed(const std::string& name) {
    return "  let flat_" + name + " = reshape(" + name + ", size(" + name + "))\n  for p in 0..size(" + name +
           ") { print(flat_" + name + "[p]) }\n";
  }

  Random& random_;
  std::string type_;
};

} // namespace

std::string randomBatch(Random& random) { return BatchWriter(random).run(); }

} // namespace melix::fuzz
