#include "loops/kernels/partition_launches.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/launch_expressions.h"
#include "loops/ir/clone.h"
#include "loops/kernels/coalesce_parallel_loops.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t manyChunks = 8; ///< as many are enough for the threads of most processors

/// A loop over panels around all that a kernel does with the iterations of a chunk.
struct PackedPanels {
  StmtId loop;
  RegionId home;
  std::optional<RegionId> otherwise; ///< what runs in place of it
  bool areMade = false;
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

class PackedPanelFinder {
public:
  PackedPanelFinder(const Module& module, const Function& fn) : module_(module), fn_(fn) {
    ofChunk_.insert(fn.params().begin(), fn.params().begin() + 2);
  }

  std::optional<PackedPanels> run() {
    if (fn_.kind != FunctionKind::Kernel) return std::nullopt;
    const StmtId only = onlyOf(fn_.body);
    if (!only.valid()) return std::nullopt;
    const Stmt& s = fn_.stmts[only];
    noteChunk(fn_.body);
    if (s.kind == StmtKind::For) return panelsOf(only, fn_.body);
    if (s.kind != StmtKind::If || !s.results.empty()) return std::nullopt;
    const StmtId loop = onlyOf(s.regions[0]);
    std::optional<PackedPanels> out = loop.valid() ? panelsOf(loop, s.regions[0]) : std::nullopt;
    if (out) out->otherwise = s.regions[1];
    return out;
  }

private:
  /// The statement of a region that is not plain.
  StmtId onlyOf(RegionId region) const {
    return onlyStmt(fn_, region,
                    [this](const Stmt& s) { return s.regions.empty() && isPlain(module_, fn_, s); });
  }
  std::optional<PackedPanels> panelsOf(StmtId loop, RegionId home) const {
    const Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For || !s.results.empty()) return std::nullopt;
    const auto& attr = s.as<ForAttr>();
    const uint64_t* begin = asConstant(fn_, s.operands[0]);
    if (attr.dependence != Dependence::Independent || attr.minDistance > 0 || attr.vectorWidth > 0 ||
        attr.unrollJam > 1 || !begin || *begin != 0 || !hasLoopOverChunk(s.regions[0]))
      return std::nullopt;
    return PackedPanels{loop, home, std::nullopt, !onlyOf(s.regions[0]).valid()};
  }
  bool isOfChunk(ValueId v) const { return ofChunk_.contains(v); }
  /// Numbers that determine where a chunk is.
  void noteChunk(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      const bool isOf = std::ranges::any_of(s.operands, [this](ValueId v) { return isOfChunk(v); });
      if (s.kind == StmtKind::Scalar && isOf) ofChunk_.insert(s.results.begin(), s.results.end());
      for (RegionId r : s.regions) noteChunk(r);
    }
  }
  bool hasLoopOverChunk(RegionId region) const {
    return std::ranges::any_of(fn_.regions[region].stmts, [this](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return (s.kind == StmtKind::For && isOfChunk(s.operands[1])) ||
             std::ranges::any_of(s.regions, [this](RegionId r) { return hasLoopOverChunk(r); });
    });
  }

  const Module& module_;
  const Function& fn_;
  std::unordered_set<ValueId> ofChunk_;
};

struct Cuts {
  std::optional<PackedPanels> panels;
  std::optional<ChunkNests> nests;

  bool any() const { return panels || nests; }
};

class Cutter {
public:
  Cutter(Module& module, FunctionId f, const Cuts& cuts, std::span<const LaunchPlace> launches)
      : module_(module), fn_(module.functions[f]), cuts_(cuts), launches_(launches),
        block_(fn_.tripCount.unrolledBy) {
    if (cuts.nests) sizes_ = cuts.nests->extents;
    if (cuts.panels) sizes_.push_back(fn_.stmts[cuts.panels->loop].operands[1]);
  }

  void run() {
    if (!std::ranges::all_of(launches_, [this](const LaunchPlace& at) { return canSizeChunks(at); })) return;
    for (const LaunchPlace& at : launches_) setChunks(at);
    writeKernel();
    if (cuts_.panels) fn_.tripCount.unrolledBy = 1;
  }

private:
  /// Whether a launch can compute what it asks for.
  bool canSizeChunks(const LaunchPlace& at) const {
    Function& caller = module_.functions[at.caller];
    Builder b(caller);
    b.begin();
    LaunchValues values(b, fn_, caller.stmts[at.launch]);
    const bool can = std::ranges::all_of(sizes_, [&](ValueId v) { return values.of(v).has_value(); });
    b.end();
    return can;
  }
  void setChunks(const LaunchPlace& at) const {
    Function& caller = module_.functions[at.caller];
    const Stmt launch = caller.stmts[at.launch];
    Builder b(caller);
    b.loc = launch.loc;
    const RegionId made = b.begin();
    LaunchValues values(b, fn_, launch);
    const ValueId tripCount = launch.operands[0];
    std::vector<ValueId> given;
    if (cuts_.nests) given.push_back(tripCount);
    ValueId extent = cuts_.nests ? unitsOf(b, values, tripCount) : tripCount;
    given.push_back(extent);
    if (cuts_.panels) {
      const ValueId count = *values.of(sizes_.back());
      const ValueId blocks =
          b.scalar(OpKind::IDiv, {b.arith(OpKind::Add, extent, b.integer(block_ - 1)), b.integer(block_)},
                   TypeKind::I64, TypeKind::I64);
      given.push_back(isByPanels(b, count, blocks));
      extent = b.select(given.back(), count, blocks);
    }
    b.end();
    splice(caller, made, at.home, placeOf(caller, at.home, at.launch));
    std::vector<ValueId>& operands = caller.stmts[at.launch].operands;
    operands[0] = extent;
    operands.insert(operands.end(), given.begin(), given.end());
  }
  ValueId unitsOf(Builder& b, LaunchValues& values, ValueId tripCount) const {
    std::vector<ValueId> extents{tripCount};
    for (ValueId v : cuts_.nests->extents) extents.push_back(*values.of(v));
    for (ValueId& extent : extents)
      if (!b.asConstant(extent)) extent = b.arith(OpKind::Max, extent, b.integer(0));
    return b.product(extents);
  }
  ValueId isByPanels(Builder& b, ValueId count, ValueId blocks) const {
    const ValueId many = b.integer(manyChunks);
    const ValueId areFew = b.compare(CmpKind::Lt, blocks, many);
    const ValueId out = b.both(b.compare(CmpKind::Ge, count, blocks), areFew);
    return cuts_.panels->areMade ? b.either(out, b.compare(CmpKind::Ge, count, many)) : out;
  }

