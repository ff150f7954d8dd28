// Programs whose loops run in lanes, at sizes around strips, compiled in every way: the interpreter's bits.
#include "interp/interp.h"
#include "jit/program.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>

#include <regex>

namespace melix::jit {
namespace {

constexpr int sizes[] = {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 130};

/// Whether a loop of `@f` runs in lanes on this processor.
bool hasLanes(const core::Module& core) {
  const loops::Result lowered = loops::fromCore(core, codegen::loopOptions({}));
  for (const loops::Function& fn : lowered.module.functions) {
    if (!fn.name.starts_with("f")) continue;
    for (const loops::Region& region : fn.regions)
      for (loops::StmtId id : region.stmts)
        if (fn.stmts[id].kind == loops::StmtKind::For && fn.stmts[id].as<loops::ForAttr>().vectorWidth > 0)
          return true;
  }
  return false;
}

void expectSame(const std::string& text) {
  Program program(text);
  ASSERT_EQ(program.error, "");
  EXPECT_TRUE(hasLanes(program.core)) << text;
  const interp::RunResult expected = interp::Program(program.core).run(program.core.entry, {});
  ASSERT_FALSE(expected.panicked) << expected.panic.message;
  for (const Way& way : waysToCompile()) {
    const Outcome outcome = program.run(way.options);
    ASSERT_EQ(outcome.error, "") << text;
    EXPECT_EQ(outcome.status, MELIX_OK) << way.name << "\n" << outcome.panic << text;
    EXPECT_EQ(outcome.result, expected.values[0].slot().i) << way.name << "\n" << text;
    EXPECT_EQ(outcome.stats.liveBlocks, 0) << way.name;
  }
}

/// What a test reads: N numbers of either sign (values), N places below N in no order (places), whether
/// every third (marks), and N structs of an odd size (parts).
constexpr const char* inputs = R"(
struct Part { kind: u8, weight: f32, at: u16 }
fn values [N] () -> (f32[N]) {
  %r = nest (%i: N) -> collect[i] {
    %k = const 7919 : i64
    %m = const 61 : i64
    %a = mul %i, %k : i64
    %b = irem %a, %m : i64
    %c = const 30 : i64
    %d = sub %b, %c : i64
    %e = convert saturate %d : f32
    %s = const 7.0 : f32
    %f = div %e, %s : f32
    yield %f
  } : f32[N]
  yield %r
}
fn places [N] (%n: i64) -> (i64[N]) {
  %r = nest (%i: N) -> collect[i] {
    %k = const 37 : i64
    %a = mul %i, %k : i64
    %t = const 5 : i64
    %b = add %a, %t : i64
    %c = irem %b, %n : i64
    yield %c
  } : i64[N]
  yield %r
}
fn marks [N] () -> (bool[N]) {
  %r = nest (%i: N) -> collect[i] {
    %k = const 3 : i64
    %zero = const 0 : i64
    %a = irem %i, %k : i64
    %b = cmp eq %a, %zero : bool
    yield %b
  } : bool[N]
  yield %r
}
fn parts [N] () -> ({Part}[N]) {
  %r = nest (%i: N) -> collect[i] {
    %k = convert wrap %i : u8
    %w = convert saturate %i : f32
    %c = const 999 : i64
    %a = mul %i, %c : i64
    %t = convert wrap %a : u16
    %p = make %k, %w, %t : Part
    yield %p
  } : {Part}[N]
  yield %r
}
)";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  return std::regex_replace(text, std::regex(word), by);
}

/// The bits of numbers, each with a weight of its own.
std::string hashOf(const std::string& type) {
  std::string bits = "%w = convert wrap %v : i64";
  if (type == "f32") bits = "%b = bitcast %v : u32\n    %w = convert wrap %b : i64";
  if (type == "i64") bits = "%o = const 0 : i64\n    %w = add %v, %o : i64";
  return "fn hash [N] (%x: " + type +
         "[N]) -> (i64) {\n  %r = nest (%i: N) -> keep[] sum {\n    %v = get %x[%i] : " + type + "\n    " +
         bits +
         "\n    %p = const 1099511628211 : i64\n    %q = const 17 : i64\n    %e = add %i, %q : i64\n"
         "    %f = mul %e, %p : i64\n    %g = mul %f, %e : i64\n    %h = mul %g, %w : i64\n    yield %h\n"
         "  } : i64\n  yield %r\n}\n";
}

