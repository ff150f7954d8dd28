// The adds of rows at places that they choose.
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/chosen_products.h"
#include "transforms/batch/row_adds.h"
#include "transforms/batch/row_groups.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

bool RowAdds::anyChosen() const {
  return std::ranges::any_of(adds_, [&](OpId id) { return !choiceOf(id).empty() || addsToChosen(id); });
}

/// Whether points of a row add matrices of rows at places that they read.
bool RowAdds::addsToChosen(OpId id) const {
  if (!isRowOfAdds(id)) return false;
  const std::vector<OpId>& ops = fn().regions[fn().ops[id].regions[0]].ops;
  auto isRead = [&](ValueId v) {
    const OpId def = fn().values[v].def;
    return def.valid() && fn().ops[def].kind == OpKind::Get && std::ranges::find(ops, def) != ops.end();
  };
  return std::ranges::any_of(ops, [&](OpId each) {
    const Op& op = fn().ops[each];
    if (!isPoint(each)) return false;
    const OpId def = fn().values[op.operands[1]].def;
    return def.valid() && isOuter(fn().ops[def]) && isLarge(op.operands[1]) &&
           std::ranges::any_of(std::span(op.operands).subspan(2), isRead);
  });
}

/// Whether a matrix is one that tiles compute, as far as is known.
bool RowAdds::isLarge(ValueId matrix) const {
  const std::optional<int64_t> points =
      m_.types.dims.asConstant(m_.types.dims.product(m_.types[fn().typeOf(matrix)].dims));
  return !points || *points > fewPoints;
}

/// The indices of an add of a matrix of rows that differ from row to row; none if rows choose no place.
std::vector<ValueId> RowAdds::choiceOf(OpId add) const {
  const Op& op = fn().ops[add];
  std::vector<ValueId> out;
  if (!isPoint(add)) return out;
  const auto isCopied = isCopied_.find(fn().values[op.operands[1]].def);
  if (isCopied == isCopied_.end() || !isCopied->second || !isLarge(op.operands[1])) return out;
  for (ValueId v : std::span(op.operands).subspan(2))
    if (std::ranges::find(stored_, v) != stored_.end() && std::ranges::find(out, v) == out.end())
      out.push_back(v);
  return out;
}

/// The sizes of the axes of the accumulator that the choice is of.
std::vector<DimId> RowAdds::extentsOf(OpId add) const {
  const Op& op = fn().ops[add];
  const std::vector<ValueId> choice = choiceOf(add);
  std::vector<DimId> out(choice.size());
  size_t operand = 2;
  Path before;
  for (const PathStep& step : op.as<Path>()) {
    if (step.kind == StepKind::Index) {
      const TypeId sum = m_.types[fn().typeOf(op.operands[0])].parts[0];
      const auto at = std::ranges::find(choice, op.operands[operand++]);
      if (at != choice.end())
        out[static_cast<size_t>(at - choice.begin())] = m_.types[*pathType(m_.types, sum, before)].dims[0];
    }
    before.push_back(step);
  }
  return out;
}

/// Of rows that choose the same place, all adds go there: they are a sum over these rows.
void RowAdds::emitByChoice(Builder& b, DimId rows, OpId add, std::span<const ValueId> arrays,
                           std::vector<ValueId>& sums) const {
  const std::vector<ValueId> choice = choiceOf(add);
  const std::vector<DimId> extents = extentsOf(add);
  const size_t sum = sumOf_.at(fn().ops[add].operands[0]);
  Op branch = Builder::simple(OpKind::If, {RowGroups::areWorth(b, rows, choices(b, extents))});
  Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
  const ValueId begun = begunIn(yes, sums[sum]);
  yes.yield({RowGroups(yes, keysOf(yes, rows, choice, extents, arrays), rows, choices(b, extents))
                 .forEach(yes, std::span(&begun, 1), [&](Builder& in, const RowGroups::Group& group) {
                   const std::vector<ValueId> chosen = choiceOfKey(in, group.key, extents);
                   std::unordered_map<ValueId, ValueId> known;
                   for (size_t k = 0; k < choice.size(); ++k) known[choice[k]] = chosen[k];
                   std::vector<ValueId> own = sums;
                   own[sum] = group.carried[0];
                   emitGroup(in, group.rows, std::span(&add, 1), arrays, own, known);
                   return std::vector{own[sum]};
                 })[0]});
  sums[sum] = begunIn(no, sums[sum]);
  emitGroup(no, {{}, rows}, std::span(&add, 1), arrays, sums);
  no.yield({sums[sum]});
  branch.regions = {yes.region, no.region};
  sums[sum] = b.one(std::move(branch), b.typeOf(begun));
}

/// What an accumulator begins with, in an arm: zeros are made where they are added to.
ValueId RowAdds::begunIn(Builder& arm, ValueId sum) const {
  const OpId def = fn().values[sum].def;
  return def.valid() && fn().ops[def].kind == OpKind::Zero ? arm.zero(fn().typeOf(sum)) : sum;
}

/// By row: one number for its choice.
ValueId RowAdds::keysOf(Builder& b, DimId rows, std::span<const ValueId> choice,
                        std::span<const DimId> extents, std::span<const ValueId> arrays) const {
  NestBuilder nest(b);
  const ValueId row = nest.axis(rows);
  Builder in = b.in(nest.body());
  std::vector<ValueId> own;
  for (ValueId v : choice) {
    const auto at = static_cast<size_t>(std::ranges::find(stored_, v) - stored_.begin());
    own.push_back(in.getAt(arrays[at], std::span(&row, 1)));
  }
  nest.collect(choiceKey(in, own, extents));
  return nest.one();
}

} // namespace melix::transforms
