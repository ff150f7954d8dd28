// Inlining, hoisting, orders, fma.
#include "transforms/calls/inline_calls.h"
#include "transforms/fusion/fission_expensive_terms.h"
#include "transforms/fusion/fuse.h"
#include "transforms/fusion/loop_invariant_code_motion.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

const std::vector<Value> twoMatrices{Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}),
                                     Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})};

TEST(SeparateTerms, DearTermsAreComputedByANestOfTheirOwn) {
  PassText m(R"(fn loss [N] (%x: f32[N], %k: i64) -> (f32, bool) {
  %a = get %x[%k] : f32
  %b = math exp %a : f32
  %c = cmp gt %a, %b : bool
  %d = not %c : bool
  yield %b, %d
}

fn f [N] (%x: f32[N], %y: f32[N]) -> (f32, f32[N], i64, i64, f32[K]) defines [K] keep {
  %s, %t, %at, %n, %kept = nest (%i: N) -> keep[] sum, collect[i], keep[] argmax, keep[] sum, filter defines [J] {
    %l, %c = call @loss %x, %i dims [N] : f32, bool
    yield %l, %l, %l, %i, %c, %l
  } : f32, f32[N], i64, i64, f32[J]
  yield %s, %t, %at, %n, %kept dims [J]
}

fn cheap [N] (%x: f32[N]) -> (f32) keep {
  %s = nest (%i: N) -> keep[] sum {
    %a = get %x[%i] : f32
    yield %a
  } : f32
  yield %s
}
)");
  Value x = Value::floats(std::vector<float>{3, 1, 2});
  m.apply(fissionExpensiveTerms, {x, x});
  EXPECT_EQ(m.count("collect[i], collect[i]"), 1u) << m.text(); // the loss, the condition
  EXPECT_EQ(m.count("keep[] sum, keep[] argmax, keep[] sum, filter"), 1u) << m.text();
  EXPECT_EQ(m.count("nest ("), 3u) << m.text();
}

TEST(SeparateTerms, OfProductsWhereEveryPointReadsItsOwn) {
  const Value x = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const Value z = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  auto collects = [&](const std::string& read, const std::string& row) {
    PassText m("fn f (%x: f32[3, 2], %z: f32[3, 3]) -> (f32) {\n  %r = nest (%i: 3, %j: 3) -> keep[] sum {\n"
               "    %b = get %z[" +
               read + "] : f32\n    %s = nest (%k: 2) -> keep[] sum {\n      %a = get %x[" + row +
               ", %k] : f32\n      %c = get %x[%j, %k] : f32\n      %p = mul %a, %c : f32\n      yield %p\n"
               "    } : f32\n    %d = sub %b, %s : f32\n    yield %d\n  } : f32\n  yield %r\n}\n");
    m.apply(fissionExpensiveTerms, {x, z});
    return m.count("collect[i, j]") == 1;
  };
  EXPECT_TRUE(collects("%j, %i", "%i"));
  EXPECT_FALSE(collects("%j, %j", "%i"));
  EXPECT_FALSE(collects("%i, %j", "%j")) << "one side";
}

TEST(Inline, SmallFunctionsAreCopiedWithTheirDims) {
  PassText m(R"(fn double [M] (%x: f32[M]) -> (f32[M]) {
  %r = nest (%i: M) -> collect[i] {
    %a = get %x[%i] : f32
    %b = add %a, %a : f32
    yield %b
  } : f32[M]
  yield %r
}

fn f [N] (%x: f32[N]) -> (f32[N]) keep {
  %a = call @double %x dims [N] : f32[N]
  %b = call @double %a dims [N] : f32[N]
  yield %b
}
)");
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::floats(std::vector<float>{1, 2})});
  EXPECT_EQ(m.count("call"), 0u);
  EXPECT_EQ(m.count("fn "), 1u);
}

