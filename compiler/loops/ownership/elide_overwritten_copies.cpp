#include "loops/ownership/elide_overwritten_copies.h"

#include "loops/analysis/iteration_accesses.h"
#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

class CopyElider {
public:
  explicit CopyElider(Function& fn) : fn_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) region(inner);
      if (fn_.stmts[id].kind == StmtKind::For) loop(id, r);
    }
  }

private:
  /// Where a block is made unique, before a loop.
  struct Made {
    StmtId unique; ///< by itself, or
    StmtId branch; ///< where the loop iterates
    StmtId front() const { return branch.valid() ? branch : unique; }
  };

  void loop(StmtId id, RegionId home);
  std::optional<Made> madeAt(ValueId block, RegionId home) const;
  /// Of a loop that in every iteration stores a whole element of a block.
  struct Filled {
    std::vector<StmtId> reads; ///< of that element, before the store
    uint32_t bytes = 0;        ///< of an element
  };
  std::optional<Filled> filledBy(const Stmt& loop, ValueId block) const;
  bool isWhole(const Stmt& store) const;
  bool isUsedBetween(ValueId block, RegionId home, StmtId from, StmtId to) const;
  bool uses(StmtId id, ValueId v) const;
  bool isBefore(ValueId v, RegionId home, StmtId at) const;
  bool isBorrowed(ValueId v) const;
  bool stays(ValueId source, RegionId home, StmtId front, StmtId loop) const;
  void skip(const Made& made, RegionId home, const Stmt& loop, const IndexPlusOffset& sum, uint32_t bytes);

  const std::vector<ValueId>& yields(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }

  Function& fn_;
};

void CopyElider::loop(StmtId id, RegionId home) {
  const Stmt loop = fn_.stmts[id];
  const IterationAccesses accesses(fn_, loop);
  if (!accesses.areAll()) return;
  for (const auto& [block, places] : accesses.places()) {
    const std::optional<Made> made = places.stored && places.equal ? madeAt(block, home) : std::nullopt;
    if (!made || isUsedBetween(block, home, made->front(), id)) continue;
    const std::optional<IndexPlusOffset> sum = accesses.indexPlusOffset(places.terms[0]);
    const std::optional<Filled> filled = filledBy(loop, block);
    const ValueId source = fn_.stmts[made->unique].operands[0];
    if (!sum || !filled || (!filled->reads.empty() && !stays(source, home, made->front(), id))) continue;
    auto isKnown = [&](ValueId v) { return isBefore(v, home, made->front()); };
    if (!isKnown(loop.operands[0]) || !isKnown(loop.operands[1])) continue;
    if (sum->addend && !asConstant(fn_, sum->addend) && !isKnown(sum->addend)) continue;
    for (StmtId read : filled->reads) fn_.stmts[read].operands[0] = source;
    skip(*made, home, loop, *sum, filled->bytes);
  }
}

/// By a statement of the region, or a branch of it that asks whether the loop iterates.
std::optional<CopyElider::Made> CopyElider::madeAt(ValueId block, RegionId home) const {
  const StmtId def = fn_.values[block].def;
  if (!def.valid() || fn_.values[block].region != home) return std::nullopt;
  const Stmt& s = fn_.stmts[def];
  auto isPlain = [&](StmtId id) {
    return fn_.stmts[id].kind == StmtKind::EnsureUnique && fn_.stmts[id].operands.size() == 1;
  };
  if (isPlain(def)) return Made{def, {}};
  if (s.kind != StmtKind::If || s.results.size() != 1) return std::nullopt;
  const ValueId made = yields(s.regions[0])[0];
  const StmtId unique = fn_.values[made].def;
  const bool isGuarded = unique.valid() && fn_.values[made].region == s.regions[0] && isPlain(unique) &&
                         yields(s.regions[1])[0] == fn_.stmts[unique].operands[0];
  return isGuarded ? std::optional(Made{unique, def}) : std::nullopt;
}

/// None if an iteration does anything else with the block, but store to the element again.
std::optional<CopyElider::Filled> CopyElider::filledBy(const Stmt& loop, ValueId block) const {
  Filled out;
  bool isFine = true;
  auto look = [&](auto& self, RegionId r, bool always) -> void {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (RegionId inner : s.regions) self(self, inner, false);
      const auto uses = std::ranges::count(s.operands, block);
      if (uses == 0) continue;
      if (s.kind == StmtKind::Load) {
        isFine &= out.bytes == 0;
        out.reads.push_back(id);
      } else if (s.kind != StmtKind::Store || uses > 1) {
        isFine = false;
      } else if (out.bytes == 0) {
        isFine &= always && isWhole(s);
        out.bytes = s.as<Access>().elemBytes;
      }
    }
  };
  look(look, loop.regions[0], true);
  return isFine && out.bytes > 0 ? std::optional(out) : std::nullopt;
}

