// Structs and enum cases made from their fields.
#include "check/body/body_values.h"
#include "check/body/other_tree.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/free_names.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

namespace {

/// A struct or an enum case from its fields, by position or name; a field that is not given has its default.
class Construction {
public:
  Construction(Body& body, DeclId decl, uint32_t caseIndex, Span span)
      : body_(body), b_(body.b), types_(body.types), record_(body.c.declarations.record(decl)),
        case_(caseIndex), span_(span) {}

  NodeId make(const std::vector<CallArg>& args, const Explicit* explicitArgs, TypeId expected) {
    if (!openType(explicitArgs, expected)) return b_.error(span_);
    for (const CallArg& arg : args)
      if (!give(arg, args.size())) return b_.error(span_);
    keepOrder();
    for (size_t at = 0; at < fields().size(); ++at)
      if (!values_[at].valid() && !giveDefault(at)) return b_.error(span_);
    return boundsMet() ? made() : b_.error(span_);
  }

private:
  const std::vector<types::Field>& fields() const {
    return types_.recordInfo(types_[type_].record).cases[case_].fields;
  }
  TypeId fieldType(size_t at) {
    return types_.fieldType(body_.infer.zonk(type_), case_, static_cast<uint32_t>(at));
  }
  std::string_view text(NameId name) const { return types_.names.text(name); }
  std::string_view shown() const {
    return text(record_.isEnum ? types_.recordInfo(types_[type_].record).cases[case_].name : record_.name);
  }

  bool openType(const Explicit* explicitArgs, TypeId expected);
  void unifyWith(TypeId want);
  std::optional<size_t> fieldOf(const CallArg& arg, size_t given);
  bool give(const CallArg& arg, size_t given);
  void keepOrder();
  bool giveDefault(size_t at);
  void seeField(size_t k);
  NodeId defaultOf(size_t at, SynId written);
  TypeEnv home() const;
  bool boundsMet();
  NodeId made();

