#include "transforms/contractions/factor_reductions.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// A term is the product of these, or that negated.
struct Product {
  std::vector<ValueId> factors;
  bool negative = false;
};

/// How a sum is cut: what stays outside of the inner sum, and what goes into it.
struct SplitSum {
  std::vector<ValueId> outside, inside;
  AxisSet summed; ///< by the inner sum
  AxisSet table;  ///< the axes of its result
};

class Reducer {
public:
  Reducer(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) run(inner);
      return !isWanted(id) || !reduce(id, region);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// A sum of floats alone, of a body without effects.
  bool isWanted(OpId id) const {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Nest || nestAccs(op) > 0 || op.dims.size() > AxisSet::most) return false;
    const std::vector<NestResult>& results = nestResults(op);
    if (results.size() != 1) return false;
    if (!isSum(results[0]) || op.dims.size() == results[0].keep.size()) return false;
    if (results[0].keep.empty()) return false;
    const ValueId term = terminator(fn(), op.regions[0]).operands[0];
    return m_.types.isFloat(fn().typeOf(term)) && !effects_.ofOp(fn(), id).any();
  }

  Product productOf(ValueId term) const {
    Product p;
    std::vector<ValueId> open{term};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const OpId def = fn().values[v].def;
      const OpKind kind = def.valid() ? fn().ops[def].kind : OpKind::Yield;
      const bool opens = kind == OpKind::Mul && open.size() + p.factors.size() < mostFactors;
      if (!opens && kind != OpKind::Neg) {
        p.factors.push_back(v);
        continue;
      }
      p.negative ^= kind == OpKind::Neg;
      const Operands& operands = fn().ops[def].operands;
      for (size_t k = operands.size(); k-- > 0;) open.push_back(operands[k]);
    }
    return p;
  }

  /// How many factors that vary a value is the product of; of a sum, its longest product.
  uint32_t degree(ValueId v, const AxisVariance& body, std::unordered_map<ValueId, uint32_t>& known) const {
    if (auto it = known.find(v); it != known.end()) return it->second;
    const std::optional<AxisSet> axes = body.axesOf(v);
    uint32_t n = axes && axes->empty() ? 0 : 1;
    const OpId def = fn().values[v].def;
    const OpKind kind = def.valid() ? fn().ops[def].kind : OpKind::Yield;
    const bool adds = kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Neg;
    if (n > 0 && (adds || kind == OpKind::Mul)) {
      n = 0;
      for (ValueId o : fn().ops[def].operands) {
        const uint32_t of = degree(o, body, known);
        n = adds ? std::max(n, of) : std::min(n + of, manyFactors);
      }
    }
    return known[v] = n;
  }

  bool reduce(OpId id, RegionId region) {
    const Op& op = fn().ops[id];
    const Product product = productOf(terminator(fn(), op.regions[0]).operands[0]);
    if (product.factors.size() < 2) return false;
    const AxisVariance body(m_, f_, id, effects_);
    std::unordered_map<ValueId, uint32_t> degrees;
    uint32_t all = 0;
    for (ValueId v : product.factors) all += degree(v, body, degrees);
    if (all < manyFactors) return false;
    const std::optional<SplitSum> cut = cutOf(op, product, body);
    if (!cut) return false;
    rewrite(op, product, *cut, body, region);
    return true;
  }

  /// The first axis in order whose sum goes inside with gain decides.
  std::optional<SplitSum> cutOf(const Op& op, const Product& product, const AxisVariance& body) const {
    std::vector<AxisSet> axes;
    for (ValueId v : product.factors) {
      std::optional<AxisSet> of = body.axesOf(v);
      if (!of) return std::nullopt;
      axes.push_back(*of);
    }
    AxisSet reduced = AxisSet::first(op.dims.size());
    for (uint32_t a : nestResults(op)[0].keep) reduced = reduced - AxisSet::of(a);
    for (size_t a = 0; a < op.dims.size(); ++a) {
      if (!reduced.contains(a)) continue;
      SplitSum cut;
      AxisSet out, in;
      for (size_t k = 0; k < axes.size(); ++k) {
        const bool goesIn = axes[k].contains(a);
        (goesIn ? cut.inside : cut.outside).push_back(product.factors[k]);
        (goesIn ? in : out) |= axes[k];
      }
      cut.summed = reduced - out;
      cut.table = in - cut.summed;
      if (!out.empty() && !cut.inside.empty() && gains(op, cut) && mayRun(op, cut, body)) return cut;
    }
    return std::nullopt;
  }

  double points(const Op& op, AxisSet axes) const {
    double n = 1;
    for (size_t a = 0; a < op.dims.size(); ++a)
      if (axes.contains(a))
        n *= static_cast<double>(m_.types.dims.asConstant(op.dims[a]).value_or(assumedExtent));
    return n;
  }
  /// Fewer points, both sums over fewer axes.
  bool gains(const Op& op, const SplitSum& cut) const {
    const AxisSet all = AxisSet::first(op.dims.size());
    const AxisSet inner = cut.table | cut.summed;
    return inner != all && !cut.summed.empty() &&
           points(op, inner) + points(op, all - cut.summed) < points(op, all);
  }
  /// The inner sum stands where all its reads are in range, and its table is no larger than what it reads, at
  /// each point of the axes that the result keeps: of these, strips are made
  /// (loops/strip_mining/fuse_by_strips.h).
  bool mayRun(const Op& op, const SplitSum& cut, const AxisVariance& body) const {
    bool always = true;
    for (size_t a = 0; a < op.dims.size(); ++a)
      always = always && ((cut.table | cut.summed).contains(a) || m_.types.dims.atLeast(op.dims[a], 1));
    for (ValueId v : cut.inside)
      if (!always && !body.readsWithin(v)) return false;
    for (OpId id : body.slice(cut.inside)) {
      const Op& get = fn().ops[id];
      if (get.kind == OpKind::Get && holdsTable(op, cut.table - kept(op), get)) return true;
    }
    return cut.table.empty();
  }
  static AxisSet kept(const Op& op) {
    AxisSet axes;
    for (uint32_t a : nestResults(op)[0].keep) axes |= AxisSet::of(a);
    return axes;
  }
  /// Whether the array that is read has these axes of the nest: as indices, or others as long.
  bool holdsTable(const Op& op, AxisSet table, const Op& get) const {
    const TypeId array = fn().typeOf(get.operands[0]);
    if (m_.types.kind(array) != TypeKind::Array) return false;
    std::vector<DimId> extents = m_.types[array].dims;
    const bool isElement = get.operands.size() == extents.size() + 1;
    for (uint32_t a = 0; a < op.dims.size(); ++a) {
      if (!table.contains(a)) continue;
      const ValueId index = fn().regions[op.regions[0]].params[a];
      const auto at = std::find(get.operands.begin() + 1, get.operands.end(), index);
      const bool isIndex = isElement && at != get.operands.end();
      const DimId extent = isIndex ? m_.types[array].dims[at - get.operands.begin() - 1] : op.dims[a];
      const auto it = std::ranges::find(extents, extent);
      if (it == extents.end()) return false;
      extents.erase(it);
    }
    return true;
  }

  void rewrite(const Op& op, const Product& product, const SplitSum& cut, const AxisVariance& body,
               RegionId region) {
    Builder b(m_, f_, region, op.loc);
    const ValueId anyInside = hasTerms(op, cut, b);
    const ValueId table = innerSum(op, cut, body, b);
    NestBuilder outer(b);
    Cloner copy(m_, f_, f_);
    const AxisSet kept = AxisSet::first(op.dims.size()) - cut.summed;
    openAxes(outer, copy, fn(), op, kept);
    Builder in = b.in(outer.body());
    ValueId term = table;
    std::vector<ValueId> indices;
    const std::vector<ValueId>& params = fn().regions[op.regions[0]].params;
    for (size_t a = 0; a < op.dims.size(); ++a)
      if (cut.table.contains(a)) indices.push_back(copy.value(params[a]));
    if (!indices.empty()) term = in.getAt(table, indices);
    if (product.negative) term = in.unary(OpKind::Neg, term);
    const ValueId outside = multiply(cut.outside, body, copy, in);
    NestResult result = nestResults(op)[0];
    for (uint32_t& a : result.keep) a = numberIn(kept, a);
    if (result.keep.size() == kept.size()) {
      const std::vector<uint32_t> keep = result.keep;
      result = NestResult();
      result.keep = keep;
    }
    outer.add(std::move(result), in.binary(OpKind::Mul, outside, term));
    takeOver(fn(), anyInside.valid() ? unlessEmpty(outer.one(), anyInside, b) : outer.finish(), op.results);
  }
  /// Whether the inner sum has terms; none where it always has. Without, there is no term at all, though what
  /// stays outside may be infinite, and would make NaN of the sum that is 0 then.
  ValueId hasTerms(const Op& op, const SplitSum& cut, Builder& b) {
    std::vector<DimId> extents;
    for (size_t a = 0; a < op.dims.size(); ++a)
      if (cut.summed.contains(a)) extents.push_back(op.dims[a]);
    const DimId terms = m_.types.dims.product(extents);
    if (m_.types.dims.atLeast(terms, 1)) return {};
    return b.compare(ops::CmpKind::Gt, b.dimValue(terms), b.integer(0));
  }
  /// The nest that gives the elements of `sums` if `any`, and zeros else.
  OpId unlessEmpty(ValueId sums, ValueId any, Builder& b) {
    NestBuilder made(b);
    const std::vector<ValueId> at = made.openAxes(m_.types[fn().typeOf(sums)].dims);
    Builder in = b.in(made.body());
    const ValueId sum = in.getAt(sums, at);
    made.add(collecting(at.size()), in.select(any, sum, in.zero(fn().typeOf(sum))));
    return made.finish();
  }
  /// The axes of its result stand first.
  ValueId innerSum(const Op& op, const SplitSum& cut, const AxisVariance& body, Builder& b) {
    NestBuilder inner(b);
    Cloner copy(m_, f_, f_);
    NestResult sum =
        reducing(MonoidKind::Sum, collecting(openAxes(inner, copy, fn(), op, cut.table).size()).keep);
    openAxes(inner, copy, fn(), op, cut.summed);
    Builder in = b.in(inner.body());
    inner.add(std::move(sum), multiply(cut.inside, body, copy, in));
    return inner.one();
  }
  ValueId multiply(std::span<const ValueId> factors, const AxisVariance& body, Cloner& copy, Builder& in) {
    for (OpId id : body.slice(factors)) copy.op(id, in);
    ValueId product = copy.value(factors[0]);
    for (ValueId v : factors.subspan(1)) product = in.binary(OpKind::Mul, product, copy.value(v));
    return product;
  }
  /// The place of an axis among those of a set.
  static uint32_t numberIn(AxisSet axes, uint32_t axis) {
    uint32_t n = 0;
    for (uint32_t a = 0; a < axis; ++a) n += axes.contains(a);
    return n;
  }

  static constexpr uint32_t manyFactors = 3;
  static constexpr size_t mostFactors = 16;    ///< looked at: powers of powers have more
  static constexpr int64_t assumedExtent = 64; ///< where it is not known
  Module& m_;
  FunctionId f_;
  const Effects& effects_;
};

} // namespace

void factorReductions(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  changeBodies(m, [&](FunctionId f) { Reducer(m, f, effects).run(m.functions[f].body); });
}

} // namespace melix::transforms
