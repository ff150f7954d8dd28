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

} // namespace

/// PTX 7.0 has 4352 bytes for the parameters of a kernel: the extent, the captures, the record of checks.
constexpr size_t mostParams = 4352 / 8 - 2;

std::string_view whyNotOnDevice(const Module& module, const Function& kernel) {
  if (kernel.params().size() > mostParams) return "more values from outside than a launch takes";
  for (const Stmt& s : kernel.stmts) {
    if (const std::string_view why = reasonOf(module, s); !why.empty()) return why;
    if (const std::string_view why = reasonInKernel(kernel, s); !why.empty()) return why;
  }
  for (ValueId p : kernel.params())
    if (const ClassKind cls = kernel.typeOf(p).cls; cls != ClassKind::Scalar && cls != ClassKind::Data)
      return "memory of the host";
  return "";
}

} // namespace melix::loops
