#include "transforms/batch/chosen_sides.h"

#include "core/ir/walk.h"
#include "core/order/order.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/row_groups.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

ChosenSides::ChosenSides(Module& m, FunctionId f, OpId nest, OpId part, const Effects& effects,
                         const Costs& costs)
    : m_(m), f_(f), nest_(nest), body_(fn().ops[nest].regions[0]), effects_(effects), costs_(costs),
      rows_(m, f, nest, effects) {
  const std::vector<ChosenProduct> all = chosenProducts(m, f, nest, effects);
  const auto first = std::ranges::find(all, part, &ChosenProduct::part);
  if (first == all.end() || fn().ops[part].kind != OpKind::Nest) return;
  const std::unordered_set<OpId> here(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
  auto isHere = [&](ValueId v) { return here.contains(fn().values[v].def); };
  if (!std::ranges::all_of(first->choice, isHere)) return;
  choice_ = first->choice;
  extents_ = first->extents;
  std::vector<OpId> products;
  for (const ChosenProduct& each : all) {
    if (each.choice != choice_ || fn().ops[each.part].kind != OpKind::Nest) continue;
    products.push_back(each.part);
    isRead_.insert(each.reads.begin(), each.reads.end());
  }
  findMoved(products);
}

/// The products, and the ops that one needs and that need another.
void ChosenSides::findMoved(std::span<const OpId> products) {
  const std::vector<OpId>& ops = fn().regions[body_].ops;
  std::unordered_set<OpId> after(products.begin(), products.end()), before = after;
  for (OpId id : ops)
    if (std::ranges::any_of(needsOf(id), [&](ValueId v) { return after.contains(fn().values[v].def); }))
      after.insert(id);
  for (size_t k = ops.size(); k-- > 0;)
    if (before.contains(ops[k]))
      for (ValueId v : needsOf(ops[k])) before.insert(fn().values[v].def);
  for (OpId id : ops)
    if (before.contains(id) && after.contains(id)) isMoved_.insert(id);
  if (!givesOwnNeeds()) return;
  std::unordered_set<OpId> first;
  for (OpId id : products)
    if (std::ranges::none_of(needsOf(id), [&](ValueId v) { return isMoved_.contains(fn().values[v].def); }))
      first.insert(id);
  isMoved_ = std::move(first);
}

/// Whether moved ops need a value that others need too. It would be stored twice, for the group and for all.
bool ChosenSides::givesOwnNeeds() const {
  const std::vector<ValueId> made = given();
  return std::ranges::any_of(isMoved_, [&](OpId id) {
    return std::ranges::any_of(needsOf(id),
                               [&](ValueId v) { return std::ranges::find(made, v) != made.end(); });
  });
}

/// Values that an op needs, with the ops in its regions.
std::vector<ValueId> ChosenSides::needsOf(OpId id) const {
  std::vector<ValueId> out;
  auto add = [&](OpId each) {
    out.insert(out.end(), fn().ops[each].operands.begin(), fn().ops[each].operands.end());
  };
  add(id);
  for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, add);
  return out;
}

/// Values of the body that the copied ops need of others, and the choice.
std::vector<ValueId> ChosenSides::needs() const {
  std::vector<ValueId> out = choice_;
  const std::vector<OpId>& ops = fn().regions[body_].ops;
  const std::unordered_set<OpId> here(ops.begin(), ops.end());
  for (OpId id : ops)
    if (isCopied(id))
      for (ValueId v : needsOf(id))
        if (const OpId def = fn().values[v].def; def.valid() && here.contains(def) && !isCopied(def))
          out.push_back(v);
  return out;
}

/// Values that the moved ops make for others.
std::vector<ValueId> ChosenSides::given() const {
  std::vector<ValueId> out;
  for (OpId id : fn().regions[body_].ops)
    if (!isMoved_.contains(id))
      for (ValueId v : needsOf(id))
        if (isMoved_.contains(fn().values[v].def) && std::ranges::find(out, v) == out.end()) out.push_back(v);
  return out;
}

Refused ChosenSides::refusal() const {
  const AxisVariance body = variance();
  const std::vector<ValueId> needed = needs(), made = given();
  auto mayStore = [&](ValueId v) { return canBeStored(m_, fn(), body_, v); };
  if (made.empty()) return Refusal{BatchingKind::GivesNothing};
  for (OpId id : fn().regions[body_].ops) {
    if (!isCopied(id)) continue;
    if (!body.axesOf(id)) return Refusal{BatchingKind::LateValue, fn().ops[id].loc};
    if (!fn().ops[id].resultDims.empty() || !knowsSizes(m_, fn(), body_, id, {}))
      return Refusal{BatchingKind::OwnSize};
  }
  if (const Refused late = lateAmong(fn(), body, needed)) return late;
  const bool mayAll = std::ranges::all_of(storedFor(fn(), costs_, body_, needed), mayStore) &&
                      std::ranges::all_of(made, mayStore);
  return mayAll ? Refused() : Refusal{BatchingKind::OwnSize};
}

