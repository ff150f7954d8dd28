#include "core/ir/termination.h"

#include "core/ir/build.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::core {

namespace {

class Termination {
public:
  Termination(const Module& m, const Function& f, const Op& loop)
      : m_(m), f_(f), view_(f, loop), inside_(view_.carryParams(view_.condition())) {}

  bool holds() const { return ends(terminator(f_, view_.condition()).operands[0]); }

private:
  const Op* def(ValueId v) const { return f_.values[v].def.valid() ? &f_.ops[f_.values[v].def] : nullptr; }
  std::optional<int64_t> constant(ValueId v) const {
    const Op* op = def(v);
    const TypeKind kind = m_.types.kind(f_.typeOf(v));
    if (!op || op->kind != OpKind::Const || !types::isIntKind(kind)) return std::nullopt;
    return signedBits(kind, op->as<Constant>().bits);
  }

  /// Whether the loop ends by what has to hold for a further iteration.
  bool ends(ValueId condition) const {
    const Op* op = def(condition);
    if (!op) return false;
    if (op->kind == OpKind::And)
      return std::ranges::any_of(op->operands, [this](ValueId each) { return ends(each); });
    if (op->kind != OpKind::Cmp) return false;
    const ValueId a = op->operands[0], b = op->operands[1];
    switch (static_cast<ops::CmpKind>(op->index())) {
    case ops::CmpKind::Ne: return (constant(b) == 0 && isHalved(a)) || (constant(a) == 0 && isHalved(b));
    case ops::CmpKind::Lt: return comesNearer(a, b, OpKind::Add) || comesNearer(b, a, OpKind::Sub);
    case ops::CmpKind::Gt: return comesNearer(a, b, OpKind::Sub) || comesNearer(b, a, OpKind::Add);
    default: return false;
    }
  }
  /// The carry that a value of the condition is: as it is in the body, and as the body yields it.
  struct Carry {
    ValueId param, next;
  };
  std::optional<Carry> carry(ValueId v) const {
    const auto at = std::ranges::find(inside_, v);
    if (at == inside_.end() || !types::isIntKind(m_.types.kind(f_.typeOf(v)))) return std::nullopt;
    const auto k = static_cast<size_t>(at - inside_.begin());
    return Carry{view_.carryParams()[k], view_.carryYields()[k]};
  }
  /// A shift to the right that lets no sign in.
  bool isHalved(ValueId v) const {
    const std::optional<Carry> c = carry(v);
    const Op* op = c ? def(c->next) : nullptr;
    bool isUnsigned = c && types::scalarClass(m_.types.kind(f_.typeOf(v))) == types::ScalarClass::UInt;
    if (op && op->kind == OpKind::And) {
      isUnsigned = isUnsigned || constant(op->operands[1]).value_or(-1) >= 0;
      op = def(op->operands[0]);
    }
    if (!op || !isUnsigned || op->kind != OpKind::Shr || op->operands[0] != c->param) return false;
    const std::optional<int64_t> by = constant(op->operands[1]);
    return by && *by >= 1 && *by < 8;
  }
  bool comesNearer(ValueId v, ValueId limit, OpKind how) const {
    const std::optional<Carry> c = carry(v);
    const Op* op = c ? def(c->next) : nullptr;
    return op && op->kind == how && op->operands[0] == c->param && constant(op->operands[1]) == 1 &&
           isOutside(limit);
  }
  /// A number that is the same in all iterations.
  bool isOutside(ValueId v) const {
    const Value& value = f_.values[v];
    if (!value.def.valid()) return value.region != view_.condition();
    const std::vector<OpId>& own = f_.regions[view_.condition()].ops;
    return constant(v) || std::ranges::find(own, value.def) == own.end();
  }

  const Module& m_;
  const Function& f_;
  const LoopView view_;
  const std::span<const ValueId> inside_; ///< the carries in the condition
};

} // namespace

bool provablyTerminates(const Module& m, const Function& f, const Op& loop) {
  return Termination(m, f, loop).holds();
}

} // namespace melix::core
