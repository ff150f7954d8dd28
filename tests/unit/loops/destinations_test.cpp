// Which arrays are written where they go, from Core text.
#include "loops/layout/destinations.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "core/text/parse.h"

#include <gtest/gtest.h>

namespace melix::loops {
namespace {

struct Placed {
  explicit Placed(const std::string& text) {
    EXPECT_EQ(core::parseModule(module, text), "");
    for (const std::string& problem : core::verify(module)) ADD_FAILURE() << problem;
  }
  bool writes(std::string_view function, uint32_t k = 0) {
    return placements.writesResult(core::findFunction(module, function), k);
  }
  /// The kind of op that makes what is written for the first value that the body of `main` yields.
  std::string writtenBy() {
    const core::FunctionId f = core::findFunction(module, "main");
    const core::Function& fn = module.functions[f];
    const core::Uses uses(module, f);
    const core::ValueId v =
        placements.writtenFor(fn, uses, core::terminator(fn, fn.body).operands[0], fn.body);
    return v.valid() ? std::string(ops::opText(fn.ops[fn.values[v].def].kind)) : "";
  }

  Interner names;
  types::TypeStore types{names};
  core::Module module{types};
  Placements placements{module};
};

std::string mainOf(const std::string& body) {
  return "fn main [N, M] (%x: f64[N, M], %n: i64, %k: i64) -> (f64[N]) {\n" + body + "}\n";
}
const std::string rows = R"(
fn rows [N] (%x: f64[N]) -> (f64[N]) {
  %y = nest (%i: N) -> collect[i] {
    %v = get %x[%i] : f64
    yield %v
  } : f64[N]
  yield %y
}
)";

TEST(Placements, NestsLoopsAndCopiesWriteWhereTheyAreTold) {
  EXPECT_EQ(Placed(mainOf("  %y = nest (%i: N) -> collect[i] {\n    %v = get %x[%i, %k] : f64\n    yield %v\n"
                          "  } : f64[N]\n  yield %y\n"))
                .writtenBy(),
            "nest");
  EXPECT_EQ(Placed(mainOf("  %y = get %x[:, %k] : f64[N]\n  yield %y\n")).writtenBy(), "get");
  EXPECT_EQ(Placed("fn main (%n: i64) -> (i64[K]) defines [K] {\n"
                   "  %s = for collects 1 %n defines [K] { (%i: i64)\n    yield %i\n  } : i64[K]\n"
                   "  yield %s dims [K]\n}\n")
                .writtenBy(),
            ""); // its size is found by the loop itself
}

TEST(Placements, LiteralsOfScalarsWriteWhereTheyAreTold) {
  EXPECT_TRUE(
      Placed("fn pair (%x: f64, %y: f64) -> (f64[2]) {\n  %p = array %x, %y : f64[2]\n  yield %p\n}\n")
          .writes("pair"));
  EXPECT_FALSE(
      Placed("fn names (%x: str) -> (str[1]) {\n  %p = array %x : str[1]\n  yield %p\n}\n").writes("names"));
}

TEST(Placements, WhatIsUsedOnceMoreIsMadeForItself) {
  EXPECT_EQ(
      Placed(mainOf("  %y = get %x[:, %k] : f64[N]\n  %z = get %y[%k] : f64\n  yield %y\n")).writtenBy(), "");
}

TEST(Placements, AValueThatComesInIsNotMadeHere) {
  EXPECT_FALSE(Placed("fn same [N] (%x: f64[N]) -> (f64[N]) {\n  yield %x\n}\n").writes("same"));
}

TEST(Placements, ACallWritesWhatItsCalleeCan) {
  Placed placed(rows + R"(
fn main [N] (%x: f64[N]) -> (f64[N]) {
  %y = call @rows %x dims [N] : f64[N]
  yield %y
}
)");
  EXPECT_TRUE(placed.writes("rows"));
  EXPECT_TRUE(placed.writes("main"));
  EXPECT_EQ(placed.writtenBy(), "call");
}

TEST(Placements, AFunctionThatCallsItselfReturnsItsMemory) {
  Placed placed(R"(
fn again [N] (%x: f64[N]) -> (f64[N]) {
  %y = call @again %x dims [N] : f64[N]
  yield %y
}
)");
  EXPECT_FALSE(placed.writes("again"));
}

TEST(Placements, EachResultIsAskedByItself) {
  Placed placed(R"(
fn both [N] (%x: f64[N], %p: i64) -> (f64[N], f64[N], f64) {
  %y, %s = nest (%i: N) -> collect[i], keep[] max {
    %v = get %x[%i] : f64
    yield %v, %v
  } : f64[N], f64
  yield %y, %x, %s
}
)");
  EXPECT_TRUE(placed.writes("both", 0));
  EXPECT_FALSE(placed.writes("both", 1));
  EXPECT_FALSE(placed.writes("both", 2));
}

TEST(Placements, AFilterFindsItsSize) {
  Placed placed(R"(
fn some [N] (%x: f64[N], %c: bool[N]) -> (f64[K]) defines [K] {
  %y = nest (%i: N) -> filter defines [K] {
    %v = get %x[%i] : f64
    %b = get %c[%i] : bool
    yield %b, %v
  } : f64[K]
  yield %y dims [K]
}
)");
  EXPECT_FALSE(placed.writes("some"));
}

} // namespace
} // namespace melix::loops
