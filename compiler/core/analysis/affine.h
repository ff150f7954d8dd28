#pragma once
// Analyses index values and sizes as affine forms.
//
// One walk opens constants, sizes, sums, differences and multiples. Its readers differ in the values that are
// terms, in the ops that are opened, and in the form of a size.

#include "core/ir/build.h"
#include "support/function_ref.h"
#include "support/linear_form.h"

#include <optional>

namespace melix::core {

/// Σ factor · axis + Σ factor · value + Σ factor · size + constant, modulo 2^64 (support/linear_form.h).
struct AffineForm {
  LinearTerms<ValueId> axes;    ///< terms that the reader calls axes
  LinearTerms<ValueId> outside; ///< its other terms: most often values from outside the nest
  LinearTerms<DimId> dims;
  int64_t constant = 0;

  static AffineForm ofAxis(ValueId axis) { return {{{axis, 1}}, {}, {}, 0}; }
  static AffineForm ofConstant(int64_t c) { return {{}, {}, {}, c}; }
  /// A size as a term, or its constant.
  static AffineForm ofSize(const types::DimStore& dims, DimId d);

  /// Adds factor · x.
  void add(const AffineForm& x, int64_t factor);
  bool isConstant() const { return axes.empty() && outside.empty() && dims.empty(); }
  bool isAxis() const {
    return axes.size() == 1 && axes.begin()->second == 1 && outside.empty() && dims.empty() && constant == 0;
  }
  bool operator==(const AffineForm&) const = default;
  auto operator<=>(const AffineForm&) const = default;
};

/// Whether the form does not wrap where the values of its terms are small.
bool isSmall(const AffineForm& form);

/// The questions of a reader of affine forms.
struct AffineReading {
  /// Terms that are axes, whatever computes them.
  FunctionRef<bool(ValueId)> isAxis;
  /// Of values that are not opened: whether they are terms. A value that is none has no form.
  FunctionRef<bool(ValueId)> isOutside;
  /// The form of a size; by default the size is a term.
  FunctionRef<std::optional<AffineForm>(DimId)> ofSize = nullptr;
  /// Whether an op is opened, so many ops before the deepest that are; by default every op is.
  FunctionRef<bool(const Op&, int depth)> opens = nullptr;
  int depth = unlimited; ///< ops between a value and its terms

  static constexpr int unlimited = 1 << 30;
};

/// The form of an i64; nullopt if it depends on a value that is no term.
std::optional<AffineForm> affineForm(const types::DimStore& dims, const Function& f, ValueId v,
                                     const AffineReading& reading);

/// The form of a size with the forms that `ofSymbol` gives in place of symbols. The other terms of the size
/// are one term, and its constant is the form's.
AffineForm affineForm(types::DimStore& dims, DimId d,
                      FunctionRef<std::optional<AffineForm>(DimSym)> ofSymbol);

/// The sizes and the constant of a form as one size.
DimId sizeOf(types::DimStore& dims, const AffineForm& form);

/// The least or the greatest of a form of axes and sizes over the points of its axes. `extentOf` gives the
/// extents; invalid if it gives none for an axis that is not at 0 there.
DimId extremeOf(types::DimStore& dims, const AffineForm& form, bool isGreatest,
                FunctionRef<DimId(ValueId)> extentOf);

/// Emits the sum of a form; `at` gives the values of its axes, by default these themselves.
ValueId emit(Builder& b, const AffineForm& form, FunctionRef<ValueId(ValueId)> at = nullptr);

/// Opens an op of a linear form: the form of its result, of the forms that `operand` gives by number; nullopt
/// if it is no sum, difference, negation or multiple of forms.
template <class Form>
std::optional<Form> openLinear(OpKind kind, const auto& operand) {
  if (kind != OpKind::Add && kind != OpKind::Sub && kind != OpKind::Neg && kind != OpKind::Mul)
    return std::nullopt;
  std::optional<Form> a = operand(0);
  std::optional<Form> b = kind == OpKind::Neg ? Form() : a ? operand(1) : std::nullopt;
  if (!a || !b) return std::nullopt;
  Form out;
  if (kind == OpKind::Mul) {
    if (!a->isConstant()) std::swap(a, b);
    if (!a->isConstant()) return std::nullopt;
    out.add(*b, a->constant);
    return out;
  }
  out.add(*a, kind == OpKind::Neg ? -1 : 1);
  out.add(*b, kind == OpKind::Sub ? -1 : 1);
  return out;
}

} // namespace melix::core
