// Derivatives print as Melix that parses.

#include "core/text/parse.h"
#include "decompile/decompile.h"
#include "parse/parse.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/simplify/simplify.h"

#include <gtest/gtest.h>

using namespace melix;

namespace {

/// The source of function `root` after derivatives; empty if it does not parse.
std::string sourceOf(const std::string& text, const std::string& root) {
  Interner names;
  types::TypeStore types(names);
  core::Module m(types);
  std::string error = core::parseModule(m, text);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(transforms::expandDerivatives(m).problems.empty());
  transforms::simplify(m);
  transforms::inlineCalls(m, {.beforeDerivatives = false});
  transforms::simplify(m);
  transforms::scatterToGather(m);
  transforms::simplify(m);
  decompile::Source s = decompile::decompile(m, core::findFunction(m, root));
  for (const std::string& n : s.notes) ADD_FAILURE() << "no spelling: " << n << "\n" << s.text;
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("grad.mlx", s.text);
  parse::parseFile(file, sources, names, sink);
  EXPECT_EQ(sink.errorCount(), 0u) << s.text;
  return s.text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST(Decompile, scalars) {
  std::string s = sourceOf(R"(fn f (%x: f64, %y: f64) -> (f64) {
  %a = mul %x, %y : f64
  %b = math sin %a : f64
  %c = add %b, %x : f64
  yield %c
}
fn g (%x: f64, %y: f64) -> (f64, f64, f64) keep {
  %one = const 1.0 : f64
  %r, %gx, %gy = derivative reverse @f wrt [0, 1] seeded [1] %x, %y, %one : f64, f64, f64
  yield %r, %gx, %gy
}
)",
                           "g");
  EXPECT_TRUE(has(s, "fn g(x: f64, y: f64) -> (f64, f64, f64) {")) << s;
  EXPECT_TRUE(has(s, "cos(")) << s;
}

TEST(Decompile, productsAreBuilders) {
  std::string s = sourceOf(R"(fn f [B, I, O] (%x: f64[B, I], %w: f64[I, O]) -> (f64) {
  %z = nest (%i: B, %o: O) -> collect[i, o] {
    %s = nest (%k: I) -> keep[] sum {
      %a = get %x[%i, %k] : f64
      %c = get %w[%k, %o] : f64
      %p = mul %a, %c : f64
      yield %p
    } : f64
    yield %s
  } : f64[B, O]
  %l = nest (%b: B, %q: O) -> keep[] sum {
    %v = get %z[%b, %q] : f64
    %e = math tanh %v : f64
    yield %e
  } : f64
  yield %l
}
fn g [B, I, O] (%x: f64[B, I], %w: f64[I, O]) -> (f64, f64[I, O]) keep {
  %one = const 1.0 : f64
  %r, %gw = derivative reverse @f wrt [1] seeded [1] %x, %w, %one dims [B, I, O] : f64, f64[I, O]
  yield %r, %gw
}
)",
                           "g");
  EXPECT_TRUE(has(s, "fn g[B, I, O](x: f64[B, I], w: f64[I, O]) -> (f64, f64[I, O]) {")) << s;
  EXPECT_TRUE(has(s, "sum(for")) << s;
  EXPECT_FALSE(has(s, "+=")) << s;
}

TEST(Decompile, loopsAndUpdates) {
  std::string s = sourceOf(R"(fn f [N] (%x: f64[N], %n: i64) -> (f64) {
  %zero = const 0.0 : f64
  %r, %xs = for collects 0 %n, %zero, %x {
   (%i: i64, %acc: f64, %a: f64[N])
    %v = get %a[%i] : f64
    %c = cmp gt %v, %zero : bool
    %w = if %c {
      %q = mul %v, %acc : f64
      %q2 = math exp %q : f64
      yield %q2
    } {
      %u = sub %v, %acc : f64
      yield %u
    } : f64
    %a2 = set %a[%i] = %w : f64[N]
    %acc2 = add %acc, %w : f64
    yield %acc2, %a2
  } : f64, f64[N]
  %y = get %xs[%n] : f64
  %t = add %r, %y : f64
  yield %t
}
)",
                           "f");
  EXPECT_TRUE(has(s, "for i in 0..n {")) << s;
  EXPECT_TRUE(has(s, "a[i] = w")) << s;
}

TEST(Decompile, embeddingsAddInLoops) {
  std::string s = sourceOf(R"(fn f [V, D, B] (%t: f64[V, D], %ids: i64[B]) -> (f64) {
  %y = nest (%b: B, %d: D) -> keep[] sum {
    %i = get %ids[%b] : i64
    %v = get %t[%i, %d] : f64
    %e = mul %v, %v : f64
    yield %e
  } : f64
  yield %y
}
fn g [V, D, B] (%t: f64[V, D], %ids: i64[B]) -> (f64, f64[V, D]) keep {
  %one = const 1.0 : f64
  %r, %gt = derivative reverse @f wrt [0] seeded [1] %t, %ids, %one dims [V, D, B] : f64, f64[V, D]
  yield %r, %gt
}
)",
                           "g");
  EXPECT_TRUE(has(s, "+=")) << s;
}
