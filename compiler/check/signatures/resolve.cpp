#include "check/signatures/resolve.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"

#include "check/signatures/bounds.h"
#include "check/signatures/suggestions.h"
#include "types/tangent.h"

#include <algorithm>
#include <utility>

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

std::optional<TypeKind> scalarNamed(std::string_view name) {
  if (name == "int") return TypeKind::I64;
#define SCALAR(Kind, Text, Bits, Class)                                                                      \
  if (name == Text) return TypeKind::Kind;
#include "types/types.def"
  if (name == "str") return TypeKind::Str;
  return std::nullopt;
}

NameId TypeResolver::ownedName(Interner& names, NameId owner, NameId param) {
  return names.intern(std::string(owner ? names.text(owner) : "") + "." + std::string(names.text(param)));
}

/// What `_` is called in the type of a parameter; nothing elsewhere.
NameId TypeResolver::unnamed() {
  return owner ? ownedName(types_.names, owner, types_.names.intern("_" + std::to_string(anonymous_++)))
               : NameId();
}

TypeId TypeResolver::error(DiagId id, Span span, std::string_view name) {
  checker_.sink.report(id, span, name);
  return types_.error();
}

TypeId TypeResolver::type(SynId node) {
  TypeId found = form(node);
  return isTooLarge(types_, checker_.sink, found, ast_.span(node)) ? types_.error() : found;
}

TypeId TypeResolver::form(SynId node) {
  const SynNode& n = ast_[node];
  switch (n.kind) {
  case SynKind::Paren: return type(n.as<One>().inner);
  case SynKind::Name:
  case SynKind::Member: return named(node);
  case SynKind::Brackets: return bracketed(node);
  case SynKind::Underscore: return error(DiagId::UnknownType, n.span, "_");
  case SynKind::Tuple: {
    std::vector<TypeId> parts;
    for (SynId part : n.as<Many>().items) parts.push_back(type(part));
    return types_.tuple(std::move(parts));
  }
  case SynKind::FunctionType: {
    if (asksForSizes(node)) return error(DiagId::NoOpenFunctions, n.span, {});
    const auto& fn = n.as<FunctionType>();
    for (size_t k = 0; k < fn.params.size(); ++k)
      if (fn.inout[k]) {
        checker_.sink.report(DiagId::NoFunctionValue, ast_.span(fn.params[k])).hint =
            "a function value has no `inout` parameters: it gives the new value back";
        return types_.error();
      }
    std::vector<TypeId> params;
    for (SynId param : fn.params) params.push_back(type(param));
    TypeId result = type(fn.result);
    return types_.function(std::move(params), fn.inout, result);
  }
  case SynKind::Error: return types_.error();
  default: return error(DiagId::NoTypeForm, n.span, {});
  }
}

TypeId TypeResolver::named(SynId node) {
  const SynNode& n = ast_[node];
  if (n.kind == SynKind::Name) {
    NameId name = n.as<Name>().name;
    if (const TypeId* bound = typeNamed(name)) return *bound;
    if (auto scalar = scalarNamed(text(name))) return types_.scalar(*scalar);
  }
  DeclId decl = typeDecl(checker_, module_, ast_, node);
  if (decl) return ofDecl(decl, nullptr, n.span);
  if (n.kind == SynKind::Name && text(n.as<Name>().name) == "List") return bareList(n.span);
  if (n.kind == SynKind::Name && (text(n.as<Name>().name) == "Axis" || text(n.as<Name>().name) == "Axes"))
    return error(DiagId::NoAxisParameters, n.span, {});
  std::string_view shown = checker_.modules.sources.text(n.span);
  Diagnostic& d = checker_.sink.report(DiagId::UnknownType, n.span, shown);
  d.hint = typeHint(checker_, module_, ast_, node);
  if (isCapital(shown) && shown.size() == 1)
    d.hint = "a type parameter is declared: `fn f[" + std::string(shown) + "](…)`";
  return types_.error();
}

/// `List` alone, in the type of a parameter: of any elements.
TypeId TypeResolver::bareList(Span span) {
  NameId element = owner ? ownedName(types_.names, owner, types_.names.intern("T")) : NameId();
  if (TypeId bound = newType(element, span)) return types_.list(bound);
  checker_.sink.report(DiagId::TypeArguments, span, "List", "1", "0");
  return types_.error();
}

