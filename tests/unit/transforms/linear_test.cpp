// What passes cost is linear in the program: work is counted in ops visited and uses changed, so no clock is
// asked. Programs of one kind are made four times as large, and each pass may do 4.6 times the work.
#include "core/ir/work.h"
#include "core/order/order.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/accumulation/split_nest_results.h"
#include "transforms/calls/defunctionalise.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/calls/specialise_calls.h"
#include "transforms/contractions/contract_fma.h"
#include "transforms/counted_loops/carry_stored_values.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/fusion/coalesce_axes.h"
#include "transforms/fusion/fission_expensive_terms.h"
#include "transforms/fusion/loop_invariant_code_motion.h"
#include "transforms/pass_text.h"
#include "transforms/predication/predicate_by_consumer.h"
#include "transforms/predication/predicate_by_zero_factor.h"
#include "transforms/predication/unswitch_sums.h"
#include "transforms/simplify/simplify.h"

#include <map>

namespace melix::transforms {
namespace {

std::string n(int k) { return std::to_string(k); }

/// `f`, and what takes its derivative.
std::string withGradient(const std::string& f) {
  return f + R"(
fn g (%x: f64) -> (f64) keep {
  %seed = const 1.0 : f64
  %y, %d = derivative reverse @f wrt [0] seeded [1] %x, %seed : f64, f64
  yield %d
}
)";
}

/// One statement after another; some of it is known, said twice, or for nothing.
std::string straight(int size) {
  std::string out = "fn f (%x: f64) -> (f64) {\n  %v0 = mul %x, %x : f64\n";
  for (int k = 1; k <= size; ++k) {
    std::string v = "%v" + n(k), before = "%v" + n(k - 1), c = "%c" + n(k);
    out += "  " + c + " = const 1." + n(k % 3) + " : f64\n  %p" + n(k) + " = mul " + before + ", " + c +
           " : f64\n  %q" + n(k) + " = mul " + before + ", " + c + " : f64\n  %s" + n(k) + " = math sin %q" +
           n(k) + " : f64\n  %dead" + n(k) + " = add %p" + n(k) + ", %q" + n(k) + " : f64\n  " + v +
           " = add %p" + n(k) + ", %s" + n(k) + " : f64\n";
  }
  return withGradient(out + "  yield %v" + n(size) + "\n}\n");
}

/// Each function calls the one before.
std::string chain(int size) {
  std::string out = "fn f0 (%x: f64) -> (f64) {\n  %r = math sin %x : f64\n  yield %r\n}\n";
  for (int k = 1; k <= size; ++k)
    out += "fn " + (k == size ? "f" : "f" + n(k)) + " (%x: f64) -> (f64) {\n  %r = call @f" + n(k - 1) +
           " %x : f64\n  %s = mul %r, %x : f64\n  yield %s\n}\n";
  return withGradient(out);
}

/// Loops one after another, with a branch in each.
std::string loops(int size) {
  std::string out =
      "fn f (%x: f64) -> (f64) {\n  %n = const 5 : i64\n  %h = const 0.5 : f64\n  %v0 = mul %x, %h : f64\n";
  for (int k = 1; k <= size; ++k)
    out += "  %v" + n(k) + " = for collects 0 %n, %v" + n(k - 1) + " { (%i" + n(k) + ": i64, %a" + n(k) +
           ": f64)\n    %b" + n(k) + " = mul %a" + n(k) + ", %x : f64\n    %c" + n(k) + " = cmp gt %b" +
           n(k) + ", %h : bool\n    %d" + n(k) + " = if %c" + n(k) + " {\n      %e" + n(k) + " = sub %b" +
           n(k) + ", %h : f64\n      yield %e" + n(k) + "\n    } {\n      yield %b" + n(k) +
           "\n    } : f64\n    yield %d" + n(k) + "\n  } : f64\n";
  return withGradient(out + "  yield %v" + n(size) + "\n}\n");
}

/// Arrays made of each other, and a sum of each.
std::string nests(int size) {
  std::string out = "fn f (%x: f64) -> (f64) {\n  %v0 = mul %x, %x : f64\n"
                    "  %a0 = nest (%i: 8) -> collect[i] {\n    yield %x\n  } : f64[8]\n";
  for (int k = 1; k <= size; ++k)
    out += "  %a" + n(k) + ", %s" + n(k) + " = nest (%i" + n(k) + ": 8) -> collect[i" + n(k) +
           "], keep[] sum {\n    %e" + n(k) + " = get %a" + n(k - 1) + "[%i" + n(k) + "] : f64\n    %m" +
           n(k) + " = mul %e" + n(k) + ", %x : f64\n    yield %m" + n(k) + ", %e" + n(k) +
           "\n  } : f64[8], f64\n  %v" + n(k) + " = add %v" + n(k - 1) + ", %s" + n(k) + " : f64\n";
  return withGradient(out + "  yield %v" + n(size) + "\n}\n");
}

/// Many derivatives in one function.
std::string derivatives(int size) {
  std::string out = R"(fn f (%x: f64) -> (f64) {
  %r = math sin %x : f64
  yield %r
}
fn g (%x: f64) -> (f64) keep {
  %seed = const 1.0 : f64
)";
  for (int k = 1; k <= size; ++k)
    out += "  %y" + n(k) + ", %d" + n(k) + " = derivative reverse @f wrt [0] seeded [1] " +
           (k == 1 ? "%x" : "%d" + n(k - 1)) + ", %seed : f64, f64\n";
  return out + "  yield %d" + n(size) + "\n}\n";
}

