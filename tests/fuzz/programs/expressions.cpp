// Expressions of scalars, and what expressions of every type have in common.
#include "fuzz/programs/context.h"

#include <array>
#include <limits>

namespace melix::fuzz::programs {

namespace {

using Names = std::vector<const char*>;

int64_t interestingInteger(Context& c, Kind kind) {
  unsigned bits = bitsOf(kind);
  bool sign = isSigned(kind);
  if (c.chance(85)) return sign ? c.between(-9, 12) : c.between(0, 20);
  int64_t top =
      bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (sign ? bits - 1 : bits)) - 1;
  if (!sign) return top - c.between(0, 2);
  return c.chance(50) ? top - c.between(0, 2) : -top - 1 + c.between(0, 2);
}

double interestingReal(Context& c) {
  static const std::vector<double> values = {0.0,  1.0,  -1.0, 0.5, 2.0,    -2.5, 3.25, 0.1,
                                             0.75, 1e-3, 10.0, 7.0, 1.5e10, -0.3, 1e-9, 100.0};
  return c.style.smooth ? static_cast<double>(c.between(-12, 12)) / 8.0 : c.pick(values);
}

NodePtr randomLiteral(Context& c, const Type& type, bool own) {
  Kind k = type->kind;
  if (k == Kind::Bool) return literal(type, c.chance(50), 0, false);
  if (isFloat(k)) return literal(type, 0, interestingReal(c), own);
  if (k == Kind::Variable) return literal(type, c.between(0, 5), 0, own);
  return literal(type, interestingInteger(c, k), 0, own);
}

/// What an operator makes of two number types; the unit type where they do not mix.
Kind joined(Kind a, Kind b) {
  if (a == b) return a;
  if (isFloat(a) || isFloat(b)) {
    if (isFloat(a) && isFloat(b)) return Kind::Unit;
    return isFloat(a) ? a : b;
  }
  if (isSigned(a) == isSigned(b)) return bitsOf(a) > bitsOf(b) ? a : b;
  if (isSigned(b)) std::swap(a, b); // a is the signed one
  if (bitsOf(a) > bitsOf(b)) return a;
  switch (bitsOf(b)) {
  case 8: return Kind::I16;
  case 16: return Kind::I32;
  case 32: return Kind::I64;
  default: return Kind::Unit;
  }
}

/// An operand of another type that leaves the result at `type`, or of the same.
NodePtr operand(Context& c, const Type& type, int depth, bool own) {
  // An `int` may still be open (an index of a range of literals), and would become the other type.
  if (isNumber(type->kind) && type->kind != Kind::I64 && c.chance(12) && !c.style.smooth) {
    Type other = randomNumber(c);
    if (joined(type->kind, other->kind) == type->kind) return expression(c, other, depth, true);
  }
  return expression(c, type, depth, own);
}

NodePtr division(Context& c, const Type& type, int depth, bool own) {
  const char* op = c.chance(50) ? "/" : "%";
  NodePtr left = expression(c, type, depth, own);
  NodePtr right;
  if (c.style.risky && c.chance(60)) {
    right = expression(c, type, depth, true);
    if (right->form == Form::Literal && right->integer == 0) right->integer = 3;
  } else {
    right = literal(type, c.between(1, 7), 0, true);
  }
  return make(Form::Binary, type, {left, right}, op);
}

NodePtr arithmetic(Context& c, const Type& type, int depth, bool own) {
  Kind k = type->kind;
  if (isInteger(k) && c.chance(18)) return division(c, type, depth - 1, own);
  if (isInteger(k) && c.chance(15)) {
    static const Names ops = {"&", "|"};
    return make(Form::Binary, type, {expression(c, type, depth - 1, own), expression(c, type, depth - 1)},
                c.pick(ops));
  }
  if (isInteger(k) && c.chance(10)) {
    NodePtr count = number(c.between(0, 9));
    if (c.chance(40)) // the sum is an `int` even where the operand is still open
      count = make(Form::Binary, scalar(Kind::I64),
                   {expression(c, scalar(Kind::I64), depth - 2), literal(scalar(Kind::I64), 1)}, "+");
    return make(Form::Binary, type, {expression(c, type, depth - 1, true), count},
                c.chance(50) ? "<<" : ">>");
  }
  if (isNumber(k) && c.chance(6))
    return make(Form::Binary, type,
                {expression(c, type, depth - 1, true), number(c.between(0, isFloat(k) ? 3 : 5))}, "^");
  static const Names ops = {"+", "-", "*"};
  bool fraction = isFloat(k) && c.chance(15);
  return make(Form::Binary, type, {expression(c, type, depth - 1), operand(c, type, depth - 1, false)},
              fraction ? "/" : c.pick(ops));
}

NodePtr unary(Context& c, const Type& type, int depth, bool own) {
  if (isInteger(type->kind) && !isSigned(type->kind)) return nullptr;
  NodePtr inner = expression(c, type, depth - 1, own);
  if (inner->form == Form::Literal) return inner;
  return make(Form::Unary, type, {inner}, "-");
}

NodePtr mathFunction(Context& c, const Type& type, int depth) {
  if (c.chance(45)) {
    NodePtr a = expression(c, type, depth - 1), b = expression(c, type, depth - 1);
    return make(Form::Builtin, type, {a, b}, c.chance(50) ? "min" : "max");
  }
  if (!isFloat(type->kind)) {
    if (!isSigned(type->kind)) return nullptr;
    return make(Form::Builtin, type, {expression(c, type, depth - 1)}, "abs");
  }
  static const Names exact = {"abs", "floor", "ceil", "trunc", "round", "sqrt"};
  static const Names elementary = {"sin", "cos", "tanh", "exp", "log"};
  bool bits = c.style.elementary && c.chance(50);
  return make(Form::Builtin, type, {expression(c, type, depth - 1)},
              bits ? c.pick(elementary) : c.pick(exact));
}

NodePtr conversion(Context& c, const Type& type, int depth) {
  Type from = c.chance(12) ? scalar(Kind::Bool) : randomNumber(c);
  if (same(from, type)) return nullptr;
  if (c.style.smooth && from->kind == Kind::F64) return nullptr; // the derivative would be lost
  Kind a = from->kind, b = type->kind;
  if (b == Kind::Bool) return nullptr;
  NodePtr inner = expression(c, from, depth - 1);
  bool widens = a == Kind::Bool || isFloat(b) || (isInteger(a) && joined(a, b) == b);
  if (widens || (c.style.risky && c.chance(50))) return make(Form::Convert, type, {inner}, "as");
  bool wraps = isInteger(a) && c.chance(60);
  return make(Form::Convert, type, {inner}, wraps ? "wrap" : "saturate");
}

NodePtr comparison(Context& c, int depth) {
  static const Names ops = {"==", "!=", "<", "<=", ">", ">="};
  Type type = randomNumber(c);
  NodePtr left = expression(c, type, depth - 1, true);
  return make(Form::Binary, scalar(Kind::Bool), {left, expression(c, type, depth - 1, true)}, c.pick(ops));
}

NodePtr equality(Context& c, int depth) {
  Type type = randomType(c, 1);
  bool fits = type->kind == Kind::Enum || type->kind == Kind::Bool;
  if (!fits) return nullptr;
  return make(Form::Binary, scalar(Kind::Bool),
              {expression(c, type, depth - 1), expression(c, type, depth - 1)}, c.chance(50) ? "==" : "!=");
}

NodePtr logical(Context& c, int depth) {
  Type type = scalar(Kind::Bool);
  if (c.chance(25)) return make(Form::Unary, type, {expression(c, type, depth - 1)}, "not");
  NodePtr left = expression(c, type, depth - 1);
  return make(Form::Binary, type, {left, expression(c, type, depth - 1)}, c.chance(50) ? "and" : "or");
}

NodePtr boolExpression(Context& c, int depth, bool own) {
  Type type = scalar(Kind::Bool);
  return choose(c, {{20, [&] { return leaf(c, type, own); }},
                    {40, [&] { return comparison(c, depth); }},
                    {15, [&] { return logical(c, depth); }},
                    {5, [&] { return equality(c, depth); }},
                    {4, [&] { return callOf(c, type, depth); }},
                    {5, [&] { return reduction(c, type, depth); }}});
}

NodePtr branches(Context& c, const Type& type, int depth, bool own) {
  NodePtr condition = expression(c, scalar(Kind::Bool), depth - 1);
  auto arm = [&] {
    Inner inner(c);
    NodePtr whole = c.chance(15) ? blockOf(c, type, depth - 1, own) : nullptr;
    if (whole) return whole;
    return block({}, expression(c, type, depth - 1, own));
  };
  NodePtr yes = arm();
  return make(Form::If, type, {condition, yes, arm()});
}

/// A number that some value in scope has: its length, a size, an element of an array just made.
NodePtr measured(Context& c, const Type& type) {
  if (type->kind != Kind::I64) return nullptr;
  if (!c.sizes.empty() && c.chance(50)) return sizeValue(c.pick(c.sizes).name);
  std::vector<const Variable*> long_;
  for (const Variable& v : c.variables)
    if (v.type && (v.type->kind == Kind::Array || v.type->kind == Kind::List)) long_.push_back(&v);
  if (long_.empty()) return nullptr;
  const Variable* v = c.pick(long_);
  return make(Form::Builtin, type, {nameOf(v->name, v->type)}, "len");
}

/// `fold` over an array, with any function.
NodePtr folded(Context& c, const Type& type, int depth) {
  std::string dim = randomDim(c);
  if (!c.affords(c.guess(dim) * 6)) return nullptr;
  Type element = randomScalar(c);
  NodePtr over = expression(c, arrayOf(element, {dim}), depth - 1);
  Inner inner(c);
  inner.repeat(c.guess(dim));
  NodePtr f = lambda(c, functionOf({type, element}, type), depth - 1);
  return make(Form::Builtin, type, {over, f, expression(c, type, depth - 2)}, "fold");
}

} // namespace

