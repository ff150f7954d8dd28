#include "loops/cut_by_panels.h"

#include "loops/clone.h"
#include "loops/find_contraction.h"
#include "loops/launch_values.h"

#include <algorithm>
#include <span>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t manyChunks = 8; ///< as many are enough for the threads of most processors

/// Loops of a kernel of which there are two ways to cut them.
struct Cuts {
  StmtId outer; ///< over panels
  RegionId home;
  std::optional<RegionId> otherwise; ///< what runs in place of it
  bool makesPanels = false;
};

struct LaunchPlace {
  FunctionId caller;
  RegionId home;
  StmtId launch;
};
using Launches = std::unordered_map<FunctionId, std::vector<LaunchPlace>>;

void collectLaunches(const Module& module, FunctionId f, RegionId region, Launches& out) {
  const Function& fn = module.functions[f];
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Launch) out[s.as<FunctionId>()].push_back({f, region, id});
    for (RegionId r : s.regions) collectLaunches(module, f, r, out);
  }
}

class KernelReader {
public:
  KernelReader(const Module& module, const Function& fn) : module_(module), fn_(fn) {}

  std::optional<Cuts> run() const {
    if (fn_.kind != FunctionKind::Kernel) return std::nullopt;
    const StmtId only = onlyOf(fn_.body);
    if (!only.valid()) return std::nullopt;
    const Stmt& s = fn_.stmts[only];
    if (s.kind == StmtKind::For) return cutsOf(only, fn_.body);
    if (s.kind != StmtKind::If || !s.results.empty()) return std::nullopt;
    const StmtId loop = onlyOf(s.regions[0]);
    std::optional<Cuts> out = loop.valid() ? cutsOf(loop, s.regions[0]) : std::nullopt;
    if (out) out->otherwise = s.regions[1];
    return out;
  }

private:
  /// The statement of a region that is not plain.
  StmtId onlyOf(RegionId region) const {
    return onlyStmt(fn_, region,
                    [this](const Stmt& s) { return s.regions.empty() && isPlain(module_, fn_, s); });
  }
  std::optional<Cuts> cutsOf(StmtId loop, RegionId home) const {
    const Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For || !s.results.empty()) return std::nullopt;
    const auto& attr = s.as<ForAttr>();
    const uint64_t* begin = asConstant(fn_, s.operands[0]);
    if (attr.mark != MarkKind::Points || attr.strip > 0 || attr.lanes > 0 || attr.rows > 1 || !begin ||
        *begin != 0 || chunkLoopsIn(s.regions[0]) != 1)
      return std::nullopt;
    return Cuts{loop, home, std::nullopt, !onlyOf(s.regions[0]).valid()};
  }
  size_t chunkLoopsIn(RegionId region) const {
    size_t found = 0;
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      found += s.kind == StmtKind::For && isOverChunk(fn_, s);
      for (RegionId r : s.regions) found += chunkLoopsIn(r);
    }
    return found;
  }

  const Module& module_;
  const Function& fn_;
};

class Cutter {
public:
  Cutter(Module& module, FunctionId f, const Cuts& cuts, std::span<const LaunchPlace> launches)
      : module_(module), fn_(module.functions[f]), cuts_(cuts), launches_(launches), block_(fn_.step) {}

  void run() {
    if (!std::ranges::all_of(launches_, [this](const LaunchPlace& at) { return canTell(at); })) return;
    for (const LaunchPlace& at : launches_) tell(at);
    writeKernel();
    fn_.step = 1;
  }

private:
  ValueId panels() const { return fn_.stmts[cuts_.outer].operands[1]; }

  /// Whether a launch can compute how many panels there are.
  bool canTell(const LaunchPlace& at) const {
    Function& caller = module_.functions[at.caller];
    Builder b(caller);
    b.begin();
    const bool can = LaunchValues(b, fn_, caller.stmts[at.launch]).of(panels()).has_value();
    b.end();
    return can;
  }
  void tell(const LaunchPlace& at) const {
    Function& caller = module_.functions[at.caller];
    const Stmt launch = caller.stmts[at.launch];
    Builder b(caller);
    b.loc = launch.loc;
    const RegionId made = b.begin();
    const ValueId turns = launch.operands[0];
    const ValueId count =
        LaunchValues(b, fn_, launch).of(panels()).value_or(turns); // canTell says it is there
    const ValueId blocks =
        b.scalar(OpKind::IDiv, {b.arith(OpKind::Add, turns, b.integer(block_ - 1)), b.integer(block_)},
                 TypeKind::I64, TypeKind::I64);
    const ValueId many = b.integer(manyChunks);
    ValueId isByPanels = b.both(b.compare(CmpKind::Ge, count, blocks), b.compare(CmpKind::Lt, blocks, many));
    if (cuts_.makesPanels) isByPanels = b.either(isByPanels, b.compare(CmpKind::Ge, count, many));
    const ValueId extent = b.select(isByPanels, count, blocks);
    b.end();
    splice(caller, made, at.home, placeOf(caller, at.home, at.launch));
    std::vector<ValueId>& operands = caller.stmts[at.launch].operands;
    operands[0] = extent;
    operands.insert(operands.end(), {turns, isByPanels});
  }

  ValueId param(ValueType type) {
    const ValueId v = fn_.values.add({type, StmtId(), fn_.body, {}});
    fn_.regions[fn_.body].params.push_back(v);
    fn_.modes.push_back(ModeKind::Borrow);
    return v;
  }
  void writeKernel() {
    const ValueId begin = fn_.params()[0], end = fn_.params()[1];
    const ValueId turns = param(indexType), isByPanels = param(scalarType(TypeKind::Bool));
    Builder b(fn_);
    b.loc = fn_.stmts[cuts_.outer].loc;
    const RegionId front = b.begin();
    const ValueId zero = b.integer(0), size = b.integer(block_);
    const ValueId first = b.select(isByPanels, zero, b.arith(OpKind::Mul, begin, size));
    const ValueId behind = b.arith(OpKind::Min, turns, b.arith(OpKind::Mul, end, size));
    const ValueId last = b.select(isByPanels, turns, behind);
    const ValueId isOther = b.both(isByPanels, b.compare(CmpKind::Gt, begin, zero));
    const ValueId lastOfOne = b.select(isOther, zero, last);
    b.end();
    if (cuts_.otherwise) replaceUses(fn_, *cuts_.otherwise, end, lastOfOne);
    replaceUses(fn_, fn_.body, begin, first);
    replaceUses(fn_, fn_.body, end, last);
    const RegionId around = b.begin();
    const ValueId count = panels();
    fn_.stmts[cuts_.outer].operands = {b.select(isByPanels, begin, b.integer(0)),
                                       b.select(isByPanels, b.arith(OpKind::Min, end, count), count)};
    b.end();
    splice(fn_, around, cuts_.home, placeOf(fn_, cuts_.home, cuts_.outer));
    splice(fn_, front, fn_.body, 0);
  }

  Module& module_;
  Function& fn_;
  const Cuts& cuts_;
  std::span<const LaunchPlace> launches_;
  const int64_t block_;
};

} // namespace

void cutByPanels(Module& module) {
  Launches launches;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    collectLaunches(module, FunctionId(f), module.functions[FunctionId(f)].body, launches);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const auto places = launches.find(FunctionId(f));
    if (places == launches.end()) continue;
    if (const std::optional<Cuts> cuts = KernelReader(module, module.functions[FunctionId(f)]).run())
      Cutter(module, FunctionId(f), *cuts, places->second).run();
  }
}

} // namespace melix::loops
