// Which values of a jvp companion are its linear part, and which of its results are parameters updated.

#include "core/ir/walk.h"
#include "transforms/analysis/dataflow.h"
#include "transforms/derivatives/derivative_context.h"

#include <algorithm>

namespace melix::transforms {

class LinearWalk : public ValueAnalysis {
public:
  using Calls = CallPropagation<LinearValues, LinearWalk>;
  LinearWalk(Ad& ad, LinearValues& out, Calls& calls)
      : ad_(ad), out_(out), calls_(calls), f_(ad.module.functions[out.function]),
        propagation_(f_, Conditions::Followed) { // what conditions do with tangents must be known as theirs
    for (uint32_t i = 0; i < out_.params.size(); ++i) {
      if (!out_.params[i]) continue;
      mark(f_.params()[i]);
      if (holdsArrays(ad.module.types, f_.typeOf(f_.params()[i]))) updates_[f_.params()[i]] = {i};
    }
  }

  /// To the fixed point for what is known of the functions called; whether its callers have something to
  /// learn.
  bool run() {
    propagation_.run(*this);
    bool more = false;
    const Op& y = terminator(f_, f_.body);
    for (size_t i = 0; i < y.operands.size(); ++i) {
      if (is(y.operands[i]) && !out_.results[i]) out_.results[i] = more = true;
      more |= addAll(out_.updates[i], updates_[y.operands[i]]);
    }
    return more;
  }
  void rerun(OpId call) { propagation_.rerun(call); }

private:
  bool is(ValueId v) const { return out_.values.count(v) != 0; }
  void mark(ValueId v) {
    if (out_.values.insert(v).second) propagation_.changed(v);
  }

  static bool addAll(std::set<uint32_t>& to, const std::set<uint32_t>& from) {
    const size_t before = to.size();
    to.insert(from.begin(), from.end());
    return to.size() != before;
  }
  /// `to` is `from`, or what it has inside or is put in, but for places that were written.
  void update(ValueId from, ValueId to) {
    if (auto found = updates_.find(from); found != updates_.end())
      if (addAll(updates_[to], std::set(found->second))) propagation_.changed(to);
  }

  /// Along every edge: what the case of a tangent decides is linear in it, too.
  void flow(const FlowEdge& edge) override {
    if (is(edge.from)) mark(edge.to);
    const bool whole = edge.slot == SlotKind::Choice || edge.slot == SlotKind::Carry;
    if (whole && edge.kind != FlowKind::Test && edge.kind != FlowKind::Case) update(edge.from, edge.to);
  }

  /// A part of a tuple or struct, which is taken out as it is.
  static bool isPart(const Path& p) {
    return std::all_of(p.begin(), p.end(), [](const PathStep& s) { return s.kind == StepKind::Field; });
  }

  void transfer(OpId id) override {
    const Op& o = f_.ops[id];
    if (o.kind == OpKind::Length || o.kind == OpKind::Check) return;
    if (o.kind == OpKind::Call) return call(id);
    if (std::any_of(o.operands.begin(), o.operands.end(), [&](ValueId v) { return is(v); }))
      for (ValueId r : o.results) mark(r);
    switch (o.kind) {
    case OpKind::Set:
    case OpKind::AddAt:
    case OpKind::Push:
    case OpKind::CastDims:
    case OpKind::Debug:
    case OpKind::Pack:
    case OpKind::Unpack: return update(o.operands[0], o.results[0]);
    case OpKind::Pop: return update(o.operands[0], o.results[1]);
    case OpKind::Get:
      if (isPart(o.as<Path>())) update(o.operands[0], o.results[0]);
      return;
    case OpKind::Make:
    case OpKind::Variant:
      for (ValueId v : o.operands) update(v, o.results[0]);
      return;
    default: return;
    }
  }

  void call(OpId id) {
    const Op& o = f_.ops[id];
    std::vector<bool> params;
    for (ValueId v : o.operands) params.push_back(is(v));
    if (std::find(params.begin(), params.end(), true) == params.end()) return;
    LinearValues& c = ad_.linearEntry(o.as<CallAttr>().callee, params);
    calls_.use(c, out_, id);
    for (size_t i = 0; i < o.results.size(); ++i) {
      if (c.results[i]) mark(o.results[i]);
      for (uint32_t param : c.updates[i]) update(o.operands[param], o.results[i]);
    }
  }

  Ad& ad_;
  LinearValues& out_;
  Calls& calls_;
  const Function& f_;
  Propagation propagation_;
  std::unordered_map<ValueId, std::set<uint32_t>> updates_; ///< by value: see LinearValues::updates
};

bool holdsArrays(const types::TypeStore& types, TypeId t) {
  return types.isMadeWith(t, [](TypeKind kind) {
    return kind == TypeKind::Array || kind == TypeKind::List || kind == TypeKind::Pack;
  });
}

LinearValues& Ad::linearEntry(FunctionId g, const std::vector<bool>& params) {
  auto [it, isNew] = linearValues_.try_emplace({g, params});
  if (isNew) {
    it->second.function = g;
    it->second.params = params;
    it->second.results.assign(module.functions[g].results.size(), false);
    it->second.updates.resize(module.functions[g].results.size());
  }
  return it->second;
}

const LinearValues& Ad::linearValues(FunctionId g, const std::vector<bool>& params) {
  LinearValues& root = linearEntry(g, params);
  if (root.done) return root;
  LinearWalk::Calls calls;
  calls.run(root, [&](LinearValues& e) { return std::make_unique<LinearWalk>(*this, e, calls); });
  return root;
}

} // namespace melix::transforms
