// Axes that read whole arrays together become one.
#include "transforms/fusion/coalesce_axes.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// The axes of the first nest after the pass, with what is read in it.
std::string collapsed(const std::string& params, const std::string& nest) {
  PassText m("fn f [N, M, K] (" + params + ") -> (f32) {\n" + nest + "  yield %s\n}\n");
  m.apply(coalesceAxes);
  const std::string text = m.text();
  const size_t begin = text.find("nest (");
  std::string out = text.substr(begin + 5, text.find(") ->", begin) - begin - 4);
  for (size_t at = text.find("get "); at != std::string::npos; at = text.find("get ", at + 1))
    out += "; " + text.substr(at + 4, text.find(" :", at) - at - 4);
  return out;
}

std::string sumOf(const std::string& head, const std::string& read) {
  return "  %s = nest (" + head + ") -> keep[] sum {\n    %a = get " + read +
         " : f32\n    yield %a\n  } : f32\n";
}

TEST(CollapseAxes, AllAxesOfATotal) {
  EXPECT_EQ(collapsed("%x: f32[N, M, K]", sumOf("%i: N, %j: M, %k: K", "%x[%i, %j, %k]")),
            "(%ijk: N*M*K); %1[%ijk]");
  EXPECT_EQ(collapsed("%x: f32[3, 4]", sumOf("%i: 3, %j: 4", "%x[%i, %j]")), "(%ij: 12); %0[%ij]");
}

TEST(CollapseAxes, ArraysInRecords) {
  EXPECT_EQ(collapsed("%x: (f32[N, M], f32)", sumOf("%i: N, %j: M", "%x.0[%i, %j]")),
            "(%ij: N*M); %x.0; %1[%ij]");
}

TEST(CollapseAxes, NotWhatIsReadOtherwise) {
  const std::string two = "(%i: N, %j: M)";
  EXPECT_EQ(collapsed("%x: f32[M, N]", sumOf("%i: N, %j: M", "%x[%j, %i]")), two + "; %x[%j, %i]");
  EXPECT_EQ(collapsed("%x: f32[N, K]", sumOf("%i: N, %j: M", "%x[%i, %j]")), two + "; %x[%i, %j]");
  EXPECT_EQ(collapsed("%x: f32[N, N]", sumOf("%i: N, %j: M", "%x[%i, %i]")), two + "; %x[%i, %i]");
  EXPECT_EQ(collapsed("%x: f32[N, M], %w: f32[M]", R"(  %s = nest (%i: N, %j: M) -> keep[] sum {
    %a = get %x[%i, %j] : f32
    %b = get %w[%j] : f32
    %p = mul %a, %b : f32
    yield %p
  } : f32
)"),
            two + "; %x[%i, %j]; %w[%j]");
  EXPECT_EQ(collapsed("%x: f32[N, M]", R"(  %s = nest (%i: N, %j: M) -> keep[] sum {
    %a = get %x[%i, %j] : f32
    %b = convert saturate %j : f32
    %p = mul %a, %b : f32
    yield %p
  } : f32
)"),
            two + "; %x[%i, %j]");
}

TEST(CollapseAxes, OnlyWhatAllResultsReduce) {
  PassText m(R"(fn f [B, N, M] (%x: f32[B, N, M]) -> (f32[B], f32[B, N], i64, i64, i64) {
  %r, %u, %v, %w = nest (%b: B, %i: N, %j: M) -> keep[b] sum, keep[] argmax {
    %a = get %x[%b, %i, %j] : f32
    yield %a, %a
  } : f32[B], i64, i64, i64
  %s = nest (%b$1: B, %i$1: N, %j$1: M) -> keep[b$1, i$1] sum {
    %a$1 = get %x[%b$1, %i$1, %j$1] : f32
    yield %a$1
  } : f32[B, N]
  %t, %y = nest (%b$2: B, %i$2: N, %j$2: M) -> keep[b$2] sum, keep[b$2] max {
    %a$2 = get %x[%b$2, %i$2, %j$2] : f32
    yield %a$2, %a$2
  } : f32[B], f32[B]
  yield %r, %s, %u, %v, %w
}
)");
  m.apply(coalesceAxes);
  EXPECT_EQ(m.count("reshape"), 1u) << m.text();
  EXPECT_NE(m.text().find("(%b$2: B, %i$2j$2: N*M)"), std::string::npos) << m.text();
}

TEST(CollapseAxes, KeepsValuesAndPanics) {
  PassText m(R"(fn f [N, M] (%x: f32[N, M]) -> (f32[N], f32) {
  %r = nest (%b: N, %i: N, %j: M) -> keep[b] sum {
    %a = get %x[%i, %j] : f32
    %c = get %x[%b, %j] : f32
    %p = mul %a, %c : f32
    yield %p
  } : f32[N]
  %s = nest (%k: N, %l: M) -> keep[] sum {
    %e = get %x[%k, %l] : f32
    %z = const 4.0 : f32
    %ok = cmp lt %e, %z : bool
    check assert "small" %ok
    yield %e
  } : f32
  yield %r, %s
}
)");
  m.apply(coalesceAxes, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})});
  EXPECT_EQ(m.count("reshape"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms
