#include "transforms/canonical/returned_params.h"

#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "transforms/analysis/dataflow.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/shrink_signature.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// A value is the parameter of this number, or one of these.
constexpr uint32_t notKnownYet = ~uint32_t(0), noParam = notKnownYet - 1;

/// What each result of a function is. It is not known yet before a way to the end is found.
struct ReturnedParams {
  std::vector<uint32_t> results;
  bool done = false;
};

/// Finds the values of a function that are parameters: copies by choices, carries and calls. All are at
/// first; a value that two ways lead to keeps what both say.
class CopyWalk : ValueAnalysis {
public:
  using Calls = CallPropagation<ReturnedParams, CopyWalk>;
  using Summaries = std::vector<ReturnedParams>;
  CopyWalk(const Module& m, FunctionId id, Summaries& all, Calls& calls)
      : f_(m.functions[id]), own_(all[id.index]), all_(all), calls_(calls),
        propagation_(f_, Conditions::Skipped), facts_(f_.values.size(), noParam) {
    for (uint32_t k = 0; k < f_.params().size(); ++k) facts_[f_.params()[k].index] = k;
    forEachOp(f_, [&](OpId op) {
      if (f_.ops[op].kind != OpKind::Call && f_.ops[op].kind != OpKind::Undef) return open(f_.ops[op]);
      for (ValueId v : f_.ops[op].results) facts_[v.index] = notKnownYet;
    });
  }

  void rerun(OpId call) { propagation_.rerun(call); }
  /// Whether the summary changed.
  bool run() {
    propagation_.run(*this);
    const Operands& yielded = terminator(f_, f_.body).operands;
    bool changed = false;
    for (uint32_t k = 0; k < yielded.size(); ++k) {
      uint32_t fact = facts_[yielded[k].index];
      if (fact < noParam && !mayGo(fact, k)) fact = noParam;
      changed |= std::exchange(own_.results[k], fact) != fact;
    }
    return changed;
  }

private:
  /// Slots that hold copies are open; of accumulators and sums nothing is known.
  void open(const Op& op) {
    for (const Slot& slot : slotsOf(f_, op)) {
      if (slot.kind != SlotKind::Choice && slot.kind != SlotKind::Carry) continue;
      for (ValueId v : slot.results.of(op.results)) facts_[v.index] = notKnownYet;
      forEachParam(f_, op, slot, [&](ValueId v) { facts_[v.index] = notKnownYet; });
    }
  }
  /// A parameter that another result takes the memory of has to be given back.
  bool mayGo(uint32_t param, uint32_t result) const {
    return f_.typeOf(f_.params()[param]) == f_.results[result] &&
           std::ranges::none_of(
               f_.inouts, [&](InoutPair pair) { return (pair.param == param) != (pair.result == result); });
  }

  void transfer(OpId id) override {
    const Op& op = f_.ops[id];
    if (op.kind != OpKind::Call) return;
    ReturnedParams& callee = all_[op.as<CallAttr>().callee.index];
    calls_.use(callee, own_, id);
    for (size_t k = 0; k < op.results.size(); ++k) {
      const uint32_t param = callee.results[k];
      if (param != notKnownYet)
        join(op.results[k], param == noParam ? noParam : facts_[op.operands[param].index]);
    }
  }
  void flow(const FlowEdge& edge) override {
    if (edge.kind != FlowKind::Case && edge.kind != FlowKind::Open) join(edge.to, facts_[edge.from.index]);
  }
  void join(ValueId v, uint32_t fact) {
    uint32_t& now = facts_[v.index];
    if (fact == notKnownYet || now == noParam || now == fact) return;
    const bool isCopy = now == notKnownYet && fact != noParam && f_.typeOf(v) == f_.typeOf(f_.params()[fact]);
    now = isCopy ? fact : noParam;
    propagation_.changed(v);
  }

  const Function& f_;
  ReturnedParams& own_;
  Summaries& all_;
  Calls& calls_;
  Propagation propagation_;
  std::vector<uint32_t> facts_; ///< by value
};

class ReturnedParamDropper {
public:
  explicit ReturnedParamDropper(Module& m) : m_(m), fixed_(fixedSignatures(m)), found_(m.functions.size()) {}

  bool run() {
    find();
    bool any = false;
    forEachBody(m_, [&](FunctionId f) { any |= hasAny(f); });
    if (!any) return false;
    forEachBody(m_, [&](FunctionId f) {
      callsIn(m_.functions[f]);
      if (hasAny(f)) shrinkSignature(m_.functions[f], kept(f));
    });
    return true;
  }

private:
  std::vector<uint32_t>& of(FunctionId f) { return found_[f.index].results; }

  void find() {
    CopyWalk::Calls calls;
    std::unordered_map<const ReturnedParams*, FunctionId> functionOf;
    for (uint32_t i = 0; i < found_.size(); ++i) {
      const FunctionId f(i);
      const bool may = mayReturnParam(f);
      found_[i] = {std::vector<uint32_t>(m_.functions[f].results.size(), may ? notKnownYet : noParam), !may};
      functionOf[&found_[i]] = f;
    }
    for (ReturnedParams& root : found_)
      if (!root.done)
        calls.run(root, [&](ReturnedParams& own) {
          return std::make_unique<CopyWalk>(m_, functionOf.at(&own), found_, calls);
        });
  }
  bool mayReturnParam(FunctionId id) const {
    const Function& f = m_.functions[id];
    return !fixed_[id.index] && std::ranges::any_of(f.params(), [&](ValueId v) {
      return std::ranges::find(f.results, f.typeOf(v)) != f.results.end();
    });
  }
  bool hasAny(FunctionId f) {
    return std::ranges::any_of(of(f), [](uint32_t param) { return param < noParam; });
  }
  KeptSlots kept(FunctionId f) {
    KeptSlots out{std::vector<bool>(m_.functions[f].params().size(), true), {}};
    for (uint32_t param : of(f)) out.results.push_back(param >= noParam);
    return out;
  }

  void callsIn(Function& f) {
    std::unordered_map<ValueId, ValueId> argumentOf;
    forEachOp(f, [&](OpId id) {
      Op& op = f.ops[id];
      if (!argumentOf.empty())
        for (ValueId& v : op.operands)
          if (const auto found = argumentOf.find(v); found != argumentOf.end()) v = found->second;
      if (op.kind != OpKind::Call || !hasAny(op.as<CallAttr>().callee)) return;
      const std::vector<uint32_t>& params = of(op.as<CallAttr>().callee);
      for (size_t k = 0; k < params.size(); ++k)
        if (params[k] < noParam) argumentOf[op.results[k]] = op.operands[params[k]];
      shrinkCall(f, id, kept(op.as<CallAttr>().callee));
    });
  }

  Module& m_;
  const std::vector<bool> fixed_;
  std::vector<ReturnedParams> found_; ///< by function
};

} // namespace

bool dropReturnedParams(Module& m) { return ReturnedParamDropper(m).run(); }

} // namespace melix::transforms
