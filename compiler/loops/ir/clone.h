#pragma once
// Copies of statements, with other values in place of some.

#include "loops/ir/build.h"

#include <functional>
#include <unordered_map>

namespace melix::loops {

/// What stands for a value in a copy: itself, unless said otherwise. What is said here goes before what
/// `around` says.
class Copies {
public:
  explicit Copies(const Copies* around = nullptr) : around_(around) {}
  void set(ValueId v, ValueId copy) { map_[v] = copy; }
  /// What is said around goes for it again.
  void forget(ValueId v) { map_.erase(v); }
  ValueId of(ValueId v) const;
  std::vector<ValueId> of(const std::vector<ValueId>& vs) const;

private:
  const Copies* around_;
  std::unordered_map<ValueId, ValueId> map_;
};

/// A copy of the statement, with all in it, where the builder stands; its results are said in `copies`.
void clone(Builder& b, StmtId s, Copies& copies);

/// Numbers that are computed of what stands outside of some regions.
class FixedNumbers {
public:
  explicit FixedNumbers(const Function& fn, std::function<bool(ValueId)> isInside)
      : fn_(fn), isInside_(std::move(isInside)) {}
  /// Of a region that does not change.
  FixedNumbers(const Function& fn, RegionId region);

  bool holds(ValueId v) const;
  /// Copies of what computes it, where the builder stands.
  ValueId write(Builder& b, ValueId v, Copies& copies) const;

private:
  const Function& fn_;
  std::function<bool(ValueId)> isInside_;
};

/// The statements of a region that was made go in front of a place in another, without the yield.
void splice(Function& fn, RegionId made, RegionId to, size_t place);
/// They go in the place of a statement.
void putInPlace(Function& fn, RegionId made, RegionId home, StmtId s);
/// In all statements of a region.
void replaceUses(Function& fn, RegionId region, ValueId v, ValueId by);

} // namespace melix::loops
