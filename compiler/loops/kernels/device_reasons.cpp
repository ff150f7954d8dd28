#include "loops/kernels/device_reasons.h"

#include <algorithm>

namespace melix::loops {
namespace {

/// A statement that stands in orchestration only.
std::string_view reasonOf(const Module& module, const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Call:
    return module.functions[s.as<FunctionId>()].isClosed() ? "" : "a call that is not inlined";
  case StmtKind::AllocArray: return "an array of a size found at each point";
  case StmtKind::AllocNode: return "a boxed value";
  case StmtKind::EnsureUnique: return "an array that is changed at each point";
  case StmtKind::Retain:
  case StmtKind::Drop: return "values that are counted";
  case StmtKind::Format: return "texts";
  case StmtKind::Builtin: return "a function of the runtime, as for output, texts or files";
  case StmtKind::Runtime: return "a List or a sort";
  case StmtKind::Panic: return "a panic of the program";
  case StmtKind::Launch: return "a loop that is a launch of its own";
  default: return siteOf(s.kind) == SiteKind::Host ? "a statement of the host" : "";
  }
}

/// Whether a kernel may hold it, and a device not.
std::string_view reasonInKernel(const Function& kernel, const Stmt& s) {
  auto isNumber = [&](ValueId v) { return kernel.typeOf(v).cls == ClassKind::Scalar; };
  const bool isOwnMemory = s.kind == StmtKind::AddressOf || s.kind == StmtKind::PointerOf ||
                           s.kind == StmtKind::FrameArray || s.kind == StmtKind::Scratch;
  if (s.kind == StmtKind::Tag) return "a boxed value";
  if (s.kind == StmtKind::Store && !isNumber(s.operands.back())) return "elements that are references";
  return isOwnMemory || std::ranges::all_of(s.results, isNumber) ? "" : "elements that are references";
}

std::string_view reasonIn(const Module& module, const Function& kernel, RegionId region) {
  for (StmtId id : kernel.regions[region].stmts) {
    const Stmt& s = kernel.stmts[id];
    if (const std::string_view why = reasonOf(module, s); !why.empty()) return why;
    if (const std::string_view why = reasonInKernel(kernel, s); !why.empty()) return why;
    for (RegionId inner : s.regions)
      if (const std::string_view why = reasonIn(module, kernel, inner); !why.empty()) return why;
  }
  return "";
}

} // namespace

/// PTX 7.0 has 4352 bytes for the parameters of a kernel. Beside the captures these are the extent, scratch,
/// the record of checks, the rows of a tile, and constants that become parameters.
constexpr size_t mostParams = 4352 / 8 - 24;

std::string_view whyNotOnDevice(const Module& module, const Function& kernel) {
  if (kernel.params().size() > mostParams) return "more values from outside than a launch takes";
  if (const std::string_view why = reasonIn(module, kernel, kernel.body); !why.empty()) return why;
  for (size_t k = 0; k < kernel.params().size(); ++k) {
    const ClassKind cls = kernel.typeOf(kernel.params()[k]).cls;
    const bool isScratch = kernel.modeOf(k) == ModeKind::Scratch;
    if (cls != ClassKind::Scalar && cls != ClassKind::Data && !isScratch) return "memory of the host";
  }
  return "";
}

void assignDevices(Module& module) {
  for (Function& fn : module.functions) {
    if (!fn.points.isGrid) continue;
    const std::string_view why = whyNotOnDevice(module, fn);
    if (!why.empty()) {
      module.onHost.push_back({fn.loc, why});
      continue;
    }
    fn.kind = FunctionKind::Device;
    fn.device = Device::Gpu;
  }
}

} // namespace melix::loops
