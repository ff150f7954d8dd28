#pragma once
// Walks ops and their regions.

#include "core/ir/ir.h"
#include "core/ir/work.h"

namespace melix::core {

/// Calls `visit(OpId)` for every op of the region and of the regions inside, an op before its regions.
template <class Visit>
void forEachOp(const Function& f, RegionId region, Visit&& visit) {
  const std::vector<OpId>& ops = f.regions[region].ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    OpId op = ops[i];
    ++work.ops;
    visit(op);
    for (size_t r = 0; r < f.ops[op].regions.size(); ++r) forEachOp(f, f.ops[op].regions[r], visit);
  }
}

template <class Visit>
void forEachOp(const Function& f, Visit&& visit) {
  forEachOp(f, f.body, visit);
}

/// Whether an op is a match of an enum: it reads payloads, as a match of a number does not.
inline bool isMatchOfEnum(const Module& m, const Function& f, const Op& op) {
  return op.kind == OpKind::Match && m.types.kind(f.typeOf(op.operands[0])) == TypeKind::Enum;
}

inline OpId terminatorId(const Function& f, RegionId region) {
  assert(!f.regions[region].ops.empty() && "every region ends in yield");
  return f.regions[region].ops.back();
}
inline const Op& terminator(const Function& f, RegionId region) { return f.ops[terminatorId(f, region)]; }

/// Fills in which region every op stands in; by op index.
std::vector<RegionId> regionsOfOps(const Function& f);

/// Results of an op that are sums of values whose lengths, sizes or cases may differ, which panics.
std::vector<ValueId> panickingSums(const Module& m, const Function& f, const Op& op);

/// Whether running the op may have an effect beside its results: a panic, output, debug.
struct EffectSet {
  bool panics = false, io = false, debug = false;
  bool any() const { return panics || io || debug; }
  void operator|=(EffectSet o) {
    panics |= o.panics;
    io |= o.io;
    debug |= o.debug;
  }
  bool operator==(const EffectSet&) const = default;
};

/// The effects of a function without the effects of its callees, and the functions that it names.
struct OwnEffects {
  static constexpr char name[] = "effects";
  OwnEffects(const Module& m, FunctionId f);
  bool operator==(const OwnEffects&) const = default;

  EffectSet effects;               ///< of its ops, without the effects of callees
  std::vector<FunctionId> called;  ///< by calls and derivatives, each once
  std::vector<FunctionId> callees; ///< all that it names, in the order in which they are named first
};

/// Effects of every function, found by fixed point over calls. `apply`, and a `while` that may go on for
/// ever, count as panicking: the callee, or whether the loop ends, is unknown.
class Effects {
public:
  explicit Effects(const Module& m);
  EffectSet ofOp(const Function& f, OpId op) const;
  /// The same without the effects of the op's regions.
  EffectSet ofItself(const Function& f, OpId op) const;
  /// Of a call of the function; none of one that was added later.
  EffectSet ofFunction(FunctionId f) const {
    return f.index < functions_.size() ? functions_[f.index] : EffectSet();
  }
  bool operator==(const Effects& o) const { return functions_ == o.functions_; }

private:
  const Module* module_;
  std::vector<EffectSet> functions_;
};

} // namespace melix::core
