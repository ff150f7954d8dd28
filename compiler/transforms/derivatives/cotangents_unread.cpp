// Cotangents of what not every way through a function reads.
//
// Where nothing read a value its cotangent is zero, and so are those of what it was made of, although a slope
// may be infinite there: 0 · ∞ is no number. So beside the cotangents of what has such slopes stands whether
// anything read them, which comes out of arms with them; and what has such slopes is transposed where
// something did.

#include "core/ir/walk.h"
#include "transforms/derivatives/backward.h"

#include <algorithm>

namespace melix::transforms {

/// Whether the value may be infinite although the numbers it is made of are finite.
bool Backward::isUnbounded(ValueId v, int depth) const {
  const OpId def = g().values[v].def;
  if (!def.valid() || depth == 0) return false;
  const Op& o = opOf(def);
  switch (o.kind) {
  case OpKind::Div: return !isConstant(o.operands[1]);
  case OpKind::Math: return true;
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Neg:
  case OpKind::Scale:
  case OpKind::Convert:
  case OpKind::Select:
    return std::ranges::any_of(o.operands, [&](ValueId x) { return isUnbounded(x, depth - 1); });
  default: return false;
  }
}
bool Backward::isConstant(ValueId v) const {
  const OpId def = g().values[v].def;
  return def.valid() && opOf(def).kind == OpKind::Const;
}

/// Whether slopes of an op may be infinite where what it computes is not.
bool Backward::isSteep(const Op& o) const {
  constexpr int deepest = 8; // ops from a slope to the quotient in it
  switch (o.kind) {
  case OpKind::Div: return !isConstant(o.operands[1]);
  case OpKind::Mul:
    return std::ranges::any_of(o.operands, [&](ValueId v) { return !linear(v) && isUnbounded(v, deepest); });
  case OpKind::Call: return ad_.isSteep(o.as<CallAttr>().callee);
  default: return std::ranges::any_of(o.regions, [&](RegionId r) { return ad_.isSteep(g(), r); });
  }
}

/// Finds what slopes that may be infinite follow, from below: whether some do in the region.
bool Backward::findSteep(RegionId region) {
  bool any = false;
  for (OpId id : g().regions[region].ops) {
    const Op& o = opOf(id);
    bool steep = false;
    for (RegionId inner : o.regions) steep |= findSteep(inner);
    if (std::ranges::none_of(o.results, [this](ValueId v) { return linear(v) && !isAcc(v); })) continue;
    steep = steep || isSteep(o) ||
            (o.regions.empty() && o.kind != OpKind::Call &&
             std::ranges::any_of(o.operands, [this](ValueId v) { return steep_.contains(v); }));
    for (RegionId inner : o.regions)
      steep |=
          std::ranges::any_of(terminator(inner).operands, [this](ValueId v) { return steep_.contains(v); });
    any |= steep;
    if (steep)
      for (ValueId v : o.results)
        if (linear(v)) steep_.insert(v);
  }
  return any;
}

/// Whether anything read what the op gives; none if it did, or if nothing is known.
ValueId Backward::readOfResults(const Op& o) {
  ValueId read;
  for (ValueId r : o.results) {
    if (!linear(r)) continue;
    if (isAcc(r)) return {};
    if (!cotangent(r).valid()) continue;
    const ValueId own = readOf(*cur_, r);
    if (!own.valid()) return {};
    read = read.valid() ? cur_->e.binary(OpKind::Or, read, own) : own;
  }
  return read;
}

/// The product with the slope of an op; nothing where nothing read what the op gives.
ValueId Backward::whereRead(const Op& o, ValueId product) {
  if (!read_.valid() || !isSteep(o)) return product;
  return cur_->e.select(read_, product, cur_->e.zero(cur_->e.typeOf(product)));
}

/// Transposes an op in an arm that runs where its tangents are read.
void Backward::transposeWhereRead(OpId id, ValueId read) {
  const Op& o = opOf(id);
  Scope* outer = cur_;
  std::deque<Scope> arms;
  for (size_t k = 0; k < 2; ++k)
    arms.push_back(Scope{
        ScopeKind::Arm, RegionId(), outer->e.in(outer->e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0});
  for (ValueId r : o.results)
    if (linear(r)) arms[0].cotangents[r] = cotangent(r);
  cur_ = &arms[0];
  transpose(id);
  closeHoles(arms[0], ValueId());
  std::vector<TypeId> resultTypes;
  const Joined joined = joinArms(arms, resultTypes);
  for (Scope& s : arms) placePrologue(s);
  cur_ = outer;
  if (joined.values.empty()) return;
  Op made = Emit::simple(OpKind::If, {read});
  made.regions = {arms[0].e.region, arms[1].e.region};
  takeJoined(*outer, joined, outer->e.append(std::move(made), resultTypes));
}

void Backward::op(OpId id) {
  const Op& o = opOf(id);
  if (std::ranges::none_of(o.results, [this](ValueId r) { return linear(r); })) return;
  const ValueId read = readOfResults(o);
  const bool isPlain = o.regions.empty() && o.kind != OpKind::Call;
  const bool isBranch = o.kind == OpKind::If || o.kind == OpKind::Match; // its arms know it of each result
  if (read.valid() && !isPlain && !isBranch && isSteep(o)) return transposeWhereRead(id, read);
  if (isPlain) read_ = read;
  transpose(id);
  read_ = ValueId();
}

bool Ad::isSteep(const Function& f, RegionId region) {
  bool steep = false;
  core::forEachOp(f, region, [&](OpId id) {
    const Op& o = f.ops[id];
    steep = steep || o.kind == OpKind::Math || o.kind == OpKind::Sqrt ||
            (o.kind == OpKind::Div && module.types.isFloat(f.typeOf(o.results[0]))) ||
            (o.kind == OpKind::Call && isSteep(o.as<CallAttr>().callee));
  });
  return steep;
}

/// What calls itself counts as steep.
bool Ad::isSteep(FunctionId f) {
  const auto [known, isNew] = steep_.try_emplace(f, true);
  if (!isNew) return known->second;
  const bool steep = isSteep(module.functions[f], module.functions[f].body);
  return steep_[f] = steep;
}

} // namespace melix::transforms
