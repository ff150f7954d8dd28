#include "loops/kernels/code_equality.h"

#include <algorithm>
#include <unordered_map>

namespace melix::loops {

namespace {

/// Numbers values in the order in which they appear, so that equal code has equal numbers.
class Hasher {
public:
  explicit Hasher(const Function& fn) : fn_(fn) {}
  size_t hash = 0;

  void region(RegionId r) {
    for (ValueId p : fn_.regions[r].params) define(p);
    for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
  }

private:
  void statement(const Stmt& s) {
    mix(static_cast<size_t>(s.kind));
    if (s.kind == StmtKind::Scalar) mix(static_cast<size_t>(s.as<ScalarAttr>().op));
    for (ValueId v : s.operands) mix(numbers_.at(v));
    for (RegionId r : s.regions) region(r);
    for (ValueId v : s.results) define(v);
  }
  void define(ValueId v) {
    numbers_.emplace(v, numbers_.size());
    mix(static_cast<size_t>(fn_.typeOf(v).cls) * 256 + static_cast<size_t>(fn_.typeOf(v).scalar));
  }
  void mix(size_t x) { hash = (hash ^ x) * 0x9E3779B97F4A7C15 + (hash >> 29); }

  const Function& fn_;
  std::unordered_map<ValueId, size_t> numbers_;
};

/// Walks two functions side by side.
class Comparison {
public:
  Comparison(const Function& a, const Function& b) : a_(a), b_(b) {}
  OtherConstants others;

  bool regions(RegionId a, RegionId b) {
    const Region &x = a_.regions[a], &y = b_.regions[b];
    return define(x.params, y.params) && std::ranges::equal(x.stmts, y.stmts, [this](StmtId s, StmtId t) {
             return statements(a_.stmts[s], b_.stmts[t]);
           });
  }

private:
  bool statements(const Stmt& s, const Stmt& t) {
    if (s.kind != t.kind ||
        !std::ranges::equal(s.operands, t.operands, {}, [this](ValueId v) { return of(v); }))
      return false;
    const bool sameRegions =
        std::ranges::equal(s.regions, t.regions, [this](RegionId x, RegionId y) { return regions(x, y); });
    if (!sameRegions || !define(s.results, t.results)) return false;
    if (s.attr == t.attr) return true;
    if (s.kind != StmtKind::Const) return false;
    others.emplace_back(s.results[0], t.results[0]);
    return true;
  }
  bool define(const std::vector<ValueId>& xs, const std::vector<ValueId>& ys) {
    return std::ranges::equal(xs, ys, [this](ValueId x, ValueId y) {
      inB_[x] = y;
      return a_.typeOf(x) == b_.typeOf(y);
    });
  }
  ValueId of(ValueId v) const { return inB_.at(v); }

  const Function &a_, &b_;
  std::unordered_map<ValueId, ValueId> inB_; ///< by value of `a`
};

} // namespace

size_t codeHash(const Function& fn) {
  Hasher hasher(fn);
  hasher.region(fn.body);
  return hasher.hash;
}

std::optional<OtherConstants> differences(const Function& a, const Function& b) {
  Comparison comparison(a, b);
  if (a.results != b.results || a.modes != b.modes || !comparison.regions(a.body, b.body))
    return std::nullopt;
  return std::move(comparison.others);
}

} // namespace melix::loops
