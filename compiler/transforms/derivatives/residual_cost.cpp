#include "transforms/derivatives/residual_cost.h"

#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr uint32_t flopsAByte = 16, mathsAValue = 1;
constexpr uint64_t leastBytes = 2; ///< what is kept is stored and read besides
constexpr uint64_t anyExtent = 64;
constexpr uint64_t guessedBlock = 256;       ///< of lists, texts, enums and what else is of no known size
constexpr uint64_t most = uint64_t(1) << 24; ///< so that sums and products do not overflow

constexpr uint32_t deepest = 6; ///< of parts in parts: a type may hold the one below twice

uint64_t bytesAt(const types::TypeStore& types, TypeId type, uint32_t depth);

uint64_t arrayBytes(const types::TypeStore& types, const types::Type& t, uint32_t depth) {
  uint64_t bytes = bytesAt(types, t.parts[0], depth);
  for (DimId d : t.dims) bytes = std::min(most, bytes * guessedExtent(types, d));
  return bytes;
}

uint64_t bytesAt(const types::TypeStore& types, TypeId type, uint32_t depth) {
  const types::Type& t = types[type];
  if (types.isScalar(type)) return std::max<uint64_t>(1, types::scalarBits(t.kind) / 8);
  if (depth == deepest) return guessedBlock;
  if (t.kind == TypeKind::Array) return arrayBytes(types, t, depth + 1);
  uint64_t sum = 0;
  if (t.kind == TypeKind::Tuple || t.kind == TypeKind::Known) {
    for (TypeId part : t.parts) sum += bytesAt(types, part, depth + 1);
    return std::min(most, sum);
  }
  if (t.kind != TypeKind::Struct) return guessedBlock;
  for (const types::Field& field : types.recordInfo(t.record).cases[0].fields)
    sum += bytesAt(types, field.type, depth + 1);
  return std::min(most, sum);
}

} // namespace

std::optional<Effort> rematerialisationEffort(const Function& f, const types::TypeStore& types,
                                              const Op& op) {
  if (op.kind == OpKind::Get || op.kind == OpKind::CastDims) return Effort{1, 0};
  if (op.results.empty() || !types.isScalar(f.typeOf(op.results[0]))) return std::nullopt;
  switch (op.kind) {
  case OpKind::Undef:
  case OpKind::Zero:
  case OpKind::Length:
  case OpKind::StopGradient:
  case OpKind::Bitcast: return Effort{1, 0};
  case OpKind::Math: return Effort{0, 1};
  default: break;
  }
  const uint32_t flops = flopsOf(op.kind);
  return flops > 0 ? std::optional(Effort{flops, 0}) : std::nullopt;
}

bool isProfitable(const types::TypeStore& types, TypeId t, Effort effort) {
  const uint64_t bytes = types.isScalar(types.element(t)) ? bytesKept(types, types.element(t)) : 1;
  return effort.math <= mathsAValue && effort.flops <= flopsAByte * std::max(leastBytes, bytes);
}

uint64_t guessedExtent(const types::TypeStore& types, DimId d) {
  const std::optional<int64_t> known = types.dims.asConstant(d);
  return known ? std::clamp<uint64_t>(static_cast<uint64_t>(*known), 1, most) : anyExtent;
}

uint64_t bytesKept(const types::TypeStore& types, TypeId type) { return bytesAt(types, type, 0); }

} // namespace melix::transforms