  Body& body_;
  NodeBuilder& b_;
  TypeStore& types_;
  const RecordDecl& record_;
  const uint32_t case_;
  const Span span_;
  TypeId type_;
  std::vector<TypeId> typeArgs_;
  std::vector<DimId> dims_;
  std::vector<NodeId> values_;  ///< by field
  std::vector<NodeId> lets_;    ///< what is evaluated before the fields
  std::vector<size_t> written_; ///< fields in the order of their values
  size_t nextByPosition_ = 0;
};

/// The type with its parameters open, but for those that are written or that the type asked for tells.
bool Construction::openType(const Explicit* explicitArgs, TypeId expected) {
  BodyValues values(body_);
  TypeResolver outer(body_.c, body_.module, body_.ast, body_.env.edit(), {.values = &values});
  size_t position = 0;
  for (const GenericParam& g : record_.generics) {
    const Argument* given =
        explicitArgs && position < explicitArgs->size() ? &(*explicitArgs)[position] : nullptr;
    ++position;
    if (g.kind == GenericKind::Type)
      typeArgs_.push_back(given ? outer.type(given->value) : body_.fresh(span_));
    else
      dims_.push_back(given ? outer.dim(given->value)
                            : types_.dims.symbol(body_.infer.freshDim(std::string(text(g.name)), span_)));
  }
  if (std::any_of(dims_.begin(), dims_.end(), [](DimId d) { return !d; })) return false;
  if (expected) unifyWith(body_.infer.zonk(expected));
  type_ = body_.c.declarations.recordType(record_.decl, typeArgs_, dims_);
  values_.resize(fields().size());
  return true;
}

void Construction::unifyWith(TypeId want) {
  if (!types_[want].record) return;
  const types::Record& asked = types_.recordInfo(types_[want].record);
  if (asked.tangentOf || asked.declaration != record_.decl.index) return;
  const std::vector<TypeId>& wantArgs = types_.typeArgs(want);
  for (size_t k = 0; k < typeArgs_.size(); ++k) body_.infer.unify(typeArgs_[k], wantArgs[k]);
  for (size_t k = 0; k < dims_.size(); ++k) body_.infer.unifyDim(dims_[k], types_[want].dims[k]);
}

/// The field that an argument is for; none after a message.
std::optional<size_t> Construction::fieldOf(const CallArg& arg, size_t given) {
  const std::vector<types::Field>& all = fields();
  size_t at = all.size();
  if (!arg.label) at = nextByPosition_++;
  for (size_t k = 0; arg.label && k < all.size(); ++k)
    if (all[k].name == arg.label) at = k;
  if (at < all.size() && !values_[at].valid()) return at;
  if (arg.label) {
    std::vector<std::string_view> known;
    for (const types::Field& f : all)
      if (f.name) known.push_back(text(f.name));
    body_.unknownArgument(arg, shown(), at < all.size(), known);
  } else {
    body_.sink.report(DiagId::ArgumentCount, span_, shown(), std::to_string(all.size()),
                      std::to_string(given));
  }
  return std::nullopt;
}

bool Construction::give(const CallArg& arg, size_t given) {
  std::optional<size_t> at = fieldOf(arg, given);
  if (!at) return false;
  TypeId field = fieldType(*at);
  const bool isFunction = types_.kind(body_.infer.shallow(field)) == TypeKind::Function;
  NodeId value = body_.checkArg(arg, isFunction && body_.mayBeFunction(arg) ? TypeId::none() : field);
  if (isFunction && b_.kindOf(value) == TypeKind::Known) {
    body_.unifyMonomorphic(value, field);
    value = body_.asFunction(value, body_.infer.zonk(field), arg.span);
  }
  values_[*at] = body_.coerce(value, field, arg.span, DiagId::ArgumentType, shown(),
                              types_.recordInfo(types_[body_.infer.zonk(type_)].record).origin);
  written_.push_back(*at);
  return b_.kindOf(values_[*at]) != TypeKind::Error;
}

/// Values are evaluated as they are written.
void Construction::keepOrder() {
  if (std::is_sorted(written_.begin(), written_.end())) return;
  for (size_t at : written_)
    values_[at] = b_.local(b_.bind("field", values_[at], lets_), b_.spanOf(values_[at]));
}

bool Construction::giveDefault(size_t at) {
  if (SynId written = record_.defaults[case_][at]) {
    values_[at] = defaultOf(at, written);
    return b_.kindOf(values_[at]) != TypeKind::Error;
  }
  // `Ok()` is `Ok(())` (rule 35).
  if (types_.isUnit(body_.infer.zonk(fieldType(at)))) {
    values_[at] = b_.unit(span_);
    return true;
  }
  NameId name = fields()[at].name;
  body_.sink.report(DiagId::MissingArgument, span_, shown(), name ? text(name) : std::to_string(at));
  return false;
}

void Construction::seeField(size_t k) {
  NameId name = fields()[k].name;
  if (body_.instance.nodes[values_[k]].kind != NodeKind::Local)
    values_[k] = b_.local(b_.bind(name ? text(name) : "field", values_[k], lets_), span_);
  body_.scope.add({name, body_.instance.nodes[values_[k]].as<LocalRef>().local});
}

/// A default is evaluated for each value that is made, at home; it sees the fields before its own.
NodeId Construction::defaultOf(size_t at, SynId written) {
  const auto key = std::tuple(body_.id, record_.decl, (static_cast<size_t>(case_) << 32) + at);
  if (!body_.c.declarations.openDefaults.insert(key).second) {
    body_.sink.report(DiagId::DefaultCycle, span_, text(fields()[at].name), shown());
    return b_.error(span_);
  }
  const Ast& tree = body_.c.ast(record_.decl);
  const size_t mark = body_.scope.size();
  bool usesEarlier = false;
  for (size_t k = 0; k < at; ++k) usesEarlier |= mentions(tree, written, fields()[k].name);
  for (size_t k = 0; k < at && usesEarlier; ++k) seeField(k);
  TypeId field = fieldType(at);
  NodeId value;
  {
    Elsewhere there(body_, tree, record_.module, home(), mark);
    value = body_.checkExpr(written, field);
    value = body_.coerce(value, field, tree.span(written), DiagId::ArgumentType, shown());
  }
  body_.scope.leave(mark);
  body_.c.declarations.openDefaults.erase(key);
  return value;
}

/// What the record's parameters stand for.
TypeEnv Construction::home() const {
  TypeEnv env;
  size_t nextType = 0, nextDim = 0;
  for (const GenericParam& g : record_.generics) {
    if (g.kind == GenericKind::Type)
      env.types[g.name] = body_.infer.zonk(typeArgs_[nextType++]);
    else if (g.kind == GenericKind::Dim)
      env.dims[g.name] = body_.infer.zonk(dims_[nextDim++]);
  }
  return env;
}

bool Construction::boundsMet() {
  size_t nextArg = 0;
  for (const GenericParam& g : record_.generics)
    if (g.kind == GenericKind::Type &&
        !body_.boundMet(text(record_.name), g, body_.infer.zonk(typeArgs_[nextArg++]), span_))
      return false;
  return true;
}

NodeId Construction::made() {
  TypeId type = body_.infer.zonk(type_);
  NodeId node = b_.composite(record_.isEnum ? NodeKind::Variant : NodeKind::Struct, type, span_,
                             std::move(values_), Index{case_});
  if (b_.kindOf(node) == TypeKind::Never) // whatever is left open stands for nothing
    for (TypeId open : body_.infer.openVars({type})) body_.infer.unify(open, types_.unit());
  if (lets_.empty()) return node;
  lets_.push_back(node);
  return b_.block(std::move(lets_), span_);
}

} // namespace

NodeId Body::construct(DeclId decl, uint32_t caseIndex, const std::vector<CallArg>& args,
                       const Explicit* explicitArgs, TypeId expected, Span span) {
  return Construction(*this, decl, caseIndex, span).make(args, explicitArgs, expected);
}

} // namespace melix::check
