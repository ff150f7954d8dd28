// Checks of sizes: what types claim of them, and that they are sizes at all. Every check is emitted; what
// always holds is found on Core.
#include "lower/sizes.h"

#include "lower/body.h"
#include "types/dim_facts.h"

namespace melix::lower {

using namespace check;

/// The divisions inside a dimension divide by something.
void checkDivisors(BodyLowering& fn, DimId d) {
  for (const types::DimTerm& term : fn.types.dims.terms(d))
    for (types::DimAtomId id : term.factors) {
      const types::DimAtom& atom = fn.types.dims.atom(id);
      for (DimId arg : atom.args) checkDivisors(fn, arg);
      bool divides = atom.kind == types::DimAtomKind::FloorDiv || atom.kind == types::DimAtomKind::Mod;
      if (divides && !fn.types.dims.asConstant(atom.args[1]))
        fn.check(core::CheckKind::Divisor, {fn.b.dimValue(atom.args[1])}, {});
    }
}

/// A dimension that the program writes for an axis of an array is a size.
void checkSize(BodyLowering& fn, DimId written) {
  const DimId d = fn.D(written);
  const std::string shown = fn.types.dims.show(written);
  const bool isNameless =
      !fn.types.dims.asConstant(d) && fn.types.dims.isTooLarge(d) && shown == fn.types.dims.show(d);
  checkSize(fn, d, isNameless ? "a dimension of this array" : "dimension " + shown);
}

/// The dimension `d`, which a message calls `shown`, is a size.
void checkSize(BodyLowering& fn, DimId d, const std::string& shown) {
  std::optional<int64_t> number = fn.types.dims.asConstant(d);
  if (number && *number >= 0 && *number <= types::maxExtent) return;
  checkDivisors(fn, d);
  fn.check(core::CheckKind::DimFits, {}, {d}, shown);
  fn.check(core::CheckKind::DimNonNegative, {}, {d}, shown);
}

/// A cast to other sizes claims that they are those that the value has. Where an `int` of the same formula
/// made it, that is so unless the `int` wrapped: a dimension does not, and `N * K / K` of one is N.
void checkClaims(BodyLowering& fn, TypeId from, TypeId to) {
  if (from == to) return;
  const types::Type &has = fn.types[from], &said = fn.types[to];
  for (size_t k = 0; k < has.dims.size() && k < said.dims.size(); ++k) {
    if (has.dims[k] == said.dims[k]) continue;
    checkSize(fn, said.dims[k], "dimension " + fn.types.dims.show(said.dims[k]));
    fn.check(core::CheckKind::DimEqual, {}, {has.dims[k], said.dims[k]},
             "the size {1} of this array was computed with numbers that wrapped, to {0}");
  }
  for (size_t k = 0; k < has.parts.size() && k < said.parts.size(); ++k)
    checkClaims(fn, has.parts[k], said.parts[k]);
}

void checkDims(BodyLowering& fn, const std::vector<DimCheckItem>& items) {
  for (const DimCheckItem& item : items) {
    std::vector<DimId> dims{fn.D(item.left), fn.D(item.right)};
    if (dims[0] == dims[1]) continue;
    checkSize(fn, item.left);
    checkSize(fn, item.right);
    for (DimId d : item.shown) dims.push_back(fn.D(d));
    fn.check(core::CheckKind::DimEqual, {}, std::move(dims), item.text);
  }
}

/// A range is not negative. It may be longer than any array, unless the difference of its ends may be more
/// than an `int` counts.
void checkCounts(BodyLowering& fn, const std::vector<NestAxis>& axes) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : axes) {
    dims.push_back(fn.D(axis.extent));
    if (fn.types.dims.asConstant(dims.back()).value_or(-1) >= 0) continue;
    checkDivisors(fn, dims.back());
    if (!types::DimFacts(fn.types.dims).isExact(dims.back()))
      fn.check(core::CheckKind::DimFits, {}, {dims.back()}, axis.shownExtent(fn.types.dims));
    fn.check(core::CheckKind::DimNonNegative, {}, {dims.back()}, axis.shownExtent(fn.types.dims));
  }
  if (axes.size() > 1) fn.check(core::CheckKind::PointsFit, {}, std::move(dims));
}

void checkExtents(BodyLowering& fn, const std::vector<NestAxis>& axes) {
  for (const NestAxis& axis : axes)
    axis.range.empty() ? checkSize(fn, axis.extent)
                       : checkSize(fn, fn.D(axis.extent), axis.shownExtent(fn.types.dims));
}

/// The extents of an array that is made here, together.
void checkShape(BodyLowering& fn, const std::vector<DimId>& shape) {
  std::vector<DimId> dims;
  for (DimId d : shape) dims.push_back(fn.D(d));
  fn.b.checkFits(dims);
}

/// A size that a call passes is a size: because an argument has an axis of it, or checked.
void checkDimArguments(BodyLowering& fn, std::span<const DimId> dims, std::span<const ValueId> args) {
  auto isAxis = [&](DimId d) {
    return std::any_of(args.begin(), args.end(), [&](ValueId v) {
      const types::Type& t = fn.types[fn.b.typeOf(v)];
      return t.kind == TypeKind::Array && std::find(t.dims.begin(), t.dims.end(), d) != t.dims.end();
    });
  };
  for (DimId written : dims)
    if (!isAxis(fn.D(written))) checkSize(fn, written);
}

} // namespace melix::lower
