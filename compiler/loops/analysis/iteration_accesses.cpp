#include "loops/analysis/iteration_accesses.h"

#include "loops/analysis/linear_form.h"
#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

IterationAccesses::IterationAccesses(const Function& fn, const Stmt& loop, bool throughPointers)
    : fn_(fn), index_(fn.regions[loop.regions[0]].params[0]), throughPointers_(throughPointers),
      all_(region(loop.regions[0])) {}

bool IterationAccesses::region(RegionId r) {
  inside_.insert(r);
  return std::ranges::all_of(fn_.regions[r].stmts, [&](StmtId id) { return statement(fn_.stmts[id]); });
}

bool IterationAccesses::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Const:
  case StmtKind::Scalar:
  case StmtKind::Yield: return true;
  case StmtKind::If:
  case StmtKind::Switch: return std::ranges::all_of(s.regions, [&](RegionId r) { return region(r); });
  case StmtKind::Load: return access(s, s.operands.size());
  case StmtKind::Store: return access(s, s.operands.size() - 1);
  default: return false;
  }
}

bool IterationAccesses::access(const Stmt& s, size_t operands) {
  const ValueId base = blockOf(s.operands[0]);
  if (fn_.typeOf(base) != dataType || isInside(s.operands[0])) return false;
  std::vector<ValueId> terms(s.operands.begin() + 1,
                             s.operands.begin() + static_cast<std::ptrdiff_t>(operands));
  Places& places = places_.try_emplace(base, Places{terms}).first->second;
  places.equal &= places.terms == terms;
  places.stored |= s.kind == StmtKind::Store;
  return true;
}

ValueId IterationAccesses::blockOf(ValueId base) const {
  const StmtId def = fn_.values[base].def;
  const bool isPointer = throughPointers_ && def.valid() && fn_.stmts[def].kind == StmtKind::PointerOf;
  return isPointer ? fn_.stmts[def].operands[0] : base;
}

bool IterationAccesses::areDisjoint() const {
  return all_ && std::ranges::all_of(places_, [&](const auto& of) {
           const Places& places = of.second;
           return !places.stored || (places.equal && isOwnPlace(places.terms));
         });
}

/// Whether it is another place in each iteration: one index goes with the iterations, by more than nothing.
bool IterationAccesses::isOwnPlace(const std::vector<ValueId>& terms) const {
  unsigned moving = 0;
  for (size_t k = 0; k < terms.size(); k += 2) {
    const uint64_t* stride = asConstant(fn_, terms[k + 1]);
    const int64_t slope = slopeOf(terms[k]);
    if ((slope == 1 || slope == -1) && stride && *stride > 0)
      ++moving;
    else if (isInside(terms[k]) || isInside(terms[k + 1]))
      return false;
  }
  return moving == 1;
}

int64_t IterationAccesses::slopeOf(ValueId v) const {
  const std::optional<LinearForm> form =
      linearForm(fn_, v, [this](ValueId x) { return x == index_ || !isInside(x); });
  return form ? form->factorOf(index_) : 0;
}

std::optional<IndexPlusOffset> IterationAccesses::indexPlusOffset(ValueId index) const {
  if (index == index_) return IndexPlusOffset{};
  const Stmt* s = scalarOf(fn_, index);
  if (!s) return std::nullopt;
  const OpKind op = s->as<ScalarAttr>().op;
  if (op != OpKind::Add && op != OpKind::Sub) return std::nullopt;
  auto isFixed = [&](ValueId v) { return !isInside(v) || asConstant(fn_, v); };
  if (s->operands[0] == index_ && isFixed(s->operands[1]))
    return IndexPlusOffset{s->operands[1], op == OpKind::Sub};
  if (op == OpKind::Add && s->operands[1] == index_ && isFixed(s->operands[0]))
    return IndexPlusOffset{s->operands[0]};
  return std::nullopt;
}

} // namespace melix::loops
