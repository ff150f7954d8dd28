// Checks of sizes: what types claim of them, and that they are sizes at all.
#include "lower/body.h"

#include <limits>

namespace melix::lower {

using namespace check;

/// The divisions inside a dimension divide by something.
void BodyLowering::checkDivisors(DimId d) {
  const std::vector<types::DimTerm> terms = types_.dims.terms(d); // copies: new dims may move the store's
  for (const types::DimTerm& term : terms)
    for (types::DimAtomId id : term.factors) {
      const types::DimAtom atom = types_.dims.atom(id);
      for (DimId arg : atom.args) checkDivisors(arg);
      bool divides = atom.kind == types::DimAtomKind::FloorDiv || atom.kind == types::DimAtomKind::Mod;
      if (divides && !types_.dims.atLeast(atom.args[1], 1))
        check(core::CheckKind::Divisor, {b_.dimValue(atom.args[1])}, {});
    }
}

/// A dimension that the program writes is a size.
void BodyLowering::checkSize(DimId written) {
  DimId d = D(written);
  checkDivisors(d);
  if (!types_.dims.atLeast(d, 0)) check(core::CheckKind::DimNonNegative, {}, {d}, types_.dims.show(written));
}

void BodyLowering::checkDims(const std::vector<DimCheckItem>& items) {
  for (const DimCheckItem& item : items) {
    std::vector<DimId> dims{D(item.left), D(item.right)};
    if (dims[0] == dims[1]) continue;
    for (DimId d : dims) checkDivisors(d);
    for (DimId d : item.shown) dims.push_back(D(d));
    check(core::CheckKind::DimEqual, {}, std::move(dims), item.text);
  }
}

void BodyLowering::checkExtents(const std::vector<NestAxis>& axes) {
  for (const NestAxis& axis : axes) checkSize(axis.extent);
}

/// A size that a call passes is not negative: known from the symbols, because an argument has an axis of it,
/// or checked.
void BodyLowering::checkDimArguments(const std::vector<DimId>& dims, const std::vector<ValueId>& args) {
  auto isAxis = [&](DimId d) {
    return std::any_of(args.begin(), args.end(), [&](ValueId v) {
      const types::Type& t = types_[b_.typeOf(v)];
      return t.kind == TypeKind::Array && std::find(t.dims.begin(), t.dims.end(), d) != t.dims.end();
    });
  };
  for (DimId written : dims)
    if (!isAxis(D(written))) checkSize(written);
}

/// Whether the product of sizes is an i64, without wrapping on the way. One of them 0 makes it 0.
ValueId BodyLowering::productFits(std::span<const DimId> dims) {
  ValueId one = b_.integer(1), zero = b_.integer(0);
  ValueId most = b_.integer(std::numeric_limits<int64_t>::max());
  ValueId product = b_.dimValue(dims[0]), fits = b_.compare(ops::CmpKind::Eq, product, zero);
  ValueId grows = b_.boolean(true);
  for (DimId d : dims.subspan(1)) {
    ValueId size = b_.dimValue(d);
    ValueId room = b_.binary(OpKind::IDiv, most, b_.binary(OpKind::Max, size, one));
    grows = b_.binary(OpKind::And, grows, b_.compare(ops::CmpKind::Le, product, room));
    fits = b_.binary(OpKind::Or, fits, b_.compare(ops::CmpKind::Eq, size, zero));
    product = b_.binary(OpKind::Mul, product, size);
  }
  return b_.binary(OpKind::Or, fits, grows);
}

/// Elements, or points of a nest, are counted by an i64; `text` tells what has too many. Known sizes are one
/// factor, and a single size is no product.
void BodyLowering::checkProduct(std::vector<DimId> dims, std::string_view text) {
  std::vector<DimId> factors;
  int64_t known = 1;
  bool fits = true;
  for (DimId& d : dims) {
    d = D(d);
    std::optional<int64_t> size = types_.dims.asConstant(d);
    if (size == 0) return;
    if (!size)
      factors.push_back(d);
    else if (__builtin_mul_overflow(known, *size, &known))
      fits = false;
  }
  if (known != 1) factors.push_back(types_.dims.constant(known));
  if (fits && factors.size() < 2) return;
  ValueId holds = fits ? productFits(factors) : b_.boolean(false);
  check(core::CheckKind::Assert, {holds, b_.text(std::string(text))}, {});
}

} // namespace melix::lower
