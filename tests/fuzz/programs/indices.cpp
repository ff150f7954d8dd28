// Programs about indices: affine and product ones with strides from small to those whose multiples wrap, in
// every position where an array is read or written. Where they are in range, and the panic where they are
// not, is known by the evaluator.
#include "fuzz/programs/context.h"
#include "fuzz/programs/evaluate.h"
#include "fuzz/programs/generate.h"

#include <iterator>
#include <limits>

namespace melix::fuzz::programs {

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t third = 6148914691236517206; // three of it are 2
constexpr int accesses = 7;

const Type& whole() {
  static const Type type = scalar(Kind::I64);
  return type;
}

/// A stride, and how many multiples of it to take so that the last is near the first again and those between
/// are far out of range: a look at both ends says nothing.
struct Wrapping {
  int64_t stride, count;
};
constexpr Wrapping wrapping[] = {{third, 4},
                                 {-third + 2, 4},
                                 {least, 3},
                                 {least + 1, 3},
                                 {int64_t(1) << 62, 5},
                                 {-(int64_t(1) << 62), 5},
                                 {(int64_t(1) << 62) + 1, 5},
                                 {3689348814741910324, 6},
                                 {-3689348814741910323, 6},
                                 {int64_t(1) << 61, 9}};

int64_t stride(Context& c) {
  static const std::vector<int64_t> huge = {third,
                                            -third,
                                            least,
                                            least + 1,
                                            std::numeric_limits<int64_t>::max(),
                                            int64_t(1) << 62,
                                            -(int64_t(1) << 62),
                                            (int64_t(1) << 62) + 1,
                                            (int64_t(1) << 61) + 1,
                                            -(int64_t(1) << 61) + 1,
                                            int64_t(1) << 32,
                                            (int64_t(1) << 32) + 1,
                                            3689348814741910324, // five of it are 4
                                            -3689348814741910323};
  return c.chance(45) ? c.pick(huge) : c.between(-3, 4);
}

NodePtr binary(const char* op, NodePtr a, NodePtr b) {
  return make(Form::Binary, whole(), {std::move(a), std::move(b)}, op);
}
NodePtr name(const std::string& n) { return nameOf(n, whole()); }

/// One access to an array: the names in scope and what is accessed.
struct Access {
  Context& c;
  Function& f;
  std::vector<std::string> indices{}; ///< of loops and builders around
  bool literals = false;              ///< strides may be written: where nothing is refused for them

  NodePtr factor() {
    if (literals && c.chance(35)) return literal(whole(), stride(c));
    return name(f.parameters[1 + c.below(2)].name);
  }

  /// An affine or product index of what is in scope.
  NodePtr position() {
    NodePtr out = term();
    for (size_t k = 1; k < indices.size() || c.chance(25); ++k)
      out = binary(c.chance(70) ? "+" : "-", out, term());
    if (c.chance(45)) out = binary(c.chance(60) ? "+" : "-", out, offset());
    if (c.chance(12)) out = binary("-", offset(), out);
    if (c.chance(6)) out = binary("%", out, number(c.between(2, 7)));
    return out;
  }

  NodePtr offset() {
    if (c.chance(40)) return number(c.between(0, 4));
    if (c.chance(40)) return name(f.sizes[0]);
    return factor();
  }

