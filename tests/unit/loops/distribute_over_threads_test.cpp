// How the inner loops of a device's kernel are distributed over a group of threads, and which kernels a
// thread runs.
#include "loops/groups/distribute_over_threads.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel on rows of `%x`: the statements of a point.
std::string kernel(const std::string& point) {
  return "device @k(%b: i64, %e: i64, size %n: i64, %x: data, %y: data) on gpu grid {\n  %0 = const 0 : i64\n"
         "  %1 = const 1 : i64\n  for independent %b, %e { (%i)\n" +
         point + "    yield\n  }\n  yield\n}\n";
}

/// The module of a kernel after the pass, verified.
std::string distributed(const std::string& point) {
  return textAfter(kernel(point), [](Module& module) {
    distributeOverThreads(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

constexpr const char* largest = R"(    %m = for independent %0, %n, %0 : i64 { (%j, %s)
      %v = load %x[%i*%n + %j*%1] : i64
      %r = max %s, %v : i64
      yield %r
    }
    store %y[%i*%1] = %m
)";

TEST(DistributeOverThreads, AReductionIsJoinedByShufflesAndStoredByOneThread) {
  EXPECT_EQ(distributed(largest),
            R"(device @k(%b: i64, %e: i64, size %n: i64, %x: data, %y: data) on gpu grid group 32 {
  %0 = const 0 : i64
  %1 = const 1 : i64
  for independent %b, %e { (%i)
    %2 = thread : i64
    %3 = const 0 : i64
    %4 = cmp eq %2, %3 : bool
    %5 = const 31 : i64
    %6 = sub %n, %2 : i64
    %7 = add %6, %5 : i64
    %8 = const 5 : i64
    %9 = shr %7, %8 : i64
    %10 = const -9223372036854775808 : i64
    %11 = for independent %3, %9, %10 : i64 { (%12, %s)
      %13 = const 32 : i64
      %14 = mul %12, %13 : i64
      %j = add %2, %14 : i64
      %v = load %x[%i*%n + %j*%1] : i64
      %r = max %s, %v : i64
      yield %r
    }
    %15 = shuffle 16 %11 : i64
    %16 = max %11, %15 : i64
    %17 = shuffle 8 %16 : i64
    %18 = max %16, %17 : i64
    %19 = shuffle 4 %18 : i64
    %20 = max %18, %19 : i64
    %21 = shuffle 2 %20 : i64
    %22 = max %20, %21 : i64
    %23 = shuffle 1 %22 : i64
    %24 = max %22, %23 : i64
    %m = max %0, %24 : i64
    barrier
    if %4 {
      store %y[%i*%1] = %m
      yield
    } {
      yield
    }
    yield
  }
  yield
}
)");
}

TEST(DistributeOverThreads, MemoryThatTheThreadsShareIsReadAfterABarrier) {
  const std::string text = distributed(R"(    %t = scratch 512 : address
    %c = const 64 : i64
    for independent %0, %c { (%j)
      %v = load %x[%i*%n + %j*%1] : i64
      store %t[%j*%1] = %v
      yield
    }
    for independent %0, %c { (%g)
      %k = sub %c, %g : i64
      %w = load %t[%k*%1] : i64
      store %y[%i*%n + %g*%1] = %w
      yield
    }
)");
  EXPECT_EQ(count(text, "shared 512 : address"), 1U);
  EXPECT_EQ(count(text, "barrier"), 1U);
  EXPECT_EQ(count(text, "scratch"), 0U);
}

TEST(DistributeOverThreads, AnIterationOfALoopBeginsWhenAllHaveReadWhatItOverwrites) {
  const std::string text = distributed(R"(    %t = scratch 512 : address
    %c = const 64 : i64
    for %0, %n { (%k)
      for independent %0, %c { (%j)
        %v = load %x[%k*%n + %j*%1] : i64
        store %t[%j*%1] = %v
        yield
      }
      %w = load %t : i64
      store %y[%i*%n + %k*%1] = %w
      yield
    }
)");
  const size_t load = text.find("load %t"), store = text.find("store %y");
  EXPECT_EQ(count(text, "barrier"), 2U) << text;
  EXPECT_LT(text.find("barrier"), load) << text;
  EXPECT_GT(text.rfind("barrier"), store) << text;
}

TEST(DistributeOverThreads, PartialSumsBelongToTheThreadOfTheirPlace) {
  const std::string text = distributed(R"(    %t = scratch 512 : address
    %c = const 63 : i64
    for independent distance 64 %1, %n { (%j)
      %v = load %x[%i*%n + %j*%1] : f64
      %k = and %j, %c : i64
      %s = load %t[%k*%1] : f64
      %r = add %s, %v : f64
      store %t[%k*%1] = %r
      yield
    }
)");
  // Iteration 1 is that of thread 1.
  EXPECT_NE(text.find(R"(    %6 = sub %2, %1 : i64
    %7 = and %6, %5 : i64
    %8 = add %1, %7 : i64)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("shared 512"), std::string::npos) << text;
}

TEST(DistributeOverThreads, AWideRowIsSharedByABlock) {
  const std::string text = distributed(R"(    %c = const 5000 : i64
    %m = for independent %0, %c, %0 : i64 { (%j, %s)
      %v = load %x[%i*%n + %j*%1] : i64
      %r = max %s, %v : i64
      yield %r
    }
    store %y[%i*%1] = %m
)");
  EXPECT_NE(text.find("group 256"), std::string::npos) << text;
  EXPECT_EQ(count(text, "shuffle"), 5U);
  EXPECT_EQ(count(text, "shared 64 : address"), 1U);
}

TEST(DistributeOverThreads, AThreadRunsWhatCannotBeShared) {
  const char* points[] = {
      // Neighbours in memory are neighbouring points.
      R"(    %m = for independent %0, %n, %0 : i64 { (%j, %s)
      %v = load %x[%j*%n + %i*%1] : i64
      %r = max %s, %v : i64
      yield %r
    }
    store %y[%i*%1] = %m
)",
      // The order of a sum that rounds.
      R"(    %z = const 0.0 : f64
    %m = for independent %0, %n, %z : f64 { (%j, %s)
      %v = load %x[%i*%n + %j*%1] : f64
      %r = add %s, %v : f64
      yield %r
    }
    store %y[%i*%1] = %m
)",
      // Iterations that need those before them.
      R"(    for %0, %n { (%j)
      %v = load %y[%i*%n + %j*%1] : i64
      store %y[%i*%n + %j*%1] at 8 = %v
      yield
    }
)",
      // One place for all iterations, as of an array of an iteration that lies in scratch.
      R"(    for independent %0, %n { (%j)
      %v = load %x[%i*%n + %j*%1] : i64
      store %y[%i*%1] = %v
      yield
    }
)",
      // Little work.
      R"(    %c = const 8 : i64
    %m = for independent %0, %c, %0 : i64 { (%j, %s)
      %v = load %x[%i*%n + %j*%1] : i64
      %r = max %s, %v : i64
      yield %r
    }
    store %y[%i*%1] = %m
)",
      // A check, which ends a thread.
      R"(    for independent %0, %n { (%j)
      %v = load %x[%i*%n + %j*%1] : i64
      %c = cmp lt %v, %n : bool
      check "is {0}" %c, %v
      store %y[%i*%n + %j*%1] = %v
      yield
    }
)",
      // Too much memory.
      R"(    %t = scratch 65536 : address
    for independent %0, %n { (%j)
      %v = load %x[%i*%n + %j*%1] : i64
      store %t[%j*%1] = %v
      yield
    }
)"};
  for (const char* point : points) EXPECT_EQ(distributed(point), textAfter(kernel(point), [](Module&) {}));
}

