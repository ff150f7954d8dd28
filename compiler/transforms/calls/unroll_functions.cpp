#include "transforms/calls/unroll_functions.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/call_graph.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/canonical/compose_reads.h"
#include "transforms/canonical/scalarise_elements.h"
#include "transforms/simplify/simplify.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/unroll_nest.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Ops of a function while it is written out, before what is known is folded; a bound of the work.
constexpr size_t longestWritten = 16 * longestStraight;
/// Of iterations inside of calls inside of iterations.
constexpr int deepestRounds = 16;

/// Writes iterations and calls of one function out, one level after another.
class FunctionUnroller {
public:
  FunctionUnroller(Module& m, FunctionId id, const std::vector<bool>& inlined)
      : m_(m), id_(id), inlined_(inlined), begin_(fn().ops.size()) {}

  /// One level; whether there was one.
  bool round() {
    expanded_ = false;
    const RegionId old = fn().body;
    Builder b(m_, id_, fn().regions.add(Region{}), fn().loc);
    Cloner cloner(m_, id_, id_);
    cloner_ = &cloner;
    cloner.instead = [&](OpId op, Builder& at) { return place(op, at); };
    for (ValueId p : fn().regions[old].params)
      cloner.values[p] = b.param(fn().typeOf(p), fn().values[p].hint);
    Cloner::Yielded end = cloner.body(old, b);
    b.yield(std::move(end.values), std::move(end.dims));
    fn().body = b.region;
    return expanded_ && !isTooLong();
  }
  bool isTooLong() const { return fn().ops.size() - begin_ > longestWritten; }

private:
  Function& fn() const { return m_.functions[id_]; }

  /// What is given up on may be left half done.
  bool place(OpId op, Builder& b) {
    if (isTooLong()) return true;
    const OpKind kind = fn().ops[op].kind;
    bool done = false;
    if (kind == OpKind::Nest) done = unrollNest(m_, *cloner_, fn().ops[op], b, [&] { return isTooLong(); });
    if (kind == OpKind::For) done = loop(fn().ops[op], b);
    if (kind == OpKind::Call && (done = call(fn().ops[op], b))) noteOpened(id_, op);
    expanded_ |= done;
    return done;
  }

  bool loop(const Op& op, Builder& b) {
    const LoopView loop(fn(), op);
    const Op* count = definition(cloner_->value(loop.count()));
    if (!count || count->kind != OpKind::Const || !loop.bodyDims().empty()) return false;
    const int64_t tripCount = std::max<int64_t>(static_cast<int64_t>(count->as<Constant>().bits), 0);
    if (tripCount > mostPoints || (tripCount == 0 && loop.stacks() > 0)) return false;
    if (loop.stacks() > 0) cloner_->setDim(loop.extent(), b.dims().constant(tripCount));
    std::vector<ValueId> carried;
    for (ValueId v : loop.carryOperands()) carried.push_back(cloner_->value(v));
    std::vector<std::vector<ValueId>> stacks(loop.stacks());
    Builder here = b;
    here.loc = op.loc;
    for (int64_t iteration = 0; iteration < tripCount && !isTooLong(); ++iteration) {
      cloner_->values.insert_or_assign(loop.index(), here.integer(iteration));
      for (size_t k = 0; k < carried.size(); ++k)
        cloner_->values.insert_or_assign(loop.carryParams()[k], carried[k]);
      const Cloner::Yielded yielded = cloner_->body(loop.body(), here);
      for (size_t k = 0; k < carried.size(); ++k) carried[k] = yielded.values[k];
      for (size_t k = 0; k < stacks.size(); ++k) stacks[k].push_back(yielded.values[carried.size() + k]);
    }
    if (isTooLong()) return true;
    if (tripCount == 0) noteGone(fn(), id_, loop.body(), GoneKind::NeverRuns);
    for (size_t k = 0; k < carried.size(); ++k)
      cloner_->values.insert_or_assign(loop.carryResults()[k], carried[k]);
    for (size_t k = 0; k < stacks.size(); ++k)
      cloner_->values.insert_or_assign(loop.stackResults()[k],
                                       stackedArray(here, std::span(&tripCount, 1), std::move(stacks[k])));
    return true;
  }
  const Op* definition(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() ? &fn().ops[def] : nullptr;
  }

