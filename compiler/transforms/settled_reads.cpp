#include "transforms/settled_reads.h"

#include "core/affine.h"
#include "core/flow.h"
#include "core/walk.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostWrites = 16; ///< to one array, that a read is compared with

/// Integers as sums of multiples of sizes, axes and indices of loops, and their bounds.
class Bounds {
public:
  Bounds(const Module& m, const Function& f, const Uses& uses) : m_(m), f_(f), uses_(uses) {
    forEachOp(f, [&](OpId id) {
      const Op& op = f.ops[id];
      if (op.kind == OpKind::BindDim) boundTo_[op.resultDims[0]] = op.operands[0];
    });
  }

  uint32_t depthOf(RegionId r) const {
    uint32_t depth = 0;
    for (OpId at = f_.regions[r].parent; at.valid(); at = f_.regions[uses_.regionOf(at)].parent) ++depth;
    return depth;
  }

  std::optional<AffineIndex> form(ValueId v) const {
    const std::optional<AffineIndex> found = affineIndex(
        m_, f_, v, [&](ValueId x) { return points(x).has_value(); }, [](ValueId) { return false; });
    return found ? opened(*found) : std::nullopt;
  }

  /// What the form is not less than, or not more than, whatever axes and indices are further in than `depth`.
  std::optional<AffineIndex> bound(AffineIndex form, bool isUpper, uint32_t depth) const {
    for (;;) {
      ValueId inner;
      uint32_t deepest = depth;
      for (auto [axis, factor] : form.axes)
        if (const uint32_t at = depthOf(f_.values[axis].region); at > deepest) {
          deepest = at;
          inner = axis;
        }
      if (!inner.valid()) return form;
      const int64_t factor = form.axes.at(inner);
      if (std::abs(factor) > largest) return std::nullopt;
      form.axes.erase(inner);
      if ((factor > 0) != isUpper) continue; // it may be zero
      std::optional<AffineIndex> last = points(inner);
      if (!last) return std::nullopt;
      last->constant -= 1;
      accumulate(form, *last, factor);
    }
  }

  /// Whether it is more than zero, as nothing in it is less.
  static bool isPositive(const AffineIndex& x) {
    auto isNatural = [](const auto& term) { return term.second > 0 && term.second < largest; };
    return x.constant > 0 && x.constant < largest && x.outside.empty() &&
           std::ranges::all_of(x.axes, isNatural) && std::ranges::all_of(x.dims, isNatural);
  }

  static constexpr int64_t largest = 1 << 12; ///< factor: no sum of so few of them wraps

private:
  /// The number of points of an axis, or turns of a loop.
  std::optional<AffineIndex> points(ValueId v) const {
    const Value& value = f_.values[v];
    const OpId parent = value.region.valid() ? f_.regions[value.region].parent : OpId();
    if (!parent.valid()) return std::nullopt;
    const Op& op = f_.ops[parent];
    if (op.kind == OpKind::Nest && value.index < op.dims.size()) {
      AffineIndex size;
      size.dims[op.dims[value.index]] = 1;
      return opened(size);
    }
    if (op.kind == OpKind::For && value.index == 0) return form(op.operands[0]);
    return std::nullopt;
  }

  /// With sizes taken apart, and in place of those that are numbers these.
  std::optional<AffineIndex> opened(AffineIndex x) const {
    const std::map<DimId, int64_t> dims = std::exchange(x.dims, {});
    for (auto [d, factor] : dims)
      for (const types::DimTerm& term : m_.types.dims.terms(d)) {
        const int64_t times = factor * term.coefficient;
        if (std::abs(factor) > largest || std::abs(term.coefficient) > largest) return std::nullopt;
        if (term.factors.empty()) {
          x.constant += times;
          continue;
        }
        if (term.factors.size() != 1) return std::nullopt;
        const types::DimAtom& atom = m_.types.dims.atom(term.factors[0]);
        if (atom.kind != types::DimAtomKind::Symbol) return std::nullopt;
        std::optional<AffineIndex> number = ofSymbol(atom.symbol);
        if (!number) return std::nullopt;
        accumulate(x, *number, times);
      }
    return x;
  }

  std::optional<AffineIndex> ofSymbol(DimSym s) const {
    if (const auto number = boundTo_.find(s); number != boundTo_.end())
      if (std::optional<AffineIndex> known = form(number->second)) return known;
    AffineIndex out;
    out.dims[m_.types.dims.symbol(s)] = 1;
    return out;
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  std::unordered_map<DimSym, ValueId> boundTo_;
};

/// An element or part of an array by its first indices: those that are no index have no form.
struct Place {
  std::vector<std::optional<AffineIndex>> indices;
};

class Settled {
public:
  Settled(const Module& m, FunctionId f, const Uses& uses)
      : m_(m), f_(m.functions[f]), uses_(uses), bounds_(m, f_, uses) {}

