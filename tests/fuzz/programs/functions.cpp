// Declarations of functions: plain, recursive, generic, those that change what they are given, and those that
// walk an enum.
#include "fuzz/programs/context.h"

#include <algorithm>

namespace melix::fuzz::programs {

namespace {

constexpr double costOfCall = 3000;     ///< at most, guessed
constexpr double callsOfRecursion = 20; ///< one call and those that it makes, guessed

bool names(const Type& type, const std::string& size) {
  return std::any_of(type->dims.begin(), type->dims.end(), [&](const std::string& d) { return d == size; });
}

/// Sizes that no parameter tells are none.
void keepToldSizes(Function& f) {
  std::erase_if(f.sizes, [&](const std::string& size) {
    return std::none_of(f.parameters.begin(), f.parameters.end(),
                        [&](const Parameter& p) { return names(p.type, size); });
  });
}

/// A context for a body: the parameters and their sizes are in scope.
Context bodyOf(Context& c, const Function& f) {
  Context inner{c.random, c.program};
  inner.style = c.style;
  inner.fresh = c.fresh;
  inner.limit = costOfCall;
  for (const std::string& name : f.sizes)
    inner.sizes.push_back({name, c.style.large ? c.style.large : 6, false});
  if (c.style.large && f.sizes.size() > 1) inner.sizes.back().guess = 6;
  if (c.style.large) inner.limit = c.style.large * 40;
  for (const Parameter& p : f.parameters) inner.variables.push_back({p.name, p.type, p.isInout});
  inner.result = f.result;
  return inner;
}

Type parameterType(Context& c, Function& f) {
  if (c.chance(45)) { // an array, often of a size that the caller decides
    std::vector<std::string> dims;
    for (size_t k = 1 + (c.chance(30) ? 1 : 0); k > 0; --k) {
      if (c.chance(25)) {
        dims.push_back(std::to_string(c.between(1, 4)));
        continue;
      }
      if (f.sizes.empty() || (f.sizes.size() < 2 && c.chance(40))) f.sizes.push_back(c.freshName("N"));
      dims.push_back(c.pick(f.sizes));
    }
    return arrayOf(randomScalar(c), std::move(dims));
  }
  Context none{c.random, c.program};
  none.style = c.style;
  none.limit = 1000;
  return randomType(none, 1);
}

/// A type whose sizes are those of the parameters.
Type resultType(Context& c, Function& f) {
  keepToldSizes(f);
  Context known{c.random, c.program};
  known.style = c.style;
  known.limit = 1000;
  for (const std::string& name : f.sizes) known.sizes.push_back({name, 6, false});
  Type type = randomType(known, 1);
  return type->kind == Kind::Function ? randomScalar(c) : type;
}

void finish(Context& c, const std::shared_ptr<Function>& f, Context& inner, std::vector<NodePtr> body,
            NodePtr value) {
  f->body = block(std::move(body), std::move(value));
  f->cost = inner.cost + 2;
  f->smooth = c.style.smooth;
  c.fresh = inner.fresh;
  c.program.functions.push_back(f);
}

void plain(Context& c) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("f");
  for (int64_t n = c.between(1, 3); n > 0; --n) {
    Type type = parameterType(c, *f);
    f->parameters.push_back({c.freshName("p"), type});
  }
  f->result = resultType(c, *f);
  Context inner = bodyOf(c, *f);
  std::vector<NodePtr> body;
  if (c.chance(65)) statements(inner, body, 1 + c.below(4), 3);
  NodePtr value = expression(inner, f->result, 3, false);
  finish(c, f, inner, std::move(body), value);
}

void changing(Context& c) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("g");
  Type type = parameterType(c, *f);
  while (type->kind == Kind::Function) type = parameterType(c, *f);
  f->parameters.push_back({c.freshName("p"), type, true});
  if (c.chance(60)) {
    Type other = parameterType(c, *f);
    f->parameters.push_back({c.freshName("p"), other});
  }
  keepToldSizes(*f);
  f->result = unit();
  Context inner = bodyOf(c, *f);
  std::vector<NodePtr> body;
  statements(inner, body, 2 + c.below(4), 3);
  finish(c, f, inner, std::move(body), nullptr);
}

