// Adds of overlapping windows: what their terms are made of is made again, and no table of all windows kept.
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

Value row() { return Value::floats(std::vector<float>{1, -2, 3, 0.5f, -1, 2}); }
Value weights() { return Value::floats(std::vector<float>{1, 2, 4}); }

/// Adds an exponential of `term`, which each place of each window of a row has, where that place is.
std::string window(const std::string& term) {
  return "fn f [N] (%x: f32[N + 2], %t: f32[N, 3]) -> (f32[N + 2]) {\n  %z = zero : f32[N + 2]\n"
         "  %h = nest (%i: N, %a: 3) -> accs (%c = %z) {\n    %p = add %i, %a : i64\n" +
         term +
         "    %e = math exp %s : f32\n    %n = add_at %c[%p] += %e : acc f32[N + 2]\n    yield %n\n"
         "  } : f32[N + 2]\n  yield %h\n}\n";
}

TEST(AccumulateWindows, WhatIsReadOfFewerPlacesIsMadeAgain) {
  PassText m(window("    %v = get %x[%p] : f32\n    %w = get %x[%i] : f32\n    %s = sub %v, %w : f32\n"));
  m.apply(scatterToGather);
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
  EXPECT_EQ(m.count("collect"), 0u) << m.text();
}

TEST(AccumulateWindows, WhatIsReadOfATableOfAllPlacesIsKept) {
  PassText m(window("    %s = get %t[%i, %a] : f32\n"));
  m.apply(scatterToGather);
  EXPECT_EQ(m.count("collect"), 1u) << m.text();
}

/// Each window of a row, less a number of it: its product with another row is added to an array of the
/// window, and `%r` is what the inner nest multiplies with.
std::string part(const std::string& made, const std::string& from = "%x: f32[N + 2]") {
  return "fn f [N] (" + from +
         ", %w: f32[3]) -> (f32[3]) {\n  %z = zero : f32[3]\n"
         "  %h = nest (%i: N) -> accs (%c = %z) {\n" +
         made +
         "    %o = nest (%a: 3) -> accs (%d = %c) {\n      %u = get %r[%a] : f32\n      %v = get %w[%a] : "
         "f32\n"
         "      %y = mul %u, %v : f32\n      %n = add_at %d[%a] += %y : acc f32[3]\n      yield %n\n"
         "    } : acc f32[3]\n    yield %o\n  } : f32[3]\n  yield %h\n}\n";
}
const std::string less = "    %k = get %x[%i] : f32\n    %s = get %x[%i +: 3] : f32[3]\n"
                         "    %r = nest (%b: 3) -> collect[b] {\n      %e = get %s[%b] : f32\n"
                         "      %g = sub %e, %k : f32\n      yield %g\n    } : f32[3]\n";

TEST(AccumulateWindows, RowsOfWindowsAreMadeWhereTheirElementsAreRead) {
  PassText m(part(less));
  m.apply(scatterToGather, {row(), weights()});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
  EXPECT_EQ(m.count("collect"), 0u) << m.text();
}

TEST(AccumulateWindows, SoAreSumsOfSuchRows) {
  std::string sum = less;
  sum.replace(sum.find("%r"), 2, "%q");
  PassText m(part(sum + "    %t = nest (%l: 3) -> collect[l] {\n      yield %k\n    } : f32[3]\n"
                        "    %r = add_at %q += %t : f32[3]\n"));
  m.apply(scatterToGather, {row(), weights()});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
  EXPECT_EQ(m.count("collect"), 0u) << m.text();
}

TEST(AccumulateWindows, SoAreRowsOfElementaryFunctionsWhereEachElementIsInOneTerm) {
  std::string dear = less;
  dear.replace(dear.find("      yield %g"), 14, "      %f = math exp %g : f32\n      yield %f");
  PassText m(part(dear));
  m.apply(scatterToGather, {row(), weights()});
  EXPECT_EQ(m.count("collect"), 0u) << m.text();
}

TEST(AccumulateWindows, NotRowsThatAreAddedAsAWhole) {
  PassText m("fn f [N] (%x: f32[N]) -> (f32[2, 3]) {\n  %z = zero : f32[2, 3]\n"
             "  %h = nest (%i: N) -> accs (%c = %z) {\n    %k = get %x[%i] : f32\n"
             "    %r = nest (%b: 3) -> collect[b] {\n      yield %k\n    } : f32[3]\n"
             "    %o = nest (%a: 2) -> accs (%d = %c) {\n      %n = add_at %d[%a] += %r : acc f32[2, 3]\n"
             "      yield %n\n    } : acc f32[2, 3]\n    yield %o\n  } : f32[2, 3]\n  yield %h\n}\n");
  m.apply(scatterToGather, {row()});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
}

TEST(AccumulateWindows, RowsOfATableOfAllAreKept) {
  PassText m(part("    %r = nest (%b: 3) -> collect[b] {\n      %e = get %x[%i, %b] : f32\n"
                  "      %g = add %e, %e : f32\n      yield %g\n    } : f32[3]\n",
                  "%x: f32[N, 3]"));
  m.apply(scatterToGather);
  EXPECT_EQ(m.count("collect[i]"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
