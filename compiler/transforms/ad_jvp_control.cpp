// jvp of control: tangents go in beside the values and come out beside them, region by region.

#include "transforms/ad_jvp.h"

#include "types/tangent.h"

namespace melix::transforms {

RegionId JvpBuilder::openRegion(RegionId from, Emit& e) {
  RegionId r = e.newRegion();
  for (DimSym s : source().regions[from].dimParams) e.fn().regions[r].dimParams.push_back(defineDim(s));
  return r;
}

Emit JvpBuilder::openBody(RegionId from, Op& made, Emit& e) {
  RegionId to = openRegion(from, e);
  made.regions.push_back(to);
  Emit body = e.in(to);
  for (ValueId p : source().regions[from].params) {
    values_[p] = body.param(typeOfSource(p));
    tangents_.erase(p);
  }
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

/// Real tangents of `count` yielded values from `first` on.
std::vector<ValueId> JvpBuilder::yieldAll(Emit& e, RegionId from, size_t first, size_t count,
                                          const std::vector<LeafBits>& which) {
  std::vector<ValueId> out;
  for (size_t i = 0; i < count; ++i) {
    std::vector<ValueId> t = real(e, terminator(from).operands[first + i], which[i]);
    out.insert(out.end(), t.begin(), t.end());
  }
  return out;
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
        ad_.leaves.takeApart(e, follow(e.result(made, i), carrying[i]), typeOfSource(carrying[i]), true);
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
    Emit b = openBody(from, copy, e);
    if (o.kind == OpKind::Match) payloadTangents(o, i, b);
    region(from, b);
    std::vector<ValueId> out = valuesOf(terminator(from).operands);
    std::vector<ValueId> t = yieldAll(b, from, 0, o.results.size(), which);
    out.insert(out.end(), t.begin(), t.end());
    b.yield(std::move(out), yieldDims(from));
  }
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> resultTypes;
  Slots slots;
  for (ValueId r : o.results) {
    slots.primal.push_back(static_cast<uint32_t>(resultTypes.size()));
    resultTypes.push_back(typeOfSource(r));
  }
  for (uint32_t i = 0; i < o.results.size(); ++i) {
    std::vector<Leaf> leaves = leavesOf(o.results[i]);
    for (uint32_t k = 0; k < leaves.size(); ++k)
      if (which[i][k]) {
        slots.tangents.push_back({i, k, static_cast<uint32_t>(resultTypes.size())});
        resultTypes.push_back(leaves[k].tangent);
      }
  }
  bindResults(o, e.append(std::move(copy), resultTypes), slots);
}

void JvpBuilder::forLoop(const Op& o, Emit& e) {
  RegionId from = o.regions[0];
  const std::vector<ValueId> params = source().regions[from].params;
  size_t carries = params.size() - 1;
  uint32_t collects = o.as<LoopAttr>().collects;
  Op copy;
  copy.kind = OpKind::For;
  copy.loc = o.loc;
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  std::vector<LeafBits> which;
  for (size_t i = 0; i < carries; ++i) {
    which.push_back(bits(params[i + 1]));
    for (ValueId t : real(e, o.operands[i + 1], which.back())) copy.operands.push_back(t);
  }
  Emit b = openBody(from, copy, e);
  for (size_t i = 0; i < carries; ++i) {
    Tangents t(which[i].size());
    std::vector<Leaf> leaves = leavesOf(params[i + 1]);
    for (size_t k = 0; k < t.size(); ++k)
      if (which[i][k]) t[k] = b.param(leaves[k].tangent);
    bind(params[i + 1], std::move(t));
  }
  region(from, b);

  // carries, their tangents, collected, tangents of collected (one for each array)
  const Op& y = terminator(from);
  std::vector<ValueId> out;
  for (size_t i = 0; i < carries; ++i) out.push_back(value(y.operands[i]));
  for (ValueId t : yieldAll(b, from, 0, carries, which)) out.push_back(t);
  size_t carried = out.size();
  for (uint32_t i = 0; i < collects; ++i) out.push_back(value(y.operands[carries + i]));
  std::vector<bool> collectActive;
  for (uint32_t i = 0; i < collects; ++i) {
    collectActive.push_back(active(o.results[carries + i]));
    if (collectActive.back()) out.push_back(whole(b, y.operands[carries + i]));
  }
  copy.attr = LoopAttr{static_cast<uint32_t>(out.size() - carried)};
  b.yield(std::move(out), yieldDims(from));

  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> resultTypes;
  Slots slots;
  auto primal = [&](uint32_t i) {
    slots.primal.push_back(static_cast<uint32_t>(resultTypes.size()));
    resultTypes.push_back(typeOfSource(o.results[i]));
  };
  auto tangent = [&](uint32_t i, uint32_t k) {
    slots.tangents.push_back({i, k, static_cast<uint32_t>(resultTypes.size())});
    resultTypes.push_back(leavesOf(o.results[i])[k].tangent);
  };
  for (uint32_t i = 0; i < carries; ++i) primal(i);
  for (uint32_t i = 0; i < carries; ++i)
    for (uint32_t k = 0; k < which[i].size(); ++k)
      if (which[i][k]) tangent(i, k);
  for (uint32_t i = 0; i < collects; ++i) primal(static_cast<uint32_t>(carries) + i);
  for (uint32_t i = 0; i < collects; ++i)
    if (collectActive[i]) tangent(static_cast<uint32_t>(carries) + i, 0);
  bindResults(o, e.append(std::move(copy), resultTypes), slots);
}

void JvpBuilder::whileLoop(const Op& o, Emit& e) {
  const std::vector<ValueId> params = source().regions[o.regions[1]].params;
  Op copy;
  copy.kind = OpKind::While;
  copy.loc = o.loc;
  copy.attr = o.attr;
  copy.operands = valuesOf(o.operands);
  copy.dims = dimsOf(o.dims);
  std::vector<LeafBits> which;
  for (size_t i = 0; i < params.size(); ++i) {
    which.push_back(bits(params[i]));
    for (ValueId t : real(e, o.operands[i], which.back())) copy.operands.push_back(t);
  }
  for (size_t region01 : {0, 1}) {
    RegionId from = o.regions[region01];
    Emit b = openBody(from, copy, e);
    const std::vector<ValueId> own = source().regions[from].params;
    for (size_t i = 0; i < own.size(); ++i) {
      Tangents t(which[i].size());
      std::vector<Leaf> leaves = leavesOf(own[i]);
      for (size_t k = 0; k < t.size(); ++k)
        if (which[i][k]) t[k] = b.param(leaves[k].tangent);
      if (region01 == 1) bind(own[i], std::move(t)); // the condition carries no tangents on
    }
    bool outer = inCondition_;
    inCondition_ |= region01 == 0;
    region(from, b);
    inCondition_ = outer;
    std::vector<ValueId> out = valuesOf(terminator(from).operands);
    if (region01 == 1)
      for (ValueId t : yieldAll(b, from, 0, params.size(), which)) out.push_back(t);
    b.yield(std::move(out), yieldDims(from));
  }
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> resultTypes;
  Slots slots;
  for (uint32_t i = 0; i < params.size(); ++i) {
    slots.primal.push_back(i);
    resultTypes.push_back(typeOfSource(o.results[i]));
  }
  for (uint32_t i = 0; i < params.size(); ++i)
    for (uint32_t k = 0; k < which[i].size(); ++k)
      if (which[i][k]) {
        slots.tangents.push_back({i, k, static_cast<uint32_t>(resultTypes.size())});
        resultTypes.push_back(leavesOf(o.results[i])[k].tangent);
      }
  bindResults(o, e.append(std::move(copy), resultTypes), slots);
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
