// Programs about sizes: arrays mostly without elements, whose sizes are formulas of sizes near the powers of
// two where an axis, or an integer, ends. What each size is, and whether it is one, is known exactly here.
#include "fuzz/programs/context.h"
#include "fuzz/programs/generate.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace melix::fuzz::programs {

namespace {

constexpr int64_t largestAxis = int64_t(1) << 47;
constexpr int64_t elements = 4096; ///< at most, where there are any
constexpr int64_t axisOfSlices = 12;
constexpr int makers = 4, callsOfEach = 3;
constexpr double integers = 0x1p63;

/// A formula of sizes.
struct Formula {
  char op; ///< + - * / %, < and >: the smaller and the larger, n: a number, N: a name
  int64_t number = 0;
  std::string name{};
  std::shared_ptr<const Formula> left{}, right{};
};
using FormulaPtr = std::shared_ptr<const Formula>;

/// What a formula is for certain sizes.
struct Amount {
  __int128 exact = 0;
  bool beyond = false; ///< of 128 bits
  int64_t wrapped = 0; ///< the `int`
  double terms = 0;    ///< the sum of its terms' magnitudes
  double bound = 0;    ///< no number that is computed for it, in whatever order of its terms, is larger
};

struct Named {
  std::string name;
  int64_t value = 0;
};

FormulaPtr numeral(int64_t n) { return std::make_shared<Formula>(Formula{'n', n}); }
FormulaPtr named(const std::string& n) { return std::make_shared<Formula>(Formula{'N', 0, n}); }
FormulaPtr operation(char op, FormulaPtr a, FormulaPtr b) {
  return std::make_shared<Formula>(Formula{op, 0, {}, std::move(a), std::move(b)});
}

std::string textOf(const Formula& f) {
  if (f.op == 'n') return std::to_string(f.number);
  if (f.op == 'N') return f.name;
  if (f.op == '<' || f.op == '>')
    return (f.op == '<' ? "min(" : "max(") + textOf(*f.left) + ", " + textOf(*f.right) + ")";
  auto part = [&](const Formula& p) {
    return p.op == 'n' || p.op == 'N' ? textOf(p) : "(" + textOf(p) + ")";
  };
  return part(*f.left) + " " + f.op + " " + part(*f.right);
}

/// Divisors are numbers above 0.
template <class Number>
Number floorDivided(Number a, Number b) {
  return static_cast<Number>(a / b - (a % b < 0 ? 1 : 0));
}

Amount amountOf(const Formula& f, const std::vector<Named>& sizes) {
  auto certain = [](int64_t n) {
    const double factor = static_cast<double>(std::max<int64_t>(n, 1)); // a 0 may come last into a product
    return Amount{n, false, n, factor, factor};
  };
  if (f.op == 'n') return certain(f.number);
  if (f.op == 'N') {
    for (const Named& s : sizes)
      if (s.name == f.name) return certain(s.value);
    return {};
  }
  Amount a = amountOf(*f.left, sizes), b = amountOf(*f.right, sizes), out;
  out.beyond = a.beyond || b.beyond;
  out.terms = f.op == '*' ? a.terms * b.terms : a.terms + b.terms; // of a quotient: the dividend's
  out.bound = std::max({out.terms, a.bound, b.bound});
  switch (f.op) {
  case '+':
    out.beyond |= __builtin_add_overflow(a.exact, b.exact, &out.exact);
    __builtin_add_overflow(a.wrapped, b.wrapped, &out.wrapped);
    break;
  case '-':
    out.beyond |= __builtin_sub_overflow(a.exact, b.exact, &out.exact);
    __builtin_sub_overflow(a.wrapped, b.wrapped, &out.wrapped);
    break;
  case '*':
    out.beyond |= __builtin_mul_overflow(a.exact, b.exact, &out.exact);
    __builtin_mul_overflow(a.wrapped, b.wrapped, &out.wrapped);
    break;
  case '<':
    out.exact = std::min(a.exact, b.exact);
    out.wrapped = std::min(a.wrapped, b.wrapped);
    break;
  case '>':
    out.exact = std::max(a.exact, b.exact);
    out.wrapped = std::max(a.wrapped, b.wrapped);
    break;
  default:
    out.exact = floorDivided(a.exact, b.exact);
    out.wrapped = floorDivided(a.wrapped, b.wrapped);
    if (f.op == '/') break;
    out.exact = a.exact - b.exact * out.exact;
    out.wrapped = a.wrapped - b.wrapped * out.wrapped;
  }
  return out;
}

/// What a call ends in. Where a number on the way may wrap, a panic and the exact size are both right.
enum class Ends : uint8_t { Passes, Open, Panics };

bool isSize(const Amount& a) { return a.exact >= 0 && a.exact <= largestAxis; }

int64_t sizeNear(Context& c) {
  static const std::vector<int64_t> near = {65536, int64_t(1) << 31, int64_t(1) << 32, int64_t(1) << 42,
                                            int64_t(1) << 46};
  if (c.chance(30)) return c.between(0, 9);
  if (c.chance(15)) return largestAxis - c.between(0, 1);
  return c.pick(near) + c.between(-2, 2);
}

const Type& byte() {
  static const Type type = scalar(Kind::U8);
  return type;
}
const Type& whole() {
  static const Type type = scalar(Kind::I64);
  return type;
}

/// A declaration whose body is text.
std::shared_ptr<Function> declared(std::string name, std::vector<Parameter> parameters, Type result,
                                   const std::vector<std::string>& lines) {
  auto f = std::make_shared<Function>();
  f->name = std::move(name);
  f->parameters = std::move(parameters);
  f->result = std::move(result);
  f->body = block({});
  for (const std::string& line : lines) {
    NodePtr text = make(Form::Text, f->result, {}, line);
    f->body->kids.push_back(f->result->kind == Kind::Unit ? make(Form::Do, unit(), {text}) : text);
  }
  f->body->flag = f->result->kind != Kind::Unit;
  return f;
}

/// A function that makes an array whose size is a formula, and calls of it.
class Writer {
public:
  explicit Writer(Context& c) : c_(c) {
    for (const char* prefix : {"N", "M", "K"}) sizes_.push_back({c.freshName(prefix)});
    slices_ = c.chance(35);
    if (slices_) sizes_.push_back({"n"});
    size_ = formula(2 + static_cast<int>(c.below(2)));
    made_ = slices_ ? formula(2) : again();
    name_ = c.freshName("f");
    holdsElements_ = !slices_ && c.chance(30);
  }

