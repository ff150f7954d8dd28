#include "transforms/counted_loops/loops_to_nests.h"

#include "core/analysis/evaluate.h"
#include "core/analysis/ranges.h"
#include "core/ir/flow.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/analysis/trip_count.h"
#include "transforms/counted_loops/carried_dependences.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_with_ranges.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Elements of an array from which on updates of all of it in place are made anew: a block of memory costs
/// more than what so few need.
constexpr int64_t manyElements = 64;

/// A loop that becomes a nest.
struct RaisedLoop {
  std::vector<LoopCarry> carries;
  DimId extent;          ///< of the nest's axis; invalid if only the run knows it
  bool reversed = false; ///< the axis runs against the loop
};

class Raiser {
public:
  Raiser(Module& m, FunctionId id, const Effects& effects)
      : m_(m), id_(id), f_(m.functions[id]), effects_(effects), uses_(m, id), places_(m, f_, uses_),
        ranges_(m, id), scratch_(f_.regions.add(Region{})) {}

  bool run() {
    auto raised = [this](OpId id, RegionId around) {
      std::vector<OpId> made{id};
      if (f_.ops[id].kind == OpKind::For && raise(id, around)) made = std::move(f_.regions[scratch_].ops);
      f_.regions[scratch_].ops.clear();
      return made;
    };
    rewriteInRanges(m_, id_, ranges_, f_.body, raised); // what is inside first: loops of nests
    replaceDims(m_, id_, sizes_);
    return changed_;
  }

private:
  types::DimStore& dims() const { return m_.types.dims; }

  // --- whether

  /// Puts what takes the place of a loop into the scratch region.
  bool raise(OpId id, RegionId region) {
    const std::optional<RaisedLoop> plan = planOf(id);
    if (!plan) return false;
    write(id, region, *plan);
    changed_ = true;
    return true;
  }

  std::optional<RaisedLoop> planOf(OpId id) {
    const Op& loop = f_.ops[id];
    const LoopView view(f_, loop);
    const EffectSet effects = effects_.ofOp(f_, id);
    if (loop.results.empty() || !view.bodyDims().empty() || effects.io || effects.debug) return std::nullopt;
    RaisedLoop plan;
    plan.extent = loopExtent(m_, f_, ranges_, view.count());
    // A loop of more iterations than an axis has points may end early in a panic.
    if (effects.any() && !isExtent(view.count())) return std::nullopt;
    bool forwards = view.stacks() > 0, backwards = false;
    for (uint32_t k = 0; k < view.carries(); ++k) {
      LoopCarry carry = followCarry(m_, f_, uses_, places_, id, k);
      if (carry.kind == LoopCarry::Kind::Other) return std::nullopt;
      if (carry.kind == LoopCarry::Kind::Cells) {
        if (!mayCollect(view, k, carry, effects)) return std::nullopt;
        (stride(view, carry) > 0 ? forwards : backwards) = true;
      }
      plan.carries.push_back(std::move(carry));
    }
    if (backwards && (forwards || effects.any())) return std::nullopt;
    plan.reversed = backwards;
    return plan;
  }

  /// Whether a number is always small enough for an axis.
  bool isExtent(ValueId count) { return ranges_.isIndex(count, dims().constant(types::maxExtent + 1)); }
  static int64_t stride(const LoopView& view, const LoopCarry& carry) {
    return carry.steps[carry.axis].index->axes.at(view.index());
  }

