#include "transforms/derivatives/backward.h"

#include "types/flat_enums.h"

#include <algorithm>

namespace melix::transforms {

/// Accumulators first, so that seeds that are parameters of g passed through add into them.
void Backward::takeSeeds(Scope& top) {
  const std::vector<ValueId>&params = top.e.fn().params(), &from = g().params();
  const Operands& results = terminator(g().body).operands;
  size_t seeds = 0;
  for (bool b : lin_.linearResults) seeds += b;
  size_t accParam = 1 + seeds, kindAt = 0, param = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!lin_.linear[i]) continue;
    if (lin_.kinds[kindAt++] == CotangentKind::Accumulate) top.cotangents[from[i]] = params[accParam++];
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (lin_.linearResults[i]) addTo(results[i], params[param++]);
}

void Backward::yieldCotangents(Scope& top) {
  const std::vector<ValueId>& from = g().params();
  std::vector<ValueId> out;
  size_t kindAt = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!lin_.linear[i]) continue;
    if (lin_.kinds[kindAt++] == CotangentKind::Reader) continue;
    out.push_back(realCotangent(from[i]));
  }
  top.e.yield(std::move(out));
}

/// The fields of the Saved record are the items of the function's own region.
void Backward::fillSaved(const std::vector<ResidualItem>& items) {
  if (lin_.planned) return;
  lin_.planned = true;
  types::Record& saved = types().recordInfo(lin_.saved);
  types::DimSubst toRecord;
  for (size_t i = 0; i < g().dimParams.size(); ++i)
    toRecord[g().dimParams[i]] = types().dims.symbol(saved.dimParams[i]);
  std::vector<ValueId> before;
  for (const ResidualItem& item : items) {
    TypeId t = types().substitute(item.type, toRecord);
    types::addField(types(), lin_.saved, t);
    lin_.atHand.push_back(atHand(item, before));
    if (lin_.atHand.back()) lin_.atHand.back()->exact = exact_.contains(item.values[0]);
    before.push_back(item.hidden.empty() ? item.values[0] : ValueId());
  }
}

/// Where the caller of g has an item; `before` are the values of those before it.
std::optional<Linearisation::AtHand> Backward::atHand(const ResidualItem& item,
                                                      const std::vector<ValueId>& before) const {
  using AtHand = Linearisation::AtHand;
  if (!item.hidden.empty()) return std::nullopt;
  auto numberIn = [](const auto& list, ValueId v) -> std::optional<uint32_t> {
    const auto at = std::ranges::find(list, v);
    return at == list.end() ? std::nullopt : std::optional(static_cast<uint32_t>(at - list.begin()));
  };
  const ValueId v = item.values[0];
  if (const std::optional<uint32_t> result = numberIn(terminator(g().body).operands, v))
    return AtHand{true, *result, {}, {}, false};
  std::optional<PartOfParam> part = partOfParam(v);
  if (!part) return std::nullopt;
  AtHand out{false, part->param, std::move(part->path), {}, false};
  for (ValueId index : part->indices) {
    const Op* def = definition(index);
    const std::optional<uint32_t> param = numberIn(g().params(), index);
    if (def && def->kind == OpKind::Const)
      out.indices.push_back({AtHand::Index::Kind::Constant, static_cast<int64_t>(def->as<Constant>().bits)});
    else if (param)
      out.indices.push_back({AtHand::Index::Kind::Param, *param});
    else if (const std::optional<uint32_t> other = numberIn(before, index))
      out.indices.push_back({AtHand::Index::Kind::Item, *other});
    else
      return std::nullopt;
  }
  return out;
}

void Backward::build() {
  Emit e(ad_.module, dst_, ad_.module.functions[dst_].body, g().loc);
  Scope top{ScopeKind::Function, g().body, e, nullptr, {}, {}, {}, {}, {}, {}, {}, 0};
  cur_ = &top;
  size_t at = 0;
  const std::vector<DimSym>& dimParams = e.fn().dimParams;
  for (DimSym s : g().dimParams) dims_[s] = types().dims.symbol(dimParams[at++]);
  takeSeeds(top);
  region(top);
  cur_ = &top;
  yieldCotangents(top);

  Roots roots;
  const std::vector<ResidualItem>& items = close(top, roots);
  for (uint32_t k = 0; k < items.size(); ++k) {
    Op get = Emit::simple(OpKind::Get, {ValueId(e.fn().params()[0])});
    get.attr = Path{PathStep{StepKind::Field, k, {}, 1}};
    define(top, roots[k], std::move(get));
  }
  openItems(top, items, roots);
  placePrologue(top);
  fillSaved(items);
  passOn(e.fn().body, itemsPassedOn());
}

/// The items that are parameters, or parts of parameters, which every call of g in g passes on as they are:
/// they are the same in all records of a recursion.
std::vector<uint32_t> Backward::itemsPassedOn() const {
  const std::vector<ValueId>& params = g().params();
  std::vector<bool> isPassed(params.size(), true);
  forEachOp(g(), [&](OpId id) {
    const Op& o = opOf(id);
    if (o.kind != OpKind::Call || o.as<CallAttr>().callee != lin_.source) return;
    for (size_t k = 0; k < params.size(); ++k) isPassed[k] = isPassed[k] && o.operands[k] == params[k];
  });
  using Kind = Linearisation::AtHand::Index::Kind;
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < lin_.atHand.size(); ++k) {
    const std::optional<Linearisation::AtHand>& had = lin_.atHand[k];
    if (had && !had->isResult && isPassed[had->number] &&
        std::ranges::all_of(had->indices, [&](const auto& index) {
          return index.kind == Kind::Constant ||
                 (index.kind == Kind::Param && isPassed[static_cast<size_t>(index.value)]);
        }))
      out.push_back(k);
  }
  return out;
}

/// Calls of backward companions of g itself take these items of the record at hand, rather than of the record
/// that the forward call gave: so a value that all activations share is one value.
void Backward::passOn(RegionId region, std::span<const uint32_t> items) {
  if (items.empty()) return;
  Function& f = ad_.module.functions[dst_];
  auto isOwn = [&](FunctionId callee) {
    return std::ranges::any_of(lin_.backward, [&](const auto& each) { return each.second == callee; });
  };
  const std::vector<OpId> ops = std::exchange(f.regions[region].ops, {});
  for (OpId id : ops) {
    for (RegionId inner : Regions(f.ops[id].regions)) passOn(inner, items);
    if (f.ops[id].kind == OpKind::Call && isOwn(f.ops[id].as<CallAttr>().callee)) {
      Emit e(ad_.module, dst_, region, f.ops[id].loc);
      ValueId saved = f.ops[id].operands[0];
      for (uint32_t k : items) {
        const ValueId own = e.field(f.params()[0], k);
        if (e.typeOf(own) == e.typeOf(e.field(saved, k)))
          saved = e.set(saved, own, {PathStep{StepKind::Field, k, {}, 1}}, {});
      }
      f.ops[id].operands[0] = saved;
    }
    f.regions[region].ops.push_back(id);
  }
}

void buildBackward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs) {
  Backward(ad, lin, accs).build();
}

} // namespace melix::transforms
