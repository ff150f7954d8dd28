#include "loops/launch_values.h"

namespace melix::loops {

using core::OpKind;

LaunchValues::LaunchValues(Builder& b, const Function& kernel, const Stmt& launch) : b_(b), kernel_(kernel) {
  const std::vector<ValueId>& params = kernel.params();
  made_[params[0]] = b.integer(0);
  made_[params[1]] = launch.operands[0];
  for (size_t k = 2; k < launch.operands.size(); ++k) made_[params[k]] = launch.operands[k];
}

void LaunchValues::enter(const Stmt& loop) { loops_[kernel_.regions[loop.regions[0]].params[0]] = &loop; }

std::optional<ValueId> LaunchValues::of(ValueId v) {
  auto found = made_.find(v);
  if (found == made_.end()) {
    const ValueId made = left_-- > 0 ? make(v).value_or(ValueId()) : ValueId();
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
  return b_.arith(OpKind::Shr, b_.arith(OpKind::Add, *first, *end), b_.integer(1));
}

std::optional<ValueId> LaunchValues::makeScalar(const Stmt& s) {
  const auto& attr = s.as<ScalarAttr>();
  switch (attr.op) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Not:
  case OpKind::Cmp:
  case OpKind::Select: break;
  case OpKind::IDiv:
  case OpKind::IRem:
  case OpKind::Shl:
  case OpKind::Shr: { // others may fail
    const uint64_t* right = asConstant(kernel_, s.operands[1]);
    if (!right || *right == 0 || *right > INT32_MAX) return std::nullopt;
    break;
  }
  default: return std::nullopt;
  }
  std::vector<ValueId> operands;
  for (ValueId v : s.operands) {
    const std::optional<ValueId> operand = of(v);
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  return b_.scalar(attr.op, std::move(operands), attr.from, kernel_.typeOf(s.results[0]).scalar, attr.index);
}

} // namespace melix::loops
