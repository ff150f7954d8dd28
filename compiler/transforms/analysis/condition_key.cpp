#include "transforms/analysis/condition_key.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

std::optional<std::string> AxisConditions::textOf(ValueId v, const AxisText& axis) const {
  constexpr int deepest = 12;
  std::string text;
  return write(v, axis, deepest, text) ? std::optional(std::move(text)) : std::nullopt;
}

/// An op before its operands, of which it has always as many.
bool AxisConditions::write(ValueId v, const AxisText& axis, int depth, std::string& to) const {
  if (const std::optional<std::string> found = axis(v)) return to += *found + " ", true;
  const OpId def = f_.values[v].def;
  if (!def.valid() || depth == 0) return false;
  const Op& op = f_.ops[def];
  to += std::to_string(static_cast<int>(op.kind)) + ":";
  switch (op.kind) {
  case OpKind::Const: return to += std::to_string(op.as<Constant>().bits) + " ", true;
  case OpKind::DimValue: {
    if (!sizes_.areDefinedBefore(m_, op, nest_)) return false;
    return to += std::to_string(op.dims[0].index) + " ", true;
  }
  case OpKind::Cmp:
    if (f_.typeOf(op.operands[0]) != m_.types.int64()) return false;
    to += std::to_string(op.index());
    break;
  case OpKind::And:
  case OpKind::Add:
  case OpKind::Sub: break;
  default: return false;
  }
  to += " ";
  return std::ranges::all_of(op.operands, [&](ValueId each) { return write(each, axis, depth - 1, to); });
}

} // namespace melix::transforms
