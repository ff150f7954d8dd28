// Bodies of nests where their results are read, from Core text.
#include "transforms/fuse_steps.h"

namespace melix::transforms {
namespace {

using interp::Value;

TEST(InlineRead, AChainIsOneNest) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[6]) {
  %two = const 2.0 : f32
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %two, %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = get %x[%j] : f32
    %5 = add %3, %4 : f32
    yield %5
  } : f32[6]
  %c = nest (%k: 6) -> collect[k] {
    %6 = get %b[%k] : f32
    %7 = math exp %6 : f32
    yield %7
  } : f32[6]
  yield %c
}
)");
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[6]) -> (f32[6]) {
  %two = const 2.0 : f32
  %c = nest (%k: 6) -> collect[k] {
    %0 = get %x[%k] : f32
    %1 = mul %two, %0 : f32
    %2 = add %1, %0 : f32
    %3 = math exp %2 : f32
    yield %3
  } : f32[6]
  yield %c
}
)");
}

/// Two readers: a product is computed twice, a function that is dear twice at most, a sweep never.
std::string twoReaders(std::string_view body) {
  return "fn f (%x: f32[6]) -> (f32[6], f32) {\n  %a = nest (%i: 6) -> collect[i] {\n    %1 = get %x[%i] : "
         "f32\n" +
         std::string(body) + R"(    yield %2
  } : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = neg %3 : f32
    yield %4
  } : f32[6]
  %c = nest (%k: 6) -> keep[] sum {
    %5 = get %a[%k] : f32
    yield %5
  } : f32
  yield %b, %c
}
)";
}
TEST(InlineRead, SeveralReadersComputeWhatIsCheap) {
  PassText once(twoReaders("    %2 = math exp %1 : f32\n"));
  once.apply(inlineReads, {numbers()});
  EXPECT_EQ(once.count("nest"), 2u) << once.text();
  PassText twice(twoReaders("    %0 = math exp %1 : f32\n    %2 = math exp %0 : f32\n"));
  twice.apply(inlineReads, {numbers()});
  EXPECT_EQ(twice.count("nest"), 3u) << twice.text();
}
TEST(InlineRead, ASweepIsComputedOnce) {
  PassText m(twoReaders(R"(    %2 = nest (%h: 1000) -> keep[] sum {
      %0 = mul %1, %1 : f32
      yield %0
    } : f32
)"));
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.count("nest"), 4u) << m.text();
}

/// Operands of products are read for many points.
TEST(InlineRead, OperandsOfAProductStay) {
  PassText m(R"(fn f (%v: f32[6]) -> (f32[3, 3]) {
  %x = reshape %v : f32[3, 2]
  %a = nest (%i: 3, %k: 2) -> collect[i, k] {
    %1 = get %x[%i, %k] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[3, 2]
  %c = nest (%ix: 3, %j: 3, %kx: 2) -> keep[ix, j] sum {
    %3 = get %a[%ix, %kx] : f32
    %4 = get %x[%j, %kx] : f32
    %5 = mul %3, %4 : f32
    yield %5
  } : f32[3, 3]
  yield %c
}
)");
  m.apply([](core::Module& module) { fuseAll(module); }, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << "an axis of three points: little is computed again";
  PassText n(R"(fn f [N] (%x: f32[N, N]) -> (f32[N, N]) {
  %a = nest (%i: N, %k: N) -> collect[i, k] {
    %1 = get %x[%i, %k] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[N, N]
  %c = nest (%ix: N, %j: N, %kx: N) -> keep[ix, j] sum {
    %3 = get %a[%ix, %kx] : f32
    %4 = get %x[%j, %kx] : f32
    %5 = mul %3, %4 : f32
    yield %5
  } : f32[N, N]
  yield %c
}
)");
  n.apply(fuseAll);
  EXPECT_EQ(n.count("nest"), 2u) << n.text();
}

TEST(InlineRead, BranchesComputeWhatTheyRead) {
  PassText m(R"(fn f (%x: f32[6]) -> (f32[5]) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 5) -> collect[j] {
    %first = cmp eq %j, %zero : bool
    %3 = if %first {
      %4 = get %a[%zero] : f32
      yield %4
    } {
      %5 = add %j, %one : i64
      %6 = get %a[%5] : f32
      %7 = get %a[%j] : f32
      %8 = sub %6, %7 : f32
      yield %8
    } : f32
    yield %3
  } : f32[5]
  yield %b
}
)");
  m.apply(inlineReads, {numbers()});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

