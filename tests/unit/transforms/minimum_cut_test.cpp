// The lightest set of nodes between what is given and what is needed.
#include "transforms/analysis/minimum_cut.h"

#include <gtest/gtest.h>
#include <random>

namespace melix::transforms {
namespace {

TEST(MinimumCut, OneValueForTwo) {
  MinimumCut cut;
  const uint32_t x = cut.node(8), a = cut.node(8), b = cut.node(8);
  cut.given(x);
  for (uint32_t of : {a, b}) cut.require(x, of), cut.needed(of);
  EXPECT_EQ(cut.solve(), (std::vector<bool>{true, false, false}));
}

TEST(MinimumCut, OfEqualWeightTheNearestToWhatIsNeeded) {
  MinimumCut cut;
  const uint32_t x = cut.node(8), a = cut.node(8), b = cut.node(8);
  cut.given(x);
  cut.require(x, a);
  cut.require(a, b);
  cut.needed(b);
  EXPECT_EQ(cut.solve(), (std::vector<bool>{false, false, true}));
}

TEST(MinimumCut, WhatNothingGivenReachesIsFree) {
  MinimumCut cut;
  const uint32_t a = cut.node(8), b = cut.node(8);
  cut.require(a, b);
  cut.needed(b);
  EXPECT_EQ(cut.solve(), (std::vector<bool>{false, false}));
}

TEST(MinimumCut, WhatIsGivenAndNeededIsCut) {
  MinimumCut cut;
  const uint32_t a = cut.node(8);
  cut.given(a);
  cut.needed(a);
  EXPECT_EQ(cut.solve(), std::vector<bool>{true});
}

/// A graph without circles, of which every set of nodes is tried.
struct Graph {
  std::vector<uint32_t> weights;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::vector<bool> given, needed;

  bool separates(uint32_t set) const {
    std::vector<bool> reached = given;
    for (uint32_t n = 0; n < weights.size(); ++n) {
      if (set >> n & 1) reached[n] = false;
      for (auto [from, to] : edges)
        if (from == n && reached[n]) reached[to] = true;
    }
    for (uint32_t n = 0; n < weights.size(); ++n)
      if (reached[n] && needed[n]) return false;
    return true;
  }
  uint32_t weight(uint32_t set) const {
    uint32_t sum = 0;
    for (uint32_t n = 0; n < weights.size(); ++n) sum += (set >> n & 1) * weights[n];
    return sum;
  }
};

TEST(MinimumCut, IsTheLightestOfAllSetsThatSeparate) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Graph g;
    const uint32_t size = 2 + random() % 8;
    MinimumCut cut;
    for (uint32_t n = 0; n < size; ++n) {
      g.weights.push_back(1 + random() % 9);
      g.given.push_back(random() % 3 == 0);
      g.needed.push_back(random() % 3 == 0);
      cut.node(g.weights[n]);
      if (g.given[n]) cut.given(n);
      if (g.needed[n]) cut.needed(n);
      for (uint32_t from = 0; from < n; ++from)
        if (random() % 3 == 0) cut.require(from, n), g.edges.emplace_back(from, n);
    }
    uint32_t best = ~0u, found = 0;
    for (uint32_t set = 0; set < 1u << size; ++set)
      if (g.separates(set)) best = std::min(best, g.weight(set));
    const std::vector<bool> solved = cut.solve();
    for (uint32_t n = 0; n < size; ++n) found |= uint32_t(solved[n]) << n;
    EXPECT_TRUE(g.separates(found));
    EXPECT_EQ(g.weight(found), best);
  }
}

} // namespace
} // namespace melix::transforms
