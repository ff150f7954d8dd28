#pragma once
// Chooses how the columns of a contraction read the operand that its rows share: in place, or from packed
// panels. Contiguous columns are packed only if the operand is large. Strided columns, and operands that are
// expensive to compute, always are.

#include "loops/analysis/shared_operand.h"

namespace melix::loops {

constexpr int64_t largeSide = 1 << 20; ///< bytes; more do not stay in the cache

enum class LayoutKind : uint8_t {
  InPlace, ///< columns are read where they lie
  IfLarge, ///< the same, unless that is too large
  ByRows,  ///< made, columns side by side
  ByLines, ///< made, iterations of the innermost sum side by side, some columns together
};

/// The load that is the whole operand, with its strides: columns contiguous, one stride for each sum.
struct PlainLoad {
  ValueId base;
  Access access;
  std::vector<Term> fixed;
  std::vector<std::pair<size_t, ValueId>> strides; ///< strides of the sums
};

struct PanelLayout {
  LayoutKind kind;
  std::optional<PlainLoad> plain;
  int64_t pointBytes;     ///< bytes of all shared values, at one column and iteration of the sums
  bool isStrided = false; ///< columns are strided, and are gathered where no panel is made
};

PanelLayout panelLayout(const Function& fn, const Contraction& found, const SharedSide& side);

} // namespace melix::loops
