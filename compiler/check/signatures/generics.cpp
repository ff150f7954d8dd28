// Generic functions are checked where they are declared, with types of their own for their type parameters
// (rule 12); their instances at other types are checked after that, and only if it went well.
#include "check/instances/instances.h"
#include "check/signatures/bounds.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/lookup.h"
#include "check/signatures/resolve.h"

#include <algorithm>
#include <cctype>

namespace melix::check {

using namespace syntax;

namespace {

bool mentionsWord(std::string_view text, std::string_view word) {
  auto inWord = [&](size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if (!inWord(at - 1) && !inWord(at + word.size())) return true;
  return false;
}

/// Says of the type parameters that a message shows what they are.
void noteParams(Diagnostic& d, const TypeStore& types, const std::vector<TypeId>& params) {
  if (diagSeverity(d.id) != SeverityKind::Error || d.id == DiagId::BoundNeeded) return;
  for (TypeId param : params) {
    const types::TypeParam& info = types.paramInfo(param);
    std::string name(types.names.text(info.name));
    auto shows = [&](const std::string& arg) { return mentionsWord(arg, name); };
    if (std::any_of(d.args.begin(), d.args.end(), shows))
      d.notes.push_back({info.origin, "`" + name + "` stands for every type" +
                                          (info.isBounded ? " that meets its bound" : ": it has no bound")});
  }
}

} // namespace

/// The types of the type parameters of a declaration, each made once.
const std::vector<TypeId>& GenericBodies::paramTypes(DeclId decl, const std::vector<GenericParam>& generics) {
  auto [found, isNew] = paramTypes_.try_emplace(decl);
  if (!isNew) return found->second;
  for (const GenericParam& g : generics) {
    if (g.kind != GenericKind::Type) continue;
    types::TypeParam param = paramBoundBy(g.bound ? c_.types.names.text(g.bound) : std::string_view())
                                 .value_or(types::TypeParam());
    param.name = g.name;
    param.isBounded = g.bound.valid();
    param.origin = g.span;
    found->second.push_back(c_.types.param(param));
  }
  return found->second;
}

/// Whether a function's body is checked where it is declared: it has type parameters, and what it does with
/// them is told by their bounds alone. The library may tell types apart that a bound does not.
bool GenericBodies::isHeldToBounds(DeclId decl) {
  if (c_.modules.decl(decl).kind != names::DeclKind::Function) return false;
  auto [found, isNew] = heldToBounds_.try_emplace(decl, false);
  if (!isNew) return found->second;
  const FunctionDecl& fn = c_.declarations.function(decl);
  bool hasTypes = false, knowsBounds = true;
  for (const GenericParam& g : fn.generics) {
    hasTypes |= g.kind == GenericKind::Type;
    knowsBounds &= !g.bound || paramBoundBy(c_.types.names.text(g.bound)).has_value();
  }
  bool held = hasTypes && knowsBounds && !fn.hasUntyped() && fn.body.valid() &&
              !c_.signatures.of(decl).impliesTypes();
  return heldToBounds_[decl] = held;
}

void refuseBound(Checker& c, std::string_view of, const GenericParam& g, TypeId got, std::string shown,
                 Span span) {
  std::string_view bound = c.types.names.text(g.bound);
  if (bound == "Hash" && !c.types.isParam(got) && c.modules.isLibraryFile(g.span.file)) {
    c.sink.report(DiagId::NotAKey, span, shown);
    return;
  }
  Diagnostic& d =
      c.types.isParam(got)
          ? c.sink.report(DiagId::BoundNeeded, span, "`" + std::string(of) + "`", std::move(shown), bound)
          : c.sink.report(DiagId::BoundNotMet, span, of, c.types.names.text(g.name), bound, std::move(shown));
  d.notes.push_back({g.span, "the bound stands here"});
  if (c.types.kind(got) == TypeKind::Array && (bound == "Eq" || bound == "Ord"))
    d.hint = "comparisons of arrays give an array of bools: `all(x == y)` is one";
}

/// Whether an instance is asked for at the types that stand for the type parameters themselves.
bool GenericBodies::isAtDeclaration(const InstanceKey& key) {
  const std::vector<TypeId>& own = paramTypes(key.decl, c_.declarations.function(key.decl).generics);
  return std::equal(own.begin(), own.end(), key.typeArgs.begin());
}

/// Whether the body of a generic function, with what it captures there, does with its type parameters only
/// what their bounds offer. Packs have one axis, then two, then none: a body that fits none of these is
/// refused as it is with one. What is wrong is told whenever this is asked: who asked before may have only
/// tried.
bool GenericBodies::satisfiesBounds(DeclId decl, KnownId known, const std::vector<TypeId>& captured) {
  if (!isHeldToBounds(decl) || c_.modules.isLibraryFile(c_.modules.decl(decl).span.file)) return true;
  const FunctionDecl& fn = c_.declarations.function(decl);
  InstanceKey key;
  key.decl = decl;
  key.known = known;
  key.typeArgs = paramTypes(decl, fn.generics);
  key.typeArgs.insert(key.typeArgs.end(), captured.begin(), captured.end());
  key.typeArgs = c_.instances.canonical(key.typeArgs).types;
  auto [found, isNew] = refusals_.try_emplace(key);
  std::vector<Diagnostic>& told = found->second;
  if (isNew) told = checkAtDeclaration(key, fn);
  for (const Diagnostic& d : told) c_.sink.repeat(d);
  return told.empty();
}

/// The messages about a generic body; none if it fits.
std::vector<Diagnostic> GenericBodies::checkAtDeclaration(const InstanceKey& key, const FunctionDecl& fn) {
  const size_t packs = c_.signatures.of(fn.decl).packs.size();
  std::vector<Diagnostic> told;
  for (uint32_t rank : packs ? std::vector<uint32_t>{1, 2, 0} : std::vector<uint32_t>{0}) {
    InstanceKey ranked = key;
    ranked.ranks.assign(packs, rank);
    Messages ofRank(c_.sink);
    c_.instances.instantiate(ranked, Span());
    if (!ofRank.anyErrors()) return {};
    std::vector<Diagnostic> here = ofRank.take();
    if (told.empty()) told = std::move(here);
  }
  for (Diagnostic& d : told) noteParams(d, c_.types, paramTypes(fn.decl, fn.generics));
  return told;
}

/// The same for a declaration that an instance is asked of. One whose captures are still open is not looked
/// at: it will be asked for again.
bool GenericBodies::mayInstantiate(const InstanceKey& key) {
  if (!key.decl || !isHeldToBounds(key.decl) || isAtDeclaration(key)) return true;
  const size_t own = paramTypes(key.decl, c_.declarations.function(key.decl).generics).size();
  std::vector<TypeId> captured(key.typeArgs.begin() + static_cast<ptrdiff_t>(own), key.typeArgs.end());
  bool open = false;
  for (TypeId t : captured)
    c_.types.rewrite(t, [&](TypeId part) {
      open |= c_.types.kind(part) == types::TypeKind::Var;
      return part;
    });
  return open || satisfiesBounds(key.decl, key.known, captured);
}

} // namespace melix::check
