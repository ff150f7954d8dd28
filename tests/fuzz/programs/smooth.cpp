// Expressions of f64 that are smooth almost everywhere and stay small, for programs that are differentiated.
#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

namespace {

const Type& real() {
  static const Type type = scalar(Kind::F64);
  return type;
}

NodePtr constant(double value) { return literal(real(), 0, value); }

NodePtr combine(const char* op, NodePtr a, NodePtr b) {
  return make(Form::Binary, real(), {std::move(a), std::move(b)}, op);
}

NodePtr apply(const char* f, NodePtr a) { return make(Form::Builtin, real(), {std::move(a)}, f); }

NodePtr sum(Context& c, int depth) {
  NodePtr a = expression(c, real(), depth - 1);
  return combine(c.chance(60) ? "+" : "-", a, expression(c, real(), depth - 1));
}

/// One factor is kept below 1, so that products of products do not grow.
NodePtr product(Context& c, int depth) {
  NodePtr a = expression(c, real(), depth - 1);
  if (c.chance(30)) return combine("*", a, constant(static_cast<double>(c.between(-7, 7)) / 8));
  if (c.chance(15)) return make(Form::Binary, real(), {apply("tanh", a), number(c.between(2, 3))}, "^");
  return combine("*", apply(c.chance(50) ? "sin" : "tanh", a), expression(c, real(), depth - 1));
}

NodePtr quotient(Context& c, int depth) {
  NodePtr a = expression(c, real(), depth - 1), b = expression(c, real(), depth - 1);
  return combine("/", a, combine("+", constant(1.5), combine("*", b, clone(b))));
}

NodePtr elementary(Context& c, int depth) {
  NodePtr a = expression(c, real(), depth - 1);
  switch (c.below(6)) {
  case 0: return apply("sin", a);
  case 1: return apply("cos", a);
  case 2: return apply("tanh", a);
  case 3: return apply("sqrt", combine("+", constant(1), combine("*", a, clone(a))));
  case 4: return apply("log", combine("+", constant(1.5), combine("*", a, clone(a))));
  default: return apply("exp", apply("sin", a));
  }
}

NodePtr kinked(Context& c, int depth) {
  NodePtr a = expression(c, real(), depth - 1);
  if (c.chance(40)) return apply("abs", a);
  return make(Form::Builtin, real(), {a, expression(c, real(), depth - 1)}, c.chance(50) ? "min" : "max");
}

NodePtr branch(Context& c, int depth) {
  NodePtr condition = expression(c, scalar(Kind::Bool), depth - 1);
  NodePtr yes = block({}, expression(c, real(), depth - 1));
  return make(Form::If, real(), {condition, yes, block({}, expression(c, real(), depth - 1))});
}

NodePtr converted(Context& c, int depth) {
  NodePtr whole =
      make(Form::Binary, scalar(Kind::I64), {expression(c, scalar(Kind::I64), depth - 1), number(5)}, "%");
  return make(Form::Convert, real(), {whole}, "as");
}

} // namespace

NodePtr smoothScalar(Context& c, int depth) {
  return choose(c, {{22, [&] { return leaf(c, real(), true); }},
                    {16, [&] { return sum(c, depth); }},
                    {16, [&] { return product(c, depth); }},
                    {4, [&] { return quotient(c, depth); }},
                    {10, [&] { return elementary(c, depth); }},
                    {3, [&] { return kinked(c, depth); }},
                    {5, [&] { return branch(c, depth); }},
                    {3, [&] { return converted(c, depth); }},
                    {10, [&] { return callOf(c, real(), depth); }},
                    {9, [&] { return reduction(c, real(), depth); }},
                    {4, [&] { return blockOf(c, real(), depth, true); }},
                    {5, [&] { return matchOf(c, real(), depth, true); }},
                    {4, [&] { return invoked(c, real(), depth); }}});
}

} // namespace melix::fuzz::programs
