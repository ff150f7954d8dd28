// Branches: `if` and the regions of other ops that merge the locals they change.
#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

ValueId BodyLowering::branches(core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes,
                               TypeId type, const std::vector<DimSym>& sizes) {
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  auto hoistedBefore = hoisted_;
  FlowKind flowBefore = flow_;
  RegionId outer = b_.region;
  struct Done {
    RegionId region;
    ValueId value;
    Values values;
    FlowKind flow;
    types::DimSubst dims;
  };
  std::vector<Done> done;
  for (const auto& make : makes) {
    RegionId region = b_.newRegion();
    b_.region = region;
    values_ = before;
    dimMap_ = dimsBefore;
    flow_ = flowBefore;
    ValueId value = make(region);
    done.push_back({region, value, values_, flow_, dimMap_});
  }
  dimMap_ = dimsBefore;
  hoisted_ = hoistedBefore;
  std::set<LocalId> differ;
  for (const Done& d : done) before.forEachDifference(d.values, [&](LocalId local) { differ.insert(local); });
  const std::vector<LocalId> changed(differ.begin(), differ.end());
  // Sizes that the arms decide: those the node says, and those of names bound in an arm.
  std::vector<DimSym> decided = sizes, mentioned, fresh;
  types_.collectSymbols(type, mentioned);
  for (DimSym s : mentioned)
    for (const Done& d : done)
      if (d.flow != FlowKind::Off && d.dims.contains(s) && !dimsBefore.contains(s) &&
          std::find(decided.begin(), decided.end(), s) == decided.end())
        decided.push_back(s);
  for (DimSym s : decided) {
    b_.region = outer;
    fresh.push_back(b_.newDim(types_.dims.info(s).name));
    dimMap_[s] = types_.dims.symbol(fresh.back());
  }
  bool never = types_.kind(type) == TypeKind::Never;
  TypeId result = never ? types_.unit() : T(type);
  std::vector<TypeId> resultTypes{result};
  for (LocalId l : changed) resultTypes.push_back(b_.fn().typeOf(before.at(l)));
  for (Done& d : done) {
    b_.region = d.region;
    types::DimSubst actual;
    matchDims(type, b_.typeOf(d.value), actual);
    std::vector<DimId> dims;
    types::DimSubst own = dimsBefore;
    for (DimSym s : decided) {
      DimId dim = types_.dims.constant(0);
      if (auto found = actual.find(s); found != actual.end() && d.flow != FlowKind::Off)
        dim = found->second;
      else if (auto bound = d.dims.find(s); bound != d.dims.end() && d.flow != FlowKind::Off)
        dim = bound->second;
      dims.push_back(dim);
      own[s] = dim;
    }
    TypeId want = never ? types_.unit() : types_.substitute(type, own);
    ValueId value = d.value;
    if (b_.typeOf(value) != want)
      value = d.flow == FlowKind::Off || types_.isUnit(b_.typeOf(value)) || types_.isUnit(want)
                  ? (types_.isUnit(want) ? unit() : b_.undef(want))
                  : cast(value, want);
    std::vector<ValueId> out{value};
    for (size_t k = 0; k < changed.size(); ++k)
      out.push_back(cast(d.values.at(changed[k]), resultTypes[k + 1]));
    b_.yield(std::move(out), std::move(dims));
    op.regions.push_back(d.region);
  }
  b_.region = outer;
  op.resultDims = fresh;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(resultTypes));
  values_ = before;
  for (size_t k = 0; k < changed.size(); ++k) values_[changed[k]] = b_.result(made, k + 1);
  bool allOff = true, anyLeft = false;
  for (const Done& d : done) {
    allOff &= d.flow == FlowKind::Off;
    anyLeft |= d.flow != FlowKind::On;
  }
  // Where nothing records how control leaves, arms that do not end are never reached.
  bool mayHaveLeft = anyLeft && values_.contains(exit_);
  flow_ = allOff ? FlowKind::Off : mayHaveLeft ? FlowKind::Maybe : FlowKind::On;
  return b_.result(made, 0);
}

ValueId BodyLowering::ifNode(const Node& node) {
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    return branches(Builder::simple(OpKind::If, {v[0]}),
                    {[&](RegionId) {
                       ValueId value = expr(node.children[1]);
                       return node.children.size() == 2 && flow_ != FlowKind::Off ? unit() : value;
                     },
                     [&](RegionId) { return node.children.size() > 2 ? expr(node.children[2]) : unit(); }},
                    node.type, node.resultDims);
  });
}

ValueId BodyLowering::shortCircuit(const Node& node) {
  bool conjunction = node.kind == NodeKind::ShortAnd;
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    std::function<ValueId(RegionId)> right = [&](RegionId) { return expr(node.children[1]); };
    std::function<ValueId(RegionId)> fixed = [&](RegionId) { return b_.boolean(!conjunction); };
    return branches(Builder::simple(OpKind::If, {v[0]}),
                    {conjunction ? right : fixed, conjunction ? fixed : right}, types_.boolean(), {});
  });
}

/// The function's value, where it ends with `nodes`, whose returns stand at ends.
ValueId BodyLowering::atEnd(std::vector<NodeId> nodes) {
  const auto first =
      std::find_if(nodes.begin(), nodes.end() - 1, [&](NodeId n) { return exitsIn(instance_, n); });
  if (first != nodes.begin()) blockFrom({nodes.begin(), first}, 0, types_.unit());
  if (flow_ == FlowKind::Off) return undef(T(instance_.result));
  if (!exitsIn(instance_, *first)) return expr(*first);
  const Node& node = instance_.nodes[*first];
  if (node.kind == NodeKind::Return) return node.children.empty() ? unit() : atEnd(node.children);
  if (node.kind == NodeKind::Block) return atEnd(node.children);
  const std::vector<NodeId> rest(first + 1, nodes.end());
  b_.loc = locOf(node.span);
  auto arm = [&](size_t k) {
    std::vector<NodeId> all = rest;
    if (k < node.children.size() && types_.kind(instance_.nodes[node.children[k]].type) == TypeKind::Never)
      all.clear();
    if (k < node.children.size()) all.insert(all.begin(), node.children[k]);
    return all.empty() ? unit() : atEnd(std::move(all));
  };
  return after({node.children[0]}, instance_.result, [&](std::vector<ValueId> condition) {
    return branches(Builder::simple(OpKind::If, {condition[0]}),
                    {[&](RegionId) { return arm(1); }, [&](RegionId) { return arm(2); }}, instance_.result, {});
  });
}

} // namespace melix::lower
