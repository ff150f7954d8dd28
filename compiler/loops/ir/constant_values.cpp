#include "loops/ir/constant_values.h"

#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

bool areSameNumber(const Function& fn, ValueId a, ValueId b, int depth) {
  if (a == b) return true;
  if (depth == 0) return false;
  const StmtId x = fn.values[a].def, y = fn.values[b].def;
  if (!x.valid() || !y.valid() || fn.stmts[x].kind != fn.stmts[y].kind) return false;
  const StmtKind kind = fn.stmts[x].kind;
  return (kind == StmtKind::Const || kind == StmtKind::Scalar) && fn.stmts[x].attr == fn.stmts[y].attr &&
         std::ranges::equal(fn.stmts[x].operands, fn.stmts[y].operands,
                            [&](ValueId v, ValueId w) { return areSameNumber(fn, v, w, depth - 1); });
}

std::optional<int64_t> knownNumber(const Function& fn, ValueId v, int depth) {
  if (const uint64_t* known = asConstant(fn, v)) return static_cast<int64_t>(*known);
  const StmtId def = fn.values[v].def;
  if (depth == 0 || !def.valid() || fn.stmts[def].kind != StmtKind::Scalar ||
      fn.stmts[def].operands.size() != 2)
    return std::nullopt;
  const auto& attr = fn.stmts[def].as<ScalarAttr>();
  const std::optional<int64_t> a = knownNumber(fn, fn.stmts[def].operands[0], depth - 1);
  const std::optional<int64_t> b = a ? knownNumber(fn, fn.stmts[def].operands[1], depth - 1) : std::nullopt;
  if (!b || attr.from != TypeKind::I64) return std::nullopt;
  int64_t out = 0;
  switch (attr.op) {
  case OpKind::Add: return __builtin_add_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
  case OpKind::Sub: return __builtin_sub_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
  case OpKind::Mul: return __builtin_mul_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
  case OpKind::Min: return std::min(*a, *b);
  case OpKind::Max: return std::max(*a, *b);
  case OpKind::IDiv: return *a >= 0 && *b > 0 ? std::optional(*a / *b) : std::nullopt;
  case OpKind::Shr: return *b >= 0 && *b < 64 ? std::optional(*a >> *b) : std::nullopt;
  default: return std::nullopt;
  }
}

std::optional<uint64_t> provenTripCount(const Function& fn, const Stmt& loop) {
  if (const std::optional<uint64_t> tripCount = constantTripCount(fn, loop)) return tripCount;
  const std::optional<int64_t> first = knownNumber(fn, loop.operands[0]);
  const std::optional<int64_t> end = first ? knownNumber(fn, loop.operands[1]) : std::nullopt;
  if (!end) return std::nullopt;
  return *first < *end ? static_cast<uint64_t>(*end) - static_cast<uint64_t>(*first) : 0;
}

} // namespace melix::loops
