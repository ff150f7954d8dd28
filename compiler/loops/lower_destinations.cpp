// Destinations: an array that is only yielded is written where it goes. What makes it is a nest, a loop that
// stacks it, a read that copies a part of an array, or a call of a function that yields such an array in
// turn: of that there is a second function, which takes the address of the memory as its last parameter and
// has no result for it.
#include "core/flow.h"
#include "core/place.h"
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

/// Whether a read of an array makes memory of its own: of a part of another.
bool isCopied(const types::TypeStore& types, TypeId root, const core::Path& path) {
  return types.kind(root) == types::TypeKind::Array && !path.empty() &&
         std::ranges::all_of(path, [](const core::PathStep& s) { return core::isIndexLike(s.kind); });
}

/// Whether the op, no call, can write its result `k`, an array, to memory that is given.
bool canWrite(const types::TypeStore& types, const core::Function& fn, const core::Op& op, uint32_t k) {
  switch (op.kind) {
  case core::OpKind::Nest: return isWritten(fn, op, k);
  case core::OpKind::For: return k >= core::LoopView(fn, op).carries();
  case core::OpKind::Get: return isCopied(types, fn.typeOf(op.operands[0]), op.as<core::Path>());
  default: return false;
  }
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

/// What is to be written there for `v`, which `region` yields, to be there: what an op of the region makes
/// and nothing else uses, before `v` gives its sizes other names. None if nothing can write it to memory that
/// is given.
core::ValueId Lower::writtenFor(const core::Function& fn, const core::Uses& uses, core::ValueId v,
                                core::RegionId region) {
  const TypeId type = fn.typeOf(v);
  if (types_.kind(type) != TypeKind::Array) return {};
  for (;;) {
    const core::OpId def = fn.values[v].def;
    if (!def || uses.count(v) != 1 || uses.regionOf(def) != region) return {};
    const core::Op& op = fn.ops[def];
    if (!isSizedBefore(types_, type, op.resultDims)) return {};
    if (op.kind == OpKind::CastDims) {
      v = op.operands[0];
      continue;
    }
    const uint32_t k = fn.values[v].index;
    const bool writes = op.kind == OpKind::Call ? writesResult(op.as<core::CallAttr>().callee, k)
                                                : canWrite(types_, fn, op, k);
    return writes ? v : core::ValueId();
  }
}

bool Lower::writesResult(core::FunctionId callee, uint32_t k) {
  const core::Function& fn = context_.core.functions[callee];
  if (!fn.body) return false;
  // While a function is being looked at the answer is no: one that calls itself returns its memory.
  auto [found, isNew] = context_.writesResults.try_emplace(callee, fn.results.size(), false);
  if (!isNew) return found->second[k];
  const core::Uses uses(context_.core, callee);
  const core::Operands& yielded = fn.ops[fn.regions[fn.body].ops.back()].operands;
  std::vector<bool> writes(yielded.size());
  for (uint32_t r = 0; r < writes.size(); ++r)
    writes[r] = isSizedBefore(types_, fn.typeOf(yielded[r]), fn.resultDims) &&
                writtenFor(fn, uses, yielded[r], fn.body).valid();
  context_.writesResults[callee] = writes;
  return writes[k];
}

/// `v`, yielded by `region`, is to be written there if that can be.
void Lower::writeTo(core::ValueId v, core::RegionId region, const Destination& at) {
  const core::ValueId written = writtenFor(in_, *uses_, v, region);
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
