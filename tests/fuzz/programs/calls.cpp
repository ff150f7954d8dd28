// Calls, reductions and blocks: expressions with a scope of their own.
#include "fuzz/programs/context.h"

#include <map>

namespace melix::fuzz::programs {

namespace {

using Sizes = std::map<std::string, std::string>;

/// Sizes of a call: those that the result must have, the rest at random. False if the result does not fit.
bool match(const Type& declared, const Type& wanted, Sizes& sizes, std::map<std::string, Type>& types) {
  if (declared->kind == Kind::Variable) {
    if (!isNumber(wanted->kind)) return false;
    auto [at, fresh] = types.emplace(declared->name, wanted);
    return fresh || same(at->second, wanted);
  }
  if (declared->kind != wanted->kind || declared->parts.size() != wanted->parts.size() ||
      declared->dims.size() != wanted->dims.size() || declared->name != wanted->name)
    return false;
  for (size_t k = 0; k < declared->dims.size(); ++k) {
    const std::string &d = declared->dims[k], &w = wanted->dims[k];
    if (isNumeral(d)) {
      if (d != w) return false;
      continue;
    }
    auto [at, fresh] = sizes.emplace(d, w);
    if (!fresh && at->second != w) return false;
  }
  for (size_t k = 0; k < declared->parts.size(); ++k)
    if (!match(declared->parts[k], wanted->parts[k], sizes, types)) return false;
  return true;
}

std::string sizeOfArgument(Context& c) {
  for (int k = 0; k < 4; ++k) {
    std::string dim = randomDim(c);
    if (!c.mayBeZero(dim)) return dim;
  }
  return std::to_string(c.between(1, 5));
}

std::vector<NodePtr> arguments(Context& c, const Function& f, Sizes sizes, std::map<std::string, Type> types,
                               int depth) {
  for (const std::string& name : f.sizes) sizes.emplace(name, sizeOfArgument(c));
  for (const std::string& name : f.variables) types.emplace(name, randomNumber(c));
  auto actual = [&](const Type& t) {
    return replaced(
        t, [&](const std::string& d) { return sizes.at(d); },
        [&](const std::string& v) { return types.at(v); });
  };
  std::vector<NodePtr> out;
  for (size_t k = 0; k < f.parameters.size(); ++k) {
    const Parameter& p = f.parameters[k];
    Type type = actual(p.type);
    if (k == 0 && f.recursive) {
      NodePtr count = c.chance(60)
                          ? number(c.between(0, 5))
                          : make(Form::Binary, type, {expression(c, type, depth - 1), number(5)}, "%");
      out.push_back(std::move(count));
      continue;
    }
    out.push_back(expression(c, type, depth - 1, !f.variables.empty()));
  }
  return out;
}

bool zeroSized(const Context& c, const Sizes& sizes) {
  for (const auto& [name, dim] : sizes)
    if (c.mayBeZero(dim)) return true;
  return false;
}

} // namespace

NodePtr callOf(Context& c, const Type& result, int depth) {
  struct Fit {
    const Function* f;
    Sizes sizes;
    std::map<std::string, Type> types;
  };
  std::vector<Fit> fits;
  for (const auto& f : c.program.functions) {
    if (f->result->kind == Kind::Unit || !c.affords(f->cost)) continue;
    if (c.style.smooth && !f->smooth) continue;
    Fit fit{f.get(), {}, {}};
    if (match(f->result, result, fit.sizes, fit.types) && !zeroSized(c, fit.sizes))
      fits.push_back(std::move(fit));
  }
  if (fits.empty()) return nullptr;
  Fit fit = c.pick(fits);
  c.cost += c.times * fit.f->cost;
  return make(Form::Call, result, arguments(c, *fit.f, fit.sizes, fit.types, depth), fit.f->name);
}

NodePtr inoutCall(Context& c, int depth) {
  std::vector<const Function*> fits;
  for (const auto& f : c.program.functions)
    if (f->result->kind == Kind::Unit && c.affords(f->cost)) fits.push_back(f.get());
  if (fits.empty()) return nullptr;
  const Function* f = c.pick(fits);
  // The first parameter is the one that is changed: a variable whose type fits decides the sizes.
  for (size_t k = c.assignableFrom; k < c.variables.size(); ++k) {
    const Variable v = c.variables[k];
    Sizes sizes;
    std::map<std::string, Type> types;
    if (!v.assignable || !match(f->parameters[0].type, v.type, sizes, types) || zeroSized(c, sizes)) continue;
    c.cost += c.times * f->cost;
    std::vector<NodePtr> args = arguments(c, *f, sizes, types, depth);
    args[0] = make(Form::Inout, v.type, {nameOf(v.name, v.type)});
    return make(Form::Do, unit(), {make(Form::Call, unit(), std::move(args), f->name)});
  }
  return nullptr;
}

NodePtr reduction(Context& c, const Type& type, int depth) {
  Kind k = type->kind;
  bool smooth = c.style.smooth;
  bool adds = k == Kind::I64 || isFloat(k);
  const char* name = nullptr;
  Type body = type;
  if (k == Kind::Bool) {
    name = c.chance(50) ? "any" : "all";
  } else if (adds && c.chance(60)) {
    name = c.chance(75) || smooth ? "sum" : isFloat(k) && c.chance(50) ? "mean" : "prod";
  } else if (k == Kind::I64 && c.chance(25)) {
    name = c.chance(50) ? "argmax" : "argmin";
    body = randomNumber(c);
  } else if (!smooth) {
    name = c.chance(50) ? "min" : "max";
  }
  if (!name || !c.affords(40)) return nullptr;
  bool nonEmpty = std::string_view(name) != "sum" && k != Kind::Bool;
  if (c.chance(20) && same(body, type) && k != Kind::Bool) { // of a whole array
    std::string dim = randomDim(c);
    if (c.mayBeZero(dim) || !c.affords(c.guess(dim) * 3)) return nullptr;
    return make(Form::Builtin, type, {expression(c, arrayOf(body, {dim}), depth - 1)}, name);
  }
  Inner inner(c);
  inner.pure();
  std::vector<NodePtr> kids;
  size_t count = std::string_view(name).starts_with("arg") || c.chance(75) ? 1 : 2;
  double trips = 1;
  for (size_t n = 0; n < count; ++n) {
    double each = 1;
    kids.push_back(header(c, each, nonEmpty));
    trips *= each;
  }
  if (!c.affords(trips * 3)) return nullptr;
  inner.repeat(trips);
  NodePtr out = make(Form::Reduce, type, {}, name);
  if (!nonEmpty && c.chance(20)) {
    out->flag = true;
    kids.push_back(expression(c, scalar(Kind::Bool), depth - 1));
  }
  kids.push_back(expression(c, body, depth - 1));
  out->kids = std::move(kids);
  return out;
}

NodePtr blockOf(Context& c, const Type& type, int depth, bool own) {
  if (depth < 2 || !c.affords(60)) return nullptr;
  Inner inner(c);
  if (c.chance(70)) inner.pure();
  std::vector<NodePtr> out;
  if (type->kind != Kind::Function && c.chance(60)) { // a variable of that type, changed
    std::string name = c.freshName("v");
    NodePtr let = make(Form::Let, unit(), {expression(c, type, depth - 1)}, name);
    let->flag = true;
    let->asked = type;
    out.push_back(let);
    c.variables.push_back({name, type, true});
    statements(c, out, 1 + c.below(3), depth - 1);
    return block(std::move(out), c.chance(70) ? nameOf(name, type) : expression(c, type, depth - 1, own));
  }
  statements(c, out, 1 + c.below(2), depth - 1);
  return block(std::move(out), expression(c, type, depth - 1, own));
}

} // namespace melix::fuzz::programs
