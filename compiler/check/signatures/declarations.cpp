// What a declaration must keep whether or not anything uses it: names once each, bounds that exist, a body,
// and in templates no name without a meaning.
#include "check/instances/instances.h"
#include "check/instances/programs.h"
#include "check/signatures/bounds.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/repeated_names.h"
#include "check/signatures/resolve.h"
#include "check/signatures/scripts.h"
#include "check/signatures/template_names.h"

#include <algorithm>
#include <cctype>

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
    else if (decl_.kind == DeclKind::TypeAlias)
      alias(n.as<TypeItem>());
    bool isType = n.kind == SynKind::Struct || n.kind == SynKind::Enum || decl_.kind == DeclKind::TypeAlias;
    if (isType && scalarNamed(text(decl_.name)))
      c_.sink.report(DiagId::BuiltinType, decl_.span, text(decl_.name));
  }

  /// Of a function inside of a function: what its signature says, whatever is around it.
  void checkInside() {
    const auto& item = ast_[decl_.node].as<FnItem>();
    signature(item);
    if (!item.body && (item.isExtern || !c_.declarations.function(id_).builtin.empty())) noBody();
  }

private:
  using Named = BoundNames;

  void once(const Named& list) {
    reportRepeated(c_.sink, c_.types.names, list, "`" + std::string(text(decl_.name)) + "`");
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
    const auto found = c_.modules[module].named(c_.types.names.intern(name));
    return !found.empty() && c_.modules.decl(found[0]).kind == DeclKind::Concept;
  }

  /// What stands in the type of a parameter: sizes are named without `?`, and one pack of axes at most.
  void parameterType(SynId s) {
    const SynNode& n = ast_[s];
    if (n.kind == SynKind::FreshDim) c_.sink.report(DiagId::DimensionAsked, n.span, text(n.as<Name>().name));
    std::vector<SynId> packs;
    for (SynId type = s; ast_.kind(type) == SynKind::Brackets; type = ast_[type].as<Brackets>().base)
      for (const Argument& item : ast_[type].as<Brackets>().items)
        if (ast_.kind(item.value) == SynKind::PackUse) packs.push_back(item.value);
    if (packs.size() > 1) c_.sink.report(DiagId::PacksTwice, ast_.span(packs[1]));
    forEachChild(ast_, s, [this](SynId child) { parameterType(child); });
  }

  void signature(const FnItem& item) {
    for (const Parameter& p : item.params) {
      if (p.type) parameterType(p.type);
      if (p.isPack)
        c_.sink.report(DiagId::NoConstruct, p.span).hint = "an array or a `List` holds several values";
      if (p.isInout && p.defaultValue)
        c_.sink.report(DiagId::InoutArgument, ast_.span(p.defaultValue), text(decl_.name), text(p.name))
            .hint = "an `inout` parameter has no default";
    }
    generics(item.generics);
    if (isOperator()) ownOperand(item);
    if (!item.body && !item.isExtern && c_.declarations.function(id_).builtin.empty()) noBody();
  }
  void noBody() { c_.sink.report(DiagId::NoBody, decl_.span, text(decl_.name)); }

  void function(const FnItem& item) {
    signature(item);
    bool isTemplate =
        !c_.generics.isHeldToBounds(id_) &&
        (std::any_of(item.params.begin(), item.params.end(), [](const Parameter& p) { return !p.type; }) ||
         std::any_of(item.generics.begin(), item.generics.end(),
                     [](const Generic& g) { return g.isPack || !g.bound; }));
    if (isTemplate)
      checkTemplateNames(c_, decl_.module, ast_, decl_.node,
                         [this](NameId name) { return c_.scripts.isOfScript(decl_.module, name); });
  }

  bool isOperator() const {
    char first = text(decl_.name)[0];
    return !(std::isalpha(static_cast<unsigned char>(first)) || first == '_' || (first & 0x80));
  }

  /// An operator is declared for a struct, an enum or a type parameter: those of numbers, arrays of these,
  /// text and Lists have their meaning.
  void ownOperand(const FnItem& item) {
    for (const Parameter& p : item.params) {
      SynId type = p.type;
      while (type && ast_.kind(type) == SynKind::Brackets) type = ast_[type].as<Brackets>().base;
      const std::string_view name =
          type && ast_.kind(type) == SynKind::Name ? text(ast_[type].as<Name>().name) : "";
      bool isBuiltin = scalarNamed(name) || name == "List";
      if (!isBuiltin) return;
    }
    if (!item.params.empty()) c_.sink.report(DiagId::OperatorOfBuiltin, decl_.span, text(decl_.name));
  }

  void alias(const TypeItem& item) {
    if (!item.generics.empty()) {
      c_.sink.report(DiagId::NoAliasParameters, decl_.span);
      return;
    }
    TypeEnv none;
    TypeResolver resolver(c_, decl_.module, ast_, none);
    c_.declarations.aliases.open.insert(id_);
    resolver.type(item.type);
    c_.declarations.aliases.open.erase(id_);
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
      if (std::islower(static_cast<unsigned char>(text(k.name)[0])))
        c_.sink.report(DiagId::SmallCase, k.span, text(k.name));
      fields({}, k.fields);
    }
    once(generics(item.generics));
    once(names);
  }

  /// What it is made of is known when compiling, and making it does nothing else.
  void constant() {
    InstanceKey key;
    key.decl = id_;
    const Instance& made = c_.program_.instance(c_.instances.instantiate(key, Span()));
    if (made.failed) c_.constants.repeatConstant(id_);
    if (made.io.valid()) c_.sink.report(DiagId::ConstValue, decl_.span, text(decl_.name));
  }

  std::string_view text(NameId name) const { return c_.types.names.text(name); }

  Checker& c_;
  const DeclId id_;
  const names::Decl decl_;
  const Ast& ast_;
  const ModuleId modules_[2] = {decl_.module, c_.modules.prelude()};
};

} // namespace

void checkDeclaration(Checker& c, DeclId decl) { Declarations(c, decl).check(); }

/// The functions inside of functions; what they are made of is checked with the bodies around them.
void checkInside(Checker& c, ModuleId module) {
  const Ast& tree = c.modules[module].ast;
  std::function<void(SynId, bool)> look = [&](SynId s, bool inside) {
    if (tree.kind(s) == SynKind::Macro) return; // in quotes splices stand for names
    bool isFunction = tree.kind(s) == SynKind::Fn;
    if (isFunction && inside) Declarations(c, c.declarations.nested(module, tree, s)).checkInside();
    bool holds = isFunction || tree.kind(s) == SynKind::Block;
    forEachChild(tree, s, [&](SynId child) { look(child, inside || holds); });
  };
  if (tree.root) look(tree.root, false);
}

} // namespace melix::check
