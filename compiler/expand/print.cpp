#include "expand/print.h"

#include <algorithm>

namespace melix::expand {

namespace {

/// How tightly an expression holds together: from lambdas to what is hung on a name.
enum Level : uint8_t {
  Lowest,
  OrLevel,
  AndLevel,
  NotLevel,
  CompareLevel,
  RangeLevel,
  BitOrLevel,
  BitAndLevel,
  ShiftLevel,
  SumLevel,
  ProductLevel,
  AsLevel,
  PrefixLevel,
  PowerLevel,
  PostfixLevel,
  Atom
};

Level levelOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or: return OrLevel;
  case BinaryOp::And: return AndLevel;
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge: return CompareLevel;
  case BinaryOp::BitOr: return BitOrLevel;
  case BinaryOp::BitAnd: return BitAndLevel;
  case BinaryOp::Shl:
  case BinaryOp::Shr: return ShiftLevel;
  case BinaryOp::Add:
  case BinaryOp::Sub: return SumLevel;
  case BinaryOp::Pow: return PowerLevel;
  default: return ProductLevel;
  }
}

Level levelOf(const Ast& ast, NodeId id) {
  const Node& n = ast[id];
  switch (n.kind) {
  case NodeKind::Lambda:
  case NodeKind::Generator:
  case NodeKind::Break:
  case NodeKind::Continue:
  case NodeKind::Return:
  case NodeKind::Let:
  case NodeKind::Assign:
  case NodeKind::OpAssign:
  case NodeKind::Assert:
  case NodeKind::Sample:
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::MacroUse:
  case NodeKind::If:
  case NodeKind::Match:
  case NodeKind::Loop:
  case NodeKind::Block:
  case NodeKind::Quote:
  case NodeKind::FunctionType: return Lowest;
  case NodeKind::Range: return RangeLevel;
  case NodeKind::Binary: return levelOf(n.as<Binary>().op);
  case NodeKind::Unary: return n.as<Unary>().op == UnaryOp::Not ? NotLevel : PrefixLevel;
  case NodeKind::Ref: return PrefixLevel;
  case NodeKind::As: return AsLevel;
  default: return Atom;
  }
}

class Printer {
public:
  Printer(const Ast& ast, const Spelling& spelling) : ast_(ast), spelling_(spelling) {}

  std::string out;

