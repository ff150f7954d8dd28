#include "transforms/counted_loops/interchange_accumulating_loops.h"

#include "core/analysis/ranges.h"
#include "core/ir/flow.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/counted_loops/iteration_element.h"
#include "transforms/counted_loops/recurrence.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_with_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostOwnOps = 32; ///< of an iteration, that update the array

/// An array that a loop carries, and the part of it that an iteration makes anew.
struct Carried {
  uint32_t number = 0;
  ValueId begun, param, result; ///< before, in and after the loop
  Place place;                  ///< of the part, by values of the loop; all of it if there are no steps
  ValueId part;                 ///< what an iteration puts there
  std::vector<OpId> ops;        ///< of the loop's body, that make it and nothing else
};

/// One loop.
class LoopInterchanger {
public:
  LoopInterchanger(Module& m, FunctionId f, LiveUses& uses, const Effects& effects, Ranges& ranges, OpId loop)
      : m_(m), f_(f), uses_(uses), effects_(effects), ranges_(ranges), loop_(loop),
        body_(fn().ops[loop].regions[0]), values_(m, f, uses, loop) {}

  /// Appends to `after` what comes after the loop in its region; whether anything does.
  bool run(RegionId region, RegionId after) {
    const LoopView view(fn(), fn().ops[loop_]);
    if (!view.bodyDims().empty()) return false;
    Builder b(m_, f_, after, fn().ops[loop_].loc);
    std::vector<std::pair<Carried, ValueId>> sunk;
    for (uint32_t k = 0; k < view.carries(); ++k)
      if (std::optional<Carried> c = follow(view, k))
        if (const std::optional<ValueId> result = write(*c, b)) sunk.emplace_back(std::move(*c), *result);
    if (sunk.empty()) {
      fn().regions[after].ops.clear();
      return false;
    }
    for (OpId id : fn().regions[after].ops) uses_.enter(id, region);
    for (auto& [c, result] : sunk) uses_.replace(c.result, result);
    takeOut(sunk);
    return true;
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }
  const Op* def(ValueId v) const {
    const OpId id = fn().values[v].def;
    return id.valid() ? &fn().ops[id] : nullptr;
  }
  const std::vector<DimId>& extentsOf(ValueId v) const { return types()[fn().typeOf(v)].dims; }
  // --- what an iteration makes

  std::optional<Carried> follow(const LoopView& view, uint32_t k) {
    Carried c;
    c.number = k;
    c.begun = view.carryOperands()[k];
    c.param = view.carryParams()[k];
    c.result = view.carryResults()[k];
    c.part = view.carryYields()[k];
    if (!isNumbers(types(), fn().typeOf(c.param)) || fn().typeOf(c.part) != fn().typeOf(c.param))
      return std::nullopt;
    if (!ownOps(c) || !findPart(c) || !isThere(c, view)) return std::nullopt;
    return c;
  }

  /// The ops of the body that take the array. All that they make is the array of the next iteration.
  bool ownOps(Carried& c) const {
    std::vector<ValueId> todo{c.param};
    const OpId end = terminatorId(fn(), body_);
    bool good = true;
    while (good && !todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      uses_.forEach(v, [&](Use use) {
        const OpId id = uses_.ancestorIn(body_, use.op);
        if (id == end) {
          good = good && use.operand == c.number;
          return;
        }
        if (std::ranges::find(c.ops, id) != c.ops.end()) return;
        c.ops.push_back(id);
        good = good && c.ops.size() <= mostOwnOps && !effects_.ofOp(fn(), id).any();
        todo.insert(todo.end(), fn().ops[id].results.begin(), fn().ops[id].results.end());
      });
    }
    return good && !c.ops.empty();
  }

