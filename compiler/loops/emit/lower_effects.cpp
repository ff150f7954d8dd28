// Panics, formatting, debug.
#include "loops/emit/lower_effects.h"

#include "loops/emit/emit_builtin.h"
#include "loops/emit/lower.h"
#include "loops/emit/lower_values.h"

namespace melix::loops {

namespace {

std::vector<ValueId> formatted(Lower& l, TypeId type, const std::vector<ValueId>& v, const std::string& spec,
                               bool quoted, std::vector<ValueId> numbers) {
  numbers.insert(numbers.begin(), spill(l, type, v));
  StmtId s =
      l.b.stmt(StmtKind::Format, std::move(numbers), {dataType, indexType}, FormatCall{type, spec, quoted});
  for (ValueId x : v)
    if (l.b.fn.typeOf(x).counted()) l.b.stmt(StmtKind::KeepAlive, {x});
  return l.b.results(s);
}

} // namespace

void lowerPanic(Lower& l, const core::Op& op) { l.b.stmt(StmtKind::Panic, l.leaves(op.operands[0])); }

void lowerFormat(Lower& l, const core::Op& op) {
  const auto& attr = op.as<core::FormatAttr>();
  const std::vector<ValueId> v = l.leaves(op.operands[0]);
  TypeId type = l.typeOf(op.operands[0]);
  if (l.types.kind(type) == TypeKind::Str && attr.spec.empty() && !attr.quoted)
    return l.define(op.results[0], v);
  std::vector<ValueId> numbers;
  for (size_t k = 1; k < op.operands.size(); ++k) numbers.push_back(l.leaves(op.operands[k])[0]);
  l.define(op.results[0], formatted(l, type, v, attr.spec, attr.quoted, std::move(numbers)));
}

/// Of what lies in memory the place is given away; the value stays.
void lowerBlackBox(Lower& l, const core::Op& op) {
  std::vector<ValueId> v = l.leaves(op.operands[0]);
  for (ValueId& x : v) {
    if (l.b.fn.typeOf(x).cls == ClassKind::Scalar) {
      x = l.b.value(StmtKind::BlackBox, {x}, l.b.fn.typeOf(x));
      continue;
    }
    l.b.stmt(StmtKind::BlackBox, {l.b.pointerOf(x)});
    l.b.stmt(StmtKind::KeepAlive, {x});
  }
  l.define(op.results[0], std::move(v));
}

void lowerDebug(Lower& l, const core::Op& op) {
  const std::vector<ValueId> v = l.leaves(op.operands[0]);
  std::vector<ValueId> text = formatted(l, l.typeOf(op.operands[0]), v, "", true, {});
  ValueId pack = l.b.scratch(16);
  storeStored(l, memoryPlace(l, pack, l.types.str()), text, StoreMode::Lend);
  callBuiltin(l.b, ops::BuiltinKind::Eprint, {l.b.integer(1), pack}, 0);
  l.b.stmt(StmtKind::KeepAlive, {text[0]});
  l.define(op.results[0], v);
}

} // namespace melix::loops
