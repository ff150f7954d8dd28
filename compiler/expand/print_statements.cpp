// Blocks, statements and what macros are made of.
#include "expand/printer.h"

namespace melix::expand {

void Printer::block(const NodeList& items) {
  out += "{\n";
  statements(items);
  out += "}";
}

void Printer::body(NodeId id) {
  const NodeKind kind = ast_.kind(id);
  if (kind == NodeKind::Block || kind == NodeKind::Splice) return node(id);
  block({id});
}

void Printer::ifChain(const If& first) {
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

void Printer::condition(NodeId id) { ast_.kind(id) == NodeKind::LetCondition ? node(id) : at(id, OrLevel); }

void Printer::match(const Match& m) {
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

void Printer::forLoop(const For& f) {
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

void Printer::jump(std::string_view word, NodeId value) {
  out += word;
  if (value) out += " ", node(value);
}

void Printer::let(const Let& l) {
  out += l.isVar ? "var " : "let ";
  node(l.pattern);
  if (l.type) out += ": ", node(l.type);
  out += " = ";
  l.otherwise ? at(l.init, OrLevel) : node(l.init);
  if (l.otherwise) out += " else ", body(l.otherwise);
}

void Printer::macroUse(const MacroUse& u) {
  out += "@";
  node(u.path);
  if (u.hasArgs) arguments("(", ")", u.args);
  if (u.target) out += isItem(ast_.kind(u.target)) ? "\n" : " ", node(u.target);
}

void Printer::quote(const Quote& q) {
  out += "quote ";
  if (!q.what) return body(q.block);
  name(q.what);
  bracketed(" { ", " }", q.block);
}

void Printer::splice(NodeId id) {
  out += ast_.kind(id) == NodeKind::Splice ? "$" : "$..";
  const NodeId inner = ast_[id].as<One>().inner;
  const NodeKind kind = ast_.kind(inner);
  const bool isPlain = kind == NodeKind::Name || kind == NodeKind::Paren || kind == NodeKind::Array ||
                       kind == NodeKind::Builder || kind == NodeKind::Tuple;
  isPlain ? node(inner) : bracketed("(", ")", inner);
}

} // namespace melix::expand
