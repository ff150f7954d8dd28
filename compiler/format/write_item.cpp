// Items.
#include "format/writer.h"

namespace melix::format {

using namespace syntax;

void Writer::item(NodeId id) {
  switch (ast_.kind(id)) {
  case NodeKind::Fn: return fn(id);
  case NodeKind::Struct: return structItem(id);
  case NodeKind::Enum: return enumItem(id);
  case NodeKind::Concept: return concept_(id);
  case NodeKind::Macro: return macro(id);
  case NodeKind::Const: return constItem(id);
  case NodeKind::TypeAlias: return typeAlias(id);
  case NodeKind::Test:
  case NodeKind::Bench: return test(id);
  case NodeKind::CheckItem: return checkItem(id);
  case NodeKind::Use: {
    size_t k = 0;
    return use({id}, k);
  }
  default: ok_ = false;
  }
}

/// Each on a line of its own above the item.
void Writer::attributes(const std::vector<Attribute>& list) {
  for (const Attribute& a : list) {
    token(TokenKind::At);
    token();
    if (a.hasArgs) arguments(TokenKind::RParen, a.args);
    doc_.hardLine();
  }
}

/// Elements in braces, on one line if they fit there.
void Writer::braced(size_t count, FunctionRef<void(size_t)> writeOne, std::string_view flat) {
  token(TokenKind::LBrace);
  bool empty = count == 0 && !commentsAhead();
  {
    Indent indent(doc_);
    if (!empty) line(" ");
    elements(count, flat, writeOne);
  }
  if (!empty) line(" ");
  token(TokenKind::RBrace);
}

void Writer::fn(NodeId id) {
  const FnItem& f = ast_[id].as<FnItem>();
  attributes(f.attributes);
  Group group(doc_);
  while (ok_ && !is(TokenKind::KwFn) && !is(TokenKind::End)) {
    if (is(TokenKind::StringStart))
      stringTokens(), doc_.space();
    else
      word();
  }
  word();
  name(f.name); // which may be an operator
  generics(f.generics);
  parameters(f.params);
  if (f.result) {
    doc_.space(), word();
    node(f.result);
  }
  if (!f.body) return;
  doc_.space();
  if (!f.shortForm) return block(f.body);
  token(TokenKind::Equal);
  if (isBlocky(ast_.kind(f.body))) {
    doc_.space();
    return node(f.body);
  }
  Indent indent(doc_);
  line(" ");
  node(f.body);
}

void Writer::structItem(NodeId id) {
  const StructItem& s = ast_[id].as<StructItem>();
  attributes(s.attributes);
  Group group(doc_);
  if (s.isPub) word();
  word();
  name(s.name);
  generics(s.generics);
  if (s.base) word(), node(s.base);
  doc_.space();
  braced(s.fields.size(), [&](size_t k) { field(s.fields[k]); });
}

void Writer::field(const FieldDecl& field) {
  if (field.name) name(field.name), word();
  node(field.type);
  if (field.defaultValue) doc_.space(), word(), node(field.defaultValue);
}

/// Cases with fields stand on lines of their own.
void Writer::enumItem(NodeId id) {
  const EnumItem& e = ast_[id].as<EnumItem>();
  attributes(e.attributes);
  Group group(doc_);
  if (e.isPub) word();
  word();
  name(e.name);
  generics(e.generics);
  doc_.space();
  for (const CaseDecl& c : e.cases)
    if (c.hasFields) doc_.forceBreak();
  braced(e.cases.size(), [&](size_t k) { case_(e.cases[k]); });
}

void Writer::case_(const CaseDecl& c) {
  name(c.name);
  if (!c.hasFields) return;
  Group fields(doc_);
  token(TokenKind::LParen);
  if (c.fields.empty()) return token(TokenKind::RParen);
  {
    Indent indent(doc_);
    line("");
    // Between these a comma must stand, however the lines are broken.
    for (size_t f = 0; f < c.fields.size(); ++f) {
      if (f > 0) doc_.text(","), line(" ");
      dropSeparators();
      field(c.fields[f]);
    }
    dropSeparators();
  }
  line("");
  token(TokenKind::RParen);
}

void Writer::concept_(NodeId id) {
  const ConceptItem& c = ast_[id].as<ConceptItem>();
  Group group(doc_);
  if (c.isPub) word();
  word();
  name(c.name);
  generics(c.generics);
  doc_.space();
  if (c.functions.size() > 1) doc_.forceBreak();
  braced(c.functions.size(), [&](size_t k) { node(c.functions[k]); });
}

void Writer::macro(NodeId id) {
  const MacroItem& m = ast_[id].as<MacroItem>();
  Group group(doc_);
  if (m.isPub) word();
  word();
  name(m.name);
  parameters(m.params);
  if (m.result) {
    doc_.space(), word();
    node(m.result);
  }
  doc_.space();
  block(m.body);
}

/// `use a, b.c as d, e.{f, G}`: all nodes of one statement.
void Writer::use(const NodeList& items, size_t& k) {
  Group group(doc_);
  Indent indent(doc_);
  if (is(TokenKind::KwPub)) word();
  word();
  for (;; ++k) {
    const UseItem& u = ast_[items[k]].as<UseItem>();
    for (size_t part = 0; part < u.path.size(); ++part) {
      if (part > 0) token(TokenKind::Dot);
      name(u.path[part].name);
    }
    if (u.hasNames) {
      token(TokenKind::Dot);
      list(TokenKind::RBrace, u.names.size(), [&](size_t n) { name(u.names[n].name); });
    }
    if (u.alias) {
      doc_.space();
      word();
      name(u.alias);
    }
    bool more = k + 1 < items.size() && ast_.kind(items[k + 1]) == NodeKind::Use && is(TokenKind::Comma);
    if (!more) return;
    token(TokenKind::Comma);
    line(" ");
  }
}

void Writer::constItem(NodeId id) {
  const ConstItem& c = ast_[id].as<ConstItem>();
  Group group(doc_);
  if (c.isPub) word();
  word();
  name(c.name);
  if (c.type) word(), node(c.type);
  doc_.space(), word();
  node(c.value);
}

void Writer::typeAlias(NodeId id) {
  const TypeItem& t = ast_[id].as<TypeItem>();
  Group group(doc_);
  if (t.isPub) word();
  word();
  name(t.name);
  generics(t.generics);
  doc_.space(), word();
  node(t.type);
}

void Writer::test(NodeId id) {
  Group group(doc_);
  tokensBefore(ast_[id].as<TestItem>().nameSpan.begin);
  if (NodeId splice = ast_[id].as<TestItem>().splice)
    node(splice);
  else
    stringTokens();
  doc_.space();
  block(ast_[id].as<TestItem>().body);
}

/// `check NAME: concept`
void Writer::checkItem(NodeId id) {
  const CheckItem& c = ast_[id].as<CheckItem>();
  tokensBefore(ast_.span(c.type).begin);
  node(c.type);
  word();
  node(c.concept_);
}

void Writer::generics(const std::vector<Generic>& all) {
  if (!is(TokenKind::LBracket)) return;
  list(TokenKind::RBracket, all.size(), [&](size_t k) {
    const Generic& g = all[k];
    if (g.isPack) token(TokenKind::DotDot);
    name(g.name);
    if (g.bound) word(), node(g.bound);
    if (g.defaultType) doc_.space(), word(), node(g.defaultType);
  });
}

void Writer::parameters(const std::vector<Parameter>& all) {
  list(TokenKind::RParen, all.size(), [&](size_t k) { parameter(all[k]); });
}

void Writer::parameter(const Parameter& p) {
  if (p.isInout) word();
  if (p.isPack) token(TokenKind::DotDot);
  if (p.pattern)
    node(p.pattern);
  else
    name(p.name);
  if (p.type) word(), node(p.type);
  if (p.defaultValue) doc_.space(), word(), node(p.defaultValue);
}

} // namespace melix::format
