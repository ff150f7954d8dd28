#pragma once
// Computes the elements that a term reads, and the axes that each of these accesses varies with.
//
//   %v = get %x[%i, %k]   %b = get %bin[%k]   %u = get %w[%b]   %p = mul %v, %u   yield %p
//   %v: axes i k, indices {i} {k};   %u: axes k, index {k};   %b only feeds an index: it belongs to %u
//
// An access is a `get` of one element, made anywhere in the body for the term: in arms, loops and nests
// inside as well. Values from outside the body are constants to it.

#include "core/analysis/access.h"
#include "core/ir/analyses.h"

#include <vector>

namespace melix::core {

struct TermAccess {
  OpId get;
  /// By index, in order: the axes it varies with, through data too.
  std::vector<std::set<ValueId>> indices;
  /// The axes of all indices, and the axes that the array varies with.
  std::set<ValueId> axes;
};

/// Whether a term combines two operands, as products and distances do. `axes` has the axes of each access:
/// two of these sets exist neither of which holds the other.
bool haveTwoSides(std::vector<std::set<ValueId>> axes);

class TermAccesses {
public:
  TermAccesses(const Module& m, FunctionId f);

  /// The accesses of a value of the body of a nest, in the order of the text.
  std::vector<TermAccess> of(OpId nest, ValueId term) const;

private:
  TermAccess access(OpId get) const;
  /// The operands that are no indices.
  static std::span<const ValueId> readOperands(const Op& op);

  const Module& m_;
  const Function& f_;
  std::shared_ptr<const AccessInfo> info_;
  std::vector<uint32_t> number_, end_; ///< by op: its position in the text, and the end of its regions
};

} // namespace melix::core
