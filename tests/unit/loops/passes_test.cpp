// Each pass of Loops, from text to text.
#include "loops/analysis/closed_functions.h"
#include "loops/kernels/deduplicate_kernels.h"
#include "loops/kernels/device_reasons.h"
#include "loops/kernels/outline.h"
#include "loops/loops_text.h"
#include "loops/ownership/hoist_allocations.h"
#include "loops/ownership/ownership.h"
#include "loops/ownership/stack_allocation.h"

namespace melix::loops {
namespace {

void countAll(Module& module) {
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    insertCounts(module, module.functions[FunctionId(f)]);
  EXPECT_EQ(verify(module, {State::CountsInserted}), "");
}

TEST(InferModes, WhatIsGivenAwayIsOwnedThroughCalls) {
  EXPECT_EQ(textAfter(R"(fn @outer(%x: data, %y: data) -> data {
  %z = call @inner %x, %y : data
  yield %z
}

fn @inner(%x: data, %y: data) -> data {
  %one = const 1 : i64
  %v = load %y[%one*%one] : f64
  %u = ensure_unique %x : data
  store %u[%one*%one] = %v
  yield %u
}
)",
                      inferModes, false),
            R"(fn @outer(own %x: data, %y: data) -> data {
  %z = call @inner %x, %y : data
  yield %z
}

fn @inner(own %x: data, %y: data) -> data {
  %one = const 1 : i64
  %v = load %y[%one*%one] : f64
  %u = ensure_unique %x : data
  store %u[%one*%one] = %v
  yield %u
}
)");
}

TEST(InferModes, WhatIsKeptAtTimesIsOwnedWhereACallerHasItForThat) {
  const std::string before = R"(fn @found(%to: address, %x: data, %y: data) {
  %one = const 1 : i64
  %z = load %y[%one*%one] : data
  call @kept %to, %x, %z
  yield
}

fn @kept(%to: address, %x: data, %y: data) {
  %c = const true : bool
  if %c {
    store %to = %x
    yield
  } {
    store %to = %y
    yield
  }
  yield
}

fn @made(%to: address, %x: data) {
  %u = ensure_unique %x : data
  call @found %to, %u, %u
  yield
}
)";
  std::string after = before;
  for (const char* own : {"%to: address, %x: data, %y: data) {\n  %one",
                          "%to: address, %x: data, %y: data) {\n  %c", "%to: address, %x: data) {"})
    after.insert(after.find(own) + std::string_view("%to: address, ").size(), "own ");
  EXPECT_EQ(textAfter(before, inferModes, false), after);
}

TEST(InsertCounts, EveryPathConsumesOnce) {
  EXPECT_EQ(textAfter(R"(fn @f(%c: bool, own %x: data, %y: data) -> data, data {
  %r = if %c : data {
    yield %x
  } {
    yield %y
  }
  %s = load %y transfer : data
  %t = load %y : data
  yield %r, %s
}
)",
                      countAll, false),
            R"(fn @f(%c: bool, own %x: data, %y: data) -> data, data {
  %r = if %c : data {
    yield %x
  } {
    drop %x
    retain %y
    yield %y
  }
  %s = load %y transfer : data
  %t = load %y : data
  retain %t
  drop %t
  yield %r, %s
}
)");
}

TEST(InsertCounts, WhatIsReadFromABorrowedBlockIsBorrowed) {
  EXPECT_EQ(textAfter(R"(fn @f(%xs: data) -> data {
  %one = const 1 : i64
  %t = load %xs[%one*%one] : data
  %n = runtime list_length i64 %t : i64
  %u = load %xs[%n*%one] : data
  yield %u
}
)",
                      countAll, false),
            R"(fn @f(%xs: data) -> data {
  %one = const 1 : i64
  %t = load %xs[%one*%one] : data
  %n = runtime list_length i64 %t : i64
  %u = load %xs[%n*%one] : data
  retain %u
  yield %u
}
)");
}

TEST(InsertCounts, WhatIsUsedLaterIsRetainedBeforeItIsGivenAway) {
  EXPECT_EQ(textAfter(R"(fn @f(own %x: data) -> data, f64 {
  %one = const 1 : i64
  %u = ensure_unique %x : data
  %v = load %x[%one*%one] : f64
  yield %u, %v
}
)",
                      countAll, false),
            R"(fn @f(own %x: data) -> data, f64 {
  %one = const 1 : i64
  retain %x
  %u = ensure_unique %x : data
  %v = load %x[%one*%one] : f64
  drop %x
  yield %u, %v
}
)");
}

