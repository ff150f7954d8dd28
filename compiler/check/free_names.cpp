#include "check/free_names.h"

#include <algorithm>
#include <vector>

namespace melix::check {

using namespace syntax;

namespace {

using SynId = syntax::NodeId;

class Inside {
public:
  Inside(const Ast& ast, const std::function<void(SynId, const IsBound&)>& visit)
      : ast_(ast), visit_(visit), isBound_([this](NameId name) {
          return std::find(bound_.begin(), bound_.end(), name) != bound_.end();
        }) {}

  void children(SynId s) {
    const size_t mark = bound_.size();
    const Node& n = ast_[s];
    switch (n.kind) {
    case NodeKind::Fn: function(n.as<FnItem>()); break;
    case NodeKind::Lambda:
      parameters(n.as<Lambda>().params);
      look(n.as<Lambda>().body);
      break;
    case NodeKind::Block:
      for (SynId item : n.as<Many>().items) statement(item);
      break;
    case NodeKind::For:
      for (const ForHead& head : n.as<For>().heads) {
        look(head.range);
        bind(head.pattern);
      }
      look(n.as<For>().filter);
      look(n.as<For>().body);
      break;
    case NodeKind::If:
      conditional(n.as<If>().condition, n.as<If>().then);
      bound_.resize(mark);
      look(n.as<If>().otherwise);
      break;
    case NodeKind::While: conditional(n.as<While>().condition, n.as<While>().body); break;
    case NodeKind::Builder:
    case NodeKind::Generator: builder(n.as<Builder>()); break;
    case NodeKind::Match: match(n.as<Match>()); break;
    case NodeKind::As:
      look(n.as<Two>().first);
      type(n.as<Two>().second);
      break;
    default: forEachChild(ast_, s, [this](SynId child) { look(child); });
    }
    bound_.resize(mark);
  }

private:
  void look(SynId s) {
    if (!s) return;
    visit_(s, isBound_);
    children(s);
  }

  /// A type as it is written: only what stands in brackets, sizes, may name a value.
  void type(SynId s) {
    if (!s) return;
    switch (ast_.kind(s)) {
    case NodeKind::Name:
    case NodeKind::Member: break;
    case NodeKind::Paren:
    case NodeKind::Tuple:
    case NodeKind::FunctionType: forEachChild(ast_, s, [this](SynId part) { type(part); }); break;
    case NodeKind::Brackets:
      type(ast_[s].as<Brackets>().base);
      for (const Argument& item : ast_[s].as<Brackets>().items) look(item.value);
      break;
    default: look(s);
    }
  }

  /// Its own name may also mean the functions of that name above it.
  void function(const FnItem& item) {
    for (const Generic& g : item.generics) {
      type(g.defaultType);
      bound_.push_back(g.name);
    }
    parameters(item.params);
    type(item.result);
    look(item.body);
  }

  void parameters(const std::vector<Parameter>& params) {
    for (const Parameter& p : params) {
      type(p.type);
      look(p.defaultValue);
      if (p.name) bound_.push_back(p.name);
      bind(p.pattern);
    }
  }

  /// What a statement binds holds to the end of its block.
  void statement(SynId s) {
    const Node& n = ast_[s];
    if (n.kind == NodeKind::Fn && n.as<FnItem>().name) bound_.push_back(n.as<FnItem>().name);
    if (n.kind != NodeKind::Let) {
      look(s);
      if (n.kind == NodeKind::Const) bound_.push_back(n.as<ConstItem>().name);
      return;
    }
    const auto& let = n.as<Let>();
    visit_(s, isBound_);
    type(let.type);
    look(let.init);
    look(let.otherwise);
    bind(let.pattern);
  }

  /// What runs where a condition holds knows the names that it binds.
  void conditional(SynId condition, SynId body) {
    const bool binds = ast_.kind(condition) == NodeKind::LetCondition;
    look(binds ? ast_[condition].as<LetCondition>().value : condition);
    if (binds) bind(ast_[condition].as<LetCondition>().pattern);
    look(body);
  }

  void builder(const Builder& made) {
    for (const Header& h : made.headers) look(h.range);
    for (const Header& h : made.headers) bind(h.pattern);
    look(made.filter);
    look(made.body);
  }

  void match(const Match& matched) {
    look(matched.scrutinee);
    for (const MatchArm& arm : matched.arms) {
      const size_t mark = bound_.size();
      bind(arm.pattern);
      look(arm.guard);
      look(arm.body);
      bound_.resize(mark);
    }
  }

  /// The names of a pattern; a case is no name that anything binds.
  void bind(SynId pattern) {
    if (!pattern) return;
    const Node& n = ast_[pattern];
    if (n.kind == NodeKind::Name) bound_.push_back(n.as<Name>().name);
    if (n.kind == NodeKind::CasePattern)
      for (const PatternField& field : n.as<CasePattern>().fields) bind(field.pattern);
    else
      forEachChild(ast_, pattern, [this](SynId part) { bind(part); });
  }

  const Ast& ast_;
  const std::function<void(SynId, const IsBound&)>& visit_;
  const IsBound isBound_;
  std::vector<NameId> bound_;
};

} // namespace

bool namesNewAxis(const Ast& ast, const Interner& names, SynId item) {
  return ast.kind(item) == NodeKind::Name && names.text(ast[item].as<Name>().name) == "new";
}

bool mentions(const Ast& ast, SynId node, NameId wanted) {
  if (!node || !wanted) return false;
  NodeKind kind = ast.kind(node);
  bool found = (kind == NodeKind::Name || kind == NodeKind::PackUse) && ast[node].as<Name>().name == wanted;
  forEachChild(ast, node, [&](SynId part) { found |= mentions(ast, part, wanted); });
  return found;
}

void forEachInside(const Ast& ast, SynId node, const std::function<void(SynId, const IsBound&)>& visit) {
  Inside(ast, visit).children(node);
}

void collectNames(const Ast& ast, SynId pattern, std::set<NameId>& names) {
  if (ast.kind(pattern) == NodeKind::Name) names.insert(ast[pattern].as<Name>().name);
  forEachChild(ast, pattern, [&](SynId part) { collectNames(ast, part, names); });
}

SynId firstUse(const Ast& ast, SynId expr, const std::function<bool(NameId, bool)>& isSought) {
  SynId found;
  std::set<SynId> inBrackets;
  auto look = [&](SynId s, const IsBound& isBound) {
    if (ast.kind(s) == NodeKind::Brackets)
      for (const Argument& item : ast[s].as<Brackets>().items) inBrackets.insert(item.value);
    if (found || ast.kind(s) != NodeKind::Name) return;
    const NameId name = ast[s].as<Name>().name;
    if (!isBound(name) && isSought(name, inBrackets.contains(s))) found = s;
  };
  look(expr, [](NameId) { return false; });
  forEachInside(ast, expr, look);
  return found;
}

} // namespace melix::check
