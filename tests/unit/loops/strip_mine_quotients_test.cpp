// Rows whose index is divided run by quotients, from text.
#include "loops/index_sets/strip_mine_quotients.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A loop between two ends that stores at %i what it reads at `parts` of it.
std::string split(const std::string& parts, const std::string& ends, const std::string& more = "") {
  return textAfter("kernel @p(%a: i64, %b: i64, %m: i64, %x: data, %y: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %two = const 2 : i64\n"
                   "  %three = const 3 : i64\n  %twelve = const 12 : i64\n  %even = mul %m, %two : i64\n"
                   "  for independent " +
                       ends + " { (%i)\n" + parts + "    %s = load %x[%q*%one] : i64\n" +
                       "    %t = add %s, %r : i64\n" + more +
                       "    store %y[%i*%one] = %t\n    yield\n  }\n  yield\n}\n",
                   [](Module& module) {
                     for (Function& fn : module.functions) stripMineQuotients(fn);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
const std::string halves = "    %q = idiv %i, %two : i64\n    %r = irem %i, %two : i64\n";

TEST(SplitQuotients, WholeRowsAreReadOnce) {
  for (const char* ends : {"%zero, %twelve", "%zero, %even"}) {
    const std::string text = split(halves, ends);
    EXPECT_EQ(count(text, "for independent"), 1u) << text;
    EXPECT_EQ(count(text, "load"), 1u) << text;
    EXPECT_EQ(count(text, "store"), 2u) << text;
    EXPECT_EQ(count(text.substr(text.find("for independent")), "irem"), 0u) << text;
  }
}

TEST(SplitQuotients, WhatIsBesideWholeRowsStaysAsItWas) {
  EXPECT_EQ(count(split(halves, "%zero, %m"), "for independent"), 2u) << "behind the last one";
  EXPECT_EQ(count(split(halves, "%a, %b"), "for independent"), 3u) << "in front of the first one too";
}

TEST(SplitQuotients, OtherLoopsStay) {
  const std::string other = "    %q = idiv %i, %two : i64\n    %r = irem %i, %three : i64\n",
                    unknown = "    %q = idiv %i, %m : i64\n    %r = irem %i, %m : i64\n",
                    only = "    %r = irem %i, %two : i64\n    %q = add %i, %r : i64\n";
  for (const std::string& parts : {other, unknown, only})
    EXPECT_EQ(count(split(parts, "%zero, %twelve"), "store"), 1u) << parts;
  const std::string loop = "    for %zero, %three { (%k)\n      yield\n    }\n";
  EXPECT_EQ(count(split(halves, "%zero, %twelve", loop), "store"), 1u) << "loops around others";
}

TEST(SplitQuotients, StatementsWithEffectsKeepTheirOrder) {
  const std::string check = "    %ok = cmp lt %t, %twelve : bool\n    check \"{0} is large\" %ok, %t\n",
                    sum = "    store %y[%zero*%one] = %t\n";
  EXPECT_EQ(count(split(halves, "%zero, %twelve", check), "check"), 1u) << "who fails first is told";
  EXPECT_EQ(count(split(halves, "%zero, %twelve", sum), "%zero*%one"), 2u) << "of a pair the last one stays";
}

} // namespace
} // namespace melix::loops
