// Every form of the language with every kind of value in it: forms are set into one another, an operand
// stands innermost, and a shell stands around them. What types fit is left to chance: most programs are
// refused.
#include "fuzz/compiled.h"
#include "fuzz/mutate.h"
#include "fuzz/run.h"

#include <array>
#include <sstream>
#include <string_view>

using namespace melix;

namespace {

/// Each operand that does not fit may be told, and what does not fit around it.
constexpr size_t mostMessages = 12;

/// What the operands and forms name.
constexpr std::string_view declarations = R"(struct P { a: f64, b: f64[1] }
struct B { w: f64[_], n: int }
enum E { Leaf(f64), Node(E, E) }
const c = 3
fn g(y) = y
fn g2(y, z) = y + z
fn g3[T: Num](y: T) -> T = y * y
fn twice(f, y) = f(f(y))
fn rec(y: f64, n: int) -> f64 = if n > 0 { rec(y * 0.5, n - 1) } else { y }
fn first[T](y: T[N]) -> T = y[0]
fn pair[T](y: T, z: T) -> (T, T) = (y, z)
fn many[T: Num](y: T[..S], z: T[N]) -> T = sum(y) + sum(z)
fn sizes(y: f64[N]) -> f64[N + 1] = concat(y, [1.0])
)";

/// $ is where the forms stand.
constexpr std::array<std::string_view, 8> shells = {
    "print($)\n",
    "let z = $\nprint(z)\n",
    "for i in 0..3 {\n  let z = $\n  print(z)\n}\n",
    "var z = x\nfor i in 0..3 { z[i] = $ }\nprint(z)\n",
    "let z = [for i in 0..2: $]\nprint(z)\n",
    "fn inner(a: f64) = $\nprint(inner(1.0))\n",
    "print(grad(a => sum(x) * a * $)(2.0))\n",
    "print(grad(a => {\n  var z = a\n  for i in 0..2 { z = z * $ }\n  z\n})(2.0))\n",
};

constexpr std::string_view head = "fn f[T: Num](k: int, x: f64[3], m: f64[2, 3], p: P, b: B, r: f64[_][2], "
                                  "o: Option[f64], e: E, l: List[f64],\n"
                                  "    t: (f64, int), h: (f64) -> f64, s: str, empty: f64[0], q: i8[3], v: "
                                  "bool[3], xs: f64[N], y: T, n: int)\n"
                                  "    -> int {\n";
constexpr std::string_view tail =
    "  2\n}\n"
    "print(f(1, ones(), ones(), P(1.0, ones()), B([1.0, 2.0], 2), [[1.0, 2.0], [3.0, 4.0, 5.0]], Some(1.0),\n"
    "  Node(Leaf(1.0), Leaf(2.0)), list([1.0, 2.0]), (1.0, 2), a => a * 2.0, \"ab\", [], [1, 2, 3],\n"
    "  [true, false, true], ones(4), 2.0 as f32, 2))\n";

/// The lines of a file of this folder but those of `#`.
std::vector<std::string> linesOf(const std::string& name) {
  std::istringstream text(fuzz::readFile(std::string(MELIX_SOURCE_DIR) + "/tests/fuzz/" + name));
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && !line.starts_with('#')) out.push_back(line);
  return out;
}

template <class List>
std::string oneOf(const List& list, fuzz::Random& random) {
  return std::string(list[random() % list.size()]);
}

/// An operand inside of so many forms.
std::string expression(unsigned depth, fuzz::Random& random) {
  static const std::vector<std::string> forms = linesOf("forms.txt"), operands = linesOf("operands.txt");
  if (depth == 0) return oneOf(operands, random);
  std::string out;
  for (char at : oneOf(forms, random)) {
    if (at == '$')
      out += expression(depth - 1, random);
    else
      out += at;
  }
  return out;
}

void step(fuzz::Random& random) {
  std::string shell = oneOf(shells, random);
  shell.replace(shell.find('$'), 1, expression(1 + random() % 3, random));
  std::string text(declarations);
  text.append(head).append(shell).append(tail);
  fuzz::requireCompiled(text, mostMessages);
}

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
