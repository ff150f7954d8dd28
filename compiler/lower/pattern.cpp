// Patterns: tests and bindings.
#include "lower/body.h"
#include "lower/patterns.h"

namespace melix::lower {

using namespace check;

namespace {

/// Element `k` of a list that has it.
ValueId elementOf(Builder& build, ValueId list, uint32_t k) {
  const ValueId index[] = {build.integer(k)};
  return build.get(list, {core::PathStep{core::StepKind::Element, 0, {}, 1}}, index);
}

} // namespace

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
  const Pattern& p = instance_.patterns[id];
  value = opened(value, p);
  if (!p.unpacked.empty()) opened_[id] = value;
  switch (p.kind) {
  case PatternKind::BindPlace:
  case PatternKind::Bind: define(p.local, cast(value, T(p.type))); return;
  case PatternKind::Parts:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (instance_.patterns[p.subs[k]].kind != PatternKind::Wildcard) bind(b_.field(value, k), p.subs[k]);
    return;
  case PatternKind::Elements:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (instance_.patterns[p.subs[k]].kind != PatternKind::Wildcard)
        bind(elementOf(b_, value, k), p.subs[k]);
    return;
  case PatternKind::Case: bindCase(value, id); return;
  case PatternKind::Or: bindAlternatives(value, p); return;
  default: return;
  }
}

/// Binds the parts of the one case a value is of; the other cases are not met here.
void BodyLowering::bindCase(ValueId value, PatternId id) {
  const Pattern& p = instance_.patterns[id];
  bool binds = std::any_of(p.subs.begin(), p.subs.end(),
                           [&](PatternId s) { return instance_.patterns[s].kind != PatternKind::Wildcard; });
  if (!binds) return;
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
  payloads_[id].clear();
  for (uint32_t k = 0; k < p.subs.size(); ++k) payloads_[id].push_back(b_.result(made, k));
  for (uint32_t k = 0; k < p.subs.size(); ++k) bind(b_.result(made, k), p.subs[k]);
}

/// Binds the names of the first alternative that matches; sizes are those it has.
void BodyLowering::bindAlternatives(ValueId value, const Pattern& p) {
  std::vector<LocalId> locals;
  std::vector<DimSym> sizes;
  namesOf(instance_, p.subs[0], locals, sizes);
  if (locals.empty()) return;
  std::vector<TypeId> parts;
  for (LocalId l : locals) parts.push_back(instance_.locals[l].type);
  TypeId all = types_.tuple(parts);
  std::function<ValueId(size_t)> alternative = [&](size_t k) {
    Make take = [&] {
      bind(value, p.subs[k]);
      std::vector<ValueId> values;
      std::vector<TypeId> own;
      for (LocalId l : locals) {
        values.push_back(values_.at(l));
        own.push_back(b_.typeOf(values.back()));
        values_.erase(l);
      }
      return b_.make(types_.tuple(std::move(own)), std::move(values));
    };
    if (k + 1 == p.subs.size()) return take();
    core::Op op = Builder::simple(OpKind::If, {test(value, p.subs[k])});
    return branches(std::move(op),
                    {[&](RegionId) { return take(); }, [&, k](RegionId) { return alternative(k + 1); }}, all,
                    sizes);
  };
  ValueId taken = alternative(0);
  for (uint32_t k = 0; k < locals.size(); ++k) define(locals[k], b_.field(taken, k));
}

/// Whether a pattern matches, as a bool.
ValueId BodyLowering::test(ValueId value, PatternId id) {
  const Pattern& p = instance_.patterns[id];
  if (isIrrefutable(instance_, id)) return b_.boolean(true);
  value = opened(value, p);
  switch (p.kind) {
  case PatternKind::Literal: return testLiteral(value, p);
  case PatternKind::Or: return testAlternatives(value, p);
  case PatternKind::Parts: return testParts(p.subs, [&](uint32_t k) { return b_.field(value, k); });
  case PatternKind::Elements: return testElements(value, p);
  case PatternKind::Case: return testCase(value, p);
  default: return b_.boolean(true);
  }
}

ValueId BodyLowering::testLiteral(ValueId value, const Pattern& p, ops::CmpKind how) {
  TypeId type = b_.typeOf(value);
  ValueId constant =
      types_.kind(type) == TypeKind::Str ? b_.text(p.value.text) : b_.constant(type, p.value.bits);
  return b_.compare(how, value, constant);
}

/// Each alternative only where those before it do not match; literals are compared all the same, in one line
/// of code however many there are.
ValueId BodyLowering::testAlternatives(ValueId value, const Pattern& p) {
  ValueId any = test(value, p.subs[0]);
  for (size_t k = 1; k < p.subs.size(); ++k) {
    if (instance_.patterns[p.subs[k]].kind == PatternKind::Literal) {
      any = b_.binary(OpKind::Or, any, test(value, p.subs[k]));
      continue;
    }
    any = branches(
        Builder::simple(OpKind::If, {any}),
        {[&](RegionId) { return b_.boolean(true); }, [&](RegionId) { return test(value, p.subs[k]); }},
        types_.boolean(), {});
  }
  return any;
}

/// All of some patterns, each part only where those before it match.
ValueId BodyLowering::testParts(const std::vector<PatternId>& subs,
                                const std::function<ValueId(uint32_t)>& part) {
  ValueId all = b_.boolean(true);
  for (uint32_t k = 0; k < subs.size(); ++k) {
    if (isIrrefutable(instance_, subs[k])) continue;
    all = branches(
        Builder::simple(OpKind::If, {all}),
        {[&](RegionId) { return test(part(k), subs[k]); }, [&](RegionId) { return b_.boolean(false); }},
        types_.boolean(), {});
  }
  return all;
}

ValueId BodyLowering::testElements(ValueId list, const Pattern& p) {
  ValueId length = b_.one(Builder::simple(OpKind::Length, {list}), types_.int64());
  ValueId fits = b_.compare(ops::CmpKind::Eq, length, b_.integer(static_cast<int64_t>(p.subs.size())));
  auto element = [&](uint32_t k) { return elementOf(b_, list, k); };
  return branches(
      Builder::simple(OpKind::If, {fits}),
      {[&](RegionId) { return testParts(p.subs, element); }, [&](RegionId) { return b_.boolean(false); }},
      types_.boolean(), {});
}

ValueId BodyLowering::testCase(ValueId value, const Pattern& p) {
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
      return testParts(p.subs, [&](uint32_t k) { return payload[k]; });
    });
  }
  return branches(std::move(op), makes, types_.boolean(), {});
}

} // namespace melix::lower
