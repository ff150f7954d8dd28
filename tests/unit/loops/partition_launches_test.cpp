// Launches that choose between blocks of rows and panels of columns, from text.
#include "loops/kernels/partition_launches.h"

#include "loops/loops_text.h"
#include "loops/tiles/tile_contractions.h"

namespace melix::loops {
namespace {

/// A kernel of a product whose second side is read so, and what else stands in it.
std::string cut(const std::string& read, const std::string& beside = "", const std::string& columns = "%n") {
  return textAfter(
      "fn @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  launch @p %m, %m, %n, %k, %z, %x, %w, %y\n  yield\n}\n\n"
      "kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n" +
          beside +
          "  for independent unroll_jam 6 %first, %last { (%i)\n    for independent vector 16 interleave 4 "
          "%zero, " +
          columns +
          " { (%j)\n      %s = for %zero, %k, %z : f32 { (%l, %t)\n        %a = load %x[%i*%k + %l*%one] : "
          "f32\n"
          "        %b = load %w[" +
          read +
          "] : f32\n        %u = fma %a, %b, %t : f32\n        yield %u\n      }\n"
          "      store %y[%i*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        tileContractions(module);
        partitionLaunches(module);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
size_t operandsOfLaunch(const std::string& text) {
  const size_t at = text.find("launch @p");
  return count(text.substr(at, text.find('\n', at) - at), ",") + 1;
}

TEST(CutLaunches, RowsOrPanelsAsTheLaunchSays) {
  const std::string text = cut("%l*%n + %j*%one");
  EXPECT_EQ(operandsOfLaunch(text), 11U) << "bytes of scratch, rows, and whether it is panels: " << text;
  EXPECT_EQ(count(text, "unrolled"), 0U) << "blocks and panels one by one: " << text;
  EXPECT_EQ(count(text, "%first, %last"), 0U) << "neither is the rows': " << text;
}

TEST(CutLaunches, WhatRunsInPlaceOfPanelsIsOneChunk) {
  const std::string rows = cut("%l*%n + %j*%one"), lines = cut("%j*%k + %l*%one");
  EXPECT_EQ(operandsOfLaunch(lines), 11U) << lines;
  EXPECT_EQ(count(lines, "%first, %last"), 0U) << lines;
  EXPECT_EQ(count(lines, "for independent unroll_jam 6"), 1U) << lines;
}

TEST(CutLaunches, NotWhereTheKernelDoesMoreOrItsPanelsAreNotKnown) {
  EXPECT_EQ(operandsOfLaunch(cut("%l*%n + %j*%one", "  store %y[%zero*%one] = %z\n")), 9U);
  EXPECT_EQ(operandsOfLaunch(cut("%l*%n + %j*%one", "  %c = load %x[%zero*%one] : i64\n", "%c")), 9U)
      << "a number from memory";
}

} // namespace
} // namespace melix::loops
