// Calls of functions, function values and the library.
#include "fuzz/programs/evaluator.h"

#include <algorithm>
#include <cmath>

namespace melix::fuzz::programs {

namespace {

constexpr size_t deepest = 300;

bool before(const Value& a, const Value& b) { // NaN last
  bool an = isFloat(a.kind) && std::isnan(a.d), bn = isFloat(b.kind) && std::isnan(b.d);
  return an || bn ? !an && bn : less(a, b);
}

Value reversed(const Value& of) {
  std::vector<Value> items;
  int64_t rows = of.o->dims[0], width = rows ? elements(of.o->dims) / rows : 0;
  for (int64_t r = rows; r-- > 0;)
    items.insert(items.end(), of.o->items.begin() + r * width, of.o->items.begin() + (r + 1) * width);
  return arrayValue(of.o->dims, std::move(items));
}

Value transposed(const Value& of) {
  int64_t rows = of.o->dims[0], columns = of.o->dims[1];
  std::vector<Value> items;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) items.push_back(of.o->items[static_cast<size_t>(r * columns + c)]);
  return arrayValue({columns, rows}, std::move(items));
}

Value runningSums(const Value& of) {
  std::vector<Value> items = of.o->items;
  int64_t rows = of.o->dims[0], width = rows ? elements(of.o->dims) / rows : 0;
  for (auto k = static_cast<size_t>(width); k < items.size(); ++k)
    items[k] = binary("+", items[k].kind, items[k - static_cast<size_t>(width)], items[k]);
  return arrayValue(of.o->dims, std::move(items));
}

} // namespace

Value Evaluator::lambda(const Node& n) {
  Value out = aggregate(Kind::Function, {});
  out.o->lambda = &n;
  out.o->captured = frame().variables;
  return out;
}

Value Evaluator::invoke(const Value& function, std::vector<Value> arguments) {
  if (function.o->function) return call(*function.o->function, arguments);
  if (frames_.size() > deepest) throw Unknown{"too deep"};
  Frame inner{function.o->captured, frame().types};
  const Node& n = *function.o->lambda;
  for (size_t k = 0; k < n.names.size(); ++k)
    inner.variables.emplace_back(n.names[k], std::move(arguments[k]));
  frames_.push_back(std::move(inner));
  Value out = value(n.kids[0]);
  frames_.pop_back();
  return out;
}

/// Of a function from an array of floats to a float or an array of them.
Value Evaluator::gradient(const Node& n) {
  if (trace_.recording()) throw Unknown{"a gradient of a gradient"};
  Value f = value(n.kids[0]), x = value(n.kids[1]), dx;
  bool forward = n.kids.size() > 2;
  if (forward) dx = value(n.kids[2]);
  for (Value& v : programs::own(x).items) trace_.vary(v);
  Value y = invoke(f, {x});
  trace_.stop();
  std::vector<double> slopes = trace_.slopes(y);
  Value out{y.kind, 0, 0};
  for (size_t k = 0; k < x.o->items.size(); ++k) {
    Value& v = x.o->items[k];
    v = {v.kind, 0, slopes[v.slot]};
    if (forward) out.d += v.d * dx.o->items[k].d;
  }
  trace_.saw(out.d);
  return forward ? out : x;
}

Value Evaluator::call(const Function& f, std::vector<Value>& arguments) {
  if (frames_.size() > deepest) throw Unknown{"too deep"};
  Frame inner;
  for (size_t k = 0; k < f.parameters.size(); ++k) {
    const Type& type = f.parameters[k].type;
    if (type->kind == Kind::Variable) inner.types.emplace_back(type->name, arguments[k].kind);
    if (type->kind == Kind::Array)
      for (size_t d = 0; d < type->dims.size(); ++d)
        if (!isNumeral(type->dims[d]))
          inner.variables.emplace_back(type->dims[d], integerValue(Kind::I64, arguments[k].o->dims[d]));
    inner.variables.emplace_back(f.parameters[k].name, std::move(arguments[k]));
  }
  size_t depth = frames_.size();
  frames_.push_back(std::move(inner));
  Value out;
  try {
    out = block(*f.body);
  } catch (Left& left) {
    frames_.resize(depth + 1);
    out = left.value;
  }
  for (size_t k = 0; k < f.parameters.size(); ++k)
    if (f.parameters[k].isInout) arguments[k] = variable(f.parameters[k].name);
  frames_.pop_back();
  return out;
}

