#pragma once
// The sizes of arrays that are parts of an array's elements. A part of flatten_records.
//
// An array of records is an array for each leaf, with the sizes of the leaf after its own. If it has no
// element, no check has seen these: they may be negative then, or too large. The type of an array that is
// made says that they are sizes (D8).

#include "core/ir/build.h"
#include "types/leaves.h"

namespace melix::transforms {

/// Checks that an array with these axes is not too large: of a leaf; of each leaf of an element.
void checkLeafFits(core::Builder& b, std::span<const core::DimId> axes, core::TypeId leaf);
void checkLeavesFit(core::Builder& b, std::span<const core::DimId> axes, core::TypeId element);

/// The dims that checks have found to be sizes where an op stands.
class CheckedSizes {
public:
  void note(const core::Op& op);
  bool has(core::DimId d) const;
  /// Where a region begins, and at its end, after which its checks say nothing.
  size_t mark() const { return seen_.size(); }
  void undo(size_t mark) { seen_.resize(mark); }

private:
  std::vector<std::pair<core::DimId, core::CheckKind>> seen_;
};

/// For elements that are collected along these axes, where `b` appends.
class ElementSizes {
public:
  ElementSizes(core::Builder& b, std::span<const core::DimId> axes, const CheckedSizes& checked)
      : b_(b), axes_(axes.begin(), axes.end()), checked_(checked) {}

  /// The leaf with 0 in place of each number that may be no size.
  core::TypeId withSizes(core::TypeId leaf);

private:
  bool isSize(core::DimId d) const;
  core::DimId size(core::DimId d);
  /// Whether there is an element.
  core::ValueId isAny();

  core::Builder& b_;
  std::vector<core::DimId> axes_;
  const CheckedSizes& checked_;
  core::ValueId isAny_;
  std::vector<std::pair<core::DimId, core::DimId>> found_;
};

} // namespace melix::transforms