/// main, which mixes what `@f` gives for all sizes, known to @f_64 and the like and not to @f. `result` is
/// what it gives, of N elements, or a number.
std::string atAllSizes(const std::string& f, const std::string& result, bool isArray) {
  std::string text = inputs,
              main = "fn main () -> (i64) {\n  %h = const 17 : i64\n  %p = const 1099511628211 : i64\n";
  text += isArray ? hashOf(result) : "";
  text += "fn f [N] " + f;
  std::string last = "%h";
  for (int size : sizes)
    for (bool known : {false, true}) {
      const std::string n = std::to_string(size), k = n + (known ? "_known" : "");
      if (known) text += "fn f_" + n + " " + replaced(f, "\\bN\\b", n);
      main += replaced("  %n# = const @ : i64\n  %x# = call @values dims [@] : f32[@]\n"
                       "  %g# = call @places %n# dims [@] : i64[@]\n  %m# = call @marks dims [@] : bool[@]\n"
                       "  %s# = call @parts dims [@] : {Part}[@]\n",
                       "@(?=[ \\]])", n);
      main += "  %r# = call @f" + (known ? "_" + n : "") + " %x#, %g#, %m#, %s#, %n#" +
              (known ? "" : " dims [" + n + "]") + " : " + result + (isArray ? "[" + n + "]" : "") + "\n";
      if (isArray)
        main += "  %w# = call @hash %r# dims [" + n + "] : i64\n";
      else if (result == "i64")
        main += "  %w# = neg %r# : i64\n";
      else
        main += "  %w# = convert wrap %r# : i64\n";
      main += "  %a# = mul " + last + ", %p : i64\n  %h# = add %a#, %w# : i64\n";
      last = "%h" + k;
      main = replaced(main, "#", k);
    }
  return text + main + "  yield " + last + "\n}\n";
}

/// `body` yields an element of the result for %i, from %x (f32), %g (places), %m (marks), %s (parts), %n.
void elements(const std::string& type, const std::string& body) {
  expectSame(
      atAllSizes("(%x: f32[N], %g: i64[N], %m: bool[N], %s: {Part}[N], %n: i64) -> (" + type +
                     "[N]) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n  %nought = const 0.0 : f32\n"
                     "  %r = nest (%i: N) -> collect[i] {\n" +
                     body + "  } : " + type + "[N]\n  yield %r\n}\n",
                 type, true));
}

TEST(Lanes, NestedBranches) {
  elements("f32", R"(    %v = get %x[%i] : f32
    %c = cmp lt %v, %nought : bool
    %r1 = if %c {
      %w = mul %v, %v : f32
      %t = const 4.0 : f32
      %d = cmp lt %w, %t : bool
      %r2 = if %d {
        %a = sqrt %w : f32
        yield %a
      } {
        %b = div %t, %w : f32
        yield %b
      } : f32
      yield %r2
    } {
      %k = get %m[%i] : bool
      %r3 = if %k {
        %a3 = neg %v : f32
        yield %a3
      } {
        yield %v
      } : f32
      yield %r3
    } : f32
    yield %r1
)");
}

/// The quotient is there only for lanes that are on, and the place only where it is inside.
TEST(Lanes, WhatIsOffIsNotReadNorDivided) {
  elements("i64", R"(    %k = get %m[%i] : bool
    %r1 = if %k {
      %j = get %g[%i] : i64
      %q = idiv %n, %j : i64
      %u = irem %i, %j : i64
      %e = add %q, %u : i64
      yield %e
    } {
      %far = const 1000000000000 : i64
      %out = cmp gt %i, %far : bool
      %r2 = if %out {
        %p = mul %i, %far : i64
        %v = get %g[%p] : i64
        %z = get %g[%far] : i64
        %y = add %v, %z : i64
        yield %y
      } {
        yield %i
      } : i64
      yield %r2
    } : i64
    yield %r1
)");
}

