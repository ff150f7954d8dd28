// Patterns: tests, bindings, `match`.
#include "lower/body.h"

namespace melix::lower {

using namespace check;

bool BodyLowering::irrefutable(PatternId id) {
  const Pattern& p = instance_.patterns[id];
  switch (p.kind) {
  case PatternKind::Wildcard:
  case PatternKind::Bind:
  case PatternKind::BindPlace: return true;
  case PatternKind::Parts:
    return std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return irrefutable(s); });
  default: return false;
  }
}

ValueId BodyLowering::opened(ValueId value, const Pattern& p) {
  if (p.unpacked.empty()) return value;
  core::Op op = Builder::simple(OpKind::Unpack, {value});
  std::vector<DimId> dims;
  for (DimSym s : p.unpacked) {
    op.resultDims.push_back(b_.newDim(types_.dims.info(s).name));
    dims.push_back(types_.dims.symbol(op.resultDims.back()));
    dimMap_[s] = dims.back();
  }
  return b_.one(std::move(op), types_.openPack(b_.typeOf(value), dims));
}

/// Binds the names of a pattern that matches `value`.
void BodyLowering::bind(ValueId value, PatternId id) {
  const Pattern p = instance_.patterns[id];
  value = opened(value, p);
  switch (p.kind) {
  case PatternKind::Bind: define(p.local, cast(value, T(p.type))); return;
  case PatternKind::Parts:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (instance_.patterns[p.subs[k]].kind != PatternKind::Wildcard) bind(b_.field(value, k), p.subs[k]);
    return;
  case PatternKind::Case: {
    bool binds = std::any_of(p.subs.begin(), p.subs.end(), [&](PatternId s) {
      return instance_.patterns[s].kind != PatternKind::Wildcard;
    });
    if (!binds) return;
    // The payload of the one case; the others are not met here.
    TypeId type = b_.typeOf(value);
    std::vector<TypeId> fields;
    for (uint32_t k = 0; k < p.subs.size(); ++k) fields.push_back(types_.fieldType(type, p.caseIndex, k));
    core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
    RegionId outer = b_.region;
    for (uint32_t c = 0; c < types_.recordInfo(types_[type].record).cases.size(); ++c) {
      RegionId region = b_.newRegion();
      b_.region = region;
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < types_.recordInfo(types_[type].record).cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(type, c, k)));
      if (c != p.caseIndex) {
        payload.clear();
        for (TypeId f : fields) payload.push_back(b_.undef(f));
      }
      b_.yield(std::move(payload));
      op.as<core::MatchAttr>().regionOf.push_back(c);
      op.regions.push_back(region);
    }
    b_.region = outer;
    core::OpId made = b_.append(std::move(op), std::span<const TypeId>(fields));
    for (uint32_t k = 0; k < p.subs.size(); ++k) bind(b_.result(made, k), p.subs[k]);
    return;
  }
  default: return;
  }
}

/// Whether a pattern matches, as a bool.
ValueId BodyLowering::test(ValueId value, PatternId id) {
  const Pattern p = instance_.patterns[id];
  if (irrefutable(id)) return b_.boolean(true);
  value = opened(value, p);
  auto both = [&](ValueId a, const Make& rest) {
    return branches(Builder::simple(OpKind::If, {a}),
                    {[&](RegionId) { return rest(); }, [&](RegionId) { return b_.boolean(false); }},
                    types_.boolean(), {});
  };
  switch (p.kind) {
  case PatternKind::Literal: {
    TypeId type = b_.typeOf(value);
    ValueId constant =
        types_.kind(type) == TypeKind::Str ? b_.text(p.value.text) : b_.constant(type, p.value.bits);
    return b_.compare(ops::CmpKind::Eq, value, constant);
  }
  case PatternKind::Or: {
    ValueId any = test(value, p.subs[0]);
    for (size_t k = 1; k < p.subs.size(); ++k) {
      ValueId earlier = any;
      any = branches(
          Builder::simple(OpKind::If, {earlier}),
          {[&](RegionId) { return b_.boolean(true); }, [&](RegionId) { return test(value, p.subs[k]); }},
          types_.boolean(), {});
    }
    return any;
  }
  case PatternKind::Parts: {
    ValueId all = b_.boolean(true);
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (!irrefutable(p.subs[k])) all = both(all, [&] { return test(b_.field(value, k), p.subs[k]); });
    return all;
  }
  case PatternKind::Case: {
    TypeId type = b_.typeOf(value);
    core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
    std::vector<std::function<ValueId(RegionId)>> makes;
    for (uint32_t c = 0; c < types_.recordInfo(types_[type].record).cases.size(); ++c) {
      op.as<core::MatchAttr>().regionOf.push_back(c);
      makes.push_back([&, c](RegionId) {
        std::vector<ValueId> payload;
        for (uint32_t k = 0; k < types_.recordInfo(types_[type].record).cases[c].fields.size(); ++k)
          payload.push_back(b_.param(types_.fieldType(type, c, k)));
        if (c != p.caseIndex) return b_.boolean(false);
        ValueId all = b_.boolean(true);
        for (uint32_t k = 0; k < p.subs.size(); ++k)
          if (!irrefutable(p.subs[k])) all = both(all, [&] { return test(payload[k], p.subs[k]); });
        return all;
      });
    }
    return branches(std::move(op), makes, types_.boolean(), {});
  }
  default: return b_.boolean(true);
  }
}

