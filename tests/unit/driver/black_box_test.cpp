// What `black_box` is given is computed where it stands, each time.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

/// The lines of the entry of a program in optimised Core, into which all but what is given to `black_box`
/// goes.
std::vector<std::string> entryOf(const std::string& program) {
  const std::string file = "/tmp/melix_black_box_" + std::to_string(getpid()) + ".mlx";
  if (FILE* f = std::fopen(file.c_str(), "w")) {
    std::fputs(program.c_str(), f);
    std::fclose(f);
  }
  const harness::ProcessResult shown = melix("show --stage opt " + file);
  std::remove(file.c_str());
  EXPECT_EQ(shown.status, 0) << shown.errors;
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : harness::splitLines(shown.output)) {
    inside = line.starts_with("fn entry ") || (inside && !line.starts_with("fn "));
    if (inside) out.push_back(line);
  }
  return out;
}
bool isIn(const std::string& line, const std::string& part) { return line.find(part) != std::string::npos; }
/// Lines with a part, at least so many levels deep.
size_t count(const std::vector<std::string>& lines, const std::string& part, size_t deep = 1) {
  size_t found = 0;
  for (const std::string& line : lines)
    found += isIn(line, part) && line.starts_with(std::string(2 * deep, ' '));
  return found;
}
std::string text(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(BlackBox, NothingLeavesALoop) {
  const std::vector<std::string> lines = entryOf("fn loss(w: f64[N]) -> f64 = sum(for i: exp(w[i]))\n"
                                                 "fn main(n: int, x: f64) {\n"
                                                 "  let w = [x, 1.0]\n"
                                                 "  for _ in 0..n {\n"
                                                 "    black_box(loss(w))\n"
                                                 "    black_box(grad(loss)(w))\n"
                                                 "    black_box(sort(w))\n"
                                                 "    black_box(str(x))\n"
                                                 "    black_box(x * x)\n"
                                                 "    black_box([for i: w[i] / x])\n"
                                                 "  }\n}\n");
  EXPECT_EQ(count(lines, "call @boxed", 2), 6u) << text(lines);
  for (const char* work : {"math", "argsort", "format", "mul", "div ", "nest"})
    EXPECT_EQ(count(lines, work), 0u) << work << "\n" << text(lines);
}

TEST(BlackBox, WhatStandsTwiceIsComputedTwice) {
  const std::vector<std::string> lines = entryOf("fn main(x: f64) {\n"
                                                 "  let a = exp(x)\n"
                                                 "  print(a, black_box(exp(x)), black_box(exp(x)))\n}\n");
  EXPECT_EQ(count(lines, "call @boxed"), 2u) << text(lines);
  EXPECT_EQ(count(lines, "math exp"), 1u) << text(lines);
}

TEST(BlackBox, BuildersComputeItAtEachPoint) {
  const std::vector<std::string> lines =
      entryOf("fn plus_one(x: f64) -> f64 = 1 + black_box(exp(x))\n"
              "fn main(n: int, x: f64) {\n"
              "  print([for i in 0..n: i + plus_one(x)], sum(for i in 0..n: black_box(exp(x)) + i))\n}\n");
  EXPECT_EQ(count(lines, "call @boxed", 2), 2u) << text(lines);
  EXPECT_EQ(count(lines, "call @boxed"), 2u) << text(lines);
}

} // namespace
} // namespace melix::driver