  ValueId param(ValueType type) {
    const ValueId v = fn_.values.add({type, StmtId(), fn_.body, {}});
    fn_.regions[fn_.body].params.push_back(v);
    fn_.modes.push_back(ModeKind::Borrow);
    return v;
  }
  void writeKernel() {
    const UnitRange chunk{fn_.params()[0], fn_.params()[1]};
    const ValueId tripCount = cuts_.nests ? param(indexType) : ValueId(), units = param(indexType);
    if (!cuts_.panels) return void(sweepUnits(fn_, *cuts_.nests, chunk, tripCount, units));
    const ValueId isByPanels = param(scalarType(TypeKind::Bool));
    Builder b(fn_);
    b.loc = fn_.stmts[cuts_.panels->loop].loc;
    const RegionId front = b.begin();
    const ValueId zero = b.integer(0), size = b.integer(block_);
    const ValueId first = b.select(isByPanels, zero, b.arith(OpKind::Mul, chunk.first, size));
    const ValueId after = b.arith(OpKind::Min, units, b.arith(OpKind::Mul, chunk.end, size));
    const UnitRange some{first, b.select(isByPanels, units, after)};
    const ValueId isOther = b.both(isByPanels, b.compare(CmpKind::Gt, chunk.first, zero));
    b.end();
    const UnitRange swept = cuts_.nests ? sweepUnits(fn_, *cuts_.nests, some, tripCount, units) : some;
    if (cuts_.panels->otherwise) runOnce(*cuts_.panels->otherwise, swept, isOther);
    if (!cuts_.nests) {
      replaceUses(fn_, fn_.body, chunk.first, some.first);
      replaceUses(fn_, fn_.body, chunk.end, some.end);
    }
    cutPanels(chunk, isByPanels);
    splice(fn_, front, fn_.body, 0);
  }
  /// What runs in place of the panels has no iterations in other chunks than the first one.
  void runOnce(RegionId region, UnitRange iterations, ValueId isOther) {
    Builder b(fn_);
    b.loc = fn_.stmts[cuts_.panels->loop].loc;
    const RegionId front = b.begin();
    const ValueId end = b.select(isOther, b.integer(0), iterations.end);
    b.end();
    replaceUses(fn_, region, cuts_.nests ? iterations.end : fn_.params()[1], end);
    splice(fn_, front, region, 0);
  }
  void cutPanels(UnitRange chunk, ValueId isByPanels) {
    Builder b(fn_);
    Stmt& loop = fn_.stmts[cuts_.panels->loop];
    b.loc = loop.loc;
    const ValueId count = loop.operands[1];
    const RegionId front = b.begin();
    const ValueId first = b.select(isByPanels, chunk.first, b.integer(0));
    const ValueId end = b.select(isByPanels, b.arith(OpKind::Min, chunk.end, count), count);
    b.end();
    fn_.stmts[cuts_.panels->loop].operands = {first, end};
    splice(fn_, front, cuts_.panels->home, placeOf(fn_, cuts_.panels->home, cuts_.panels->loop));
  }

  Module& module_;
  Function& fn_;
  const Cuts& cuts_;
  std::span<const LaunchPlace> launches_;
  const int64_t block_;
  std::vector<ValueId> sizes_; ///< numbers of the kernel that launches compute: extents, panels
};

} // namespace

void partitionLaunches(Module& module) {
  Launches launches;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    collectLaunches(module, FunctionId(f), module.functions[FunctionId(f)].body, launches);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const auto places = launches.find(FunctionId(f));
    if (places == launches.end()) continue;
    const Function& fn = module.functions[FunctionId(f)];
    const Cuts cuts{PackedPanelFinder(module, fn).run(), findChunkNests(module, fn)};
    if (cuts.any()) Cutter(module, FunctionId(f), cuts, places->second).run();
  }
}

} // namespace melix::loops