/// The body has no check of its axis: it stands behind that of the first read.
TEST(InlineRead, StandsBehindTheCheckOfTheIndex) {
  PassText m(R"(fn f (%x: f32[6], %at: i64[3]) -> (f32[3]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = neg %1 : f32
    yield %2
  } : f32[6]
  %b = nest (%j: 3) -> collect[j] {
    %3 = get %at[%j] : i64
    check index "" %3 dims [6]
    %4 = get %a[%3] : f32
    %5 = get %a[%3] : f32
    %6 = mul %4, %5 : f32
    yield %6
  } : f32[3]
  yield %b
}
)");
  m.apply(inlineReads);
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[6], %at: i64[3]) -> (f32[3]) {
  %b = nest (%j: 3) -> collect[j] {
    %0 = get %at[%j] : i64
    check index "" %0 dims [6]
    %1 = get %x[%0] : f32
    %2 = neg %1 : f32
    %3 = mul %2, %2 : f32
    yield %3
  } : f32[3]
  yield %b
}
)");
}

/// What a loop reads it may read often.
TEST(InlineRead, LoopsReadArrays) {
  PassText m(R"(fn f (%x: f32[6], %n: i64) -> (f32) {
  %zero = const 0.0 : f32
  %at = const 2 : i64
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %s = for collects 0 %n, %zero { (%ix: i64, %t: f32)
    %3 = get %a[%at] : f32
    %4 = add %t, %3 : f32
    yield %4
  } : f32
  yield %s
}
)");
  m.apply(inlineReads, {numbers(), Value::integer(3)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

// --- memory, effects

constexpr const char* updatedBetween = R"(fn f (%x: f32[6], %k: i64, %v: f32) -> (f32[6], f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %y = set %x[%k] = %v : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %4 = get %y[%j] : f32
    %5 = add %3, %4 : f32
    yield %5
  } : f32[6]
  yield %b, %y
}
)";
/// The update would have to copy what is read behind it.
TEST(InlineRead, NotBehindAnUpdateOfWhatIsRead) {
  PassText m(updatedBetween);
  m.apply(fuseAll, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

/// A nest that does not need the update goes in front of it.
TEST(InlineRead, UpdatesStandBehindWhatTheyDoNotConcern) {
  PassText m(R"(fn f (%x: f32[6], %k: i64, %v: f32) -> (f32[6], f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = mul %1, %1 : f32
    yield %2
  } : f32[6]
  %y = set %x[%k] = %v : f32[6]
  %b = nest (%j: 6) -> collect[j] {
    %3 = get %a[%j] : f32
    %5 = add %3, %3 : f32
    yield %5
  } : f32[6]
  yield %b, %y
}
)");
  m.apply(inlineReads, {numbers(), Value::integer(1), Value::f32(9)});
  EXPECT_EQ(m.count("nest"), 1u) << m.text();
}

std::string gather(std::string_view between, std::string_view inReader) {
  return R"(fn f (%x: f32[6], %p: i64[6], %k: i64) -> (f32[6]) {
  %a = nest (%i: 6) -> collect[i] {
    %1 = get %p[%i] : i64
    check index "" %1 dims [6]
    %2 = get %x[%1] : f32
    yield %2
  } : f32[6]
)" + std::string(between) +
         "  %b = nest (%j: 6) -> collect[j] {\n" + std::string(inReader) + R"(    %3 = get %a[%j] : f32
    %4 = add %3, %3 : f32
    yield %4
  } : f32[6]
  yield %b
}
)";
}
Value places(int64_t last) {
  const int64_t places[] = {5, 4, 3, 2, 1, last}, dims[] = {6};
  return Value::array(types::TypeKind::I64, dims, places);
}

TEST(InlineRead, APanicKeepsItsPlace) {
  const char* check = "  check index \"\" %k dims [6]\n";
  const char* inside = "    check index \"\" %k dims [6]\n";
  struct {
    std::string text;
    size_t nests;
  } cases[] = {{gather("", ""), 1}, {gather(check, ""), 2}, {gather("", inside), 2}};
  for (const auto& c : cases)
    for (int64_t last : {0, 7})
      for (int64_t k : {0, 9}) {
        PassText m(c.text);
        m.apply(inlineReads, {numbers(), places(last), Value::integer(k)});
        EXPECT_EQ(m.count("nest"), c.nests) << m.text();
      }
}

TEST(InlineRead, NothingCrossesOutput) {
  PassText m(gather("  %s = const \"\" : str\n  builtin print %s\n", ""));
  m.apply(fuseAll);
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

// --- nests that share axes

} // namespace
} // namespace melix::transforms