Value Evaluator::call(const Node& n) {
  const Function* f = program_.findFunction(n.name);
  if (!f) throw Unknown{"no function " + n.name};
  std::vector<Value> arguments;
  std::vector<std::string_view> changed;
  for (const NodePtr& kid : n.kids) {
    const NodePtr& at = kid->form == Form::Inout ? kid->kids[0] : kid;
    changed.push_back(kid->form == Form::Inout ? std::string_view(at->name) : std::string_view());
    arguments.push_back(value(at));
  }
  Value out = call(*f, arguments);
  for (size_t k = 0; k < changed.size(); ++k)
    if (!changed[k].empty()) variable(changed[k]) = arguments[k];
  return out;
}

/// push, swap: they change their first argument.
void Evaluator::change(const Node& n) {
  std::vector<Value> rest;
  for (size_t k = 1; k < n.kids.size(); ++k) rest.push_back(value(n.kids[k]));
  Value& place = variable(n.kids[0]->kids[0]->name);
  if (n.name == "push") {
    programs::own(place).items.push_back(rest[0]);
    return;
  }
  int64_t size = place.o->dims[0], width = size ? elements(place.o->dims) / size : 0;
  for (const Value& at : rest)
    if (at.i < 0 || at.i >= size) throw Panic{"an index of swap", false};
  Object& o = programs::own(place);
  if (rest[0].i == rest[1].i) return;
  auto row = [&](const Value& at) { return o.items.begin() + at.i * width; };
  std::swap_ranges(row(rest[0]), row(rest[0]) + width, row(rest[1]));
}

Value Evaluator::builtin(const Node& n) {
  std::vector<Value> a;
  for (const NodePtr& kid : n.kids) a.push_back(value(kid));
  if (n.name == "len") {
    return integerValue(Kind::I64, a[0].kind == Kind::List ? static_cast<int64_t>(a[0].o->items.size())
                                                           : a[0].o->dims[0]);
  }
  if (n.name == "list") return aggregate(Kind::List, a[0].o->items);
  if (n.name == "reverse") return reversed(a[0]);
  if (n.name == "transpose") return transposed(a[0]);
  if (n.name == "cumsum") return runningSums(a[0]);
  if (n.name == "sort") {
    std::vector<Value> items = a[0].o->items;
    std::stable_sort(items.begin(), items.end(), before);
    return arrayValue(a[0].o->dims, std::move(items));
  }
  if (n.name == "concat") {
    std::vector<Value> items = a[0].o->items;
    items.insert(items.end(), a[1].o->items.begin(), a[1].o->items.end());
    auto count = static_cast<int64_t>(items.size());
    return arrayValue({count}, std::move(items));
  }
  if (n.name == "select" && a[0].kind == Kind::Bool) return a[a[0].i ? 1 : 2];
  if (n.name == "select") {
    std::vector<Value> items;
    for (size_t k = 0; k < a[0].o->items.size(); ++k)
      items.push_back(a[a[0].o->items[k].i ? 1 : 2].o->items[k]);
    return arrayValue(a[0].o->dims, std::move(items));
  }
  if (n.name == "scan") {
    std::vector<Value> items;
    Value sum = a[1];
    for (const Value& x : a[2].o->items) items.push_back(sum = invoke(a[0], {sum, x}));
    return arrayValue(a[2].o->dims, std::move(items));
  }
  if (n.name == "fold") {
    Value sum = a[2];
    for (const Value& x : a[0].o->items) sum = invoke(a[1], {sum, x});
    return sum;
  }
  if (n.name == "map") {
    std::vector<Value> items;
    ++inside_;
    for (const Value& x : a[1].o->items) items.push_back(invoke(a[0], {x}));
    --inside_;
    return arrayValue(a[1].o->dims, std::move(items));
  }
  if (a[0].kind == Kind::Array) {
    if (n.integer >= 0) return overAxis(n.name, static_cast<size_t>(n.integer), a[0]);
    return wholeArray(n, a[0]);
  }
  return mathFunction(n.name, a);
}

} // namespace melix::fuzz::programs
