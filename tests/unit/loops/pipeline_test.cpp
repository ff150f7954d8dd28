// From Core text to Loops: ownership, kernels, what is refused.
#include "loops/layout/layout.h"
#include "loops/lowered.h"

namespace melix::loops {
namespace {

TEST(Modes, WhatIsOnlyReadIsElements) {
  Lowered lowered(R"(
fn first [N] (%x: f64[N]) -> (f64) {
  %zero = const 0 : i64
  %v = get %x[%zero] : f64
  yield %v
}
fn second [N] (%y: f64[N]) -> (f64) {
  %r = call @first %y dims [N] : f64
  yield %r
}
fn update [N] (%z: f64[N], %v2: f64) -> (f64[N]) {
  %zero2 = const 0 : i64
  %w = set %z[%zero2] = %v2 : f64[N]
  yield %w
}
)");
  EXPECT_EQ(lowered.function("first").modes[1], ModeKind::Elements);
  EXPECT_EQ(lowered.function("second").modes[1], ModeKind::Elements);
  EXPECT_EQ(lowered.function("update").modes[1], ModeKind::Own);
  EXPECT_EQ(countOf(lowered.function("update"), StmtKind::EnsureUnique), 1u);
  EXPECT_EQ(countOf(lowered.function("update"), StmtKind::Retain), 0u);
  EXPECT_EQ(countOf(lowered.function("second"), StmtKind::Retain), 0u);
}

TEST(Modes, WhatIsGivenAwayThroughCallsIsOwnedByEveryCaller) {
  // The caller stands before the callee, and two call each other.
  Lowered lowered(R"(
fn outer [N] (%x: f64[N], %n: i64) -> (f64[N]) {
  %r = call @even %x, %n dims [N] : f64[N]
  yield %r
}
fn even [N] (%x: f64[N], %n: i64) -> (f64[N]) {
  %r = call @odd %n, %x dims [N] : f64[N]
  yield %r
}
fn odd [N] (%n: i64, %x: f64[N]) -> (f64[N]) {
  %zero = const 0 : i64
  %c = cmp gt %n, %zero : bool
  %r = if %c {
    %a = call @even %x, %n dims [N] : f64[N]
    yield %a
  } {
    %v = const 1.0 : f64
    %w = set %x[%zero] = %v : f64[N]
    yield %w
  } : f64[N]
  yield %r
}
fn reads [N] (%x: f64[N], %n: i64) -> (f64) {
  %y = call @outer %x, %n dims [N] : f64[N]
  %zero = const 0 : i64
  %v = get %y[%zero] : f64
  yield %v
}
)");
  for (const char* key : {"outer", "even"}) EXPECT_EQ(lowered.function(key).modes[1], ModeKind::Own) << key;
  EXPECT_EQ(lowered.function("odd").modes[2], ModeKind::Own);
  EXPECT_EQ(lowered.function("reads").modes[1], ModeKind::Own);
}

TEST(Closed, AFunctionIsClosedIfAllThatItCallsIs) {
  Lowered lowered(R"(
fn top (%a: f64) -> (f64) {
  %b = call @middle %a : f64
  %c = call @leaf %b : f64
  yield %c
}
fn middle (%a: f64) -> (f64) {
  %b = call @leaf %a : f64
  yield %b
}
fn leaf (%a: f64) -> (f64) {
  %b = mul %a, %a : f64
  yield %b
}
fn recursive (%a: f64) -> (f64) {
  %b = call @recursive %a : f64
  yield %b
}
fn calls_recursive (%a: f64) -> (f64) {
  %b = call @recursive %a : f64
  yield %b
}
fn returns_array (%a: f64) -> (f64[1]) {
  %b = zero : f64[1]
  yield %b
}
)");
  for (const char* key : {"top", "middle", "leaf"}) EXPECT_TRUE(lowered.function(key).isClosed()) << key;
  for (const char* key : {"recursive", "calls_recursive", "returns_array"})
    EXPECT_FALSE(lowered.function(key).isClosed()) << key;
}

TEST(Counts, EachPathDropsWhatItDoesNotUse) {
  Lowered lowered(R"(
fn choose (%c: bool, %n: i64) -> (i64[4]) {
  %x = zero : i64[4]
  %y = zero : i64[4]
  %zero = const 0 : i64
  %x2 = set %x[%zero] = %n : i64[4]
  %r = if %c {
    yield %x2
  } {
    yield %y
  } : i64[4]
  yield %r
}
)");
  EXPECT_EQ(countOf(lowered.function("choose"), StmtKind::Drop), 2u) << lowered.text("choose");
  EXPECT_EQ(countOf(lowered.function("choose"), StmtKind::Retain), 0u);
}

TEST(Kernels, HoldNestsWithoutAllocation) {
  Lowered lowered(R"(
fn scale [N, M] (%x: f64[N, M], %s: f64) -> (f64[N, M]) {
  %r = nest (%i: N) -> collect[i] {
    %row = nest (%j: M) -> collect[j] {
      %a = get %x[%i, %j] : f64
      %b = mul %a, %s : f64
      yield %b
    } : f64[M]
    yield %row
  } : f64[N, M]
  yield %r
}
)");
  EXPECT_EQ(lowered.function("scale.loop0").kind, FunctionKind::Kernel) << lowered.text("scale.loop0");
  EXPECT_EQ(countOf(lowered.function("scale"), StmtKind::Launch), 1u);
  EXPECT_EQ(countOf(lowered.function("scale"), StmtKind::AllocArray), 1u);
}

TEST(Kernels, ABodyThatAllocatesIsAChunk) {
  Lowered lowered(R"(
fn names [N] (%x: i64[N]) -> ({str}[N]) {
  %r = nest (%i: N) -> collect[i] {
    %a = get %x[%i] : i64
    %b = format "" %a : str
    yield %b
  } : {str}[N]
  yield %r
}
)");
  EXPECT_EQ(lowered.function("names.loop0").kind, FunctionKind::Chunk);
}

TEST(Kernels, AccumulatorsRunInOrder) {
  Lowered lowered(R"(
fn histogram [N] (%x: i64[N], %h: f64[8]) -> (f64[8]) {
  %g = nest (%i: N) -> accs (%a = %h) {
    %k = get %x[%i] : i64
    %one = const 1.0 : f64
    %b = add_at %a[%k] += %one : acc f64[8]
    yield %b
  } : f64[8]
  yield %g
}
)");
  EXPECT_EQ(countOf(lowered.function("histogram"), StmtKind::Launch), 0u);
  EXPECT_EQ(countOf(lowered.function("histogram"), StmtKind::Retain), 0u) << lowered.text("histogram");
}

/// Another order of the points would be another sweep, which added again.
TEST(Accumulators, ATermThatIsFoundWhereSomethingIsAddedHasOneOrder) {
  const auto summed = [](const std::string& keep, const std::string& term) {
    return Lowered("fn f [N, M] (%x: f64[N, M], %h: f64[N]) -> (f64[M], f64[N]) {\n"
                   "  %s, %g = nest (%i: N, %j: M) -> keep[" +
                   keep + R"(] sum chain accs (%a = %h) {
    %v = get %x[%i, %j] : f64
    %c = cmp lt %i, %j : bool
    %b, %t = if %c {
      %a1 = add_at %a[%i] += %v : acc f64[N]
      yield %a1, %v
    } {
      %w = neg %v : f64
      yield %a, %w
    } : acc f64[N], f64
    yield )" + term +
                   R"(, %b
  } : f64[M], f64[N]
  yield %s, %g
}
)");
  };
  EXPECT_FALSE(summed("j", "%v").result->error);
  EXPECT_TRUE(summed("j", "%t").result->error);
}

