#include "transforms/canonical/returned_params.h"

#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Of a function: the parameter that each result is; empty if none is one.
using ReturnedParams = std::vector<std::optional<uint32_t>>;

class ReturnedParamDropper {
public:
  explicit ReturnedParamDropper(Module& m) : m_(m), fixed_(fixedSignatures(m)) {}

  /// One round: what goes may show that a caller's result is a parameter too.
  bool run() {
    plans_.assign(m_.functions.size(), {});
    bool any = false;
    for (uint32_t i = 0; i < plans_.size(); ++i)
      if (!fixed_[i]) any |= plan(m_.functions[FunctionId(i)], plans_[i]);
    if (!any) return false;
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      if (!plans_[i].empty()) drop(m_.functions[FunctionId(i)], plans_[i]);
      if (m_.functions[FunctionId(i)].body.valid()) callsIn(m_.functions[FunctionId(i)]);
    }
    return true;
  }

private:
  static bool plan(const Function& f, ReturnedParams& out) {
    const Operands& yielded = terminator(f, f.body).operands;
    for (uint32_t k = 0; k < yielded.size(); ++k) out.push_back(paramOf(f, yielded[k], k));
    if (std::ranges::any_of(out, [](const auto& param) { return param.has_value(); })) return true;
    out.clear();
    return false;
  }
  /// The parameter that a result is. One that another result takes the memory of has to stay.
  static std::optional<uint32_t> paramOf(const Function& f, ValueId v, uint32_t result) {
    const auto found = std::ranges::find(f.params(), v);
    if (found == f.params().end() || f.typeOf(v) != f.results[result]) return std::nullopt;
    const auto param = static_cast<uint32_t>(found - f.params().begin());
    const bool isTaken = std::ranges::any_of(
        f.inouts, [&](InoutPair pair) { return (pair.param == param) != (pair.result == result); });
    return isTaken ? std::nullopt : std::optional(param);
  }

  template <class List>
  static void keep(List& list, const ReturnedParams& plan) {
    List kept;
    for (size_t k = 0; k < list.size(); ++k)
      if (!plan[k]) kept.push_back(list[k]);
    list = std::move(kept);
  }
  static void drop(Function& f, const ReturnedParams& plan) {
    keep(f.results, plan);
    keep(f.ops[terminatorId(f, f.body)].operands, plan);
    std::erase_if(f.inouts, [&](InoutPair pair) { return plan[pair.result].has_value(); });
    for (InoutPair& pair : f.inouts)
      pair.result -= static_cast<uint32_t>(std::count_if(
          plan.begin(), plan.begin() + pair.result, [](const auto& param) { return param.has_value(); }));
    f.version.raise();
  }
  void callsIn(Function& f) const {
    std::unordered_map<ValueId, ValueId> argumentOf;
    forEachOp(f, [&](OpId id) {
      Op& op = f.ops[id];
      if (!argumentOf.empty())
        for (ValueId& v : op.operands)
          if (const auto found = argumentOf.find(v); found != argumentOf.end()) v = found->second;
      if (op.kind != OpKind::Call) return;
      const ReturnedParams& plan = plans_[op.as<CallAttr>().callee.index];
      if (plan.empty()) return;
      for (size_t k = 0; k < plan.size(); ++k)
        if (plan[k]) argumentOf[op.results[k]] = op.operands[*plan[k]];
      std::vector<ValueId> kept(op.results.begin(), op.results.end());
      keep(kept, plan);
      takeOver(f, id, kept);
    });
    if (!argumentOf.empty()) f.version.raise();
  }

  Module& m_;
  std::vector<bool> fixed_;
  std::vector<ReturnedParams> plans_; ///< by function
};

} // namespace

bool dropReturnedParams(Module& m) {
  ReturnedParamDropper dropper(m);
  bool changed = false;
  while (dropper.run()) changed = true;
  return changed;
}

} // namespace melix::transforms
