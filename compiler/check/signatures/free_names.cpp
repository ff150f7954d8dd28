#include "check/signatures/free_names.h"

#include <algorithm>
#include <vector>

namespace melix::check {

using namespace syntax;

namespace {

using SynId = syntax::NodeId;

class Inside {
public:
  Inside(const syntax::Ast& ast, FunctionRef<void(SynId, const IsBound&)> visit)
      : ast_(ast), visit_(visit), isBound_([this](NameId name) {
          return std::find(bound_.begin(), bound_.end(), name) != bound_.end();
        }) {}

  void children(SynId s) {
    const size_t mark = bound_.size();
    const syntax::Node& n = ast_[s];
    switch (n.kind) {
    case syntax::NodeKind::Fn: function(n.as<syntax::FnItem>()); break;
    case syntax::NodeKind::Lambda:
      parameters(n.as<syntax::Lambda>().params);
      look(n.as<syntax::Lambda>().body);
      break;
    case syntax::NodeKind::Block:
      for (SynId item : n.as<syntax::Many>().items) statement(item);
      break;
    case syntax::NodeKind::For:
      for (const syntax::ForHead& head : n.as<syntax::For>().heads) {
        look(head.range);
        bind(head.pattern);
      }
      look(n.as<syntax::For>().filter);
      look(n.as<syntax::For>().body);
      break;
    case syntax::NodeKind::If:
      conditional(n.as<syntax::If>().condition, n.as<syntax::If>().then);
      bound_.resize(mark);
      look(n.as<syntax::If>().otherwise);
      break;
    case syntax::NodeKind::While:
      conditional(n.as<syntax::While>().condition, n.as<syntax::While>().body);
      break;
    case syntax::NodeKind::Builder:
    case syntax::NodeKind::Generator: builder(n.as<syntax::Builder>()); break;
    case syntax::NodeKind::Match: match(n.as<syntax::Match>()); break;
    case syntax::NodeKind::As:
      look(n.as<syntax::Two>().first);
      type(n.as<syntax::Two>().second);
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
    case syntax::NodeKind::Name:
    case syntax::NodeKind::Member: break;
    case syntax::NodeKind::Paren:
    case syntax::NodeKind::Tuple:
    case syntax::NodeKind::FunctionType: forEachChild(ast_, s, [this](SynId part) { type(part); }); break;
    case syntax::NodeKind::Brackets:
      type(ast_[s].as<syntax::Brackets>().base);
      for (const syntax::Argument& item : ast_[s].as<syntax::Brackets>().items) look(item.value);
      break;
    default: look(s);
    }
  }

  /// Its own name may also mean the functions of that name above it.
  void function(const syntax::FnItem& item) {
    for (const syntax::Generic& g : item.generics) {
      type(g.defaultType);
      bound_.push_back(g.name);
    }
    parameters(item.params);
    type(item.result);
    look(item.body);
  }

  void parameters(const std::vector<syntax::Parameter>& params) {
    for (const syntax::Parameter& p : params) {
      type(p.type);
      look(p.defaultValue);
      if (p.name) bound_.push_back(p.name);
      bind(p.pattern);
    }
  }

  /// What a statement binds holds to the end of its block.
  void statement(SynId s) {
    const syntax::Node& n = ast_[s];
    if (n.kind == syntax::NodeKind::Fn && n.as<syntax::FnItem>().name)
      bound_.push_back(n.as<syntax::FnItem>().name);
    if (n.kind != syntax::NodeKind::Let) {
      look(s);
      if (n.kind == syntax::NodeKind::Const) bound_.push_back(n.as<syntax::ConstItem>().name);
      return;
    }
    const auto& let = n.as<syntax::Let>();
    visit_(s, isBound_);
    type(let.type);
    look(let.init);
    look(let.otherwise);
    bind(let.pattern);
  }

  /// What runs where a condition holds knows the names that it binds.
  void conditional(SynId condition, SynId body) {
    const bool binds = ast_.kind(condition) == syntax::NodeKind::LetCondition;
    look(binds ? ast_[condition].as<syntax::LetCondition>().value : condition);
    if (binds) bind(ast_[condition].as<syntax::LetCondition>().pattern);
    look(body);
  }

  void builder(const syntax::Builder& made) {
    for (const syntax::Header& h : made.headers) look(h.range);
    for (const syntax::Header& h : made.headers) bind(h.pattern);
    look(made.filter);
    look(made.body);
  }

  void match(const syntax::Match& matched) {
    look(matched.scrutinee);
    for (const syntax::MatchArm& arm : matched.arms) {
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
    const syntax::Node& n = ast_[pattern];
    if (n.kind == syntax::NodeKind::Name) bound_.push_back(n.as<syntax::Name>().name);
    if (n.kind == syntax::NodeKind::CasePattern)
      for (const syntax::PatternField& field : n.as<syntax::CasePattern>().fields) bind(field.pattern);
    else
      forEachChild(ast_, pattern, [this](SynId part) { bind(part); });
  }

  const syntax::Ast& ast_;
  FunctionRef<void(SynId, const IsBound&)> visit_;
  const IsBound isBound_;
  std::vector<NameId> bound_;
};

} // namespace

bool namesNewAxis(const syntax::Ast& ast, const Interner& names, SynId item) {
  return ast.kind(item) == syntax::NodeKind::Name && names.text(ast[item].as<syntax::Name>().name) == "new";
}

bool mentions(const syntax::Ast& ast, SynId node, NameId wanted) {
  if (!node || !wanted) return false;
  syntax::NodeKind kind = ast.kind(node);
  bool found = (kind == syntax::NodeKind::Name || kind == syntax::NodeKind::PackUse) &&
               ast[node].as<syntax::Name>().name == wanted;
  forEachChild(ast, node, [&](SynId part) { found |= mentions(ast, part, wanted); });
  return found;
}

void forEachInside(const syntax::Ast& ast, SynId node, FunctionRef<void(SynId, const IsBound&)> visit) {
  Inside(ast, visit).children(node);
}

void collectNames(const syntax::Ast& ast, SynId pattern, std::set<NameId>& names) {
  if (ast.kind(pattern) == syntax::NodeKind::Name) names.insert(ast[pattern].as<syntax::Name>().name);
  forEachChild(ast, pattern, [&](SynId part) { collectNames(ast, part, names); });
}

SynId firstUse(const syntax::Ast& ast, SynId expr, FunctionRef<bool(NameId, bool)> isSought) {
  SynId found;
  std::set<SynId> inBrackets;
  auto look = [&](SynId s, const IsBound& isBound) {
    if (ast.kind(s) == syntax::NodeKind::Brackets)
      for (const syntax::Argument& item : ast[s].as<syntax::Brackets>().items) inBrackets.insert(item.value);
    if (found || ast.kind(s) != syntax::NodeKind::Name) return;
    const NameId name = ast[s].as<syntax::Name>().name;
    if (!isBound(name) && isSought(name, inBrackets.contains(s))) found = s;
  };
  look(expr, [](NameId) { return false; });
  forEachInside(ast, expr, look);
  return found;
}

} // namespace melix::check
