// Branches and loops as source.

#include "decompile/writer.h"

#include "core/walk.h"

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
  const std::vector<ValueId>& y = yieldOf(r);
  for (const auto& [k, size] : variables.sizes) line(size + " = " + dim(terminator(r).dims[k]));
  for (size_t k = 0; k < variables.results.size(); ++k) line(variables.results[k] + " = " + value(y[k]));
  if (o.resultDims.empty()) line(o.results.empty() ? "()" : tuple(y));
}

/// Sizes by symbol rather than by place: those of `symbols` from `lead` on.
static std::map<DimSym, std::string> bySymbol(const std::map<size_t, std::string>& sizes,
                                              const std::vector<DimSym>& symbols, size_t lead = 0) {
  std::map<DimSym, std::string> out;
  for (const auto& [k, size] : sizes) out[symbols[lead + k]] = size;
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
FunctionWriter::CarriedSizes FunctionWriter::carryIn(const Op& o, size_t lead, RegionId body) {
  const std::vector<ValueId>& params = f_.regions[body].params;
  std::vector<TypeId> carried;
  for (size_t k = lead; k < params.size(); ++k) {
    carried.push_back(f_.typeOf(params[k]));
    call(params[k], variable(hintOf(params[k]), type(carried.back()), value(o.operands[k])));
  }
  CarriedSizes sizes;
  for (size_t k : silentSizes(f_.regions[body].dimParams, carried))
    sizes[k] = variable("size", "", dim(o.dims[k]));
  return sizes;
}

/// Sizes that change from one iteration to the next.
void FunctionWriter::enterRegion(RegionId r, size_t lead, const CarriedSizes& sizes) {
  std::vector<std::pair<TypeId, std::string>> from;
  const std::vector<ValueId>& params = f_.regions[r].params;
  for (const auto& [k, size] : sizes) bindDim(f_.regions[r].dimParams[k], size);
  for (size_t k = lead; k < params.size(); ++k) from.emplace_back(f_.typeOf(params[k]), value(params[k]));
  bindDims(f_.regions[r].dimParams, from);
}

void FunctionWriter::assignSizes(RegionId r, const CarriedSizes& sizes) {
  for (const auto& [k, size] : sizes) line(size + " = " + dim(terminator(r).dims[k]));
}

/// The results that were carried are the variables.
void FunctionWriter::carryOut(const Op& o, size_t lead, RegionId body) {
  const std::vector<ValueId>& params = f_.regions[body].params;
  for (size_t k = lead; k < params.size(); ++k) exprs_[o.results[k - lead]] = exprs_[params[k]];
}

/// c = next; all next values are found before the first variable changes.
void FunctionWriter::assignCarries(const std::vector<ValueId>& vars, const std::vector<ValueId>& next) {
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
  const RegionId r = o.regions[0];
  const std::vector<ValueId>&params = f_.regions[r].params, &y = yieldOf(r);
  const size_t carries = params.size() - 1;
  const uint32_t collects = o.as<LoopAttr>().collects;
  std::string count = value(o.operands[0], 13);
  if (collects > 0) {
    bindDim(o.resultDims[0], "max(" + value(o.operands[0]) + ", 0)");
    count = names_.dim(o.resultDims[0]);
  }
  const CarriedSizes sizes = carryIn(o, 1, r);
  for (size_t k = carries; k < y.size(); ++k) {
    TypeId t = f_.typeOf(o.results[k]);
    call(o.results[k], variable("kept", type(t), undef(t)));
  }
  const std::set<DimSym> known = knownDims_;
  std::string i = names_.local(hintOf(params[0]) == "v" ? "i" : hintOf(params[0]));
  call(params[0], i);
  open("for " + i + " in 0.." + count + " {");
  enterRegion(r, 1, sizes);
  region(r);
  for (size_t k = carries; k < y.size(); ++k) {
    std::string kept = value(o.results[k]);
    line(kept + "[" + i + "] = " + value(y[k]));
  }
  assignCarries({params.begin() + 1, params.end()}, {y.begin(), y.begin() + static_cast<long>(carries)});
  assignSizes(r, sizes);
  close("}");
  knownDims_ = known;
  carryOut(o, 1, r);
  finishSizes(o, bySymbol(sizes, o.resultDims, o.resultDims.size() - f_.regions[r].dimParams.size()));
}

void FunctionWriter::whileLoop(const Op& o) {
  const RegionId condition = o.regions[0], body = o.regions[1];
  const std::vector<ValueId>& params = f_.regions[body].params;
  const CarriedSizes sizes = carryIn(o, 0, body);
  for (size_t k = 0; k < params.size(); ++k) exprs_[f_.regions[condition].params[k]] = exprs_[params[k]];
  const std::set<DimSym> known = knownDims_;
  open("loop {");
  enterRegion(condition, 0, sizes);
  region(condition);
  line("if not " + value(yieldOf(condition)[0], 7) + " { break }");
  enterRegion(body, 0, sizes);
  region(body);
  assignCarries(params, yieldOf(body));
  assignSizes(body, sizes);
  close("}");
  knownDims_ = known;
  carryOut(o, 0, body);
  finishSizes(o, bySymbol(sizes, o.resultDims));
}

} // namespace melix::decompile
