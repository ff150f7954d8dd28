#pragma once
// Finds blocks of memory that one region allocates and releases, and that no other owner holds. Lists their
// users, and removes their reference counting. Shared by the passes that decide where such blocks lie.

#include "loops/ir/build.h"
#include "support/function_ref.h"

#include <optional>
#include <span>
#include <unordered_set>

namespace melix::loops {

/// A function whose statements move; references into it stay valid.
class LocalBlocks {
public:
  LocalBlocks(const Module& module, Function& fn);

  /// All values that are one block, and where it is released.
  struct Block {
    std::unordered_set<ValueId> values;
    std::vector<StmtId> uniques;                    ///< statements that make it unique
    std::vector<std::pair<StmtId, size_t>> carries; ///< loops that carry it, and as which of their carries
    std::vector<StmtId> drops;                      ///< of each path; none of a parameter
    std::optional<size_t> result;                   ///< the function's result that returns a parameter
  };
  /// Whether the callee uses only the elements of its parameter `k` while it runs.
  using OnlyElements = FunctionRef<bool(FunctionId callee, size_t k)>;
  /// The block that `alloc` allocates: an array of scalars that only its own region holds, so that its count
  /// is one.
  std::optional<Block> follow(StmtId alloc, OnlyElements onlyElements) const;
  /// The block of a parameter that the function owns, if it is one of its results on every path.
  std::optional<Block> followParam(ValueId param, OnlyElements onlyElements) const;
  /// Removes the counting of the block, and its release; `by` replaces it everywhere.
  void release(const Block& block, ValueId by);

  /// The parameter of an added carry of a `for`, with the initial value `begun`; `yieldCarries` completes the
  /// new carries.
  ValueId addCarry(StmtId loop, ValueId begun);
  void yieldCarries(StmtId loop, const std::vector<ValueId>& next);

  RegionId homeOf(StmtId id) const {
    assert(id.index < homes_.size() && homes_[id.index].valid() && "the statement stands in a region");
    return homes_[id.index];
  }
  /// Whether a region is `outer` or stands in it.
  bool isWithin(RegionId region, RegionId outer) const;
  /// Records that the statement is in the region from now on, at its position in the region's list.
  void enter(StmtId id, RegionId region);
  /// Records that the statements are in no region.
  void leave(std::span<const StmtId> ids);
  /// Moves the statements of a region, which is removed, before a position in the list of another region.
  void splice(RegionId from, RegionId to, size_t place);

private:
  struct Use {
    StmtId stmt;
    size_t operand;
  };
  struct Following;

  bool followAll(ValueId begun, Following& at) const;
  bool isLaunched(StmtId id, RegionId outside) const;
  bool followUse(const Use& use, Following& at) const;
  bool followCarry(const Use& use, Following& at) const;
  void removeCarry(StmtId loop, size_t k);
  void recount(StmtId stmt, ValueId v);
  void replace(ValueId v, ValueId by);

  const Module& module_;
  Function& fn_;
  std::vector<Use>& usesOf(ValueId v);
  /// None of the body of the function.
  StmtId parentOf(RegionId region) const {
    return region.index < parents_.size() ? parents_[region.index] : StmtId();
  }

  std::vector<std::vector<Use>> uses_; ///< by value
  std::vector<RegionId> homes_;        ///< by statement: where it stands; none where it left
  std::vector<StmtId> parents_;        ///< by region: the statement that has it
};

} // namespace melix::loops
