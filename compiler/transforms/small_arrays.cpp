#include "transforms/small_arrays.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/place.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/rewrite_region.h"
#include "transforms/write_out.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostRounds = 8; ///< in which nests that do not help are left out

class SmallArrays {
public:
  SmallArrays(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]) {
    forEachOp(f_, [&](OpId op) { order_.push_back(op); });
  }

  bool run() {
    for (OpId op : order_)
      if (f_.ops[op].kind == OpKind::Nest && isSmall(f_.ops[op])) chosen_.insert(op);
    if (chosen_.empty()) return false;
    choose(Uses(m_, id_));
    if (chosen_.empty()) return false;
    rewrite(f_.body);
    LiveUses uses(m_, id_);
    for (auto [old, by] : written_) uses.replace(old, by);
    return true;
  }

private:
  /// The number of elements of an array of numbers that may be values.
  bool isSmallArray(TypeId type) const {
    if (m_.types.kind(type) != TypeKind::Array || !m_.types.isScalar(m_.types.element(type))) return false;
    return isSmall(m_.types[type].dims);
  }
  template <class Extents>
  bool isSmall(const Extents& extents) const {
    int64_t points = 1;
    for (DimId d : extents) {
      const std::optional<int64_t> extent = m_.types.dims.asConstant(d);
      if (!extent || *extent < 1 || *extent > mostElements) return false;
      points *= *extent;
    }
    return points <= mostElements;
  }
  bool isSmall(const Op& op) const {
    if (!isSmall(op.dims) || nestAccs(op) != 0) return false;
    for (const NestResult& r : nestResults(op))
      if (r.kind == NestResultKind::Filter || isCombine(r) || isPosition(r)) return false;
    const std::vector<OpId>& body = f_.regions[op.regions[0]].ops;
    return std::all_of(body.begin(), body.end(), [&](OpId id) { return f_.ops[id].regions.empty(); });
  }
  bool isConstant(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == OpKind::Const;
  }

  // --- which nests

  void choose(const Uses& uses) {
    for (int round = 0; round < mostRounds; ++round) {
      findKnown();
      findGone(uses);
      if (std::erase_if(chosen_, [&](OpId op) { return !helps(f_.ops[op]); }) == 0) return;
    }
  }
  /// Arrays whose elements are values if the chosen nests are written out.
  void findKnown() {
    known_.assign(f_.values.size(), false);
    for (OpId id : order_) {
      const Op& op = f_.ops[id];
      for (ValueId v : op.results) known_[v.index] = isSmallArray(f_.typeOf(v)) && isKnown(id, op);
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
  /// Known arrays that nobody needs as a whole then; users come behind what they use.
  void findGone(const Uses& uses) {
    gone_.assign(f_.values.size(), false);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id)
      for (ValueId v : f_.ops[*id].results) {
        if (!known_[v.index] || !uses.used(v)) continue;
        bool all = true;
        uses.forEach(v, [&](Use use) { all = all && needsElements(use); });
        gone_[v.index] = all;
      }
  }
  bool needsElements(Use use) const {
    const Op& op = f_.ops[use.op];
    if (op.kind == OpKind::Get)
      return m_.types.isScalar(f_.typeOf(op.results[0])) &&
             std::all_of(op.operands.begin() + 1, op.operands.end(),
                         [&](ValueId v) { return isConstant(v) || isChosenAxis(v); });
    return op.results.size() == 1 && known_[op.results[0].index] && gone_[op.results[0].index];
  }
  bool isChosenAxis(ValueId v) const {
    const RegionId region = f_.values[v].region;
    return region.valid() && chosen_.contains(f_.regions[region].parent);
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

  void rewrite(RegionId region) {
    rewriteRegion(m_, id_, region, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (!chosen_.contains(id)) {
        for (RegionId inner : op.regions) rewrite(inner);
        return true;
      }
      Cloner cloner(m_, id_, id_);
      if (!writeOut(m_, cloner, op, Builder(m_, id_, region, op.loc))) return true;
      for (ValueId v : op.results) written_.emplace_back(v, cloner.value(v));
      return false;
    });
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  std::vector<OpId> order_; ///< all ops, one before those in its regions
  std::unordered_set<OpId> chosen_;
  std::vector<bool> known_, gone_; ///< by value
  std::vector<std::pair<ValueId, ValueId>> written_;
};

} // namespace

bool writeOutSmallArrays(Module& m) {
  bool changed = false;
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].body.valid()) changed |= SmallArrays(m, FunctionId(i)).run();
  return changed;
}

} // namespace melix::transforms
