#include "core/text/parse.h"

#include "core/ir/nest.h"
#include "core/text/print.h"
#include "core/text/text_reader.h"

#include <cctype>

namespace melix::core {

namespace {

constexpr unsigned checkKinds = 0
#define CHECK(Kind, Name, Operands, Dims, Message) +1
#include "core/ir/checks.def"
    ;

class Parser : TextReader {
public:
  using TextReader::TextReader;

  std::string module() {
    declare([&] {
      if (!accept("fn")) return false;
      declareCore(word());
      return true;
    });
    if (accept("records")) {
      expect("flat");
      m_.recordsFlat = true;
    }
    while (ok() && peek().kind != TokenKind::End) {
      if (accept("fn"))
        function();
      else if (is("struct") || is("enum"))
        record();
      else
        fail("`fn`, `struct` or `enum` expected");
    }
    return error_;
  }

private:
  // --- values
  // -----------------------------------------------------------------------------------------------------
  ValueId value() {
    const Token at = peek();
    std::string name = valueName();
    auto it = values_.find(name);
    if (it == values_.end()) {
      failAt(at, "no value %" + name);
      return ValueId(0);
    }
    return it->second;
  }
  void define(Builder& b, const std::string& name, ValueId v) {
    if (!std::isdigit(static_cast<unsigned char>(name[0])))
      b.fn().values[v].hint = m_.types.names.intern(name);
    if (!values_.emplace(name, v).second) fail("%" + name + " is defined twice");
  }
  std::string valueName() {
    if (peek().kind != TokenKind::Value) expected("a value");
    return next().text;
  }
  FunctionId callee() {
    auto it = functions_.find(next().text);
    if (it == functions_.end()) {
      fail("no such function");
      return FunctionId(0);
    }
    return it->second;
  }
  Device device() {
    const Device named = deviceNamed(next().text);
    if (named == Device::Caller) fail("`gpu` or `cpu` expected");
    return named;
  }
  void params(Builder& b) { // after `(`
    list(")", [&] {
      std::string name = valueName();
      expect(":");
      define(b, name, b.param(type()));
    });
  }

  void function() {
    function_ = functions_.at(word());
    values_.clear();
    syms_.clear();
    RegionId body = m_.functions[function_].regions.add(Region{});
    m_.functions[function_].body = body;
    Builder b(m_, function_, body, loc_);
    std::vector<DimSym> dims;
    if (accept("[")) dims = symbols();
    for (DimSym s : dims) m_.types.dims.info(s).kind = types::DimSymKind::Parameter;
    b.fn().dimParams = dims;
    expect("(");
    params(b);
    expect("->");
    expect("(");
    std::vector<TypeId> results = typeList();
    b.fn().results = std::move(results);
    if (accept("defines")) {
      expect("[");
      std::vector<DimSym> defined = symbols();
      b.fn().resultDims = std::move(defined);
    }
    while (accept("inout")) {
      uint32_t param = count();
      expect("=");
      b.fn().inouts.push_back({param, count()});
    }
    if (accept("jvp")) b.fn().customJvp = callee();
    b.fn().keep = accept("keep");
    b.fn().isCold = accept("cold");
    if (accept("on")) b.fn().device = device();
    expect("{");
    ops(b);
  }

  /// Ops up to `}`.
  void ops(Builder& b) {
    nested([&] {
      while (ok() && !is("}")) op(b);
    });
    expect("}");
  }
  RegionId region(Builder& b) {
    Builder in = b.in(b.newRegion());
    expect("{");
    if (accept("[")) {
      std::vector<DimSym> dims = symbols();
      b.fn().regions[in.region].dimParams = std::move(dims);
    }
    if (accept("(")) params(in);
    ops(in);
    return in.region;
  }