TEST(Views, ARowThatIsOnlyReadIsNotCopied) {
  Lowered lowered(R"(
fn rows [N, M] (%x: f64[N, M]) -> (f64[N]) {
  %r = nest (%i: N) -> collect[i] {
    %row = get %x[%i] : f64[M]
    %s = nest (%j: M) -> keep[] sum chain {
      %a = get %row[%j] : f64
      yield %a
    } : f64
    yield %s
  } : f64[N]
  yield %r
}
)");
  EXPECT_EQ(lowered.function("rows.loop0").kind, FunctionKind::Kernel) << lowered.text("rows.loop0");
}

TEST(Views, ARowOfAnArrayThatIsUpdatedIsACopyOfTheRow) {
  Lowered lowered(R"(
fn step [N, M] (%x: f64[N, M], %i: i64, %v: f64) -> (f64[N, M], f64) {
  %row = get %x[%i] : f64[M]
  %y = set %x[%i, %i] = %v : f64[N, M]
  %a = get %row[%i] : f64
  yield %y, %a
}
)");
  EXPECT_EQ(countOf(lowered.function("step"), StmtKind::AllocArray), 1u);
  EXPECT_EQ(countOf(lowered.function("step"), StmtKind::Retain), 0u) << lowered.text("step");
}

TEST(Views, ARowThatIsStoredInAnotherArrayIsCopiedOnce) {
  Lowered lowered(R"(
fn stored [N, M] (%x: f64[N, M], %y: f64[N, M], %i: i64, %j: i64) -> (f64[N, M]) {
  %row = get %y[%j] : f64[M]
  %z = set %x[%i] = %row : f64[N, M]
  yield %z
}
fn same [N, M] (%x: f64[N, M], %i: i64, %j: i64) -> (f64[N, M]) {
  %row = get %x[%j] : f64[M]
  %z = set %x[%i] = %row : f64[N, M]
  yield %z
}
)");
  EXPECT_EQ(countOf(lowered.function("stored"), StmtKind::AllocArray), 0u) << lowered.text("stored");
  EXPECT_EQ(countOf(lowered.function("stored"), StmtKind::CopyBytes), 1u) << lowered.text("stored");
  EXPECT_EQ(countOf(lowered.function("same"), StmtKind::AllocArray), 1u) << "rows may be the same memory";
}

