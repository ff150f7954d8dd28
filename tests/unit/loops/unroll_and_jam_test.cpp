// Points swept together, from text to text.
#include "loops/analysis/reuse_analysis.h"
#include "loops/tiles/unroll_and_jam.h"

#include "loops/analysis/contraction.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

std::string jammed(const std::string& body) {
  return textAfter("kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
                   "  %zero = const 0 : i64\n  %one = const 1 : i64\n" +
                       body + "  yield\n}\n",
                   [](Module& module) {
                     unrollAndJam(module.functions[FunctionId(0)]);
                     EXPECT_EQ(verify(module, {State::CountsInserted}), "");
                   });
}
std::string rows(const std::string& body, int count = 2) {
  return jammed("for independent unroll_jam " + std::to_string(count) + " %zero, %m { (%i)\n" + body +
                "yield\n}\n");
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
/// How often a word stands in the loop over whole rows, of so many rows.
size_t countInRows(const std::string& body, const std::string& word, int rowCount = 2) {
  const std::string after = rows(body, rowCount);
  const size_t first = after.find("for independent "), rest = after.find("\n  for independent ", first);
  EXPECT_NE(rest, std::string::npos) << after;
  return count(after.substr(first, rest - first), word);
}

TEST(JamRows, ChainsOfTwoPointsRunTogether) {
  EXPECT_EQ(rows(R"(for independent vector 16 interleave 4 %zero, %n { (%j)
  %s = for %zero, %k, %z : f32 { (%l, %t)
    %a = load %x[%i*%k + %l*%one] : f32
    %b = load %w[%l*%n + %j*%one] : f32
    %u = fma %a, %b, %t : f32
    yield %u
  }
  store %y[%i*%n + %j*%one] = %s
  yield
}
)"),
            R"(kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %0 = const 2 : i64
  %1 = const 0 : i64
  %2 = sub %m, %zero : i64
  %3 = max %2, %1 : i64
  %4 = idiv %3, %0 : i64
  for independent %1, %4 { (%5)
    %6 = mul %5, %0 : i64
    %7 = add %zero, %6 : i64
    %8 = const 0 : i64
    %9 = add %7, %8 : i64
    %10 = const 1 : i64
    %11 = add %7, %10 : i64
    for independent vector 16 interleave 4 %zero, %n { (%12)
      %13, %14 = for %zero, %k, %z, %z : f32, f32 { (%15, %16, %17)
        %b = load %w[%15*%n + %12*%one] : f32
        %a = load %x[%9*%k + %15*%one] : f32
        %u = fma %a, %b, %16 : f32
        %a$1 = load %x[%11*%k + %15*%one] : f32
        %u$1 = fma %a$1, %b, %17 : f32
        yield %u, %u$1
      }
      store %y[%9*%n + %12*%one] = %13
      store %y[%11*%n + %12*%one] = %14
      yield
    }
    yield
  }
  %18 = mul %4, %0 : i64
  %19 = add %zero, %18 : i64
  for independent %19, %m { (%i)
    for independent vector 16 interleave 4 predicated %zero, %n { (%j)
      %s = for %zero, %k, %z : f32 { (%l, %t)
        %a$2 = load %x[%i*%k + %l*%one] : f32
        %b$1 = load %w[%l*%n + %j*%one] : f32
        %u$2 = fma %a$2, %b$1, %t : f32
        yield %u$2
      }
      store %y[%i*%n + %j*%one] = %s
      yield
    }
    yield
  }
  yield
}
)");
}

TEST(JamRows, TheLastRowsAreDoneAgainToFillABlock) {
  // Of six, three at least are there: what the other ones store is under a condition.
  const std::string body =
      "for independent vector 16 %zero, %n { (%j)\nstore %y[%i*%n + %j*%one] = %z\nyield\n}\n";
  EXPECT_EQ(countInRows(body, "if %", 6), 3u);
  EXPECT_EQ(countInRows(body, "min ", 6), 3u);
  EXPECT_EQ(countInRows(body, "if %", 2), 0u) << "half of two is one, which is done by itself";
  const std::string branch = "%g = cmp lt %i, %n : bool\nif %g {\n" + body + "yield\n} {\nyield\n}\n";
  EXPECT_EQ(countInRows(branch, "min ", 6), 0u) << "stores that cannot be left out one by one";
}

