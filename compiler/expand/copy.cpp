#include "expand/copy.h"

namespace melix::expand {

namespace {

bool isSplice(NodeKind kind) { return kind == NodeKind::Splice || kind == NodeKind::SpliceMany; }

// --- which splice stands for a whole part of a list, and what a value is as such a part

NodeId wholeSplice(const Ast& ast, bool condition, NodeId id) {
  return condition && id && isSplice(ast.kind(id)) ? id : NodeId::none();
}
NodeId spliceFor(const Ast& ast, const Argument& a) { return wholeSplice(ast, !a.label, a.value); }
NodeId spliceFor(const Ast& ast, const Parameter& p) {
  return wholeSplice(ast, !p.type && !p.name, p.pattern);
}
NodeId spliceFor(const Ast&, const Generic& g) {
  return isSpliced(g.name) && !g.bound ? spliceOf(g.name) : NodeId::none();
}
NodeId spliceFor(const Ast& ast, const FieldDecl& f) { return wholeSplice(ast, !f.name, f.type); }
NodeId spliceFor(const Ast&, const CaseDecl& c) {
  return isSpliced(c.name) && !c.hasFields ? spliceOf(c.name) : NodeId::none();
}
NodeId spliceFor(const Ast& ast, const Header& h) { return wholeSplice(ast, !h.range, h.pattern); }
NodeId spliceFor(const Ast& ast, const MatchArm& a) { return wholeSplice(ast, !a.body, a.pattern); }
NodeId spliceFor(const Ast& ast, const StringPart& p) { return wholeSplice(ast, p.format.empty(), p.value); }
NodeId spliceFor(const Ast& ast, const PatternField& f) { return wholeSplice(ast, !f.label, f.pattern); }
template <class T>
NodeId spliceFor(const Ast&, const T&) {
  return NodeId::none();
}

struct Parts {
  Ast& to;

