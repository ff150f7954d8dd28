#include "transforms/accumulation/accumulation_sites.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Which accumulator begins as `v`; their number if none does.
uint32_t accumulatorAt(const NestView& nest, ValueId v) {
  const auto begun = nest.accOperands();
  return static_cast<uint32_t>(std::find(begun.begin(), begun.end(), v) - begun.begin());
}

/// The op of the region that takes the accumulator, itself or in its regions; none unless it is one.
OpId takerOf(const Uses& uses, RegionId region, ValueId v) {
  OpId taker;
  bool one = true;
  uses.forEach(v, [&](Use use) {
    OpId op = uses.ancestorIn(region, use.op);
    if (!op.valid()) return; // in the other arm of a branch
    one = one && (!taker.valid() || op == taker);
    taker = op;
  });
  return one ? taker : OpId();
}

/// Follows the accumulator `v` through a region; gives its last value, none if it cannot be followed.
ValueId follow(const Function& f, const Uses& uses, RegionId region, ValueId v,
               std::vector<SiteLevel>& levels, std::vector<AccumulationSite>& out) {
  for (OpId id = takerOf(uses, region, v); id.valid(); id = takerOf(uses, region, v)) {
    const Op& o = f.ops[id];
    const auto times = std::count(o.operands.begin(), o.operands.end(), v);
    if (times > 1) return {};
    if (o.kind == OpKind::Yield) return v;
    if (o.kind == OpKind::AddAt && o.operands[0] == v) {
      out.push_back({levels, id});
      v = o.results[0];
      continue;
    }
    if (o.kind == OpKind::Nest && times == 1) {
      const NestView nest(f, o);
      const uint32_t k = accumulatorAt(nest, v);
      if (k == nest.accs()) return {};
      levels.push_back({SiteLevel::Kind::Nest, id, nest.body(), 0});
      ValueId last = follow(f, uses, nest.body(), nest.accParams()[k], levels, out);
      levels.pop_back();
      if (!last.valid()) return {};
      v = nest.accResults()[k];
      continue;
    }
    if (o.kind != OpKind::If || times == 1) return {};
    size_t result = o.results.size();
    for (size_t arm = 0; arm < o.regions.size(); ++arm) {
      levels.push_back({SiteLevel::Kind::Arm, id, o.regions[arm], arm});
      ValueId last = follow(f, uses, o.regions[arm], v, levels, out);
      levels.pop_back();
      if (!last.valid()) return {};
      const Operands& y = terminator(f, o.regions[arm]).operands;
      size_t at = static_cast<size_t>(std::find(y.begin(), y.end(), last) - y.begin());
      if (result != o.results.size() && at != result) return {};
      result = at;
    }
    v = o.results[result];
  }
  return {};
}

class Remover {
public:
  Remover(Module& m, FunctionId f, const Effects* effects, LiveUses& uses)
      : m_(m), f_(f), effects_(effects), uses_(uses) {}

  /// What the ops of a region do with the accumulator `v`.
  void from(RegionId region, ValueId v) {
    chain(region, v);
    sweep();
  }

