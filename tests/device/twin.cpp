// Kernels as for a device, with its entries and arguments, on this processor.
#include "codegen/target.h"
#include "device/machine.h"
#include "jit/jit.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace melix::device {
namespace {

constexpr size_t mostArguments = 64; ///< of an entry

/// A call of an entry with its arguments from a record.
template <size_t... k>
void callWith(void* entry, const uint64_t* a, std::index_sequence<k...>) {
  reinterpret_cast<void (*)(decltype(uint64_t(k))...)>(entry)(a[k]...);
}

class TwinKernel final : public Kernel {
public:
  std::string link(codegen::Compiled& compiled) {
    std::string problem = jit_.add(compiled);
    entry_ = problem.empty() ? jit_.lookup(KernelEntry::symbol) : nullptr;
    return problem.empty() && !entry_ ? "the entry was not found" : problem;
  }
  /// More arguments than the entry takes do no harm: they lie above it on the stack.
  std::string run(const Grid& grid, std::span<const uint64_t> arguments) override {
    if (arguments.size() >= mostArguments) return "more arguments than the twin of a device hands over";
    uint64_t all[mostArguments] = {};
    std::copy(arguments.begin(), arguments.end(), all);
    for (uint64_t thread = 0; thread < uint64_t(grid.blocks) * grid.threads; ++thread) {
      all[arguments.size()] = thread;
      callWith(entry_, all, std::make_index_sequence<mostArguments>());
    }
    return "";
  }
  double time(const Grid&, std::span<const uint64_t>) override { return -1; }

private:
  jit::Jit jit_;
  void* entry_ = nullptr;
};

class Twin final : public Machine {
public:
  PlaceKind place() const override { return PlaceKind::Here; }
  uint8_t* sharedMemory(size_t bytes) override {
    void* at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<uint8_t*>(at);
  }
  uint64_t ownMemory(size_t bytes) override { return reinterpret_cast<uint64_t>(sharedMemory(bytes)); }
  void copy(uint64_t to, uint64_t from, size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  }
  uint32_t mostScratch() const override { return UINT32_MAX; }
  std::unique_ptr<Kernel> load(KernelEntry& entry, const codegen::Options& options,
                               std::string& problem) override {
    const std::unique_ptr<llvm::TargetMachine> machine = codegen::makeTargetMachine(options);
    entry.ir().setTargetTriple(machine->getTargetTriple());
    entry.ir().setDataLayout(machine->createDataLayout());
    codegen::optimise(entry.ir(), *machine, options);
    codegen::Compiled compiled;
    if (std::optional<std::string> bytes = codegen::objectOf(entry.ir(), *machine))
      compiled.objects.push_back({std::move(*bytes), {}});
    auto kernel = std::make_unique<TwinKernel>();
    problem = compiled.objects.empty() ? codegen::noObjectFiles : kernel->link(compiled);
    if (!problem.empty()) return nullptr;
    return kernel;
  }
};

} // namespace

std::unique_ptr<Machine> makeTwin() { return std::make_unique<Twin>(); }

} // namespace melix::device