  // --- ops
  // --------------------------------------------------------------------------------------------------------
  void op(Builder& b) {
    std::vector<std::string> names;
    if (peek().kind == TokenKind::Value) {
      do names.push_back(valueName());
      while (accept(","));
      expect("=");
    }
    Op o;
    std::optional<OpKind> kind = byName<OpKind>(peek().text, ops::opCount, ops::opText);
    if (!kind) return fail("no op `" + peek().text + "`");
    next();
    o.kind = *kind;
    std::string literal;
    if (o.kind == OpKind::Nest) {
      nest(o, b);
    } else {
      literal = attribute(o, b);
      while (ok() && peek().kind == TokenKind::Value) {
        o.operands.push_back(value());
        if (!accept(",")) break;
      }
      if (accept("dims")) {
        expect("[");
        o.dims = dimList();
      }
      if (accept("defines")) {
        expect("[");
        o.resultDims = symbols();
      }
      while (ok() && is("{")) o.regions.push_back(region(b));
    }
    std::vector<TypeId> types;
    if (!names.empty()) {
      expect(":");
      do types.push_back(type());
      while (ok() && accept(","));
      if (types.size() != names.size()) return fail("as many types as results expected");
    }
    if (!ok()) return;
    if (o.kind == OpKind::Const) o.attr = constant(literal, types.empty() ? m_.types.error() : types[0]);
    OpId id = b.append(std::move(o), types);
    for (size_t i = 0; i < names.size(); ++i) define(b, names[i], b.result(id, i));
  }

  Constant constant(const std::string& text, TypeId t) {
    Constant c;
    TypeKind kind = m_.types.kind(t);
    if (kind == TypeKind::Str)
      c.text = text;
    else
      c.bits = textBits(kind, text);
    return c;
  }

  /// What stands between the op's name and its operands; the literal of a constant.
  std::string attribute(Op& o, Builder&) {
    switch (o.kind) {
    case OpKind::Const: return next().text;
    case OpKind::Get:
      o.operands.push_back(value());
      path(o);
      break;
    case OpKind::Set:
    case OpKind::AddAt: {
      o.operands = {value(), ValueId()};
      path(o);
      expect(o.kind == OpKind::Set ? "=" : "+=");
      o.operands[1] = value();
      break;
    }
    case OpKind::Cmp:
    case OpKind::Round:
    case OpKind::Scale:
    case OpKind::Directed:
    case OpKind::Math:
    case OpKind::Convert:
    case OpKind::ArgSort: o.attr = indexWordOf(o.kind); break;
    case OpKind::Variant:
    case OpKind::Capture: o.attr = count(); break;
    case OpKind::Call:
    case OpKind::Closure: o.attr = CallAttr{callee()}; break;
    case OpKind::Builtin:
      o.attr = BuiltinAttr{choice<ops::BuiltinKind>(ops::builtinCount, ops::builtinName)};
      break;
    case OpKind::Match: {
      MatchAttr a;
      expect("cases");
      expect("[");
      list("]", [&] { a.regionOf.push_back(count()); });
      o.attr = std::move(a);
      break;
    }
    case OpKind::For:
      expect("collects");
      o.attr = LoopAttr{count()};
      break;
    case OpKind::Holds:
    case OpKind::Check: {
      CheckAttr c;
      c.kind = choice<CheckKind>(checkKinds, checkName);
      c.text = string();
      if (accept("of")) c.type = type();
      o.attr = std::move(c);
      break;
    }
    case OpKind::Derivative: derivative(o); break;
    case OpKind::Format: {
      FormatAttr a;
      a.spec = string();
      a.quoted = accept("quoted");
      o.attr = std::move(a);
      break;
    }
    default: break;
    }
    return {};
  }

  void derivative(Op& o) {
    DerivativeAttr d;
    d.mode = choice<DerivativeMode>(4, derivativeName);
    d.callee = callee();
    expect("wrt");
    expect("[");
    list("]", [&] { d.wrt.push_back(count()); });
    expect("seeded");
    expect("[");
    list("]", [&] { d.seeded.push_back(count() != 0); });
    if (accept("saved")) {
      auto it = records_.find(word());
      if (it == records_.end())
        fail("no such record");
      else
        d.saved = it->second;
    }
    o.attr = std::move(d);
  }

