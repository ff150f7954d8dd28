// Expressions and statements.
#include "fuzz/programs/evaluator.h"

namespace melix::fuzz::programs {

namespace {
constexpr uint64_t mostSteps = 4'000'000;
}

/// Names bound since are gone at the end.
struct Kept {
  explicit Kept(Evaluator& e) : e_(e), frame_(e.frames_.size()), count_(e.frame().variables.size()) {}
  ~Kept() {
    e_.frames_.resize(frame_);
    e_.frame().variables.resize(count_);
  }
  Evaluator& e_;
  size_t frame_, count_;
};

void Evaluator::spend() {
  if (++spent_ > mostSteps) throw Unknown{"too long"};
}

void Evaluator::panic(std::string message) { throw Panic{std::move(message)}; }

Value& Evaluator::variable(std::string_view name) {
  auto& all = frame().variables;
  for (size_t k = all.size(); k-- > 0;)
    if (all[k].first == name) return all[k].second;
  throw Unknown{"no variable " + std::string(name)};
}

Kind Evaluator::kindOf(const Type& type) {
  if (type->kind != Kind::Variable) return type->kind;
  for (const auto& [name, kind] : frame().types)
    if (name == type->name) return kind;
  throw Unknown{"no type " + type->name};
}

Value Evaluator::named(const Node& n) {
  auto& all = frame().variables;
  for (size_t k = all.size(); k-- > 0;)
    if (all[k].first == n.name) return all[k].second;
  const Function* f = program_.findFunction(n.name);
  if (!f) throw Unknown{"no variable " + n.name};
  Value out = aggregate(Kind::Function, {});
  out.o->function = f;
  return out;
}

int64_t Evaluator::size(const std::string& dim) { return isNumeral(dim) ? std::stoll(dim) : variable(dim).i; }

Value Evaluator::value(const NodePtr& node) {
  spend();
  const Node& n = *node;
  switch (n.form) {
  case Form::Literal: {
    Kind kind = kindOf(n.type);
    if (isFloat(kind))
      return realValue(kind, n.type->kind == Kind::Variable ? static_cast<double>(n.integer) : n.real);
    return integerValue(kind, n.integer);
  }
  case Form::Name: return named(n);
  case Form::Unary:
  case Form::Binary:
  case Form::Convert: return operation(n);
  case Form::Builtin: return builtin(n);
  case Form::If: return branches(n);
  case Form::Block: return block(n);
  case Form::Match: return match(n);
  case Form::Builder: return builder(n);
  case Form::Reduce: return reduce(n);
  case Form::Index: return index(n);
  case Form::Field: {
    Value of = value(n.kids[0]);
    for (size_t k = 0; k < of.o->items.size(); ++k)
      if (of.o->record->fields[k].first == n.name) return of.o->items[k];
    throw Unknown{"no field"};
  }
  case Form::Part: return value(n.kids[0]).o->items.at(static_cast<size_t>(n.integer));
  case Form::Call: return call(n);
  case Form::Invoke: {
    Value f = value(n.kids[0]);
    std::vector<Value> arguments;
    for (size_t k = 1; k < n.kids.size(); ++k) arguments.push_back(value(n.kids[k]));
    return invoke(f, std::move(arguments));
  }
  case Form::Lambda: return lambda(n);
  case Form::Gradient: return gradient(n);
  case Form::Array:
  case Form::Zeros:
  case Form::Make:
  case Form::Tuple:
  case Form::List: break;
  default: throw Unknown{nameOf(n.form)};
  }
  std::vector<Value> items;
  for (const NodePtr& kid : n.kids) items.push_back(value(kid));
  switch (n.form) {
  case Form::Make: {
    const Record* r = program_.findStruct(n.name);
    return r ? aggregate(Kind::Struct, std::move(items), r)
             : aggregate(Kind::Enum, std::move(items), program_.findCase(n.name));
  }
  case Form::Tuple: return aggregate(Kind::Tuple, std::move(items));
  case Form::List: return aggregate(Kind::List, std::move(items));
  case Form::Zeros: {
    std::vector<int64_t> dims;
    for (const std::string& d : n.type->dims) dims.push_back(size(d));
    Kind kind = kindOf(n.type->parts[0]);
    Value one = isFloat(kind) ? realValue(kind, n.name == "ones") : integerValue(kind, n.name == "ones");
    std::vector<Value> all(static_cast<size_t>(elements(dims)), one);
    return arrayValue(std::move(dims), std::move(all));
  }
  default: break;
  }
  std::vector<int64_t> dims = {static_cast<int64_t>(items.size())};
  if (items.empty() || items[0].kind != Kind::Array) return arrayValue(dims, std::move(items));
  dims.insert(dims.end(), items[0].o->dims.begin(), items[0].o->dims.end());
  std::vector<Value> flat;
  for (const Value& row : items) flat.insert(flat.end(), row.o->items.begin(), row.o->items.end());
  return arrayValue(std::move(dims), std::move(flat));
}

Value Evaluator::operation(const Node& n) {
  if (n.form == Form::Unary) {
    Value a = value(n.kids[0]);
    return n.name == "not" ? boolValue(!a.i) : negative(a);
  }
  if (n.form == Form::Convert) return programs::convert(n.name, kindOf(n.type), value(n.kids[0]));
  if (n.name == "and") return boolValue(value(n.kids[0]).i && value(n.kids[1]).i);
  if (n.name == "or") return boolValue(value(n.kids[0]).i || value(n.kids[1]).i);
  Value a = value(n.kids[0]), b = value(n.kids[1]);
  if (n.name == "@")
    return matrixProduct(kindOf(n.type->kind == Kind::Array ? n.type->parts[0] : n.type), a, b);
  if (a.kind != Kind::Array && b.kind != Kind::Array) return binary(n.name, kindOf(n.type), a, b);
  return elementwise(n.name, kindOf(n.type->parts[0]), a, b);
}

Value Evaluator::block(const Node& n) {
  Kept kept(*this);
  for (size_t k = 0; k + (n.flag ? 1 : 0) < n.kids.size(); ++k) statement(n.kids[k]);
  return n.flag ? value(n.kids.back()) : Value{};
}

Value Evaluator::branches(const Node& n) {
  if (value(n.kids[0]).i) return value(n.kids[1]);
  return n.kids.size() > 2 ? value(n.kids[2]) : Value{};
}

bool Evaluator::fits(const Node& arm, const Value& subject) {
  if (arm.name == "_") return !arm.flag || value(arm.kids[0]).i;
  if (subject.kind == Kind::Bool) return (arm.name == "true") == (subject.i != 0);
  if (arm.name.empty()) return subject.i == arm.integer && (!arm.flag || value(arm.kids[0]).i);
  if (subject.o->record->name != arm.name) return false;
  for (size_t k = 0; k < arm.names.size(); ++k) bind(arm.names[k], subject.o->items[k]);
  return !arm.flag || value(arm.kids[0]).i;
}

Value Evaluator::match(const Node& n) {
  Value subject = value(n.kids[0]);
  for (size_t k = 1; k < n.kids.size(); ++k) {
    Kept kept(*this);
    if (fits(*n.kids[k], subject)) return value(n.kids[k]->kids.back());
  }
  throw Unknown{"no arm fits"};
}

void Evaluator::statement(const NodePtr& node) {
  spend();
  const Node& n = *node;
  switch (n.form) {
  case Form::Let: {
    Value v = value(n.kids[0]);
    if (n.asked) bindSizes(n.asked, v);
    return bind(n.name, std::move(v));
  }
  case Form::Assign: return assign(n);
  case Form::Swap: {
    std::string_view first, second;
    std::vector<PlaceStep> a = steps(n.kids[0], first), b = steps(n.kids[1], second);
    Value x = value(n.kids[2]), y = value(n.kids[3]);
    update(variable(first), a, 0, [&](const Value&) { return x; });
    return update(variable(second), b, 0, [&](const Value&) { return y; });
  }
  case Form::For:
  case Form::While:
  case Form::Loop: return loop(n);
  case Form::Break:
  case Form::Continue: throw Left{n.form, {}};
  case Form::Return: throw Left{n.form, n.kids.empty() ? Value{} : value(n.kids[0])};
  case Form::Print: return print(n);
  case Form::Do:
    if (n.kids[0]->form == Form::Builtin) return change(*n.kids[0]);
    call(*n.kids[0]);
    return;
  case Form::Assert:
    if (!value(n.kids[0]).i) throw Panic{"assertion failed", false};
    return;
  default: value(node);
  }
}

/// `?K` names the size.
void Evaluator::bindSizes(const Type& type, const Value& v) {
  if (type->kind != Kind::Array) return;
  for (size_t k = 0; k < type->dims.size(); ++k)
    if (type->dims[k][0] == '?')
      bind(std::string_view(type->dims[k]).substr(1), integerValue(Kind::I64, v.o->dims[k]));
}

void Evaluator::assign(const Node& n) {
  std::string_view name;
  std::vector<PlaceStep> way = steps(n.kids[0], name);
  Value v = value(n.kids[1]);
  if (n.name == "=") return update(variable(name), way, 0, [&](const Value&) { return v; });
  std::string op = n.name.substr(0, 1);
  update(variable(name), way, 0, [&](const Value& old) {
    if (old.kind != Kind::Array) return binary(op, old.kind, old, v);
    return elementwise(op, kindOf(n.kids[0]->type->parts[0]), old, v);
  });
}

bool Evaluator::round(const NodePtr& body) {
  Kept kept(*this);
  try {
    block(*body);
  } catch (const Left& left) {
    if (left.how == Form::Return) throw;
    return left.how == Form::Continue;
  }
  return true;
}

void Evaluator::loop(const Node& n) {
  if (n.form == Form::Loop) {
    while (round(n.kids[0])) spend();
    return;
  }
  if (n.form == Form::While) {
    while (value(n.kids[0]).i && round(n.kids[1])) spend();
    return;
  }
  const Node& head = *n.kids[0];
  bool on = true;
  if (head.form == Form::Walk) {
    Value of = value(head.kids[0]);
    for (size_t k = 0; on && k < of.o->items.size(); ++k) {
      Kept kept(*this);
      if (head.names.size() == 2) bind(head.names[0], integerValue(Kind::I64, static_cast<int64_t>(k)));
      bind(head.names.back(), of.o->items[k]);
      on = round(n.kids[1]);
    }
    return;
  }
  int64_t low = value(head.kids[0]).i, high = value(head.kids[1]).i,
          step = head.flag ? value(head.kids[2]).i : 1;
  for (int64_t i = low; on && i < high; i += step) {
    Kept kept(*this);
    bind(head.name, integerValue(Kind::I64, i));
    on = round(n.kids[1]);
  }
}

void Evaluator::print(const Node& n) {
  std::string line;
  std::vector<Value> values;
  for (const NodePtr& kid : n.kids) values.push_back(value(kid));
  for (size_t k = 0; k < values.size(); ++k) line += (k ? " " : "") + text(values[k]);
  output += line + "\n";
}

void Evaluator::run() {
  struct Active {
    explicit Active(Trace& trace) { Trace::active() = &trace; }
    ~Active() { Trace::active() = nullptr; }
  } active(trace_);
  frames_.emplace_back();
  for (const NodePtr& s : program_.script->kids) statement(s);
}

Expected evaluate(const Program& program, bool exactPanics) {
  Expected out;
  Evaluator evaluator(program, exactPanics);
  try {
    evaluator.run();
    out.known = true;
  } catch (const Panic& panic) {
    out.known = true;
    out.panic = panic;
  } catch (const Unknown& unknown) {
    out.unknown = unknown.why;
  }
  out.output = evaluator.output;
  out.largest = evaluator.largest();
  out.steps = evaluator.spent();
  return out;
}

} // namespace melix::fuzz::programs
