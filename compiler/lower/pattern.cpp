// Patterns: tests and bindings.
#include "lower/body.h"
#include "lower/control.h"
#include "lower/match.h"
#include "lower/patterns.h"

namespace melix::lower {

using namespace check;

namespace {

/// Element `k` of a list that has it.
ValueId elementOf(Builder& build, ValueId list, uint32_t k) {
  const ValueId index[] = {build.integer(k)};
  return build.get(list, {core::PathStep{core::StepKind::Element, 0, {}, 1}}, index);
}

/// Binds the parts of the one case a value is of; the other cases are not met here.
void bindCase(BodyLowering& fn, ValueId value, PatternId id) {
  const Pattern& p = fn.instance.patterns[id];
  bool binds = std::any_of(p.subs.begin(), p.subs.end(), [&](PatternId s) {
    return fn.instance.patterns[s].kind != PatternKind::Wildcard;
  });
  if (!binds) return;
  TypeId type = fn.b.typeOf(value);
  std::vector<TypeId> fields;
  for (uint32_t k = 0; k < p.subs.size(); ++k) fields.push_back(fn.types.fieldType(type, p.caseIndex, k));
  core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
  const size_t cases = fn.types.recordInfo(fn.types[type].record).cases.size();
  const RegionId outer = fn.b.region;
  auto begin = [&] {
    fn.b.region = fn.b.newRegion();
    op.regions.push_back(fn.b.region);
  };
  begin();
  fn.b.yield(payloadParams(fn, type, p.caseIndex));
  if (cases > 1) {
    begin();
    if (cases == 2) payloadParams(fn, type, 1 - p.caseIndex); // the only case takes its payload
    std::vector<ValueId> nothing;
    for (TypeId f : fields) nothing.push_back(fn.b.undef(f));
    fn.b.yield(std::move(nothing));
  }
  for (uint32_t c = 0; c < cases; ++c) op.as<core::MatchAttr>().regionOf.push_back(c == p.caseIndex ? 0 : 1);
  fn.b.region = outer;
  core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(fields));
  fn.patterns.payloads[id].clear();
  for (uint32_t k = 0; k < p.subs.size(); ++k) fn.patterns.payloads[id].push_back(fn.b.result(made, k));
  for (uint32_t k = 0; k < p.subs.size(); ++k) bindPattern(fn, fn.b.result(made, k), p.subs[k]);
}

/// Binds the names of the first alternative that matches; sizes are those it has.
void bindAlternatives(BodyLowering& fn, ValueId value, const Pattern& p) {
  std::vector<LocalId> locals;
  std::vector<DimSym> sizes;
  namesOf(fn.instance, p.subs[0], locals, sizes);
  if (locals.empty()) return;
  std::vector<TypeId> parts;
  for (LocalId l : locals) parts.push_back(fn.instance.locals[l].type);
  TypeId all = fn.types.tuple(parts);
  std::function<ValueId(size_t)> alternative = [&](size_t k) {
    Make take = [&] {
      bindPattern(fn, value, p.subs[k]);
      std::vector<ValueId> values;
      std::vector<TypeId> own;
      for (LocalId l : locals) {
        values.push_back(fn.values.at(l));
        own.push_back(fn.b.typeOf(values.back()));
        fn.values.erase(l);
      }
      return fn.b.make(fn.types.tuple(std::move(own)), std::move(values));
    };
    if (k + 1 == p.subs.size()) return take();
    core::Op op = Builder::simple(OpKind::If, {testPattern(fn, value, p.subs[k])});
    return branches(fn, std::move(op),
                    {[&](RegionId) { return take(); }, [&, k](RegionId) { return alternative(k + 1); }}, all,
                    sizes);
  };
  ValueId taken = alternative(0);
  for (uint32_t k = 0; k < locals.size(); ++k) fn.define(locals[k], fn.b.field(taken, k));
}

/// Each alternative only where those before it do not match; literals are compared all the same, in one line
/// of code however many there are.
ValueId testAlternatives(BodyLowering& fn, ValueId value, const Pattern& p) {
  ValueId any = testPattern(fn, value, p.subs[0]);
  for (size_t k = 1; k < p.subs.size(); ++k) {
    if (fn.instance.patterns[p.subs[k]].kind == PatternKind::Literal) {
      any = fn.b.binary(OpKind::Or, any, testPattern(fn, value, p.subs[k]));
      continue;
    }
    any = branches(fn, Builder::simple(OpKind::If, {any}),
                   {[&](RegionId) { return fn.b.boolean(true); },
                    [&](RegionId) { return testPattern(fn, value, p.subs[k]); }},
                   fn.types.boolean(), {});
  }
  return any;
}

/// All of some patterns, each part only where those before it match.
ValueId testParts(BodyLowering& fn, const std::vector<PatternId>& subs, FunctionRef<ValueId(uint32_t)> part) {
  ValueId all = fn.b.boolean(true);
  for (uint32_t k = 0; k < subs.size(); ++k) {
    if (isIrrefutable(fn.instance, subs[k])) continue;
    all = branches(fn, Builder::simple(OpKind::If, {all}),
                   {[&](RegionId) { return testPattern(fn, part(k), subs[k]); },
                    [&](RegionId) { return fn.b.boolean(false); }},
                   fn.types.boolean(), {});
  }
  return all;
}

ValueId testElements(BodyLowering& fn, ValueId list, const Pattern& p) {
  ValueId length = fn.b.one(Builder::simple(OpKind::Length, {list}), fn.types.int64());
  ValueId fits = fn.b.compare(ops::CmpKind::Eq, length, fn.b.integer(static_cast<int64_t>(p.subs.size())));
  auto element = [&](uint32_t k) { return elementOf(fn.b, list, k); };
  return branches(fn, Builder::simple(OpKind::If, {fits}),
                  {[&](RegionId) { return testParts(fn, p.subs, element); },
                   [&](RegionId) { return fn.b.boolean(false); }},
                  fn.types.boolean(), {});
}

ValueId testCase(BodyLowering& fn, ValueId value, const Pattern& p) {
  auto isCase = [&](uint32_t c) { return c == p.caseIndex; };
  auto own = [&](uint32_t, const std::vector<ValueId>& payload) {
    return testParts(fn, p.subs, [&](uint32_t k) { return payload[k]; });
  };
  return matchCases(fn, value, {isCase, own, [&] { return fn.b.boolean(false); }}, fn.types.boolean(), {});
}

} // namespace

