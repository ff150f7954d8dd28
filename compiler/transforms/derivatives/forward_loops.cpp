// Loops and nests in f_fwd: what they do beside tangents, and the items of each iteration or point.

#include "transforms/derivatives/forward.h"
#include "transforms/derivatives/item_lists.h"

namespace melix::transforms {

/// A rematerialised loop: what its parts share.
struct Forward::Loop {
  const Op& o;
  LoopView view;
  const OpResidual* plan;
  std::vector<ValueId> slots{}; ///< values of g that the results stand for
  Op copy{};
  ValueId count{};             ///< of a `while`: iterations so far
  std::vector<ValueId> kept{}; ///< of a `while`: the Lists of their items
  DimSym extent{};             ///< of what is collected
  bool counts() const { return !view.isCounted() && plan; }
  /// Of a `while`: the Lists of its items.
  std::span<const ValueId> lists() const {
    return counts() ? std::span(plan->carriers).subspan(1) : std::span<const ValueId>();
  }
};

void Forward::loopOperands(Loop& l, Emit& e) {
  l.copy = start(l.o);
  l.copy.operands.clear();
  if (l.view.isCounted()) l.copy.operands.push_back(value(l.view.count()));
  for (size_t i = 0; i < l.view.carries(); ++i)
    if (!linear(l.view.carryParams()[i])) {
      l.copy.operands.push_back(value(l.view.carryOperands()[i]));
      l.slots.push_back(l.view.carryResults()[i]);
    }
  if (!l.counts()) return;
  l.copy.operands.push_back(e.i64(0));
  l.slots.push_back(l.plan->carriers[0]);
  for (ValueId list : l.lists()) {
    l.copy.operands.push_back(e.one(Emit::simple(OpKind::ListOf, {}), typeOf(list)));
    l.slots.push_back(list);
  }
}

/// The condition's parameters follow the body's in what is linear.
Emit Forward::openIteration(Loop& l, RegionId from, Emit& e) {
  Emit b = e.in(e.newRegion());
  for (DimSym s : g().regions[from].dimParams) e.fn().regions[b.region].dimParams.push_back(defineDim(s));
  auto param = [&](ValueId own) { values_[own] = b.param(typeOf(own), g().values[own].hint); };
  if (l.view.isCounted()) param(l.view.index());
  for (size_t i = 0; i < l.view.carries(); ++i)
    if (!linear(l.view.carryParams()[i])) param(l.view.carryParams(from)[i]);
  if (l.counts()) {
    l.count = b.param(types().int64());
    l.kept.clear();
    for (ValueId list : l.lists()) l.kept.push_back(b.param(typeOf(list)));
  }
  return b;
}

/// The count and the Lists of items of a `while`, after one more iteration.
void Forward::countIteration(const Loop& l, Emit& b, std::vector<ValueId>& out) {
  out.push_back(b.add(l.count, b.i64(1)));
  if (l.kept.empty()) return;
  const ItemLists lists = itemListsOf(types(), *planned(l.view.body()));
  const std::vector<ValueId> saved = items(l.view.body(), b);
  size_t next = 0;
  if (!lists.records.empty()) {
    std::vector<ValueId> parts;
    std::vector<TypeId> partTypes;
    for (size_t k : lists.records) {
      parts.push_back(saved[k]);
      partTypes.push_back(b.typeOf(saved[k]));
    }
    const ValueId element = parts.size() == 1 ? parts[0] : b.make(types().tuple(partTypes), parts);
    const ValueId list = l.kept[next++];
    out.push_back(b.one(Emit::simple(OpKind::Push, {list, element}), b.typeOf(list)));
  }
  for (const ItemLists::Row& row : lists.rows) {
    ValueId list = l.kept[next++];
    for (const ItemLists::Part& part : row.parts) list = pushLeaf(b, list, saved[part.item], part.leaf);
    out.push_back(list);
  }
}

/// What a `for` collects: the source's values, then the items.
void Forward::collectIteration(Loop& l, Emit& b, std::vector<ValueId>& out) {
  const size_t carried = out.size();
  for (size_t i = 0; i < l.view.stacks(); ++i)
    if (const ValueId stack = l.view.stackResults()[i]; !linear(stack)) {
      out.push_back(value(l.view.stackYields()[i]));
      l.slots.push_back(stack);
    }
  if (l.plan)
    for (ValueId v : items(l.view.body(), b)) out.push_back(v);
  l.copy.attr = LoopAttr{static_cast<uint32_t>(out.size() - carried)};
}

/// Sizes of the copy; that of what is collected is there only where something is.
void Forward::loopSizes(Loop& l, Emit& e) {
  const DimSym had = l.view.extent();
  const bool has = l.view.isCounted() && l.copy.as<LoopAttr>().collects > 0;
  if (has) {
    const DimSym like = had.valid() ? had : l.plan->count;
    l.extent = like.valid() ? defineDim(like) : types().dims.newSym({"n", types::DimSymKind::Unknown, 0, {}});
    l.copy.resultDims.push_back(l.extent);
  }
  for (DimSym s : l.view.resultDims()) l.copy.resultDims.push_back(defineDim(s));
  if (!had.valid() || has) return;
  ValueId n = e.binary(OpKind::Max, value(l.view.count()), e.i64(0));
  Op bindDim = Emit::simple(OpKind::BindDim, {n});
  bindDim.resultDims.push_back(defineDim(had));
  e.append(std::move(bindDim), std::span<const TypeId>());
}

void Forward::loop(OpId id, Emit& e) {
  const Op& o = opOf(id);
  Loop l{o, LoopView(g(), o), planned(id)};
  loopOperands(l, e);
  for (RegionId from : o.regions) {
    Emit b = openIteration(l, from, e);
    region(from, b);
    const Op& y = terminator(from);
    std::vector<ValueId> out;
    if (from != l.view.body()) {
      out.push_back(value(y.operands[0]));
    } else {
      for (size_t i = 0; i < l.view.carries(); ++i)
        if (!linear(l.view.carryParams()[i])) out.push_back(value(l.view.carryYields()[i]));
      if (l.counts()) countIteration(l, b, out);
      if (l.view.isCounted()) collectIteration(l, b, out);
    }
    b.yield(std::move(out), dimsOf(y.dims));
    l.copy.regions.push_back(b.region);
  }
  loopSizes(l, e);
  if (l.view.isCounted() && l.plan)
    l.slots.insert(l.slots.end(), l.plan->carriers.begin(), l.plan->carriers.end());
  std::vector<TypeId> t;
  const size_t items = l.view.isCounted() && l.plan ? l.plan->carriers.size() : 0;
  for (size_t i = 0; i < l.slots.size(); ++i)
    t.push_back(i + items < l.slots.size() ? typeOf(l.slots[i]) : extended(l, typeOf(l.slots[i])));
  OpId made = e.append(std::move(l.copy), t);
  for (size_t i = 0; i < l.slots.size(); ++i)
    values_[l.slots[i]] = e.castDims(e.result(made, i), typeOf(l.slots[i]));
}

/// The type of an array of items at the extent that the loop itself defines.
TypeId Forward::extended(const Loop& l, TypeId array) {
  const types::Type t = types()[array];
  std::vector<DimId> dims = t.dims;
  dims[0] = types().dims.symbol(l.extent);
  return types().array(t.parts[0], dims);
}

/// Axes and accumulators. An accumulator that begins with a known zero and takes tangents is linear all the
/// same.
void Forward::openNest(const Op& o, const NestView& view, NestBuilder& made) {
  auto bind = [&](ValueId param, ValueId own) { values_[param] = own; };
  auto hint = [&](ValueId param) { return g().values[param].hint; };
  for (size_t a = 0; a < view.axes(); ++a) {
    const ValueId param = view.axisParams()[a];
    bind(param, made.axis(dim(o.dims[a]), hint(param)));
  }
  for (uint32_t i = 0; i < view.accs(); ++i) {
    if (linear(view.accResults()[i])) continue;
    const ValueId param = view.accParams()[i];
    bind(param, made.accumulator(value(view.accOperands()[i]), hint(param)));
  }
}

/// Results that are known; gives the values of g that they stand for.
std::vector<ValueId> Forward::nestResults(const NestView& view, NestBuilder& made, Emit& e) {
  std::vector<ValueId> slots;
  for (const NestPart& part : view.parts()) {
    if (linear(view.results(part)[0])) continue;
    NestOwn own{known(view.units(part)), view.combine(part), view.size(part)};
    if (RegionId from = own.combine; from.valid()) {
      Emit c = open(from, e);
      region(from, c);
      c.yield(known(terminator(from).operands));
      own.combine = c.region;
    }
    if (own.size.valid()) own.size = defineDim(own.size);
    made.add(*part.spec, known(view.yields(part)), own);
    slots.insert(slots.end(), view.results(part).begin(), view.results(part).end());
  }
  return slots;
}

void Forward::nest(OpId id, Emit& e) {
  const Op& o = opOf(id);
  const NestView view(g(), o);
  NestBuilder made(e);
  openNest(o, view, made);
  Emit b = e.in(made.body());
  region(view.body(), b);
  std::vector<ValueId> slots = nestResults(view, made, e);
  if (const OpResidual* plan = planned(id)) { // the items of every point
    for (ValueId v : items(view.body(), b)) made.collect(v);
    slots.insert(slots.end(), plan->carriers.begin(), plan->carriers.end());
  }
  for (uint32_t i = 0; i < view.accs(); ++i)
    if (!linear(view.accResults()[i])) {
      made.end(value(view.accYields()[i]));
      slots.push_back(view.accResults()[i]);
    }
  OpId op = made.finish();
  for (size_t i = 0; i < slots.size(); ++i) values_[slots[i]] = e.result(op, i);
}

} // namespace melix::transforms
