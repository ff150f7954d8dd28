// Adds of loops that stand behind them: which, and what is kept for them.
#include "transforms/accumulation/defer_accumulation.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

void behind(core::Module& m) { deferAccumulation(m); }

/// A loop over three rows that carries a row and an accumulator, with these adds.
std::string loop(const std::string& adds, const std::string& last = "%c") {
  return R"(fn f (%x: f32[3, 2], %w: f32[2, 2]) -> (f32[2], f32[2, 2]) {
  %n = const 3 : i64
  %z = const 0.5 : f32
  %o = zero : f32[2]
  %h, %s = for collects 0 %n, %o, %w { (%t: i64, %g: f32[2], %a: f32[2, 2])
    %d = nest (%k: 2) -> collect[k] {
      %p = get %x[%t, %k] : f32
      %q = get %g[%k] : f32
      %r = fma %q, %z, %p : f32
      yield %r
    } : f32[2]
)" + adds +
         "    yield %d, " + last + "\n  } : f32[2], f32[2, 2]\n  yield %h, %s\n}\n";
}

const std::string outer = R"(    %c = nest (%i: 2, %j: 2) -> accs (%b = %a) {
      %u = get %x[%t, %i] : f32
      %v = get %d[%j] : f32
      %y = mul %u, %v : f32
      %e = add_at %b[%i, %j] += %y : acc f32[2, 2]
      yield %e
    } : f32[2, 2]
)";

std::vector<Value> arguments() {
  return {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}),
          Value::floats(std::vector<float>{7, 8, 9, 0.5f}, {2, 2})};
}

bool standsBehind(const std::string& adds, const std::string& last = "%c") {
  PassText m(loop(adds, last));
  m.apply(behind, arguments());
  return m.count("f32[2], %a: f32[2, 2])") == 0;
}

TEST(AddBehindLoops, WhatHasFewerAxesThanTheNestIsKept) {
  PassText m(loop(outer));
  m.apply(behind, arguments());
  EXPECT_EQ(m.count("for collects 1"), 1u) << m.text();
  EXPECT_EQ(m.count("cast_dims"), 1u) << m.text();
  EXPECT_EQ(m.count("nest (%i: 2, %j: 2) -> accs"), 1u) << m.text();
}

TEST(AddBehindLoops, NotWhatIsAsLargeAsWhatItIsAddedTo) {
  EXPECT_FALSE(standsBehind(R"(    %c = nest (%j: 2) -> accs (%b = %a) {
      %v = get %d[%j] : f32
      %e = add_at %b[%j, %j] += %v : acc f32[2, 2]
      yield %e
    } : f32[2, 2]
)"));
}

TEST(AddBehindLoops, ReadsOfWhatStandsAroundAreMadeAgain) {
  PassText m(loop("    %aq = get %x[%t, %t] : f32\n    %av = mul %aq, %z : f32\n"
                  "    %c = add_at %a[%t, %t] += %av : f32[2, 2]\n"));
  m.apply(behind);
  EXPECT_EQ(m.count("for collects 0"), 1u) << m.text();
  EXPECT_EQ(m.count("-> accs"), 1u) << m.text();
}

/// Adds of a loop that carries a number too, in the window of each point; `count` elementary functions in
/// each.
std::string windows(int count) {
  std::string term = "%v0";
  std::string made;
  for (int k = 1; k <= count; ++k) {
    made += "      %v" + std::to_string(k) + " = math exp " + term + " : f32\n";
    term = "%v" + std::to_string(k);
  }
  return R"(fn f (%x: f32[6]) -> (f32[6], f32[4]) {
  %n = const 3 : i64
  %o = const 0.5 : f32
  %z = zero : f32[6]
  %s, %h = nest (%i: 4) -> collect[i] accs (%c = %z) {
    %t, %d = for collects 0 %n, %o, %c { (%a: i64, %b: f32, %e: acc f32[6])
      %p = add %i, %a : i64
      %v0 = get %x[%p] : f32
)" + made +
         "      %y = add %b, " + term + " : f32\n      %g = add_at %e[%p] += " + term +
         " : acc f32[6]\n      yield %y, %g\n    } : f32, acc f32[6]\n    yield %t, %d\n  } : f32[4], "
         "f32[6]\n"
         "  yield %h, %s\n}\n";
}

TEST(AddBehindLoops, AFewElementaryFunctionsAreMadeAgainForAWindow) {
  PassText one(windows(1)), many(windows(5));
  one.apply(behind, {Value::floats(std::vector<float>{1, -2, 3, 0.5f, -1, 2})});
  EXPECT_EQ(one.count("for collects 0 %n, %o {"), 1u) << one.text();
  many.apply(behind);
  EXPECT_EQ(many.count("for collects 0 %n, %o {"), 0u) << many.text();
}

TEST(AddBehindLoops, NotWhatIsReadOrReplaced) {
  EXPECT_FALSE(standsBehind(outer + "    %l = get %a[%t, %t] : f32\n"));
  EXPECT_FALSE(standsBehind(
      outer + "    %zero = const 0 : i64\n    %m = set %c[%zero, %zero] = %z : f32[2, 2]\n", "%m"));
  EXPECT_FALSE(standsBehind("", "%a")) << "nothing is added";
}

TEST(AddBehindLoops, WhatAnotherCarryIsAtATurnIsKeptOrHoldsTheAdd) {
  EXPECT_FALSE(standsBehind(R"(    %c = nest (%j: 2) -> accs (%b = %a) {
      %v = get %g[%j] : f32
      %e = add_at %b[%j, %j] += %v : acc f32[2, 2]
      yield %e
    } : f32[2, 2]
)"));
  PassText m(loop(R"(    %c = nest (%i: 2, %j: 2) -> accs (%b = %a) {
      %v = get %g[%j] : f32
      %e = add_at %b[%i, %j] += %v : acc f32[2, 2]
      yield %e
    } : f32[2, 2]
)"));
  m.apply(behind, arguments());
  EXPECT_EQ(m.count("for collects 1"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
