#include "transforms/analysis/cost_model.h"

#include "core/ir/work.h"

#include <algorithm>
#include <limits>

namespace melix::transforms {

using namespace core;

namespace {

/// Flops that reading from an array again saves: a write, and reads that come from memory or from the cache.
constexpr uint32_t arrayFlops = mathFlops + 4;
constexpr uint32_t rowFlops = 4;

uint32_t saturated(uint64_t n) {
  return static_cast<uint32_t>(std::min<uint64_t>(n, std::numeric_limits<uint32_t>::max()));
}

/// What takes as long as its data are large, or makes such data.
bool takesLong(const types::TypeStore& types, const Function& f, const Op& op) {
  switch (op.kind) {
  case OpKind::Call:
  case OpKind::Apply:
  case OpKind::For:
  case OpKind::While:
  case OpKind::ArgSort:
  case OpKind::ToArray:
  case OpKind::ToList:
  case OpKind::Format:
  case OpKind::Builtin: return true;
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Neg:
  case OpKind::Zero: return !types.isScalar(f.typeOf(op.results[0])); // leaf by leaf
  default: return false;
  }
}

bool isPlace(OpKind kind) { return kind == OpKind::Get || kind == OpKind::Set || kind == OpKind::AddAt; }

} // namespace

uint32_t flopsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Math: return mathFlops;
  case OpKind::Div:
  case OpKind::Sqrt:
  case OpKind::IDiv:
  case OpKind::IRem: return quotientFlops;
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Neg:
  case OpKind::Fma:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::Round:
  case OpKind::CopySign:
  case OpKind::Scale:
  case OpKind::Directed:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor:
  case OpKind::Not:
  case OpKind::Shl:
  case OpKind::Shr:
  case OpKind::Cmp:
  case OpKind::Select:
  case OpKind::Convert: return 1;
  default: return 0;
  }
}

Cost& Cost::operator+=(const Cost& more) {
  flops = saturated(uint64_t{flops} + more.flops);
  reads = saturated(uint64_t{reads} + more.reads);
  bytes = saturated(uint64_t{bytes} + more.bytes);
  ops = saturated(uint64_t{ops} + more.ops);
  unbounded |= more.unbounded;
  return *this;
}

Cost Cost::times(uint64_t points) const {
  return {saturated(flops * points), saturated(reads * points), saturated(bytes * points), ops, unbounded};
}

uint32_t Costs::bytesOf(TypeId type) const {
  switch (m_.types.kind(type)) {
  case TypeKind::F64:
  case TypeKind::I64:
  case TypeKind::U64: return 8;
  case TypeKind::F32:
  case TypeKind::I32:
  case TypeKind::U32: return 4;
  default: return m_.types.isScalar(type) ? 2 : 0;
  }
}

Cost Costs::ofOp(OpId id) const {
  const Op& op = f_.ops[id];
  ++work.ops;
  Cost own;
  own.ops = 1;
  own.flops = flopsOf(op.kind);
  own.unbounded = takesLong(m_.types, f_, op);
  if (isPlace(op.kind)) {
    own.reads = 1;
    own.bytes = bytesOf(f_.typeOf(op.kind == OpKind::Get ? op.results[0] : op.operands[1]));
  }
  if (!op.regions.empty()) own += ofRegions(op);
  return own;
}

bool Costs::isAsCheapAsRead(OpId id) const {
  const Op& op = f_.ops[id];
  const bool updatesArray = (op.kind == OpKind::Set || op.kind == OpKind::AddAt) &&
                            m_.types.kind(f_.typeOf(op.results[0])) == TypeKind::Array;
  return op.regions.empty() && op.kind != OpKind::Call && !updatesArray && !isExpensive(ofOp(id));
}

Cost Costs::ofRegions(const Op& op) const {
  const bool branches = op.kind == OpKind::If || op.kind == OpKind::Match;
  Cost all;
  for (RegionId r : op.regions) {
    Cost one = ofRegion(r);
    if (branches && panics(r)) one = {0, 0, 0, one.ops, false};
    const uint32_t flops = std::max(all.flops, one.flops), reads = std::max(all.reads, one.reads);
    all += one;
    if (branches) all.flops = flops, all.reads = reads;
  }
  if (op.kind != OpKind::Nest) return all;
  if (const std::optional<uint64_t> points = fewPointsOf(op)) return all.times(*points);
  all.unbounded = true;
  return all;
}

std::optional<uint64_t> Costs::fewPointsOf(std::span<const DimId> axes) const {
  const std::optional<int64_t> points = m_.types.dims.asConstant(m_.types.dims.product(axes));
  if (!points || *points > fewPoints) return std::nullopt;
  return static_cast<uint64_t>(*points);
}

/// An arm that panics runs once at most.
bool Costs::panics(RegionId arm) const {
  return std::ranges::any_of(f_.regions[arm].ops, [&](OpId id) { return f_.ops[id].kind == OpKind::Panic; });
}

Cost Costs::ofRegion(RegionId region) const {
  Cost all;
  for (OpId id : f_.regions[region].ops) all += ofOp(id);
  return all;
}

bool mayRepeat(const Cost& once, uint64_t more, Storage kept) {
  if (more == 0) return true;
  if (once.unbounded) return false;
  const uint64_t bound = kept == Storage::Array ? arrayFlops : rowFlops;
  return (uint64_t{once.flops} + once.reads) * std::min<uint64_t>(more, bound + 1) <= bound;
}

} // namespace melix::transforms
