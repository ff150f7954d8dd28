#pragma once
// Marks the needed values and ops of a function: effects and results, and all values that these are made of.
// A part of dce and dead_signatures.

#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <unordered_map>

namespace melix::transforms {

class NeededValues {
public:
  /// Decides which values of other functions a call or a parameter needs. Without it a call needs all its
  /// operands.
  class Calls {
  public:
    virtual ~Calls() = default;
    virtual void callIsNeeded(NeededValues& in, core::OpId call) = 0;
    virtual void resultIsNeeded(NeededValues& in, core::OpId call, uint32_t result) = 0;
    virtual void paramIsNeeded(NeededValues& in, uint32_t param) = 0;
  };
  NeededValues(core::Module& m, core::FunctionId f, const core::Effects& effects, Calls* calls = nullptr);

  core::FunctionId function() const { return id_; }

  /// Marks the ops that have an effect.
  void needEffects();
  /// Marks the values that the function yields.
  void needResults();
  void need(core::ValueId v);
  /// Marks all that the marked values need.
  void run();

  bool needed(core::ValueId v) const { return marked_[v.index]; }
  bool needed(core::OpId o) const { return opMarked_[o.index]; }
  bool needed(const core::Op& op, const core::Slot& slot) const;

private:
  void needDim(core::DimId d);
  void needSym(core::DimSym s);
  void needType(core::TypeId t);
  void needOp(core::OpId id);
  void needAround(core::RegionId region);
  void needSlot(const core::Op& op, const core::Slot& slot);
  void visit(core::ValueId v);

  core::Module& m_;
  core::FunctionId id_;
  core::Function& f_;
  const core::Effects& effects_;
  Calls* calls_;
  std::vector<bool> marked_, opMarked_;
  std::vector<core::RegionId> regionOf_;
  const core::SlotTable slots_;
  std::unordered_map<core::DimSym, core::OpId> dimDef_;
  std::vector<core::ValueId> queue_;
};

/// Removes the ops, results and carries that are not marked. Whether there were any.
bool removeUnneeded(core::Function& f, const NeededValues& needed);

} // namespace melix::transforms