  std::unordered_map<ValueId, Op> run() {
    std::unordered_map<ValueId, Op> out;
    forEachOp(f_, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (op.kind == OpKind::Get && isPlace(op, 1)) enter(out, op.results[0], op.operands[0], op, 1);
      if (op.kind == OpKind::Set && isPlace(op, 2) && isMadeBeside(id))
        enter(out, op.operands[1], op.results[0], op, 2);
    });
    return out;
  }

private:
  bool isArray(ValueId v) const { return m_.types.kind(f_.typeOf(v)) == TypeKind::Array; }
  bool isPlace(const Op& op, size_t first) const {
    return isArray(op.operands[0]) && op.operands.size() > first &&
           std::ranges::all_of(op.as<Path>(), [](const PathStep& s) { return s.kind == StepKind::Index; });
  }

  /// Whether the value that is written is made in the region where it is written, and not to tell the place.
  bool isMadeBeside(OpId set) const {
    const Op& op = f_.ops[set];
    const OpId def = f_.values[op.operands[1]].def;
    if (!def.valid() || uses_.regionOf(def) != uses_.regionOf(set)) return false;
    const OpKind kind = f_.ops[def].kind;
    if (kind == OpKind::Const || kind == OpKind::Zero || kind == OpKind::Get) return false;
    return std::ranges::all_of(placeOf(op, 2).indices, [](const auto& index) { return index.has_value(); });
  }

  void enter(std::unordered_map<ValueId, Op>& out, ValueId value, ValueId array, const Op& op, size_t first) {
    if (out.contains(value) || !m_.types.isFloat(m_.types.element(f_.typeOf(array)))) return;
    const Place place = placeOf(op, first);
    const ValueId last = lastOf(array, place);
    if (!last.valid() || last == array || f_.typeOf(last) != f_.typeOf(array)) return;
    Op read = Op();
    read.kind = OpKind::Get;
    read.loc = op.loc;
    read.attr = op.attr;
    read.operands = {last};
    read.operands.insert(read.operands.end(), op.operands.begin() + static_cast<long>(first),
                         op.operands.end());
    read.results = {value};
    out.emplace(value, std::move(read));
  }

  Place placeOf(const Op& op, size_t first) const {
    Place out;
    for (size_t k = first; k < op.operands.size(); ++k) out.indices.push_back(bounds_.form(op.operands[k]));
    return out;
  }

  // --- the array from here on

  /// Follows the versions of an array to the last one, as long as none has another value at the place; none
  /// if that is not known.
  ValueId lastOf(ValueId array, const Place& place) {
    for (ValueId v = array;;) {
      const RegionId region = uses_.homeOf(v);
      if (!region.valid()) return {};
      std::vector<OpId> writes;
      const std::optional<ValueId> last = follow(region, v, writes);
      const uint32_t depth = bounds_.depthOf(region);
      if (!last || !differ(place, writes, depth, {})) return {};
      const std::optional<ValueId> next = around(region, *last, place, depth);
      if (!next) return {};
      if (!next->valid()) return *last;
      v = *next;
    }
  }

  /// What is behind the op around a region that yields the array: the result that it is. No value if the
  /// region does not yield it; none if that is not known to have the place.
  std::optional<ValueId> around(RegionId region, ValueId last, const Place& place, uint32_t depth) {
    const OpId parent = f_.regions[region].parent;
    if (!parent.valid()) return ValueId();
    const Operands& yields = terminator(f_, region).operands;
    const auto at = std::ranges::find(yields, last);
    if (at == yields.end()) return ValueId();
    const auto slot = static_cast<size_t>(at - yields.begin());
    if (std::count(yields.begin(), yields.end(), last) != 1) return std::nullopt;
    const Op& op = f_.ops[parent];
    if (op.kind == OpKind::If) return op.results[slot];
    if (op.kind == OpKind::Nest) return ValueId();
    if (op.kind != OpKind::For) return std::nullopt;
    const LoopView loop(f_, op);
    if (slot >= loop.carries()) return ValueId(); // stacked
    std::vector<OpId> writes;
    const ValueId param = loop.carryParams()[slot];
    if (follow(region, param, writes) != std::optional(last)) return std::nullopt;
    if (!differ(place, writes, depth, loop.index())) return std::nullopt;
    return loop.carryResults()[slot];
  }

