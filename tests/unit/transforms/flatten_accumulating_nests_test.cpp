// Nests that hand their accumulators to nests in them.
#include "transforms/accumulation/flatten_accumulating_nests.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

std::vector<Value> arguments() {
  std::vector<float> x;
  for (int k = 0; k < 24; ++k) x.push_back(static_cast<float>(k % 5) - 2);
  return {Value::floats(x, {2, 3, 4}), Value::floats({x.begin(), x.begin() + 4}, {4})};
}

/// A nest over rows in one over a batch; each adds what stands there at a point.
std::string adding(const std::string& inBatch, const std::string& inRow) {
  return "fn f (%x: f32[2, 3, 4], %w: f32[4]) -> (f32[4]) {\n  %g = nest (%b: 2) -> accs (%a = %w) {\n"
         "    %k = const 2.0 : f32\n" +
         inBatch + "    %i = nest (%n: 3) -> accs (%c = %a) {\n" + inRow +
         "      %o = nest (%h: 4) -> accs (%e = %c) {\n        %v = get %r[%h] : f32\n"
         "        %q = add_at %e[%h] += %v : acc f32[4]\n        yield %q\n      } : acc f32[4]\n"
         "      yield %o\n    } : acc f32[4]\n    yield %i\n  } : f32[4]\n  yield %g\n}\n";
}
const std::string batch = "    %s = get %x[%b] : f32[3, 4]\n", row = "      %r = get %s[%n] : f32[4]\n";
const std::string doubled = "      %t = get %s[%n] : f32[4]\n      %r = nest (%m: 4) -> collect[m] {\n"
                            "        %y = get %t[%m] : f32\n        %z = math exp %y : f32\n"
                            "        yield %z\n      } : f32[4]\n";

TEST(MergeAccumulations, NestsOfNothingElseAreOne) {
  PassText m(adding(batch, row));
  m.apply(flattenAccumulatingNests, arguments());
  EXPECT_EQ(m.count("nest ("), 1u) << m.text();
}

TEST(MergeAccumulations, WhatANestMakesBesideItsAddsIsCollectedInFront) {
  PassText merged(adding(batch, doubled));
  merged.apply(flattenAccumulatingNests, arguments());
  EXPECT_EQ(merged.count("nest (%b: 2, %n: 3) -> accs"), 1u) << "it is the outermost then: " << merged.text();
  const std::string sum = "    %u = nest (%l: 3, %p: 4) -> keep[] sum {\n      %d = get %s[%l, %p] : f32\n"
                          "      yield %d\n    } : f32\n    %zero = const 0 : i64\n"
                          "    %j = add_at %a[%zero] += %u : acc f32[4]\n";
  std::string beside = adding(batch + sum, doubled);
  beside.replace(beside.find("accs (%c = %a)"), 14, "accs (%c = %j)");
  PassText m(beside);
  m.apply(flattenAccumulatingNests, arguments());
  EXPECT_EQ(m.count("nest (%n: 3) -> collect[n]"), 1u) << m.text();
  EXPECT_EQ(m.count("%z = math exp %y"), 1u) << m.text();
}

/// One is for the nest that adds, the other for an add beside it.
TEST(MergeAccumulations, AllThatOneOpGivesIsCollectedTogether) {
  std::string both = adding(batch, "      %t = get %s[%n] : f32[4]\n"
                                   "      %r, %y2 = nest (%m: 4) -> collect[m], collect[m] {\n"
                                   "        %y = get %t[%m] : f32\n        %z = math exp %y : f32\n"
                                   "        yield %z, %y\n      } : f32[4], f32[4]\n"
                                   "      %c2 = add_at %c += %y2 : acc f32[4]\n");
  both.replace(both.find("accs (%e = %c)"), 14, "accs (%e = %c2)");
  const std::string sum = "    %u = nest (%l: 3, %p: 4) -> keep[] sum {\n      %d = get %s[%l, %p] : f32\n"
                          "      yield %d\n    } : f32\n    %zero = const 0 : i64\n"
                          "    %j = add_at %a[%zero] += %u : acc f32[4]\n";
  both.insert(both.find("    %i = nest"), sum);
  both.replace(both.find("accs (%c = %a)"), 14, "accs (%c = %j)");
  PassText m(both);
  m.apply(flattenAccumulatingNests, arguments());
  EXPECT_EQ(m.count("nest (%n: 3) -> collect[n], collect[n]"), 1u) << m.text();
}

TEST(MergeAccumulations, NotWithAnEffectInFront) {
  PassText m(adding(batch + "    check index \"\" %b dims [2]\n", row));
  m.apply(flattenAccumulatingNests, arguments());
  EXPECT_EQ(m.count("nest ("), 2u) << m.text();
}

} // namespace
} // namespace melix::transforms