/// Appends a nest that makes values, and expensive ones on the way to them that others need as well.
void ChosenSides::store(Builder& b, std::span<const ValueId> live) const {
  std::vector<ValueId> values(live.begin(), live.end());
  const std::vector<OpId> slice = variance().slice(values);
  std::unordered_set<ValueId> usedElsewhere;
  for (OpId id : fn().regions[body_].ops)
    if (std::ranges::find(slice, id) == slice.end())
      for (ValueId v : needsOf(id)) usedElsewhere.insert(v);
  for (OpId id : slice) {
    const Op& op = fn().ops[id];
    const bool isCheap = op.regions.empty() && op.kind != OpKind::Call && !isExpensive(costs_.ofOp(id));
    auto isShared = [&](ValueId v) { return usedElsewhere.contains(v); };
    auto isMore = [&](ValueId v) {
      return std::ranges::find(values, v) == values.end() && canBeStored(m_, fn(), body_, v);
    };
    if (!isCheap && std::ranges::any_of(op.results, isShared) && std::ranges::all_of(op.results, isMore))
      values.insert(values.end(), op.results.begin(), op.results.end());
  }
  distribute(b, nest_, {AxisSet::first(fn().ops[nest_].dims.size()), slice, values});
}

bool ChosenSides::storeChoice(Builder& b) {
  const std::vector<ValueId> live = storedFor(fn(), costs_, body_, choice_);
  if (live.empty()) return false;
  const std::vector<OpId> slice = variance().slice(live);
  for (OpId id : fn().regions[body_].ops) {
    if (fn().ops[id].kind == OpKind::Check) return false;
    if (id == slice.back()) break;
  }
  store(b, live);
  return true;
}

void ChosenSides::group(Builder& b) {
  if (const std::vector<ValueId> live = storedFor(fn(), costs_, body_, needs()); !live.empty())
    store(b, live);
  const ValueId keys = collectKeys(b);
  Op branch = Builder::simple(OpKind::If, {RowGroups::areWorth(b, rows_.count(), choices(b, extents_))});
  Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
  const std::vector<ValueId> groups = grouped(yes, keys), rows = rowByRow(no);
  std::vector<TypeId> types;
  for (ValueId v : rows) types.push_back(b.typeOf(v));
  yes.yield(Operands(groups.begin(), groups.end()));
  no.yield(Operands(rows.begin(), rows.end()));
  branch.regions = {yes.region, no.region};
  const Results results = fn().ops[b.append(std::move(branch), types)].results;
  const std::vector<ValueId> made = given();
  const std::span<const ValueId> arrays = std::span(results).first(made.size());
  separateResults(b, results.back(), made, arrays);
  readBy(results.back(), arrays);
}

/// By row: one number for its choice.
ValueId ChosenSides::collectKeys(Builder& b) const {
  RowNest rows = rows_.openWith(b, rows_.all(), choice_);
  Builder in = b.in(rows.nest.body());
  std::vector<ValueId> own;
  for (ValueId v : choice_) own.push_back(rows.copy.value(v));
  rows.nest.collect(choiceKey(in, own, extents_));
  return rows.nest.one();
}

/// What the moved ops give, group by group, and where rows stand in it.
std::vector<ValueId> ChosenSides::grouped(Builder& b, ValueId keys) const {
  const DimId count = rows_.count();
  const RowGroups groups(b, keys, count, choices(b, extents_));
  std::vector<ValueId> begun;
  for (ValueId v : given())
    begun.push_back(b.zero(nestResultType(m_.types, collecting(1), std::span(&count, 1), fn().typeOf(v))));
  std::vector<ValueId> out = groups.forEach(b, begun, [&](Builder& in, const RowGroups::Group& group) {
    const std::vector<ValueId> rows = resultsOf(in, group.rows, choiceOfKey(in, group.key, extents_));
    std::vector<ValueId> all;
    for (size_t k = 0; k < rows.size(); ++k)
      all.push_back(in.set(group.carried[k], rows[k], {PathStep{StepKind::Slice, 0, group.rows.size, 1}},
                           std::span(&group.from, 1)));
    return all;
  });
  out.push_back(groups.ranks());
  return out;
}

