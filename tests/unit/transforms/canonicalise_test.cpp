// The passes of the canonical form together, and what they cost.
#include "core/ir/work.h"
#include "transforms/canonical/canonicalise.h"
#include "transforms/canonical/flatten_records.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// The rows of residuals of a gradient over examples, as the passes before leave them.
TEST(Canonicalise, RowsOfRecordsBecomeReadsOfArrays) {
  PassText m(R"(struct Saved { label: i64, scale: f32, row: f32[3] }

fn f (%v: f32[6]) -> (f32[2, 3]) {
  %x = reshape %v : f32[2, 3]
  %two = const 2.0 : f32
  %saved = nest (%b: 2) -> collect[b] {
    %r = get %x[%b] : f32[3]
    %e = nest (%i: 3) -> collect[i] {
      %a = get %r[%i] : f32
      %c = mul %a, %a : f32
      yield %c
    } : f32[3]
    %k = const 0 : i64
    %s = get %r[%k] : f32
    %t = make %b, %s, %e : Saved
    yield %t
  } : Saved[][2]
  %scales = nest (%p: 2) -> collect[p] {
    yield %two
  } : f32[2]
  %g = nest (%q: 2) -> collect[q] {
    %one = get %saved[%q] : Saved
    %w = get %scales[%q] : f32
    %l = get %one.0 : i64
    %u = get %one.1 : f32
    %row = get %one.2 : f32[3]
    %z = zero : f32[3]
    %h = add_at %z[%l] += %w : f32[3]
    %o = nest (%j: 3) -> collect[j] {
      %d = get %row[%j] : f32
      %m = mul %d, %u : f32
      %n = get %h[%j] : f32
      %y = add %m, %n : f32
      yield %y
    } : f32[3]
    yield %o
  } : f32[2, 3]
  yield %g
}
)");
  auto flat = [](core::Module& module) {
    flattenRecords(module);
    simplify(module);
    canonicalise(module);
  };
  m.apply(flat, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(m.count("Saved"), 0u) << m.text();
  EXPECT_EQ(m.count("zero"), 0u);
  EXPECT_EQ(m.count("add_at"), 0u);
  EXPECT_EQ(m.count("select"), 1u);
}

/// As many rows, updates and branches as is asked for.
std::string chain(int n) {
  std::string text =
      "enum Option { None(), Some(f32) }\n\nfn f [N] (%c: bool, %a0: f32[N, 4], %k: i64) -> (f32) {\n"
      "  %z0 = const 0.5 : f32\n";
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i), l = std::to_string(i + 1);
    text += "  %r" + k + " = get %a" + k + "[%k] : f32[4]\n";
    text += "  %s" + k + " = get %r" + k + "[%k] : f32\n";
    text += "  %t" + k + " = nest (%i" + k + ": 4) -> collect[i" + k + "] {\n    %e" + k + " = get %r" + k +
            "[%i" + k + "] : f32\n    yield %e" + k + "\n  } : f32[4]\n";
    text += "  %u" + k + " = get %t" + k + "[%k] : f32\n";
    text += "  %o" + k + " = if %c {\n    %v" + k + " = variant 1 %u" + k + " : Option\n    yield %v" + k +
            "\n  } {\n    %w" + k + " = variant 0 : Option\n    yield %w" + k + "\n  } : Option\n";
    text += "  %m" + k + " = match cases [0, 1] %o" + k + " {\n    yield %s" + k + "\n  } { (%p" + k +
            ": f32)\n    yield %p" + k + "\n  } : f32\n";
    text += "  %z" + l + " = add %z" + k + ", %m" + k + " : f32\n";
    text += "  %a" + l + " = set %a" + k + "[%k, %k] = %z" + l + " : f32[N, 4]\n";
  }
  return text + "  yield %z" + std::to_string(n) + "\n}\n";
}

size_t cost(int n) {
  PassText m(chain(n));
  core::work = {};
  canonicalise(m.module);
  m.expectVerified();
  EXPECT_EQ(m.count("nest"), 0u);
  EXPECT_EQ(m.count("match"), 0u);
  return core::work.ops + core::work.uses;
}

TEST(Canonicalise, CostsTheOpsThatThereAre) { EXPECT_LT(cost(400), 2.3 * static_cast<double>(cost(200))); }

} // namespace
} // namespace melix::transforms
