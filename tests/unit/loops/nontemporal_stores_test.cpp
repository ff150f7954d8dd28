// Which stores go past the cache, from text.
#include "loops/lanes/nontemporal_stores.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// How many stores of a kernel with these statements do.
size_t streams(const std::string& body, const std::string& kind = "kernel") {
  const std::string after =
      textAfter(kind + " @f(%a: i64, %b: i64, %n: i64, %x: data, %y: data) {\n  %one = const 1 : i64\n" +
                    body + "  yield\n}\n",
                [](Module& module) {
                  chooseNontemporalStores(module);
                  EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                });
  size_t found = 0;
  for (size_t at = after.find(" nontemporal"); at != std::string::npos;
       at = after.find(" nontemporal", at + 1))
    ++found;
  return found;
}

std::string loop(const std::string& body, const std::string& head = "independent vector 16") {
  return "for " + head + " %a, %b { (%i)\n" + body + "yield\n}\n";
}
const std::string copy = "%v = load %x[%i*%one] : f32\nstore %y[%i*%one] = %v\n";

TEST(ChooseStreams, AnArrayThatIsFilledSideBySide) {
  EXPECT_EQ(streams(loop(copy)), 1U);
  EXPECT_EQ(streams(loop("for independent vector 16 %a, %n { (%j)\n%v = load %x[%j*%one] : f32\n"
                         "store %y[%i*%n + %j*%one] = %v\nyield\n}\n",
                         "independent")),
            1U);
}

TEST(ChooseStreams, NotWhatIsReadToo) {
  EXPECT_EQ(streams(loop("%v = load %y[%i*%one] : f32\nstore %y[%i*%one] = %v\n")), 0U);
  EXPECT_EQ(streams(loop("%v = load %x[%i*%one] : f32\nstore %y[%i*%one] = %v\n"
                         "%w = load %y[%i*%n] : f32\nstore %x[%i*%n] = %w\n")),
            0U);
}

TEST(ChooseStreams, NotApartNorTurnByTurn) {
  EXPECT_EQ(streams(loop("%v = load %x[%i*%one] : f32\nstore %y[%i*%n] = %v\n")), 0U);
  EXPECT_EQ(streams(loop(copy, "independent")), 0U);
}

TEST(ChooseStreams, NotWhereATurnTakesLong) {
  const std::string sum = "%z = const 0.0 : f32\n%v = for %a, %n, %z : f32 { (%k, %s)\n"
                          "%t = load %x[%k*%n + %i*%one] : f32\n%u = add %s, %t : f32\nyield %u\n}\n"
                          "store %y[%i*%one] = %v\n";
  EXPECT_EQ(streams(loop(sum)), 0U);
}

TEST(ChooseStreams, RowsOfWhichAllColumnsAreFilled) {
  const std::string first = "%three = const 3 : i64\n%two = const 2 : i64\n%zero = const 0 : i64\n"
                            "%v = load %x[%i*%one] : f32\n"
                            "store %y[%i*%three + %zero*%one] = %v\nstore %y[%i*%three + %one*%one] = %v\n";
  EXPECT_EQ(streams(loop(first + "store %y[%i*%three + %two*%one] = %v\n")), 3U);
  EXPECT_EQ(streams(loop(first)), 0U);
  EXPECT_EQ(streams(loop(first + "store %y[%i*%three + %two*%one] = %v\n"
                                 "%w = load %y[%i*%n] : f32\nstore %x[%i*%n] = %w\n")),
            0U);
}

TEST(ChooseStreams, NotWhereAllLaunchesGiveASmallArray) {
  auto launched = [](const std::string& sizes) {
    std::string text = "fn @g(%m: i64, %x: data) {\n  %k = const 1000 : i64\n  %y = alloc f32 %k : data\n"
                       "  %z = alloc f32 " +
                       sizes +
                       " : data\n  launch @f %k, %k, %m, %x, %y\n  launch @f %k, %k, %m, %x, %z\n"
                       "  drop %y\n  drop %z\n  yield\n}\n\n";
    return text + "kernel @f(%a: i64, %b: i64, %n: i64, %x: data, %y: data) {\n  %one = const 1 : i64\n" +
           loop(copy) + "  yield\n}\n";
  };
  auto count = [](const std::string& text) {
    const std::string after = textAfter(text, [](Module& module) { chooseNontemporalStores(module); });
    return after.find(" nontemporal") != std::string::npos;
  };
  EXPECT_FALSE(count(launched("%k")));
  EXPECT_TRUE(count(launched("%m")));
  EXPECT_TRUE(count(launched("%k, %k, %k")));
}

TEST(ChooseStreams, NotOutsideOfKernels) {
  EXPECT_EQ(streams(loop(copy), "fn"), 0U);
  EXPECT_EQ(streams("%p = pointer_of %y : address\n" +
                    loop("%v = load %x[%i*%one] : f32\nstore %p[%i*%one] = %v\n")),
            0U);
}

} // namespace
} // namespace melix::loops
