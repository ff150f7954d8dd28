#pragma once
// What a value costs: to compute, to keep in memory, to compute once more. All passes that move work between
// nests ask here: what fusion joins, hoisting and distribution cut.
//
//   math exp (get %x[%i])                         16 flops: dear, kept rather than computed for many points
//   add (mul %a, get %x[%i]), get %y[%i]          2 flops, 2 reads: computed again rather than kept
//   nest (%k: K) -> keep[] sum { … }              a sweep: nobody computes it twice

#include "core/ir/ir.h"

namespace melix::transforms {

/// Of what runs once: counted in sums and differences of numbers, the branch that costs more of several.
struct Cost {
  uint32_t flops = 0;  ///< an elementary function counts as `mathFlops`
  uint32_t reads = 0;  ///< of places, and writes
  uint32_t bytes = 0;  ///< of the scalars read
  uint32_t ops = 0;    ///< of Core
  bool sweeps = false; ///< calls, loops, nests of many points: above any bound

  Cost& operator+=(const Cost& more);
  Cost times(uint64_t points) const;
};

inline constexpr uint32_t mathFlops = 16;    ///< an elementary function
inline constexpr uint32_t quotientFlops = 4; ///< a quotient, a remainder, a square root
/// Of an op without regions, on scalars; 0 for what computes nothing.
uint32_t flopsOf(core::OpKind kind);

inline constexpr int64_t fewPoints = 64; ///< of a nest that is no sweep

/// Where values are kept that are not computed again.
enum class Kept : uint8_t {
  Array, ///< in memory: its size is that of a nest which stands in no other
  Row,   ///< within a point of a nest around, and soon read again
};

/// Costs of the ops of one function.
class Costs {
public:
  Costs(const core::Module& m, const core::Function& f) : m_(m), f_(f) {}
  /// With all that stands in its regions.
  Cost ofOp(core::OpId op) const;
  /// Of all ops of the region, once.
  Cost ofRegion(core::RegionId region) const;
  /// How many points a nest has, if that is known and it is no sweep.
  std::optional<uint64_t> fewPointsOf(const core::Op& nest) const { return fewPointsOf(nest.dims); }
  std::optional<uint64_t> fewPointsOf(std::span<const core::DimId> axes) const;

private:
  Cost ofRegions(const core::Op& op) const;
  bool panics(core::RegionId arm) const;
  uint32_t bytesOf(core::TypeId type) const;
  const core::Module& m_;
  const core::Function& f_;
};

/// Whether an array of such values is worth its memory where fewer of them are needed than there are points.
inline bool isDear(const Cost& once) { return once.sweeps || once.flops >= mathFlops; }

/// Whether values that several read are computed `more` times again instead of kept: an elementary function
/// and what stands beside it, or as much arithmetic, for an array; what a row in the cache costs, for a row.
bool mayRepeat(const Cost& once, uint64_t more, Kept kept);

/// What a point of one nest may compute of what others compute too, in flops and reads, and how many ops its
/// body may have: however long the chains are that lead to it.
inline constexpr uint32_t mostRepeated = 40;
inline constexpr uint32_t mostOps = 1024;

} // namespace melix::transforms