const std::string norm = R"(
fn norm [N] (%x: f64[N]) -> (f64) {
  %s = nest (%i: N) -> keep[] sum chain {
    %a = get %x[%i] : f64
    yield %a
  } : f64
  yield %s
}
fn same [N] (%x: f64[N]) -> (f64[N]) {
  yield %x
}
)";
/// How many blocks a function makes of parts of an array that it passes to others.
size_t blocksOf(const std::string& params, const std::string& results, const std::string& body) {
  Lowered lowered(norm + "fn f [N, M] (%x: f64[N, M], %i: i64" + params + ") -> (" + results + ") {\n" +
                  body + "}\n");
  const Function& f = lowered.function("f");
  EXPECT_EQ(countOf(f, StmtKind::Retain), 0u) << lowered.text("f");
  return countOf(f, StmtKind::AllocArray) + countOf(f, StmtKind::FrameArray);
}

TEST(Views, ARowGoesToACallAsAnAddress) {
  EXPECT_EQ(blocksOf("", "f64",
                     "  %row = get %x[%i] : f64[M]\n  %s = call @norm %row dims [M] : f64\n  yield %s\n"),
            0u);
  EXPECT_EQ(blocksOf("", "f64",
                     "  %row = get %x[%i] : f64[M]\n  %part = get %row[%i +: 2] : f64[2]\n"
                     "  %s = call @norm %part dims [2] : f64\n  yield %s\n"),
            0u);
  EXPECT_EQ(blocksOf(", %y: f64[M]", "f64",
                     "  %row = get %x[%i] : f64[M]\n  %r = cast_dims %row : f64[M]\n"
                     "  %s = call @norm %r dims [M] : f64\n  %t = call @norm %y dims [M] : f64\n"
                     "  %u = add %s, %t : f64\n  yield %u\n"),
            0u);
}

/// What is updated afterwards is a block with one owner then.
TEST(Views, ARowGoesAsAnAddressUntilTheArrayIsUpdated) {
  const std::string row = "  %row = get %x[%i] : f64[M]\n", call = "call @norm %row dims [M] : f64\n",
                    set = "  %y = set %x[%i, %i] = %s : f64[N, M]\n";
  EXPECT_EQ(blocksOf("", "f64[N, M]", row + "  %s = " + call + set + "  yield %y\n"), 0u);
  EXPECT_EQ(
      blocksOf("", "f64[N, M], f64", row + "  %s = " + call + set + "  %t = " + call + "  yield %y, %t\n"),
      1u);
}

TEST(Views, AColumnOrWhatACalleeKeepsIsCopied) {
  EXPECT_EQ(
      blocksOf("", "f64", "  %c = get %x[:, %i] : f64[N]\n  %s = call @norm %c dims [N] : f64\n  yield %s\n"),
      1u);
  EXPECT_EQ(blocksOf("", "f64",
                     "  %p = get %x[:, %i +: 2] : f64[N, 2]\n  %c = get %p[%i] : f64[2]\n"
                     "  %s = call @norm %c dims [2] : f64\n  yield %s\n"),
            1u);
  EXPECT_EQ(blocksOf("", "f64[M]",
                     "  %row = get %x[%i] : f64[M]\n  %s = call @same %row dims [M] : f64[M]\n  yield %s\n"),
            1u);
}

TEST(Refused, ComplexNumbersWithTheirType) {
  Lowered lowered(R"(
fn twice (%z: c128) -> (c128) {
  %w = add %z, %z : c128
  yield %w
}
)");
  ASSERT_TRUE(lowered.result->error);
  EXPECT_NE(lowered.result->error->what.find("c128"), std::string::npos);
}

