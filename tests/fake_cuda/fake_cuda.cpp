// A driver of GPUs that has none: see README.md beside this file. Its memory is this process's, a kernel is
// the one that the emulated device runs.
#include "melix/abi.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

using Result = int;
using Handle = void*;
using Address = unsigned long long;

constexpr Result outOfMemory = 2, invalidImage = 200, launchFailed = 719;

long numberOf(const char* variable, long usual) {
  const char* text = std::getenv(variable);
  return text && *text ? std::atol(text) : usual;
}

/// Whether a variable has `NAME:K`, the number of this call of NAME.
bool isMeant(const char* text, const std::string& name, int call) {
  return text && name + ":" + std::to_string(call) == text;
}

/// What a call of NAME gives that fails; else 0.
Result failureOf(const char* name, Result error) {
  static const char *const file = std::getenv("FAKE_CUDA_CALLS"),
                           *const failing = std::getenv("FAKE_CUDA_FAILS"),
                           *const full = std::getenv("FAKE_CUDA_FULL");
  if (file)
    if (FILE* out = std::fopen(file, "a")) {
      std::fprintf(out, "%s\n", name);
      std::fclose(out);
    }
  if (!failing && !full) return 0;
  static std::map<std::string, int> calls;
  const int call = ++calls[name];
  if (failing && failing == std::string(name) + ":abort") std::abort();
  return isMeant(failing, name, call) ? error : isMeant(full, name, call) ? outOfMemory : 0;
}

#define FAILS_AS(error)                                                                                      \
  if (const Result failed = failureOf(__func__, error)) return failed
#define FAILS FAILS_AS(launchFailed)

/// The memory of the device, by address.
std::map<Address, size_t> memory;
size_t used = 0;
size_t allMemory() {
  static const auto bytes = static_cast<size_t>(numberOf("FAKE_CUDA_MEMORY", 1L << 30));
  return bytes;
}

/// Whether a range lies in one piece of the device's memory.
bool isThere(Address at, size_t bytes) {
  auto found = memory.upper_bound(at);
  if (found == memory.begin()) return false;
  --found;
  return at + bytes <= found->first + found->second;
}

void* place(Address at) { return reinterpret_cast<void*>(at); }

/// A kernel by the place into which its handle is written.
MelixKernel* kernelOf(Handle* function) {
  return reinterpret_cast<MelixKernel*>(reinterpret_cast<char*>(function) - offsetof(MelixKernel, function));
}

struct Link {
  std::string code;
};
constexpr const char* beginOfCode = "fake code of ";

} // namespace

