#pragma once
// Typed tree to Core: mutation becomes SSA update, control flow single-exit, element-wise work and builders
// nests.
//
// Takes: checked instances without errors. Gives: one Core function for each instance that is reached.

#include "check/program.h"
#include "core/ir.h"

#include <map>

namespace melix::lower {

class Lowering {
public:
  Lowering(core::Module& module, check::Program& program) : module_(module), program_(program) {}

  /// The function of an instance; its body and those of the calls in it are lowered by `finish`.
  core::FunctionId functionOf(check::InstanceId id);
  /// The instance whose forward sweep saves such a record.
  check::InstanceId savedBy(types::RecordId record) const { return program_.savedBy.at(record); }
  /// Lowers until nothing is left to do.
  void finish();

private:
  core::Module& module_;
  check::Program& program_;
  std::map<check::InstanceId, core::FunctionId> functions_;
  std::vector<check::InstanceId> waiting_;
};

} // namespace melix::lower
