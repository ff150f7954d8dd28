#include "core/order/verify.h"

#include "core/ir/analyses.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "core/order/order.h"
#include "core/text/print.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace melix::core {

namespace {

class Verifier {
public:
  Verifier(const Module& m, FunctionId id, States states)
      : m_(m), id_(id), f_(m.functions[id]), types_(m.types), states_(states),
        seen_(f_.values.size(), false) {}

  std::vector<std::string> run() {
    for (DimSym s : f_.dimParams) dims_.insert(s);
    const Region& body = f_.regions[f_.body];
    for (ValueId p : body.params) define(p, OpId());
    region(f_.body);
    if (!problems_.empty()) return std::move(problems_);
    const Op& end = terminator(f_, f_.body);
    if (end.dims.size() != f_.resultDims.size())
      report(terminatorId(f_, f_.body), "yields a wrong number of dims");
    else
      yields(terminatorId(f_, f_.body), f_.results, f_.resultDims, end.dims);
    for (InoutPair p : f_.inouts)
      if (p.param >= body.params.size() || p.result >= f_.results.size())
        say("an inout pair is out of range");
    return std::move(problems_);
  }

private:
  void say(std::string text) { problems_.push_back(f_.name + ": " + text); }
  void report(OpId op, const std::string& text) { say("`" + printOp(m_, id_, op) + "`: " + text); }

  bool inScope(TypeId t) {
    std::vector<DimSym> syms;
    types_.collectSymbols(t, syms);
    return std::all_of(syms.begin(), syms.end(), [&](DimSym s) { return dims_.contains(s); });
  }
  bool inScope(DimId d) {
    std::vector<DimSym> syms;
    types_.dims.collectSymbols(d, syms);
    return std::all_of(syms.begin(), syms.end(), [&](DimSym s) { return dims_.contains(s); });
  }
  void define(ValueId v, OpId at) {
    if (seen_[v.index]) say("a value is defined twice");
    seen_[v.index] = true;
    if (!inScope(f_.typeOf(v))) {
      std::string text =
          "type " + types_.print(f_.typeOf(v)) + " mentions a dimension that is not defined here";
      if (at.valid())
        report(at, text);
      else
        say(text);
    }
    scope_.push_back(v);
    visible_.insert(v);
  }

  /// Ops of a region whose parameters are defined; what it defines leaves the scope with it.
  void region(RegionId r) {
    size_t mark = scope_.size();
    std::vector<DimSym> defined;
    const std::vector<OpId>& ops = f_.regions[r].ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if ((f_.ops[ops[i]].kind == OpKind::Yield) != (i + 1 == ops.size()))
        report(ops[i], "yield ends a region, and only it");
      op(ops[i], defined);
    }
    if (ops.empty()) say("a region is empty");
    for (; scope_.size() > mark; scope_.pop_back()) visible_.erase(scope_.back());
    for (DimSym s : defined) dims_.erase(s);
  }

