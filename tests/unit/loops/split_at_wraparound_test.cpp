// Loops that wrap their index, and quotients in front of loops, from text.
#include "loops/index_sets/split_at_wraparound.h"

#include "loops/index_sets/hoist_integer_division.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

template <class Pass>
std::string kernelAfter(const std::string& before, Pass pass) {
  return textAfter(before, [&](Module& module) {
    pass(module.functions[FunctionId(0)]);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}

/// A loop over points that reads at %r.
std::string kernel(const std::string& body, const std::string& ends = "%a, %b") {
  const bool isLong = ends.find("%long") != std::string::npos;
  const std::string longEnd = isLong ? "  %long = const 64 : i64\n" : "";
  return "kernel @f(%a: i64, %b: i64, %c: i64, %n: i64, %x: data, %y: data) {\n  %one = const 1 : i64\n"
         "  %few = const 8 : i64\n  %many = const 9 : i64\n" +
         longEnd + "  for independent " + ends + " { (%i)\n" + body +
         "    %v = load %x[%r*%one] : f64\n    store %y[%i*%one] = %v\n    yield\n  }\n  yield\n}\n";
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// How many remainders are left inside of the pieces; -1 if the loop is whole.
int leftInPieces(const std::string& body, const std::string& ends = "%a, %b") {
  const std::string after = kernelAfter(kernel(body, ends), splitAtWraparound);
  if (count(after, "while") == 0) return -1;
  return static_cast<int>(count(after.substr(after.find("for independent")), "irem"));
}

TEST(SplitWrapped, APieceEndsWhereTheRemainderWraps) {
  EXPECT_EQ(kernelAfter(kernel("    %s = add %i, %c : i64\n    %r = irem %s, %n : i64\n"), splitAtWraparound),
            R"(kernel @f(%a: i64, %b: i64, %c: i64, %n: i64, %x: data, %y: data) {
  %one = const 1 : i64
  %few = const 8 : i64
  %many = const 9 : i64
  %0 = const 0 : i64
  %1, %2 = while %a, %0 : i64, i64 { (%3, %4)
    %5 = cmp lt %3, %b : bool
    yield %5
  } { (%6, %7)
    %8 = cmp eq %6, %a : bool
    %9 = add %6, %c : i64
    %10 = const -9223372036854775808 : i64
    %11 = cmp eq %9, %10 : bool
    %12 = const 1 : i64
    %13 = cmp lt %n, %12 : bool
    %14 = or %11, %13 : bool
    %15 = or %8, %14 : bool
    %16 = if %15 : i64 {
      %17 = irem %9, %n : i64
      yield %17
    } {
      yield %7
    }
    %18 = sub %n, %16 : i64
    %19 = const 0 : i64
    %20 = max %9, %19 : i64
    %21 = const 9223372036854775807 : i64
    %22 = sub %21, %20 : i64
    %23 = min %18, %22 : i64
    %24 = max %23, %12 : i64
    %25 = add %6, %24 : i64
    %26 = cmp lt %25, %b : bool
    %27 = cmp gt %25, %6 : bool
    %28 = and %27, %26 : bool
    %29 = select %28, %25, %b : i64
    %30 = sub %16, %6 : i64
    for independent %6, %29 { (%i)
      %s = add %i, %c : i64
      %r = add %30, %i : i64
      %v = load %x[%r*%one] : f64
      store %y[%i*%one] = %v
      yield
    }
    %31 = sub %29, %6 : i64
    %32 = add %16, %31 : i64
    %33 = cmp eq %32, %n : bool
    %34 = select %33, %19, %32 : i64
    yield %29, %34
  }
  yield
}
)");
}

TEST(SplitWrapped, TheIndexMayRiseOrFallByOne) {
  EXPECT_EQ(leftInPieces("    %r = irem %i, %n : i64\n"), 0);
  EXPECT_EQ(leftInPieces("    %s = sub %i, %c : i64\n    %r = irem %s, %n : i64\n"), 0);
  EXPECT_EQ(leftInPieces("    %s = sub %c, %i : i64\n    %r = irem %s, %n : i64\n"), 0);
  EXPECT_EQ(leftInPieces("    %d = mul %c, %n : i64\n    %e = neg %i : i64\n    %s = add %d, %e : i64\n"
                         "    %r = irem %s, %n : i64\n"),
            0);
  EXPECT_EQ(leftInPieces("    %s = add %i, %i : i64\n    %r = irem %s, %n : i64\n"), -1);
  EXPECT_EQ(leftInPieces("    %s = mul %i, %c : i64\n    %r = irem %s, %n : i64\n"), -1);
  EXPECT_EQ(leftInPieces("    %r = irem %c, %i : i64\n"), -1);
  EXPECT_EQ(leftInPieces("    %r = irem %c, %n : i64\n"), -1);
}

TEST(SplitWrapped, OtherIntegersAndWhatChangesOtherwiseStay) {
  EXPECT_EQ(leftInPieces("    %t = convert wrap %i : i32\n    %m = convert wrap %n : i32\n"
                         "    %s = irem %t, %m : i32\n    %r = convert wrap %s : i64\n"),
            -1);
  EXPECT_EQ(leftInPieces("    %w = load %x[%i*%one] : i64\n    %s = add %i, %w : i64\n"
                         "    %r = irem %s, %n : i64\n"),
            -1);
}

TEST(SplitWrapped, ASmallConstantIsNoReason) {
  EXPECT_EQ(leftInPieces("    %r = irem %i, %few : i64\n"), -1);
  EXPECT_EQ(leftInPieces("    %r = irem %i, %many : i64\n"), 0);
  EXPECT_EQ(leftInPieces("    %s = irem %i, %few : i64\n    %t = irem %i, %n : i64\n"
                         "    %r = add %s, %t : i64\n"),
            1);
  EXPECT_EQ(leftInPieces("    %r = irem %i, %n : i64\n", "%one, %long"), 0);
  EXPECT_EQ(leftInPieces("    %r = irem %i, %n : i64\n", "%one, %one"), -1);
}

TEST(SplitWrapped, ARemainderOfARemainder) {
  const std::string body = "    %s = irem %i, %c : i64\n    %t = add %s, %one : i64\n"
                           "    %r = irem %t, %n : i64\n";
  EXPECT_EQ(leftInPieces(body), 0);
  // The outer one is divided anew in every piece: in front of it stands a wrap of the inner one.
  const std::string after = kernelAfter(kernel(body), splitAtWraparound);
  EXPECT_EQ(count(after, "irem"), 2u);
  EXPECT_EQ(count(after, "if "), 1u);
}

TEST(SplitWrapped, OnlyLoopsWithoutLoopsInside) {
  const std::string body = "    %r = irem %i, %n : i64\n    for independent %a, %b { (%j)\n"
                           "      store %y[%j*%one] = %one\n      yield\n    }\n";
  EXPECT_EQ(leftInPieces(body), -1);
}

TEST(SplitWrapped, WhatIsCarriedGoesThroughThePieces) {
  const std::string before = R"(fn @f(%n: i64, own %x: data) -> i64, data {
  %zero = const 0 : i64
  %s, %t = for %zero, %n, %zero, %x : i64, data { (%i, %sum, %held)
    %r = irem %i, %n : i64
    %u = ensure_unique %held : data
    %next = add %sum, %r : i64
    yield %next, %u
  }
  yield %s, %t
}
)";
  const std::string after = kernelAfter(before, splitAtWraparound);
  EXPECT_EQ(count(after, "while %zero, %zero, %x, "), 1u) << after;
  EXPECT_EQ(count(after, "yield %s, %t\n}"), 1u) << after;
}

