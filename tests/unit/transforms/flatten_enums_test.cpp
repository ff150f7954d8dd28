// Flat enums by their tags and slots.
#include "transforms/flatten_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A loop carries the best of what it saw, if it saw any.
TEST(FlattenEnums, ALoopCarriesATagAndSlots) {
  const char* text = R"(enum Option { None(), Some(f32, i64) }

fn f (%x: f32[3], %n: i64) -> (f32) {
  %none = variant 0 : Option
  %r = for collects 0 %n, %none { (%i: i64, %best: Option)
    %v = get %x[%i] : f32
    %better = match cases [0, 1] %best {
      %t = const true : bool
      yield %t
    } { (%b: f32, %at: i64)
      %l = cmp gt %v, %b : bool
      yield %l
    } : bool
    %next = if %better {
      %s = variant 1 %v, %i : Option
      yield %s
    } {
      yield %best
    } : Option
    yield %next
  } : Option
  %y = match cases [0, 1] %r {
    %z = const -1.0 : f32
    yield %z
  } { (%w: f32, %k: i64)
    %d = get %x[%k] : f32
    %e = add %w, %d : f32
    yield %e
  } : f32
  yield %y
}
)";

  for (int64_t n : {0, 3}) {
    PassText each(text);
    each.apply(flatten, {Value::floats(std::vector<float>{1, 3, 2}), Value::integer(n)});
    EXPECT_EQ(each.count("variant"), 0u) << each.text();
    EXPECT_EQ(each.count("(%i: i64, %best_tag: bool, %best_0: f32, %best_1: i64)"), 1u) << each.text();
  }
}

/// Cases share slots; what a case does not use is zero, empty or nothing.
TEST(FlattenEnums, FieldsOfACaseLieInItsSlots) {
  const char* text = R"(enum Tree { Leaf(), Fork(Tree, Tree) }
struct Pair { x: f32, y: f32 }
enum Kind { None(), Two(Pair), One(f32, str), Many(List[f32], f32[2], Tree) }

fn f (%n: i64, %a: f32, %t: str, %l: List[f32], %p: f32[2], %tree: Tree) -> (Kind) keep {
  %zero = const 0 : i64
  %c = cmp lt %n, %zero : bool
  %k = if %c {
    %pair = make %a, %a : Pair
    %two = variant 1 %pair : Kind
    yield %two
  } {
    %d = cmp gt %n, %zero : bool
    %other = if %d {
      %one = variant 2 %a, %t : Kind
      yield %one
    } {
      %many = variant 3 %l, %p, %tree : Kind
      yield %many
    } : Kind
    yield %other
  } : Kind
  yield %k
}
)";

  const Value list = Value::list(types::TypeKind::F32, {Value::f32(4)});
  for (int64_t n : {-1, 0, 1}) {
    PassText each(text);
    each.apply(flattenRecords, {Value::integer(n), Value::f32(2), Value::text("t"), list,
                                Value::floats(std::vector<float>{5, 6}), Value::variant(0, {})});
  }
  PassText m(text);
  m.apply(flattenRecords);
  EXPECT_EQ(m.count("variant"), 0u) << m.text();
  // The tag, two numbers, a text, a list, an array, a box.
  EXPECT_EQ(m.count(": u8, f32, f32, str, List[f32], f32[2], Tree"), 2u) << m.text();
  EXPECT_EQ(m.count("undef : Tree"), 2u) << m.text();
  EXPECT_EQ(m.count("zero : f32[2]"), 2u) << m.text();
}

TEST(FlattenEnums, ArraysAreByTagAndSlot) {
  PassText m(R"(enum Option { None(), Some(f32) }

fn f (%x: f32[3], %n: i64) -> (f32) {
  %all = nest (%i: 3) -> collect[i] {
    %v = get %x[%i] : f32
    %two = const 2.0 : f32
    %c = cmp lt %v, %two : bool
    %o = if %c {
      %s = variant 1 %v : Option
      yield %s
    } {
      %none = variant 0 : Option
      yield %none
    } : Option
    yield %o
  } : Option[][3]
  %y = nest (%k: 3) -> keep[] sum {
    %p = get %all[%k] : Option
    %r = match cases [0, 1] %p {
      %z = const 10.0 : f32
      yield %z
    } { (%w: f32)
      yield %w
    } : f32
    yield %r
  } : f32
  yield %y
}
)");
  m.apply(flatten, {Value::floats(std::vector<float>{1, 3, 2}), Value::integer(0)});
  EXPECT_EQ(m.count(": bool[3], f32[3]"), 1u) << m.text();
  EXPECT_EQ(m.count("variant"), 0u) << m.text();
}

TEST(FlattenEnums, ListsAndBoxesHoldThemInPlace) {
  PassText m(R"(enum Option { None(), Some(f32) }
enum Chain { End(), Link(Option, Chain) }

fn f (%a: f32) -> (f32) {
  %some = variant 1 %a : Option
  %l = list %some : List[Option]
  %zero = const 0 : i64
  %o = get %l<%zero> : Option
  %end = variant 0 : Chain
  %link = variant 1 %o, %end : Chain
  %r = match cases [0, 1] %link {
    yield %a
  } { (%head: Option, %rest: Chain)
    %v = match cases [0, 1] %head {
      yield %a
    } { (%w: f32)
      %s = add %w, %w : f32
      yield %s
    } : f32
    yield %v
  } : f32
  yield %r
}
)");
  m.apply(flatten, {Value::f32(2)});
  EXPECT_EQ(m.count("get %l<%zero>.0 : bool"), 1u) << m.text();
  EXPECT_EQ(m.count("get %l<%zero>.1 : f32"), 1u) << m.text();
  EXPECT_EQ(m.count("variant 1 %"), 0u) << m.text(); // it is known what the link holds
}

} // namespace
} // namespace melix::transforms