  /// Through the updates of one part.
  bool findPart(Carried& c) const {
    const Op* op = def(c.part);
    auto isUpdate = [](const Op* o) {
      return o && (o->kind == OpKind::Set || o->kind == OpKind::AddAt) && !o->as<Path>().empty();
    };
    if (!isUpdate(op)) return true;
    c.place = placeOf(*op);
    if (!std::ranges::all_of(c.place.path, [](const PathStep& s) { return isIndexLike(s.kind); }))
      return false;
    while (op->operands[0] != c.param) {
      op = def(op->operands[0]);
      if (!isUpdate(op) || !isSame(placeOf(*op), c.place)) return false;
    }
    return true;
  }
  bool isSame(const Place& a, const Place& b) const {
    auto same = [](const PathStep& x, const PathStep& y) {
      return x.kind == y.kind && x.length == y.length && x.step == y.step;
    };
    return std::ranges::equal(a.path, b.path, same) &&
           std::ranges::equal(a.indices, b.indices,
                              [&](ValueId x, ValueId y) { return isZero(m_, fn(), values_, {}, x, y); });
  }

  /// Whether the part exists also where the loop has no iteration.
  bool isThere(const Carried& c, const LoopView& view) {
    const std::optional<DimId> tripCount = ranges_.sizeOf(view.count());
    const bool runs =
        ranges_.isAtLeast(view.count(), 1) || (tripCount && types().dims.atLeast(*tripCount, 1));
    const std::vector<DimId>& extents = extentsOf(c.param);
    size_t at = 0;
    for (size_t k = 0; k < c.place.path.size(); ++k) {
      const PathStep& s = c.place.path[k];
      const ValueId index = takesIndex(s.kind) ? c.place.indices[at++] : ValueId();
      if (index.valid() && !values_.isTheSame(index)) return false;
      if (s.kind == StepKind::Slice && !values_.isKnownOutside(s.length)) return false;
      if (runs || s.kind == StepKind::All) continue;
      if (s.kind == StepKind::Index ? !ranges_.isIndex(index, extents[k]) : !isSlice(s, index, extents[k]))
        return false;
    }
    return true;
  }
  bool isSlice(const PathStep& s, ValueId first, DimId extent) const {
    const Op* op = def(first);
    if (!op || op->kind != OpKind::Const || s.step < 1) return false;
    types::DimStore& dims = types().dims;
    const DimId begin = dims.constant(static_cast<int64_t>(op->as<Constant>().bits));
    const DimId end = dims.add(begin, dims.mul(dims.constant(s.step), s.length));
    return dims.atLeast(begin, 0) && dims.atLeast(s.length, 0) && dims.atLeast(dims.sub(extent, end), 0);
  }
  // --- the nest