  void declare() {
    lines_ = {"print(\"may\", may)"};
    if (holdsElements_)
      withElements();
    else if (slices_)
      slice();
    else
      empty();
    lines_.push_back("print(\"done\", may)");
    std::vector<Parameter> parameters = arrays();
    parameters.push_back({"n", whole()});
    parameters.push_back({"may", whole()});
    parameters.push_back({"want", whole()});
    c_.program.functions.push_back(declared(name_, std::move(parameters), unit(), lines_));
  }

  /// Calls it with random sizes, unless the array would be too long to be made here.
  std::optional<Ends> call(NodePtr& out) {
    if (slices_) return callOfSlice(out);
    for (Named& s : sizes_) s.value = holdsElements_ && c_.chance(60) ? c_.between(0, 12) : sizeNear(c_);
    const Amount size = amountOf(*size_, sizes_), made = amountOf(*made_, sizes_);
    if (size.beyond || made.beyond) return std::nullopt;
    auto tooLong = [&](__int128 n) { return n > elements && n <= largestAxis; };
    if (holdsElements_ && (tooLong(size.exact) || tooLong(made.wrapped))) return std::nullopt;
    Ends ends = std::max(size.bound, made.bound) >= integers ? Ends::Open : Ends::Passes;
    if (plain_ && ends == Ends::Open) return std::nullopt; // the size is what the `int` is
    if (!isSize(size)) ends = Ends::Panics;
    out = callWith(ends, isSize(size) ? static_cast<int64_t>(size.exact) : -1);
    return ends;
  }

private:
  /// The ends are what the `int`s are. Where these wrapped, a panic about the size is right too.
  std::optional<Ends> callOfSlice(NodePtr& out) {
    static const std::vector<int64_t> wrapping = {6148914691236517206, (int64_t(1) << 62) + 5,
                                                  (int64_t(1) << 61) + 1, 3689348814741910324,
                                                  int64_t(1) << 32};
    for (Named& s : sizes_) s.value = c_.chance(80) ? c_.between(0, axisOfSlices) : sizeNear(c_);
    if (c_.chance(70)) sizes_.back().value = c_.pick(wrapping);
    const Amount first = amountOf(*size_, sizes_), last = amountOf(*made_, sizes_);
    if (first.beyond || last.beyond) return std::nullopt;
    const bool fits = 0 <= first.wrapped && first.wrapped <= last.wrapped && last.wrapped <= axisOfSlices;
    Ends ends = std::max(first.bound, last.bound) >= integers ? Ends::Open : Ends::Passes;
    if (!fits) ends = Ends::Panics;
    out = callWith(ends, fits ? (last.wrapped - first.wrapped + stride_ - 1) / stride_ : -1);
    return ends;
  }

