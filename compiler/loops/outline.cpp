#include "loops/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace melix::loops {
namespace {

bool kindIsClosed(StmtKind kind) { return siteOf(kind) != SiteKind::Host; }

bool hasCheck(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::Check) return true;
  return false;
}

/// A loop that is to become a launch.
bool hasParallelLoop(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::For && s.as<ForAttr>().mark == MarkKind::Parallel) return true;
  return false;
}

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
    attr.mark = MarkKind::Points;
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

} // namespace

bool isClosed(const Module& module, const Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    bool closed =
        kindIsClosed(s.kind) || (s.kind == StmtKind::Call && module.functions[s.as<FunctionId>()].isClosed());
    if (!closed) return false;
    for (RegionId r : s.regions)
      if (!isClosed(module, fn, r)) return false;
  }
  return true;
}

namespace {

bool isScalarType(ValueType type) { return type.cls == ClassKind::Scalar; }

/// What a function may do that its callers are not told of. What goes through a black box is done at each
/// call.
bool isQuiet(const Stmt& s) { return kindIsClosed(s.kind) && s.kind != StmtKind::BlackBox; }

/// Whether a function is silent but for what it calls.
bool mayBeSilent(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind != StmtKind::Call && s.kind != StmtKind::Panic && !isQuiet(s)) return false;
  return std::ranges::all_of(fn.results, isScalarType) && !hasParallelLoop(fn) &&
         std::ranges::all_of(fn.modes, isReadOnly);
}

/// Whether a function is closed but for what it calls.
bool mayBeClosed(const Function& fn) {
  for (ValueId p : fn.params())
    if (fn.typeOf(p).counted()) return false;
  for (const Stmt& s : fn.stmts)
    if (s.kind != StmtKind::Call && !isQuiet(s)) return false;
  return std::ranges::all_of(fn.results, isScalarType) && !hasCheck(fn) && !hasParallelLoop(fn);
}

/// Those of the functions that are open and call none but closed ones and each other.
void markSilent(Module& module, const std::vector<std::vector<FunctionId>>& callers) {
  std::vector<FunctionId> loud;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.isClosed()) continue;
    if (mayBeSilent(fn))
      fn.effects = EffectsKind::Silent;
    else
      loud.push_back(FunctionId(f));
  }
  while (!loud.empty()) {
    const FunctionId callee = loud.back();
    loud.pop_back();
    for (FunctionId caller : callers[callee.index])
      if (module.functions[caller].effects == EffectsKind::Silent) {
        module.functions[caller].effects = EffectsKind::Any;
        loud.push_back(caller);
      }
  }
}

} // namespace

bool ends(const Module& module, const Function& fn) {
  auto isSure = [](const Function& f) { return f.inlined || !f.source.valid(); };
  return fn.isClosed() &&
         (isSure(fn) || std::ranges::none_of(fn.stmts, [&](const Stmt& s) {
            return s.kind == StmtKind::While ||
                   (s.kind == StmtKind::Call && !isSure(module.functions[s.as<FunctionId>()]));
          }));
}

void markClosed(Module& module) {
  // From below, each function once all that it calls are closed; recursion stays open, for it may use up the
  // stack.
  std::vector<std::vector<FunctionId>> callers(module.functions.size());
  std::vector<size_t> open(module.functions.size(), 0); // what keeps it from being closed, as far as is known
  std::vector<FunctionId> ready;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const Function& fn = module.functions[FunctionId(f)];
    open[f] = mayBeClosed(fn) ? 0 : 1;
    for (const Stmt& s : fn.stmts)
      if (s.kind == StmtKind::Call) {
        callers[s.as<FunctionId>().index].push_back(FunctionId(f));
        ++open[f];
      }
    if (open[f] == 0) ready.push_back(FunctionId(f));
  }
  while (!ready.empty()) {
    FunctionId closed = ready.back();
    ready.pop_back();
    module.functions[closed].effects = EffectsKind::Closed;
    for (FunctionId caller : callers[closed.index])
      if (--open[caller.index] == 0) ready.push_back(caller);
  }
  markSilent(module, callers);
}

void outlineKernels(Module& module, FunctionId function) {
  std::vector<StmtId> loops;
  {
    const Function& fn = module.functions[function];
    for (uint32_t s = 0; s < fn.stmts.size(); ++s) {
      const Stmt& stmt = fn.stmts[StmtId(s)];
      if (stmt.kind == StmtKind::For && stmt.as<ForAttr>().mark == MarkKind::Parallel)
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

} // namespace melix::loops
