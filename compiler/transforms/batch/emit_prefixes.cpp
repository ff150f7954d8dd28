// Rows of their own trip counts, in the order of falling counts: iteration t works on the first rows, those
// that have more than t.
//
//   %c = nest (b: B) -> collect[b] { … the count of row b … }
//   %order = argsort %c, falling       %most = the greatest of %c, or 0
//   %h, %s = for %most, %h0, undef, 0 { (%t, %h, %s, %from)
//     %m = nest (b: B) -> sum { get %c[%b] > %t }
//     %g = nest (i: %m) -> collect[i] { %b = get %order[%i] … get %h[%i] … }
//     yield (set %h[0 +: %m] = %g), (set %s[%from +: %m] = %g), %from + %m, collected %from }
//
// What iterations stack is stored by iterations: the row of the i-th row of `order` in iteration t stands at
// from[t] + i. If rows read arrays from their end, they all end together: the last iteration is the last of
// each row, and the number of rows grows. Then more of what they read stands side by side.

#include "core/analysis/affine.h"
#include "core/ir/walk.h"
#include "transforms/batch/batched_loop.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Of an index in an iteration: it is `factor` times the index of the iteration and `counts` times the trip
/// count, and a constant.
struct IndexOfTrips {
  int64_t factor, counts, constant;
};

std::optional<IndexOfTrips> indexOfTrips(const types::DimStore& dims, const Function& f, ValueId v,
                                         const LoopView& loop) {
  if (loop.count() == v || loop.index() == v) return std::nullopt;
  const std::optional<AffineForm> form =
      affineForm(dims, f, v,
                 {.isAxis = [&](ValueId each) { return each == loop.index() || each == loop.count(); },
                  .isOutside = [](ValueId) { return true; }});
  if (!form || !form->outside.empty() || !form->dims.empty()) return std::nullopt;
  IndexOfTrips out{0, 0, form->constant};
  for (const auto& [axis, factor] : form->axes) (axis == loop.index() ? out.factor : out.counts) = factor;
  return out;
}

} // namespace

/// Whether more places are the same for all rows if rows end together than if they begin so.
bool BatchedLoop::endTogether() const {
  const LoopView loop = view();
  int64_t more = 0;
  forEachOp(fn(), loop.body(), [&](OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Get) return;
    for (size_t k = 1; k < op.operands.size(); ++k) {
      const ValueId v = op.operands[k];
      if (v == loop.index()) --more;
      const std::optional<IndexOfTrips> index = indexOfTrips(m_.types.dims, fn(), v, loop);
      if (!index || index->factor == 0) continue;
      if (index->counts == 0) --more;
      if (index->counts == -index->factor) ++more;
    }
  });
  return more > 0;
}

struct BatchedLoop::Prefixes {
  ValueId counts, order, most;
  DimId stackedRows; ///< all iterations of all rows
  bool endTogether = false;
};

struct BatchedLoop::Prefix {
  std::vector<ValueId> columns, stacks; ///< what the adds need is stacked too
  std::vector<ValueId> sums;            ///< of accumulators that it adds to itself
  Path part;
  ValueId size; ///< how many rows there are
  std::optional<RowAdds> adds;
};

BatchedLoop::Prefixes BatchedLoop::prefixes(Builder& b) const {
  Prefixes out;
  const ValueId count = view().count();
  RowNest rows = rows_.openWith(b, rows_.all(), std::span(&count, 1));
  Builder in = b.in(rows.nest.body());
  rows.nest.collect(in.binary(OpKind::Max, rows.copy.value(count), in.integer(0)));
  out.counts = rows.nest.one();
  out.order = b.one(Builder::simple(OpKind::ArgSort, {out.counts}, uint32_t(1)), b.typeOf(out.counts));
  auto reduced = [&](ops::MonoidKind monoid) {
    NestBuilder all(b);
    const ValueId at = all.axis(rows_.count());
    Builder each = b.in(all.body());
    all.add(reducing(monoid), each.getAt(out.counts, std::span(&at, 1)));
    return all.one();
  };
  out.most = reduced(ops::MonoidKind::Max);
  if (view().stacks() > 0 || addsToSums())
    out.stackedRows = m_.types.dims.symbol(b.bindDim(reduced(ops::MonoidKind::Sum), "rows"));
  out.endTogether = endTogether();
  return out;
}

