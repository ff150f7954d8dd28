#include "loops/layout/constant_arrays.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

/// Appends how a number, or a literal of numbers, stands in memory; false if it is not known.
bool Literals::appendBytes(core::ValueId v, std::string& bytes) const {
  if (!fn_.values[v].def.valid()) return false;
  const core::Op& op = fn_.ops[fn_.values[v].def];
  if (op.kind == OpKind::ArrayOf)
    return std::ranges::all_of(op.operands, [&](core::ValueId part) { return appendBytes(part, bytes); });
  const types::TypeId type = fn_.typeOf(v);
  if (op.kind != OpKind::Const || !(types_.isInt(type) || types_.isFloat(type))) return false;
  const uint64_t bits = op.as<core::Constant>().bits;
  for (uint32_t k = 0, n = types::scalarBits(types_.kind(type)) / 8; k < n; ++k)
    bytes += static_cast<char>(bits >> (8 * k));
  return true;
}

const std::string& Literals::bytesOf(const core::Op& op) {
  constexpr size_t fewBytes = 256; // stores are as good, and what is stored is seen by the optimiser
  auto [it, fresh] = bytes_.try_emplace(&op);
  if (!fresh) return it->second;
  const bool sideBySide =
      op.kind == OpKind::ArrayOf ||
      (op.kind == OpKind::ListOf && types_.isNumber(types_[fn_.typeOf(op.results[0])].parts[0]));
  std::string bytes;
  const bool known = sideBySide && std::ranges::all_of(op.operands, [&](core::ValueId part) {
                       return appendBytes(part, bytes);
                     });
  if (known && bytes.size() > fewBytes) it->second = std::move(bytes);
  return it->second;
}

bool Literals::isRow(core::ValueId v) const {
  const core::OpId def = fn_.values[v].def;
  if (!def.valid() || fn_.ops[def].kind != OpKind::ArrayOf || uses_.count(v) != 1) return false;
  bool isRow = types_.isScalar(types_.element(fn_.typeOf(v)));
  uses_.forEach(v, [&](core::Use at) { isRow = isRow && fn_.ops[at.op].kind == OpKind::ArrayOf; });
  return isRow;
}

bool Literals::isPart(core::ValueId v) {
  bool isPart = uses_.used(v);
  uses_.forEach(v, [&](core::Use at) {
    const core::Op& use = fn_.ops[at.op];
    isPart =
        isPart && (!bytesOf(use).empty() || (use.kind == OpKind::ArrayOf && this->isPart(use.results[0])));
  });
  return isPart;
}

} // namespace melix::loops