TEST(JamRows, TheLastTwoRunTogether) {
  const std::string body =
      "for independent vector 16 %zero, %n { (%j)\nstore %y[%i*%n + %j*%one] = %z\nyield\n}\n";
  const std::string after = rows(body, 6), rest = after.substr(after.rfind("\n  for independent "));
  EXPECT_EQ(count(rest, "store "), 2u) << after;
  EXPECT_EQ(count(rest, "if %"), 1u) << "the second one may not be there\n" << after;
  const std::string branch = "%g = cmp lt %i, %n : bool\nif %g {\n" + body + "yield\n} {\nyield\n}\n";
  const std::string one = rows(branch, 3);
  EXPECT_EQ(count(one.substr(one.rfind("\n  for independent ")), "store "), 1u)
      << "stores that cannot be left out are done one by one\n"
      << one;
  const std::string behind = rows(body, 4);
  EXPECT_EQ(count(behind.substr(behind.rfind("\n  for independent ")), "store "), 1u)
      << "one at most is left";
}

TEST(JamRows, WhatIsLeftOfBriefChainsIsDoneByPairs) {
  auto product = [](const std::string& columns, const std::string& terms, const std::string& end = "%n") {
    return "for independent " + columns + " %zero, " + end + " { (%j)\n%s = for %zero, " + terms +
           ", %z : f32 { (%l, %t)\n%a = load %x[%i*%k + %l*%one] : f32\n%b = load %w[%l*%n + %j*%one] : f32\n"
           "%u = fma %a, %b, %t : f32\nyield %u\n}\nstore %y[%i*%n + %j*%one] = %s\nyield\n}\n";
  };
  // Six rows are a block from three on, or from five on; the program chooses.
  const std::string known = product("vector 16 interleave 4", "%k");
  EXPECT_EQ(countInRows(known, "if %", 6), 3u);
  EXPECT_EQ(count(rows(known, 6), "select "), 1u);
  // Columns of few registers are too few sums for pairs.
  EXPECT_EQ(count(rows(product("vector 16 interleave 2", "%k"), 6), "select "), 0u);
  // Of chains and columns of known sizes nothing is left to choose.
  const std::string after = jammed(
      "%many = const 100 : i64\n%wide = const 64 : i64\nfor independent unroll_jam 6 %zero, %m { (%i)\n" +
      product("vector 16 interleave 4", "%many", "%wide") + "yield\n}\n");
  EXPECT_EQ(count(after, "select "), 0u) << after;
  const size_t first = after.find("for independent "), rest = after.find("\n  for independent ", first);
  EXPECT_EQ(count(after.substr(first, rest - first), "if %"), 1u) << "five of six are there\n" << after;
}

TEST(JamRows, PairsAskForNothingAhead) {
  const std::string after = rows(
      "for independent vector 16 interleave 4 %zero, %n { (%j)\n%s = for %zero, %k, %z : f32 { (%l, %t)\n"
      "%a = load %x[%i*%k + %l*%one] : f32\n%b = load %w[%l*%n + %j*%one] prefetch : f32\n"
      "%u = fma %a, %b, %t : f32\nyield %u\n}\nstore %y[%i*%n + %j*%one] = %s\nyield\n}\n",
      6);
  EXPECT_EQ(count(after, " prefetch"), 1u) << after;
}

TEST(JamRows, OfRowsThatAreKnownToFillBlocksNoneIsLeft) {
  const std::string body =
      "for independent vector 16 %zero, %n { (%j)\nstore %y[%i*%n + %j*%one] = %z\nyield\n}\n";
  const std::string after = jammed(
      "%twelve = const 12 : i64\nfor independent unroll_jam 6 %zero, %twelve { (%i)\n" + body + "yield\n}\n");
  EXPECT_EQ(count(after, "for independent vector"), 1u);
  EXPECT_EQ(count(after, "if %"), 0u);
}

