// Cotangents of what is a part of another value: taken out of that one's.

#include "transforms/derivatives/cotangents.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

// Note: Parts of cotangents
//
// What is opened out of a pack, or is the payload of an enum, is a part of that; what is added at places of
// its cotangent is to cost those places, and no zero of its size. So the cotangent of the whole, where it
// has begun, is split: the parts are cotangents of their own from there on, and the whole is a symbolic
// zero, until the op that split the value is reached, whose transpose puts the whole together again.
// Adds to the whole in between begin it anew, and the two are summed. What is read at a place of another
// value (`get`) is not taken out: an add to a place of it is one to that value, at both paths in turn.

/// Begins the cotangent of `v` where `v` is defined, for an add from further in.
void Cotangents::begin(ValueId v) {
  Scope* s = cur_;
  for (; s->source != homeOf(v); s = s->parent)
    if (s->captured.count(v)) return;
  beginAt(*s, v);
}

/// By what the cotangent of the value that it is a part of has there; it stays zero if there is none.
void Cotangents::beginAt(Scope& s, ValueId v) {
  const OpId def = g().values[v].def;
  if (!def.valid() || s.cotangents[v].valid()) return;
  const Op& o = opOf(def);
  if (o.kind != OpKind::Unpack && o.kind != OpKind::Match && o.kind != OpKind::CastDims) return;
  if (!linear(o.operands[0])) return;
  if (o.kind == OpKind::Match && !projected(o)) return; // which the transpose refuses
  Scope* inner = std::exchange(cur_, &s);
  begin(o.operands[0]);
  ValueId& whole = slot(s, o.operands[0]);
  if (whole.valid() && types().kind(s.e.typeOf(whole)) != TypeKind::Acc)
    splitParts(s, o, std::exchange(whole, ValueId()));
  cur_ = inner;
}

/// The parts of `whole`, a cotangent of what `o` splits, become those of its results.
void Cotangents::splitParts(Scope& s, const Op& o, ValueId whole) {
  std::vector<ValueId> parts{whole};
  if (o.kind == OpKind::Unpack) parts = {opened(s, whole)};
  if (o.kind == OpKind::Match) parts = payloadOf(s, o, whole);
  for (size_t k = 0; k < parts.size(); ++k) {
    ValueId& c = s.cotangents[o.results[k]];
    s.read.erase(o.results[k]);
    const ValueId part = s.e.castDims(parts[k], typeOf(o.results[k]));
    c = c.valid() ? s.e.addAt(c, part, {}, {}) : part;
  }
}

/// What a match on a tangent yields, of the cotangent `whole`; zeros where that has no case yet.
std::vector<ValueId> Cotangents::payloadOf(Scope& s, const Op& o, ValueId whole) {
  const TypeId t = s.e.typeOf(whole);
  const std::optional<Projection> from = projected(o);
  Emit same = s.e.in(s.e.newRegion());
  Scope other{ScopeKind::Arm, RegionId(), s.e.in(s.e.newRegion()), &s, {}, {}, {}, {}, {}, {}, {}, 0};
  std::vector<ValueId> payload, mine, zeros;
  for (uint32_t k = 0; k < types().recordInfo(types()[t].record).cases[from->theCase].fields.size(); ++k)
    payload.push_back(same.param(types().fieldType(t, from->theCase, k)));
  std::vector<TypeId> resultTypes;
  for (size_t i = 0; i < o.results.size(); ++i) {
    mine.push_back(same.castDims(payload[from->fields[i]], typeOf(o.results[i])));
    zeros.push_back(zeroFor(other, o.results[i]));
    resultTypes.push_back(typeOf(o.results[i]));
  }
  same.yield(std::move(mine));
  placePrologue(other);
  other.e.yield(std::move(zeros));
  MatchAttr attr;
  for (uint32_t k = 0; k < types().recordInfo(types()[t].record).cases.size(); ++k)
    attr.regionOf.push_back(k == from->theCase ? 0 : 1);
  Op m = Emit::simple(OpKind::Match, {whole});
  m.regions = {same.region, other.e.region};
  m.attr = attr;
  const OpId made = s.e.append(std::move(m), resultTypes);
  const Results& results = s.e.fn().ops[made].results;
  return {results.begin(), results.end()};
}

/// What is in a pack, at sizes of its own, which are those that the value had.
ValueId Cotangents::opened(Scope& s, ValueId pack) {
  Op open = Emit::simple(OpKind::Unpack, {pack});
  const TypeId t = s.e.typeOf(pack);
  std::vector<DimId> own;
  for (uint32_t i = 0; i < types()[t].number; ++i) {
    DimSym size = types().dims.newSym({"", types::DimSymKind::Unknown, 0, {}});
    open.resultDims.push_back(size);
    own.push_back(types().dims.symbol(size));
  }
  return s.e.one(std::move(open), types().openPack(t, own));
}

std::optional<Cotangents::Projection> Cotangents::projected(const Op& o) const {
  auto takes = [&](RegionId r) { return !g().regions[r].params.empty(); };
  const auto chosen = std::find_if(o.regions.begin(), o.regions.end(), takes);
  if (chosen == o.regions.end()) return Projection{};
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  const auto region = static_cast<uint32_t>(chosen - o.regions.begin());
  Projection out{
      static_cast<uint32_t>(std::find(regionOf.begin(), regionOf.end(), region) - regionOf.begin()), {}};
  const std::vector<ValueId>& params = g().regions[*chosen].params;
  for (ValueId y : terminator(*chosen).operands) {
    const auto at = std::find(params.begin(), params.end(), y);
    if (at == params.end()) return std::nullopt;
    out.fields.push_back(static_cast<uint32_t>(at - params.begin()));
  }
  return out;
}

} // namespace melix::transforms
