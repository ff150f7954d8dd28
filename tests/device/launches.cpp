#include "device/launches.h"

#include "device/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

extern "C" int64_t __real_melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent,
                                         int64_t grain, int64_t work);

namespace melix::device {
namespace {

using loops::ClassKind;
using loops::FunctionId;
using loops::ModeKind;

constexpr uint32_t warp = 32;
constexpr size_t scratchOfAll = size_t(64) << 20; ///< the most bytes of scratch of all threads

int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// A kernel and what was made of it: for scratch of a block, or of one space with the arrays.
struct Known {
  FunctionId function;
  std::unique_ptr<KernelEntry> entries[2];
  std::unique_ptr<Kernel> loaded[2];
  bool isRefused = false;
  bool hasChecks = false;
  uint64_t launches = 0;
};

class Launcher {
public:
  Launcher(Machine& machine, const loops::Module& module, const codegen::Options& options,
           const LaunchOptions& limits, const std::function<void*(FunctionId)>& chunkOf)
      : machine_(machine), module_(module), options_(options), limits_(limits) {
    for (uint32_t k = 0; k < module.functions.size(); ++k) {
      const loops::Function& fn = module.functions[FunctionId(k)];
      void* chunk = fn.kind == loops::FunctionKind::Kernel ? chunkOf(FunctionId(k)) : nullptr;
      if (!chunk) continue;
      Known& known = known_[chunk];
      known.function = FunctionId(k);
      for (const loops::Stmt& s : fn.stmts) known.hasChecks |= s.kind == loops::StmtKind::Check;
    }
  }

  int64_t launch(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain, int64_t work,
                 const uint8_t* frame) {
    const auto found = known_.find(reinterpret_cast<void*>(fn));
    bool goes = found != known_.end() && extent > 0 && ++found->second.launches <= limits_.most;
    if (goes) {
      const OwnMemory own;
      goes = run(found->second, static_cast<const uint64_t*>(context), extent, grain, frame);
    }
    if (goes) return -1;
    counts.here++;
    return __real_melix_parallel(task, fn, context, extent, grain, work);
  }

  LaunchCounts counts;

private:
  /// False if the launch is to be done here.
  bool run(Known& known, const uint64_t* record, int64_t extent, int64_t grain, const uint8_t* frame) {
    if (!failures_) failures_ = static_cast<uint64_t*>(takeHeld(limits_.threads * failureBytes));
    const loops::Function& fn = module_.functions[known.function];
    const uint64_t bytes = scratchBytes(fn, record);
    const bool shares = bytes > 0 && KernelEntry::sharesScratch(options_, machine_.place()) &&
                        bytes <= machine_.mostScratch();
    if (bytes > 0 && !shares && (bytes > scratchOfAll || scratch() == 0)) {
      counts.problems += fn.key + ": its scratch has no room\n";
      return false;
    }
    Kernel* kernel = loaded(known, bytes > 0 && !shares && machine_.place() == PlaceKind::Gpu);
    if (!kernel) return false;
    // Turns of a thread are a multiple of the kernel's step, as those of a chunk are.
    int64_t threads = std::min<int64_t>(limits_.threads, divideUp(extent, grain));
    if (bytes > 0) threads = std::clamp<int64_t>(static_cast<int64_t>(scratchOfAll / bytes), 1, threads);
    const int64_t turns = grain * divideUp(divideUp(extent, grain), threads);
    threads = divideUp(extent, turns);
    Grid grid{static_cast<uint32_t>(threads), 1, shares ? static_cast<uint32_t>(bytes) : 0};
    if (!shares) grid = {static_cast<uint32_t>(divideUp(threads, warp)), warp, 0};
    std::vector<uint64_t> arguments{uint64_t(turns), uint64_t(extent), shares ? 0 : scratch(),
                                    reinterpret_cast<uint64_t>(failures_)};
    if (!addCaptures(fn, record, arguments)) return false;
    std::memset(failures_, 0xff, static_cast<size_t>(threads) * failureBytes);
    std::unique_ptr<Saved> saved;
    if (known.hasChecks) saved = std::make_unique<Saved>(frame);
    const std::string problem = kernel->run(grid, arguments);
    if (!problem.empty()) return refuse(known, problem);
    for (int64_t thread = 0; thread < threads; ++thread)
      if (static_cast<int64_t>(failures_[static_cast<size_t>(thread) * failureBytes / 8]) >= 0) {
        // What the message says of it is said by the code for this processor.
        saved->restore();
        return false;
      }
    counts.onMachine++;
    if (limits_.times) tell(fn, *kernel, std::move(arguments), extent, grain);
    return true;
  }

  Kernel* loaded(Known& known, bool inOneSpace) {
    std::unique_ptr<Kernel>& kernel = known.loaded[inOneSpace];
    if (kernel || known.isRefused) return kernel.get();
    codegen::Options options = options_;
    if (inOneSpace) options.addressing.scratch = options.addressing.arrays;
    std::unique_ptr<KernelEntry>& entry = known.entries[inOneSpace];
    entry = std::make_unique<KernelEntry>(module_, known.function, options, machine_.place());
    std::string problem = entry->problem;
    if (problem.empty()) kernel = machine_.load(*entry, options, problem);
    if (!kernel) refuse(known, problem);
    counts.kernels += kernel != nullptr;
    return kernel.get();
  }

