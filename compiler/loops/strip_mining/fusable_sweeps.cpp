#include "loops/strip_mining/fusable_sweeps.h"

#include <algorithm>

namespace melix::loops {

namespace {

class FusableSweepGrouper {
public:
  FusableSweepGrouper(const Function& fn, const RowSweeps& rows, RegionId home,
                      const std::vector<RowArray>& arrays, std::unordered_set<size_t>& mayNotSum)
      : fn_(fn), rows_(rows), home_(home), arrays_(arrays), mayNotSum_(mayNotSum) {}

  std::vector<StripGroup> groups() const {
    std::vector<StripGroup> out;
    for (StripGroup& group : joined(pointersTo(arrays_), [](const StripGroup&) { return true; })) {
      if (mayFuse(group))
        out.push_back(std::move(group));
      else if (!forbidSums(group))
        for (StripGroup& part : joined(group.arrays, [&](StripGroup& made) { return mayFuse(made); }))
          out.push_back(std::move(part));
    }
    return out;
  }

private:
  static std::vector<const RowArray*> pointersTo(const std::vector<RowArray>& arrays) {
    std::vector<const RowArray*> out;
    for (const RowArray& array : arrays) out.push_back(&array);
    return out;
  }
  /// Groups of sweeps that use the same arrays: one array after another joins the groups it shares a sweep
  /// with, if the group that comes of it `mayBe`.
  template <class MayBe>
  static std::vector<StripGroup> joined(const std::vector<const RowArray*>& arrays, MayBe mayBe) {
    std::vector<StripGroup> out;
    for (const RowArray* array : arrays) {
      StripGroup made{{}, array->sweeps, {}, 0};
      auto meets = [&](const StripGroup& group) {
        return std::ranges::any_of(array->sweeps, [&](size_t k) { return group.contains(k); });
      };
      for (const StripGroup& group : out) {
        if (!meets(group)) continue;
        made.arrays.insert(made.arrays.end(), group.arrays.begin(), group.arrays.end());
        made.sweeps.insert(made.sweeps.end(), group.sweeps.begin(), group.sweeps.end());
      }
      made.arrays.push_back(array);
      std::ranges::sort(made.sweeps);
      made.sweeps.erase(std::ranges::unique(made.sweeps).begin(), made.sweeps.end());
      if (!mayBe(made)) continue;
      std::erase_if(out, meets);
      out.push_back(std::move(made));
    }
    return out;
  }
  bool mayFuse(StripGroup& group) const {
    findAxes(group);
    return group.axes > 0 && LateStatements(fn_, rows_, group, home_).mayJoin();
  }

  const RowSweep& sweep(size_t k) const { return rows_.sweeps()[k]; }

  /// Over how many axes a sweep uses an array row by row.
  size_t axesOf(size_t k, ValueId array) const {
    if (const std::optional<size_t> summed = rows_.summedAxis(k, array)) return *summed + 1;
    return rows_.rowAxes(sweep(k), array);
  }

  /// Arrays that one of the sweeps writes, and other ones that touch them.
  template <class Visit>
  void forEachShared(const StripGroup& group, const Visit& visit) const {
    for (size_t writer : group.sweeps)
      for (ValueId v : sweep(writer).memory.writes) {
        if (rows_.isInside(v)) continue;
        for (size_t other : group.sweeps)
          if (other != writer && sweep(other).memory.touches(v)) visit(writer, other, v);
      }
  }

  /// Axes that all of them have, at whose points what one of them writes the others use at their own row
  /// only.
  void findAxes(StripGroup& group) const {
    size_t axes = sweep(group.sweeps[0]).loops.size() + 1;
    forEachShared(group, [&](size_t writer, size_t other, ValueId v) {
      axes = std::min({axes, axesOf(writer, v), axesOf(other, v)});
    });
    forEachShared(group, [&](size_t, size_t other, ValueId v) {
      if (rows_.summedAxis(other, v) == axes - 1 && !group.isSum(other)) group.sums.push_back(other);
    });
    std::ranges::sort(group.sums);
    if (group.sums.empty())
      group.axes = commonAxes(group, axes);
    else if (areStrips(group, axes))
      group.axes = axes;
  }
  /// Whether there are any.
  bool forbidSums(const StripGroup& group) const {
    bool any = false;
    for (const RowArray* array : group.arrays)
      for (size_t k : array->sweeps)
        if (rows_.summedAxis(k, array->array)) any |= mayNotSum_.insert(k).second;
    return any;
  }

