// A GPU as a device: the first that the driver shows. All work is on one stream, so each launch and copy sees
// what those before it have done.
#include "cuda.h"

#include "../system.h"

#include <dlfcn.h>

namespace melix::runtime {

CudaDriver cuda;

namespace {

constexpr const char* library = "libcuda.so.1";
constexpr CudaResult outOfMemory = 2;
constexpr int majorAttribute = 75, minorAttribute = 76, pageableAttribute = 88;
constexpr uint64_t mostBlocks = INT32_MAX;
constexpr unsigned apartFromOtherStreams = 1;
constexpr int32_t leastDriver = 11000, leastArchitecture = 80; ///< of PTX 7.0, and of its target

/// Who opened it, or tried to.
enum class State : uint8_t { Closed, Open, Failed };
State state;
TextBuffer problem; ///< why it cannot be used; ends with NUL
GpuInfo info;
CudaHandle context, stream;
void* openingThread;       ///< on which the context is the current one
bool readsPageableMemory;  ///< whether copies in may still read the host's memory when they have returned
char lastKernel[128];      ///< the name of the last one that was to run
MelixFailure* checkRecord; ///< on the device, for kernels with checks; all zero between launches
bool isLaunching, isFull;  ///< memory that runs out in a launch is no failure: there may be room to be made

void addVersion(TextBuffer& out, int64_t major, int64_t minor) {
  out.addInt(major);
  out.addByte('.');
  out.addInt(minor);
}

/// The error of the loader ends with the text of an error number, which says nothing more where the library
/// is not there.
bool noteMissingLibrary() {
  const char* text = dlerror();
  if (!text) text = library;
  const char* end = strstr(text, ": No such file");
  problem.add(text, end ? end - text : static_cast<int64_t>(strlen(text)));
  return false;
}

bool isRecent() {
  if (info.driver >= leastDriver) return true;
  problem.add("its driver is for CUDA ");
  addVersion(problem, info.driver / 1000, info.driver % 1000 / 10);
  problem.add(", and Melix needs one for ");
  addVersion(problem, leastDriver / 1000, leastDriver % 1000 / 10);
  problem.add(" or later");
  return false;
}

template <class Function>
bool bind(void* driver, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(dlsym(driver, symbol));
  if (function) return true;
  problem.add(library);
  problem.add(" has no function ");
  problem.add(symbol);
  return false;
}

#define CALL(name, symbol, ...) succeeds(symbol, cuda.name(__VA_ARGS__))

/// The driver's functions. Notes what is missing; an old driver lacks some.
bool findDriver() {
  void* driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!driver) return noteMissingLibrary();
  if (!bind(driver, cuda.errorString, "cuGetErrorString") ||
      !bind(driver, cuda.driverVersion, "cuDriverGetVersion") ||
      !CALL(driverVersion, "cuDriverGetVersion", &info.driver) || !isRecent())
    return false;
#define FUNCTION(name, symbol, parameters)                                                                   \
  if (!bind(driver, cuda.name, #symbol)) return false;
#include "cuda_functions.def"
  return true;
}

bool isCapable() {
  if (info.architecture >= leastArchitecture) return true;
  problem.add(info.name);
  problem.add(" has compute capability ");
  addVersion(problem, info.architecture / 10, info.architecture % 10);
  problem.add(", and Melix needs ");
  addVersion(problem, leastArchitecture / 10, leastArchitecture % 10);
  problem.add(" or more");
  return false;
}

bool describe(int device, GpuInfo& gpu) {
  int major = 0, minor = 0;
  if (!CALL(deviceName, "cuDeviceGetName", gpu.name, sizeof gpu.name, device) ||
      !CALL(deviceMemory, "cuDeviceTotalMem", &gpu.memory, device) ||
      !CALL(deviceAttribute, "cuDeviceGetAttribute", &major, majorAttribute, device) ||
      !CALL(deviceAttribute, "cuDeviceGetAttribute", &minor, minorAttribute, device))
    return false;
  gpu.architecture = 10 * major + minor;
  return true;
}

bool openDevice() {
  int count = 0, device = 0;
  if (!CALL(init, "cuInit", 0) || !CALL(deviceCount, "cuDeviceGetCount", &count)) return false;
  if (count == 0) {
    problem.add("its driver shows none");
    return false;
  }
  int pageable = 0;
  CudaAddress record = 0;
  if (!CALL(device, "cuDeviceGet", &device, 0) || !describe(device, info) || !isCapable() ||
      !CALL(deviceAttribute, "cuDeviceGetAttribute", &pageable, pageableAttribute, device) ||
      !CALL(retainContext, "cuDevicePrimaryCtxRetain", &context, device) ||
      !CALL(setContext, "cuCtxSetCurrent", context) ||
      !CALL(createStream, "cuStreamCreate", &stream, apartFromOtherStreams) ||
      !CALL(allocate, "cuMemAlloc", &record, sizeof(MelixFailure)) ||
      !CALL(fillBytes, "cuMemsetD8Async", record, 0, sizeof(MelixFailure), stream))
    return false;
  readsPageableMemory = pageable != 0;
  checkRecord = reinterpret_cast<MelixFailure*>(record);
  return true;
}

// --- the device ------------------------------------------------------------------------------------------

/// Whether calls may be made; the context is then the current one of any thread.
bool isUsable() {
  if (problem.len) return false;
  return __builtin_thread_pointer() == openingThread || CALL(setContext, "cuCtxSetCurrent", context);
}

CudaAddress addressOf(const void* memory) { return reinterpret_cast<CudaAddress>(memory); }

void* reserve(uint64_t bytes) {
  CudaAddress memory = 0;
  if (!isUsable()) return nullptr;
  const CudaResult result = cuda.allocate(&memory, bytes);
  if (result == outOfMemory || !succeeds("cuMemAlloc", result)) return nullptr;
  return reinterpret_cast<void*>(memory);
}

void release(void* memory) {
  if (isUsable()) CALL(release, "cuMemFree", addressOf(memory));
}

void measure(uint64_t& free, uint64_t& all) {
  size_t freeBytes = 0, allBytes = 0;
  if (isUsable()) CALL(memoryInfo, "cuMemGetInfo", &freeBytes, &allBytes);
  free = freeBytes;
  all = allBytes;
}

void copyIn(void* to, const void* from, uint64_t bytes) {
  if (isUsable() && CALL(copyIn, "cuMemcpyHtoDAsync", addressOf(to), from, bytes, stream) &&
      readsPageableMemory)
    CALL(waitForStream, "cuStreamSynchronize", stream);
}

void copyOut(void* to, const void* from, uint64_t bytes) {
  if (isUsable() && CALL(copyOut, "cuMemcpyDtoHAsync", to, addressOf(from), bytes, stream))
    CALL(waitForStream, "cuStreamSynchronize", stream);
}

void copyWithin(void* to, const void* from, uint64_t bytes) {
  if (isUsable()) CALL(copyWithin, "cuMemcpyDtoDAsync", addressOf(to), addressOf(from), bytes, stream);
}

void clear(void* memory, uint64_t bytes) {
  if (isUsable()) CALL(fillBytes, "cuMemsetD8Async", addressOf(memory), 0, bytes, stream);
}

bool startKernel(MelixKernel* kernel, uint64_t* words) {
  void* function = loadedFunction(*kernel);
  if (!function) return false;
  const uint64_t captured = 1 + static_cast<uint64_t>(kernel->count), scratch = hasScratch(*kernel) ? 2 : 0;
  const uint64_t count = captured + scratch + (kernel->checks > 0);
  const uint64_t atOnce = scratch ? words[captured] : words[0];
  const uint64_t ofBlock = MELIX_BLOCK_THREADS / static_cast<uint64_t>(kernel->threads);
  const uint64_t blocks = (atOnce + ofBlock - 1) / ofBlock;
  words[count - 1] = kernel->checks > 0 ? addressOf(checkRecord) : words[count - 1];
  size_t bytes = count * sizeof(uint64_t);
  constexpr uintptr_t end = 0, buffer = 1, bufferBytes = 2;
  void* extra[] = {reinterpret_cast<void*>(buffer), words, reinterpret_cast<void*>(bufferBytes), &bytes,
                   reinterpret_cast<void*>(end)};
  constexpr CudaResult invalidValue = 1;
  const CudaResult result = blocks > mostBlocks
                                ? invalidValue
                                : cuda.launch(function, static_cast<unsigned>(blocks), 1, 1,
                                              MELIX_BLOCK_THREADS, 1, 1, 0, stream, nullptr, extra);
  return succeeds("cuLaunchKernel", result);
}

bool launch(MelixKernel* kernel, uint64_t* words, MelixFailure* failure) {
  if (!isUsable()) return true;
  const size_t length = strlen(kernel->name), most = sizeof lastKernel - 1;
  memcpy(lastKernel, kernel->name, length < most ? length : most);
  lastKernel[length < most ? length : most] = 0;
  isLaunching = true;
  isFull = false;
  const bool isStarted = startKernel(kernel, words);
  isLaunching = false;
  if (!isStarted || kernel->checks == 0) return !isFull;
  copyOut(failure, checkRecord, sizeof *failure);
  if (failure->left > 0) clear(checkRecord, sizeof *checkRecord);
  return true;
}

const char* failure() { return problem.len ? reinterpret_cast<const char*>(problem.data) : nullptr; }

constexpr Device gpu = {"gpu 0",    reserve, release, measure, copyIn,  copyOut,
                        copyWithin, clear,   launch,  nullptr, failure, 1 << 20};

} // namespace

const GpuInfo& gpuInfo() { return info; }

bool succeeds(const char* call, CudaResult result) {
  if (result == 0) return true;
  if (isLaunching && result == outOfMemory) isFull = true;
  if (problem.len || (isLaunching && isFull)) return false;
  const char* text = nullptr;
  cuda.errorString(result, &text);
  problem.add(call);
  problem.add(": ");
  if (text)
    problem.add(text);
  else
    problem.addInt(result);
  if (*lastKernel) {
    problem.add("; the last kernel is ");
    problem.add(lastKernel);
  }
  problem.addByte('\0');
  return false;
}

void addToFailure(const char* detail) {
  if (!*detail || !problem.len) return;
  problem.len--; // the NUL
  problem.add("\n");
  problem.add(detail);
  problem.addByte('\0');
}

bool isDriverThere() {
  void* driver = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (driver) dlclose(driver);
  return driver != nullptr;
}

const Device* openGpu() {
  if (state == State::Closed) {
    openingThread = __builtin_thread_pointer();
    state = findDriver() && openDevice() ? State::Open : State::Failed;
    if (state == State::Failed) problem.addByte('\0');
  }
  return state == State::Open && !problem.len ? &gpu : nullptr;
}

const char* gpuProblem() { return failure(); }

namespace {

/// `gpu 0: NVIDIA H200, compute capability 9.0, 138.6 of 139.8 GiB free, driver for CUDA 13.0`; only that of
/// the one that is open is known to be free.
void addLine(TextBuffer& out, int number, const GpuInfo& gpu) {
  out.add("gpu ");
  out.addInt(number);
  out.add(": ");
  out.add(gpu.name);
  out.add(", compute capability ");
  addVersion(out, gpu.architecture / 10, gpu.architecture % 10);
  out.add(", ");
  const ByteUnit unit = unitFor(gpu.memory);
  uint64_t free = 0, all = 0;
  if (number == 0) {
    measure(free, all);
    addBytesIn(out, free, unit);
    out.add(" of ");
  }
  addBytesIn(out, gpu.memory, unit);
  out.addByte(' ');
  out.add(unit.name);
  if (number == 0) out.add(" free");
  out.add(", driver for CUDA ");
  addVersion(out, info.driver / 1000, info.driver % 1000 / 10);
  out.addByte('\n');
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

int32_t melix_list_devices(void) {
  ScopedBuffer out;
  int count = 0;
  if (openGpu()) CALL(deviceCount, "cuDeviceGetCount", &count);
  for (int k = 0; k < count; k++) {
    int device = 0;
    GpuInfo gpu{};
    if (CALL(device, "cuDeviceGet", &device, k) && describe(device, gpu)) addLine(out, k, gpu);
  }
  const bool isThere = !gpuProblem();
  if (!isThere) {
    out.clear();
    out.add("melix: no GPU (");
    out.add(gpuProblem());
    out.add(")\n");
  }
  writeText(isThere ? 1 : 2, out.data, out.len);
  return isThere ? MELIX_OK : MELIX_FAILED;
}
