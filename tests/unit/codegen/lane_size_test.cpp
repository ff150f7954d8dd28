// What a loop in lanes costs to compile: its code stays small.
#include "codegen/codegen.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "harness/ir_size.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>

namespace melix::codegen {
namespace {

/// LLVM instructions of the functions whose symbol holds `loop`: the kernels of a nest.
size_t instructionsOfKernels(const std::string& text, TargetKind target) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  EXPECT_EQ(core::parseModule(core, text), "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  core.functions[core::findFunction(core, "f")].keep = true;
  Options options;
  options.target = target;
  loops::Result lowered = loops::fromCore(core, loopOptions(options));
  EXPECT_FALSE(lowered.error);
  const size_t count = harness::instructionsOf(compileToText(lowered.module, options, TextKind::Ir), "loop");
  EXPECT_GT(count, 0u);
  return count;
}

constexpr const char* scaled = R"(
fn f [N] (%a: f32, %x: f32[N], %b: f32) -> (f32[N]) {
  %y = nest (%i: N) -> collect[i] {
    %v = get %x[%i] : f32
    %w = fma %a, %v, %b : f32
    yield %w
  } : f32[N]
  yield %y
}
)";

constexpr const char* product = R"(
fn f [A, B, C] (%x: f32[A, B], %y: f32[B, C]) -> (f32[A, C]) {
  %r = nest (%i: A, %j: C, %k: B) -> keep[i, j] sum chain fused {
    %a = get %x[%i, %k] : f32
    %b = get %y[%k, %j] : f32
    %c = mul %a, %b : f32
    yield %c
  } : f32[A, C]
  yield %r
}
)";

/// A vector by a matrix of so many columns.
std::string byColumns(const std::string& columns) {
  return "fn f (%x: f32[50], %y: f32[50, " + columns + "]) -> (f32[" + columns +
         "]) {\n  %r = nest (%j: " + columns +
         ", %k: 50) -> keep[j] sum chain fused {\n"
         "    %a = get %x[%k] : f32\n    %b = get %y[%k, %j] : f32\n    %c = mul %a, %b : f32\n"
         "    yield %c\n  } : f32[" +
         columns + "]\n  yield %r\n}\n";
}

/// What is left behind whole strips has no code where launches have none.
TEST(LaneSize, OfTurnsThatFit) {
  for (TargetKind target : {TargetKind::Host, TargetKind::Portable})
    EXPECT_LT(4 * instructionsOfKernels(byColumns("64"), target),
              3 * instructionsOfKernels(byColumns("60"), target));
}

TEST(LaneSize, OfAnElementByElement) {
  for (TargetKind target : {TargetKind::Host, TargetKind::Portable})
    EXPECT_LE(instructionsOfKernels(scaled, target), 60u);
}

/// Panels are made by loops of their own, and what lies far away is asked for.
TEST(LaneSize, OfAProductInRows) {
  for (TargetKind target : {TargetKind::Host, TargetKind::Portable})
    EXPECT_LE(instructionsOfKernels(product, target), 720u);
}

} // namespace
} // namespace melix::codegen
