// `match`: one op where the arms allow it, else a chain of tests, or of tables. Arms of `match &place` write
// back what they changed.
#include "lower/match.h"

#include "lower/body.h"
#include "lower/control.h"
#include "lower/loops.h"
#include "lower/patterns.h"
#include "lower/place.h"

namespace melix::lower {

using namespace check;

namespace {

ValueId rebuilt(BodyLowering& fn, check::PatternId p, ValueId original, bool again);

/// Arms that one `match` op can hold: cases without guards whose parts bind, and a last arm for the rest.
bool isDirect(BodyLowering& fn, const std::vector<check::Arm>& arms, TypeId scrutinee) {
  if (fn.types.kind(scrutinee) != TypeKind::Enum) return false;
  for (const check::Arm& arm : arms) {
    const Pattern& p = fn.instance.patterns[arm.pattern];
    if (arm.guard.valid() || !p.unpacked.empty()) return false;
    bool simpleCase =
        p.kind == PatternKind::Case &&
        std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return isIrrefutable(fn.instance, s); });
    bool rest =
        p.kind == PatternKind::Wildcard || p.kind == PatternKind::Bind || p.kind == PatternKind::BindPlace;
    if (!simpleCase && !rest) return false;
  }
  return true;
}

ValueId noArm(BodyLowering& fn) {
  fn.b.append(Builder::simple(OpKind::Panic, {fn.b.text("no arm matches")}), {});
  fn.exits.flow = FlowKind::Off;
  return fn.unit();
}

ValueId matchDirect(BodyLowering& fn, const Matching& m) {
  // The first arm that takes the case; without one, the first that takes every case.
  auto armOf = [&](std::optional<uint32_t> c) {
    return std::ranges::find_if(m.arms, [&](const check::Arm& arm) {
      const Pattern& p = fn.instance.patterns[arm.pattern];
      return p.kind != PatternKind::Case || p.caseIndex == c;
    });
  };
  auto isNamed = [&](uint32_t c) {
    const auto arm = armOf(c);
    return arm != m.arms.end() && fn.instance.patterns[arm->pattern].kind == PatternKind::Case;
  };
  auto named = [&](uint32_t c, const std::vector<ValueId>& payload) {
    const check::Arm& arm = *armOf(c);
    const Pattern& p = fn.instance.patterns[arm.pattern];
    for (uint32_t k = 0; k < p.subs.size(); ++k) bindPattern(fn, payload[k], p.subs[k]);
    fn.patterns.payloads[arm.pattern] = payload;
    return armBody(fn, m, arm);
  };
  auto others = [&] {
    const auto arm = armOf(std::nullopt);
    if (arm == m.arms.end()) return noArm(fn);
    bindPattern(fn, m.value, arm->pattern);
    return armBody(fn, m, *arm);
  };
  return matchCases(fn, m.value, {isNamed, named, others}, m.type, m.sizes);
}

ValueId rebuiltAlternative(BodyLowering& fn, const Pattern& p, size_t k, ValueId original) {
  if (k + 1 == p.subs.size()) return rebuilt(fn, p.subs[k], original, true);
  core::Op op = Builder::simple(OpKind::If, {testPattern(fn, original, p.subs[k])});
  return branches(fn, std::move(op),
                  {[&](RegionId) { return rebuilt(fn, p.subs[k], original, true); },
                   [&](RegionId) { return rebuiltAlternative(fn, p, k + 1, original); }},
                  fn.b.typeOf(original), {});
}

ValueId rebuiltCase(BodyLowering& fn, const Pattern& p, ValueId original) {
  TypeId type = fn.b.typeOf(original);
  auto isCase = [&](uint32_t c) { return c == p.caseIndex; };
  auto own = [&](uint32_t c, std::vector<ValueId> payload) {
    for (size_t k = 0; k < p.subs.size(); ++k) payload[k] = rebuilt(fn, p.subs[k], payload[k], true);
    return fn.b.variant(type, c, std::move(payload));
  };
  return matchCases(fn, original, {isCase, own, [&] { return original; }}, type, {});
}

/// What a pattern matched, with the places that it bound as they are now. `again`: what it matched is taken
/// apart once more, since what was found then is known in some branch only.
ValueId rebuilt(BodyLowering& fn, PatternId id, ValueId original, bool again) {
  const Pattern& p = fn.instance.patterns[id];
  if (!bindsPlace(fn.instance, id)) return original;
  TypeId outside = fn.b.typeOf(original);
  if (p.kind == PatternKind::BindPlace) return fn.cast(fn.values.at(p.local), outside);
  ValueId value = p.unpacked.empty() ? original
                  : again            ? openSizes(fn, original, p)
                                     : fn.patterns.opened.at(id);
  if (p.kind == PatternKind::Or) {
    value = rebuiltAlternative(fn, p, 0, value);
  } else if (p.kind == PatternKind::Case && again) {
    value = rebuiltCase(fn, p, value);
  } else if (p.kind == PatternKind::Case) {
    std::vector<ValueId> payload = fn.patterns.payloads.at(id);
    for (size_t k = 0; k < p.subs.size(); ++k) payload[k] = rebuilt(fn, p.subs[k], payload[k], false);
    value = fn.b.variant(fn.b.typeOf(value), p.caseIndex, std::move(payload));
  } else {
    const bool isList = p.kind == PatternKind::Elements;
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (bindsPlace(fn.instance, p.subs[k])) {
        std::vector<ValueId> index(isList ? 1 : 0);
        if (isList) index[0] = fn.b.integer(k);
        core::Path path{{isList ? core::StepKind::Element : core::StepKind::Field, isList ? 0 : k, {}, 1}};
        ValueId part = rebuilt(fn, p.subs[k], fn.b.get(value, path, index), again);
        value = fn.b.set(value, part, path, index);
      }
  }
  if (p.unpacked.empty()) return value;
  core::Op op = Builder::simple(OpKind::Pack, {value});
  for (DimSym s : p.unpacked) op.dims.push_back(fn.D(fn.types.dims.symbol(s)));
  return fn.b.one(std::move(op), outside);
}

} // namespace

