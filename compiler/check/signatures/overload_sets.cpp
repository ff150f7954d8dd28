// Declarations of one name side by side: overloads must differ in more than dimensions (rule 10).
#include "check/signatures/checker.h"
#include "check/signatures/resolve.h"
#include "check/tree/infer.h"

#include <unordered_set>

namespace melix::check {

namespace {

/// What tells overloads apart, dimensions left out: names, types, `inout`, bounds, ranks.
class Signatures {
public:
  explicit Signatures(Checker& checker)
      : c_(checker), types_(checker.types),
        infer_(checker.types, trail_, [](TypeId record, std::vector<TypeId>) { return record; }) {}

  std::string of(const FunctionDecl& fn) { return of(fn, false); }

  /// What redefines a function at the prompt: the same but for the names of parameters.
  std::string ofTypes(const FunctionDecl& fn) { return of(fn, true); }

private:
  std::string of(const FunctionDecl& fn, bool typesOnly) {
    TypeEnv env;
    size_t opened = 0;
    std::string text;
    for (const GenericParam& g : fn.generics) {
      if (g.kind == GenericKind::Type) {
        env.types[g.name] = variable(opened++);
        text += "[" + (g.bound ? std::string(types_.names.text(g.bound)) : "") + "]";
      } else if (g.kind == GenericKind::Dim) {
        env.dims[g.name] = types_.dims.constant(1);
      } else if (typesOnly) {
        env.packs[g.name].assign(packRank, types_.dims.constant(1));
      } else {
        return text + "pack " + std::to_string(fn.decl.index); // any rank: never the same as another
      }
    }
    const syntax::Ast& tree = c_.ast(fn.decl);
    TypeResolver resolver(c_, fn.module, tree, env);
    resolver.around.bindDim =
        resolver.around.freshDim = [this](NameId, Span) { return types_.dims.constant(1); };
    resolver.around.valueDim = [this](syntax::NodeId) { return types_.dims.constant(1); };
    resolver.around.bindType = [&](NameId, Span) { return variable(opened++); };
    for (const ParamDecl& p : fn.params) {
      resolver.owner = p.name;
      TypeId type = p.type ? withoutDims(resolver.type(p.type)) : TypeId::none();
      text += (p.isInout ? "&" : " ") + (typesOnly ? "" : std::to_string(p.name.index)) + ":" +
              std::to_string(type.index);
    }
    return text;
  }

  TypeId variable(size_t k) {
    while (variables_.size() <= k) variables_.push_back(infer_.freshVar(types::VarClass::Any, Span()));
    return variables_[k];
  }
  TypeId withoutDims(TypeId type) {
    return types_.rewrite(type, [this](TypeId part) {
      return types_.kind(part) == TypeKind::Array
                 ? types_.array(types_.element(part),
                                std::vector<DimId>(types_.rank(part), types_.dims.constant(1)))
                 : part;
    });
  }

  static constexpr size_t packRank = 64; ///< none that is written

  Checker& c_;
  TypeStore& types_;
  Trail trail_;
  Inference infer_;
  std::vector<TypeId> variables_;
};

} // namespace

void Checker::checkOverloadSet(const std::vector<DeclId>& set) {
  Signatures signatures(*this);
  std::unordered_map<std::string, DeclId> seen;
  for (DeclId decl : set) {
    if (modules.decl(decl).kind != names::DeclKind::Function) continue;
    Messages ofTypes(sink);
    std::string signature = signatures.of(function(decl));
    const bool readable = !ofTypes.any();
    ofTypes.drop(); // said where the function itself is checked
    auto [first, isNew] = seen.emplace(std::move(signature), decl);
    if (!readable || isNew) continue;
    alike_.insert(decl);
    sink.report(DiagId::SameOverload, modules.decl(decl).span, types.names.text(modules.decl(decl).name))
        .notes.push_back({modules.decl(first->second).span, "the other is declared here"});
  }
}

std::vector<DeclId> Checker::redefined(const std::vector<DeclId>& set) {
  Signatures signatures(*this);
  std::unordered_set<std::string> seen;
  std::vector<DeclId> out;
  const Unheard unheard(sink); // said where the functions themselves are checked
  for (DeclId decl : set)
    if (!seen.insert(signatures.ofTypes(function(decl))).second) out.push_back(decl);
  return out;
}

void Checker::checkOverloads(ModuleId module) {
  std::vector<std::vector<DeclId>> sets;
  for (const auto& [name, same] : modules[module].decls.own())
    if (same.size() > 1 && types.names.text(name) != "main") // a program says it
      sets.push_back(same);
  std::sort(sets.begin(), sets.end());
  for (const std::vector<DeclId>& set : sets) checkOverloadSet(set);
}

} // namespace melix::check
