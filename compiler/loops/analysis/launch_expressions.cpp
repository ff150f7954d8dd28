#include "loops/analysis/launch_expressions.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

/// Whether a number is greater than 0 whatever it is computed from.
bool isPositive(const Function& fn, ValueId v, int depth = 4) {
  if (const uint64_t* known = asConstant(fn, v)) return static_cast<int64_t>(*known) > 0;
  const StmtId def = fn.values[v].def;
  if (!def.valid() || fn.stmts[def].kind != StmtKind::Scalar || depth == 0) return false;
  const Stmt& s = fn.stmts[def];
  auto positive = [&](ValueId operand) { return isPositive(fn, operand, depth - 1); };
  switch (s.as<ScalarAttr>().op) {
  case OpKind::Max: return std::ranges::any_of(s.operands, positive);
  case OpKind::Min: return std::ranges::all_of(s.operands, positive);
  default: return false;
  }
}

/// Whether it can be computed from any operands of its own kind; a divisor is asked for.
bool cannotFail(const Function& fn, const Stmt& s) {
  switch (s.as<ScalarAttr>().op) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Not:
  case OpKind::Cmp:
  case OpKind::Select: return true;
  case OpKind::IDiv:
  case OpKind::IRem: return isPositive(fn, s.operands[1]);
  case OpKind::Shl:
  case OpKind::Shr: {
    const uint64_t* right = asConstant(fn, s.operands[1]);
    return right && *right <= INT32_MAX;
  }
  default: return false;
  }
}

} // namespace

LaunchValues::LaunchValues(Builder& b, const Function& kernel, const Stmt& launch, size_t mostStmts)
    : b_(b), kernel_(kernel), left_(mostStmts) {
  const std::vector<ValueId>& params = kernel.params();
  made_[params[0]] = b.integer(0);
  made_[params[1]] = launch.operands[0];
  for (size_t k = 2; k < launch.operands.size(); ++k) made_[params[k]] = launch.operands[k];
}

bool LaunchValues::isUniform(const Function& kernel, ValueId v) {
  std::vector<ValueId> open{v};
  std::unordered_set<ValueId> seen{v};
  const std::vector<ValueId>& params = kernel.params();
  while (!open.empty()) {
    const ValueId at = open.back();
    open.pop_back();
    const StmtId def = kernel.values[at].def;
    if (!def.valid()) {
      const auto param = std::ranges::find(params, at);
      if (param == params.end() || param - params.begin() < 2) return false; // of a loop, or where a chunk is
      continue;
    }
    const Stmt& s = kernel.stmts[def];
    if (s.kind == StmtKind::Const) continue;
    if (s.kind != StmtKind::Scalar || !cannotFail(kernel, s)) return false;
    for (ValueId operand : s.operands)
      if (seen.insert(operand).second) open.push_back(operand);
  }
  return true;
}

void LaunchValues::enter(const Stmt& loop) {
  of(loop.operands[0]); // as long as there are statements left: those of the loops inside are asked for later
  of(loop.operands[1]);
  loops_[kernel_.regions[loop.regions[0]].params[0]] = &loop;
}

std::optional<ValueId> LaunchValues::of(ValueId v) {
  auto found = made_.find(v);
  if (found == made_.end()) {
    const ValueId made = left_ > 0 ? make(v).value_or(ValueId()) : ValueId();
    found = made_.insert_or_assign(v, made).first;
  }
  return found->second.valid() ? std::optional(found->second) : std::nullopt;
}

std::optional<ValueId> LaunchValues::make(ValueId v) {
  if (auto loop = loops_.find(v); loop != loops_.end()) return middleOf(*loop->second);
  const StmtId def = kernel_.values[v].def;
  if (!def.valid()) return std::nullopt;
  const Stmt& s = kernel_.stmts[def];
  if (s.kind == StmtKind::Const) return b_.constant(kernel_.typeOf(v), s.as<uint64_t>());
  return s.kind == StmtKind::Scalar ? makeScalar(s) : std::nullopt;
}

std::optional<ValueId> LaunchValues::middleOf(const Stmt& loop) {
  const std::optional<ValueId> first = of(loop.operands[0]), end = of(loop.operands[1]);
  if (!first || !end) return std::nullopt;
  if (left_ > 0) --left_;
  return b_.arith(OpKind::Shr, b_.arith(OpKind::Add, *first, *end), b_.integer(1));
}

std::optional<ValueId> LaunchValues::makeScalar(const Stmt& s) {
  if (!cannotFail(kernel_, s)) return std::nullopt;
  const auto& attr = s.as<ScalarAttr>();
  std::vector<ValueId> operands;
  for (ValueId v : s.operands) {
    const std::optional<ValueId> operand = of(v);
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  if (const std::optional<ValueId> known = simplified(attr, operands)) return known;
  const ValueId made =
      b_.scalar(attr.op, std::move(operands), attr.from, kernel_.typeOf(s.results[0]).scalar, attr.index);
  scalars_.push_back(b_.fn.values[made].def);
  if (left_ > 0) --left_;
  return made;
}

/// What is there already: an operand, or what was made before.
std::optional<ValueId> LaunchValues::simplified(const ScalarAttr& attr,
                                                const std::vector<ValueId>& operands) {
  auto is = [&](size_t operand, uint64_t number) {
    const uint64_t* known = b_.asConstant(operands[operand]);
    return known && *known == number && attr.from == TypeKind::I64;
  };
  switch (attr.op) {
  case OpKind::Add:
    if (is(0, 0)) return operands[1];
    if (is(1, 0)) return operands[0];
    break;
  case OpKind::Sub:
    if (is(1, 0)) return operands[0];
    break;
  case OpKind::Mul:
    if (is(0, 1)) return operands[1];
    if (is(1, 1)) return operands[0];
    break;
  default: break;
  }
  for (StmtId id : scalars_) {
    const Stmt& s = b_.fn.stmts[id];
    if (s.as<ScalarAttr>() == attr && s.operands == operands) return s.results[0];
  }
  return std::nullopt;
}

} // namespace melix::loops
