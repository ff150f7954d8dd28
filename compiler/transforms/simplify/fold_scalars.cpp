#include "transforms/simplify/fold_scalars.h"

#include "core/analysis/evaluate.h"

namespace melix::transforms {

using namespace core;

std::optional<uint64_t> foldScalar(const Op& op, TypeKind kind, TypeKind result,
                                   const std::vector<uint64_t>& operands) {
  const uint32_t detail = std::holds_alternative<uint32_t>(op.attr) ? op.index() : 0;
  uint64_t x[3] = {};
  for (size_t k = 0; k < operands.size() && k < std::size(x); ++k) x[k] = extendedBits(kind, operands[k]);
  uint64_t value = 0;
  if (op.kind == OpKind::Convert)
    value = convertedBits(kind, result, static_cast<ops::ConvertMode>(detail), x[0]);
  else if (ScalarFunction compute = scalarFunction(op.kind, kind, detail))
    value = compute(x[0], x[1], x[2]);
  else
    return std::nullopt;
  // A NaN is left to run time, its bits are nobody's business.
  if (types::isFloatKind(result) && std::isnan(floatValue(result, value))) return std::nullopt;
  return lowBits(result, value);
}

bool isRoundedProduct(const Op& op, TypeKind kind, const std::vector<uint64_t>& operands) {
  if (op.kind != OpKind::Mul || (kind != TypeKind::F32 && kind != TypeKind::F64)) return false;
  const double x = floatValue(kind, operands[0]), y = floatValue(kind, operands[1]), product = x * y;
  if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return false;
  if (kind == TypeKind::F32) return static_cast<double>(static_cast<float>(product)) != product;
  return std::fabs(product) < 0x1p-900 || std::fma(x, y, -product) != 0; // what is left of a tiny one is lost
}

} // namespace melix::transforms
