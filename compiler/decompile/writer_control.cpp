// Branches and loops as source.

#include "decompile/writer.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

/// What stands before `if` or `match`: `let (a, b): (T, f64) = `. Where the arms decide sizes, results are
/// variables that every arm assigns, and nothing stands before it.
std::string FunctionWriter::joined(const Op& o, Joined& variables) {
  std::string left, asked;
  bool scalars = true;
  std::vector<TypeId> resultTypes;
  for (ValueId v : o.results) resultTypes.push_back(f_.typeOf(v));
  for (size_t k : silentSizes(o.resultDims, resultTypes)) variables.sizes[k] = variable("size", "", "0");
  for (ValueId v : o.results) {
    if (!o.resultDims.empty()) {
      variables.results.push_back(variable(hintOf(v), type(f_.typeOf(v)), undef(f_.typeOf(v))));
      call(v, variables.results.back());
      continue;
    }
    call(v, names_.local(hintOf(v)));
    left += (left.empty() ? "" : ", ") + exprs_[v].text;
    asked += (asked.empty() ? "" : ", ") + type(f_.typeOf(v));
    scalars = scalars && types().isScalar(f_.typeOf(v));
  }
  if (left.empty()) return "";
  if (o.results.size() > 1) left = "(" + left + ")", asked = "(" + asked + ")";
  return "let " + left + (scalars ? "" : ": " + asked) + " = ";
}

void FunctionWriter::finishArm(const Op& o, RegionId r, const Joined& variables) {
  const core::Operands& y = yieldOf(r);
  for (const auto& [k, size] : variables.sizes) line(size + " = " + dim(terminator(r).dims[k]));
  for (size_t k = 0; k < variables.results.size(); ++k) line(variables.results[k] + " = " + value(y[k]));
  if (o.resultDims.empty()) line(o.results.empty() ? "()" : tuple(y));
}

/// Sizes by symbol rather than by place.
static std::map<DimSym, std::string> bySymbol(const std::map<size_t, std::string>& sizes,
                                              std::span<const DimSym> symbols) {
  std::map<DimSym, std::string> out;
  for (const auto& [k, size] : sizes) out[symbols[k]] = size;
  return out;
}

void FunctionWriter::branch(const Op& o) {
  Joined variables;
  std::string head = joined(o, variables) + "if " + value(o.operands[0]) + " {";
  const std::set<DimSym> known = knownDims_;
  for (size_t arm = 0; arm < 2; ++arm) {
    open(arm == 0 ? head : "} else {");
    region(o.regions[arm]);
    finishArm(o, o.regions[arm], variables);
    --indent_;
    knownDims_ = known;
  }
  line("}");
  finishSizes(o, bySymbol(variables.sizes, o.resultDims));
}

void FunctionWriter::match(const Op& o) {
  Joined variables;
  open(joined(o, variables) + "match " + value(o.operands[0]) + " {");
  RecordId record = types()[f_.typeOf(o.operands[0])].record;
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  const std::set<DimSym> known = knownDims_;
  for (uint32_t c = 0; c < regionOf.size(); ++c) {
    const RegionId r = o.regions[regionOf[c]];
    const std::vector<ValueId>& params = f_.regions[r].params;
    std::string payload;
    for (size_t k = 0; k < types().recordInfo(record).cases[c].fields.size(); ++k) {
      bool bound = k < params.size() && uses_.used(params[k]);
      payload += (k ? ", " : "") + (bound ? name(params[k]) : std::string("_"));
    }
    open(names_.enumCase(record, c) + (payload.empty() ? "" : "(" + payload + ")") + " => {");
    region(r);
    finishArm(o, r, variables);
    close("}");
    knownDims_ = known;
  }
  close("}");
  finishSizes(o, bySymbol(variables.sizes, o.resultDims));
}

// --- loops
// --------------------------------------------------------------------------------------------------------

/// Variables for what a loop carries.
FunctionWriter::CarriedSizes FunctionWriter::carryIn(const Op& o, const LoopView& loop) {
  std::vector<TypeId> carried;
  for (size_t k = 0; k < loop.carries(); ++k) {
    const ValueId param = loop.carryParams()[k];
    carried.push_back(f_.typeOf(param));
    call(param, variable(hintOf(param), type(carried.back()), value(loop.carryOperands()[k])));
  }
  CarriedSizes sizes;
  for (size_t k : silentSizes(f_.regions[loop.body()].dimParams, carried))
    sizes[k] = variable("size", "", dim(o.dims[k]));
  return sizes;
}

