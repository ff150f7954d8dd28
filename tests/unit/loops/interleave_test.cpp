// From Core text: which points of nests run at once.
#include "core/parse.h"
#include "core/verify.h"
#include "loops/loops.h"
#include "loops/verify.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace melix::loops {
namespace {

void addWidths(const Function& fn, RegionId region, std::vector<size_t>& out) {
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::For && !s.results.empty()) out.push_back(s.results.size());
    for (RegionId inner : s.regions) addWidths(fn, inner, out);
  }
}

/// How many values the loops of a program carry, the widest loop first; at most three.
std::vector<size_t> widths(std::string_view text, bool interleaved = true) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  EXPECT_EQ(core::parseModule(core, text), "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  for (uint32_t f = 0; f < core.functions.size(); ++f) core.functions[core::FunctionId(f)].keep = true;
  Options options;
  options.interleave = interleaved;
  const Result result = fromCore(core, options);
  EXPECT_EQ(verify(result.module, true), "");
  std::vector<size_t> out;
  for (const Function& fn : result.module.functions) addWidths(fn, fn.body, out);
  std::ranges::sort(out, std::greater());
  if (out.size() > 3) out.resize(3);
  return out;
}

/// B times: `rows` rows of `terms` terms each, in chain order.
std::string products(const std::string& rows, const std::string& terms, const std::string& more = "") {
  const std::string result = "f64[B, " + rows + "]";
  return "fn main [B, N, K] (%x: f64[B, " + rows + ", " + terms + "], %w: f64[" + terms + "], %p: i64) -> (" +
         result + ") {\n  %y = nest (%b: B, %i: " + rows + ", %k: " + terms +
         ") -> keep[b, i] sum chain {\n    %l = get %x[%b, %i, %k] : f64\n    %r = get %w[%k] : f64\n" +
         more + "    %t = mul %l, %r : f64\n    yield %t\n  } : " + result + "\n  yield %y\n}\n";
}

TEST(Interleave, ChainsOfEightPointsRunAtOnce) {
  // One block is known: the loop over terms; else the loop over blocks and that over terms, and both for what
  // is left.
  EXPECT_EQ(widths(products("16", "100")), (std::vector<size_t>{8}));
  EXPECT_EQ(widths(products("N", "K")), (std::vector<size_t>{8, 8, 1}));
  EXPECT_EQ(widths(products("16", "100"), false), (std::vector<size_t>{1}));
}

TEST(Interleave, AllOfAFewPointsAreOneGroup) {
  EXPECT_EQ(widths(products("3", "100")), (std::vector<size_t>{3}));
  EXPECT_EQ(widths(products("10", "100")), (std::vector<size_t>{10}));
  EXPECT_EQ(widths(products("14", "100")), (std::vector<size_t>{7}));
  EXPECT_EQ(widths(products("1", "100")), (std::vector<size_t>{1}));
  EXPECT_EQ(widths(products("11", "100")), (std::vector<size_t>{8, 1})); // and three that are left
}

TEST(Interleave, WhatMayPanicRunsInOrder) {
  EXPECT_EQ(widths(products("16", "100", "    check index \"\" %p dims [10]\n")), (std::vector<size_t>{1}));
}

TEST(Interleave, LanesAreLeftAlone) {
  std::string text = products("16", "100");
  text.replace(text.find("sum chain"), 9, "sum lanes(32, k)");
  EXPECT_TRUE(widths(text).empty() || widths(text)[0] == 1);
}

} // namespace
} // namespace melix::loops