OpId BatchedLoop::aroundPrefixes(Builder& b) {
  const Op loop = fn().ops[loop_];
  const LoopView view(fn(), loop);
  const Prefixes p = prefixes(b);
  const RowSet all{p.order, rows_.count()};
  Op made = Builder::simple(OpKind::For, {p.most}, LoopAttr{});
  made.loc = loop.loc;
  for (ValueId v : begun(b, &all)) made.operands.push_back(v);
  const size_t columns = columns_.size();
  // Sums go around where an iteration adds; else all iterations' terms are stacked, and added after the loop.
  std::vector<ValueId> sums = sumsBegun();
  const bool areCarried = !addsAreAlone();
  if (areCarried) made.operands.insert(made.operands.end(), sums.begin(), sums.end());

  // The types of what is stacked show when the iteration is there: it takes the stacks as parameters.
  Builder in = b.in(b.newRegion());
  const ValueId index = in.param(m_.types.int64(), fn().values[view.index()].hint);
  const std::vector<ValueId> carried = enterParams(in, std::span(made.operands).subspan(1));
  const std::span<const ValueId> params(carried);
  const std::span<const ValueId> summed = params.subspan(columns);
  Prefix prefix = emitPrefix(in, p, index, params.first(columns),
                             areCarried ? std::vector<ValueId>(summed.begin(), summed.end()) : sums);
  std::vector<ValueId> stacks = std::move(prefix.stacks);
  Operands yields(prefix.columns.begin(), prefix.columns.end());
  if (areCarried) yields.insert(yields.end(), prefix.sums.begin(), prefix.sums.end());
  const size_t fixed = yields.size();
  if (!stacks.empty()) {
    const ValueId from = in.param(m_.types.int64());
    made.operands.push_back(b.integer(0));
    yields.push_back(in.binary(OpKind::Add, from, prefix.size));
    for (ValueId rows : stacks) {
      made.operands.push_back(b.zero(resized(in.typeOf(rows), p.stackedRows)));
      const ValueId stack = in.param(in.typeOf(made.operands.back()));
      yields.push_back(in.set(stack, rows, prefix.part, std::span(&from, 1)));
    }
    yields.push_back(from);
    made.as<LoopAttr>().collects = 1;
    made.resultDims = {b.newDim("n")};
  }
  std::vector<TypeId> types;
  for (ValueId v : std::span(made.operands).subspan(1)) types.push_back(b.typeOf(v));
  in.yield(yields);
  made.regions = {in.region};
  if (!stacks.empty()) types.push_back(stacked(m_.types.dims.symbol(made.resultDims[0]), m_.types.int64()));
  const OpId id = b.append(std::move(made), types);
  rank_ = rankOf(b, p);
  ends_ = p.endTogether ? p.most : ValueId();
  const std::vector<ValueId> results(fn().ops[id].results.begin(), fn().ops[id].results.end());
  const std::span<const ValueId> given(results);
  if (areCarried)
    sums.assign(results.begin() + static_cast<ptrdiff_t>(columns),
                results.begin() + static_cast<ptrdiff_t>(fixed));
  if (prefix.adds)
    prefix.adds->emit(b, p.stackedRows,
                      given.subspan(fixed + 1 + view.stacks(), prefix.adds->stored().size()), sums);
  give(results, sums);
  for (size_t k = 0; k < view.stacks(); ++k) given_.push_back(results[fixed + 1 + k]);
  if (!stacks.empty()) from_ = results.back();
  return id;
}

/// An iteration of the rows that it has.
BatchedLoop::Prefix BatchedLoop::emitPrefix(Builder& in, const Prefixes& p, ValueId index,
                                            std::span<const ValueId> carried,
                                            std::vector<ValueId> sums) const {
  const LoopView loop = view();
  const ValueId one = in.integer(1), zero = in.integer(0), last = in.binary(OpKind::Sub, p.most, one),
                turn = p.endTogether ? in.binary(OpKind::Sub, last, index) : index;
  NestBuilder more(in);
  const ValueId at = more.axis(rows_.count());
  Builder each = in.in(more.body());
  more.add(reducing(ops::MonoidKind::Sum),
           each.select(each.compare(ops::CmpKind::Gt, each.getAt(p.counts, std::span(&at, 1)), turn),
                       each.integer(1), each.integer(0)));
  const ValueId size = more.one();
  const DimId extent = m_.types.dims.symbol(in.bindDim(size, "m"));
  const Cloner places = placesAt(in, index);
  RowNest rows = rows_.openWith(in, {p.order, extent}, needs_);
  Builder row = in.in(rows.nest.body());
  rows.copy.values[loop.index()] = index;
  if (p.endTogether) {
    rows.copy.values[loop.index()] =
        row.binary(OpKind::Add, row.binary(OpKind::Sub, index, p.most), rows.copy.value(loop.count()));
    placeFromEnd(in, rows.copy, turn);
  }
  enterCarries(rows, row, loop.carryParams(), carried, rows.indices);
  Iteration made = endIteration(rows, in, sums);

  Prefix out{{}, {}, std::move(sums), {PathStep{StepKind::Slice, 0, extent, 1}}, size, {}};
  out.columns = carryOn(in, places, made, carried, out.part, std::span(&zero, 1));
  out.stacks.assign(made.given.end() - static_cast<ptrdiff_t>(loop.stacks()), made.given.end());
  out.stacks.insert(out.stacks.end(), made.stored.begin(), made.stored.end());
  if (made.adds) out.adds.emplace(std::move(*made.adds));
  return out;
}

