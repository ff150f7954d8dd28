// Which loops of points change places, from text.
#include "loops/tiles/interchange_for_vectors.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

struct Form {
  std::string rows = "%m";                            ///< turns of the sum
  std::string difference = "%d = sub %b, %e : f32\n"; ///< %b of the point, %e of the part
  std::string matrix = "%q*%k + %i*%k + %l*%one";     ///< where %a lies
  std::string between = "";                           ///< the loops
  std::string kept = "";                              ///< what turns of the sum store
};

std::string exchanged(const Form& form) {
  return textAfter(
      "kernel @f(%first: i64, %last: i64, %m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, "
      "%v: data, %y: data) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n  %few = const 15 "
      ": i64\n  %many = const 16 : i64\n  for independent %first, %last { (%p)\n" +
          form.between + "    for independent %zero, %n { (%q)\n      %s = for independent %zero, " +
          form.rows +
          ", %z : f32 { (%i, %t)\n        %c = for %zero, %k, %z : f32 { (%l, %h)\n"
          "          %a = load %x[" +
          form.matrix +
          "] : f32\n          %b = load %w[%p*%k + %l*%one] : f32\n"
          "          %e = load %v[%q*%k + %l*%one] : f32\n" +
          form.difference +
          "          %g = fma %a, %d, %h : f32\n          yield %g\n        }\n"
          "        %u = fma %c, %c, %t : f32\n" +
          form.kept +
          "        yield %u\n      }\n"
          "      store %y[%p*%n + %q*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        interchangeForVectors(module, module.functions[FunctionId(0)]);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
/// `%p in %q`, or in either order, or as they were.
std::string order(const Form& form) {
  const std::string text = exchanged(form);
  const size_t branch = text.find("if %");
  if (branch == std::string::npos) return "as they were";
  const size_t parts = text.find("for independent %zero, %n", branch),
               points = text.find("for independent %first", branch);
  return parts < points ? "exchanged if large" : "?";
}

TEST(ExchangePoints, WhatDiffersInBothAndNotInTheSumIsComputedOnce) {
  EXPECT_EQ(order({}), "exchanged if large");
  EXPECT_EQ(order({.rows = "%many"}), "exchanged if large") << "%k is not known";
  EXPECT_EQ(order({.between = "    %j = mul %p, %k : i64\n"}), "exchanged if large");
}

TEST(ExchangePoints, WhereLittleIsGainedTheyStay) {
  EXPECT_EQ(order({.rows = "%few"}), "as they were") << "a panel is made for few turns";
  const std::string kept = "        store %y[%p*%n + %q*%k + %i*%one] = %c\n";
  EXPECT_EQ(order({.rows = "%few", .kept = kept}), "exchanged if large") << "parts in lanes would scatter";
  EXPECT_EQ(order({.rows = "%one", .kept = kept}), "as they were");
  EXPECT_EQ(order({.difference = "%d = neg %b : f32\n"}), "as they were") << "parts compute nothing";
  EXPECT_EQ(order({.difference = "%o = sub %b, %e : f32\n%d = mul %o, %a : f32\n"}), "exchanged if large");
  EXPECT_EQ(order({.matrix = "%i*%k + %l*%one"}), "as they were")
      << "of parts in lanes it is computed once too";
  EXPECT_EQ(order({.matrix = "%p*%k + %i*%k + %l*%one"}), "as they were") << "each point has its own matrix";
}

TEST(ExchangePoints, NothingElseStandsInTheOuterLoop) {
  EXPECT_EQ(order({.between = "    store %y[%p*%one] = %z\n"}), "as they were");
  EXPECT_EQ(order({.rows = "%p"}), "as they were") << "each point has a sum of its own length";
}

TEST(ExchangePoints, BothAreThere) {
  const std::string text = exchanged({});
  EXPECT_NE(text.find("= const 32 : i64"), std::string::npos) << "as many points as a panel has\n" << text;
  size_t stores = 0;
  for (size_t at = text.find("store "); at != std::string::npos; at = text.find("store ", at + 1)) ++stores;
  EXPECT_EQ(stores, 2u) << text;
}

} // namespace
} // namespace melix::loops
