#include "loops/tiles/tile_contractions.h"

#include "loops/analysis/drop_dead.h"
#include "loops/analysis/launch_expressions.h"
#include "loops/kernels/scratch_sizes.h"
#include "loops/tiles/pack_panel.h"
#include "loops/tiles/packing_layout.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t rowBlocks = 8;          ///< so many blocks of rows make up for a panel
constexpr int64_t longestPanel = 1 << 16; ///< rows of a panel
constexpr int64_t mostInFrame = 1 << 15;  ///< bytes of panels

/// One contraction of a function.
class Tile {
public:
  Tile(Module& module, Function& fn, const Contraction& found, ValueId scratch)
      : module_(module), fn_(fn), b_(fn), found_(found), side_(module, fn, found), scratch_(scratch),
        layout_(panelLayout(fn, found, side_)) {
    const Stmt& columns = fn.stmts[found.columns];
    const auto& attr = columns.as<ForAttr>();
    width_ = int64_t(attr.vectorWidth) * attr.interleave;
    for (ValueId v : found.shared) isNumeric_ &= fn.typeOf(v).cls == ClassKind::Scalar;
  }

  /// Whether it can be swept by panels, and there is more than one, or something to be made.
  bool canTile() const {
    if (!side_.isMovable() || found_.shared.empty()) return false;
    if (found_.rowSum && (layout_.kind == LayoutKind::IfLarge || !makesPanels())) return false;
    const std::optional<uint64_t> columns = constantTripCount(fn_, fn_.stmts[found_.columns]);
    if (!makesPanels() && columns && *columns <= static_cast<uint64_t>(width_)) return false;
    auto areFixed = [this](StmtId loop) {
      return std::ranges::all_of(std::span(fn_.stmts[loop].operands).first(2),
                                 [this](ValueId v) { return side_.isFixed(v); });
    };
    return areFixed(found_.columns) && std::ranges::all_of(found_.around, areFixed);
  }
  /// Whether panels are made, at least for what is large.
  bool makesPanels() const { return layout_.kind != LayoutKind::InPlace; }
  bool canHaveScratch() const {
    return isNumeric_ && side_.extents() &&
           std::ranges::all_of(*side_.extents(), [this](auto& extent) { return isSize(extent.end); });
  }
  ScratchSize scratchSize() const {
    ScratchSize size{{}, width_ * layout_.pointBytes, longestPanel};
    if (mayStayAsItWas()) {
      size.width = width_;
      if (isSize(columnsEnd())) size.columns = columnsEnd();
    }
    for (const SharedSide::Extent& extent : *side_.extents()) size.extents.push_back(extent.end);
    return size;
  }
  /// Whether a frame, which is no kernel's, has room for panels: they have few bytes, a number that is known.
  bool fitsFrame() const {
    const std::optional<int64_t> points = knownPoints();
    return isNumeric_ && points && *points <= mostInFrame / layout_.pointBytes;
  }
  void takeFrame() { isInFrame_ = true; }
  /// Whether it can have a block of its own, in what is no kernel, and that is worth it: not for what a few
  /// rows may compute sooner where it lies.
  bool mayHaveBlock() const {
    return isNumeric_ && side_.extents() && (layout_.kind == LayoutKind::IfLarge || layout_.isStrided);
  }
  void takeBlock() { isInBlock_ = true; }
  void readInPlace() { layout_.kind = LayoutKind::InPlace; }