NodePtr invoked(Context& c, const Type& type, int depth) {
  std::vector<Type> fits;
  for (const Variable& v : c.variables)
    if (v.type && v.type->kind == Kind::Function && same(v.type->parts.back(), type)) fits.push_back(v.type);
  Type of = !fits.empty() && c.chance(80) ? c.pick(fits) : functionOf({randomScalar(c)}, type);
  NodePtr f = placeOf(c, of);
  if (!f) f = lambda(c, of, depth - 1);
  std::vector<NodePtr> kids = {f};
  for (size_t k = 0; k + 1 < of->parts.size(); ++k)
    kids.push_back(expression(c, of->parts[k], depth - 1, false));
  return make(Form::Invoke, type, std::move(kids));
}

NodePtr leaf(Context& c, const Type& type, bool own) {
  if (c.chance(isScalar(type) ? 75 : 92))
    if (NodePtr place = placeOf(c, type)) return place;
  if (isScalar(type) || type->kind == Kind::Variable) return randomLiteral(c, type, own);
  return simplest(c.program, type,
                  [&](int64_t n) { return static_cast<int64_t>(c.below(static_cast<size_t>(n))); });
}

NodePtr scalarExpression(Context& c, const Type& type, int depth, bool own) {
  if (type->kind == Kind::Bool) return boolExpression(c, depth, own);
  return choose(c, {{25, [&] { return leaf(c, type, own); }},
                    {34, [&] { return arithmetic(c, type, depth, own); }},
                    {3, [&] { return unary(c, type, depth, own); }},
                    {8, [&] { return mathFunction(c, type, depth); }},
                    {8, [&] { return conversion(c, type, depth); }},
                    {6, [&] { return branches(c, type, depth, own); }},
                    {4, [&] { return measured(c, type); }},
                    {8, [&] { return callOf(c, type, depth); }},
                    {7, [&] { return reduction(c, type, depth); }},
                    {3, [&] { return blockOf(c, type, depth, own); }},
                    {2, [&] { return folded(c, type, depth); }},
                    {5, [&] { return matchOf(c, type, depth, own); }},
                    {4, [&] { return invoked(c, type, depth); }}});
}

NodePtr expression(Context& c, Type type, int depth, bool own) {
  c.cost += c.times;
  NodePtr made;
  if (depth > 0 && c.affords(4)) {
    if (isScalar(type)) {
      made = c.style.smooth && type->kind == Kind::F64 ? smoothScalar(c, depth)
                                                       : scalarExpression(c, type, depth, own);
    } else if (type->kind == Kind::Variable) {
      if (c.chance(60)) made = arithmetic(c, type, depth, own);
      if (!made && c.chance(30)) made = branches(c, type, depth, own);
    } else if (type->kind == Kind::Array) {
      made = arrayExpression(c, type, depth, own);
    } else {
      made = recordExpression(c, type, depth, own);
    }
    if (!made && c.chance(30)) made = branches(c, type, depth, own);
  }
  return made ? made : leaf(c, type, own);
}

} // namespace melix::fuzz::programs
