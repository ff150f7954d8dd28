#include "transforms/accumulation_sites.h"

#include "core/walk.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

bool usesInside(const Function& f, const Op& o, ValueId v) {
  bool used = false;
  for (RegionId r : o.regions)
    forEachOp(f, r, [&](OpId id) {
      for (ValueId x : f.ops[id].operands) used |= x == v;
    });
  return used;
}

size_t accumulatorAt(const Op& nest, ValueId v) {
  for (size_t k = 0; k < nest.as<NestAttr>().accs; ++k)
    if (nest.operands[k] == v) return k;
  return nest.operands.size();
}

/// Follows the accumulator `v` through a region; gives its last value, none if it cannot be followed.
ValueId follow(const Function& f, RegionId region, ValueId v, std::vector<SiteLevel>& levels,
               std::vector<AccumulationSite>& out) {
  for (OpId id : f.regions[region].ops) {
    const Op& o = f.ops[id];
    size_t operandUses = static_cast<size_t>(std::count(o.operands.begin(), o.operands.end(), v));
    bool inner = usesInside(f, o, v);
    if (o.kind == OpKind::Yield) return operandUses == 1 ? v : ValueId();
    if (operandUses == 0 && !inner) continue;
    if (o.kind == OpKind::AddAt && o.operands[0] == v && operandUses == 1) {
      out.push_back({levels, id});
      v = o.results[0];
      continue;
    }
    if (o.kind == OpKind::Nest && operandUses == 1 && !inner) {
      size_t k = accumulatorAt(o, v);
      if (k >= o.as<NestAttr>().accs) return {};
      levels.push_back({SiteLevel::Kind::Nest, id, o.regions[0], 0});
      ValueId last = follow(f, o.regions[0], f.regions[o.regions[0]].params[o.dims.size() + k], levels, out);
      levels.pop_back();
      if (!last.valid()) return {};
      v = o.results[o.results.size() - o.as<NestAttr>().accs + k];
      continue;
    }
    if (o.kind == OpKind::If && operandUses == 0) {
      size_t result = o.results.size();
      for (size_t arm = 0; arm < o.regions.size(); ++arm) {
        levels.push_back({SiteLevel::Kind::Arm, id, o.regions[arm], arm});
        ValueId last = follow(f, o.regions[arm], v, levels, out);
        levels.pop_back();
        if (!last.valid()) return {};
        const std::vector<ValueId>& y = terminator(f, o.regions[arm]).operands;
        size_t at = static_cast<size_t>(std::find(y.begin(), y.end(), last) - y.begin());
        if (result != o.results.size() && at != result) return {};
        result = at;
      }
      v = o.results[result];
      continue;
    }
    return {};
  }
  return {};
}

class Remover {
public:
  Remover(Module& m, FunctionId f) : m_(m), f_(f) {}

  /// What the ops of a region do with the accumulator `v`.
  void from(RegionId region, ValueId v) { chain(region, v); }

