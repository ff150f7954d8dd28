#include "transforms/axis_splitting/delinearise_axes.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/axis_splitting/divided_axes.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"
#include "types/dim_quotient.h"

#include <algorithm>
#include <set>

namespace melix::transforms {

using namespace core;

namespace {

/// An axis, and what it is divided by.
struct SplitAxis {
  uint32_t axis;
  DimId quotients, by; ///< extents of the two
};

/// Numbers that are quotient · by + remainder, in a copy of a nest.
struct Parts {
  ValueId quotient, remainder;
  DimId by;
};

class AxisDelineariser {
public:
  AxisDelineariser(Module& m, FunctionId f) : m_(m), f_(f) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      const std::optional<SplitAxis> split = find(id);
      if (split) write(id, *split, region);
      return !split;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  // --- which

  std::optional<SplitAxis> find(OpId nest) const {
    const Op& op = fn().ops[nest];
    if (op.kind != OpKind::Nest || !addsUp(fn(), nest) ||
        std::ranges::any_of(nestResults(op), [](const NestResult& r) {
          return isPosition(r) || r.kind == NestResultKind::Filter; // of one axis
        }))
      return std::nullopt;
    for (uint32_t axis = 0; axis < op.dims.size(); ++axis)
      if (std::optional<SplitAxis> split = find(nest, axis)) return split;
    return std::nullopt;
  }
  /// By the size that divides most of the others.
  std::optional<SplitAxis> find(OpId id, uint32_t axis) const {
    const Op& nest = fn().ops[id];
    const std::set<DimId> divisors = divisorsOf(nest, axis);
    const std::optional<int64_t> least =
        divisors.empty() ? std::nullopt : DividedAxis(fn(), id, axis).leastSize();
    if (!least) return std::nullopt;
    std::optional<SplitAxis> best;
    long most = 0;
    for (DimId by : divisors) {
      const std::optional<DimId> quotients = types::exactQuotient(m_.types.dims, nest.dims[axis], by);
      const long multiples = std::ranges::count_if(
          divisors, [&](DimId d) { return types::exactQuotient(m_.types.dims, d, by).has_value(); });
      const bool isShort = m_.types.dims.asConstant(by).value_or(*least) < *least;
      if (!quotients || *quotients == m_.types.dims.constant(1) || isShort || multiples <= most) continue;
      best = SplitAxis{axis, *quotients, by};
      most = multiples;
    }
    return best;
  }
  std::set<DimId> divisorsOf(const Op& nest, uint32_t axis) const {
    std::set<DimId> out;
    const ValueId number = fn().regions[nest.regions[0]].params[axis];
    forEachOp(fn(), nest.regions[0], [&](OpId id) {
      const Op& op = fn().ops[id];
      if (const std::optional<DimId> by = divisorOf(m_, fn(), op); by && op.operands[0] == number)
        out.insert(*by);
    });
    return out;
  }

  // --- the nest of two axes in its place