  /// What stands in place of the outermost loop, in a region of its own.
  RegionId write() {
    const StmtId outer = found_.outermost();
    b_.loc = fn_.stmts[outer].loc;
    const std::optional<RegionId> before =
        mayStayAsItWas() ? std::optional(pointByPoint(outer)) : std::nullopt;
    const bool isWideKnown = isSize(columnsEnd());
    const RegionId made = b_.begin();
    side_.writeAround(b_, copies_);
    if (isInFrame_) scratch_ = b_.scratch(static_cast<uint64_t>(*knownPoints() * layout_.pointBytes));
    const std::vector<ValueId> operands = fn_.stmts[found_.columns].operands;
    const ValueId first = fixed(operands[0]), end = fixed(operands[1]);
    const ValueId zero = b_.integer(0), width = b_.integer(width_);
    const ValueId count = b_.arith(OpKind::Max, b_.arith(OpKind::Sub, end, first), zero);
    ValueId panels = b_.arith(OpKind::Shr, b_.arith(OpKind::Add, count, b_.integer(width_ - 1)),
                              b_.integer(std::countr_zero(static_cast<uint64_t>(width_))));
    if (makesPanels()) {
      rowCount_ = countRows();
      panels = b_.select(b_.compare(CmpKind::Gt, rowCount_, zero), panels, zero);
      openPanels(count);
    }
    const ValueId block = isInBlock_ ? makeBlock(count, isWideKnown) : ValueId();
    const std::optional<uint64_t> known = constantTripCount(fn_, fn_.stmts[found_.columns]);
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    const RegionId swept = before ? b_.begin() : RegionId();
    b_.carryLoop(
        zero, panels, {},
        [&](ValueId p, const std::vector<ValueId>& none) {
          panel_.first = first, panel_.last = end;
          if (!known || *known > static_cast<uint64_t>(width_)) {
            panel_.first = b_.arith(OpKind::Add, first, b_.arith(OpKind::Mul, p, width));
            panel_.last = b_.arith(OpKind::Add, panel_.first, width);
            if (!known || *known % static_cast<uint64_t>(width_) != 0)
              panel_.last = b_.arith(OpKind::Min, end, panel_.last);
          }
          if (makesPanels()) panel();
          fn_.stmts[found_.columns].operands[0] = panel_.first;
          fn_.stmts[found_.columns].operands[1] = panel_.last;
          fn_.regions[b_.current()].stmts.push_back(outer);
          return none;
        },
        attr);
    if (before) {
      b_.end();
      b_.stmt(StmtKind::If, {isWorthMaking(count, isWideKnown)}, {}, {}, {swept, *before});
    }
    if (isInBlock_) b_.stmt(StmtKind::Drop, {block});
    b_.end();
    if (makesPanels()) dropUnused(module_, fn_, fn_.stmts[found_.columns].regions[0]);
    return made;
  }

private:
  // --- panels that cannot do without being made
  // ---------------------------------------------------------------------------------------------------------
  /// Whether they may be too long: the loops then run as they were written. A panel takes no more memory than
  /// what it is made of, or is short.
  bool mayStayAsItWas() const {
    const std::optional<int64_t> known = knownPoints();
    return (layout_.kind == LayoutKind::ByRows || layout_.kind == LayoutKind::ByLines) &&
           !(known && *known <= longestPanel * width_);
  }
  /// Of a panel, each with all that is shared, if that is a known number and no immense one.
  std::optional<int64_t> knownPoints() const {
    if (!side_.extents()) return std::nullopt;
    int64_t points = width_;
    for (const SharedSide::Extent& extent : *side_.extents()) {
      const uint64_t* end = b_.asConstant(extent.end);
      if (!end || *end > longestPanel || points > mostInFrame * longestPanel) return std::nullopt;
      points *= static_cast<int64_t>(*end);
    }
    return points;
  }
  ValueId columnsEnd() const { return fn_.stmts[found_.columns].operands[1]; }
  ValueId isWorthMaking(ValueId columns, bool isWideKnown) {
    const ValueId isShort = b_.compare(CmpKind::Le, panel_.points, b_.integer(longestPanel * width_));
    if (!isWideKnown) return isShort;
    return b_.either(isShort, b_.compare(CmpKind::Ge, columns, b_.integer(width_)));
  }
  /// Where the panels lie, one after the other; it has no element if none is made.
  ValueId makeBlock(ValueId columns, bool isWideKnown) {
    ValueId points = panel_.points;
    auto onlyIf = [&](ValueId isMade) { points = b_.select(isMade, points, b_.integer(0)); };
    if (panel_.isMade.valid()) onlyIf(panel_.isMade);
    if (mayStayAsItWas()) onlyIf(isWorthMaking(columns, isWideKnown));
    const AllocAttr attr{module_.core.types.scalar(TypeKind::U8), static_cast<uint32_t>(layout_.pointBytes),
                         false};
    const ValueId block = b_.value(StmtKind::AllocArray, {points}, dataType, attr);
    scratch_ = b_.pointerOf(block);
    return block;
  }
  /// The loops, point by point: of what is as long as that there is little else.
  RegionId pointByPoint(StmtId loop) {
    const RegionId region = b_.begin();
    Copies none;
    clone(b_, loop, none);
    b_.end();
    takeFromLanes(region);
    return region;
  }
  void takeFromLanes(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For) {
        auto& attr = s.as<ForAttr>();
        attr.vectorWidth = attr.interleave = attr.unrollJam = 0;
        attr.predicated = false;
      }
      for (RegionId inner : s.regions) takeFromLanes(inner);
    }
  }

  ValueId fixed(ValueId v) { return side_.writeFixed(b_, v, copies_); }
  ValueId columnIndex() const { return fn_.regions[fn_.stmts[found_.columns].regions[0]].params[0]; }
  ValueId indexOf(size_t sum) const { return fn_.regions[fn_.stmts[found_.sums[sum]].regions[0]].params[0]; }

  // --- what is done
  // ---------------------------------------------------------------------------------------------------------
  /// A size that launches can compute, or a bound of it from where a chunk is.
  bool isSize(ValueId v) const {
    if (LaunchValues::isUniform(fn_, v)) return true;
    const StmtId def = fn_.values[v].def;
    if (!def.valid()) return std::ranges::find(fn_.params(), v) != fn_.params().end();
    const Stmt& s = fn_.stmts[def];
    if (s.kind == StmtKind::Const) return true;
    if (s.kind != StmtKind::Scalar) return false;
    switch (s.as<ScalarAttr>().op) {
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Min:
    case OpKind::Max: return std::ranges::all_of(s.operands, [this](ValueId o) { return isSize(o); });
    default: return false;
    }
  }

  // --- panels
  // ---------------------------------------------------------------------------------------------------------
  /// Iterations of the loops around, all together.
  ValueId countRows() {
    std::vector<ValueId> counts;
    for (StmtId id : found_.around) {
      const std::vector<ValueId> ends = fn_.stmts[id].operands;
      const ValueId first = fixed(ends[0]), end = fixed(ends[1]);
      counts.push_back(b_.arith(OpKind::Max, b_.arith(OpKind::Sub, end, first), b_.integer(0)));
    }
    return b_.product(counts);
  }

  /// Strides of a panel, the innermost sum last, and whether it is made.
  void openPanels(ValueId columns) {
    ValueId stride = b_.integer(width_);
    for (size_t k = side_.extents()->size(); k-- > 0;) {
      const SharedSide::Extent& extent = (*side_.extents())[k];
      panel_.strides.insert(panel_.strides.begin(), stride);
      stride = b_.arith(OpKind::Mul, stride, fixed(extent.end));
    }
    panel_.points = stride;
    if (layout_.kind != LayoutKind::IfLarge) return;
    auto holds = [&](CmpKind how, ValueId v, int64_t limit) { return b_.compare(how, v, b_.integer(limit)); };
    const auto rows = static_cast<int64_t>(fn_.stmts[found_.rows()].as<ForAttr>().unrollJam);
    const ValueId length =
        b_.arith(OpKind::Shr, panel_.points, b_.integer(std::countr_zero(uint64_t(width_))));
    const ValueId side =
        b_.arith(OpKind::Mul, b_.arith(OpKind::Mul, length, columns), b_.integer(layout_.pointBytes));
    const ValueId isLarge =
        b_.both(holds(CmpKind::Ge, side, largeSide), holds(CmpKind::Gt, columns, width_)); // one is a panel
    panel_.isMade = b_.both(b_.both(holds(CmpKind::Ge, rowCount_, rows * rowBlocks), isLarge),
                            holds(CmpKind::Le, length, longestPanel));
  }

  /// Makes the panel, if it is to be, and lets the chain read it.
  void panel() {
    std::vector<ValueId> bases, strides = panel_.strides;
    if (layout_.kind == LayoutKind::IfLarge) {
      const std::vector<ValueId> read = madeOrInPlace();
      bases.push_back(read[0]);
      strides.assign(read.begin() + 1, read.end());
    } else {
      fill();
      bases = panel_.bases;
    }
    const RegionId chain = fn_.stmts[found_.chain()].regions[0], made = b_.begin();
    std::vector<Term> terms;
    for (size_t k = 0; k < strides.size(); ++k)
      terms.push_back({indexOf((*side_.extents())[k].sum), strides[k]});
    terms.push_back({b_.arith(OpKind::Sub, columnIndex(), panel_.first), b_.integer(1)});
    for (size_t k = 0; k < bases.size(); ++k) {
      Access access = accessInPanel(fn_.typeOf(found_.shared[k]));
      access.prefetch = layout_.kind == LayoutKind::IfLarge; // it may be far away
      replaceUses(fn_, chain, found_.shared[k], b_.load(bases[k], terms, access));
    }
    b_.end();
    splice(fn_, made, chain, 0);
  }
  void fill() {
    panel_.bases.assign(1, scratch_);
    fillPanel(b_, found_, side_, layout_, panel_, copies_);
  }

  /// Base and strides of what is read.
  std::vector<ValueId> madeOrInPlace() {
    const RegionId yes = b_.begin();
    fill();
    std::vector<ValueId> panel{panel_.bases[0]};
    panel.insert(panel.end(), panel_.strides.begin(), panel_.strides.end());
    b_.end(std::move(panel));
    const RegionId no = b_.begin();
    std::vector<Term> terms;
    for (const Term& term : layout_.plain->fixed) terms.push_back({fixed(term.index), fixed(term.stride)});
    terms.push_back({panel_.first, b_.integer(1)});
    std::vector<ValueId> place{b_.addressOf(fixed(layout_.plain->base), terms,
                                            layout_.plain->access.elemBytes, layout_.plain->access.offset)};
    for (const SharedSide::Extent& extent : *side_.extents()) {
      auto at = std::ranges::find(layout_.plain->strides, extent.sum, [](auto& s) { return s.first; });
      place.push_back(at == layout_.plain->strides.end() ? b_.integer(0) : fixed(at->second));
    }
    b_.end(std::move(place));
    std::vector<ValueType> types(panel_.strides.size() + 1, indexType);
    types[0] = addressType;
    return b_.results(b_.stmt(StmtKind::If, {panel_.isMade}, types, {}, {yes, no}));
  }

  Module& module_;
  Function& fn_;
  Builder b_;
  const Contraction& found_;
  SharedSide side_;
  ValueId scratch_;
  PanelLayout layout_;
  int64_t width_;
  bool isNumeric_ = true, isInFrame_ = false, isInBlock_ = false;
  Copies copies_; ///< of what is fixed, before
  ValueId rowCount_;
  Panel panel_;
};