  bool refuse(Known& known, const std::string& problem) {
    known.isRefused = true;
    counts.problems += module_.functions[known.function].key + ": " + problem + "\n";
    return false;
  }

  /// As the record has them, but for constants, which lie in the code: the machine gets a copy.
  bool addCaptures(const loops::Function& fn, const uint64_t* record, std::vector<uint64_t>& arguments) {
    for (size_t k = 2; k < fn.params().size(); ++k) {
      const loops::ValueType type = fn.typeOf(fn.params()[k]);
      uint64_t slot = record[k - 2];
      const bool isPointer = type.cls != ClassKind::Scalar && fn.modes[k] != ModeKind::Scratch;
      if (isPointer && slot && !isHeld(reinterpret_cast<void*>(slot)) && !replaceConstant(slot)) {
        counts.problems += fn.key + ": what it is given lies where no kernel reaches\n";
        return false;
      }
      arguments.push_back(slot);
    }
    return true;
  }

  bool replaceConstant(uint64_t& data) {
    const auto* block = reinterpret_cast<const MelixBlock*>(data) - 1;
    static_assert(sizeof(MelixBlock) == MELIX_HEADER_BYTES);
    if (block->refs >= 0) return false;
    uint64_t& copy = constants_[data];
    if (!copy) {
      auto* made = static_cast<uint8_t*>(takeHeld(MELIX_HEADER_BYTES + block->bytes));
      if (!made) return false;
      std::memcpy(made, block, MELIX_HEADER_BYTES + block->bytes);
      copy = reinterpret_cast<uint64_t>(made + MELIX_HEADER_BYTES);
    }
    data = copy;
    return true;
  }

  uint64_t scratch() {
    if (!scratch_) scratch_ = machine_.ownMemory(scratchOfAll);
    return scratch_;
  }

  /// The time of a launch by as many threads as there are steps, on copies of its arrays.
  void tell(const loops::Function& fn, Kernel& kernel, std::vector<uint64_t> arguments, int64_t extent,
            int64_t grain) {
    constexpr uint32_t perBlock = 256;
    const int64_t threads = divideUp(extent, grain);
    if (threads < (1 << 16) || scratchBytes(fn, arguments.data() + FirstCapture) > 0) return;
    uint64_t bytes = 0;
    for (size_t k = 2; k < fn.params().size(); ++k) {
      uint64_t& data = arguments[FirstCapture + k - 2];
      if (fn.typeOf(fn.params()[k]).cls == ClassKind::Scalar || !data) continue;
      const uint64_t size = (reinterpret_cast<const MelixBlock*>(data) - 1)->bytes;
      const bool isBlock = data % MELIX_DATA_ALIGN == 0 && isHeld(reinterpret_cast<void*>(data + size));
      const uint64_t copy = isBlock ? machine_.ownMemory(size) : 0;
      if (!copy) return;
      machine_.copy(copy, data, size);
      data = copy;
      bytes += size;
    }
    arguments[Turns] = static_cast<uint64_t>(grain);
    arguments[Failures] = machine_.ownMemory(static_cast<size_t>(threads + perBlock) * failureBytes);
    if (!arguments[Failures]) return;
    const double seconds =
        kernel.time({static_cast<uint32_t>(divideUp(threads, perBlock)), perBlock, 0}, arguments);
    if (seconds < 0) return;
    std::fprintf(stderr, "device: time %s: %lld threads, %.1f us, %.1f MB, %.0f GB/s\n", fn.key.c_str(),
                 static_cast<long long>(threads), seconds * 1e6, static_cast<double>(bytes) / 1e6,
                 static_cast<double>(bytes) / seconds / 1e9);
  }

  Machine& machine_;
  const loops::Module& module_;
  const codegen::Options options_;
  const LaunchOptions limits_;
  std::map<void*, Known> known_;
  std::map<uint64_t, uint64_t> constants_;
  uint64_t* failures_ = nullptr;
  uint64_t scratch_ = 0;
};

Launcher* launcher = nullptr;

} // namespace

void launchOn(Machine& machine, const loops::Module& module, const codegen::Options& options,
              const LaunchOptions& limits, const std::function<void*(FunctionId)>& chunkOf) {
  launcher = new Launcher(machine, module, options, limits, chunkOf); // as long as the process
}

const LaunchCounts& launchCounts() { return launcher->counts; }

int64_t launch(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain, int64_t work,
               const uint8_t* frame) {
  if (!launcher) return __real_melix_parallel(task, fn, context, extent, grain, work);
  return launcher->launch(task, fn, context, extent, grain, work, frame);
}

} // namespace melix::device

extern "C" int64_t __wrap_melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent,
                                         int64_t grain, int64_t work) {
  // What the caller has lies above the return address and what it stood in before.
  const auto* frame = static_cast<const uint8_t*>(__builtin_frame_address(0)) + 2 * sizeof(void*);
  return melix::device::launch(task, fn, context, extent, grain, work, frame);
}
