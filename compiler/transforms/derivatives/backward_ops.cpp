// Transposes of ops without regions of their own, and of matches on tangents.

#include "core/ir/nest.h"
#include "transforms/derivatives/backward.h"
#include "transforms/derivatives/scalar_rules.h"

#include <algorithm>

namespace melix::transforms {

void Backward::region(Scope& s) {
  Scope* outer = cur_;
  cur_ = &s;
  const std::vector<OpId>& ops = g().regions[s.source].ops;
  // What only puts together what the region yields comes first: its parts then have the cotangents that what
  // reads them adds to.
  std::unordered_set<OpId> first;
  for (size_t i = ops.size(); i-- > 0;)
    if (i + 1 == ops.size() || putsTogether(ops[i], first)) {
      first.insert(ops[i]);
      op(ops[i]);
    }
  for (size_t i = ops.size(); i-- > 0;)
    if (!first.contains(ops[i])) op(ops[i]);
  closeHoles(s, ValueId());
  cur_ = outer;
}

/// Whether the op makes a value of parts, for none but these others.
bool Backward::putsTogether(OpId id, const std::unordered_set<OpId>& others) const {
  const OpKind kind = opOf(id).kind;
  if (kind != OpKind::Make && kind != OpKind::Variant && kind != OpKind::Pack && kind != OpKind::CastDims)
    return false;
  bool all = true;
  uses_.forEach(opOf(id).results[0], [&](Use use) { all &= others.contains(use.op); });
  return all;
}

void Backward::transpose(OpId id) {
  const Op& o = opOf(id);
  cur_->e.loc = o.loc;
  for (ValueId r : o.results) makeWaiting(*cur_, r);
  switch (o.kind) {
  case OpKind::If: return branch(id);
  case OpKind::Match:
    if (linear(o.operands[0])) return projection(o);
    return branch(id);
  case OpKind::For:
  case OpKind::While: return loop(id);
  case OpKind::Nest: return nest(id);
  case OpKind::Call: return call(id);
  case OpKind::AddAt: return addAtOp(o);
  case OpKind::Pop: return lists(o);
  default: break;
  }
  ValueId c = cotangent(o.results[0]);
  if (!c.valid()) return;
  switch (o.kind) {
  case OpKind::Get:
    return addAt(
        o.operands[0], path(o.as<Path>()),
        placeIndices(cur_->e, StructuralRule::TransposeGet, knownAll(std::span(o.operands).subspan(1))), c);
  case OpKind::Set: return set(o, c);
  case OpKind::Make: return make(o, c);
  case OpKind::Variant: return variant(o, c);
  case OpKind::CastDims: return addTo(o.operands[0], c);
  case OpKind::Unpack: return unpack(o, c);
  case OpKind::Pack: return addTo(o.operands[0], opened(*cur_, c));
  case OpKind::Reshape:
    return addTo(o.operands[0], cur_->e.one(Emit::simple(OpKind::Reshape, {c}), typeOf(o.operands[0])));
  case OpKind::ArrayOf: return arrayOf(o, c);
  case OpKind::ListOf:
  case OpKind::Push:
  case OpKind::ToArray:
  case OpKind::ToList: return lists(o);
  case OpKind::BlackBox:
  case OpKind::Debug: return addTo(o.operands[0], c);
  default: return scalar(o, c);
  }
}

void Backward::unpack(const Op& o, ValueId c) {
  // The tangent's own sizes are the value's (a cast follows): they are read from the cotangent's type.
  Op pack = Emit::simple(OpKind::Pack, {c});
  for (DimSym s : o.resultDims) pack.dims.push_back(dim(types().dims.symbol(s)));
  addTo(o.operands[0], cur_->e.one(std::move(pack), typeOf(o.operands[0])));
}

void Backward::arrayOf(const Op& o, ValueId c) {
  for (size_t k = 0; k < o.operands.size(); ++k) {
    if (!linear(o.operands[k])) continue;
    ValueId i = cur_->e.i64(static_cast<int64_t>(k));
    addTo(o.operands[k], cur_->e.getAt(c, placeIndices(cur_->e, StructuralRule::TransposeArrayOf, {i}),
                                       typeOf(o.operands[k])));
  }
}

void Backward::scalar(const Op& o, ValueId c) {
  Emit& e = cur_->e;
  auto only = [&](size_t i) { // the rule keeps all but one operand known
    return linear(o.operands[i]);
  };
  switch (o.kind) {
  case OpKind::Add: addTo(o.operands[0], c); return addTo(o.operands[1], c);
  case OpKind::Sub:
    addTo(o.operands[0], c);
    if (only(1)) addTo(o.operands[1], mutated(StructuralRule::TransposeSub) ? c : e.neg(c));
    return;
  case OpKind::Neg: return addTo(o.operands[0], e.neg(c));
  case OpKind::Mul:
    if (only(0) && only(1)) break;
    if (only(0)) return addTo(o.operands[0], whereRead(o, product(o, c, known(o.operands[1]))));
    return addTo(o.operands[1], whereRead(o, product(o, known(o.operands[0]), c)));
  case OpKind::Div:
    if (only(1)) break;
    return addTo(o.operands[0], whereRead(o, e.div(c, known(o.operands[1]))));
  case OpKind::Scale:
    if (only(1)) break;
    return addTo(o.operands[0], e.scale(c, known(o.operands[1])));
  case OpKind::Select: {
    if (only(0)) break;
    ValueId condition = known(o.operands[0]);
    if (mutated(StructuralRule::TransposeSelect))
      condition = e.one(Emit::simple(OpKind::Not, {condition}), types().boolean());
    const ValueId read = read_;
    auto readIf = [&](ValueId v, ValueId chosen) {
      if (steep_.contains(v)) read_ = read.valid() ? e.binary(OpKind::And, read, chosen) : chosen;
    };
    if (only(1)) {
      readIf(o.operands[1], condition);
      addTo(o.operands[1], e.select(condition, c, zeroFor(*cur_, o.operands[1])));
    }
    if (only(2)) {
      read_ = read;
      if (steep_.contains(o.operands[2]))
        readIf(o.operands[2], e.one(Emit::simple(OpKind::Not, {condition}), types().boolean()));
      addTo(o.operands[2], e.select(condition, zeroFor(*cur_, o.operands[2]), c));
    }
    return;
  }
  case OpKind::Convert: return addTo(o.operands[0], e.convert(c, typeOf(o.operands[0])));
  case OpKind::Known:
  case OpKind::Capture:
  default: break;
  }
  ad_.refuse(o.loc, "a derivative rule that is not linear in its tangents (`" +
                        std::string(ops::opText(o.kind)) + "`)");
}

/// a · b, where a factor of a product stands in it 0 if that is no number though both are: 0 times what is
/// beyond the largest float.
ValueId Backward::product(const Op& o, ValueId a, ValueId b) {
  Emit& e = cur_->e;
  const ValueId made = e.mul(a, b);
  if (!ad_.isAbsorbing(lin_.source, o.results[0])) return made;
  auto isNumber = [&](ValueId v) { return e.cmp(ops::CmpKind::Eq, v, v); };
  const ValueId wrong = e.binary(OpKind::And, e.cmp(ops::CmpKind::Ne, made, made),
                                 e.binary(OpKind::And, isNumber(a), isNumber(b)));
  return e.select(wrong, e.zero(typeOf(o.results[0])), made);
}

/// v̄ = get x̄, and the place of x̄ becomes zero: one with the sizes of what was overwritten.
void Backward::set(const Op& o, ValueId c) {
  Emit& e = cur_->e;
  ValueId x = o.operands[0], v = o.operands[1];
  std::vector<ValueId> indices = knownAll(std::span(o.operands).subspan(2));
  Path p = path(o.as<Path>());
  TypeId t = typeOf(v);
  if (linear(v)) addTo(v, e.get(c, p, placeIndices(e, StructuralRule::TransposeSet, indices), t));
  if (!linear(x)) return;
  if (mutated(StructuralRule::TransposeSetClears)) return addTo(x, c);
  const JvpCompanion::Followed* old = ad_.overwritten(lin_.source, o.results[0]);
  if (holdsArrays(types(), t)) return addBut(x, c, {x, std::move(p), std::move(indices), t, old});
  addTo(x, e.set(c, old ? zeroFollowing(*cur_, t, *old) : e.zero(t), p, indices));
}

void Backward::addAtOp(const Op& o) {
  ValueId x = o.operands[0], v = o.operands[1], r = o.results[0];
  ValueId c = isAcc(r) ? reader(r) : cotangent(r);
  if (!c.valid()) return;
  if (linear(v)) {
    std::vector<ValueId> indices =
        placeIndices(cur_->e, StructuralRule::TransposeAddAt, knownAll(std::span(o.operands).subspan(2)));
    addTo(v, cur_->e.get(c, path(o.as<Path>()), indices, typeOf(v)));
  }
  addTo(x, c);
}

void Backward::make(const Op& o, ValueId c) {
  for (uint32_t k = 0; k < o.operands.size(); ++k)
    if (linear(o.operands[k])) {
      uint32_t from = mutated(StructuralRule::TransposeMake) && o.operands.size() == 2 ? 1 - k : k;
      addTo(o.operands[k], cur_->e.kid(c, from, typeOf(o.operands[k])));
    }
}

/// The payload's cotangents are in the same case; another case is zero.
void Backward::variant(const Op& o, ValueId c) {
  Emit& e = cur_->e;
  TypeId t = e.typeOf(c);
  uint32_t theCase = o.index();
  size_t cases = types().recordInfo(types()[t].record).cases.size();
  Emit same = e.in(e.newRegion());
  Scope other{ScopeKind::Arm, RegionId(), e.in(e.newRegion()), cur_, {}, {}, {}, {}, {}, {}, {}, 0};
  std::vector<ValueId> mine, zeros, targets;
  std::vector<TypeId> resultTypes;
  for (uint32_t k = 0; k < o.operands.size(); ++k) {
    ValueId p = same.param(types().fieldType(t, theCase, k));
    if (!linear(o.operands[k])) continue;
    targets.push_back(o.operands[k]);
    mine.push_back(p);
    resultTypes.push_back(same.typeOf(p));
    zeros.push_back(other.e.castDims(zeroFor(other, o.operands[k]), same.typeOf(p)));
  }
  if (targets.empty()) return;
  same.yield(mine);
  placePrologue(other);
  other.e.yield(zeros);
  MatchAttr attr;
  for (uint32_t i = 0; i < cases; ++i)
    attr.regionOf.push_back((i == theCase) != mutated(StructuralRule::TransposeVariant) ? 0 : 1);
  Op m = Emit::simple(OpKind::Match, {c});
  m.regions = {same.region, other.e.region};
  m.attr = attr;
  OpId made = e.append(std::move(m), resultTypes);
  for (size_t i = 0; i < targets.size(); ++i) addTo(targets[i], e.result(made, i));
}

/// The payload put together again.
void Backward::projection(const Op& o) {
  Emit& e = cur_->e;
  bool any = false;
  for (ValueId r : o.results) any |= cotangent(r).valid();
  if (!any) return;
  const std::optional<Projection> from = projected(o);
  if (!from) return ad_.refuse(o.loc, "a match on a tangent");
  if (from->fields.empty()) return;
  const TypeId t = typeOf(o.operands[0]);
  std::vector<ValueId> payload(types().recordInfo(types()[t].record).cases[from->theCase].fields.size());
  for (size_t i = 0; i < o.results.size(); ++i) payload[from->fields[i]] = realCotangent(o.results[i]);
  for (uint32_t k = 0; k < payload.size(); ++k) {
    TypeId field = types().fieldType(t, from->theCase, k);
    if (payload[k].valid())
      payload[k] = e.castDims(payload[k], field);
    else
      payload[k] = types().isUnit(field) ? e.make(types().unit(), {}) : e.zero(field);
  }
  Op v = Emit::simple(OpKind::Variant, std::move(payload));
  v.attr = from->theCase;
  addTo(o.operands[0], e.one(std::move(v), t));
}

void Backward::lists(const Op& o) {
  Emit& e = cur_->e;
  auto element = [&](ValueId list, ValueId i, ValueId v) {
    i = placeIndices(e, StructuralRule::TransposeList, {i})[0];
    return e.get(list, {PathStep{StepKind::Element, 0, {}, 1}}, std::span(&i, 1), typeOf(v));
  };
  switch (o.kind) {
  case OpKind::ListOf: {
    ValueId c = cotangent(o.results[0]);
    for (size_t k = 0; k < o.operands.size(); ++k)
      if (linear(o.operands[k]))
        addTo(o.operands[k], element(c, e.i64(static_cast<int64_t>(k)), o.operands[k]));
    return;
  }
  case OpKind::Push: {
    ValueId c = cotangent(o.results[0]);
    OpId made = e.append(Emit::simple(OpKind::Pop, {c}), {typeOf(o.operands[1]), e.typeOf(c)});
    ValueId v = e.result(made, 0), xs = e.result(made, 1);
    addTo(o.operands[1], v);
    return addTo(o.operands[0], xs);
  }
  case OpKind::Pop: {
    if (!cotangent(o.results[0]).valid() && !cotangent(o.results[1]).valid()) return;
    ValueId v = realCotangent(o.results[0]), xs = realCotangent(o.results[1]);
    return addTo(o.operands[0], e.one(Emit::simple(OpKind::Push, {xs, v}), e.typeOf(xs)));
  }
  case OpKind::ToArray:
    return addTo(o.operands[0],
                 e.one(Emit::simple(OpKind::ToList, {cotangent(o.results[0])}), typeOf(o.operands[0])));
  case OpKind::ToList: return stacked(o);
  default: return;
  }
}

/// %x_c += nest(i: N, j: M) -> collect[i, j] { yield get %rows_c[i][j] }
void Backward::stacked(const Op& o) {
  const types::Type& t = types()[typeOf(o.operands[0])];
  addTo(o.operands[0], cur_->e.arrayOf(t.dims, [&](Emit& b, std::vector<ValueId> at) {
    at[0] = placeIndices(b, StructuralRule::TransposeList, {at[0]})[0];
    Path p(at.size(), PathStep{StepKind::Index, 0, {}, 1});
    p[0].kind = StepKind::Element;
    return b.get(cotangent(o.results[0]), p, at, t.parts[0]);
  }));
}

} // namespace melix::transforms