TEST(PlaceInFrames, ASmallBlockThatCalleesReadLiesInTheFrame) {
  EXPECT_EQ(textAfter(R"(fn @f(%v: f64) -> f64 {
  %three = const 3 : i64
  %one = const 1 : i64
  %a = alloc f64 %three, %three : data
  store %a[%three*%one] = %v
  %u = ensure_unique %a : data
  %r = call @first %u : f64
  drop %u
  %b = alloc f64 %three : data
  %c = call @same %b : data
  drop %c
  yield %r
}

fn @first(elements %x: data) -> f64 {
  %one = const 1 : i64
  %r = load %x[%one*%one] : f64
  yield %r
}

fn @same(own %x: data) -> data {
  yield %x
}
)",
                      promoteToStack),
            R"(fn @f(%v: f64) -> f64 {
  %three = const 3 : i64
  %one = const 1 : i64
  %a = frame f64 bytes 72 : data
  store %a[%three*%one] = %v
  %r = call @first %a : f64
  %b = alloc f64 %three : data
  %c = call @same %b : data
  drop %c
  yield %r
}

fn @first(elements %x: data) -> f64 {
  %one = const 1 : i64
  %r = load %x[%one*%one] : f64
  yield %r
}

fn @same(own %x: data) -> data {
  yield %x
}
)");
}

TEST(PlaceInFrames, ABlockMayBeReleasedOnEachPath) {
  EXPECT_EQ(textAfter(R"(fn @f(%v: f64, %first: bool) -> f64 {
  %two = const 2 : i64
  %a = alloc f64 %two : data
  store %a[%two*%two] = %v
  %r = if %first : f64 {
    %x = load %a[%two*%two] : f64
    drop %a
    yield %x
  } {
    drop %a
    yield %v
  }
  yield %r
}
)",
                      promoteToStack),
            R"(fn @f(%v: f64, %first: bool) -> f64 {
  %two = const 2 : i64
  %a = frame f64 bytes 16 : data
  store %a[%two*%two] = %v
  %r = if %first : f64 {
    %x = load %a[%two*%two] : f64
    yield %x
  } {
    yield %v
  }
  yield %r
}
)");
}

TEST(MarkClosed, FunctionsOfScalarsWithoutChecksThatCallSuch) {
  EXPECT_EQ(textAfter(R"(fn @top(%a: f64) -> f64 {
  %b = call @leaf %a : f64
  yield %b
}

fn @leaf(%a: f64) -> f64 {
  %b = mul %a, %a : f64
  yield %b
}

fn @checks(%a: f64) -> f64 {
  %c = cmp gt %a, %a : bool
  check "no" %c
  yield %a
}

fn @again(%a: f64) -> f64 {
  %b = call @again %a : f64
  yield %b
}

fn @array(%x: data) {
  yield
}
)",
                      inferEffects),
            R"(fn @top(%a: f64) -> f64 closed {
  %b = call @leaf %a : f64
  yield %b
}

fn @leaf(%a: f64) -> f64 closed {
  %b = mul %a, %a : f64
  yield %b
}

fn @checks(%a: f64) -> f64 silent {
  %c = cmp gt %a, %a : bool
  check "no" %c
  yield %a
}

fn @again(%a: f64) -> f64 silent {
  %b = call @again %a : f64
  yield %b
}

fn @array(%x: data) silent {
  yield
}
)");
}

TEST(OutlineKernels, ClosedBodiesBecomeKernelsAndOthersChunks) {
  EXPECT_EQ(textAfter(R"(fn @f(%n: i64, %x: data, %l: data) {
  %zero = const 0 : i64
  %one = const 1 : i64
  for parallel %zero, %n { (%i)
    store %x[%i*%one] = %i
    yield
  }
  for parallel %zero, %n { (%j)
    retain %l
    drop %l
    yield
  }
  yield
}
)",
                      [](Module& module) { outlineKernels(module); }),
            R"(fn @f(%n: i64, %x: data, %l: data) {
  %zero = const 0 : i64
  %one = const 1 : i64
  launch @f.loop0 %n, %n, %x
  launch @f.loop1 %n, %n, %l
  yield
}

