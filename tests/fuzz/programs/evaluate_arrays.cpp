// Builders, reductions and operators of arrays.
#include "fuzz/programs/evaluator.h"

#include <cmath>
#include <limits>

namespace melix::fuzz::programs {

Value unitOf(const std::string& name, Kind kind) {
  bool real = isFloat(kind);
  if (name == "any" || name == "all") return boolValue(name == "all");
  if (name == "prod") return real ? realValue(kind, 1) : integerValue(kind, 1);
  if (name == "min" || name == "max") {
    double infinite = std::numeric_limits<double>::infinity();
    return real ? realValue(kind, name == "min" ? infinite : -infinite) : Value{};
  }
  return real ? realValue(kind, 0) : integerValue(kind, 0);
}

Value combined(const std::string& name, Kind kind, const Value& a, const Value& b) {
  if (name == "any") return boolValue(a.i || b.i);
  if (name == "all") return boolValue(a.i && b.i);
  if (name == "prod") return binary("*", kind, a, b);
  if (name == "min" || name == "max") {
    if (a.kind == Kind::Unit) return b;
    bool zeros = isFloat(a.kind) && a.d == b.d && std::signbit(a.d) != std::signbit(b.d);
    // Of two zeros the reduction's slope is that of the one it takes, not that of the first.
    if (zeros) return std::signbit(a.d) == (name == "max") ? b : a;
    return mathFunction(name, {a, b});
  }
  return binary("+", kind, a, b);
}

namespace {

/// What is left once all terms are in.
Value finished(const std::string& name, Kind kind, const Value& sum, int64_t count) {
  if (sum.kind == Kind::Unit) throw Panic{name + " of nothing"};
  return name == "mean" ? binary("/", kind, sum, integerValue(Kind::I64, count)) : sum;
}

bool better(const std::string& name, const Value& a, const Value& best) {
  if (isFloat(a.kind) && std::isnan(best.d)) return false;
  if (isFloat(a.kind) && std::isnan(a.d)) return true;
  if (isFloat(a.kind) && a.d == 0 && best.d == 0) // 0.0 is greater than -0.0
    return std::signbit(a.d) != std::signbit(best.d) && std::signbit(a.d) == (name == "argmin");
  return name == "argmax" ? less(best, a) : less(a, best);
}

} // namespace

void Evaluator::header(const Node& n, size_t at, std::vector<int64_t>& extents,
                       const std::function<void()>& each) {
  size_t count = n.kids.size() - 1 - (n.flag ? 1 : 0);
  if (at == count) return each();
  const Node& head = *n.kids[at];
  auto one = [&] { header(n, at + 1, extents, each); };
  auto& names = frame().variables;
  size_t before = names.size();
  if (head.form == Form::Walk) {
    Value of = value(head.kids[0]);
    extents[at] = static_cast<int64_t>(of.o->items.size());
    for (int64_t k = 0; k < extents[at]; ++k) {
      if (head.names.size() == 2) bind(head.names[0], integerValue(Kind::I64, k));
      bind(head.names.back(), of.o->items[static_cast<size_t>(k)]);
      one();
      frame().variables.resize(before);
    }
    return;
  }
  int64_t low = value(head.kids[0]).i, high = value(head.kids[1]).i,
          step = head.flag ? value(head.kids[2]).i : 1;
  if (high < low) throw Unknown{"a negative range"};
  extents[at] = (high - low + step - 1) / step;
  for (int64_t i = low; i < high; i += step) {
    spend();
    bind(head.name, integerValue(Kind::I64, i));
    one();
    frame().variables.resize(before);
  }
}

std::vector<int64_t> Evaluator::points(const Node& n, const std::function<void()>& each) {
  std::vector<int64_t> extents(n.kids.size() - 1 - (n.flag ? 1 : 0), 0);
  try {
    header(n, 0, extents, each);
  } catch (Panic& panic) {
    panic.certain = panic.certain && exactPanics_;
    throw;
  }
  return extents;
}

/// Extents of axes below one that is empty, too.
void Evaluator::allExtents(const Node& n, std::vector<int64_t>& extents) {
  for (size_t k = 0; k < extents.size(); ++k) {
    const Node& head = *n.kids[k];
    if (head.form != Form::Range) continue;
    int64_t step = head.flag ? value(head.kids[2]).i : 1;
    extents[k] = (value(head.kids[1]).i - value(head.kids[0]).i + step - 1) / step;
  }
}

Value Evaluator::builder(const Node& n) {
  std::vector<Value> items;
  std::vector<int64_t> row;
  std::vector<int64_t> dims = points(n, [&] {
    if (n.flag && !value(n.kids[n.kids.size() - 2]).i) return;
    Value v = value(n.kids.back());
    if (v.kind != Kind::Array) return items.push_back(std::move(v));
    row = v.o->dims;
    items.insert(items.end(), v.o->items.begin(), v.o->items.end());
  });
  allExtents(n, dims);
  if (n.flag) dims = {static_cast<int64_t>(items.size())};
  if (row.empty() && n.kids.back()->type->kind == Kind::Array)
    for (const std::string& d : n.kids.back()->type->dims) row.push_back(size(d));
  if (n.flag && !row.empty()) dims[0] /= std::max<int64_t>(1, elements(row));
  dims.insert(dims.end(), row.begin(), row.end());
  return arrayValue(std::move(dims), std::move(items));
}

Value Evaluator::reduce(const Node& n) {
  Kind kind = kindOf(n.type);
  bool position = n.name == "argmax" || n.name == "argmin";
  Value out = unitOf(n.name, kind), best;
  int64_t count = 0, at = -1;
  points(n, [&] {
    ++at; // positions count what the filter leaves out, too
    if (n.flag && !value(n.kids[n.kids.size() - 2]).i) return;
    Value v = value(n.kids.back());
    if (!position) {
      out = combined(n.name, kind, out, v);
    } else if (count == 0 || better(n.name, v, best)) {
      best = v;
      out = integerValue(Kind::I64, at);
    }
    ++count;
  });
  if (position && count == 0) throw Panic{n.name + " of nothing"};
  return finished(n.name, kind, out, count);
}

Value Evaluator::wholeArray(const Node& n, const Value& of) {
  const std::string& name = n.name;
  Kind kind = kindOf(n.type);
  if (name == "abs" || name == "floor") throw Unknown{"elementwise"};
  Value out = unitOf(name, kind);
  size_t best = 0;
  for (size_t k = 0; k < of.o->items.size(); ++k) {
    if (name.starts_with("arg")) {
      if (k > 0 && better(name, of.o->items[k], of.o->items[best])) best = k;
      continue;
    }
    out = combined(name, kind, out, of.o->items[k]);
  }
  if (name.starts_with("arg")) return integerValue(Kind::I64, static_cast<int64_t>(best));
  return finished(name, kind, out, static_cast<int64_t>(of.o->items.size()));
}

Value Evaluator::overAxis(const std::string& name, size_t axis, const Value& of) {
  std::vector<int64_t> dims = of.o->dims;
  int64_t count = dims[axis], inner = 1;
  for (size_t k = axis + 1; k < dims.size(); ++k) inner *= dims[k];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  int64_t outer = inner ? elements(dims) / inner : 0;
  std::vector<Value> items;
  for (int64_t a = 0; a < outer; ++a)
    for (int64_t b = 0; b < inner; ++b) {
      if (of.o->items.empty() && name != "sum") throw Unknown{"of nothing"};
      Kind kind = of.o->items.empty() ? Kind::I64 : of.o->items[0].kind;
      if (of.o->items.empty()) throw Unknown{"sums of nothing"};
      Value out = unitOf(name, kind);
      for (int64_t k = 0; k < count; ++k)
        out = combined(name, kind, out, of.o->items[static_cast<size_t>((a * count + k) * inner + b)]);
      items.push_back(finished(name, kind, out, count));
    }
  return arrayValue(std::move(dims), std::move(items));
}

Value Evaluator::elementwise(const std::string& op, Kind kind, const Value& a, const Value& b) {
  const Value& shape = a.kind == Kind::Array ? a : b;
  if (a.kind == Kind::Array && b.kind == Kind::Array && a.o->dims != b.o->dims) throw Unknown{"broadcast"};
  std::vector<Value> items;
  for (size_t k = 0; k < shape.o->items.size(); ++k) {
    spend();
    items.push_back(binary(op, kind, a.kind == Kind::Array ? a.o->items[k] : a,
                           b.kind == Kind::Array ? b.o->items[k] : b));
  }
  return arrayValue(shape.o->dims, std::move(items));
}

Value Evaluator::matrixProduct(Kind kind, const Value& a, const Value& b) {
  bool vector = b.o->dims.size() == 1;
  int64_t rows = a.o->dims[0], inner = a.o->dims[1], columns = vector ? 1 : b.o->dims[1];
  std::vector<Value> items;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      Value sum = unitOf("sum", kind);
      for (int64_t k = 0; k < inner; ++k) {
        spend();
        Value term = binary("*", kind, a.o->items[static_cast<size_t>(r * inner + k)],
                            b.o->items[static_cast<size_t>(k * columns + c)]);
        sum = binary("+", kind, sum, term);
      }
      items.push_back(sum);
    }
  return arrayValue(vector ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, columns},
                    std::move(items));
}

} // namespace melix::fuzz::programs
