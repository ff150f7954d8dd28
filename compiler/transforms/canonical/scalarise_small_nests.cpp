#include "transforms/canonical/scalarise_small_nests.h"

#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"
#include "transforms/walks/unroll_nest.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostRounds = 8; ///< in which nests that do not help are left out

/// A carry of a loop that is an array: what it is at each place.
struct Carry {
  OpId loop;
  uint32_t number;
  ValueId begun, yielded, result;
  std::vector<ValueId> params; ///< in the body, and in the condition of a `while`
};

class SmallArrays {
public:
  SmallArrays(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]) {
    forEachOp(f_, [&](OpId op) { order_.push_back(op); });
  }

  bool run() {
    for (OpId op : order_) {
      const OpKind kind = f_.ops[op].kind;
      if (kind == OpKind::For) addStacks(op);
      if (kind == OpKind::Nest && isSmall(f_.ops[op])) chosen_.insert(op);
      if (kind == OpKind::For || kind == OpKind::While) addCarries(op);
    }
    if (chosen_.empty() && carries_.empty()) return false;
    choose(*analysis<Uses>(m_, id_));
    if (chosen_.empty() && carries_.empty()) return false;
    for (const Carry& c : carries_) split(c);
    rewrite(f_.body);
    LiveUses uses(m_, id_);
    for (auto [old, by] : written_) uses.replace(old, by);
    return true;
  }

