#include "transforms/counted_loops/iteration_element.h"

#include "core/analysis/affine.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostCalleeOps = 32; ///< of a function that is called in the loop
constexpr int mostDepth = 24;        ///< of ops that a number is made by
constexpr int mostCopiedOps = 256;   ///< ops that are copied

} // namespace

bool isNumbers(const types::TypeStore& types, TypeId t) {
  return types.kind(t) == TypeKind::Array && types.isScalar(types[t].parts[0]);
}

PathStep stepOf(const Path& path, size_t axis) {
  return axis < path.size() ? path[axis] : PathStep{StepKind::All, 0, {}, 1};
}

ValueId along(const PathStep& step, ValueId first, ValueId i, Builder& b) {
  if (step.kind != StepKind::Slice) return i;
  if (step.step != 1) i = b.binary(OpKind::Mul, b.integer(step.step), i);
  return b.binary(OpKind::Add, first, i);
}

bool isZero(const Module& m, const Function& f, const LoopValues& values, const std::vector<ValueId>& axes,
            ValueId a, ValueId b, ValueId axis, int64_t step) {
  if (a == b && !axis.valid()) return true;
  auto form = [&](ValueId v) {
    return affineForm(m.types.dims, f, v,
                      {[&](ValueId x) { return std::ranges::find(axes, x) != axes.end(); },
                       [&](ValueId x) { return !values.isInside(x) || !f.values[x].def.valid(); }});
  };
  std::optional<AffineForm> is = form(a);
  const std::optional<AffineForm> from = form(b);
  if (!is || !from) return false;
  is->add(*from, -1);
  if (axis.valid()) is->add(AffineForm::ofAxis(axis), -step);
  return *is == AffineForm();
}

IterationElement::IterationElement(Module& m, FunctionId f, const Effects& effects, LoopValues& values,
                                   IterationPoint point, Builder& front)
    : m_(m), f_(f), effects_(effects), values_(values), point_(std::move(point)), front_(front),
      copy_(m, f, f) {}

std::optional<ValueId> IterationElement::value(ValueId v, Builder& iteration, int depth) {
  if (const auto known = copy_.values.find(v); known != copy_.values.end()) return known->second;
  if (!values_.isInside(v)) return v;
  const OpId id = fn().values[v].def;
  if (!id.valid() || depth > mostDepth || ++steps_ > mostCopiedOps) return std::nullopt;
  const Op op = fn().ops[id];
  if (op.kind == OpKind::Get && isNumbers(types(), fn().typeOf(op.operands[0]))) {
    const std::optional<ValueId> made = element(op, iteration, depth);
    if (made) copy_.values[v] = *made;
    return made;
  }
  const bool copied = op.regions.empty() ? isCopied(op) && (flopsOf(op.kind) < mathFlops || isAtPoint(id)) &&
                                               recompute(id, op, iteration, depth)
                                         : isAtPoint(id) && withRegions(id, op, iteration, depth);
  return copied ? std::optional(copy_.value(v)) : std::nullopt;
}

std::optional<ValueId> IterationElement::element(const Op& get, Builder& iteration, int depth) {
  std::vector<ValueId> indices;
  if (!std::ranges::all_of(get.as<Path>(), [](const PathStep& s) { return s.kind == StepKind::Index; }))
    return std::nullopt;
  for (size_t k = 1; k < get.operands.size(); ++k) {
    const std::optional<ValueId> i = value(get.operands[k], iteration, depth + 1);
    if (!i) return std::nullopt;
    indices.push_back(*i);
  }
  return element(get.operands[0], indices, iteration, depth + 1);
}

bool IterationElement::recompute(OpId id, const Op& op, Builder& iteration, int depth) {
  if (!std::ranges::all_of(op.dims, [&](DimId d) { return values_.isKnownOutside(d); })) return false;
  for (ValueId x : op.operands)
    if (!operand(x, iteration, depth)) return false;
  copy_.op(id, iteration);
  return true;
}

bool IterationElement::operand(ValueId v, Builder& iteration, int depth) {
  if (types().isScalar(fn().typeOf(v))) return value(v, iteration, depth + 1).has_value();
  if (!values_.isTheSame(v)) return false;
  copy_.values[v] = values_.copyBefore(v, front_);
  return true;
}

