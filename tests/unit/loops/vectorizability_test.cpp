// Which loops can run in lanes, and which steps give the same in any order, from text.
#include "loops/analysis/vectorizability.h"
#include "loops/lanes/mask_support.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

constexpr const char* callees = R"(
fn @square(%v: f32) -> f32 closed inlined {
  %w = mul %v, %v : f32
  yield %w
}

fn @apart(%v: f32) -> f32 closed {
  %w = mul %v, %v : f32
  yield %w
}

fn @open(%v: f32) -> f32 inlined {
  %w = mul %v, %v : f32
  yield %w
}

fn @again(%v: f32) -> f32 silent {
  %w = call @again %v : f32
  yield %w
}

fn @waits(%v: f32) -> f32 closed {
  %w = while %v : f32 { (%a)
    %g = cmp lt %a, %v : bool
    yield %g
  } { (%b)
    yield %b
  }
  yield %w
}

fn @scratches(%v: f32) -> f32 closed inlined {
  %p = scratch 16 : address
  store %p = %v
  %w = load %p : f32
  yield %w
}
)";

/// A closed function of so many products, which then calls another one.
std::string products(const std::string& name, size_t count, const std::string& callee = "square") {
  std::string text = "\nfn @" + name + "(%v: f32) -> f32 closed {\n";
  for (size_t k = 0; k < count; ++k) text += "  %w" + std::to_string(k) + " = mul %v, %v : f32\n";
  return text + "  %u = call @" + callee + " %v : f32\n  yield %u\n}\n";
}

/// A function with this loop in it, which may have one more parameter.
struct Loop {
  explicit Loop(const std::string& loop, const std::string& more = "%m: i64")
      : loops("fn @f(%n: i64, %w: f32, %c: bool, %x: data, %y: data, %l: data, " + more +
              ") {\n  %one = const 1 : i64\n" + loop + "  yield\n}\n" + callees + products("long", 600) +
              products("longer", 1200) + products("withLong", 300, "long") +
              products("withLongs", 600, "long")) {
    EXPECT_EQ(loops.read.error, "") << loop;
  }
  const Function& fn() { return loops.module().functions[FunctionId(0)]; }
  const Stmt& stmt() { return fn().stmts[fn().regions[fn().body].stmts[1]]; }
  bool widens() { return loops.read.error.empty() && canVectorize(loops.module(), fn(), stmt()); }

  LoopsText loops;
};

bool widens(const std::string& body, const std::string& mark = "independent") {
  return Loop("  for " + mark + " %one, %n { (%i)\n" + body + "    yield\n  }\n").widens();
}

TEST(CanWiden, PointsOfANest) {
  const std::string body = "    %v = load %x[%i*%one] : f32\n    %u = mul %v, %w : f32\n"
                           "    store %y[%i*%one] = %u\n";
  EXPECT_TRUE(widens(body));
  EXPECT_TRUE(widens(body, "independent polls"));
  EXPECT_FALSE(widens(body, ""));
  EXPECT_FALSE(widens(body, "parallel"));
}

TEST(CanWiden, EachPointStoresAtAPlaceOfItsOwn) {
  EXPECT_TRUE(widens("    store %y[%i*%n] = %w\n"));
  EXPECT_TRUE(widens("    %g = load %x[%i*%one] : i64\n    store %y[%g*%one] = %w\n"));
  EXPECT_FALSE(widens("    store %y[%n*%one] = %w\n"));
  EXPECT_FALSE(widens("    %v = load %x[%i*%one] : f32\n    store %y[%n*%one] = %v\n"));
  EXPECT_FALSE(
      widens("    if %c {\n      store %y[%n*%one] = %w\n      yield\n    } {\n      yield\n    }\n"));
}

TEST(CanWiden, BranchesAndLoopsInside) {
  EXPECT_TRUE(widens("    %v = load %x[%i*%one] : f32\n    %g = cmp lt %v, %w : bool\n    if %g {\n"
                     "      store %y[%i*%one] = %v\n      yield\n    } {\n      yield\n    }\n"));
  EXPECT_TRUE(widens("    %k = load %x[%i*%one] : i64\n    switch [0, 1, 0] %k {\n"
                     "      store %y[%i*%one] = %w\n      yield\n    } {\n      yield\n    }\n"));
  EXPECT_TRUE(widens("    %r = while %w : f32 { (%a)\n      %v = load %x[%i*%one] : f32\n"
                     "      %g = cmp lt %a, %v : bool\n      yield %g\n    } { (%b)\n"
                     "      %d = add %b, %b : f32\n      yield %d\n    }\n    store %y[%i*%one] = %r\n"));
  const std::string sum = ", %w : f32 { (%j, %s)\n      %v = load %x[%j*%one] : f32\n"
                          "      %t = add %s, %v : f32\n      yield %t\n    }\n"
                          "    store %y[%i*%one] = %r\n";
  EXPECT_TRUE(widens("    %r = for %one, %n" + sum));
  EXPECT_TRUE(widens("    %r = for independent %one, %i" + sum));
  EXPECT_FALSE(widens("    %r = for %i, %n" + sum)) << "lanes begin at different turns";
  EXPECT_FALSE(widens("    for parallel %one, %n { (%j)\n      yield\n    }\n"));
}

