// Which lanes of a last register are on: bits around loops, which would compare again at each of their turns.
#include "codegen/codegen.h"
#include "loops/ir/machine.h"
#include "loops/text/parse.h"
#include "loops/text/verify.h"

#include <gtest/gtest.h>

namespace melix::codegen {
namespace {

/// A loop in 16 lanes of which some are off in the last register, with `inner` between its read and its
/// store.
std::string codeWith(const std::string& inner) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  loops::ParseResult read =
      loops::parse(core, "fn @f(%n: i64, %x: data, %y: data) exported {\n  %one = const 1 : i64\n"
                         "  for independent vector 16 %one, %n { (%i)\n    %v = load %x[%i*%one] : f32\n" +
                             inner + "    store %y[%i*%one] = %r\n    yield\n  }\n  yield\n}\n");
  EXPECT_EQ(read.error, "");
  if (!read.error.empty()) return "";
  EXPECT_EQ(loops::verify(read.module, {loops::State::CountsInserted}), "");
  return compileToText(read.module, Options{}, TextKind::Ir);
}

TEST(LaneMasks, AreBitsAroundLoops) {
  if (machineOf(TargetKind::Host).masks != loops::MaskKind::Registers)
    GTEST_SKIP() << "this processor has no registers of masks";
  const std::string bits = "to <16 x i1>";
  EXPECT_NE(codeWith("    %r = for %one, %n, %v : f32 { (%j, %s)\n      %a = load %x[%i*%n + %j*%one] : f32\n"
                     "      %t = add %s, %a : f32\n      yield %t\n    }\n")
                .find(bits),
            std::string::npos);
  EXPECT_EQ(codeWith("    %r = mul %v, %v : f32\n").find(bits), std::string::npos);
}

} // namespace
} // namespace melix::codegen