ValueId openSizes(BodyLowering& fn, ValueId value, const Pattern& p) {
  if (p.unpacked.empty()) return value;
  core::Op op = Builder::simple(OpKind::Unpack, {value});
  std::vector<DimId> dims;
  for (DimSym s : p.unpacked) {
    op.resultDims.push_back(fn.b.newDim(fn.types.dims.info(s).name));
    dims.push_back(fn.types.dims.symbol(op.resultDims.back()));
    fn.sizes.known[s] = dims.back();
  }
  return fn.b.one(std::move(op), fn.types.openPack(fn.b.typeOf(value), dims));
}

/// Binds the names of a pattern that matches `value`.
void bindPattern(BodyLowering& fn, ValueId value, PatternId id) {
  const Pattern& p = fn.instance.patterns[id];
  value = openSizes(fn, value, p);
  if (!p.unpacked.empty()) fn.patterns.opened[id] = value;
  switch (p.kind) {
  case PatternKind::BindPlace:
  case PatternKind::Bind: fn.define(p.local, fn.cast(value, fn.T(p.type))); return;
  case PatternKind::Parts:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (fn.instance.patterns[p.subs[k]].kind != PatternKind::Wildcard)
        bindPattern(fn, fn.b.field(value, k), p.subs[k]);
    return;
  case PatternKind::Elements:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (fn.instance.patterns[p.subs[k]].kind != PatternKind::Wildcard)
        bindPattern(fn, elementOf(fn.b, value, k), p.subs[k]);
    return;
  case PatternKind::Case: bindCase(fn, value, id); return;
  case PatternKind::Or: bindAlternatives(fn, value, p); return;
  default: return;
  }
}

/// Whether a pattern matches, as a bool.
ValueId testPattern(BodyLowering& fn, ValueId value, PatternId id) {
  const Pattern& p = fn.instance.patterns[id];
  if (isIrrefutable(fn.instance, id)) return fn.b.boolean(true);
  value = openSizes(fn, value, p);
  switch (p.kind) {
  case PatternKind::Literal: return testLiteral(fn, value, p);
  case PatternKind::Or: return testAlternatives(fn, value, p);
  case PatternKind::Parts: return testParts(fn, p.subs, [&](uint32_t k) { return fn.b.field(value, k); });
  case PatternKind::Elements: return testElements(fn, value, p);
  case PatternKind::Case: return testCase(fn, value, p);
  default: return fn.b.boolean(true);
  }
}

ValueId testLiteral(BodyLowering& fn, ValueId value, const Pattern& p, ops::CmpKind how) {
  TypeId type = fn.b.typeOf(value);
  ValueId constant =
      fn.types.kind(type) == TypeKind::Str ? fn.b.text(p.value.text) : fn.b.constant(type, p.value.bits);
  return fn.b.compare(how, value, constant);
}

} // namespace melix::lower
