// Branches: `if` and the regions of other ops that merge the locals they change.
#include "lower/control.h"

#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

ValueId branches(BodyLowering& fn, core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes,
                 TypeId type, const std::vector<DimSym>& sizes) {
  Values before = fn.values;
  types::DimSubst dimsBefore = fn.sizes.known;
  auto hoistedBefore = fn.hoisting.ahead;
  FlowKind flowBefore = fn.exits.flow;
  RegionId outer = fn.b.region;
  struct Done {
    RegionId region;
    ValueId value;
    Values values;
    FlowKind flow;
    types::DimSubst dims;
  };
  std::vector<Done> done;
  for (const auto& make : makes) {
    RegionId region = fn.b.newRegion();
    fn.b.region = region;
    fn.values = before;
    fn.sizes.known = dimsBefore;
    fn.exits.flow = flowBefore;
    ValueId value = make(region);
    done.push_back({region, value, fn.values, fn.exits.flow, fn.sizes.known});
  }
  fn.sizes.known = dimsBefore;
  fn.hoisting.ahead = hoistedBefore;
  std::set<LocalId> differ;
  for (const Done& d : done) before.forEachDifference(d.values, [&](LocalId local) { differ.insert(local); });
  const std::vector<LocalId> changed(differ.begin(), differ.end());
  // Sizes that the arms decide: those the node says, and those of names bound in an arm.
  std::vector<DimSym> decided = sizes, mentioned, fresh;
  fn.types.collectSymbols(type, mentioned);
  for (DimSym s : mentioned)
    for (const Done& d : done)
      if (d.flow != FlowKind::Off && d.dims.contains(s) && !dimsBefore.contains(s) &&
          std::find(decided.begin(), decided.end(), s) == decided.end())
        decided.push_back(s);
  for (DimSym s : decided) {
    fn.b.region = outer;
    fresh.push_back(fn.b.newDim(fn.types.dims.info(s).name));
    fn.sizes.known[s] = fn.types.dims.symbol(fresh.back());
  }
  bool never = fn.types.kind(type) == TypeKind::Never;
  TypeId result = never ? fn.types.unit() : fn.T(type);
  std::vector<TypeId> resultTypes{result};
  for (LocalId l : changed) resultTypes.push_back(fn.b.fn().typeOf(before.at(l)));
  for (Done& d : done) {
    fn.b.region = d.region;
    types::DimSubst actual;
    fn.matchDims(type, fn.b.typeOf(d.value), actual);
    std::vector<DimId> dims;
    types::DimSubst own = dimsBefore;
    for (DimSym s : decided) {
      DimId dim = fn.types.dims.constant(0);
      if (auto found = actual.find(s); found != actual.end() && d.flow != FlowKind::Off)
        dim = found->second;
      else if (auto bound = d.dims.find(s); bound != d.dims.end() && d.flow != FlowKind::Off)
        dim = bound->second;
      dims.push_back(dim);
      own[s] = dim;
    }
    TypeId want = never ? fn.types.unit() : fn.types.substitute(type, own);
    ValueId value = d.value;
    if (fn.b.typeOf(value) != want)
      value = d.flow == FlowKind::Off || fn.types.isUnit(fn.b.typeOf(value)) || fn.types.isUnit(want)
                  ? (fn.types.isUnit(want) ? fn.unit() : fn.b.undef(want))
                  : fn.cast(value, want);
    std::vector<ValueId> out{value};
    for (size_t k = 0; k < changed.size(); ++k)
      out.push_back(fn.cast(d.values.at(changed[k]), resultTypes[k + 1]));
    fn.b.yield(std::move(out), std::move(dims));
    op.regions.push_back(d.region);
  }
  fn.b.region = outer;
  op.resultDims = fresh;
  core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(resultTypes));
  fn.values = before;
  for (size_t k = 0; k < changed.size(); ++k) fn.values[changed[k]] = fn.b.result(made, k + 1);
  bool allOff = true, anyLeft = false;
  for (const Done& d : done) {
    allOff &= d.flow == FlowKind::Off;
    anyLeft |= d.flow != FlowKind::On;
  }
  // Where nothing records how control leaves, arms that do not end are never reached.
  bool mayHaveLeft = anyLeft && fn.values.contains(fn.exits.code);
  fn.exits.flow = allOff ? FlowKind::Off : mayHaveLeft ? FlowKind::Maybe : FlowKind::On;
  return fn.b.result(made, 0);
}

ValueId lowerIf(BodyLowering& fn, const Node& node) {
  return fn.after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    return branches(
        fn, Builder::simple(OpKind::If, {v[0]}),
        {[&](RegionId) {
           ValueId value = fn.expr(node.children[1]);
           return node.children.size() == 2 && fn.exits.flow != FlowKind::Off ? fn.unit() : value;
         },
         [&](RegionId) { return node.children.size() > 2 ? fn.expr(node.children[2]) : fn.unit(); }},
        node.type, node.resultDims);
  });
}

ValueId lowerShortCircuit(BodyLowering& fn, const Node& node) {
  bool conjunction = node.kind == NodeKind::ShortAnd;
  return fn.after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    std::function<ValueId(RegionId)> right = [&](RegionId) { return fn.expr(node.children[1]); };
    std::function<ValueId(RegionId)> fixed = [&](RegionId) { return fn.b.boolean(!conjunction); };
    return branches(fn, Builder::simple(OpKind::If, {v[0]}),
                    {conjunction ? right : fixed, conjunction ? fixed : right}, fn.types.boolean(), {});
  });
}

/// The function's value, where it ends with `nodes`, whose returns stand at ends.
ValueId atEnd(BodyLowering& fn, std::vector<NodeId> nodes) {
  const auto first =
      std::find_if(nodes.begin(), nodes.end() - 1, [&](NodeId n) { return exitsIn(fn.instance, n); });
  if (first != nodes.begin()) blockFrom(fn, {nodes.begin(), first}, 0, fn.types.unit());
  if (fn.exits.flow == FlowKind::Off) return fn.undef(fn.T(fn.instance.result));
  if (!exitsIn(fn.instance, *first)) return fn.expr(*first);
  const Node& node = fn.instance.nodes[*first];
  if (node.kind == NodeKind::Return) return node.children.empty() ? fn.unit() : atEnd(fn, node.children);
  if (node.kind == NodeKind::Block) return atEnd(fn, node.children);
  const std::vector<NodeId> rest(first + 1, nodes.end());
  fn.b.loc = fn.locOf(node.span);
  auto arm = [&](size_t k) {
    std::vector<NodeId> all = rest;
    if (k < node.children.size() &&
        fn.types.kind(fn.instance.nodes[node.children[k]].type) == TypeKind::Never)
      all.clear();
    if (k < node.children.size()) all.insert(all.begin(), node.children[k]);
    return all.empty() ? fn.unit() : atEnd(fn, std::move(all));
  };
  return fn.after({node.children[0]}, fn.instance.result, [&](std::vector<ValueId> condition) {
    return branches(fn, Builder::simple(OpKind::If, {condition[0]}),
                    {[&](RegionId) { return arm(1); }, [&](RegionId) { return arm(2); }}, fn.instance.result,
                    {});
  });
}

} // namespace melix::lower
