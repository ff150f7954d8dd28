#include "loops/ownership/ownership.h"

#include <map>
#include <set>
#include <unordered_map>

namespace melix::loops {
namespace {

/// Every statement is looked at once: a parameter that is only passed on waits for the parameters that it is
/// passed as, and one that is only kept at times for a caller who has something of its own for it.
class ModeInference {
public:
  explicit ModeInference(Module& module) : module_(module) {}

  void run() {
    const auto count = static_cast<uint32_t>(module_.functions.size());
    for (uint32_t f = 0; f < count; ++f) {
      Function& fn = module_.functions[FunctionId(f)];
      fn.modes.resize(fn.params().size(), ModeKind::Borrow);
    }
    for (uint32_t f = 0; f < count; ++f) readUses(FunctionId(f));
    while (!open_.empty()) {
      const Param param = open_.back();
      open_.pop_back();
      for (Param callee : passedTo_[param]) giveTo(callee);
      if (modeOf(param) != ModeKind::Own) continue;
      for (Param caller : passedAs_[param]) own(caller);
      for (Param callee : partsTo_[param]) giveTo(callee);
    }
  }

private:
  using Param = std::pair<FunctionId, size_t>;

  void readUses(FunctionId f) {
    const Function& fn = module_.functions[f];
    params_.clear();
    loops_.clear();
    for (size_t p = 0; p < fn.params().size(); ++p) params_.emplace(fn.params()[p], Param{f, p});
    readUses(fn, fn.body, 0);
  }
  void readUses(const Function& fn, RegionId region, unsigned loops) {
    for (ValueId v : fn.regions[region].params) loops_[v] = loops;
    for (StmtId id : fn.regions[region].stmts) {
      const Stmt& s = fn.stmts[id];
      for (ValueId v : s.results) loops_[v] = loops;
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (fn.typeOf(s.operands[k]).counted()) readUse(fn, s, k, region == fn.body);
      for (RegionId inner : s.regions) readUses(fn, inner, loops + isLoop(s));
    }
  }
  void readUse(const Function& fn, const Stmt& s, size_t k, bool onEveryPath) {
    const auto param = params_.find(s.operands[k]);
    if (s.kind == StmtKind::Call) {
      const Param callee{s.as<FunctionId>(), k};
      if (param == params_.end()) {
        give(fn, s.operands[k], callee);
      } else {
        passedAs_[callee].push_back(param->second);
        passedTo_[param->second].push_back(callee);
      }
    }
    if (param == params_.end() || !consumes(module_, s, k)) return;
    if (s.kind == StmtKind::Store && !onEveryPath)
      keepAtTimes(param->second);
    else
      own(param->second);
  }

  /// A caller has what it made for a callee, or what it read of that in the same iteration of a loop, or what
  /// it read so of a parameter, if that is its own.
  void give(const Function& fn, ValueId v, Param callee) {
    for (StmtId def = fn.values[v].def; def.valid(); def = fn.values[v].def) {
      const Stmt& s = fn.stmts[def];
      if (s.kind == StmtKind::Const || s.kind == StmtKind::Text) return;
      const bool reads = s.kind == StmtKind::Load && !s.as<Access>().transfersOwnership;
      if (!reads || !fn.typeOf(s.operands[0]).counted()) break;
      if (loops_.at(s.operands[0]) != loops_.at(v)) return;
      v = s.operands[0];
    }
    if (const auto param = params_.find(v); param != params_.end())
      partsTo_[param->second].push_back(callee);
    else
      giveTo(callee);
  }

  ModeKind& modeOf(Param param) { return module_.functions[param.first].modes[param.second]; }
  void giveTo(Param param) {
    if (!given_.insert(param).second) return;
    open_.push_back(param);
    if (keptAtTimes_.contains(param)) own(param);
  }
  void keepAtTimes(Param param) {
    keptAtTimes_.insert(param);
    if (given_.contains(param)) own(param);
  }
  void own(Param param) {
    if (modeOf(param) != ModeKind::Borrow) return;
    modeOf(param) = ModeKind::Own;
    open_.push_back(param);
  }

  Module& module_;
  std::unordered_map<ValueId, Param> params_;   ///< of the function at hand
  std::unordered_map<ValueId, unsigned> loops_; ///< how many are around a value of it
  // By parameters, others:
  std::map<Param, std::vector<Param>> passedAs_; ///< a callee's, of the callers that are given for it
  std::map<Param, std::vector<Param>> passedTo_; ///< a caller's, of the callees that it is given to
  std::map<Param, std::vector<Param>> partsTo_;  ///< and that something in it is given to
  std::set<Param> given_;                        ///< what some caller has of its own for them
  std::set<Param> keptAtTimes_;                  ///< stored on some paths
  std::vector<Param> open_;                      ///< given or owned, whose others are still to be found
};

} // namespace

bool consumes(const Module& module, const Stmt& stmt, size_t operand) {
  switch (stmt.kind) {
  case StmtKind::Drop:
  case StmtKind::EnsureUnique:
  case StmtKind::Yield:
  case StmtKind::While: return true;
  case StmtKind::For: return operand >= 2;
  case StmtKind::Store:
    return operand + 1 == stmt.operands.size() && operand > 0 && !stmt.as<Access>().borrowed;
  case StmtKind::Call: {
    const std::vector<ModeKind>& modes = module.functions[stmt.as<FunctionId>()].modes;
    return operand < modes.size() && modes[operand] == ModeKind::Own;
  }
  default: return false;
  }
}

void inferModes(Module& module) { ModeInference(module).run(); }

} // namespace melix::loops