void expand(core::Module& m) { EXPECT_TRUE(expandDerivatives(m).problems.empty()); }
void simplifyAll(core::Module& m) { simplify(m); }
void inlineAll(core::Module& m) { inlineCalls(m, {.beforeDerivatives = false}); }

using Costs = std::vector<std::pair<const char*, uint64_t>>;

Costs costsOf(const std::string& text) {
  const std::pair<const char*, void (*)(core::Module&)> passes[] = {
      {"simplify", simplifyAll},
      {"specialise_calls", specialiseCalls},
      {"defunctionalise", defunctionalise},
      {"expand_derivatives", expand},
      {"simplify derivatives", simplifyAll},
      {"inline_calls", inlineAll},
      {"simplify what is inlined", simplifyAll},
      {"scatter_to_gather", [](core::Module& m) { scatterToGather(m); }},
      {"split_nest_results", splitNestResults},
      {"hoist_axis_invariants", hoistAxisInvariants},
      {"simplify sums", simplifyAll},
      {"fission_expensive_terms", fissionExpensiveTerms},
      {"coalesce_axes", coalesceAxes},
      {"carry_stored_values", carryStoredValues},
      {"choose_orders", core::chooseOrders},
      {"contract_fma", contractFma},
      {"remove_unreachable", removeUnreachable},
  };
  PassText m(text);
  m.expectVerified();
  Costs out;
  for (auto [name, pass] : passes) {
    const uint64_t before = core::work.total();
    pass(m.module);
    out.emplace_back(name, core::work.total() - before);
  }
  m.expectVerified();
  return out;
}

/// Products of weights that a mask makes zero, each with the one before, whose scores only the mask reads.
std::string masked(int size) {
  std::string out = "fn f [T, E] (%t: f32[T, T], %v0: f32[T, E]) -> (f32[T, E]) keep {\n";
  for (int k = 1; k <= size; ++k) {
    const std::string i = n(k);
    out += "  %s" + i + " = nest (%a" + i + ": T, %b" + i + ": T, %k" + i + ": E) -> keep[a" + i + ", b" + i +
           "] sum {\n    %x" + i + " = get %v" + n(k - 1) + "[%a" + i + ", %k" + i + "] : f32\n    %y" + i +
           " = get %v" + n(k - 1) + "[%b" + i + ", %k" + i + "] : f32\n    %z" + i + " = mul %x" + i +
           ", %y" + i + " : f32\n    yield %z" + i + "\n  } : f32[T, T]\n  %w" + i + " = nest (%c" + i +
           ": T, %d" + i + ": T) -> collect[c" + i + ", d" + i + "] {\n    %m" + i + " = cmp le %d" + i +
           ", %c" + i + " : bool\n    %g" + i + " = get %s" + i + "[%c" + i + ", %d" + i + "] : f32\n    %n" +
           i + " = const 0.0 : f32\n    %q" + i + " = select %m" + i + ", %g" + i + ", %n" + i +
           " : f32\n    yield %q" + i + "\n  } : f32[T, T]\n  %v" + i + " = nest (%e" + i + ": T, %f" + i +
           ": E, %u" + i + ": T) -> keep[e" + i + ", f" + i + "] sum {\n    %h" + i + " = get %w" + i +
           "[%e" + i + ", %u" + i + "] : f32\n    %j" + i + " = get %v" + n(k - 1) + "[%u" + i + ", %f" + i +
           "] : f32\n    %p" + i + " = mul %h" + i + ", %j" + i + " : f32\n    yield %p" + i +
           "\n  } : f32[T, E]\n";
  }
  return out + "  yield %v" + n(size) + "\n}\n";
}