  bool make(Value v, Argument& a) const {
    if (v.kind == Kind::Argument)
      a = to[v.node].as<Call>().args[0];
    else
      a.value = nodeFor(to, v, Role::Any);
    return true;
  }
  bool make(Value v, Parameter& p) const {
    std::optional<Value> held = converted(to, v, Kind::Param);
    if (held) p = to[held->node].as<Lambda>().params[0];
    return held.has_value();
  }
  bool make(Value v, Generic& g) const {
    std::optional<Value> held = converted(to, v, Kind::Generic);
    if (held) g = to[held->node].as<TypeItem>().generics[0];
    return held.has_value();
  }
  bool make(Value v, FieldDecl& f) const {
    if (v.kind == Kind::Field)
      f = to[v.node].as<StructItem>().fields[0];
    else
      f.type = nodeFor(to, v, Role::Type);
    return f.type.valid();
  }
  bool make(Value v, CaseDecl& c) const {
    std::optional<Value> held = converted(to, v, Kind::Case);
    if (held) c = to[held->node].as<EnumItem>().cases[0];
    return held.has_value();
  }
  bool make(Value v, Header& h) const {
    std::optional<Value> held = converted(to, v, Kind::Header);
    if (held) h = to[held->node].as<Builder>().headers[0];
    return held.has_value();
  }
  bool make(Value v, MatchArm& a) const {
    if (v.kind == Kind::Arm) a = to[v.node].as<Match>().arms[0];
    return v.kind == Kind::Arm;
  }
  bool make(Value v, StringPart& p) const {
    p.value = nodeFor(to, v, Role::Expr);
    if (!p.value) return false;
    const Node& n = to[withoutParens(to, p.value)];
    switch (n.kind) {
    case NodeKind::IntLit:
    case NodeKind::FloatLit:
    case NodeKind::BoolLit:
    case NodeKind::CharLit: p.text = n.as<Text>().text; break;
    case NodeKind::Unary: {
      const Node& number = to[n.as<Unary>().operand];
      if (number.kind != NodeKind::IntLit && number.kind != NodeKind::FloatLit) return true;
      p.text = "-" + number.as<Text>().text;
      break;
    }
    case NodeKind::String:
      for (const StringPart& part : n.as<StringLit>().parts)
        if (part.value) return true;
      for (const StringPart& part : n.as<StringLit>().parts) p.text += part.text;
      break;
    default: return true;
    }
    p.value = NodeId::none();
    return true;
  }
  bool make(Value v, PatternField& f) const {
    f.pattern = nodeFor(to, v, Role::Pattern);
    return f.pattern.valid();
  }
  template <class T>
  bool make(Value, T&) const {
    return false;
  }
};

template <class T>
constexpr std::string_view wanted() {
  if constexpr (std::is_same_v<T, Parameter>) return "a parameter";
  if constexpr (std::is_same_v<T, Generic>) return "a type parameter or a name";
  if constexpr (std::is_same_v<T, FieldDecl>) return "a field or a type";
  if constexpr (std::is_same_v<T, CaseDecl>) return "a case";
  if constexpr (std::is_same_v<T, Header>) return "a header";
  if constexpr (std::is_same_v<T, MatchArm>) return "an arm";
  if constexpr (std::is_same_v<T, PatternField>) return "a pattern";
  return "an expression";
}

std::string_view wantedFor(Role role) {
  switch (role) {
  case Role::Expr: return "an expression";
  case Role::Stmt: return "a statement";
  case Role::Body: return "a block";
  case Role::Item: return "a declaration";
  case Role::Type: return "a type";
  case Role::Pattern: return "a pattern";
  case Role::Any: break;
  }
  return "syntax";
}

} // namespace

void Copier::fail(NodeId at, std::string message) {
  if (!problem_) problem_ = CopyProblem{from_.span(at), std::move(message)};
}

const Spliced* Copier::splicedAt(NodeId id) const {
  if (!splices || level_ != 1) return nullptr;
  auto found = spliced.find(id);
  return found == spliced.end() ? nullptr : &found->second;
}

NodeId Copier::one(NodeId splice, Role role) {
  const Spliced* s = splicedAt(splice);
  if (!s) return copy(splice, role);
  if (s->isMany || s->values.size() != 1) {
    fail(splice, "one node stands here, and this gives a list");
    return to_.add(NodeKind::Error, Span());
  }
  NodeId node = nodeFor(to_, s->values[0], role);
  if (!node) {
    fail(splice, std::string(wantedFor(role)) + " stands here, and this is " +
                     std::string(kindText(s->values[0].kind)));
    return to_.add(NodeKind::Error, Span());
  }
  return role == Role::Pattern ? patternMeant(node) : node;
}

NodeId Copier::patternMeant(NodeId pattern) {
  if (to_.kind(pattern) != NodeKind::Name || !isCapital(names_.text(to_[pattern].as<Name>().name)))
    return pattern;
  return to_.add(NodeKind::CasePattern, to_.span(pattern), CasePattern{pattern, {}, false});
}

NodeId Copier::copy(NodeId id, Role role) {
  if (!id) return id;
  const Node& n = from_[id];
  if (isSplice(n.kind) && splicedAt(id)) return one(id, role);
  if (n.kind == NodeKind::Paren && from_.kind(n.as<One>().inner) == NodeKind::SpliceMany &&
      splicedAt(n.as<One>().inner)) { // `($..xs)` is a tuple
    NodeList parts{n.as<One>().inner};
    nodes(parts, role);
    return to_.add(NodeKind::Tuple, {fileOf(n.span.file), n.span.begin, n.span.end}, Many{std::move(parts)});
  }
  Node made{n.kind, n.span, n.payload};
  span(made.span);
  const unsigned level = level_;
  if (n.kind == NodeKind::Quote) ++level_;
  if (isSplice(n.kind) && level_ > 0) --level_;
  visitParts(*this, n.kind, role, made.payload);
  level_ = level;
  if (auto* test = std::get_if<TestItem>(&made.payload)) nameTest(*test, id);
  return to_.add(made.kind, made.span, std::move(made.payload));
}

/// A test whose name a splice gives has it as a text.
void Copier::nameTest(TestItem& test, NodeId at) {
  if (!test.splice || to_.kind(test.splice) == NodeKind::Splice) return;
  const Node& text = to_[withoutParens(to_, test.splice)];
  if (text.kind != NodeKind::String) return fail(at, "the name of a test is a string");
  for (const StringPart& part : text.as<StringLit>().parts) {
    if (part.value) return fail(at, "the name of a test is a string that is known at compile time");
    test.name += part.text;
  }
  test.splice = NodeId::none();
}

void Copier::node(NodeId& id, Role role) { id = copy(id, role); }

void Copier::nodes(NodeList& ids, Role role) {
  NodeList out;
  for (NodeId id : ids) {
    const Spliced* s = isSplice(from_.kind(id)) ? splicedAt(id) : nullptr;
    if (!s || !s->isMany) {
      out.push_back(copy(id, role));
      continue;
    }
    for (const Value& v : s->values) {
      NodeId node = nodeFor(to_, v, role);
      if (node)
        out.push_back(role == Role::Pattern ? patternMeant(node) : node);
      else
        fail(id,
             std::string(wantedFor(role)) + " stands here, and this gives " + std::string(kindText(v.kind)));
    }
  }
  ids = std::move(out);
}

void Copier::name(NameId& id, NameRole role) {
  if (!id) return;
  if (!isSpliced(id)) {
    if (role != NameRole::Label && level_ >= 1) id = mark(id);
    return;
  }
  const NodeId splice = spliceOf(id);
  const Spliced* s = splicedAt(splice);
  if (!s) {
    id = splicedName(copy(splice, Role::Any));
    return;
  }
  if (s->isMany || s->values.size() != 1) return fail(splice, "one name stands here, and this gives a list");
  const Node& n = to_[withoutParens(to_, s->values[0].node)];
  if (n.kind == NodeKind::Name) {
    id = n.as<Name>().name;
  } else if (n.kind == NodeKind::String && n.as<StringLit>().parts.size() == 1 &&
             !n.as<StringLit>().parts[0].value) {
    id = mark(names_.intern(n.as<StringLit>().parts[0].text));
  } else {
    return fail(splice, "a name stands here, and this is " + std::string(kindText(s->values[0].kind)));
  }
  if (role == NameRole::Label) id = names_.spelling(id);
}

template <class T>
void Copier::elements(std::vector<T>& all) {
  std::vector<T> out;
  for (T& each : all) {
    NodeId splice = spliceFor(from_, each);
    const Spliced* s = splice ? splicedAt(splice) : nullptr;
    if (!s) {
      part(*this, each);
      out.push_back(std::move(each));
      continue;
    }
    if (!s->isMany && s->values.size() == 1 && from_.kind(splice) == NodeKind::SpliceMany)
      fail(splice, "a list stands here");
    for (const Value& v : s->values) {
      T made{};
      if constexpr (requires { made.span; })
        made.span = {fileOf(from_.file), from_.span(splice).begin, from_.span(splice).end};
      if (Parts{to_}.make(v, made)) {
        if constexpr (std::is_same_v<T, PatternField>) made.pattern = patternMeant(made.pattern);
        out.push_back(std::move(made));
      } else
        fail(splice, std::string(wanted<T>()) + " stands here, and this is " + std::string(kindText(v.kind)));
    }
  }
  all = std::move(out);
  if constexpr (std::is_same_v<T, StringPart>) finishText(all);
}

/// Pieces of text beside each other are one.
void Copier::finishText(std::vector<StringPart>& parts) {
  std::vector<StringPart> out;
  for (StringPart& p : parts)
    if (!p.value && !out.empty() && !out.back().value)
      out.back().text += p.text;
    else
      out.push_back(std::move(p));
  parts = std::move(out);
}

} // namespace melix::expand