TEST(JamRows, WhatIsTheSameStandsOnce) {
  const std::string body = "%p = mul %n, %k : i64\n%v = load %w[%p*%one] : f32\n%q = mul %i, %n : i64\n"
                           "store %y[%q*%one] = %v\n";
  EXPECT_EQ(countInRows(body, "load"), 1u);
  EXPECT_EQ(countInRows(body, "mul %n, %k"), 1u);
  EXPECT_EQ(countInRows(body, "store", 3), 3u);
}

TEST(JamRows, AStoreIsDoneByEachPoint) {
  // It is not for this pass to say that it is the same each time.
  EXPECT_EQ(countInRows("for %zero, %n { (%j)\nstore %y[%j*%one] = %z\nyield\n}\n", "store"), 2u);
}

TEST(JamRows, ALoopWhoseEndsDifferIsDoneRowByRow) {
  const std::string sum = ", %z : f32 { (%j, %t)\n%v = load %w[%j*%one] : f32\n%u = add %t, %v : f32\n"
                          "yield %u\n}\nstore %y[%i*%one] = %s\n";
  EXPECT_EQ(countInRows("%s = for %zero, %n" + sum, "for %"), 1u) << "the same at all points";
  EXPECT_EQ(countInRows("%s = for %zero, %i" + sum, "for %"), 2u);
  EXPECT_EQ(countInRows("%s = for %i, %n" + sum, "for %", 4), 4u);
}

TEST(JamRows, BranchesAndWhileLoopsAreDoneRowByRowUnlessTheSame) {
  auto branch = [](const std::string& left) {
    return "%g = cmp lt " + left +
           ", %n : bool\n%v = if %g : f32 {\n%a = load %w[%one*%one] : f32\n"
           "yield %a\n} {\nyield %z\n}\nstore %y[%i*%one] = %v\n";
  };
  EXPECT_EQ(countInRows(branch("%i"), "if %"), 2u);
  EXPECT_EQ(countInRows(branch("%k"), "if %"), 1u);
  const std::string loop = "%r = while %i : i64 { (%a)\n%g = cmp lt %a, %n : bool\nyield %g\n} { (%b)\n"
                           "%d = add %b, %k : i64\nyield %d\n}\nstore %y[%i*%one] = %r\n";
  EXPECT_EQ(countInRows(loop, "while %", 3), 3u);
}

/// A branch that reads what differs, and gives what does not.
TEST(JamRows, SumsUnderABranchThatAllPointsTakeRunTogether) {
  const std::string sum = "%s = for %zero, %k, %z : f32 { (%l, %t)\n%a = load %x[%i*%k + %l*%one] : f32\n"
                          "%u = add %t, %a : f32\nyield %u\n}\n";
  auto inBranch = [&](const std::string& condition) {
    return condition + "%r = if %g : f32 {\n" + sum + "yield %s\n} {\nyield %z\n}\nstore %y[%i*%one] = %r\n";
  };
  const std::string alike = "%g = cmp lt %n, %k : bool\n", apart = "%g = cmp lt %i, %k : bool\n";
  EXPECT_EQ(countInRows(inBranch(alike), "for %"), 1u);
  EXPECT_EQ(countInRows(inBranch(apart), "for %"), 2u);
}

TEST(JamRows, WhatEachRowGivesAlikeIsUsedOnce) {
  const std::string body = R"(%c = cmp lt %zero, %k : bool
%v = if %c : f32 {
  %a = load %x[%i*%one] : f32
  yield %z
} {
  yield %z
}
%d = mul %v, %v : f32
store %y[%i*%one] = %d
)";
  EXPECT_EQ(countInRows(body, " if "), 2U);
  EXPECT_EQ(countInRows(body, "= mul %v"), 1U);
}

TEST(JamRows, WhatAllPointsCarryIsCarriedOnce) {
  // %p counts in the same way at all points, %t does not.
  const std::string after = rows("%s, %q = for %zero, %n, %i, %k : i64, i64 { (%j, %t, %p)\n"
                                 "%u = add %t, %p : i64\n%d = add %p, %one : i64\nyield %u, %d\n}\n"
                                 "%e = add %s, %q : i64\nstore %y[%i*%one] = %e\n");
  EXPECT_EQ(count(after, " = for %zero, %n, %"), 2u) << after;
  EXPECT_EQ(count(after, " : i64, i64, i64 { ("), 1u) << after;
}

