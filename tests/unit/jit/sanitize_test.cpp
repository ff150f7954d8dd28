// What the address sanitizer must say of programs whose accesses no check guards, wherever the array lies and
// however it is reached: with MELIX_SANITIZE_PROGRAMS, for else nothing looks.
#include "codegen/sanitize.h"
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

class Sanitized : public testing::Test {
protected:
  void SetUp() override {
    if (!codegen::sanitizesPrograms) GTEST_SKIP() << "programs are made without the sanitizer";
  }

  /// All ways to compile must be reported as `what`, but for that of a device, whose memory is none.
  static void expectReport(const std::string& text, const char* what) {
    for (const Way& way : waysToCompile()) {
      if (way.options.addressing.arrays != 0) continue;
      EXPECT_EXIT(
          {
            melix_after_fork();
            Outcome outcome = Program(text).run(way.options);
            std::fputs(outcome.error.c_str(), stderr);
            std::exit(outcome.error.empty() ? 0 : 2);
          },
          testing::ExitedWithCode(1), what)
          << way.name << text;
    }
  }
  static void expectNone(const std::string& text) {
    for (const Way& way : waysToCompile()) {
      Outcome outcome = Program(text).run(way.options);
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.status, MELIX_OK);
    }
  }
};

/// A program that reads an array of `size` elements at `at`, which is known when it runs.
std::string reading(int size, int at) {
  const std::string n = std::to_string(size);
  return "fn main () -> (i64) {\n  %x = nest (%i: " + n + ") -> collect[i] {\n    yield %i\n  } : i64[" + n +
         "]\n  %b = const " + std::to_string(at) +
         " : i64\n  %ats = nest (%j: 100) -> collect[j] {\n    %k = add %j, %b : i64\n    yield %k\n  } : "
         "i64[100]\n"
         "  %zero = const 0 : i64\n  %at = get %ats[%zero] : i64\n  %v = get %x[%at] : i64\n  yield %v\n}\n";
}

TEST_F(Sanitized, ElementsBehindTheEndAreReported) {
  for (int size : {65, 3000, 100'000}) {
    expectReport(reading(size, size), "heap-buffer-overflow");
    expectNone(reading(size, size - 1));
  }
}

TEST_F(Sanitized, WhatStandsInFrontIsReported) {
  expectReport(reading(100, -1), "use-after-poison");
  expectReport(reading(100, -6), "use-after-poison");
}

TEST_F(Sanitized, ArraysOfFramesHaveRoomAround) {
  expectReport(reading(9, 9), "stack-buffer-overflow");
  expectNone(reading(9, 8));
}

/// A program that writes the first `written` elements of an array, one in a turn.
std::string writing(int size, int written) {
  const std::string n = std::to_string(size);
  return std::string(writeEach) + R"(
fn main () -> (i64) {
  %n = const )" +
         std::to_string(written) + " : i64\n  %x = zero : i64[" + n + "]\n  %y = call @fill %x, %n dims [" +
         n + "] : i64[" + n + "]\n  %zero = const 0 : i64\n  %r = get %y[%zero] : i64\n  yield %r\n}\n";
}

TEST_F(Sanitized, WritesAreReported) {
  expectReport(writing(1000, 1001), "heap-buffer-overflow");
  expectNone(writing(1000, 1000));
}

/// A program that sums the first `terms` elements of an array, in lanes.
std::string summing(int size, int terms) {
  const std::string n = std::to_string(size), m = std::to_string(terms);
  return "fn main () -> (i64) {\n  %x = nest (%i: " + n + ") -> collect[i] {\n    yield %i\n  } : i64[" + n +
         "]\n  %s = nest (%k: " + m +
         ") -> keep[] sum {\n    %v = get %x[%k] : i64\n    yield %v\n  } : i64\n"
         "  yield %s\n}\n";
}

TEST_F(Sanitized, RegistersAreReportedAndMasksAreNot) {
  for (int size : {65, 127, 4093}) {
    expectReport(summing(size, size + 1), "buffer-overflow|unknown-crash");
    expectNone(summing(size, size));
  }
}

/// A program that reads a List of five elements, which has room for more.
/// Five elements. A loop that pushed in each iteration would ask for room before it, and fill all of it.
std::string readingList(int at) {
  return R"(
fn main () -> (i64) {
  %n = const 6 : i64
  %one = const 1 : i64
  %e = list : List[i64]
  %r = for collects 0 %n, %e { (%i: i64, %xs: List[i64])
    %c = cmp ge %i, %one : bool
    %zs = if %c {
      %ys = push %xs, %i : List[i64]
      yield %ys
    } {
      yield %xs
    } : List[i64]
    yield %zs
  } : List[i64]
  %at = const )" +
         std::to_string(at) + " : i64\n  %v = get %r<%at> : i64\n  yield %v\n}\n";
}

TEST_F(Sanitized, TheRoomOfAListIsReported) {
  expectReport(readingList(5), "use-after-poison");
  expectReport(readingList(7), "use-after-poison");
  expectNone(readingList(4));
}

} // namespace
} // namespace melix::jit
