// Branches of columns that are opened, from text.
#include "loops/index_sets/if_convert_shared_loads.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

struct Form {
  std::string condition = "cmp lt %q, %n";  ///< of the place %q that column %j reads
  std::string read = "%q*%one";             ///< where %a lies
  std::string before = "";                  ///< in the branch, in front of the term
  std::string term = "%f = fma %a, %b, %c"; ///< %b of the row
  std::string columns = "independent %zero, %n";
};

std::string opened(const Form& form) {
  return textAfter(
      "kernel @f(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  for independent %first, %last { (%o)\n    for " +
          form.columns +
          " { (%j)\n      %s = for %zero, %k, %z : f32 { (%l, %c)\n"
          "        %q = add %j, %l : i64\n        %m = " +
          form.condition +
          " : bool\n        %b = load %w[%o*%k + %l*%one] : f32\n        %t = if %m : f32 {\n"
          "          %a = load %x[" +
          form.read + "] : f32\n" + form.before + "          " + form.term +
          " : f32\n          yield %f\n        } {\n          yield %c\n        }\n        yield %t\n      "
          "}\n"
          "      store %y[%o*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        ifConvertSharedLoads(module, module.functions[FunctionId(0)]);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
bool isOpen(const Form& form) { return opened(form).find("select") != std::string::npos; }

TEST(OpenMasks, WhatRowsShareIsReadOnceUnderTheMask) {
  const std::string text = opened({});
  const size_t branch = text.find("if %"), read = text.find("load %x"), term = text.find("fma"),
               choice = text.find("select");
  ASSERT_NE(choice, std::string::npos) << text;
  EXPECT_LT(branch, read) << "nothing else is read: " << text;
  EXPECT_LT(read, term) << text;
  EXPECT_LT(text.find("}", read), term) << "the term stands behind the branch: " << text;
  EXPECT_LT(term, choice) << text;
  EXPECT_TRUE(isOpen({.before = "          %d = mul %a, %a : f32\n", .term = "%f = fma %d, %b, %c"}));
}

TEST(OpenMasks, WhereItTellsRowsApartOrNothingIsSharedItStays) {
  EXPECT_FALSE(isOpen({.condition = "cmp lt %o, %n"})) << "the mask is of rows";
  EXPECT_FALSE(isOpen({.condition = "cmp lt %l, %n"})) << "and of the sum alone";
  EXPECT_FALSE(isOpen({.read = "%o*%n + %q*%one"})) << "each row reads its own";
  EXPECT_FALSE(isOpen({.before = "          %d = load %w[%o*%one] : f32\n", .term = "%f = fma %a, %d, %c"}))
      << "a row might read out of range";
  EXPECT_FALSE(isOpen({.term = "%f = fma %a, %a, %c"})) << "all rows do the same";
  EXPECT_FALSE(isOpen({.columns = "%zero, %n"})) << "one after another";
}

} // namespace
} // namespace melix::loops
