// Nests that add into accumulators take in what they read.
#include "transforms/fusion/fuse.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

void fuseOuterNests(core::Module& m) {
  fuseOnce(m, {false, true, false});
  simplify(m);
}
void fuseSiblingNests(core::Module& m) {
  fuseOnce(m, {false, false, true});
  simplify(m);
}

Value numbers() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}); }

/// Two nests over three points, the later of which adds into an accumulator; `read` is what the first reads.
std::string addedTo(std::string_view extent, std::string_view read) {
  const std::string n(extent);
  return "fn f (%x: f32[6], %h: f32[6]) -> (f32[6], f32) {\n  %a = nest (%i: " + n + R"() -> collect[i] {
    %1 = get )" +
         std::string(read) + R"([%i] : f32
    %2 = math exp %1 : f32
    yield %2
  } : f32[)" +
         n + R"(]
  %w = nest (%j: )" +
         n + R"() -> accs (%c = %h) {
    %3 = get %a[%j] : f32
    %5 = mul %3, %3 : f32
    %6 = add_at %c[%j] += %5 : acc f32[6]
    yield %6
  } : f32[6]
  %k = const 1 : i64
  %y = get %a[%k] : f32
  yield %w, %y
}
)";
}

TEST(FuseAccumulators, WhatAddsTakesItsProducerInWhereThePointsAreFew) {
  PassText m(addedTo("3", "%x"));
  m.apply(fuseOuterNests, {numbers(), numbers()});
  EXPECT_EQ(m.text(), R"(fn f (%x: f32[6], %h: f32[6]) -> (f32[6], f32) {
  %a, %w = nest (%j: 3) -> collect[j] accs (%c = %h) {
    %0 = get %x[%j] : f32
    %1 = math exp %0 : f32
    %2 = mul %1, %1 : f32
    %3 = add_at %c[%j] += %2 : acc f32[6]
    yield %1, %3
  } : f32[3], f32[6]
  %k = const 1 : i64
  %y = get %a[%k] : f32
  yield %w, %y
}
)");
}

/// What the earlier nest reads would have to be copied, or read as it is later.
TEST(FuseAccumulators, WhatIsAddedToIsNotReadMeanwhile) {
  PassText m(addedTo("3", "%h"));
  const std::string before = m.text();
  m.apply(fuseOuterNests, {numbers(), numbers()});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

/// Points of a nest that adds run one after another.
TEST(FuseAccumulators, ManyPointsStaySideBySide) {
  std::string text = addedTo("65", "%x");
  for (size_t at; (at = text.find("f32[6]")) != std::string::npos;) text.replace(at, 6, "f32[65]");
  PassText m(text);
  m.apply(fuseOuterNests,
          {Value::floats(std::vector<float>(65, 1)), Value::floats(std::vector<float>(65, 2))});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

/// Over the first axis alone: the accumulator belongs to both.
TEST(FuseAccumulators, WhatAddsIsNotParted) {
  PassText m(R"(fn f (%x: f32[6], %h: f32[6], %k: i64) -> (f32[6]) {
  %a = nest (%i: 3, %j: 2) -> collect[i, j] {
    %1 = get %x[%i] : f32
    %2 = get %x[%j] : f32
    %3 = mul %1, %2 : f32
    yield %3
  } : f32[3, 2]
  %w = nest (%l: 3, %m: 2) -> accs (%c = %h) {
    %4 = get %a[%l, %k] : f32
    %5 = add_at %c[%m] += %4 : acc f32[6]
    yield %5
  } : f32[6]
  yield %w
}
)");
  m.apply(fuseOuterNests, {numbers(), numbers(), Value::integer(1)});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

TEST(FuseAccumulators, BesideAnAccumulator) {
  PassText m(R"(fn f (%x: f32[6], %h: f32[6]) -> (f32[6], f32[3], f32[3]) {
  %a = nest (%i: 3) -> collect[i] {
    %1 = get %x[%i] : f32
    %2 = math exp %1 : f32
    yield %2
  } : f32[3]
  %b, %w = nest (%j: 3) -> collect[j] accs (%c = %h) {
    %3 = get %x[%j] : f32
    %4 = add_at %c[%j] += %3 : acc f32[6]
    %5 = neg %3 : f32
    yield %5, %4
  } : f32[3], f32[6]
  yield %w, %a, %b
}
)");
  m.apply(fuseSiblingNests, {numbers(), numbers()});
  EXPECT_EQ(m.count("-> collect[j], collect[j] accs (%c = %h)"), 1u) << m.text();
}

/// All that the earlier checks comes before all that the later does.
TEST(FuseAccumulators, ChecksOfWhatAddsComeBehindThoseOfItsProducer) {
  PassText m(R"(fn f (%x: f32[6], %h: f32[6], %n: i64) -> (f32[6]) {
  %a = nest (%i: 3) -> collect[i] {
    %k = add %i, %n : i64
    check index "" %k dims [6]
    %1 = get %x[%k] : f32
    %2 = math exp %1 : f32
    yield %2
  } : f32[3]
  %w = nest (%j: 3) -> accs (%c = %h) {
    %l = sub %j, %n : i64
    check index "" %l dims [6]
    %3 = get %a[%j] : f32
    %4 = add_at %c[%l] += %3 : acc f32[6]
    yield %4
  } : f32[6]
  yield %w
}
)");
  m.apply(fuseOuterNests, {numbers(), numbers(), Value::integer(4)});
  EXPECT_EQ(m.count("nest"), 2u) << m.text();
}

} // namespace
} // namespace melix::transforms