extern "C" {

Result cuInit(unsigned) {
  FAILS_AS(100);
  return 0;
}
Result cuDriverGetVersion(int* version) {
  FAILS;
  *version = static_cast<int>(numberOf("FAKE_CUDA_VERSION", 13000));
  return 0;
}
Result cuGetErrorString(Result result, const char** text) {
  const std::map<Result, const char*> texts = {{outOfMemory, "out of memory"},
                                               {100, "no CUDA-capable device is detected"},
                                               {invalidImage, "device kernel image is invalid"},
                                               {launchFailed, "unspecified launch failure"}};
  const auto found = texts.find(result);
  *text = found == texts.end() ? nullptr : found->second;
  return found == texts.end();
}
Result cuDeviceGetCount(int* count) {
  FAILS;
  *count = static_cast<int>(numberOf("FAKE_CUDA_DEVICES", 1));
  return 0;
}
Result cuDeviceGet(int* device, int ordinal) {
  FAILS;
  *device = ordinal;
  return 0;
}
Result cuDeviceGetName(char* name, int length, int) {
  FAILS;
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU");
  return 0;
}
Result cuDeviceTotalMem_v2(size_t* bytes, int) {
  FAILS;
  *bytes = allMemory();
  return 0;
}
Result cuDeviceGetAttribute(int* value, int attribute, int) {
  FAILS;
  const int capability = static_cast<int>(numberOf("FAKE_CUDA_CAPABILITY", 90));
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 0;
  return 0;
}
Result cuDevicePrimaryCtxRetain(Handle* context, int) {
  FAILS;
  *context = &memory;
  return 0;
}
Result cuCtxSetCurrent(Handle) {
  FAILS;
  return 0;
}
Result cuStreamCreate(Handle* stream, unsigned) {
  FAILS;
  *stream = &used;
  return 0;
}
Result cuStreamSynchronize(Handle) {
  FAILS;
  return 0;
}
Result cuMemGetInfo_v2(size_t* free, size_t* all) {
  FAILS;
  *all = allMemory();
  *free = *all - used;
  return 0;
}
Result cuMemAlloc_v2(Address* at, size_t bytes) {
  FAILS;
  if (bytes > allMemory() - used) return outOfMemory;
  void* made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(made, 0xCB, bytes);
  *at = reinterpret_cast<Address>(made);
  memory[*at] = bytes;
  used += bytes;
  return 0;
}
Result cuMemFree_v2(Address at) {
  FAILS;
  const auto found = memory.find(at);
  if (found == memory.end()) return launchFailed;
  used -= found->second;
  memory.erase(found);
  std::free(place(at));
  return 0;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Handle) {
  FAILS;
  if (!isThere(to, bytes)) return launchFailed;
  std::memcpy(place(to), from, bytes);
  return 0;
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Handle) {
  FAILS;
  if (!isThere(from, bytes)) return launchFailed;
  std::memcpy(to, place(from), bytes);
  return 0;
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Handle) {
  FAILS;
  if (!isThere(from, bytes) || !isThere(to, bytes)) return launchFailed;
  std::memmove(place(to), place(from), bytes);
  return 0;
}
Result cuMemsetD8Async(Address at, unsigned char value, size_t bytes, Handle) {
  FAILS;
  if (!isThere(at, bytes)) return launchFailed;
  std::memset(place(at), value, bytes);
  return 0;
}
#ifndef FAKE_CUDA_WITHOUT_LINK
Result cuLinkCreate_v2(unsigned, int*, void** values, Handle* link) {
  FAILS;
  std::strcpy(static_cast<char*>(values[0]), "ptxas says so");
  *link = new Link;
  return 0;
}
#endif
Result cuLinkAddData_v2(Handle link, int, void* data, size_t bytes, const char*, unsigned, int*, void**) {
  FAILS_AS(invalidImage);
  static_cast<Link*>(link)->code = beginOfCode + std::string(static_cast<char*>(data), bytes);
  return 0;
}
Result cuLinkComplete(Handle link, void** code, size_t* bytes) {
  FAILS_AS(invalidImage);
  std::string& made = static_cast<Link*>(link)->code;
  *code = made.data();
  *bytes = made.size();
  return 0;
}
Result cuLinkDestroy(Handle link) {
  FAILS;
  delete static_cast<Link*>(link);
  return 0;
}
Result cuModuleLoadData(Handle* module, const void* image) {
  FAILS_AS(invalidImage);
  const auto* text = static_cast<const char*>(image);
  const bool isElf = std::memcmp(text,
                                 "\x7f"
                                 "ELF",
                                 4) == 0;
  if (!isElf && std::strncmp(text, beginOfCode, std::strlen(beginOfCode)) != 0) return invalidImage;
  *module = const_cast<char*>(isElf ? "" : strdup(text));
  return 0;
}
/// The entry is one that the assembly has.
Result cuModuleGetFunction(Handle* function, Handle module, const char* name) {
  FAILS;
  const char* text = static_cast<const char*>(module);
  if (*text && !std::strstr(text, (".entry " + std::string(name) + "(").c_str())) return invalidImage;
  *function = kernelOf(function);
  return 0;
}
Result cuLaunchKernel(Handle function, unsigned gridX, unsigned, unsigned, unsigned blockX, unsigned,
                      unsigned, unsigned, Handle, void**, void** extra) {
  FAILS;
  const auto* kernel = static_cast<const MelixKernel*>(function);
  auto* words = static_cast<uint64_t*>(extra[1]);
  const bool hasChecks = kernel->checks > 0;
  const bool hasScratch = std::strchr(kernel->captures, MELIX_CAPTURE_SCRATCH);
  const int64_t captured = kernel->count + 1, count = captured + 2 * hasScratch + hasChecks;
  if (*static_cast<size_t*>(extra[3]) != 8 * static_cast<size_t>(count)) return launchFailed;
  const Address failure = words[count - 1];
  if (hasChecks && !isThere(failure, sizeof(MelixFailure))) return launchFailed;
  for (int64_t k = 0; k < kernel->count; ++k)
    if (std::strchr("rw", kernel->captures[k]) && words[1 + k] && !isThere(words[1 + k], 0))
      return launchFailed;
  static long launches = 0;
  static const long idle = numberOf("FAKE_CUDA_IDLE", 0);
  if (++launches == idle) return 0;
  const auto extent = static_cast<int64_t>(words[0]);
  const auto points = static_cast<int64_t>(words[hasScratch ? captured : 0]);
  if (int64_t(gridX) * blockX < points * kernel->threads) return launchFailed;
  for (int64_t k = extent; kernel->emulated && k-- > 0;) {
    MelixFailure made{};
    made.check = kernel->emulated(made.numbers, words + 1, k, k + 1);
    made.left = static_cast<uint64_t>(extent - k);
    if (made.check >= 0) *static_cast<MelixFailure*>(place(failure)) = made;
  }
  return 0;
}

} // extern "C"