  void op(OpId id, std::vector<DimSym>& defined) {
    const Op& o = f_.ops[id];
    if (std::string wrong = inputs(id); !wrong.empty())
      report(id, wrong);
    else if (o.regions.empty()) {
      for (DimSym s : o.resultDims) defineDim(id, s, defined);
      if (std::string types = checkOpTypes(m_, f_, o); !types.empty()) report(id, types);
    } else {
      structured(id);
      for (DimSym s : o.resultDims) defineDim(id, s, defined);
    }
    for (uint32_t i = 0; i < o.results.size(); ++i) {
      const Value& v = f_.values[o.results[i]];
      if (v.def != id || v.index != i) report(id, "a result does not know its op");
      define(o.results[i], id);
    }
  }
  std::string inputs(OpId id) {
    const Op& o = f_.ops[id];
    for (ValueId v : o.operands)
      if (!visible_.contains(v)) return "an operand is not defined here";
    for (DimId d : o.dims)
      if (!inScope(d)) return "dimension " + types_.dims.print(d) + " is not defined here";
    if (auto* path = std::get_if<Path>(&o.attr))
      for (const PathStep& s : *path)
        if (s.length.valid() && !inScope(s.length)) return "the length of a slice is not defined here";
    for (RegionId r : o.regions)
      if (f_.regions[r].parent != id) return "a region does not know its op";
    if (!o.loc.valid() && m_.locs.size() > 0) return "it has no location";
    return stateProblem(o);
  }
  /// What an op has to do with the states that hold.
  std::string stateProblem(const Op& o) const {
    const bool isFunctionValue = o.kind == OpKind::Closure || o.kind == OpKind::Apply;
    if (isFunctionValue && states_.has(State::FunctionsKnown)) return "no function value may be left here";
    if (o.kind == OpKind::Derivative && states_.has(State::DerivativesGone))
      return "no derivative may be left here";
    if (o.kind == OpKind::Match && states_.has(State::EnumsMatched) && !o.operands.empty() &&
        !isMatchOfEnum(m_, f_, o))
      return "no number may be matched here";
    return {};
  }
  void defineDim(OpId id, DimSym s, std::vector<DimSym>& defined) {
    if (!dims_.insert(s).second) report(id, "defines a dimension that is defined already");
    defined.push_back(s);
  }
  // --- ops with regions
  // -------------------------------------------------------------------------------------------

