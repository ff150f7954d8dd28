// Matches of what branches chose.
#include "transforms/canonical/case_of_case.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void resolve(core::Module& m) {
  caseOfCase(m);
  simplify(m);
}

TEST(CaseOfCase, AMatchOfAnIfIsAnIf) {
  const char* text = R"(enum Option { None(), Some(f32) }

fn f (%c: bool, %a: f32) -> (f32) {
  %o = if %c {
    %b = add %a, %a : f32
    %s = variant 1 %b : Option
    yield %s
  } {
    %n = variant 0 : Option
    yield %n
  } : Option
  %r = match cases [0, 1] %o {
    yield %a
  } { (%v: f32)
    %w = add %v, %a : f32
    yield %w
  } : f32
  %t = match cases [0, 1] %o {
    %z = const 7.0 : f32
    yield %z
  } { (%u: f32)
    yield %u
  } : f32
  %q = add %r, %t : f32
  yield %q
}
)";
  for (bool c : {false, true}) {
    PassText m(text);
    m.apply(resolve, {Value::boolean(c), Value::f32(2)});
    EXPECT_EQ(m.count("match"), 0u) << m.text();
    EXPECT_EQ(m.count("variant"), 0u);
    EXPECT_EQ(m.count("undef"), 1u);
  }
}

TEST(CaseOfCase, ACaseThatAllMakeIsKnown) {
  PassText m(R"(enum Option { None(), Some(f32) }

fn f (%c: bool, %a: f32) -> (f32) {
  %o = if %c {
    %b = add %a, %a : f32
    %s = variant 1 %b : Option
    yield %s
  } {
    %n = variant 1 %a : Option
    yield %n
  } : Option
  %r = match cases [0, 1] %o {
    yield %a
  } { (%v: f32)
    yield %v
  } : f32
  yield %r
}
)");
  m.apply(resolve, {Value::boolean(true), Value::f32(2)});
  EXPECT_EQ(m.count("match"), 0u) << m.text();
  EXPECT_EQ(m.count("undef"), 0u);
}

constexpr const char* threeCases = R"(enum E { A(), B(f32), C(f32, f32) }
enum Option { None(), Some(f32) }

fn f (%c: i64, %a: f32) -> (f32) {
  %k = const 1 : i64
  %l = cmp lt %c, %k : bool
  %e = if %l {
    %n = variant 0 : E
    yield %n
  } {
    %g = cmp gt %c, %k : bool
    %o = if %g {
      %p = variant 1 %a : E
      yield %p
    } {
      %q = variant 2 %a, %a : E
      yield %q
    } : E
    yield %o
  } : E
  %m = match cases [0, 1, 2] %e {
    %n$1 = variant 0 : Option
    yield %n$1
  } { (%x: f32)
    %s = variant 1 %x : Option
    yield %s
  } { (%y: f32, %z: f32)
    %w = add %y, %z : f32
    %t = variant 1 %w : Option
    yield %t
  } : Option
  %r = match cases [0, 1] %m {
    yield %a
  } { (%v: f32)
    %d = add %v, %a : f32
    yield %d
  } : f32
  yield %r
}
)";

TEST(CaseOfCase, AMatchOfAMatchIsAMatch) {
  for (int c : {0, 1, 2}) {
    PassText m(threeCases);
    m.apply(resolve, {Value::integer(c), Value::f32(2)});
    EXPECT_EQ(m.count("match cases [0, 1, 2] %e"), 2u) << m.text();
    EXPECT_EQ(m.count(": Option"), 0u);
  }
}

TEST(CaseOfCase, AChoiceThatIsUsedElsewhereStays) {
  PassText m(R"(enum Option { None(), Some(f32) }

fn f (%c: bool, %a: f32) -> (f32, Option) {
  %o = if %c {
    %s = variant 1 %a : Option
    yield %s
  } {
    %n = variant 0 : Option
    yield %n
  } : Option
  %r = match cases [0, 1] %o {
    yield %a
  } { (%v: f32)
    yield %v
  } : f32
  yield %r, %o
}
)");
  m.apply(resolve, {Value::boolean(true), Value::f32(2)});
  EXPECT_EQ(m.count("match"), 1u) << m.text();
}