TEST(CanWiden, NoMemoryThatAllLanesWouldShare) {
  EXPECT_FALSE(widens("    %p = scratch 16 : address\n    store %p = %w\n"));
  EXPECT_FALSE(widens("    %a = frame f32 bytes 16 : data\n    store %a[%i*%one] = %w\n"));
  EXPECT_FALSE(widens("    %a = alloc f32 %n : data\n    drop %a\n"));
  EXPECT_FALSE(widens("    %p = address_of %y[%i*%one] by 24 : address\n    zero %p, %n\n"));
}

TEST(CanWiden, NothingIsCountedNorChecked) {
  EXPECT_FALSE(widens("    %v = load %l[%i*%one] : data\n"));
  EXPECT_FALSE(widens("    store %l[%i*%one] borrowed = %x\n"));
  EXPECT_FALSE(widens("    retain %x\n    drop %x\n"));
  EXPECT_FALSE(widens("    %g = cmp lt %i, %n : bool\n    check \"late\" %g\n"));
  EXPECT_FALSE(widens("    %g = cmp lt %i, %n : bool\n    %u = if %g : data {\n      yield %x\n    } {\n"
                      "      yield %y\n    }\n    %v = load %u[%i*%one] : f32\n"))
      << "a block of its own for each lane";
}

TEST(CanWiden, NorIsWhatStandsInBranchesAndLoops) {
  EXPECT_FALSE(widens("    if %c {\n      check \"no\" %c\n      yield\n    } {\n      yield\n    }\n"));
  EXPECT_FALSE(widens("    for %one, %n { (%j)\n      check \"no\" %c\n      yield\n    }\n"));
}

/// A loop that calls a function with an argument, and does more.
Loop calling(const std::string& callee, const std::string& argument, const std::string& more = "") {
  return Loop("  for independent %one, %n { (%i)\n    %v = load %x[%i*%one] : f32\n    %u = call @" + callee +
              " " + argument + " : f32\n" + more + "    store %y[%i*%one] = %u\n    yield\n  }\n");
}
LaneCallKind howLanesCall(const std::string& callee, const std::string& argument) {
  Loop loop = calling(callee, argument);
  const Function& fn = loop.fn();
  const StmtId call = fn.regions[loop.stmt().regions[0]].stmts[1];
  return laneCallOf(loop.loops.module(), fn.stmts[call], Variance(fn, loop.stmt()));
}

TEST(CanWiden, CallsOfWhatHasNoEffect) {
  for (const char* callee : {"square", "apart", "scratches", "again", "waits"})
    EXPECT_TRUE(calling(callee, "%v").widens()) << callee;
  EXPECT_TRUE(calling("again", "%w").widens());
  EXPECT_FALSE(calling("open", "%v").widens());
  EXPECT_FALSE(calling("open", "%w").widens());
}

TEST(CanWiden, TheFirstPanicStaysTheFirst) {
  const std::string again = "    %t = call @again %u : f32\n";
  const std::string waits =
      "    %t = while %u : f32 { (%a)\n      %g = cmp lt %a, %w : bool\n      yield %g\n"
      "    } { (%b)\n      yield %b\n    }\n";
  const std::string end = "      yield\n    }\n";
  EXPECT_TRUE(calling("square", "%v", waits).widens()) << "nothing panics";
  EXPECT_FALSE(calling("again", "%v", again).widens()) << "a later turn might panic in the first call";
  EXPECT_FALSE(calling("again", "%v", waits).widens()) << "a later turn might never come to its end";
  EXPECT_FALSE(calling("square", "%v", "    for %one, %n { (%j)\n" + again + end).widens());
  EXPECT_TRUE(calling("square", "%v", "    if %c {\n" + again + "      yield\n    } {\n" + end).widens());
}

