#pragma once
// Which values are blocks that have one owner.

#include "loops/ownership/non_escaping_params.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// A loop: where what it carries stands among operands and parameters, and the region that is its turn.
struct LoopParts {
  explicit LoopParts(const Stmt& s)
      : operands(s.kind == StmtKind::For ? 2 : 0), params(s.kind == StmtKind::For ? 1 : 0),
        body(s.regions.back()) {}
  size_t operands, params;
  RegionId body;
};

/// Of a function in which counts are inserted. A block is unique from where it is made, or made so, on:
/// through branches and loops that pass on nothing but such, as long as nothing takes it that may keep it.
class UniqueBlocks {
public:
  /// A carry of a loop that its first turn makes unique, whatever happens.
  struct Updated {
    StmtId loop;
    size_t carry;
  };
  enum class UpdatesKind : uint8_t {
    Asked, ///< a block that a loop is given is unique if it was so before
    Made,  ///< or if it is one of `updated`, as it is then made unique in front of the loop
  };

  /// Linear in the statements. What `elementsOnly` says is asked here alone.
  UniqueBlocks(const Module& module, const Function& fn, const ElementParams& elementsOnly,
               UpdatesKind updates);

  bool isUnique(ValueId v) const { return sources_.contains(v); }
  const std::vector<StmtId>& uniques() const { return uniques_; } ///< those that make a block unique
  const std::vector<Updated>& updated() const { return updated_; }

private:
  /// What a value is unique by: all of these being so.
  using Sources = std::vector<ValueId>;
  /// Where a region stands.
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
  const ElementParams* elementsOnly_; ///< null once it is solved
  const UpdatesKind updatesKind_;
  std::unordered_map<ValueId, Sources> sources_; ///< of what is unique, once solved
  std::unordered_set<ValueId> shared_;
  std::vector<StmtId> uniques_;
  std::vector<Updated> updated_;
  std::unordered_map<RegionId, Home> homes_;
  std::unordered_map<RegionId, std::unordered_set<ValueId>> updatedIn_; ///< whatever happens in a region
};

} // namespace melix::loops