  void node(NodeId id) {
    if (!id) return;
    const Node& n = ast_[id];
    switch (n.kind) {
    case NodeKind::Error: out += "_"; return;
    case NodeKind::IntLit:
    case NodeKind::FloatLit:
    case NodeKind::BoolLit: out += n.as<Text>().text; return;
    case NodeKind::CharLit: out += "'" + escaped(n.as<Text>().text, '\'') + "'"; return;
    case NodeKind::String: return string(n.as<StringLit>());
    case NodeKind::Name: return name(n.as<Name>().name);
    case NodeKind::Underscore: out += "_"; return;
    case NodeKind::Colon: out += ":"; return;
    case NodeKind::RestAxes: out += ".."; return;
    case NodeKind::PackUse: out += ".."; return name(n.as<Name>().name);
    case NodeKind::FreshDim: out += "?"; return name(n.as<Name>().name);
    case NodeKind::Paren: return bracketed("(", ")", n.as<One>().inner);
    case NodeKind::Unary:
      out += n.as<Unary>().op == UnaryOp::Not ? "not " : "-";
      return at(n.as<Unary>().operand, n.as<Unary>().op == UnaryOp::Not ? NotLevel : PrefixLevel);
    case NodeKind::Ref:
    case NodeKind::RefPattern: out += "&"; return at(n.as<One>().inner, PrefixLevel);
    case NodeKind::Binary: return binary(n.as<Binary>());
    case NodeKind::As:
      at(n.as<Two>().first, AsLevel);
      out += " as ";
      return node(n.as<Two>().second);
    case NodeKind::Try:
      at(n.as<One>().inner, PostfixLevel);
      out += "?";
      return;
    case NodeKind::Range: return range(n.as<Range>());
    case NodeKind::Tuple: return list("(", ")", n.as<Many>().items, true);
    case NodeKind::Array:
    case NodeKind::AxisNames: return list("[", "]", n.as<Many>().items, false);
    case NodeKind::Dict: return dict(n.as<DictEntries>());
    case NodeKind::Builder:
      out += "[";
      generator(n.as<Builder>());
      out += "]";
      return;
    case NodeKind::Generator: return generator(n.as<Builder>());
    case NodeKind::Member:
      at(n.as<Member>().base, PostfixLevel);
      out += ".";
      return name(n.as<Member>().name);
    case NodeKind::TupleIndex: return tupleIndex(n.as<TupleIndex>());
    case NodeKind::Call: at(n.as<Call>().callee, PostfixLevel); return arguments("(", ")", n.as<Call>().args);
    case NodeKind::Brackets:
      at(n.as<Brackets>().base, PostfixLevel);
      return arguments("[", "]", n.as<Brackets>().items);
    case NodeKind::Lambda: return lambda(n.as<Lambda>());
    case NodeKind::Block: return block(n.as<Many>().items);
    case NodeKind::If: return ifChain(n.as<If>());
    case NodeKind::LetCondition:
      out += "let ";
      node(n.as<LetCondition>().pattern), out += " = ";
      return at(n.as<LetCondition>().value, NotLevel);
    case NodeKind::Match: return match(n.as<Match>());
    case NodeKind::For: return forLoop(n.as<For>());
    case NodeKind::While:
      out += "while ";
      node(n.as<While>().condition), out += " ";
      return body(n.as<While>().body);
    case NodeKind::Loop: out += "loop "; return body(n.as<One>().inner);
    case NodeKind::Break: return jump("break", n.as<One>().inner);
    case NodeKind::Continue: out += "continue"; return;
    case NodeKind::Return: return jump("return", n.as<One>().inner);
    case NodeKind::Let: return let(n.as<Let>());
    case NodeKind::Assign: node(n.as<Assign>().target), out += " = "; return node(n.as<Assign>().value);
    case NodeKind::OpAssign:
      node(n.as<OpAssign>().target);
      out += " " + std::string(spelling(n.as<OpAssign>().op)) + "= ";
      return node(n.as<OpAssign>().value);
    case NodeKind::Assert:
      out += "assert ";
      node(n.as<Assert>().condition);
      if (n.as<Assert>().message) out += ", ", node(n.as<Assert>().message);
      return;
    case NodeKind::Sample:
      node(n.as<Sample>().target);
      if (n.as<Sample>().type) out += ": ", node(n.as<Sample>().type);
      out += " ~ ";
      return node(n.as<Sample>().value);
    case NodeKind::Scope:
    case NodeKind::On:
      out += n.kind == NodeKind::On ? "on " : "scope ";
      name(n.as<Scope>().name), out += " ";
      return body(n.as<Scope>().body);
    case NodeKind::MacroUse: return macroUse(n.as<MacroUse>());
    case NodeKind::Quote: return quote(n.as<Quote>());
    case NodeKind::KindArgument:
      name(n.as<Quote>().what);
      out += " ";
      if (spelling_(n.as<Quote>().what) == "type") return node(n.as<Quote>().block);
      return bracketed("{ ", " }", n.as<Quote>().block);
    case NodeKind::Splice:
    case NodeKind::SpliceMany: return splice(id);
    case NodeKind::FunctionType: return functionType(n.as<FunctionType>());
    case NodeKind::CasePattern: return casePattern(n.as<CasePattern>());
    case NodeKind::OrPattern: return separated(n.as<Many>().items, " | ");
    case NodeKind::Module: return statements(n.as<Many>().items);
    default: return item(n);
    }
  }

  void statements(const NodeList& items) {
    for (NodeId id : items) {
      node(id);
      out += "\n";
    }
  }

  void field(const FieldDecl& f) {
    if (f.name) name(f.name), out += ": ";
    node(f.type);
    if (f.defaultValue) out += " = ", node(f.defaultValue);
  }
  void case_(const CaseDecl& c) {
    name(c.name);
    if (c.hasFields) each("(", ")", c.fields, [&](const FieldDecl& f) { field(f); });
  }
  void parameter(const Parameter& p) {
    if (p.isInout) out += "inout ";
    if (p.isPack) out += "..";
    p.pattern ? node(p.pattern) : name(p.name);
    if (p.type) out += ": ", node(p.type);
    if (p.defaultValue) out += " = ", node(p.defaultValue);
  }
  void header(const Header& h) {
    if (h.isPack) out += "..";
    node(h.pattern);
    if (h.range) out += " in ", at(h.range, OrLevel);
  }
  void arm(const MatchArm& a) {
    node(a.pattern);
    if (!a.body) return;
    if (a.guard) out += " if ", at(a.guard, OrLevel);
    out += " => ";
    node(a.body);
  }
  void generic(const Generic& g) {
    if (g.isPack) out += "..";
    name(g.name);
    if (g.bound) out += ": ", node(g.bound);
    if (g.defaultType) out += " = ", node(g.defaultType);
  }
  void arguments(std::string_view open, std::string_view close, const std::vector<Argument>& all) {
    each(open, close, all, [&](const Argument& a) {
      if (a.label) name(a.label), out += ": ";
      node(a.value);
    });
  }

private:
  void name(NameId id) { isSpliced(id) ? node(spliceOf(id)) : void(out += spelling_(id)); }

