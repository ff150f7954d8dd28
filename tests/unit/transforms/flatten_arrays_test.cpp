// Arrays of records by their leaves: built, filtered, read and changed, from and to lists.
#include "transforms/flatten_text.h"

namespace melix::transforms {
namespace {

/// The sizes of a part come after the array's; indices go to each leaf, and a field chooses.
TEST(FlattenArrays, AnArrayOfRecordsIsAnArrayForEachLeaf) {
  PassText m(R"(struct Body { at: f32[3], mass: f32 }

fn f (%x: f32[3], %n: i64) -> (f32[3], f32, f32) {
  bind_dim %n defines [n]
  %b = nest (%i: n) -> collect[i] {
    %k = convert saturate %i : f32
    %e = make %x, %k : Body
    yield %e
  } : Body[][n]
  %zero = const 0 : i64
  %one = const 1 : i64
  %two = const 2.0 : f32
  check index "" %one dims [n]
  %c = set %b[%one].1 = %two : Body[][n]
  %w = add_at %c[%zero].0[%one] += %two : Body[][n]
  %y = get %w[%zero] : Body
  %at = get %y.0 : f32[3]
  %mass = get %w[%one].1 : f32
  %v = get %w[%one].0[%one] : f32
  yield %at, %mass, %v
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 0u) << m.text();
  EXPECT_EQ(m.count("-> collect[i], collect[i]"), 1u) << m.text();
  EXPECT_EQ(m.count(": f32[n, 3], f32[n]"), 1u) << m.text();
  EXPECT_EQ(m.count("check array_fits \"an array of shape [{0}, {1}] is too large\" dims [n, 3]"), 1u);
  EXPECT_EQ(m.count("add_at %b_at[%zero, %one]"), 1u) << m.text();
  EXPECT_EQ(m.count("set %b_mass[%one]"), 1u) << m.text();
}

/// One condition and one size for all leaves.
TEST(FlattenArrays, AFilterKeepsLeavesTogether) {
  PassText m(R"(struct P { a: f32, b: i64 }

fn f (%x: f32[3], %n: i64) -> (i64, f32) {
  %kept = nest (%i: 3) -> filter defines [d] {
    %one = const 1 : i64
    %c = cmp ge %i, %one : bool
    %v = get %x[%i] : f32
    %p = make %v, %i : P
    yield %c, %p
  } : P[][d]
  %size = dim_value dims [d] : i64
  %s = nest (%j: d) -> keep[] sum {
    %w = get %kept[%j].0 : f32
    yield %w
  } : f32
  yield %size, %s
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("filter 2 defines [d]"), 1u) << m.text();
  EXPECT_EQ(m.count(": f32[d], i64[d]"), 1u) << m.text();
}

/// Elements of a list stay whole, and so do arrays in them: a path into these names the fields first.
TEST(FlattenArrays, PathsIntoMemoryNameFieldsFirst) {
  PassText m(R"(struct P { a: f32, b: i64 }

fn f (%x: f32[3], %n: i64) -> (f32, i64) {
  %arr = nest (%i: 3) -> collect[i] {
    %v = get %x[%i] : f32
    %p = make %v, %i : P
    yield %p
  } : P[][3]
  %xs = list %arr, %arr : List[P[][3]]
  %zero = const 0 : i64
  %one = const 1 : i64
  %q = get %xs<%zero>[%one] : P
  %ys = set %xs<%one>[%zero] = %q : List[P[][3]]
  %a = get %ys<%one>[%zero].0 : f32
  %b = get %ys<%one>[%zero].1 : i64
  yield %a, %b
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("make"), 1u) << m.text();
  EXPECT_EQ(m.count("<%one>.0[%zero]"), 2u) << m.text();
}

/// A list becomes an array by a nest, and an array a list by a loop.
TEST(FlattenArrays, ListsAndArraysOfRecords) {
  PassText m(R"(struct P { a: f32[3], b: i64 }

fn f (%x: f32[3], %n: i64) -> (f32, i64, i64) {
  %one = const 1 : i64
  %p = make %x, %n : P
  %q = make %x, %one : P
  %xs = list %p, %q : List[P]
  %arr = to_array %xs defines [d] : P[][d]
  check index "" %one dims [d]
  %a = get %arr[%one].0[%one] : f32
  %b = get %arr[%one].1 : i64
  %ys = to_list %arr : List[P]
  %len = length %ys : i64
  yield %a, %b, %len
}
)");
  m.apply(flatten, flattenArguments());
  EXPECT_EQ(m.count("to_array"), 0u) << m.text();
  EXPECT_EQ(m.count("to_list"), 0u) << m.text();
}

/// Where there is no element, nobody has seen the sizes of its parts.
TEST(FlattenArrays, SizesOfPartsThatAreNoSizes) {
  PassText m(R"(struct P[D] { a: f32[D], b: i64 }

fn g (%k: i64) -> (P[d]) defines [d] {
  bind_dim %k defines [d]
  check dim_non_negative "the length" dims [d]
  %z = zero : f32[d]
  %p = make %z, %k : P[d]
  yield %p dims [d]
}

fn f (%x: f32[3], %n: i64) -> (i64) {
  %minus = const -3 : i64
  %k = mul %n, %minus : i64
  bind_dim %k defines [k]
  %none = const 0 : i64
  %less = min %n, %none : i64
  bind_dim %less defines [l]
  %arr = nest (%i: l) -> collect[i] {
    %p = call @g %k defines [e] : P[e]
    %c = cast_dims %p : P[k]
    yield %c
  } : P[k][l]
  %most = max %k, %none : i64
  yield %most
}
)");
  m.apply(flatten, flattenArguments());
}

} // namespace
} // namespace melix::transforms
