#include "loops/kernels/place_acquires.h"

#include "loops/analysis/device_arrays.h"
#include "loops/analysis/launching_functions.h"
#include "loops/ir/build.h"
#include "loops/kernels/element_copies.h"

#include <algorithm>
#include <unordered_map>

namespace melix::loops {
namespace {

/// The value that owns the memory to which a pointer points. None: memory that no device has.
ValueId blockOf(const Function& fn, ValueId pointer) {
  while (fn.typeOf(pointer).cls == ClassKind::Address) {
    const StmtId def = fn.values[pointer].def;
    if (!def.valid()) return {};
    const Stmt& s = fn.stmts[def];
    if (s.kind != StmtKind::AddressOf && s.kind != StmtKind::PointerOf) return {};
    pointer = s.operands[0];
  }
  return fn.typeOf(pointer).cls == ClassKind::Data ? pointer : ValueId();
}

/// Uses of elements of blocks by the host.
class HostUses {
public:
  HostUses(const Module& module, LaunchWrites& writes) : module_(module), writes_(writes) {}

  /// Calls visit(operand, whether the statement may write) for each operand whose elements it may use.
  template <class Visit>
  void operator()(const Function& fn, const Stmt& s, const Visit& visit) {
    using enum StmtKind;
    switch (s.kind) {
    case Load: return visit(s.operands[0], false);
    case Store:
      visit(s.operands[0], true);
      return visit(s.operands.back(), false); // of a block in memory the host's copy is valid
    case CopyBytes: visit(s.operands[0], true); return visit(s.operands[1], false);
    case Launch:
      if (module_.functions[s.as<FunctionId>()].kind == FunctionKind::Device) return;
      for (size_t k = boundOperands; k < s.operands.size(); ++k) visit(s.operands[k], writes_.mayWrite(s, k));
      return;
    case Call:
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (isUsedByCall(fn, s, k)) visit(s.operands[k], mayWriteOperand(module_, fn, s, k));
      return;
    case For:
    case While:
    case Yield: // an address that goes on: nothing is launched for its block until it is used no more
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (isAddress(fn, s, k)) visit(s.operands[k], true);
      return;
    case Format:
    case Panic:
      for (ValueId v : s.operands) visit(v, false);
      return;
    case Runtime:
      for (size_t k = 0; k < s.operands.size(); ++k)
        visit(s.operands[k], mayWrite(s.as<RuntimeCall>().kind, k));
      return;
    case ZeroBytes:
    case Builtin:
    case BlackBox:
      for (ValueId v : s.operands) visit(v, true);
      return;
    default: return;
    }
  }

private:
  static bool mayWrite(RuntimeKind kind, size_t operand) {
    switch (kind) {
    case RuntimeKind::ListLength:
    case RuntimeKind::ListToArray:
    case RuntimeKind::ListFromArray:
    case RuntimeKind::DeviceReady:
    case RuntimeKind::DeviceCompare: return false;
    case RuntimeKind::ArgSort: return operand == 3;
    default: return true;
    }
  }
  const Function& calleeOf(const Stmt& call) const { return module_.functions[call.as<FunctionId>()]; }
  static bool isAddress(const Function& fn, const Stmt& s, size_t k) {
    return fn.typeOf(s.operands[k]).cls == ClassKind::Address;
  }
  /// Functions that get blocks make the host's copies valid themselves: others get addresses, or are closed.
  bool isUsedByCall(const Function& fn, const Stmt& call, size_t k) const {
    const Function& callee = calleeOf(call);
    return callee.isClosed() || callee.modeOf(k) == ModeKind::Elements || isAddress(fn, call, k);
  }

  const Module& module_;
  LaunchWrites& writes_;
};

/// Adds a statement without attribute and results.
void add(Function& fn, std::vector<StmtId>& placed, StmtKind kind, LocId loc, std::vector<ValueId> operands) {
  placed.push_back(fn.stmts.add({kind, loc, std::move(operands), {}, {}, {}}));
}

/// Statements after which a device may have the only valid copy of a block.
class Launching {
public:
  explicit Launching(const Module& module) : functions_(launchingFunctions(module)) {}

