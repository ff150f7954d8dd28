#include "device/cuda_driver.h"

#include <dlfcn.h>

namespace melix::device {

std::string CudaDriver::find() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) return "no driver of NVIDIA: " + std::string(dlerror());
  std::string missing;
  auto bind = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function) missing += (missing.empty() ? "the driver lacks " : ", ") + std::string(symbol);
  };
  bind(init, "cuInit");
  bind(driverVersion, "cuDriverGetVersion");
  bind(getErrorString, "cuGetErrorString");
  bind(deviceCount, "cuDeviceGetCount");
  bind(deviceGet, "cuDeviceGet");
  bind(deviceName, "cuDeviceGetName");
  bind(deviceAttribute, "cuDeviceGetAttribute");
  bind(retainContext, "cuDevicePrimaryCtxRetain");
  bind(setContext, "cuCtxSetCurrent");
  bind(synchronise, "cuCtxSynchronize");
  bind(setLimit, "cuCtxSetLimit");
  bind(allocateHost, "cuMemHostAlloc");
  bind(allocate, "cuMemAlloc_v2");
  bind(copy, "cuMemcpy");
  bind(loadModule, "cuModuleLoadDataEx");
  bind(unloadModule, "cuModuleUnload");
  bind(getFunction, "cuModuleGetFunction");
  bind(setAttribute, "cuFuncSetAttribute");
  bind(launch, "cuLaunchKernel");
  bind(createEvent, "cuEventCreate");
  bind(recordEvent, "cuEventRecord");
  bind(synchroniseEvent, "cuEventSynchronize");
  bind(elapsed, "cuEventElapsedTime");
  return missing;
}

std::string CudaDriver::text(const char* call, Result result) const {
  if (result == 0) return "";
  const char* meaning = nullptr;
  getErrorString(result, &meaning);
  return std::string(call) + ": " + (meaning ? meaning : std::to_string(result).c_str());
}

} // namespace melix::device
