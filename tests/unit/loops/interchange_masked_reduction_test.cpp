// Sums that go around the rows which a mask tells apart from their turns, from text.
#include "loops/index_sets/split_predicated.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// Parts of a kernel of rows %x and columns %j that sums over %b and %c where the condition %g holds, which
/// `mask` makes of them and of %d, %x - %b.
struct Parts {
  std::string mask =
      "%g1 = cmp ge %d, %zero : bool\n%g2 = cmp lt %d, %ten : bool\n%g = and %g1, %g2 : bool\n";
  std::string terms = "%k"; ///< of the sum over %c
  std::string begun = "0.0";
  std::string memory = "%e"; ///< of what is read under the mask
  std::string term = "%p = fma %a, %v, %u : f32\n yield %p\n } {\n yield %u\n";
  std::string next = "";   ///< behind the branch, which gives %z
  std::string kept = "%z"; ///< what the sum goes on with
  std::string made = "";   ///< of the sum %s
  std::string stored = "%s";
  std::string ends = "%zero, %twelve"; ///< of the rows
};
std::string moved(const Parts& p) {
  return textAfter("kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %y: i64, %e: data, %w: data, %r: "
                   "data) {\n"
                   "%zero = const 0 : i64\n%one = const 1 : i64\n%three = const 3 : i64\n%ten = const 10 : "
                   "i64\n%twelve = const 12 : i64\n%nought = const 0.0 : f32\n%begun = const " +
                       p.begun + " : f32\nfor independent unroll_jam 6 " + p.ends +
                       " { (%x)\nfor independent vector 16 %zero, %n { (%j)\n"
                       "%s = for %zero, %three, %begun : f32 { (%b, %t)\n%s2 = for %zero, " +
                       p.terms +
                       ", %t : f32 { (%c, %u)\n%v = load %w[%b*%k + %c*%n + %j*%one] : f32\n"
                       "%d = sub %x, %b : i64\n" +
                       p.mask + "%z = if %g : f32 {\n%a = load " + p.memory + "[%d*%k + %c*%one] : f32\n" +
                       p.term + "}\n" + p.next + "yield " + p.kept + "\n}\nyield %s2\n}\n" + p.made +
                       "store %r[%x*%n + %j*%one] = " + p.stored + "\nyield\n}\nyield\n}\nyield\n}\n",
                   [](Module& module) {
                     for (Function& fn : module.functions) splitPredicated(module, fn);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
/// Whether the sum over %b stands around the rows.
bool isMoved(const std::string& text) {
  return text.find("for %zero, %three {") != std::string::npos && text.find("= load %r") != std::string::npos;
}

TEST(SumsAroundRows, EachTurnTakesTheRowsAtWhichTheMaskHolds) {
  const std::string text = moved({});
  EXPECT_TRUE(isMoved(text)) << text;
  EXPECT_LT(text.find("{ (%b)"), text.find("unroll_jam 6")) << text;
  EXPECT_EQ(text.find(" if "), std::string::npos) << text;
  EXPECT_EQ(count(text, "store %r"), 2U) << "what a sum begins with, and what it comes to";
  EXPECT_EQ(count(text, "unroll_jam 6"), 1U);
}

TEST(SumsAroundRows, WhatIsMadeOfTheSumIsMadeBehind) {
  Parts p;
  p.made = "%h = add %s, %s : f32\n";
  p.stored = "%h";
  const std::string text = moved(p);
  EXPECT_TRUE(isMoved(text)) << text;
  EXPECT_EQ(count(text, "store %r"), 3U);
  EXPECT_GT(text.find("%h = add"), text.find("{ (%b)"));
}

TEST(SumsAroundRows, AMaskThatTellsNoRowsApartIsAskedInFront) {
  Parts p;
  p.mask = "%f = sub %y, %b : i64\n%g1 = cmp ge %f, %zero : bool\n%g2 = cmp ge %d, %zero : bool\n"
           "%g = and %g1, %g2 : bool\n";
  const std::string text = moved(p);
  EXPECT_TRUE(isMoved(text)) << text;
  EXPECT_EQ(count(text, " if "), 1U) << text;
  EXPECT_LT(text.find("{ (%b)"), text.find(" if "));
  EXPECT_LT(text.find(" if "), text.find("unroll_jam 6"));
}

TEST(SumsAroundRows, WhereNumbersMayBeLargeTheRowsStay) {
  Parts p;
  p.mask = "%g = cmp le %d, %y : bool\n";
  const std::string text = moved(p);
  EXPECT_TRUE(isMoved(text)) << text;
  EXPECT_LT(text.find(" if "), text.find("= load %r")) << "whether %y is small";
  EXPECT_GT(count(text, "unroll_jam 6"), 1U) << text;
}

TEST(SumsAroundRows, OtherSumsStay) {
  Parts few;
  few.terms = "%three";
  EXPECT_FALSE(isMoved(moved(few))) << "chains too short to be loaded and stored each";
  Parts read;
  read.memory = "%r";
  EXPECT_FALSE(isMoved(moved(read))) << "reads what is stored";
  Parts chain;
  chain.mask = "%f = sub %x, %c : i64\n%g = cmp ge %f, %zero : bool\n";
  EXPECT_FALSE(isMoved(moved(chain))) << "the mask differs in the chain";
  Parts other;
  other.mask = "%g = cmp eq %d, %three : bool\n";
  EXPECT_FALSE(isMoved(moved(other))) << "no range of rows";
}

TEST(SumsAroundRows, TermsOfZeroAreLeftOutOfWhatIsNeverNegativeZero) {
  Parts p;
  p.term = "%p = mul %a, %v : f32\n yield %p\n } {\n yield %nought\n";
  EXPECT_FALSE(isMoved(moved(p))) << "it begins anew where the mask does not hold";
  p.next = "%m = add %u, %z : f32\n";
  p.kept = "%m";
  EXPECT_TRUE(isMoved(moved(p))) << moved(p);
  p.begun = "-0.0";
  EXPECT_FALSE(isMoved(moved(p)));
}

} // namespace
} // namespace melix::loops