  /// In brackets unless it holds together at least so tightly.
  void at(NodeId id, Level least) {
    if (!id) return;
    if (levelOf(ast_, id) >= least) return node(id);
    bracketed("(", ")", id);
  }
  void bracketed(std::string_view open, std::string_view close, NodeId id) {
    out += open;
    node(id);
    out += close;
  }
  template <class T, class F>
  void each(std::string_view open, std::string_view close, const std::vector<T>& all, F write) {
    out += open;
    for (size_t k = 0; k < all.size(); ++k) {
      if (k > 0) out += ", ";
      write(all[k]);
    }
    out += close;
  }
  void list(std::string_view open, std::string_view close, const NodeList& items, bool tuple) {
    each(open, "", items, [&](NodeId id) { node(id); });
    if (tuple && items.size() == 1) out += ",";
    out += close;
  }
  void separated(const NodeList& items, std::string_view by) {
    for (size_t k = 0; k < items.size(); ++k) {
      if (k > 0) out += by;
      node(items[k]);
    }
  }

  static std::string escaped(std::string_view text, char quote) {
    std::string made;
    for (char c : text) switch (c) {
      case '\n': made += "\\n"; break;
      case '\t': made += "\\t"; break;
      case '\r': made += "\\r"; break;
      case '\0': made += "\\0"; break;
      case '\\': made += "\\\\"; break;
      case '{': made += quote == '"' ? "{{" : "{"; break;
      case '}': made += quote == '"' ? "}}" : "}"; break;
      default:
        if (c == quote) made += '\\';
        made += c;
      }
    return made;
  }

  void string(const StringLit& s) {
    out += "\"";
    for (const StringPart& part : s.parts) {
      if (!part.value) {
        out += escaped(part.text, '"');
        continue;
      }
      out += "{";
      node(part.value);
      if (!part.format.empty() || !part.formatValues.empty()) out += ":" + format(part);
      out += "}";
    }
    out += "\"";
  }
  std::string format(const StringPart& part) {
    std::string made;
    size_t next = 0;
    for (size_t k = 0; k < part.format.size(); ++k) {
      if (part.format.compare(k, 2, "{}") != 0 || next >= part.formatValues.size()) {
        made += part.format[k];
        continue;
      }
      Printer inner(ast_, spelling_);
      inner.node(part.formatValues[next++]);
      made += "{" + inner.out + "}";
      ++k;
    }
    return made;
  }

  void binary(const Binary& b) {
    const Level level = levelOf(b.op);
    const bool isPower = b.op == BinaryOp::Pow;
    at(b.left, isPower || level == CompareLevel ? static_cast<Level>(level + 1) : level);
    isPower ? out += "^" : out += " " + std::string(spelling(b.op)) + " ";
    at(b.right, isPower ? PrefixLevel : static_cast<Level>(level + 1));
  }
  void range(const Range& r) {
    at(r.first, BitOrLevel);
    out += "..";
    at(r.last, BitOrLevel);
    if (r.step) out += " step ", at(r.step, BitOrLevel);
  }
  void tupleIndex(const TupleIndex& t) {
    const NodeKind base = ast_.kind(t.base);
    const bool isNumber = base == NodeKind::IntLit || base == NodeKind::FloatLit;
    isNumber ? bracketed("(", ")", t.base) : at(t.base, PostfixLevel);
    out += "." + std::to_string(t.index);
  }
  void dict(const DictEntries& d) {
    each("[", "]", d.entries, [&](const std::pair<NodeId, NodeId>& e) {
      node(e.first), out += ": ";
      node(e.second);
    });
  }
  void generator(const Builder& b) {
    out += "for ";
    for (size_t k = 0; k < b.headers.size(); ++k) {
      if (k > 0) out += ", ";
      header(b.headers[k]);
    }
    if (b.filter) out += " if ", at(b.filter, OrLevel);
    out += ": ";
    node(b.body);
  }
  void lambda(const Lambda& l) {
    each("(", ")", l.params, [&](const Parameter& p) { parameter(p); });
    out += " => ";
    node(l.body);
  }
  void functionType(const FunctionType& f) {
    out += "(";
    for (size_t k = 0; k < f.params.size(); ++k) {
      if (k > 0) out += ", ";
      if (f.inout[k]) out += "inout ";
      node(f.params[k]);
    }
    out += ") -> ";
    node(f.result);
  }
  void casePattern(const CasePattern& c) {
    node(c.path);
    if (!c.hasFields) return;
    each("(", ")", c.fields, [&](const PatternField& f) {
      if (!f.pattern) return void(out += "..");
      if (f.label) name(f.label), out += ": ";
      node(f.pattern);
    });
  }

