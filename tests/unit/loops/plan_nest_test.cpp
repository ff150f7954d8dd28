// From Core text to how its nests run: the notes of the text (plan_notes.h) say it.
#include "loops/plan/plan_nest.h"

#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/plan/plan_notes.h"

#include <gtest/gtest.h>

namespace melix::loops {
namespace {

struct Planned {
  explicit Planned(const std::string& text) {
    EXPECT_EQ(core::parseModule(module, text), "");
    for (const std::string& problem : core::verify(module)) ADD_FAILURE() << problem << "\n" << text;
  }
  /// The notes of a function, line by line.
  std::string notes(std::string_view name = "f") {
    core::PrintOptions options;
    std::string out;
    options.notes = [&out, notes = planNotes(module)](core::FunctionId f, core::RegionId region,
                                                      const auto& text) {
      std::vector<std::string> lines = notes(f, region, text);
      for (const std::string& line : lines) out += line + "\n";
      return lines;
    };
    core::printFunction(module, core::findFunction(module, name), options);
    return out;
  }

  Interner names;
  types::TypeStore types{names};
  core::Module module{types};
};

/// The notes of `%a, … = nest (%i: I, %j: J) -> RESULTS { %v = get %x[%i, %j]  …  yield YIELDS } : TYPES`.
struct Nest {
  std::string results, names, types, yields = "%v", body = "";
  std::string rows = "N", columns = "M";
};
std::string notesOf(const Nest& nest) {
  return Planned("fn f [N, M] (%x: f64[" + nest.rows + ", " + nest.columns +
                 "], %h: f64[M], %t: str) -> () {\n  " + nest.names + " = nest (%i: " + nest.rows + ", %j: " +
                 nest.columns + ") -> " + nest.results + " {\n    %v = get %x[%i, %j] : f64\n    " +
                 nest.body + "\n    yield " + nest.yields + "\n  } : " + nest.types + "\n  yield\n}\n")
      .notes();
}

TEST(PlanNest, WhatIsCollectedHasAParallelLoop) {
  EXPECT_EQ(notesOf({"collect[i, j]", "%y", "f64[N, M]"}), "sweep: %i parallel, %j independent\n");
}

TEST(PlanNest, ASumOfAllPointsIsCutForThePool) {
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, j)", "%s", "f64"}),
            "sweep: independent blocks of %i, %j in strips of 32\n"
            "  blocks in any order, on the pool\n");
}

TEST(PlanNest, OfLanesTheRowAxisComesLast) {
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, i)", "%s", "f64"}),
            "sweep: independent blocks of %j, %i in strips of 32\n"
            "  blocks in any order, on the pool\n");
}

TEST(PlanNest, WhatIsKnownToBeOneBlockIsNotCutFurther) {
  const std::string notes = "sweep: one independent block of %i, %j in strips of 32\n"
                            "  not cut for the pool: all points are one block\n";
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, j)", "%s", "f64", "%v", "", "64", "128"}), notes);
  // One point more, and a row as short as the lanes.
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, j)", "%s", "f64", "%v", "", "257", "32"}),
            "sweep: independent blocks of %i, %j\n"
            "  blocks in any order, on the pool\n");
}

TEST(PlanNest, AnAxisOfOnePointIsNoLoop) {
  EXPECT_EQ(notesOf({"collect[i, j]", "%y", "f64[1, M]", "%v", "", "1"}), "sweep: %i once, %j parallel\n");
}

TEST(PlanNest, RowsAreSummedInsideOfTheirLoop) {
  EXPECT_EQ(notesOf({"keep[i] sum lanes(32, j)", "%s", "f64[N]"}),
            "sweep: %i parallel, independent blocks of %j in strips of 32\n"
            "  not cut for the pool: a reduction keeps axes\n");
}

TEST(PlanNest, ResultsWhoseKeptAxesAreNestedShareASweep) {
  EXPECT_EQ(notesOf({"collect[i, j], keep[i] sum chain, keep[] max", "%y, %s, %m", "f64[N, M], f64[N], f64",
                     "%v, %v, %v"}),
            "sweep: %i independent, independent blocks of %j\n"
            "  not cut for the pool: a reduction keeps axes\n");
}

TEST(PlanNest, RowsAndColumnsHaveASweepEach) {
  EXPECT_EQ(notesOf({"keep[i] sum chain, keep[j] sum chain", "%rows, %columns", "f64[N], f64[M]", "%v, %v"}),
            "sweep 0 gives %rows: %i parallel, independent blocks of %j\n"
            "  not cut for the pool: a reduction keeps axes\n"
            "sweep 1 gives %columns: %j parallel, independent blocks of %i\n"
            "  not cut for the pool: a reduction keeps axes\n"
            "  apart from sweep 0: keeps other axes\n");
}