  void nest(OpId id, const std::vector<uint32_t>& which) {
    accumulators(id, which);
    sweep();
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void accumulators(OpId id, const std::vector<uint32_t>& which) {
    const RegionId body = fn().ops[id].regions[0];
    const size_t parts = nestResults(fn().ops[id]).size();
    std::vector<bool> gone(parts + nestAccs(fn().ops[id]), false);
    for (uint32_t k : which) {
      chain(body, NestView(fn(), fn().ops[id]).accParams()[k]);
      gone[parts + k] = true;
    }
    uses_.change(terminatorId(fn(), body),
                 [&](Op&) { uses_.change(id, [&](Op&) { removeSlots(fn(), id, gone); }); });
  }
  template <class List>
  void removeAt(List& values, size_t k) {
    values.erase(values.begin() + static_cast<long>(k));
    for (; k < values.size(); ++k) fn().values[values[k]].index = static_cast<uint32_t>(k);
  }

  void chain(RegionId region, ValueId v) {
    for (OpId id = takerOf(uses_, region, v); id.valid(); id = takerOf(uses_, region, v)) {
      const Op& o = fn().ops[id];
      if (o.kind == OpKind::AddAt) {
        v = o.results[0];
        remove(id, region);
      } else if (o.kind == OpKind::Nest) {
        const NestView nest(fn(), o);
        const uint32_t k = accumulatorAt(nest, v);
        v = nest.accResults()[k];
        accumulators(id, {k});
        if (isUseless(id)) remove(id, region);
      } else if (o.kind == OpKind::If) {
        v = branch(id, v);
      } else {
        return;
      }
    }
  }

  /// Takes the accumulator out of the arms and the results; gives the result that handed it on.
  ValueId branch(OpId id, ValueId v) {
    size_t result = 0;
    for (RegionId arm : fn().ops[id].regions) {
      std::vector<SiteLevel> levels;
      std::vector<AccumulationSite> sites;
      const ValueId last = follow(fn(), uses_, arm, v, levels, sites);
      const Operands& y = terminator(fn(), arm).operands;
      result = static_cast<size_t>(std::find(y.begin(), y.end(), last) - y.begin());
      chain(arm, v);
      uses_.change(terminatorId(fn(), arm), [&](Op& yield) {
        yield.operands.erase(yield.operands.begin() + static_cast<long>(result));
      });
    }
    const ValueId next = fn().ops[id].results[result];
    removeAt(fn().ops[id].results, result);
    return next;
  }

  bool isUseless(OpId nest) const {
    return fn().ops[nest].results.empty() && !(effects_ && effects_->ofOp(fn(), nest).any());
  }
  void remove(OpId id, RegionId region) {
    uses_.leave(id);
    changed_.insert(region);
  }
  /// Drops what was removed from the lists of ops.
  void sweep() {
    for (RegionId region : changed_)
      std::erase_if(fn().regions[region].ops, [&](OpId id) { return !uses_.regionOf(id).valid(); });
    changed_.clear();
  }

  Module& m_;
  FunctionId f_;
  const Effects* effects_; ///< none of a copy
  LiveUses& uses_;
  std::unordered_set<RegionId> changed_;
};

/// Accumulators from outside that the regions of an op use.
std::vector<ValueId> accumulatorsInside(const Function& f, const types::TypeStore& types, const Op& op) {
  std::vector<ValueId> used;
  std::unordered_set<ValueId> defined;
  for (RegionId r : op.regions)
    forEachOp(f, r, [&](OpId id) {
      const Op& o = f.ops[id];
      defined.insert(o.results.begin(), o.results.end());
      for (RegionId inner : o.regions)
        defined.insert(f.regions[inner].params.begin(), f.regions[inner].params.end());
      for (ValueId v : o.operands)
        if (types.kind(f.typeOf(v)) == TypeKind::Acc) used.push_back(v);
    });
  std::vector<ValueId> out;
  for (ValueId v : used)
    if (!defined.contains(v) && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  return out;
}

/// The accumulators of a nest that come from outside; the others begin and end with it.
std::vector<uint32_t> handedOn(const Function& f, const types::TypeStore& types, const Op& nest) {
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < nestAccs(nest); ++k)
    if (types.kind(f.typeOf(nest.operands[k])) == TypeKind::Acc) out.push_back(k);
  return out;
}

} // namespace

bool isSeparable(const Function& f, const types::TypeStore& types, const Uses& uses, OpId id) {
  const Op& op = f.ops[id];
  auto isAcc = [&](ValueId v) { return types.kind(f.typeOf(v)) == TypeKind::Acc; };
  if (std::none_of(op.results.begin(), op.results.end(), isAcc)) return true;
  if (op.kind == OpKind::Nest) {
    for (uint32_t k : handedOn(f, types, op)) {
      std::vector<AccumulationSite> sites;
      if (!findAccumulationSites(f, uses, id, k, sites)) return false;
    }
    return true;
  }
  if (op.kind != OpKind::If) return false;
  for (ValueId v : accumulatorsInside(f, types, op))
    for (RegionId arm : op.regions) {
      std::vector<SiteLevel> levels;
      std::vector<AccumulationSite> sites;
      if (!follow(f, uses, arm, v, levels, sites).valid()) return false;
    }
  return true;
}

void separate(Module& m, FunctionId f, LiveUses& uses, OpId copy, RegionId region) {
  const Op& op = m.functions[f].ops[copy];
  if (op.kind == OpKind::Nest)
    return Remover(m, f, nullptr, uses).nest(copy, handedOn(m.functions[f], m.types, op));
  for (ValueId v : accumulatorsInside(m.functions[f], m.types, op))
    Remover(m, f, nullptr, uses).from(region, v);
}

bool findAccumulationSites(const Function& f, const Uses& uses, OpId nest, uint32_t k,
                           std::vector<AccumulationSite>& out) {
  const Op& o = f.ops[nest];
  std::vector<SiteLevel> levels{{SiteLevel::Kind::Nest, nest, o.regions[0], 0}};
  return follow(f, uses, o.regions[0], NestView(f, o).accParams()[k], levels, out).valid();
}

void removeAccumulators(Module& m, FunctionId f, const Effects& effects, LiveUses& uses, OpId nest,
                        std::vector<uint32_t> which) {
  Remover(m, f, &effects, uses).nest(nest, std::move(which));
}

} // namespace melix::transforms