  void block(const NodeList& items) {
    out += "{\n";
    statements(items);
    out += "}";
  }
  void body(NodeId id) {
    const NodeKind kind = ast_.kind(id);
    if (kind == NodeKind::Block || kind == NodeKind::Splice) return node(id);
    block({id});
  }
  void ifChain(const If& first) {
    const If* branch = &first;
    for (;;) {
      out += "if ";
      condition(branch->condition), out += " ";
      body(branch->then);
      if (!branch->otherwise) return;
      out += " else ";
      if (ast_.kind(branch->otherwise) != NodeKind::If) return body(branch->otherwise);
      branch = &ast_[branch->otherwise].as<If>();
    }
  }
  /// A block or a match in the head of a statement would be taken for its body.
  void condition(NodeId id) { ast_.kind(id) == NodeKind::LetCondition ? node(id) : at(id, OrLevel); }
  void match(const Match& m) {
    if (!m.scrutinee && m.arms.size() == 1) return arm(m.arms[0]);
    out += "match ";
    at(m.scrutinee, OrLevel);
    out += " {\n";
    for (const MatchArm& a : m.arms) {
      arm(a);
      out += "\n";
    }
    out += "}";
  }
  void forLoop(const For& f) {
    out += "for ";
    for (size_t k = 0; k < f.heads.size(); ++k) {
      if (k > 0) out += ", ";
      if (f.heads[k].byPlace) out += "&";
      node(f.heads[k].pattern);
      out += " in ";
      at(f.heads[k].range, OrLevel);
    }
    if (f.filter) out += " if ", at(f.filter, OrLevel);
    out += " ";
    body(f.body);
  }
  void jump(std::string_view word, NodeId value) {
    out += word;
    if (value) out += " ", node(value);
  }
  void let(const Let& l) {
    out += l.isVar ? "var " : "let ";
    node(l.pattern);
    if (l.type) out += ": ", node(l.type);
    out += " = ";
    l.otherwise ? at(l.init, OrLevel) : node(l.init);
    if (l.otherwise) out += " else ", body(l.otherwise);
  }
  void macroUse(const MacroUse& u) {
    out += "@";
    node(u.path);
    if (u.hasArgs) arguments("(", ")", u.args);
    if (u.target) out += isItem(ast_.kind(u.target)) ? "\n" : " ", node(u.target);
  }
  void quote(const Quote& q) {
    out += "quote ";
    if (!q.what) return body(q.block);
    name(q.what);
    bracketed(" { ", " }", q.block);
  }
  void splice(NodeId id) {
    out += ast_.kind(id) == NodeKind::Splice ? "$" : "$..";
    const NodeId inner = ast_[id].as<One>().inner;
    const NodeKind kind = ast_.kind(inner);
    const bool isPlain = kind == NodeKind::Name || kind == NodeKind::Paren || kind == NodeKind::Array ||
                         kind == NodeKind::Builder || kind == NodeKind::Tuple;
    isPlain ? node(inner) : bracketed("(", ")", inner);
  }

