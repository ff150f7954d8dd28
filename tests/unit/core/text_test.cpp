// What is printed reads back to the same text, and verifies.
#include "core/core_text.h"

namespace melix::core {
namespace {

void roundTrip(const std::string& text) {
  TextModule m(text);
  EXPECT_EQ(m.problems(), "");
  EXPECT_EQ(m.text(), text);
}

TEST(CoreText, ScalarsAndConstants) {
  roundTrip(R"(fn f (%x: f32, %n: i64) -> (f32, bool, i8, f64, str) {
  %0 = const 1.5 : f32
  %1 = const -3 : i8
  %2 = const 1e-30 : f64
  %3 = const "a \"b\"\n" : str
  %4 = fma %x, %0, %x : f32
  %5 = math exp %4 : f32
  %6 = round half_even %5 : f32
  %7 = cmp lt %6, %x : bool
  %8 = convert saturate %n : f32
  %9 = select %7, %8, %x : f32
  yield %9, %7, %1, %2, %3
}
)");
}

TEST(CoreText, PlacesAndRecords) {
  roundTrip(R"(struct Body[D] { x: f32[D], m: f32 }
enum Tree { Leaf(f32), Node(Tree, Tree) }

fn f [N] (%b: Body[3][N], %i: i64, %v: f32, %t: Tree) -> (Body[3][N], f32[2], Tree) keep {
  %0 = get %b[%i].0[%i] : f32
  %1 = get %b[%i].0[%i +: 2 by 3] : f32[2]
  %2 = set %b[%i].1 = %v : Body[3][N]
  %3 = add_at %2[%i].1 += %0 : Body[3][N]
  %4 = variant 1 %t, %t : Tree
  yield %3, %1, %4
}
)");
}

TEST(CoreText, FunctionsOnADevice) {
  roundTrip(R"(fn block (%n: i64) -> (i64) on gpu {
  yield %n
}

fn back (%n: i64) -> (i64) keep cold on cpu {
  %0 = call @block %n : i64
  yield %0
}
)");
}

TEST(CoreText, FlatRecords) {
  roundTrip(R"(records flat
struct Body { x: f32[3], m: f32 }

fn f [N] (%b: Body[][N], %i: i64) -> (f32) keep {
  %0 = get %b.0[%i, %i] : f32
  yield %0
}
)");
}

TEST(CoreText, NestsOfEveryKind) {
  roundTrip(
      R"(fn f [N, M] (%x: f32[N, M], %w: f32[M], %h: i64[N]) -> (f32[N], f32[M], f32[N], i64, i64, f32[N]) {
  %0, %1, %2 = nest (%i: N, %j: M) -> keep[i] sum lanes(64, j) fused, keep[j] max accs (%acc = %w) {
    %3 = get %x[%i, %j] : f32
    %4 = mul %3, %3 : f32
    %5 = add_at %acc[%j] += %3 : acc f32[M]
    yield %4, %3, %5
  } : f32[N], f32[M], f32[M]
  %6 = const 0.0 : f32
  %7 = nest (%i$1: N, %j$1: M) -> keep[i$1] combine 1 region 1 units (%6) {
    %8 = get %x[%i$1, %j$1] : f32
    yield %8
  } { (%a: f32, %b: f32)
    %9 = add %a, %b : f32
    yield %9
  } : f32[N]
  %10, %11 = nest (%i$2: N, %j$2: M) -> keep[] argmax {
    %12 = get %x[%i$2, %j$2] : f32
    yield %12
  } : i64, i64
  yield %0, %1, %7, %10, %11, %0
}

fn g [N] (%x: f32[N]) -> (f32[K]) defines [K] {
  %0 = nest (%i: N) -> filter defines [K$1] {
    %1 = get %x[%i] : f32
    %2 = cmp gt %1, %1 : bool
    yield %2, %1
  } : f32[K$1]
  yield %0 dims [K$1]
}
)");
}

TEST(CoreText, ControlFlow) {
  roundTrip(R"(enum Option { None(), Some(f32) }

fn f (%n: i64, %o: Option) -> (f32, i64, f32[N]) defines [N] {
  %0 = match cases [0, 1] %o {
    %1 = const 0.0 : f32
    yield %1
  } { (%v: f32)
    yield %v
  } : f32
  %2, %3 = for collects 1 %n, %0 defines [N$1] { (%i: i64, %c: f32)
    %4 = add %c, %c : f32
    yield %4, %c
  } : f32, f32[N$1]
  %5 = while %n { (%k: i64)
    %6 = const 0 : i64
    %7 = cmp gt %k, %6 : bool
    yield %7
  } { (%k$1: i64)
    check exponent "" %k$1
    yield %k$1
  } : i64
  yield %2, %5, %3 dims [N$1]
}
)");
}

TEST(CoreText, MatchesOfNumbers) {
  roundTrip(R"(fn f (%c: bool, %t: u8, %x: f32) -> (f32, i64) {
  %r = match cases [1, 0] %c {
    yield %x
  } {
    %y = neg %x : f32
    yield %y
  } : f32
  %n = match cases [0, 1, 0, 2] %t {
    %0 = const 7 : i64
    yield %0
  } {
    %1 = const 8 : i64
    yield %1
  } {
    %2 = const 9 : i64
    yield %2
  } : i64
  yield %r, %n
}
)");
}

TEST(CoreText, HiddenDims) {
  roundTrip(R"(fn f [N] (%x: f32[N, 2*N + 1]) -> (pack 1 f32[_, 2*N + 1], f32[M]) defines [M] {
  %0 = pack %x dims [N] : pack 1 f32[_, 2*N + 1]
  %1 = unpack %0 defines [K] : f32[K, 2*N + 1]
  %2 = const 0 : i64
  %3 = get %1[:, %2] : f32[K]
  yield %0, %3 dims [K]
}
)");
}

TEST(CoreText, ErrorsNameTheLine) {
  Interner names;
  types::TypeStore types(names);
  Module m(types);
  EXPECT_EQ(parseModule(m, "fn f () -> () {\n  %1 = frob\n}\n"), "line 2, column 8: no op `frob`");
}

} // namespace
} // namespace melix::core
