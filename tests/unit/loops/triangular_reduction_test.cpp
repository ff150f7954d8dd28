// Rows that are swept together and differ in the turns of their chains, from text.
#include "loops/index_sets/split_predicated.h"
#include "loops/tiles/unroll_and_jam.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows %i and columns %j that sums over %l where the condition %g holds that `mask` makes.
std::string jammed(const std::string& mask, const std::string& otherwise = "%t",
                   const std::string& turns = "%k", bool splits = true) {
  return textAfter(
      "kernel @p(%a: i64, %b: i64, %n: i64, %k: i64, %begun: f32, %x: data, %y: data, %r: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %ten = const 10 : i64\n"
      "  for independent unroll_jam 2 %a, %b { (%i)\n    for independent vector 16 %zero, %n { (%j)\n"
      "      %s = for %zero, " +
          turns + ", %begun : f32 { (%l, %t)\n        %v = load %y[%l*%n + %j*%one] : f32\n" + mask +
          "        %q = if %g : f32 {\n          %u = load %x[%i*%k + %l*%one] : f32\n"
          "          %p = fma %u, %v, %t : f32\n          yield %p\n        } {\n          yield " +
          otherwise +
          "\n        }\n        yield %q\n      }\n      store %r[%i*%n + %j*%one] = %s\n      yield\n"
          "    }\n    yield\n  }\n  yield\n}\n",
      [splits](Module& module) {
        for (Function& fn : module.functions)
          if (splits) splitPredicated(module, fn);
        for (Function& fn : module.functions) unrollAndJam(fn);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
/// In the loop over two rows: whether branches stand in each of its chains.
std::vector<bool> asks(const std::string& text) {
  std::vector<bool> out;
  const size_t end = text.find("\n  for independent ", text.find("for independent ") + 1);
  for (size_t at = text.find(" = for "); at < end; at = text.find(" = for ", at + 1))
    out.push_back(text.find(" = if ", at) < text.find("yield %", text.find("fma", at)));
  return out;
}
using Chains = std::vector<bool>;
const char* const upto = "        %g = cmp le %l, %i : bool\n";
const char* const from = "        %g = cmp ge %l, %i : bool\n";

TEST(NarrowChains, AllRowsThenSome) { EXPECT_EQ(asks(jammed(upto)), (Chains{false, true})) << jammed(upto); }
TEST(NarrowChains, SomeRowsThenAll) { EXPECT_EQ(asks(jammed(from)), (Chains{true, false})); }

TEST(NarrowChains, BothEnds) {
  EXPECT_EQ(asks(jammed("        %e = cmp le %l, %i : bool\n        %d = add %l, %ten : i64\n"
                        "        %h = cmp gt %d, %i : bool\n        %g = and %e, %h : bool\n")),
            (Chains{true, false, true}));
}

TEST(NarrowChains, WhatColumnsTellIsAskedInside) {
  const std::string text = jammed("        %e = cmp le %l, %i : bool\n        %h = cmp le %l, %j : bool\n"
                                  "        %g = and %e, %h : bool\n");
  EXPECT_EQ(asks(text), (Chains{true, true})) << text;
  EXPECT_LT(count(text, " = if %"), 2 * 2 + 2 * 4 + 2 * 3) << "by itself where all rows have the turn";
}

TEST(NarrowChains, OthersStay) {
  auto chains = [](const std::string& mask, const std::string& otherwise = "%t",
                   const std::string& turns = "%k") {
    return asks(jammed(mask, otherwise, turns, false)).size();
  };
  EXPECT_EQ(chains(upto), 2u);
  EXPECT_EQ(chains("        %g = cmp eq %l, %i : bool\n"), 1u);
  EXPECT_EQ(chains("        %g = cmp le %l, %j : bool\n"), 1u) << "columns have their own";
  EXPECT_EQ(chains("        %g = cmp le %l, %n : bool\n"), 1u) << "all rows alike";
  EXPECT_EQ(chains(upto, "%begun"), 1u) << "something else goes on";
  EXPECT_EQ(chains(upto, "%t", "%ten"), 1u) << "few turns";
}

} // namespace
} // namespace melix::loops