TEST(Inline, RecursionStays) {
  PassText m(R"(fn f (%n: i64) -> (i64) keep {
  %0 = const 0 : i64
  %1 = const 1 : i64
  %c = cmp gt %n, %0 : bool
  %r = if %c {
    %m = sub %n, %1 : i64
    %a = call @f %m : i64
    yield %a
  } {
    yield %0
  } : i64
  yield %r
}
)");
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::integer(3)});
  EXPECT_EQ(m.count("call"), 1u);
}

/// The size is decided two calls down.
TEST(Inline, SizesGoThroughSeveralCalls) {
  PassText m(R"(fn h [M] (%x: f32[M]) -> (f32[K]) defines [K] {
  %r = nest (%i: M) -> filter defines [J] {
    %a = get %x[%i] : f32
    %b = cmp gt %a, %a : bool
    %c = not %b : bool
    yield %c, %a
  } : f32[J]
  yield %r dims [J]
}

fn g [M] (%x: f32[M]) -> (f32[K]) defines [K] {
  %a = call @h %x dims [M] defines [L] : f32[L]
  yield %a dims [L]
}

fn f [N] (%x: f32[N]) -> (f32) keep {
  %a = call @g %x dims [N] defines [L] : f32[L]
  %b = call @g %a dims [L] defines [P] : f32[P]
  %s = nest (%i: P) -> keep[] sum {
    %v = get %b[%i] : f32
    yield %v
  } : f32
  yield %s
}
)");
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::floats(std::vector<float>{1, 2})});
  EXPECT_EQ(m.count("call"), 0u);
}

/// `work` of so many ops, and a caller that calls it so often after so many ops of its own.
static std::string callerAndCallee(int calleeOps, int calls, int ownOps = 0) {
  std::string out = "fn work (%x: f32) -> (f32) {\n", last = "%x";
  auto chain = [&](const std::string& name, int count) {
    for (int k = 0; k < count; ++k) {
      std::string next = "%" + name + std::to_string(k);
      out += "  " + next + " = sqrt " + last + " : f32\n";
      last = next;
    }
  };
  chain("a", calleeOps);
  out += "  yield " + last + "\n}\n\nfn f (%x: f32) -> (f32) keep {\n";
  last = "%x";
  chain("b", ownOps);
  for (int k = 0; k < calls; ++k) {
    std::string next = "%c" + std::to_string(k);
    out += "  " + next + " = call @work " + last + " : f32\n";
    last = next;
  }
  return out + "  yield " + last + "\n}\n";
}

static size_t callsLeft(const std::string& text) {
  PassText m(text);
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::f32(2)});
  return m.count("call @");
}

TEST(Inline, DependsOnTheSizesOfCallerAndCalleeOnly) {
  const InlineOptions limits;
  const int most = static_cast<int>(limits.largestCallee), longest = static_cast<int>(limits.largestCaller);
  for (int calls : {1, 2, 3}) {
    EXPECT_EQ(callsLeft(callerAndCallee(most, calls)), 0u);
    EXPECT_EQ(callsLeft(callerAndCallee(most + 1, calls)), static_cast<size_t>(calls));
  }
  EXPECT_EQ(callsLeft(callerAndCallee(4, 1, longest - 1)), 0u);
  EXPECT_EQ(callsLeft(callerAndCallee(4, 1, longest)), 1u);
}

/// What is inlined into a callee counts for it, so that a chain of calls is cut into pieces, and does not
/// grow.
TEST(Inline, ChainsAreCutIntoPieces) {
  constexpr int length = 400;
  std::string text = "fn f0 (%x: f32) -> (f32) {\n  %r = sqrt %x : f32\n  yield %r\n}\n";
  for (int k = 1; k <= length; ++k)
    text += "fn f" + std::string(k == length ? "" : std::to_string(k)) + " (%x: f32) -> (f32) " +
            (k == length ? "keep " : "") + "{\n  %a = call @f" + std::to_string(k - 1) +
            " %x : f32\n  %r = sqrt %a : f32\n  yield %r\n}\n";
  PassText m(text);
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::f32(2)});
  EXPECT_EQ(m.count("sqrt"), static_cast<size_t>(length + 1));
  EXPECT_LE(m.count("fn "), 2 * length / InlineOptions().largestCallee + 1);
}

