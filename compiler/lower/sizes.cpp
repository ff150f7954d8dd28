// Checks of sizes: what types claim of them, and that they are sizes at all. Every check is emitted; what
// always holds is found on Core.
#include "lower/body.h"

#include "types/dim_facts.h"

namespace melix::lower {

using namespace check;

/// The divisions inside a dimension divide by something.
void BodyLowering::checkDivisors(DimId d) {
  for (const types::DimTerm& term : types_.dims.terms(d))
    for (types::DimAtomId id : term.factors) {
      const types::DimAtom& atom = types_.dims.atom(id);
      for (DimId arg : atom.args) checkDivisors(arg);
      bool divides = atom.kind == types::DimAtomKind::FloorDiv || atom.kind == types::DimAtomKind::Mod;
      if (divides && !types_.dims.asConstant(atom.args[1]))
        check(core::CheckKind::Divisor, {b_.dimValue(atom.args[1])}, {});
    }
}

/// A dimension that the program writes for an axis of an array is a size.
void BodyLowering::checkSize(DimId written) {
  const DimId d = D(written);
  const std::string shown = types_.dims.show(written);
  const bool isNameless =
      !types_.dims.asConstant(d) && types_.dims.isTooLarge(d) && shown == types_.dims.show(d);
  checkSize(d, isNameless ? "a dimension of this array" : "dimension " + shown);
}

/// The dimension `d`, which a message calls `shown`, is a size.
void BodyLowering::checkSize(DimId d, const std::string& shown) {
  std::optional<int64_t> number = types_.dims.asConstant(d);
  if (number && *number >= 0 && *number <= types::maxExtent) return;
  checkDivisors(d);
  check(core::CheckKind::DimFits, {}, {d}, shown);
  check(core::CheckKind::DimNonNegative, {}, {d}, shown);
}

/// A cast to other sizes claims that they are those that the value has. Where an `int` of the same formula
/// made it, that is so unless the `int` wrapped: a dimension does not, and `N * K / K` of one is N.
void BodyLowering::checkClaims(TypeId from, TypeId to) {
  if (from == to) return;
  const types::Type &has = types_[from], &said = types_[to];
  for (size_t k = 0; k < has.dims.size() && k < said.dims.size(); ++k) {
    if (has.dims[k] == said.dims[k]) continue;
    checkSize(said.dims[k], "dimension " + types_.dims.show(said.dims[k]));
    check(core::CheckKind::DimEqual, {}, {has.dims[k], said.dims[k]},
          "the size {1} of this array was computed with numbers that wrapped, to {0}");
  }
  for (size_t k = 0; k < has.parts.size() && k < said.parts.size(); ++k)
    checkClaims(has.parts[k], said.parts[k]);
}

void BodyLowering::checkDims(const std::vector<DimCheckItem>& items) {
  for (const DimCheckItem& item : items) {
    std::vector<DimId> dims{D(item.left), D(item.right)};
    if (dims[0] == dims[1]) continue;
    checkSize(item.left);
    checkSize(item.right);
    for (DimId d : item.shown) dims.push_back(D(d));
    check(core::CheckKind::DimEqual, {}, std::move(dims), item.text);
  }
}

/// A range is not negative. It may be longer than any array, unless the difference of its ends may be more
/// than an `int` counts.
void BodyLowering::checkCounts(const std::vector<NestAxis>& axes) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : axes) {
    dims.push_back(D(axis.extent));
    if (types_.dims.asConstant(dims.back()).value_or(-1) >= 0) continue;
    checkDivisors(dims.back());
    if (!types::DimFacts(types_.dims).isExact(dims.back()))
      check(core::CheckKind::DimFits, {}, {dims.back()}, axis.shownExtent(types_.dims));
    check(core::CheckKind::DimNonNegative, {}, {dims.back()}, axis.shownExtent(types_.dims));
  }
  if (axes.size() > 1) check(core::CheckKind::PointsFit, {}, std::move(dims));
}

void BodyLowering::checkExtents(const std::vector<NestAxis>& axes) {
  for (const NestAxis& axis : axes)
    axis.range.empty() ? checkSize(axis.extent) : checkSize(D(axis.extent), axis.shownExtent(types_.dims));
}

/// The extents of an array that is made here, each of them a size, together. A single one is no product.
void BodyLowering::checkShape(const std::vector<DimId>& shape) {
  std::vector<DimId> dims;
  std::string numbers;
  constexpr size_t told = 10; // a message has places for so many numbers
  for (DimId d : shape) {
    numbers += dims.empty() ? "" : ", ";
    numbers += dims.size() < told ? "{" + std::to_string(dims.size()) + "}" : types_.dims.show(d);
    dims.push_back(D(d));
  }
  auto counts = [&](DimId d) { return types_.dims.asConstant(d) != 1; };
  if (std::count_if(dims.begin(), dims.end(), counts) < 2) return;
  check(core::CheckKind::ArrayFits, {}, std::move(dims), "an array of shape [" + numbers + "] is too large");
}

/// A size that a call passes is a size: because an argument has an axis of it, or checked.
void BodyLowering::checkDimArguments(std::span<const DimId> dims, std::span<const ValueId> args) {
  auto isAxis = [&](DimId d) {
    return std::any_of(args.begin(), args.end(), [&](ValueId v) {
      const types::Type& t = types_[b_.typeOf(v)];
      return t.kind == TypeKind::Array && std::find(t.dims.begin(), t.dims.end(), d) != t.dims.end();
    });
  };
  for (DimId written : dims)
    if (!isAxis(D(written))) checkSize(written);
}

} // namespace melix::lower
