// Places: assignment, `inout`, order of evaluation.
#include "lowered.h"

namespace melix::lower {

TEST(LowerPlace, UpdatesReachIntoStructsAndArrays) {
  expectRuns(R"(
struct Body { v: f32[2], m: f32 }
var bodies = [Body([0.0, 0.0], 1.0), Body([1.0, 2.0], 3.0)]
bodies[1].v[0] -= 0.5
bodies[0].m = 7.0
assert bodies[1].v[0] == 0.5
assert bodies[1].v[1] == 2.0
assert bodies[0].m == 7.0
var x = [1, 2, 3, 4, 5]
x[1..3] = [9, 8]
assert sum(x) == 1 + 9 + 8 + 4 + 5
)");
}

TEST(LowerPlace, InoutArgumentsAreStoredBack) {
  expectRuns(R"(
fn bump(inout x: int, by: int) -> int {
  x += by
  x - by
}
var a = [1, 2, 3]
let old = bump(&a[1], 10)
assert old == 2
assert a[1] == 12
var n = 5
let before = bump(&n, n)
assert before == 5
assert n == 10
)");
}

TEST(LowerPlace, TheValueIsEvaluatedBeforeTheBoundsCheck) {
  expectPanics(R"(
fn loud(n: int) -> int {
  assert n == 0, "loud"
  n
}
var a = [1, 2, 3]
var k = 3
a[k] += loud(1)
)",
               "loud");
  expectPanics("var a = [1, 2, 3]\nvar k = 3\na[k] += 1\n", "index 3 is out of range for an axis of size 3");
}

} // namespace melix::lower