TypeId TypeResolver::ofDecl(DeclId decl, const std::vector<Argument>* items, Span span) {
  switch (checker_.modules.decl(decl).kind) {
  case names::DeclKind::Struct:
  case names::DeclKind::Enum: return recordType(decl, items, span);
  case names::DeclKind::TypeAlias: return alias(decl, span);
  default: return error(DiagId::UnknownType, span, text(checker_.modules.decl(decl).name));
  }
}

TypeId TypeResolver::alias(DeclId decl, Span span) {
  const names::Decl& d = checker_.modules.decl(decl);
  const Ast& ast = checker_.modules.astOf(decl);
  const auto& item = ast[d.node].as<TypeItem>();
  if (!item.generics.empty()) return error(DiagId::NoAliasParameters, span, {});
  if (checker_.declarations.aliases.open.contains(decl)) {
    bool isTold = checker_.sink.isTold([&](const Diagnostic& told) {
      return told.id == DiagId::AliasCycle &&
             std::any_of(checker_.declarations.aliases.open.begin(), checker_.declarations.aliases.open.end(),
                         [&](DeclId open) { return checker_.modules.decl(open).span == told.span; });
    });
    return isTold ? types_.error() : error(DiagId::AliasCycle, d.span, text(d.name));
  }
  if (checker_.declarations.aliases.open.empty()) checker_.declarations.aliases.types.clear();
  if (auto known = checker_.declarations.aliases.types.find(decl);
      known != checker_.declarations.aliases.types.end())
    return known->second;
  checker_.declarations.aliases.open.insert(decl);
  TypeEnv none;
  TypeResolver inner(checker_, d.module, ast, none);
  TypeId type = inner.type(item.type);
  checker_.declarations.aliases.open.erase(decl);
  checker_.declarations.aliases.types.emplace(decl, type);
  return type;
}

TypeId TypeResolver::recordType(DeclId decl, const std::vector<Argument>* items, Span span) {
  const RecordDecl record = checker_.declarations.record(decl);
  std::vector<TypeId> typeArgs;
  std::vector<DimId> dims;
  size_t required = 0;
  for (const GenericParam& g : record.generics) required += !g.defaultType.valid();
  size_t given = items ? items->size() : 0;
  bool bare = given == 0 && required > 0;
  if (!bare && (given < required || given > record.generics.size())) {
    checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                         std::to_string(record.generics.size()), std::to_string(given));
    for (size_t k = 0; items && isParameter() && k < given; ++k) // they name sizes all the same
      if (const SynNode& item = ast_[(*items)[k].value]; item.kind == SynKind::Name &&
                                                         isCapital(text(item.as<Name>().name)) &&
                                                         !typeNamed(item.as<Name>().name))
        dim((*items)[k].value);
    return types_.error();
  }
  bool failed = false;
  for (size_t k = 0; k < record.generics.size(); ++k) {
    const GenericParam& g = record.generics[k];
    bool isType = g.kind == GenericKind::Type;
    if (k < given) {
      SynId item = (*items)[k].value;
      if (isType)
        typeArgs.push_back(nested(item));
      else
        dims.push_back(dim(item));
      failed |= !isType && !dims.back();
    } else if (isType && g.defaultType) {
      TypeEnv none;
      TypeResolver inner(checker_, record.module, checker_.modules.astOf(decl), none);
      typeArgs.push_back(inner.type(g.defaultType));
    } else if (isType) {
      TypeId bound = newType(owner ? ownedName(types_.names, owner, g.name) : NameId::none(), span);
      if (!bound) {
        checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                             std::to_string(record.generics.size()), std::to_string(given));
        return types_.error();
      }
      typeArgs.push_back(bound);
    } else {
      NameId name = ownedName(types_.names, owner, g.name);
      if (const DimId* found = owner ? dimNamed(name) : nullptr) {
        dims.push_back(*found);
        continue;
      }
      if (hidden_) {
        hidden_->push_back(types_.dims.newSym({std::string(text(g.name)), DimSymKind::Unknown, 0, span}));
        dims.push_back(types_.dims.symbol(hidden_->back()));
        continue;
      }
      DimId fresh = newSize(name, span);
      if (!fresh) {
        checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                             std::to_string(record.generics.size()), "0");
        return types_.error();
      }
      if (owner) env_.dims[name] = fresh;
      dims.push_back(fresh);
    }
  }
  if (failed || !meetsBounds(record, typeArgs, span)) return types_.error();
  return checker_.declarations.recordType(decl, std::move(typeArgs), std::move(dims));
}