  /// Whether all cells exist, and none is an array of which parts are updated: that would be copied.
  bool mayCollect(const LoopView& view, uint32_t k, const LoopCarry& carry, EffectSet effects) {
    const ValueId before = view.carryOperands()[k];
    const bool scalar = m_.types.isScalar(cellType(f_.typeOf(before), carry));
    if (!carry.beginsAnew && !scalar) return false;
    if (carry.isRead && isSmall(f_.typeOf(before)) && !isFresh(before)) return false;
    return stride(view, carry) != INT64_MIN && isInRange(view, carry, f_.typeOf(before), effects);
  }
  bool isFresh(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == OpKind::Zero;
  }
  bool isSmall(TypeId array) const {
    const std::optional<int64_t> elements = dims().asConstant(dims().product(m_.types[array].dims));
    return elements && *elements < manyElements;
  }
  TypeId cellType(TypeId array, const LoopCarry& carry) const {
    std::vector<DimId> kept;
    const types::Type& type = m_.types[array];
    for (size_t a = 0; a < carry.steps.size(); ++a) {
      const PathStep& s = carry.steps[a].step;
      if (s.kind != StepKind::Index) kept.push_back(s.kind == StepKind::Slice ? s.length : type.dims[a]);
    }
    return m_.types.array(type.parts[0], kept);
  }
  /// Every iteration has its cell: because it goes there whatever happens, or by what is known of the
  /// indices. Where there is no iteration, nothing is looked at after the axis.
  bool isInRange(const LoopView& view, const LoopCarry& carry, TypeId array, EffectSet effects) {
    const bool goesThere = !effects.any() && std::ranges::any_of(carry.accesses, [&](OpId a) {
      return uses_.regionOf(a) == view.body();
    });
    const DimId tripCount = loopExtent(m_, f_, ranges_, view.count());
    const bool runs = tripCount.valid() && dims().atLeast(tripCount, 1);
    for (size_t a = 0; a < carry.steps.size(); ++a) {
      const CellStep& s = carry.steps[a];
      if (s.step.kind == StepKind::All || (goesThere && (runs || a >= carry.axis))) continue;
      if (s.step.kind == StepKind::Slice) return false;
      if (!ranges_.isIndex(s.written, m_.types[array].dims[a])) return false;
    }
    return true;
  }

  // --- where the cells lie

  /// The indices of the cells on their axis, as the nest goes: first, first + stride, ….
  struct Track {
    AffineForm first; ///< of values from outside
    int64_t stride = 1;
    bool isWhole = false; ///< it goes over all of the axis
  };
  Track track(ValueId index, const LoopCarry& carry, TypeId array, DimId extent) const {
    Track t;
    t.first = *carry.steps[carry.axis].index;
    t.stride = t.first.axes.at(index);
    t.first.axes.clear();
    if (t.stride < 0) { // the last one is the first: index = extent - 1 - axis
      t.first.dims[extent] += t.stride;
      t.first.constant -= t.stride;
      t.stride = -t.stride;
    }
    const std::optional<DimId> first = sizeOf(t.first);
    t.isWhole = t.stride == 1 && first && dims().asConstant(*first) == 0 &&
                extent == m_.types[array].dims[carry.axis];
    return t;
  }
  /// A form of sizes alone as a size.
  std::optional<DimId> sizeOf(const AffineForm& form) const {
    if (!form.axes.empty() || !form.outside.empty()) return std::nullopt;
    return core::sizeOf(dims(), form);
  }
  // --- the nest