TEST(CaseOfCase, AMatchOfTheNumberThatAnIfGivesIsAnIf) {
  const char* text = R"(fn f (%c: bool, %a: f32) -> (f32, u8) {
  %t, %v = if %c {
    %b = add %a, %a : f32
    %s = const 2 : u8
    yield %s, %b
  } {
    %z = const 0.0 : f32
    %n = const 0 : u8
    yield %n, %z
  } : u8, f32
  %r = match cases [0, 1, 2] %t {
    yield %a
  } {
    %p = const "never" : str
    panic %p
    yield %a
  } {
    %w = mul %v, %a : f32
    yield %w
  } : f32
  yield %r, %t
}
)";
  for (bool c : {false, true}) {
    PassText m(text);
    m.apply(resolve, {Value::boolean(c), Value::f32(2)});
    EXPECT_EQ(m.count("match"), 0u) << m.text();
    EXPECT_EQ(m.count("if"), 2u);
    EXPECT_EQ(m.count("panic"), 0u);
  }
}

/// Arms that several cases choose are shared; without results of that branch in the way.
TEST(CaseOfCase, AMatchOfTheNumberThatAMatchGivesGoesByItsCases) {
  const char* text = R"(fn f (%k: u8, %a: f32) -> (f32) {
  %t = match cases [0, 1, 2, 1] %k {
    %x = const 2 : u8
    yield %x
  } {
    %y = const 0 : u8
    yield %y
  } {
    %z = const 2 : u8
    yield %z
  } : u8
  %r = match cases [0, 1, 2] %t {
    %p = mul %a, %a : f32
    yield %p
  } {
    yield %a
  } {
    %q = add %a, %a : f32
    yield %q
  } : f32
  yield %r
}
)";
  for (uint64_t k : {0, 1, 2, 3, 9}) {
    PassText m(text);
    m.apply(resolve, {Value::ofBits(types::TypeKind::U8, k), Value::f32(3)});
    EXPECT_EQ(m.count("%t"), 0u) << m.text();
    EXPECT_EQ(m.count("mul"), 1u);
    EXPECT_EQ(m.count("add"), 1u);
  }
}

TEST(CaseOfCase, ANumberThatAllRegionsGiveIsKnown) {
  PassText m(R"(fn f (%c: bool, %a: f32) -> (f32) {
  %t, %v = if %c {
    %s = const 1 : u8
    %b = add %a, %a : f32
    yield %s, %b
  } {
    %n = const 1 : u8
    yield %n, %a
  } : u8, f32
  %r = match cases [0, 1, 2] %t {
    yield %a
  } {
    yield %v
  } {
    %w = neg %a : f32
    yield %w
  } : f32
  yield %r
}
)");
  m.apply(resolve, {Value::boolean(true), Value::f32(2)});
  EXPECT_EQ(m.count("match"), 0u) << m.text();
  EXPECT_EQ(m.count("neg"), 0u);
}

/// An arm that two cases choose and that takes no payload stands once.
TEST(CaseOfCase, AnArmForTheRestIsShared) {
  PassText m(R"(enum E { A(), B(f32), C(f32) }

fn f (%k: E, %a: f32) -> (f32) {
  %m = match cases [0, 1, 2] %k {
    %n = variant 0 : E
    yield %n
  } { (%x: f32)
    %s = variant 2 %x : E
    yield %s
  } { (%y: f32)
    %t = variant 1 %y : E
    yield %t
  } : E
  %r = match cases [0, 1, 0] %m {
    %p = mul %a, %a : f32
    yield %p
  } { (%v: f32)
    yield %v
  } : f32
  yield %r
}
)");
  m.apply(resolve, {Value::variant(1, {Value::f32(4)}), Value::f32(3)});
  EXPECT_EQ(m.count("mul"), 1u) << m.text();
  EXPECT_EQ(m.count("variant"), 0u) << m.text();
}

} // namespace
} // namespace melix::transforms