TEST(PlanNest, TermsInTwoSequencesHaveASweepEach) {
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, j), keep[] sum lanes(32, i), keep[] sum lanes(32, j)",
                     "%a, %b, %c", "f64, f64, f64", "%v, %v, %v"}),
            "sweep 0 gives %a, %c: independent blocks of %i, %j in strips of 32\n"
            "  blocks in any order, on the pool\n"
            "sweep 1 gives %b: independent blocks of %j, %i in strips of 32\n"
            "  blocks in any order, on the pool\n"
            "  apart from sweep 0: in no order of the axes do the terms of both follow each other as they "
            "should\n");
}

TEST(PlanNest, WhatIsExactTakesAnyOrder) {
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, i), keep[] max, keep[] sum", "%s, %m, %n", "f64, f64, i64",
                     "%v, %v, %i"}),
            "sweep: independent blocks of %j, %i in strips of 32\n"
            "  blocks in any order, on the pool\n");
}

TEST(PlanNest, TheBestOfAllIsFoundInTheOrderOfThePoints) {
  EXPECT_EQ(notesOf({"keep[] argmax, keep[] sum lanes(32, i)", "%r, %c, %s", "i64, i64, f64", "%v, %v"}),
            "sweep 0 gives %r, %c: independent blocks of %i, %j\n"
            "  blocks in any order, on the pool\n"
            "sweep 1 gives %s: independent blocks of %j, %i in strips of 32\n"
            "  blocks in any order, on the pool\n"
            "  apart from sweep 0: in no order of the axes do the terms of both follow each other as they "
            "should\n");
}

TEST(PlanNest, EffectsComeInTheOrderOfThePoints) {
  const std::string check = "check divisor \"\" %i";
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, i)", "%s", "f64", "%v", check}),
            "sweep 0 has effects alone: %i parallel, %j independent\n"
            "sweep 1 gives %s: independent blocks of %j, %i in strips of 32\n"
            "  blocks in any order, on the pool\n"
            "  apart from sweep 0: it has the effects, in the order of the points\n");
  EXPECT_EQ(notesOf({"keep[] sum lanes(32, j)", "%s", "f64", "%v", check}),
            "sweep: independent blocks of %i, %j in strips of 32\n"
            "  blocks in any order, on the pool\n");
}

TEST(PlanNest, AccumulatorsTakeTheAxesInTheirOrder) {
  EXPECT_EQ(notesOf({"keep[j] sum chain, collect[i, j] accs (%a = %h)", "%s, %y, %g",
                     "f64[M], f64[N, M], f64[M]", "%v, %v, %b", "%b = add_at %a[%j] += %v : acc f64[M]"}),
            "sweep 0 gives %y, %g: %i in order, %j independent\n"
            "  not cut for the pool: adds in the order of the points\n"
            "sweep 1 gives %s: %j parallel, independent blocks of %i\n"
            "  not cut for the pool: a reduction keeps axes\n"
            "  apart from sweep 0: it adds, and takes the axes in their order\n");
}

TEST(PlanNest, PointsThatAddToPlacesApartAreIndependent) {
  auto loops = [](const std::string& body, const std::string& yields = "%b") {
    const std::string notes = notesOf({"accs (%a = %h)", "%g", "f64[M]", yields, body});
    return notes.substr(0, notes.find('\n'));
  };
  const std::string in = "%w = convert saturate %v : i64\n", to = " += %v : acc f64[M]";
  EXPECT_EQ(loops("%k = add %i, %j : i64\n%b = add_at %a[%k]" + to), "sweep: %i in order, %j independent");
  EXPECT_EQ(loops(in + "%k = add %w, %j : i64\n%b = add_at %a[%k]" + to), "sweep: %i in order, %j in order");
  EXPECT_EQ(loops("%k = mul %j, %j : i64\n%b = add_at %a[%k]" + to), "sweep: %i in order, %j in order");
  EXPECT_EQ(loops("%b = add_at %a[%j]" + to + "\n%c = add_at %b[%i]" + to, "%c"),
            "sweep: %i in order, %j in order");
}

