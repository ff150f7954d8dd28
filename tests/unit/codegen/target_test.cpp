// What the machine may be asked for where registers are allocated fast.
#include "codegen/target.h"

#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>

namespace melix::codegen {
namespace {

TEST(Target, AllocatesFastWithoutAvx512) {
  Options options;
  options.target = TargetKind::Host;
  options.optimise = false;
  const auto machine = makeTargetMachine(options);
  EXPECT_EQ(machine->getTargetFeatureString().find("+avx512"), llvm::StringRef::npos);
  EXPECT_EQ(machine->getTargetFeatureString().find("+avx10"), llvm::StringRef::npos);
}

} // namespace
} // namespace melix::codegen