private:
  /// The number of elements of an array of numbers that may be values.
  bool isSmallArray(TypeId type) const {
    if (m_.types.kind(type) != TypeKind::Array || !m_.types.isScalar(m_.types.element(type))) return false;
    return isSmall(m_.types[type].dims, mostElements);
  }
  template <class Extents>
  bool isSmall(const Extents& extents, int64_t most) const {
    int64_t points = 1;
    for (DimId d : extents) {
      const std::optional<int64_t> extent = m_.types.dims.asConstant(d);
      if (!extent || *extent < 1 || *extent > most) return false;
      points *= *extent;
    }
    return points <= most;
  }
  /// What a nest keeps is small, and so is what it sums for it.
  bool isSmall(const Op& op) const {
    if (!isSmall(op.dims, mostTerms) || nestAccs(op) != 0) return false;
    for (const NestResult& r : nestResults(op)) {
      if (r.kind == NestResultKind::Filter || isCombine(r) || isPosition(r)) return false;
      std::vector<DimId> kept;
      for (uint32_t axis : r.keep) kept.push_back(op.dims[axis]);
      if (!isSmall(kept, mostElements)) return false;
    }
    return isPlain(op.regions[0]);
  }
  /// No op with regions, but branches on comparisons of axes and constants: one side is left of each.
  bool isPlain(RegionId region) const {
    return std::ranges::all_of(f_.regions[region].ops, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (op.regions.empty()) return true;
      if (op.kind != OpKind::If) return false;
      const OpId condition = f_.values[op.operands[0]].def;
      return condition.valid() && f_.ops[condition].kind == OpKind::Cmp &&
             std::ranges::all_of(f_.ops[condition].operands,
                                 [&](ValueId v) { return isConstant(v) || isAxis(v); }) &&
             std::ranges::all_of(op.regions, [&](RegionId inner) { return isPlain(inner); });
    });
  }
  bool isConstant(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == OpKind::Const;
  }

  void addStacks(OpId id) {
    const LoopView loop(f_, f_.ops[id]);
    for (uint32_t k = 0; k < loop.stacks(); ++k)
      stacks_.emplace(terminatorId(f_, loop.body()), loop.carries() + k);
  }
  void addCarries(OpId id) {
    const LoopView loop(f_, f_.ops[id]);
    for (uint32_t k = 0; k < loop.carries(); ++k) {
      if (!isSmallArray(f_.typeOf(loop.carryResults()[k]))) continue;
      Carry c{id,
              k,
              loop.carryOperands()[k],
              loop.carryYields()[k],
              loop.carryResults()[k],
              {loop.carryParams()[k]}};
      if (!loop.isCounted()) c.params.push_back(loop.carryParams(loop.condition())[k]);
      if (f_.typeOf(c.begun) == f_.typeOf(c.result) && f_.typeOf(c.yielded) == f_.typeOf(c.result))
        carries_.push_back(std::move(c));
    }
  }

  // --- which nests and carries

  void choose(const Uses& uses) {
    for (int round = 0; round < mostRounds; ++round) {
      findKnown();
      findGone(uses);
      const size_t nests = std::erase_if(chosen_, [&](OpId op) { return !helps(f_.ops[op]); });
      const size_t carries = std::erase_if(carries_, [&](const Carry& c) { return !helps(c); });
      if (nests + carries == 0) return;
    }
    carries_.clear(); // what holds of them depends on all that were left out
  }
  /// Arrays whose elements are values if the chosen nests are written out.
  void findKnown() {
    known_.assign(f_.values.size(), false);
    carried_ = known_;
    slots_.clear();
    for (const Carry& c : carries_) {
      const bool counted = f_.ops[c.loop].kind == OpKind::For;
      slots_.emplace(c.loop, c.number + counted);
      slots_.emplace(terminatorId(f_, LoopView(f_, f_.ops[c.loop]).body()), c.number);
      for (ValueId p : c.params) known_[p.index] = carried_[p.index] = true;
      known_[c.result.index] = carried_[c.result.index] = true;
    }
    for (OpId id : order_) {
      const Op& op = f_.ops[id];
      for (ValueId v : op.results)
        known_[v.index] = known_[v.index] || (isSmallArray(f_.typeOf(v)) && isKnown(id, op));
    }
  }
  bool isKnown(OpId id, const Op& op) const {
    auto known = [&](ValueId v) { return known_[v.index]; };
    switch (op.kind) {
    case OpKind::Nest: return chosen_.contains(id);
    case OpKind::Zero: return true;
    case OpKind::ArrayOf:
      return std::all_of(op.operands.begin(), op.operands.end(),
                         [&](ValueId v) { return m_.types.isScalar(f_.typeOf(v)) || known(v); });
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Neg: return std::all_of(op.operands.begin(), op.operands.end(), known);
    case OpKind::Set:
    case OpKind::AddAt:
      return known(op.operands[0]) && m_.types.isScalar(f_.typeOf(op.operands[1])) &&
             std::all_of(op.operands.begin() + 2, op.operands.end(),
                         [&](ValueId v) { return isConstant(v); });
    default: return false;
    }
  }
  /// Known arrays that nobody needs as a whole then, but those that a loop carries where they are stored;
  /// users come after what they use.
  void findGone(const Uses& uses) {
    gone_.assign(f_.values.size(), false);
    auto look = [&](ValueId v) {
      if (!known_[v.index]) return;
      bool all = true, isCarried = carried_[v.index];
      uses.forEach(v, [&](Use use) { isCarried = isCarried || slots_.contains({use.op, use.operand}); });
      uses.forEach(v, [&](Use use) { all = all && (needsElements(use) || (isCarried && isStored(use))); });
      gone_[v.index] = all;
    };
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      const Op& op = f_.ops[*id];
      for (ValueId v : op.results)
        if (uses.used(v)) look(v);
      if (op.kind != OpKind::For && op.kind != OpKind::While) continue;
      for (RegionId r : op.regions)
        for (ValueId p : f_.regions[r].params) look(p);
    }
  }
  /// Whether an array only goes from there to a place in memory, of its own or of a larger one.
  bool isStored(Use use) const {
    const Op& op = f_.ops[use.op];
    return (op.kind == OpKind::Set && use.operand == 1) || stacks_.contains({use.op, use.operand});
  }
  bool needsElements(Use use) const {
    const Op& op = f_.ops[use.op];
    if (op.kind == OpKind::Get)
      return m_.types.isScalar(f_.typeOf(op.results[0])) &&
             std::all_of(op.operands.begin() + 1, op.operands.end(),
                         [&](ValueId v) { return isConstant(v) || isChosenAxis(v); });
    if (slots_.contains({use.op, use.operand})) return true;
    if (!op.regions.empty() || op.results.size() != 1) return false;
    return known_[op.results[0].index] && gone_[op.results[0].index];
  }
  bool isAxis(ValueId v) const {
    const RegionId region = f_.values[v].region;
    return region.valid() && f_.regions[region].parent.valid() &&
           f_.ops[f_.regions[region].parent].kind == OpKind::Nest;
  }
  bool isChosenAxis(ValueId v) const {
    return isAxis(v) && chosen_.contains(f_.regions[f_.values[v].region].parent);
  }
  /// Whether an array goes because this nest is written out.
  bool helps(const Op& nest) const {
    if (std::any_of(nest.results.begin(), nest.results.end(), [&](ValueId v) { return gone_[v.index]; }))
      return true;
    const std::vector<OpId>& body = f_.regions[nest.regions[0]].ops;
    return std::any_of(body.begin(), body.end(), [&](OpId id) {
      const Op& op = f_.ops[id];
      return op.kind == OpKind::Get && gone_[op.operands[0].index];
    });
  }

  /// Whether the carry is never needed as a whole, and its elements can be read where the loop begins.
  bool helps(const Carry& c) const {
    auto gone = [&](ValueId v) { return known_[v.index] && gone_[v.index]; };
    return gone(c.yielded) && std::all_of(c.params.begin(), c.params.end(), gone) && isThere(c.begun);
  }
  /// Whether the value is one: single-exit code carries some that nothing reads before they are replaced.
  bool isThere(ValueId v) const {
    if (known_[v.index]) return true;
    const Value& value = f_.values[v];
    if (!value.def.valid()) return value.region == f_.body;
    const Op& op = f_.ops[value.def];
    return op.kind != OpKind::Undef && (op.regions.empty() || op.kind == OpKind::Nest);
  }

  // --- what becomes of them

  /// The carry gets one of each element beside it: in the body the array is made of them, and at its end they
  /// are read. What nobody needs of that is left to forward_elements and simplify.
  void split(const Carry& c) {
    const TypeId type = f_.typeOf(c.result), element = m_.types.element(type);
    std::vector<int64_t> extents;
    size_t size = 1;
    for (DimId d : m_.types[type].dims) {
      extents.push_back(*m_.types.dims.asConstant(d));
      size *= static_cast<size_t>(extents.back());
    }
    Op& op = f_.ops[c.loop];
    const uint32_t carries = LoopView(f_, op).carries();
    const OpId end = terminatorId(f_, LoopView(f_, op).body());
    const std::vector<ValueId> begun = elementsOf(c.begun, extents, op.loc, before_[c.loop]);
    const std::vector<ValueId> next = elementsOf(c.yielded, extents, op.loc, before_[end]);
    for (ValueId p : c.params) {
      const RegionId region = f_.values[p].region;
      std::vector<ValueId> params;
      Builder b(m_, id_, region, op.loc);
      for (size_t k = 0; k < size; ++k) params.push_back(b.param(element));
      written_.emplace_back(p, stackedIn(front_[region], extents, std::move(params), op.loc));
    }
    std::vector<ValueId> results;
    for (size_t k = 0; k < size; ++k) {
      op.operands.push_back(begun[k]);
      Operands& yields = f_.ops[end].operands;
      yields.insert(yields.begin() + carries + static_cast<std::ptrdiff_t>(k), next[k]);
      results.push_back(f_.values.add(Value{element, c.loop, {}, 0, {}}));
      op.results.insert(op.results.begin() + carries + static_cast<std::ptrdiff_t>(k), results.back());
    }
    for (uint32_t k = 0; k < op.results.size(); ++k) f_.values[op.results[k]].index = k;
    written_.emplace_back(c.result, stackedIn(after_[c.loop], extents, std::move(results), op.loc));
  }
  /// Ops are made on their own and come into a list.
  template <class Make>
  auto madeIn(std::vector<OpId>& list, LocId loc, Make make) {
    Builder b(m_, id_, f_.regions.add(Region{}), loc);
    auto made = make(b);
    const std::vector<OpId>& ops = f_.regions[b.region].ops;
    list.insert(list.end(), ops.begin(), ops.end());
    return made;
  }
  std::vector<ValueId> elementsOf(ValueId array, const std::vector<int64_t>& extents, LocId loc,
                                  std::vector<OpId>& list) {
    return madeIn(list, loc, [&](Builder& b) {
      std::vector<ValueId> out;
      std::vector<int64_t> at(extents.size(), 0);
      for (;;) {
        std::vector<ValueId> indices;
        for (int64_t k : at) indices.push_back(b.integer(k));
        out.push_back(b.getAt(array, indices));
        size_t k = at.size();
        while (k > 0 && ++at[k - 1] == extents[k - 1]) at[--k] = 0;
        if (k == 0) return out;
      }
    });
  }
  ValueId stackedIn(std::vector<OpId>& list, const std::vector<int64_t>& extents, std::vector<ValueId> values,
                    LocId loc) {
    return madeIn(list, loc, [&](Builder& b) { return stackedArray(b, extents, std::move(values)); });
  }

  void rewrite(RegionId region) {
    place(region);
    rewriteRegion(m_, id_, region, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (!chosen_.contains(id)) {
        for (RegionId inner : op.regions) rewrite(inner);
        return true;
      }
      Cloner cloner(m_, id_, id_);
      if (!unrollNest(m_, cloner, op, Builder(m_, id_, region, op.loc))) return true;
      for (ValueId v : op.results) written_.emplace_back(v, cloner.value(v));
      return false;
    });
  }

  /// What came for the carries, where it belongs.
  void place(RegionId region) {
    std::vector<OpId> out = front_[region];
    auto put = [&](std::unordered_map<OpId, std::vector<OpId>>& from, OpId op) {
      if (auto it = from.find(op); it != from.end())
        out.insert(out.end(), it->second.begin(), it->second.end());
    };
    for (OpId op : f_.regions[region].ops) {
      put(before_, op);
      out.push_back(op);
      put(after_, op);
    }
    f_.regions[region].ops = std::move(out);
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  std::vector<OpId> order_;         ///< all ops, one before those in its regions
  std::unordered_set<OpId> chosen_; ///< nests
  std::vector<Carry> carries_;
  std::set<std::pair<OpId, uint32_t>> slots_;  ///< operands that hand the carries on
  std::set<std::pair<OpId, uint32_t>> stacks_; ///< those that loops collect
  std::vector<bool> known_, gone_, carried_;   ///< by value
  std::vector<std::pair<ValueId, ValueId>> written_;
  std::unordered_map<OpId, std::vector<OpId>> before_, after_;
  std::unordered_map<RegionId, std::vector<OpId>> front_;
};

} // namespace

bool writeOutSmallArrays(Module& m) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  return changeBodies(m, [&](FunctionId f) { return SmallArrays(m, f).run(); });
}

} // namespace melix::transforms