TEST(PlanNest, TurnsThatAddToDifferentMemoryAreParallel) {
  const auto added = [](const std::string& place) {
    return Planned(
               "fn f [N] (%x: i64[N], %h: f64[N]) -> (f64[N]) {\n  %g = nest (%i: N) -> accs (%a = %h) {\n"
               "    %k = get %x[%i] : i64\n    %one = const 1.0 : f64\n    %b = add_at %a[" +
               place + "] += %one : acc f64[N]\n    yield %b\n  } : f64[N]\n  yield %g\n}\n")
        .notes();
  };
  EXPECT_EQ(added("%i").substr(0, 35), "sweep: %i parallel\n  not cut for th");
  EXPECT_EQ(added("%k").substr(0, 35), "sweep: %i in order\n  not cut for th");
}

TEST(PlanNest, AFilterIsCutForThePoolIfElementsOwnNothing) {
  const auto kept = [](const std::string& type) {
    return Planned("fn f [N] (%x: " + type + "[N], %c: bool[N]) -> () {\n" +
                   "  %y = nest (%i: N) -> filter defines [K] {\n    %v = get %x[%i] : " + type +
                   "\n    %k = get %c[%i] : bool\n    yield %k, %v\n  } : " + type + "[K]\n  yield\n}\n")
        .notes();
  };
  EXPECT_EQ(kept("f64"), "sweep: independent blocks of %i\n  blocks in any order, on the pool\n");
  EXPECT_EQ(kept("str"),
            "sweep: %i independent\n  not cut for the pool: a filter keeps elements that own memory\n");
}

TEST(PlanNest, WhatTheProgramCombinesGoesFromTheLeft) {
  EXPECT_EQ(Planned(R"(
fn f [N] (%x: f64[N], %u: f64) -> () {
  %p = nest (%i: N) -> keep[] combine 1 region 1 units (%u) {
    %v = get %x[%i] : f64
    yield %v
  } { (%l: f64, %m: f64)
    yield %m
  } : f64
  yield
}
)")
                .notes(),
            "sweep: %i independent\n"
            "  not cut for the pool: what is reduced is no scalar, or combined by the program\n");
}

TEST(PlanNest, ANestInAnotherIsNotSharedBetweenThreads) {
  EXPECT_EQ(Planned(R"(
fn f [N, M] (%x: f64[N, M]) -> (f64[N]) {
  %y = nest (%i: N) -> collect[i] {
    %s = nest (%j: M) -> keep[] sum chain {
      %v = get %x[%i, %j] : f64
      yield %v
    } : f64
    yield %s
  } : f64[N]
  yield %y
}
)")
                .notes(),
            "result 0 can be written where a caller says\n"
            "sweep: %i parallel\n"
            "sweep: independent blocks of %j\n");
}

TEST(PlanNest, NotesSayWhatIsWrittenInPlace) {
  EXPECT_EQ(Planned(R"(
fn f [N, M] (%x: f64[N, M], %n: i64) -> () {
  %y = nest (%i: N) -> collect[i] {
    %row = get %x[%i] : f64[M]
    yield %row
  } : f64[N, M]
  %z = for collects 1 %n defines [K] { (%k: i64)
    %first = get %x[%k] : f64[M]
    yield %first
  } : f64[K, M]
  yield
}
)")
                .notes(),
            "sweep: %i parallel\n"
            "what %y collects is written there as it is made\n"
            "what %z collects is written there as it is made\n");
}

/// A loop does not run where one further in has nothing to do, unless something that ends in between is kept.
TEST(PlanNest, TheOutermostLoopAsksForTheOthers) {
  const auto asks = [](const std::string& results, const std::string& type) {
    Planned planned("fn f [N, M, K] (%x: f64[N, M, K]) -> () {\n  %y = nest (%i: N, %j: M, %k: K) -> " +
                    results + " {\n    %v = get %x[%i, %j, %k] : f64\n    yield %v\n  } : " + type +
                    "\n  yield\n}\n");
    const core::FunctionId f = core::findFunction(planned.module, "f");
    const core::Function& fn = planned.module.functions[f];
    Layouts layouts(planned.types);
    std::string out;
    const NestPlan plan = planNest(fn, layouts, fn.ops[fn.regions[fn.body].ops[0]], false);
    for (const LevelPlan& level : plan.sweeps[0].levels) out += level.skipsEmptyInner ? '1' : '0';
    return out;
  };
  EXPECT_EQ(asks("collect[i, j, k]", "f64[N, M, K]"), "100");
  EXPECT_EQ(asks("keep[i] max", "f64[N]"), "010");
  EXPECT_EQ(asks("keep[i] sum chain", "f64[N]"), "0"); // the others are in blocks
  EXPECT_EQ(asks("keep[i, j] max", "f64[N, M]"), "000");
}

} // namespace
} // namespace melix::loops
