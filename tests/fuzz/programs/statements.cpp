// Statements: variables, assignments, branches and loops.
#include "fuzz/programs/context.h"

#include <utility>

namespace melix::fuzz::programs {

namespace {

constexpr int usualDepth = 3;

void print(Context& c, std::vector<NodePtr>& out, const std::string& name, const Type& type) {
  if (c.prints && printable(type)) out.push_back(make(Form::Print, unit(), {nameOf(name, type)}));
}

void let(Context& c, std::vector<NodePtr>& out, int depth) {
  Type type = randomType(c, 2);
  bool variable = c.chance(50) && type->kind != Kind::Function;
  std::string name = c.freshName(variable ? "v" : "x");
  NodePtr value;
  bool implicit = type->kind == Kind::Array && c.chance(12);
  if (implicit) value = builder(c, type, depth, true);
  bool asked = value || c.chance(70) || type->kind == Kind::Function;
  if (!value) value = expression(c, type, depth, !asked);
  NodePtr statement = make(Form::Let, unit(), {value}, name);
  statement->flag = variable;
  if (asked) statement->asked = type;
  out.push_back(std::move(statement));
  c.variables.push_back({name, type, variable});
  if (c.chance(50)) print(c, out, name, type);
}

/// A value of hidden size, whose size gets a name.
void hidden(Context& c, std::vector<NodePtr>& out, int depth) {
  if (!c.affords(60)) return;
  Type element = randomScalar(c);
  NodePtr value;
  double trips = 1;
  {
    Inner inner(c);
    inner.pure();
    std::vector<NodePtr> kids = {header(c, trips, false)};
    if (!c.affords(trips * 4)) return;
    inner.repeat(trips);
    bool plain = c.style.smooth;
    kids.push_back(expression(c, scalar(Kind::Bool), plain ? 0 : depth - 1));
    kids.push_back(expression(c, element, depth - 1));
    value = make(Form::Builder, arrayOf(element, {"?"}), std::move(kids));
    value->flag = true;
  }
  std::string size = c.freshName("K"), name = c.freshName("x");
  bool variable = c.chance(40);
  NodePtr statement = make(Form::Let, unit(), {value}, name);
  statement->flag = variable;
  statement->asked = arrayOf(element, {"?" + size});
  out.push_back(std::move(statement));
  c.sizes.push_back({size, trips, true});
  c.variables.push_back({name, arrayOf(element, {size}), variable});
  print(c, out, name, element);
}

void assign(Context& c, std::vector<NodePtr>& out, int depth) {
  for (int tries = 0; tries < 4; ++tries) {
    Type type = randomType(c, 1);
    if (tries == 3 || c.chance(60)) { // of a variable that is there
      std::vector<Type> types;
      for (size_t k = c.assignableFrom; k < c.variables.size(); ++k)
        if (c.variables[k].assignable) {
          const Type& t = c.variables[k].type;
          types.push_back(t->kind == Kind::Array && c.chance(75) ? t->parts[0] : t);
        }
      if (types.empty()) return;
      type = c.pick(types);
    }
    NodePtr place = placeOf(c, type, {true});
    if (!place) continue;
    Kind k = type->kind == Kind::Array ? type->parts[0]->kind : type->kind;
    bool updates = isNumber(k) && c.chance(45);
    static const std::vector<const char*> ops = {"+=", "-=", "*="};
    bool narrow = updates && type->kind == Kind::Array && c.chance(40); // an array with a scalar
    NodePtr value = expression(c, narrow ? type->parts[0] : type, depth, updates);
    out.push_back(make(Form::Assign, unit(), {place, value}, updates ? c.pick(ops) : "="));
    return;
  }
}

NodePtr body(Context& c, size_t count, int depth) {
  std::vector<NodePtr> out;
  statements(c, out, count, depth);
  return block(std::move(out));
}

void branch(Context& c, std::vector<NodePtr>& out, int depth) {
  NodePtr condition = expression(c, scalar(Kind::Bool), depth - 1);
  auto arm = [&] {
    Inner inner(c);
    return body(c, 1 + c.below(2), depth - 1);
  };
  std::vector<NodePtr> kids = {condition, arm()};
  if (c.chance(50)) kids.push_back(arm());
  out.push_back(make(Form::If, unit(), std::move(kids)));
}

/// `break`, `continue` or `return` under a condition.
void leave(Context& c, std::vector<NodePtr>& out, int depth) {
  NodePtr exit;
  if (c.loops > 0 && c.chance(70)) {
    exit = make(c.chance(50) ? Form::Break : Form::Continue, unit());
  } else if (c.result) {
    exit = make(Form::Return, unit());
    if (c.result->kind != Kind::Unit) exit->kids.push_back(expression(c, c.result, depth - 1, false));
  }
  if (!exit) return;
  NodePtr condition = expression(c, scalar(Kind::Bool), depth - 1);
  out.push_back(make(Form::If, unit(), {condition, block({exit})}));
}

void forLoop(Context& c, std::vector<NodePtr>& out, int depth) {
  if (!c.affords(80)) return;
  Inner inner(c);
  double trips = 1;
  NodePtr head = header(c, trips, false);
  if (!c.affords(trips * 8)) return;
  inner.repeat(trips);
  if (head->form == Form::Range && c.chance(12)) {
    head->flag = true;
    head->kids.push_back(number(c.between(1, 3)));
  }
  ++c.loops;
  out.push_back(make(Form::For, unit(), {head, body(c, 1 + c.below(3), depth - 1)}));
}

NodePtr counted(const std::string& name, int64_t step) {
  Type type = scalar(Kind::I64);
  return make(Form::Assign, unit(), {nameOf(name, type), number(step)}, "+=");
}

/// `while` and `loop` with a counter that ends them.
void whileLoop(Context& c, std::vector<NodePtr>& out, int depth) {
  if (!c.affords(120)) return;
  Type index = scalar(Kind::I64);
  std::string name = c.freshName("w");
  NodePtr let = make(Form::Let, unit(), {number(0)}, name);
  let->flag = true;
  let->asked = index;
  out.push_back(let);
  int64_t most = c.between(1, 6);
  Inner inner(c);
  inner.repeat(static_cast<double>(most));
  ++c.loops;
  c.variables.push_back({name, index});
  NodePtr below = make(Form::Binary, scalar(Kind::Bool), {nameOf(name, index), number(most)}, "<");
  std::vector<NodePtr> all = {counted(name, 1)};
  if (c.chance(70)) {
    NodePtr condition = below;
    if (c.chance(60)) {
      const unsigned loops = std::exchange(c.loops, 0); // none that a condition may leave
      condition =
          make(Form::Binary, below->type, {below, expression(c, scalar(Kind::Bool), depth - 1)}, "and");
      c.loops = loops;
    }
    statements(c, all, 1 + c.below(3), depth - 1);
    out.push_back(make(Form::While, unit(), {condition, block(std::move(all))}));
    return;
  }
  NodePtr done = make(Form::Unary, below->type, {below}, "not");
  all.push_back(make(Form::If, unit(), {done, block({make(Form::Break, unit())})}));
  statements(c, all, 1 + c.below(3), depth - 1);
  out.push_back(make(Form::Loop, unit(), {block(std::move(all))}));
}

/// `(a, b) = (…, …)`: the values are computed before either place is changed.
void assignTwo(Context& c, std::vector<NodePtr>& out, int depth) {
  std::vector<Type> types;
  for (size_t k = c.assignableFrom; k < c.variables.size(); ++k) {
    const Type& t = c.variables[k].type;
    if (c.variables[k].assignable) types.push_back(t->kind == Kind::Array ? t->parts[0] : t);
  }
  if (types.empty()) return;
  Type one = c.pick(types), two = c.pick(types);
  NodePtr a = placeOf(c, one, {true}), b = placeOf(c, two, {true});
  if (!a || !b) return;
  NodePtr x = c.chance(40) && same(one, two) ? clone(b) : expression(c, one, depth, false);
  NodePtr y = c.chance(40) && same(one, two) ? clone(a) : expression(c, two, depth, false);
  out.push_back(make(Form::Swap, unit(), {a, b, x, y}));
}

/// A part of an array from a position that the run computes; its size is hidden.
void cut(Context& c, std::vector<NodePtr>& out) {
  std::vector<std::pair<std::string, Type>> arrays;
  for (const Variable& v : c.variables)
    if (v.type && v.type->kind == Kind::Array && !c.mayBeZero(v.type->dims[0]))
      arrays.emplace_back(v.name, v.type);
  if (arrays.empty()) return;
  const auto [of, type] = c.pick(arrays);
  NodePtr begin = indexFor(c, type->dims[0]);
  if (!begin || begin->form == Form::FromEnd) return;
  NodePtr slice = make(Form::Slice, unit(), {begin});
  if (c.chance(40)) slice->kids.push_back(sizeValue(type->dims[0]));
  if (slice->kids.size() > 1 && c.chance(50)) slice->kids.push_back(number(c.between(1, 3)));
  std::string size = c.freshName("K"), name = c.freshName("x");
  std::vector<std::string> dims = type->dims, asked = type->dims;
  dims[0] = size;
  asked[0] = "?" + size;
  bool variable = c.chance(40);
  NodePtr let = make(Form::Let, unit(),
                     {make(Form::Index, arrayOf(type->parts[0], dims), {nameOf(of, type), slice})}, name);
  let->asked = arrayOf(type->parts[0], asked);
  let->flag = variable;
  out.push_back(let);
  c.sizes.push_back({size, c.guess(type->dims[0]), true});
  c.variables.push_back({name, arrayOf(type->parts[0], dims), variable});
  print(c, out, name, type);
}

/// push and pop of a list, swap of two elements.
void library(Context& c, std::vector<NodePtr>& out, int depth) {
  std::vector<Variable> fits;
  for (size_t k = c.assignableFrom; k < c.variables.size(); ++k) {
    const Variable& v = c.variables[k];
    if (!v.assignable) continue;
    if (v.type->kind == Kind::List || (v.type->kind == Kind::Array && !c.mayBeZero(v.type->dims[0])))
      fits.push_back(v);
  }
  if (fits.empty()) return;
  const Variable v = c.pick(fits);
  NodePtr place = make(Form::Inout, v.type, {nameOf(v.name, v.type)});
  if (v.type->kind == Kind::List) {
    NodePtr value = expression(c, v.type->parts[0], depth - 1, false);
    out.push_back(make(Form::Do, unit(), {make(Form::Builtin, unit(), {place, value}, "push")}));
    return;
  }
  NodePtr a = indexFor(c, v.type->dims[0]), b = indexFor(c, v.type->dims[0]);
  if (!a || !b || a->form == Form::FromEnd || b->form == Form::FromEnd) return;
  out.push_back(make(Form::Do, unit(), {make(Form::Builtin, unit(), {place, a, b}, "swap")}));
}

void matchStatement(Context& c, std::vector<NodePtr>& out, int depth) {
  NodePtr match = matchOf(c, unit(), depth, false);
  for (size_t k = 1; k < match->kids.size(); ++k) {
    Inner inner(c);
    NodePtr& arm = match->kids[k];
    if (!arm->name.empty() && arm->name != "_") {
      const Record* r = c.program.findCase(arm->name);
      for (size_t n = 0; n < arm->names.size(); ++n)
        c.variables.push_back({arm->names[n], r->fields[n].second});
    }
    arm->kids.back() = body(c, 1 + c.below(2), depth - 1);
  }
  out.push_back(std::move(match));
}

void show(Context& c, std::vector<NodePtr>& out, int depth) {
  if (!c.prints) return;
  std::vector<NodePtr> kids;
  for (size_t n = 1 + c.below(2); n > 0; --n) {
    Type type = randomType(c, 1);
    if (printable(type)) kids.push_back(expression(c, type, depth));
  }
  if (!kids.empty()) out.push_back(make(Form::Print, unit(), std::move(kids)));
}

} // namespace

void statements(Context& c, std::vector<NodePtr>& out, size_t count, int depth) {
  if (depth < 1) depth = 1;
  size_t before = out.size();
  for (size_t k = 0; k < count; ++k) {
    if (!c.affords(20)) break;
    c.cost += c.times;
    size_t roll = c.below(100);
    int inside = depth < usualDepth ? depth : usualDepth;
    bool nests = depth > 1;
    if (roll < 22)
      let(c, out, inside);
    else if (roll < 24)
      assignTwo(c, out, inside);
    else if (roll < 26)
      cut(c, out);
    else if (roll < 54)
      assign(c, out, inside);
    else if (roll < 60 && nests)
      branch(c, out, depth);
    else if (roll < 71 && nests)
      forLoop(c, out, depth);
    else if (roll < 76 && nests)
      whileLoop(c, out, depth);
    else if (roll < 80)
      hidden(c, out, inside);
    else if (roll < 84)
      leave(c, out, inside);
    else if (roll < 88)
      library(c, out, inside);
    else if (roll < 91 && nests)
      matchStatement(c, out, depth);
    else if (roll < 95) {
      if (NodePtr call = inoutCall(c, inside)) out.push_back(call);
    } else
      show(c, out, inside);
  }
  if (out.size() == before && before == 0) assign(c, out, 1);
}

} // namespace melix::fuzz::programs
