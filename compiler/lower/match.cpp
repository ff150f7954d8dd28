// `match`: one op where the arms allow it, else a chain of tests, or of tables. Arms of `match &place` write
// back what they changed.
#include "lower/body.h"
#include "lower/patterns.h"

namespace melix::lower {

using namespace check;

/// Arms that one `match` op can hold: cases without guards whose parts bind, and a last arm for the rest.
bool BodyLowering::isDirect(const std::vector<check::Arm>& arms, TypeId scrutinee) {
  if (types_.kind(scrutinee) != TypeKind::Enum) return false;
  for (const check::Arm& arm : arms) {
    const Pattern& p = instance_.patterns[arm.pattern];
    if (arm.guard.valid() || !p.unpacked.empty()) return false;
    bool simpleCase =
        p.kind == PatternKind::Case &&
        std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return isIrrefutable(instance_, s); });
    bool rest =
        p.kind == PatternKind::Wildcard || p.kind == PatternKind::Bind || p.kind == PatternKind::BindPlace;
    if (!simpleCase && !rest) return false;
  }
  return true;
}

ValueId BodyLowering::matchDirect(const Matching& m) {
  TypeId scrutinee = b_.typeOf(m.value);
  core::Op op = Builder::simple(OpKind::Match, {m.value}, core::MatchAttr{});
  std::vector<std::function<ValueId(RegionId)>> makes;
  const auto& cases = types_.recordInfo(types_[scrutinee].record).cases;
  for (uint32_t c = 0; c < cases.size(); ++c) {
    op.as<core::MatchAttr>().regionOf.push_back(c);
    makes.push_back([&, c](RegionId) {
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(scrutinee, c, k), cases[c].fields[k].name));
      for (const check::Arm& arm : m.arms) {
        const Pattern& p = instance_.patterns[arm.pattern];
        if (p.kind == PatternKind::Case && p.caseIndex != c) continue;
        if (p.kind == PatternKind::Case) {
          for (uint32_t k = 0; k < p.subs.size(); ++k) bind(payload[k], p.subs[k]);
          payloads_[arm.pattern] = payload;
        } else {
          bind(m.value, arm.pattern);
        }
        return armBody(m, arm);
      }
      b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
      flow_ = FlowKind::Off;
      return unit();
    });
  }
  return branches(std::move(op), makes, m.type, m.sizes);
}

ValueId BodyLowering::matchChain(const Matching& m, size_t k) {
  if (k == m.arms.size()) {
    b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
    flow_ = FlowKind::Off;
    return unit();
  }
  if (const std::optional<ValueId> found = matchTable(m, k)) return *found;
  const check::Arm& arm = m.arms[k];
  auto bound = [&](const Make& make) {
    bind(m.value, arm.pattern);
    return make();
  };
  Make body = [&] { return armBody(m, arm); };
  if (!arm.guard.valid() && isIrrefutable(instance_, arm.pattern)) return bound(body);
  ValueId hit = test(m.value, arm.pattern);
  if (arm.guard.valid()) {
    Make guard = [&] { return expr(arm.guard); };
    hit = branches(Builder::simple(OpKind::If, {hit}),
                   {[&](RegionId) { return bound(guard); }, [&](RegionId) { return b_.boolean(false); }},
                   types_.boolean(), {});
  }
  return branches(Builder::simple(OpKind::If, {hit}),
                  {[&](RegionId) { return bound(body); }, [&](RegionId) { return matchChain(m, k + 1); }},
                  m.type, m.sizes);
}

ValueId BodyLowering::match(const Node& node) {
  const Arms& arms = node.as<Arms>();
  std::vector<NodeId> children{node.children[0]};
  if (!arms.places.empty()) indexNodes(arms.places[0].steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    Matching m{v[0], arms.arms, node.type, node.resultDims, std::nullopt};
    size_t next = 1;
    if (!arms.places.empty()) m.held = Held{arms.places[0], placePath(arms.places[0], v, next), {}};
    return isDirect(m.arms, b_.typeOf(v[0])) ? matchDirect(m) : matchChain(m, 0);
  });
}