  bool arity(OpId id, RegionId r, size_t params, size_t dimParams, size_t yielded, size_t yieldedDims) {
    const Region& region = f_.regions[r];
    if (region.ops.empty() || terminator(f_, r).kind != OpKind::Yield)
      return report(id, "a region does not end in yield"), false;
    const Op& end = terminator(f_, r);
    bool fits = region.params.size() == params && region.dimParams.size() == dimParams &&
                end.operands.size() == yielded && end.dims.size() == yieldedDims;
    if (!fits)
      report(id, "a region takes " + std::to_string(region.params.size()) + " values and yields " +
                     std::to_string(end.operands.size()) + ", not " + std::to_string(params) + " and " +
                     std::to_string(yielded) + " (or its dims do not fit)");
    return fits;
  }
  void paramIs(OpId id, ValueId p, TypeId want) {
    if (f_.typeOf(p) != want)
      report(id, "a parameter is " + types_.print(f_.typeOf(p)) + ", not " + types_.print(want));
  }
  types::DimSubst substitution(std::span<const DimSym> from, std::span<const DimId> to) {
    types::DimSubst out;
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) out.emplace(from[i], to[i]);
    return out;
  }
  std::vector<DimId> asDims(std::span<const DimSym> syms) {
    std::vector<DimId> out;
    for (DimSym s : syms) out.push_back(types_.dims.symbol(s));
    return out;
  }
  /// Operands of a yield have types `want` once `syms` stand for `values`.
  void yields(OpId yield, const std::vector<TypeId>& want, std::span<const DimSym> syms,
              std::span<const DimId> values, size_t at = 0) {
    const Op& o = f_.ops[yield];
    types::DimSubst subst = substitution(syms, values);
    for (size_t i = 0; i < want.size(); ++i) {
      TypeId t = types_.substitute(want[i], subst);
      if (at + i >= o.operands.size()) return report(yield, "yields too few values");
      if (f_.typeOf(o.operands[at + i]) != t)
        report(yield, "yields " + types_.print(f_.typeOf(o.operands[at + i])) + " where " + types_.print(t) +
                          " belongs");
    }
  }
  void enter(RegionId r, OpId id) {
    const std::vector<ValueId>& params = f_.regions[r].params;
    for (DimSym s : f_.regions[r].dimParams) dims_.insert(s);
    for (ValueId p : params) define(p, id);
    region(r);
    for (ValueId p : params) visible_.erase(p);
    scope_.resize(scope_.size() - params.size());
    for (DimSym s : f_.regions[r].dimParams) dims_.erase(s);
  }
  std::vector<TypeId> resultTypes(const Op& o, size_t from = 0, size_t count = SIZE_MAX) {
    std::vector<TypeId> out;
    for (size_t i = from; i < o.results.size() && out.size() < count; ++i)
      out.push_back(f_.typeOf(o.results[i]));
    return out;
  }

  void structured(OpId id) {
    const Op& o = f_.ops[id];
    switch (o.kind) {
    case OpKind::If: return branch(id);
    case OpKind::Match: return match(id);
    case OpKind::For: return forLoop(id);
    case OpKind::While: return whileLoop(id);
    case OpKind::Nest: return nest(id);
    default: return report(id, "takes no regions");
    }
  }

  void branch(OpId id) {
    const Op& o = f_.ops[id];
    if (o.operands.size() != 1 || f_.typeOf(o.operands[0]) != types_.boolean() || o.regions.size() != 2)
      return report(id, "needs a bool and two regions");
    for (RegionId r : o.regions) {
      if (!arity(id, r, 0, 0, o.results.size(), o.resultDims.size())) return;
      enter(r, id);
      yields(terminatorId(f_, r), resultTypes(o), o.resultDims, terminator(f_, r).dims);
    }
  }

  void match(OpId id) {
    const Op& o = f_.ops[id];
    if (o.operands.size() != 1) return report(id, "needs one operand");
    const TypeId t = f_.typeOf(o.operands[0]);
    const auto& regionOf = o.as<MatchAttr>().regionOf;
    if (std::ranges::any_of(regionOf, [&](uint32_t r) { return r >= o.regions.size(); }))
      return report(id, "no such region");
    if (types_.kind(t) == TypeKind::Enum)
      payloads(id, t, regionOf);
    else
      numbers(id, t, regionOf);
    for (RegionId r : o.regions) {
      if (!arity(id, r, f_.regions[r].params.size(), 0, o.results.size(), o.resultDims.size())) return;
      enter(r, id);
      yields(terminatorId(f_, r), resultTypes(o), o.resultDims, terminator(f_, r).dims);
    }
  }
  void payloads(OpId id, TypeId t, const std::vector<uint32_t>& regionOf) {
    const Op& o = f_.ops[id];
    const size_t cases = types_.recordInfo(types_[t].record).cases.size();
    if (regionOf.size() != cases) return report(id, "needs a region for each case");
    for (uint32_t c = 0; c < cases; ++c) {
      RegionId r = o.regions[regionOf[c]];
      if (f_.regions[r].params.empty()) continue; // the payload is not taken
      if (std::count(regionOf.begin(), regionOf.end(), regionOf[c]) != 1)
        return report(id, "cases with a payload share a region");
      size_t fields = types_.recordInfo(types_[t].record).cases[c].fields.size();
      if (f_.regions[r].params.size() != fields) return report(id, "a region takes another payload");
      for (uint32_t k = 0; k < fields; ++k) paramIs(id, f_.regions[r].params[k], types_.fieldType(t, c, k));
    }
  }
  void numbers(OpId id, TypeId t, const std::vector<uint32_t>& regionOf) {
    const TypeKind kind = types_.kind(t);
    const bool isBool = kind == TypeKind::Bool,
               isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
    if (!isBool && !types_.isInt(t)) return report(id, "needs an enum, a bool or an integer");
    const unsigned bits = isBool ? 1 : types::scalarBits(kind) - (isSigned ? 1 : 0); // of a number
    if (regionOf.empty() || (bits < 32 && regionOf.size() > size_t{1} << bits))
      return report(id, "needs regions for numbers of its type");
    for (RegionId r : f_.ops[id].regions)
      if (!f_.regions[r].params.empty()) return report(id, "a number has no payload");
  }

  /// What is carried into a region of a loop.
  void carries(OpId id, const LoopView& loop, RegionId r) {
    const Op& o = f_.ops[id];
    types::DimSubst initial = substitution(f_.regions[r].dimParams, o.dims);
    for (size_t k = 0; k < loop.carries(); ++k) {
      TypeId want = types_.substitute(f_.typeOf(loop.carryParams(r)[k]), initial);
      if (f_.typeOf(loop.carryOperands()[k]) != want)
        report(id,
               "carries " + types_.print(f_.typeOf(loop.carryOperands()[k])) + " as " + types_.print(want));
    }
  }

  void forLoop(OpId id) {
    const Op& o = f_.ops[id];
    if (o.operands.empty() || o.regions.size() != 1 || f_.typeOf(o.operands[0]) != types_.int64())
      return report(id, "needs a count and one region");
    const LoopView loop(f_, o);
    const size_t count = loop.carries(), carried = o.dims.size();
    if (o.results.size() != count + loop.stacks() || o.resultDims.size() != carried + (loop.stacks() > 0))
      return report(id, "results do not fit the carries and collects");
    if (!arity(id, loop.body(), count + 1, carried, count + loop.stacks(), carried)) return;
    paramIs(id, loop.index(), types_.int64());
    carries(id, loop, loop.body());
    enter(loop.body(), id);
    rounds(id, loop);
    for (size_t k = 0; k < loop.stacks(); ++k) {
      TypeId want = types_.array(f_.typeOf(loop.stackYields()[k]), {types_.dims.symbol(loop.extent())});
      if (f_.typeOf(loop.stackResults()[k]) != want) report(id, "collects " + types_.print(want));
    }
  }
  /// What the body yields goes around, and becomes the results.
  void rounds(OpId id, const LoopView& loop) {
    std::vector<TypeId> types;
    for (ValueId v : loop.carryParams()) types.push_back(f_.typeOf(v));
    const std::vector<DimSym>& syms = f_.regions[loop.body()].dimParams;
    yields(terminatorId(f_, loop.body()), types, syms, terminator(f_, loop.body()).dims);
    const types::DimSubst after = substitution(syms, asDims(loop.resultDims()));
    for (size_t k = 0; k < types.size(); ++k)
      if (f_.typeOf(loop.carryResults()[k]) != types_.substitute(types[k], after))
        report(id, "a result has another type than its carry");
  }

  void whileLoop(OpId id) {
    const Op& o = f_.ops[id];
    const size_t count = o.operands.size(), carried = o.dims.size();
    if (o.regions.size() != 2 || o.results.size() != count || o.resultDims.size() != carried)
      return report(id, "needs two regions and a result for each carry");
    const LoopView loop(f_, o);
    if (!arity(id, loop.condition(), count, carried, 1, 0) ||
        !arity(id, loop.body(), count, carried, count, carried))
      return;
    for (RegionId r : o.regions) {
      carries(id, loop, r);
      enter(r, id);
    }
    yields(terminatorId(f_, loop.condition()), {types_.boolean()}, {}, {});
    rounds(id, loop);
  }

  void nest(OpId id) {
    const Op& o = f_.ops[id];
    const NestView nest(f_, o);
    const size_t axes = nest.axes();
    size_t filters = 0;
    for (const NestPart& part : nest.parts()) {
      const NestResult& r = *part.spec;
      filters += r.kind == NestResultKind::Filter;
      for (uint32_t a : r.keep)
        if (a >= axes) return report(id, "keeps an axis that is not there");
      if (r.kind == NestResultKind::Collect && r.keep.size() != axes)
        return report(id, "collecting keeps all axes");
    }
    if (o.regions.empty() || o.operands.size() != nest.accs() + nest.partUnits() ||
        o.results.size() != nest.partResults() + nest.accs() || o.resultDims.size() != filters)
      return report(id, "operands or results do not fit the attribute");
    RegionId r = o.regions[0];
    if (!arity(id, r, axes + nest.accs(), 0, nest.partYields() + nest.accs(), 0)) return;
    for (ValueId axis : nest.axisParams()) paramIs(id, axis, types_.int64());
    for (uint32_t k = 0; k < nest.accs(); ++k) accumulator(id, nest, k);
    enter(r, id);
    for (const NestPart& part : nest.parts()) nestResult(id, nest, part);
  }
  void accumulator(OpId id, const NestView& nest, uint32_t k) {
    TypeId t = f_.typeOf(nest.accOperands()[k]);
    TypeId inner = types_.kind(t) == TypeKind::Acc ? types_[t].parts[0] : t;
    paramIs(id, nest.accParams()[k], types_.acc(inner));
    if (f_.typeOf(nest.accResults()[k]) != t) report(id, "an accumulator comes back with another type");
    if (f_.typeOf(nest.accYields()[k]) != types_.acc(inner)) report(id, "an accumulator is not yielded");
  }
  void nestResult(OpId id, const NestView& nest, const NestPart& part) {
    const Op& o = f_.ops[id];
    const NestResult& nr = *part.spec;
    const auto yields = nest.yields(part);
    const TypeId t = f_.typeOf(yields[0]);
    const bool reduces = nr.kind == NestResultKind::Reduce;
    if (nr.kind == NestResultKind::Filter && (t != types_.boolean() || o.dims.size() != 1))
      report(id, "a filter yields a bool and has one axis");
    if (isCombine(nr))
      combine(id, nest, part);
    else if (reduces && !isSum(nr) && !types_.isScalar(t))
      report(id, "reduces scalars only");
    if (nr.order != OrderKind::Unset)
      order(id, nr, t);
    else if (reduces && isOrdered(nr.monoid, OrderKind::Chain, types_.kind(t)) &&
             nr.keep.size() < o.dims.size() && states_.has(State::OrdersChosen))
      report(id, "a sum of floats has no order");
    for (uint32_t k = 0; k < part.results.count; ++k) {
      const TypeId yielded = f_.typeOf(yieldedFor(nr, yields, k));
      const TypeId want = nestResultType(types_, nr, o.dims, yielded, nest.size(part));
      if (f_.typeOf(nest.results(part)[k]) != want)
        report(id, "result " + std::to_string(part.results.first + k) + " is not " + types_.print(want));
    }
  }
  void order(OpId id, const NestResult& r, TypeId term) {
    if (r.kind != NestResultKind::Reduce || !isOrdered(r.monoid, r.order, types_.kind(term)))
      return report(id, "only sums and products of floats have an order");
    if (r.order != OrderKind::Lanes) return;
    if (states_.has(State::SumsUnordered)) report(id, "no sum may be in lanes here");
    if (!std::has_single_bit(r.lanes)) report(id, "lanes are a power of two");
    if (r.row >= f_.ops[id].dims.size() || std::find(r.keep.begin(), r.keep.end(), r.row) != r.keep.end())
      report(id, "the lanes' axis is not reduced");
  }
  void combine(OpId id, const NestView& nest, const NestPart& part) {
    const uint32_t count = part.spec->yields, number = part.spec->combineRegion;
    if (number >= f_.ops[id].regions.size() || !arity(id, nest.combine(part), 2 * count, 0, count, 0)) return;
    for (uint32_t k = 0; k < count; ++k) {
      TypeId one = f_.typeOf(nest.yields(part)[k]);
      paramIs(id, f_.regions[nest.combine(part)].params[k], one);
      paramIs(id, f_.regions[nest.combine(part)].params[count + k], one);
      if (f_.typeOf(nest.units(part)[k]) != one) report(id, "a unit has another type");
    }
    enter(nest.combine(part), id);
  }

  const Module& m_;
  FunctionId id_;
  const Function& f_;
  types::TypeStore& types_;
  const States states_;
  std::vector<std::string> problems_;
  std::vector<bool> seen_;
  std::vector<ValueId> scope_;
  std::unordered_set<ValueId> visible_;
  std::unordered_set<DimSym> dims_;
};

} // namespace

std::vector<std::string> verifyFunction(const Module& m, FunctionId f, States states) {
  return Verifier(m, f, states).run();
}

} // namespace melix::core