bool IterationElement::withRegions(OpId id, const Op& op, Builder& iteration, int depth) {
  if ((op.kind != OpKind::If && op.kind != OpKind::For) || !op.resultDims.empty() ||
      effects_.ofOp(fn(), id).any())
    return false;
  std::unordered_set<ValueId> own;
  bool good = std::ranges::all_of(op.results, [&](ValueId v) { return types().isScalar(fn().typeOf(v)); });
  auto take = [&](const Op& of) {
    own.insert(of.results.begin(), of.results.end());
    for (RegionId r : of.regions) own.insert(fn().regions[r].params.begin(), fn().regions[r].params.end());
    good = good && of.resultDims.empty() &&
           std::ranges::all_of(of.dims, [&](DimId d) { return values_.isKnownOutside(d); });
    for (size_t k = 0; good && k < of.operands.size(); ++k) {
      const ValueId v = of.operands[k];
      if (own.contains(v) || (of.kind == OpKind::Get && k == 0 && isNumbers(types(), fn().typeOf(v))))
        continue;
      good = operand(v, iteration, depth);
    }
  };
  take(op);
  for (RegionId r : op.regions) forEachOp(fn(), r, [&](OpId inner) { take(fn().ops[inner]); });
  if (!good) return false;
  const std::unordered_map<ValueId, ValueId> outer = copy_.values;
  const auto before = std::exchange(copy_.instead, [&](OpId inner, Builder& at) {
    const Op get = fn().ops[inner];
    if (get.kind != OpKind::Get || own.contains(get.operands[0]) ||
        !isNumbers(types(), fn().typeOf(get.operands[0])))
      return false;
    const std::optional<ValueId> made = element(get, at, depth);
    good = good && made;
    copy_.values[get.results[0]] = made.value_or(ValueId());
    return true;
  });
  const OpId made = copy_.op(id, iteration);
  copy_.instead = before;
  copy_.values = outer;
  for (size_t k = 0; k < op.results.size(); ++k) copy_.values[op.results[k]] = fn().ops[made].results[k];
  return good;
}

bool IterationElement::isAtPoint(OpId id) const {
  const auto level = level_.find(id);
  return level != level_.end() && level->second.size() == point_.axes.size();
}