/// Whether type arguments meet the bounds of a record, as far as they are known.
bool TypeResolver::meetsBounds(const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span) {
  if (std::none_of(typeArgs.begin(), typeArgs.end(), [this](TypeId arg) { return isOfUse(arg); }))
    return boundsHold(checker_, record, typeArgs, span);
  demands.push_back({record.decl, typeArgs, span});
  return true;
}

bool boundsHold(Checker& checker, const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span) {
  TypeStore& types = checker.types;
  size_t next = 0;
  for (const GenericParam& g : record.generics) {
    if (g.kind != GenericKind::Type) continue;
    TypeId arg = typeArgs[next++];
    TypeKind k = types.kind(arg);
    if (!g.bound || k == TypeKind::Var || k == TypeKind::Error ||
        meetsBound(types, arg, types.names.text(g.bound)))
      continue;
    refuseBound(checker, types.names.text(record.name), g, arg, types.show(arg), span);
    return false;
  }
  return true;
}

TypeId TypeResolver::parameter(SynId node, bool isInout) {
  return isInout && asksForSizes(node) ? nested(node) : type(node);
}

TypeId TypeResolver::result(SynId node) {
  namesAreExistential_ = true;
  TypeId found = type(node);
  namesAreExistential_ = false;
  return found;
}

TypeId TypeResolver::field(SynId node) {
  namesAreExistential_ = true;
  TypeId found = nested(node);
  namesAreExistential_ = false;
  return found;
}

/// Whether `_` or `?N` stands in a type.
bool TypeResolver::asksForSizes(SynId node) const {
  bool found = ast_.kind(node) == SynKind::Underscore || ast_.kind(node) == SynKind::FreshDim;
  forEachChild(ast_, node, [&](SynId part) { found |= asksForSizes(part); });
  return found;
}

bool namesSizes(const syntax::Ast& ast, SynId type) {
  bool found = ast.kind(type) == SynKind::FreshDim;
  forEachChild(ast, type, [&](SynId part) { found = found || namesSizes(ast, part); });
  return found;
}

TypeId TypeResolver::nested(SynId node) {
  if (ast_.kind(node) == SynKind::Underscore && owner) // of any type
    if (TypeId bound = newType(unnamed(), ast_.span(node))) return bound;
  if (ast_.kind(node) == SynKind::Paren) return nested(ast_[node].as<One>().inner);
  if (ast_.kind(node) == SynKind::Tuple && !namesSizes(ast_, node)) { // each part keeps its sizes beside it
    std::vector<TypeId> parts;
    for (SynId part : ast_[node].as<Many>().items) parts.push_back(nested(part));
    return types_.tuple(std::move(parts));
  }
  std::vector<DimSym> hidden;
  std::vector<DimSym>* outer = hidden_;
  hidden_ = &hidden;
  TypeId inner = type(node);
  hidden_ = outer;
  std::erase_if(env_.dims, [&](const auto& bound) { // a `?N` is known inside of what keeps it
    const auto symbol = types_.dims.asSymbol(bound.second);
    return symbol && std::find(hidden.begin(), hidden.end(), *symbol) != hidden.end();
  });
  return types_.pack(inner, hidden);
}

TypeId TypeResolver::bracketed(SynId node) {
  const SynNode& n = ast_[node];
  const auto& brackets = n.as<Brackets>();
  const SynNode& base = ast_[brackets.base];
  if (base.kind == SynKind::Name || base.kind == SynKind::Member) {
    bool bound = base.kind == SynKind::Name &&
                 (typeNamed(base.as<Name>().name) || scalarNamed(text(base.as<Name>().name)));
    if (!bound && base.kind == SynKind::Name && text(base.as<Name>().name) == "List" &&
        brackets.items.size() == 1)
      return types_.list(nested(brackets.items[0].value));
    if (!bound && base.kind == SynKind::Name && text(base.as<Name>().name) == "Tangent" &&
        brackets.items.size() == 1) {
      TypeId of = type(brackets.items[0].value);
      return isOfUse(of) ? types_.slope(of) : types::tangentType(types_, of);
    }
    DeclId decl = bound ? DeclId::none() : typeDecl(checker_, module_, ast_, brackets.base);
    if (decl && !takesNoParameters(checker_, decl)) return ofDecl(decl, &brackets.items, n.span);
  }
  // An array: of what stands before the bracket; `_` in an array inside of it is a size for each element.
  TypeId element =
      base.kind == SynKind::Brackets || base.kind == SynKind::Paren || base.kind == SynKind::Tuple
          ? nested(brackets.base)
          : named(brackets.base);
  if (types_.kind(element) == TypeKind::Error) {
    for (const Argument& item : brackets.items) // they name sizes all the same
      if (ast_.kind(item.value) == SynKind::Name && isCapital(text(ast_[item.value].as<Name>().name)))
        dim(item.value);
    return element;
  }
  return arrayOf(element, brackets.items, n.span);
}

