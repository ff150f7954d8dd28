#pragma once
// What is used of the driver of NVIDIA's GPUs, found when the program runs: no toolkit is needed to build.

#include <cstddef>
#include <cstdint>
#include <string>

namespace melix::device {

/// Handles and numbers as the driver's interface has them.
struct CudaDriver {
  using Result = int;
  using Handle = void*;
  using Address = unsigned long long;

  Result (*init)(unsigned flags);
  Result (*driverVersion)(int* version);
  Result (*getErrorString)(Result, const char**);
  Result (*deviceCount)(int*);
  Result (*deviceGet)(int* device, int ordinal);
  Result (*deviceName)(char* name, int length, int device);
  Result (*deviceAttribute)(int* value, int attribute, int device);
  Result (*retainContext)(Handle* context, int device);
  Result (*setContext)(Handle context);
  Result (*synchronise)();
  Result (*setLimit)(int limit, size_t value);
  Result (*allocateHost)(void** memory, size_t bytes, unsigned flags);
  Result (*allocate)(Address* memory, size_t bytes);
  Result (*copy)(Address to, Address from, size_t bytes);
  Result (*loadModule)(Handle* module, const void* image, unsigned options, int* kinds, void** values);
  Result (*unloadModule)(Handle module);
  Result (*getFunction)(Handle* function, Handle module, const char* name);
  Result (*setAttribute)(Handle function, int attribute, int value);
  Result (*launch)(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, Handle stream, void** arguments,
                   void** extra);
  Result (*createEvent)(Handle* event, unsigned flags);
  Result (*recordEvent)(Handle event, Handle stream);
  Result (*synchroniseEvent)(Handle event);
  Result (*elapsed)(float* milliseconds, Handle from, Handle to);

  /// Says what is missing, or nothing.
  std::string find();
  /// What a result means; empty if all is well.
  std::string text(const char* call, Result result) const;
};

} // namespace melix::device