/// A sum of what chains give, in a loop in lanes: turns of it are the rows.
std::string folded(const std::string& behind, int rows, const std::string& last = "%m",
                   const std::string& before = "") {
  return jammed("%sixteen = const 16 : i64\nfor independent vector 16 %zero, %n { (%j)\n%s = for independent "
                "unroll_jam " +
                std::to_string(rows) + " %zero, " + last + ", %z : f32 { (%i, %t)\n" + before +
                "%c = for %zero, %k, %z : f32 { (%l, %p)\n"
                "%a = load %x[%i*%k + %l*%one] : f32\n%b = load %w[%l*%n + %j*%one] : f32\n"
                "%q = fma %a, %b, %p : f32\nyield %q\n}\n%u = fma %c, %c, %t : f32\n" +
                behind + "yield %u\n}\nstore %y[%j*%one] = %s\nyield\n}\n");
}

TEST(JamRows, TurnsOfASumAddOneAfterAnother) {
  EXPECT_EQ(folded("", 2, "%sixteen"),
            R"(kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %sixteen = const 16 : i64
  for independent vector 16 %zero, %n { (%j)
    %0 = const 2 : i64
    %1 = const 0 : i64
    %2 = sub %sixteen, %zero : i64
    %3 = max %2, %1 : i64
    %4 = idiv %3, %0 : i64
    %5 = for independent %1, %4, %z : f32 { (%6, %7)
      %8 = mul %6, %0 : i64
      %9 = add %zero, %8 : i64
      %10 = const 0 : i64
      %11 = add %9, %10 : i64
      %12 = const 1 : i64
      %13 = add %9, %12 : i64
      %14, %15 = for %zero, %k, %z, %z : f32, f32 { (%16, %17, %18)
        %b = load %w[%16*%n + %j*%one] : f32
        %a = load %x[%11*%k + %16*%one] : f32
        %q = fma %a, %b, %17 : f32
        %a$1 = load %x[%13*%k + %16*%one] : f32
        %q$1 = fma %a$1, %b, %18 : f32
        yield %q, %q$1
      }
      %u = fma %14, %14, %7 : f32
      %u$1 = fma %15, %15, %u : f32
      yield %u$1
    }
    store %y[%j*%one] = %5
    yield
  }
  yield
}
)");
}

TEST(JamRows, ATurnOfASumThatIsNotThereAddsNothing) {
  const std::string after = folded("", 6);
  EXPECT_EQ(count(after, "select "), 5u) << after;
  EXPECT_EQ(count(after, "if "), 0u) << after;
  EXPECT_EQ(count(after, "for independent %"), 1u) << "nothing is left\n" << after;
  const std::string apart =
      folded("", 6, "%m",
             "%g = cmp lt %i, %n : bool\nif %g {\nstore %y[%j*%m + %i*%one] = %z\nyield\n} {\nyield\n}\n");
  EXPECT_EQ(count(apart, "select "), 0u) << "what is under a condition is not left out\n" << apart;
  EXPECT_EQ(count(apart, "for independent %"), 2u) << "the rest goes on with what the blocks gave\n" << apart;
}

TEST(JamRows, WhatTurnsOfASumStoreSideBySideIsStoredTogether) {
  const std::string along = "store %y[%j*%m + %i*%one] at 64 = %c\n";
  const std::string after = folded(along, 4);
  EXPECT_EQ(count(after, "at 64 = "), 1u + 4u) << "together, or each by itself\n" << after;
  for (const char* place : {"at 68 = ", "at 72 = ", "at 76 = "}) EXPECT_EQ(count(after, place), 1u) << after;
  EXPECT_EQ(count(folded(along, 4, "%sixteen"), "if "), 0u) << "all are there";
  EXPECT_EQ(count(folded("store %y[%i*%n + %j*%one] at 64 = %c\n", 4), "at 68"), 0u) << "a row for each";
}

/// A chain that keeps what it carries, in a loop in lanes.
std::string chain(const std::string& body, int rows = 4) {
  return "for independent vector 16 %zero, %n { (%j)\n%s = for " +
         (rows > 1 ? "unroll_jam " + std::to_string(rows) + " " : std::string()) +
         "%zero, %m, %z : f32 { (%i, %t)\n%a = load %x[%i*%one] : f32\n%u = fma %a, %t, %a : f32\n" + body +
         "yield %u\n}\nstore %w[%j*%one] = %s\nyield\n}\n";
}

