#include "expand/quotes.h"

#include "expand/copy.h"

#include <algorithm>

namespace melix::expand {

namespace {

/// Finds the splices of one level.
struct Splices : PartVisitor<Splices> {
  explicit Splices(const Ast& tree) : ast(tree) {}
  const Ast& ast;
  unsigned level = 0;
  std::vector<NodeId> found;

  void node(NodeId& id, Role role) {
    if (!id) return;
    const Node& n = ast[id];
    const bool isSplice = n.kind == NodeKind::Splice || n.kind == NodeKind::SpliceMany;
    if (isSplice && level == 1) {
      found.push_back(id);
      return;
    }
    const unsigned before = level;
    if (n.kind == NodeKind::Quote) ++level;
    if (isSplice) --level;
    Payload payload = n.payload;
    visitParts(*this, n.kind, role, payload);
    level = before;
  }
  void name(NameId& id, NameRole) {
    if (!isSpliced(id)) return;
    NodeId splice = spliceOf(id);
    node(splice, Role::Any);
  }
};

} // namespace

std::vector<NodeId> splicesOf(const Ast& ast, NodeId quote) {
  Splices splices(ast);
  splices.node(quote, Role::Any);
  return std::move(splices.found);
}

QuoteWriter::QuoteWriter(names::Modules& modules, Ast& ast, ModuleId home, ModuleId seen,
                         std::vector<Template>& templates)
    : modules_(modules), ast_(ast), home_(home), seen_(seen), templates_(templates) {
  const ModuleId opened = modules.ast();
  mark_ = modules.newMark(opened ? opened : home);
}

/// A name of module `ast`, whatever else is called so here.
NodeId QuoteWriter::astName(std::string_view text, Span span) {
  return ast_.add(NodeKind::Name, span, Name{modules_.names.marked(modules_.names.intern(text), mark_)});
}

NodeId QuoteWriter::call(std::string_view function, std::vector<NodeId> args, Span span) {
  Call call{astName(function, span), {}};
  for (NodeId arg : args) call.args.push_back({NameId::none(), Span(), arg});
  return ast_.add(NodeKind::Call, span, std::move(call));
}

NodeId QuoteWriter::number(size_t value, Span span) {
  return ast_.add(NodeKind::IntLit, span, Text{std::to_string(value)});
}

NodeId QuoteWriter::copyName(NodeId name) {
  return ast_.add(NodeKind::Name, ast_.span(name), ast_[name].payload);
}

/// Keeps a quote for the time when it is used. The variables of a pattern stand for one thing each.
size_t QuoteWriter::addTemplate(NodeId quote, bool isPattern) {
  Template made{&ast_, quote, home_, splicesOf(ast_, quote)};
  if (isPattern) {
    std::vector<NodeId> variables;
    for (NodeId splice : made.splices) {
      const NodeId inner = ast_[splice].as<One>().inner;
      const bool isName = ast_.kind(inner) == NodeKind::Name;
      if (isName && modules_.names.text(ast_[inner].as<Name>().name) == "_") continue; // not wanted
      if (ast_.kind(inner) != NodeKind::Name) {
        modules_.sink.report(DiagId::QuoteVariable, ast_.span(splice));
        continue;
      }
      variables.push_back(splice);
    }
    made.splices = std::move(variables);
  }
  templates_.push_back(std::move(made));
  return templates_.size() - 1;
}

void QuoteWriter::rewrite(NodeId id) { node(id, Role::Stmt); }

void QuoteWriter::node(NodeId& id, Role role) {
  if (!id) return;
  switch (ast_.kind(id)) {
  case NodeKind::Quote: return rewriteQuote(id);
  case NodeKind::If:
    if (ast_.kind(ast_[id].as<If>().condition) == NodeKind::LetCondition) rewriteIf(id);
    break;
  case NodeKind::While:
    if (ast_.kind(ast_[id].as<While>().condition) == NodeKind::LetCondition) rewriteWhile(id);
    break;
  default: break;
  }
  Node& n = ast_[id];
  if (n.kind == NodeKind::Match) {
    Match match = n.as<Match>();
    splitAlternatives(match);
    for (MatchArm& arm : match.arms) rewriteArm(arm);
    ast_[id].payload = std::move(match);
  }
  visitParts(*this, ast_.kind(id), role, ast_[id].payload);
  if (ast_.kind(id) == NodeKind::Fn) checkKinds(ast_[id].as<FnItem>());
}

void QuoteWriter::nodes(NodeList& ids, Role role) {
  NodeList out;
  for (NodeId id : ids) {
    if (ast_.kind(id) == NodeKind::Let && holdsQuote(ast_[id].as<Let>().pattern))
      rewriteLet(id, out);
    else
      out.push_back(id);
  }
  for (NodeId& id : out) node(id, role);
  ids = std::move(out);
}

/// `quote { … $x … $..xs … }` is `quoted(k, splice_all(splice(splices(), x), xs))`.
void QuoteWriter::rewriteQuote(NodeId id) {
  const Span span = ast_.span(id);
  NodeId held = ast_.add(NodeKind::Quote, span, ast_[id].payload);
  const size_t number = addTemplate(held, false);
  const std::vector<NodeId> splices = templates_[number].splices;
  NodeId list = call("splices", {}, span);
  for (NodeId splice : splices) {
    NodeId value = ast_[splice].as<One>().inner;
    node(value, Role::Expr);
    const bool isMany = ast_.kind(splice) == NodeKind::SpliceMany;
    list = call(isMany ? "splice_all" : "splice", {list, value}, ast_.span(splice));
  }
  NodeId made = call("quoted", {this->number(number, span), list}, span);
  ast_[id].kind = NodeKind::Call;
  ast_[id].payload = ast_[made].payload;
}

bool QuoteWriter::holdsQuote(NodeId pattern) const {
  if (!pattern) return false;
  if (ast_.kind(pattern) == NodeKind::Quote) return true;
  bool any = false;
  forEachChild(ast_, pattern, [&](NodeId child) { any |= holdsQuote(child); });
  return any;
}

/// Puts a name in the place of each quote in a pattern.
void QuoteWriter::takeQuotes(NodeId& pattern, std::vector<Tested>& out) {
  if (!pattern) return;
  if (ast_.kind(pattern) != NodeKind::Quote) {
    struct Children : PartVisitor<Children> {
      Children(QuoteWriter& w, std::vector<Tested>& found) : writer(w), out(found) {}
      QuoteWriter& writer;
      std::vector<Tested>& out;
      void node(NodeId& id, Role) { writer.takeQuotes(id, out); }
    } children(*this, out);
    visitParts(children, ast_.kind(pattern), Role::Pattern, ast_[pattern].payload);
    return;
  }
  const Span span = ast_.span(pattern);
  Interner& names = modules_.names;
  const NameId name = names.marked(names.intern("quoted" + std::to_string(named_++)), mark_);
  NodeId replaced = ast_.add(NodeKind::Name, span, Name{name});
  out.push_back({replaced, addTemplate(pattern, true)});
  pattern = replaced;
}

/// Whether all quotes match.
NodeId QuoteWriter::test(const std::vector<Tested>& tested, Span span) {
  NodeId all;
  for (const Tested& t : tested) {
    NodeId one = call("matches", {number(t.quote, span), copyName(t.name)}, span);
    all = all ? ast_.add(NodeKind::Binary, span, Binary{BinaryOp::And, all, one, span}) : one;
  }
  return all;
}

bool QuoteWriter::mentions(NodeId node, NameId name) const {
  if (!node) return false;
  if (ast_.kind(node) == NodeKind::Name && ast_[node].as<Name>().name == name) return true;
  // A splice in the place of a name counts, too.
  std::vector<NodeId> spliced;
  bool found = false;
  if (ast_.kind(node) == NodeKind::Quote)
    for (NodeId splice : splicesOf(ast_, node)) found |= mentions(ast_[splice].as<One>().inner, name);
  forEachChild(ast_, node, [&](NodeId child) { found = found || mentions(child, name); });
  return found;
}

/// `let x = bound(k, q, 0)` for each variable; with `usedIn`, only for those that it mentions.
NodeList QuoteWriter::bindings(const std::vector<Tested>& tested, NodeId usedIn) {
  NodeList out;
  std::vector<NameId> bound;
  for (const Tested& t : tested) {
    const std::vector<NodeId> splices = templates_[t.quote].splices;
    for (size_t k = 0; k < splices.size(); ++k) {
      const NodeId variable = ast_[splices[k]].as<One>().inner;
      const NameId name = ast_[variable].as<Name>().name;
      if (std::find(bound.begin(), bound.end(), name) != bound.end()) continue;
      if (usedIn && !mentions(usedIn, name)) continue;
      bound.push_back(name);
      const Span span = ast_.span(variable);
      const bool isMany = ast_.kind(splices[k]) == NodeKind::SpliceMany;
      Let let{};
      let.pattern = copyName(variable);
      let.init = call(isMany ? "bound_all" : "bound",
                      {number(t.quote, span), copyName(t.name), number(k, span)}, span);
      out.push_back(ast_.add(NodeKind::Let, span, let));
    }
  }
  return out;
}

NodeId QuoteWriter::wrapped(NodeList statements, NodeId last, Span span) {
  if (statements.empty()) return last;
  statements.push_back(last);
  return ast_.add(NodeKind::Block, span, Many{std::move(statements)});
}

/// `quote { a } | quote { b } => e` is two arms.
void QuoteWriter::splitAlternatives(Match& match) {
  std::vector<MatchArm> arms;
  Copier copier(ast_, ast_, modules_.names);
  copier.splices = false;
  for (MatchArm& arm : match.arms) {
    if (ast_.kind(arm.pattern) != NodeKind::OrPattern || !holdsQuote(arm.pattern)) {
      arms.push_back(arm);
      continue;
    }
    const NodeList alternatives = ast_[arm.pattern].as<Many>().items;
    for (size_t k = 0; k < alternatives.size(); ++k) {
      MatchArm one = arm;
      one.pattern = alternatives[k];
      if (k > 0) one.body = copier.copy(arm.body, Role::Stmt), one.guard = copier.copy(arm.guard, Role::Expr);
      arms.push_back(one);
    }
  }
  match.arms = std::move(arms);
}

void QuoteWriter::rewriteArm(MatchArm& arm) {
  std::vector<Tested> tested;
  takeQuotes(arm.pattern, tested);
  if (tested.empty()) return;
  NodeId guard = test(tested, ast_.span(arm.pattern));
  if (arm.guard) {
    const Span span = ast_.span(arm.guard);
    NodeId second = wrapped(bindings(tested, arm.guard), arm.guard, span);
    guard = ast_.add(NodeKind::Binary, span, Binary{BinaryOp::And, guard, second, span});
  }
  arm.guard = guard;
  arm.body = wrapped(bindings(tested, arm.body), arm.body, ast_.span(arm.body));
}

/// `if let P = e A else B` is `match e { P => A; _ => B }`.
void QuoteWriter::rewriteIf(NodeId id) {
  const If branch = ast_[id].as<If>();
  const LetCondition condition = ast_[branch.condition].as<LetCondition>();
  if (!holdsQuote(condition.pattern)) return;
  const Span span = ast_.span(id);
  Match match;
  match.scrutinee = condition.value;
  match.arms.push_back({condition.pattern, NodeId::none(), branch.then, ast_.span(condition.pattern)});
  NodeId otherwise = branch.otherwise ? branch.otherwise : ast_.add(NodeKind::Block, span, Many{});
  match.arms.push_back({ast_.add(NodeKind::Underscore, span), NodeId::none(), otherwise, span});
  ast_[id].kind = NodeKind::Match;
  ast_[id].payload = std::move(match);
}

/// `while let P = e A` is `loop { match e { P => A; _ => break } }`.
void QuoteWriter::rewriteWhile(NodeId id) {
  const While loop = ast_[id].as<While>();
  const LetCondition condition = ast_[loop.condition].as<LetCondition>();
  if (!holdsQuote(condition.pattern)) return;
  const Span span = ast_.span(id);
  Match match;
  match.scrutinee = condition.value;
  match.arms.push_back({condition.pattern, NodeId::none(), loop.body, ast_.span(condition.pattern)});
  NodeId leave = ast_.add(NodeKind::Break, span, One{});
  match.arms.push_back({ast_.add(NodeKind::Underscore, span), NodeId::none(), leave, span});
  NodeId choice = ast_.add(NodeKind::Match, span, std::move(match));
  ast_[id].kind = NodeKind::Loop;
  ast_[id].payload = One{ast_.add(NodeKind::Block, span, Many{{choice}})};
}

/// `let P = e else B` binds what its quotes stand for, tests them, and binds their variables.
void QuoteWriter::rewriteLet(NodeId id, NodeList& out) {
  Let let = ast_[id].as<Let>();
  const Span span = ast_.span(let.pattern);
  std::vector<Tested> tested;
  takeQuotes(let.pattern, tested);
  const NodeId otherwise = let.otherwise;
  const bool isPlain = ast_.kind(let.pattern) == NodeKind::Name || ast_.kind(let.pattern) == NodeKind::Tuple;
  if (isPlain || !otherwise) let.otherwise = NodeId::none();
  ast_[id].payload = let;
  out.push_back(id);
  if (!otherwise) {
    modules_.sink.report(DiagId::Refutable, span);
    return;
  }
  NodeId fails = ast_.add(NodeKind::Unary, span, Unary{UnaryOp::Not, test(tested, span)});
  NodeId leaves = otherwise;
  if (!isPlain) {
    Copier copier(ast_, ast_, modules_.names);
    copier.splices = false;
    leaves = copier.copy(otherwise, Role::Body);
  }
  out.push_back(ast_.add(NodeKind::If, span, If{fails, leaves, NodeId::none()}));
  for (NodeId binding : bindings(tested, NodeId::none())) out.push_back(binding);
}

/// The kind that a type names: `Expr` of module `ast`.
std::optional<Kind> QuoteWriter::kindMeant(NodeId type) const {
  if (!type || ast_.kind(type) != NodeKind::Name) return std::nullopt;
  const NameId name = ast_[type].as<Name>().name;
  std::optional<Kind> kind = kindNamed(modules_.names.text(name));
  if (!kind) return std::nullopt;
  auto [module, plain] = modules_.meant(seen_, name);
  if (modules_[module].decls.contains(plain)) return std::nullopt;
  const std::vector<ModuleId>* imported = modules_[module].imported.find(plain);
  if (!imported || (*imported)[0] != modules_.ast()) return std::nullopt;
  return kind;
}

/// Parameters and results that name a kind are of it: `let e = as_kind("Expr", e)` in front.
void QuoteWriter::checkKinds(FnItem& fn) {
  if (!fn.body) return;
  auto asKind = [&](Kind kind, NodeId value, Span span) {
    StringLit text;
    text.parts.push_back({std::string(kindName(kind)), NodeId::none(), "", {}, span});
    return call("as_kind", {ast_.add(NodeKind::String, span, std::move(text)), value}, span);
  };
  NodeList before;
  for (const Parameter& p : fn.params) {
    std::optional<Kind> kind = kindMeant(p.type);
    if (!kind || !p.name || p.isInout || !mentions(fn.body, p.name)) continue;
    Let let{};
    let.pattern = ast_.add(NodeKind::Name, p.span, Name{p.name});
    let.init = asKind(*kind, ast_.add(NodeKind::Name, p.span, Name{p.name}), p.span);
    before.push_back(ast_.add(NodeKind::Let, p.span, let));
  }
  std::optional<Kind> result = kindMeant(fn.result);
  const Span span = ast_.span(fn.body);
  if (result) checkReturns(fn.body, *result);
  NodeId body = result ? asKind(*result, fn.body, span) : fn.body;
  if (before.empty() && !result) return;
  before.push_back(body);
  fn.body = ast_.add(NodeKind::Block, span, Many{std::move(before)});
  fn.shortForm = false;
}

void QuoteWriter::checkReturns(NodeId node, Kind kind) {
  if (!node) return;
  const NodeKind is = ast_.kind(node);
  if (is == NodeKind::Lambda || is == NodeKind::Fn) return;
  if (is == NodeKind::Return) {
    const NodeId value = ast_[node].as<One>().inner;
    if (!value) return;
    StringLit text;
    text.parts.push_back({std::string(kindName(kind)), NodeId::none(), "", {}, ast_.span(node)});
    NodeId name = ast_.add(NodeKind::String, ast_.span(node), std::move(text));
    NodeId made = call("as_kind", {name, value}, ast_.span(node));
    ast_[node].payload = One{made};
    return;
  }
  forEachChild(ast_, node, [&](NodeId child) { checkReturns(child, kind); });
}

NodeId QuoteWriter::functionOf(const MacroItem& macro, const std::vector<MacroParameter>& parameters,
                               Span span) {
  FnItem fn;
  fn.name = macro.name;
  fn.nameSpan = macro.nameSpan;
  for (size_t k = 0; k < parameters.size(); ++k) {
    const MacroParameter& from = parameters[k];
    Parameter p;
    p.name = from.name;
    p.span = macro.params[k].span;
    static constexpr std::string_view constants[] = {"int", "f64", "bool", "str"};
    p.type = astName(from.kind ? "Syntax" : constants[static_cast<size_t>(from.constant)], p.span);
    if (from.isPack) {
      Brackets list{astName("List", p.span), {{NameId::none(), Span(), p.type}}};
      p.type = ast_.add(NodeKind::Brackets, p.span, std::move(list));
    }
    fn.params.push_back(p);
  }
  fn.result = astName("Syntax", macro.nameSpan);
  fn.body = macro.body;
  node(fn.body, Role::Body);
  return ast_.add(NodeKind::Fn, span, std::move(fn));
}

} // namespace melix::expand
