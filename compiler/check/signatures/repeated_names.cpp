#include "check/signatures/repeated_names.h"

#include <map>

namespace melix::check {

using namespace syntax;

namespace {

class RepeatedNames {
public:
  RepeatedNames(DiagnosticSink& sink, const Interner& names, const Ast& ast)
      : sink_(sink), names_(names), ast_(ast) {}

  void look(SynId s) {
    const SynNode& n = ast_[s];
    switch (n.kind) {
    case SynKind::Fn: {
      const auto& item = n.as<FnItem>();
      BoundNames list;
      for (const Generic& g : item.generics) list.emplace_back(g.name, g.span);
      parameters(item.params, list);
      report(list, item.name ? "`" + std::string(names_.text(item.name)) + "`" : "this function");
      break;
    }
    case SynKind::Lambda: {
      BoundNames list;
      parameters(n.as<Lambda>().params, list);
      report(list, "this lambda");
      break;
    }
    case SynKind::Builder:
    case SynKind::Generator: {
      BoundNames list;
      for (const Header& h : n.as<Builder>().headers) pattern(h.pattern, list);
      report(list, "this comprehension");
      break;
    }
    case SynKind::Macro: return; // in quotes splices stand for names
    case SynKind::Const:
      if (isCapital(names_.text(n.as<ConstItem>().name)))
        sink_.report(DiagId::CapitalName, n.as<ConstItem>().nameSpan, names_.text(n.as<ConstItem>().name));
      break;
    case SynKind::Let: wholePattern(n.as<syntax::Let>().pattern); break;
    case SynKind::LetCondition: wholePattern(n.as<LetCondition>().pattern); break;
    case SynKind::For:
      for (const ForHead& head : n.as<syntax::For>().heads) wholePattern(head.pattern);
      break;
    case SynKind::Match:
      for (const MatchArm& arm : n.as<syntax::Match>().arms) wholePattern(arm.pattern);
      break;
    default: break;
    }
    forEachChild(ast_, s, [this](SynId child) { look(child); });
  }

private:
  void parameters(const std::vector<Parameter>& params, BoundNames& list) {
    for (const Parameter& p : params) {
      list.emplace_back(p.name, p.span);
      if (p.name && isCapital(names_.text(p.name)))
        sink_.report(DiagId::CapitalName, p.span, names_.text(p.name));
      pattern(p.pattern, list);
    }
  }

  void wholePattern(SynId s) {
    BoundNames list;
    pattern(s, list);
    report(list, "this pattern");
  }

  /// The names that a pattern binds; alternatives bind the same ones.
  void pattern(SynId s, BoundNames& list) {
    if (!s.valid()) return;
    const SynNode& n = ast_[s];
    switch (n.kind) {
    case SynKind::Name: list.emplace_back(n.as<Name>().name, n.span); break;
    case SynKind::Paren: pattern(n.as<One>().inner, list); break;
    case SynKind::Tuple:
    case SynKind::Array:
      for (SynId part : n.as<Many>().items) pattern(part, list);
      break;
    case SynKind::OrPattern: pattern(n.as<Many>().items.front(), list); break;
    case SynKind::CasePattern:
      for (const PatternField& field : n.as<CasePattern>().fields) pattern(field.pattern, list);
      break;
    default: break;
    }
  }

  void report(const BoundNames& list, std::string_view where) { reportRepeated(sink_, names_, list, where); }

  DiagnosticSink& sink_;
  const Interner& names_;
  const Ast& ast_;
};

} // namespace

void reportRepeated(DiagnosticSink& sink, const Interner& names, const BoundNames& list,
                    std::string_view where) {
  std::map<NameId, Span> seen;
  for (auto [name, span] : list)
    if (auto [first, isNew] = seen.emplace(name, span); name && !isNew && names.text(name) != "_")
      sink.report(DiagId::RepeatedName, span, names.text(name), where)
          .notes.push_back({first->second, "first here"});
}

void checkRepeatedNames(DiagnosticSink& sink, const Interner& names, const Ast& ast) {
  if (ast.root) RepeatedNames(sink, names, ast).look(ast.root);
}

} // namespace melix::check