  bool operator()(const Function& fn, StmtId id) const {
    const Stmt& s = fn.stmts[id];
    switch (s.kind) {
    case StmtKind::DeviceCopy: return true;
    case StmtKind::Call:
    case StmtKind::Launch: return functions_[s.as<FunctionId>().index];
    default: return std::ranges::any_of(s.regions, [&](RegionId r) { return anyOf(fn, r); });
    }
  }

private:
  bool anyOf(const Function& fn, RegionId r) const {
    return std::ranges::any_of(fn.regions[r].stmts, [&](StmtId id) { return (*this)(fn, id); });
  }
  std::vector<bool> functions_;
};

/// The array of whose elements an address is. None if it is made of the pointer to a block: memory may hold
/// that block, which then stays valid on the host.
ValueId arrayOf(const Function& fn, ValueId address) {
  for (ValueId v = address; fn.typeOf(v).cls == ClassKind::Address;) {
    const StmtId def = fn.values[v].def;
    if (!def.valid() || fn.stmts[def].kind != StmtKind::AddressOf) return {};
    v = fn.stmts[def].operands[0];
  }
  return blockOf(fn, address);
}

/// Copies between arrays that a device may have, in code for a device, are made there.
void makeDeviceCopies(Function& fn, FunctionId f, DeviceArrays& arrays) {
  rewriteStmts(fn, fn.body, [&](StmtId id, RegionId) {
    Stmt& s = fn.stmts[id];
    if (s.kind != StmtKind::CopyBytes) return false;
    const ValueId to = arrayOf(fn, s.operands[0]), from = arrayOf(fn, s.operands[1]);
    if (!to.valid() || !from.valid() || !(arrays.mayBeStale(f, to) || arrays.mayBeStale(f, from)))
      return false;
    s.operands = {to, s.operands[0], from, s.operands[1], s.operands[2]};
    s.kind = StmtKind::DeviceCopy;
    arrays.noteWritten(f, to);
    return false;
  });
}

class AcquirePlacement {
public:
  AcquirePlacement(Module& module, FunctionId f, DeviceArrays& arrays, HostUses& uses,
                   const Launching& launching)
      : module_(module), f_(f), fn_(module.functions[f]), arrays_(arrays), uses_(uses), launching_(launching),
        defined_(fn_.values.size()) {}

  void run() { region(fn_.body, {}, false); }

private:
  /// Values whose host's copy is valid at a place; of those that are true no other copy is.
  using Held = std::unordered_map<ValueId, bool>;

  /// `inLoop`: of the host, which launches nothing.
  void region(RegionId r, Held held, bool inLoop) {
    for (ValueId p : fn_.regions[r].params) defined_[p.index] = true;
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    std::vector<StmtId> placed;
    for (StmtId id : stmts) {
      if (const ValueId array = inLoop ? ValueId() : singleElement(id, held); array.valid()) {
        std::ranges::copy(copyElement(fn_, r, id, array), std::back_inserter(placed));
      } else {
        acquireFor(id, held, placed);
        placed.push_back(id);
      }
      const bool launches = launching_(fn_, id), loops = isLoop(fn_.stmts[id]);
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner)
        region(each, loops && launches ? Held() : held, inLoop || (loops && !launches));
      if (launches) held.clear();
      for (ValueId v : fn_.stmts[id].results) define(v, held, placed);
    }
    fn_.regions[r].stmts = std::move(placed);
  }

