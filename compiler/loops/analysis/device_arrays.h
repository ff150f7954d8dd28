#pragma once
// Points-to analysis for arrays that launches on a device take: which values may be blocks with a copy there.

#include "loops/analysis/written_captures.h"

#include <span>
#include <vector>

namespace melix::loops {

/// Classes of values that may be the same block, over all functions of a module (Steensgaard): a value is in
/// the class of the parameter, carry or result as which it goes on. Memory is no part of the classes:
/// the copy of the host is valid of every block that a List or box holds. Near-linear in the statements.
/// Requires: kernels outlined.
class DeviceArrays {
public:
  DeviceArrays(const Module& module, LaunchWrites& writes);

  /// Whether the host's copy of a value's block may be stale.
  bool mayBeStale(FunctionId f, ValueId v) { return facts_[find(node(f, v))].written; }
  /// Whether a device may have a copy of a value's block, which a write of the host makes stale.
  bool mayBeCopied(FunctionId f, ValueId v) {
    const Facts& facts = facts_[find(node(f, v))];
    return facts.written || facts.read;
  }
  /// A copy on a device writes the block of this value.
  void noteWritten(FunctionId f, ValueId v) { facts_[find(node(f, v))].written = true; }

private:
  struct Facts {
    bool read = false, written = false; ///< by launches on a device
  };

  uint32_t node(FunctionId f, ValueId v) const { return first_[f.index] + v.index; }
  uint32_t find(uint32_t n);
  void join(uint32_t a, uint32_t b);
  void joinAll(FunctionId f, std::span<const ValueId> a, std::span<const ValueId> b);
  void joinRegion(FunctionId f, RegionId r);
  void joinStatement(FunctionId f, const Stmt& s);
  void joinCall(FunctionId f, const Stmt& s);
  void joinLoop(FunctionId f, const Stmt& s, size_t firstCarried);
  void noteLaunch(FunctionId f, const Stmt& s);

  const Module& module_;
  LaunchWrites& writes_;
  std::vector<uint32_t> first_;   ///< the first node of each function
  std::vector<uint32_t> parents_; ///< of a node, towards the one that stands for its class
  std::vector<Facts> facts_;      ///< of a class
};

} // namespace melix::loops
