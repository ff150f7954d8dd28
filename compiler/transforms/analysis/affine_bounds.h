#pragma once
// Computes affine bounds: ends of ranges as sums of the axes of nests, of sizes and of constants.

#include "core/analysis/access.h"
#include "core/analysis/affine.h"
#include "core/analysis/ranges.h"

#include <optional>
#include <set>
#include <unordered_map>

namespace melix::transforms {

/// An end is the least of these, or the greatest.
using Forms = std::vector<core::AffineForm>;

enum class Extreme : uint8_t { Least, Greatest };

/// Of the nests of a function as it is when this is made.
class AffineBounds {
public:
  AffineBounds(core::Module& m, core::FunctionId f);

  /// The forms of which a dimension is the least or the greatest, if they are few.
  std::optional<Forms> of(core::DimId d, Extreme extreme) const { return of(d, extreme, deepest); }
  /// The same of an i64.
  std::optional<Forms> of(core::ValueId v, Extreme extreme) const { return ofValue(v, extreme, deepest); }

  /// An upper or lower bound of a form: a size from outside of the nests.
  std::optional<core::DimId> greatest(const core::AffineForm& form) const { return end(form, true); }
  std::optional<core::DimId> least(const core::AffineForm& form) const { return end(form, false); }

  core::DimId extentOf(core::ValueId axis) const { return extents_.at(axis); }
  const std::set<core::ValueId>& axesOf(core::ValueId v) const { return info_->axesOf(v); }
  /// Whether values of a type have sizes that differ with axes.
  bool isRagged(core::TypeId type) const;
  /// The size that a number is.
  std::optional<core::DimId> sizeOf(core::ValueId v) const;

private:
  static constexpr size_t mostForms = 4;
  static constexpr int deepest = 8; ///< ops between an axis and an end

  core::Function& fn() const { return m_.functions[f_]; }
  types::DimStore& dims() const { return m_.types.dims; }

  std::optional<Forms> of(core::DimId d, Extreme extreme, int depth) const;
  std::optional<core::DimId> end(const core::AffineForm& form, bool isGreatest) const;
  bool isInside(core::DimSym s) const;
  bool isInside(core::DimId d) const;
  std::optional<core::DimId> insideAtom(const types::DimTerm& term) const;
  core::DimId combined(types::DimAtomKind kind, const std::vector<core::DimId>& args) const;
  std::optional<Forms> ofAtom(const types::DimAtom& atom, Extreme extreme, int depth) const;
  std::optional<Forms> ofValue(core::ValueId v, Extreme extreme, int depth) const;
  std::optional<Forms> ofExtremum(core::ValueId v, Extreme extreme, int depth) const;
  static bool append(Forms& to, const std::optional<Forms>& forms);
  static bool add(Forms& to, const std::optional<Forms>& forms, int64_t factor);

  core::Module& m_;
  core::FunctionId f_;
  std::shared_ptr<const core::AccessInfo> info_;
  std::unordered_map<core::DimSym, core::ValueId> boundTo_;
  std::unordered_map<core::ValueId, core::DimId> extents_; ///< of axes
};

} // namespace melix::transforms