  /// For the uses of a statement; for a loop that launches nothing also those in its body of values before
  /// it.
  void acquireFor(StmtId id, Held& held, std::vector<StmtId>& placed) {
    acquireUses(id, held, placed);
    if (!isLoop(fn_.stmts[id]) || launching_(fn_, id)) return;
    const std::vector<RegionId> inner = fn_.stmts[id].regions;
    for (RegionId r : inner) acquireAllOf(r, held, placed);
  }
  void acquireUses(StmtId id, Held& held, std::vector<StmtId>& placed) {
    const Stmt& s = fn_.stmts[id];
    uses_(fn_, s, [&](ValueId v, bool isWritten) { acquire(v, isWritten, s.loc, held, placed); });
  }
  void acquireAllOf(RegionId r, Held& held, std::vector<StmtId>& placed) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      acquireUses(id, held, placed);
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) acquireAllOf(each, held, placed);
    }
  }

  void acquire(ValueId pointer, bool isWritten, LocId loc, Held& held, std::vector<StmtId>& placed) {
    const ValueId v = blockOf(fn_, pointer);
    if (!v.valid() || !defined_[v.index] || isElements(v)) return;
    if (isWritten ? !arrays_.mayBeCopied(f_, v) : !arrays_.mayBeStale(f_, v)) return;
    const auto [found, isNew] = held.try_emplace(v, isWritten);
    if (!isNew && (found->second || !isWritten)) return;
    found->second = isWritten;
    const StmtKind kind = isWritten ? StmtKind::AcquireUpdate : StmtKind::Acquire;
    add(fn_, placed, kind, loc, {v});
  }

  /// The array of which a statement loads or stores one number, if the host's copy may be stale, or the
  /// device's become so; else none.
  ValueId singleElement(StmtId id, const Held& held) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::Load && s.kind != StmtKind::Store) return {};
    const bool isStore = s.kind == StmtKind::Store;
    const ValueId number = isStore ? s.operands.back() : s.results[0], v = blockOf(fn_, s.operands[0]);
    if (fn_.typeOf(number).cls != ClassKind::Scalar || !v.valid() || isElements(v)) return {};
    if (const auto found = held.find(v); found != held.end() && (found->second || !isStore)) return {};
    return (isStore ? arrays_.mayBeCopied(f_, v) : arrays_.mayBeStale(f_, v)) ? v : ValueId();
  }

  bool isElements(ValueId v) const {
    const auto& params = fn_.params();
    const auto found = std::ranges::find(params, v);
    return found != params.end() &&
           fn_.modeOf(static_cast<size_t>(found - params.begin())) == ModeKind::Elements;
  }

  /// No copy of an array is valid when it is made, if a device may be the first that writes it.
  void define(ValueId v, Held& held, std::vector<StmtId>& placed) {
    defined_[v.index] = true;
    Stmt& s = fn_.stmts[fn_.values[v].def];
    if (s.kind != StmtKind::AllocArray || !arrays_.mayBeStale(f_, v)) return;
    auto& attr = s.as<AllocAttr>();
    if (!module_.core.types.isScalar(attr.type)) return;
    const StmtKind kind = std::exchange(attr.zeroed, false) ? StmtKind::Clear : StmtKind::Undefine;
    add(fn_, placed, kind, s.loc, {v});
    held.erase(v);
  }

  Module& module_;
  FunctionId f_;
  Function& fn_;
  DeviceArrays& arrays_;
  HostUses& uses_;
  const Launching& launching_;
  std::vector<bool> defined_; ///< by value: before the statement that is looked at
};

} // namespace

void placeAcquires(Module& module) {
  auto isOnDevice = [](const Function& fn) { return fn.kind == FunctionKind::Device; };
  if (std::ranges::none_of(module.functions, isOnDevice)) return;
  LaunchWrites writes(module);
  DeviceArrays arrays(module, writes);
  const auto count = static_cast<uint32_t>(module.functions.size());
  for (FunctionId f(0); f.index < count; ++f.index) {
    Function& fn = module.functions[f];
    if (fn.kind == FunctionKind::Orchestration && fn.device != Device::Host) makeDeviceCopies(fn, f, arrays);
  }
  HostUses uses(module, writes);
  const Launching launching(module);
  for (FunctionId f(0); f.index < count; ++f.index) {
    const Function& fn = module.functions[f];
    const bool isKernel = fn.kind == FunctionKind::Kernel || fn.kind == FunctionKind::Device;
    if (!isKernel && !fn.isClosed()) AcquirePlacement(module, f, arrays, uses, launching).run();
  }
}

} // namespace melix::loops