  NodePtr term() {
    NodePtr index = indices.empty() ? factor() : name(c.pick(indices));
    switch (c.below(9)) {
    case 0: return index;
    case 1: return binary("*", binary("+", index, offset()), factor());
    case 2:
      return binary("*", index, name(c.pick(indices.empty() ? std::vector{f.parameters[1].name} : indices)));
    case 3: return binary("*", binary("*", index, factor()), factor());
    case 4: return binary("*", factor(), index);
    default: return binary("*", index, factor());
    }
  }
};

NodePtr count(Context& c, const Function& f) {
  if (c.chance(30)) return number(c.between(0, 6));
  return name(c.chance(70) ? f.parameters[3].name : f.sizes[0]);
}

NodePtr range(Context& c, Access& a) {
  std::string index = c.freshName("i");
  NodePtr low = number(0), high = count(c, a.f);
  if (c.chance(15)) low = number(c.between(-2, 0));
  if (c.chance(8)) { // a range far from zero
    low = name(a.f.parameters[2].name);
    high = binary("+", clone(low), number(c.between(0, 4)));
  }
  a.indices.push_back(index);
  return make(Form::Range, unit(), {low, high}, index);
}

NodePtr at(const NodePtr& array, std::vector<NodePtr> subscripts, Type type) {
  subscripts.insert(subscripts.begin(), array);
  return make(Form::Index, std::move(type), std::move(subscripts));
}

Type elementOf(const Type& type) {
  return type->kind == Kind::Array || type->kind == Kind::List ? type->parts[0] : type;
}

/// The array's element, and the size of the axis that the index is for, whatever holds the array.
struct Held {
  NodePtr array; ///< the array or list
  Type element;
  bool rows = false; ///< of a matrix; the index is for one of its axes
};

Held held(const Function& f) {
  const Parameter& p = f.parameters[0];
  NodePtr base = nameOf(p.name, p.type);
  if (p.type->kind == Kind::Struct)
    return {make(Form::Field, arrayOf(whole(), {"4"}), {base}, "data"), whole()};
  return {base, elementOf(p.type), p.type->dims.size() == 2};
}

NodePtr element(Access& a, const Held& h) {
  if (!h.rows) return at(h.array, {a.position()}, h.element);
  NodePtr other = number(0);
  return a.c.chance(50) ? at(h.array, {a.position(), other}, h.element)
                        : at(h.array, {other, a.position()}, h.element);
}

NodePtr reduced(const char* how, std::vector<NodePtr> heads, NodePtr body, const Type& type) {
  heads.push_back(std::move(body));
  return make(Form::Reduce, type, std::move(heads), how);
}

NodePtr builderOf(std::vector<NodePtr> heads, NodePtr body) {
  Type type = arrayOf(body->type, std::vector<std::string>(heads.size(), "?"));
  heads.push_back(std::move(body));
  return make(Form::Builder, type, std::move(heads));
}

NodePtr let(const std::string& name, NodePtr value, bool variable = false) {
  NodePtr out = make(Form::Let, unit(), {std::move(value)}, name);
  out->flag = variable;
  return out;
}

/// `[for …: x[…]]` and what may stand around and inside.
void reads(Context& c, Function& f, std::vector<NodePtr>& body) {
  Access a{c, f};
  Held h = held(f);
  std::vector<NodePtr> heads = {range(c, a)};
  if (c.chance(35)) heads.push_back(range(c, a));
  NodePtr value;
  std::string out = c.freshName("y");
  size_t form = c.below(7);
  if (form == 0 && heads.size() == 1) { // a builder of sums
    NodePtr inner = range(c, a);
    value = builderOf(std::move(heads), reduced("sum", {inner}, element(a, h), h.element));
  } else if (form == 1) {
    value = reduced(c.chance(70) ? "sum" : "prod", std::move(heads), element(a, h), h.element);
  } else if (form == 2 && h.rows) { // whole rows or columns
    Type row = arrayOf(h.element, {f.sizes.back()});
    NodePtr all = make(Form::Whole, unit());
    NodePtr one = c.chance(60) ? at(h.array, {a.position()}, row)
                               : at(h.array, {all, a.position()}, arrayOf(h.element, {f.sizes[0]}));
    value = builderOf({heads[0]}, reduced("sum", {make(Form::Walk, unit(), {one})},
                                          nameOf("e" + out, h.element), h.element));
    value->kids.back()->kids[0]->names = {"e" + out};
    if (heads.size() > 1) value->kids.insert(value->kids.begin() + 1, heads[1]);
  } else if (form == 3) { // under a condition
    NodePtr some = make(Form::Binary, scalar(Kind::Bool), {name(a.indices[0]), number(c.between(0, 3))},
                        c.chance(50) ? "<" : ">");
    NodePtr other = literal(h.element, 0);
    value = builderOf(std::move(heads),
                      make(Form::If, h.element, {some, block({}, element(a, h)), block({}, other)}));
  } else if (form == 4) { // in a closure
    std::string g = c.freshName("g"), q = c.freshName("q");
    Access inner{c, f, {q}};
    NodePtr lambda = make(Form::Lambda, functionOf({whole()}, h.element), {element(inner, h)});
    lambda->names = {q};
    body.push_back(let(g, lambda));
    NodePtr call = make(Form::Invoke, h.element, {nameOf(g, lambda->type), name(a.indices[0])});
    value = builderOf(std::move(heads), call);
  } else if (form == 5 && heads.size() == 1 && !h.rows &&
             h.array->type->kind == Kind::Array) { // by an array of positions
    value = at(h.array, {builderOf({heads[0]}, a.position())}, arrayOf(h.element, {"?"}));
  } else {
    value = builderOf(std::move(heads), element(a, h));
  }
  body.push_back(let(out, value));
  body.push_back(make(Form::Print, unit(), {nameOf(out, value->type)}));
}

/// Loops that read, write and update.
void loops(Context& c, Function& f, std::vector<NodePtr>& body) {
  Access a{c, f};
  a.literals = true;
  Held h = held(f);
  std::string copy = c.freshName("v"), sum = c.freshName("s");
  body.push_back(let(copy, nameOf(f.parameters[0].name, f.parameters[0].type), true));
  body.push_back(let(sum, literal(h.element, 0, 0), true));
  Held mine = h;
  NodePtr base = nameOf(copy, f.parameters[0].type);
  mine.array = h.array->form == Form::Field ? make(Form::Field, h.array->type, {base}, "data") : base;
  std::vector<NodePtr> heads = {range(c, a)};
  if (c.chance(30)) heads.push_back(range(c, a));
  NodePtr statement;
  size_t form = c.below(5);
  bool array = mine.array->type->kind == Kind::Array;
  if (form == 0) {
    statement = make(Form::Assign, unit(), {nameOf(sum, h.element), element(a, mine)}, "+=");
  } else if (form == 1 && array && !mine.rows) { // a slice
    NodePtr first = a.position();
    NodePtr slice = make(Form::Slice, unit(), {first, binary("+", clone(first), number(c.between(0, 2)))});
    NodePtr all = at(mine.array, {slice}, arrayOf(h.element, {"?"}));
    NodePtr total = make(Form::Builtin, h.element, {all}, "sum");
    statement = c.chance(50) ? make(Form::Assign, unit(), {nameOf(sum, h.element), total}, "+=")
                             : make(Form::Assign, unit(), {all, literal(h.element, 7, 7)}, "+=");
  } else if (form == 2 && mine.rows) { // a row
    NodePtr row = at(mine.array, {a.position()}, arrayOf(h.element, {f.sizes.back()}));
    statement = make(Form::Assign, unit(), {row, literal(h.element, 5, 5)}, "+=");
  } else {
    statement = make(Form::Assign, unit(), {element(a, mine), literal(h.element, c.between(1, 9), 3)},
                     c.chance(50) ? "=" : "+=");
  }
  for (size_t k = heads.size(); k-- > 0;) statement = make(Form::For, unit(), {heads[k], block({statement})});
  body.push_back(statement);
  body.push_back(make(Form::Print, unit(), {base, nameOf(sum, h.element)}));
}

/// The gradient of a sum: its elements are added where they are read.
void gradients(Context& c, Function& f, std::vector<NodePtr>& body) {
  Access a{c, f};
  Held h = held(f);
  if (h.element->kind != Kind::F64 || h.rows) return reads(c, f, body);
  std::string y = c.freshName("y");
  std::vector<NodePtr> heads = {range(c, a)};
  h.array = nameOf(y, h.array->type);
  NodePtr read = element(a, h);
  NodePtr term = c.chance(50) ? make(Form::Binary, h.element, {read, clone(read)}, "*") : read;
  NodePtr lambda =
      make(Form::Lambda, functionOf({h.array->type}, h.element), {reduced("sum", heads, term, h.element)});
  lambda->names = {y};
  NodePtr gradient = make(Form::Text, unit(), {}, "grad");
  NodePtr call = make(
      Form::Invoke, h.array->type,
      {make(Form::Invoke, h.array->type, {gradient, lambda}), nameOf(f.parameters[0].name, h.array->type)});
  body.push_back(make(Form::Print, unit(), {call}));
}

std::shared_ptr<Function> access(Context& c) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("f");
  f->sizes = {c.freshName("N")};
  Type real = scalar(Kind::F64), type;
  switch (c.below(10)) {
  case 0:
    f->sizes.push_back(c.freshName("M"));
    type = arrayOf(whole(), {f->sizes[0], f->sizes[1]});
    break;
  case 1: type = listOf(whole()); break;
  case 2: type = structOf("Box"); break;
  case 3:
  case 4: type = arrayOf(real, {f->sizes[0]}); break;
  case 5:
  case 6: type = arrayOf(c.chance(40) ? real : whole(), {std::to_string(c.between(3, 6))}); break;
  default: type = arrayOf(whole(), {f->sizes[0]});
  }
  f->parameters = {{c.freshName("x"), type},
                   {c.freshName("k"), whole()},
                   {c.freshName("a"), whole()},
                   {c.freshName("n"), whole()}};
  bool sized = type->kind == Kind::Array && !isNumeral(type->dims[0]);
  if (!sized) f->sizes = {c.freshName("size")};
  std::vector<NodePtr> body;
  if (!sized) body.push_back(let(f->sizes[0], number(4)));
  f->result = unit();
  size_t form = c.below(10);
  if (form < 5)
    reads(c, *f, body);
  else if (form < 9)
    loops(c, *f, body);
  else
    gradients(c, *f, body);
  if (!sized) f->sizes.clear();
  f->body = block(std::move(body));
  return f;
}

