#pragma once
// Checks that passes keep effects: every op that has one by itself (a check, a panic, a call of a function
// that may panic, …) is followed through each pass. When a pass ends, an op that was there when it began
//
//   1. is there still and has an effect, or a copy of it is (`Cloner` reports copies), in a function that is
//      reached, or
//   2. was reported as gone, with the reason why it may go, or
//   3. went with its function, which nothing reaches any more: a call is such an op itself.
//
// Anything else is a bug of the pass. A pass that does not report the ops it drops may move, copy and merge
// ops, and no more than that. Conditions are not examined: an op that is kept may run where it did not
// before.
//
// An audit is one walk of the module for each pass.

#include "core/ir/ir.h"

#include <span>
#include <string>

namespace melix::core {

/// Why an op with an effect may go. The audit takes a reason only for ops that it can be one for.
enum class GoneKind : uint8_t {
  Proved,    ///< it cannot fail where it stands, or ends
  Repeated,  ///< the same op is before it
  NeverRuns, ///< of an arm that is not taken, a loop without iterations
  Replaced,  ///< other ops have its effect
};

class EffectAudit {
public:
  /// Numbers the ops that the module has now. The passes of this thread report to this audit until it ends.
  explicit EffectAudit(const Module& m);
  EffectAudit(const EffectAudit&) = delete;
  ~EffectAudit();

  /// Checks the pass that ran since the last call: empty, or a message about the first op with an effect that
  /// it lost.
  std::string after(std::string_view pass);

  void copied(FunctionId from, OpId op, FunctionId to, OpId copy);
  void written(FunctionId from, std::span<const OpId> ops, FunctionId to, size_t first);
  void goes(FunctionId f, OpId op, GoneKind why);
  void opened(FunctionId f, OpId call);

private:
  static constexpr uint32_t none = ~uint32_t(0);
  /// An op with an effect, when the pass began.
  struct Entry {
    FunctionId function;
    OpId op;
    OpKind kind;
    bool isKept = false;  ///< there is it or a copy, which still has an effect, or the reason why not
    uint32_t with = none; ///< the entry of the same ops in its place
  };
  uint32_t& numberOf(FunctionId f, OpId op);
  uint32_t known(FunctionId f, OpId op) const;
  void number(const std::vector<bool>& reached, const class Effects& effects);
  template <class Visit>
  void forEachReached(const std::vector<bool>& reached, Visit visit) const;
  bool isSilent(const Effects& effects, const Entry& entry) const;
  std::string lost(std::string_view pass, const Entry& entry) const;

  const Module& module_;
  std::vector<Entry> entries_;
  std::vector<std::vector<uint32_t>>
      numbers_;                ///< by function and op: of the entry that it is, or is a copy of
  std::vector<bool> isOpened_; ///< by function: whether its body took the place of a call
  EffectAudit* outer_;
};

// --- reports of passes, if there is an audit

/// `copy` has the effect of `op`, beside it or in its place.
void noteCopy(FunctionId from, OpId op, FunctionId to, OpId copy);
/// The ops of `to` from number `first` on have the effects of these ops, except ops that are known to have
/// another.
void noteWritten(FunctionId from, std::span<const OpId> ops, FunctionId to, size_t first);
inline void noteWritten(FunctionId from, OpId op, FunctionId to, size_t first) {
  noteWritten(from, std::span(&op, 1), to, first);
}
/// The op is removed, with all ops in its regions.
void noteGone(const Function& fn, FunctionId f, OpId op, GoneKind why);
/// The ops of a region are removed.
void noteGone(const Function& fn, FunctionId f, RegionId region, GoneKind why);
/// Copies of the body of the callee, or of the code that computes its derivative, take the place of the call.
void noteOpened(FunctionId f, OpId call);

} // namespace melix::core