TypeId TypeResolver::arrayOf(TypeId element, const std::vector<Argument>& items, Span span) {
  std::vector<DimId> dims;
  bool hasPack = false, failed = false;
  for (const Argument& item : items) {
    if (item.label) return error(DiagId::NoNamedAxes, span, {});
    const SynNode& n = ast_[item.value];
    if (n.kind == SynKind::PackUse) {
      if (std::exchange(hasPack, true)) return error(DiagId::PacksTwice, n.span, {});
      const std::vector<DimId>* pack = packNamed(n.as<Name>().name, n.span);
      if (!pack) {
        const std::string name = ".." + std::string(text(n.as<Name>().name));
        checker_.sink.report(DiagId::DimensionUnbound, n.span, name).hint =
            "`" + name + "` stands for the axes of a parameter, or is declared: `fn f[" + name + "](…)`";
        return types_.error();
      }
      dims.insert(dims.end(), pack->begin(), pack->end());
      continue;
    }
    DimId d = dim(item.value);
    failed |= !d;
    dims.push_back(d);
  }
  return failed ? types_.error() : types_.array(element, std::move(dims));
}

DimId TypeResolver::dim(SynId node, bool alone) {
  const SynNode& n = ast_[node];
  types::DimStore& dims = types_.dims;
  switch (n.kind) {
  case SynKind::Paren: return dim(n.as<One>().inner, alone);
  case SynKind::IntLit: {
    SynId literal = node;
    return dims.constant(static_cast<int64_t>(checker_.literalBits(ast_[literal].as<Text>().text)));
  }
  case SynKind::FreshDim:
  case SynKind::Underscore: {
    NameId name = n.kind == SynKind::FreshDim ? n.as<Name>().name : NameId::none();
    if (!alone) {
      checker_.sink.report(DiagId::DimensionValue, n.span, checker_.modules.sources.text(n.span)).hint =
          "it is found where it stands alone, as a whole dimension, and not inside of an expression";
      return DimId::none();
    }
    if (hidden_ && (!name || (namesAreExistential_ && !dimNamed(name)))) {
      hidden_->push_back(dims.newSym({name ? std::string(text(name)) : "_", DimSymKind::Unknown, 0, n.span}));
      if (name) env_.dims[name] = dims.symbol(hidden_->back());
      return dims.symbol(hidden_->back());
    }
    if (name && dimNamed(name) && isMade()) {
      checker_.sink.report(DiagId::DimensionBound, n.span, text(name));
      return DimId::none();
    }
    NameId used = name ? name : unnamed();
    DimId fresh = newSize(used, n.span);
    if (!fresh) {
      Diagnostic& d = checker_.sink.report(DiagId::DimensionUnbound, n.span, name ? text(name) : "_");
      if (!name)
        d.hint = "this type states its sizes; `_` stands in the types of variables, parameters and fields";
      return DimId::none();
    }
    if (used) env_.dims[used] = fresh;
    return fresh;
  }
  case SynKind::Name: {
    NameId name = n.as<Name>().name;
    if (const DimId* bound = dimNamed(name)) {
      if (around_.values) around_.values->noteRead(name);
      if (alone && isParameter()) settle(*bound);
      return *bound;
    }
    if (!isCapital(text(name))) return sizeOfValue(node);
    if (isParameter()) {
      DimId fresh = newSize(name, n.span);
      env_.dims[name] = fresh;
      around_.signature->sizes.back().standsAlone = alone;
      return fresh;
    }
    if (DimId value = checker_.constants.constantDim(module_, name)) return value; // whose name is told of
    checker_.sink.report(DiagId::DimensionUnbound, n.span, text(name));
    return DimId::none();
  }
  case SynKind::Member: return memberDim(node);
  case SynKind::Binary: {
    DimId d = binaryDim(n.as<Binary>(), n.span);
    if (!d) return d;
    dims.spell(d, checker_.modules.sources.text(n.span));
    if (around_.signature) spellings.push_back({d, n.span});
    return d;
  }
  case SynKind::Unary: {
    DimId inner = dim(n.as<Unary>().operand, false);
    return inner ? dims.sub(dims.constant(0), inner) : inner;
  }
  case SynKind::Call: {
    const auto& call = n.as<Call>();
    bool named = ast_.kind(call.callee) == SynKind::Name && call.args.size() == 2;
    std::string_view f = named ? text(ast_[call.callee].as<Name>().name) : std::string_view();
    if (f == "min" || f == "max") {
      DimId a = dim(call.args[0].value, false), b = dim(call.args[1].value, false);
      return !a || !b ? DimId::none() : f == "min" ? dims.min(a, b) : dims.max(a, b);
    }
    [[fallthrough]];
  }
  default:
    if (around_.signature) return sizeOfValue(node);
    if (DimId value = around_.values ? around_.values->sizeOf(node) : DimId::none()) return value;
    return notASize(n.span);
  }
}