std::vector<ValueId> ChosenSides::rowByRow(Builder& b) const {
  std::vector<ValueId> out = resultsOf(b, rows_.all(), {});
  NestBuilder numbers(b);
  numbers.collect(numbers.axis(rows_.count()));
  out.push_back(numbers.one());
  return out;
}

/// What the moved ops give for rows that have chosen so, if that is known.
std::vector<ValueId> ChosenSides::resultsOf(Builder& b, const RowSet& set,
                                            std::span<const ValueId> chosen) const {
  RowNest rows = rows_.open(b, set);
  Builder in = b.in(rows.nest.body());
  std::unordered_set<OpId> copied(isMoved_.begin(), isMoved_.end());
  copied.insert(isRead_.begin(), isRead_.end());
  for (OpId id : variance().slice(needs())) copied.insert(id);
  for (size_t k = 0; k < chosen.size(); ++k) {
    copied.erase(fn().values[choice_[k]].def);
    rows.copy.values[choice_[k]] = chosen[k];
  }
  // What is read by the choice alone is the same for the group.
  const std::vector<OpId> ops = fn().regions[body_].ops;
  std::unordered_set<OpId> varying(ops.begin(), ops.end());
  if (!chosen.empty())
    for (ValueId v : choice_) varying.erase(fn().values[v].def);
  auto varies = [&](ValueId v) {
    const Value& value = fn().values[v];
    return value.def.valid() ? varying.contains(value.def) : value.region == body_;
  };
  for (OpId id : ops) {
    if (!copied.contains(id)) continue;
    const bool isSame = isRead_.contains(id) && std::ranges::none_of(needsOf(id), varies);
    if (isSame) varying.erase(id);
    rows.copy.op(id, isSame ? b : in);
  }
  for (ValueId v : given()) rows.nest.collect(rows.copy.value(v));
  const OpId made = rows.nest.finish();
  sumInChains(made);
  return {fn().ops[made].results.begin(), fn().ops[made].results.end()};
}

void ChosenSides::sumInChains(OpId nest) const {
  forEachOp(fn(), fn().ops[nest].regions[0], [&](OpId id) {
    if (fn().ops[id].kind != OpKind::Nest) return;
    Op& op = fn().ops[id];
    const NestView view(fn(), op);
    for (const NestPart& part : view.parts())
      if (part.spec->kind == NestResultKind::Reduce && part.spec->keep.size() < view.axes() &&
          isOrdered(part.spec->monoid, OrderKind::Chain, m_.types.kind(fn().typeOf(view.yields(part)[0]))))
        resultOf(op, part).order = OrderKind::Chain;
  });
}

/// Results of the nest that a row only reads get a nest of their own, which can be fused with its readers.
void ChosenSides::separateResults(Builder& b, ValueId ranks, std::span<const ValueId> made,
                                  std::span<const ValueId> results) const {
  std::vector<std::pair<uint32_t, ValueId>> found;
  const NestView view(fn(), fn().ops[nest_]);
  for (const NestPart& part : view.parts()) {
    const auto at = std::ranges::find(made, view.yields(part)[0]);
    if (part.spec->kind == NestResultKind::Collect && at != made.end() &&
        std::ranges::is_sorted(part.spec->keep))
      found.emplace_back(part.results.first, results[static_cast<size_t>(at - made.begin())]);
  }
  for (const auto& [number, array] : found) {
    RowNest rows = rows_.open(b);
    Builder in = b.in(rows.nest.body());
    const ValueId position = rows_.positionOf(in, rows.copy), rank = in.getAt(ranks, std::span(&position, 1));
    rows.nest.collect(in.getAt(array, std::span(&rank, 1)));
    const ValueId old = fn().ops[nest_].results[number];
    fn().ops[nest_].results[number] = fn().values.add(Value(fn().values[old]));
    takeOver(fn(), rows.nest.finish(), std::span(&old, 1));
  }
}

/// Reads of the results stand for the moved ops.
void ChosenSides::readBy(ValueId ranks, std::span<const ValueId> results) {
  const std::vector<ValueId> made = given();
  const std::vector<OpId> ops = std::exchange(fn().regions[body_].ops, {});
  Builder in(m_, f_, body_, fn().ops[nest_].loc);
  const ValueId position = rows_.positionOf(in), rank = in.getAt(ranks, std::span(&position, 1));
  for (size_t k = 0; k < made.size(); ++k) {
    const ValueId read = in.getAt(results[k], std::span(&rank, 1));
    takeOver(fn(), fn().values[read].def, std::span(&made[k], 1));
  }
  std::ranges::copy_if(ops, std::back_inserter(fn().regions[body_].ops),
                       [&](OpId id) { return !isMoved_.contains(id); });
}

} // namespace melix::transforms
