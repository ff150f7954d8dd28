// jvp of ops without regions: what each does to the tangents of its active leaves.

#include "transforms/derivatives/jvp.h"
#include "transforms/derivatives/scalar_rules.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::transforms {

void JvpBuilder::scalar(const Op& o, Emit& e) {
  ValueId r = o.results[0];
  if (leafCount(r) == 0) return;
  TypeKind kind = types().kind(source().typeOf(r));
  bool complexType = types::scalarClass(kind) == types::ScalarClass::Complex;
  bool linearOp =
      o.kind == OpKind::Add || o.kind == OpKind::Sub || o.kind == OpKind::Neg || o.kind == OpKind::Select;
  if (complexType && !linearOp) return ad_.refuse(o.loc, "arithmetic on complex numbers");
  std::vector<ValueId> x = valuesOf(o.operands);
  // Leaf by leaf: scalars have one, values that `add` and `select` take whole may have several.
  Tangents out(leafCount(r));
  for (size_t k = 0; k < out.size(); ++k) {
    std::vector<ValueId> t;
    bool anyActive = false;
    for (ValueId v : o.operands) {
      Tangents own = tangents(v);
      t.push_back(k < own.size() ? own[k] : ValueId());
      anyActive |= t.back().valid();
    }
    if (anyActive) out[k] = jvpScalar(e, RuleArgs{o, x, value(r), t});
  }
  if (auto steps = ad_.productSteps.find(src_); steps != ad_.productSteps.end() && steps->second.contains(r))
    noteProducts(out[0]);
  bind(r, std::move(out));
}

/// The terms of the tangent of a product's step.
void JvpBuilder::noteProducts(ValueId tangent) {
  if (!tangent.valid()) return;
  const Function& made = ad_.module.functions[c_.function];
  const Op& sum = made.ops[made.values[tangent].def];
  if (sum.kind == OpKind::Add)
    c_.absorbing.insert(sum.operands.begin(), sum.operands.end());
  else
    c_.absorbing.insert(tangent);
}

void JvpBuilder::bundle(const Op& o, Emit&) {
  Tangents out;
  for (ValueId v : o.operands) {
    Tangents t = tangents(v);
    out.insert(out.end(), t.begin(), t.end());
  }
  if (mutated(StructuralRule::JvpBundle) && out.size() == 2) std::swap(out[0], out[1]);
  bind(o.results[0], std::move(out));
}

void JvpBuilder::capture(const Op& o, Emit&) {
  auto [begin, count] = ad_.leaves.range(source().typeOf(o.operands[0]), o.index());
  Tangents t = tangents(o.operands[0]);
  bind(o.results[0], Tangents(t.begin() + begin, t.begin() + begin + count));
}

/// The leaves that the leading field steps of a path choose, and the steps that are left.
static std::pair<uint32_t, uint32_t> leading(Leaves& leaves, TypeId type, const Path& p, Path& rest) {
  std::pair<uint32_t, uint32_t> r{0, static_cast<uint32_t>(leaves.count(type))};
  size_t i = 0;
  for (; i < p.size() && leaves.isBundle(type); ++i) {
    auto sub = leaves.range(type, p[i].number);
    r = {r.first + sub.first, sub.second};
    type = leaves.kid(type, p[i].number);
  }
  rest.assign(p.begin() + static_cast<long>(i), p.end());
  return r;
}

void JvpBuilder::get(const Op& o, Emit& e) {
  ValueId x = o.operands[0], r = o.results[0];
  Path rest;
  auto [begin, count] = leading(ad_.leaves, source().typeOf(x), o.as<Path>(), rest);
  Tangents t = tangents(x);
  if (rest.empty()) return bind(r, Tangents(t.begin() + begin, t.begin() + begin + count));
  if (count == 0 || !t[begin].valid() || leafCount(r) == 0) return;
  std::vector<ValueId> indices =
      placeIndices(e, StructuralRule::JvpGet, valuesOf(std::span(o.operands).subspan(1)));
  ValueId got = e.get(t[begin], path(rest), indices, ad_.leaves.tangent(typeOfSource(r)));
  bind(r, ad_.leaves.splitLeaves(e, follow(got, r), typeOfSource(r), true));
}

