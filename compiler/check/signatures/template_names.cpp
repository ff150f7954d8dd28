#include "check/signatures/template_names.h"

#include "check/intrinsics/intrinsics.h"
#include "check/signatures/free_names.h"
#include "check/signatures/lookup.h"
#include "check/signatures/resolve.h"
#include "check/signatures/suggestions.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

class TemplateNames {
public:
  TemplateNames(Checker& checker, ModuleId module, const Ast& ast, FunctionRef<bool(NameId)> visible)
      : c_(checker), module_(module), ast_(ast), visible_(visible) {}

  void check(SynId node) {
    collect(node);
    if (!hasMacros_) look(node);
  }

private:
  void collect(SynId s) {
    const SynNode& n = ast_[s];
    auto params = [&](const std::vector<Parameter>& list) {
      for (const Parameter& p : list) {
        bound_.insert(p.name);
        patternIn(p.pattern);
      }
    };
    switch (n.kind) {
    case SynKind::Lambda: params(n.as<Lambda>().params); break;
    case SynKind::Call:
      for (const Argument& a : n.as<Call>().args) // names parameters
        if (a.label && namesParameters(c_.types.names.text(a.label))) notUses_.insert(a.value);
      break;
    case SynKind::Brackets:
      for (const Argument& item : n.as<Brackets>().items)
        if (namesNewAxis(ast_, c_.types.names, item.value)) notUses_.insert(item.value);
      break;
    case SynKind::Fn:
      bound_.insert(n.as<FnItem>().name);
      for (const Generic& g : n.as<FnItem>().generics) bound_.insert(g.name);
      params(n.as<FnItem>().params);
      break;
    case SynKind::Const: bound_.insert(n.as<ConstItem>().name); break;
    case SynKind::Let: patternIn(n.as<syntax::Let>().pattern); break;
    case SynKind::LetCondition: patternIn(n.as<LetCondition>().pattern); break;
    case SynKind::For:
      for (const ForHead& head : n.as<syntax::For>().heads) patternIn(head.pattern);
      break;
    case SynKind::Builder:
    case SynKind::Generator:
      for (const Header& h : n.as<Builder>().headers) patternIn(h.pattern);
      break;
    case SynKind::Match:
      for (const MatchArm& arm : n.as<syntax::Match>().arms) patternIn(arm.pattern);
      break;
    case SynKind::MacroUse:
    case SynKind::Quote:
    case SynKind::Sample:
    case SynKind::Scope: hasMacros_ = true; break;
    default: break;
    }
    forEachChild(ast_, s, [this](SynId child) { collect(child); });
  }

  void patternIn(SynId s) {
    if (!s.valid()) return;
    notUses_.insert(s);
    bind(s);
  }

  void bind(SynId s) {
    if (ast_.kind(s) == SynKind::Name) bound_.insert(ast_[s].as<Name>().name);
    forEachChild(ast_, s, [this](SynId child) { bind(child); });
  }

  void look(SynId s) {
    if (notUses_.contains(s)) return;
    if (ast_.kind(s) == SynKind::Name && !isKnown(ast_[s].as<Name>().name)) {
      NameId name = ast_[s].as<Name>().name;
      if (isUnknownTold(c_.modules, c_.types.names.text(name), ast_.span(s), {})) return;
      std::vector<NameId> near(bound_.begin(), bound_.end());
      std::erase_if(near, [](NameId n) { return !n.valid(); });
      const std::string hint = isInOwnLambda(ast_, name, ast_.span(s))
                                   ? declaredHint(c_.types.names.text(name))
                                   : nameHint(c_, module_, name, ast_.span(s), near);
      c_.sink.report(DiagId::UnknownName, ast_.span(s), c_.types.names.text(name)).hint = hint;
    }
    forEachChild(ast_, s, [this](SynId child) { look(child); });
  }

  bool isKnown(NameId name) {
    std::string_view text = c_.types.names.text(name);
    bool isLower = text[0] >= 'a' && text[0] <= 'z';
    return !isLower || bound_.contains(name) || visible_(name) || text == "inf" || text == "nan" ||
           text == "pi" || text == "str" || scalarNamed(text) || findIntrinsic(text) ||
           c_.modules.prefix(module_, name) || constDecl(c_, module_, name) || typeDecl(c_, module_, name) ||
           !functionLayers(c_, module_, name).empty();
  }

  Checker& c_;
  ModuleId module_;
  const Ast& ast_;
  FunctionRef<bool(NameId)> visible_;
  std::set<NameId> bound_;
  std::set<SynId> notUses_; ///< patterns, and what names parameters
  bool hasMacros_ = false;
};

} // namespace

void checkTemplateNames(Checker& checker, ModuleId module, const Ast& ast, SynId node,
                        FunctionRef<bool(NameId)> visible) {
  TemplateNames(checker, module, ast, visible).check(node);
}

bool isUnknownTold(const names::Modules& modules, std::string_view name, Span span,
                   std::span<const Diagnostic> here) {
  if (SourceStore::isExpansion(span.file)) here = modules.sink.all();
  return std::ranges::any_of(here, [&](const Diagnostic& d) {
    return d.id == DiagId::UnknownName && d.args[0] == name &&
           modules.sources.written(d.span.file) == modules.sources.written(span.file);
  });
}

} // namespace melix::check
