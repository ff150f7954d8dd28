// Zeros of cotangents: with the sizes of the values they belong to.

#include "transforms/derivatives/cotangents.h"

namespace melix::transforms {

ValueId Cotangents::zeroFor(Scope& s, ValueId v) { return zeroOfPart(s, v, {}, typeOf(v)); }

/// A zero of type `t` for the part of `v` at `path`.
ValueId Cotangents::zeroOfPart(Scope& s, ValueId v, const std::vector<uint32_t>& path, TypeId t) {
  if (!sizedByValue(types(), t)) return s.e.zero(t);
  const JvpCompanion::Followed* whole = ad_.primalOf(lin_.source, v);
  if (!whole) {
    ad_.refuse(s.e.loc, "a derivative whose size is not known");
    return s.e.zero(t);
  }
  JvpCompanion::Followed part = *whole;
  part.path.insert(part.path.end(), path.begin(), path.end());
  return zeroFollowing(s, t, part);
}

/// The op in the region of `v` that determines its sizes; none if there is none.
const Op* Cotangents::sizing(ValueId v, OpKind kind) const {
  OpId first;
  uses_.forEach(v, [&](Use use) {
    const bool sizes = use.operand == 0 && opOf(use.op).kind == kind && uses_.regionOf(use.op) == homeOf(v);
    if (sizes && (!first.valid() || use.op < first)) first = use.op;
  });
  return first.valid() ? &opOf(first) : nullptr;
}

/// A zero from the sizes alone of a list or pack of g, as g packs, opens or measures it: what they are sizes
/// of need not be saved. None where g does not determine them.
ValueId Cotangents::zeroOfSize(Scope& s, TypeId t, const JvpCompanion::Followed& followed) {
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
ValueId Cotangents::zeroFollowing(Scope& s, TypeId t, const JvpCompanion::Followed& followed) {
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

} // namespace melix::transforms
