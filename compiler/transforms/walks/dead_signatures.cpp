#include "transforms/walks/dead_signatures.h"

#include "core/ir/call_graph.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/needed_values.h"
#include "transforms/walks/shrink_signature.h"

#include <memory>

namespace melix::transforms {

using namespace core;

namespace {

class DeadSignatureRemover : public NeededValues::Calls {
public:
  explicit DeadSignatureRemover(Module& m)
      : m_(m), effects_(m), fixed_(fixedSignatures(m)), functions_(m.functions.size()) {}

  bool run() {
    mark();
    bool changed = false;
    forEachBody(m_, [&](FunctionId f) {
      changed |= removeUnneeded(m_.functions[f], *of(f).values);
      changed |= shrink(f);
    });
    forEachBody(m_, [&](FunctionId f) { callsIn(m_.functions[f]); });
    return changed;
  }

private:
  struct Marks {
    std::unique_ptr<NeededValues> values;
    KeptSlots kept;                                    ///< results that a caller needs; parameters at the end
    std::vector<std::pair<NeededValues*, OpId>> calls; ///< calls of the function that are needed
    bool waits = false;
  };
  Marks& of(FunctionId f) { return functions_[f.index]; }

  void mark() {
    forEachBody(m_, [&](FunctionId f) {
      of(f).values = std::make_unique<NeededValues>(m_, f, effects_, this);
      of(f).kept.results.assign(m_.functions[f].results.size(), fixed_[f.index]);
    });
    forEachBody(m_, [&](FunctionId f) {
      of(f).values->needEffects();
      if (fixed_[f.index]) of(f).values->needResults();
      wait(f);
    });
    while (!queue_.empty()) {
      const FunctionId f = queue_.back();
      queue_.pop_back();
      of(f).waits = false;
      of(f).values->run();
    }
  }
  void wait(FunctionId f) {
    if (!std::exchange(of(f).waits, true)) queue_.push_back(f);
  }
  void need(NeededValues& in, ValueId v) {
    in.need(v);
    wait(in.function());
  }

  // --- calls

  static FunctionId calleeOf(const Op& call) { return call.as<CallAttr>().callee; }
  void callIsNeeded(NeededValues& in, OpId id) override {
    const Op& call = m_.functions[in.function()].ops[id];
    const FunctionId callee = calleeOf(call);
    if (!fixed_[callee.index]) of(callee).calls.emplace_back(&in, id);
    for (uint32_t k = 0; k < call.operands.size(); ++k)
      if (keepsParam(callee, k)) need(in, call.operands[k]);
  }
  void resultIsNeeded(NeededValues& in, OpId call, uint32_t result) override {
    needResult(calleeOf(m_.functions[in.function()].ops[call]), result);
  }
  void paramIsNeeded(NeededValues& in, uint32_t param) override {
    const FunctionId f = in.function();
    for (auto [caller, call] : of(f).calls)
      need(*caller, m_.functions[caller->function()].ops[call].operands[param]);
    for (InoutPair pair : m_.functions[f].inouts)
      if (pair.param == param) needResult(f, pair.result);
  }
  void needResult(FunctionId f, uint32_t result) {
    if (fixed_[f.index] || of(f).kept.results[result]) return;
    of(f).kept.results[result] = true;
    const Function& callee = m_.functions[f];
    need(*of(f).values, terminator(callee, callee.body).operands[result]);
  }

  bool keepsParam(FunctionId f, uint32_t k) {
    return fixed_[f.index] || of(f).values->needed(m_.functions[f].params()[k]);
  }

  // --- what is left

  bool shrink(FunctionId f) {
    KeptSlots& kept = of(f).kept;
    for (uint32_t k = 0; k < m_.functions[f].params().size(); ++k) kept.params.push_back(keepsParam(f, k));
    if (kept.areAll()) return false;
    shrinkSignature(m_.functions[f], kept);
    return true;
  }
  void callsIn(Function& f) {
    forEachOp(f, [&](OpId id) {
      if (f.ops[id].kind != OpKind::Call) return;
      const KeptSlots& kept = of(calleeOf(f.ops[id])).kept;
      if (!fixed_[calleeOf(f.ops[id]).index] && !kept.areAll()) shrinkCall(f, id, kept);
    });
  }

  Module& m_;
  const Effects effects_;
  const std::vector<bool> fixed_;
  std::vector<Marks> functions_;
  std::vector<FunctionId> queue_;
};

} // namespace

bool removeDeadSignatures(Module& m) { return DeadSignatureRemover(m).run(); }

} // namespace melix::transforms