TEST(Lanes, WhileLoopsEndAtOtherTurns) {
  // Some never start: one that has ended does not go on.
  elements("i64", R"(    %j = get %g[%i] : i64
    %a, %count = while %j, %zero { (%b: i64, %d: i64)
      %c = cmp gt %b, %one : bool
      yield %c
    } { (%b2: i64, %d2: i64)
      %two = const 2 : i64
      %three = const 3 : i64
      %odd = irem %b2, %two : i64
      %isOdd = cmp eq %odd, %one : bool
      %next = if %isOdd {
        %t = mul %b2, %three : i64
        %t2 = add %t, %one : i64
        yield %t2
      } {
        %half = idiv %b2, %two : i64
        yield %half
      } : i64
      %more = add %d2, %one : i64
      yield %next, %more
    } : i64, i64
    %r1 = add %a, %count : i64
    yield %r1
)");
}

TEST(Lanes, TriangularSums) {
  elements("f32", R"(    %r1 = for collects 0 %i, %nought { (%j: i64, %t: f32)
      %v = get %x[%j] : f32
      %u = add %t, %v : f32
      yield %u
    } : f32
    yield %r1
)");
  // Those off at the loop's beginning make no turn of it; ends below the beginning make none either.
  elements("f32", R"(    %k = get %m[%i] : bool
    %r1 = if %k {
      %j1 = get %g[%i] : i64
      %half = sub %j1, %i : i64
      %s1 = for collects 0 %half, %nought { (%j: i64, %t: f32)
        %v = get %x[%j] : f32
        %w = get %x[%i] : f32
        %u = fma %v, %w, %t : f32
        yield %u
      } : f32
      yield %s1
    } {
      %w2 = get %x[%i] : f32
      yield %w2
    } : f32
    yield %r1
)");
}

TEST(Lanes, GathersAndReversedReads) {
  elements("f32", R"(    %j = get %g[%i] : i64
    %v = get %x[%j] : f32
    %b = sub %n, %one : i64
    %k = sub %b, %i : i64
    %w = get %x[%k] : f32
    %r1 = sub %v, %w : f32
    yield %r1
)");
}

TEST(Lanes, FieldsOfStructsOfOddSizes) {
  elements("f32", R"(    %w = get %s[%i].1 : f32
    %k = get %s[%i].0 : u8
    %t = get %s[%i].2 : u16
    %a = convert saturate %k : f32
    %b = convert saturate %t : f32
    %c = mul %a, %b : f32
    %d = mul %c, %c : f32
    %e = sub %d, %a : f32
    %h = mul %e, %b : f32
    %j = add %h, %c : f32
    %r1 = sub %j, %w : f32
    yield %r1
)");
  elements("u16", R"(    %j = get %g[%i] : i64
    %t = get %s[%j].2 : u16
    %r1 = mul %t, %t : u16
    yield %r1
)");
}

TEST(Lanes, TruthValuesAndNarrowNumbers) {
  elements("bool", R"(    %v = get %x[%i] : f32
    %c = cmp lt %v, %nought : bool
    %k = get %m[%i] : bool
    %r1 = xor %c, %k : bool
    yield %r1
)");
  for (const char* type : {"u8", "i8", "u16", "i16"})
    elements(type, replaced(R"(    %k = get %s[%i].0 : u8
    %c = get %m[%i] : bool
    %a = convert wrap %k : T
    %b = mul %a, %a : T
    %r1 = select %c, %b, %a : T
    yield %r1
)",
                            "T", type));
}

/// Of integers of a type, each in one loop of its own: of the places, and of every place where a mark is.
TEST(Lanes, ReductionsThatGiveTheSameInAnyOrder) {
  for (const std::string type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    std::string body = "(%x: f32[N], %g: i64[N], %m: bool[N], %s: {Part}[N], %n: i64) -> (" + type + ") {\n",
                last = "%o";
    body += "  %o = const 1 : " + type + "\n  %three = const 3 : " + type + "\n";
    for (const std::string how : {"sum", "prod", "min", "max"}) {
      body += replaced("  %r# = nest (%i#: N) -> keep[] # {\n    %j# = get %g[%i#] : i64\n"
                       "    %k# = convert wrap %j# : T\n    %a# = mul %k#, %k# : T\n"
                       "    %b# = sub %a#, %three : T\n    yield %b#\n  } : T\n  %c# = mul " +
                           last + ", %three : T\n  %d# = add %c#, %r# : T\n",
                       "T", type);
      body = replaced(body, "#", how);
      last = "%d" + how;
    }
    body += "  yield " + last + "\n}\n";
    expectSame(atAllSizes(body, type, false));
  }
}

