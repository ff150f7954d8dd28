// Sweeps that are done by strips of rows, and arrays of chunks in scratch, from text.
#include "loops/strip_mining/fuse_by_strips.h"

#include "loops/kernels/scratch_allocation.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// Two sweeps over %n rows of %m: what is between them, and how the second one reads the array of the first.
std::string joined(const std::string& between, const std::string& read = "%i*%m + %j*%one",
                   const std::string& behind = "") {
  return textAfter(
      "fn @f(%n: i64, %m: i64, own %x: data, %y: data) -> data {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %s = alloc f32 %n, %m : data\n"
      "  for parallel %zero, %n { (%a)\n    for independent %zero, %m { (%b)\n"
      "      %c = load %x[%a*%m + %b*%one] : f32\n      %d = mul %c, %c : f32\n"
      "      store %s[%a*%m + %b*%one] = %d\n      yield\n    }\n    yield\n  }\n" +
          between +
          "  %r = alloc f32 %n, %m : data\n"
          "  for parallel %zero, %n { (%i)\n    for independent %zero, %m { (%j)\n      %e = load %s[" +
          read +
          "] : f32\n      %h = load %y[%i*%m + %j*%one] : f32\n      %g = add %e, %h : f32\n      store "
          "%r[%i*%m + %j*%one] = %g\n      yield\n    }\n"
          "    yield\n  }\n" +
          behind + (between.find("drop %x") == std::string::npos ? "  drop %x\n" : "") +
          "  drop %s\n  yield %r\n}\n",
      [](Module& module) {
        for (Function& fn : module.functions) fuseByStrips(module, fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
bool areJoined(const std::string& text) { return count(text, "for parallel") == 1; }

TEST(JoinStrips, WhatOneMakesAndTheNextReadsIsAStrip) {
  const std::string text = joined("");
  EXPECT_TRUE(areJoined(text)) << text;
  EXPECT_EQ(count(text, "= min %n, "), 1U) << "where a strip ends: " << text;
  EXPECT_EQ(count(text, "alloc f32 %n, %m"), 1U) << "the result: " << text;
}

TEST(JoinStrips, WhatIsOfNoConcernToThemStaysBetween) {
  EXPECT_TRUE(areJoined(joined("  drop %x\n")));
  EXPECT_TRUE(areJoined(joined("  %p = cmp gt %n, %zero : bool\n  check \"none\" %p\n")));
  EXPECT_GT(joined("  drop %x\n").find("drop %x"), joined("  drop %x\n").find("for parallel"))
      << "is still read";
}

TEST(JoinStrips, WhatNeedsTheFirstGoesBehindBoth) {
  const std::string text = joined("  %u = const 0.0 : f32\n  store %x[%zero*%one] = %u\n");
  EXPECT_TRUE(areJoined(text)) << text;
  EXPECT_GT(text.find("store %x"), text.find("load %x")) << text;
}

TEST(JoinStrips, NotAcrossWhatNeedsOneAndIsNeededByTheOther) {
  const std::string between = "  %u = const 0.0 : f32\n  store %x[%zero*%one] = %u\n"
                              "  %l = load %x[%one*%one] : f32\n  store %y[%zero*%one] = %l\n";
  EXPECT_FALSE(areJoined(joined(between))) << "the second reads %y";
  EXPECT_FALSE(areJoined(joined("  %l = load %s[%zero*%one] : f32\n  store %y[%zero*%one] = %l\n")));
}

TEST(JoinStrips, NotWhereARowIsReadElsewhere) {
  EXPECT_FALSE(areJoined(joined("", "%j*%m + %i*%one"))) << "a column";
  EXPECT_FALSE(areJoined(joined("", "%i*%one + %j*%m"))) << "with other strides";
  EXPECT_FALSE(areJoined(
      joined("", "%i*%m + %j*%one", "  %l = load %s[%zero*%one] : f32\n  store %y[%zero*%one] = %l\n")))
      << "used behind them";
}

/// The last of four sweeps stores to %x, which the first one reads and nobody knows the rows of.
TEST(JoinStrips, SweepsThatMayNotJoinLeaveTheOthersJoined) {
  auto sweep = [](const std::string& i, const std::string& from, const std::string& to) {
    const std::string at = "[%" + i + "*%m + %" + i + "$1*%one]";
    return "  for parallel %zero, %n { (%" + i + ")\n    for independent %zero, %m { (%" + i +
           "$1)\n      %" + i + "$2 = load " + from + at + " : f32\n      store " + to + at + " = %" + i +
           "$2\n      yield\n    }\n    yield\n  }\n";
  };
  const std::string text = joined("", "%i*%m + %j*%one",
                                  "  %t = alloc f32 %n, %m : data\n" + sweep("k", "%s", "%t") +
                                      sweep("l", "%t", "%x") + "  drop %t\n");
  EXPECT_EQ(count(text, "for parallel"), 2U) << text;
  EXPECT_EQ(count(text, "alloc f32 %n, %m"), 2U) << "the result, and what the last one reads: " << text;
}

/// A sweep over %n rows of %m, and a sum over these at each point %j, of %m: what it reads of the array, how
/// the sum is cut, and what is stored of it.
std::string summed(const std::string& read, const std::string& stored = "%c", const std::string& behind = "",
                   const std::string& add = "fma %e, %h, %d") {
  return textAfter("fn @f(%n: i64, %m: i64, %x: data, %y: data) -> data {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %nought = const 0.0 : f32\n"
                   "  %s = alloc f32 %n, %m : data\n"
                   "  for parallel %zero, %n { (%a)\n    for independent %zero, %m { (%b)\n"
                   "      %p = load %x[%a*%m + %b*%one] : f32\n      %q = mul %p, %p : f32\n"
                   "      store %s[%a*%m + %b*%one] = %q\n      yield\n    }\n    yield\n  }\n"
                   "  %r = alloc f32 %m : data\n  for parallel %zero, %m { (%j)\n"
                   "    %c = for independent %zero, %n, %nought : f32 { (%i, %d)\n"
                   "      %e = load %s[" +
                       read + "] : f32\n      %h = load %y[%i*%one] : f32\n      %g = " + add +
                       " : f32\n      yield %g\n    }\n    %w = mul %c, %c : f32\n"
                       "    store %r[%j*%one] = " +
                       stored + "\n    yield\n  }\n" + behind + "  drop %s\n  yield %r\n}\n",
                   [](Module& module) {
                     for (Function& fn : module.functions) fuseByStrips(module, fn);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}

TEST(JoinStrips, ASumOverRowsGoesOnFromStripToStrip) {
  const std::string text = summed("%i*%m + %j*%one");
  EXPECT_EQ(count(text, "alloc f32 %n, %m"), 0U) << "some rows at a time: " << text;
  EXPECT_EQ(count(text, "for parallel"), 2U) << "strips of these rows, and points of the sum: " << text;
  EXPECT_EQ(count(text, "load %r["), 1U) << "what the sum came to: " << text;
}

TEST(JoinStrips, WhatIsMadeOfASumIsStoredOnceItIsWhole) {
  const std::string text = summed("%i*%m + %j*%one", "%w");
  EXPECT_EQ(count(text, "alloc f32 %n, %m"), 0U) << text;
  EXPECT_EQ(count(text, "select"), 1U) << "in the end: " << text;
}

TEST(JoinStrips, OfAdditionsTheSumIsSeenToBeNeverNegativeZero) {
  const std::string text = summed("%i*%m + %j*%one", "%c", "", "add %e, %d");
  EXPECT_EQ(count(text, "= add %"), 1U + count(summed("%i*%m + %j*%one"), "= add %") + 1U)
      << "a turn, and in front of it: " << text;
}

TEST(JoinStrips, NotWhereASumIsOverColumnsOrIsNeededByTheRows) {
  EXPECT_EQ(count(summed("%j*%m + %i*%one"), "alloc f32 %n, %m"), 1U) << "its own row";
  EXPECT_EQ(count(summed("%i*%one + %j*%m"), "alloc f32 %n, %m"), 1U) << "other strides";
  EXPECT_EQ(count(summed("%i*%m + %j*%one", "%c",
                         "  %l = load %s[%zero*%one] : f32\n  store %y[%zero*%one] = %l\n"),
                  "alloc f32 %n, %m"),
            1U)
      << "used behind them";
}

TEST(PlaceInScratch, AStripIsMemoryOfTheThread) {
  const std::string text =
      textAfter("chunk @f(%0: i64, %1: i64, %n: i64, %x: data, %y: data) {\n"
                "  %one = const 1 : i64\n  for independent %0, %1 { (%i)\n"
                "    %r = alloc f32 %n : data\n    for independent %0, %n { (%j)\n"
                "      %a = load %x[%i*%n + %j*%one] : f32\n      store %r[%j*%one] = %a\n"
                "      yield\n    }\n    %b = load %r[%i*%one] : f32\n"
                "    store %y[%i*%one] = %b\n    drop %r\n    yield\n  }\n  yield\n}\n",
                [](Module& module) {
                  assignScratch(module);
                  EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                });
  EXPECT_EQ(count(text, "kernel @f"), 1U) << text;
  EXPECT_EQ(count(text, "scratch"), 1U) << text;
  EXPECT_EQ(count(text, "alloc"), 0U) << text;
}

TEST(PlaceInScratch, NotWhatIsLargerThanALaunchKnows) {
  const std::string text = textAfter("chunk @f(%0: i64, %1: i64, %x: data, %y: data) {\n"
                                     "  %one = const 1 : i64\n  for independent %0, %1 { (%i)\n"
                                     "    %r = alloc f32 %i : data\n    %u = const 0.0 : f32\n"
                                     "    store %r[%i*%one] = %u\n    drop %r\n    yield\n  }\n  yield\n}\n",
                                     [](Module& module) { assignScratch(module); });
  EXPECT_EQ(count(text, "chunk @f"), 1U) << text;
}

/// A chunk whose array has the size that these statements of a point say; what follows names it anew.
std::string scratchOf(const std::string& front, const std::string& size, const std::string& rest = "",
                      const std::string& array = "%r") {
  return textAfter("fn @main(%n: i64, %x: data, %y: data) entry {\n"
                   "  launch @f %n, %n, %n, %x, %y\n  yield\n}\n"
                   "chunk @f(%0: i64, %1: i64, %n: i64, %x: data, %y: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  for independent %0, %1 { (%i)\n" +
                       front + "    %r = alloc f32 " + size +
                       " : data\n    %a = load %x[%i*%one] : f32\n    store %r[%zero*%one] = %a\n" + rest +
                       "    %b = load " + array +
                       "[%zero*%one] : f32\n    store %y[%i*%one] = %b\n    drop " + array +
                       "\n    yield\n  }\n  yield\n}\n",
                   [](Module& module) {
                     assignScratch(module);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}

TEST(PlaceInScratch, ASizeThatIsComputedIsComputedInFrontOfTheLaunch) {
  const std::string text = scratchOf("    %m = max %n, %one : i64\n    %q = idiv %n, %m : i64\n", "%n, %q");
  EXPECT_EQ(count(text, "kernel @f"), 1U) << text;
  EXPECT_EQ(count(text, "= idiv"), 2U) << text;
  EXPECT_EQ(count(scratchOf("    %q = idiv %n, %n : i64\n", "%n, %q"), "chunk @f"), 1U)
      << "what could fail there";
  EXPECT_EQ(count(scratchOf("    %q = sub %1, %0 : i64\n", "%n, %q"), "chunk @f"), 1U)
      << "what differs between chunks";
}

TEST(PlaceInScratch, WhereAKernelChecksWhetherAnArrayIsTooLargeNoneIsAskedForIfItIs) {
  const std::string check = "    %h = cmp le %n, %one : bool\n    check \"too large\" %h\n";
  const std::string text = scratchOf(check, "%n, %n");
  EXPECT_EQ(count(text, "kernel @f"), 1U) << text;
  auto divisions = [](const std::string& each) { return count(each, "= idiv"); };
  EXPECT_GT(divisions(text), divisions(scratchOf("", "%n, %n"))) << text; // by which it is seen
}

TEST(PlaceInScratch, WhatATurnMayNotReachIsMadeByTheChunkAsItWasIfItIsLarge) {
  const std::string late = "    %h = cmp le %i, %one : bool\n    check \"late\" %h\n";
  const std::string text = scratchOf(late, "%n, %n");
  EXPECT_EQ(count(text, "launch @f "), 1U) << text;
  EXPECT_EQ(count(text, "launch @f.blocks "), 1U) << text;
  EXPECT_EQ(count(text, "alloc f32 %n, %n"), 1U) << text;
  EXPECT_EQ(count(scratchOf(late, "%n"), "launch"), 1U) << "a row";
  EXPECT_EQ(count(scratchOf("    %q = mul %n, %n : i64\n" + late, "%q"), "launch"), 2U);
  EXPECT_EQ(count(scratchOf("    %q = const 10000 : i64\n" + late, "%n, %q"), "launch"), 2U);
  const std::string same = "    %h = cmp le %n, %one : bool\n    check \"the same for all\" %h\n";
  EXPECT_EQ(count(scratchOf(same, "%n, %n"), "launch"), 1U) << "the launch asks for none unless it holds";
}

TEST(PlaceInScratch, ALaunchWithoutTurnsAsksForNone) {
  EXPECT_EQ(count(scratchOf("", "%n"), "cmp gt %n"), 1U);
}

TEST(PlaceInScratch, WhatLoopsCarryIsOneArray) {
  const std::string text =
      scratchOf("", "%n",
                "    %c = for %zero, %n, %r : data { (%j, %p)\n      %u = ensure_unique %p : data\n"
                "      store %u[%j*%one] = %a\n      yield %u\n    }\n",
                "%c");
  EXPECT_EQ(count(text, "kernel @f"), 1U) << text;
  EXPECT_EQ(count(text, "for %zero, %n { (%j)"), 1U) << "nothing is carried: " << text;
}

} // namespace
} // namespace melix::loops
