#include "loops/ownership.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {
namespace {

/// Every statement is looked at once: a parameter that is only passed on waits for the parameters that it is
/// passed as.
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
    while (!owned_.empty()) {
      const Param callee = owned_.back();
      owned_.pop_back();
      for (Param caller : passedAs_[callee]) own(caller);
    }
  }

private:
  using Param = std::pair<FunctionId, size_t>;

  void readUses(FunctionId f) {
    const Function& fn = module_.functions[f];
    std::unordered_map<ValueId, size_t> positions;
    for (size_t p = 0; p < fn.params().size(); ++p)
      if (fn.typeOf(fn.params()[p]).counted()) positions.emplace(fn.params()[p], p);
    if (positions.empty()) return;
    const std::vector<StmtId>& always = fn.regions[fn.body].stmts;
    const std::unordered_set<StmtId> onEveryPath(always.begin(), always.end());
    for (uint32_t s = 0; s < fn.stmts.size(); ++s) {
      const Stmt& stmt = fn.stmts[StmtId(s)];
      for (size_t k = 0; k < stmt.operands.size(); ++k) {
        auto found = positions.find(stmt.operands[k]);
        if (found == positions.end()) continue;
        if (stmt.kind == StmtKind::Call) passedAs_[{stmt.as<FunctionId>(), k}].push_back({f, found->second});
        const bool isKeptAtTimes = stmt.kind == StmtKind::Store && !onEveryPath.contains(StmtId(s));
        if (!isKeptAtTimes && consumes(module_, stmt, k)) own({f, found->second});
      }
    }
  }

  void own(Param param) {
    ModeKind& mode = module_.functions[param.first].modes[param.second];
    if (mode != ModeKind::Borrow) return;
    mode = ModeKind::Own;
    owned_.push_back(param);
  }

  Module& module_;
  std::map<Param, std::vector<Param>> passedAs_; ///< callee's parameter -> the callers' that are given for it
  std::vector<Param> owned_;                     ///< whose callers are still to be told
};

} // namespace

bool consumes(const Module& module, const Stmt& stmt, size_t operand) {
  switch (stmt.kind) {
  case StmtKind::Drop:
  case StmtKind::EnsureUnique:
  case StmtKind::Yield:
  case StmtKind::While: return true;
  case StmtKind::For: return operand >= 2;
  case StmtKind::Store: return operand + 1 == stmt.operands.size() && operand > 0 && !stmt.as<Access>().lend;
  case StmtKind::Call: {
    const std::vector<ModeKind>& modes = module.functions[stmt.as<FunctionId>()].modes;
    return operand < modes.size() && modes[operand] == ModeKind::Own;
  }
  default: return false;
  }
}

void inferModes(Module& module) { ModeInference(module).run(); }

} // namespace melix::loops
