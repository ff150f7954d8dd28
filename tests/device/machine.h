#pragma once
// What kernels are run on.

#include "device/kernel_entry.h"

#include <memory>
#include <span>
#include <string>

namespace melix::device {

/// How many threads run a kernel.
struct Grid {
  uint32_t blocks = 1, threads = 1; ///< threads of each block
  uint32_t scratch = 0;             ///< bytes of memory that those of a block have together
};

/// A kernel that is ready to run.
class Kernel {
public:
  virtual ~Kernel() = default;
  /// Runs to its end; says what went wrong.
  virtual std::string run(const Grid& grid, std::span<const uint64_t> arguments) = 0;
  /// The least time of a run, in seconds; below 0: none was taken.
  virtual double time(const Grid& grid, std::span<const uint64_t> arguments) = 0;
};

class Machine {
public:
  virtual ~Machine() = default;
  virtual PlaceKind place() const = 0;
  /// Memory that this process and kernels reach by the same address. Null if there is none.
  virtual uint8_t* sharedMemory(size_t bytes) = 0;
  /// Memory of the machine itself, of which nothing is given back; 0 if there is none.
  virtual uint64_t ownMemory(size_t bytes) = 0;
  virtual void copy(uint64_t to, uint64_t from, size_t bytes) = 0;
  /// The most bytes that the threads of a block may have together.
  virtual uint32_t mostScratch() const = 0;
  /// Null, and `problem` says why, if it cannot run that.
  virtual std::unique_ptr<Kernel> load(KernelEntry& entry, const codegen::Options& options,
                                       std::string& problem) = 0;
};

/// This process, one thread after another.
std::unique_ptr<Machine> makeTwin();
/// The first GPU of NVIDIA. Null, and `missing` says what there is not, if there is none.
std::unique_ptr<Machine> makeCuda(std::string& missing);

} // namespace melix::device
