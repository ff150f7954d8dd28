// From text: checks of loops that are tested in front of them, and such as stay.
#include "loops/checks/hoist_loop_checks.h"
#include "loops/loops_text.h"

#include <algorithm>

namespace melix::loops {
namespace {

std::string after(std::string_view text) {
  return textAfter(text, [](Module& module) {
    for (uint32_t f = 0; f < module.functions.size(); ++f)
      hoistLoopChecks(module, module.functions[FunctionId(f)]);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}

/// Something to do at each point, beside which a pass over the points is little.
const std::string work =
    "    for %zero, %n { (%p)\n      %p1 = load %x[%p*%one] : i64\n"
    "      %p2 = mul %p1, %p1 : i64\n      %p3 = mul %p2, %p2 : i64\n"
    "      %p4 = mul %p3, %p3 : i64\n      store %y[%p*%one] = %p4\n      yield\n    }\n";

std::string kernel(const std::string& body, const std::string& kind = "kernel") {
  return kind +
         " @f(%first: i64, %last: i64, %n: i64, %x: data, %ids: data, %y: data) {\n"
         "  %one = const 1 : i64\n  %zero = const 0 : i64\n" +
         body + "  yield\n}\n";
}

/// How many checks stand in loops over points, and how many loops over points there are.
std::pair<size_t, size_t> checksAndSweeps(const std::string& text) {
  LoopsText loops(after(text));
  EXPECT_EQ(loops.read.error, "");
  const Function& fn = loops.module().functions[FunctionId(0)];
  size_t checks = 0, sweeps = 0;
  auto walk = [&](auto& self, RegionId region, bool inPoints) -> void {
    for (StmtId id : fn.regions[region].stmts) {
      const Stmt& s = fn.stmts[id];
      const bool points = s.kind == StmtKind::For && s.as<ForAttr>().dependence == Dependence::Independent;
      sweeps += points;
      checks += s.kind == StmtKind::Check && inPoints;
      for (RegionId r : s.regions) self(self, r, inPoints || points);
    }
  };
  walk(walk, fn.body, false);
  return {checks, sweeps};
}

using Counts = std::pair<size_t, size_t>;

/// A loop of points whose body is `body`, which may check `%ok`.
std::string sweep(const std::string& body) {
  return "  for independent %first, %last { (%i)\n" + body + "    yield\n  }\n";
}
const std::string check = "    check \"no {0}\" %ok, %v\n";

TEST(ChecksBefore, AGatherIsTestedByOnePass) {
  EXPECT_EQ(after(kernel(sweep(R"(    %v = load %ids[%i*%one] : i64
    %ok = cmp lt %v, %n : bool
    check "no {0}" %ok, %v
    %e = load %x[%v*%one] : f64
    %t0 = mul %e, %e : f64
    %t1 = mul %t0, %e : f64
    %t2 = mul %t1, %e : f64
    %t3 = mul %t2, %e : f64
    store %y[%i*%one] = %t3
)"))),
            R"(kernel @f(%first: i64, %last: i64, %n: i64, %x: data, %ids: data, %y: data) {
  %one = const 1 : i64
  %zero = const 0 : i64
  %0 = const true : bool
  %1 = for independent %first, %last, %0 : bool { (%2, %3)
    %v = load %ids[%2*%one] : i64
    %ok = cmp lt %v, %n : bool
    %4 = and %3, %ok : bool
    yield %4
  }
  if %1 {
    yield
  } {
    for %first, %last { (%5)
      %v$1 = load %ids[%5*%one] : i64
      %ok$1 = cmp lt %v$1, %n : bool
      check "no {0}" %ok$1, %v$1
      yield
    }
    yield
  }
  for independent %first, %last { (%i)
    %v$2 = load %ids[%i*%one] : i64
    %ok$2 = cmp lt %v$2, %n : bool
    %e = load %x[%v$2*%one] : f64
    %t0 = mul %e, %e : f64
    %t1 = mul %t0, %e : f64
    %t2 = mul %t1, %e : f64
    %t3 = mul %t2, %e : f64
    store %y[%i*%one] = %t3
    yield
  }
  yield
}
)");
}

TEST(ChecksBefore, WhatIsAffineIsTestedAtItsExtremes) {
  const std::string text = kernel(sweep("    %v = mul %i, %n : i64\n    %ok = cmp lt %v, %n : bool\n" +
                                        check + "    store %y[%i*%one] = %v\n"));
  EXPECT_EQ(checksAndSweeps(text), Counts(0, 1));
  const std::string made = after(text);
  // The greatest product, if it does not wrap, or no point.
  EXPECT_NE(made.find("= cmp lt %first, %last : bool"), std::string::npos) << made;
  EXPECT_NE(made.find("idiv"), std::string::npos) << made;
}

TEST(ChecksBefore, IndicesOfLoopsAroundEachOther) {
  auto nest = [&](const std::string& index) {
    return kernel(sweep("    for independent %zero, %n { (%j)\n" + index +
                        "      %ok = cmp lt %v, %n : bool\n" + check +
                        "      store %y[%v*%one] = %j\n      yield\n    }\n" + work));
  };
  EXPECT_EQ(checksAndSweeps(nest("      %v = add %i, %j : i64\n")), Counts(0, 2));
  // Only one of them changes it: the other is not swept.
  EXPECT_EQ(checksAndSweeps(nest("      %v = load %ids[%i*%one] : i64\n")), Counts(0, 3));
  EXPECT_EQ(checksAndSweeps(nest("      %v = load %ids[%j*%one] : i64\n")), Counts(0, 3));
  // Least and greatest are not at points of their own.
  EXPECT_EQ(checksAndSweeps(nest("      %a = sub %j, %i : i64\n      %v = add %i, %a : i64\n")),
            Counts(0, 4));
}

TEST(ChecksBefore, WhatAnEarlierCheckMakesPossibleIsReadAfterIt) {
  const std::string made = after(kernel(sweep(R"(    %u = load %ids[%i*%one] : i64
    %fine = cmp lt %u, %n : bool
    check "first" %fine
    %v = load %ids[%u*%one] : i64
    %ok = cmp lt %v, %n : bool
    check "second" %ok
    store %y[%i*%one] = %v
)" + work)));
  const size_t first = made.find("for independent"), branch = made.find("if "),
               second = made.find("for independent", first + 1);
  EXPECT_LT(first, branch);
  EXPECT_LT(branch, second);
}

TEST(ChecksBefore, AGuardStaysAroundItsCheck) {
  EXPECT_EQ(checksAndSweeps(kernel(sweep("    %v = load %ids[%i*%one] : i64\n"
                                         "    %c = cmp ge %v, %zero : bool\n    if %c {\n"
                                         "      %ok = cmp lt %v, %n : bool\n" +
                                         check +
                                         "      store %y[%v*%one] = %v\n      yield\n    } {\n"
                                         "      yield\n    }\n" +
                                         work))),
            Counts(0, 2));
}

TEST(ChecksBefore, AllChecksOfALoopStayIfOneDoes) {
  const std::string good =
      "    %w = load %ids[%i*%one] : i64\n    %c = cmp lt %w, %n : bool\n    check \"c\" %c\n" + work;
  auto stays = [&](const std::string& body) {
    return checksAndSweeps(kernel(sweep(good + body))) == Counts(2, 1);
  };
  const std::string less = "    %ok = cmp lt %v, %n : bool\n" + check;
  // What the loop writes.
  EXPECT_TRUE(stays("    %v = load %y[%i*%one] : i64\n" + less + "    store %y[%i*%one] = %v\n"));
  // What a loop carries.
  EXPECT_TRUE(stays("    %v = for %zero, %n, %zero : i64 { (%j, %a)\n      %b = add %a, %j : i64\n"
                    "      yield %b\n    }\n" +
                    less));
  // A loop that may not end.
  EXPECT_TRUE(stays("    %v = load %ids[%one*%one] : i64\n    while {\n      %t = cmp lt %v, %n : bool\n"
                    "      yield %t\n    } {\n      yield\n    }\n" +
                    less));
}

TEST(ChecksBefore, LoopsOfFewTurnsStay) {
  auto turns = [&](const std::string& n) {
    return checksAndSweeps(kernel("  %end = const " + n +
                                  " : i64\n  for independent %zero, %end { (%i)\n"
                                  "    %v = load %ids[%i*%one] : i64\n    %ok = cmp lt %v, %n : bool\n" +
                                  check + work + "    yield\n  }\n"));
  };
  EXPECT_EQ(turns("8"), Counts(1, 1));
  EXPECT_EQ(turns("9"), Counts(0, 2));
}

/// Indices that lie side by side are tested in lanes, others cost as much as the loop.
TEST(ChecksBefore, ALoopThatOnlyGathers) {
  const std::string read = "    %e = load %x[%v*%one] : i64\n    store %y[%i*%one] = %e\n";
  EXPECT_EQ(checksAndSweeps(kernel(
                sweep("    %v = load %ids[%i*%one] : i64\n    %ok = cmp lt %v, %n : bool\n" + check + read))),
            Counts(0, 2));
  const std::string gather =
      "    %g = mul %i, %n : i64\n    %v = load %ids[%g*%one] : i64\n    %ok = cmp lt %v, %n : bool\n" +
      check + "    %e = load %x[%v*%one] : i64\n    store %y[%i*%one] = %e\n";
  EXPECT_EQ(checksAndSweeps(kernel(sweep(gather))), Counts(1, 1));
  EXPECT_EQ(checksAndSweeps(kernel(sweep(gather + work))), Counts(0, 2));
}

TEST(ChecksBefore, OutsideOfKernelsOnlyExtremes) {
  auto orchestration = [&](const std::string& v) {
    return checksAndSweeps(
        kernel(sweep(v + "    %ok = cmp lt %v, %n : bool\n" + check + "    store %y[%i*%one] = %v\n"), "fn"));
  };
  EXPECT_EQ(orchestration("    %v = add %i, %n : i64\n"), Counts(0, 1));
  EXPECT_EQ(orchestration("    %v = load %ids[%i*%one] : i64\n"), Counts(1, 1));
}

TEST(ChecksBefore, WhatIsPrintedBeforeAPanicIsPrinted) {
  EXPECT_EQ(checksAndSweeps(kernel(sweep("    %v = add %i, %n : i64\n    %ok = cmp lt %v, %n : bool\n" +
                                         check + "    black_box %x\n"),
                                   "chunk")),
            Counts(1, 1));
}

} // namespace
} // namespace melix::loops
