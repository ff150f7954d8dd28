#pragma once
// Uniqueness analysis: finds values that are blocks with one owner.

#include "loops/ir/ir.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// A loop: the positions of its carries among operands and parameters, and the region of its iteration.
struct LoopParts {
  explicit LoopParts(const Stmt& s)
      : operands(s.kind == StmtKind::For ? 2 : 0), params(s.kind == StmtKind::For ? 1 : 0),
        body(s.regions.back()) {}
  size_t operands, params;
  RegionId body;
};

/// For a function in which counts are inserted. A block is unique from its allocation, or from where it is
/// made unique, on. Branches and loops that only pass on unique blocks keep this, as long as no statement
/// takes it that may keep it.
class UniqueBlocks {
public:
  /// A carry of a loop that its first iteration always makes unique.
  struct Updated {
    StmtId loop;
    size_t carry;
  };
  enum class UpdatesKind : uint8_t {
    Asked, ///< a block that a loop is given is unique if it was so before
    Made,  ///< or if it is one of `updated`, as it is then made unique before the loop
  };

  /// Linear in the statements.
  UniqueBlocks(const Module& module, const Function& fn, UpdatesKind updates);

  bool isUnique(ValueId v) const { return sources_.contains(v); }
  const std::vector<StmtId>& uniques() const { return uniques_; } ///< statements that make a block unique
  const std::vector<Updated>& updated() const { return updated_; }

private:
  /// The values that all have to be unique for a value to be unique.
  using Sources = std::vector<ValueId>;
  /// The position of a region.
  struct Home {
    StmtId stmt;
    RegionId region;
  };

  void from(ValueId v, Sources by);
  const std::vector<ValueId>& yields(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }
  void region(RegionId r);
  bool mayBeKept(const Stmt& s, size_t k) const;
  void define(StmtId id);
  void carried(StmtId id, size_t k);
  bool isPlain(RegionId condition) const;
  void noteUpdate(const Stmt& s, size_t operand, RegionId home);
  void updatedBy(ValueId v, RegionId home);
  bool isUpdated(ValueId v, RegionId in) const;
  bool updates(const Stmt& s, size_t operand, RegionId home) const;
  std::optional<int64_t> atFirst(ValueId v, RegionId home, int depth) const;
  bool isIndex(ValueId v, RegionId home) const;
  void solve();

  const Module& module_;
  const Function& fn_;
  const UpdatesKind updatesKind_;
  std::unordered_map<ValueId, Sources> sources_; ///< of unique values, once solved
  std::unordered_set<ValueId> shared_;
  std::vector<StmtId> uniques_;
  std::vector<Updated> updated_;
  std::unordered_map<RegionId, Home> homes_;
  std::unordered_map<RegionId, std::unordered_set<ValueId>> updatedIn_; ///< whatever happens in a region
};

} // namespace melix::loops