  // --- items
  void attributes(const std::vector<Attribute>& all) {
    for (const Attribute& a : all) {
      out += "@";
      name(a.name);
      if (a.hasArgs) arguments("(", ")", a.args);
      out += "\n";
    }
  }
  void generics(const std::vector<Generic>& all) {
    if (all.empty()) return;
    each("[", "]", all, [&](const Generic& g) { generic(g); });
  }
  void head(bool isPub, std::string_view word, NameId declared) {
    if (isPub) out += "pub ";
    out += word;
    out += " ";
    name(declared);
  }
  void fn(const FnItem& f) {
    attributes(f.attributes);
    if (f.isPub) out += "pub ";
    if (f.isExtern) out += "extern ";
    if (f.isExport) out += "export ";
    if (f.isPure) out += "pure ";
    head(false, "fn", f.name);
    generics(f.generics);
    each("(", ")", f.params, [&](const Parameter& p) { parameter(p); });
    if (f.result) out += " -> ", node(f.result);
    if (!f.body) return;
    out += f.shortForm ? " = " : " ";
    f.shortForm ? node(f.body) : body(f.body);
  }
  void structItem(const StructItem& s) {
    if (!s.name && s.fields.size() == 1) return field(s.fields[0]);
    attributes(s.attributes);
    head(s.isPub, "struct", s.name);
    generics(s.generics);
    if (s.base) out += ": ", node(s.base);
    out += " {\n";
    for (const FieldDecl& f : s.fields) field(f), out += "\n";
    out += "}";
  }
  void enumItem(const EnumItem& e) {
    if (!e.name && e.cases.size() == 1) return case_(e.cases[0]);
    attributes(e.attributes);
    head(e.isPub, "enum", e.name);
    generics(e.generics);
    out += " {\n";
    for (const CaseDecl& c : e.cases) case_(c), out += "\n";
    out += "}";
  }
  void use(const UseItem& u) {
    out += u.isPub ? "pub use " : "use ";
    for (size_t k = 0; k < u.path.size(); ++k) {
      if (k > 0) out += ".";
      name(u.path[k].name);
    }
    if (u.hasNames) each(".{", "}", u.names, [&](const UseName& n) { name(n.name); });
    if (u.alias) out += " as ", name(u.alias);
  }
  void item(const Node& n) {
    switch (n.kind) {
    case NodeKind::Fn: return fn(n.as<FnItem>());
    case NodeKind::Struct: return structItem(n.as<StructItem>());
    case NodeKind::Enum: return enumItem(n.as<EnumItem>());
    case NodeKind::Concept: {
      const ConceptItem& c = n.as<ConceptItem>();
      head(c.isPub, "concept", c.name);
      generics(c.generics);
      out += " ";
      return block(c.functions);
    }
    case NodeKind::Macro: {
      const MacroItem& m = n.as<MacroItem>();
      head(m.isPub, "macro", m.name);
      each("(", ")", m.params, [&](const Parameter& p) { parameter(p); });
      if (m.result) out += " -> ", node(m.result);
      out += " ";
      return body(m.body);
    }
    case NodeKind::Use: return use(n.as<UseItem>());
    case NodeKind::Const: {
      const ConstItem& c = n.as<ConstItem>();
      head(c.isPub, "const", c.name);
      if (c.type) out += ": ", node(c.type);
      out += " = ";
      return node(c.value);
    }
    case NodeKind::TypeAlias: {
      const TypeItem& t = n.as<TypeItem>();
      head(t.isPub, "type", t.name);
      generics(t.generics);
      out += " = ";
      return node(t.type);
    }
    case NodeKind::Test:
    case NodeKind::Bench: {
      const TestItem& t = n.as<TestItem>();
      out += n.kind == NodeKind::Test ? "test " : "bench ";
      t.splice ? node(t.splice) : void(out += "\"" + escaped(t.name, '"') + "\"");
      out += " ";
      return body(t.body);
    }
    case NodeKind::CheckItem:
      out += "check ";
      node(n.as<CheckItem>().type), out += ": ";
      return node(n.as<CheckItem>().concept_);
    default: return;
    }
  }

  const Ast& ast_;
  const Spelling& spelling_;
};

} // namespace

std::string print(const Ast& ast, NodeId node, Role, const Spelling& spelling) {
  Printer printer(ast, spelling);
  const Node& n = ast[node];
  if (const auto* lambda = std::get_if<Lambda>(&n.payload);
      lambda && !lambda->body && lambda->params.size() == 1)
    printer.parameter(lambda->params[0]);
  else if (const auto* builder = std::get_if<Builder>(&n.payload);
           builder && !builder->body && builder->headers.size() == 1)
    printer.header(builder->headers[0]);
  else if (const auto* call = std::get_if<Call>(&n.payload); call && !call->callee)
    printer.arguments("", "", call->args);
  else if (const auto* type = std::get_if<TypeItem>(&n.payload); type && !type->name)
    printer.generic(type->generics[0]);
  else
    printer.node(node);
  return std::move(printer.out);
}

std::string print(const Ast& ast, Value value, const Interner& names) {
  Spelling plain = [&](NameId n) { return std::string(names.text(n)); };
  return print(ast, value.node, Role::Any, plain);
}

std::string printItems(const Ast& ast, const NodeList& items, const Spelling& spelling) {
  Printer printer(ast, spelling);
  printer.statements(items);
  return std::move(printer.out);
}

} // namespace melix::expand
