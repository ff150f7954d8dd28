// Branches and loops as source.

#include "decompile/writer_control.h"

#include "core/ir/walk.h"
#include "decompile/writer.h"
#include "decompile/writer_ops.h"
#include "decompile/writer_sizes.h"
#include "decompile/writer_types.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

/// Variables that the arms of a branch assign: its results, and sizes that none of them shows (places among
/// the op's resultDims).
struct Joined {
  std::vector<std::string> results;
  std::map<size_t, std::string> sizes;
};

/// Variables for sizes that change from one iteration to the next and that no carried value shows (places
/// among the body's dimParams).
using CarriedSizes = std::map<size_t, std::string>;

/// What stands before `if` or `match`: `let (a, b): (T, f64) = `. Where the arms decide sizes, results are
/// variables that every arm assigns, and nothing stands before it.
std::string joined(FunctionWriter& w, const Op& o, Joined& variables) {
  std::string left, asked;
  bool scalars = true;
  std::vector<TypeId> resultTypes;
  for (ValueId v : o.results) resultTypes.push_back(w.f.typeOf(v));
  for (size_t k : silentSizes(w, o.resultDims, resultTypes))
    variables.sizes[k] = variable(w, "size", "", "0");
  for (ValueId v : o.results) {
    if (!o.resultDims.empty()) {
      variables.results.push_back(
          variable(w, w.hintOf(v), typeText(w, w.f.typeOf(v)), undefText(w, w.f.typeOf(v))));
      w.call(v, variables.results.back());
      continue;
    }
    w.call(v, w.names.local(w.hintOf(v)));
    left += (left.empty() ? "" : ", ") + w.name(v);
    asked += (asked.empty() ? "" : ", ") + typeText(w, w.f.typeOf(v));
    scalars = scalars && w.types().isScalar(w.f.typeOf(v));
  }
  if (left.empty()) return "";
  if (o.results.size() > 1) left = "(" + left + ")", asked = "(" + asked + ")";
  return "let " + left + (scalars ? "" : ": " + asked) + " = ";
}

void finishArm(FunctionWriter& w, const Op& o, RegionId r, const Joined& variables) {
  const core::Operands& y = w.yieldOf(r);
  for (const auto& [k, size] : variables.sizes)
    w.lines.add(size + " = " + dimText(w, w.terminator(r).dims[k]));
  for (size_t k = 0; k < variables.results.size(); ++k)
    w.lines.add(variables.results[k] + " = " + w.value(y[k]));
  if (o.resultDims.empty()) w.lines.add(o.results.empty() ? "()" : w.tuple(y));
}

/// Sizes by symbol rather than by place.
std::map<DimSym, std::string> bySymbol(const std::map<size_t, std::string>& sizes,
                                       std::span<const DimSym> symbols) {
  std::map<DimSym, std::string> out;
  for (const auto& [k, size] : sizes) out[symbols[k]] = size;
  return out;
}

/// Variables for what a loop carries.
CarriedSizes carryIn(FunctionWriter& w, const Op& o, const LoopView& loop) {
  std::vector<TypeId> carried;
  for (size_t k = 0; k < loop.carries(); ++k) {
    const ValueId param = loop.carryParams()[k];
    carried.push_back(w.f.typeOf(param));
    w.call(param,
           variable(w, w.hintOf(param), typeText(w, carried.back()), w.value(loop.carryOperands()[k])));
  }
  CarriedSizes sizes;
  for (size_t k : silentSizes(w, w.f.regions[loop.body()].dimParams, carried))
    sizes[k] = variable(w, "size", "", dimText(w, o.dims[k]));
  return sizes;
}

/// Sizes that change from one iteration to the next.
void enterRegion(FunctionWriter& w, const LoopView& loop, RegionId r, const CarriedSizes& sizes) {
  std::vector<std::pair<TypeId, std::string>> from;
  for (const auto& [k, size] : sizes) bindDim(w, w.f.regions[r].dimParams[k], size);
  for (ValueId v : loop.carryParams(r)) from.emplace_back(w.f.typeOf(v), w.value(v));
  bindDims(w, w.f.regions[r].dimParams, from);
}

/// The end of the body: variables and sizes become those of the next iteration.
void carryOn(FunctionWriter& w, const LoopView& loop, const CarriedSizes& sizes) {
  assignCarries(w, loop.carryParams(), loop.carryYields());
  for (const auto& [k, size] : sizes)
    w.lines.add(size + " = " + dimText(w, w.terminator(loop.body()).dims[k]));
}

/// The results that were carried are the variables.
void carryOut(FunctionWriter& w, const Op& o, const LoopView& loop, const CarriedSizes& sizes) {
  for (size_t k = 0; k < loop.carries(); ++k) w.callAs(loop.carryResults()[k], loop.carryParams()[k]);
  finishSizes(w, o, bySymbol(sizes, loop.resultDims()));
}