/// Whether a store fills an element.
bool CopyElider::isWhole(const Stmt& store) const {
  const auto& access = store.as<Access>();
  if (store.operands.size() != 4 || access.elem.cls != ClassKind::Scalar || access.offset != 0) return false;
  const uint64_t* stride = asConstant(fn_, store.operands[2]);
  return stride && *stride == 1 &&
         access.elemBytes == std::max(1U, types::scalarBits(access.elem.scalar) / 8);
}

/// Whether something in a region, from a statement on and up to another one, uses a value.
bool CopyElider::isUsedBetween(ValueId v, RegionId home, StmtId from, StmtId to) const {
  const std::span<const StmtId> stmts(fn_.regions[home].stmts);
  const size_t first = placeOf(fn_, home, from) + 1;
  return std::ranges::any_of(stmts.subspan(first, placeOf(fn_, home, to) - first),
                             [&](StmtId id) { return uses(id, v); });
}
bool CopyElider::uses(StmtId id, ValueId v) const {
  const Stmt& s = fn_.stmts[id];
  return std::ranges::find(s.operands, v) != s.operands.end() ||
         std::ranges::any_of(s.regions, [&](RegionId r) {
           return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId in) { return uses(in, v); });
         });
}

/// Whether a value that the loop uses is there already at a statement before it.
bool CopyElider::isBefore(ValueId v, RegionId home, StmtId at) const {
  const Value& value = fn_.values[v];
  return value.region != home || !value.def.valid() || placeOf(fn_, home, value.def) < placeOf(fn_, home, at);
}

/// Whether the block stays as it is until the function returns.
bool CopyElider::isBorrowed(ValueId v) const {
  const auto& params = fn_.params();
  const auto k = static_cast<size_t>(std::ranges::find(params, v) - params.begin());
  return k < params.size() && (k >= fn_.modes.size() || fn_.modes[k] == ModeKind::Borrow);
}

/// Whether what a loop is given a copy of is there as long as the loop runs: one owner more has it than those
/// that give theirs away before the loop.
bool CopyElider::stays(ValueId source, RegionId home, StmtId front, StmtId loop) const {
  if (isBorrowed(source)) return true;
  const std::vector<StmtId>& stmts = fn_.regions[home].stmts;
  for (size_t k = placeOf(fn_, home, front); k-- > 0;) {
    if (!uses(stmts[k], source)) continue;
    return fn_.stmts[stmts[k]].kind == StmtKind::Retain && !isUsedBetween(source, home, front, loop);
  }
  return false;
}

/// Says between which bytes nothing is copied.
void CopyElider::skip(const Made& made, RegionId home, const Stmt& loop, const IndexPlusOffset& sum,
                      uint32_t bytes) {
  Builder b(fn_);
  b.loc = fn_.stmts[made.unique].loc;
  const RegionId front = b.begin();
  ValueId addend = sum.addend;
  if (addend && asConstant(fn_, addend)) addend = b.constant(indexType, *asConstant(fn_, addend));
  std::vector<ValueId> ends;
  for (size_t k : {0, 1}) {
    ValueId iteration = loop.operands[k];
    if (addend) iteration = b.arith(sum.subtracts ? OpKind::Sub : OpKind::Add, iteration, addend);
    ends.push_back(b.arith(OpKind::Mul, iteration, b.integer(bytes)));
  }
  b.end();
  std::vector<StmtId> computed = fn_.regions[front].stmts;
  computed.pop_back(); // the yield
  const RegionId place = made.branch.valid() ? fn_.stmts[made.branch].regions[0] : home;
  for (StmtId id : computed)
    for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = place;
  std::vector<StmtId>& stmts = fn_.regions[place].stmts;
  stmts.insert(std::ranges::find(stmts, made.unique), computed.begin(), computed.end());
  std::vector<ValueId>& operands = fn_.stmts[made.unique].operands;
  operands.insert(operands.end(), ends.begin(), ends.end());
}

} // namespace

void elideOverwrittenCopies(Function& function) { CopyElider(function).region(function.body); }

} // namespace melix::loops