/// Set and AddAt.
void JvpBuilder::update(const Op& o, Emit& e) {
  ValueId x = o.operands[0], v = o.operands[1], r = o.results[0];
  Path rest;
  auto [begin, count] = leading(ad_.leaves, source().typeOf(x), o.as<Path>(), rest);
  Tangents out = tangents(x), tv = tangents(v);
  bool valueActive = tangents_.count(v) != 0;
  if (rest.empty()) {
    for (uint32_t i = 0; i < count; ++i) {
      ValueId& slot = out[begin + i];
      if (o.kind == OpKind::Set || !slot.valid())
        slot = tv[i];
      else if (tv[i].valid())
        slot = e.addAt(slot, tv[i], {}, {});
    }
    return bind(r, std::move(out));
  }
  if (count == 0 || leafCount(v) == 0) return bind(r, std::move(out));
  ValueId& slot = out[begin];
  if (!slot.valid() && !valueActive) return bind(r, std::move(out));
  if (o.kind == OpKind::AddAt && !valueActive) return bind(r, std::move(out));
  if (!slot.valid()) slot = zeroLeaf(e, x, leavesOf(x)[begin]);
  StructuralRule rule = o.kind == OpKind::Set ? StructuralRule::JvpSet : StructuralRule::JvpAddAt;
  std::vector<ValueId> indices = placeIndices(e, rule, valuesOf(std::span(o.operands).subspan(2)));
  ValueId change = whole(e, v);
  if (o.kind == OpKind::AddAt) {
    slot = e.addAt(slot, change, path(rest), indices);
    return bind(r, std::move(out));
  }
  slot = e.set(slot, change, path(rest), indices);
  if (sizedByValue(types(), e.typeOf(change))) {
    ValueId old =
        e.get(value(x), path(o.as<Path>()), valuesOf(std::span(o.operands).subspan(2)), typeOfSource(v));
    c_.overwritten[slot] = {old, {}};
  }
  bind(r, std::move(out));
}

/// Ops that do to tangents what they do to values: one leaf from operands' tangents taken whole.
void JvpBuilder::linear(const Op& o, Emit& e) {
  ValueId r = o.results[0];
  if (ad_.leaves.isBundle(source().typeOf(r))) { // cast_dims of a struct: leaf by leaf
    Tangents out = tangents(o.operands[0]);
    std::vector<Leaf> leaves = leavesOf(r);
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].valid()) out[i] = e.castDims(out[i], leaves[i].tangent);
    return bind(r, std::move(out));
  }
  Op copy;
  copy.kind = o.kind;
  copy.dims = dimsOf(o.dims);
  copy.attr = o.attr;
  for (ValueId v : o.operands) copy.operands.push_back(whole(e, v));
  if (o.kind == OpKind::ArrayOf && mutated(StructuralRule::JvpArrayOf))
    std::reverse(copy.operands.begin(), copy.operands.end());
  bindLeaf(r, e.one(std::move(copy), ad_.leaves.tangent(typeOfSource(r))));
}

void JvpBuilder::push(const Op& o, Emit& e) {
  ValueId xs = o.operands[0], r = o.results[0];
  ValueId base = whole(e, xs);
  bindLeaf(r, e.one(Emit::simple(OpKind::Push, {base, whole(e, o.operands[1])}),
                    ad_.leaves.tangent(typeOfSource(r))));
}

void JvpBuilder::pop(const Op& o, Emit& e) {
  ValueId v = o.results[0], xs = o.results[1];
  TypeId tv = ad_.leaves.tangent(typeOfSource(v)), txs = ad_.leaves.tangent(typeOfSource(xs));
  OpId made = e.append(Emit::simple(OpKind::Pop, {leaf(o.operands[0])}), {tv, txs});
  ValueId first = e.result(made, 0), second = e.result(made, 1);
  bind(v, ad_.leaves.splitLeaves(e, follow(first, v), typeOfSource(v), true));
  bindLeaf(xs, second);
}

/// The tangent's own size is the value's: a cast says so.
void JvpBuilder::toArray(const Op& o, Emit& e) {
  ValueId r = o.results[0];
  TypeId t = ad_.leaves.tangent(typeOfSource(r));
  Op copy = Emit::simple(OpKind::ToArray, {leaf(o.operands[0])});
  DimSym own = ad_.freshDim(o.resultDims[0]);
  copy.resultDims.push_back(own);
  c_.dimOf[own] = dim(types().dims.symbol(o.resultDims[0]));
  auto symbol = types().dims.asSymbol(dim(types().dims.symbol(o.resultDims[0])));
  types::DimSubst toOwn{{*symbol, types().dims.symbol(own)}};
  ValueId made = e.one(std::move(copy), types().substitute(t, toOwn));
  bindLeaf(r, e.castDims(made, t));
}

void JvpBuilder::unpack(const Op& o, Emit& e) {
  ValueId r = o.results[0];
  TypeId packed = e.typeOf(leaf(o.operands[0]));
  Op copy = Emit::simple(OpKind::Unpack, {leaf(o.operands[0])});
  std::vector<DimId> own;
  for (DimSym s : o.resultDims) {
    DimSym fresh = ad_.freshDim(s);
    copy.resultDims.push_back(fresh);
    c_.dimOf[fresh] = dim(types().dims.symbol(s));
    own.push_back(types().dims.symbol(fresh));
  }
  ValueId made = e.one(std::move(copy), types().openPack(packed, own));
  ValueId cast = follow(e.castDims(follow(made, r), ad_.leaves.tangent(typeOfSource(r))), r);
  bind(r, ad_.leaves.splitLeaves(e, cast, typeOfSource(r), true));
}

void JvpBuilder::variant(const Op& o, Emit& e) {
  ValueId r = o.results[0];
  Op copy;
  copy.kind = OpKind::Variant;
  copy.attr = types::tangentCase(types(), typeOfSource(r), o.index());
  for (ValueId v : o.operands) copy.operands.push_back(whole(e, v));
  bindLeaf(r, e.one(std::move(copy), ad_.leaves.tangent(typeOfSource(r))));
}

} // namespace melix::transforms
