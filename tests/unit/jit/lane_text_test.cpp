// Loops in as many lanes and rows as their text says, of which programs do not make all: what they store and
// carry is what the loop stores and carries turn by turn.
#include "core/ir/ir.h"
#include "jit/program.h"
#include "loops/text/parse.h"
#include "loops/text/verify.h"
#include "loops/tiles/unroll_and_jam.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

int64_t resultOf(const std::string& text) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  loops::ParseResult read = loops::parse(core, text);
  EXPECT_EQ(read.error, "") << text;
  if (!read.error.empty()) return 0;
  for (loops::Function& fn : read.module.functions) loops::unrollAndJam(fn);
  EXPECT_EQ(loops::verify(read.module, {loops::State::CountsInserted}), "") << text;
  const Outcome outcome = run(read.module, codegen::Options{});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.status, MELIX_OK) << outcome.panic;
  EXPECT_EQ(outcome.stats.liveBlocks, 0);
  return outcome.result;
}

/// A loop over points from `first` to `end` in a function that mixes what is then in %y; %g holds numbers
/// from 0 to 6.
std::string program(const std::string& lanes, const std::string& first, const std::string& end,
                    const std::string& body) {
  return R"(fn @main() -> i64 exported entry {
  %zero = const 0 : i64
  %one = const 1 : i64
  %three = const 3 : i64
  %seven = const 7 : i64
  %all = const 200 : i64
  %prime = const 1099511628211 : i64
  %g = alloc i64 %all : data
  %y = alloc i64 zeroed %all : data
  for %zero, %all { (%a0)
    %b0 = mul %a0, %prime : i64
    %c0 = irem %b0, %seven : i64
    store %g[%a0*%one] = %c0
    yield
  }
  %first = const )" +
         first + " : i64\n  %end = " + end + " : i64\n  for independent " + lanes + " %first, %end { (%i)\n" +
         body +
         R"(    yield
  }
  %h0 = for %zero, %all, %seven : i64 { (%k0, %s0)
    %t0 = load %y[%k0*%one] : i64
    %u0 = mul %s0, %prime : i64
    %v0 = add %u0, %t0 : i64
    yield %v0
  }
  drop %g
  drop %y
  yield %h0
}
)";
}

void expectSame(const std::string& body) {
  const std::pair<const char*, const char*> ends[] = {
      {"0", "const 0"},  {"5", "sub %three, %seven"}, {"0", "const 3"},   {"0", "const 8"},
      {"2", "const 15"}, {"0", "const 64"},           {"1", "const 130"}, {"3", "load %g[%one*%one]"}};
  for (auto [first, end] : ends) {
    const int64_t expected = resultOf(program("", first, end, body));
    for (const char* lanes : {"vector 4", "vector 8", "vector 8 interleave 2", "vector 16 interleave 4"})
      EXPECT_EQ(resultOf(program(lanes, first, end, body)), expected)
          << lanes << " from " << first << " to " << end << "\n"
          << body;
  }
}

TEST(LaneText, EndsInFrontOfTheBeginning) { expectSame("    store %y[%i*%one] = %i\n"); }

TEST(LaneText, StoresUnderMasks) {
  expectSame(R"(    %v = load %g[%i*%one] : i64
    %c = cmp lt %v, %three : bool
    if %c {
      store %y[%i*%one] = %v
      %d = cmp eq %v, %one : bool
      if %d {
        store %y[%i*%one] = %prime
        yield
      } {
        yield
      }
      yield
    } {
      yield
    }
)");
}

TEST(LaneText, CasesThatLanesTakeDifferently) {
  expectSame(R"(    %v = load %g[%i*%one] : i64
    %r, %q = switch [0, 1, 0, 2, 2, 1, 2] %v : i64, i64 {
      yield %i, %v
    } {
      %a = mul %i, %v : i64
      yield %a, %prime
    } {
      %n = for %zero, %v, %one : i64 { (%j, %s)
        %t = mul %s, %v : i64
        yield %t
      }
      yield %n, %i
    }
    %w = add %r, %q : i64
    store %y[%i*%one] = %w
)");
}

TEST(LaneText, NumbersBeyondThoseOfASwitch) {
  for (const char* cases : {"0, 1, 2", "1, 0, 2, 1", "2, 0, 1, 0"})
    expectSame("    %v = load %g[%i*%one] : i64\n    %k = convert wrap %v : u8\n    %r = switch [" +
               std::string(cases) + R"(] %k : i64 {
      yield %i
    } {
      %a = mul %i, %v : i64
      yield %a
    } {
      yield %prime
    }
    store %y[%i*%one] = %r
)");
}

TEST(LaneText, ScattersAndStoresAStepApartOrReversed) {
  expectSame(R"(    %n = sub %all, %one : i64
    %b = sub %n, %i : i64
    %v = load %g[%b*%one] : i64
    store %y[%b*%one] = %v
)");
  expectSame("    %k = mul %i, %three : i64\n    %c = irem %k, %all : i64\n    store %y[%c*%one] = %i\n");
}

