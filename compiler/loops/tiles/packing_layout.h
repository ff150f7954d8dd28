#pragma once
// How the columns of a contraction read the side that its rows share: where it lies, or from panels that are
// made of it. A read of columns side by side is put into panels only where they are large; what lies apart or
// is dear to compute, always.

#include "loops/analysis/shared_operand.h"

namespace melix::loops {

constexpr int64_t largeSide = 1 << 20; ///< bytes, that do not stay in the cache

enum class LayoutKind : uint8_t {
  InPlace, ///< columns are read where they lie
  IfLarge, ///< the same, unless that is too large
  ByRows,  ///< made, columns side by side
  ByLines, ///< made, turns of the innermost sum side by side, some columns together
};

/// The read that is all there is, with its strides: columns side by side, one stride for each sum.
struct PlainLoad {
  ValueId base;
  Access access;
  std::vector<Term> fixed;
  std::vector<std::pair<size_t, ValueId>> strides; ///< of sums
};

struct PanelLayout {
  LayoutKind kind;
  std::optional<PlainLoad> plain;
  int64_t pointBytes;   ///< of all that is shared, at one column and turn of the sums
  bool isApart = false; ///< columns lie apart, and are gathered where no panel is made
};

PanelLayout panelLayout(const Function& fn, const Contraction& found, const SharedSide& side);

} // namespace melix::loops
