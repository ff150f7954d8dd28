// Calls: of a function that writes some results where they go there is another one for these results, which
// takes the addresses as its last parameters.
#include "loops/emit/lower.h"

namespace melix::loops {

void Lower::writeTo(core::ValueId v, core::RegionId region, const Destination& at) {
  const core::ValueId written = context_.placements.writtenFor(in_, facts_->uses, v, region);
  if (written.valid()) destinations_[written.index] = at;
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
    const Destination* at = destinationOf(v);
    if (!at) {
      others.push_back(v);
      continue;
    }
    written.push_back(k);
    operands.push_back(b_.addressOf(at->base, at->terms, layouts_.stored(types_.element(typeOf(v))).size, 0));
    env_[v.index] = {{operands.back()}, {}, true};
    kept.push_back(at->base);
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
