// Panics, formatting, debug.
#include "loops/emit/emit_builtin.h"
#include "loops/emit/lower.h"

namespace melix::loops {

void Lower::lowerPanic(const core::Op& op) { b_.stmt(StmtKind::Panic, leaves(op.operands[0])); }

std::vector<ValueId> Lower::format(TypeId type, const std::vector<ValueId>& v, const std::string& spec,
                                   bool quoted, std::vector<ValueId> numbers) {
  numbers.insert(numbers.begin(), spill(type, v));
  StmtId s =
      b_.stmt(StmtKind::Format, std::move(numbers), {dataType, indexType}, FormatCall{type, spec, quoted});
  for (ValueId x : v)
    if (b_.fn.typeOf(x).counted()) b_.stmt(StmtKind::KeepAlive, {x});
  return b_.results(s);
}

void Lower::lowerFormat(const core::Op& op) {
  const auto& attr = op.as<core::FormatAttr>();
  const std::vector<ValueId> v = leaves(op.operands[0]);
  TypeId type = typeOf(op.operands[0]);
  if (types_.kind(type) == TypeKind::Str && attr.spec.empty() && !attr.quoted)
    return define(op.results[0], v);
  std::vector<ValueId> numbers;
  for (size_t k = 1; k < op.operands.size(); ++k) numbers.push_back(leaves(op.operands[k])[0]);
  define(op.results[0], format(type, v, attr.spec, attr.quoted, std::move(numbers)));
}

/// Of what lies in memory the place is given away; the value stays.
void Lower::lowerBlackBox(const core::Op& op) {
  std::vector<ValueId> v = leaves(op.operands[0]);
  for (ValueId& x : v) {
    if (b_.fn.typeOf(x).cls == ClassKind::Scalar) {
      x = b_.value(StmtKind::BlackBox, {x}, b_.fn.typeOf(x));
      continue;
    }
    b_.stmt(StmtKind::BlackBox, {b_.pointerOf(x)});
    b_.stmt(StmtKind::KeepAlive, {x});
  }
  define(op.results[0], std::move(v));
}

void Lower::lowerDebug(const core::Op& op) {
  const std::vector<ValueId> v = leaves(op.operands[0]);
  std::vector<ValueId> text = format(typeOf(op.operands[0]), v, "", true, {});
  ValueId pack = b_.scratch(16);
  storeStored(memoryPlace(pack, types_.str()), text, StoreMode::Lend);
  callBuiltin(b_, ops::BuiltinKind::Eprint, {b_.integer(1), pack}, 0);
  b_.stmt(StmtKind::KeepAlive, {text[0]});
  define(op.results[0], v);
}

} // namespace melix::loops