/// Arms that one `match` op can hold: cases without guards whose parts bind, and a last arm for the rest.
bool BodyLowering::isDirect(const std::vector<check::Arm>& arms, TypeId scrutinee) {
  if (types_.kind(scrutinee) != TypeKind::Enum) return false;
  for (const check::Arm& arm : arms) {
    const Pattern& p = instance_.patterns[arm.pattern];
    if (arm.guard.valid() || !p.unpacked.empty()) return false;
    bool simpleCase = p.kind == PatternKind::Case &&
                      std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return irrefutable(s); });
    if (!simpleCase && p.kind != PatternKind::Wildcard && p.kind != PatternKind::Bind) return false;
  }
  return true;
}

ValueId BodyLowering::matchDirect(ValueId value, const std::vector<check::Arm>& arms, TypeId type,
                                  const std::vector<DimSym>& sizes) {
  TypeId scrutinee = b_.typeOf(value);
  core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
  std::vector<std::function<ValueId(RegionId)>> makes;
  auto cases = types_.recordInfo(types_[scrutinee].record).cases;
  for (uint32_t c = 0; c < cases.size(); ++c) {
    op.as<core::MatchAttr>().regionOf.push_back(c);
    makes.push_back([&, c](RegionId) {
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(scrutinee, c, k), cases[c].fields[k].name));
      for (const check::Arm& arm : arms) {
        const Pattern p = instance_.patterns[arm.pattern];
        if (p.kind == PatternKind::Case && p.caseIndex != c) continue;
        if (p.kind == PatternKind::Case)
          for (uint32_t k = 0; k < p.subs.size(); ++k) bind(payload[k], p.subs[k]);
        else
          bind(value, arm.pattern);
        return expr(arm.body);
      }
      b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
      flow_ = FlowKind::Off;
      return unit();
    });
  }
  return branches(std::move(op), makes, type, sizes);
}

ValueId BodyLowering::matchChain(ValueId value, const std::vector<check::Arm>& arms, size_t k, TypeId type,
                                 const std::vector<DimSym>& sizes) {
  if (k == arms.size()) {
    b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
    flow_ = FlowKind::Off;
    return unit();
  }
  const check::Arm& arm = arms[k];
  if (!arm.guard.valid() && irrefutable(arm.pattern)) {
    bind(value, arm.pattern);
    return expr(arm.body);
  }
  ValueId hit = test(value, arm.pattern);
  if (arm.guard.valid()) {
    hit = branches(Builder::simple(OpKind::If, {hit}),
                   {[&](RegionId) {
                      bind(value, arm.pattern);
                      return expr(arm.guard);
                    },
                    [&](RegionId) { return b_.boolean(false); }},
                   types_.boolean(), {});
  }
  return branches(Builder::simple(OpKind::If, {hit}),
                  {[&](RegionId) {
                     bind(value, arm.pattern);
                     return expr(arm.body);
                   },
                   [&](RegionId) { return matchChain(value, arms, k + 1, type, sizes); }},
                  type, sizes);
}

ValueId BodyLowering::match(const Node& node) {
  const Arms arms = node.as<Arms>();
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    if (isDirect(arms.arms, b_.typeOf(v[0]))) return matchDirect(v[0], arms.arms, node.type, node.resultDims);
    return matchChain(v[0], arms.arms, 0, node.type, node.resultDims);
  });
}

} // namespace melix::lower