  void write(OpId id, RegionId region, const RaisedLoop& plan) {
    const Op& loop = f_.ops[id];
    Builder b(m_, id_, scratch_, loop.loc);
    const LoopView view(f_, loop);
    const DimId extent = plan.extent.valid() ? plan.extent : bind(view.count(), b);
    const RegionId body = view.body();
    const ValueId index = view.index();

    std::vector<Track> tracks(plan.carries.size());
    Builder front(m_, id_, b.newRegion(), loop.loc);
    const ValueId axis = plan.reversed ? front.placeholder(m_.types.int64()) : index;
    std::vector<ValueId> begun;
    for (uint32_t k = 0; k < plan.carries.size(); ++k) {
      const LoopCarry& carry = plan.carries[k];
      const ValueId before = view.carryOperands()[k];
      if (carry.kind == LoopCarry::Kind::Cells) tracks[k] = track(index, carry, f_.typeOf(before), extent);
      begun.push_back(begin(carry, before, tracks[k], axis, b, front));
    }
    if (plan.reversed) {
      const DimId last = dims().sub(extent, dims().constant(1));
      begun.push_back(front.binary(OpKind::Sub, front.dimValue(last), axis));
    }
    enterFront(front.region, body);
    if (plan.reversed) uses_.replace(index, begun.back());
    for (uint32_t k = 0; k < plan.carries.size(); ++k) {
      narrow(plan.carries[k], view.carryParams()[k], view.carryOperands()[k]);
      if (begun[k].valid()) uses_.replace(view.carryParams()[k], begun[k]);
    }

    const Operands yields = terminator(f_, body).operands;
    uses_.leave(id);
    f_.regions[body].params = {axis};
    f_.values[axis].region = body;
    f_.values[axis].index = 0;
    NestBuilder nest(b, body, {extent});
    for (uint32_t k = 0; k < yields.size(); ++k) nest.add(resultOf(plan, k), yields[k]);
    const OpId made = nest.finish();
    std::vector<ValueId> results;
    for (uint32_t k = 0; k < plan.carries.size(); ++k)
      results.push_back(
          end(plan.carries[k], view.carryOperands()[k], tracks[k], b.result(made, k), extent, b));
    for (uint32_t k = view.carries(); k < loop.results.size(); ++k) results.push_back(b.result(made, k));
    if (view.stacks() > 0) sizes_.insert_or_assign(view.extent(), dims().substitute(extent, sizes_));
    for (OpId op : f_.regions[scratch_].ops) uses_.enter(op, region);
    for (uint32_t k = 0; k < results.size(); ++k) uses_.replace(loop.results[k], results[k]);
  }
  /// A number that only the run knows as an extent.
  DimId bind(ValueId count, Builder& b) {
    if (!ranges_.isNatural(count)) count = b.binary(OpKind::Max, count, b.integer(0));
    return dims().symbol(b.bindDim(count, "n"));
  }
  static NestResult resultOf(const RaisedLoop& plan, uint32_t k) {
    const bool collects = k >= plan.carries.size() || plan.carries[k].kind == LoopCarry::Kind::Cells;
    return collects ? collecting(1) : reducing(plan.carries[k].monoid);
  }

  /// What stands for the carry where an iteration begins; none if nothing needs that.
  ValueId begin(const LoopCarry& carry, ValueId before, const Track& t, ValueId axis, Builder& b,
                Builder& front) {
    const TypeId type = f_.typeOf(before);
    if (carry.kind == LoopCarry::Kind::Gathered)
      return front.constant(type, unitOf(carry.monoid, m_.types.kind(type)));
    if (carry.beginsAnew) return {};
    Place place;
    for (size_t a = 0; a < carry.steps.size(); ++a) {
      const CellStep& s = carry.steps[a];
      place.path.push_back(s.step);
      if (!s.index) continue;
      place.indices.push_back(a == carry.axis ? position(t, axis, b, front) : emit(b, *s.index));
    }
    return front.get(before, place.path, place.indices);
  }
  ValueId position(const Track& t, ValueId axis, Builder& b, Builder& front) const {
    const ValueId steps = t.stride == 1 ? axis : front.binary(OpKind::Mul, front.integer(t.stride), axis);
    const std::optional<DimId> first = sizeOf(t.first);
    if (first && dims().asConstant(*first) == 0) return steps;
    return front.binary(OpKind::Add, emit(b, t.first), steps);
  }
  void enterFront(RegionId from, RegionId body) {
    std::vector<OpId>& ops = f_.regions[body].ops;
    const std::vector<OpId>& front = f_.regions[from].ops;
    for (OpId op : front) uses_.enter(op, body);
    ops.insert(ops.begin(), front.begin(), front.end());
  }

