// Destinations: an array that is only yielded is written where it goes. What makes it is a nest, or a call of
// a function that yields such an array in turn: of that there is a second function, which takes the address
// of the memory as its last parameter and has no result for it.
#include "core/nest.h"
#include "core/uses.h"
#include "loops/lower_nest.h"

#include <algorithm>

namespace melix::loops {
namespace {

/// Whether result `k` of a nest is an array that the nest writes point by point.
bool isWritten(const core::Function& fn, const core::Op& nest, uint32_t k) {
  const core::NestView view(fn, nest);
  for (const core::NestPart& part : view.parts())
    if (k < part.results.first + part.results.count)
      return part.spec->kind != core::NestResultKind::Filter && !part.spec->keep.empty();
  return false;
}

/// Whether the type's sizes are those of arguments, and not found by what makes the value.
bool isSizedBefore(const types::TypeStore& types, TypeId type, std::span<const types::DimSym> found) {
  std::vector<types::DimSym> symbols;
  types.collectSymbols(type, symbols);
  for (types::DimSym s : symbols)
    if (std::find(found.begin(), found.end(), s) != found.end()) return false;
  return true;
}

} // namespace

/// Whether what makes `v`, an op of `region`, can write it to memory that is given.
bool Lower::canWrite(const core::Function& fn, core::ValueId v, core::RegionId region) {
  core::OpId def = fn.values[v].def;
  if (!def || types_.kind(fn.typeOf(v)) != TypeKind::Array) return false;
  const std::vector<core::OpId>& ops = fn.regions[region].ops;
  if (std::find(ops.begin(), ops.end(), def) == ops.end()) return false;
  const core::Op& op = fn.ops[def];
  if (!isSizedBefore(types_, fn.typeOf(v), op.resultDims)) return false;
  if (op.kind == OpKind::Nest) return isWritten(fn, op, fn.values[v].index);
  return op.kind == OpKind::Call && writesResult(op.as<core::CallAttr>().callee, fn.values[v].index);
}

bool Lower::writesResult(core::FunctionId callee, uint32_t k) {
  // While a function is being looked at the answer is no: one that calls itself returns its memory.
  auto [found, isNew] = context_.writesResult.try_emplace({callee, k}, false);
  if (!isNew) return found->second;
  const core::Function& fn = context_.core.functions[callee];
  if (!fn.body) return false;
  core::ValueId v = fn.ops[fn.regions[fn.body].ops.back()].operands[k];
  bool writes = isSizedBefore(types_, fn.typeOf(v), fn.resultDims) && canWrite(fn, v, fn.body) &&
                core::Uses(context_.core, callee).count(v) == 1;
  return context_.writesResult[{callee, k}] = writes;
}

/// `v`, yielded by `region`, is to be written there if that can be.
void Lower::writeTo(core::ValueId v, core::RegionId region, const Destination& at) {
  if (uses_->count(v) == 1 && canWrite(in_, v, region)) destinations_[v.index] = at;
}

/// The function that writes these results to memory it is given.
FunctionId Lower::writingFunction(core::FunctionId callee, const std::vector<uint32_t>& written) {
  const core::Function& source = context_.core.functions[callee];
  std::string key = (source.key.empty() ? source.name : source.key) + ".dest";
  for (uint32_t k : written) key += "." + std::to_string(k);
  auto [found, isNew] = context_.made.byKey.emplace(key, FunctionId());
  if (!isNew) return found->second;
  Function made;
  made.name = source.name;
  made.key = key;
  made.source = callee;
  made.loc = source.loc;
  found->second = context_.made.module->functions.add(std::move(made));
  context_.writing.push_back({found->second, callee, written});
  return found->second;
}

void Lower::lowerCall(const core::Op& op) {
  std::vector<ValueId> operands, kept;
  for (types::DimId d : op.dims) operands.push_back(dim(d));
  for (ValueId v : leavesOf(op.operands)) operands.push_back(v);
  std::vector<uint32_t> written;
  std::vector<core::ValueId> others;
  for (uint32_t k = 0; k < op.results.size(); ++k) {
    core::ValueId v = op.results[k];
    auto found = destinations_.find(v.index);
    if (found == destinations_.end()) {
      others.push_back(v);
      continue;
    }
    const Destination& at = found->second;
    written.push_back(k);
    operands.push_back(b_.addressOf(at.base, at.terms, layouts_.stored(types_.element(typeOf(v))).size, 0));
    env_[v.index] = {{operands.back()}, {}, true};
    kept.push_back(at.base);
  }
  core::FunctionId callee = op.as<core::CallAttr>().callee;
  std::vector<ValueType> types = leafTypes(others);
  types.insert(types.end(), op.resultDims.size(), indexType);
  FunctionId function = written.empty() ? context_.functions.at(callee) : writingFunction(callee, written);
  StmtId call = b_.stmt(StmtKind::Call, operands, types, function);
  const std::vector<ValueId>& values = b_.results(call);
  size_t at = 0;
  bind(others, values, at);
  for (types::DimSym d : op.resultDims) defineDim(d, values[at++]);
  for (ValueId base : kept) b_.stmt(StmtKind::KeepAlive, {base});
}

} // namespace melix::loops