TEST(LaneText, AddressesOfEachLane) {
  expectSame(
      "    %p = address_of %y[%i*%one] by 8 : address\n    %q = address_of %g[%i*%one] by 8 : address\n"
      "    %v = load %q : i64\n    store %p = %v\n");
}

TEST(LaneText, WhatIsTheSameInsideOfABranchIsReadOnlyIfSomeLaneIsOn) {
  expectSame(R"(    %v = load %g[%i*%one] : i64
    %c = cmp gt %v, %seven : bool
    %r = if %c : i64 {
      %far = load %y[%prime*%one] : i64
      yield %far
    } {
      yield %v
    }
    store %y[%i*%one] = %r
)");
}

/// Chains of integers over %g, in rows of points and lanes as they are said.
TEST(LaneText, PointsInRows) {
  const std::string inner = R"( %zero, %m { (%j)
      %first1 = add %i, %one : i64
      %s = for %zero, %seven, %i : i64 { (%l, %t)
        %a = load %g[%i*%three + %l*%one] : i64
        %b = load %g[%l*%seven + %j*%one] : i64
        %c = mul %a, %b : i64
        %d = mul %t, %three : i64
        %u = add %d, %c : i64
        yield %u
      }
      %tri = for %zero, %i, %s : i64 { (%k, %p)
        %q = mul %p, %prime : i64
        %r = add %q, %k : i64
        yield %r
      }
      %odd = cmp lt %first1, %seven : bool
      if %odd {
        store %y[%i*%m + %j*%one] = %tri
        yield
      } {
        store %y[%i*%m + %j*%one] = %s
        yield
      }
      yield
    }
)";
  auto result = [&](const std::string& rows, const std::string& lanes, int count) {
    const std::string text = program(rows, "0", "const " + std::to_string(count),
                                     "    %m = const 20 : i64\n    for independent " + lanes + inner);
    return resultOf(text);
  };
  for (int count = 0; count <= 9; ++count) {
    const int64_t expected = result("", "", count);
    for (const char* rows : {"unroll_jam 2", "unroll_jam 3", "unroll_jam 4"})
      for (const char* lanes : {"", "vector 8"})
        EXPECT_EQ(result(rows, lanes, count), expected) << rows << " " << lanes << " of " << count;
  }
}

/// Partial sums in the frame: what is behind whole strips is done as one more under a mask, where there is
/// room.
TEST(LaneText, RestsOfStripsInTheFrame) {
  auto sums = [](const std::string& lanes, int first, int end, const std::string& mask,
                 const std::string& add) {
    return R"(fn @main() -> i64 exported entry {
  %zero = const 0 : i64
  %one = const 1 : i64
  %three = const 3 : i64
  %seven = const 7 : i64
  %all = const 200 : i64
  %mask = const )" +
           mask + R"( : i64
  %room = add %mask, %one : i64
  %prime = const 1099511628211 : i64
  %g = alloc i64 %all : data
  for %zero, %all { (%a0)
    %b0 = mul %a0, %prime : i64
    %c0 = irem %b0, %seven : i64
    store %g[%a0*%one] = %c0
    yield
  }
  %s = scratch 512 : address
  for %zero, %room { (%k)
    store %s[%k*%one] = %k
    yield
  }
  %first = const )" +
           std::to_string(first) + " : i64\n  %end = const " + std::to_string(end) +
           " : i64\n  for independent distance 32 " + lanes + " %first, %end { (%i)\n" + add + R"(    yield
  }
  %h = for %zero, %room, %seven : i64 { (%j, %t)
    %u = load %s[%j*%one] : i64
    %v = mul %t, %prime : i64
    %w = add %v, %u : i64
    yield %w
  }
  drop %g
  yield %h
}
)";
  };
  const std::string plain = R"(    %l = and %i, %mask : i64
    %x = load %g[%i*%one] : i64
    %y = load %s[%l*%one] : i64
    %z = add %x, %y : i64
    store %s[%l*%one] = %z
)";
  const std::string branch = R"(    %l = and %i, %mask : i64
    %x = load %g[%i*%one] : i64
    %c = cmp lt %x, %three : bool
    if %c {
      %y = load %s[%l*%one] : i64
      %z = add %x, %y : i64
      store %s[%l*%one] = %z
      yield
    } {
      yield
    }
)";
  for (const char* mask : {"31", "63"})
    for (const std::string& add : {plain, branch})
      for (int first : {0, 32})
        for (int end : {0, 5, 31, 33, 64, 100, 130}) {
          auto program = [&](const std::string& lanes) {
            return resultOf(sums(lanes, first, end, mask, add));
          };
          const int64_t expected = program("");
          for (const char* lanes :
               {"vector 8 interleave 4", "vector 16 interleave 2", "vector 8", "vector 4 interleave 2"})
            EXPECT_EQ(program(lanes), expected)
                << lanes << " to " << end << " from " << first << ", " << mask;
        }
}

} // namespace
} // namespace melix::jit
