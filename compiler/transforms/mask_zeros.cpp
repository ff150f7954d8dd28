#include "transforms/mask_zeros.h"

#include "core/access.h"
#include "core/build.h"
#include "core/clone.h"
#include "core/nest.h"
#include "core/sizes.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/dce.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

constexpr int deepest = 16; ///< ops that make an element

/// What a number is where the mask does not hold.
enum class ValueKind : uint8_t { Other, MinusInfinity, Zero };
/// What something else has to be for that.
enum class NeedKind : uint8_t { AboveMinusInfinity, NotZero, Finite };
struct Need {
  NeedKind kind;
  ValueId v;
};

/// When elements of an array are zero.
struct Zeros {
  ValueId mask;                            ///< where it does not hold, in the body that makes them
  std::unordered_map<ValueId, ValueId> at; ///< of axes of the nests that make them: which index that is
  std::vector<Need> needs;
};

/// Elements of an array, at indices that are values of the nest that reads them.
class Elements {
public:
  Elements(const Module& m, const Function& f) : m_(m), f_(f) {}

  Zeros zeros;

  ValueKind of(ValueId array, std::vector<ValueId> indices, int depth = deepest) {
    const OpId def = f_.values[array].def;
    if (!def.valid() || depth == 0 || f_.ops[def].kind != OpKind::Nest) return ValueKind::Other;
    const NestView nest(f_, f_.ops[def]);
    for (const NestPart& part : nest.parts()) {
      if (nest.results(part)[0] != array) continue;
      if (part.spec->kind != NestResultKind::Collect || part.spec->keep != collecting(nest.axes()).keep ||
          indices.size() < nest.axes())
        return ValueKind::Other;
      for (size_t k = 0; k < nest.axes(); ++k) {
        const auto known = zeros.at.try_emplace(nest.axisParams()[k], indices[k]).first;
        if (known->second != indices[k]) return ValueKind::Other;
      }
      indices.erase(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(nest.axes()));
      const ValueId made = nest.yields(part)[0];
      return indices.empty() ? number(made, depth - 1) : of(made, std::move(indices), depth - 1);
    }
    return ValueKind::Other;
  }

private:
  const Op* defOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() ? &f_.ops[def] : nullptr;
  }
  ValueKind number(ValueId v, int depth) {
    const Op* op = defOf(v);
    if (!op || depth == 0) return ValueKind::Other;
    auto operand = [&](size_t k) { return number(op->operands[k], depth - 1); };
    switch (op->kind) {
    case OpKind::Zero: return ValueKind::Zero;
    case OpKind::Const: return constant(*op, v);
    case OpKind::StopGradient: return operand(0);
    case OpKind::Get: {
      std::vector<ValueId> indices;
      for (ValueId index : std::span(op->operands).subspan(1)) {
        const auto known = zeros.at.find(index);
        if (known == zeros.at.end()) return ValueKind::Other;
        indices.push_back(known->second);
      }
      return m_.types.isScalar(f_.typeOf(v)) ? of(op->operands[0], std::move(indices), depth - 1)
                                             : ValueKind::Other;
    }
    case OpKind::Select: return choice(op->operands[0], op->operands[2], depth);
    case OpKind::If: {
      const auto k = static_cast<size_t>(std::ranges::find(op->results, v) - op->results.begin());
      return choice(op->operands[0], terminator(f_, op->regions[1]).operands[k], depth);
    }
    case OpKind::Math: {
      const bool isExp = static_cast<ops::MathKind>(op->index()) == ops::MathKind::Exp;
      return isExp && operand(0) == ValueKind::MinusInfinity ? ValueKind::Zero : ValueKind::Other;
    }
    case OpKind::Sub:
      return operand(0) == ValueKind::MinusInfinity
                 ? needing(NeedKind::AboveMinusInfinity, op->operands[1], ValueKind::MinusInfinity)
                 : ValueKind::Other;
    case OpKind::Div:
      return operand(0) == ValueKind::Zero ? needing(NeedKind::NotZero, op->operands[1], ValueKind::Zero)
                                           : ValueKind::Other;
    case OpKind::Mul:
      for (size_t k : {0, 1})
        if (operand(k) == ValueKind::Zero)
          return needing(NeedKind::Finite, op->operands[1 - k], ValueKind::Zero);
      return ValueKind::Other;
    default: return ValueKind::Other;
    }
  }
  ValueKind constant(const Op& op, ValueId v) const {
    const TypeKind kind = m_.types.kind(f_.typeOf(v));
    if (!types::isFloatKind(kind)) return ValueKind::Other;
    const double number = floatValue(kind, op.as<Constant>().bits);
    if (number == 0) return ValueKind::Zero;
    return number == -std::numeric_limits<double>::infinity() ? ValueKind::MinusInfinity : ValueKind::Other;
  }
  ValueKind choice(ValueId condition, ValueId otherwise, int depth) {
    if (zeros.mask.valid() && zeros.mask != condition) return ValueKind::Other;
    zeros.mask = condition;
    return number(otherwise, depth - 1);
  }
  ValueKind needing(NeedKind kind, ValueId v, ValueKind is) {
    for (const Op* op = defOf(v); op && op->kind == OpKind::StopGradient; op = defOf(v)) v = op->operands[0];
    zeros.needs.push_back({kind, v});
    return is;
  }

  const Module& m_;
  const Function& f_;
};

