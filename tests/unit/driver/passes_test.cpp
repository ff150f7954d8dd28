// The lists of passes: what each requires is established by those before it, and the command line knows them.
#include "driver/melix_process.h"
#include "driver/pass_tables.h"
#include "loops/pipeline.h"
#include "session/pipeline.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

template <class Pass, class States>
void expectEstablished(std::span<const Pass> passes, States states) {
  for (const Pass& pass : passes) {
    EXPECT_TRUE(states.has(pass.needs)) << pass.name;
    EXPECT_FALSE(pass.sentence.empty()) << pass.name;
    EXPECT_TRUE(pass.sentence.ends_with('.')) << pass.name;
    states = (states | pass.establishes) - pass.ends;
  }
}

TEST(Passes, AreGivenWhatTheyRequire) {
  expectEstablished(session::passes(), session::statesOfLowered);
  expectEstablished(loops::passes(), loops::statesOfLowered);
}

const std::string program = " -e 'fn f(x: f64[N]) -> f64 = sum(x * x)\nprint(grad(f)([1.0, 2.0]))'";

TEST(Passes, WhatStandsAfterOneIsShown) {
  const std::string before = melix("show --after inline_scalar_functions" + program).output,
                    after = melix("show --after expand_derivatives" + program).output;
  EXPECT_NE(before.find("derivative"), std::string::npos) << before;
  EXPECT_EQ(after.find("derivative"), std::string::npos) << after;
  EXPECT_EQ(melix("show --after propagate_constant_sizes" + program).output,
            melix("show --stage opt" + program).output);
  EXPECT_EQ(melix("show --after infer_size_params" + program).output,
            melix("show --stage loops" + program).output);
}

/// What a branch of a small function gives is rematerialised: no array has an element for each point of the
/// nest and of the sum in it.
TEST(Passes, SmallFunctionsOfElementsLeaveNoResiduals) {
  const std::string code =
      " -e 'fn at(x: f32[N], i: int) -> f32 = if i >= 0 and i < N { x[i] } else { 0.0 }\n"
      "fn f(x: f32[N], w: f32[M]) -> f32 = sum([for i in 0..N: sum(for k: at(x, i + k - 1) * w[k])]^2)\n"
      "fn main(n: int = 9, m: int = 4) { print(grad(((x, w)) => f(x, w))("
      "([for i in 0..n: sin(i as f32)], [for k in 0..m: cos(k as f32)]))) }'";
  const std::string text = melix("show --stage opt" + code).output;
  EXPECT_NE(text.find(": f32[m]"), std::string::npos) << text;
  EXPECT_EQ(text.find("f32[n, m]"), std::string::npos) << text;
}

TEST(Passes, EachRunOfAPassIsShownForItself) {
  // The first run sees the loop as it is written, the second the nest and the derivative that are made of it.
  const std::string code =
      " -e 'fn f(x: f64[N]) -> f64 { var s: f64 = 0\nfor i in 0..N { s += x[i] * x[i] }\ns }\n"
      "fn main(n: int = 3) { print(grad(f)([for i in 0..n: i as f64])) }'";
  const std::string first = melix("show --after simplify" + code).output;
  EXPECT_EQ(melix("show --after simplify:1" + code).output, first);
  EXPECT_NE(first.find("derivative"), std::string::npos) << first;
  const std::string second = melix("show --after simplify:2" + code).output;
  EXPECT_NE(second, "");
  EXPECT_EQ(second.find("derivative"), std::string::npos) << second;
  EXPECT_EQ(melix("show --after simplify:2x" + code).status, 2);
  EXPECT_EQ(melix("show --after simplify:" + code).status, 2);
}

TEST(Passes, AWrongNameListsAllAndARunThatThereIsNotTheirNumber) {
  const std::string unknown = melix("show --after fuze" + program).errors;
  for (const session::Pass& pass : session::passes())
    EXPECT_NE(unknown.find(pass.name), std::string::npos) << unknown;
  for (const loops::Pass& pass : loops::passes())
    EXPECT_NE(unknown.find(pass.name), std::string::npos) << unknown;
  EXPECT_NE(melix("show --after fuse:2" + program).errors.find("`fuse` runs 1 time"), std::string::npos);
  EXPECT_EQ(melix("show --after fuse --stage opt" + program).status, 2);
}

TEST(Passes, TheDocumentHasTheTables) {
  const std::string page = harness::readText(MELIX_SOURCE_DIR "/docs/passes.md");
  EXPECT_TRUE(page.ends_with("\n" + passTables())) << "docs/passes.md says how to write it anew";
}

TEST(Passes, OneThatDoesNotRunIsToldSo) {
  const harness::ProcessResult result = melix("show --strict-fp --after choose_orders" + program);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.errors.find("`choose_orders` does not run with these options"), std::string::npos)
      << result.errors;
}

} // namespace
} // namespace melix::driver
