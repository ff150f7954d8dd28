// Scalars: one statement each, the op being Core's.
#include "loops/emit/emit_builtin.h"
#include "loops/emit/lower.h"

namespace melix::loops {

void Lower::lowerConst(const core::Op& op) {
  if (facts_->literals.isPart(op.results[0])) return;
  TypeId type = typeOf(op.results[0]);
  const auto& constant = op.as<core::Constant>();
  if (types_.kind(type) == TypeKind::Str) {
    ValueId data =
        constant.text.empty() ? b_.zero(dataType) : b_.value(StmtKind::Text, {}, dataType, constant.text);
    return define(op.results[0], {data, b_.integer(static_cast<int64_t>(constant.text.size()))});
  }
  const std::vector<ValueType>& leaves = layouts_.leaves(type);
  if (leaves.empty()) return define(op.results[0], {});
  define(op.results[0], {b_.constant(leaves[0], constant.bits)});
}

void Lower::lowerScalar(const core::Op& op) {
  std::vector<ValueId> operands = leavesOf(op.operands);
  TypeKind from = b_.fn.typeOf(operands[0]).scalar;
  TypeKind to = layouts_.leaves(typeOf(op.results[0]))[0].scalar;
  uint32_t index = std::holds_alternative<uint32_t>(op.attr) ? op.index() : 0;
  define(op.results[0], {b_.scalar(op.kind, operands, from, to, index)});
}

void Lower::lowerCompare(const core::Op& op) {
  if (types_.kind(typeOf(op.operands[0])) != TypeKind::Str) return lowerScalar(op);
  auto how = static_cast<ops::CmpKind>(op.index());
  std::vector<ValueId> args = leavesOf(op.operands);
  if (how == ops::CmpKind::Eq || how == ops::CmpKind::Ne) {
    ValueId same = callBuiltin(b_, ops::BuiltinKind::StrEqual, args, 1)[0];
    ValueId zero = b_.integer(0);
    return define(op.results[0],
                  {b_.compare(how == ops::CmpKind::Eq ? ops::CmpKind::Ne : ops::CmpKind::Eq, same, zero)});
  }
  ValueId order = callBuiltin(b_, ops::BuiltinKind::StrCompare, args, 1)[0];
  define(op.results[0], {b_.compare(how, order, b_.integer(0))});
}

void Lower::lowerSelect(const core::Op& op) {
  const std::vector<ValueId> a = leaves(op.operands[1]), b = leaves(op.operands[2]);
  ValueId condition = leaf(op.operands[0]);
  if (a.size() == 1 && b_.fn.typeOf(a[0]).cls == ClassKind::Scalar)
    return define(op.results[0], {b_.select(condition, a[0], b[0])});
  RegionId yes = b_.begin();
  b_.end(a);
  RegionId no = b_.begin();
  b_.end(b);
  StmtId s = b_.stmt(StmtKind::If, {condition}, layouts_.leaves(typeOf(op.results[0])), {}, {yes, no});
  define(op.results[0], b_.results(s));
}

void Lower::lowerMath(const core::Op& op) {
  auto math = static_cast<ops::MathKind>(op.index());
  TypeKind kind = types_.kind(typeOf(op.results[0]));
  // Narrow floats are computed in f32.
  bool narrow = kind == TypeKind::F16 || kind == TypeKind::BF16;
  auto body = context_.core.mathBodies.find({math, narrow ? TypeKind::F32 : kind});
  if (body == context_.core.mathBodies.end())
    return fail("`" + std::string(ops::mathName(math)) + "` of " + std::string(types::scalarName(kind)) +
                " has no body in this program");
  std::vector<ValueId> args;
  for (core::ValueId v : op.operands)
    args.push_back(narrow ? b_.scalar(OpKind::Convert, {leaf(v)}, kind, TypeKind::F32) : leaf(v));
  ValueId r = b_.value(StmtKind::Call, args, scalarType(narrow ? TypeKind::F32 : kind),
                       context_.functions.at(body->second));
  define(op.results[0], {narrow ? b_.scalar(OpKind::Convert, {r}, TypeKind::F32, kind) : r});
}

void Lower::lowerSum(const core::Op& op) {
  TypeId type = typeOf(op.results[0]);
  const std::vector<ValueId> a = leaves(op.operands[0]);
  if (op.kind == OpKind::Neg) return define(op.results[0], negLeaves(type, a));
  define(op.results[0], addLeaves(type, a, leaves(op.operands[1]), op.kind));
}

} // namespace melix::loops
