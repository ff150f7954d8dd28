// Nests as builders and reductions; those that add to accumulators as loops.

#include "core/ir/nest.h"
#include "decompile/writer.h"

#include "core/ir/walk.h"

#include <algorithm>
#include <unordered_set>

namespace melix::decompile {

using namespace core;

std::string FunctionWriter::axis(const Op& o, uint32_t a) {
  ValueId p = f_.regions[o.regions[0]].params[a];
  if (!exprs_.count(p)) call(p, names_.local(hintOf(p) == "v" ? "i" : hintOf(p)));
  return value(p) + " in 0.." + dim(o.dims[a], 14);
}

std::string FunctionWriter::header(const Op& o, const std::vector<uint32_t>& axes) {
  std::string out;
  for (uint32_t a : axes) out += (out.empty() ? "" : ", ") + axis(o, a);
  return out;
}

/// Which ops of a region some of what it yields needs; with `acting`, those too that do something beside
/// giving results. A nest is written once for each of its results, one of them with what acts.
std::vector<bool> FunctionWriter::neededFor(RegionId r, const core::Operands& yielded, bool acting) const {
  const std::vector<OpId>& ops = f_.regions[r].ops;
  std::vector<bool> needed(ops.size(), false);
  std::unordered_set<ValueId> values(yielded.begin(), yielded.end());
  std::set<DimSym> sizes;
  auto wants = [&](TypeId t) {
    std::vector<DimSym> symbols;
    types().collectSymbols(t, symbols);
    sizes.insert(symbols.begin(), symbols.end());
  };
  for (ValueId v : yielded) wants(f_.typeOf(v));
  auto use = [&](OpId id) {
    const Op& o = op(id);
    values.insert(o.operands.begin(), o.operands.end());
    std::vector<DimSym> symbols;
    for (DimId d : o.dims) types().dims.collectSymbols(d, symbols);
    sizes.insert(symbols.begin(), symbols.end());
    for (ValueId v : o.results) wants(f_.typeOf(v));
    for (ValueId v : o.operands) wants(f_.typeOf(v));
  };
  for (size_t k = ops.size() - 1; k-- > 0;) {
    const Op& o = op(ops[k]);
    needed[k] = acting && acts(ops[k]);
    for (ValueId v : o.results) needed[k] = needed[k] || values.count(v) != 0;
    for (DimSym s : o.resultDims) needed[k] = needed[k] || sizes.count(s) != 0;
    if (!needed[k]) continue;
    use(ops[k]);
    for (RegionId inner : o.regions) forEachOp(f_, inner, use);
  }
  return needed;
}

/// The body of a builder as an expression; a block where it has statements.
std::string FunctionWriter::body(RegionId r, const core::Operands& yielded, bool acting) {
  std::string saved = std::move(out_);
  out_.clear();
  const std::set<DimSym> known = knownDims_;
  ++indent_, ++builders_;
  std::vector<bool> needed = neededFor(r, yielded, acting);
  for (size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) write(f_.regions[r].ops[k]);
  std::string last = tuple(yielded), inner = std::move(out_);
  --indent_, --builders_;
  knownDims_ = known;
  out_ = std::move(saved);
  if (inner.empty()) return last;
  std::string pad(static_cast<size_t>(2 * indent_), ' ');
  return "{\n" + inner + pad + "  " + last + "\n" + pad + "}";
}

/// What each result of a nest takes and gives.
std::vector<FunctionWriter::Yields> FunctionWriter::yieldsOf(const Op& o) const {
  const NestView nest(f_, o);
  std::vector<Yields> out;
  auto list = [](std::span<const ValueId> values) { return std::vector(values.begin(), values.end()); };
  for (const NestPart& part : nest.parts())
    out.push_back({*part.spec, list(nest.yields(part)), list(nest.results(part)), list(nest.units(part))});
  return out;
}

/// `sum(for k in 0..K: e)`; a reduction of the program's own is `reduce((a, b) => …, unit, for …)`.
std::string FunctionWriter::reduction(const Op& o, const Yields& y, const std::string& axes,
                                      const std::string& text) {
  const std::string builtin(infoOf(y.result.monoid).builtin);
  if (!isCombine(y.result)) return builtin + "(for " + axes + ": " + text + ")";
  const RegionId r = o.regions[y.result.combineRegion];
  const std::vector<ValueId>& params = f_.regions[r].params;
  const size_t n = y.values.size();
  auto pattern = [&](size_t from) {
    std::string out;
    for (size_t k = 0; k < n; ++k) out += (k ? ", " : "") + name(params[from + k]);
    return n == 1 ? out : "(" + out + ")";
  };
  std::string left = pattern(0), right = pattern(n);
  return builtin + "((" + left + ", " + right + ") => " + body(r, yieldOf(r)) + ", " + tuple(y.units) +
         ", [for " + axes + ": " + text + "])";
}

/// What a reduction of nothing gives in Core.
std::string FunctionWriter::unit(MonoidKind monoid, TypeId t) {
  const std::string as = " as " + type(t) + ")";
  const MonoidInfo& info = infoOf(monoid);
  if (!info.op) return "0"; // positions that nothing reads
  const bool isFloat = types().isFloat(t), isBool = types().kind(t) == TypeKind::Bool;
  const bool least = info.unit == UnitKind::Least;
  switch (info.unit) {
  case UnitKind::Zero: return isBool ? "false" : "zero()";
  case UnitKind::Ones: return isBool ? "true" : "(-1" + as;
  case UnitKind::One: return "(1" + as;
  case UnitKind::Least:
  case UnitKind::Greatest: {
    if (isFloat) return (least ? "(-inf" : "(inf") + as;
    const unsigned bits = types::scalarBits(types().kind(t));
    const bool isSigned = types::scalarClass(types().kind(t)) == types::ScalarClass::SInt;
    const uint64_t top = ~uint64_t(0) >> (64 - bits + isSigned);
    if (!least) return "(" + std::to_string(top) + as;
    return isSigned ? "((-" + std::to_string(top) + " - 1)" + as : "(0" + as;
  }
  }
  return {};
}

/// Where Melix has no reduction of nothing and no check says that there is something: with what Core gives.
std::string FunctionWriter::unlessEmpty(const Op& o, const Yields& y, const std::vector<uint32_t>& reduced,
                                        const std::string& text) {
  const MonoidKind monoid = y.result.monoid;
  const bool places = isPosition(y.result);
  TypeId t = types().element(f_.typeOf(y.results[0]));
  if (!places && (infoOf(monoid).finds == ExtremumKind::Neither || types().isFloat(t))) return text;
  types::DimStore& dims = m_.types.dims;
  DimId extent = dims.constant(1);
  for (uint32_t a : reduced) extent = dims.mul(extent, o.dims[a]);
  if (dims.atLeast(extent, 1) || notEmpty_.count(extent)) return text;
  std::string nothing;
  for (size_t k = 0; k < (places ? reduced.size() : 1); ++k) nothing += (k ? ", " : "") + unit(monoid, t);
  if (places && reduced.size() > 1) nothing = "(" + nothing + ")";
  return "if " + dim(extent, 9) + " > 0 { " + text + " } else { " + nothing + " }";
}

/// False if nothing uses it.
bool FunctionWriter::nestResult(const Op& o, const Yields& y, bool acting) {
  bool used = std::any_of(y.results.begin(), y.results.end(), [&](ValueId v) { return uses_.used(v); });
  if (!used && o.resultDims.empty()) return false;
  const TypeId t = f_.typeOf(y.results[0]);
  std::vector<uint32_t> reduced;
  for (uint32_t a = 0; a < o.dims.size(); ++a) {
    (void)axis(o, a);
    if (std::find(y.result.keep.begin(), y.result.keep.end(), a) == y.result.keep.end()) reduced.push_back(a);
  }
  if (y.result.kind == NestResultKind::Collect && isRagged(t)) {
    ragged(o, y, acting);
    return true;
  }
  std::string text;
  if (y.result.kind == NestResultKind::Filter) {
    std::string condition = body(o.regions[0], {y.values[0]}, acting);
    text = "[for " + header(o, reduced) + " if " + condition + ": " + body(o.regions[0], {y.values[1]}) + "]";
  } else {
    ++indent_;
    text = body(o.regions[0], y.values, acting);
    --indent_;
    const bool places = isPosition(y.result);
    if (y.result.kind == NestResultKind::Reduce && (places || !reduced.empty()))
      text = unlessEmpty(o, y, reduced, reduction(o, y, header(o, reduced), text));
    if (!y.result.keep.empty()) text = "[for " + header(o, y.result.keep) + ": " + text + "]";
  }
  std::string n = names_.local(hintOf(y.results[0]));
  if (y.results.size() == 1) {
    line("let " + n + ": " + type(t) + " = " + text);
    call(y.results[0], n);
    return true;
  }
  // Several at once: tuples, taken apart afterwards.
  line("let " + n + " = " + text);
  for (uint32_t k = 0; k < y.results.size(); ++k) {
    if (y.result.keep.empty()) {
      call(y.results[k], n + "." + std::to_string(k));
      continue;
    }
    std::string part = names_.local(hintOf(y.results[k])), at;
    for (uint32_t a : y.result.keep)
      at += (at.empty() ? "" : ", ") + value(f_.regions[o.regions[0]].params[a]);
    line("let " + part + ": " + type(f_.typeOf(y.results[k])) + " = [for " + header(o, y.result.keep) + ": " +
         n + "[" + at + "]." + std::to_string(k) + "]");
    call(y.results[k], part);
  }
  return true;
}

/// Elements of different sizes: Lists, one inside the other, filled in loops.
void FunctionWriter::ragged(const Op& o, const Yields& y, bool acting) {
  const RegionId r = o.regions[0];
  const size_t axes = y.result.keep.size();
  TypeId t = f_.typeOf(y.results[0]);
  std::vector<std::string> lists;
  const std::set<DimSym> known = knownDims_;
  for (size_t k = 0; k < axes; ++k) {
    lists.push_back(variable(hintOf(y.results[0]), raggedType(t, k), "[]"));
    open("for " + axis(o, y.result.keep[k]) + " {");
  }
  const std::vector<bool> needed = neededFor(r, y.values, acting);
  for (size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) write(f_.regions[r].ops[k]);
  std::string element = value(y.values[0]);
  for (size_t k = axes; k-- > 0; element = lists[k]) {
    line("push(&" + lists[k] + ", " + element + ")");
    close("}");
  }
  knownDims_ = known;
  call(y.results[0], lists[0]);
}

/// Whether builders cannot say it: what is yielded comes out of the same branches and calls as accumulators,
/// or is summed by a function.
bool FunctionWriter::needsLoops(const Op& o) {
  const RegionId r = o.regions[0];
  for (const Yields& y : yieldsOf(o)) {
    if (isSum(y.result) && !isPlain(f_.typeOf(y.values[0]))) return true;
    const std::vector<bool> needed = neededFor(r, y.values);
    bool adds = false;
    auto look = [&](OpId id) {
      for (ValueId v : op(id).operands) adds |= types().kind(f_.typeOf(v)) == TypeKind::Acc;
    };
    for (size_t k = 0; k < needed.size(); ++k) {
      if (!needed[k]) continue;
      look(f_.regions[r].ops[k]);
      for (RegionId inner : op(f_.regions[r].ops[k]).regions) forEachOp(f_, inner, look);
    }
    if (adds) return true;
  }
  return false;
}

void FunctionWriter::nest(const Op& o) {
  const bool loops = needsLoops(o), adds = nestAccs(o) > 0;
  bool acting = false;
  for (OpId id : f_.regions[o.regions[0]].ops) acting = acting || (!loops && !adds && acts(id));
  if (!loops)
    for (const Yields& y : yieldsOf(o))
      if (nestResult(o, y, acting)) acting = false;
  if (loops || adds || acting) nestLoops(o, loops);
  finishSizes(o, {});
}

/// The variable that a result of a nest grows in, when it is written as loops.
void FunctionWriter::startResult(const Op& o, const Yields& y) {
  const TypeId t = f_.typeOf(y.results[0]);
  const bool reduces = y.result.kind == NestResultKind::Reduce;
  if (reduces && !infoOf(y.result.monoid).op) note("such a reduction among accumulators");
  std::string first = reduces ? unit(y.result.monoid, types().element(t)) : undef(t);
  if (reduces && !y.result.keep.empty() && !isSum(y.result))
    first = "[for " + header(o, y.result.keep) + ": " + first + "]";
  call(y.results[0], variable(hintOf(y.results[0]), type(t), first));
}

void FunctionWriter::addToResult(const Op& o, const Yields& y) {
  const std::string n = value(y.results[0]), v = value(y.values.back());
  const bool lists = isRagged(f_.typeOf(y.results[0]));
  std::string at;
  for (uint32_t a : y.result.keep)
    at += (at.empty() ? "" : lists ? "][" : ", ") + value(f_.regions[o.regions[0]].params[a]);
  std::string place = at.empty() ? n : n + "[" + at + "]";
  if (y.result.kind == NestResultKind::Collect) return line(place + " = " + v);
  if (y.result.kind == NestResultKind::Filter)
    return line("if " + value(y.values[0]) + " { push(&" + n + ", " + v + ") }");
  if (isSum(y.result)) return line(place + " = " + combined(f_.typeOf(y.values[0]), {place, named(v)}));
  const MonoidInfo& info = infoOf(y.result.monoid);
  if (info.finds != ExtremumKind::Neither)
    return line(place + " = " + std::string(info.builtin) + "(" + place + ", " + v + ")");
  const bool isBool = types().kind(f_.typeOf(y.values[0])) == TypeKind::Bool;
  return line(place + " = " + place + " " + std::string(isBool ? info.text : "*") + " " + v);
}

/// Loops over the axes: accumulators are variables that are added to.
void FunctionWriter::nestLoops(const Op& o, bool withResults) {
  const NestView nest(f_, o);
  const uint32_t accs = nest.accs();
  const std::span<const ValueId> vars = nest.accParams();
  for (uint32_t k = 0; k < accs; ++k) {
    std::string hint = f_.values[vars[k]].hint.valid() ? hintOf(vars[k]) : "total";
    call(vars[k], variable(hint, type(f_.typeOf(nest.accResults()[k])), value(nest.accOperands()[k])));
  }
  const std::vector<Yields> grown = withResults ? yieldsOf(o) : std::vector<Yields>();
  for (const Yields& one : grown) startResult(o, one);
  const std::set<DimSym> known = knownDims_;
  for (uint32_t a = 0; a < nest.axes(); ++a) open("for " + axis(o, a) + " {");
  region(o.regions[0]);
  for (const Yields& one : grown) addToResult(o, one);
  assignCarries(vars, nest.accYields());
  for (uint32_t a = 0; a < nest.axes(); ++a) close("}");
  knownDims_ = known;
  for (uint32_t k = 0; k < accs; ++k) exprs_[nest.accResults()[k]] = exprs_[vars[k]];
}

} // namespace melix::decompile
