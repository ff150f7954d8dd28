#include "loops/strip_mining/fusable_sweeps.h"

#include <algorithm>

namespace melix::loops {

namespace {

class FusableSweepGrouper {
public:
  FusableSweepGrouper(const Function& fn, const RowSweeps& rows, const std::vector<RowArray>& arrays,
                      std::unordered_set<size_t>& mayNotSum)
      : fn_(fn), rows_(rows), arrays_(arrays), mayNotSum_(mayNotSum) {}

  std::vector<StripGroup> groups() const {
    std::vector<size_t> group(rows_.sweeps().size());
    for (size_t k = 0; k < group.size(); ++k) group[k] = k;
    for (const RowArray& array : arrays_)
      for (size_t k : array.sweeps) {
        const size_t from = group[k], to = group[array.sweeps[0]];
        std::ranges::replace(group, from, to);
      }
    std::map<size_t, StripGroup> byGroup;
    for (size_t k = 0; k < group.size(); ++k) byGroup[group[k]].sweeps.push_back(k);
    std::vector<StripGroup> out;
    for (auto& [first, made] : byGroup) {
      if (made.sweeps.size() > 1) findAxes(made);
      if (made.axes > 0) out.push_back(std::move(made));
    }
    return out;
  }

private:
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
    if (group.axes == 0) forbidSums(group);
  }
  void forbidSums(const StripGroup& group) const {
    for (const RowArray& array : arrays_)
      for (size_t k : array.sweeps)
        if (std::ranges::find(group.sweeps, k) != group.sweeps.end() && rows_.summedAxis(k, array.array))
          mayNotSum_.insert(k);
  }

  size_t commonAxes(const StripGroup& group, size_t axes) const {
    for (size_t k : group.sweeps) axes = std::min(axes, sameAxes(k, group.sweeps[0], axes));
    for (const RowArray& array : arrays_) // a row at least is left
      if (std::ranges::find(group.sweeps, array.sweeps[0]) != group.sweeps.end())
        axes = std::min(axes, fn_.stmts[array.alloc].operands.size() - 1);
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

std::vector<StripGroup> stripGroups(const Function& fn, const RowSweeps& rows,
                                    const std::vector<RowArray>& arrays,
                                    std::unordered_set<size_t>& mayNotSum) {
  return FusableSweepGrouper(fn, rows, arrays, mayNotSum).groups();
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