class Tiler {
public:
  Tiler(Module& module, FunctionId f) : module_(module), f_(f) {}

  /// How much scratch its panels need.
  std::vector<ScratchSize> run() {
    rewriteStmts(fn(), fn().body, [this](StmtId id, RegionId home) {
      return fn().stmts[id].kind == StmtKind::For && tile(id, home);
    });
    return std::move(sizes_);
  }

private:
  Function& fn() { return module_.functions[f_]; }

  bool tile(StmtId loop, RegionId home) {
    const std::optional<Contraction> found = findContraction(fn(), loop);
    if (!found) return false;
    Tile tile(module_, fn(), *found, scratch());
    if (!tile.canTile()) return false;
    const bool hasScratch = fn().kind == FunctionKind::Kernel && tile.canHaveScratch();
    if (fn().kind == FunctionKind::Chunk && tile.makesPanels() && tile.fitsFrame()) {
      tile.takeFrame();
    } else if (fn().kind != FunctionKind::Kernel && tile.makesPanels() && tile.mayHaveBlock()) {
      tile.takeBlock();
    } else if (tile.makesPanels() && !hasScratch) {
      if (found->rowSum) return false;
      tile.readInPlace();
    } else if (tile.makesPanels()) {
      sizes_.push_back(tile.scratchSize());
      takeScratch();
    }
    const uint32_t rows = fn().stmts[found->rows()].as<ForAttr>().unrollJam;
    auto isChunk = [&](StmtId id) { return isOverChunk(fn(), fn().stmts[id]); };
    if (tile.makesPanels() && !found->rowSum && std::ranges::any_of(found->around, isChunk))
      fn().tripCount.unrolledBy =
          std::max<uint32_t>(fn().tripCount.unrolledBy, isChunk(found->rows()) ? rows * rowBlocks : 4);
    const RegionId made = tile.write();
    replaceStmt(fn(), made, home, loop);
    return true;
  }

  /// The parameter, once there is one.
  ValueId scratch() {
    if (!scratch_.valid()) scratch_ = fn().values.add({addressType, StmtId(), fn().body, {}});
    return scratch_;
  }
  void takeScratch() {
    std::vector<ValueId>& params = fn().regions[fn().body].params;
    if (std::ranges::find(params, scratch_) != params.end()) return;
    params.push_back(scratch_);
    fn().modes.push_back(ModeKind::Scratch);
  }

  Module& module_;
  FunctionId f_;
  ValueId scratch_;
  std::vector<ScratchSize> sizes_;
};

} // namespace

void tileContractions(Module& module) {
  ScratchSizes sizes;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[FunctionId(f)].isScheduled()) continue;
    if (auto needed = Tiler(module, FunctionId(f)).run(); !needed.empty())
      sizes[FunctionId(f)] = std::move(needed);
  }
  if (!sizes.empty()) recordScratchSizes(module, sizes);
}

} // namespace melix::loops
