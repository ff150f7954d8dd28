#include "loops/kernels/infer_size_params.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/ir/build.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

/// By function that is launched, and by operand of its launches: whether all of them give a size.
using GivenSizes = std::vector<std::vector<bool>>;
constexpr size_t firstCapture = 2; ///< among the parameters of what is launched, and the operands of a launch

class SizeReader {
public:
  SizeReader(const Function& fn, GivenSizes& given) : fn_(fn), given_(given) {
    for (size_t k = 0; k < fn.modes.size(); ++k)
      if (fn.modes[k] == ModeKind::Size) sizes_.insert(fn.params()[k]);
  }

  /// What checks say holds to the end of the region.
  void region(RegionId r) {
    const size_t mark = found_.size();
    for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
    forget(mark);
  }

private:
  void statement(const Stmt& s) {
    if (s.kind == StmtKind::Check) return assume(s.operands[0]);
    if (s.kind == StmtKind::Launch) return launch(s);
    const size_t mark = found_.size();
    if (s.kind == StmtKind::If) assume(s.operands[0]);
    for (RegionId r : s.regions) {
      region(r);
      forget(mark); // of a branch, what holds in the first arm only
    }
  }
  void launch(const Stmt& s) {
    std::vector<bool>& given = given_[s.as<FunctionId>().index];
    if (given.empty()) given.assign(s.operands.size(), true);
    for (size_t k = 0; k < s.operands.size(); ++k) given[k] = given[k] && isSize(s.operands[k], 0);
  }

  void assume(ValueId condition) {
    for (ValueId v : conjuncts(fn_, condition)) {
      const Stmt* s = scalarOf(fn_, v);
      if (!s || s->as<ScalarAttr>().op != OpKind::Cmp || s->as<ScalarAttr>().from != TypeKind::I64) continue;
      const auto how = static_cast<CmpKind>(s->as<ScalarAttr>().index);
      if (how == CmpKind::Ge || how == CmpKind::Gt || how == CmpKind::Eq)
        noLess(s->operands[0], s->operands[1]);
      if (how == CmpKind::Le || how == CmpKind::Lt || how == CmpKind::Eq)
        noLess(s->operands[1], s->operands[0]);
    }
  }
  void noLess(ValueId v, ValueId than) {
    if (isSize(than, 0) && sizes_.insert(v).second) found_.push_back(v);
  }
  void forget(size_t mark) {
    for (; found_.size() > mark; found_.pop_back()) sizes_.erase(found_.back());
  }

  bool isSize(ValueId v, int depth) const {
    constexpr int deepest = 8;
    if (fn_.typeOf(v) != indexType || depth > deepest) return false;
    if (const uint64_t* known = asConstant(fn_, v)) return static_cast<int64_t>(*known) >= 0;
    if (sizes_.contains(v)) return true;
    const Stmt* s = scalarOf(fn_, v);
    if (!s || s->as<ScalarAttr>().from != TypeKind::I64) return false;
    const auto is = [&](ValueId operand) { return isSize(operand, depth + 1); };
    switch (s->as<ScalarAttr>().op) { // sums and products may wrap
    case OpKind::Max:
    case OpKind::And: return std::ranges::any_of(s->operands, is);
    case OpKind::Shr: return is(s->operands[0]);
    case OpKind::Min:
    case OpKind::IDiv:
    case OpKind::IRem: return std::ranges::all_of(s->operands, is);
    case OpKind::Select: return is(s->operands[1]) && is(s->operands[2]);
    default: return false;
    }
  }

  const Function& fn_;
  GivenSizes& given_;
  std::unordered_set<ValueId> sizes_;
  std::vector<ValueId> found_; ///< of these, what checks and branches say, the last one last
};

} // namespace

void inferSizeParams(Module& module) {
  GivenSizes given(module.functions.size());
  for (const Function& fn : module.functions) SizeReader(fn, given).region(fn.body);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    for (size_t k = firstCapture; k < std::min(given[f].size(), fn.modes.size()); ++k)
      if (given[f][k] && fn.modes[k] == ModeKind::Borrow) fn.modes[k] = ModeKind::Size;
  }
}

} // namespace melix::loops
