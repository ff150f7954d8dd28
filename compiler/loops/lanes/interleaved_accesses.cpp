#include "loops/lanes/interleaved_accesses.h"

#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {
namespace {

constexpr int64_t longestRow = 16; ///< elements
constexpr uint32_t fewOf = 8;      ///< a load of one of so many elements is worth to read them all
constexpr size_t mostOpen = 64;    ///< groups that further accesses may join

/// An access as a place in a row: what is not constant in its index, and what is.
struct Column {
  std::vector<ValueId> row; ///< the base, then index, stride…
  ValueType elem;
  int64_t step = 0, at = 0; ///< bytes: from lane to lane, the constant part
};

class InterleavedAccessGrouper {
public:
  InterleavedAccessGrouper(const Module& module, const Function& fn, LaneStrides& strides)
      : module_(module), fn_(fn), strides_(strides) {}

  std::vector<LaneGroup> run(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) statement(id);
    closeAll();
    return std::move(done_);
  }

private:
  struct Open {
    Column column; ///< of the first member
    LaneGroup group;
    std::vector<int64_t> at; ///< of each member, bytes from the first one
  };

  void statement(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    switch (s.kind) {
    case StmtKind::Scalar:
    case StmtKind::Const:
    case StmtKind::KeepAlive:
    case StmtKind::Yield: return;
    case StmtKind::Load:
      closeIf([&](const Open& open) { return isStore(open) && mayShare(open, s); });
      return access(id);
    case StmtKind::Store:
      closeIf([&](const Open& open) { return mayShare(open, s) && !(isStore(open) && joins(open, s)); });
      return access(id);
    case StmtKind::Call:
      if (reachesMemory(s)) closeAll();
      return;
    default: return closeAll();
    }
  }

  /// Whether a callee reads or writes, or may end what is done.
  bool reachesMemory(const Stmt& call) const {
    auto isScalar = [&](ValueId v) { return fn_.typeOf(v).cls == ClassKind::Scalar; };
    return !module_.functions[call.as<FunctionId>()].isClosed() ||
           !std::ranges::all_of(call.operands, isScalar);
  }
  static bool isStore(const Open& open) { return open.group.kind == StmtKind::Store; }
  /// Whether an access may reach memory of a group: blocks are disjoint, and so is memory that results are
  /// written to.
  bool mayShare(const Open& open, const Stmt& access) const {
    const ValueId a = open.column.row[0], b = access.operands[0];
    auto isOpaque = [&](ValueId v) { return fn_.typeOf(v) == dataType || !fn_.values[v].def.valid(); };
    return a == b || !isOpaque(a) || !isOpaque(b);
  }

  std::optional<Column> columnOf(const Stmt& s) const {
    const std::optional<int64_t> step = strides_.strideInBytes(s);
    const auto& access = s.as<Access>();
    const int64_t bytes = bytesOf(access.elem);
    if (!step || *step <= bytes || *step > longestRow * bytes || *step % bytes != 0) return std::nullopt;
    if (access.elem.cls != ClassKind::Scalar) return std::nullopt;
    Column out{{s.operands[0]}, access.elem, *step, access.offset};
    const size_t end = s.operands.size() - (s.kind == StmtKind::Store ? 1 : 0);
    for (size_t k = 1; k + 1 < end; k += 2) {
      const uint64_t *index = asConstant(fn_, s.operands[k]), *stride = asConstant(fn_, s.operands[k + 1]);
      if (index && stride)
        out.at = static_cast<int64_t>(uint64_t(out.at) + *index * *stride * access.elemBytes);
      else
        out.row.insert(out.row.end(), {s.operands[k], s.operands[k + 1]});
    }
    return out;
  }

  /// Where the access lies from the first of a group, in bytes, if it is one of its columns.
  std::optional<int64_t> placeIn(const Open& open, const Column& c) const {
    const Column& first = open.column;
    const auto at = static_cast<int64_t>(uint64_t(c.at) - uint64_t(first.at)); // modulo 2^64
    if (c.row.size() != first.row.size() || c.elem != first.elem || c.step != first.step ||
        at % bytesOf(c.elem) != 0 || at >= c.step || at <= -c.step)
      return std::nullopt;
    for (size_t k = 0; k < c.row.size(); ++k)
      if (c.row[k] != first.row[k] && !areEqual(c.row[k], first.row[k])) return std::nullopt;
    const auto [low, high] = std::ranges::minmax(open.at);
    if (std::max(high, at) - std::min(low, at) >= c.step) return std::nullopt;
    return at;
  }
  bool areEqual(ValueId a, ValueId b) const {
    const uint64_t *x = asConstant(fn_, a), *y = asConstant(fn_, b);
    return x && y && *x == *y;
  }
  bool joins(const Open& open, const Stmt& s) const {
    const std::optional<Column> c = columnOf(s);
    const std::optional<int64_t> at = c ? placeIn(open, *c) : std::nullopt;
    return at && std::ranges::find(open.at, *at) == open.at.end();
  }

  void access(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    const std::optional<Column> c = columnOf(s);
    if (!c) return;
    for (Open& open : open_) {
      if (open.group.kind != s.kind) continue;
      const std::optional<int64_t> at = placeIn(open, *c);
      if (!at) continue;
      open.group.members.push_back({id, 0});
      open.at.push_back(*at);
      return;
    }
    if (open_.size() == mostOpen) {
      close(open_.front());
      open_.erase(open_.begin());
    }
    LaneGroup group{s.kind, static_cast<uint32_t>(c->step / bytesOf(c->elem)), {{id, 0}}};
    open_.push_back({*c, std::move(group), {0}});
  }

  void closeAll() {
    closeIf([](const Open&) { return true; });
  }
  void closeIf(const auto& test) {
    for (Open& open : open_)
      if (test(open)) close(open);
    std::erase_if(open_, test);
  }
  void close(Open& open) {
    LaneGroup& group = open.group;
    const int64_t low = std::ranges::min(open.at);
    group.before = -low;
    for (size_t k = 0; k < open.at.size(); ++k)
      group.members[k].column = static_cast<uint32_t>((open.at[k] - low) / bytesOf(open.column.elem));
    const bool isWhole =
        isStore(open) ? group.members.size() == group.row : group.members.size() * fewOf >= group.row;
    if (isWhole) done_.push_back(std::move(group));
  }

  const Module& module_;
  const Function& fn_;
  LaneStrides& strides_;
  std::vector<Open> open_;
  std::vector<LaneGroup> done_;
};

} // namespace

uint32_t LaneGroup::span() const {
  uint32_t highest = 0;
  for (const Member& m : members) highest = std::max(highest, m.column);
  return highest + 1;
}

std::vector<LaneGroup> laneGroups(const Module& module, const Function& fn, RegionId region,
                                  LaneStrides& strides) {
  return InterleavedAccessGrouper(module, fn, strides).run(region);
}

/// Elements of each residue of the row's least prime factor come together, then those of the next one.
uint32_t shufflesOf(const LaneGroup& group) {
  uint32_t each = 0;
  for (uint32_t left = group.row, p = 2; left > 1; ++p)
    for (; left % p == 0; left /= p) each += p - 1;
  return each * group.row;
}

} // namespace melix::loops
