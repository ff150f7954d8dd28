// Results that lie where an operand ends.
#include "loops/loops_text.h"
#include "loops/ownership/reuse_operand_memory.h"

namespace melix::loops {
namespace {

std::string placed(std::string_view before) {
  return textAfter(before, [](Module& module) {
    reuseOperandMemory(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}

/// A function that makes %x and with `loop` %y of it, then does `rest` and gives %y.
std::string program(const std::string& loop, const std::string& rest, const std::string& size = "%n") {
  return R"(fn @f(%n: i64, %m: i64, %l: address) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f32 %n : data
  for independent %zero, %n { (%k)
    %c = const 1.0 : f32
    store %x[%k*%one] = %c
    yield
  }
  %y = alloc f32 )" +
         size + ", %x : data\n" + loop + rest + "  yield %y\n}\n";
}
void expectPlaced(const std::string& loop, const std::string& rest = "  drop %x\n") {
  EXPECT_EQ(placed(program(loop, rest)).find("%y"), std::string::npos) << loop << rest;
}
/// Only what lowering says of the block goes.
void expectApart(const std::string& loop, const std::string& rest = "  drop %x\n") {
  std::string expected = program(loop, rest);
  expected.erase(expected.find(", %x : data"), 4);
  EXPECT_EQ(placed(program(loop, rest)), expected);
}

const std::string doubled = R"(  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    %b = add %a, %a : f32
    store %y[%i*%one] = %b
    yield
  }
)";

TEST(PlaceResults, AResultLiesWhereAnOperandEnds) {
  EXPECT_EQ(placed(program(doubled, "  drop %x\n")), R"(fn @f(%n: i64, %m: i64, %l: address) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %x = alloc f32 %n : data
  for independent %zero, %n { (%k)
    %c = const 1.0 : f32
    store %x[%k*%one] = %c
    yield
  }
  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    %b = add %a, %a : f32
    store %x[%i*%one] = %b
    yield
  }
  yield %x
}
)");
}

TEST(PlaceResults, InAxesAndBranches) {
  expectPlaced(R"(  for parallel %zero, %n { (%i)
    for independent %zero, %m { (%j)
      %a = load %x[%i*%m + %j*%one] : f32
      %t = cmp lt %i, %j : bool
      if %t {
        %u = load %x[%i*%m + %j*%one] : f32
        store %y[%i*%m + %j*%one] = %u
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

TEST(PlaceResults, ACarriedBlockIsRenewedInPlace) {
  const std::string before = R"(fn @f(%n: i64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %w0 = alloc f32 %n : data
  %w = for %zero, %n, %w0 : data { (%t, %p)
    %y = alloc f32 %n, %p : data
    for independent %zero, %n { (%i)
      %a = load %p[%i*%one] : f32
      store %y[%i*%one] = %a
      yield
    }
    drop %p
    yield %y
  }
  yield %w
}
)";
  EXPECT_EQ(placed(before), R"(fn @f(%n: i64) -> data {
  %zero = const 0 : i64
  %one = const 1 : i64
  %w0 = alloc f32 %n : data
  %w = for %zero, %n, %w0 : data { (%t, %p)
    for independent %zero, %n { (%i)
      %a = load %p[%i*%one] : f32
      store %p[%i*%one] = %a
      yield
    }
    yield %p
  }
  yield %w
}
)");
  // The block that comes in may be somebody else's.
  std::string given = before;
  given.replace(given.find("fn @f(%n: i64)"), 14, "fn @f(%n: i64, own %w0: data)");
  given.erase(given.find("  %w0 = alloc"), std::string("  %w0 = alloc f32 %n : data\n").size());
  EXPECT_NE(placed(given).find("%y"), std::string::npos);
}

TEST(PlaceResults, OneOperandServesOneResult) {
  const std::string text = placed(program(R"(  %z = alloc f32 %n, %x : data
  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    store %y[%i*%one] = %a
    store %z[%i*%one] = %a
    yield
  }
)",
                                          "  drop %x\n  store %l = %z\n"));
  EXPECT_EQ(text.find("%y"), std::string::npos);
  EXPECT_NE(text.find("%z = alloc f32 %n : data"), std::string::npos);
}

TEST(PlaceResults, WhatIsReadLaterOrHeldStays) {
  expectApart(doubled, "  %d = load %x[%zero*%one] : f32\n  drop %x\n");
  expectApart(doubled, "  store %l = %x\n");
  expectApart(doubled, "  retain %x\n  store %l = %x\n  drop %x\n");
}

TEST(PlaceResults, OtherElementsOfTheOperandAreRead) {
  // Another one, the one before, one that was written, all in an inner loop.
  for (const char* body : {"%a = load %x[%m*%one] : f32", "%a = load %x[%i*%one] at 4 : f32"})
    expectApart("  for independent %zero, %n { (%i)\n    " + std::string(body) +
                "\n    store %y[%i*%one] = %a\n    yield\n  }\n");
  expectApart(R"(  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    store %y[%i*%one] = %a
    %b = load %x[%i*%one] : f32
    store %l[%i*%one] = %b
    yield
  }
)");
  expectApart(R"(  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    %s = for %zero, %n, %a : f32 { (%j, %t)
      %b = load %x[%j*%one] : f32
      %u = add %t, %b : f32
      yield %u
    }
    store %y[%i*%one] = %s
    yield
  }
)");
  // All turns of a loop write the same.
  expectApart(R"(  for independent %zero, %n { (%i)
    for %zero, %m { (%j)
      %a = load %x[%i*%one] : f32
      %b = add %a, %a : f32
      store %y[%i*%one] = %b
      yield
    }
    yield
  }
)");
}

/// A block that is read only at times may be shorter than what is written.
TEST(PlaceResults, WhatIsReadAtTimes) {
  expectApart(R"(  for independent %zero, %n { (%i)
    %t = cmp lt %i, %m : bool
    if %t {
      %a = load %x[%i*%one] : f32
      store %l[%i*%one] = %a
      yield
    } {
      yield
    }
    %b = const 0.0 : f32
    store %y[%i*%one] = %b
    yield
  }
)");
}

TEST(PlaceResults, ALoopWithChecksKeepsWhatItReads) {
  expectApart(R"(  for independent %zero, %n { (%i)
    %a = load %x[%i*%one] : f32
    %t = cmp lt %i, %m : bool
    check "too far: {0}" %t, %i
    store %y[%i*%one] = %a
    yield
  }
)");
}

} // namespace
} // namespace melix::loops