NodePtr argument(Context& c, const Type& type, int64_t size) {
  std::vector<NodePtr> kids;
  auto values = [&](const Type& of, int64_t n) {
    std::vector<NodePtr> out;
    for (int64_t k = 0; k < n; ++k) out.push_back(literal(of, 10 + k, static_cast<double>(10 + k)));
    return out;
  };
  if (type->kind == Kind::List) return make(Form::List, type, values(whole(), size));
  if (type->kind == Kind::Struct)
    return make(Form::Make, type, {make(Form::Array, arrayOf(whole(), {"4"}), values(whole(), 4))}, "Box");
  std::vector<NodePtr> heads;
  std::vector<std::string> dims;
  for (size_t k = 0; k < type->dims.size(); ++k) {
    dims.push_back(isNumeral(type->dims[k]) ? type->dims[k]
                                            : std::to_string(k == 0 ? size : c.between(1, 3)));
    heads.push_back(make(Form::Range, unit(), {number(0), number(std::stoll(dims[k]))}, c.freshName("i")));
  }
  NodePtr sum = number(10);
  for (const NodePtr& head : heads) sum = binary("+", sum, name(head->name));
  if (type->parts[0]->kind == Kind::F64) sum = make(Form::Convert, type->parts[0], {sum}, "as");
  heads.push_back(sum);
  return make(Form::Builder, arrayOf(type->parts[0], dims), std::move(heads));
}

