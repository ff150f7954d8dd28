#pragma once
// Variance analysis: how the values in a loop differ between neighbouring iterations that run side by side in
// vector lanes.
//
//   for independent %0, %n { (%i)            %i affine
//     %a = mul %i, %k : i64             affine, if %k is uniform
//     %x = load %w[%r*%k] : f32         uniform
//     %y = load %v[%i*%1] : f32         varying
//     yield }
//
// Where strips of iterations begin at multiples of their width, the position in a strip, `and %i, 63`, is
// affine.

#include "loops/ir/ir.h"

#include <span>
#include <vector>

namespace melix::loops {

enum class VarianceKind : uint8_t {
  Uniform, ///< the same in all lanes that are on
  Affine,  ///< of kind i64: grows by the same from lane to lane
  Varying,
};

/// To which iteration frame memory belongs that a loop allocates.
enum class FramesKind : uint8_t {
  OfAll,  ///< one, which all lanes have
  OfEach, ///< each iteration its own, as where iterations become copies
};

class Variance {
public:
  /// For the body of a loop whose iterations are the lanes.
  Variance(const Function& fn, const Stmt& loop, FramesKind frames = FramesKind::OfAll);
  /// For the body of a function whose parameters are of these kinds.
  Variance(const Function& fn, std::span<const VarianceKind> params);

  /// Values that came later are uniform.
  VarianceKind of(ValueId v) const {
    return v.index < kinds_.size() ? kinds_[v.index] : VarianceKind::Uniform;
  }
  bool isUniform(ValueId v) const { return of(v) == VarianceKind::Uniform; }
  bool allUniform(std::span<const ValueId> vs) const;

private:
  /// A use of `from` that is visited again when it is raised: a statement, or a value that then varies.
  struct Use {
    ValueId from;
    StmtId stmt;
    ValueId value;
  };

  void solve(RegionId body);
  void region(RegionId r);
  void statement(const Stmt& s);
  void plain(const Stmt& s);
  VarianceKind scalar(const Stmt& s) const;
  void branches(const Stmt& s);
  void forLoop(const Stmt& s);
  void whileLoop(const Stmt& s);
  void noteUses(RegionId r);
  void noteUses(StmtId id);
  void noteCarries(const Stmt& s, size_t first, RegionId body);
  void raise(ValueId v, VarianceKind kind);
  void raiseLate(ValueId param, bool varies);
  void raiseAll(std::span<const ValueId> vs, VarianceKind kind);
  const std::vector<ValueId>& yields(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }

  bool isInStrip(const Stmt& s) const;

  const Function& fn_;
  FramesKind frames_ = FramesKind::OfAll;
  uint32_t strip_ = 0;              ///< the width of the loop's strips of iterations
  ValueId index_;                   ///< the loop's index, if strips begin at its multiples
  std::vector<VarianceKind> kinds_; ///< by value
  bool inOrder_ = true;             ///< in the first walk: uses of a value come later
  std::vector<ValueId> late_;       ///< raised after their uses were visited
  std::vector<Use> uses_;           ///< where there are such, sorted by the value that is used
};

} // namespace melix::loops