  void nest(OpId id, std::vector<uint32_t> which) {
    std::sort(which.rbegin(), which.rend());
    for (uint32_t k : which) accumulator(id, k);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void accumulator(OpId id, uint32_t k) {
    Op& o = fn().ops[id];
    RegionId body = o.regions[0];
    ValueId param = fn().regions[body].params[o.dims.size() + k];
    chain(body, param);
    NestAttr& attr = o.as<NestAttr>();
    size_t result = o.results.size() - attr.accs + k;
    o.operands.erase(o.operands.begin() + k);
    o.results.erase(o.results.begin() + static_cast<long>(result));
    for (size_t i = 0; i < o.results.size(); ++i) fn().values[o.results[i]].index = static_cast<uint32_t>(i);
    std::vector<ValueId>& params = fn().regions[body].params;
    params.erase(params.begin() + static_cast<long>(o.dims.size() + k));
    for (size_t i = 0; i < params.size(); ++i) fn().values[params[i]].index = static_cast<uint32_t>(i);
    std::vector<ValueId>& y = fn().ops[fn().regions[body].ops.back()].operands;
    y.erase(y.begin() + static_cast<long>(y.size() - attr.accs + k));
    --attr.accs;
  }

  void chain(RegionId region, ValueId v) {
    const std::vector<OpId> ops = fn().regions[region].ops;
    for (OpId id : ops) {
      Op& o = fn().ops[id];
      bool operand = std::find(o.operands.begin(), o.operands.end(), v) != o.operands.end();
      if (o.kind == OpKind::AddAt && operand && o.operands[0] == v) {
        v = o.results[0];
        std::erase(fn().regions[region].ops, id);
      } else if (o.kind == OpKind::Nest && operand) {
        uint32_t k = static_cast<uint32_t>(accumulatorAt(o, v));
        ValueId next = o.results[o.results.size() - o.as<NestAttr>().accs + k];
        accumulator(id, k);
        v = next;
        if (fn().ops[id].results.empty()) std::erase(fn().regions[region].ops, id);
      } else if (o.kind == OpKind::If && usesInside(fn(), o, v)) {
        size_t result = 0;
        for (RegionId arm : o.regions) {
          std::vector<SiteLevel> levels;
          std::vector<AccumulationSite> sites;
          ValueId last = follow(fn(), arm, v, levels, sites);
          std::vector<ValueId>& y = fn().ops[fn().regions[arm].ops.back()].operands;
          result = static_cast<size_t>(std::find(y.begin(), y.end(), last) - y.begin());
          chain(arm, v);
          std::vector<ValueId>& again = fn().ops[fn().regions[arm].ops.back()].operands;
          again.erase(again.begin() + static_cast<long>(result));
        }
        ValueId next = o.results[result];
        o.results.erase(o.results.begin() + static_cast<long>(result));
        for (size_t i = 0; i < o.results.size(); ++i)
          fn().values[o.results[i]].index = static_cast<uint32_t>(i);
        v = next;
      }
    }
  }

  Module& m_;
  FunctionId f_;
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
  for (uint32_t k = 0; k < nest.as<NestAttr>().accs; ++k)
    if (types.kind(f.typeOf(nest.operands[k])) == TypeKind::Acc) out.push_back(k);
  return out;
}

} // namespace

bool isSeparable(const Function& f, const types::TypeStore& types, OpId id) {
  const Op& op = f.ops[id];
  auto isAcc = [&](ValueId v) { return types.kind(f.typeOf(v)) == TypeKind::Acc; };
  if (std::none_of(op.results.begin(), op.results.end(), isAcc)) return true;
  if (op.kind == OpKind::Nest) {
    for (uint32_t k : handedOn(f, types, op)) {
      std::vector<AccumulationSite> sites;
      if (!findAccumulationSites(f, id, k, sites)) return false;
    }
    return true;
  }
  if (op.kind != OpKind::If) return false;
  for (ValueId v : accumulatorsInside(f, types, op))
    for (RegionId arm : op.regions) {
      std::vector<SiteLevel> levels;
      std::vector<AccumulationSite> sites;
      if (!follow(f, arm, v, levels, sites).valid()) return false;
    }
  return true;
}

void separate(Module& m, FunctionId f, OpId copy, RegionId region) {
  const Op& op = m.functions[f].ops[copy];
  if (op.kind == OpKind::Nest) {
    return Remover(m, f).nest(copy, handedOn(m.functions[f], m.types, op));
  }
  for (ValueId v : accumulatorsInside(m.functions[f], m.types, op)) Remover(m, f).from(region, v);
}

bool findAccumulationSites(const Function& f, OpId nest, uint32_t k, std::vector<AccumulationSite>& out) {
  const Op& o = f.ops[nest];
  std::vector<SiteLevel> levels{{SiteLevel::Kind::Nest, nest, o.regions[0], 0}};
  return follow(f, o.regions[0], f.regions[o.regions[0]].params[o.dims.size() + k], levels, out).valid();
}

void removeAccumulators(Module& m, FunctionId f, OpId nest, std::vector<uint32_t> which) {
  Remover(m, f).nest(nest, std::move(which));
}

} // namespace melix::transforms
