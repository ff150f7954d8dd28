// Maps whose copies share: against std::map, and what a difference looks at.
#include "support/persistent_map.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace melix {
namespace {

using TestId = Id<struct TestTag>;
using Map = PersistentMap<TestId, int>;

std::vector<uint32_t> differences(const Map& from, const Map& to) {
  std::vector<uint32_t> out;
  from.forEachDifference(to, [&](TestId id) { out.push_back(id.index); });
  return out;
}

void expectSame(const Map& map, const std::map<uint32_t, int>& expected, uint32_t end) {
  for (uint32_t k = 0; k < end; ++k) {
    auto found = expected.find(k);
    ASSERT_EQ(map.contains(TestId(k)), found != expected.end()) << k;
    if (found != expected.end()) ASSERT_EQ(map.at(TestId(k)), found->second) << k;
  }
}

TEST(PersistentMap, CopiesKeepWhatTheyHadWhenTaken) {
  constexpr uint32_t end = 600;
  std::mt19937 random(1);
  Map map;
  std::map<uint32_t, int> expected;
  std::vector<std::pair<Map, std::map<uint32_t, int>>> kept;
  for (int step = 0; step < 4000; ++step) {
    const uint32_t k = random() % end;
    if (random() % 4 == 0) {
      map.erase(TestId(k));
      expected.erase(k);
    } else {
      map[TestId(k)] = step;
      expected[k] = step;
    }
    if (step % 400 == 0) kept.push_back({map, expected});
  }
  expectSame(map, expected, end);
  for (const auto& [copy, then] : kept) expectSame(copy, then, end);
  for (const auto& [copy, then] : kept) {
    std::vector<uint32_t> changed;
    for (auto [k, value] : then)
      if (!expected.contains(k) || expected.at(k) != value) changed.push_back(k);
    EXPECT_EQ(differences(copy, map), changed);
  }
}

TEST(PersistentMap, MapsOfDifferentHeightAreCompared) {
  Map low;
  low[TestId(3)] = 1;
  Map high = low;
  high[TestId(100'000)] = 2;
  EXPECT_EQ(differences(low, high), std::vector<uint32_t>{});
  EXPECT_EQ(differences(high, low), std::vector<uint32_t>{100'000});
  high[TestId(3)] = 4;
  EXPECT_EQ(differences(low, high), std::vector<uint32_t>{3});
  EXPECT_FALSE(high.contains(TestId::none()));
  EXPECT_EQ(differences(Map(), high), std::vector<uint32_t>{});
}

TEST(PersistentMap, ADifferenceLooksOnlyAtWhatIsNotShared) {
  struct Counted {
    int value = 0;
    mutable int* compared = nullptr;
    bool operator==(const Counted& other) const {
      if (compared) ++*compared;
      return value == other.value;
    }
  };
  int compared = 0;
  PersistentMap<TestId, Counted> map;
  for (uint32_t k = 0; k < 10'000; ++k) map[TestId(k)] = {static_cast<int>(k), &compared};
  PersistentMap<TestId, Counted> changed = map;
  changed[TestId(5000)].value = -1;
  std::vector<uint32_t> found;
  map.forEachDifference(changed, [&](TestId id) { found.push_back(id.index); });
  EXPECT_EQ(found, std::vector<uint32_t>{5000});
  EXPECT_LE(compared, 16);
}

} // namespace
} // namespace melix
