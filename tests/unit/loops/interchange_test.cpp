// From Core text: nests whose points are swept inside of their chains.
#include "core/parse.h"
#include "core/verify.h"
#include "loops/loops.h"
#include "loops/verify.h"

#include <gtest/gtest.h>

namespace melix::loops {
namespace {

/// The loops of a region, those inside in brackets: p over points, s any other.
std::string shapeOf(const Function& fn, RegionId region) {
  std::string out;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    std::string inner;
    for (RegionId r : s.regions) inner += shapeOf(fn, r);
    if (s.kind != StmtKind::For) {
      out += inner;
      continue;
    }
    out += s.as<ForAttr>().mark == MarkKind::Points ? 'p' : 's';
    if (!inner.empty()) out += '(' + inner + ')';
  }
  return out;
}

/// Of the kernel of a program with one nest.
std::string shape(std::string_view text, bool interchanged = true, bool checksBefore = true) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  EXPECT_EQ(core::parseModule(core, text), "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  for (uint32_t f = 0; f < core.functions.size(); ++f) core.functions[core::FunctionId(f)].keep = true;
  Options options;
  options.interchange = interchanged;
  options.checksBefore = checksBefore;
  const Result result = fromCore(core, options);
  EXPECT_EQ(verify(result.module, true), "");
  for (const Function& fn : result.module.functions)
    if (fn.kind != FunctionKind::Orchestration) return shapeOf(fn, fn.body);
  return "no kernel";
}

/// B times: `rows` rows of `terms` terms each.
std::string products(const std::string& rows, const std::string& terms, const std::string& more = "",
                     const std::string& order = "chain") {
  const std::string result = "f64[B, " + rows + "]";
  return "fn main [B, N, K] (%x: f64[B, " + rows + ", " + terms + "], %w: f64[" + terms + "], %p: i64) -> (" +
         result + ") {\n  %y = nest (%b: B, %i: " + rows + ", %k: " + terms + ") -> keep[b, i] sum " + order +
         " {\n    %l = get %x[%b, %i, %k] : f64\n    %r = get %w[%k] : f64\n" + more +
         "    %t = mul %l, %r : f64\n    yield %t\n  } : " + result + "\n  yield %y\n}\n";
}

TEST(Interchange, PointsAreSweptInsideOfAChain) {
  // Over B: over tiles: the beginnings, the terms and in each the points, the results.
  EXPECT_EQ(shape(products("128", "100")), "p(p(ss(p)p))");
  EXPECT_EQ(shape(products("128", "100"), false), "p(p(p))");
}

TEST(Interchange, WhatIsLeftBehindTilesIsOneMore) {
  // Blocks stay around their terms: totals begin; over blocks: chains begin, the terms, the totals; the
  // results.
  const std::string wide = "ss(ss(p)s)p", narrow = "ss(ss(s)s)s", asItWas = "p(s(p))";
  EXPECT_EQ(shape(products("N", "K")), "p(p(" + wide + ")" + asItWas + narrow + ")");
}

TEST(Interchange, FewPointsStayAsTheyAre) {
  EXPECT_EQ(shape(products("7", "100")), "p(p(p))");
  EXPECT_EQ(shape(products("8", "100")), "p(p(ss(p)p))");
}

TEST(Interchange, OneOfSeveralLoopsAroundEachOtherIsTaken) {
  // Over %i: %s, over %j: %t, each time of %s. Only points of %j are swept inside of %t.
  const std::string text = R"(fn main [N, K] (%x: f64[N, K], %y: f64[16, K]) -> (f64[N]) {
  %r = nest (%i: N) -> collect[i] {
    %s = nest (%k: K) -> keep[] sum chain {
      %a = get %x[%i, %k] : f64
      yield %a
    } : f64
    %u = nest (%j: 16) -> keep[] sum chain {
      %t = nest (%l: K) -> keep[] sum chain {
        %b = get %y[%j, %l] : f64
        %c = mul %b, %s : f64
        yield %c
      } : f64
      yield %t
    } : f64
    yield %u
  } : f64[N]
  yield %r
}
)";
  EXPECT_EQ(shape(text), "p(s(p)p(ss(ss(p)s)p))");
  EXPECT_EQ(shape(text, false), "p(s(p)p(s(p)))");
}

TEST(Interchange, WhatMayPanicRunsInOrder) {
  const std::string text = products("128", "100", "    check index \"\" %p dims [10]\n");
  EXPECT_EQ(shape(text, true, false), "p(p(p))");
  EXPECT_EQ(shape(text), "s(s(s))p(p(ss(p)p))"); // the check alone, if it fails at the extremes
}

TEST(Interchange, LanesAreLeftAlone) {
  EXPECT_EQ(shape(products("128", "16", "", "lanes(32, k)")).find('('), 1u);
  EXPECT_EQ(shape(products("128", "16", "", "lanes(32, k)")),
            shape(products("128", "16", "", "lanes(32, k)"), false));
}

} // namespace
} // namespace melix::loops