std::vector<ValueId> payloadParams(BodyLowering& fn, TypeId type, uint32_t c) {
  const std::vector<types::Field> fields = fn.types.recordInfo(fn.types[type].record).cases[c].fields;
  std::vector<ValueId> payload;
  for (uint32_t k = 0; k < fields.size(); ++k)
    payload.push_back(fn.b.param(fn.types.fieldType(type, c, k), fields[k].name));
  return payload;
}

ValueId matchCases(BodyLowering& fn, ValueId value, const CaseRegions& regions, TypeId type,
                   const std::vector<DimSym>& sizes) {
  const TypeId scrutinee = fn.b.typeOf(value);
  const size_t cases = fn.types.recordInfo(fn.types[scrutinee].record).cases.size();
  core::MatchAttr attr;
  std::vector<std::function<ValueId(RegionId)>> makes;
  std::vector<bool> hasOwn;
  for (uint32_t c = 0; c < cases; ++c) hasOwn.push_back(regions.hasOwn(c));
  const bool isShared = std::ranges::count(hasOwn, false) > 1;
  std::optional<uint32_t> shared;
  for (uint32_t c = 0; c < cases; ++c) {
    const auto next = static_cast<uint32_t>(makes.size());
    const uint32_t number = hasOwn[c] ? next : shared.value_or(next);
    attr.regionOf.push_back(number);
    if (!hasOwn[c]) shared = number;
    if (number != next) continue;
    makes.push_back([&, c](RegionId) {
      if (!hasOwn[c] && isShared) return regions.shared();
      const std::vector<ValueId> payload = payloadParams(fn, scrutinee, c);
      return hasOwn[c] ? regions.own(c, payload) : regions.shared();
    });
  }
  return branches(fn, Builder::simple(OpKind::Match, {value}, std::move(attr)), makes, type, sizes);
}

ValueId matchChain(BodyLowering& fn, const Matching& m, size_t k) {
  if (k == m.arms.size()) return noArm(fn);
  if (const std::optional<ValueId> found = matchTable(fn, m, k)) return *found;
  const check::Arm& arm = m.arms[k];
  auto bound = [&](const Make& make) {
    bindPattern(fn, m.value, arm.pattern);
    return make();
  };
  Make body = [&] { return armBody(fn, m, arm); };
  if (!arm.guard.valid() && isIrrefutable(fn.instance, arm.pattern)) return bound(body);
  ValueId hit = testPattern(fn, m.value, arm.pattern);
  if (arm.guard.valid()) {
    Make guard = [&] { return fn.expr(arm.guard); };
    hit = branches(fn, Builder::simple(OpKind::If, {hit}),
                   {[&](RegionId) { return bound(guard); }, [&](RegionId) { return fn.b.boolean(false); }},
                   fn.types.boolean(), {});
  }
  return branches(fn, Builder::simple(OpKind::If, {hit}),
                  {[&](RegionId) { return bound(body); }, [&](RegionId) { return matchChain(fn, m, k + 1); }},
                  m.type, m.sizes);
}

ValueId lowerMatch(BodyLowering& fn, const Node& node) {
  const Arms& arms = node.as<Arms>();
  std::vector<NodeId> children{node.children[0]};
  if (!arms.places.empty()) indexNodes(arms.places[0].steps, children);
  return fn.after(children, node.type, [&](std::vector<ValueId> v) {
    Matching m{v[0], arms.arms, node.type, node.resultDims, std::nullopt};
    size_t next = 1;
    if (!arms.places.empty()) m.held = Held{arms.places[0], placePath(fn, arms.places[0], v, next), {}};
    return isDirect(fn, m.arms, fn.b.typeOf(v[0])) ? matchDirect(fn, m) : matchChain(fn, m, 0);
  });
}

/// The body of an arm whose names are bound.
ValueId armBody(BodyLowering& fn, const Matching& m, const check::Arm& arm) {
  if (!m.held || !changesPlace(fn.instance, arm.pattern, assignedIn(fn, {arm.body})))
    return fn.expr(arm.body);
  Held held = *m.held;
  held.value = [&fn, pattern = arm.pattern, value = m.value] { return rebuilt(fn, pattern, value, false); };
  return holding(fn, std::move(held), [&] { return fn.expr(arm.body); });
}

} // namespace melix::lower
