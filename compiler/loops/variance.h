#pragma once
// How the values in a loop differ between neighbouring turns that run side by side, each in a lane.
//
//   for points %0, %n { (%i)            %i affine
//     %a = mul %i, %k : i64             affine, if %k is uniform
//     %x = load %w[%r*%k] : f32         uniform
//     %y = load %v[%i*%1] : f32         varying
//     yield }
//
// Where strips of turns begin at multiples of their width, the place in a strip, `and %i, 63`, is affine.

#include "loops/ir.h"

#include <span>
#include <unordered_map>

namespace melix::loops {

enum class VarianceKind : uint8_t {
  Uniform, ///< the same in all lanes that are on
  Affine,  ///< of kind i64: grows by the same from lane to lane
  Varying,
};

class Variance {
public:
  /// Of the body of a loop whose turns are the lanes.
  Variance(const Function& fn, const Stmt& loop);
  /// Of the body of a function whose parameters are of these kinds.
  Variance(const Function& fn, std::span<const VarianceKind> params);

  VarianceKind of(ValueId v) const {
    auto found = kinds_.find(v);
    return found == kinds_.end() ? VarianceKind::Uniform : found->second;
  }
  bool isUniform(ValueId v) const { return of(v) == VarianceKind::Uniform; }
  bool allUniform(std::span<const ValueId> vs) const;

private:
  void solve(RegionId body);
  void region(RegionId r);
  void statement(const Stmt& s);
  VarianceKind scalar(const Stmt& s) const;
  void branches(const Stmt& s);
  void forLoop(const Stmt& s);
  void whileLoop(const Stmt& s);
  void carry(ValueId param, ValueId first, ValueId next, bool varies);
  void raise(ValueId v, VarianceKind kind);
  void raiseAll(std::span<const ValueId> vs, VarianceKind kind);

  bool isInStrip(const Stmt& s) const;

  const Function& fn_;
  ValueId index_;                                   ///< of the loop, if strips of turns begin at multiples of
  uint32_t strip_ = 0;                              ///< this
  std::unordered_map<ValueId, VarianceKind> kinds_; ///< of what is not uniform
  bool changed_ = false;
};

} // namespace melix::loops