struct Program {
  const char* name;
  std::string (*ofSize)(int);
};
class LinearPasses : public testing::TestWithParam<Program> {};

TEST_P(LinearPasses, WorkGrowsWithTheProgram) {
  const Costs small = costsOf(GetParam().ofSize(100)), large = costsOf(GetParam().ofSize(400));
  for (size_t k = 0; k < small.size(); ++k)
    EXPECT_LE(static_cast<double>(large[k].second), 4.6 * static_cast<double>(small[k].second) + 200)
        << small[k].first << ": " << small[k].second << ", then " << large[k].second;
}

INSTANTIATE_TEST_SUITE_P(Programs, LinearPasses,
                         testing::Values(Program{"straight", straight}, Program{"chain", chain},
                                         Program{"loops", loops}, Program{"nests", nests},
                                         Program{"derivatives", derivatives}),
                         [](const auto& program) { return std::string(program.param.name); });

TEST(LinearMasks, OfProductsThatFollowEachOther) {
  auto costs = [](int size) {
    PassText m(masked(size));
    m.expectVerified();
    Costs out;
    for (auto [name, pass] :
         {std::pair<const char*, void (*)(core::Module&)>{"predicate_by_consumer", predicateByConsumer},
          {"unswitch_sums", unswitchSums},
          {"predicate_by_zero_factor", predicateByZeroFactor}}) {
      const uint64_t before = core::work.total();
      pass(m.module);
      out.emplace_back(name, core::work.total() - before);
    }
    m.expectVerified();
    EXPECT_EQ(m.count(" = if "), static_cast<size_t>(2 * size)) << "scores and products";
    return out;
  };
  const Costs small = costs(50), large = costs(200);
  for (size_t k = 0; k < small.size(); ++k)
    EXPECT_LE(static_cast<double>(large[k].second), 4.6 * static_cast<double>(small[k].second) + 200)
        << small[k].first << ": " << small[k].second << ", then " << large[k].second;
}

/// Loops in each other are gone around together, not each anew for every turn of the one outside.
TEST(LoopsInLoops, DerivativesOfLoopsInLoopsCostTheirOps) {
  auto nested = [](int depth) {
    std::string open, close, last = "%x";
    for (int k = 0; k < depth; ++k) {
      std::string a = "%a" + n(k);
      open += "  %r" + n(k) + " = for collects 0 %n, " + last + " { (%i" + n(k) + ": i64, " + a + ": f64)\n";
      close = "  yield " + (k + 1 < depth ? "%r" + n(k + 1) : std::string("%s")) + "\n  } : f64\n" + close;
      last = a;
    }
    return withGradient("fn f (%x: f64) -> (f64) {\n  %n = const 2 : i64\n" + open + "  %s = mul " + last +
                        ", %x : f64\n" + close + "  yield %r0\n}\n");
  };
  auto workOf = [&](int depth) {
    uint64_t sum = 0;
    for (auto [name, work] : costsOf(nested(depth))) sum += work;
    return static_cast<double>(sum);
  };
  // Each level is saved by those around it, which makes the square of the depth; going around anew would
  // double with each.
  EXPECT_LE(workOf(8), 5 * workOf(4));
}

} // namespace
} // namespace melix::transforms
