// Lists, checks, builtins and calls.
#include "interp/compile.h"
#include "interp/steps.h"
#include "types/dim_facts.h"

#include <algorithm>

namespace melix::interp {

/// Calls, checks, lists, what reaches the outside, and in the end scalars.
void Compiler::effect(const Op& o) {
  switch (o.kind) {
  case OpKind::Call: return call(o);
  case OpKind::Check:
  case OpKind::Holds: return check(o);
  case OpKind::Panic: emit(runPanic, reg(o.operands[0])); return;
  case OpKind::ListOf:
  case OpKind::Length:
  case OpKind::Push:
  case OpKind::Pop:
  case OpKind::ToArray:
  case OpKind::ToList: return lists(o);
  case OpKind::ArgSort: emit(runArgSort, reg(o.results[0]), reg(o.operands[0]), o.index()); return;
  case OpKind::Builtin: return builtin(o);
  case OpKind::Format: return format(o);
  case OpKind::Debug: return debug(o);
  case OpKind::Closure:
  case OpKind::Apply: return refuse("a function value (run defunctionalise before)");
  case OpKind::Derivative: return refuse("a derivative (run expand_derivatives before)");
  case OpKind::Yield: return;
  default: return scalar(o);
  }
}

void Compiler::call(const Op& o) {
  std::vector<uint32_t> dims, results;
  for (DimSym s : o.resultDims) dims.push_back(symReg(s));
  for (ValueId v : o.results) results.push_back(reg(v));
  callTo(o.as<CallAttr>().callee, operands(o), o.dims, dims, results);
}

void Compiler::format(const Op& o) {
  auto* x = extra<FormatExtra>();
  x->type = fn_.typeOf(o.operands[0]);
  x->attr = o.as<FormatAttr>();
  for (size_t k = 1; k < o.operands.size(); ++k) x->numbers.push_back(reg(o.operands[k]));
  emit(runFormat, reg(o.results[0]), reg(o.operands[0]), 0, 0, x);
}

void Compiler::debug(const Op& o) {
  auto* x = extra<FormatExtra>();
  x->type = fn_.typeOf(o.operands[0]);
  emit(runDebug, 0, reg(o.operands[0]), 0, 0, x);
  move(reg(o.results[0]), o.operands[0]);
}

void Compiler::lists(const Op& o) {
  auto kindOfValue = [&](ValueId v) { return static_cast<uint32_t>(kindOf(fn_.typeOf(v))); };
  switch (o.kind) {
  case OpKind::ListOf: {
    auto* x = extra<RegsExtra>();
    x->element = kindOf(types_[fn_.typeOf(o.results[0])].parts[0]);
    x->regs = operands(o);
    emit(runNewList, reg(o.results[0]), 0, 0, 0, x);
    return;
  }
  case OpKind::Length: emit(runLength, reg(o.results[0]), reg(o.operands[0])); return;
  case OpKind::Push: {
    uint32_t list = operand(o.operands[0]);
    uint32_t value = isObjectValue(o.operands[1]) ? operand(o.operands[1]) : reg(o.operands[1]);
    emit(runPush, reg(o.results[0]), list, value, kindOfValue(o.operands[1]));
    return;
  }
  case OpKind::Pop: {
    uint32_t list = operand(o.operands[0]);
    emit(runPop, reg(o.results[0]), reg(o.results[1]), list, kindOfValue(o.results[0]));
    return;
  }
  case OpKind::ToArray: {
    const types::Type& to = types_[fn_.typeOf(o.results[0])];
    auto* x = extra<RegsExtra>();
    x->element = kindOf(to.parts[0]);
    emit(runMove, symReg(o.resultDims[0]), constantReg(0));
    emit(runLength, symReg(o.resultDims[0]), reg(o.operands[0]));
    x->dims = dimRegs(to.dims);
    emit(runToArray, reg(o.results[0]), reg(o.operands[0]), 0, 0, x);
    return;
  }
  default: { // ToList
    auto* x = extra<RegsExtra>();
    x->element = kindOf(types_[fn_.typeOf(o.results[0])].parts[0]);
    emit(runToList, reg(o.results[0]), reg(o.operands[0]), 0, 0, x);
    return;
  }
  }
}

void Compiler::check(const Op& o) {
  auto* x = extra<CheckExtra>();
  x->check = o.as<CheckAttr>();
  for (ValueId v : o.operands) {
    x->operands.push_back(reg(v));
    x->kinds.push_back(kindOf(fn_.typeOf(v)));
  }
  bool exact = x->check.kind != CheckKind::DimFits || types::DimFacts(types_.dims).isExact(o.dims[0]);
  x->dims = exact ? dimRegs(o.dims) : std::vector{newReg(false)};
  if (!exact) {
    auto* size = extra<ExactDimExtra>();
    size->dim = o.dims[0];
    std::vector<DimSym> symbols;
    types_.dims.collectSymbols(size->dim, symbols);
    for (DimSym s : symbols) size->symbols.emplace_back(s, symReg(s));
    emit(runExactDim, x->dims[0], 0, 0, 0, size);
  }
  if (o.kind == OpKind::Holds)
    emit(runHolds, reg(o.results[0]), 0, 0, 0, x);
  else
    emit(runCheck, 0, 0, 0, 0, x);
}

void Compiler::builtin(const Op& o) {
  auto* x = extra<BuiltinExtra>();
  x->builtin = o.as<BuiltinAttr>().builtin;
  for (ValueId v : o.operands) {
    x->args.push_back(reg(v));
    x->argTypes.push_back(fn_.typeOf(v));
  }
  for (ValueId v : o.results) {
    x->results.push_back(reg(v));
    x->resultTypes.push_back(fn_.typeOf(v));
  }
  for (uint32_t k = 0; k < x->resultTypes.size(); ++k) {
    bool hidden = types_.kind(x->resultTypes[k]) == TypeKind::Pack;
    const types::Type& type = types_[hidden ? types_[x->resultTypes[k]].parts[0] : x->resultTypes[k]];
    if (type.kind != TypeKind::Array) continue;
    for (uint32_t axis = 0; axis < type.dims.size(); ++axis) {
      std::optional<DimSym> s = types_.dims.asSymbol(type.dims[axis]);
      bool defined = s && std::count(o.resultDims.begin(), o.resultDims.end(), *s) > 0;
      bool found = defined || types_.dims.mentionsKind(type.dims[axis], types::DimSymKind::Bound);
      x->dims.push_back(found ? constantReg(static_cast<uint64_t>(int64_t(-1))) : dimReg(type.dims[axis]));
      if (!defined) continue;
      x->dimResults.push_back(symReg(*s));
      x->dimSources.push_back({k, axis});
    }
  }
  emit(runBuiltin, 0, 0, 0, 0, x);
}

void Compiler::callTo(FunctionId callee, const std::vector<uint32_t>& args, std::span<const DimId> dims,
                      const std::vector<uint32_t>& resultDims, const std::vector<uint32_t>& results) {
  auto* x = extra<CallExtra>();
  x->callee = callee;
  const Function& f = program_.module().functions[callee];
  x->args = dimRegs(dims);
  x->argKinds.assign(dims.size(), TypeKind::I64);
  for (size_t k = 0; k < args.size(); ++k) {
    x->args.push_back(args[k]);
    x->argKinds.push_back(kindOf(f.typeOf(f.params()[k])));
  }
  x->results = resultDims;
  x->resultKinds.assign(resultDims.size(), TypeKind::I64);
  for (size_t k = 0; k < results.size(); ++k) {
    x->results.push_back(results[k]);
    x->resultKinds.push_back(kindOf(f.results[k]));
  }
  emit(runCall, 0, 0, 0, 0, x);
}

} // namespace melix::interp
