// Patterns bind and choose.
#include "lowered.h"

namespace melix::lower {

TEST(LowerPatterns, NestedCasesGuardsAndAlternatives) {
  expectRuns(R"(
enum Tree { Leaf(value: int), Node(left: Tree, right: Tree) }
fn kind(t: Tree) -> int = match t {
  Node(Leaf(a), Leaf(b)) if a == b => 1
  Node(Leaf(0), _) => 2
  Node(Node(_, Leaf(c)), _) => 10 + c
  Leaf(1) | Leaf(2) => 3
  Leaf(v) => 100 + v
  _ => 4
}
assert kind(Node(Leaf(5), Leaf(5))) == 1
assert kind(Node(Leaf(0), Leaf(5))) == 2
assert kind(Node(Node(Leaf(1), Leaf(7)), Leaf(1))) == 17
assert kind(Leaf(2)) == 3
assert kind(Leaf(9)) == 109
assert kind(Node(Leaf(3), Leaf(5))) == 4
)");
}

TEST(LowerPatterns, LetElse) {
  expectRuns(R"(
fn f(o: Option[int]) -> int {
  let Some(x) = o else { return -1 }
  2 * x
}
assert f(Some(4)) == 8
assert f(None) == -1
)");
}

TEST(LowerPatterns, TuplesAndStructs) {
  expectRuns(R"(
struct Point { x: int, y: int }
fn f(p: (int, Point)) -> int = match p {
  (0, Point(x, _)) => x
  (n, Point(0, y)) => n * y
  (n, Point(x, y)) => n + x + y
}
assert f((0, Point(7, 1))) == 7
assert f((3, Point(0, 5))) == 15
assert f((1, Point(2, 3))) == 6
)");
}

} // namespace melix::lower