TEST(JamRows, TurnsOfAChainStoreNeighboursTogether) {
  const std::string after = jammed(chain("store %y[%j*%m + %i*%one] at 64 = %t\n"));
  for (const char* place : {"at 68 = ", "at 72 = ", "at 76 = "}) EXPECT_EQ(count(after, place), 1u) << after;
  EXPECT_EQ(count(after, "select "), 0u) << "what is left is done turn by turn\n" << after;
  EXPECT_EQ(count(after, "fma "), 4u + 1u) << after;
  EXPECT_EQ(count(jammed(chain("store %x[%j*%m + %i*%one] at 64 = %t\n")), "at 68"), 0u)
      << "a turn may read what the one before wrote";
}

TEST(JamRows, ChainsWhoseStoresCanWait) {
  auto stores = [](const std::string& body) {
    LoopsText loops("kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
                    "  %zero = const 0 : i64\n  %one = const 1 : i64\n  " +
                    chain(body, 1) + "  yield\n}\n");
    EXPECT_EQ(loops.read.error, "");
    const Function& fn = loops.module().functions[FunctionId(0)];
    for (const Stmt& s : fn.stmts)
      if (s.kind == StmtKind::For && !s.results.empty()) return storesOfChain(fn, s).size();
    return size_t{0};
  };
  const std::string along = "store %y[%j*%m + %i*%one] = %t\n";
  EXPECT_EQ(stores(along), 1u);
  EXPECT_EQ(stores(along + "store %w[%j*%m + %i*%one] = %u\n"), 2u);
  EXPECT_EQ(stores(""), 0u);
  EXPECT_EQ(stores("store %x[%j*%m + %i*%one] = %t\n"), 0u) << "it is read";
  EXPECT_EQ(stores("store %y[%i*%n + %j*%one] = %t\n"), 0u) << "lanes store neighbours already";
  EXPECT_EQ(stores(along + "store %y[%j*%one] = %u\n"), 0u) << "which one is the last is seen";
  EXPECT_EQ(stores("%g = cmp lt %i, %n : bool\nif %g {\n" + along + "yield\n} {\nyield\n}\n"), 0u);
}

/// Sums of rows, partial sums of which lie in the frame, with a vector that all rows read.
std::string strips(const std::string& last, const std::string& shared = "%r*%one") {
  return "  for independent %zero, %m { (%i)\n%f = scratch 256 : address\n"
         "for independent distance 64 vector 16 interleave 4 %zero, " +
         last + " { (%r)\n%a = load %x[%i*%k + %r*%one] : f32\n%b = load %w[" + shared +
         "] : f32\n%p = and %r, %mask : i64\n%t = load %f[%p*%one] : f32\n%u = fma %a, %b, %t : f32\n"
         "store %f[%p*%one] = %u\nyield\n}\n%v = load %f[%zero*%one] : f32\nstore %y[%i*%one] = "
         "%v\nyield\n}\n";
}
const std::string mask = "%mask = const 63 : i64\n";

TEST(JamRows, EachRowHasItsOwnFrame) {
  std::string text = strips("%k");
  text.replace(text.find("for independent %zero, %m"), 15, "for independent unroll_jam 4");
  const std::string after = jammed(mask + text);
  EXPECT_EQ(count(after, "scratch 256"), 4u + 1u) << after;
  EXPECT_EQ(count(after, "load %w["), 1u + 1u) << "what all rows read once, and for those left\n" << after;
  const size_t limit = after.find("const 128 : i64"), chosen = after.find("select ");
  EXPECT_TRUE(limit < chosen && chosen < after.find("for independent %")) << "not of long rows\n" << after;
}

