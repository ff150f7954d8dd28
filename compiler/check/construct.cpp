// Structs and enum cases made from their fields.
#include "check/body.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

/// A struct or an enum case from its fields, by position or name.
NodeId Body::construct(DeclId decl, uint32_t caseIndex, const std::vector<CallArg>& args,
                       const Explicit* explicitArgs, TypeId expected, Span span) {
  const RecordDecl& record = c.record(decl);
  std::string_view name = types.names.text(record.name);
  std::vector<TypeId> typeArgs;
  std::vector<DimId> dims;
  TypeResolver outer(c, module, ast, env);
  outer.around.valueDim = [&](SynId s) { return dimOfSyntax(s); };
  size_t position = 0;
  for (const GenericParam& g : record.generics) {
    const Argument* given =
        explicitArgs && position < explicitArgs->size() ? &(*explicitArgs)[position] : nullptr;
    ++position;
    if (g.kind == GenericKind::Type)
      typeArgs.push_back(given ? outer.type(given->value) : fresh(span));
    else
      dims.push_back(given ? outer.dim(given->value)
                           : types.dims.symbol(infer.freshDim(std::string(types.names.text(g.name)), span)));
  }
  for (DimId d : dims)
    if (!d) return b.error(span);
  TypeId want = expected ? infer.zonk(expected) : TypeId::none();
  bool sameDecl = want && types[want].record && !types.recordInfo(types[want].record).tangentOf &&
                  types.recordInfo(types[want].record).declaration == decl.index;
  if (sameDecl) {
    const std::vector<TypeId>& wantArgs = types.typeArgs(want);
    for (size_t k = 0; k < typeArgs.size(); ++k) infer.unify(typeArgs[k], wantArgs[k]);
    for (size_t k = 0; k < dims.size(); ++k) infer.unifyDim(dims[k], types[want].dims[k]);
  }
  TypeId type = c.recordType(decl, typeArgs, dims);
  const std::vector<types::Field>& fields = types.recordInfo(types[type].record).cases[caseIndex].fields;
  std::string_view shown =
      record.isEnum ? types.names.text(types.recordInfo(types[type].record).cases[caseIndex].name) : name;
  std::vector<NodeId> values(fields.size());
  std::vector<NodeId> lets;
  size_t next = 0;
  std::vector<size_t> written; ///< fields in the order of their values
  for (const CallArg& arg : args) {
    size_t at = fields.size();
    if (!arg.label) at = next++;
    for (size_t k = 0; arg.label && k < fields.size(); ++k)
      if (fields[k].name == arg.label) at = k;
    if (at >= fields.size() || values[at].valid()) {
      if (arg.label) {
        std::vector<std::string_view> known;
        for (const types::Field& f : fields)
          if (f.name) known.push_back(types.names.text(f.name));
        unknownArgument(arg, shown, at < fields.size(), known);
      } else
        sink.report(DiagId::ArgumentCount, span, shown, std::to_string(fields.size()),
                    std::to_string(args.size()));
      return b.error(span);
    }
    TypeId field = types.fieldType(infer.zonk(type), caseIndex, static_cast<uint32_t>(at));
    const bool isFunction = types.kind(infer.shallow(field)) == TypeKind::Function;
    NodeId value = checkArg(arg, isFunction && mayBeFunction(arg) ? TypeId::none() : field);
    if (isFunction && b.kindOf(value) == TypeKind::Known) {
      unifyMonomorphic(value, field);
      value = asFunction(value, infer.zonk(field), arg.span);
    }
    value = coerce(value, field, arg.span, DiagId::ArgumentType, shown,
                   types.recordInfo(types[infer.zonk(type)].record).origin);
    if (b.kindOf(value) == TypeKind::Error) return b.error(span);
    values[at] = value;
    written.push_back(at);
  }
  if (!std::is_sorted(written.begin(), written.end()))
    for (size_t at : written) values[at] = b.local(b.bind("field", values[at], lets), b.spanOf(values[at]));
  for (size_t k = 0; k < fields.size(); ++k)
    if (!values[k].valid()) {
      // `Ok()` is `Ok(())` (rule 35).
      if (TypeId field = types.fieldType(type, caseIndex, static_cast<uint32_t>(k));
          types.isUnit(infer.zonk(field))) {
        values[k] = b.unit(span);
        continue;
      }
      sink.report(DiagId::MissingArgument, span, shown,
                  fields[k].name ? types.names.text(fields[k].name) : std::to_string(k));
      return b.error(span);
    }
  size_t nextArg = 0;
  for (const GenericParam& g : record.generics)
    if (g.kind == GenericKind::Type && !boundMet(name, g, infer.zonk(typeArgs[nextArg++]), span))
      return b.error(span);
  TypeId made = infer.zonk(type);
  NodeId node = b.composite(record.isEnum ? NodeKind::Variant : NodeKind::Struct, made, span,
                            std::move(values), Index{caseIndex});
  if (b.kindOf(node) == TypeKind::Never) // whatever is left open stands for nothing
    for (TypeId open : infer.openVars({made})) infer.unify(open, types.unit());
  if (lets.empty()) return node;
  lets.push_back(node);
  return b.block(std::move(lets), span);
}

} // namespace melix::check
