// Loops that programs write: which of them are of points, and what they need not copy, from text.
#include "loops/lanes/mark_independent_loops.h"
#include "loops/lanes/reverse_loops.h"
#include "loops/loops_text.h"
#include "loops/ownership/drop_invariant_carries.h"
#include "loops/ownership/elide_overwritten_copies.h"

namespace melix::loops {
namespace {

template <class Pass>
std::string after(const std::string& body, Pass pass) {
  const std::string text =
      textAfter("fn @f(%n: i64, %c: bool, %one: i64, %x: data, own %y: data) -> data {\n" + body + "}\n",
                [&](Module& module) {
                  pass(module.functions[FunctionId(0)]);
                  EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                });
  return text.substr(text.find('\n') + 1);
}

/// Whether a loop that stores to %y is marked.
bool isMarked(const std::string& body, const std::string& carried = "i64") {
  const std::string text = after("  %1 = const 1 : i64\n  %r = for polls %1, %n, %1 : " + carried +
                                     " { (%i, %s)\n" + body + "  }\n  yield %y\n",
                                 markIndependentLoops);
  return text.find("for independent polls") != std::string::npos;
}

TEST(MarkPoints, OfARunningTotal) {
  const std::string sum = "    %t = load %x[%i*%1] : i64\n    %u = add %s, %t : i64\n";
  const std::string yield = "    yield %u\n";
  EXPECT_TRUE(isMarked(sum + "    store %y[%i*%1] = %u\n" + yield));
  EXPECT_FALSE(isMarked(sum + "    store %y[%i*%1] = %t\n" + yield)) << "a nest, if it could be one";
  EXPECT_FALSE(isMarked(sum + "    store %y[%i*%1] = %u\n    yield %t\n"));
  EXPECT_TRUE(isMarked(sum + "    %j = sub %i, %n : i64\n    store %y[%j*%1] = %u\n" + yield));
  EXPECT_TRUE(isMarked(
      sum + "    if %c {\n      store %y[%i*%1] = %u\n      yield\n    } {\n      yield\n    }\n" + yield));
}

TEST(MarkPoints, NoTurnReachesWhatAnotherStores) {
  const std::string sum = "    %t = load %x[%i*%1] : i64\n    %u = add %s, %t : i64\n";
  auto stores = [&](const std::string& index, const std::string& place, const std::string& more = "") {
    return isMarked(sum + index + more + "    store %y[" + place + "] = %u\n    yield %u\n");
  };
  EXPECT_FALSE(stores("", "%n*%1")) << "one place";
  EXPECT_FALSE(stores("", "%t*%1")) << "any place";
  EXPECT_FALSE(stores("    %j = mul %i, %n : i64\n", "%j*%1"));
  EXPECT_FALSE(stores("", "%i*%n")) << "perhaps one place";
  EXPECT_TRUE(stores("", "%n*%n + %i*%1"));
  EXPECT_TRUE(stores("", "%i*%1", "    %w = load %y[%i*%1] : i64\n"));
  EXPECT_FALSE(stores("    %j = sub %i, %one : i64\n", "%i*%1", "    %w = load %y[%j*%1] : i64\n"));
}

/// What a loop adds to an accumulator, which it reaches by a pointer.
std::string adding(const std::string& index, const std::string& added = "load %x[%j*%1] : i64") {
  return "  %1 = const 1 : i64\n  %p = pointer_of %y : address\n  for %1, %n { (%i)\n" + index +
         "    %t = " + added +
         "\n    %u = load %p[%j*%1] : i64\n    %w = add %u, %t : i64\n    store %p[%j*%1] = %w\n    yield\n  "
         "}\n"
         "  yield %y\n";
}

TEST(MarkPoints, OfWhatIsAddedToAnAccumulator) {
  auto isPoints = [](const std::string& body) {
    return after(body, markIndependentLoops).find("for independent") != std::string::npos;
  };
  EXPECT_TRUE(isPoints(adding("    %j = add %i, %one : i64\n")));
  EXPECT_TRUE(isPoints(adding("    %j = sub %one, %i : i64\n"))) << "backwards";
  EXPECT_FALSE(isPoints(adding("    %j = load %x[%i*%1] : i64\n"))) << "perhaps one place";
  EXPECT_FALSE(isPoints(adding("    %j = sub %i, %i : i64\n")));
  EXPECT_FALSE(isPoints(adding("    %j = add %i, %one : i64\n", "load %y[%i*%1] : i64")))
      << "the block itself";
}

TEST(TurnAround, LoopsThatGoBackwards) {
  auto turned = [](const std::string& body) {
    const std::string text = after(body, [](Function& fn) {
      markIndependentLoops(fn);
      reverseLoops(fn);
    });
    return text.find(", %i : i64\n    %j") != std::string::npos;
  };
  EXPECT_TRUE(turned(adding("    %j = sub %one, %i : i64\n")));
  EXPECT_FALSE(turned(adding("    %j = add %one, %i : i64\n")));
  EXPECT_FALSE(turned(adding("    %j = load %x[%i*%1] : i64\n"))) << "no points";
  EXPECT_EQ(after(R"(  %1 = const 1 : i64
  for independent %1, %n { (%i)
    %j = sub %one, %i : i64
    store %y[%j*%1] = %n
    yield
  }
  yield %y
)",
                  reverseLoops),
            R"(  %0 = const 1 : i64
  %1 = add %0, %n : i64
  %2 = const 1 : i64
  %3 = sub %1, %2 : i64
  for independent %0, %n { (%i)
    %4 = sub %3, %i : i64
    %j = sub %one, %4 : i64
    store %y[%j*%0] = %n
    yield
  }
  yield %y
}
)");
}