TEST(LaneCall, MergedIfShortElseOneByOne) {
  EXPECT_EQ(howLanesCall("square", "%v"), LaneCallKind::Merged);
  EXPECT_EQ(howLanesCall("apart", "%v"), LaneCallKind::Merged);
  EXPECT_EQ(howLanesCall("waits", "%v"), LaneCallKind::Merged);
  EXPECT_EQ(howLanesCall("long", "%v"), LaneCallKind::Merged);
  EXPECT_EQ(howLanesCall("withLong", "%v"), LaneCallKind::Merged);
  EXPECT_EQ(howLanesCall("longer", "%v"), LaneCallKind::OneByOne);
  EXPECT_EQ(howLanesCall("withLongs", "%v"), LaneCallKind::OneByOne) << "both together are long";
  EXPECT_EQ(howLanesCall("scratches", "%v"), LaneCallKind::OneByOne) << "its memory is one for all lanes";
  EXPECT_EQ(howLanesCall("again", "%v"), LaneCallKind::OneByOne);
  EXPECT_EQ(howLanesCall("again", "%w"), LaneCallKind::Together);
  EXPECT_EQ(howLanesCall("open", "%v"), LaneCallKind::Never);
}

/// The operation and kind of the step by which a loop carries %s of a type, from its body; `%t` is a term.
std::string stepOf(const std::string& type, const std::string& body) {
  Loop loop("  %r = for independent %one, %n, %z : " + type +
                " { (%i, %s)\n    %t = load %x[%i*%one] : " + type + "\n" + body + "  }\n",
            "%z: " + type);
  if (!loop.loops.read.error.empty()) return loop.loops.read.error;
  const auto steps = exactSteps(loop.fn(), loop.stmt());
  EXPECT_EQ(loop.widens(), steps.has_value()) << body;
  if (!steps) return "none";
  const ReassociableStep* step = steps->data();
  return std::string(step->running ? "running " : "") + std::string(ops::opText(step->op)) + " " +
         ValueNames(loop.loops.module(), loop.fn())[step->term] + " " +
         std::string(types::scalarName(step->kind));
}
std::string stepBy(const std::string& op, const std::string& type) {
  return stepOf(type, "    %u = " + op + " %s, %t : " + type + "\n    yield %u\n");
}