TEST(Inline, ResultDimsBecomeThoseOfTheBody) {
  PassText m(R"(fn g [M] (%x: f32[M]) -> (f32[K]) defines [K] {
  %r = nest (%i: M) -> filter defines [J] {
    %a = get %x[%i] : f32
    %b = cmp gt %a, %a : bool
    %c = not %b : bool
    yield %c, %a
  } : f32[J]
  yield %r dims [J]
}

fn f [N] (%x: f32[N]) -> (f32) keep {
  %a = call @g %x dims [N] defines [L] : f32[L]
  %s = nest (%i: L) -> keep[] sum {
    %v = get %a[%i] : f32
    yield %v
  } : f32
  yield %s
}
)");
  m.apply([](core::Module& module) { inlineCalls(module); }, {Value::floats(std::vector<float>{1, 2})});
  EXPECT_EQ(m.count("call"), 0u);
}

TEST(HoistAxes, DearPartsOfABodyGetANestOfTheirOwn) {
  PassText m(R"(fn f [N, K] (%x: f32[N, K], %y: f32[K, N]) -> (f32[N]) {
  %0 = const 0 : i64
  %r = nest (%i: N, %k: K) -> keep[i] sum {
    %two = const 2.0 : f32
    %a = get %x[%i, %0] : f32
    %e = math exp %a : f32
    %b = get %y[%k, %i] : f32
    %p = mul %e, %b : f32
    %q = mul %p, %two : f32
    yield %q
  } : f32[N]
  yield %r
}
)");
  m.apply(hoistAxisInvariants, twoMatrices);
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
  EXPECT_LT(m.text().find("math exp"), m.text().find("keep[i"));
  EXPECT_LT(m.text().find("const 2.0"), m.text().find("nest")) << "constants leave the sweep";
}

TEST(HoistAxes, WhatIsTheSameAlongAnAxisIsNotCollectedAlongIt) {
  PassText m(R"(fn f (%x: f32[2, 3], %y: f32[3, 2]) -> (f32[2], f32[2]) {
  %s, %r = nest (%i: 2, %k: 3) -> collect[i, k], keep[i] sum {
    %0 = const 0 : i64
    %a = get %x[%i, %0] : f32
    %q = mul %a, %a : f32
    %b = get %y[%k, %i] : f32
    %p = mul %q, %b : f32
    yield %q, %p
  } : f32[2, 3], f32[2]
  %t = nest (%l: 2, %n: 3) -> keep[l] sum {
    %c = get %s[%l, %n] : f32
    yield %c
  } : f32[2]
  yield %r, %t
}
)");
  m.apply(hoistAxisInvariants, twoMatrices);
  m.apply(simplify, twoMatrices);
  m.apply([](core::Module& module) { fuse(module); }, twoMatrices);
  EXPECT_EQ(m.count("[2, 3]"), 1u) << "the parameter: " << m.text();
}

TEST(HoistAxes, EffectsAndBranchesStay) {
  PassText m(R"(fn f [N, K] (%x: f32[N, K], %y: f32[K, N], %k: i64) -> (f32[N]) {
  %r = nest (%i: N) -> collect[i] {
    check index "" %k dims [K]
    %a = get %x[%i, %k] : f32
    yield %a
  } : f32[N]
  yield %r
}
)");
  std::vector<Value> args = twoMatrices;
  args.push_back(Value::integer(1));
  m.apply(hoistAxisInvariants, args);
  EXPECT_GT(m.text().find("check"), m.text().find("nest"));
}

} // namespace
} // namespace melix::transforms
