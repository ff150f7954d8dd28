// Kernels as machine code of the GPU: what an executable brings, what the cache of files has, or what the
// driver makes of PTX.
#include "cuda.h"

namespace melix::runtime {

namespace {

constexpr int ptxInput = 1;
constexpr int errorLogOption = 5, errorLogBytesOption = 6;

/// Whether the code runs on a card. Code runs on later ones of the same major number.
bool runsOn(const MelixCubin& cubin, int32_t architecture) {
  if (cubin.architecture < 0) return -cubin.architecture == architecture;
  return cubin.architecture / 10 == architecture / 10 && cubin.architecture <= architecture;
}

/// The code made for the card, or for the nearest before it; null if there is none.
const MelixCubin* cubinFor(const MelixImage& image, int32_t architecture) {
  const MelixCubin* best = nullptr;
  auto number = [](const MelixCubin& c) { return c.architecture < 0 ? -c.architecture : c.architecture; };
  for (int64_t k = 0; k < image.cubinCount; k++) {
    const MelixCubin& cubin = image.cubins[k];
    if (runsOn(cubin, architecture) && (!best || number(cubin) > number(*best))) best = &cubin;
  }
  return best;
}

bool loadCached(MelixImage& image, const CubinKey& key) {
  uint64_t bytes = 0;
  void* code = readCubin(key, bytes);
  if (!code) return false;
  const bool isLoaded = cuda.loadModule(&image.module, code) == 0;
  free(code);
  if (!isLoaded) dropCubin(key);
  return isLoaded;
}

/// What the driver says of PTX that it does not take: its errors, the first lines of them.
struct ErrorLog {
  char text[2048] = {};
  int options[2] = {errorLogOption, errorLogBytesOption};
  void* values[2] = {text, reinterpret_cast<void*>(sizeof text - 1)};
};

bool addPtx(CudaHandle link, const MelixImage& image) {
  auto* text = const_cast<char*>(image.ptx);
  return succeeds("cuLinkAddData", cuda.addToLink(link, ptxInput, text, static_cast<size_t>(image.bytes) + 1,
                                                  "kernels", 0, nullptr, nullptr));
}

/// The link owns the code.
bool makeAndLoad(MelixImage& image, CudaHandle link, const CubinKey& key) {
  void* code = nullptr;
  size_t bytes = 0;
  if (!addPtx(link, image) || !succeeds("cuLinkComplete", cuda.completeLink(link, &code, &bytes)) ||
      !succeeds("cuModuleLoadData", cuda.loadModule(&image.module, code)))
    return false;
  writeCubin(key, code, bytes);
  return true;
}

bool loadFromPtx(MelixImage& image) {
  const CubinKey key = cubinKey(image, gpuInfo());
  if (loadCached(image, key)) return true;
  ErrorLog log;
  CudaHandle link = nullptr;
  if (!succeeds("cuLinkCreate", cuda.createLink(2, log.options, log.values, &link))) return false;
  const bool isLoaded = makeAndLoad(image, link, key);
  if (!isLoaded) addToFailure(log.text);
  cuda.destroyLink(link);
  return isLoaded;
}

bool load(MelixImage& image) {
  const MelixCubin* cubin = cubinFor(image, gpuInfo().architecture);
  if (cubin && cuda.loadModule(&image.module, cubin->data) == 0) return true;
  return loadFromPtx(image); // also where the driver is older than the code
}

} // namespace

CudaHandle loadedFunction(MelixKernel& kernel) {
  MelixImage& image = *kernel.image;
  if (!image.module && !load(image)) return nullptr;
  if (!kernel.function)
    succeeds("cuModuleGetFunction", cuda.functionOf(&kernel.function, image.module, kernel.name));
  return kernel.function;
}

} // namespace melix::runtime
