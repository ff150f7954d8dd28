// Accesses that lanes do by rows, from text.
#include "loops/lanes/interleaved_accesses.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// The groups in a loop over %i, each by its kind, its row and its columns: `load 3: 0 2`.
std::string groups(const std::string& body) {
  LoopsText loops("fn @f(%n: i64, %v: f32, %x: data, %y: data, %c: bool) {\n  %zero = const 0 : i64\n"
                  "  %one = const 1 : i64\n  %two = const 2 : i64\n  %three = const 3 : i64\n"
                  "  %five = const 5 : i64\n  for independent %zero, %n { (%i)\n" +
                  body +
                  "    yield\n  }\n  yield\n}\n"
                  "fn @closed(%a: f32) -> f32 closed {\n  yield %a\n}\n"
                  "fn @writes(%a: f32, %p: address) -> f32 closed {\n  %zero = const 0 : i64\n"
                  "  store %p[%zero*%zero] = %a\n  yield %a\n}\n"
                  "fn @panics(%a: f32) -> f32 silent {\n  yield %a\n}\n");
  EXPECT_EQ(loops.read.error, "");
  if (!loops.read.error.empty()) return "";
  const Function& fn = loops.module().functions[FunctionId(0)];
  const Stmt& loop = fn.stmts[fn.regions[fn.body].stmts[5]];
  const Variance variance(fn, loop);
  LaneStrides strides(fn, variance, fn.regions[loop.regions[0]].params[0]);
  std::string out;
  for (const LaneGroup& g : laneGroups(loops.module(), fn, loop.regions[0], strides)) {
    out += (out.empty() ? "" : "; ") + std::string(g.kind == StmtKind::Load ? "load " : "store ") +
           std::to_string(g.row) + ":";
    for (const LaneGroup::Member& m : g.members) out += " " + std::to_string(m.column);
  }
  return out;
}
std::string load(const std::string& place, const std::string& of = "%x") {
  static int count = 0;
  return "    %l" + std::to_string(count++) + " = load " + of + "[" + place + "] : f32\n";
}
std::string store(const std::string& place, const std::string& to = "%y") {
  return "    store " + to + "[" + place + "] = %v\n";
}

TEST(LaneGroups, ColumnsOfARow) {
  EXPECT_EQ(groups(load("%i*%three + %two*%one") + load("%i*%three + %zero*%one")), "load 3: 2 0");
  EXPECT_EQ(groups(load("%i*%two") + load("%i*%three")), "load 2: 0; load 3: 0");
  EXPECT_EQ(groups("    %j = mul %i, %two : i64\n    %k = add %j, %one : i64\n" + load("%k*%one")),
            "load 2: 0");
  EXPECT_EQ(
      groups("    %p = load %x[%i*%one] by 12 at 4 : f32\n    %q = load %x[%i*%one] by 12 at 8 : f32\n"),
      "load 3: 0 1")
      << "fields of structs";
}

TEST(LaneGroups, NotWhatLiesSideBySideOrFarApart) {
  EXPECT_EQ(groups(load("%i*%one") + load("%i*%n") + load("%n*%one")), "");
  EXPECT_EQ(groups("    %far = const 17 : i64\n" + load("%i*%far")), "");
  EXPECT_EQ(groups("    %p = load %x[%i*%one] by 6 : f32\n"), "") << "rows of one and a half";
}

TEST(LaneGroups, ColumnsFurtherApartThanARowAreAnother) {
  EXPECT_EQ(groups(load("%i*%three + %zero*%one") + load("%i*%three + %five*%one")), "load 3: 0; load 3: 0");
}

TEST(LaneGroups, StoresOfWholeRows) {
  const std::string first = store("%i*%two + %zero*%one"), second = store("%i*%two + %one*%one");
  EXPECT_EQ(groups(first + second), "store 2: 0 1");
  EXPECT_EQ(groups(second + load("%i*%two") + first), "store 2: 1 0; load 2: 0");
  EXPECT_EQ(groups(first), "") << "the other column is not stored";
  EXPECT_EQ(groups(first + first + second), "store 2: 0 1") << "from the second one on";
}

TEST(LaneGroups, NothingPassesWhatMayReachTheSameMemory) {
  const std::string first = store("%i*%two + %zero*%one"), second = store("%i*%two + %one*%one");
  EXPECT_EQ(groups(first + load("%i*%two", "%y") + second), "load 2: 0");
  EXPECT_EQ(groups(load("%i*%two", "%y") + first + load("%i*%two + %one*%one", "%y")),
            "load 2: 0; load 2: 0");
  const std::string branch = "    if %c {\n      yield\n    } {\n      yield\n    }\n";
  EXPECT_EQ(groups(first + branch + second), "");
}

TEST(LaneGroups, PassCallsOfWhatKnowsNoMemory) {
  const std::string load1 = load("%i*%two"), load2 = load("%i*%two + %one*%one");
  const std::string store1 = store("%i*%two + %zero*%one"), store2 = store("%i*%two + %one*%one");
  EXPECT_EQ(groups(load1 + "    %r = call @closed %v : f32\n" + load2), "load 2: 0 1");
  EXPECT_EQ(groups(store1 + "    %r = call @closed %v : f32\n" + store2), "store 2: 0 1");
  EXPECT_EQ(groups(load1 + "    %r = call @panics %v : f32\n" + load2), "load 2: 0; load 2: 0");
  const std::string address = "    %p = pointer_of %y : address\n";
  EXPECT_EQ(groups(address + load1 + "    %r = call @writes %v, %p : f32\n" + load2), "load 2: 0; load 2: 0");
}

} // namespace
} // namespace melix::loops
