// Functions of very many instructions: compiled without the passes whose time grows with the square of a
// function.
#include "codegen/codegen.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>

namespace melix::codegen {
namespace {

/// LLVM IR of a function with a loop and `length` products of numbers that are not known.
std::string irOf(int length) {
  std::string text = R"(
fn main (%x: f64, %n: i64) -> (f64) {
  %v0 = for collects 0 %n, %x { (%i: i64, %s: f64)
    %t = mul %s, %x : f64
    yield %t
  } : f64
)";
  for (int k = 1; k <= length; ++k) {
    const std::string before = "%v" + std::to_string(k - 1);
    text += "  %v" + std::to_string(k) + " = " +
            (k % 2 ? "mul " + before + ", %x" : "add " + before + ", %v0") + " : f64\n";
  }
  text += "  yield %v" + std::to_string(length) + "\n}\n";
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  EXPECT_EQ(core::parseModule(core, text), "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  core.functions[core::findFunction(core, "main")].keep = true;
  loops::Result lowered = loops::fromCore(core, loopOptions({}));
  EXPECT_FALSE(lowered.error);
  return compileToText(lowered.module, {}, TextKind::Ir);
}

TEST(LongFunction, OnlyALongOneIsLeftPlain) {
  EXPECT_EQ(irOf(1'000).find("optnone"), std::string::npos);
  EXPECT_NE(irOf(20'000).find("optnone"), std::string::npos);
}

} // namespace
} // namespace melix::codegen
