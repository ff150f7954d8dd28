#include "expand/printer.h"

#include <algorithm>
#include <array>

namespace melix::expand {

namespace {

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

} // namespace

void Printer::node(NodeId id) {
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
    out += "scope ";
    name(n.as<Scope>().name), out += " ";
    return body(n.as<Scope>().body);
  case NodeKind::On:
    out += "on ";
    name(n.as<On>().device), node(n.as<On>().number), out += " ";
    return body(n.as<On>().body);
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

void Printer::statements(const NodeList& items) {
  for (NodeId id : items) {
    node(id);
    out += "\n";
  }
}

void Printer::field(const FieldDecl& f) {
  if (f.name) name(f.name), out += ": ";
  node(f.type);
  if (f.defaultValue) out += " = ", node(f.defaultValue);
}

void Printer::case_(const CaseDecl& c) {
  name(c.name);
  if (c.hasFields) each("(", ")", c.fields, [&](const FieldDecl& f) { field(f); });
}

void Printer::parameter(const Parameter& p) {
  if (p.isInout) out += "inout ";
  if (p.isPack) out += "..";
  p.pattern ? node(p.pattern) : name(p.name);
  if (p.type) out += ": ", node(p.type);
  if (p.defaultValue) out += " = ", node(p.defaultValue);
}

void Printer::header(const Header& h) {
  if (h.isPack) out += "..";
  node(h.pattern);
  if (h.range) out += " in ", at(h.range, OrLevel);
}

void Printer::arm(const MatchArm& a) {
  node(a.pattern);
  if (!a.body) return;
  if (a.guard) out += " if ", at(a.guard, OrLevel);
  out += " => ";
  node(a.body);
}

void Printer::generic(const Generic& g) {
  if (g.isPack) out += "..";
  name(g.name);
  if (g.bound) out += ": ", node(g.bound);
  if (g.defaultType) out += " = ", node(g.defaultType);
}

void Printer::arguments(std::string_view open, std::string_view close, const std::vector<Argument>& all) {
  each(open, close, all, [&](const Argument& a) {
    if (a.label) name(a.label), out += ": ";
    node(a.value);
  });
}

void Printer::name(NameId id) { isSpliced(id) ? node(spliceOf(id)) : void(out += spelling_(id)); }

void Printer::at(NodeId id, Level least) {
  if (!id) return;
  if (levelOf(ast_, id) >= least) return node(id);
  bracketed("(", ")", id);
}

void Printer::bracketed(std::string_view open, std::string_view close, NodeId id) {
  out += open;
  node(id);
  out += close;
}

void Printer::list(std::string_view open, std::string_view close, const NodeList& items, bool tuple) {
  each(open, "", items, [&](NodeId id) { node(id); });
  if (tuple && items.size() == 1) out += ",";
  out += close;
}

void Printer::separated(const NodeList& items, std::string_view by) {
  for (size_t k = 0; k < items.size(); ++k) {
    if (k > 0) out += by;
    node(items[k]);
  }
}

std::string Printer::escaped(std::string_view text, char quote) {
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

void Printer::string(const StringLit& s) {
  out += "\"";
  for (const StringPart& part : s.parts) {
    if (!part.value) {
      out += escaped(part.text, '"');
      continue;
    }
    out += "{" + piece(part.value);
    if (!part.format.empty() || !part.formatValues.empty()) out += ":" + format(part);
    out += "}";
  }
  out += "\"";
}

/// A value within a text. A block stands in brackets, as `{{` is a brace of the text, and so does a literal,
/// which nobody writes there.
std::string Printer::piece(NodeId value) {
  static constexpr std::array literals{NodeKind::IntLit, NodeKind::FloatLit, NodeKind::CharLit,
                                       NodeKind::BoolLit, NodeKind::String};
  Printer inner(ast_, spelling_);
  inner.node(value);
  const bool isLiteral = std::ranges::count(literals, ast_.kind(value)) > 0;
  return isLiteral || inner.out.starts_with('{') ? "(" + inner.out + ")" : inner.out;
}

std::string Printer::format(const StringPart& part) {
  std::string made;
  size_t next = 0;
  for (size_t k = 0; k < part.format.size(); ++k) {
    if (part.format.compare(k, 2, "{}") != 0 || next >= part.formatValues.size()) {
      made += part.format[k];
      continue;
    }
    made += "{" + piece(part.formatValues[next++]) + "}";
    ++k;
  }
  return made;
}

void Printer::binary(const Binary& b) {
  const Level level = levelOf(b.op);
  const bool isPower = b.op == BinaryOp::Pow;
  at(b.left, isPower || level == CompareLevel ? static_cast<Level>(level + 1) : level);
  isPower ? out += "^" : out += " " + std::string(spelling(b.op)) + " ";
  at(b.right, isPower ? PrefixLevel : static_cast<Level>(level + 1));
}

void Printer::range(const Range& r) {
  at(r.first, BitOrLevel);
  out += "..";
  at(r.last, BitOrLevel);
  if (r.step) out += " step ", at(r.step, BitOrLevel);
}

void Printer::tupleIndex(const TupleIndex& t) {
  const NodeKind base = ast_.kind(t.base);
  const bool isNumber = base == NodeKind::IntLit || base == NodeKind::FloatLit;
  isNumber ? bracketed("(", ")", t.base) : at(t.base, PostfixLevel);
  out += "." + std::to_string(t.index);
}

void Printer::dict(const DictEntries& d) {
  each("[", "]", d.entries, [&](const std::pair<NodeId, NodeId>& e) {
    node(e.first), out += ": ";
    node(e.second);
  });
}

void Printer::generator(const Builder& b) {
  out += "for ";
  for (size_t k = 0; k < b.headers.size(); ++k) {
    if (k > 0) out += ", ";
    header(b.headers[k]);
  }
  if (b.filter) out += " if ", at(b.filter, OrLevel);
  out += ": ";
  node(b.body);
}

void Printer::lambda(const Lambda& l) {
  each("(", ")", l.params, [&](const Parameter& p) { parameter(p); });
  out += " => ";
  node(l.body);
}

void Printer::functionType(const FunctionType& f) {
  out += "(";
  for (size_t k = 0; k < f.params.size(); ++k) {
    if (k > 0) out += ", ";
    if (f.inout[k]) out += "inout ";
    node(f.params[k]);
  }
  out += ") -> ";
  node(f.result);
}

void Printer::casePattern(const CasePattern& c) {
  node(c.path);
  if (!c.hasFields) return;
  each("(", ")", c.fields, [&](const PatternField& f) {
    if (!f.pattern) return void(out += "..");
    if (f.label) name(f.label), out += ": ";
    node(f.pattern);
  });
}

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