/// A sum that can be put under the mask of one of its factors.
struct MaskedProduct {
  OpId nest, rows; ///< the sum; what makes the rows of the factor, and knows what it needs
  Zeros zeros;
  OpId other; ///< the read of the other factor
};

class Masker {
public:
  Masker(Module& m, FunctionId f) : m_(m), f_(f), info_(m.functions[f]) {}

  /// Whether there was one: it looks at the function as it was.
  bool one() {
    std::optional<MaskedProduct> found;
    regions_ = regionsOfOps(fn());
    forEachOp(fn(), [&](OpId id) {
      if (!found && fn().ops[id].kind == OpKind::Nest) found = productOf(id);
    });
    if (found) mask(*found);
    return found.has_value();
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  const Op* defOf(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() ? &fn().ops[def] : nullptr;
  }

  std::optional<MaskedProduct> productOf(OpId id) const {
    const NestView nest(fn(), fn().ops[id]);
    if (nest.accs() > 0 || nest.parts().size() != 1) return std::nullopt;
    const NestResult& r = *nest.parts()[0].spec;
    const ValueId term = nest.yields(nest.parts()[0])[0];
    if (r.kind != NestResultKind::Reduce || r.monoid != MonoidKind::Sum || r.keep.size() + 1 != nest.axes() ||
        !m_.types.isFloat(fn().typeOf(term)))
      return std::nullopt;
    const Op* product = defOf(term);
    if (!product || product->kind != OpKind::Mul || regions_[fn().values[term].def.index] != nest.body())
      return std::nullopt;
    for (size_t k : {0, 1}) {
      const OpId factor = fn().values[product->operands[k]].def,
                 other = fn().values[product->operands[1 - k]].def;
      if (!isRead(factor) || !isRead(other)) continue;
      Elements elements(m_, fn());
      const Op& get = fn().ops[factor];
      if (elements.of(get.operands[0], {get.operands.begin() + 1, get.operands.end()}) != ValueKind::Zero ||
          !elements.zeros.mask.valid())
        continue;
      MaskedProduct out{id, {}, std::move(elements.zeros), other};
      if (isWorth(out) && findRows(out)) return out;
    }
    return std::nullopt;
  }
  bool isRead(OpId id) const {
    return id.valid() && fn().ops[id].kind == OpKind::Get && fn().ops[id].operands.size() > 1;
  }
  ValueId reducedAxis(OpId id) const {
    const NestView nest(fn(), fn().ops[id]);
    const std::vector<uint32_t>& keep = nest.parts()[0].spec->keep;
    for (uint32_t k = 0; k < nest.axes(); ++k)
      if (std::ranges::find(keep, k) == keep.end()) return nest.axisParams()[k];
    return {};
  }

  /// Whether the mask compares the reduced axis with others, none of which the other factor has all of.
  bool isWorth(const MaskedProduct& p) const {
    const ValueId reduced = reducedAxis(p.nest);
    const MaskFacts facts{p.zeros, reduced, sizesInFront(fn(), p.nest)};
    bool compares = false;
    if (!isOfAxes(p.zeros.mask, facts, compares) || !compares) return false;
    const std::set<ValueId>& read = info_.axesOf(fn().ops[p.other].results[0]);
    const std::set<ValueId> written = info_.axesOf(fn().ops[p.nest].results[0]);
    std::set<ValueId> kept = written;
    const NestView nest(fn(), fn().ops[p.nest]);
    for (uint32_t k : nest.parts()[0].spec->keep) kept.insert(nest.axisParams()[k]);
    return read.contains(reduced) && readsAll(p.other) &&
           std::ranges::any_of(kept, [&](ValueId a) { return !read.contains(a); });
  }
  /// Whether an array is read at axes of nests, each of which is as long as it is: of a part, or where
  /// indices choose, to look at all of it would be more than the product.
  bool readsAll(OpId id) const {
    const Op& get = fn().ops[id];
    const std::vector<DimId> dims = m_.types[fn().typeOf(get.operands[0])].dims;
    if (get.operands.size() != dims.size() + 1) return false;
    std::unordered_set<ValueId> seen;
    for (size_t k = 0; k < dims.size(); ++k) {
      const ValueId index = get.operands[k + 1];
      const Value& axis = fn().values[index];
      if (axis.def.valid() || !axis.region.valid() || !seen.insert(index).second) return false;
      const OpId parent = fn().regions[axis.region].parent;
      if (!parent.valid() || fn().ops[parent].kind != OpKind::Nest) return false;
      const Op& nest = fn().ops[parent];
      if (axis.index >= nest.dims.size() || nest.dims[axis.index] != dims[k]) return false;
    }
    return true;
  }
  /// What tells whether a mask can be asked where the product is.
  struct MaskFacts {
    const Zeros& zeros;
    ValueId reduced;
    std::unordered_set<DimSym> sizes; ///< known there
  };
  /// Comparisons of sums of axes and sizes that are known where the product is.
  bool isOfAxes(ValueId v, const MaskFacts& facts, bool& compares) const {
    const auto index = facts.zeros.at.find(v);
    if (index != facts.zeros.at.end()) return compares |= index->second == facts.reduced, true;
    const Op* op = defOf(v);
    if (!op) return false;
    switch (op->kind) {
    case OpKind::Const: return true;
    case OpKind::DimValue:
      return std::ranges::all_of(sizesOf(m_, fn(), *op), [&](DimSym s) { return facts.sizes.contains(s); });
    case OpKind::Cmp:
      if (fn().typeOf(op->operands[0]) != m_.types.int64()) return false;
      [[fallthrough]];
    case OpKind::And:
    case OpKind::Add:
    case OpKind::Sub:
      return std::ranges::all_of(Operands(op->operands),
                                 [&](ValueId each) { return isOfAxes(each, facts, compares); });
    default: return false;
    }
  }

  /// The nest in whose body all stands that is needed; its axes tell rows that are no terms.
  bool findRows(MaskedProduct& p) const {
    if (p.zeros.needs.empty()) return true;
    const ValueId reduced = reducedAxis(p.nest);
    for (const Need& need : p.zeros.needs) {
      const OpId def = fn().values[need.v].def;
      if (!def.valid()) return false;
      const OpId rows = fn().regions[regions_[def.index]].parent;
      if (!rows.valid() || fn().ops[rows].kind != OpKind::Nest || (p.rows.valid() && p.rows != rows))
        return false;
      p.rows = rows;
    }
    const NestView nest(fn(), fn().ops[p.rows]);
    return nest.accs() == 0 && std::ranges::all_of(nest.axisParams(), [&](ValueId axis) {
             const auto index = p.zeros.at.find(axis);
             return index != p.zeros.at.end() && index->second != reduced;
           });
  }

  // --- what is needed
  // ---------------------------------------------------------------------------------------------------------
  static ValueId holds(Builder& b, const Need& need) {
    const TypeId type = b.typeOf(need.v);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (need.kind) {
    case NeedKind::AboveMinusInfinity: return b.compare(CmpKind::Gt, need.v, b.number(type, -infinity));
    case NeedKind::NotZero: return b.compare(CmpKind::Gt, b.unary(OpKind::Abs, need.v), b.number(type, 0));
    case NeedKind::Finite: break;
    }
    return b.compare(CmpKind::Lt, b.unary(OpKind::Abs, need.v), b.number(type, infinity));
  }
  /// Collected by the nest of the rows: whether something is not as needed.
  ValueId failing(const MaskedProduct& p) {
    const RegionId body = fn().ops[p.rows].regions[0];
    const OpId yield = fn().regions[body].ops.back();
    fn().regions[body].ops.pop_back();
    Builder b(m_, f_, body, fn().ops[p.rows].loc);
    ValueId all;
    for (const Need& need : p.zeros.needs) {
      const ValueId is = holds(b, need);
      all = all.valid() ? b.binary(OpKind::And, all, is) : is;
    }
    const ValueId fails = b.unary(OpKind::Not, all);
    fn().regions[body].ops.push_back(yield);
    LiveUses uses(m_, f_);
    return collectMore(m_, fn(), uses, p.rows, std::span(&fails, 1))[0];
  }
  /// Whether all of an array is finite, behind what makes it, or where the nests around the sum begin.
  ValueId finite(const MaskedProduct& p) {
    const ValueId array = fn().ops[p.other].operands[0];
    const OpId def = fn().values[array].def;
    const RegionId made = def.valid() ? regions_[def.index] : fn().values[array].region;
    OpId before = p.nest;
    while (regions_[before.index] != made &&
           fn().ops[fn().regions[regions_[before.index]].parent].kind == OpKind::Nest)
      before = fn().regions[regions_[before.index]].parent;
    const RegionId home = regions_[before.index];
    std::vector<OpId> ops = std::move(fn().regions[home].ops);
    fn().regions[home].ops.clear();
    Builder b(m_, f_, home, fn().ops[p.nest].loc);
    NestBuilder nest(b);
    const std::vector<DimId> dims = m_.types[fn().typeOf(array)].dims;
    const std::vector<ValueId> axes = nest.openAxes(dims);
    Builder in = b.in(nest.body());
    NestResult all;
    all.kind = NestResultKind::Reduce;
    all.monoid = MonoidKind::And;
    nest.add(all, holds(in, {NeedKind::Finite, in.getAt(array, axes)}));
    const ValueId is = nest.one();
    const std::vector<OpId> front = std::move(fn().regions[home].ops);
    const auto place =
        def.valid() && made == home ? std::ranges::find(ops, def) + 1 : std::ranges::find(ops, before);
    ops.insert(place, front.begin(), front.end());
    fn().regions[home].ops = std::move(ops);
    return is;
  }

  // --- the sum
  // ---------------------------------------------------------------------------------------------------------
  void mask(const MaskedProduct& p) {
    const ValueId fails = p.rows.valid() ? failing(p) : ValueId(), isFinite = finite(p);
    const Op op = fn().ops[p.nest];
    const NestResult r = nestResults(op)[0];
    const RegionId home = regions_[p.nest.index];
    std::vector<OpId> ops = std::move(fn().regions[home].ops);
    fn().regions[home].ops.clear();
    Builder b(m_, f_, home, op.loc);
    Cloner copy(m_, f_, f_);
    ValueId made;
    if (r.keep.empty()) {
      made = sum(p, fails, isFinite, copy, b);
    } else {
      NestBuilder around(b);
      const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
      for (uint32_t k : r.keep) copy.values[params[k]] = around.axis(op.dims[k]);
      Builder in = b.in(around.body());
      around.collect(sum(p, fails, isFinite, copy, in));
      made = around.one();
    }
    takeOver(fn(), fn().values[made].def, std::vector<ValueId>(op.results.begin(), op.results.end()));
    const std::vector<OpId> front = std::move(fn().regions[home].ops);
    const auto place = std::ranges::find(ops, p.nest);
    ops.insert(ops.erase(place), front.begin(), front.end());
    fn().regions[home].ops = std::move(ops);
  }
  ValueId sum(const MaskedProduct& p, ValueId fails, ValueId isFinite, Cloner copy, Builder& b) {
    ValueId anyway = b.unary(OpKind::Not, isFinite);
    if (fails.valid()) {
      std::vector<ValueId> indices;
      for (ValueId axis : NestView(fn(), fn().ops[p.rows]).axisParams())
        indices.push_back(copy.value(p.zeros.at.at(axis)));
      anyway = b.binary(OpKind::Or, anyway, b.getAt(fails, indices));
    }
    const Op op = fn().ops[p.nest];
    NestResult r = nestResults(op)[0];
    r.keep.clear();
    NestBuilder made(b);
    const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
    for (uint32_t k = 0; k < op.dims.size(); ++k)
      if (!copy.values.contains(params[k])) copy.values[params[k]] = made.axis(op.dims[k]);
    Builder in = b.in(made.body());
    Cloner toMask(m_, f_, f_);
    for (auto [axis, index] : p.zeros.at) toMask.values[axis] = copy.value(index);
    write(p.zeros.mask, p.zeros, toMask, in);
    std::vector<ValueId> holds;
    conjuncts(p.zeros.mask, holds);
    ValueId all;
    for (ValueId each : holds) {
      const ValueId is = in.binary(OpKind::Or, toMask.value(each), anyway);
      all = all.valid() ? in.binary(OpKind::And, all, is) : is;
    }
    // What the factors are made of is there at all points, as it was: the branch makes the product alone.
    const ValueId product = terminator(fn(), op.regions[0]).operands[0];
    const std::vector<OpId> factors = fn().regions[op.regions[0]].ops;
    for (OpId id : std::span(factors).first(factors.size() - 1))
      if (id != fn().values[product].def) copy.op(id, in);
    Builder yes = in.in(in.newRegion()), no = in.in(in.newRegion());
    const TypeId term = fn().typeOf(product);
    copy.op(fn().values[product].def, yes);
    yes.yield({copy.value(product)});
    no.yield({no.number(term, 0)});
    Op branch = Builder::simple(OpKind::If, {all});
    branch.regions = {yes.region, no.region};
    made.add(std::move(r), in.one(std::move(branch), term));
    return made.one();
  }
  void conjuncts(ValueId v, std::vector<ValueId>& out) const {
    const Op* op = defOf(v);
    if (op && op->kind == OpKind::And)
      for (ValueId each : Operands(op->operands)) conjuncts(each, out);
    else
      out.push_back(v);
  }
  /// What makes the mask, of the indices here.
  void write(ValueId v, const Zeros& zeros, Cloner& copy, Builder& b) const {
    const OpId def = fn().values[v].def;
    if (!def.valid() || copy.values.contains(v)) return;
    for (ValueId operand : Operands(fn().ops[def].operands)) write(operand, zeros, copy, b);
    copy.op(def, b);
  }

  Module& m_;
  FunctionId f_;
  const AccessInfo info_;
  std::vector<RegionId> regions_; ///< of ops
};

} // namespace

void maskZeros(Module& m) {
  const Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    bool changed = false;
    while (Masker(m, f).one()) changed = true;
    if (changed) eliminateDeadValues(m, f, effects);
  }
}

} // namespace melix::transforms
