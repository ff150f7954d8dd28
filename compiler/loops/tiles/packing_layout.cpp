#include "loops/tiles/packing_layout.h"

#include "loops/analysis/stride_analysis.h"

#include <algorithm>

namespace melix::loops {

namespace {

constexpr size_t expensiveTerm = 3; ///< ops that are done once rather than for each block of rows

class LayoutReader {
public:
  LayoutReader(const Function& fn, const Contraction& found, const SharedSide& side)
      : fn_(fn), found_(found), side_(side) {}

  PanelLayout run() const {
    int64_t pointBytes = 0;
    for (ValueId v : found_.shared) pointBytes += bytesOf(fn_.typeOf(v));
    std::optional<PlainLoad> plain = plainLoad();
    const LayoutKind kind = kindOf(plain.has_value(), pointBytes);
    const bool isMade = kind == LayoutKind::ByRows || kind == LayoutKind::ByLines;
    return {kind, std::move(plain), pointBytes, isMade && !areSideBySide(found_.columns)};
  }

private:
  LayoutKind kindOf(bool isPlain, int64_t pointBytes) const {
    if (!side_.isMovable()) return LayoutKind::InPlace;
    if (isPlain) return isKnownSmall(pointBytes) ? LayoutKind::InPlace : LayoutKind::IfLarge;
    if (areSideBySide(found_.columns))
      return side_.terms().size() < expensiveTerm ? LayoutKind::InPlace : LayoutKind::ByRows;
    const bool byLines = differsInChain() && areSideBySide(found_.chain()) && !side_.carriesInRow();
    return byLines ? LayoutKind::ByLines : LayoutKind::ByRows;
  }
  /// Whether the panel has a row for each iteration of the innermost sum.
  bool differsInChain() const {
    return side_.extents() && std::ranges::any_of(*side_.extents(), [this](const SharedSide::Extent& extent) {
             return extent.sum + 1 == found_.sums.size();
           });
  }

  std::optional<PlainLoad> plainLoad() const {
    if (found_.shared.size() != 1 || side_.terms().size() != 1) return std::nullopt;
    const Stmt& s = fn_.stmts[side_.terms()[0]];
    if (s.kind != StmtKind::Load || s.results[0] != found_.shared[0]) return std::nullopt;
    PlainLoad out{s.operands[0], s.as<Access>(), {}, {}};
    if (!side_.isFixed(out.base) || out.access.elemBytes != bytesOf(out.access.elem)) return std::nullopt;
    bool hasColumn = false;
    for (size_t k = 1; k + 1 < s.operands.size(); k += 2) {
      const Term term{s.operands[k], s.operands[k + 1]};
      if (!side_.isFixed(term.stride)) return std::nullopt;
      if (term.index == indexOf(found_.columns)) {
        const uint64_t* stride = asConstant(fn_, term.stride);
        if (hasColumn || !stride || *stride != 1) return std::nullopt;
        hasColumn = true;
      } else if (const std::optional<size_t> sum = sumOf(term.index)) {
        if (std::ranges::any_of(out.strides, [&](auto& other) { return other.first == *sum; }))
          return std::nullopt;
        out.strides.emplace_back(*sum, term.stride);
      } else if (side_.isFixed(term.index)) {
        out.fixed.push_back(term);
      } else {
        return std::nullopt;
      }
    }
    return hasColumn ? std::optional(out) : std::nullopt;
  }
  ValueId indexOf(StmtId loop) const { return fn_.regions[fn_.stmts[loop].regions[0]].params[0]; }
  std::optional<size_t> sumOf(ValueId index) const {
    for (size_t k = 0; k < found_.sums.size(); ++k)
      if (indexOf(found_.sums[k]) == index) return k;
    return std::nullopt;
  }

  bool isKnownSmall(int64_t pointBytes) const {
    std::optional<uint64_t> size = constantTripCount(fn_, fn_.stmts[found_.columns]);
    if (!side_.extents() || !size) return false;
    for (const SharedSide::Extent& extent : *side_.extents()) {
      const uint64_t* known = asConstant(fn_, extent.end);
      if (!known || *known > largeSide) return false;
      *size *= *known;
    }
    return static_cast<int64_t>(*size) * pointBytes < largeSide;
  }

  /// Whether iterations of a loop read strides.
  bool areSideBySide(StmtId loop) const {
    const Stmt& s = fn_.stmts[loop];
    const Variance variance(fn_, s);
    LaneStrides strides(fn_, variance, indexOf(loop));
    bool all = true;
    auto walk = [&](auto& self, RegionId r) -> void {
      for (StmtId id : fn_.regions[r].stmts) {
        const Stmt& inner = fn_.stmts[id];
        const bool isTerm = std::ranges::find(side_.terms(), id) != side_.terms().end();
        if (isTerm && inner.kind == StmtKind::Load && !variance.isUniform(inner.results[0]))
          all &= strides.areSideBySide(inner);
        if (isTerm && !inner.regions.empty()) all = false; // of loads in branches nothing is known
        for (RegionId region : inner.regions) self(self, region);
      }
    };
    walk(walk, s.regions[0]);
    return all;
  }

  const Function& fn_;
  const Contraction& found_;
  const SharedSide& side_;
};

} // namespace

PanelLayout panelLayout(const Function& fn, const Contraction& found, const SharedSide& side) {
  return LayoutReader(fn, found, side).run();
}

} // namespace melix::loops
