// What launches give kernels that is never negative, from text.
#include "loops/kernels/infer_size_params.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// Whether what the launches of a kernel give for its parameter, the last operand of each, is found to be a
/// size.
bool isSize(const std::string& launches, const std::string& params = "%n: i64") {
  const std::string text = textAfter(
      "fn @f(" + params + ") {\n  %zero = const 0 : i64\n  %two = const 2 : i64\n  %less = const -2 : i64\n" +
          launches + "  yield\n}\n\nkernel @k(%first: i64, %last: i64, %v: i64) {\n  yield\n}\n",
      inferSizeParams);
  return text.find("size %v: i64)") != std::string::npos;
}
const std::string launch = "  launch @k %n, %n, %v\n";

TEST(NoteSizes, OfWhatANumberIsMade) {
  EXPECT_FALSE(isSize("  launch @k %n, %n, %n\n"));
  EXPECT_TRUE(isSize("  launch @k %n, %n, %n\n", "size %n: i64"));
  EXPECT_TRUE(isSize("  launch @k %n, %n, %two\n"));
  EXPECT_FALSE(isSize("  launch @k %n, %n, %less\n"));
  EXPECT_TRUE(isSize("  %v = max %n, %zero : i64\n" + launch));
  EXPECT_FALSE(isSize("  %v = min %n, %two : i64\n" + launch));
  EXPECT_TRUE(isSize("  %v = idiv %n, %two : i64\n" + launch, "size %n: i64"));
  EXPECT_FALSE(isSize("  %v = idiv %n, %less : i64\n" + launch, "size %n: i64"));
  EXPECT_FALSE(isSize("  %v = sub %n, %two : i64\n" + launch, "size %n: i64"));
  EXPECT_FALSE(isSize("  %v = mul %n, %n : i64\n" + launch, "size %n: i64")) << "it may wrap";
}

TEST(NoteSizes, WhatEachLaunchGives) {
  EXPECT_FALSE(isSize("  launch @k %n, %n, %two\n  launch @k %n, %n, %n\n"));
  EXPECT_TRUE(isSize("  launch @k %n, %n, %two\n  launch @k %n, %n, %zero\n"));
}

TEST(NoteSizes, ChecksInFrontAndBranchesAround) {
  const std::string natural = "  %c = cmp ge %n, %zero : bool\n", check = "  check \"negative\" %c\n",
                    given = "  launch @k %n, %n, %n\n";
  EXPECT_TRUE(isSize(natural + check + given));
  EXPECT_FALSE(isSize(natural + given + check)) << "behind the launch";
  EXPECT_TRUE(isSize("  %c = cmp lt %two, %n : bool\n" + check + given));
  EXPECT_FALSE(isSize("  %c = cmp lt %less, %n : bool\n" + check + given));
  EXPECT_TRUE(isSize(natural + "  if %c {\n  " + given + "    yield\n  } {\n    yield\n  }\n"));
  EXPECT_FALSE(isSize(natural + "  if %c {\n    yield\n  } {\n  " + given + "    yield\n  }\n"));
  EXPECT_FALSE(isSize(natural + "  if %c {\n  " + check + "    yield\n  } {\n    yield\n  }\n" + given))
      << "it holds to the end of the branch";
}

TEST(NoteSizes, OnlyI64AreSizes) {
  const LoopsText loops("fn @f(size %x: f32) {\n  yield\n}\n");
  EXPECT_NE(verify(loops.read.module, {State::CountsInserted}).find("a size that is no i64"),
            std::string::npos);
}

} // namespace
} // namespace melix::loops
