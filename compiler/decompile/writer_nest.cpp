// Nests as builders and reductions; those that add to accumulators as loops.

#include "decompile/writer_nest.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "decompile/writer.h"
#include "decompile/writer_checks.h"
#include "decompile/writer_control.h"
#include "decompile/writer_ops.h"
#include "decompile/writer_sums.h"
#include "decompile/writer_types.h"

#include <algorithm>
#include <unordered_set>

namespace melix::decompile {

using namespace core;

namespace {

std::vector<bool> neededFor(const FunctionWriter& w, core::RegionId r, const core::Operands& yielded,
                            bool acting = false);
std::string bodyText(FunctionWriter& w, core::RegionId r, const core::Operands& yielded, bool acting = false);

struct Yields {
  const core::NestResult& result;
  std::vector<ValueId> values, results, units;
};

std::string axisText(FunctionWriter& w, const Op& o, uint32_t a) {
  ValueId p = w.f.regions[o.regions[0]].params[a];
  if (!w.isNamed(p)) w.call(p, w.names.local(w.hintOf(p) == "v" ? "i" : w.hintOf(p)));
  return w.value(p) + " in 0.." + dimText(w, o.dims[a], 14);
}

std::string axesText(FunctionWriter& w, const Op& o, const std::vector<uint32_t>& axes) {
  std::string out;
  for (uint32_t a : axes) out += (out.empty() ? "" : ", ") + axisText(w, o, a);
  return out;
}

/// Which ops of a region some of what it yields needs; with `acting`, those too that do something beside
/// giving results. A nest is written once for each of its results, one of them with what acts.
std::vector<bool> neededFor(const FunctionWriter& w, RegionId r, const core::Operands& yielded, bool acting) {
  const std::vector<OpId>& ops = w.f.regions[r].ops;
  std::vector<bool> needed(ops.size(), false);
  std::unordered_set<ValueId> values(yielded.begin(), yielded.end());
  std::set<DimSym> sizes;
  auto wants = [&](TypeId t) {
    std::vector<DimSym> symbols;
    w.types().collectSymbols(t, symbols);
    sizes.insert(symbols.begin(), symbols.end());
  };
  for (ValueId v : yielded) wants(w.f.typeOf(v));
  auto use = [&](OpId id) {
    const Op& o = w.op(id);
    values.insert(o.operands.begin(), o.operands.end());
    std::vector<DimSym> symbols;
    for (DimId d : o.dims) w.types().dims.collectSymbols(d, symbols);
    sizes.insert(symbols.begin(), symbols.end());
    for (ValueId v : o.results) wants(w.f.typeOf(v));
    for (ValueId v : o.operands) wants(w.f.typeOf(v));
  };
  for (size_t k = ops.size() - 1; k-- > 0;) {
    const Op& o = w.op(ops[k]);
    needed[k] = acting && acts(w, ops[k]);
    for (ValueId v : o.results) needed[k] = needed[k] || values.count(v) != 0;
    for (DimSym s : o.resultDims) needed[k] = needed[k] || sizes.count(s) != 0;
    if (!needed[k]) continue;
    use(ops[k]);
    for (RegionId inner : o.regions) forEachOp(w.f, inner, use);
  }
  return needed;
}

/// The body of a builder as an expression; a block where it has statements.
std::string bodyText(FunctionWriter& w, RegionId r, const core::Operands& yielded, bool acting) {
  std::string outer = w.lines.take();
  const KnownSizes::Scope scope(w.sizes);
  w.lines.indent(), w.variables.enterComprehension();
  std::vector<bool> needed = neededFor(w, r, yielded, acting);
  for (size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) writeOp(w, w.f.regions[r].ops[k]);
  std::string last = w.tuple(yielded), inner = w.lines.take();
  w.lines.outdent(), w.variables.leaveComprehension();
  w.lines.putBack(std::move(outer));
  if (inner.empty()) return last;
  const std::string pad = w.lines.margin();
  return "{\n" + inner + pad + "  " + last + "\n" + pad + "}";
}

/// What each result of a nest takes and gives.
std::vector<Yields> yieldsOf(const FunctionWriter& w, const Op& o) {
  const NestView nest(w.f, o);
  std::vector<Yields> out;
  auto list = [](std::span<const ValueId> values) { return std::vector(values.begin(), values.end()); };
  for (const NestPart& part : nest.parts())
    out.push_back({*part.spec, list(nest.yields(part)), list(nest.results(part)), list(nest.units(part))});
  return out;
}

/// `sum(for k in 0..K: e)`; a reduction of the program's own is `reduce((a, b) => …, unit, for …)`.
std::string reduction(FunctionWriter& w, const Op& o, const Yields& y, const std::string& axes,
                      const std::string& text) {
  const std::string builtin(infoOf(y.result.monoid).builtin);
  if (!isCombine(y.result)) return builtin + "(for " + axes + ": " + text + ")";
  const RegionId r = o.regions[y.result.combineRegion];
  const std::vector<ValueId>& params = w.f.regions[r].params;
  const size_t n = y.values.size();
  auto pattern = [&](size_t from) {
    std::string out;
    for (size_t k = 0; k < n; ++k) out += (k ? ", " : "") + w.name(params[from + k]);
    return n == 1 ? out : "(" + out + ")";
  };
  std::string left = pattern(0), right = pattern(n);
  return builtin + "((" + left + ", " + right + ") => " + bodyText(w, r, w.yieldOf(r)) + ", " +
         w.tuple(y.units) + ", [for " + axes + ": " + text + "])";
}

/// What a reduction of nothing gives in Core.
std::string unitText(FunctionWriter& w, MonoidKind monoid, TypeId t) {
  const std::string as = " as " + typeText(w, t) + ")";
  const MonoidInfo& info = infoOf(monoid);
  if (!info.op) return "0"; // positions that nothing reads
  const bool isFloat = w.types().isFloat(t), isBool = w.types().kind(t) == TypeKind::Bool;
  const bool least = info.unit == UnitKind::Least;
  switch (info.unit) {
  case UnitKind::Zero: return isBool ? "false" : "zero()";
  case UnitKind::Ones: return "true";
  case UnitKind::One: return "(1" + as;
  case UnitKind::Least:
  case UnitKind::Greatest: {
    if (isFloat) return (least ? "(-inf" : "(inf") + as;
    const unsigned bits = types::scalarBits(w.types().kind(t));
    const bool isSigned = types::scalarClass(w.types().kind(t)) == types::ScalarClass::SInt;
    const uint64_t top = ~uint64_t(0) >> (64 - bits + isSigned);
    if (!least) return "(" + std::to_string(top) + as;
    return isSigned ? "((-" + std::to_string(top) + " - 1)" + as : "(0" + as;
  }
  }
  return {};
}

/// Where Melix has no reduction of nothing and no check says that there is something: with what Core gives.
std::string unlessEmpty(FunctionWriter& w, const Op& o, const Yields& y, const std::vector<uint32_t>& reduced,
                        const std::string& text) {
  const MonoidKind monoid = y.result.monoid;
  const bool places = isPosition(y.result);
  TypeId t = w.types().element(w.f.typeOf(y.results[0]));
  if (!places && (infoOf(monoid).finds == ExtremumKind::Neither || w.types().isFloat(t))) return text;
  types::DimStore& dims = w.m.types.dims;
  DimId extent = dims.constant(1);
  for (uint32_t a : reduced) extent = dims.mul(extent, o.dims[a]);
  if (dims.atLeast(extent, 1) || w.sizes.isAboveZero(extent)) return text;
  std::string nothing;
  for (size_t k = 0; k < (places ? reduced.size() : 1); ++k)
    nothing += (k ? ", " : "") + unitText(w, monoid, t);
  if (places && reduced.size() > 1) nothing = "(" + nothing + ")";
  return "if " + dimText(w, extent, 9) + " > 0 { " + text + " } else { " + nothing + " }";
}

/// Elements of different sizes: Lists, one inside the other, filled in loops.
void writeRagged(FunctionWriter& w, const Op& o, const Yields& y, bool acting) {
  const RegionId r = o.regions[0];
  const size_t axes = y.result.keep.size();
  TypeId t = w.f.typeOf(y.results[0]);
  std::vector<std::string> lists;
  const KnownSizes::Scope scope(w.sizes);
  for (size_t k = 0; k < axes; ++k) {
    lists.push_back(variable(w, w.hintOf(y.results[0]), raggedTypeText(w, t, k), "[]"));
    w.lines.open("for " + axisText(w, o, y.result.keep[k]) + " {");
  }
  const std::vector<bool> needed = neededFor(w, r, y.values, acting);
  for (size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) writeOp(w, w.f.regions[r].ops[k]);
  std::string element = w.value(y.values[0]);
  for (size_t k = axes; k-- > 0; element = lists[k]) {
    w.lines.add("push(&" + lists[k] + ", " + element + ")");
    w.lines.close("}");
  }
  w.call(y.results[0], lists[0]);
}

/// False if nothing uses it.
bool writeResult(FunctionWriter& w, const Op& o, const Yields& y, bool acting) {
  bool used = std::any_of(y.results.begin(), y.results.end(), [&](ValueId v) { return w.uses.used(v); });
  if (!used && o.resultDims.empty()) return false;
  const TypeId t = w.f.typeOf(y.results[0]);
  std::vector<uint32_t> reduced;
  for (uint32_t a = 0; a < o.dims.size(); ++a) {
    (void)axisText(w, o, a);
    if (std::find(y.result.keep.begin(), y.result.keep.end(), a) == y.result.keep.end()) reduced.push_back(a);
  }
  if (y.result.kind == NestResultKind::Collect && isRagged(w, t)) {
    writeRagged(w, o, y, acting);
    return true;
  }
  std::string text;
  if (y.result.kind == NestResultKind::Filter) {
    std::string condition = bodyText(w, o.regions[0], {y.values[0]}, acting);
    text = "[for " + axesText(w, o, reduced) + " if " + condition + ": " +
           bodyText(w, o.regions[0], {y.values[1]}) + "]";
  } else {
    w.lines.indent();
    text = bodyText(w, o.regions[0], y.values, acting);
    w.lines.outdent();
    const bool places = isPosition(y.result);
    if (y.result.kind == NestResultKind::Reduce && (places || !reduced.empty()))
      text = unlessEmpty(w, o, y, reduced, reduction(w, o, y, axesText(w, o, reduced), text));
    if (!y.result.keep.empty()) text = "[for " + axesText(w, o, y.result.keep) + ": " + text + "]";
  }
  std::string n = w.names.local(w.hintOf(y.results[0]));
  if (y.results.size() == 1) {
    w.lines.add("let " + n + ": " + typeText(w, t) + " = " + text);
    w.call(y.results[0], n);
    return true;
  }
  // Several at once: tuples, taken apart afterwards.
  w.lines.add("let " + n + " = " + text);
  for (uint32_t k = 0; k < y.results.size(); ++k) {
    if (y.result.keep.empty()) {
      w.call(y.results[k], n + "." + std::to_string(k));
      continue;
    }
    std::string part = w.names.local(w.hintOf(y.results[k])), at;
    for (uint32_t a : y.result.keep)
      at += (at.empty() ? "" : ", ") + w.value(w.f.regions[o.regions[0]].params[a]);
    w.lines.add("let " + part + ": " + typeText(w, w.f.typeOf(y.results[k])) + " = [for " +
                axesText(w, o, y.result.keep) + ": " + n + "[" + at + "]." + std::to_string(k) + "]");
    w.call(y.results[k], part);
  }
  return true;
}

/// Whether builders cannot say it: what is yielded comes out of the same branches and calls as accumulators,
/// or is summed by a function.
bool needsLoops(FunctionWriter& w, const Op& o) {
  const RegionId r = o.regions[0];
  for (const Yields& y : yieldsOf(w, o)) {
    if (isSum(y.result) && !isPlain(w, w.f.typeOf(y.values[0]))) return true;
    const std::vector<bool> needed = neededFor(w, r, y.values);
    bool adds = false;
    auto look = [&](OpId id) {
      for (ValueId v : w.op(id).operands) adds |= w.types().kind(w.f.typeOf(v)) == TypeKind::Acc;
    };
    for (size_t k = 0; k < needed.size(); ++k) {
      if (!needed[k]) continue;
      look(w.f.regions[r].ops[k]);
      for (RegionId inner : w.op(w.f.regions[r].ops[k]).regions) forEachOp(w.f, inner, look);
    }
    if (adds) return true;
  }
  return false;
}

/// The variable that a result of a nest grows in, when it is written as loops.
void startResult(FunctionWriter& w, const Op& o, const Yields& y) {
  const TypeId t = w.f.typeOf(y.results[0]);
  const bool reduces = y.result.kind == NestResultKind::Reduce;
  if (reduces && !infoOf(y.result.monoid).op) w.note("such a reduction among accumulators");
  std::string first = reduces ? unitText(w, y.result.monoid, w.types().element(t)) : undefText(w, t);
  if (reduces && !y.result.keep.empty() && !isSum(y.result))
    first = "[for " + axesText(w, o, y.result.keep) + ": " + first + "]";
  w.call(y.results[0], variable(w, w.hintOf(y.results[0]), typeText(w, t), first));
}

void addToResult(FunctionWriter& w, const Op& o, const Yields& y) {
  const std::string n = w.value(y.results[0]), v = w.value(y.values.back());
  const bool lists = isRagged(w, w.f.typeOf(y.results[0]));
  std::string at;
  for (uint32_t a : y.result.keep)
    at += (at.empty() ? "" : lists ? "][" : ", ") + w.value(w.f.regions[o.regions[0]].params[a]);
  std::string place = at.empty() ? n : n + "[" + at + "]";
  if (y.result.kind == NestResultKind::Collect) return w.lines.add(place + " = " + v);
  if (y.result.kind == NestResultKind::Filter)
    return w.lines.add("if " + w.value(y.values[0]) + " { push(&" + n + ", " + v + ") }");
  if (isSum(y.result))
    return w.lines.add(place + " = " + combined(w, w.f.typeOf(y.values[0]), {place, named(w, v)}));
  const MonoidInfo& info = infoOf(y.result.monoid);
  if (info.finds != ExtremumKind::Neither)
    return w.lines.add(place + " = " + std::string(info.builtin) + "(" + place + ", " + v + ")");
  const std::string_view infix = info.op == OpKind::Mul ? "*" : info.text;
  w.lines.add(place + " = " + place + " " + std::string(infix) + " " + v);
}

/// Loops over the axes: accumulators are variables that are added to.
void writeLoops(FunctionWriter& w, const Op& o, bool withResults) {
  const NestView nest(w.f, o);
  const uint32_t accs = nest.accs();
  const std::span<const ValueId> vars = nest.accParams();
  for (uint32_t k = 0; k < accs; ++k) {
    std::string hint = w.f.values[vars[k]].hint.valid() ? w.hintOf(vars[k]) : "total";
    w.call(vars[k],
           variable(w, hint, typeText(w, w.f.typeOf(nest.accResults()[k])), w.value(nest.accOperands()[k])));
  }
  const std::vector<Yields> grown = withResults ? yieldsOf(w, o) : std::vector<Yields>();
  for (const Yields& one : grown) startResult(w, o, one);
  const KnownSizes::Scope scope(w.sizes);
  for (uint32_t a = 0; a < nest.axes(); ++a) w.lines.open("for " + axisText(w, o, a) + " {");
  writeRegion(w, o.regions[0]);
  for (const Yields& one : grown) addToResult(w, o, one);
  assignCarries(w, vars, nest.accYields());
  for (uint32_t a = 0; a < nest.axes(); ++a) w.lines.close("}");
  for (uint32_t k = 0; k < accs; ++k) w.callAs(nest.accResults()[k], vars[k]);
}

} // namespace

void writeNest(FunctionWriter& w, const Op& o) {
  const bool loops = needsLoops(w, o), adds = nestAccs(o) > 0;
  bool acting = false;
  for (OpId id : w.f.regions[o.regions[0]].ops) acting = acting || (!loops && !adds && acts(w, id));
  if (!loops)
    for (const Yields& y : yieldsOf(w, o))
      if (writeResult(w, o, y, acting)) acting = false;
  if (loops || adds || acting) writeLoops(w, o, loops);
  finishSizes(w, o, {});
}

} // namespace melix::decompile
