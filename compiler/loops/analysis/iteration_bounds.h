#pragma once
// The conditions under which a branch is taken, each by itself.

#include "loops/ir/build.h"

#include <functional>

namespace melix::loops {

/// What all has to hold that a condition does.
std::vector<ValueId> conjuncts(const Function& fn, ValueId condition);

/// Takes conditions that hold anyway from a branch, which stands in `home`: what is left of it.
void holdsAnyway(Function& fn, StmtId branch, RegionId home, const std::function<bool(ValueId)>& holds);

/// Sums of some of these do not wrap.
inline constexpr int64_t smallNumber = int64_t(1) << 48;
/// Whether a number is that small.
ValueId isSmall(Builder& b, ValueId v);

/// Rows, from `first` to `end`, at which conditions hold at all turns of the loops inside, and of one around
/// it if asked for: of nothing else that differs there.
class MaskRange {
public:
  /// Statements go where the builder stands; `index` counts the rows in `loop`.
  MaskRange(Builder& b, StmtId loop, StmtId around = {});
  /// That a number from outside is so small that sums with it do not wrap.
  void assumeSmall(ValueId v) { small_.push_back(v); }

  /// Whether a condition bounds the rows from one side. That it holds, or that it does not, is asked for
  /// then.
  bool take(ValueId condition, bool holds = true);
  /// Whether the one taken last bounds them from below.
  bool isLeast() const { return bounds_.back().isLeast; }
  /// The least that a number is at a row, of all turns of the loops inside.
  std::optional<ValueId> leastAt(ValueId v, ValueId row);
  struct Rows {
    ValueId first, end; ///< within the loop, and the first no further than the end
  };
  /// None where sums in the conditions might wrap.
  Rows rows();
  /// Whether that is not known while compiling.
  bool mayWrap() const { return isExact_.valid(); }
  /// Whether they do not, if that is not known; none else. Behind `rows`.
  ValueId isExact() const { return isExact_; }

private:
  /// Numbers times factors, all together: `row` times the row, and the rest.
  struct Form {
    int64_t row = 0, constant = 0;
    std::vector<std::pair<ValueId, int64_t>> terms;
  };
  struct Bound {
    ValueId row;
    bool isLeast; ///< or the greatest
  };
  std::optional<Form> formOf(ValueId v, int64_t factor, int depth) const;
  bool add(Form& form, ValueId v, int64_t factor, int depth) const;
  bool isWithin(ValueId v) const;
  std::optional<StmtId> loopOf(ValueId index) const;
  std::optional<ValueId> fromOutside(ValueId v);
  bool isNatural(ValueId v, int depth) const;
  bool isBlock(ValueId count, ValueId length, int depth) const;
  std::optional<ValueId> endOf(StmtId loop, bool last);
  std::optional<ValueId> extreme(const Form& form, bool greatest);
  void requireSmall(ValueId v);

  Builder& b_;
  Function& fn_;
  StmtId loop_, around_;
  std::unordered_set<RegionId> inside_;
  std::vector<Bound> bounds_;
  std::vector<ValueId> small_;
  ValueId isExact_;
};

} // namespace melix::loops