  size_t commonAxes(const StripGroup& group, size_t axes) const {
    for (size_t k : group.sweeps) axes = std::min(axes, sameAxes(k, group.sweeps[0], axes));
    for (const RowArray* array : group.arrays) // a row at least is left
      axes = std::min(axes, fn_.stmts[array->alloc].operands.size() - 1);
    auto areOutermost = [&](size_t k) { return sweep(k).areOutermost(axes); };
    while (axes > 0 && !std::ranges::all_of(group.sweeps, areOutermost)) --axes;
    return axes;
  }
  /// Over how many axes two sweeps have the same ends.
  size_t sameAxes(size_t a, size_t b, size_t most) const {
    most = std::min({most, sweep(a).loops.size(), sweep(b).loops.size()});
    for (size_t axis = 0; axis < most; ++axis)
      if (!rows_.sameEnds(a, b, axis)) return axis;
    return most;
  }

  /// Whether sums may go on from strip to strip of the last axis.
  bool areStrips(const StripGroup& group, size_t axes) const {
    const auto first = std::ranges::find_if(group.sweeps, [&](size_t k) { return !group.isSum(k); });
    if (axes == 0 || first == group.sweeps.end()) return false;
    int64_t blockRows = 0;
    for (size_t k : group.sweeps) {
      const size_t own = group.isSum(k) ? axes - 1 : axes;
      if (sameAxes(k, *first, own) < own) return false;
      if (!group.isSum(k)) {
        if (!sweep(k).areOutermost(own)) return false;
        continue;
      }
      const RowSum& sum = sweep(k).sum;
      if (!asConstant(fn_, sum.rows) && rows_.isInside(sum.rows)) return false;
      if (!rows_.areSame(sum.rows, rows_.endOf(*first, axes - 1)) || !keepsWhatItStores(k)) return false;
      if (sum.blockRows > 0 && blockRows > 0 && sum.blockRows != blockRows) return false;
      blockRows = std::max(blockRows, sum.blockRows);
    }
    bool areDisjoint = true;
    forEachShared(group, [&](size_t writer, size_t other, ValueId v) {
      areDisjoint &= !group.isSum(writer); // sums are there after all strips
      if (group.isSum(other)) areDisjoint &= rows_.summedAxis(other, v) == axes - 1 && writer < other;
    });
    return areDisjoint;
  }
  /// Whether the memory that a sum is stored to can keep it between strips: nothing else reads or writes it.
  bool keepsWhatItStores(size_t k) const {
    const ValueId memory = fn_.stmts[sweep(k).sum.store].operands[0];
    const MemoryUse& use = sweep(k).memory;
    return !rows_.isInside(memory) && use.writes.size() == 1 && use.writes.contains(memory) &&
           !use.reads.contains(memory);
  }

  const Function& fn_;
  const RowSweeps& rows_;
  const RegionId home_;
  const std::vector<RowArray>& arrays_;
  std::unordered_set<size_t>& mayNotSum_;
};

bool mayFail(const Function& fn, const Stmt& s) {
  return s.kind == StmtKind::Check || std::ranges::any_of(s.regions, [&](RegionId r) {
           return std::ranges::any_of(fn.regions[r].stmts,
                                      [&](StmtId id) { return mayFail(fn, fn.stmts[id]); });
         });
}

} // namespace

std::vector<StripGroup> stripGroups(const Function& fn, const RowSweeps& rows, RegionId home,
                                    const std::vector<RowArray>& arrays,
                                    std::unordered_set<size_t>& mayNotSum) {
  return FusableSweepGrouper(fn, rows, home, arrays, mayNotSum).groups();
}

LateStatements::LateStatements(const Function& fn, const RowSweeps& rows, const StripGroup& group,
                               RegionId home) {
  size_t next = 0;
  MemoryUse swept;
  for (StmtId id : fn.regions[home].stmts) {
    const Stmt& s = fn.stmts[id];
    const MemoryUse memory = memoryOf(fn, s);
    if (id == rows.sweeps()[group.sweeps[next]].loop()) {
      if (usesLate(fn, s) || memory.conflicts(late_)) return;
      swept.add(memory);
      if (++next == group.sweeps.size()) break;
    } else if (next > 0 && (usesLate(fn, s) || memory.conflicts(late_) || memory.conflicts(swept) ||
                            (checks_ && mayFail(fn, s)))) {
      checks_ |= mayFail(fn, s); // what fails first stays the first
      stmts_.insert(id);
      late_.add(memory);
      made_.insert(s.results.begin(), s.results.end());
    }
  }
  mayJoin_ = true;
}

bool LateStatements::usesLate(const Function& fn, const Stmt& s) const {
  return std::ranges::any_of(s.operands, [this](ValueId v) { return made_.contains(v); }) ||
         std::ranges::any_of(s.regions, [&](RegionId r) {
           return std::ranges::any_of(fn.regions[r].stmts,
                                      [&](StmtId id) { return usesLate(fn, fn.stmts[id]); });
         });
}

} // namespace melix::loops