TEST(DropCarries, OfBlocksToo) {
  EXPECT_EQ(after(R"(  %1 = const 1 : i64
  %r = for polls %1, %n, %y : data { (%i, %z)
    store %z[%i*%1] = %i
    yield %z
  }
  yield %r
)",
                  dropInvariantCarries),
            R"(  %0 = const 1 : i64
  for polls %0, %n { (%i)
    store %y[%i*%0] = %i
    yield
  }
  yield %y
}
)");
}

const std::string filling = R"(  %1 = const 1 : i64
  %g = cmp lt %1, %n : bool
  %u = if %g : data {
    %v = ensure_unique %y : data
    yield %v
  } {
    yield %y
  }
  for polls %1, %n { (%i)
    %j = add %i, %one : i64
)";
const std::string end = "    yield\n  }\n  yield %u\n";

bool skips(const std::string& body) {
  return after(body, elideOverwrittenCopies).find("ensure_unique %y, ") != std::string::npos;
}

TEST(SkipCopies, OfWhatALoopFills) {
  EXPECT_EQ(after(filling + "    %t = load %x[%i*%1] : f32\n    store %u[%j*%1] = %t\n" + end,
                  elideOverwrittenCopies),
            R"(  %0 = const 1 : i64
  %g = cmp lt %0, %n : bool
  %u = if %g : data {
    %1 = add %0, %one : i64
    %2 = const 4 : i64
    %3 = mul %1, %2 : i64
    %4 = add %n, %one : i64
    %5 = mul %4, %2 : i64
    %v = ensure_unique %y, %3, %5 : data
    yield %v
  } {
    yield %y
  }
  for polls %0, %n { (%i)
    %j = add %i, %one : i64
    %t = load %x[%i*%0] : f32
    store %u[%j*%0] = %t
    yield
  }
  yield %u
}
)");
}

TEST(SkipCopies, EveryTurnFillsAWholeElementThatNoneReads) {
  EXPECT_TRUE(skips(filling + "    store %u[%j*%1] = %i\n" + end));
  EXPECT_FALSE(skips(
      filling + "    if %c {\n      store %u[%j*%1] = %i\n      yield\n    } {\n      yield\n    }\n" + end));
  EXPECT_FALSE(skips(filling + "    store %u[%j*%1] by 16 = %i\n" + end)) << "a part";
  EXPECT_FALSE(skips(filling + "    store %u[%j*%n] = %i\n" + end));
  EXPECT_FALSE(skips(filling + "    %t = load %u[%i*%1] : i64\n    store %u[%j*%1] = %t\n" + end));
  EXPECT_FALSE(skips(filling + "    store %u[%j*%1] = %i\n    %t = load %u[%j*%1] : i64\n" + end));
  EXPECT_FALSE(skips(filling + "    check \"no\" %c\n    store %u[%j*%1] = %i\n" + end)) << "it may stop";
}

TEST(SkipCopies, AnElementIsReadWhereItWasCopiedFrom) {
  auto reads = [](const std::string& before, const std::string& behind) {
    const std::string text =
        after(before + filling + "    %t = load %u[%j*%1] : i64\n    store %u[%j*%1] = %t\n" +
                  "    yield\n  }\n" + behind + "  yield %u\n",
              elideOverwrittenCopies);
    return text.substr(text.find("load"), 7);
  };
  EXPECT_EQ(reads("", ""), "load %u") << "it may be the same block";
  EXPECT_EQ(reads("  retain %y\n", "  drop %y\n"), "load %y");
}

} // namespace
} // namespace melix::loops
