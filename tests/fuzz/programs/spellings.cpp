#include "fuzz/programs/spellings.h"

namespace melix::fuzz::programs {

const Type& integer() {
  static const Type type = scalar(Kind::I64);
  return type;
}

const Type& truth() {
  static const Type type = scalar(Kind::Bool);
  return type;
}

NodePtr named(const std::string& name) { return nameOf(name, integer()); }

NodePtr operate(const char* op, NodePtr a, NodePtr b) {
  Type type = a->type;
  return make(Form::Binary, std::move(type), {std::move(a), std::move(b)}, op);
}

NodePtr compare(const char* op, NodePtr a, NodePtr b) {
  return make(Form::Binary, truth(), {std::move(a), std::move(b)}, op);
}

NodePtr least(NodePtr a, NodePtr b) {
  return make(Form::Builtin, integer(), {std::move(a), std::move(b)}, "min");
}

NodePtr greatest(NodePtr a, NodePtr b) {
  return make(Form::Builtin, integer(), {std::move(a), std::move(b)}, "max");
}

NodePtr constant(const Type& type, int64_t value) {
  return literal(type, value, static_cast<double>(value), isFloat(type->kind));
}

NodePtr converted(const Type& type, NodePtr value) {
  if (same(type, value->type)) return value;
  return make(Form::Convert, type, {std::move(value)}, "as");
}

NodePtr branch(NodePtr condition, NodePtr yes, NodePtr no) {
  Type type = yes->type;
  return make(Form::If, std::move(type),
              {std::move(condition), block({}, std::move(yes)), block({}, std::move(no))});
}

NodePtr let(const std::string& name, NodePtr value, bool variable) {
  NodePtr out = make(Form::Let, unit(), {std::move(value)}, name);
  out->flag = variable;
  return out;
}

NodePtr assign(const char* op, NodePtr place, NodePtr value) {
  return make(Form::Assign, unit(), {std::move(place), std::move(value)}, op);
}

NodePtr when(NodePtr condition, std::vector<NodePtr> statements) {
  return make(Form::If, unit(), {std::move(condition), block(std::move(statements))});
}

namespace {

NodePtr negation(NodePtr condition) { return make(Form::Unary, truth(), {std::move(condition)}, "not"); }

NodePtr magnitude(NodePtr a) { return make(Form::Builtin, integer(), {std::move(a)}, "abs"); }

NodePtr truthOf(bool value) { return literal(truth(), value, 0, false); }

NodePtr chosen(NodePtr condition, NodePtr yes, NodePtr no) {
  NodePtr first = make(Form::Arm, yes->type, {yes}, "true"),
          second = make(Form::Arm, yes->type, {no}, "false");
  return make(Form::Match, yes->type, {std::move(condition), first, second});
}

} // namespace

NodePtr opposite(Context& c, NodePtr condition) {
  if (c.chance(70)) return negation(std::move(condition));
  if (c.chance(50)) return make(Form::Binary, truth(), {std::move(condition), truthOf(false)}, "==");
  return branch(std::move(condition), truthOf(false), truthOf(true));
}

NodePtr below(Context& c, const NodePtr& a, const NodePtr& b, bool holds) {
  NodePtr x = clone(a), y = clone(b);
  if (!holds) { // b <= a
    switch (c.below(7)) {
    case 0: return compare(">=", x, y);
    case 1: return compare("<=", y, x);
    case 2: return opposite(c, compare("<", x, y));
    case 3: return compare("<", y, operate("+", x, number(1)));
    case 4: return compare("==", least(x, y), clone(b));
    case 5: return compare(">=", operate("-", x, y), number(0));
    default: return compare(">", operate("-", x, y), number(-1));
    }
  }
  switch (c.below(8)) {
  case 0:
  case 1: return compare("<", x, y);
  case 2: return compare(">", y, x);
  case 3: return opposite(c, compare(">=", x, y));
  case 4: return compare("<=", operate("+", x, number(1)), y);
  case 5: return compare("!=", greatest(x, y), clone(a));
  case 6: return compare(">", operate("-", y, x), number(0));
  default: return compare("<", operate("-", x, y), number(0));
  }
}

NodePtr equals(Context& c, const NodePtr& a, const NodePtr& b, bool holds) {
  NodePtr x = clone(a), y = clone(b);
  switch (c.below(7)) {
  case 0: return compare(holds ? "==" : "!=", operate("-", x, y), number(0));
  case 1: return compare(holds ? "<=" : ">", magnitude(operate("-", x, y)), number(0));
  case 2:
    return connected(c, holds, below(c, a, b, !holds), holds ? below(c, b, a, false) : below(c, b, a, true));
  case 3: return holds ? opposite(c, compare("!=", x, y)) : opposite(c, compare("==", x, y));
  default: return compare(holds ? "==" : "!=", x, y);
  }
}

NodePtr inRange(Context& c, const NodePtr& at, const NodePtr& size, bool holds) {
  NodePtr zero = number(0);
  switch (c.below(10)) {
  case 0: // twice the distance from the middle
    return compare(
        holds ? "<" : ">=",
        magnitude(operate("-", operate("+", operate("*", number(2), clone(at)), number(1)), clone(size))),
        clone(size));
  case 1: {
    NodePtr inside = clamped(c, at, size);
    return connected(c, holds, below(c, zero, size, holds), equals(c, inside, at, holds));
  }
  case 2:
    return connected(c, holds, compare(holds ? ">" : "<=", operate("-", clone(size), clone(at)), number(0)),
                     below(c, at, zero, !holds));
  case 3: return opposite(c, connected(c, !holds, below(c, at, zero, holds), below(c, at, size, !holds)));
  default:
    if (c.chance(30)) return connected(c, holds, below(c, at, size, holds), below(c, at, zero, !holds));
    return connected(c, holds, below(c, at, zero, !holds), below(c, at, size, holds));
  }
}

NodePtr nearby(Context& c, const NodePtr& a, const NodePtr& b, int64_t width, bool holds) {
  NodePtr x = clone(a), y = clone(b), w = number(width);
  auto plus = [&](const NodePtr& n) { return operate("+", clone(n), number(width + 1)); };
  switch (c.below(6)) {
  case 0: return compare(holds ? "<=" : ">", magnitude(operate("-", x, y)), w);
  case 1: return compare(holds ? "<" : ">=", magnitude(operate("-", y, x)), number(width + 1));
  case 2: return compare(holds ? "<=" : ">", operate("-", greatest(x, y), least(clone(a), clone(b))), w);
  case 3:
    return opposite(c, connected(c, !holds, below(c, a, plus(b), !holds), below(c, b, plus(a), !holds)));
  default: return connected(c, holds, below(c, a, plus(b), holds), below(c, b, plus(a), holds));
  }
}

NodePtr connected(Context& c, bool both, NodePtr a, NodePtr b) {
  const char* word = both ? "and" : "or";
  switch (c.below(8)) {
  case 0: return both ? branch(a, b, truthOf(false)) : branch(a, truthOf(true), b);
  case 1: // De Morgan
    return negation(make(Form::Binary, truth(), {negation(a), negation(b)}, both ? "or" : "and"));
  case 2: return both ? chosen(a, b, truthOf(false)) : chosen(a, truthOf(true), b);
  case 3: return make(Form::Binary, truth(), {b, a}, word);
  default: return make(Form::Binary, truth(), {a, b}, word);
  }
}

NodePtr clamped(Context& c, const NodePtr& at, const NodePtr& size) {
  NodePtr zero = number(0), last = operate("-", clone(size), number(1));
  switch (c.below(7)) {
  case 0: return least(greatest(clone(at), zero), last);
  case 1: return greatest(least(clone(at), last), zero);
  case 2: return make(Form::Builtin, integer(), {clone(at), zero, last}, "clamp");
  case 3: return branch(below(c, at, zero), zero, branch(below(c, at, size, false), last, clone(at)));
  case 4: return branch(below(c, at, zero, false), branch(below(c, at, size), clone(at), last), zero);
  case 5: return branch(inRange(c, at, size), clone(at), branch(below(c, at, zero), number(0), last));
  default: {
    std::string q = c.freshName("q");
    NodePtr place = named(q);
    return block({let(q, clone(at), true), when(below(c, place, zero), {assign("=", clone(place), zero)}),
                  when(below(c, place, size, false), {assign("=", clone(place), last)})},
                 clone(place));
  }
  }
}

NodePtr guarded(Context& c, const NodePtr& condition, const NodePtr& value, const NodePtr& other) {
  switch (c.below(8)) {
  case 0: return branch(opposite(c, clone(condition)), clone(other), clone(value));
  case 1: return chosen(clone(condition), clone(value), clone(other));
  case 2: return chosen(opposite(c, clone(condition)), clone(other), clone(value));
  case 3: {
    std::string r = c.freshName("r");
    NodePtr place = nameOf(r, value->type);
    return block(
        {let(r, clone(other), true), when(clone(condition), {assign("=", clone(place), clone(value))})},
        clone(place));
  }
  case 4: {
    std::string inside = c.freshName("b");
    return block({let(inside, clone(condition))},
                 branch(nameOf(inside, truth()), clone(value), clone(other)));
  }
  default: break;
  }
  bool isAnd = condition->form == Form::Binary && condition->name == "and";
  if (isAnd && c.chance(40)) // nested
    return branch(clone(condition->kids[0]), branch(clone(condition->kids[1]), clone(value), clone(other)),
                  clone(other));
  return branch(clone(condition), clone(value), clone(other));
}

NodePtr indicator(Context& c, const Type& type, const NodePtr& condition) {
  if (c.chance(25)) return converted(type, clone(condition));
  NodePtr one = constant(type, 1), none = constant(type, 0);
  if (c.chance(15)) return make(Form::Builtin, type, {clone(condition), one, none}, "select");
  return guarded(c, condition, one, none);
}

} // namespace melix::fuzz::programs
