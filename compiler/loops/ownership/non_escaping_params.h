#pragma once
// Escape analysis: finds parameters of which a function uses only elements while it runs. The block has no
// new owner afterwards.

#include "loops/ir/ir.h"

#include <unordered_map>

namespace melix::loops {

/// Linear in the statements, regardless of the call graph. For functions in which counts are inserted.
class ElementParams {
public:
  explicit ElementParams(const Module& module);

  bool operator()(FunctionId f, size_t k) const { return k < isOne_[f.index].size() && isOne_[f.index][k]; }

private:
  struct Param {
    FunctionId function;
    size_t number;
  };
  static bool isLent(ModeKind mode) { return mode == ModeKind::Borrow || mode == ModeKind::InOut; }
  static uint64_t key(const Param& p) { return uint64_t{p.function.index} << 32 | p.number; }

  void exclude(const Param& p);
  void find(FunctionId id);
  void uses(FunctionId id, RegionId region, const std::unordered_map<ValueId, size_t>& numbers);
  void use(const Param& p, const Stmt& s, size_t operand);

  const Module& module_;
  std::vector<std::vector<bool>> isOne_;
  std::unordered_map<uint64_t, std::vector<Param>> passedTo_;
  std::vector<Param> open_;
};

} // namespace melix::loops