/// The body of an arm whose names are bound.
ValueId BodyLowering::armBody(const Matching& m, const check::Arm& arm) {
  if (!m.held || !changesPlace(instance_, arm.pattern, assignedIn({arm.body}))) return expr(arm.body);
  Held held = *m.held;
  held.value = [this, pattern = arm.pattern, value = m.value] { return rebuilt(pattern, value, false); };
  return holding(std::move(held), [&] { return expr(arm.body); });
}

/// What a pattern matched, with the places that it bound as they are now. `again`: what it matched is taken
/// apart once more, since what was found then is known in some branch only.
ValueId BodyLowering::rebuilt(PatternId id, ValueId original, bool again) {
  const Pattern& p = instance_.patterns[id];
  if (!bindsPlace(instance_, id)) return original;
  TypeId outside = b_.typeOf(original);
  if (p.kind == PatternKind::BindPlace) return cast(values_.at(p.local), outside);
  ValueId value = p.unpacked.empty() ? original : again ? opened(original, p) : opened_.at(id);
  if (p.kind == PatternKind::Or) {
    value = rebuiltAlternative(p, 0, value);
  } else if (p.kind == PatternKind::Case && again) {
    value = rebuiltCase(p, value);
  } else if (p.kind == PatternKind::Case) {
    std::vector<ValueId> payload = payloads_.at(id);
    for (size_t k = 0; k < p.subs.size(); ++k) payload[k] = rebuilt(p.subs[k], payload[k], false);
    value = b_.variant(b_.typeOf(value), p.caseIndex, std::move(payload));
  } else {
    const bool isList = p.kind == PatternKind::Elements;
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (bindsPlace(instance_, p.subs[k])) {
        std::vector<ValueId> index(isList ? 1 : 0);
        if (isList) index[0] = b_.integer(k);
        core::Path path{{isList ? core::StepKind::Element : core::StepKind::Field, isList ? 0 : k, {}, 1}};
        ValueId part = rebuilt(p.subs[k], b_.get(value, path, index), again);
        value = b_.set(value, part, path, index);
      }
  }
  if (p.unpacked.empty()) return value;
  core::Op op = Builder::simple(OpKind::Pack, {value});
  for (DimSym s : p.unpacked) op.dims.push_back(D(types_.dims.symbol(s)));
  return b_.one(std::move(op), outside);
}

ValueId BodyLowering::rebuiltAlternative(const Pattern& p, size_t k, ValueId original) {
  if (k + 1 == p.subs.size()) return rebuilt(p.subs[k], original, true);
  core::Op op = Builder::simple(OpKind::If, {test(original, p.subs[k])});
  return branches(std::move(op),
                  {[&](RegionId) { return rebuilt(p.subs[k], original, true); },
                   [&](RegionId) { return rebuiltAlternative(p, k + 1, original); }},
                  b_.typeOf(original), {});
}

ValueId BodyLowering::rebuiltCase(const Pattern& p, ValueId original) {
  TypeId type = b_.typeOf(original);
  core::Op op = Builder::simple(OpKind::Match, {original}, core::MatchAttr{});
  std::vector<std::function<ValueId(RegionId)>> makes;
  const auto& cases = types_.recordInfo(types_[type].record).cases;
  for (uint32_t c = 0; c < cases.size(); ++c) {
    op.as<core::MatchAttr>().regionOf.push_back(c);
    makes.push_back([&, c](RegionId) {
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(type, c, k)));
      if (c != p.caseIndex) return original;
      for (size_t k = 0; k < p.subs.size(); ++k) payload[k] = rebuilt(p.subs[k], payload[k], true);
      return b_.variant(type, c, std::move(payload));
    });
  }
  return branches(std::move(op), makes, type, {});
}

} // namespace melix::lower