  void path(Op& o) {
    Path p;
    auto axis = [&] {
      PathStep s{StepKind::All, 0, {}, 1};
      if (!accept(":")) {
        o.operands.push_back(value());
        s.kind = StepKind::Index;
        if (accept("+:")) {
          s.kind = StepKind::Slice;
          s.length = dim();
          if (accept("by")) s.step = integer();
        }
      }
      p.push_back(s);
    };
    while (ok()) {
      if (accept("["))
        list("]", axis);
      else if (accept("."))
        p.push_back({StepKind::Field, count(), {}, 1});
      else if (accept("<")) {
        o.operands.push_back(value());
        p.push_back({StepKind::Element, 0, {}, 1});
        expect(">");
      } else
        break;
    }
    o.attr = std::move(p);
  }

  // --- nests
  // ------------------------------------------------------------------------------------------------------
  void nest(Op& o, Builder& b) {
    NestAttr attr;
    Builder in = b.in(b.newRegion());
    o.regions.push_back(in.region);
    std::vector<std::string> axes;
    expect("(");
    list(")", [&] {
      axes.push_back(valueName());
      expect(":");
      o.dims.push_back(dim());
      define(in, axes.back(), in.param(m_.types.int64()));
    });
    expect("->");
    while (ok() && !is("accs") && !is("units") && !is("defines") && !is("{")) {
      if (!attr.results.empty()) expect(",");
      attr.results.push_back(nestResult(axes));
    }
    if (accept("accs")) {
      expect("(");
      list(")", [&] {
        std::string name = valueName();
        expect("=");
        ValueId from = value();
        o.operands.push_back(from);
        TypeId t = ok() ? b.typeOf(from) : m_.types.error();
        define(in, name, in.param(m_.types.kind(t) == TypeKind::Acc ? t : m_.types.acc(t)));
        ++attr.accs;
      });
    }
    if (accept("units")) {
      expect("(");
      list(")", [&] { o.operands.push_back(value()); });
    }
    if (accept("defines")) {
      expect("[");
      o.resultDims = symbols();
    }
    o.attr = std::move(attr);
    expect("{");
    ops(in);
    while (ok() && is("{")) o.regions.push_back(region(b));
  }

  /// The number of the axis named next.
  uint32_t axis(const std::vector<std::string>& axes) {
    auto it = std::find(axes.begin(), axes.end(), word());
    if (it == axes.end()) fail("no such axis");
    return static_cast<uint32_t>(it - axes.begin());
  }

  NestResult nestResult(const std::vector<std::string>& axes) {
    NestResult r;
    std::string kind = word();
    if (kind == "filter") {
      r = filtering();
      if (peek().kind == TokenKind::Number) r.yields = count();
      return r;
    }
    expect("[");
    list("]", [&] { r.keep.push_back(axis(axes)); });
    if (kind == "collect") return r;
    if (kind != "keep") fail("`collect`, `keep` or `filter` expected");
    r.kind = NestResultKind::Reduce;
    r.monoid = choice<MonoidKind>(static_cast<uint32_t>(ops::monoids().size()),
                                  [](MonoidKind m) { return infoOf(m).text; });
    if (r.monoid == MonoidKind::Combine) {
      r.yields = count();
      expect("region");
      r.combineRegion = count();
    }
    if (accept("chain")) r.order = OrderKind::Chain;
    if (accept("lanes")) {
      r.order = OrderKind::Lanes;
      expect("(");
      r.lanes = count();
      expect(",");
      r.row = axis(axes);
      expect(")");
    }
    r.fused = accept("fused");
    return r;
  }

  FunctionId function_;
  std::unordered_map<std::string, ValueId> values_;
};

} // namespace

std::string parseModule(Module& m, std::string_view text) { return Parser(m, text).module(); }

FunctionId findFunction(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].name == name) return FunctionId(i);
  return {};
}

} // namespace melix::core
