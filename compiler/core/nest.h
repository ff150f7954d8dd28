#pragma once
// A nest by its parts: which operands, parameters, yields and results belong together (ir.h: NestAttr).

#include "core/ir.h"

#include <span>

namespace melix::core {

/// Results combined by a region of their own, with units among the operands.
inline bool isCombine(const NestResult& r) {
  return r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Combine;
}
/// An index for each reduced axis: where the best one stands.
inline bool isPosition(const NestResult& r) {
  return r.kind == NestResultKind::Reduce &&
         (r.monoid == MonoidKind::ArgMin || r.monoid == MonoidKind::ArgMax);
}
/// How many values a result takes and gives.
inline uint32_t yieldsOf(const NestResult& r) {
  if (r.kind == NestResultKind::Filter) return 2;
  return isCombine(r) ? r.yields : 1;
}
inline uint32_t resultsOf(const NestResult& r, size_t axes) {
  if (isCombine(r)) return r.yields;
  return isPosition(r) ? static_cast<uint32_t>(axes - r.keep.size()) : 1;
}
/// A result that collects what each point yields, the axes in their order.
NestResult collecting(size_t axes);

/// Places that follow each other in a list of values.
struct Places {
  uint32_t first = 0, count = 0;
  std::span<const ValueId> of(const std::vector<ValueId>& list) const {
    return std::span(list).subspan(first, count);
  }
};

/// Where the values of one result stand: in the yield of the body, among the results, among the operands.
struct NestPart {
  uint32_t number; ///< of the result in the attribute
  const NestResult* spec;
  Places yields, results, units;
};
/// For passes that choose how a result is computed.
inline NestResult& resultOf(Op& nest, const NestPart& part) {
  return nest.as<NestAttr>().results[part.number];
}

/// A view of a nest of `f`: it lasts as long as the op, which may be a copy, and the function are not
/// changed.
class NestView {
public:
  NestView(const Function& f, const Op& op);

  const std::vector<NestPart>& parts() const { return parts_; }
  size_t axes() const { return op_.dims.size(); }
  uint32_t accs() const { return op_.as<NestAttr>().accs; }
  RegionId body() const { return op_.regions[0]; }
  const Op& yield() const { return f_.ops[f_.regions[body()].ops.back()]; }

  std::span<const ValueId> axisParams() const { return params().first(axes()); }
  std::span<const ValueId> accOperands() const { return std::span(op_.operands).first(accs()); }
  std::span<const ValueId> accParams() const { return params().subspan(axes()); }
  std::span<const ValueId> accYields() const { return std::span(yield().operands).last(accs()); }
  std::span<const ValueId> accResults() const { return std::span(op_.results).last(accs()); }

  std::span<const ValueId> yields(const NestPart& p) const { return p.yields.of(yield().operands); }
  std::span<const ValueId> results(const NestPart& p) const { return p.results.of(op_.results); }
  std::span<const ValueId> units(const NestPart& p) const { return p.units.of(op_.operands); }
  RegionId combine(const NestPart& p) const { return op_.regions[p.spec->combineRegion]; }

private:
  std::span<const ValueId> params() const { return f_.regions[body()].params; }
  const Function& f_;
  const Op& op_;
  std::vector<NestPart> parts_;
};

} // namespace melix::core
