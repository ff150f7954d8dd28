#include "transforms/inline_calls.h"

#include "core/clone.h"
#include "core/walk.h"

namespace melix::transforms {

using namespace core;

namespace {

/// Functions an op names.
template <class Visit>
void callees(const Op& op, Visit visit) {
  if (auto* c = std::get_if<CallAttr>(&op.attr)) visit(c->callee);
  if (auto* d = std::get_if<DerivativeAttr>(&op.attr)) visit(d->callee);
}

class Inliner {
public:
  Inliner(Module& m, InlineOptions options) : m_(m), options_(options), info_(m.functions.size()) {
    analyse();
  }

  void run() {
    // Callees first, so that what is copied is final; the order is that of a depth-first walk.
    for (uint32_t i = 0; i < info_.size(); ++i) order(FunctionId(i));
    for (FunctionId f : order_)
      if (m_.functions[f].body.valid()) inlineInto(f);
  }

private:
  struct Info {
    unsigned ops = 0, calls = 0;
    bool pinned = false, onStack = false, visited = false, recursive = false;
  };

  void analyse() {
    for (uint32_t i = 0; i < info_.size(); ++i) {
      const Function& f = m_.functions[FunctionId(i)];
      if (f.customJvp.valid()) info_[f.customJvp.index].pinned = info_[i].pinned = true;
      if (!f.body.valid()) {
        info_[i].pinned = true;
        continue;
      }
      forEachOp(f, [&](OpId id) {
        const Op& op = f.ops[id];
        if (op.kind != OpKind::Yield) ++info_[i].ops;
        if (op.kind == OpKind::StopGradient && options_.beforeDerivatives) info_[i].pinned = true;
        callees(op, [&](FunctionId callee) {
          info_[callee.index].calls += op.kind == OpKind::Call ? 1 : 2; // named otherwise: not to be used up
        });
      });
    }
  }

  void order(FunctionId id) {
    Info& info = info_[id.index];
    if (info.onStack) info.recursive = true;
    if (info.visited) return;
    info.visited = info.onStack = true;
    const Function& f = m_.functions[id];
    if (f.body.valid())
      forEachOp(f, [&](OpId op) { callees(f.ops[op], [&](FunctionId callee) { order(callee); }); });
    info.onStack = false;
    order_.push_back(id);
  }

  bool wanted(FunctionId caller, FunctionId callee) const {
    const Info& info = info_[callee.index];
    if (caller == callee || info.pinned || info.recursive || !m_.functions[callee].body.valid()) return false;
    bool once = options_.calledOnce && info.calls == 1 && !m_.functions[callee].keep && m_.entry != callee;
    return once || info.ops <= options_.smallOps;
  }

  void inlineInto(FunctionId id) {
    Replacement replaced;
    region(id, m_.functions[id].body, replaced);
    replaceAll(m_, id, replaced);
    // What was copied counts for those that call this one.
    unsigned ops = 0;
    forEachOp(m_.functions[id], [&](OpId) { ++ops; });
    info_[id.index].ops = ops;
  }

  void region(FunctionId id, RegionId r, Replacement& replaced) {
    std::vector<OpId> list = std::move(m_.functions[id].regions[r].ops);
    m_.functions[id].regions[r].ops.clear();
    for (OpId op : list) {
      const Op call = m_.functions[id].ops[op];
      if (call.kind != OpKind::Call || !wanted(id, call.as<CallAttr>().callee)) {
        m_.functions[id].regions[r].ops.push_back(op);
        for (RegionId inner : call.regions) region(id, inner, replaced);
        continue;
      }
      // Operands and dims may be results of calls that were replaced before.
      Op now = call;
      for (ValueId& v : now.operands)
        for (auto it = replaced.values.find(v); it != replaced.values.end(); it = replaced.values.find(v))
          v = it->second;
      for (DimId& d : now.dims) d = resolve(d, replaced.dims);
      Builder b(m_, id, r, call.loc);
      std::vector<ValueId> results = inlineCall(m_, now, b, replaced.dims);
      for (size_t k = 0; k < results.size(); ++k) replaced.values.emplace(call.results[k], results[k]);
    }
  }

  DimId resolve(DimId d, const types::DimSubst& subst) {
    for (int guard = 0; guard < 64; ++guard) {
      DimId next = m_.types.dims.substitute(d, subst);
      if (next == d) return d;
      d = next;
    }
    return d;
  }

  Module& m_;
  InlineOptions options_;
  std::vector<Info> info_;
  std::vector<FunctionId> order_;
};

} // namespace

void removeUnreachable(Module& m) {
  std::vector<bool> reached(m.functions.size(), false);
  std::vector<FunctionId> queue;
  auto reach = [&](FunctionId f) {
    if (!f.valid() || reached[f.index]) return;
    reached[f.index] = true;
    queue.push_back(f);
  };
  reach(m.entry);
  for (auto& [key, f] : m.mathBodies) reach(f);
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].keep) reach(FunctionId(i));
  if (queue.empty()) return; // a module without roots is somebody's fragment
  while (!queue.empty()) {
    FunctionId id = queue.back();
    queue.pop_back();
    const Function& f = m.functions[id];
    reach(f.customJvp);
    if (f.body.valid()) forEachOp(f, [&](OpId op) { callees(f.ops[op], reach); });
  }
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (!reached[i]) m.functions[FunctionId(i)].body = RegionId();
}

void inlineCalls(Module& m, InlineOptions options) {
  Inliner(m, options).run();
  removeUnreachable(m);
}

} // namespace melix::transforms