/// Types that hold the one below twice, and functions that make, read, change, carry and pass values of them.
std::string doubling(int levels) {
  std::string text = "struct P0 { a: f64, b: f64 }\nfn f0 (%v: P0) -> (P0) {\n  yield %v\n}\n";
  for (int k = 1; k <= levels; ++k) {
    std::string n = std::to_string(k), below = std::to_string(k - 1);
    text += "struct P" + n + " { a: P" + below + ", b: P" + below + " }\n";
    text += "fn f" + n + " (%v: P" + n + ") -> (P" + n + ") {\n";
    text += "  %a = get %v.0 : P" + below + "\n";
    text += "  %b = call @f" + below + " %a : P" + below + "\n";
    text += "  %w = make %b, %a : P" + n + "\n";
    text += "  %n = const 3 : i64\n";
    text += "  %x = for collects 0 %n, %w { (%i: i64, %u: P" + n + ")\n";
    text += "    %u2 = set %u.1 = %b : P" + n + "\n    yield %u2\n  } : P" + n + "\n  yield %x\n}\n";
  }
  return text;
}

TEST(Records, CodeForTypesThatDoubleGrowsLinearly) {
  std::vector<size_t> counts;
  for (int levels : {12, 18, 24}) {
    Lowered lowered(doubling(levels));
    ASSERT_FALSE(lowered.result->error);
    size_t count = 0;
    for (const Function& fn : lowered.result->module.functions) {
      count += fn.stmts.size();
      EXPECT_LE(fn.params().size(), leafLimit) << fn.key;
      EXPECT_LE(fn.results.size(), leafLimit) << fn.key;
    }
    counts.push_back(count);
  }
  EXPECT_LE(10 * (counts[2] - counts[1]), 11 * (counts[1] - counts[0]));
}

TEST(Records, TheOnlyOwnerOfABlockChangesItInPlace) {
  Lowered lowered(doubling(6));
  const Function& fn = lowered.function("f6");
  EXPECT_EQ(fn.modes[0], ModeKind::Elements);
  EXPECT_EQ(countOf(fn, StmtKind::EnsureUnique), 1u);
  EXPECT_EQ(countOf(fn, StmtKind::Retain), 0u);
}

TEST(Verifier, FindsALeak) {
  Lowered lowered(R"(
fn choose (%n: i64) -> (i64) {
  %x = zero : i64[400]
  %zero = const 0 : i64
  %r = get %x[%zero] : i64
  yield %r
}
)");
  Function& fn = lowered.result->module.functions[FunctionId(0)];
  std::vector<StmtId>& stmts = fn.regions[fn.body].stmts;
  std::erase_if(stmts, [&](StmtId s) { return fn.stmts[s].kind == StmtKind::Drop; });
  EXPECT_NE(verify(lowered.result->module, {State::CountsInserted}).find("owners left"), std::string::npos);
}

/// A function that is seldom called, and long, calls the one before it twice: 2^30 calls from the last.
TEST(Compile, LongChainsOfSeldomCallsAreReadOnce) {
  std::string text = "fn f0 (%x: f64) -> (f64) cold {\n  yield %x\n}\n";
  for (int level = 1; level <= 30; ++level) {
    const std::string before = std::to_string(level - 1);
    text += "fn f" + std::to_string(level) + " (%x: f64) -> (f64) cold {\n  %v0 = call @f" + before +
            " %x : f64\n  %w = call @f" + before + " %v0 : f64\n";
    for (int k = 1; k <= 100; ++k)
      text += "  %v" + std::to_string(k) + " = add %v" + std::to_string(k - 1) + ", %w : f64\n";
    text += "  yield %v100\n}\n";
  }
  text += R"(
fn main [N] (%x: f64[N]) -> (f64[N]) {
  %y = nest (%i: N) -> collect[i] {
    %v = get %x[%i] : f64
    %w = call @f30 %v : f64
    yield %w
  } : f64[N]
  yield %y
}
)";
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  ASSERT_EQ(core::parseModule(core, text), "");
  core.functions[core::findFunction(core, "main")].keep = true;
  constexpr Machine machine{"", 512, 32, MaskKind::Registers};
  Options options;
  options.machine = &machine;
  const Result result = fromCore(core, options);
  EXPECT_FALSE(result.error);
  EXPECT_NE(print(result.module).find("call @f30 "), std::string::npos);
}

} // namespace
} // namespace melix::loops