TEST(Lanes, WhetherAllOrAny) {
  for (const std::string how : {"and", "or"})
    for (const std::string limit : {"-9.0", "-4.0", "4.0"})
      expectSame(atAllSizes(
          "(%x: f32[N], %g: i64[N], %m: bool[N], %s: {Part}[N], %n: i64) -> (i64) {\n  %r = nest (%i: N) -> "
          "keep[] " +
              how + " {\n    %v = get %x[%i] : f32\n    %l = const " + limit +
              " : f32\n    %c = cmp lt %v, %l : bool\n    yield %c\n  } : bool\n"
              "  %one = const 1 : i64\n  %two = const 2 : i64\n"
              "  %w = select %r, %one, %two : i64\n  yield %w\n}\n",
          "i64", false));
}

/// Of a matrix of A rows and B columns, for all pairs of some sizes.
void matrices(const std::string& f) {
  std::string text = inputs + hashOf("f32") + "fn f [A, B] " + f,
              main = "fn main () -> (i64) {\n  %h = const 17 : i64\n  %p = const 1099511628211 : i64\n",
              last = "%h";
  for (int rows : {0, 1, 2, 3, 4, 5, 8, 9})
    for (int columns : {0, 1, 5, 16, 17, 66}) {
      const std::string a = std::to_string(rows), b = std::to_string(columns),
                        n = std::to_string(rows * columns);
      main += "  %x# = call @values dims [" + n + "] : f32[" + n + "]\n  %c# = const " + b + " : i64\n" +
              "  %y# = nest (%i#: " + a + ", %j#: " + b +
              ") -> collect[i#, j#] {\n    %k# = mul %i#, %c# : i64\n" +
              "    %l# = add %k#, %j# : i64\n    %v# = get %x#[%l#] : f32\n    yield %v#\n  } : f32[" + a +
              ", " + b + "]\n  %r# = call @f %y# dims [" + a + ", " + b + "] : f32[" + b +
              "]\n  %w# = call @hash %r# dims [" + b + "] : i64\n  %m# = mul " + last +
              ", %p : i64\n  %h# = add %m#, %w# : i64\n";
      main = replaced(main, "#", a + "x" + b);
      last = "%h" + a + "x" + b;
    }
  expectSame(text + main + "  yield " + last + "\n}\n");
}

TEST(Lanes, ReadsThatAreTransposedOrAStepApart) {
  matrices(R"((%x: f32[A, B]) -> (f32[B]) {
  %t = nest (%i: B, %j: A) -> collect[i, j] {
    %v = get %x[%j, %i] : f32
    %w = neg %v : f32
    yield %w
  } : f32[B, A]
  %r = nest (%k: B, %l: A) -> keep[k] sum chain {
    %u = get %t[%k, %l] : f32
    %s = get %x[%l, %k] : f32
    %d = mul %u, %s : f32
    yield %d
  } : f32[B]
  yield %r
}
)");
}

/// All pairs of rows and columns: some points of the loop around are swept together.
TEST(Lanes, ProductsOfMatricesInRows) {
  matrices(R"((%x: f32[A, B]) -> (f32[B]) {
  %y = nest (%i: A, %j: B, %k: B) -> keep[i, j] sum chain {
    %a = get %x[%i, %k] : f32
    %z = const 0 : i64
    %b = get %x[%z, %j] : f32
    %c = mul %a, %b : f32
    yield %c
  } : f32[A, B]
  %q = nest (%l: B, %m: B, %n: A) -> keep[l, m] sum chain fused {
    %d = get %y[%n, %l] : f32
    %e = get %x[%n, %m] : f32
    %f = mul %d, %e : f32
    yield %f
  } : f32[B, B]
  %r = nest (%o: B, %p: B) -> keep[o] sum chain {
    %g = get %q[%o, %p] : f32
    yield %g
  } : f32[B]
  yield %r
}
)");
}

} // namespace
} // namespace melix::jit
