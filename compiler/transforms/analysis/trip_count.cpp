#include "transforms/analysis/trip_count.h"

#include "core/ir/build.h"

#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostSizeOps = 8; ///< that a size is computed in

/// An i64 that is computed from sizes, and does not wrap, as one.
std::optional<DimId> sizeOf(types::DimStore& dims, const Function& f, Ranges& ranges, ValueId v, int depth) {
  const OpId def = f.values[v].def;
  if (!def.valid() || depth == 0) return std::nullopt;
  const Op& op = f.ops[def];
  if (op.kind == OpKind::Const) return dims.constant(static_cast<int64_t>(op.as<Constant>().bits));
  if (op.kind == OpKind::DimValue)
    return ranges.isExact(op.dims[0]) ? std::optional(op.dims[0]) : std::nullopt;
  const bool computes =
      op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::Min || op.kind == OpKind::Max;
  if (!computes || !ranges.isAtLeast(v, INT64_MIN + 1)) return std::nullopt;
  const std::optional<DimId> a = sizeOf(dims, f, ranges, op.operands[0], depth - 1),
                             b = sizeOf(dims, f, ranges, op.operands[1], depth - 1);
  if (!a || !b) return std::nullopt;
  switch (op.kind) {
  case OpKind::Add: return dims.add(*a, *b);
  case OpKind::Sub: return dims.sub(*a, *b);
  case OpKind::Min: return dims.min(*a, *b);
  default: return dims.max(*a, *b);
  }
}

} // namespace

DimId loopExtent(Module& m, const Function& f, Ranges& ranges, ValueId count) {
  types::DimStore& dims = m.types.dims;
  const std::optional<DimId> d = sizeOf(dims, f, ranges, count, mostSizeOps);
  if (!d) return {};
  Op check = Builder::simple(OpKind::Check, {}, CheckAttr{CheckKind::DimNonNegative, {}, {}});
  check.dims = {*d};
  return ranges.isProved(check) || ranges.isNatural(count) ? *d : dims.max(*d, dims.constant(0));
}

} // namespace melix::transforms