void forBody(FunctionWriter& w, const LoopView& loop, const std::string& count, const CarriedSizes& sizes) {
  const KnownSizes::Scope scope(w.sizes);
  const std::string hint = w.hintOf(loop.index()), i = w.names.local(hint == "v" ? "i" : hint);
  w.call(loop.index(), i);
  w.lines.open("for " + i + " in 0.." + count + " {");
  enterRegion(w, loop, loop.body(), sizes);
  writeRegion(w, loop.body());
  for (size_t k = 0; k < loop.stacks(); ++k) {
    std::string kept = w.value(loop.stackResults()[k]);
    w.lines.add(kept + "[" + i + "] = " + w.value(loop.stackYields()[k]));
  }
  carryOn(w, loop, sizes);
  w.lines.close("}");
}

void whileBody(FunctionWriter& w, const LoopView& loop, const CarriedSizes& sizes) {
  const KnownSizes::Scope scope(w.sizes);
  const RegionId condition = loop.condition();
  for (size_t k = 0; k < loop.carries(); ++k) w.callAs(loop.carryParams(condition)[k], loop.carryParams()[k]);
  w.lines.open("loop {");
  enterRegion(w, loop, condition, sizes);
  writeRegion(w, condition);
  w.lines.add("if not " + w.value(w.yieldOf(condition)[0], 7) + " { break }");
  enterRegion(w, loop, loop.body(), sizes);
  writeRegion(w, loop.body());
  carryOn(w, loop, sizes);
  w.lines.close("}");
}

/// The pattern of a case, or of a number.
std::string patternText(FunctionWriter& w, const Op& o, uint32_t c) {
  const types::Type& type = w.types()[w.f.typeOf(o.operands[0])];
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  if (type.kind != TypeKind::Enum) {
    if (c + 1 == regionOf.size()) return "_";
    return type.kind == TypeKind::Bool ? "false" : std::to_string(c);
  }
  const std::vector<ValueId>& params = w.f.regions[o.regions[regionOf[c]]].params;
  std::string payload;
  for (size_t k = 0; k < w.types().recordInfo(type.record).cases[c].fields.size(); ++k) {
    bool bound = k < params.size() && w.uses.used(params[k]);
    payload += (k ? ", " : "") + (bound ? w.name(params[k]) : std::string("_"));
  }
  return w.names.enumCase(type.record, c) + (payload.empty() ? "" : "(" + payload + ")");
}

} // namespace

void writeBranch(FunctionWriter& w, const Op& o) {
  Joined variables;
  std::string head = joined(w, o, variables) + "if " + w.value(o.operands[0]) + " {";
  for (size_t arm = 0; arm < 2; ++arm) {
    const KnownSizes::Scope scope(w.sizes);
    w.lines.open(arm == 0 ? head : "} else {");
    writeRegion(w, o.regions[arm]);
    finishArm(w, o, o.regions[arm], variables);
    w.lines.outdent();
  }
  w.lines.add("}");
  finishSizes(w, o, bySymbol(variables.sizes, o.resultDims));
}

void writeMatch(FunctionWriter& w, const Op& o) {
  Joined variables;
  w.lines.open(joined(w, o, variables) + "match " + w.value(o.operands[0]) + " {");
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  for (uint32_t c = 0; c < regionOf.size(); ++c) {
    const KnownSizes::Scope scope(w.sizes);
    const RegionId r = o.regions[regionOf[c]];
    w.lines.open(patternText(w, o, c) + " => {");
    writeRegion(w, r);
    finishArm(w, o, r, variables);
    w.lines.close("}");
  }
  w.lines.close("}");
  finishSizes(w, o, bySymbol(variables.sizes, o.resultDims));
}

/// c = next; all next values are found before the first variable changes.
void assignCarries(FunctionWriter& w, std::span<const ValueId> vars, std::span<const ValueId> next) {
  std::vector<std::string> values;
  size_t changing = 0;
  for (size_t k = 0; k < vars.size(); ++k) {
    values.push_back(w.value(next[k]));
    changing += values[k] != w.value(vars[k]);
  }
  for (size_t k = 0; k < vars.size() && changing > 1; ++k) {
    if (values[k] == w.value(vars[k])) continue;
    std::string n = w.names.local("next");
    w.lines.add("let " + n + " = " + values[k]);
    values[k] = n;
  }
  for (size_t k = 0; k < vars.size(); ++k)
    if (values[k] != w.value(vars[k])) w.lines.add(w.value(vars[k]) + " = " + values[k]);
}

/// Collected values go into an array made before the loop; a List where their sizes differ.
void writeFor(FunctionWriter& w, const Op& o) {
  const LoopView loop(w.f, o);
  std::string count = w.value(loop.count(), 13);
  if (loop.extent().valid()) {
    bindDim(w, loop.extent(), "max(" + w.value(loop.count()) + ", 0)");
    count = w.names.dim(loop.extent());
  }
  const CarriedSizes sizes = carryIn(w, o, loop);
  for (ValueId stack : loop.stackResults()) {
    TypeId t = w.f.typeOf(stack);
    w.call(stack, variable(w, "kept", typeText(w, t), undefText(w, t)));
  }
  forBody(w, loop, count, sizes);
  carryOut(w, o, loop, sizes);
}

void writeWhile(FunctionWriter& w, const Op& o) {
  const LoopView loop(w.f, o);
  const CarriedSizes sizes = carryIn(w, o, loop);
  whileBody(w, loop, sizes);
  carryOut(w, o, loop, sizes);
}

} // namespace melix::decompile
