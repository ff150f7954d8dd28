// The trail: what is changed behind a mark is as it was when the mark is undone.
#include "check/tree/scope.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace melix::check {
namespace {

using Numbers = std::map<int, int>;

/// One of each kind of container on one trail.
struct State {
  explicit State(Trail& trail)
      : value(trail, 7), list(trail), map(trail), set(trail), scope(trail), trail_(trail) {
    store.recordOn(&trail);
  }

  Trailed<int> value;
  TrailedVector<int> list;
  TrailedMap<Numbers> map;
  TrailedSet<std::set<int>> set;
  TrailedStore<LocalId, int> store;
  Scope scope;
  int plain = 0;

  void change(std::mt19937& random) {
    const int k = static_cast<int>(random() % 8);
    switch (random() % 16) {
    case 0: value = k; break;
    case 1: ++value; break;
    case 2: list.push_back(k); break;
    case 3:
      if (!list.empty()) list.pop_back();
      break;
    case 4:
      if (!list.empty()) list.edit(random() % list.size()) += k;
      break;
    case 5: list.exchange({k, k}); break;
    case 6: map.add(k, k); break;
    case 7: map.set(k, static_cast<int>(random() % 100)); break;
    case 8: map.erase(k); break;
    case 9: map.edit()[k] += 1; break;
    case 10: set.insert(k); break;
    case 11: store.add(k); break;
    case 12:
      if (store.size() > 0) store.edit(LocalId(static_cast<uint32_t>(random() % store.size()))) += k;
      break;
    case 13:
      scope.add({NameId(static_cast<uint32_t>(k)), LocalId(static_cast<uint32_t>(random() % 100))});
      break;
    case 14: scope.leave(scope.size() / 2); break;
    case 15:
      trail_.set(plain, k);
      scope.removeIf([&](const ScopeEntry& e) { return e.name.index == static_cast<uint32_t>(k); });
      break;
    }
  }

  std::string text() const {
    std::stringstream out;
    out << *value << " " << plain << " |";
    for (int each : list) out << " " << each;
    out << " |";
    for (auto [key, each] : *map) out << " " << key << ":" << each;
    out << " |";
    for (int each : set) out << " " << each;
    out << " |";
    for (int each : store) out << " " << each;
    out << " |";
    for (const ScopeEntry& e : scope) out << " " << e.name.index << ":" << e.local.index;
    for (uint32_t k = 0; k < 8; ++k) out << " " << scope.find(NameId(k)).index;
    return out.str();
  }

private:
  Trail& trail_;
};

/// Changes, marks inside of marks, of which some are undone and some committed.
void changeBehindMarks(Trail& trail, State& state, std::mt19937& random, int depth) {
  for (int round = 0; round < 6; ++round) {
    for (int k = 0; k < 4; ++k) state.change(random);
    if (depth == 0) continue;
    const std::string before = state.text();
    const Trail::Mark mark = trail.mark();
    changeBehindMarks(trail, state, random, depth - 1);
    if (random() % 2 == 0) {
      trail.commit(mark);
    } else {
      trail.undo(mark);
      ASSERT_EQ(state.text(), before);
    }
  }
}

TEST(Trail, UndoRestoresEveryContainer) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    Trail trail;
    State state(trail);
    changeBehindMarks(trail, state, random, 4);
    EXPECT_FALSE(trail.isRecording());
  }
}

TEST(Trail, AnOuterTrailIsUndoneWithTheInnerOne) {
  Trail outer, inner(&outer);
  Trailed<int> ofOuter(outer, 1), ofInner(inner, 1);
  const Trail::Mark first = inner.mark();
  ofOuter = 2;
  const Trail::Mark second = inner.mark();
  ofOuter = 3;
  ofInner = 3;
  inner.undo(second);
  EXPECT_EQ(ofOuter, 2);
  EXPECT_EQ(ofInner, 1);
  inner.commit(first);
  EXPECT_EQ(ofOuter, 2);
  EXPECT_FALSE(outer.isRecording());
}

TEST(Trail, NothingIsRecordedWithoutAMark) {
  Trail trail;
  TrailedVector<int> list(trail);
  list.push_back(1);
  trail.undo(trail.mark());
  EXPECT_EQ(list.size(), 1u);
}

/// Whatever a body keeps stands in a container that records itself, but for these fields.
TEST(Trail, FieldsOfABodyRecordThemselves) {
  const std::set<std::string> others{"c",
                                     "id",
                                     "module",
                                     "at",
                                     "ast",
                                     "trail",
                                     "instance",
                                     "types",
                                     "sink",
                                     "infer",
                                     "b",
                                     "arrays",
                                     "leaves",
                                     "derivatives",
                                     "messages",
                                     "isScript",
                                     "mayReturn", // what body it is
                                     "sizes",
                                     "byTry", // of Returned
                                     "isProvisional",
                                     "unaskedOperands"}; // notes on what was tried
  std::ifstream file(MELIX_SOURCE_DIR "/compiler/check/body/body.h");
  const std::regex field(
      "^  (  )?[A-Za-z_:][A-Za-z0-9_:<>,*& ]*[ &*>]([a-zA-Z]+)(\\{trail\\}|\\{&c.trail\\}| = [^()]*)?;.*");
  size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (line.find("using ") != std::string::npos || !std::regex_match(line, match, field)) continue;
    ++found;
    EXPECT_TRUE(match[3] == "{trail}" || others.contains(match[2])) << line;
  }
  EXPECT_GT(found, 40u);
}

} // namespace
} // namespace melix::check