/// Whether a loop with this quotient is split, and no iteration divides then.
bool isSplitQuotient(const std::string& quotient) {
  const std::string after = kernelAfter(kernel(quotient), splitAtWraparound);
  const bool isSplit = count(after, "while") > 0;
  if (isSplit) EXPECT_EQ(count(after.substr(after.find("for independent")), "idiv"), 0u) << after;
  return isSplit;
}

TEST(SplitWrapped, AQuotientByALongConstantIsTheSameInAPiece) {
  EXPECT_TRUE(isSplitQuotient("    %s = add %i, %c : i64\n    %r = idiv %s, %many : i64\n"));
  EXPECT_TRUE(isSplitQuotient("    %s = sub %c, %i : i64\n    %r = idiv %s, %many : i64\n"));
}

TEST(SplitWrapped, QuotientsThatCostLessThanAPieceStay) {
  EXPECT_FALSE(isSplitQuotient("    %r = idiv %i, %few : i64\n"));                        // short
  EXPECT_FALSE(isSplitQuotient("    %k = const 16 : i64\n    %r = idiv %i, %k : i64\n")); // a shift
  EXPECT_FALSE(isSplitQuotient("    %r = idiv %i, %n : i64\n")); // maybe 1: a piece for each point
}

TEST(HoistQuotients, WhatIsTheSameInAllTurns) {
  EXPECT_EQ(kernelAfter(kernel("    %s = add %c, %few : i64\n    %t = irem %s, %n : i64\n"
                               "    %q = idiv %i, %n : i64\n    %w = add %q, %c : i64\n"
                               "    %k = cmp lt %i, %c : bool\n    %r = if %k : i64 {\n"
                               "      %d = const 7 : i64\n      %e = idiv %n, %d : i64\n"
                               "      yield %e\n    } {\n      yield %t\n    }\n"),
                        hoistIntegerDivision),
            R"(kernel @f(%a: i64, %b: i64, %c: i64, %n: i64, %x: data, %y: data) {
  %one = const 1 : i64
  %few = const 8 : i64
  %many = const 9 : i64
  %s = add %c, %few : i64
  %t = irem %s, %n : i64
  %d = const 7 : i64
  %e = idiv %n, %d : i64
  for independent %a, %b { (%i)
    %q = idiv %i, %n : i64
    %w = add %q, %c : i64
    %k = cmp lt %i, %c : bool
    %r = if %k : i64 {
      yield %e
    } {
      yield %t
    }
    %v = load %x[%r*%one] : f64
    store %y[%i*%one] = %v
    yield
  }
  yield
}
)");
}

TEST(HoistQuotients, WhereTheIndexCancelsOut) {
  for (const char* body :
       {"    %s = sub %c, %i : i64\n    %t = add %s, %i : i64\n    %r = irem %t, %n : i64\n",
        "    %s = irem %i, %n : i64\n    %t = sub %s, %i : i64\n    %r = idiv %t, %n : i64\n"}) {
    const std::string before = kernel(body);
    EXPECT_EQ(kernelAfter(before, hoistIntegerDivision), before);
  }
}

} // namespace
} // namespace melix::loops
