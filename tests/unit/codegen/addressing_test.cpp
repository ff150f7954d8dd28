// Kernels reach memory as they are told to: in the address spaces and with indices as wide as the target
// wants them; one for a GPU becomes its assembly.
#include "codegen/emitter.h"
#include "codegen/target.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <set>

namespace melix::codegen {
namespace {

constexpr Addressing device{1, 3, 32};

constexpr const char* gathered = R"(
fn f [N, M] (%a: f32, %x: f32[N], %at: i64[M]) -> (f32[M]) {
  %y = nest (%i: M) -> collect[i] {
    %k = get %at[%i] : i64
    %v = get %x[%i] : f32
    %w = fma %a, %v, %v : f32
    yield %w
  } : f32[M]
  yield %y
}
)";

constexpr const char* product = R"(
fn f [A, B, C] (%x: f64[A, B], %y: f64[B, C]) -> (f64[A, C]) {
  %r = nest (%i: A, %j: C, %k: B) -> keep[i, j] sum chain fused {
    %a = get %x[%i, %k] : f64
    %b = get %y[%k, %j] : f64
    %c = mul %a, %b : f64
    yield %c
  } : f64[A, C]
  yield %r
}
)";

constexpr const char* belowMaximum = R"(
fn f [N, M] (%x: f32[N, M]) -> (f32[N, M]) {
  %y = nest (%i: N, %j: M) -> collect[i, j] {
    %m = nest (%k: M) -> keep[] max {
      %v = get %x[%i, %k] : f32
      yield %v
    } : f32
    %a = get %x[%i, %j] : f32
    %d = sub %a, %m : f32
    yield %d
  } : f32[N, M]
  yield %y
}
)";

/// A program as LLVM IR, before any pass.
struct Emitted {
  Emitted(const char* text, const Options& options) {
    problem = core::parseModule(core, text);
    if (!problem.empty()) return;
    core.functions[core::findFunction(core, "f")].keep = true;
    lowered = std::make_unique<loops::Result>(loops::fromCore(core, loopOptions(options)));
    unit = std::make_unique<Unit>(wholeModule(lowered->module));
    emitter = std::make_unique<ModuleEmitter>(*unit, options, layouts, context);
    emitter->run();
    llvm::raw_string_ostream out(problem);
    llvm::verifyModule(*emitter->llvm, &out);
  }
  std::string problem;
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  std::unique_ptr<loops::Result> lowered;
  std::unique_ptr<Unit> unit;
  SharedLayouts layouts{types};
  llvm::LLVMContext context;
  std::unique_ptr<ModuleEmitter> emitter;
};

/// Address spaces of what kernels read and write but in their frame and where pointers are chosen between,
/// and widths of what they count by.
struct Reached {
  std::set<unsigned> spaces, widths;
};
Reached reachedBy(const llvm::Module& module) {
  Reached out;
  auto reach = [&](const llvm::Value* pointer) {
    const llvm::Value* of = llvm::getUnderlyingObject(pointer);
    if (llvm::isa<llvm::AllocaInst, llvm::PHINode>(of)) return;
    out.spaces.insert(pointer->getType()->getPointerAddressSpace());
  };
  for (const llvm::Function& f : module) {
    if (!f.getName().ends_with(".kernel")) continue;
    for (const llvm::BasicBlock& block : f)
      for (const llvm::Instruction& i : block) {
        if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) reach(load->getPointerOperand());
        if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) reach(store->getPointerOperand());
        if (const auto* at = llvm::dyn_cast<llvm::GetElementPtrInst>(&i))
          for (const llvm::Value* index : at->indices())
            if (!llvm::isa<llvm::Constant>(index)) out.widths.insert(index->getType()->getScalarSizeInBits());
      }
  }
  return out;
}

Options onDevice(bool optimise) {
  Options options;
  options.target = TargetKind::Portable;
  options.optimise = optimise;
  options.addressing = device;
  return options;
}

TEST(Addressing, IsOneSpaceAndWideIndicesUnlessAsked) {
  for (const char* text : {gathered, product, belowMaximum}) {
    const Emitted emitted(text, Options{});
    ASSERT_EQ(emitted.problem, "");
    const Reached reached = reachedBy(*emitted.emitter->llvm);
    EXPECT_EQ(reached.spaces, std::set<unsigned>{0}) << text;
    EXPECT_EQ(reached.widths, std::set<unsigned>{64}) << text;
  }
}

TEST(Addressing, IsAsAskedInEveryKernel) {
  for (const char* text : {gathered, product, belowMaximum})
    for (bool optimise : {false, true}) {
      const Emitted emitted(text, onDevice(optimise));
      ASSERT_EQ(emitted.problem, "");
      const Reached reached = reachedBy(*emitted.emitter->llvm);
      const bool hasPanels = optimise && text == product; // in scratch
      EXPECT_EQ(reached.spaces, hasPanels ? std::set<unsigned>({device.arrays, device.scratch})
                                          : std::set<unsigned>{device.arrays})
          << text;
      EXPECT_EQ(reached.widths, std::set<unsigned>{device.indexBits}) << text;
    }
}

/// Assembly for a GPU.
std::string ptxOf(const Emitted& emitted) {
  llvm::Module& module = *emitted.emitter->llvm;
  Options options;
  options.target = TargetKind::Gpu;
  const std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  return assemblyOf(module, *machine);
}

TEST(Addressing, OfAGpuReadsGlobalMemory) {
  for (const char* text : {gathered, product, belowMaximum}) {
    const Emitted emitted(text, onDevice(false));
    ASSERT_EQ(emitted.problem, "");
    const std::string ptx = ptxOf(emitted);
    EXPECT_NE(ptx.find("ld.global"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find("st.global"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find("mul.wide.s32"), std::string::npos) << ptx;
  }
}

/// What says no rounding may be made one with what follows by who finishes the assembly.
TEST(Addressing, OfAGpuRoundsEachOperation) {
  for (const char* text : {gathered, product, belowMaximum}) {
    const Emitted emitted(text, onDevice(false));
    ASSERT_EQ(emitted.problem, "");
    const std::string ptx = ptxOf(emitted);
    for (const char* type : {"f32", "f64"})
      for (const char* op : {"add", "sub", "mul", "fma", "div", "sqrt"}) {
        EXPECT_EQ(ptx.find(std::string(op) + "." + type), std::string::npos) << ptx;
        EXPECT_EQ(ptx.find(std::string(op) + ".approx"), std::string::npos) << ptx;
      }
    EXPECT_EQ(ptx.find(".ftz"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find(text == belowMaximum ? "sub.rn.f32" : "fma.rn.f"), std::string::npos) << ptx;
  }
}

} // namespace
} // namespace melix::codegen