/// Where rows end together, an index that counts from the end of a row is the same for all: `left` is the
/// number of iterations after this one.
void BatchedLoop::placeFromEnd(Builder& in, Cloner& copy, ValueId left) const {
  const LoopView loop = view();
  std::unordered_map<OpId, ValueId> same;
  for (OpId id : fn().regions[loop.body()].ops) {
    const Op& op = fn().ops[id];
    if (op.results.size() != 1 || m_.types.kind(fn().typeOf(op.results[0])) != TypeKind::I64) continue;
    const std::optional<IndexOfTrips> index = indexOfTrips(m_.types.dims, fn(), op.results[0], loop);
    if (index && index->factor == -1 && index->counts == 1)
      same[id] = in.binary(OpKind::Add, left, in.integer(index->constant + 1));
  }
  copy.instead = [this, &copy, same](OpId id, Builder&) {
    const auto by = same.find(id);
    if (by != same.end()) copy.values[fn().ops[id].results[0]] = by->second;
    return by != same.end();
  };
}

/// By position: where the row stands in the order.
ValueId BatchedLoop::rankOf(Builder& b, const Prefixes& p) const {
  const TypeId type = b.typeOf(p.order);
  Op made = Builder::simple(OpKind::For, {b.dimValue(rows_.count()), b.zero(type)}, LoopAttr{});
  Builder in = b.in(b.newRegion());
  const ValueId at = in.param(m_.types.int64()), rank = in.param(type);
  const ValueId position = in.getAt(p.order, std::span(&at, 1));
  in.yield({in.set(rank, at, {PathStep{StepKind::Index, 0, {}, 1}}, std::span(&position, 1))});
  made.regions = {in.region};
  return b.one(std::move(made), type);
}

/// An array for what a row has stacked, of which iterations have stored the rows elsewhere.
void BatchedLoop::readStack(Builder& in, size_t k) {
  const Op& loop = fn().ops[loop_];
  const LoopView view(fn(), loop);
  const ValueId stack = loop.results[k];
  const DimId extent = m_.types.dims.symbol(view.extent());
  if (k == carries_.size()) { // the first defines the extent
    stackRank_ = rowIndex(in);
    Op bind = Builder::simple(OpKind::BindDim, {in.binary(OpKind::Max, view.count(), in.integer(0))});
    bind.resultDims = {view.extent()};
    in.append(std::move(bind), {});
  }
  NestBuilder nest(in);
  const ValueId at = nest.axis(extent);
  Builder each = in.in(nest.body());
  const ValueId place = placeInStack(each, at);
  nest.collect(each.getAt(given_[k], std::span(&place, 1)));
  takeOver(fn(), nest.finish(), std::span(&stack, 1));
}

/// Where a row has stored what it stacked in an iteration of its own.
ValueId BatchedLoop::placeInStack(Builder& b, ValueId iteration) const {
  if (ends_.valid()) {
    const ValueId own = b.dimValue(m_.types.dims.symbol(view().extent()));
    iteration = b.binary(OpKind::Add, b.binary(OpKind::Sub, ends_, own), iteration);
  }
  return b.binary(OpKind::Add, b.getAt(from_, std::span(&iteration, 1)), stackRank_);
}

/// Reads of rows of a stack go where these are stored.
void BatchedLoop::readStacked(RegionId region) {
  const std::span<const ValueId> stacks = view().stackResults();
  const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
  for (OpId id : ops) {
    for (RegionId inner : Regions(fn().ops[id].regions)) readStacked(inner);
    Op& op = fn().ops[id];
    const auto stack = op.operands.empty() ? stacks.end() : std::ranges::find(stacks, op.operands[0]);
    if (op.kind == OpKind::Get && stack != stacks.end() && !op.as<Path>().empty() &&
        op.as<Path>().front().kind == StepKind::Index) {
      Builder b(m_, f_, region, op.loc);
      const ValueId place = placeInStack(b, op.operands[1]);
      op.operands[1] = place;
      op.operands[0] = given_[carries_.size() + static_cast<size_t>(stack - stacks.begin())];
    }
    fn().regions[region].ops.push_back(id);
  }
}

} // namespace melix::transforms
