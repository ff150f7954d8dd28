#include "transforms/derivatives/jvp.h"

#include "core/analysis/effect_audit.h"
#include "transforms/derivatives/scalar_rules.h"

namespace melix::transforms {

JvpBuilder::JvpBuilder(Ad& ad, JvpCompanion& c)
    : ad_(ad), c_(c), src_(c.source), dst_(c.function), act_(&ad.activity.of(c.source, c.params)) {}

ValueId JvpBuilder::value(ValueId v) const {
  auto it = values_.find(v);
  assert(it != values_.end() && "value used before it is defined");
  return it->second;
}

std::vector<ValueId> JvpBuilder::valuesOf(std::span<const ValueId> vs) const {
  std::vector<ValueId> out;
  for (ValueId v : vs) out.push_back(value(v));
  return out;
}

std::vector<DimId> JvpBuilder::dimsOf(std::span<const DimId> ds) {
  std::vector<DimId> out;
  for (DimId d : ds) out.push_back(dim(d));
  return out;
}

DimSym JvpBuilder::defineDim(DimSym s) {
  DimSym fresh = ad_.freshDim(s);
  dims_[s] = types().dims.symbol(fresh);
  return fresh;
}

Path JvpBuilder::path(const Path& p) {
  Path out = p;
  for (PathStep& s : out)
    if (s.kind == StepKind::Slice) s.length = dim(s.length);
  return out;
}

LeafBits JvpBuilder::bits(ValueId v) const {
  auto it = act_->values.find(v);
  return it == act_->values.end() ? LeafBits(ad_.leaves.count(source().typeOf(v)), false) : it->second;
}

Tangents JvpBuilder::tangents(ValueId v) {
  auto it = tangents_.find(v);
  return it == tangents_.end() ? Tangents(leafCount(v)) : it->second;
}

ValueId JvpBuilder::leaf(ValueId v) {
  Tangents t = tangents(v);
  return t.empty() ? ValueId() : t[0];
}

void JvpBuilder::bind(ValueId v, Tangents t) {
  bool any = false;
  for (ValueId x : t) any |= x.valid();
  if (!any) {
    tangents_.erase(v);
    return;
  }
  std::vector<Leaf> leaves = leavesOf(v);
  assert(leaves.size() == t.size() && "one tangent a leaf");
  // The first value that has a tangent is the one where the tangent is defined; others may be further in.
  for (size_t i = 0; i < t.size(); ++i)
    if (t[i].valid() && sizedByValue(types(), leaves[i].type))
      c_.primalOf.try_emplace(t[i], JvpCompanion::Followed{value(v), leaves[i].path});
  tangents_[v] = std::move(t);
}

/// Notes that the tangent `t`, not yet split into leaves, has the sizes of `v`.
ValueId JvpBuilder::follow(ValueId t, ValueId v) {
  if (sizedByValue(types(), ad_.module.functions[dst_].typeOf(t)))
    c_.primalOf.try_emplace(t, JvpCompanion::Followed{value(v), {}});
  return t;
}

ValueId JvpBuilder::zeroLeaf(Emit& e, ValueId v, const Leaf& l) {
  if (!sizedByValue(types(), l.tangent)) return e.zero(l.tangent);
  ValueId x = value(v);
  TypeId t = typeOfSource(v);
  for (uint32_t k : l.path) {
    t = ad_.leaves.kid(t, k);
    x = e.kid(x, k, t);
  }
  return zeroLike(e, ad_.leaves, l.tangent, x);
}

std::vector<ValueId> JvpBuilder::real(Emit& e, ValueId v, const LeafBits& which) {
  std::vector<ValueId> out;
  Tangents t = tangents(v);
  std::vector<Leaf> leaves = leavesOf(v);
  for (size_t i = 0; i < leaves.size(); ++i)
    if (which[i]) out.push_back(t[i].valid() ? t[i] : zeroLeaf(e, v, leaves[i]));
  return out;
}

ValueId JvpBuilder::whole(Emit& e, ValueId v) {
  LeafBits all(leafCount(v), true);
  return follow(ad_.leaves.putTogether(e, typeOfSource(v), real(e, v, all)), v);
}

void JvpBuilder::region(RegionId from, Emit& e) {
  for (OpId id : source().regions[from].ops) {
    if (sourceOp(id).kind == OpKind::Yield) continue;
    const size_t first = e.fn().ops.size();
    op(id, e);
    noteWritten(src_, id, dst_, first);
  }
}

OpId JvpBuilder::clone(const Op& o, Emit& e) {
  Op copy;
  copy.kind = o.kind;
  copy.loc = o.loc;
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  copy.attr = o.attr;
  if (auto* p = std::get_if<Path>(&copy.attr)) *p = path(*p);
  if (auto* c = std::get_if<CheckAttr>(&copy.attr); c && c->type.valid()) c->type = type(c->type);
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> resultTypes;
  for (ValueId r : o.results) resultTypes.push_back(typeOfSource(r));
  OpId made = e.append(std::move(copy), resultTypes);
  for (size_t i = 0; i < o.results.size(); ++i) {
    values_[o.results[i]] = e.result(made, i);
    e.fn().values[e.result(made, i)].hint = source().values[o.results[i]].hint;
    tangents_.erase(o.results[i]);
  }
  return made;
}

void JvpBuilder::op(OpId id, Emit& e) {
  const Op& o = sourceOp(id);
  e.loc = ad_.derived(o.loc);
  switch (o.kind) {
  case OpKind::If:
  case OpKind::Match: return branch(o, e);
  case OpKind::For: return forLoop(o, e);
  case OpKind::While: return whileLoop(o, e);
  case OpKind::Nest: return nest(o, e);
  case OpKind::Call: return call(o, e);
  default: break;
  }
  bool anyActive = false;
  for (ValueId v : o.operands) anyActive |= !inCondition_ && tangents_.count(v) != 0;
  clone(o, e);
  if (!anyActive) return;
  if (hasScalarRule(o.kind)) return scalar(o, e);
  switch (o.kind) {
  case OpKind::Make:
  case OpKind::Known: return bundle(o, e);
  case OpKind::Capture: return capture(o, e);
  case OpKind::Get: return get(o, e);
  case OpKind::Set:
  case OpKind::AddAt: return update(o, e);
  case OpKind::Reshape:
  case OpKind::ArrayOf:
  case OpKind::ListOf:
  case OpKind::ToList:
  case OpKind::Pack: return linear(o, e);
  case OpKind::CastDims: return linear(o, e);
  case OpKind::Variant: return variant(o, e);
  case OpKind::Unpack: return unpack(o, e);
  case OpKind::Push: return push(o, e);
  case OpKind::Pop: return pop(o, e);
  case OpKind::ToArray: return toArray(o, e);
  case OpKind::BlackBox:
  case OpKind::Debug: return bind(o.results[0], tangents(o.operands[0]));
  default: return; // carries no tangent
  }
}

void JvpBuilder::customRule(Emit& e) {
  const Function& f = source();
  FunctionId rule = f.customJvp;
  Op call = Emit::simple(OpKind::Call, {});
  for (ValueId p : f.params()) call.operands.push_back(value(p));
  for (ValueId p : f.params())
    if (leafCount(p) != 0) call.operands.push_back(whole(e, p));
  for (DimSym s : f.dimParams) call.dims.push_back(dim(types().dims.symbol(s)));
  call.attr = CallAttr{rule};
  const Function& g = ad_.module.functions[rule];
  types::DimSubst atCall;
  for (size_t i = 0; i < g.dimParams.size(); ++i) atCall[g.dimParams[i]] = call.dims[i];
  std::vector<TypeId> resultTypes;
  for (DimSym s : g.resultDims) {
    DimSym fresh = ad_.freshDim(s);
    call.resultDims.push_back(fresh);
    atCall[s] = types().dims.symbol(fresh);
  }
  for (TypeId t : g.results) resultTypes.push_back(types().substitute(t, atCall));
  OpId made = e.append(std::move(call), resultTypes);
  // The rule gives results and tangents in order, or one tuple of both.
  Results given = e.fn().ops[made].results;
  size_t expected = f.results.size();
  for (TypeId t : f.results) expected += ad_.leaves.count(t) != 0;
  if (given.size() == 1 && expected > 1) {
    ValueId tuple = given[0];
    TypeId t = e.typeOf(tuple);
    given.clear();
    for (uint32_t k = 0; k < types()[t].parts.size(); ++k)
      given.push_back(e.kid(tuple, k, TypeId(types()[t].parts[k])));
  }
  assert(given.size() == expected && "a derivative rule gives results and their tangents");
  std::vector<ValueId> out(given.begin(), given.begin() + static_cast<long>(f.results.size()));
  size_t at = f.results.size();
  for (TypeId t : f.results)
    if (ad_.leaves.count(t) != 0)
      for (ValueId v : ad_.leaves.splitLeaves(e, given[at++], type(t), true)) out.push_back(v);
  std::vector<DimId> dims;
  for (DimSym s : e.fn().ops[made].resultDims) dims.push_back(types().dims.symbol(s));
  e.yield(std::move(out), std::move(dims));
}

void JvpBuilder::build() {
  Emit e(ad_.module, dst_, ad_.module.functions[dst_].body, ad_.derived(source().loc));
  // The shell's parameters: f's, then a tangent for each active leaf.
  const std::vector<DimSym>&fromDims = source().dimParams, &toDims = e.fn().dimParams;
  for (size_t i = 0; i < fromDims.size(); ++i) dims_[fromDims[i]] = types().dims.symbol(toDims[i]);
  const std::vector<ValueId>&params = e.fn().params(), &from = source().params();
  size_t at = from.size();
  for (size_t i = 0; i < from.size(); ++i) values_[from[i]] = params[i];
  for (size_t i = 0; i < from.size(); ++i) {
    Tangents t(c_.params[i].size());
    for (size_t k = 0; k < t.size(); ++k)
      if (c_.params[i][k]) t[k] = params[at++];
    bind(from[i], std::move(t));
  }
  if (source().customJvp.valid()) return customRule(e);
  region(source().body, e);
  const Op& y = terminator(source().body);
  e.loc = ad_.derived(y.loc);
  std::vector<ValueId> out = valuesOf(y.operands);
  for (size_t i = 0; i < y.operands.size(); ++i) {
    std::vector<ValueId> t = real(e, y.operands[i], c_.results[i]);
    out.insert(out.end(), t.begin(), t.end());
  }
  e.yield(std::move(out), dimsOf(y.dims));
}

void buildJvp(Ad& ad, JvpCompanion& companion) { JvpBuilder(ad, companion).build(); }

} // namespace melix::transforms
