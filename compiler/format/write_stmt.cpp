// Statements, blocks, branches.
#include "format/writer.h"

namespace melix::format {

using namespace syntax;

/// Statements, each on a line of its own. `use a, b` is several nodes of one statement.
void Writer::sequence(const NodeList& items) {
  bool first = true;
  for (size_t k = 0; k < items.size() && ok_; ++k) {
    if (!first) flat_ > 0 ? doc_.text("; ") : doc_.hardLine();
    skipSeparators(first);
    commentsBetween(first);
    first = false;
    const NodeId written = statement_ = items[k];
    if (ast_.kind(written) == NodeKind::Use)
      use(items, k);
    else
      node(written);
    if (is(TokenKind::Semicolon) && k + 1 < items.size() && isOpenUse(written) &&
        standsAsItem(ast_, items[k + 1]))
      token();
  }
  skipSeparators(first);
  commentsBetween(first);
}

/// Whether a statement is a use of a macro that a newline alone would join with an item below: its `;` stays.
bool Writer::isOpenUse(NodeId id) const {
  while (ast_.kind(id) == NodeKind::MacroUse && ast_[id].as<MacroUse>().target)
    id = ast_[id].as<MacroUse>().target;
  return ast_.kind(id) == NodeKind::MacroUse;
}

/// `{ … }` in the group of what it belongs to: on one line with it if it holds one simple statement and fits.
void Writer::block(NodeId id) {
  if (ast_.kind(id) == NodeKind::Splice) return node(id);
  const NodeList& items = ast_[id].as<Many>().items;
  token(TokenKind::LBrace);
  if (forced(id) && flat_ == 0) doc_.forceBreak();
  unsigned tight = tight_;
  tight_ = 0;
  bool empty = items.empty() && !commentsAhead();
  {
    Indent indent(doc_);
    if (!empty) line(" ");
    sequence(items);
  }
  if (!empty) line(" ");
  tight_ = tight;
  token(TokenKind::RBrace);
}

/// All branches stand on one line, or none.
void Writer::ifChain(NodeId id) {
  Group group(doc_);
  for (;;) {
    const If& branch = ast_[id].as<If>();
    word();
    node(branch.condition);
    doc_.space();
    block(branch.then);
    if (!branch.otherwise) return;
    doc_.space();
    word();
    if (ast_.kind(branch.otherwise) != NodeKind::If) return block(branch.otherwise);
    id = branch.otherwise;
  }
}

void Writer::match(NodeId id) {
  const Match& m = ast_[id].as<Match>();
  Group group(doc_);
  word();
  node(m.scrutinee);
  doc_.space();
  unsigned tight = tight_;
  tight_ = 0;
  if (!m.arms.empty() && flat_ == 0) doc_.forceBreak();
  braced(m.arms.size(), [&](size_t k) { arm(m.arms[k]); });
  tight_ = tight;
}

void Writer::arm(const MatchArm& arm) {
  Group group(doc_);
  node(arm.pattern);
  if (!arm.body) return; // a splice gives it
  if (arm.guard) {
    doc_.space(), word();
    node(arm.guard);
  }
  doc_.space(), word();
  node(arm.body);
}

/// for, while, loop, scope, on: a head and a block.
void Writer::loopStatement(NodeId id) {
  const Node& n = ast_[id];
  Group group(doc_);
  word();
  switch (n.kind) {
  case NodeKind::For: {
    const For& f = n.as<For>();
    for (const ForHead& head : f.heads) {
      if (is(TokenKind::Comma)) word();
      if (head.byPlace) token(TokenKind::Amp);
      node(head.pattern), doc_.space(), word();
      node(head.range);
    }
    if (f.filter) {
      doc_.space(), word();
      node(f.filter);
    }
    doc_.space();
    return block(f.body);
  }
  case NodeKind::While: node(n.as<While>().condition), doc_.space(); return block(n.as<While>().body);
  case NodeKind::Loop: return block(n.as<One>().inner);
  case NodeKind::On:
    token();
    if (n.as<On>().number) node(n.as<On>().number);
    doc_.space();
    return block(n.as<On>().body);
  default: word(); return block(n.as<Scope>().body);
  }
}

void Writer::let(NodeId id) {
  const Let& l = ast_[id].as<Let>();
  Group group(doc_);
  word();
  node(l.pattern);
  if (l.type) {
    word();
    node(l.type);
  }
  doc_.space(), word();
  node(l.init);
  if (l.otherwise) {
    doc_.space(), word();
    block(l.otherwise);
  }
}

void Writer::assertion(NodeId id) {
  const Assert& a = ast_[id].as<Assert>();
  Group group(doc_);
  word();
  node(a.condition);
  if (!a.message) return;
  token(TokenKind::Comma);
  Indent indent(doc_);
  line(" ");
  node(a.message);
}

/// `name: T ~ e`
void Writer::sample(NodeId id) {
  const Sample& s = ast_[id].as<Sample>();
  node(s.target);
  if (s.type) {
    word();
    node(s.type);
  }
  doc_.space(), word();
  node(s.value);
}

/// `@name(…) target`; an item stands on the line below.
void Writer::macroUse(NodeId id) {
  const MacroUse& m = ast_[id].as<MacroUse>();
  token(TokenKind::At);
  node(m.path);
  if (m.hasArgs) arguments(TokenKind::RParen, m.args);
  if (!m.target) return;
  if (id == statement_ && standsAsItem(ast_, id) && flat_ == 0) {
    statement_ = m.target;
    doc_.hardLine();
  } else {
    doc_.space();
  }
  node(m.target);
}

void Writer::quote(NodeId id) {
  const Quote& q = ast_[id].as<Quote>();
  Group group(doc_);
  word();
  if (!q.what) return block(q.block);
  word();
  word();
  quoted(q.block);
  if (is(TokenKind::Comma)) dropComma();
  doc_.space();
  token(TokenKind::RBrace);
}

/// What stands in the braces of a quote of a kind.
void Writer::quoted(NodeId id) {
  const Node& held = ast_[id];
  if (held.kind == NodeKind::Match && held.as<Match>().arms.size() == 1 && !held.as<Match>().scrutinee)
    return arm(held.as<Match>().arms[0]);
  if (const auto* fields = std::get_if<StructItem>(&held.payload)) return field(fields->fields[0]);
  if (const auto* cases = std::get_if<EnumItem>(&held.payload)) return case_(cases->cases[0]);
  if (const auto* lambda = std::get_if<Lambda>(&held.payload); lambda && !lambda->body)
    return parameter(lambda->params[0]);
  if (const auto* builder = std::get_if<Builder>(&held.payload); builder && !builder->body)
    return header(builder->headers[0]);
  node(id);
}

/// `type T`, `pattern P`, `pattern { P }`
void Writer::kindArgument(NodeId id) {
  word();
  const bool braces = is(TokenKind::LBrace);
  if (braces) word();
  node(ast_[id].as<Quote>().block);
  if (!braces) return;
  doc_.space();
  token(TokenKind::RBrace);
}

} // namespace melix::format