std::optional<ValueId> IterationElement::element(ValueId array, const std::vector<ValueId>& at,
                                                 Builder& iteration, int depth) {
  if (array == point_.array) return isPosition(at) ? std::optional(point_.sum) : std::nullopt;
  if (values_.isTheSame(array)) return iteration.getAt(values_.copyBefore(array, front_), at);
  const OpId id = fn().values[array].def;
  if (!id.valid() || depth > mostDepth || ++steps_ > mostCopiedOps) return std::nullopt;
  const Op op = fn().ops[id];
  auto of = [&](ValueId v) { return element(v, at, iteration, depth + 1); };
  switch (op.kind) {
  case OpKind::Get: return ofPart(op, at, iteration, depth);
  case OpKind::Nest: return ofNest(op, fn().values[array].index, at, iteration, depth);
  case OpKind::Set:
  case OpKind::AddAt: return ofUpdate(op, at, iteration, depth);
  case OpKind::CastDims: return of(op.operands[0]);
  case OpKind::Call: return ofCall(op, fn().values[array].index, at, iteration, depth);
  case OpKind::Add:
  case OpKind::Sub: {
    const std::optional<ValueId> a = of(op.operands[0]), b = a ? of(op.operands[1]) : std::nullopt;
    return b ? std::optional(iteration.binary(op.kind, *a, *b)) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

bool IterationElement::isPosition(const std::vector<ValueId>& at) const {
  return std::ranges::equal(at, point_.position, [&](ValueId a, ValueId b) {
    return isZero(m_, fn(), values_, point_.axes, a, b);
  });
}

std::optional<ValueId> IterationElement::ofPart(const Op& get, const std::vector<ValueId>& at,
                                                Builder& iteration, int depth) {
  if (!isNumbers(types(), fn().typeOf(get.operands[0]))) return std::nullopt;
  const Place part = placeOf(get);
  std::vector<ValueId> indices;
  size_t own = 0, axis = 0;
  for (size_t k = 0; k < types()[fn().typeOf(get.operands[0])].dims.size(); ++k) {
    const PathStep step = stepOf(part.path, k);
    std::optional<ValueId> first;
    if (takesIndex(step.kind) && !(first = value(part.indices[own++], iteration, depth + 1)))
      return std::nullopt;
    indices.push_back(step.kind == StepKind::Index
                          ? *first
                          : along(step, first.value_or(ValueId()), at[axis++], iteration));
  }
  return element(get.operands[0], indices, iteration, depth + 1);
}

std::optional<ValueId> IterationElement::ofNest(const Op& op, uint32_t result, const std::vector<ValueId>& at,
                                                Builder& iteration, int depth) {
  const NestView nest(fn(), op);
  if (nest.accs() > 0 || !op.resultDims.empty()) return std::nullopt;
  const auto part =
      std::ranges::find_if(nest.parts(), [&](const NestPart& p) { return p.results.first == result; });
  if (part == nest.parts().end() || part->spec->kind != NestResultKind::Collect ||
      part->spec->keep != collecting(nest.axes()).keep)
    return std::nullopt;
  const std::unordered_map<ValueId, ValueId> outer = copy_.values;
  std::set<ValueId> level;
  if (const auto around = level_.find(fn().values[op.results[0]].def); around != level_.end())
    level = around->second;
  for (size_t k = 0; k < nest.axes(); ++k) {
    copy_.values[nest.axisParams()[k]] = at[k];
    if (std::ranges::find(point_.axes, at[k]) != point_.axes.end()) level.insert(at[k]);
  }
  for (OpId id : fn().regions[nest.body()].ops) level_[id] = level;
  const ValueId yielded = nest.yields(*part)[0];
  const std::vector<ValueId> rest(at.begin() + static_cast<long>(nest.axes()), at.end());
  std::optional<ValueId> made =
      rest.empty() ? value(yielded, iteration, depth + 1) : element(yielded, rest, iteration, depth + 1);
  copy_.values = outer;
  return made;
}

std::optional<ValueId> IterationElement::ofUpdate(const Op& op, const std::vector<ValueId>& at,
                                                  Builder& iteration, int depth) {
  const Place place = placeOf(op);
  std::vector<ValueId> within;
  size_t own = 0;
  for (size_t k = 0; k < at.size(); ++k) {
    const PathStep step = stepOf(place.path, k);
    std::optional<ValueId> first;
    if (step.kind != StepKind::All && !isIndexLike(step.kind)) return std::nullopt;
    if (takesIndex(step.kind) && !(first = value(place.indices[own++], iteration, depth + 1)))
      return std::nullopt;
    if (step.kind == StepKind::All) within.push_back(at[k]);
    if (step.kind == StepKind::Index && !isZero(m_, fn(), values_, point_.axes, at[k], *first))
      return std::nullopt;
    if (step.kind != StepKind::Slice) continue;
    const auto axis = std::ranges::find_if(point_.axes, [&](ValueId a) {
      return isZero(m_, fn(), values_, point_.axes, at[k], *first, a, step.step);
    });
    if (axis == point_.axes.end()) return std::nullopt;
    within.push_back(*axis);
  }
  const ValueId put = op.operands[1];
  const std::optional<ValueId> made =
      within.empty() ? value(put, iteration, depth + 1) : element(put, within, iteration, depth + 1);
  if (!made || op.kind == OpKind::Set) return made;
  const std::optional<ValueId> to = element(op.operands[0], at, iteration, depth + 1);
  return to ? std::optional(iteration.binary(OpKind::Add, *to, *made)) : std::nullopt;
}

std::optional<ValueId> IterationElement::ofCall(const Op& call, uint32_t result,
                                                const std::vector<ValueId>& at, Builder& iteration,
                                                int depth) {
  const Function& callee = m_.functions[call.as<CallAttr>().callee];
  if (!call.resultDims.empty() || !callee.body.valid() || callee.staysCalled() || callee.customJvp.valid() ||
      callee.regions[callee.body].ops.size() > mostCalleeOps)
    return std::nullopt;
  bool fits = true;
  forEachOp(callee, [&](OpId id) {
    const OpKind kind = callee.ops[id].kind;
    fits = fits && kind != OpKind::Call && kind != OpKind::StopGradient && callee.ops[id].resultDims.empty();
  });
  if (!fits) return std::nullopt;
  Builder inlined = iteration.in(iteration.newRegion());
  types::DimSubst sizes;
  const std::vector<ValueId> results = inlineCall(m_, call, inlined, sizes);
  return element(results[result], at, iteration, depth + 1);
}

} // namespace melix::transforms