kernel @f.loop0(%0: i64, %1: i64, %x: data) named "f" {
  %one = const 1 : i64
  for independent %0, %1 { (%i)
    store %x[%i*%one] = %i
    yield
  }
  yield
}

chunk @f.loop1(%0: i64, %1: i64, %l: data) named "f" {
  for independent %0, %1 { (%j)
    retain %l
    drop %l
    yield
  }
  yield
}
)");
}

TEST(OutlineKernels, GridsThatReachNoHostMemoryBecomeKernelsOfTheDevice) {
  EXPECT_EQ(textAfter(R"(fn @f(%n: i64, %x: data, %row: address) on gpu {
  %zero = const 0 : i64
  %one = const 1 : i64
  for parallel grid %zero, %n { (%i)
    store %x[%i*%one] = %i
    yield
  }
  for parallel grid %zero, %n { (%j)
    store %row[%j*%one] = %j
    yield
  }
  yield
}
)",
                      [](Module& module) {
                        outlineKernels(module);
                        assignDevices(module);
                      }),
            R"(fn @f(%n: i64, %x: data, %row: address) on gpu {
  %zero = const 0 : i64
  %one = const 1 : i64
  launch @f.loop0 %n, %n, %x
  launch @f.loop1 %n, %n, %row
  yield
}

device @f.loop0(%0: i64, %1: i64, %x: data) on gpu grid named "f" {
  %one = const 1 : i64
  for independent %0, %1 { (%i)
    store %x[%i*%one] = %i
    yield
  }
  yield
}

kernel @f.loop1(%0: i64, %1: i64, %row: address) grid named "f" {
  %one = const 1 : i64
  for independent %0, %1 { (%j)
    store %row[%j*%one] = %j
    yield
  }
  yield
}
)");
}

TEST(OutlineKernels, LoopsWithCallsThatMayLaunchStayLoops) {
  const std::string text = R"(fn @f(%n: i64, %l: data) {
  %zero = const 0 : i64
  for %zero, %n { (%j)
    call @block %l
    yield
  }
  yield
}

fn @block(%l: data) on gpu {
  yield
}
)";
  std::string before = text;
  before.replace(before.find("for %zero"), 9, "for parallel %zero");
  EXPECT_EQ(textAfter(before, [](Module& module) { outlineKernels(module); }), text);
}

TEST(PromoteToStack, WhatALaunchTakesStaysABlock) {
  const std::string text = R"(fn @f(%v: f64) -> f64 on gpu {
  %zero = const 0 : i64
  %two = const 2 : i64
  %a = alloc f64 %two : data
  for parallel grid %zero, %two { (%i)
    store %a[%i*%two] = %v
    yield
  }
  %x = load %a[%zero*%two] : f64
  drop %a
  yield %x
}
)";
  EXPECT_EQ(textAfter(text, promoteToStack), text);
}

TEST(HoistRows, ABlockOfOnePointIsMadeByTheFirst) {
  EXPECT_EQ(textAfter(R"(fn @f(%n: i64, %m: i64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  for %zero, %n { (%i)
    %r = alloc f64 %m : data
    %v = load %r[%i*%one] : f64
    drop %r
    yield
  }
  for polls %zero, %n { (%j)
    %s = alloc f64 %m : data
    drop %s
    yield
  }
  yield
}
)",
                      [](Module& module) { hoistAllocations(module, module.functions[FunctionId(0)]); }),
            R"(fn @f(%n: i64, %m: i64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %0 = const 0 : data
  %1 = const false : bool
  %2, %3 = for %zero, %n, %0, %1 : data, bool { (%i, %4, %5)
    %6 = if %5 : data {
      yield %4
    } {
      drop %4
      %7 = alloc f64 %m : data
      yield %7
    }
    %8 = const true : bool
    %v = load %6[%i*%one] : f64
    yield %6, %8
  }
  drop %2
  for polls %zero, %n { (%j)
    %s = alloc f64 %m : data
    drop %s
    yield
  }
  yield
}
)");
}