/// Sizes that change from one iteration to the next.
void FunctionWriter::enterRegion(const LoopView& loop, RegionId r, const CarriedSizes& sizes) {
  std::vector<std::pair<TypeId, std::string>> from;
  for (const auto& [k, size] : sizes) bindDim(f_.regions[r].dimParams[k], size);
  for (ValueId v : loop.carryParams(r)) from.emplace_back(f_.typeOf(v), value(v));
  bindDims(f_.regions[r].dimParams, from);
}

/// The end of the body: variables and sizes become those of the next iteration.
void FunctionWriter::carryOn(const LoopView& loop, const CarriedSizes& sizes) {
  assignCarries(loop.carryParams(), loop.carryYields());
  for (const auto& [k, size] : sizes) line(size + " = " + dim(terminator(loop.body()).dims[k]));
}

/// The results that were carried are the variables.
void FunctionWriter::carryOut(const Op& o, const LoopView& loop, const CarriedSizes& sizes) {
  for (size_t k = 0; k < loop.carries(); ++k) exprs_[loop.carryResults()[k]] = exprs_[loop.carryParams()[k]];
  finishSizes(o, bySymbol(sizes, loop.resultDims()));
}

/// c = next; all next values are found before the first variable changes.
void FunctionWriter::assignCarries(std::span<const ValueId> vars, std::span<const ValueId> next) {
  std::vector<std::string> values;
  size_t changing = 0;
  for (size_t k = 0; k < vars.size(); ++k) {
    values.push_back(value(next[k]));
    changing += values[k] != value(vars[k]);
  }
  for (size_t k = 0; k < vars.size() && changing > 1; ++k) {
    if (values[k] == value(vars[k])) continue;
    std::string n = names_.local("next");
    line("let " + n + " = " + values[k]);
    values[k] = n;
  }
  for (size_t k = 0; k < vars.size(); ++k)
    if (values[k] != value(vars[k])) line(value(vars[k]) + " = " + values[k]);
}

/// Collected values go into an array made before the loop; a List where their sizes differ.
void FunctionWriter::forLoop(const Op& o) {
  const LoopView loop(f_, o);
  std::string count = value(loop.count(), 13);
  if (loop.extent().valid()) {
    bindDim(loop.extent(), "max(" + value(loop.count()) + ", 0)");
    count = names_.dim(loop.extent());
  }
  const CarriedSizes sizes = carryIn(o, loop);
  for (ValueId stack : loop.stackResults()) {
    TypeId t = f_.typeOf(stack);
    call(stack, variable("kept", type(t), undef(t)));
  }
  const std::set<DimSym> known = knownDims_;
  const std::string hint = hintOf(loop.index()), i = names_.local(hint == "v" ? "i" : hint);
  call(loop.index(), i);
  open("for " + i + " in 0.." + count + " {");
  enterRegion(loop, loop.body(), sizes);
  region(loop.body());
  for (size_t k = 0; k < loop.stacks(); ++k) {
    std::string kept = value(loop.stackResults()[k]);
    line(kept + "[" + i + "] = " + value(loop.stackYields()[k]));
  }
  carryOn(loop, sizes);
  close("}");
  knownDims_ = known;
  carryOut(o, loop, sizes);
}

void FunctionWriter::whileLoop(const Op& o) {
  const LoopView loop(f_, o);
  const RegionId condition = loop.condition();
  const CarriedSizes sizes = carryIn(o, loop);
  for (size_t k = 0; k < loop.carries(); ++k)
    exprs_[loop.carryParams(condition)[k]] = exprs_[loop.carryParams()[k]];
  const std::set<DimSym> known = knownDims_;
  open("loop {");
  enterRegion(loop, condition, sizes);
  region(condition);
  line("if not " + value(yieldOf(condition)[0], 7) + " { break }");
  enterRegion(loop, loop.body(), sizes);
  region(loop.body());
  carryOn(loop, sizes);
  close("}");
  knownDims_ = known;
  carryOut(o, loop, sizes);
}

} // namespace melix::decompile
