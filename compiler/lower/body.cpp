// A function's body: its results, sizes, locals, blocks, and what stands behind an exit.
#include "lower/body.h"
#include "lower/late.h"

#include "core/analysis/ranges.h"

#include <cassert>

namespace melix::lower {

using namespace check;

BodyLowering::BodyLowering(core::Module& module, Lowering& lowering, const Instance& instance,
                           core::FunctionId function)
    : module_(module), types_(module.types), lowering_(lowering), instance_(instance), function_(function),
      b_(module, function, module.functions[function].body, core::LocId::none()),
      nextPseudo_(static_cast<uint32_t>(instance.locals.size())) {
  exit_ = LocalId(nextPseudo_++);
  return_ = LocalId(nextPseudo_++);
  collectSizes();
}

/// Whether `made` is of the use of a macro that made the function itself, or one around it.
bool BodyLowering::isOwnExpansion(const Expansion& made) const {
  const SourceStore& sources = lowering_.sources;
  for (const Expansion* own = sources.expansion(instance_.span.file); own;
       own = sources.expansion(own->use.file))
    if (own->use == made.use) return true;
  return false;
}

/// What a macro wrote in a function is shown as if the use called the macro.
core::LocId BodyLowering::locOf(Span span) {
  core::Loc source;
  source.span = span;
  source.function = instance_.name;
  core::LocId made = module_.locs.add(std::move(source));
  const SourceStore& sources = lowering_.sources;
  for (const Expansion* e = sources.expansion(span.file); e && !isOwnExpansion(*e);
       e = sources.expansion(e->use.file))
    made = module_.locs.add(core::Loc{core::LocKind::InlinedAt, e->use, made, "@" + e->macro});
  return made;
}

void BodyLowering::run() {
  b_.loc = locOf(instance_.span);
  module_.functions[function_].loc = b_.loc;
  const bool atEnds = instance_.resultDims.empty() && returnsAtEnds(instance_, types_, instance_.body);
  const bool exits = jumpsInLoops(instance_) || (!atEnds && exitsIn(instance_, instance_.body));
  if (exits) {
    values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
    // Sizes that the function decides travel with the value (carriedReturn).
    bool decides = !instance_.resultDims.empty() && types_.kind(instance_.result) != TypeKind::Pack;
    values_[return_] =
        decides ? b_.undef(types_.pack(instance_.result, instance_.resultDims)) : undef(instance_.result);
  }
  for (size_t k = 0; k < instance_.params.size(); ++k)
    define(instance_.params[k], b_.fn().regions[b_.fn().body].params[k]);
  ValueId value = atEnds ? atEnd({instance_.body}) : expr(instance_.body);
  TypeId result = instance_.result;
  if (flow_ == FlowKind::Off && exits) {
    value = returned();
  } else if (flow_ == FlowKind::Maybe) {
    ValueId normal = value;
    core::Op op = Builder::simple(OpKind::If, {exitIs(core::exits::ret)});
    flow_ = FlowKind::On;
    value = branches(std::move(op), {[&](RegionId) { return returned(); }, [&](RegionId) { return normal; }},
                     result, instance_.resultDims);
  }
  types::DimSubst actual;
  matchDims(result, b_.typeOf(value), actual);
  std::vector<DimId> sizes;
  types::DimSubst all;
  for (DimSym s : instance_.resultDims) {
    DimId d = types_.dims.constant(0);
    if (auto found = actual.find(s); found != actual.end())
      d = found->second;
    else if (auto mapped = dimMap_.find(s); mapped != dimMap_.end())
      d = mapped->second;
    sizes.push_back(d);
    all.emplace(s, d);
  }
  bool never = types_.kind(result) == TypeKind::Never;
  std::vector<ValueId> out{never ? b_.undef(result) : cast(value, types_.substitute(result, all))};
  for (LocalId p : instance_.params)
    if (instance_.locals[p].isInout) out.push_back(values_[p]);
  b_.yield(std::move(out), std::move(sizes));
}

/// The dims that the symbols of `wanted` have in `actual`, a type of the same structure.
void BodyLowering::matchDims(TypeId wanted, TypeId actual, types::DimSubst& out) {
  const types::Type &w = types_[wanted], &a = types_[actual];
  for (size_t k = 0; k < w.dims.size() && k < a.dims.size(); ++k)
    if (auto s = types_.dims.asSymbol(w.dims[k])) out.emplace(*s, a.dims[k]);
  for (size_t k = 0; k < w.parts.size() && k < a.parts.size(); ++k) matchDims(w.parts[k], a.parts[k], out);
}

void BodyLowering::learnDims(TypeId wanted, ValueId value, const std::vector<DimSym>& symbols) {
  if (symbols.empty()) return;
  types::DimSubst found;
  matchDims(wanted, b_.typeOf(value), found);
  for (DimSym s : symbols)
    if (auto it = found.find(s); it != found.end()) dimMap_[s] = it->second;
}

ValueId BodyLowering::cast(ValueId value, TypeId type) {
  TypeId from = b_.typeOf(value);
  if (from == type || types_.kind(type) == TypeKind::Never || types_.kind(type) == TypeKind::Error)
    return value;
  const core::OpId def = b_.fn().values[value].def;
  const bool isUndefined = def && b_.fn().ops[def].kind == OpKind::Undef;
  if (isUndefined || types_.isUnit(from) || types_.kind(from) == TypeKind::Never)
    return undef(type); // what stands here does not come back
  assert(!(types_.isScalar(from) && types_.isScalar(type)) && "a cast changes sizes, not what a number is");
  checkClaims(from, type);
  return b_.castDims(value, type);
}

ValueId BodyLowering::unit() { return b_.make(types_.unit(), {}); }

ValueId BodyLowering::undef(TypeId type) {
  if (types_.kind(type) == TypeKind::Never || types_.isUnit(type)) return unit();
  // Sizes that are not in scope here are nobody's: nothing reads the value.
  std::vector<DimSym> symbols;
  types_.collectSymbols(type, symbols);
  types::DimSubst none;
  for (DimSym s : symbols) {
    bool parameter =
        std::find(instance_.dimParams.begin(), instance_.dimParams.end(), s) != instance_.dimParams.end();
    if (!parameter && types_.dims.info(s).kind != types::DimSymKind::Bound)
      none.emplace(s, types_.dims.constant(0));
  }
  return b_.undef(none.empty() ? type : types_.substitute(type, none));
}

void BodyLowering::define(LocalId local, ValueId value) {
  const Local& l = instance_.locals[local];
  if (l.asDim && usedSizes_.contains(l.asDim)) {
    const core::Op* def = b_.fn().values[value].def ? &b_.fn().ops[b_.fn().values[value].def] : nullptr;
    core::Ranges ranges(module_.types, b_.fn());
    if (def && def->kind == OpKind::DimValue && ranges.isExact(def->dims[0]))
      dimMap_[l.asDim] = def->dims[0];
    else if (def && def->kind == OpKind::Const)
      dimMap_[l.asDim] = types_.dims.constant(static_cast<int64_t>(def->as<core::Constant>().bits));
    else {
      bool natural = ranges.isNatural(value);
      DimSym bound = b_.bindDim(value, types_.dims.info(l.asDim).name); // `def` moves
      types_.dims.info(bound).lowerBound = natural ? 0 : INT64_MIN;
      dimMap_[l.asDim] = types_.dims.symbol(bound);
    }
  }
  core::Value& v = b_.fn().values[value];
  if (!v.hint) v.hint = l.name;
  values_[local] = value;
}

void BodyLowering::check(core::CheckKind kind, std::vector<ValueId> operands, std::vector<DimId> dims,
                         std::string text, TypeId type) {
  core::Op op =
      Builder::simple(OpKind::Check, std::move(operands), core::CheckAttr{kind, std::move(text), type});
  op.dims = std::move(dims);
  b_.append(std::move(op), {});
}

ValueId BodyLowering::expr(NodeId n) {
  if (auto found = instead_.find(n); found != instead_.end()) {
    auto taken = instead_.extract(found);
    ValueId value = taken.mapped()();
    instead_.insert(std::move(taken));
    return value;
  }
  if (auto found = hoisted_.find(n); found != hoisted_.end()) return hoisted(n, found->second);
  core::LocId outer = b_.loc;
  if (instance_.nodes[n].span.valid()) b_.loc = locOf(instance_.nodes[n].span);
  ValueId value = exprAt(n);
  b_.loc = outer;
  return value;
}

ValueId BodyLowering::after(const std::vector<NodeId>& children, TypeId type, const MakeOf& make) {
  std::vector<size_t> late = formedLate(instance_, types_, children);
  std::erase_if(late,
                [&](size_t k) { return instead_.contains(children[k]) || hoisted_.contains(children[k]); });
  if (!late.empty()) {
    std::vector<NodeId> first = children;
    for (size_t k : late) first[k] = instance_.nodes[children[k]].children[0];
    return after(first, type, [&](std::vector<ValueId> made) {
      for (size_t k : late) {
        auto outer = instead_.extract(first[k]);
        instead_[first[k]] = [given = made[k]] { return given; };
        made[k] = expr(children[k]);
        instead_.erase(first[k]);
        if (outer) instead_.insert(std::move(outer));
      }
      return make(std::move(made));
    });
  }
  std::vector<ValueId> values;
  for (size_t k = 0; k < children.size(); ++k) {
    values.push_back(expr(children[k]));
    bool ends = types_.kind(instance_.nodes[children[k]].type) == TypeKind::Never; // in a panic
    if (ends || flow_ == FlowKind::Off) return undef(T(type));
    if (flow_ != FlowKind::Maybe) continue;
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
  core::Op op = Builder::simple(OpKind::If, {exitIs(core::exits::on)});
  flow_ = FlowKind::On;
  ValueId result = branches(std::move(op),
                            {[&](RegionId) { return make(); },
                             [&](RegionId) {
                               flow_ = FlowKind::Off;
                               return undef(T(type));
                             }},
                            type, {});
  flow_ = FlowKind::Maybe;
  return result;
}

ValueId BodyLowering::block(const Node& node) { return blockFrom(node.children, 0, node.type); }

ValueId BodyLowering::blockFrom(const std::vector<NodeId>& children, size_t k, TypeId type) {
  ValueId last;
  for (; k < children.size(); ++k) {
    const Node& child = instance_.nodes[children[k]];
    if (child.kind == NodeKind::Let && !instead_.contains(children[k])) {
      ValueId value = expr(child.children[0]);
      Make rest = [&, k] { return blockFrom(children, k + 1, type); };
      if (flow_ == FlowKind::Maybe) return guarded(type, [&] { return afterLet(child, value, type, rest); });
      if (flow_ == FlowKind::Off) return undef(T(type));
      if (child.children.size() > 1) return afterLet(child, value, type, rest);
      bind(value, child.as<PatternRef>().pattern);
      last = unit();
    } else {
      last = expr(children[k]);
    }
    if (flow_ == FlowKind::Off) return undef(T(type));
    if (flow_ == FlowKind::Maybe && k + 1 < children.size())
      return guarded(type, [&] { return blockFrom(children, k + 1, type); });
  }
  return last.valid() ? last : unit();
}

ValueId BodyLowering::let(const Node& node) {
  return after({node.children[0]}, types_.unit(), [&](std::vector<ValueId> v) {
    return afterLet(node, v[0], types_.unit(), [&] { return unit(); });
  });
}

/// In `let P = e else { … }` the block leaves where the pattern does not match.
void BodyLowering::leaveUnlessMatched(const Node& let, ValueId value) {
  if (let.children.size() == 1) return;
  ValueId hit = test(value, let.as<PatternRef>().pattern);
  branches(Builder::simple(OpKind::If, {hit}),
           {[&](RegionId) { return unit(); },
            [&](RegionId) {
              expr(let.children[1]);
              return unit();
            }},
           types_.unit(), {});
}

/// Binds the names of a `let`, then `rest`. Where the `let` may have left, both stand in one guard: what did
/// not match has no parts to bind, and the names must reach the rest.
ValueId BodyLowering::afterLet(const Node& let, ValueId value, TypeId type, const Make& rest) {
  leaveUnlessMatched(let, value);
  Make bound = [&] {
    bind(value, let.as<PatternRef>().pattern);
    return rest();
  };
  if (flow_ == FlowKind::Off) return undef(T(type));
  return flow_ == FlowKind::Maybe ? guarded(type, bound) : bound();
}

} // namespace melix::lower
