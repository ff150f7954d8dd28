#include "loops/kernels/outline.h"

#include "loops/analysis/closed_functions.h"
#include "loops/analysis/launching_functions.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace melix::loops {
namespace {

/// Copies a region of one function into another. Values from outside become captures; constants are copied.
class Outliner {
public:
  Outliner(const Function& from, Function& to) : from_(from), to_(to) {}

  std::vector<ValueId> captures; ///< in `from`, in the order of the parameters after begin and end

  void run(const Stmt& loop) {
    RegionId body = to_.regions.add({});
    begin_ = param(body, indexType);
    end_ = param(body, indexType);
    to_.body = body;
    RegionId inner = region(loop.regions[0]);
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    StmtId made = to_.stmts.add({StmtKind::For, loop.loc, {begin_, end_}, {}, {inner}, attr});
    StmtId yield = to_.stmts.add({StmtKind::Yield, loop.loc, {}, {}, {}, {}});
    std::vector<StmtId>& stmts = to_.regions[body].stmts;
    stmts = constants_;
    stmts.push_back(made);
    stmts.push_back(yield);
  }

private:
  ValueId param(RegionId r, ValueType type, NameId hint = {}) {
    ValueId v = to_.values.add({type, StmtId(), r, hint});
    to_.regions[r].params.push_back(v);
    return v;
  }

  ValueId value(ValueId v) {
    if (auto found = map_.find(v); found != map_.end()) return found->second;
    const Value& old = from_.values[v];
    StmtKind kind = old.def ? from_.stmts[old.def].kind : StmtKind::Yield;
    if (kind == StmtKind::Const || kind == StmtKind::Text || kind == StmtKind::Descriptor) {
      const Stmt& s = from_.stmts[old.def];
      StmtId copy = to_.stmts.add({s.kind, s.loc, {}, {}, {}, s.attr});
      ValueId made = to_.values.add({old.type, copy, to_.body, old.hint});
      to_.stmts[copy].results.push_back(made);
      constants_.push_back(copy);
      return map_[v] = made;
    }
    captures.push_back(v);
    return map_[v] = param(to_.body, old.type, old.hint);
  }

  RegionId region(RegionId r) {
    RegionId made = to_.regions.add({});
    for (ValueId p : from_.regions[r].params) map_[p] = param(made, from_.typeOf(p), from_.values[p].hint);
    for (StmtId id : from_.regions[r].stmts) {
      const Stmt& s = from_.stmts[id];
      Stmt copy{s.kind, s.loc, {}, {}, {}, s.attr};
      for (ValueId v : s.operands) copy.operands.push_back(value(v));
      for (RegionId inner : s.regions) copy.regions.push_back(region(inner));
      StmtId added = to_.stmts.add(std::move(copy));
      for (ValueId v : s.results) {
        ValueId result = to_.values.add({from_.typeOf(v), added, made, from_.values[v].hint});
        map_[v] = result;
        to_.stmts[added].results.push_back(result);
      }
      to_.regions[made].stmts.push_back(added);
    }
    return made;
  }

  const Function& from_;
  Function& to_;
  std::unordered_map<ValueId, ValueId> map_;
  std::vector<StmtId> constants_;
  ValueId begin_, end_;
};

/// Whether a function that is made of a loop calls one of these.
bool callsAny(const Function& made, const std::vector<bool>& functions) {
  return std::ranges::any_of(made.stmts, [&](const Stmt& s) {
    return s.kind == StmtKind::Call && functions[s.as<FunctionId>().index];
  });
}

void outlineKernelsOf(Module& module, FunctionId function, const std::vector<bool>& launching) {
  std::vector<StmtId> loops;
  {
    const Function& fn = module.functions[function];
    for (uint32_t s = 0; s < fn.stmts.size(); ++s) {
      const Stmt& stmt = fn.stmts[StmtId(s)];
      if (stmt.kind == StmtKind::For && stmt.as<ForAttr>().dependence == Dependence::None)
        loops.push_back(StmtId(s));
    }
  }
  unsigned number = 0;
  for (StmtId id : loops) {
    Function& fn = module.functions[function];
    Function made;
    made.name = fn.name;
    made.key = fn.key + ".loop" + std::to_string(number++);
    made.source = fn.source;
    made.loc = fn.stmts[id].loc;
    Outliner outliner(fn, made);
    outliner.run(fn.stmts[id]);
    made.modes.assign(made.params().size(), ModeKind::Borrow);
    made.kind = isClosed(module, made, made.body) ? FunctionKind::Kernel : FunctionKind::Chunk;
    made.points = {fn.stmts[id].as<ForAttr>().grid, fn.stmts[id].as<ForAttr>().blocks};
    if (made.kind == FunctionKind::Chunk && callsAny(made, launching)) {
      if (made.points.isGrid) module.onHost.push_back({made.loc, "a loop with calls that launch"});
      auto& loop = fn.stmts[id].as<ForAttr>();
      loop.dependence = Dependence::Carried;
      loop.grid = loop.blocks = false;
      continue;
    }
    ValueId extent = fn.stmts[id].operands[1];
    FunctionId callee = module.functions.add(std::move(made));
    Stmt& launch = module.functions[function].stmts[id];
    launch.kind = StmtKind::Launch;
    launch.operands = {extent, extent};
    launch.operands.insert(launch.operands.end(), outliner.captures.begin(), outliner.captures.end());
    launch.regions.clear();
    launch.attr = callee;
  }
}

} // namespace

void outlineKernels(Module& module) {
  const std::vector<bool> launching = launchingFunctions(module);
  for (uint32_t f = 0; f < launching.size(); ++f) outlineKernelsOf(module, FunctionId(f), launching);
}

} // namespace melix::loops