  bool call(Op op, Builder& b) {
    if (!inlined_[op.as<CallAttr>().callee.index]) return false;
    for (ValueId& v : op.operands) v = cloner_->value(v);
    for (DimId& d : op.dims) d = cloner_->dim(d);
    types::DimSubst decided;
    const std::vector<ValueId> results = inlineCall(m_, op, b, decided);
    for (const auto& [symbol, by] : decided) cloner_->setDim(symbol, by);
    for (size_t k = 0; k < results.size(); ++k) cloner_->values.insert_or_assign(op.results[k], results[k]);
    return true;
  }

  Module& m_;
  FunctionId id_;
  const std::vector<bool>& inlined_; ///< by function
  size_t begin_;
  Cloner* cloner_ = nullptr;
  bool expanded_ = false;
};

/// Ops of a function, if it iterates and calls nothing.
std::optional<unsigned> straightLength(const Function& f) {
  unsigned length = 0;
  bool straight = true;
  forEachOp(f, [&](OpId id) {
    const OpKind kind = f.ops[id].kind;
    length += kind != OpKind::Yield;
    straight = straight && kind != OpKind::Nest && kind != OpKind::For && kind != OpKind::While &&
               kind != OpKind::Call && kind != OpKind::Apply && kind != OpKind::Derivative;
  });
  return straight ? std::optional(length) : std::nullopt;
}

class Straightener {
public:
  explicit Straightener(Module& m) : m_(m), calls_(m), effects_(m), inlined_(m.functions.size(), false) {}

  void run(std::span<const FunctionId> functions) {
    const std::unordered_set<FunctionId> given(functions.begin(), functions.end());
    for (FunctionId id : calls_.order()) {
      if (!m_.functions[id].body.valid()) continue;
      inlined_[id.index] = mayBecomeStraight(id) && (!given.contains(id) || straighten(id));
    }
  }

private:
  /// Whether nothing in the function, and in what it calls, stands in the way.
  bool mayBecomeStraight(FunctionId id) const {
    const Function& f = m_.functions[id];
    if (calls_.isRecursive(id) || f.customJvp.valid()) return false;
    bool may = true;
    size_t length = 0;
    forEachOp(f, [&](OpId op) {
      const OpKind kind = f.ops[op].kind;
      may = may && kind != OpKind::While && kind != OpKind::Apply && kind != OpKind::Derivative &&
            kind != OpKind::StopGradient && ++length <= longestStraight;
      if (kind == OpKind::Call) may = may && inlined_[f.ops[op].as<CallAttr>().callee.index];
    });
    return may;
  }

  bool straighten(FunctionId id) {
    Function before = m_.functions[id];
    FunctionUnroller unroller(m_, id, inlined_);
    for (int round = 0; round < deepestRounds && unroller.round(); ++round) clean(id);
    if (!unroller.isTooLong()) {
      clean(id);
      const std::optional<unsigned> length = straightLength(m_.functions[id]);
      if (length && *length <= longestStraight) return true;
    }
    m_.functions[id] = std::move(before);
    return false;
  }
  void clean(FunctionId id) {
    constexpr int maxRounds = 8;
    for (int round = 0; round < maxRounds; ++round) {
      bool changed = foldFunction(m_, id);
      changed |= composeReadsIn(m_, id);
      changed |= forwardElementsIn(m_, id);
      if (changed) m_.functions[id].version.raise();
      eliminateDeadValues(m_, id, effects_);
      if (!changed) return;
    }
  }

  Module& m_;
  const CallGraph calls_;
  const Effects effects_;
  std::vector<bool> inlined_; ///< by function: whether callers take its body
};

} // namespace

void unroll(Module& m, std::span<const FunctionId> functions) {
  require(m, {State::SumsUnordered});
  Straightener(m).run(functions);
}

} // namespace melix::transforms
