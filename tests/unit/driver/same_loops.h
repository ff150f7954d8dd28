#pragma once
// Whether two modules of Loops say the same, whatever their ids are.
#include "loops/text/print.h"

#include <algorithm>

namespace melix::loops {

/// Compares functions in step; values that stand at one place of both are each other's. Locations may differ.
class SameLoops {
public:
  SameLoops(const Module& a, const Module& b) : a_(a), b_(b) {}

  /// The key of the first function that differs; empty if none does.
  std::string difference() {
    if (a_.functions.size() != b_.functions.size() || a_.entry != b_.entry) return "the module";
    for (uint32_t f = 0; f < a_.functions.size(); ++f)
      if (!same(a_.functions[FunctionId(f)], b_.functions[FunctionId(f)]))
        return a_.functions[FunctionId(f)].key;
    return {};
  }

private:
  bool same(const Function& a, const Function& b) {
    values_.clear();
    f_ = &a, g_ = &b;
    auto modes = [](const Function& fn) {
      std::vector<ModeKind> all = fn.modes;
      all.resize(fn.params().size(), ModeKind::Borrow);
      return all;
    };
    return a.name == b.name && a.key == b.key && a.kind == b.kind && a.source == b.source &&
           modes(a) == modes(b) && a.results == b.results && a.effects == b.effects &&
           a.exported == b.exported && a.inlined == b.inlined &&
           a.tripCount.unrolledBy == b.tripCount.unrolledBy &&
           a.tripCount.tripCountMultipleOf == b.tripCount.tripCountMultipleOf && same(a.body, b.body);
  }
  bool same(RegionId a, RegionId b) {
    const Region &r = f_->regions[a], &s = g_->regions[b];
    return defined(r.params, s.params) && std::ranges::equal(r.stmts, s.stmts, [&](StmtId x, StmtId y) {
             return same(f_->stmts[x], g_->stmts[y]);
           });
  }
  bool defined(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return std::ranges::equal(a, b, [&](ValueId x, ValueId y) {
      values_[x] = y;
      return f_->typeOf(x) == g_->typeOf(y);
    });
  }
  bool same(ValueId a, ValueId b) const { return (!a.valid() && !b.valid()) || values_.at(a) == b; }
  bool same(const Stmt& a, const Stmt& b) {
    auto sameValue = [&](ValueId x, ValueId y) { return same(x, y); };
    if (a.kind != b.kind || a.attr.index() != b.attr.index()) return false;
    if (!std::ranges::equal(a.operands, b.operands, sameValue) || !defined(a.results, b.results))
      return false;
    const bool sameAttr = std::visit(
        [&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b.attr)); }, a.attr);
    return sameAttr &&
           std::ranges::equal(a.regions, b.regions, [&](RegionId x, RegionId y) { return same(x, y); });
  }

  /// Records of a text are others than those it was printed from, so that no more than this can be asked.
  bool same(TypeId a, TypeId b) const { return a_.core.types.kind(a) == b_.core.types.kind(b); }
  bool same(const AllocAttr& a, const AllocAttr& b) const {
    return same(a.type, b.type) && a.bytes == b.bytes && a.zeroed == b.zeroed;
  }
  bool same(const RuntimeCall& a, const RuntimeCall& b) const {
    return a.kind == b.kind && same(a.type, b.type);
  }
  bool same(const FormatCall& a, const FormatCall& b) const {
    return same(a.type, b.type) && a.spec == b.spec && a.quoted == b.quoted;
  }
  bool same(const Message& a, const Message& b) const { return a.text == b.text; }
  bool same(const SwitchAttr& a, const SwitchAttr& b) const { return a.regionOf == b.regionOf; }
  bool same(const ForAttr& a, const ForAttr& b) const {
    return a.dependence == b.dependence && a.polls == b.polls && a.vectorWidth == b.vectorWidth &&
           a.interleave == b.interleave && a.unrollJam == b.unrollJam;
  }
  template <class Plain>
  bool same(const Plain& a, const Plain& b) const {
    return a == b;
  }

  const Module &a_, &b_;
  const Function *f_ = nullptr, *g_ = nullptr;
  std::unordered_map<ValueId, ValueId> values_;
};

} // namespace melix::loops
