// A function's body: its results, sizes, locals, blocks, and what stands behind an exit.
#include "lower/body.h"

#include "core/analysis/ranges.h"
#include "lower/control.h"
#include "lower/expr.h"
#include "lower/hoist.h"
#include "lower/late.h"
#include "lower/loops.h"
#include "lower/match.h"
#include "lower/sizes.h"

#include <cassert>

namespace melix::lower {

using namespace check;

namespace {

/// Whether `made` is of the use of a macro that made the function itself, or one around it.
bool isOwnExpansion(const BodyLowering& fn, const Expansion& made) {
  const SourceStore& sources = fn.lowering.sources;
  for (const Expansion* own = sources.expansion(fn.instance.span.file); own;
       own = sources.expansion(own->use.file))
    if (own->use == made.use) return true;
  return false;
}

/// In `let P = e else { … }` the block leaves where the pattern does not match.
void leaveUnlessMatched(BodyLowering& fn, const Node& let, ValueId value) {
  if (let.children.size() == 1) return;
  ValueId hit = testPattern(fn, value, let.as<PatternRef>().pattern);
  branches(fn, Builder::simple(OpKind::If, {hit}),
           {[&](RegionId) { return fn.unit(); },
            [&](RegionId) {
              fn.expr(let.children[1]);
              return fn.unit();
            }},
           fn.types.unit(), {});
}

/// Binds the names of a `let`, then `rest`. Where the `let` may have left, both stand in one guard: what did
/// not match has no parts to bind, and the names must reach the rest.
ValueId afterLet(BodyLowering& fn, const Node& let, ValueId value, TypeId type, const Make& rest) {
  leaveUnlessMatched(fn, let, value);
  Make bound = [&] {
    bindPattern(fn, value, let.as<PatternRef>().pattern);
    return rest();
  };
  if (fn.exits.flow == FlowKind::Off) return fn.undef(fn.T(type));
  return fn.exits.flow == FlowKind::Maybe ? fn.guarded(type, bound) : bound();
}

} // namespace

BodyLowering::BodyLowering(core::Module& module, Lowering& lowering, const Instance& instance,
                           core::FunctionId function)
    : module(module), types(module.types), lowering(lowering), instance(instance), function(function),
      b(module, function, module.functions[function].body, core::LocId::none()),
      exits(static_cast<uint32_t>(instance.locals.size())) {
  collectSizes(*this);
}

/// What a macro wrote in a function is shown as if the use called the macro.
core::LocId BodyLowering::locOf(Span span) {
  core::Loc source;
  source.span = span;
  source.function = instance.name;
  core::LocId made = module.locs.add(std::move(source));
  const SourceStore& sources = lowering.sources;
  for (const Expansion* e = sources.expansion(span.file); e && !isOwnExpansion(*this, *e);
       e = sources.expansion(e->use.file))
    made = module.locs.add(core::Loc{core::LocKind::InlinedAt, e->use, made, "@" + e->macro});
  return made;
}

void BodyLowering::run() {
  b.loc = locOf(instance.span);
  module.functions[function].loc = b.loc;
  const bool atEnds = instance.resultDims.empty() && returnsAtEnds(instance, types, instance.body);
  const bool mayExit = jumpsInLoops(instance) || (!atEnds && exitsIn(instance, instance.body));
  if (mayExit) {
    values[exits.code] = b.integer(static_cast<int64_t>(core::exits::on));
    // Sizes that the function decides travel with the value (carriedReturn).
    bool decides = !instance.resultDims.empty() && types.kind(instance.result) != TypeKind::Pack;
    values[exits.value] =
        decides ? b.undef(types.pack(instance.result, instance.resultDims)) : undef(instance.result);
  }
  for (size_t k = 0; k < instance.params.size(); ++k)
    define(instance.params[k], b.fn().regions[b.fn().body].params[k]);
  ValueId value = atEnds ? atEnd(*this, {instance.body}) : expr(instance.body);
  TypeId result = instance.result;
  if (exits.flow == FlowKind::Off && mayExit) {
    value = returned(*this);
  } else if (exits.flow == FlowKind::Maybe) {
    ValueId normal = value;
    core::Op op = Builder::simple(OpKind::If, {exitIs(*this, core::exits::ret)});
    exits.flow = FlowKind::On;
    value = branches(*this, std::move(op),
                     {[&](RegionId) { return returned(*this); }, [&](RegionId) { return normal; }}, result,
                     instance.resultDims);
  }
  types::DimSubst actual;
  matchDims(result, b.typeOf(value), actual);
  std::vector<DimId> own;
  types::DimSubst all;
  for (DimSym s : instance.resultDims) {
    DimId d = types.dims.constant(0);
    if (auto found = actual.find(s); found != actual.end())
      d = found->second;
    else if (auto mapped = sizes.known.find(s); mapped != sizes.known.end())
      d = mapped->second;
    own.push_back(d);
    all.emplace(s, d);
  }
  bool never = types.kind(result) == TypeKind::Never;
  std::vector<ValueId> out{never ? b.undef(result) : cast(value, types.substitute(result, all))};
  for (LocalId p : instance.params)
    if (instance.locals[p].isInout) out.push_back(values[p]);
  b.yield(std::move(out), std::move(own));
}

/// The dims that the symbols of `wanted` have in `actual`, a type of the same structure.
void BodyLowering::matchDims(TypeId wanted, TypeId actual, types::DimSubst& out) {
  const types::Type &w = types[wanted], &a = types[actual];
  for (size_t k = 0; k < w.dims.size() && k < a.dims.size(); ++k)
    if (auto s = types.dims.asSymbol(w.dims[k])) out.emplace(*s, a.dims[k]);
  for (size_t k = 0; k < w.parts.size() && k < a.parts.size(); ++k) matchDims(w.parts[k], a.parts[k], out);
}

void BodyLowering::learnDims(TypeId wanted, ValueId value, const std::vector<DimSym>& symbols) {
  if (symbols.empty()) return;
  types::DimSubst found;
  matchDims(wanted, b.typeOf(value), found);
  for (DimSym s : symbols)
    if (auto it = found.find(s); it != found.end()) sizes.known[s] = it->second;
}

ValueId BodyLowering::cast(ValueId value, TypeId type) {
  TypeId from = b.typeOf(value);
  if (from == type || types.kind(type) == TypeKind::Never || types.kind(type) == TypeKind::Error)
    return value;
  const core::OpId def = b.fn().values[value].def;
  const bool isUndefined = def && b.fn().ops[def].kind == OpKind::Undef;
  if (isUndefined || types.isUnit(from) || types.kind(from) == TypeKind::Never)
    return undef(type); // what stands here does not come back
  assert(!(types.isScalar(from) && types.isScalar(type)) && "a cast changes sizes, not what a number is");
  checkClaims(*this, from, type);
  return b.castDims(value, type);
}

ValueId BodyLowering::unit() { return b.make(types.unit(), {}); }

ValueId BodyLowering::undef(TypeId type) {
  if (types.kind(type) == TypeKind::Never || types.isUnit(type)) return unit();
  // Sizes that are not in scope here are nobody's: nothing reads the value.
  std::vector<DimSym> symbols;
  types.collectSymbols(type, symbols);
  types::DimSubst none;
  for (DimSym s : symbols) {
    bool parameter =
        std::find(instance.dimParams.begin(), instance.dimParams.end(), s) != instance.dimParams.end();
    if (!parameter && types.dims.info(s).kind != types::DimSymKind::Bound)
      none.emplace(s, types.dims.constant(0));
  }
  return b.undef(none.empty() ? type : types.substitute(type, none));
}

void BodyLowering::define(LocalId local, ValueId value) {
  const Local& l = instance.locals[local];
  if (l.asDim && sizes.used.contains(l.asDim)) {
    const core::Op* def = b.fn().values[value].def ? &b.fn().ops[b.fn().values[value].def] : nullptr;
    core::Ranges ranges(module.types, b.fn());
    if (def && def->kind == OpKind::DimValue && ranges.isExact(def->dims[0]))
      sizes.known[l.asDim] = def->dims[0];
    else if (def && def->kind == OpKind::Const)
      sizes.known[l.asDim] = types.dims.constant(static_cast<int64_t>(def->as<core::Constant>().bits));
    else {
      bool natural = ranges.isNatural(value);
      DimSym bound = b.bindDim(value, types.dims.info(l.asDim).name); // `def` moves
      types.dims.info(bound).lowerBound = natural ? 0 : INT64_MIN;
      sizes.known[l.asDim] = types.dims.symbol(bound);
    }
  }
  core::Value& v = b.fn().values[value];
  if (!v.hint) v.hint = l.name;
  values[local] = value;
}

void BodyLowering::check(core::CheckKind kind, std::vector<ValueId> operands, std::vector<DimId> dims,
                         std::string text, TypeId type) {
  core::Op op =
      Builder::simple(OpKind::Check, std::move(operands), core::CheckAttr{kind, std::move(text), type});
  op.dims = std::move(dims);
  b.append(std::move(op), {});
}

ValueId BodyLowering::expr(NodeId n) {
  if (auto found = hoisting.instead.find(n); found != hoisting.instead.end()) {
    auto taken = hoisting.instead.extract(found);
    ValueId value = taken.mapped()();
    hoisting.instead.insert(std::move(taken));
    return value;
  }
  if (auto found = hoisting.ahead.find(n); found != hoisting.ahead.end())
    return hoisted(*this, n, found->second);
  core::LocId outer = b.loc;
  if (instance.nodes[n].span.valid()) b.loc = locOf(instance.nodes[n].span);
  ValueId value = lowerNode(*this, n);
  b.loc = outer;
  return value;
}

ValueId BodyLowering::after(const std::vector<NodeId>& children, TypeId type, MakeOf make) {
  std::vector<size_t> late = formedLate(instance, types, children);
  std::erase_if(late, [&](size_t k) {
    return hoisting.instead.contains(children[k]) || hoisting.ahead.contains(children[k]);
  });
  if (!late.empty()) {
    std::vector<NodeId> first = children;
    for (size_t k : late) first[k] = instance.nodes[children[k]].children[0];
    return after(first, type, [&](std::vector<ValueId> made) {
      for (size_t k : late) {
        auto outer = hoisting.instead.extract(first[k]);
        hoisting.instead[first[k]] = [given = made[k]] { return given; };
        made[k] = expr(children[k]);
        hoisting.instead.erase(first[k]);
        if (outer) hoisting.instead.insert(std::move(outer));
      }
      return make(std::move(made));
    });
  }
  std::vector<ValueId> values;
  for (size_t k = 0; k < children.size(); ++k) {
    values.push_back(expr(children[k]));
    bool ends = types.kind(instance.nodes[children[k]].type) == TypeKind::Never; // in a panic
    if (ends || exits.flow == FlowKind::Off) return undef(T(type));
    if (exits.flow != FlowKind::Maybe) continue;
    std::vector<NodeId> rest(children.begin() + static_cast<ptrdiff_t>(k) + 1, children.end());
    return guarded(type, [&] {
      return after(rest, type, [&](std::vector<ValueId> more) {
        values.insert(values.end(), more.begin(), more.end());
        return make(values);
      });
    });
  }
  return make(std::move(values));
}

/// `if exit == on { make() } else { undef }`
ValueId BodyLowering::guarded(TypeId type, const Make& make) {
  core::Op op = Builder::simple(OpKind::If, {exitIs(*this, core::exits::on)});
  exits.flow = FlowKind::On;
  ValueId result = branches(*this, std::move(op),
                            {[&](RegionId) { return make(); },
                             [&](RegionId) {
                               exits.flow = FlowKind::Off;
                               return undef(T(type));
                             }},
                            type, {});
  exits.flow = FlowKind::Maybe;
  return result;
}

ValueId lowerBlock(BodyLowering& fn, const Node& node) { return blockFrom(fn, node.children, 0, node.type); }

ValueId blockFrom(BodyLowering& fn, const std::vector<NodeId>& children, size_t k, TypeId type) {
  ValueId last;
  for (; k < children.size(); ++k) {
    const Node& child = fn.instance.nodes[children[k]];
    if (child.kind == NodeKind::Let && !fn.hoisting.instead.contains(children[k])) {
      ValueId value = fn.expr(child.children[0]);
      Make rest = [&, k] { return blockFrom(fn, children, k + 1, type); };
      if (fn.exits.flow == FlowKind::Maybe)
        return fn.guarded(type, [&] { return afterLet(fn, child, value, type, rest); });
      if (fn.exits.flow == FlowKind::Off) return fn.undef(fn.T(type));
      if (child.children.size() > 1) return afterLet(fn, child, value, type, rest);
      bindPattern(fn, value, child.as<PatternRef>().pattern);
      last = fn.unit();
    } else {
      last = fn.expr(children[k]);
    }
    if (fn.exits.flow == FlowKind::Off) return fn.undef(fn.T(type));
    if (fn.exits.flow == FlowKind::Maybe && k + 1 < children.size())
      return fn.guarded(type, [&] { return blockFrom(fn, children, k + 1, type); });
  }
  return last.valid() ? last : fn.unit();
}

ValueId lowerLet(BodyLowering& fn, const Node& node) {
  return fn.after({node.children[0]}, fn.types.unit(), [&](std::vector<ValueId> v) {
    return afterLet(fn, node, v[0], fn.types.unit(), [&] { return fn.unit(); });
  });
}

} // namespace melix::lower