TEST(ReassociableStep, OfIntegersAndTruthValuesAndExtremesOfFloats) {
  for (const char* type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
    for (const std::string op : {"add", "mul", "min", "max", "and", "or", "xor"})
      EXPECT_EQ(stepBy(op, type), op + " %t " + type);
  for (const std::string op : {"and", "or", "xor"}) EXPECT_EQ(stepBy(op, "bool"), op + " %t bool");
  for (const char* type : {"f16", "bf16", "f32", "f64"}) {
    for (const char* op : {"add", "mul"}) EXPECT_EQ(stepBy(op, type), "none");
    for (const std::string op : {"min", "max"}) EXPECT_EQ(stepBy(op, type), op + " %t " + type);
  }
  EXPECT_EQ(stepBy("sub", "i64"), "none");
  EXPECT_EQ(stepBy("shl", "i64"), "none");
}

/// A loop that carries the best of %x, whether there is one, and its place, as argmax is lowered; `more` is
/// done beside it.
Loop searching(const std::string& place, const std::string& more = "", const std::string& sign = "gt") {
  return Loop(
      "  %v, %there, %at = for independent %one, %n, %m, %c, %m : i64, bool, i64 { (%i, %best, %has, %p)\n"
      "    %t = add %i, %m : i64\n    %better = cmp " +
      sign +
      " %t, %best : bool\n    %none = not %has : bool\n    %take = or %none, %better : bool\n"
      "    %next = select %take, %t, %best : i64\n    %true = const true : bool\n    %place = select "
      "%take, " +
      place + ", %p : i64\n" + more + "    yield %next, %true, %place\n  }\n");
}

TEST(ReassociableStep, TheBestAndItsPlace) {
  Loop loop = searching("%i");
  EXPECT_TRUE(loop.widens());
  const auto steps = exactSteps(loop.fn(), loop.stmt());
  ASSERT_TRUE(steps.has_value());
  ASSERT_TRUE(steps->at(0).best.has_value());
  EXPECT_EQ(steps->at(0).best->beyond, ops::CmpKind::Gt);
  EXPECT_EQ(steps->at(0).best->isThere, 1U);
  EXPECT_EQ(steps->at(0).best->iteration, 2U);
  EXPECT_TRUE(steps->at(1).along && steps->at(2).along);
  EXPECT_TRUE(searching("%i", "", "lt").widens());
}

TEST(ReassociableStep, NoBestWhereTurnsCannotTellWhichCameFirst) {
  EXPECT_FALSE(searching("%m").widens()) << "no turn";
  EXPECT_FALSE(searching("%i", "", "ge").widens()) << "the last one of equals";
  EXPECT_FALSE(searching("%i", "    store %y[%i*%one] = %best\n").widens())
      << "the turn uses what is carried";
  EXPECT_FALSE(searching("%i", "    store %y[%i*%one] = %place\n").widens());
  EXPECT_FALSE(searching("%i", "    store %y[%i*%one] = %take\n").widens());
}

TEST(ReassociableStep, ATermThatIsCarriedTooIsARecurrence) {
  Loop loop(
      "  %r, %q = for independent %one, %n, %m, %m : i64, i64 { (%i, %s, %t)\n    %u = add %s, %t : i64\n"
      "    store %y[%i*%one] = %u\n    yield %u, %u\n  }\n");
  EXPECT_FALSE(exactSteps(loop.fn(), loop.stmt()));
}

TEST(ReassociableStep, TheValueFromTheTurnBeforeIsUsedByTheStepAlone) {
  EXPECT_EQ(stepOf("i32", "    %u = add %t, %s : i32\n    yield %u\n"), "add %t i32") << "from either side";
  EXPECT_EQ(stepOf("i32", "    %u = add %s, %s : i32\n    yield %u\n"), "none");
  EXPECT_EQ(stepOf("i32", "    %u = add %s, %t : i32\n    store %y[%i*%one] = %s\n    yield %u\n"), "none");
  EXPECT_EQ(stepOf("i32", "    %u = add %s, %t : i32\n    store %y[%i*%one] = %u\n    yield %u\n"),
            "running add %t i32");
  EXPECT_EQ(stepOf("i32",
                   "    %u = add %s, %t : i32\n    if %c {\n      store %y[%i*%one] = %s\n      yield\n"
                   "    } {\n      yield\n    }\n    yield %u\n"),
            "none");
  EXPECT_EQ(stepOf("i32", "    %u = add %t, %t : i32\n    yield %u\n"), "none") << "the last turn's";
  EXPECT_EQ(stepOf("i32", "    yield %s\n"), "none");
  EXPECT_EQ(stepOf("i32", "    %u = if %c : i32 {\n      %v = add %s, %t : i32\n      yield %v\n    } {\n"
                          "      yield %t\n    }\n    yield %u\n"),
            "none");
}

TEST(ReassociableStep, EveryValueCarriedHasToBeOne) {
  auto both = [](const std::string& second) {
    return Loop("  %r, %v = for independent %one, %n, %one, %w : i64, f32 { (%i, %s, %t)\n"
                "    %u = add %s, %i : i64\n    %p = " +
                second + " %t, %w : f32\n    yield %u, %p\n  }\n")
        .widens();
  };
  EXPECT_FALSE(both("add"));
  EXPECT_TRUE(both("max"));
}

TEST(Lanes, TheVerifierFindsTurnsThatCannotRunTogether) {
  auto problemOf = [](const std::string& loop, const std::string& place) {
    LoopsText loops("fn @f(%n: i64, %y: data) {\n  %one = const 1 : i64\n  for independent " + loop +
                    " %one, %n { (%i)\n    store %y[" + place + "*%one] = %n\n    yield\n  }\n  yield\n}\n");
    return loops.read.error;
  };
  EXPECT_EQ(problemOf("vector 8", "%i"), "");
  EXPECT_NE(problemOf("vector 8", "%n").find("side by side"), std::string::npos) << "all store at one place";
  EXPECT_EQ(problemOf("distance 32 vector 8 interleave 4", "%i"), "");
  EXPECT_NE(problemOf("distance 32 vector 8 interleave 8", "%i").find("64 iterations together"),
            std::string::npos);
  EXPECT_NE(problemOf("distance 2 unroll_jam 4", "%i").find("4 iterations together"), std::string::npos);
}

TEST(CanMask, WhatTheProcessorReadsAndWritesWithoutSomeLanes) {
  auto can = [](MaskKind masks, const std::string& type, const std::string& stride = "%one") {
    Loop loop("  for independent %one, %n { (%i)\n    if %c {\n      %v = load %x[%i*%one] : " + type +
              "\n      store %y[%i*" + stride +
              "] = %v\n      yield\n    } {\n      yield\n    }\n    yield\n  }\n");
    return canMask({"", 256, 16, masks}, loop.fn(), loop.stmt());
  };
  for (const char* type : {"i8", "i16", "f32", "i64"}) {
    EXPECT_FALSE(can(MaskKind::None, type)) << type;
    EXPECT_TRUE(can(MaskKind::Registers, type)) << type;
  }
  EXPECT_FALSE(can(MaskKind::Values, "i8"));
  EXPECT_FALSE(can(MaskKind::Values, "i16"));
  EXPECT_TRUE(can(MaskKind::Values, "f32"));
  EXPECT_TRUE(can(MaskKind::Values, "i64"));
  EXPECT_FALSE(can(MaskKind::Values, "f32", "%n")) << "it scatters lane by lane";
  EXPECT_TRUE(can(MaskKind::Registers, "f32", "%n"));
}

} // namespace
} // namespace melix::loops
