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

/// A nest without axes, regions and locations so far, which has these results and begins with these
/// accumulators, of which there are `accs`, and units.
Op nestOf(std::vector<NestResult> results, std::vector<ValueId> operands = {}, uint32_t accs = 0);
/// The nest gets further results, which collect values of these types; gives them. They stand before those of
/// its accumulators, and so must what the body yields for them, which is the caller's to say.
std::vector<ValueId> collectMore(Module& m, Function& f, OpId nest, std::span<const TypeId> types);
/// Results and accumulators as the attribute says.
inline const std::vector<NestResult>& nestResults(const Op& nest) { return nest.as<NestAttr>().results; }
inline uint32_t nestAccs(const Op& nest) { return nest.as<NestAttr>().accs; }

/// Places that follow each other in a list of values.
struct Places {
  uint32_t first = 0, count = 0;
  std::span<const ValueId> of(std::span<const ValueId> list) const { return list.subspan(first, count); }
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

/// A view of a nest. It holds the op, which may be a copy, and the lists of the body's parameters and yields:
/// these must stay as they are while it is used.
class NestView {
public:
  NestView(const Function& f, const Op& op);

  const std::vector<NestPart>& parts() const { return parts_; }
  size_t axes() const { return op_.dims.size(); }
  uint32_t accs() const { return nestAccs(op_); }
  RegionId body() const { return op_.regions[0]; }
  /// Of all parts: what accumulators yield and give follows these; units follow the accumulators' operands.
  uint32_t partYields() const { return partYields_; }
  uint32_t partResults() const { return partResults_; }
  uint32_t partUnits() const { return partUnits_; }

  std::span<const ValueId> axisParams() const { return params_.first(axes()); }
  std::span<const ValueId> accOperands() const { return std::span(op_.operands).first(accs()); }
  std::span<const ValueId> accParams() const { return params_.subspan(axes()); }
  std::span<const ValueId> accYields() const { return yields_.last(accs()); }
  std::span<const ValueId> accResults() const { return std::span(op_.results).last(accs()); }

  /// All that the body yields.
  std::span<const ValueId> yields() const { return yields_; }
  std::span<const ValueId> yields(const NestPart& p) const { return p.yields.of(yields_); }
  std::span<const ValueId> results(const NestPart& p) const { return p.results.of(op_.results); }
  std::span<const ValueId> units(const NestPart& p) const { return p.units.of(op_.operands); }
  RegionId combine(const NestPart& p) const { return op_.regions[p.spec->combineRegion]; }

private:
  const Op& op_;
  std::span<const ValueId> params_, yields_;
  std::vector<NestPart> parts_;
  uint32_t partYields_ = 0, partResults_ = 0, partUnits_ = 0;
};

} // namespace melix::core
