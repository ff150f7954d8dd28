// Short loops written out inside of a loop of points, from text.
#include "loops/lanes/unroll_short_loops.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

constexpr double most = 192;

/// The loop over %i once what is short in it is written out; empty if nothing is.
std::string unrolled(const std::string& body, const std::string& ends = "%zero, %n") {
  bool done = false;
  const std::string text = textAfter(
      "fn @f(%n: i64, %v: f32, %x: data, %y: data, %c: bool) {\n  %zero = const 0 : i64\n  %one = "
      "const 1 : i64\n"
      "  %two = const 2 : i64\n  %three = const 3 : i64\n  %many = const 9 : i64\n  for independent " +
          ends + " { (%i)\n" + body + "    yield\n  }\n  yield\n}\n",
      [&](Module& module) {
        Function& fn = module.functions[FunctionId(0)];
        const StmtId loop = fn.regions[fn.body].stmts[5];
        if (!holdsShort(fn, fn.stmts[loop], most)) return;
        const std::optional<RegionId> made = unrollShortLoop(fn, loop, most);
        if (!made) return;
        done = true;
        fn.stmts[loop].regions[0] = *made;
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
  return done ? text : "";
}
size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

const std::string chain = "    %s = for %zero, %three, %v : f32 { (%k, %t)\n"
                          "      %a = load %x[%i*%three + %k*%one] : f32\n      %u = add %t, %a : f32\n"
                          "      yield %u\n    }\n    store %y[%i*%one] = %s\n";

TEST(UnrollShort, EachTurnOnce) {
  const std::string text = unrolled(chain);
  EXPECT_EQ(count(text, "load %x"), 3U) << text;
  EXPECT_EQ(count(text, "for "), 1U);
}

TEST(UnrollShort, LongLoopsStayAndWhatIsShortInThemIsWrittenOut) {
  const std::string text =
      unrolled("    %r = for %zero, %n, %v : f32 { (%j, %w)\n" + chain + "      yield %s\n    }\n");
  EXPECT_EQ(count(text, "for "), 2U) << text;
  EXPECT_EQ(count(text, "load %x"), 3U);
  EXPECT_EQ(unrolled("    %r = for %zero, %many, %v : f32 { (%k, %t)\n      %u = add %t, %v : f32\n"
                     "      yield %u\n    }\n    store %y[%i*%one] = %r\n"),
            "")
      << "nine turns";
}

TEST(UnrollShort, ALoopAroundOneThatStaysStays) {
  const std::string text = unrolled("    %r = for %zero, %three, %v : f32 { (%h, %q)\n"
                                    "      %p = for %zero, %n, %q : f32 { (%j, %w)\n" +
                                    chain + "        yield %s\n      }\n      yield %p\n    }\n");
  EXPECT_EQ(count(text, "for "), 3U) << text;
  EXPECT_EQ(count(text, "load %x"), 3U) << "what is short in both is written out";
}

TEST(UnrollShort, MemoryOfTheFrameBecomesValues) {
  const std::string text =
      unrolled("    %a = scratch 8 : address\n    for independent %zero, %two { (%k)\n"
               "      %b = load %x[%i*%two + %k*%one] : f32\n      store %a[%k*%one] = %b\n"
               "      yield\n    }\n    %d = load %a[%one*%one] : f32\n"
               "    store %y[%i*%one] = %d\n");
  EXPECT_EQ(count(text, "scratch"), 0U) << text;
  EXPECT_EQ(count(text, "store"), 1U);
}

TEST(UnrollShort, ACopyOfItStoresEachValue) {
  const std::string fill = "    %a = frame f32 bytes 8 : data\n    store %a[%zero*%one] = %v\n"
                           "    store %a[%one*%one] = %v\n    %p = address_of %a by 4 : address\n"
                           "    %q = address_of %y[%i*%two] by 4 : address\n    %bytes = const ";
  const std::string text = unrolled(fill + "8 : i64\n    copy %q, %p, %bytes\n    keep_alive %a\n");
  EXPECT_EQ(count(text, "store %y"), 2U) << text;
  EXPECT_EQ(count(text, "copy"), 0U);
  EXPECT_EQ(unrolled(fill + "12 : i64\n    copy %q, %p, %bytes\n    keep_alive %a\n"), "")
      << "more than there is";
}

TEST(UnrollShort, NotWherePlacesInTheFrameAreNotKnown) {
  const std::string made = "    %a = scratch 8 : address\n    store %a[%zero*%one] = %v\n";
  EXPECT_EQ(unrolled(made + "    %d = load %a[%n*%one] : f32\n    store %y[%i*%one] = %d\n"), "");
  EXPECT_EQ(unrolled(made + "    %d = load %a[%one*%one] : f32\n    store %y[%i*%one] = %d\n"), "")
      << "nothing was stored there";
  EXPECT_EQ(
      unrolled(made +
               "    if %c {\n      store %a[%zero*%one] = %v\n      yield\n    } {\n      yield\n    }\n"),
      "");
}

TEST(UnrollShort, BranchesThatAreKnownGo) {
  const std::string text =
      unrolled("    for independent %zero, %two { (%k)\n      %g = cmp eq %k, %zero : bool\n"
               "      if %g {\n        store %y[%i*%one] = %v\n        yield\n      } {\n"
               "        yield\n      }\n      yield\n    }\n");
  EXPECT_EQ(count(text, "if "), 0U) << text;
  EXPECT_EQ(count(text, "store"), 1U);
}

TEST(UnrollShort, OnlyAroundWhatLanesCanDo) {
  EXPECT_EQ(unrolled(chain + "    check \"no\" %c\n"), "");
  EXPECT_EQ(unrolled(chain, "%zero, %three"), "") << "too few turns for lanes";
  EXPECT_EQ(unrolled("    store %y[%i*%one] = %v\n"), "") << "nothing to write out";
}

} // namespace
} // namespace melix::loops
