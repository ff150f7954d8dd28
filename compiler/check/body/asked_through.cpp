#include "check/body/asked_through.h"

#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

/// Whether a type is asked for that tells one of a call.
bool tells(Body& body, SynId value, TypeId expected) {
  return expected && body.ast.kind(value) == SynKind::Call && !body.infer.hasOpen(body.infer.zonk(expected));
}

/// A value of the record with its parameters open.
TypeId openRecord(Body& body, DeclId record, Span span) {
  std::vector<TypeId> types;
  std::vector<DimId> dims;
  for (const GenericParam& g : body.c.declarations.record(record).generics) {
    if (g.kind == GenericKind::Type)
      types.push_back(body.fresh(span));
    else
      dims.push_back(
          body.types.dims.symbol(body.infer.freshDim(std::string(body.types.names.text(g.name)), span)));
  }
  return body.c.declarations.recordType(record, std::move(types), std::move(dims));
}

/// The functions that a call may mean by its name.
std::vector<DeclId> namedBy(Body& body, const syntax::Call& call) {
  const Ast& ast = body.ast;
  std::vector<DeclId> out;
  if (ast.kind(call.callee) == SynKind::Name) {
    for (const std::vector<DeclId>& layer :
         functionLayers(body.c, body.module, ast[call.callee].as<Name>().name))
      out.insert(out.end(), layer.begin(), layer.end());
  } else if (ast.kind(call.callee) == SynKind::Member) {
    const auto& member = ast[call.callee].as<Member>();
    if (ast.kind(member.base) != SynKind::Name) return out;
    if (ModuleId used = body.c.modules.prefix(body.module, ast[member.base].as<Name>().name))
      out = functionsIn(body.c, used, member.name, true);
  }
  return out;
}

/// The record that a type of a signature is; none if it is none.
DeclId recordOf(Body& body, TypeId type) {
  const types::RecordId record = type ? body.types[type].record : types::RecordId::none();
  return record ? DeclId(body.types.recordInfo(record).declaration) : DeclId::none();
}

/// The place among the type arguments of its first parameter of the parameter that the function gives back.
std::optional<size_t> placeOfResult(Body& body, const Signature& signature) {
  if (body.types.kind(signature.result.type) != TypeKind::Var) return std::nullopt;
  const std::vector<TypeId>& args = body.types.typeArgs(signature.params[0].type);
  const auto found = std::ranges::find(args, signature.result.type);
  return found == args.end() ? std::nullopt : std::optional(static_cast<size_t>(found - args.begin()));
}

/// The last expression of a block.
SynId lastOf(const Ast& ast, SynId branch) {
  while (branch && ast.kind(branch) == SynKind::Block && !ast[branch].as<Many>().items.empty())
    branch = ast[branch].as<Many>().items.back();
  return branch;
}

/// The field whose value a case's pattern binds to this name.
std::optional<size_t> fieldBound(const Ast& ast, const CasePattern& pattern, NameId name) {
  for (size_t k = 0; k < pattern.fields.size(); ++k) {
    const PatternField& field = pattern.fields[k];
    if (!field.pattern || field.label) return std::nullopt;
    if (ast.kind(field.pattern) == SynKind::Name && ast[field.pattern].as<Name>().name == name) return k;
  }
  return std::nullopt;
}

} // namespace

TypeId withSizesHidden(Body& body, TypeId type) {
  const TypeId payload = body.infer.zonk(type);
  std::vector<DimSym> symbols, open;
  body.types.collectSymbols(payload, symbols);
  std::ranges::copy_if(symbols, std::back_inserter(open), [&](DimSym s) {
    return body.types.dims.info(s).kind == types::DimSymKind::Inference;
  });
  return body.types.pack(payload, open);
}

NodeId checkAsked(Body& body, SynId value, TypeId asked) {
  const NodeId made = body.checkExpr(value, asked);
  if (!asked) return made;
  const TypeId given = body.infer.zonk(body.b.typeOf(made)), wanted = body.infer.zonk(asked);
  auto declaration = [&](TypeId t) { return body.types.recordInfo(body.types[t].record).declaration; };
  const bool isSame =
      body.types.kind(given) == body.types.kind(wanted) && declaration(given) == declaration(wanted);
  const std::vector<TypeId> open = body.types.typeArgs(wanted);
  const std::vector<TypeId> told = isSame ? body.types.typeArgs(given) : std::vector<TypeId>();
  for (size_t k = 0; k < open.size(); ++k)
    if (body.types.kind(body.infer.shallow(open[k])) == TypeKind::Var)
      body.infer.unify(k < told.size() ? told[k] : body.types.unit(), open[k]);
  return made;
}

TypeId askedOfReceiver(Body& body, const Member& member, TypeId expected) {
  if (!tells(body, member.base, expected)) return TypeId::none();
  std::vector<DeclId> given;
  for (DeclId inner : namedBy(body, body.ast[member.base].as<syntax::Call>()))
    if (DeclId record = recordOf(body, body.c.signatures.of(inner).result.type)) given.push_back(record);
  for (const std::vector<DeclId>& layer : functionLayers(body.c, body.module, member.name))
    for (DeclId outer : layer) {
      const Signature& signature = body.c.signatures.of(outer);
      if (signature.params.empty() || !signature.result.isWritten()) continue;
      const DeclId record = recordOf(body, signature.params[0].type);
      if (!record || std::ranges::find(given, record) == given.end()) continue;
      const std::optional<size_t> place = placeOfResult(body, signature);
      const TypeId asked = place ? openRecord(body, record, body.ast.span(member.base)) : TypeId::none();
      if (!asked || *place >= body.types.typeArgs(asked).size()) continue;
      body.infer.unify(body.types.typeArgs(asked)[*place], withSizesHidden(body, expected));
      return body.infer.zonk(asked);
    }
  return TypeId::none();
}

TypeId askedThroughPattern(Body& body, SynId value, SynId pattern, SynId branch, TypeId expected) {
  const Ast& ast = body.ast;
  branch = lastOf(ast, branch);
  if (!tells(body, value, expected) || ast.kind(pattern) != SynKind::CasePattern || !branch ||
      ast.kind(branch) != SynKind::Name)
    return TypeId::none();
  const auto& written = ast[pattern].as<CasePattern>();
  if (ast.kind(written.path) != SynKind::Name) return TypeId::none();
  const auto cases = casesNamed(body.c, body.module, ast[written.path].as<Name>().name);
  const std::optional<size_t> field = fieldBound(ast, written, ast[branch].as<Name>().name);
  if (cases.size() != 1 || !field) return TypeId::none();
  const TypeId asked = openRecord(body, cases[0].first, ast.span(value));
  const auto& fields = body.types.recordInfo(body.types[asked].record).cases[cases[0].second].fields;
  if (*field >= fields.size()) return TypeId::none();
  const TypeId bound = body.types.fieldType(asked, cases[0].second, static_cast<uint32_t>(*field));
  return body.infer.unify(bound, withSizesHidden(body, expected)).kind == UnifyKind::Equal
             ? body.infer.zonk(asked)
             : TypeId::none();
}

TypeId askedOfScrutinee(Body& body, const syntax::Match& match, TypeId expected) {
  for (const MatchArm& arm : match.arms)
    if (TypeId asked = askedThroughPattern(body, match.scrutinee, arm.pattern, arm.body, expected))
      return asked;
  return TypeId::none();
}

} // namespace melix::check