DimId TypeResolver::notASize(Span span) {
  reportNotASize(checker_, span, around_.values != nullptr);
  return DimId::none();
}

DimId TypeResolver::memberDim(SynId node) {
  const auto& member = ast_[node].as<Member>();
  Span span = ast_.span(node);
  if (ast_.kind(member.base) == SynKind::Name) {
    NameId base = ast_[member.base].as<Name>().name;
    if (const DimId* owned = dimNamed(ownedName(types_.names, base, member.name))) return *owned;
    if (around_.values)
      if (TypeId type = around_.values->typeOf(base); type && types_[type].record) {
        const types::Record& record = types_.recordInfo(types_[type].record);
        for (size_t k = 0; k < record.ownDims(); ++k)
          if (types_.dims.info(record.dimParams[k]).name == text(member.name)) return types_[type].dims[k];
      }
  }
  if (DeclId constant = constDecl(checker_, module_, ast_, node)) {
    const ConstantSize& size = checker_.constants.constantSize(constant);
    if (size.told)
      checker_.constants.repeatConstant(constant);
    else if (!size.why.empty())
      checker_.sink.report(DiagId::DimensionValue, span, checker_.modules.sources.text(span)).hint = size.why;
    return size.dim;
  }
  return notASize(span);
}

DimId TypeResolver::binaryDim(const Binary& binary, Span span) {
  types::DimStore& dims = types_.dims;
  DimId a = dim(binary.left, false), b = dim(binary.right, false);
  if (!a || !b) return DimId::none();
  bool zero = dims.asConstant(b) == 0;
  switch (binary.op) {
  case BinaryOp::Add: return dims.add(a, b);
  case BinaryOp::Sub: return dims.sub(a, b);
  case BinaryOp::Mul: return dims.mul(a, b);
  case BinaryOp::Div:
    if (!zero) return dims.floorDiv(a, b);
    break;
  case BinaryOp::Rem:
    if (!zero) return dims.mod(a, b);
    break;
  case BinaryOp::Pow:
    if (around_.signature && ast_.kind(binary.right) == SynKind::Name && !dims.asConstant(b))
      if (DimId known = checker_.constants.constantDim(module_, ast_[binary.right].as<Name>().name))
        b = known;
    if (auto k = dims.asConstant(b); k && *k >= 0 && *k <= 16) {
      DimId result = dims.constant(1);
      for (int64_t i = 0; i < *k; ++i) result = dims.mul(result, a);
      return result;
    }
    break;
  default: break;
  }
  return notASize(span);
}

// --- variables of a signature
// ------------------------------------------------------------------------------------------------

/// What a name of a type means; null if it means none. A name around the function becomes an Outer variable.
TypeId* TypeResolver::typeNamed(NameId name) {
  if (auto found = env_.types.find(name); found != env_.types.end()) return &found->second;
  if (!around_.outside || !around_.outside->types.contains(name)) return nullptr;
  return &(env_.types[name] = around_.signature->addType(types_, name, VariableSource::Outer, Span()));
}

DimId* TypeResolver::dimNamed(NameId name) {
  if (auto found = env_.dims.find(name); found != env_.dims.end()) return &found->second;
  if (!around_.outside || !around_.outside->dims.contains(name)) return nullptr;
  return &(env_.dims[name] = around_.signature->addSize(types_, name, VariableSource::Outer, Span()));
}