  /// What held the array holds the cell; the carry itself is read where the loop began.
  void narrow(const LoopCarry& carry, ValueId param, ValueId before) {
    const bool cells = carry.kind == LoopCarry::Kind::Cells;
    const TypeId cell = cells ? cellType(f_.typeOf(param), carry) : TypeId();
    for (OpId read : carry.outside) uses_.change(read, [&](Op& op) { op.operands[0] = before; });
    for (OpId access : carry.accesses) {
      if (f_.ops[access].kind == OpKind::Get && f_.ops[access].operands[0] == param) {
        uses_.change(access, [&](Op& op) { op.operands[0] = before; });
        continue;
      }
      std::vector<ValueId> indices;
      Path path = withinCell(f_.ops[access], carry.steps, indices);
      uses_.change(access, [&](Op& op) { onCell(op, std::move(path), indices, m_.types.isScalar(cell)); });
    }
    if (cells)
      for (ValueId v : carry.holders) f_.values[v].type = cell;
  }
  /// The access without the place of the cell. All of it put there is the value itself.
  static void onCell(Op& op, Path path, const std::vector<ValueId>& indices, bool isScalar) {
    const bool all = path.empty();
    const size_t values = op.kind == OpKind::Get ? 1 : 2;
    op.operands.resize(values);
    op.operands.insert(op.operands.end(), indices.begin(), indices.end());
    if (all && op.kind == OpKind::Set) {
      op.operands = {op.operands[1]};
      op.kind = OpKind::Get;
    }
    if (all && op.kind == OpKind::AddAt && isScalar) {
      op.kind = OpKind::Add;
      op.attr = {};
      return;
    }
    op.attr = std::move(path);
  }

  /// What the loop's result is, of what the nest gives for the carry.
  ValueId end(const LoopCarry& carry, ValueId before, const Track& t, ValueId made, DimId extent,
              Builder& b) {
    if (carry.kind == LoopCarry::Kind::Gathered) return b.binary(combiningOp(carry.monoid), before, made);
    made = inOrder(carry, made, b);
    Place place;
    for (size_t a = 0; a < carry.steps.size(); ++a) {
      const CellStep& s = carry.steps[a];
      const bool isAxis = a == carry.axis;
      place.path.push_back(s.step);
      if (isAxis && t.isWhole) place.path.back() = PathStep{StepKind::All, 0, {}, 1};
      if (isAxis && !t.isWhole) place.path.back() = PathStep{StepKind::Slice, 0, extent, t.stride};
      if (isAxis && !t.isWhole) place.indices.push_back(emit(b, t.first));
      if (!isAxis && s.index) place.indices.push_back(emit(b, *s.index));
    }
    while (!place.path.empty() && place.path.back().kind == StepKind::All) place.path.pop_back();
    return place.path.empty() ? made : b.set(before, made, place.path, place.indices);
  }
  /// The axis of the loop comes where it is in the array.
  ValueId inOrder(const LoopCarry& carry, ValueId made, Builder& b) {
    size_t at = 0;
    for (size_t a = 0; a < carry.axis; ++a) at += carry.steps[a].step.kind != StepKind::Index;
    if (at == 0) return made;
    const std::vector<DimId> extents = m_.types[f_.typeOf(made)].dims;
    size_t own = 0;
    for (const CellStep& s : carry.steps) own += s.step.kind != StepKind::Index;
    NestBuilder turned(b);
    std::vector<ValueId> indices(1);
    for (size_t k = 0; k <= own; ++k) {
      const ValueId axis = turned.axis(extents[k == at ? 0 : k < at ? k + 1 : k]);
      if (k == at)
        indices[0] = axis;
      else
        indices.push_back(axis);
    }
    Builder in = b.in(turned.body());
    turned.collect(in.getAt(made, indices));
    return turned.one();
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  const Effects& effects_;
  LiveUses uses_;
  const DisjointAccesses places_;
  Ranges ranges_;
  const RegionId scratch_;
  types::DimSubst sizes_; ///< what sizes of stacked arrays are, from the end on
  bool changed_ = false;
};

} // namespace

bool loopsToNests(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) { return Raiser(m, f, effects).run(); });
}

} // namespace melix::transforms
