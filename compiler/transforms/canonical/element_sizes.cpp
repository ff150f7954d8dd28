#include "transforms/canonical/element_sizes.h"

#include "types/dim_facts.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

void checkLeafFits(Builder& b, std::span<const DimId> axes, TypeId leaf) {
  const types::Type& row = b.types()[leaf];
  if (row.kind != TypeKind::Array) return;
  std::vector<DimId> dims(axes.begin(), axes.end());
  dims.insert(dims.end(), row.dims.begin(), row.dims.end());
  b.checkFits(dims);
}
void checkLeavesFit(Builder& b, std::span<const DimId> axes, TypeId element) {
  for (const types::Leaf& leaf : types::leavesOf(b.types(), element)) checkLeafFits(b, axes, leaf.type);
}

void CheckedSizes::note(const Op& op) {
  if (op.kind != OpKind::Check) return;
  const CheckKind kind = op.as<CheckAttr>().kind;
  if (kind == CheckKind::DimFits || kind == CheckKind::DimNonNegative) seen_.emplace_back(op.dims[0], kind);
}
bool CheckedSizes::has(DimId d) const {
  auto isSeen = [&](CheckKind kind) { return std::ranges::count(seen_, std::pair(d, kind)) > 0; };
  return isSeen(CheckKind::DimFits) && isSeen(CheckKind::DimNonNegative);
}

TypeId ElementSizes::withSizes(TypeId leaf) {
  const types::Type row = b_.types()[leaf];
  if (row.kind != TypeKind::Array) return leaf;
  std::vector<DimId> dims;
  for (DimId d : row.dims) dims.push_back(size(d));
  return b_.types().array(row.parts[0], std::move(dims));
}

bool ElementSizes::isSize(DimId d) const {
  if (checked_.has(d)) return true;
  const types::DimFacts facts(b_.dims());
  if (!facts.isExact(d) || !facts.atLeast(d, 0)) return false;
  const std::optional<DimSym> symbol = b_.dims().asSymbol(d);
  const bool isOfAnArray = symbol && b_.dims().info(*symbol).kind != types::DimSymKind::Value;
  return isOfAnArray || facts.atMost(d, types::maxExtent);
}

DimId ElementSizes::size(DimId d) {
  if (isSize(d)) return d;
  const auto known = std::ranges::find(found_, d, &std::pair<DimId, DimId>::first);
  if (known != found_.end()) return known->second;
  const ValueId written = b_.dimValue(d), zero = b_.integer(0);
  const ValueId isNatural = b_.compare(ops::CmpKind::Ge, written, zero);
  const ValueId isSmall = b_.compare(ops::CmpKind::Le, written, b_.integer(types::maxExtent));
  const ValueId holds = b_.binary(OpKind::And, isAny(), b_.binary(OpKind::And, isNatural, isSmall));
  const DimId size = b_.dims().symbol(b_.bindDim(b_.select(holds, written, zero), "size"));
  found_.emplace_back(d, size);
  return size;
}

ValueId ElementSizes::isAny() {
  for (DimId axis : isAny_.valid() ? std::vector<DimId>{} : axes_) {
    const ValueId some = b_.compare(ops::CmpKind::Gt, b_.dimValue(axis), b_.integer(0));
    isAny_ = isAny_.valid() ? b_.binary(OpKind::And, isAny_, some) : some;
  }
  return isAny_;
}

} // namespace melix::transforms