/// Parameters may name a pack without declaring it.
std::vector<DimId>* TypeResolver::packNamed(NameId name, Span span) {
  if (auto found = env_.packs.find(name); found != env_.packs.end()) return &found->second;
  const bool isOuter = around_.outside && around_.outside->packs.contains(name);
  if (!isOuter && !(isParameter() && !isLambda())) return nullptr;
  const VariableSource source = isOuter ? VariableSource::Outer : VariableSource::Implied;
  return &(env_.packs[name] = {around_.signature->addPack(types_, name, source, span)});
}

/// A type that a parameter's type leaves out; none where it may not.
TypeId TypeResolver::newType(NameId name, Span span) {
  const bool mayBe = name && isParameter() && !isLambda();
  return mayBe ? around_.signature->addType(types_, name, VariableSource::Implied, span) : TypeId::none();
}

/// A size that nothing tells here; none where there may be none.
DimId TypeResolver::newSize(NameId name, Span span) {
  if (around_.signature)
    return around_.signature->addSize(types_, name,
                                      isParameter() ? VariableSource::Implied : VariableSource::Found, span);
  if (!around_.newSizes) return DimId::none();
  return types_.dims.symbol(
      types_.dims.newSym({std::string(name ? text(name) : "_"), *around_.newSizes, 0, span}));
}

/// The size that a name in lower case, or an expression, stands for; none after a message.
DimId TypeResolver::sizeOfValue(SynId node) {
  const SynNode& n = ast_[node];
  const NameId name = n.kind == SynKind::Name ? n.as<Name>().name : NameId::none();
  if (around_.signature) { // whoever uses the signature knows the value
    const DimId size = around_.signature->addSize(types_, name, VariableSource::Value, n.span);
    around_.signature->sizes.back().written = node;
    if (name) env_.dims[name] = size;
    return size;
  }
  DimId value = around_.values ? around_.values->sizeOf(node) : checker_.constants.constantDim(module_, name);
  if (value) return value;
  std::vector<NameId> inScope = around_.values ? around_.values->names() : std::vector<NameId>();
  for (const auto& [bound, dim] : env_.dims) inScope.push_back(bound);
  reportNoSize(checker_, module_, name, n.span, around_.values ? around_.values->whyNoSize(name) : "",
               inScope);
  return value;
}

/// The argument determines a size that is an axis of its own in a parameter's type.
void TypeResolver::settle(DimId size) {
  const auto symbol = types_.dims.asSymbol(size);
  for (SizeVariable& v : around_.signature->sizes) v.standsAlone |= symbol == v.symbol;
}

/// Whether more is known of a type only where its signature is used: what a variable is, or how many axes.
bool TypeResolver::isOfUse(TypeId type) const {
  if (!around_.signature) return false;
  std::vector<DimSym> symbols;
  types_.collectSymbols(type, symbols);
  auto stands = [&](const PackVariable& p) { return std::ranges::find(symbols, p.symbol) != symbols.end(); };
  return types_.holds(type, TypeKind::Var) || std::ranges::any_of(around_.signature->packs, stands);
}

void reportNotASize(Checker& checker, Span span, bool inBody) {
  const std::string written(checker.modules.sources.text(span));
  const bool isTold = checker.sink.isTold([&](const Diagnostic& told) {
    return told.id == DiagId::DimensionValue && told.args[0] == written && told.span.file == span.file;
  });
  if (isTold) return;
  checker.sink.report(DiagId::DimensionValue, span, written).hint =
      inBody ? "an `int` is a size by its name: `let n = " + written + "` before this, and `n` here"
             : "a size that is computed is `_` in the type of a parameter, a field or a result";
}

void reportNoSize(Checker& checker, ModuleId module, NameId name, Span span, std::string why,
                  const std::vector<NameId>& inScope) {
  const DeclId constant = constDecl(checker, module, name);
  const bool known = !why.empty() || constant;
  if (why.empty() && constant && checker.constants.constantSize(constant).told)
    return checker.constants.repeatConstant(constant);
  if (why.empty()) why = whyNoSize(checker, module, name);
  if (why.find(errorTypeText) != std::string::npos) return; // told where its value stands
  const std::string_view shown = checker.types.names.text(name);
  if (!why.empty())
    checker.sink.report(DiagId::DimensionValue, span, shown).hint = why;
  else if (!known)
    checker.sink.report(DiagId::UnknownName, span, shown).hint = suggestSize(checker, module, name, inScope);
}

} // namespace melix::check