TEST(MergeKernels, EqualOnesBecomeOne) {
  auto kernel = [](const std::string& name, const std::string& value, const std::string& check) {
    const std::string x = "%x" + name; // names do not count
    return "kernel @" + name + "(%first: i64, %last: i64, " + x + ": data) {\n  %v = const " + value +
           " : f64\n  %one = const 1 : i64\n  for independent %first, %last { (%i)\n" + check + "    store " +
           x + "[%i*%one] = %v\n    yield\n  }\n  yield\n}\n\n";
  };
  auto kernelsOf = [&](const std::string& secondValue, const std::string& check) {
    const std::string text =
        "fn @main(%x: data, %n: i64) exported {\n  launch @a %n, %n, %x\n  launch @b %n, %n, %x\n"
        "  yield\n}\n\n" +
        kernel("a", "1.0", check) + kernel("b", secondValue, check);
    const std::string after = textAfter(text, deduplicateKernels);
    size_t count = 0;
    for (size_t at = after.find("kernel @"); at != std::string::npos; at = after.find("kernel @", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(kernelsOf("1.0", ""), 1u);
  EXPECT_EQ(kernelsOf("2.0", ""), 2u);
  const std::string check = "    %c = cmp lt %i, %last : bool\n    check \"odd\" %c\n";
  EXPECT_EQ(kernelsOf("1.0", check), 2u); // a panic tells the place
}

TEST(MergeKernels, ConstantsThatDifferAreGiven) {
  auto kernel = [](const std::string& name, const std::string& value, const std::string& divisor) {
    return "kernel @" + name + "(%first: i64, %last: i64, %x: data) {\n  %v = const " + value +
           " : i64\n  %d = const " + divisor + R"( : i64
  %one = const 1 : i64
  for independent %first, %last { (%i)
    %s = add %i, %v : i64
    %q = irem %s, %d : i64
    store %x[%i*%one] = %q
    yield
  }
  yield
}
)";
  };
  auto merged = [&](const std::string& values, const std::string& divisor) {
    const std::string text = "fn @main(%x: data, %n: i64) exported {\n  launch @a %n, %n, %x\n"
                             "  launch @b %n, %n, %x\n  yield\n}\n\n";
    return textAfter(text + kernel("a", "5", "7") + "\n" + kernel("b", values, divisor),
                     deduplicateKernelsModuloConstants);
  };
  EXPECT_EQ(merged("6", "7"), R"(fn @main(%x: data, %n: i64) exported {
  %0 = const 5 : i64
  launch @a %n, %n, %x, %0
  %1 = const 6 : i64
  launch @a %n, %n, %x, %1
  yield
}

kernel @a(%first: i64, %last: i64, %x: data, %v: i64) {
  %d = const 7 : i64
  %one = const 1 : i64
  for independent %first, %last { (%i)
    %s = add %i, %v : i64
    %q = irem %s, %d : i64
    store %x[%i*%one] = %q
    yield
  }
  yield
}
)");
  // A remainder by a number that is known takes no division.
  EXPECT_NE(merged("5", "8").find("kernel @b"), std::string::npos);
}

TEST(MergeKernels, ConstantsAreGivenOnceToALaunchThatARegionThatIsGoneListsToo) {
  auto kernel = [](const std::string& name, const std::string& value) {
    return "\nkernel @" + name + "(%first: i64, %last: i64, %x: data) {\n  %v = const " + value + R"( : i64
  %one = const 1 : i64
  for independent %first, %last { (%i)
    %s = add %i, %v : i64
    store %x[%i*%one] = %s
    yield
  }
  yield
}
)";
  };
  auto pass = [](Module& module) {
    Function& fn = module.functions[FunctionId(0)];
    fn.regions.add(Region(fn.regions[fn.body]));
    deduplicateKernelsModuloConstants(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  };
  const std::string text = textAfter("fn @main(%x: data, %n: i64) exported {\n  launch @a %n, %n, %x\n"
                                     "  launch @b %n, %n, %x\n  yield\n}\n" +
                                         kernel("a", "5") + kernel("b", "6"),
                                     pass);
  EXPECT_NE(text.find("launch @a %n, %n, %x, %1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("kernel @b"), std::string::npos) << text;
}

} // namespace
} // namespace melix::loops