/// A number that only the run knows, or one that is written.
NodePtr given(Context& c, int64_t value) {
  NodePtr written = literal(whole(), value, 0, false);
  if (c.chance(60)) return written;
  return make(Form::Call, whole(), {written, number(3)}, "hidden");
}

/// `fn hidden(x, n)`: x, after a recursion that the compiler does not look through.
void declareHidden(Program& program) {
  auto f = std::make_shared<Function>();
  f->name = "hidden";
  f->recursive = true;
  f->parameters = {{"x", whole()}, {"n", whole()}};
  f->result = whole();
  NodePtr again = make(Form::Call, whole(), {name("x"), binary("-", name("n"), number(1))}, "hidden");
  NodePtr ends = make(Form::Binary, scalar(Kind::Bool), {name("n"), number(0)}, "<=");
  f->body = block({}, make(Form::If, whole(), {ends, block({}, name("x")), block({}, again)}));
  program.functions.push_back(f);
}

} // namespace

Program generateIndices(Random& random) {
  Program program;
  Context c{random, program};
  program.structs.push_back({"Box", {{"data", arrayOf(whole(), {"4"})}}});
  declareHidden(program);
  program.script = block({});
  for (int k = 0; k < accesses; ++k) {
    std::shared_ptr<Function> f = access(c);
    program.functions.push_back(f);
    for (int calls = 0; calls < 3; ++calls) {
      NodePtr array = argument(c, f->parameters[0].type, c.between(1, 10));
      int64_t one = stride(c), two = stride(c), count = c.between(0, 5);
      if (c.chance(50)) {
        const Wrapping& w = wrapping[c.below(std::size(wrapping))];
        one = w.stride;
        two = c.chance(50) ? w.stride : two;
        count = w.count;
      }
      NodePtr call =
          make(Form::Call, unit(), {array, given(c, one), given(c, two), given(c, count)}, f->name);
      program.script->kids.push_back(make(Form::Do, unit(), {call}));
      Expected expected = evaluate(program, true);
      // Of those out of range the last one stays: it ends the program.
      bool last = k + 1 == accesses && calls == 2;
      if ((!expected.known && expected.unknown == "a negative range") || (expected.panic && !last))
        program.script->kids.pop_back();
    }
  }
  return program;
}

} // namespace melix::fuzz::programs
