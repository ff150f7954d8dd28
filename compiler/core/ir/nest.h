#pragma once
// Views a nest by its parts: the operands, parameters, yields and results that belong together (ir.h:
// NestAttr).

#include "core/ir/build.h"
#include "core/ir/monoid.h"

namespace melix::core {

class LiveUses;

/// Results combined by a region of their own, with units among the operands.
inline bool isCombine(const NestResult& r) {
  return r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Combine;
}
/// An index for each reduced axis: where the best one stands.
inline bool isPosition(const NestResult& r) {
  return r.kind == NestResultKind::Reduce && ops::isPosition(r.monoid);
}
inline bool isSum(const NestResult& r) {
  return r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum;
}
/// Of the values that are yielded for a result, the one that its value `k` is made of. A position is made of
/// the value compared. The condition of a filter comes before its values.
inline ValueId yieldedFor(const NestResult& r, std::span<const ValueId> yields, uint32_t k) {
  return isPosition(r) ? yields[0] : yields[r.kind == NestResultKind::Filter ? 1 + k : k];
}
/// Whether a result is linear in the values that it takes: it collects or adds them.
inline bool isLinear(const NestResult& r) { return r.kind == NestResultKind::Collect || isSum(r); }
/// How many values a result takes and gives.
inline uint32_t yieldsOf(const NestResult& r) {
  if (r.kind == NestResultKind::Filter) return 1 + r.yields;
  return isCombine(r) ? r.yields : 1;
}
inline uint32_t resultsOf(const NestResult& r, size_t axes) {
  if (isCombine(r) || r.kind == NestResultKind::Filter) return r.yields;
  return isPosition(r) ? static_cast<uint32_t>(axes - r.keep.size()) : 1;
}
/// A result that collects the yielded value of each point, the axes in their order.
NestResult collecting(size_t axes);

/// A result that combines terms over all axes but `keep`.
NestResult reducing(MonoidKind monoid, std::vector<uint32_t> keep = {});
/// A result that collects the values that pass a condition.
NestResult filtering();
/// The axis of a nest that a value is in its body.
struct NestAxis {
  OpId nest;
  uint32_t axis;
};
std::optional<NestAxis> axisOf(const Function& f, ValueId v);
/// The type of each value that a result gives: `yielded` is that of the value combined or collected, `size`
/// the extent of a filter's.
TypeId nestResultType(types::TypeStore& types, const NestResult& r, std::span<const DimId> axes,
                      TypeId yielded, DimSym size = {});
/// The nest gets further results, which collect these values of its body; gives them.
std::vector<ValueId> collectMore(Module& m, Function& f, LiveUses& uses, OpId nest,
                                 std::span<const ValueId> values);
/// The nest loses an axis that no result keeps; in the body this value stands for it.
void dropAxis(Function& f, LiveUses& uses, OpId nest, uint32_t axis, ValueId by);
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
  uint32_t filter; ///< the number of filters before it
};
/// For passes that choose how a result is computed.
inline NestResult& resultOf(Op& nest, const NestPart& part) {
  return nest.as<NestAttr>().results[part.number];
}

/// The parts of a result beside the values yielded for it: units and region of a combination, the size that a
/// filter defines.
struct NestOwn {
  std::vector<ValueId> units;
  RegionId combine;
  DimSym size;
};

/// A view of a nest. It holds the op, which may be a copy, and the lists of the body's parameters and yields:
/// these must stay as they are while it is used.
class NestView {
public:
  NestView(const Function& f, const Op& op);

  const std::vector<NestPart>& parts() const { return parts_; }
  size_t axes() const { return op_.dims.size(); }
  uint32_t accs() const { return nestAccs(op_); }
  RegionId body() const { return op_.regions[0]; }
  /// The number for all parts: yields and results of accumulators follow these; units follow the
  /// accumulators' operands.
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
  /// The combining region, and the size that a filter defines; none for other results.
  RegionId combine(const NestPart& p) const {
    return isCombine(*p.spec) ? op_.regions[p.spec->combineRegion] : RegionId();
  }
  DimSym size(const NestPart& p) const {
    return p.spec->kind == NestResultKind::Filter ? op_.resultDims[p.filter] : DimSym();
  }

  NestOwn own(const NestPart& p) const { return {{units(p).begin(), units(p).end()}, combine(p), size(p)}; }

private:
  const Op& op_;
  std::span<const ValueId> params_, yields_;
  std::vector<NestPart> parts_;
  uint32_t partYields_ = 0, partResults_ = 0, partUnits_ = 0;
};

/// Makes a nest where `at` appends. The body is open from the beginning: whoever makes the nest appends its
/// ops there. Operands, parameters, yields, results and their types are laid out by this alone.
class NestBuilder {
public:
  explicit NestBuilder(Builder& at) : at_(at), body_(at.newRegion()) {}
  /// Of a body that is there, whose parameters are the axes.
  NestBuilder(Builder& at, RegionId body, Dims axes) : at_(at), body_(body), axes_(std::move(axes)) {}

  RegionId body() const { return body_; }
  const Dims& axes() const { return axes_; }
  /// The parameters of further axes; they come before all accumulators.
  ValueId axis(DimId extent, NameId hint = {});
  std::vector<ValueId> openAxes(std::span<const DimId> extents);
  /// The parameter of an accumulator that begins so.
  ValueId accumulator(ValueId begun, NameId hint = {});
  /// The same where the body was made with a value that nothing defines in place of the parameter.
  void accumulator(ValueId begun, ValueId param);

  /// Adds a result of the values that the body yields for it; gives the number of its first value. All are
  /// added before `end`.
  uint32_t add(NestResult spec, std::span<const ValueId> yields, const NestOwn& own);
  uint32_t add(NestResult spec, ValueId yielded) { return add(std::move(spec), std::span(&yielded, 1), {}); }
  /// A value collected over all axes.
  uint32_t collect(ValueId yielded) { return add(collecting(axes_.size()), yielded); }
  /// The next accumulator at the end of the body; the number of its result.
  uint32_t end(ValueId acc);
  /// How many results there are so far, and the type of one.
  uint32_t results() const { return static_cast<uint32_t>(types_.size()); }
  TypeId type(uint32_t result) const { return types_[result]; }

  /// Ends the body and appends the nest.
  OpId finish();
  /// The same for a nest of one result, which it gives.
  ValueId one() { return at_.result(finish()); }

private:
  Builder& at_;
  RegionId body_;
  Dims axes_;
  std::vector<NestResult> specs_;
  Operands begun_, units_, yields_;
  uint32_t ended_ = 0; ///< of the accumulators
  Regions combines_;
  DimSyms sizes_;
  std::vector<TypeId> types_; ///< of the results
};

} // namespace melix::core
