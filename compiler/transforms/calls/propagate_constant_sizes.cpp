#include "transforms/calls/propagate_constant_sizes.h"

#include "core/ir/analyses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"

namespace melix::transforms {

using namespace core;

namespace {

/// What the calls looked at so far give for one size of a function.
struct Size {
  enum Kind : uint8_t { NoCall, Number, Varies } kind = NoCall;
  int64_t number = 0;
};

class SizeFixer {
public:
  explicit SizeFixer(Module& m) : m_(m), functions_(m.functions.size()) {
    for (uint32_t i = 0; i < functions_.size(); ++i) findCalls(FunctionId(i));
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      const Function& f = m.functions[FunctionId(i)];
      if (f.keep || f.customJvp.valid()) reachFromOutside(FunctionId(i));
      if (f.customJvp.valid()) reachFromOutside(f.customJvp); // of the same sizes as the function
    }
    if (m.entry.valid()) reachFromOutside(m.entry);
    for (const auto& [kind, body] : m.mathBodies) reachFromOutside(body);
  }

  bool run() {
    while (!open_.empty()) {
      const FunctionId caller = open_.back();
      open_.pop_back();
      const types::DimSubst known = numbersOf(caller);
      for (OpId call : functions_[caller.index].calls) passOn(m_.functions[caller].ops[call], known);
    }
    bool changed = false;
    for (uint32_t i = 0; i < functions_.size(); ++i) changed |= fix(FunctionId(i));
    if (!changed) return false;
    for (uint32_t i = 0; i < functions_.size(); ++i)
      for (OpId call : functions_[i].calls) dropFixed(m_.functions[FunctionId(i)].ops[call]);
    return true;
  }

private:
  struct Info {
    std::vector<OpId> calls; ///< of functions with sizes
    std::vector<Size> sizes; ///< by dimension parameter
    bool reached = false;
  };

  void findCalls(FunctionId id) {
    const Function& f = m_.functions[id];
    functions_[id.index].sizes.resize(f.dimParams.size());
    if (!f.body.valid()) return;
    forEachOp(f, [&](OpId op) {
      if (f.ops[op].kind == OpKind::Call) functions_[id.index].calls.push_back(op);
    });
  }
  void reachFromOutside(FunctionId id) {
    for (Size& size : functions_[id.index].sizes) size.kind = Size::Varies;
    reach(id);
  }
  void reach(FunctionId id) {
    functions_[id.index].reached = true;
    open_.push_back(id);
  }

  /// What the caller knows now of the sizes of a call. Each size of a function changes at most twice.
  void passOn(const Op& call, const types::DimSubst& known) {
    const FunctionId callee = call.as<CallAttr>().callee;
    Info& info = functions_[callee.index];
    bool changed = !info.reached;
    for (size_t k = 0; k < info.sizes.size(); ++k) changed |= meet(info.sizes[k], call.dims[k], known);
    if (changed) reach(callee);
  }
  bool meet(Size& size, DimId given, const types::DimSubst& known) const {
    if (size.kind == Size::Varies) return false;
    const std::optional<int64_t> n = m_.types.dims.asConstant(m_.types.dims.substitute(given, known));
    if (n && *n >= 0 && size.kind == Size::NoCall) {
      size = {Size::Number, *n};
      return true;
    }
    if (n && *n == size.number && size.kind == Size::Number) return false;
    size.kind = Size::Varies;
    return true;
  }
  types::DimSubst numbersOf(FunctionId id) const {
    types::DimSubst out;
    const std::vector<Size>& sizes = functions_[id.index].sizes;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (sizes[k].kind == Size::Number)
        out.emplace(m_.functions[id].dimParams[k], m_.types.dims.constant(sizes[k].number));
    return out;
  }

  bool fix(FunctionId id) {
    const types::DimSubst numbers = numbersOf(id);
    Function& f = m_.functions[id];
    if (numbers.empty() || !f.body.valid()) return false;
    replaceDims(m_, id, numbers);
    for (TypeId& t : f.results) t = m_.types.substitute(t, numbers);
    std::erase_if(f.dimParams, [&](DimSym s) { return numbers.contains(s); });
    return true;
  }
  void dropFixed(Op& call) {
    const std::vector<Size>& sizes = functions_[call.as<CallAttr>().callee.index].sizes;
    Dims left;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (sizes[k].kind != Size::Number) left.push_back(call.dims[k]);
    call.dims = std::move(left);
  }

  Module& m_;
  std::vector<Info> functions_;
  std::vector<FunctionId> open_; ///< reached, or of sizes that changed, and not looked at since
};

} // namespace

bool propagateConstantSizes(Module& m) {
  require(m, {State::DerivativesGone});
  const bool changed = SizeFixer(m).run();
  if (changed) raiseAll(m);
  return changed;
}

} // namespace melix::transforms
