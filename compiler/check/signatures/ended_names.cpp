#include "check/signatures/ended_names.h"

namespace melix::check {

using namespace syntax;
using SynId = syntax::NodeId;
using SynKind = syntax::NodeKind;

namespace {

class EndedNames {
public:
  EndedNames(const Ast& ast, NameId name, Span use) : ast_(ast), name_(name), use_(use) {}

  Span found() {
    around(ast_.root);
    return found_;
  }

private:
  /// A node that the use stands in: of what it is made of, what stands before the use is looked into.
  void around(SynId s) {
    if (ast_.kind(s) == SynKind::Fn) found_ = Span(); // it does not see what is around it
    forEachChild(ast_, s, [this](SynId child) {
      const Span span = ast_.span(child);
      if (span.file == use_.file && span.begin <= use_.begin && use_.end <= span.end)
        around(child);
      else if (span.end <= use_.begin)
        inside(child);
    });
  }

  void inside(SynId s) {
    switch (ast_.kind(s)) {
    case SynKind::Fn:
    case SynKind::Lambda: return;
    case SynKind::Let: bind(ast_[s].as<Let>().pattern); break;
    case SynKind::LetCondition: bind(ast_[s].as<LetCondition>().pattern); break;
    case SynKind::For:
      for (const syntax::ForHead& head : ast_[s].as<syntax::For>().heads) bind(head.pattern);
      break;
    case SynKind::Builder:
    case SynKind::Generator:
      for (const Header& header : ast_[s].as<Builder>().headers) bind(header.pattern);
      break;
    case SynKind::Match:
      for (const MatchArm& arm : ast_[s].as<Match>().arms) bind(arm.pattern);
      break;
    default: break;
    }
    forEachChild(ast_, s, [this](SynId child) { inside(child); });
  }

  void bind(SynId pattern) {
    if (ast_.kind(pattern) == SynKind::Name && ast_[pattern].as<Name>().name == name_)
      found_ = ast_.span(pattern);
    forEachChild(ast_, pattern, [this](SynId part) { bind(part); });
  }

  const Ast& ast_;
  NameId name_;
  Span use_;
  Span found_;
};

} // namespace

Span endedBefore(const Ast& ast, NameId name, Span use) { return EndedNames(ast, name, use).found(); }

} // namespace melix::check