  /// The last version of an array in a region, and what is written to it there; none if it goes where it
  /// cannot be followed.
  std::optional<ValueId> follow(RegionId region, ValueId v, std::vector<OpId>& writes) {
    for (;;) {
      const std::optional<OpId> by = updaterOf(region, v);
      if (!by) return std::nullopt;
      if (!by->valid()) return v;
      const std::optional<ValueId> next = updated(*by, v, writes);
      if (!next || writes.size() > mostWrites) return std::nullopt;
      v = *next;
    }
  }

  /// The op of the region that makes the next version; no op if there is none.
  std::optional<OpId> updaterOf(RegionId region, ValueId v) const {
    OpId found;
    bool one = true;
    uses_.forEach(v, [&](Use use) {
      const OpId at = uses_.ancestorIn(region, use.op);
      if (!at.valid()) return;
      const Op& op = f_.ops[use.op];
      bool updates = use.operand == 0 && (op.kind == OpKind::Set || op.kind == OpKind::AddAt);
      if (op.kind == OpKind::Call)
        updates = std::ranges::any_of(m_.functions[op.as<CallAttr>().callee].inouts,
                                      [&](InoutPair p) { return p.param == use.operand; });
      updates |= op.kind == OpKind::While || (op.kind == OpKind::For && use.operand > 0) ||
                 (op.kind == OpKind::Nest && use.operand < nestAccs(op));
      if (op.kind == OpKind::Yield) updates = at != use.op && f_.ops[at].kind != OpKind::Nest;
      if (!updates) return;
      one = one && (!found.valid() || found == at);
      found = at;
    });
    return one ? std::optional(found) : std::nullopt;
  }

  std::optional<ValueId> updated(OpId id, ValueId v, std::vector<OpId>& writes) {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::Set || op.kind == OpKind::AddAt) {
      writes.push_back(id);
      return op.operands[0] == v ? std::optional(op.results[0]) : std::nullopt;
    }
    if (op.kind == OpKind::For) {
      const LoopView loop(f_, op);
      const auto at = std::ranges::find(loop.carryOperands(), v);
      if (at == loop.carryOperands().end()) return std::nullopt;
      const auto slot = static_cast<size_t>(at - loop.carryOperands().begin());
      const auto last = follow(loop.body(), loop.carryParams()[slot], writes);
      if (!last || loop.carryYields()[slot] != *last) return std::nullopt;
      return loop.carryResults()[slot];
    }
    if (op.kind != OpKind::If) return std::nullopt;
    std::optional<size_t> slot;
    for (RegionId arm : op.regions) {
      const auto last = follow(arm, v, writes);
      if (!last) return std::nullopt;
      const Operands& yields = terminator(f_, arm).operands;
      const auto at = static_cast<size_t>(std::ranges::find(yields, *last) - yields.begin());
      if (at == yields.size() || (slot && *slot != at)) return std::nullopt;
      slot = at;
    }
    return op.results[*slot];
  }

  // --- places

  /// Whether all that is written lies elsewhere; with `turn`, the index of a loop, in all later turns of it.
  bool differ(const Place& place, const std::vector<OpId>& writes, uint32_t depth, ValueId turn) const {
    return std::ranges::all_of(writes, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (!isPlace(op, 2)) return false;
      const Place written = placeOf(op, 2);
      for (size_t k = 0; k < std::min(place.indices.size(), written.indices.size()); ++k)
        if (place.indices[k] && written.indices[k] &&
            (isLess(*place.indices[k], *written.indices[k], depth, turn, true) ||
             isLess(*written.indices[k], *place.indices[k], depth, turn, false)))
          return true;
      return false;
    });
  }

  /// Whether `a` is less than `b`; of them the one that is written later has another turn.
  bool isLess(const AffineIndex& a, const AffineIndex& b, uint32_t depth, ValueId turn,
              bool isLaterMore) const {
    std::optional<AffineIndex> high = bounds_.bound(a, true, depth), low = bounds_.bound(b, false, depth);
    if (!high || !low) return false;
    if (turn.valid()) {
      AffineIndex& later = isLaterMore ? *low : *high;
      const auto factor = later.axes.find(turn);
      if (factor == later.axes.end()) {
        // the same in all turns
      } else if ((factor->second > 0) != isLaterMore) {
        return false;
      } else {
        later.constant += factor->second;
      }
    }
    accumulate(*low, *high, -1);
    return Bounds::isPositive(*low);
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  const Bounds bounds_;
};

} // namespace

std::unordered_map<ValueId, Op> settledReads(const Module& m, FunctionId f, const Uses& uses) {
  return Settled(m, f, uses).run();
}

} // namespace melix::transforms
