#pragma once
// Lowers the typed tree to Core: mutation becomes SSA update, control flow single-exit, element-wise work and
// builders nests.
//
// Takes: checked instances without errors. Gives: one Core function for each instance that is reached.

#include "check/tree/program.h"
#include "core/ir/ir.h"

#include <functional>
#include <map>

namespace melix::lower {

class Lowering {
public:
  /// `checksOverflow`: whether a sum, difference, product or negative of integers written in this file that
  /// wraps is a panic (`--check-overflow`).
  Lowering(core::Module& module, check::Program& program, const SourceStore& sources,
           std::function<bool(FileId)> checksOverflow)
      : sources(sources), checksOverflow(std::move(checksOverflow)), module_(module), program_(program) {}

  const SourceStore& sources;

  const std::function<bool(FileId)> checksOverflow;

  /// The function of an instance; `finish` lowers its body and the bodies of the calls in it.
  core::FunctionId functionOf(check::InstanceId id);
  /// Whether the node itself, without its children, is expensive enough to compute once: it loops, makes
  /// arrays, or prints the operand of `debug`.
  bool isHeavy(const check::Node& node);
  /// Whether the node itself, without its children, must be computed each time: it gives a name that is equal
  /// to no other, or goes through a black box.
  bool isNew(const check::Node& node);
  /// The instance whose forward sweep saves such a record.
  check::InstanceId savedBy(types::RecordId record) const { return program_.savedBy.at(record); }
  /// Lowers until nothing is left to do.
  void finish();

private:
  bool isHeavy(check::InstanceId id);
  bool isNew(check::InstanceId id);

  core::Module& module_;
  check::Program& program_;
  std::map<check::InstanceId, core::FunctionId> functions_;
  std::map<check::InstanceId, bool> heavy_, new_;
  std::vector<check::InstanceId> waiting_;
};

} // namespace melix::lower