void generic(Context& c) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("t");
  f->variables = {"T"};
  Type t = variableOf("T");
  f->sizes = {c.freshName("N")};
  f->parameters = {{c.freshName("p"), arrayOf(t, {f->sizes[0]})}, {c.freshName("p"), t}};
  if (c.chance(50)) f->parameters.push_back({c.freshName("p"), scalar(Kind::I64)});
  f->result = c.chance(60) ? t : arrayOf(t, {f->sizes[0]});
  Context inner = bodyOf(c, *f);
  std::vector<NodePtr> body;
  std::string sum = inner.freshName("v"), index = inner.freshName("i");
  NodePtr let = make(Form::Let, unit(), {expression(inner, t, 2)}, sum);
  let->flag = true;
  let->asked = t;
  body.push_back(let);
  inner.variables.push_back({sum, t, true});
  {
    Inner loop(inner);
    loop.repeat(6);
    inner.variables.push_back({index, scalar(Kind::I64), false, f->sizes[0]});
    NodePtr add =
        make(Form::Assign, unit(), {nameOf(sum, t), expression(inner, t, 2)}, c.chance(50) ? "+=" : "=");
    NodePtr range = make(Form::Range, unit(), {number(0), sizeValue(f->sizes[0])}, index);
    body.push_back(make(Form::For, unit(), {range, block({add})}));
  }
  finish(c, f, inner, std::move(body), expression(inner, f->result, 2, false));
}

/// `fn f(n, …) { if n <= 0 { return … }; …; let r = f(n - 1, …); … }`
void recursive(Context& c) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("r");
  f->recursive = true;
  Type count = scalar(Kind::I64);
  std::string n = c.freshName("n");
  f->parameters.push_back({n, count});
  for (int64_t k = c.between(1, 2); k > 0; --k) {
    Type type = parameterType(c, *f);
    f->parameters.push_back({c.freshName("p"), type});
  }
  f->result = resultType(c, *f);
  Context inner = bodyOf(c, *f);
  inner.limit /= callsOfRecursion;
  std::vector<NodePtr> body;
  NodePtr ends = make(Form::Binary, scalar(Kind::Bool), {nameOf(n, count), number(0)}, "<=");
  NodePtr back = make(Form::Return, unit(), {expression(inner, f->result, 2, false)});
  body.push_back(make(Form::If, unit(), {ends, block({back})}));
  if (c.chance(50)) statements(inner, body, 1 + c.below(2), 2);
  for (int64_t calls = c.chance(30) ? 2 : 1; calls > 0; --calls) {
    std::vector<NodePtr> args = {make(Form::Binary, count, {nameOf(n, count), number(calls)}, "-")};
    for (size_t k = 1; k < f->parameters.size(); ++k)
      args.push_back(expression(inner, f->parameters[k].type, 2, false));
    std::string name = inner.freshName("x");
    NodePtr let = make(Form::Let, unit(), {make(Form::Call, f->result, std::move(args), f->name)}, name);
    body.push_back(let);
    inner.variables.push_back({name, f->result});
  }
  if (c.chance(50)) statements(inner, body, 1 + c.below(2), 2);
  inner.cost *= callsOfRecursion;
  inner.limit *= callsOfRecursion;
  finish(c, f, inner, std::move(body), expression(inner, f->result, 3, false));
}

/// A function that goes through an enum that holds itself.
void walking(Context& c) {
  if (c.program.enums.empty()) return;
  const Choice& choice = c.pick(c.program.enums);
  auto f = std::make_shared<Function>();
  f->name = c.freshName("h");
  Type subject = enumOf(choice.name);
  std::string at = c.freshName("p");
  f->parameters = {{at, subject}, {c.freshName("p"), randomScalar(c)}};
  f->result = randomNumber(c);
  Context inner = bodyOf(c, *f);
  inner.limit /= callsOfRecursion;
  std::vector<NodePtr> kids = {nameOf(at, subject)};
  for (const Record& r : choice.cases) {
    Inner scope(inner);
    NodePtr arm = make(Form::Arm, f->result, {}, r.name);
    NodePtr value;
    for (const auto& [field, type] : r.fields) {
      std::string name = inner.freshName("q");
      arm->names.push_back(name);
      inner.variables.push_back({name, type});
      if (!same(type, subject)) continue;
      NodePtr call = make(Form::Call, f->result,
                          {nameOf(name, type), expression(inner, f->parameters[1].type, 1, false)}, f->name);
      value = value ? make(Form::Binary, f->result, {value, call}, c.chance(50) ? "+" : "*") : call;
    }
    NodePtr own = expression(inner, f->result, 2);
    arm->kids = {value ? make(Form::Binary, f->result, {own, value}, "-") : own};
    kids.push_back(std::move(arm));
  }
  inner.cost *= callsOfRecursion;
  finish(c, f, inner, {}, make(Form::Match, f->result, std::move(kids)));
}

} // namespace

void declareFunctions(Context& c, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    size_t roll = c.below(100);
    if (roll < 45)
      plain(c);
    else if (roll < 65)
      recursive(c);
    else if (roll < 80)
      changing(c);
    else if (roll < 90)
      generic(c);
    else
      walking(c);
  }
}

} // namespace melix::fuzz::programs