/// The problem of a kernel that a group of 32 threads runs.
std::string problemOf(const std::string& point) {
  std::string text = kernel(point);
  text.replace(text.find("grid {"), 6, "grid group 32 {");
  return LoopsText(text).read.error;
}

TEST(DistributeOverThreads, AllThreadsOfAGroupComeToItsStatements) {
  EXPECT_EQ(LoopsText(kernel("    barrier\n")).read.error, "k: `barrier` without a group of threads\n");
  EXPECT_EQ(problemOf("    barrier\n    %t = thread : i64\n    %s = shuffle 16 %t : i64\n"), "");
  EXPECT_EQ(problemOf("    %s = shuffle 32 %i : i64\n"), "k: `shuffle` over 32 threads\n");
  EXPECT_EQ(problemOf("    %s = shuffle 3 %i : i64\n"), "k: `shuffle` over 3 threads\n");
  EXPECT_EQ(problemOf("    %s = shuffle 1 %x : data\n"), "k: `shuffle` of no number\n");
  const std::string unreached = "k: `barrier` that some threads of a group do not reach\n";
  EXPECT_EQ(problemOf(R"(    %t = thread : i64
    %first = cmp eq %t, %0 : bool
    if %first {
      barrier
      yield
    } {
      yield
    }
)"),
            unreached);
  EXPECT_EQ(problemOf(R"(    %t = thread : i64
    for %t, %n { (%j)
      barrier
      yield
    }
)"),
            unreached);
}

} // namespace
} // namespace melix::loops
