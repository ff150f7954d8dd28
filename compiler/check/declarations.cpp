// What a declaration must keep whether or not anything uses it: names once each, bounds that exist, a body,
// and in templates no name without a meaning.
#include "check/bounds.h"
#include "check/checker.h"
#include "check/template_names.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;
using names::DeclKind;

namespace {

class Declarations {
public:
  Declarations(Checker& checker, DeclId decl)
      : c_(checker), id_(decl), decl_(checker.modules.decl(decl)), ast_(checker.ast(decl)) {}

  void check() {
    const SynNode& n = ast_[decl_.node];
    if (n.kind == SynKind::Fn)
      function(n.as<FnItem>());
    else if (n.kind == SynKind::Struct)
      structure(n.as<StructItem>());
    else if (n.kind == SynKind::Enum)
      enumeration(n.as<EnumItem>());
    else if (n.kind == SynKind::Const)
      constant();
  }

private:
  using Named = std::vector<std::pair<NameId, Span>>;

  void once(const Named& list) {
    std::map<NameId, Span> seen;
    for (auto [name, span] : list)
      if (auto [first, isNew] = seen.emplace(name, span); name && !isNew && text(name) != "_") {
        Diagnostic& d = c_.sink.report(DiagId::RepeatedName, span, text(name), text(decl_.name));
        d.notes.push_back({first->second, "first here"});
      }
  }

  Named generics(const std::vector<Generic>& list) {
    Named out;
    for (const Generic& g : list) {
      out.emplace_back(g.name, g.span);
      if (!g.bound) continue;
      std::string_view bound = c_.modules.sources.text(ast_.span(g.bound));
      bool isConcept = std::any_of(std::begin(modules_), std::end(modules_),
                                   [&](ModuleId m) { return hasConcept(m, bound); });
      if (isConcept || isBound(bound)) continue;
      c_.sink.report(DiagId::UnknownBound, ast_.span(g.bound), bound).hint =
          "the built-in ones are `" + boundNames() + "`";
    }
    return out;
  }

  bool hasConcept(ModuleId module, std::string_view name) {
    auto found = c_.modules[module].decls.find(c_.types.names.intern(name));
    return found != c_.modules[module].decls.end() &&
           c_.modules.decl(found->second[0]).kind == DeclKind::Concept;
  }

  void function(const FnItem& item) {
    Named names = generics(item.generics);
    for (const Parameter& p : item.params) names.emplace_back(p.name, p.span);
    once(names);
    if (!item.body && !item.isExtern && c_.function(id_).builtin.empty())
      c_.sink.report(DiagId::NoBody, decl_.span, text(decl_.name));
    bool isTemplate =
        !c_.isHeldToBounds(id_) &&
        (std::any_of(item.params.begin(), item.params.end(), [](const Parameter& p) { return !p.type; }) ||
         std::any_of(item.generics.begin(), item.generics.end(),
                     [](const Generic& g) { return g.isPack || !g.bound; }));
    if (isTemplate)
      checkTemplateNames(c_, decl_.module, ast_, decl_.node,
                         [this](NameId name) { return c_.isOfScript(decl_.module, name); });
  }

  void fields(const std::vector<Generic>& params, const std::vector<FieldDecl>& list) {
    Named names = generics(params);
    for (const FieldDecl& f : list) names.emplace_back(f.name, f.span);
    once(names);
  }

  void structure(const StructItem& item) {
    if (item.base) c_.sink.report(DiagId::NoTypeForm, ast_.span(item.base));
    fields(item.generics, item.fields);
  }

  void enumeration(const EnumItem& item) {
    Named names;
    for (const CaseDecl& k : item.cases) {
      names.emplace_back(k.name, k.span);
      fields({}, k.fields);
    }
    once(generics(item.generics));
    once(names);
  }

  /// What it is made of is known when compiling, and making it does nothing else.
  void constant() {
    InstanceKey key;
    key.decl = id_;
    const Instance& made = c_.program_.instance(c_.instantiate(key, Span()));
    if (made.doesIo) c_.sink.report(DiagId::ConstValue, decl_.span, text(decl_.name));
  }

  std::string_view text(NameId name) const { return c_.types.names.text(name); }

  Checker& c_;
  const DeclId id_;
  const names::Decl decl_;
  const Ast& ast_;
  const ModuleId modules_[2] = {decl_.module, c_.modules.prelude()};
};

} // namespace

void Checker::checkDeclaration(DeclId decl) { Declarations(*this, decl).check(); }

} // namespace melix::check
