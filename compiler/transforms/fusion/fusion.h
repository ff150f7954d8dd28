#pragma once
// Internal to fuse: the state of a function while its nests are fused.
//
// Blocks (lists of ops) are processed one by one, outer blocks first. In a block the nests are processed from
// the last to the first. A body that moved into a nest is looked at again with the producers of that nest,
// and no op is copied twice on its way.

#include "core/analysis/footprint.h"
#include "core/analysis/sharing.h"
#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/fusion/fusion_log.h"

#include <map>
#include <unordered_map>

namespace melix::transforms {

/// The result of a step for a nest: done, or the reason why not and the reader that prevents it.
struct FusionAnswer {
  FusionReason reason = FusionReason::None;
  core::OpId reader; ///< none if nobody reads the nest
  bool done() const { return reason == FusionReason::None; }
};

/// Facts about a nest that fusion uses.
struct NestFacts {
  Cost cost; ///< of one point
  core::EffectSet effects;
  std::vector<core::ValueId> captured; ///< arrays and other containers from outside
  core::Sides sides;                   ///< of products in it
  uint32_t repeatedWork = 0;           ///< flops and reads that other nests compute too
};

class Fusion {
public:
  Fusion(core::Module& m, core::FunctionId id, const core::Effects& effects, FusionLog* log);

  core::Module& m;
  const core::FunctionId id;
  core::Function& f;
  core::LiveUses uses;
  core::Sharing sharing;
  const core::Effects& effects;
  const Costs costs;
  bool changed = false;

  // --- the block at hand
  void open(core::RegionId block);
  core::RegionId block() const { return at_.region; }
  /// The storage of arrays of the block: rows if the block is in a nest.
  Storage kept() const { return at_.kept; }
  /// The position of an op in the block.
  uint32_t placeOf(core::OpId op) const { return at_.placeOf.at(op).place; }
  /// Whether between two ops of the block, in this order, something is printed, read or asserted.
  bool isCut(core::OpId from, core::OpId to) const { return at_.placeOf.at(from).cuts != cutsBefore(to); }
  /// Whether anything between them has an effect: a check too.
  bool isChecked(core::OpId from, core::OpId to) const;
  /// The nest takes the place of another op of the block.
  void inheritPosition(core::OpId op, core::OpId other) { at_.placeOf.emplace(op, at_.placeOf.at(other)); }
  /// The effects that running an op of the block may have.
  core::EffectSet effectsOf(core::OpId op);
  NestFacts& factsOf(core::OpId nest);
  void forgetFacts(core::OpId nest) { facts_.erase(nest); }
  /// Of a nest that became one over its first `axes` axes.
  void setFacts(core::OpId nest, NestFacts facts) { facts_.insert_or_assign(nest, std::move(facts)); }

  // --- ops that come and go; lists of ops are made anew by `settle`
  /// The op is used by nobody any more.
  void drop(core::OpId op);
  /// The first of ops in one region.
  core::OpId firstOf(core::RegionId region, std::span<const core::OpId> ops);
  /// For ops that `putAfter` or `putBefore` take.
  core::Builder scratch(core::LocId loc);
  void putAfter(core::OpId op, core::OpId standing);
  void putBefore(core::OpId op, core::OpId standing);
  /// Ops that stand elsewhere so far; from now on they count as standing where `standing` does.
  void moveBefore(core::RegionId region, std::vector<core::OpId> ops, core::OpId standing);
  /// All of a body but its end, in order.
  std::vector<core::OpId> takeOps(core::RegionId body);
  /// All regions that something came to or left.
  void applyMoves();

  /// Whether the nest can read its outside arrays at `at` without a copy.
  bool mayReadLater(core::OpId nest, core::OpId at);
  /// The same at every point of `at`, a nest that may update.
  bool mayReadWithin(core::OpId nest, core::OpId at);
  /// The op that was there from the beginning in whose place the op stands.
  core::OpId standingAt(core::OpId op) const;
  const core::Op* defOf(core::ValueId v) const {
    return f.values[v].def.valid() ? &f.ops[f.values[v].def] : nullptr;
  }

  /// Records the fate of a nest.
  void note(FusionKind kind, FusionReason reason, core::OpId nest, core::OpId other);

private:
  /// Lists of ops to be put in; of those for one place the last comes first.
  using Lists = std::vector<std::vector<core::OpId>>;
  struct Place {
    uint32_t place, cuts, effects; ///< cuts and effects up to and with the op
    core::EffectSet own;
    bool cut; ///< whether the op itself is one
  };
  uint32_t cutsBefore(core::OpId op) const {
    const Place& p = at_.placeOf.at(op);
    return p.cuts - (p.cut ? 1 : 0);
  }
  std::vector<core::OpId> taken(core::RegionId region, core::OpId standing);
  void setStanding(core::OpId op, core::OpId standing);
  void applyMoves(core::RegionId region);
  void applyMoves(core::OpId op, core::RegionId region, std::vector<core::OpId>& out);
  void applyMoves(Lists lists, core::RegionId region, std::vector<core::OpId>& out);

  /// The ops of the block at hand, by where they stand.
  struct Block {
    core::RegionId region;
    Storage kept = Storage::Array;
    std::unordered_map<core::OpId, Place> placeOf;
  };
  /// Ops that are still to be inserted into lists.
  struct Pending {
    std::vector<core::RegionId> pendingRegions;
    std::unordered_map<core::RegionId, Lists> front;
    std::map<std::pair<core::RegionId, core::OpId>, Lists> before, after; ///< an op may stand in two lists
  };

  FusionLog* const log_;
  const core::RegionId scratch_;
  const size_t opsBefore_; ///< new ops have higher numbers
  Block at_;
  Pending pending_;
  std::unordered_map<core::OpId, NestFacts> facts_;
  std::unordered_map<core::OpId, core::OpId> standsAt_;
};

/// The facts about the nest as it is, found in one walk over it.
NestFacts nestFacts(const core::Module& m, const core::Function& f, const core::Effects& effects,
                    const Costs& costs, core::OpId nest);
/// Whether an op is a nest of more than a few points, as far as is known.
bool hasManyPoints(const Costs& costs, const core::Op& op);
/// The same, and its points add to nothing.
bool isOverRows(const Costs& costs, const core::Op& op);
/// A sum of products with one operand that only the axes of a nest around vary. Only axes further in vary the
/// other operand: it is the product of a row and a matrix, which registers do not hold.
struct RowProduct {
  core::OpId part; ///< of the body of the nest, in which it stands
  core::OpId sum;
};
/// Whether a matrix with these axes, of which a product reduces some, fills the tiles that compute it.
bool fillsTiles(const core::Module& m, const core::Function& f, core::Axes columns,
                const core::Axes& reduced);
/// Whether a sum in a nest is the product of a row, which no axis around the sum varies, and a matrix.
bool isRowTimesMatrix(const core::Module& m, const core::Function& f, core::OpId nest);
/// Whether a matrix is too large for registers, and its rows fill tiles.
enum class MatrixSize : uint8_t { Large, Small };
/// Those in the body of the nest, or those alone that are none because of their small matrices.
std::vector<RowProduct> rowProducts(const core::Module& m, const core::Function& f, core::OpId nest,
                                    MatrixSize size = MatrixSize::Large);
/// The ops of its body that are or hold such.
std::vector<core::OpId> partsWithProducts(const core::Module& m, const core::Function& f, core::OpId nest);

} // namespace melix::transforms