  NodePtr callWith(Ends ends, int64_t want) {
    auto value = [&](size_t k) {
      std::string text = std::to_string(sizes_[k].value);
      return c_.chance(60) ? "hidden(" + text + ", 3)" : text;
    };
    std::string call =
        name_ + "(zeros(" + value(0) + ", 0), zeros(0, " + value(1) + "), zeros(" + value(2) + ", 1, 0), ";
    call += (slices_ ? value(3) : "0") + ", " + std::to_string(static_cast<int>(ends)) + ", " +
            std::to_string(want) + ")";
    return make(Form::Do, unit(), {make(Form::Text, unit(), {}, call)});
  }

  FormulaPtr formula(int depth) {
    if (depth == 0 || c_.chance(12)) {
      if (c_.chance(25)) return numeral(c_.chance(slices_ ? 90 : 50) ? c_.between(0, 9) : sizeNear(c_));
      if (slices_ && c_.chance(30)) return operation('*', numeral(c_.between(3, 5)), named("n"));
      return named(c_.pick(sizes_).name);
    }
    FormulaPtr left = formula(depth - 1);
    if (c_.chance(20)) {
      static const std::vector<int64_t> divisors = {2, 3, 7, 65536, int64_t(1) << 31, (int64_t(1) << 46) - 1};
      return operation(c_.chance(60) ? '/' : '%', left, numeral(c_.pick(divisors)));
    }
    static const std::vector<char> operators = {'+', '+', '-', '*', '*'}, all = {'+', '-', '*', '<', '>'};
    return operation(c_.pick(slices_ ? all : operators), left, formula(depth - 1));
  }

  /// The same exact size, perhaps computed in another way.
  FormulaPtr again() {
    FormulaPtr other = named(c_.pick(sizes_).name);
    FormulaPtr factor = numeral(c_.chance(50) ? c_.between(2, 5) : int64_t(1) << c_.between(20, 46));
    switch (c_.below(6)) {
    case 0: return operation('-', operation('+', size_, other), other);
    case 1: return operation('/', operation('*', size_, factor), factor);
    case 2: return operation('-', operation('+', size_, factor), factor);
    case 3:
      return operation('-', operation('+', operation('*', size_, other), size_),
                       operation('*', size_, other));
    default: return size_;
    }
  }

  /// The parameters whose types name the sizes.
  std::vector<Parameter> arrays() const {
    return {{"a", arrayOf(byte(), {sizes_[0].name, "0"})},
            {"b", arrayOf(byte(), {"0", sizes_[1].name})},
            {"c", arrayOf(byte(), {sizes_[2].name, "1", "0"})}};
  }

  void print(const std::string& of) { lines_.push_back("print(\"size\", " + of + ", want)"); }

  /// An array without elements, made in one of the ways there are.
  void empty() {
    const std::string e = textOf(*size_), n = textOf(*made_), made = "make(" + n + ")";
    const Type type = arrayOf(byte(), {e, "0"});
    const std::string declares = "y: " + type->text + " = ";
    auto say = [&](const std::string& line) { lines_.push_back(line); };
    switch (c_.below(9)) {
    case 0:
      plain_ = true;
      say("let y = " + made);
      break;
    case 1:
      plain_ = true;
      say("let y = ((n: int) => make(n))(" + n + ")");
      break;
    case 2: say("let " + declares + "if len(a) > 2 { " + made + " } else { zeros(" + e + ", 0) }"); break;
    case 3:
      say("var " + declares + made);
      say("for i in 0..2 { y = zeros(" + n + ", 0) }");
      break;
    case 4:
      c_.program.functions.push_back(declared(c_.freshName("r"), arrays(), type, {"zeros(" + n + ", 0)"}));
      say("let y = " + c_.program.functions.back()->name + "(a, b, c)");
      break;
    case 5: {
      std::vector<Parameter> parameters = arrays();
      parameters.push_back({"y", type});
      c_.program.functions.push_back(declared(c_.freshName("r"), parameters, whole(), {"len(y)"}));
      return print(c_.program.functions.back()->name + "(a, b, c, zeros(" + n + ", 0))");
    }
    case 6:
      say("let box: Box[" + e + "] = Box(" + made + ")");
      say("let y = box.data");
      break;
    default: say("let " + declares + "zeros(" + n + ", 0)");
    }
    print("len(y)");
  }

