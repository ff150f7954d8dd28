#pragma once
// Models the cost of a value: to compute it, to keep it in memory, to recompute it. All passes that move work
// between nests use this model: fusion, fission and hoisting.
//
//   math exp (get %x[%i])                         16 flops: expensive, kept if many points read it
//   add (mul %a, get %x[%i]), get %y[%i]          2 flops, 2 reads: recomputed rather than kept
//   nest (%k: K) -> keep[] sum { … }              many points: never recomputed

#include "core/ir/ir.h"

namespace melix::transforms {

/// The cost of ops that run once, in units of one scalar addition. Of several branches the most
/// expensive one counts.
struct Cost {
  uint32_t flops = 0;     ///< an elementary function counts as `mathFlops`
  uint32_t reads = 0;     ///< of places, and writes
  uint32_t bytes = 0;     ///< of the scalars read
  uint32_t ops = 0;       ///< of Core
  bool unbounded = false; ///< calls, loops, nests of many points: above any bound

  Cost& operator+=(const Cost& more);
  Cost times(uint64_t points) const;
};

inline constexpr uint32_t mathFlops = 16;    ///< an elementary function
inline constexpr uint32_t quotientFlops = 4; ///< a quotient, a remainder, a square root
/// The flops of an op without regions, on scalars; 0 for an op that computes nothing.
uint32_t flopsOf(core::OpKind kind);

inline constexpr int64_t fewPoints = 64; ///< a nest of more points is never recomputed

/// Where values are kept that are not recomputed.
enum class Storage : uint8_t {
  Array,    ///< in memory: its size is that of a nest which stands in no other
  PerPoint, ///< within a point of a nest around, and soon read again
};

/// Costs of the ops of one function.
class Costs {
public:
  Costs(const core::Module& m, const core::Function& f) : m_(m), f_(f) {}
  /// The cost with the ops in its regions.
  Cost ofOp(core::OpId op) const;
  /// Of all ops of the region, once.
  Cost ofRegion(core::RegionId region) const;
  /// How many points a nest has, if that is known and it is no sweep.
  std::optional<uint64_t> fewPointsOf(const core::Op& nest) const { return fewPointsOf(nest.dims); }
  std::optional<uint64_t> fewPointsOf(std::span<const core::DimId> axes) const;
  /// Whether an op costs about as much as to read its results from memory, so that they are not kept. An
  /// array that is updated would be copied again.
  bool isAsCheapAsRead(core::OpId op) const;

private:
  Cost ofRegions(const core::Op& op) const;
  bool panics(core::RegionId arm) const;
  uint32_t bytesOf(core::TypeId type) const;
  const core::Module& m_;
  const core::Function& f_;
};

/// Whether a value of this cost is stored, where there are fewer values than points that read them.
inline bool isExpensive(const Cost& once) { return once.unbounded || once.flops >= mathFlops; }

/// Whether values that several nests read are recomputed `more` times instead of kept. The limit is on the
/// flops and reads of all recomputations: `arrayFlops` for an array, `rowFlops` for a row in the cache.
bool mayRepeat(const Cost& once, uint64_t more, Storage kept);

/// The most flops and reads that a point of one nest may recompute of values that others compute too, and the
/// most ops of its body. The limits hold however long the chains of producers are.
inline constexpr uint32_t mostRepeated = 40;
inline constexpr uint32_t mostOps = 1024;

} // namespace melix::transforms
