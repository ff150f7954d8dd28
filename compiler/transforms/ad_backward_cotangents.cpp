// Cotangents of values of g in f_bwd: where they stand, how they begin, what is added to them.

#include "transforms/ad_backward.h"

namespace melix::transforms {

/// Summed over the lanes of a nest rather than accumulated: what is no array or list, and has a zero of its
/// own.
static bool byValue(const types::TypeStore& types, TypeId t) {
  TypeKind k = types.kind(t);
  return k != TypeKind::Array && k != TypeKind::Acc && !sizedByValue(types, t);
}

void Backward::makeWaiting(Scope& s, ValueId v) {
  auto found = s.waiting.find(v);
  if (found == s.waiting.end()) return;
  std::vector<Add> adds = std::move(found->second);
  s.waiting.erase(found);
  ValueId c = s.cotangents[v];
  if (!c.valid()) c = zeroFor(s, v);
  for (Add& add : adds) c = s.e.addAt(c, add.value, std::move(add.path), add.indices);
  s.cotangents[v] = c;
}

ValueId& Backward::slot(Scope& s, ValueId v) {
  if (homeOf(v) == s.source) {
    makeWaiting(s, v);
    return s.cotangents[v];
  }
  if (auto it = s.captured.find(v); it != s.captured.end()) return it->second.current;
  Capture c;
  if (s.kind == ScopeKind::Arm) {
    c.base = c.current = slot(*s.parent, v);
  } else if (s.kind == ScopeKind::Loop || !byValue(types(), g().typeOf(v))) {
    ValueId& outer = slot(*s.parent, v);
    if (!outer.valid()) outer = zeroFor(*s.parent, v);
    c.init = outer;
    TypeId t = s.e.typeOf(outer);
    if (s.kind == ScopeKind::Nest && types().kind(t) != TypeKind::Acc) t = types().acc(t);
    c.current = c.param = s.kind == ScopeKind::Nest ? s.e.placeholder(t) : s.e.param(t);
  }
  s.captureOrder.push_back(v);
  return s.captured.emplace(v, c).first->second.current;
}

ValueId Backward::zeroFor(Scope& s, ValueId v) {
  TypeId t = typeOf(v);
  if (!sizedByValue(types(), t)) return s.e.zero(t);
  const JvpCompanion::Followed* followed = ad_.primalOf(lin_.source, v);
  if (!followed) {
    ad_.refuse(s.e.loc, "a derivative whose size is not known");
    return s.e.zero(t);
  }
  return zeroFollowing(s, t, *followed);
}

/// The op in the region of `v` that tells its sizes; none if there is none.
const Op* Backward::sizing(ValueId v, OpKind kind) const {
  OpId first;
  uses_.forEach(v, [&](Use use) {
    const bool sizes = use.operand == 0 && opOf(use.op).kind == kind && uses_.regionOf(use.op) == homeOf(v);
    if (sizes && (!first.valid() || use.op < first)) first = use.op;
  });
  return first.valid() ? &opOf(first) : nullptr;
}

/// A zero from the sizes alone of a list or pack of g, as g packs, opens or measures it: what they are sizes
/// of need not be saved. None where g does not tell them.
ValueId Backward::zeroOfSize(Scope& s, TypeId t, const JvpCompanion::Followed& followed) {
  if (!followed.path.empty()) return {};
  ValueId v = followed.value;
  auto defOf = [&](OpKind kind) {
    OpId def = g().values[v].def;
    return def.valid() && opOf(def).kind == kind ? &opOf(def) : nullptr;
  };
  // The size stays where an element is written.
  for (const Op* set = defOf(OpKind::Set);
       set && !set->as<Path>().empty() && !sizedByValue(types(), g().typeOf(set->operands[1]));
       set = defOf(OpKind::Set))
    v = set->operands[0];
  if (types().kind(t) == TypeKind::List) {
    const Op* length = sizing(v, OpKind::Length);
    if (!length || sizedByValue(types(), types()[t].parts[0])) return {};
    return zeroList(s.e, t, known(length->results[0]));
  }
  if (types().kind(t) != TypeKind::Pack) return {};
  Op pack = Emit::simple(OpKind::Pack, {});
  if (const Op* packed = defOf(OpKind::Pack)) {
    for (DimId d : packed->dims) pack.dims.push_back(dim(d));
  } else if (const Op* opened = sizing(v, OpKind::Unpack)) {
    for (DimSym d : opened->resultDims) pack.dims.push_back(dim(types().dims.symbol(d)));
  } else {
    return {};
  }
  TypeId inside = types().openPack(t, pack.dims);
  if (sizedByValue(types(), inside)) return {};
  pack.operands = {s.e.zero(inside)};
  return s.e.one(std::move(pack), t);
}

/// A zero of type `t` with the sizes of a value of g.
ValueId Backward::zeroFollowing(Scope& s, TypeId t, const JvpCompanion::Followed& followed) {
  Scope* inner = cur_;
  cur_ = &s;
  if (ValueId sized = zeroOfSize(s, t, followed); sized.valid()) {
    cur_ = inner;
    return sized;
  }
  ValueId primal = known(followed.value);
  TypeId at = s.e.typeOf(primal);
  for (uint32_t k : followed.path) {
    at = ad_.leaves.kid(at, k);
    primal = s.e.kid(primal, k, at);
  }
  ValueId made = zeroLike(s.e, ad_.leaves, t, primal);
  cur_ = inner;
  return made;
}

/// Of a value of the current region; none for zero.
ValueId Backward::cotangent(ValueId v) {
  if (isAcc(v)) return {};
  makeWaiting(*cur_, v);
  auto it = cur_->cotangents.find(v);
  return it == cur_->cotangents.end() ? ValueId() : it->second;
}

ValueId Backward::realCotangent(ValueId v) {
  ValueId c = cotangent(v);
  return c.valid() ? c : zeroFor(*cur_, v);
}

ValueId Backward::reader(ValueId v) const {
  auto it = readers_.find(v);
  return it == readers_.end() ? ValueId() : it->second;
}

void Backward::addTo(ValueId v, ValueId c) {
  if (!linear(v) || !c.valid()) return;
  if (isAcc(v)) {
    readers_[v] = c;
    return;
  }
  Emit& e = cur_->e;
  c = e.castDims(c, typeOf(v));
  if (cur_->waiting.count(v)) {
    cur_->cotangents[v] = c;
    return makeWaiting(*cur_, v);
  }
  ValueId& s = slot(*cur_, v);
  if (!s.valid())
    s = c;
  else if (byValue(types(), e.typeOf(s)))
    s = e.add(s, c);
  else
    s = e.addAt(s, c, {}, {});
}

void Backward::addAt(ValueId v, Path p, std::span<const ValueId> indices, ValueId c) {
  if (p.empty()) return addTo(v, c);
  if (!linear(v)) return;
  if (homeOf(v) == cur_->source && !cur_->cotangents[v].valid()) {
    cur_->waiting[v].push_back({std::move(p), {indices.begin(), indices.end()}, c});
    return;
  }
  ValueId& s = slot(*cur_, v);
  if (!s.valid()) s = zeroFor(*cur_, v);
  s = cur_->e.addAt(s, c, std::move(p), indices);
}

} // namespace melix::transforms
