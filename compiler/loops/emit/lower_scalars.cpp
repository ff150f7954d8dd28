// Scalars: one statement each, the op being Core's.
#include "loops/emit/lower_scalars.h"

#include "loops/emit/emit_builtin.h"
#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"

namespace melix::loops {

void lowerConst(Lower& l, const core::Op& op) {
  if (l.facts->literals.isPart(op.results[0])) return;
  TypeId type = l.typeOf(op.results[0]);
  const auto& constant = op.as<core::Constant>();
  if (l.types.kind(type) == TypeKind::Str) {
    ValueId data =
        constant.text.empty() ? l.b.zero(dataType) : l.b.value(StmtKind::Text, {}, dataType, constant.text);
    return l.define(op.results[0], {data, l.b.integer(static_cast<int64_t>(constant.text.size()))});
  }
  const std::vector<ValueType>& leaves = l.layouts.leaves(type);
  if (leaves.empty()) return l.define(op.results[0], {});
  l.define(op.results[0], {l.b.constant(leaves[0], constant.bits)});
}

void lowerScalar(Lower& l, const core::Op& op) {
  std::vector<ValueId> operands = l.leavesOf(op.operands);
  TypeKind from = l.b.fn.typeOf(operands[0]).scalar;
  TypeKind to = l.layouts.leaves(l.typeOf(op.results[0]))[0].scalar;
  uint32_t index = std::holds_alternative<uint32_t>(op.attr) ? op.index() : 0;
  l.define(op.results[0], {l.b.scalar(op.kind, operands, from, to, index)});
}

void lowerCompare(Lower& l, const core::Op& op) {
  if (l.types.kind(l.typeOf(op.operands[0])) != TypeKind::Str) return lowerScalar(l, op);
  auto how = static_cast<ops::CmpKind>(op.index());
  std::vector<ValueId> args = l.leavesOf(op.operands);
  if (how == ops::CmpKind::Eq || how == ops::CmpKind::Ne) {
    ValueId same = callBuiltin(l.b, ops::BuiltinKind::StrEqual, args, 1)[0];
    ValueId zero = l.b.integer(0);
    return l.define(op.results[0],
                    {l.b.compare(how == ops::CmpKind::Eq ? ops::CmpKind::Ne : ops::CmpKind::Eq, same, zero)});
  }
  ValueId order = callBuiltin(l.b, ops::BuiltinKind::StrCompare, args, 1)[0];
  l.define(op.results[0], {l.b.compare(how, order, l.b.integer(0))});
}

void lowerSelect(Lower& l, const core::Op& op) {
  const std::vector<ValueId> a = l.leaves(op.operands[1]), b = l.leaves(op.operands[2]);
  ValueId condition = l.leaf(op.operands[0]);
  if (a.size() == 1 && l.b.fn.typeOf(a[0]).cls == ClassKind::Scalar)
    return l.define(op.results[0], {l.b.select(condition, a[0], b[0])});
  RegionId yes = l.b.begin();
  l.b.end(a);
  RegionId no = l.b.begin();
  l.b.end(b);
  StmtId s = l.b.stmt(StmtKind::If, {condition}, l.layouts.leaves(l.typeOf(op.results[0])), {}, {yes, no});
  l.define(op.results[0], l.b.results(s));
}

void lowerMath(Lower& l, const core::Op& op) {
  auto math = static_cast<ops::MathKind>(op.index());
  TypeKind kind = l.types.kind(l.typeOf(op.results[0]));
  // Narrow floats are computed in f32.
  bool narrow = kind == TypeKind::F16 || kind == TypeKind::BF16;
  auto body = l.context.core.mathBodies.find({math, narrow ? TypeKind::F32 : kind});
  if (body == l.context.core.mathBodies.end())
    return l.fail("`" + std::string(ops::mathName(math)) + "` of " + std::string(types::scalarName(kind)) +
                  " has no body in this program");
  std::vector<ValueId> args;
  for (core::ValueId v : op.operands)
    args.push_back(narrow ? l.b.scalar(OpKind::Convert, {l.leaf(v)}, kind, TypeKind::F32) : l.leaf(v));
  ValueId r = l.b.value(StmtKind::Call, args, scalarType(narrow ? TypeKind::F32 : kind),
                        l.context.functions.at({body->second, Device::Host}));
  l.define(op.results[0], {narrow ? l.b.scalar(OpKind::Convert, {r}, TypeKind::F32, kind) : r});
}

void lowerSum(Lower& l, const core::Op& op) {
  TypeId type = l.typeOf(op.results[0]);
  const std::vector<ValueId> a = l.leaves(op.operands[0]);
  if (op.kind == OpKind::Neg) return l.define(op.results[0], negLeaves(l, type, a));
  l.define(op.results[0], addLeaves(l, type, a, l.leaves(op.operands[1]), op.kind));
}

} // namespace melix::loops