  /// A slice between two formulas, read or written.
  void slice() {
    if (c_.chance(30)) stride_ = c_.between(2, 5);
    std::string part = "[" + textOf(*size_) + ".." + textOf(*made_);
    if (stride_ > 1) part += " step " + std::to_string(stride_);
    part += "]";
    const std::string axis = std::to_string(axisOfSlices);
    lines_.push_back("var y = bytes(" + axis + ")");
    switch (c_.below(6)) {
    case 0: lines_.push_back("y" + part + " += 1"); break;
    case 1: lines_.push_back("y" + part + " = [for k in 0..len(y" + part + "): 1]"); break;
    case 2: lines_.push_back("more(&y" + part + ")"); break;
    case 3:
      lines_.push_back("let whole = bytes(" + axis + ")");
      lines_.push_back("let part = (() => whole" + part + ")()");
      return print("len(part) + sum(for v in part: v as int)");
    case 4:
      lines_.push_back("let slopes = grad((x: f64[" + axis + "]) => sum(x" + part + "))(flat(" + axis + "))");
      return print("sum(slopes) as int");
    default: return print("len(y" + part + ") + sum(for v in y" + part + ": v as int)");
    }
    print("sum(for v in y: v as int)");
  }

  /// An array with elements, which are written and read at both ends.
  void withElements() {
    const std::string e = textOf(*size_), n = textOf(*made_);
    switch (c_.below(4)) {
    case 0: lines_.push_back("var y: u8[" + e + "] = zeros(" + n + ")"); break;
    case 1:
      plain_ = true;
      lines_.push_back("var y = bytes(" + n + ")");
      break;
    case 2:
      plain_ = true;
      lines_.push_back("let slope = grad((x: f64) => sum(for v in flat(" + n + "): v * x))(2.0)");
      return print("slope as int");
    default: lines_.push_back("var y: u8[" + e + "] = [for i in 0.." + n + ": (i % 7) as u8]");
    }
    lines_.push_back("for i in 0..len(y) { y[i] = 1 }");
    lines_.push_back("if len(y) > 0 { y[len(y) - 1] += 1 }");
    print("len(y)");
    print("if len(y) > 0 { sum(for v in y: v as int) - 1 } else { 0 }");
  }

  Context& c_;
  std::string name_;
  std::vector<Named> sizes_;
  FormulaPtr size_, made_; ///< as the type says it, and as it is computed
  int64_t stride_ = 1;
  bool holdsElements_, slices_;
  bool plain_ = false; ///< nothing says the size but an `int`
  std::vector<std::string> lines_;
};

/// What the functions call: arrays of a size that is given.
void declareMakers(Program& program) {
  const Type real = scalar(Kind::F64);
  program.structs.push_back({"Box[N]", {{"data", arrayOf(byte(), {"N", "0"})}}});
  program.functions = {
      declared("hidden", {{"x", whole()}, {"n", whole()}}, whole(),
               {"if n <= 0 { x } else { hidden(x, n - 1) }"}), // what the compiler does not look through
      declared("make", {{"n", whole()}}, arrayOf(byte(), {"n", "0"}), {"zeros(n, 0)"}),
      declared("bytes", {{"n", whole()}}, arrayOf(byte(), {"n"}), {"zeros(n)"}),
      declared("flat", {{"n", whole()}}, arrayOf(real, {"n"}), {"ones(n)"}),
      declared("more", {{"x", arrayOf(byte(), {"L"}), true}}, unit(), {"for k in 0..len(x) { x[k] += 1 }"})};
}

} // namespace

Program generateSizes(Random& random) {
  Program program;
  Context c{random, program};
  declareMakers(program);
  program.script = block({});
  NodePtr last;
  for (int k = 0; k < makers; ++k) {
    Writer writer(c);
    writer.declare();
    for (int call = 0; call < callsOfEach; ++call) {
      NodePtr made;
      const auto ends = writer.call(made);
      if (ends == Ends::Passes) program.script->kids.push_back(made);
      if (ends && ends != Ends::Passes) last = made;
    }
  }
  // Of the calls that may panic only one stays, at the end.
  if (last) program.script->kids.push_back(last);
  return program;
}

} // namespace melix::fuzz::programs
