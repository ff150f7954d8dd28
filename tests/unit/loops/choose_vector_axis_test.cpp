// Which of loops of points goes inside, from text.
#include "loops/tiles/choose_vector_axis.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

struct Form {
  std::string image = "%c*%n + %l*%one + %j*%one"; ///< what differs by channel %c and window %l
  std::string filtered = "%o*%n + %j*%one";        ///< and by filter %o
  std::string few = "%k", many = "%last";          ///< where windows and filters end
  std::string condition = "cmp lt %l, %j";
  std::string between = "";
};

std::string chosen(const Form& form) {
  return textAfter(
      "kernel @f(%first: i64, %last: i64, %m: i64, %n: i64, %k: i64, %z: f32, %x: data, %y: data, "
      "%r: data) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n  %three = const 3 : i64\n"
      "  %sixteen = const 16 : i64\n  %forty = const 40 : i64\n  for independent " +
          std::string(form.many == "%last" ? "%first" : "%zero") + ", " + form.many + " { (%o)\n" +
          form.between + "    for independent %zero, %m { (%c)\n      for independent %zero, " + form.few +
          " { (%l)\n        %s = for %zero, %n, %z : f32 { (%j, %t)\n          %q = " + form.condition +
          " : bool\n          %u = if %q : f32 {\n            %a = load %x[" + form.image +
          "] : f32\n            %b = load %y[" + form.filtered +
          "] : f32\n            %f = fma %a, %b, %t : f32\n            yield %f\n          } {\n"
          "            yield %t\n          }\n          yield %u\n        }\n"
          "        store %r[%o*%m + %c*%k + %l*%one] = %s\n        yield\n      }\n      yield\n    }\n"
          "    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        chooseVectorAxis(module, module.functions[FunctionId(0)]);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
/// The loops from the outermost, `|` between two orders.
std::string order(const Form& form) {
  const std::string text = chosen(form);
  std::string out;
  for (size_t at = text.find("for independent"); at != std::string::npos;
       at = text.find("for independent", at + 1)) {
    if (out.size() == 3) out += '|';
    const size_t name = text.find("{ (%", at) + 4;
    out += text.substr(name, 1);
  }
  return out;
}

TEST(ChooseColumns, FewWindowsAreRowsOfFilters) {
  EXPECT_EQ(order({}), "clo|ocl") << "if they are few";
  EXPECT_EQ(order({.few = "%three"}), "clo|ocl") << "if there are filters enough";
  EXPECT_EQ(order({.few = "%three", .many = "%forty"}), "clo") << "as is known";
  EXPECT_EQ(order({.few = "%sixteen"}), "clo|ocl") << "if filters fill a panel";
}

TEST(ChooseColumns, WhereLittleIsGainedTheyStay) {
  EXPECT_EQ(order({.few = "%sixteen", .many = "%forty"}), "ocl") << "windows fill the lanes";
  EXPECT_EQ(order({.few = "%three", .many = "%three"}), "ocl") << "filters are few too";
  EXPECT_EQ(order({.filtered = "%o*%n + %c*%m + %j*%one"}), "ocl") << "a panel for each channel";
  EXPECT_EQ(order({.filtered = "%o*%n + %l*%m + %j*%one"}), "ocl") << "windows share nothing";
  EXPECT_EQ(order({.image = "%j*%one"}), "ocl") << "nothing differs by window";
}

TEST(ChooseColumns, NotUnderAMaskOfItsOwnNorWithMoreInTheLoops) {
  EXPECT_EQ(order({.condition = "cmp lt %o, %j"}), "ocl");
  EXPECT_EQ(order({.between = "    store %r[%o*%one] = %z\n"}), "ocl");
  EXPECT_EQ(order({.few = "%o"}), "ocl") << "as many windows as the filter says";
}

} // namespace
} // namespace melix::loops
