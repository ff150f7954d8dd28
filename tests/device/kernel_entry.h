#pragma once
// A kernel of Loops as LLVM IR of its own, for a machine that runs it by many threads.

#include "codegen/emitter.h"

namespace llvm {
class Module;
} // namespace llvm

namespace melix::device {

/// Where a kernel will run: on a GPU, which tells each thread its number, or in this process, whose entries
/// take it as their last argument.
enum class PlaceKind : uint8_t { Gpu, Here };

/// The arguments of an entry in front of the captures, all of them 64 bits wide.
enum ArgumentKind : unsigned {
  Turns,    ///< of each thread
  Extent,   ///< turns of all
  Scratch,  ///< address of the scratch of all threads, one behind the other; unused if that is of a block
  Failures, ///< address of what threads say: `failureBytes` each
  FirstCapture,
};

/// The number that the kernel returned, and those of the failed check.
constexpr uint64_t failureBytes = uint64_t{8} * 11;

class KernelEntry {
public:
  static constexpr const char* symbol = "run";

  /// Before any pass. `problem` says what is wrong with the IR, which is a bug.
  KernelEntry(const loops::Module& module, loops::FunctionId kernel, const codegen::Options& options,
              PlaceKind place);

  /// Whether scratch is in memory that the threads of a block have together.
  static bool sharesScratch(const codegen::Options& options, PlaceKind place) {
    return place == PlaceKind::Gpu && options.addressing.scratch == 3;
  }

  llvm::Module& ir() { return *emitter_.llvm; }
  std::string problem;

private:
  void addEntry(PlaceKind place);
  /// The scratch of a thread, and the captures as the kernel takes them.
  std::vector<llvm::Value*> captures(llvm::IRBuilder<>& b, llvm::Function* entry, llvm::Value* thread,
                                     PlaceKind place);
  void leaveEntryAlone();

  const loops::Module& module_;
  loops::FunctionId kernel_;
  codegen::Options options_;
  llvm::LLVMContext context_;
  codegen::SharedLayouts layouts_;
  codegen::Unit unit_;
  codegen::ModuleEmitter emitter_;
};

/// Bytes of scratch of one thread: those of the kernel's captures, each at a multiple of 64.
uint64_t scratchBytes(const loops::Function& kernel, const uint64_t* captures);

} // namespace melix::device
