#include "transforms/derivatives/final_value_reads.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "transforms/analysis/disjoint_accesses.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostWrites = 16; ///< to one array, that a read is compared with

class FinalValueReads {
public:
  FinalValueReads(const Module& m, FunctionId f, const Uses& uses)
      : m_(m), f_(m.functions[f]), uses_(uses), places_(m, f_, uses) {}

  std::unordered_map<ValueId, Op> run() {
    std::unordered_map<ValueId, Op> out;
    forEachOp(f_, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (op.kind == OpKind::Get && places_.isPlace(op)) enter(out, op.results[0], op.operands[0], op, 1);
      if (op.kind == OpKind::Set && places_.isPlace(op) && isDefinedInBody(id))
        enter(out, op.operands[1], op.results[0], op, 2);
    });
    return out;
  }

private:
  /// Whether the value that is written is made in the region where it is written, and not to determine the
  /// place.
  bool isDefinedInBody(OpId set) const {
    const Op& op = f_.ops[set];
    const OpId def = f_.values[op.operands[1]].def;
    if (!def.valid() || uses_.regionOf(def) != uses_.regionOf(set)) return false;
    const OpKind kind = f_.ops[def].kind;
    if (kind == OpKind::Const || kind == OpKind::Zero || kind == OpKind::Get) return false;
    return std::ranges::all_of(places_.formsOf(op), [](const auto& index) { return index.has_value(); });
  }

  void enter(std::unordered_map<ValueId, Op>& out, ValueId value, ValueId array, const Op& op, size_t first) {
    if (out.contains(value) || !m_.types.isFloat(m_.types.element(f_.typeOf(array)))) return;
    const PlaceForms place = places_.formsOf(op);
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

  // --- the array from here on

  /// Follows the versions of an array to the last one, as long as none has another value at the place; none
  /// if that is not known.
  ValueId lastOf(ValueId array, const PlaceForms& place) {
    for (ValueId v = array;;) {
      const RegionId region = uses_.homeOf(v);
      if (!region.valid()) return {};
      std::vector<OpId> writes;
      const std::optional<ValueId> last = follow(region, v, writes);
      const uint32_t depth = places_.depthOf(region);
      if (!last || !areDisjoint(place, writes, depth, {})) return {};
      const std::optional<ValueId> next = around(region, *last, place, depth);
      if (!next) return {};
      if (!next->valid()) return *last;
      v = *next;
    }
  }

  /// What is after the op around a region that yields the array: the result that it is. No value if the
  /// region does not yield it; none if that is not known to have the place.
  std::optional<ValueId> around(RegionId region, ValueId last, const PlaceForms& place, uint32_t depth) {
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
    if (!areDisjoint(place, writes, depth, loop.index())) return std::nullopt;
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

  /// Whether all that is written lies elsewhere; with `iteration`, the index of a loop, in all later
  /// iterations of it.
  bool areDisjoint(const PlaceForms& place, const std::vector<OpId>& writes, uint32_t depth,
                   ValueId iteration) const {
    return std::ranges::all_of(
        writes, [&](OpId id) { return places_.areDisjoint(place, f_.ops[id], depth, iteration); });
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  const DisjointAccesses places_;
};

} // namespace

std::unordered_map<ValueId, Op> finalValueReads(const Module& m, FunctionId f, const Uses& uses) {
  return FinalValueReads(m, f, uses).run();
}

} // namespace melix::transforms
