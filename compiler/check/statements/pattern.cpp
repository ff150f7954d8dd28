// Patterns (rule 34).
#include "check/body/body.h"

#include <algorithm>
#include <optional>

namespace melix::check {

using namespace syntax;

LocalId Body::declareLocal(NameId name, TypeId type, Span span, bool isVar) {
  LocalId l = b.newLocal(types.names.text(name), type, span, isVar);
  scope.add({name, l});
  env.edit().dims.erase(name); // which it hides
  declared.push_back(l);
  noteOpen(l);
  return l;
}

void Body::noteOpen(LocalId local) {
  for (TypeId open : infer.openVars({instance.locals[local].type}))
    if (infer.varClass(open) == types::VarClass::Any)
      return openLocals.push_back({local, static_cast<uint32_t>(types.dims.symCount())});
}

PatternId Body::anyPattern(TypeId type, Span span) {
  Pattern p;
  p.type = type;
  p.span = span;
  return instance.patterns.add(std::move(p));
}

/// The pattern of one case of an enum that names its fields, which are added to `fields`.
PatternId Body::casePattern(TypeId type, uint32_t k, std::vector<NodeId>& fields, Span span) {
  Pattern p;
  p.kind = PatternKind::Case;
  p.type = type;
  p.caseIndex = k;
  p.span = span;
  const size_t count = types.recordInfo(types[type].record).cases[k].fields.size();
  for (uint32_t f = 0; f < count; ++f) {
    const TypeId field = types.fieldType(type, k, f);
    const LocalId v = b.newLocal("v", field, span);
    p.subs.push_back(b.bindPattern(v, field, span));
    fields.push_back(b.local(v, span));
  }
  return instance.patterns.add(std::move(p));
}

/// The type with its hidden sizes given names (rule 24).
TypeId Body::openPattern(Pattern& p, TypeId type) {
  if (types.kind(type) != TypeKind::Pack) return type;
  std::vector<DimId> dims;
  for (uint32_t k = 0; k < types[type].number; ++k) {
    p.unpacked.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, p.span}));
    dims.push_back(types.dims.symbol(p.unpacked.back()));
  }
  return types.openPack(type, dims);
}

bool Body::isPreludeEnum(TypeId t, std::string_view name) {
  t = infer.shallow(t);
  if (types.kind(t) != TypeKind::Enum) return false;
  const types::Record& r = types.recordInfo(types[t].record);
  return !r.tangentOf && types.names.text(r.name) == name &&
         c.modules.decl(DeclId(r.declaration)).module == c.modules.prelude();
}

/// Finds the case a path means in the enum `type`.
bool Body::caseOf(SynId path, TypeId type, uint32_t& caseIndex) {
  const bool isMember = ast.kind(path) == SynKind::Member;
  if (!isMember && ast.kind(path) != SynKind::Name) return false; // a splice outside of quotes, which is told
  // Cases go by their spelling, in quotes too.
  const NameId name =
      types.names.spelling(isMember ? ast[path].as<Member>().name : ast[path].as<Name>().name);
  const types::Record& r = types.recordInfo(types[type].record);
  if (types.kind(type) == TypeKind::Struct) {
    caseIndex = 0;
    return r.name == name;
  }
  for (uint32_t k = 0; k < r.cases.size(); ++k)
    if (r.cases[k].name == name) {
      caseIndex = k;
      return true;
    }
  return false;
}

/// Binds the names of a pattern that does not fit, or of what never comes, so that nothing is told of them
/// too.
void Body::bindAll(SynId pattern, TypeId type, bool isVar) {
  const SynNode& n = ast[pattern];
  switch (n.kind) {
  case SynKind::Name:
    if (LocalId l = bindName(n.as<Name>().name, type, n.span, isVar)) used.insert(l);
    return;
  case SynKind::CasePattern:
    for (const PatternField& f : n.as<CasePattern>().fields)
      if (f.pattern) bindAll(f.pattern, type, isVar);
    return;
  case SynKind::RefPattern: return bindAll(n.as<One>().inner, type, true);
  case SynKind::Paren:
  case SynKind::Array:
  case SynKind::Tuple: forEachChild(ast, pattern, [&](SynId part) { bindAll(part, type, isVar); }); return;
  case SynKind::OrPattern: return bindAll(n.as<Many>().items[0], type, isVar);
  default: return;
  }
}

/// The local that a name of a pattern binds: a new one, or that of the first alternative. None if the
/// alternatives differ.
LocalId Body::bindName(NameId name, TypeId type, Span span, bool isVar) {
  if (!alternative) return declareLocal(name, type, span, isVar);
  auto first = std::find_if((*alternative)->names.begin(), (*alternative)->names.end(),
                            [&](const ScopeEntry& e) { return e.name == name; });
  if (first == (*alternative)->names.end()) {
    sink.report(DiagId::AlternativeNames, span, types.names.text(name));
    return declareLocal(name, types.error(), span, isVar);
  }
  (*alternative)->bound.insert(name);
  UnifyKind match = infer.unify(instance.locals[first->local].type, type).kind;
  return match == UnifyKind::Equal || match == UnifyKind::NeedsCheck ? first->local : LocalId::none();
}

} // namespace melix::check
