#include "loops/layout/destinations.h"

#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"

#include <algorithm>

namespace melix::loops {
namespace {

using core::OpKind;
using types::TypeKind;

/// Whether result `k` of a nest is an array that the nest writes point by point.
bool isWritten(const core::Function& fn, const core::Op& nest, uint32_t k) {
  const core::NestView view(fn, nest);
  for (const core::NestPart& part : view.parts())
    if (k < part.results.first + part.results.count)
      return part.spec->kind != core::NestResultKind::Filter && !part.spec->keep.empty();
  return false;
}

/// Whether a read of an array makes memory of its own: of a part of another.
bool isCopied(const types::TypeStore& types, types::TypeId root, const core::Path& path) {
  return types.kind(root) == TypeKind::Array && !path.empty() &&
         std::ranges::all_of(path, [](const core::PathStep& s) { return core::isIndexLike(s.kind); });
}

/// Whether the type's sizes are those of arguments, and not found by what makes the value.
bool isSizedBefore(const types::TypeStore& types, types::TypeId type, std::span<const types::DimSym> found) {
  std::vector<types::DimSym> symbols;
  types.collectSymbols(type, symbols);
  return std::ranges::none_of(symbols,
                              [&](types::DimSym s) { return std::ranges::find(found, s) != found.end(); });
}

} // namespace

/// Whether the op can write its result `k`, an array, to memory that is given.
bool Placements::canWrite(const core::Function& fn, const core::Op& op, uint32_t k) {
  switch (op.kind) {
  case OpKind::Nest: return isWritten(fn, op, k);
  case OpKind::ArrayOf: return module_.types.isScalar(module_.types.element(fn.typeOf(op.results[k])));
  case OpKind::For: return k >= core::LoopView(fn, op).carries();
  case OpKind::Get: return isCopied(module_.types, fn.typeOf(op.operands[0]), op.as<core::Path>());
  case OpKind::Call: return writesResult(op.as<core::CallAttr>().callee, k);
  default: return false;
  }
}

core::ValueId Placements::writtenFor(const core::Function& fn, const core::Uses& uses, core::ValueId v,
                                     core::RegionId region) {
  const types::TypeId type = fn.typeOf(v);
  if (module_.types.kind(type) != TypeKind::Array) return {};
  for (;;) {
    const core::OpId def = fn.values[v].def;
    if (!def || uses.count(v) != 1 || uses.regionOf(def) != region) return {};
    const core::Op& op = fn.ops[def];
    if (!isSizedBefore(module_.types, type, op.resultDims)) return {};
    if (op.kind != OpKind::CastDims) return canWrite(fn, op, fn.values[v].index) ? v : core::ValueId();
    v = op.operands[0];
  }
}

bool Placements::writesResult(core::FunctionId callee, uint32_t k) {
  const core::Function& fn = module_.functions[callee];
  if (!fn.body) return false;
  // While a function is being looked at the answer is no: one that calls itself returns its memory.
  auto [found, isNew] = writesResults_.try_emplace(callee, fn.results.size(), false);
  if (!isNew) return found->second[k];
  const auto kept = core::analysis<core::Uses>(module_, callee);
  const core::Uses& uses = *kept;
  const core::Operands& yielded = fn.ops[fn.regions[fn.body].ops.back()].operands;
  std::vector<bool> writes(yielded.size());
  for (uint32_t r = 0; r < writes.size(); ++r)
    writes[r] = isSizedBefore(module_.types, fn.typeOf(yielded[r]), fn.resultDims) &&
                writtenFor(fn, uses, yielded[r], fn.body).valid();
  writesResults_[callee] = writes;
  return writes[k];
}

} // namespace melix::loops
