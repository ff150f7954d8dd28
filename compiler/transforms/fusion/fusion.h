#pragma once
// Internal to fuse: the function at hand while nests of it are put together.
//
// Blocks (lists of ops) are taken one by one, those further out first; in a block the nests from the last to
// the first, so that what is put into a nest is looked at again when its own producers' turn comes, and no op
// is copied twice on its way.

#include "core/analysis/sharing.h"
#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/fusion/fusion_log.h"

#include <array>
#include <map>
#include <unordered_map>

namespace melix::transforms {

/// What a step did with a nest: none of the reasons, or why it did nothing, and for whose sake.
struct FusionAnswer {
  FusionReason reason = FusionReason::None;
  core::OpId reader; ///< none if nobody reads the nest
  bool done() const { return reason == FusionReason::None; }
};

/// What fusion asks of a nest.
struct NestFacts {
  Cost cost; ///< of one point
  core::EffectSet effects;
  std::vector<core::ValueId> captured; ///< arrays and other containers of outside
  std::array<uint64_t, 2> sides = {};  ///< axes that vary one side of a product in it, and not the other
  uint32_t again = 0;                  ///< flops and reads that others compute too

  uint64_t oneSided() const { return sides[0] | sides[1]; }
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
  /// Whether the block stands in a nest, so that what it keeps are rows.
  Kept kept() const { return at_.kept; }
  /// Where an op of the block stands.
  uint32_t placeOf(core::OpId op) const { return at_.placeOf.at(op).place; }
  /// Whether between two ops of the block, in this order, something is printed, read or asserted.
  bool isCut(core::OpId from, core::OpId to) const { return at_.placeOf.at(from).cuts != cutsBefore(to); }
  /// Whether anything between them has an effect: a check too.
  bool isChecked(core::OpId from, core::OpId to) const;
  /// The nest takes the place of another op of the block.
  void standsFor(core::OpId op, core::OpId other) { at_.placeOf.emplace(op, at_.placeOf.at(other)); }
  /// What running an op of the block may do.
  core::EffectSet effectsOf(core::OpId op);
  NestFacts& factsOf(core::OpId nest);
  void forgetFacts(core::OpId nest) { facts_.erase(nest); }
  /// Of a nest that became one over its first `axes` axes.
  void setFacts(core::OpId nest, NestFacts facts) { facts_.insert_or_assign(nest, std::move(facts)); }

  // --- ops that come and go; lists of ops are made anew by `settle`
  /// The op is used by nobody any more.
  void drop(core::OpId op);
  /// Which of ops that stand in the region stands first.
  core::OpId firstOf(core::RegionId region, std::span<const core::OpId> ops);
  /// For ops that `putAfter` or `putBefore` take.
  core::Builder scratch(core::LocId loc);
  void putAfter(core::OpId op, core::OpId standing);
  void putBefore(core::OpId op, core::OpId standing);
  /// Ops that stand elsewhere so far; from now on they count as standing where `standing` does.
  void moveFront(core::RegionId region, std::vector<core::OpId> ops, core::OpId standing);
  /// All of a body but its end, in order.
  std::vector<core::OpId> takeOps(core::RegionId body);
  /// All regions that something came to or left.
  void settle();

  /// Whether what the nest reads of outside can be read where `at` stands without a copy.
  bool mayReadLater(core::OpId nest, core::OpId at);
  /// The same at every point of `at`, a nest that may update.
  bool mayReadWithin(core::OpId nest, core::OpId at);
  /// The op that was there from the beginning in whose place the op stands.
  core::OpId standingAt(core::OpId op) const;
  const core::Op* defOf(core::ValueId v) const {
    return f.values[v].def.valid() ? &f.ops[f.values[v].def] : nullptr;
  }

  /// Writes down what happened to a nest.
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
  void standIn(core::OpId op, core::OpId standing);
  void settle(core::RegionId region);
  void settle(core::OpId op, core::RegionId region, std::vector<core::OpId>& out);
  void settle(Lists lists, core::RegionId region, std::vector<core::OpId>& out);

  /// The ops of the block at hand, by where they stand.
  struct Block {
    core::RegionId region;
    Kept kept = Kept::Array;
    std::unordered_map<core::OpId, Place> placeOf;
  };
  /// What is to be put into lists of ops.
  struct Pending {
    std::vector<core::RegionId> unsettled;
    std::unordered_map<core::RegionId, Lists> front;
    std::map<std::pair<core::RegionId, core::OpId>, Lists> before, after; ///< an op may stand in two lists
  };

  FusionLog* const log_;
  const core::RegionId scratch_;
  const size_t opsBefore_; ///< those that come have higher numbers
  Block at_;
  Pending pending_;
  std::unordered_map<core::OpId, NestFacts> facts_;
  std::unordered_map<core::OpId, core::OpId> standsAt_;
};

/// What holds of the nest as it stands, found in one walk over it.
NestFacts nestFacts(const core::Module& m, const core::Function& f, const core::Effects& effects,
                    const Costs& costs, core::OpId nest);
/// Whether a nest is one over rows: more than a few points, as far as is known, which add to nothing.
bool isOverRows(const Costs& costs, const core::Op& op);
/// The ops with regions in the body of the nest that sum products of which its axes alone vary one side, and
/// their own alone the other: products of a row and a matrix, which registers do not hold.
std::vector<core::OpId> rowProducts(const core::Module& m, const core::Function& f, core::OpId nest);

} // namespace melix::transforms
