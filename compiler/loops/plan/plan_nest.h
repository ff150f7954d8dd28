#pragma once
// Plans how a nest runs, decided over Core before lowering; emit_nest.h obeys and decides nothing.
//
//   nest (%i: m, %j: n) -> keep[i] sum lanes(64, j), keep[j] sum chain
//     sweep 0: i parallel, blocks of j in strips of 64     the terms of a row are in registers
//     sweep 1: j parallel, i independent                   the columns come in another order of the axes
//
// A *sweep* takes all points once. Results share a sweep if their kept axes are nested sets. Each reduction
// is then complete, in a register, when the loops of its reduced axes end, and its terms follow each other as
// core/order/order.h says. Effects come with the first sweep, in the order of the points. Passes on Loops
// schedule further: they use the promises of an axis' loop (`independent`, `parallel`), and the cuts into
// blocks.

#include "core/ir/nest.h"
#include "loops/ir/ir.h"
#include "loops/layout/layout.h"

#include <optional>
#include <set>

namespace melix::loops {

struct ResultPlan {
  core::NestPart part;
  TypeId type; ///< the type of the first value yielded for it
  /// For a reduction that rounds or returns positions: its reduced axes in the order of its terms.
  std::vector<uint32_t> sequence;
  bool ordered = false; ///< a float sum or product, in blocks (ordered_sum.h)
  uint32_t lanes = 0;   ///< partial sums of an ordered one; 0: a chain
  bool blocked = false; ///< the loops cut its terms into blocks; else it counts them

  bool isReduce() const { return part.spec->kind == core::NestResultKind::Reduce; }
  bool isFilter() const { return part.spec->kind == core::NestResultKind::Filter; }
  bool isCollect() const { return part.spec->kind == core::NestResultKind::Collect; }
  /// The number of kept axes: loops around the value.
  uint32_t level() const { return static_cast<uint32_t>(part.spec->keep.size()); }
  /// Whether it is a reduction that is finished inside that many of the loops.
  bool endsAt(uint32_t level) const { return isReduce() && this->level() == level; }
  /// One value (a nest of no axes collects that too): it has no memory and is defined where its axes end.
  bool keepsNone() const { return !isFilter() && level() == 0; }
};

/// The loop of one axis.
struct LevelPlan {
  uint32_t axis = 0;
  bool unit = false; ///< one point: no loop
  /// The dependence between its iterations: `Parallel` is an outermost loop whose iterations carry nothing.
  Dependence dependence = Dependence::Carried;
  bool skipsEmptyInner = false; ///< it does not run where a loop further in has nothing to do
};

/// The axes from a level on, swept as one sequence of points. Its rows run along the inner axis and are
/// counted row-major over the outer ones. core/order/order.h says how many are in a block.
struct BlockPlan {
  std::vector<uint32_t> outer;
  uint32_t inner = 0;
  bool isOne = false; ///< all points are known to be one block
  Dependence mark = Dependence::Carried;
  uint32_t strip = 0; ///< consecutive points that share no partial sum; 0: unlimited
};

/// Whether the blocks of a whole sweep run in any order and at once; or why not. Each block leaves some
/// scalars, whose combination in order gives the same result.
enum class PoolKind : uint8_t {
  Runs,
  Inner, ///< the nest stands in another one
  Adds,  ///< accumulators are added to in the order of the points
  NoAxes,
  Collects, ///< the results are only arrays: a loop is parallel instead
  Counted,  ///< elements that a filter keeps own memory
  Keeps,    ///< a reduction keeps axes: their loops are parallel instead
  Combines, ///< a combination, or a sum of values that are not scalars
  Sequence, ///< floats that are rounded one after another
  OneBlock,
};

/// Why a result is not computed in an earlier sweep.
enum class SeparationKind : uint8_t {
  OtherAxes, ///< it keeps others, none of both sets holding the other
  Sequence,  ///< no order of the axes gives the terms of all results in their order
  Adds,      ///< adds to accumulators take the axes in their order
  Effects,   ///< the earlier sweep only has effects, in the order of the points
};

struct SweepPlan {
  std::vector<ResultPlan> results;
  bool withAccs = false;
  std::vector<SeparationKind> separations; ///< for each sweep before it: why it is not the same
  std::vector<uint32_t> order;             ///< the axes from the outermost
  std::vector<LevelPlan> levels;           ///< the loops around the blocks; where there are none, all
  std::optional<BlockPlan> blocks;         ///< the blocks inside these loops
  PoolKind pool = PoolKind::Runs;
  std::optional<std::set<core::OpId>> needed; ///< ops of the body that it runs; none: all

  bool runsOnPool() const { return pool == PoolKind::Runs; }
  /// How many levels, from the outermost, have iterations that depend on no others.
  uint32_t independentLevels() const;
};

struct NestPlan {
  std::vector<SweepPlan> sweeps;
  std::string problem; ///< a part that no plan can do; empty if none
};

/// `inNest`: it stands in the body of another nest.
NestPlan planNest(const core::Function& fn, Layouts& layouts, const core::Op& nest, bool inNest);

} // namespace melix::loops