TEST(JamRows, StripsThatShareSomething) {
  auto bytes = [](const std::string& body) {
    LoopsText loops("kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
                    "  %zero = const 0 : i64\n  %one = const 1 : i64\n  " +
                    mask + body + "  yield\n}\n");
    EXPECT_EQ(loops.read.error, "");
    const Function& fn = loops.module().functions[FunctionId(0)];
    for (StmtId id : fn.regions[fn.body].stmts)
      if (fn.stmts[id].kind == StmtKind::For)
        return frameOfStrips(loops.module(), fn, fn.stmts[id]).value_or(0);
    return uint64_t{0};
  };
  EXPECT_EQ(bytes(strips("%k")), 256u);
  EXPECT_EQ(bytes(strips("%i")), 0u) << "each has a length of its own";
  EXPECT_EQ(bytes(strips("%k", "%i*%k + %r*%one")), 0u) << "nothing is shared";
  std::string outside = strips("%k");
  const std::string frame = "%f = scratch 256 : address\n";
  outside.erase(outside.find(frame), frame.size());
  EXPECT_EQ(bytes(frame + outside), 0u) << "one frame for all";
}

TEST(JamRows, TheSumWhoseTurnsAreRows) {
  auto isFound = [](const std::string& begun, const std::string& place,
                    const std::string& mark = "independent ") {
    const std::string text =
        "kernel @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
        "  %zero = const 0 : i64\n  %one = const 1 : i64\n  for independent vector 16 %zero, %n { (%j)\n%s = "
        "for " +
        mark + "%zero, %m, %z : f32 { (%i, %t)\n%c = for %zero, %k, " + begun +
        " : f32 { (%l, %p)\n%a = load %x[" + place +
        "] : f32\n%b = load %w[%l*%n + %j*%one] : f32\n%q = fma %a, %b, %p : f32\nyield %q\n}\n"
        "%u = add %c, %t : f32\nyield %u\n}\nstore %y[%j*%one] = %s\nyield\n}\nyield\n}\n";
    LoopsText loops(text);
    const Function& fn = loops.module().functions[FunctionId(0)];
    for (StmtId id : fn.regions[fn.body].stmts)
      if (fn.stmts[id].kind == StmtKind::For) return sumForRows(fn, id, sumsIn(fn, id)).has_value();
    return false;
  };
  EXPECT_TRUE(isFound("%z", "%i*%k + %l*%one"));
  EXPECT_FALSE(isFound("%t", "%i*%k + %l*%one")) << "the chain goes on with what the turn before gave";
  EXPECT_FALSE(isFound("%z", "%i*%k + %l*%n + %j*%one")) << "lanes read of each turn something else";
  EXPECT_FALSE(isFound("%z", "%i*%k + %l*%one", "")) << "turns may depend on each other otherwise";
}

TEST(JamRows, AStripIsOfFewerTurns) {
  const std::string loop = " %zero, %m { (%i)\n%p = and %i, %last : i64\n"
                           "store %y[%p*%one] = %z\nyield\n}\n",
                    last = "%last = const 63 : i64\n";
  for (auto [rows, strip] : {std::pair("4", "16"), {"3", "16"}, {"2", "32"}}) {
    const std::string after = jammed(last + "for independent distance 64 unroll_jam " + rows + loop);
    EXPECT_EQ(count(after, std::string("for independent distance ") + strip + " %"), 1u) << after;
    EXPECT_EQ(count(after, "for independent distance 64 %"), 1u) << after;
  }
}

TEST(JamRows, LoopsWithoutRowsStayAsTheyAre) {
  const std::string body =
      "for independent vector 16 %zero, %n { (%j)\n    store %y[%j*%one] = %z\n    yield\n  }\n";
  const std::string after = jammed(body);
  EXPECT_EQ(count(after, "for "), 1u);
  EXPECT_NE(after.find("  " + body), std::string::npos) << after;
}

TEST(JamRows, InsideOfOtherLoopsAndBranches) {
  const std::string inner =
      "for independent unroll_jam 2 %zero, %m { (%i)\nstore %y[%i*%one] = %z\nyield\n}\n";
  EXPECT_EQ(count(jammed("for %zero, %n { (%o)\n" + inner + "yield\n}\n"), "for independent"), 2u);
  EXPECT_EQ(count(jammed("%g = cmp lt %n, %k : bool\nif %g {\n" + inner + "yield\n} {\nyield\n}\n"),
                  "for independent"),
            2u);
}

} // namespace
} // namespace melix::loops
