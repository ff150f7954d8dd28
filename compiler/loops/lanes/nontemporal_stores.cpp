#include "loops/lanes/nontemporal_stores.h"

#include "loops/analysis/stride_analysis.h"
#include "loops/ir/build.h"
#include "loops/ir/cost_table.h"
#include "loops/lanes/interleaved_accesses.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {
namespace {

/// Which arrays kernels are launched with that may be large.
class LargeArrays {
public:
  explicit LargeArrays(const Module& module) : module_(module) {
    for (const Function& fn : module.functions) region(fn, fn.body);
  }
  /// Of a function that nothing launches, any.
  bool contain(FunctionId kernel, size_t param) const {
    auto known = given_.find(kernel);
    return known == given_.end() || known->second[param];
  }

private:
  void region(const Function& fn, RegionId r) {
    for (StmtId id : fn.regions[r].stmts) {
      const Stmt& s = fn.stmts[id];
      if (s.kind == StmtKind::Launch) note(fn, s);
      for (RegionId inner : s.regions) region(fn, inner);
    }
  }
  void note(const Function& fn, const Stmt& launch) {
    const FunctionId kernel = launch.as<FunctionId>();
    std::vector<bool>& large = given_[kernel];
    large.resize(module_.functions[kernel].params().size());
    for (size_t k = 2; k < large.size(); ++k) large[k] = large[k] || mayBeLarge(fn, launch.operands[k]);
  }
  static bool mayBeLarge(const Function& fn, ValueId array) {
    const StmtId def = fn.values[array].def;
    if (!def.valid()) return true;
    const Stmt& s = fn.stmts[def];
    if (s.kind != StmtKind::AllocArray && s.kind != StmtKind::FrameArray) return true;
    return knownBytes(fn, s).value_or(streamedBytes) >= streamedBytes;
  }

  const Module& module_;
  std::unordered_map<FunctionId, std::vector<bool>> given_; ///< by parameter
};

class StreamChooser {
public:
  StreamChooser(Module& module, FunctionId f, const LargeArrays& large)
      : module_(module), fn_(module.functions[f]) {
    for (size_t k = 2; k < fn_.params().size(); ++k)
      if (!large.contain(f, k)) kept_.insert(fn_.params()[k]);
  }

  void run() {
    findKept(fn_.body);
    region(fn_.body);
  }

private:
  /// What is used as anything but the place of a store.
  void findKept(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (size_t k = s.kind == StmtKind::Store ? 1 : 0; k < s.operands.size(); ++k)
        if (fn_.typeOf(s.operands[k]) == dataType) kept_.insert(s.operands[k]);
      for (RegionId inner : s.regions) findKept(inner);
    }
  }

  void region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For && s.as<ForAttr>().vectorWidth > 0)
        lanes(s);
      else
        for (RegionId inner : s.regions) region(inner);
    }
  }

  void lanes(const Stmt& loop) {
    const RegionId body = loop.regions[0];
    if (hasLongLoop(body)) return;
    const Variance variance(fn_, loop);
    LaneStrides strides(fn_, variance, fn_.regions[body].params[0]);
    bool hasPlainStores = false;
    for (StmtId id : fn_.regions[body].stmts) {
      Stmt& s = fn_.stmts[id];
      if (s.kind != StmtKind::Store || !isFilled(s.operands[0])) continue;
      s.as<Access>().nonTemporal = strides.areSideBySide(s);
      hasPlainStores |= !s.as<Access>().nonTemporal;
    }
    if (hasPlainStores) rows(loop, variance);
  }
  /// Stores to all columns of rows, which are whole registers together.
  void rows(const Stmt& loop, const Variance& variance) {
    const RegionId body = loop.regions[0];
    LaneStrides strides(fn_, variance, fn_.regions[body].params[0]);
    for (const LaneGroup& group : laneGroups(module_, fn_, body, strides)) {
      if (group.kind != StmtKind::Store || !isFilled(fn_.stmts[group.place()].operands[0])) continue;
      for (const LaneGroup::Member& m : group.members) fn_.stmts[m.stmt].as<Access>().nonTemporal = true;
    }
  }
  /// Whether there is a loop in each iteration that is not known to be short: it takes so long that memory
  /// keeps up.
  bool hasLongLoop(RegionId r) const {
    constexpr uint64_t few = 8;
    return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::While ||
             (s.kind == StmtKind::For && constantTripCount(fn_, s).value_or(few + 1) > few);
    });
  }
  bool isFilled(ValueId base) const { return fn_.typeOf(base) == dataType && !kept_.contains(base); }

  const Module& module_;
  Function& fn_;
  std::unordered_set<ValueId> kept_; ///< arrays that are read, or small
};

} // namespace

void chooseNontemporalStores(Module& module) {
  const LargeArrays large(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (const Function& fn = module.functions[FunctionId(f)];
        fn.kind != FunctionKind::Orchestration && fn.isScheduled())
      StreamChooser(module, FunctionId(f), large).run();
}

} // namespace melix::loops
