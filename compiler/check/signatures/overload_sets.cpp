// Declarations of one name side by side: overloads must differ in more than dimensions (rule 10).
#include "check/instances/programs.h"
#include "check/signatures/checker.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/signature.h"

#include <unordered_set>

namespace melix::check {

namespace {

/// What tells overloads apart, dimensions left out: names, types, `inout`, bounds, ranks.
class OverloadTexts {
public:
  explicit OverloadTexts(Checker& checker) : c_(checker), types_(checker.types) {}

  /// None where a parameter's type is none.
  std::optional<std::string> of(const FunctionDecl& fn) {
    isReadable_ = true;
    std::string text = of(fn, false);
    return isReadable_ ? std::optional(std::move(text)) : std::nullopt;
  }

  /// What redefines a function at the prompt: the same but for the names of parameters.
  std::string ofTypes(const FunctionDecl& fn) { return of(fn, true); }

private:
  std::string of(const FunctionDecl& fn, bool typesOnly) {
    std::string text;
    for (const GenericParam& g : fn.generics)
      if (g.kind == GenericKind::Type)
        text += "[" + (g.bound ? std::string(types_.names.text(g.bound)) : "") + "]";
      else if (g.kind == GenericKind::Pack && !typesOnly)
        return text + "pack " + std::to_string(fn.decl.index); // any rank: never the same as another
    const Signature& signature = c_.signatures.of(fn.decl);
    SignatureUse use(c_, signature);
    use.types = signature.variables(types_);
    use.sizes.assign(use.sizes.size(), types_.dims.constant(1));
    use.packs.assign(use.packs.size(), std::vector<DimId>(packRank, types_.dims.constant(1)));
    for (size_t p = 0; p < fn.params.size(); ++p) {
      const SignatureType& param = signature.params[p];
      isReadable_ &= !param.isWrong;
      TypeId type = param.isWritten() ? withoutDims(use.type(param)) : TypeId::none();
      text += (param.isInout ? "&" : " ") + (typesOnly ? "" : std::to_string(fn.params[p].name.index)) + ":" +
              std::to_string(type.index);
    }
    return text;
  }

  TypeId withoutDims(TypeId type) {
    if (types_.kind(type) == TypeKind::Pack) type = types_[type].parts[0];
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
  bool isReadable_ = true;
};

} // namespace

void DeclarationTable::checkOverloadSet(const std::vector<DeclId>& set) {
  OverloadTexts texts(c_);
  std::unordered_map<std::string, DeclId> seen;
  for (DeclId decl : set) {
    if (c_.modules.decl(decl).kind != names::DeclKind::Function) continue;
    std::optional<std::string> signature;
    {
      const Unheard unheard(c_.sink); // said where the function itself is checked
      signature = texts.of(function(decl));
    }
    if (!signature) continue;
    auto [first, isNew] = seen.emplace(std::move(*signature), decl);
    if (isNew) continue;
    alike_.insert(decl);
    c_.sink
        .report(DiagId::SameOverload, c_.modules.decl(decl).span,
                c_.types.names.text(c_.modules.decl(decl).name))
        .notes.push_back({c_.modules.decl(first->second).span, "the other is declared here"});
  }
}

std::vector<DeclId> redefined(Checker& c, const std::vector<DeclId>& set) {
  OverloadTexts texts(c);
  std::unordered_set<std::string> seen;
  std::vector<DeclId> out;
  const Unheard unheard(c.sink); // said where the functions themselves are checked
  for (DeclId decl : set)
    if (!seen.insert(texts.ofTypes(c.declarations.function(decl))).second) out.push_back(decl);
  return out;
}

void checkOverloads(Checker& c, ModuleId module) {
  std::vector<std::vector<DeclId>> sets;
  for (const auto& [name, same] : c.modules[module].decls.own())
    if (same.size() > 1 && c.types.names.text(name) != "main") // a program says it
      sets.push_back(same);
  std::sort(sets.begin(), sets.end());
  for (const std::vector<DeclId>& set : sets) c.declarations.checkOverloadSet(set);
}

} // namespace melix::check