  void write(OpId id, const SplitAxis& split, RegionId region) {
    changed = true;
    const Op op = fn().ops[id];
    const NestView view(fn(), op);
    Builder at(m_, f_, region, op.loc);
    NestBuilder nest(at);
    Cloner copy(m_, f_, f_);
    std::unordered_map<ValueId, Parts> parts;
    for (uint32_t k = 0; k < op.dims.size(); ++k) {
      const ValueId axis = view.axisParams()[k];
      if (k != split.axis)
        copy.values[axis] = nest.axis(op.dims[k], fn().values[axis].hint);
      else
        copy.values[axis] = writeAxes(nest, at.in(nest.body()), split, axis, parts);
    }
    for (uint32_t k = 0; k < view.accs(); ++k)
      copy.values[view.accParams()[k]] =
          nest.accumulator(view.accOperands()[k], fn().values[view.accParams()[k]].hint);
    copy.instead = [&](OpId each, Builder& b) { return divide(each, copy, parts, b); };
    Builder in = at.in(nest.body());
    copy.body(view.body(), in);
    addResults(nest, view, split.axis, copy, in);
    replace(op, nest.finish(), at);
  }
  /// The two axes; the number that the one was.
  ValueId writeAxes(NestBuilder& nest, Builder in, const SplitAxis& split, ValueId axis,
                    std::unordered_map<ValueId, Parts>& parts) const {
    const NameId name = fn().values[axis].hint;
    const ValueId quotient = nest.axis(split.quotients, name), remainder = nest.axis(split.by, name);
    return whole({quotient, remainder, split.by}, in, parts);
  }
  static ValueId whole(const Parts& of, Builder& b, std::unordered_map<ValueId, Parts>& parts) {
    const ValueId multiple = b.binary(OpKind::Mul, of.quotient, b.dimValue(of.by));
    const ValueId number = b.binary(OpKind::Add, multiple, of.remainder);
    parts[number] = of;
    return number;
  }
  /// A quotient or a remainder of a number whose parts are known, by a multiple of what parts them.
  bool divide(OpId id, Cloner& copy, std::unordered_map<ValueId, Parts>& parts, Builder& b) const {
    const Op op = fn().ops[id];
    const std::optional<DimId> by = divisorOf(m_, fn(), op);
    if (!by) return false;
    const auto known = parts.find(copy.value(op.operands[0]));
    if (known == parts.end()) return false;
    const Parts of = known->second;
    const std::optional<DimId> times = types::exactQuotient(m_.types.dims, copy.dim(*by), of.by);
    if (!times) return false;
    const bool isPart = *times == m_.types.dims.constant(1), isQuotient = op.kind == OpKind::IDiv;
    const ValueId first = isPart ? of.quotient : b.binary(op.kind, of.quotient, b.dimValue(*times));
    copy.values[op.results[0]] = isQuotient ? first
                                 : isPart   ? of.remainder
                                            : whole({first, of.remainder, of.by}, b, parts);
    return true;
  }
  void addResults(NestBuilder& nest, const NestView& view, uint32_t axis, Cloner& copy, Builder& in) const {
    auto copies = [&](std::span<const ValueId> values) {
      std::vector<ValueId> out;
      for (ValueId v : values) out.push_back(copy.value(v));
      return out;
    };
    for (const NestPart& part : view.parts()) {
      NestOwn own = view.own(part);
      if (own.combine.valid()) own.combine = copy.region(own.combine, in);
      nest.add(over(*part.spec, axis), copies(view.yields(part)), own);
    }
    for (ValueId v : copies(view.accYields())) nest.end(v);
  }
  /// What a result is with one more axis after this one.
  static NestResult over(NestResult r, uint32_t axis) {
    std::vector<uint32_t> keep;
    for (uint32_t k : r.keep) {
      keep.push_back(k > axis ? k + 1 : k);
      if (k == axis) keep.push_back(k + 1);
    }
    r.keep = std::move(keep);
    return r;
  }
  /// The results of the nest in the places of those before, of two axes as one.
  void replace(const Op& before, OpId made, Builder& at) {
    std::vector<ValueId> results(fn().ops[made].results.begin(), fn().ops[made].results.end());
    std::vector<std::pair<ValueId, ValueId>> reshaped;
    for (size_t k = 0; k < results.size(); ++k)
      if (fn().typeOf(results[k]) == fn().typeOf(before.results[k]))
        results[k] = before.results[k];
      else
        reshaped.emplace_back(results[k], before.results[k]);
    takeOver(fn(), made, results);
    for (auto [from, to] : reshaped) {
      const ValueId flat = at.one(Builder::simple(OpKind::Reshape, {from}), fn().typeOf(to));
      const ValueId old = to;
      takeOver(fn(), fn().values[flat].def, std::span(&old, 1));
    }
  }

  Module& m_;
  const FunctionId f_;
};

} // namespace

/// Each axis that is made has fewer points.
bool delineariseAxes(Module& m) {
  require(m, {State::SumsUnordered});
  return runWhileChanging<AxisDelineariser>(m);
}

} // namespace melix::transforms
