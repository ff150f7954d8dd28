// The order of functions by calls, and which of them are recursive.
#include "core/ir/call_graph.h"

#include "core/core_text.h"

#include <algorithm>

namespace melix::core {
namespace {

/// `f name calls…`: a function that calls the others one after another.
std::string calling(const std::string& name, const std::vector<std::string>& callees) {
  std::string out = "fn " + name + " (%a: f32) -> (f32) {\n", last = "%a";
  for (size_t k = 0; k < callees.size(); ++k) {
    std::string next = "%v" + std::to_string(k);
    out += "  " + next + " = call @" + callees[k] + " " + last + " : f32\n";
    last = next;
  }
  return out + "  yield " + last + "\n}\n\n";
}

TEST(CallGraph, PutsCalleesFirst) {
  TextModule m(calling("top", {"left", "right"}) + calling("left", {"leaf"}) +
               calling("right", {"leaf", "left", "leaf"}) + calling("leaf", {}));
  CallGraph graph(m.module);
  auto place = [&](const char* name) {
    return std::find(graph.order().begin(), graph.order().end(), m.function(name)) - graph.order().begin();
  };
  EXPECT_LT(place("leaf"), place("left"));
  EXPECT_LT(place("left"), place("right"));
  EXPECT_LT(place("right"), place("top"));
  EXPECT_EQ(graph.order().size(), 4u);
  EXPECT_EQ(graph.callees(m.function("right")).size(), 2u);
  for (const char* name : {"top", "left", "right", "leaf"})
    EXPECT_FALSE(graph.isRecursive(m.function(name))) << name;
}

TEST(CallGraph, TellsWhoCallsItselfInAnyWay) {
  TextModule m(calling("main", {"a"}) + calling("a", {"b", "own"}) + calling("b", {"c"}) +
               calling("c", {"a"}) + calling("d", {"b"}) + calling("own", {"own"}));
  CallGraph graph(m.module);
  for (const char* name : {"a", "b", "c", "own"}) EXPECT_TRUE(graph.isRecursive(m.function(name))) << name;
  for (const char* name : {"main", "d"}) EXPECT_FALSE(graph.isRecursive(m.function(name))) << name;
}

TEST(CallGraph, GoesThroughLongChains) {
  std::string text = calling("f0", {});
  for (int k = 1; k < 20000; ++k)
    text = text + "fn f" + std::to_string(k) + " (%a: f32) -> (f32) {\n  %r = call @f" +
           std::to_string(k - 1) + " %a : f32\n  yield %r\n}\n\n";
  TextModule m(text);
  CallGraph graph(m.module);
  EXPECT_EQ(graph.order().front(), m.function("f0"));
  EXPECT_EQ(graph.order().back(), m.function("f19999"));
}

} // namespace
} // namespace melix::core