  /// What the array is after the loop; none if its elements are not made each by itself.
  std::optional<ValueId> write(const Carried& c, Builder& b) {
    const size_t before = fn().regions[b.region].ops.size();
    if (std::optional<ValueId> made = tryWrite(c, b)) return made;
    fn().regions[b.region].ops.resize(before);
    values_.forgetCopies();
    return std::nullopt;
  }
  std::optional<ValueId> tryWrite(const Carried& c, Builder& b) {
    Place place = c.place;
    for (ValueId& index : place.indices) index = values_.copyBefore(index, b);
    std::vector<DimId> extents;
    const std::vector<DimId> all = extentsOf(c.param);
    for (size_t k = 0; k < all.size(); ++k) {
      const PathStep step = stepOf(place.path, k);
      if (step.kind != StepKind::Index)
        extents.push_back(step.kind == StepKind::Slice ? step.length : all[k]);
    }
    if (extents.empty()) return std::nullopt;
    NestBuilder nest(b);
    const std::vector<ValueId> axes = nest.openAxes(extents);
    Builder in = b.in(nest.body());
    const std::vector<ValueId> position = positionOf(place, all.size(), axes, in);
    const ValueId element = in.getAt(c.begun, position);
    const std::optional<Op> iterations = loopOf(c, {c.param, element, axes, position}, b, in);
    if (!iterations) return std::nullopt;
    nest.collect(in.one(*iterations, fn().typeOf(element)));
    const ValueId made = nest.one();
    if (std::ranges::all_of(place.path, [](const PathStep& s) { return s.kind == StepKind::All; }))
      return made;
    return b.set(c.begun, made, place.path, place.indices);
  }
  /// The loop at the element where a point begins; none if an iteration does not only add to it, or not a
  /// product.
  std::optional<Op> loopOf(const Carried& c, IterationPoint point, Builder& front, Builder& in) {
    Op iterations = fn().ops[loop_];
    iterations.operands = {iterations.operands[0], point.sum};
    iterations.results.clear();
    iterations.resultDims.clear();
    iterations.as<LoopAttr>().collects = 0;
    iterations.regions = {in.newRegion()};
    Builder iteration = in.in(iterations.regions[0]);
    const ValueId index = iteration.param(types().int64());
    point.sum = iteration.param(fn().typeOf(point.sum));
    IterationElement elements(m_, f_, effects_, values_, point, front);
    elements.stands(fn().regions[body_].params[0], index);
    const std::optional<ValueId> next = elements.element(c.part, point.position, iteration);
    if (!next) return std::nullopt;
    iteration.yield({*next});
    const bool isSum = onlyAdds(fn(), iteration.region, point.sum, *next);
    return isSum && readsTwoSides(fn(), uses_, loop_, point.axes, iteration.region)
               ? std::optional(iterations)
               : std::nullopt;
  }
  /// Where the point's element lies in the array.
  static std::vector<ValueId> positionOf(const Place& place, size_t rank, const std::vector<ValueId>& axes,
                                         Builder& in) {
    std::vector<ValueId> out;
    size_t at = 0, axis = 0;
    for (size_t k = 0; k < rank; ++k) {
      const PathStep step = stepOf(place.path, k);
      const ValueId first = takesIndex(step.kind) ? place.indices[at++] : ValueId();
      if (step.kind == StepKind::Index)
        out.push_back(first);
      else
        out.push_back(along(step, first, axes[axis++], in));
    }
    return out;
  }
  void takeOut(const std::vector<std::pair<Carried, ValueId>>& sunk) {
    std::vector<bool> gone(fn().ops[loop_].results.size(), false);
    std::unordered_set<OpId> out;
    for (const auto& [c, result] : sunk) {
      gone[c.number] = true;
      for (OpId id : c.ops)
        if (out.insert(id).second) uses_.leave(id);
    }
    std::erase_if(fn().regions[body_].ops, [&](OpId id) { return out.contains(id); });
    const OpId end = terminatorId(fn(), body_);
    uses_.change(end, [&](Op&) { uses_.change(loop_, [&](Op&) { removeSlots(fn(), loop_, gone); }); });
  }

  Module& m_;
  FunctionId f_;
  LiveUses& uses_;
  const Effects& effects_;
  Ranges& ranges_;
  OpId loop_;
  RegionId body_;
  LoopValues values_;
};

class Sinking {
public:
  Sinking(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), uses_(m, f), ranges_(m, f),
        scratch_(m.functions[f].regions.add(Region{})) {}
  bool changed = false;

  void run(RegionId region) {
    auto sink = [this](OpId id, RegionId around) { return sunk(id, around); };
    rewriteInRanges(m_, f_, ranges_, region, sink);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// The loop, if anything of it is left, and what comes after it.
  std::vector<OpId> sunk(OpId id, RegionId region) {
    std::vector<OpId> made{id};
    if (fn().ops[id].kind != OpKind::For ||
        !LoopInterchanger(m_, f_, uses_, effects_, ranges_, id).run(region, scratch_))
      return made;
    changed = true;
    if (fn().ops[id].results.empty() && !effects_.ofOp(fn(), id).any()) {
      uses_.leave(id);
      made.clear();
    }
    std::vector<OpId>& after = fn().regions[scratch_].ops;
    made.insert(made.end(), after.begin(), after.end());
    after.clear();
    return made;
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  LiveUses uses_;
  Ranges ranges_;
  const RegionId scratch_; ///< where what comes after a loop is made
};

bool hasLoops(const Function& f) {
  bool loops = false;
  forEachOp(f, [&](OpId id) { loops |= f.ops[id].kind == OpKind::For; });
  return loops;
}

} // namespace

bool interchangeAccumulatingLoops(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    if (!hasLoops(m.functions[f])) return false;
    Sinking sinking(m, f, effects);
    sinking.run(m.functions[f].body);
    return sinking.changed;
  });
}

} // namespace melix::transforms
