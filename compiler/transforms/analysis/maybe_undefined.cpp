#include "transforms/analysis/maybe_undefined.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

/// Of one function, given what is known of others.
class Undefined::Walk : public ValueAnalysis {
public:
  Walk(const types::TypeStore& types, const Function& f)
      : types_(types), f_(f), propagation_(f, Conditions::Skipped) {
    forEachOp(f, [&](OpId op) {
      if (f.ops[op].kind == OpKind::Call) calls.push_back(op);
    });
  }

  std::vector<OpId> calls;

  void run() { propagation_.run(*this); }
  bool has(ValueId v) const { return values_.contains(v); }
  /// Whether that is new.
  bool add(ValueId v) {
    const bool isNew = !types_.isScalar(f_.typeOf(v)) && values_.insert(v).second;
    if (isNew) propagation_.changed(v);
    return isNew;
  }

private:
  void transfer(OpId id) override {
    const Op& op = f_.ops[id];
    const bool isMade =
        op.kind == OpKind::Undef ||
        (op.kind != OpKind::Call && std::ranges::any_of(op.operands, [&](ValueId v) { return has(v); }));
    if (!isMade) return;
    for (ValueId v : op.results) add(v);
  }
  void flow(const FlowEdge& edge) override {
    if (edge.kind != FlowKind::Case && has(edge.from)) add(edge.to); // that is in what an arm yields
  }

  const types::TypeStore& types_;
  const Function& f_;
  Propagation propagation_;
  std::unordered_set<ValueId> values_;
};

Undefined::Undefined(const Module& m) : m_(m) {
  bool any = false;
  for (const Function& f : m.functions)
    if (f.body.valid()) forEachOp(f, [&](OpId op) { any |= f.ops[op].kind == OpKind::Undef; });
  if (!any) return;
  for (uint32_t k = 0; k < m.functions.size(); ++k)
    if (const FunctionId f(k); m.functions[f].body.valid())
      walks_[f] = std::make_unique<Walk>(m.types, m.functions[f]);
  for (bool changes = true; changes;) {
    changes = false;
    for (auto& [f, walk] : walks_) walk->run();
    for (auto& [f, walk] : walks_) changes |= passOn(f);
  }
}

Undefined::~Undefined() = default;

/// From the calls of a function to callees and back. Whether anything is new.
bool Undefined::passOn(FunctionId f) {
  Walk& caller = *walks_.at(f);
  bool isNew = false;
  for (OpId id : caller.calls) {
    const Op& call = m_.functions[f].ops[id];
    const auto found = walks_.find(call.as<CallAttr>().callee);
    if (found == walks_.end()) continue;
    const Function& callee = m_.functions[found->first];
    const std::vector<ValueId>& params = callee.regions[callee.body].params;
    const Operands& yields = callee.ops[callee.regions[callee.body].ops.back()].operands;
    for (size_t k = 0; k < params.size(); ++k)
      if (caller.has(call.operands[k])) isNew |= found->second->add(params[k]);
    for (size_t k = 0; k < yields.size(); ++k)
      if (found->second->has(yields[k])) isNew |= caller.add(call.results[k]);
  }
  return isNew;
}

bool Undefined::mayBe(FunctionId f, ValueId v) const {
  const auto found = walks_.find(f);
  return found != walks_.end() && found->second->has(v);
}

} // namespace melix::transforms
