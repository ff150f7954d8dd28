#pragma once
// Clones statements, with other values in place of some.

#include "loops/ir/build.h"

#include <functional>
#include <unordered_map>

namespace melix::loops {

/// The replacement of a value in a copy: the value itself, unless one was set. Replacements set here take
/// precedence over `around`.
class Copies {
public:
  explicit Copies(const Copies* around = nullptr) : around_(around) {}
  void set(ValueId v, ValueId copy) { map_[v] = copy; }
  /// Removes a replacement, so that `around` applies again.
  void forget(ValueId v) { map_.erase(v); }
  ValueId of(ValueId v) const;
  std::vector<ValueId> of(const std::vector<ValueId>& vs) const;

private:
  const Copies* around_;
  std::unordered_map<ValueId, ValueId> map_;
};

/// Clones the statement, with its regions, at the builder's position; its results are set in `copies`.
void clone(Builder& b, StmtId s, Copies& copies);

/// Numbers that depend only on values defined outside of some regions.
class FixedNumbers {
public:
  explicit FixedNumbers(const Function& fn, std::function<bool(ValueId)> isInside)
      : fn_(fn), isInside_(std::move(isInside)) {}
  /// For a region that does not change.
  FixedNumbers(const Function& fn, RegionId region);

  bool holds(ValueId v) const;
  /// Clones the statements that compute it, at the builder's position.
  ValueId write(Builder& b, ValueId v, Copies& copies) const;

private:
  const Function& fn_;
  std::function<bool(ValueId)> isInside_;
};

/// Moves the statements of a built region before a position in another, without the yield.
void splice(Function& fn, RegionId made, RegionId to, size_t place);
/// Replaces a statement by them.
void replaceStmt(Function& fn, RegionId made, RegionId home, StmtId s);
/// Replaces a value in all statements of a region.
void replaceUses(Function& fn, RegionId region, ValueId v, ValueId by);

} // namespace melix::loops
