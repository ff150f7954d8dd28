// A GPU of NVIDIA: kernels become PTX, which the driver finishes.
#include "device/cuda_driver.h"
#include "device/machine.h"
#include "device/ptx.h"

#include "codegen/target.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace melix::device {
namespace {

// Numbers of the driver's interface.
constexpr unsigned hostPortable = 1, hostMapped = 2;
constexpr int stackLimit = 0, mostSharedAttribute = 8, errorLog = 5, errorLogBytes = 6,
              sharedOptinAttribute = 97;
constexpr size_t stackBytes =
    size_t(4) << 10; ///< of each thread that a GPU can hold, for functions that call themselves
constexpr uint32_t sharedWithoutAsking = 48 << 10;

class CudaKernel final : public Kernel {
public:
  CudaKernel(const CudaDriver& driver) : driver_(driver) {}
  ~CudaKernel() override {
    if (module_) driver_.unloadModule(module_);
  }

  std::string load(const std::string& ptx) {
    std::string log(16 << 10, '\0');
    int kinds[] = {errorLog, errorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    std::string problem =
        driver_.text("cuModuleLoadDataEx", driver_.loadModule(&module_, ptx.c_str(), 2, kinds, values));
    if (!problem.empty()) return problem + "\n" + log.c_str();
    return driver_.text("cuModuleGetFunction", driver_.getFunction(&function_, module_, KernelEntry::symbol));
  }

  std::string run(const Grid& grid, std::span<const uint64_t> arguments) override {
    std::string problem = start(grid, arguments);
    return problem.empty() ? driver_.text("cuCtxSynchronize", driver_.synchronise()) : problem;
  }

  double time(const Grid& grid, std::span<const uint64_t> arguments) override {
    CudaDriver::Handle begin = nullptr, end = nullptr;
    if (driver_.createEvent(&begin, 0) || driver_.createEvent(&end, 0)) return -1;
    float least = -1;
    for (int k = 0; k < 20; ++k) {
      driver_.recordEvent(begin, nullptr);
      if (!start(grid, arguments).empty()) return -1;
      driver_.recordEvent(end, nullptr);
      float milliseconds = 0;
      if (driver_.synchroniseEvent(end) || driver_.elapsed(&milliseconds, begin, end)) return -1;
      if (k > 2 && (least < 0 || milliseconds < least)) least = milliseconds;
    }
    return static_cast<double>(least) / 1e3;
  }

private:
  std::string start(const Grid& grid, std::span<const uint64_t> arguments) {
    if (grid.scratch > sharedWithoutAsking)
      if (int bad = driver_.setAttribute(function_, mostSharedAttribute, static_cast<int>(grid.scratch)))
        return driver_.text("cuFuncSetAttribute", bad);
    std::vector<void*> places;
    for (const uint64_t& argument : arguments) places.push_back(const_cast<uint64_t*>(&argument));
    return driver_.text("cuLaunchKernel", driver_.launch(function_, grid.blocks, 1, 1, grid.threads, 1, 1,
                                                         grid.scratch, nullptr, places.data(), nullptr));
  }

  const CudaDriver& driver_;
  CudaDriver::Handle module_ = nullptr, function_ = nullptr;
};

class Cuda final : public Machine {
public:
  std::string open() {
    std::string missing = driver_.find();
    if (!missing.empty()) return missing;
    int count = 0, device = 0;
    if (std::string p = driver_.text("cuInit", driver_.init(0)); !p.empty()) return p;
    if (driver_.deviceCount(&count) || count == 0) return "no GPU of NVIDIA";
    CudaDriver::Handle context = nullptr;
    for (const std::string& problem :
         {driver_.text("cuDeviceGet", driver_.deviceGet(&device, 0)),
          driver_.text("cuDevicePrimaryCtxRetain", driver_.retainContext(&context, device)),
          driver_.text("cuCtxSetCurrent", driver_.setContext(context)),
          driver_.text("cuCtxSetLimit", driver_.setLimit(stackLimit, stackBytes))})
      if (!problem.empty()) return problem;
    int most = 0;
    if (!driver_.deviceAttribute(&most, sharedOptinAttribute, device))
      mostScratch_ = static_cast<uint32_t>(most);
    return "";
  }

  PlaceKind place() const override { return PlaceKind::Gpu; }
  uint8_t* sharedMemory(size_t bytes) override {
    void* memory = nullptr;
    return driver_.allocateHost(&memory, bytes, hostPortable | hostMapped) ? nullptr
                                                                           : static_cast<uint8_t*>(memory);
  }
  uint64_t ownMemory(size_t bytes) override {
    CudaDriver::Address memory = 0;
    return driver_.allocate(&memory, bytes) ? 0 : memory;
  }
  void copy(uint64_t to, uint64_t from, size_t bytes) override { driver_.copy(to, from, bytes); }
  uint32_t mostScratch() const override { return mostScratch_; }

  std::unique_ptr<Kernel> load(KernelEntry& entry, const codegen::Options& options,
                               std::string& problem) override {
    codegen::optimise(entry.ir(), *makeGpuMachine(), options);
    const std::string ptx = ptxOf(entry.ir());
    if (const char* file = std::getenv("MELIX_DEVICE_PTX"))
      if (FILE* out = std::fopen(file, "a")) {
        std::fwrite(ptx.data(), 1, ptx.size(), out);
        std::fclose(out);
      }
    auto kernel = std::make_unique<CudaKernel>(driver_);
    problem = kernel->load(ptx);
    if (!problem.empty()) return nullptr;
    return kernel;
  }

private:
  CudaDriver driver_{};
  uint32_t mostScratch_ = sharedWithoutAsking;
};

} // namespace

std::unique_ptr<Machine> makeCuda(std::string& missing) {
  auto cuda = std::make_unique<Cuda>();
  missing = cuda->open();
  if (!missing.empty()) return nullptr;
  return cuda;
}

} // namespace melix::device
