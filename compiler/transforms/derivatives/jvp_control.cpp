// jvp of control: tangents go in beside the values and come out beside them, region by region.

#include "transforms/derivatives/jvp.h"

#include "types/tangent.h"

namespace melix::transforms {

RegionId JvpBuilder::openRegion(RegionId from, Emit& e) {
  RegionId r = e.newRegion();
  for (DimSym s : source().regions[from].dimParams) e.fn().regions[r].dimParams.push_back(defineDim(s));
  return r;
}

void JvpBuilder::bindValue(ValueId v, ValueId made) {
  values_[v] = made;
  tangents_.erase(v);
}

Emit JvpBuilder::openBody(RegionId from, Emit& e) {
  Emit body = e.in(openRegion(from, e));
  for (ValueId p : source().regions[from].params) bindValue(p, body.param(typeOfSource(p)));
  return body;
}

void JvpBuilder::bindResults(const Op& o, OpId made, const Slots& slots) {
  std::vector<Tangents> t;
  for (ValueId r : o.results) t.push_back(Tangents(leafCount(r)));
  for (size_t i = 0; i < o.results.size(); ++i)
    values_[o.results[i]] = ad_.module.functions[dst_].ops[made].results[slots.primal[i]];
  for (const Slots::Tangent& s : slots.tangents)
    t[s.result][s.leaf] = ad_.module.functions[dst_].ops[made].results[s.at];
  for (size_t i = 0; i < o.results.size(); ++i) bind(o.results[i], std::move(t[i]));
}

/// Real tangents of yielded values.
std::vector<ValueId> JvpBuilder::realAll(Emit& e, std::span<const ValueId> yielded,
                                         const std::vector<LeafBits>& which) {
  std::vector<ValueId> out;
  for (size_t i = 0; i < yielded.size(); ++i) {
    std::vector<ValueId> t = real(e, yielded[i], which[i]);
    out.insert(out.end(), t.begin(), t.end());
  }
  return out;
}

/// The next result of the op made is that of the source, or the tangent of one of its leaves.
void JvpBuilder::Slots::addPrimal(JvpBuilder& j, ValueId result) {
  primal.push_back(static_cast<uint32_t>(types.size()));
  types.push_back(j.typeOfSource(result));
}

void JvpBuilder::Slots::addTangents(JvpBuilder& j, uint32_t result, ValueId v, const LeafBits& which) {
  const std::vector<Leaf> leaves = j.leavesOf(v);
  for (uint32_t k = 0; k < which.size(); ++k)
    if (which[k]) {
      tangents.push_back({result, k, static_cast<uint32_t>(types.size())});
      types.push_back(leaves[k].tangent);
    }
}

/// The parameters of a match arm have the tangents in the same case of the scrutinee's tangent:
///   %t = match %e_t { case k (t..) { yield t.. }  others { yield zero.. } }
void JvpBuilder::payloadTangents(const Op& o, size_t regionIndex, Emit& e) {
  ValueId tangent = leaf(o.operands[0]);
  const std::vector<ValueId> params = source().regions[o.regions[regionIndex]].params;
  std::vector<ValueId> carrying;
  for (ValueId p : params)
    if (leafCount(p) != 0) carrying.push_back(p);
  if (!tangent.valid() || carrying.empty()) return;
  uint32_t theCase = 0;
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  while (regionOf[theCase] != regionIndex) ++theCase;

  TypeId enumType = type(source().typeOf(o.operands[0]));
  TypeId tangentType = e.typeOf(tangent);
  uint32_t tangentCase = types::tangentCase(types(), enumType, theCase);
  size_t cases = types().recordInfo(types()[tangentType].record).cases.size();
  Op m = Emit::simple(OpKind::Match, {tangent});
  RegionId same = e.newRegion(), other = e.newRegion();
  std::vector<TypeId> resultTypes;
  std::vector<ValueId> results, zeros;
  Emit in = e.in(same), out = e.in(other);
  size_t fields = types().recordInfo(types()[tangentType].record).cases[tangentCase].fields.size();
  std::vector<ValueId> payload;
  for (uint32_t k = 0; k < fields; ++k)
    payload.push_back(in.param(types().fieldType(tangentType, tangentCase, k)));
  for (size_t k = 0; k < params.size(); ++k) {
    if (leafCount(params[k]) == 0) continue;
    std::vector<ValueId> own;
    for (const Leaf& l : leavesOf(params[k])) own.push_back(zeroLeaf(out, params[k], l));
    results.push_back(payload[k]);
    zeros.push_back(ad_.leaves.putTogether(out, typeOfSource(params[k]), own));
    resultTypes.push_back(ad_.leaves.tangent(typeOfSource(params[k])));
  }
  in.yield(results);
  out.yield(zeros);
  MatchAttr attr;
  for (uint32_t c = 0; c < cases; ++c) attr.regionOf.push_back(c == tangentCase ? 0 : 1);
  m.attr = attr;
  m.regions = {same, other};
  OpId made = e.append(std::move(m), resultTypes);
  for (size_t i = 0; i < carrying.size(); ++i) {
    std::vector<ValueId> got =
        ad_.leaves.splitLeaves(e, follow(e.result(made, i), carrying[i]), typeOfSource(carrying[i]), true);
    bind(carrying[i], Tangents(got.begin(), got.end()));
  }
}

/// If and Match.
void JvpBuilder::branch(const Op& o, Emit& e) {
  std::vector<LeafBits> which;
  for (ValueId r : o.results) which.push_back(bits(r));
  Op copy;
  copy.kind = o.kind;
  copy.loc = o.loc;
  copy.attr = o.attr;
  copy.operands = valuesOf(o.operands);
  for (size_t i = 0; i < o.regions.size(); ++i) {
    RegionId from = o.regions[i];
    Emit b = openBody(from, e);
    copy.regions.push_back(b.region);
    if (o.kind == OpKind::Match) payloadTangents(o, i, b);
    region(from, b);
    std::vector<ValueId> out = valuesOf(terminator(from).operands);
    std::vector<ValueId> t = realAll(b, terminator(from).operands, which);
    out.insert(out.end(), t.begin(), t.end());
    b.yield(std::move(out), yieldDims(from));
  }
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  Slots slots;
  for (ValueId r : o.results) slots.addPrimal(*this, r);
  for (uint32_t i = 0; i < o.results.size(); ++i) slots.addTangents(*this, i, o.results[i], which[i]);
  bindResults(o, e.append(std::move(copy), slots.types), slots);
}

/// What is carried, then its tangents; gives which leaves have one.
std::vector<LeafBits> JvpBuilder::carryIn(const LoopView& loop, Op& copy, Emit& e) {
  std::vector<LeafBits> which;
  for (uint32_t i = 0; i < loop.carries(); ++i) {
    which.push_back(bits(loop.carryParams()[i]));
    for (ValueId t : real(e, loop.carryOperands()[i], which.back())) copy.operands.push_back(t);
  }
  return which;
}

/// Parameters of the body or the condition for them; the condition carries no tangents on.
void JvpBuilder::openCarries(const LoopView& loop, RegionId from, const std::vector<LeafBits>& which,
                             Emit& b) {
  for (uint32_t i = 0; i < loop.carries(); ++i) {
    const ValueId param = loop.carryParams(from)[i];
    Tangents t(which[i].size());
    std::vector<Leaf> leaves = leavesOf(param);
    for (size_t k = 0; k < t.size(); ++k)
      if (which[i][k]) t[k] = b.param(leaves[k].tangent);
    if (from == loop.body()) bind(param, std::move(t));
  }
}

void JvpBuilder::forLoop(const Op& o, Emit& e) {
  const LoopView loop(source(), o);
  Op copy;
  copy.kind = OpKind::For;
  copy.loc = o.loc;
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  const std::vector<LeafBits> which = carryIn(loop, copy, e);
  Emit b = openBody(loop.body(), e);
  copy.regions.push_back(b.region);
  openCarries(loop, loop.body(), which, b);
  region(loop.body(), b);

  // carries, their tangents, collected, tangents of collected (one for each array)
  std::vector<ValueId> out = valuesOf(loop.carryYields());
  for (ValueId t : realAll(b, loop.carryYields(), which)) out.push_back(t);
  size_t carried = out.size();
  for (ValueId v : loop.stackYields()) out.push_back(value(v));
  for (uint32_t i = 0; i < loop.stacks(); ++i)
    if (active(loop.stackResults()[i])) out.push_back(whole(b, loop.stackYields()[i]));
  copy.attr = LoopAttr{static_cast<uint32_t>(out.size() - carried)};
  b.yield(std::move(out), yieldDims(loop.body()));

  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  Slots slots;
  for (ValueId r : loop.carryResults()) slots.addPrimal(*this, r);
  for (uint32_t i = 0; i < loop.carries(); ++i) slots.addTangents(*this, i, o.results[i], which[i]);
  for (ValueId r : loop.stackResults()) slots.addPrimal(*this, r);
  for (uint32_t i = loop.carries(); i < o.results.size(); ++i)
    if (active(o.results[i])) slots.addTangents(*this, i, o.results[i], {true});
  bindResults(o, e.append(std::move(copy), slots.types), slots);
}

void JvpBuilder::whileLoop(const Op& o, Emit& e) {
  const LoopView loop(source(), o);
  Op copy;
  copy.kind = OpKind::While;
  copy.loc = o.loc;
  copy.attr = o.attr;
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  const std::vector<LeafBits> which = carryIn(loop, copy, e);
  for (RegionId from : o.regions) {
    const bool isCondition = from == loop.condition();
    Emit b = openBody(from, e);
    copy.regions.push_back(b.region);
    openCarries(loop, from, which, b);
    const bool outer = std::exchange(inCondition_, inCondition_ || isCondition);
    region(from, b);
    inCondition_ = outer;
    std::vector<ValueId> out = valuesOf(terminator(from).operands);
    if (!isCondition)
      for (ValueId t : realAll(b, loop.carryYields(), which)) out.push_back(t);
    b.yield(std::move(out), yieldDims(from));
  }
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  Slots slots;
  for (ValueId r : o.results) slots.addPrimal(*this, r);
  for (uint32_t i = 0; i < o.results.size(); ++i) slots.addTangents(*this, i, o.results[i], which[i]);
  bindResults(o, e.append(std::move(copy), slots.types), slots);
}

void JvpBuilder::call(const Op& o, Emit& e) {
  FunctionId callee = o.as<CallAttr>().callee;
  std::vector<LeafBits> params;
  bool any = false;
  for (ValueId v : o.operands) {
    params.push_back(bits(v));
    any |= active(v);
  }
  if (!any) {
    clone(o, e);
    return;
  }
  const JvpCompanion& c = ad_.jvp(callee, params);
  Op copy;
  copy.kind = OpKind::Call;
  copy.loc = o.loc;
  copy.attr = CallAttr{c.function};
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  for (size_t i = 0; i < o.operands.size(); ++i)
    for (ValueId t : real(e, o.operands[i], params[i])) copy.operands.push_back(t);
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> resultTypes;
  Slots slots;
  for (uint32_t i = 0; i < o.results.size(); ++i) {
    slots.primal.push_back(i);
    resultTypes.push_back(typeOfSource(o.results[i]));
  }
  for (uint32_t i = 0; i < o.results.size(); ++i)
    for (uint32_t k = 0; k < c.results[i].size(); ++k)
      if (c.results[i][k]) {
        slots.tangents.push_back({i, k, static_cast<uint32_t>(resultTypes.size())});
        resultTypes.push_back(leavesOf(o.results[i])[k].tangent);
      }
  bindResults(o, e.append(std::move(copy), resultTypes), slots);
}

} // namespace melix::transforms
