#include "loops/interleave.h"

#include "loops/outline.h"
#include "loops/point_group.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t usualGroup = 8, mostInGroup = 10;

class Interleaver {
public:
  Interleaver(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void run(RegionId region) {
    std::vector<StmtId> out;
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (isGroupable(fn_.stmts[id]))
        append(out, inGroups(id, region));
      else
        out.push_back(id);
    }
    fn_.regions[region].stmts = std::move(out);
  }

private:
  static void append(std::vector<StmtId>& to, const std::vector<StmtId>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  /// See the header.
  bool isGroupable(const Stmt& s) const {
    if (s.kind != StmtKind::For || s.as<ForAttr>().mark != MarkKind::Points) return false;
    const RegionId body = s.regions[0];
    const std::vector<StmtId>& stmts = fn_.regions[body].stmts;
    auto chains = [&](StmtId id) { return isChain(fn_, fn_.stmts[id]); };
    const auto last = std::find_if(stmts.rbegin(), stmts.rend(), chains);
    if (last == stmts.rend() || !isClosed(module_, fn_, body)) return false;
    const std::vector<ValueId> carried(fn_.regions[body].params.begin() + 1, fn_.regions[body].params.end());
    return std::all_of(last, stmts.rend(), [&](StmtId id) { return isEarly(fn_.stmts[id], carried); });
  }

  /// Whether a statement, and all in it, may run before those of the point in front of it.
  bool isEarly(const Stmt& s, const std::vector<ValueId>& carried) const {
    if (s.kind == StmtKind::Check || s.kind == StmtKind::Call || s.kind == StmtKind::While) return false;
    for (ValueId v : s.results)
      if (fn_.typeOf(v).cls != ClassKind::Scalar) return false;
    for (ValueId v : s.operands)
      if (std::ranges::find(carried, v) != carried.end()) return false;
    return std::ranges::all_of(s.regions, [&](RegionId r) {
      return std::ranges::all_of(fn_.regions[r].stmts,
                                 [&](StmtId id) { return isEarly(fn_.stmts[id], carried); });
    });
  }

  const uint64_t* asConstant(ValueId v) { return Builder(fn_).asConstant(v); }

  /// How many points are taken at once; all of few.
  int64_t groupOf(const Stmt& loop) {
    const uint64_t *first = asConstant(loop.operands[0]), *end = asConstant(loop.operands[1]);
    if (!first || !end) return usualGroup;
    const auto extent = static_cast<int64_t>(*end - *first);
    for (int64_t group = mostInGroup; group > usualGroup / 2; --group)
      if (extent % group == 0 && (group == usualGroup || extent % usualGroup != 0)) return group;
    return extent < usualGroup ? extent : usualGroup;
  }

  /// Whether it is known that no point is left.
  bool isWhole(const Stmt& loop, int64_t group) {
    const uint64_t *first = asConstant(loop.operands[0]), *end = asConstant(loop.operands[1]);
    return first && end && static_cast<int64_t>(*end - *first) % group == 0;
  }

  /// The loop over whole groups, then what is left of the loop itself.
  std::vector<StmtId> inGroups(StmtId id, RegionId home);

  const Module& module_;
  Function& fn_;
};

std::vector<StmtId> Interleaver::inGroups(StmtId id, RegionId home) {
  const int64_t size = groupOf(fn_.stmts[id]);
  if (size < 2) return {id};
  PointGroup group(fn_, size);
  Builder& b = group.builder();
  const Stmt loop = fn_.stmts[id];
  b.loc = loop.loc;
  const RegionId front = b.begin();
  const ValueId first = loop.operands[0], points = b.integer(size), zero = b.integer(0);
  const ValueId count = b.arith(OpKind::Max, b.arith(OpKind::Sub, loop.operands[1], first), zero);
  const ValueId groups = b.arith(OpKind::IDiv, count, points);
  ForAttr attr = loop.as<ForAttr>();
  std::vector<ValueId> carried = b.carryLoop(
      zero, groups, {loop.operands.begin() + 2, loop.operands.end()},
      [&](ValueId g, std::vector<ValueId> values) {
        ValueId at = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, g, points));
        return group.run(loop, at, std::move(values));
      },
      attr);
  const ValueId rest = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, groups, points));
  b.end();
  std::vector<StmtId> out = fn_.regions[front].stmts;
  out.pop_back(); // the yield
  for (StmtId s : out)
    for (ValueId v : fn_.stmts[s].results) fn_.values[v].region = home;
  if (isWhole(loop, size) && loop.results.empty()) return out;
  Stmt& left = fn_.stmts[id];
  left.operands[0] = rest;
  std::copy(carried.begin(), carried.end(), left.operands.begin() + 2);
  out.push_back(id);
  return out;
}

} // namespace

void interleave(const Module& module, Function& function) {
  Interleaver(module, function).run(function.body);
}

} // namespace melix::loops
