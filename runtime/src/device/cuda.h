#pragma once
// GPUs by CUDA's driver, libcuda.so.1, which is found when a program runs: none of its toolkit is needed.

#include "device.h"

#include <stddef.h>

namespace melix::runtime {

using CudaResult = int32_t; ///< 0: all is well
using CudaHandle = void*;
using CudaAddress = unsigned long long;

struct CudaDriver {
#define FUNCTION(name, symbol, parameters) CudaResult(*name) parameters;
#include "cuda_functions.def"
};

/// The properties of a GPU.
struct GpuInfo {
  char name[256];
  size_t memory;        ///< bytes
  int32_t architecture; ///< 10 × major + minor compute capability
  int32_t driver;       ///< the CUDA version of its driver: 1000 × major + 10 × minor
};

extern CudaDriver cuda;
const GpuInfo& gpuInfo();

/// Notes that a call has failed, and that the device can be used no more. Gives whether it has not.
bool succeeds(const char* call, CudaResult result);
/// Adds details from the driver, if it has any.
void addToFailure(const char* detail);

/// The function of a kernel, whose image is loaded at its first launch; null if that fails.
CudaHandle loadedFunction(MelixKernel& kernel);

/// Machine code that was made of PTX before, in files (cubin_cache.cpp). A key is 128 bits.
struct CubinKey {
  uint64_t words[2];
};
CubinKey cubinKey(const MelixImage& image, const GpuInfo& gpu);
/// Memory by malloc; null if the cache has none.
void* readCubin(const CubinKey& key, uint64_t& bytes);
/// Keeps machine code. A failure is no error: the code is made anew next time.
void writeCubin(const CubinKey& key, const void* code, uint64_t bytes);
/// Forgets code that the driver does not take.
void dropCubin(const CubinKey& key);

} // namespace melix::runtime
