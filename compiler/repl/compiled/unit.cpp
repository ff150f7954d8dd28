#include "repl/compiled/unit.h"

#include "core/ir/build.h"
#include "core/ir/call_graph.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/text/print.h"

#include <algorithm>
#include <set>

namespace melix::repl {

using core::Builder;
using core::FunctionId;
using core::Op;
using core::OpId;
using core::OpKind;
using core::RegionId;
using core::ValueId;
using ops::BuiltinKind;
using types::TypeId;
using types::TypeKind;

EntryVariables dropUnchanged(core::Module& module, FunctionId entry) {
  core::Function& f = module.functions[entry];
  const core::Uses uses(module, entry);
  const ValueId result = core::terminator(f, f.body).operands[0];
  Op& tuple = f.ops[f.values[result].def];
  const bool isMade = tuple.kind == OpKind::Make;
  EntryVariables out;
  out.passedOn.resize(module.types[f.typeOf(result)].parts.size());
  std::vector<ValueId> params;
  for (uint32_t k = 0; k < f.params().size(); ++k) {
    const ValueId param = f.params()[k];
    uint32_t passed = 0;
    for (uint32_t part = 0; part < tuple.operands.size() && isMade; ++part)
      if (tuple.operands[part] == param) {
        out.passedOn[part] = k;
        ++passed;
      }
    if (uses.count(param) == passed) continue;
    out.read.push_back(k);
    params.push_back(param);
  }
  f.regions[f.body].params = std::move(params);
  if (isMade) {
    core::Operands changed;
    std::vector<TypeId> inside, outside; // the same types, in terms of sizes in the body and of the result's
    for (uint32_t part = 0; part < tuple.operands.size(); ++part) {
      if (out.passedOn[part]) continue;
      changed.push_back(tuple.operands[part]);
      inside.push_back(f.typeOf(tuple.operands[part]));
      outside.push_back(module.types[f.results[0]].parts[part]);
    }
    tuple.operands = std::move(changed);
    f.values[result].type = module.types.tuple(inside);
    f.results[0] = module.types.tuple(outside);
  }
  for (uint32_t k = 0; k < f.params().size(); ++k) f.values[f.params()[k]].index = k;
  f.version.raise();
  return out;
}

namespace {

/// The types of a function's values, sizes left out. Types of one name may differ: a declaration may have
/// been replaced.
std::string typesOf(const core::Module& module, const core::Function& f) {
  std::string out;
  for (uint32_t k = 0; k < f.values.size(); ++k)
    out += std::to_string(module.types.eraseDims(f.values[ValueId(k)].type).index) + " ";
  return out;
}

} // namespace

std::string contentsOf(const core::Module& module, FunctionId f) {
  core::StructureText text(module);
  std::string out;
  std::set<FunctionId> seen{f};
  for (std::vector<FunctionId> open{f}; !open.empty();) {
    const FunctionId at = open.back();
    open.pop_back();
    const core::Function& function = module.functions[at];
    if (at != f) out += function.key;
    if (!function.body.valid()) continue;
    out += text.of(at) + typesOf(module, function) + "\n";
    const auto reach = [&](FunctionId next) {
      if (next && seen.insert(next).second) open.push_back(next);
    };
    reach(function.customJvp);
    core::forEachOp(function, [&](OpId op) { core::forEachCallee(function.ops[op], reach); });
  }
  return out;
}

namespace {

/// The unit value is made where it is taken, and not given.
ValueId take(Builder& b, int64_t number, TypeId type) {
  if (b.types().isUnit(type)) return b.make(type, {});
  return b.one(
      Builder::simple(OpKind::Builtin, {b.integer(number)}, core::BuiltinAttr{BuiltinKind::HostTake}), type);
}
void give(Builder& b, int64_t number, ValueId v) {
  if (b.types().isUnit(b.typeOf(v))) return;
  b.append(Builder::simple(OpKind::Builtin, {b.integer(number), v}, core::BuiltinAttr{BuiltinKind::HostGive}),
           {});
}

/// A function without parameters, open at its end. It has no place in the sources: traces do not show it.
Builder newFunction(core::Module& module, const std::string& name) {
  const FunctionId f = module.functions.add(core::Function{});
  core::Function& function = module.functions[f];
  function.name = function.key = name;
  function.keep = true;
  function.body = function.regions.add(core::Region{});
  return Builder(module, f, function.body, module.locs.add(core::Loc{}));
}

/// What a function is called with.
struct Arguments {
  core::Dims dims;
  core::Operands values;
};
Arguments takeArguments(Builder& b, FunctionId callee) {
  Arguments out;
  types::DimSubst sizes;
  int64_t number = 0;
  const auto dimParams = b.module.functions[callee].dimParams;
  for (const types::DimSym s : dimParams) {
    const ValueId size = take(b, number++, b.types().int64());
    out.dims.push_back(b.dims().symbol(b.bindDim(size, std::string(b.dims().info(s).name))));
    sizes.emplace(s, out.dims.back());
  }
  for (uint32_t k = 0; k < b.module.functions[callee].params().size(); ++k) {
    const core::Function& f = b.module.functions[callee];
    const TypeId type = b.types().substitute(f.typeOf(f.params()[k]), sizes);
    out.values.push_back(take(b, number++, type));
  }
  return out;
}

} // namespace

UnitFunctions addUnit(core::Module& module, FunctionId f, bool isEntry) {
  const std::string name = module.functions[f].name, number = std::to_string(module.functions.size());
  Builder describe = newFunction(module, name + ".describe " + number);
  takeArguments(describe, f);
  describe.yield({});

  Builder run = newFunction(module, name + ".run " + number);
  Arguments arguments = takeArguments(run, f);
  const OpId call = run.call(f, std::move(arguments.values), std::move(arguments.dims));
  const core::DimSyms sizes = run.fn().ops[call].resultDims;
  core::Results results = run.fn().ops[call].results;
  if (isEntry) {
    const ValueId tuple = results[0];
    const size_t parts = module.types[run.typeOf(tuple)].parts.size();
    results.clear();
    for (uint32_t k = 0; k < parts; ++k) results.push_back(run.field(tuple, k));
  }
  int64_t next = 0;
  for (const types::DimSym s : sizes) give(run, next++, run.dimValue(run.dims().symbol(s)));
  for (const ValueId v : results) give(run, next++, v);
  run.yield({});
  return {run.function, describe.function};
}

void replaceCall(core::Module& module, FunctionId caller, OpId call, int64_t unit) {
  core::Function& f = module.functions[caller];
  const RegionId home = core::regionsOfOps(f)[call.index];
  std::vector<OpId>& ops = f.regions[home].ops;
  const auto at = static_cast<size_t>(std::ranges::find(ops, call) - ops.begin());
  const std::vector<OpId> after(ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, ops.end());
  ops.resize(at);
  const Op replaced = f.ops[call];
  Builder b(module, caller, home, replaced.loc);

  int64_t number = 0;
  for (const types::DimId d : replaced.dims) give(b, number++, b.dimValue(d));
  for (const ValueId v : replaced.operands) give(b, number++, v);
  b.append(Builder::simple(OpKind::Builtin, {b.integer(unit)}, core::BuiltinAttr{BuiltinKind::HostRun}), {});
  number = 0;
  for (const types::DimSym s : replaced.resultDims) {
    Op bind = Builder::simple(OpKind::BindDim, {take(b, number++, b.types().int64())});
    bind.resultDims = {s};
    b.append(std::move(bind), {});
  }
  const auto redefine = [&](ValueId v, ValueId taken) { // the users of the call's results stay as they are
    Op& op = f.ops[f.values[taken].def];
    op.results = {v};
    f.values[v].def = f.values[taken].def;
    f.values[v].index = 0;
    f.values[taken].def = {};
  };
  for (const ValueId v : replaced.results) redefine(v, take(b, number++, f.typeOf(v)));
  std::vector<OpId>& extended = f.regions[home].ops;
  extended.insert(extended.end(), after.begin(), after.end());
  f.version.raise();
}

} // namespace melix::repl
