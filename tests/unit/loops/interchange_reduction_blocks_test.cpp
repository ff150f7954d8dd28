// Long sums taken block by block for all points, from text.
#include "loops/loops_text.h"
#include "loops/tiles/interchange_reduction_blocks.h"

namespace melix::loops {
namespace {

/// A kernel that stores, at each of its points, a sum of %n blocks; `made` stands in front of the points.
std::string turned(const std::string& made = "", const std::string& value = "%s",
                   const std::string& beside = "", const std::string& count = "%n",
                   const std::string& begun = "%nothing", const std::string& branches = "",
                   const std::string& ends = "", const std::string& at = "%j") {
  return textAfter(
      "kernel @k(%first: i64, %last: i64, %n: i64, %z: f32, %x: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %nothing = const -0.0 : f32\n" +
          made + "  for independent %first, %last { (%i)\n    for independent vector 16 %zero, %n { (%j)\n" +
          beside + "      %s = for %zero, " + count + ", " + begun +
          " : f32 { (%b, %sofar)\n"
          "        %c = for %zero, %n, %z : f32 { (%k, %t)\n          %a = load %x[%k*%one] : f32\n"
          "          %u = add %t, %a : f32\n          yield %u\n        }\n"
          "        %next = add %sofar, %c : f32\n        yield %next\n      }\n" +
          std::string(value == "%v" ? "      %v = mul %s, %z : f32\n" : "") + branches +
          "      store %y[%i*%n + " + at + "*%one] = " + value + "\n" + ends +
          "      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        interchangeReductionBlocks(module, module.functions[FunctionId(0)]);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
bool isTurned(const std::string& text) { return text.find("load %y[") != std::string::npos; }

TEST(BlocksOutside, EachPointGoesOnWithWhatIsStored) {
  const std::string text = turned();
  EXPECT_TRUE(isTurned(text)) << text;
  EXPECT_LT(text.find(" = max %n"), text.find("for independent %first, %last")) << "at least once: " << text;
  EXPECT_EQ(text.find("%sofar"), std::string::npos) << "no loop over blocks is left: " << text;
}

TEST(BlocksOutside, WhatIsMadeInFrontIsMadeOnce) {
  const std::string text = turned("  %p = scratch 64 : address\n  store %p[%zero*%one] = %z\n");
  EXPECT_TRUE(isTurned(text)) << text;
  EXPECT_LT(text.find("store %p["), text.find(" = max %n")) << text;
}

TEST(BlocksOutside, BranchesThatStoreNothingMayStandInFrontOfTheSums) {
  const std::string text = turned("", "%s",
                                  "      %is = cmp lt %j, %n : bool\n"
                                  "      if %is {\n        yield\n      } {\n        yield\n      }\n"
                                  "      %many = cmp gt %j, %zero : bool\n      %none = const 0.0 : f32\n"
                                  "      %begun = select %many, %nothing, %none : f32\n",
                                  "%n", "%begun");
  EXPECT_TRUE(isTurned(text)) << text;
  EXPECT_LT(text.find("} {"), text.find("%begun = select")) << text;
  EXPECT_LT(text.find("%begun = select"), text.find("load %y[")) << text;
}

TEST(BlocksOutside, PlacesInBranchesAreKnownInFrontOfThem) {
  const std::string is = "      %is = cmp lt %j, %n : bool\n",
                    end = "      yield\n      } {\n        yield\n      }\n";
  const std::string branch = "      if %is {\n", made = "      %at = add %j, %one : i64\n";
  auto inTwo = [&](const std::string& branches) {
    return turned("", "%s", is, "%n", "%nothing", branches, end + end, "%at");
  };
  EXPECT_TRUE(isTurned(inTwo(made + branch + branch)));
  EXPECT_FALSE(isTurned(inTwo(branch + made + branch))) << "made in the outer of two branches";
  EXPECT_FALSE(isTurned(inTwo(branch + branch + made))) << "made in the inner";
}

TEST(BlocksOutside, NotWhereMoreIsDoneThanToStoreTheSums) {
  EXPECT_FALSE(isTurned(turned("", "%v"))) << "what is stored is made of the sum";
  EXPECT_FALSE(isTurned(turned("", "%s", "      store %x[%j*%one] = %z\n"))) << "another array";
  EXPECT_EQ(turned("", "%s", "      %w = load %y[%j*%one] : f32\n").find(" = max %n"), std::string::npos)
      << "the array is read";
  EXPECT_FALSE(isTurned(turned("", "%s", "      %w = load %x[%j*%one] : i64\n", "%w"))) << "points differ";
  EXPECT_FALSE(isTurned(turned("", "%s", "", "%n", "%z"))) << "the sum begins with something";
}

/// A kernel that stores, at each of its points, a chain of `turns` terms.
std::string inPieces(const std::string& turns, const std::string& beside = "",
                     const std::string& stored = "%s") {
  return textAfter("kernel @k(%first: i64, %last: i64, %n: i64, %z: f32, %x: data, %y: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %known = const 4936 : i64\n"
                   "  %few = const 2048 : i64\n"
                   "  for independent %first, %last { (%i)\n    for independent vector 16 %zero, %n { (%j)\n"
                   "      %s = for %zero, " +
                       turns +
                       ", %z : f32 { (%k, %t)\n        %a = load %x[%k*%one] : f32\n"
                       "        %u = add %t, %a : f32\n" +
                       beside + "        yield %u\n      }\n" +
                       std::string(stored == "%v" ? "      %v = mul %s, %z : f32\n" : "") +
                       "      store %y[%i*%n + %j*%one] = " + stored +
                       "\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
                   [](Module& module) {
                     interchangeReductionBlocks(module, module.functions[FunctionId(0)]);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}

bool areInPieces(const std::string& text) { return text.find("const 1024") != std::string::npos; }

TEST(BlocksOutside, ALongChainGoesOnPieceByPiece) {
  for (const std::string turns : {"%n", "%known"}) {
    const std::string text = inPieces(turns);
    EXPECT_TRUE(isTurned(text)) << text;
    EXPECT_LT(text.find("const 1024"), text.find("for independent %first, %last")) << text;
    EXPECT_LT(text.find("load %y["), text.find("load %x[")) << "it begins with what is stored: " << text;
  }
}

TEST(BlocksOutside, AChainThatIsShortOrNotAllIsLeft) {
  EXPECT_FALSE(areInPieces(inPieces("%few")));
  EXPECT_FALSE(areInPieces(inPieces("%n", "", "%v"))) << "what is stored is made of the sum";
  EXPECT_FALSE(areInPieces(inPieces("%n", "        %w = load %y[%k*%one] : f32\n")))
      << "what is stored is read";
  EXPECT_FALSE(areInPieces(inPieces("%j"))) << "points differ";
}

TEST(BlocksOutside, OfBlocksThatComeToOnePiecesAreTaken) {
  const std::string text = turned();
  EXPECT_TRUE(areInPieces(text)) << text;
  EXPECT_LT(text.find("load %y["), text.find("load %x["))
      << "the chain goes on with what is stored: " << text;
}

} // namespace
} // namespace melix::loops
