#include "expand/same.h"

namespace melix::expand {

/// A part of a node: a child, a name, a text, a number, or a list of parts.
struct Matcher::Piece {
  enum class Tag : uint8_t { Node, Name, Text, Fact, List, Element };
  explicit Piece(Tag t) : tag(t) {}

  Tag tag;
  Role role = Role::Any;
  NameRole nameRole = NameRole::Local;
  NodeId node;
  NameId name;
  std::string_view text;
  uint64_t fact = 0;
  bool mayBeLeftOut = false; ///< a pattern need not say it
  std::vector<Piece> parts;  ///< of a list or an element
  std::variant<std::monostate, const Argument*, const Parameter*, const Generic*, const FieldDecl*,
               const CaseDecl*, const Header*, const ForHead*, const MatchArm*, const StringPart*,
               const PatternField*>
      element; ///< what an element is, if a splice may stand for it
};

/// Takes a payload apart.
struct Matcher::Shape {
  std::vector<Piece> parts;

  void node(NodeId& id, Role role) {
    Piece p(Piece::Tag::Node);
    p.node = id, p.role = role;
    parts.push_back(std::move(p));
  }
  void nodes(NodeList& ids, Role role) {
    Shape inner;
    for (NodeId& id : ids) inner.node(id, role);
    list(std::move(inner));
  }
  void name(NameId& id, NameRole role) {
    Piece p(Piece::Tag::Name);
    p.name = id, p.nameRole = role;
    parts.push_back(std::move(p));
  }
  void span(Span&) {}
  void text(std::string& t) {
    Piece p(Piece::Tag::Text);
    p.text = t;
    parts.push_back(std::move(p));
  }
  void fact(uint64_t f) {
    Piece p(Piece::Tag::Fact);
    p.fact = f;
    parts.push_back(std::move(p));
  }
  void flag(bool f) {
    fact(f);
    parts.back().mayBeLeftOut = true;
  }
  void attributes(std::vector<Attribute>& all) {
    elements(all);
    parts.back().mayBeLeftOut = true;
  }
  void list(Shape inner) {
    Piece p(Piece::Tag::List);
    p.parts = std::move(inner.parts);
    parts.push_back(std::move(p));
  }
  template <class T>
  void elements(std::vector<T>& all) {
    Shape inner;
    for (T& each : all) {
      Piece p(Piece::Tag::Element);
      Shape own;
      part(own, each);
      p.parts = std::move(own.parts);
      if constexpr (requires { p.element = &each; }) p.element = static_cast<const T*>(&each);
      inner.parts.push_back(std::move(p));
    }
    list(std::move(inner));
  }
  static Shape of(const Ast& ast, NodeId id, Role role) {
    Shape shape;
    // Nothing is changed through these references.
    visitParts(shape, ast.kind(id), role, const_cast<Payload&>(ast[id].payload));
    return shape;
  }
};

std::optional<Bindings> Matcher::match(NodeId pattern, Value subject) {
  found_ = {};
  if (!quoted(pattern, subject)) return std::nullopt;
  return std::move(found_);
}

bool Matcher::bind(NodeId splice, Value value) {
  auto [place, isNew] = found_.one.try_emplace(splice, value);
  return isNew || isSame(to_, place->second.node, value.node);
}

/// A quote of statements matches one that it has alone, or a block of as many.
bool Matcher::quoted(NodeId pattern, Value subject) {
  if (from_.kind(pattern) != NodeKind::Quote) return node(pattern, subject.node, Role::Any);
  const Quote& quote = from_[pattern].as<Quote>();
  const std::string_view what = quote.what ? names_.text(quote.what) : std::string_view();
  if (what == "type" || what == "pattern") {
    const Kind kind = what == "type" ? Kind::Type : Kind::Pattern;
    std::optional<Value> v = converted(to_, subject, kind);
    return v && node(quote.block, v->node, kind == Kind::Type ? Role::Type : Role::Pattern);
  }
  if (!what.empty()) {
    std::optional<Kind> kind;
    for (Kind k : {Kind::Field, Kind::Case, Kind::Arm, Kind::Param, Kind::Header}) {
      std::string lower(kindName(k));
      lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
      if (lower == what) kind = k;
    }
    return kind == subject.kind && node(quote.block, subject.node, Role::Any);
  }
  const NodeList& items = from_[quote.block].as<Many>().items;
  if (items.size() == 1 && from_.kind(items[0]) != NodeKind::SpliceMany) {
    if (subject.kind == Kind::Block) {
      const NodeList& statements = to_[subject.node].as<Many>().items;
      return statements.size() == 1 && node(items[0], statements[0], Role::Stmt);
    }
    NodeId inner = subject.node; // an item is matched through the uses that stand above it
    while (subject.kind == Kind::Item && to_.kind(inner) == NodeKind::MacroUse &&
           from_.kind(items[0]) != NodeKind::MacroUse)
      inner = to_[inner].as<MacroUse>().target;
    return node(items[0], inner, Role::Stmt);
  }
  Value block = subject;
  if (subject.kind != Kind::Block) {
    std::optional<Value> v = converted(to_, subject, Kind::Block);
    if (!v) return false;
    block = *v;
  }
  return node(quote.block, block.node, Role::Body);
}

/// Where a node's name stands: the node, if it does not say it.
static Span nameSpanOf(const Node& n) {
  return std::visit(
      [&](const auto& payload) {
        if constexpr (requires { payload.nameSpan; }) return payload.nameSpan;
        return n.span;
      },
      n.payload);
}

bool Matcher::node(NodeId pattern, NodeId subject, Role role) {
  if (!pattern || !subject) return !pattern && !subject;
  if (from_.kind(pattern) == NodeKind::Splice) return bind(pattern, valueOf(to_, subject, role));
  const bool isGrouped = from_.kind(pattern) == NodeKind::Paren;
  if (isGrouped &&
      from_.kind(from_[pattern].as<One>().inner) == NodeKind::SpliceMany) { // `($..xs)` is a tuple
    if (to_.kind(subject) != NodeKind::Tuple) return false;
    Values parts;
    for (NodeId part : to_[subject].as<Many>().items) parts.push_back(valueOf(to_, part, role));
    found_.many[from_[pattern].as<One>().inner] = std::move(parts);
    return true;
  }
  pattern = withoutParens(from_, pattern);
  subject = withoutParens(to_, subject);
  if (isGrouped && from_.kind(pattern) == NodeKind::Splice) return bind(pattern, valueOf(to_, subject, role));
  if (from_.kind(pattern) == NodeKind::SpliceMany) misplaced_ = pattern;
  if (from_.kind(pattern) != to_.kind(subject)) return false;
  if (from_.kind(pattern) == NodeKind::Test || from_.kind(pattern) == NodeKind::Bench)
    return test(from_[pattern].as<TestItem>(), subject);
  const Span outer = std::exchange(nameSpan_, nameSpanOf(to_[subject]));
  const bool fits = pieces(Shape::of(from_, pattern, role).parts, Shape::of(to_, subject, role).parts);
  nameSpan_ = outer;
  return fits;
}

/// A splice that names a test is bound to the text.
bool Matcher::test(const TestItem& pattern, NodeId subject) {
  const TestItem made = to_[subject].as<TestItem>();
  if (!pattern.splice) return pattern.name == made.name && node(pattern.body, made.body, Role::Body);
  StringLit text;
  if (!made.name.empty()) text.parts.push_back({made.name, {}, {}, {}, made.nameSpan});
  const NodeId title = to_.add(NodeKind::String, made.nameSpan, std::move(text));
  return bind(pattern.splice, {Kind::Expr, title}) && node(pattern.body, made.body, Role::Body);
}

/// Where a part's name stands: the part, if it does not say it.
Span Matcher::nameSpanIn(const Piece& part) const {
  return std::visit(
      [&](const auto& element) {
        if constexpr (requires { element->span; }) return element->span;
        return nameSpan_;
      },
      part.element);
}

bool Matcher::pieces(const std::vector<Piece>& pattern, const std::vector<Piece>& subject) {
  if (pattern.size() != subject.size()) return false;
  for (size_t k = 0; k < pattern.size(); ++k)
    if (!piece(pattern[k], subject[k])) return false;
  return true;
}

bool Matcher::piece(const Piece& p, const Piece& s) {
  if (p.tag != s.tag) return false;
  if (p.mayBeLeftOut && p.fact == 0 && p.parts.empty()) return true;
  switch (p.tag) {
  case Piece::Tag::Node: return node(p.node, s.node, p.role);
  case Piece::Tag::Name: return name(p.name, s);
  case Piece::Tag::Text: return p.text == s.text;
  case Piece::Tag::Fact: return p.fact == s.fact;
  case Piece::Tag::Element: {
    const Span outer = std::exchange(nameSpan_, nameSpanIn(s));
    const bool fits = pieces(p.parts, s.parts);
    nameSpan_ = outer;
    return fits;
  }
  case Piece::Tag::List: return list(p.parts, s.parts);
  }
  return false;
}

bool Matcher::name(NameId pattern, const Piece& subject) {
  if (!pattern || !subject.name) return pattern == subject.name;
  if (!isSpliced(pattern)) return names_.text(pattern) == names_.text(subject.name);
  NodeId node = to_.add(NodeKind::Name, nameSpan_, Name{subject.name});
  return bind(spliceOf(pattern), {Kind::Ident, node});
}

/// The splice that stands for a whole part of a list; none if none does.
NodeId Matcher::spliceIn(const Piece& p) const {
  auto isSplice = [this](NodeId id) {
    return id && (from_.kind(id) == NodeKind::Splice || from_.kind(id) == NodeKind::SpliceMany);
  };
  if (p.tag == Piece::Tag::Node) return isSplice(p.node) ? p.node : NodeId::none();
  if (p.tag != Piece::Tag::Element) return NodeId::none();
  struct Of {
    decltype(isSplice)& splice;
    NodeId named(NameId name) const { return isSpliced(name) ? spliceOf(name) : NodeId::none(); }
    NodeId if_(bool condition, NodeId node) const {
      return condition && splice(node) ? node : NodeId::none();
    }
    NodeId operator()(std::monostate) const { return NodeId::none(); }
    NodeId operator()(const Argument* a) const { return if_(!a->label, a->value); }
    NodeId operator()(const Parameter* a) const { return if_(!a->type, a->pattern); }
    NodeId operator()(const Generic* g) const { return g->bound ? NodeId::none() : named(g->name); }
    NodeId operator()(const FieldDecl* f) const { return if_(!f->name, f->type); }
    NodeId operator()(const CaseDecl* c) const { return c->hasFields ? NodeId::none() : named(c->name); }
    NodeId operator()(const Header* h) const { return if_(!h->range, h->pattern); }
    NodeId operator()(const ForHead*) const { return NodeId::none(); }
    NodeId operator()(const MatchArm* a) const { return if_(!a->body, a->pattern); }
    NodeId operator()(const StringPart* s) const { return if_(s->format.empty(), s->value); }
    NodeId operator()(const PatternField* f) const { return if_(!f->label, f->pattern); }
  };
  return std::visit(Of{isSplice}, p.element);
}

/// What a splice that stands for a whole part of a list is bound to; none if no value can be that.
std::optional<Value> Matcher::valueIn(const Piece& s) {
  if (s.tag == Piece::Tag::Node) return valueOf(to_, s.node, s.role);
  struct Of {
    Ast& to;
    using Out = std::optional<Value>;
    Out node(bool condition, NodeId id, Role role) const {
      return condition && id ? Out(valueOf(to, id, role)) : std::nullopt;
    }
    Out operator()(std::monostate) const { return std::nullopt; }
    Out operator()(const Argument* a) const {
      return a->label ? Out(held(to, *a)) : node(true, a->value, Role::Any);
    }
    Out operator()(const Parameter* p) const { return held(to, *p); }
    Out operator()(const Generic* g) const {
      if (g->bound || g->defaultType || g->isPack) return held(to, *g);
      return Value{Kind::Ident, to.add(NodeKind::Name, g->span, Name{g->name})};
    }
    Out operator()(const FieldDecl* f) const {
      return f->name ? Out(held(to, *f)) : node(!f->defaultValue, f->type, Role::Type);
    }
    Out operator()(const CaseDecl* c) const { return held(to, *c); }
    Out operator()(const Header* h) const { return held(to, *h); }
    Out operator()(const ForHead*) const { return std::nullopt; }
    Out operator()(const MatchArm* a) const { return held(to, *a); }
    Out operator()(const StringPart* p) const {
      if (!p->value) {
        StringLit text;
        text.parts.push_back(*p);
        return Value{Kind::Expr, to.add(NodeKind::String, p->span, std::move(text))};
      }
      return node(p->format.empty(), p->value, Role::Expr);
    }
    Out operator()(const PatternField* f) const { return node(!f->label, f->pattern, Role::Pattern); }
  };
  return std::visit(Of{to_}, s.element);
}

bool Matcher::list(const std::vector<Piece>& pattern, const std::vector<Piece>& subject) {
  size_t rest = pattern.size();
  for (size_t k = 0; k < pattern.size(); ++k)
    if (NodeId splice = spliceIn(pattern[k]); splice && from_.kind(splice) == NodeKind::SpliceMany) {
      if (rest != pattern.size()) { // only one stands for any number
        misplaced_ = splice;
        return false;
      }
      rest = k;
    }
  const bool hasRest = rest < pattern.size();
  if (hasRest ? subject.size() + 1 < pattern.size() : subject.size() != pattern.size()) return false;
  auto one = [&](const Piece& p, const Piece& s) {
    NodeId splice = spliceIn(p);
    if (!splice || p.tag == Piece::Tag::Node) return piece(p, s);
    std::optional<Value> value = valueIn(s);
    return value && bind(splice, *value);
  };
  const size_t behind = hasRest ? pattern.size() - rest - 1 : 0;
  for (size_t k = 0; k < rest; ++k)
    if (!one(pattern[k], subject[k])) return false;
  for (size_t k = 0; k < behind; ++k)
    if (!one(pattern[pattern.size() - behind + k], subject[subject.size() - behind + k])) return false;
  if (!hasRest) return true;
  Values values;
  for (size_t k = rest; k < subject.size() - behind; ++k) {
    std::optional<Value> value = valueIn(subject[k]);
    if (!value) return false;
    values.push_back(*value);
  }
  found_.many[spliceIn(pattern[rest])] = std::move(values);
  return true;
}

bool isSame(const Ast& ast, NodeId a, NodeId b) {
  using Piece = Matcher::Piece;
  struct Compare {
    const Ast& ast;
    bool node(NodeId x, NodeId y) const {
      x = withoutParens(ast, x), y = withoutParens(ast, y);
      if (!x || !y) return !x && !y;
      if (x == y) return true;
      if (ast.kind(x) != ast.kind(y)) return false;
      return pieces(Matcher::Shape::of(ast, x, Role::Any).parts, Matcher::Shape::of(ast, y, Role::Any).parts);
    }
    bool pieces(const std::vector<Piece>& x, const std::vector<Piece>& y) const {
      if (x.size() != y.size()) return false;
      for (size_t k = 0; k < x.size(); ++k) {
        const bool same = x[k].tag == y[k].tag && x[k].name == y[k].name && x[k].text == y[k].text &&
                          x[k].fact == y[k].fact && node(x[k].node, y[k].node) &&
                          pieces(x[k].parts, y[k].parts);
        if (!same) return false;
      }
      return true;
    }
  };
  return Compare{ast}.node(a, b);
}

} // namespace melix::expand
