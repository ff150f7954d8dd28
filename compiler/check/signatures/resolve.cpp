#include "check/signatures/resolve.h"

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
  case SynKind::Underscore:
    if (TypeId bound = around.bindType ? around.bindType(NameId::none(), n.span) : TypeId::none())
      return bound;
    return error(DiagId::UnknownType, n.span, "_");
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
    if (auto bound = env_.types.find(name); bound != env_.types.end()) return bound->second;
    if (auto scalar = scalarNamed(text(name))) return types_.scalar(*scalar);
  }
  DeclId decl = checker_.typeDecl(module_, ast_, node);
  if (decl) return ofDecl(decl, nullptr, n.span);
  if (n.kind == SynKind::Name && text(n.as<Name>().name) == "List") return bareList(n.span);
  if (n.kind == SynKind::Name && (text(n.as<Name>().name) == "Axis" || text(n.as<Name>().name) == "Axes"))
    return error(DiagId::NoAxisParameters, n.span, {});
  if (n.kind == SynKind::Name && around.bindType)
    if (TypeId bound = around.bindType(n.as<Name>().name, n.span)) return bound;
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
  if (TypeId bound = around.bindType && element ? around.bindType(element, span) : TypeId::none())
    return types_.list(bound);
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
  if (checker_.aliases.open.contains(decl)) {
    bool isTold = checker_.sink.isTold([&](const Diagnostic& told) {
      return told.id == DiagId::AliasCycle &&
             std::any_of(checker_.aliases.open.begin(), checker_.aliases.open.end(),
                         [&](DeclId open) { return checker_.modules.decl(open).span == told.span; });
    });
    return isTold ? types_.error() : error(DiagId::AliasCycle, d.span, text(d.name));
  }
  if (checker_.aliases.open.empty()) checker_.aliases.types.clear();
  if (auto known = checker_.aliases.types.find(decl); known != checker_.aliases.types.end())
    return known->second;
  checker_.aliases.open.insert(decl);
  TypeEnv none;
  TypeResolver inner(checker_, d.module, ast, none);
  TypeId type = inner.type(item.type);
  checker_.aliases.open.erase(decl);
  checker_.aliases.types.emplace(decl, type);
  return type;
}

TypeId TypeResolver::recordType(DeclId decl, const std::vector<Argument>* items, Span span) {
  const RecordDecl record = checker_.record(decl);
  std::vector<TypeId> typeArgs;
  std::vector<DimId> dims;
  size_t required = 0;
  for (const GenericParam& g : record.generics) required += !g.defaultType.valid();
  size_t given = items ? items->size() : 0;
  bool bare = given == 0 && required > 0;
  if (!bare && (given < required || given > record.generics.size())) {
    checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                         std::to_string(record.generics.size()), std::to_string(given));
    for (size_t k = 0; items && around.bindDim && k < given; ++k) // they name sizes all the same
      if (const SynNode& item = ast_[(*items)[k].value]; item.kind == SynKind::Name &&
                                                         isCapital(text(item.as<Name>().name)) &&
                                                         !env_.types.contains(item.as<Name>().name))
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
      TypeId bound =
          around.bindType
              ? around.bindType(owner ? ownedName(types_.names, owner, g.name) : NameId::none(), span)
              : TypeId::none();
      if (!bound) {
        checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                             std::to_string(record.generics.size()), std::to_string(given));
        return types_.error();
      }
      typeArgs.push_back(bound);
    } else {
      NameId name = ownedName(types_.names, owner, g.name);
      if (auto found = env_.dims.find(name); found != env_.dims.end() && owner) {
        dims.push_back(found->second);
        continue;
      }
      auto& hook = around.freshDim ? around.freshDim : around.bindDim;
      if (hidden_) {
        hidden_->push_back(types_.dims.newSym({std::string(text(g.name)), DimSymKind::Unknown, 0, span}));
        dims.push_back(types_.dims.symbol(hidden_->back()));
        continue;
      }
      if (!hook) {
        checker_.sink.report(DiagId::TypeArguments, span, text(record.name),
                             std::to_string(record.generics.size()), "0");
        return types_.error();
      }
      DimId fresh = hook(name, span);
      if (owner) env_.dims[name] = fresh;
      dims.push_back(fresh);
    }
  }
  if (failed || !boundsHold(record, typeArgs, span)) return types_.error();
  return checker_.recordType(decl, std::move(typeArgs), std::move(dims));
}

/// Whether type arguments meet the bounds of a record; variables are left to what settles them.
bool TypeResolver::boundsHold(const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span) {
  size_t next = 0;
  for (const GenericParam& g : record.generics) {
    if (g.kind != GenericKind::Type) continue;
    TypeId arg = typeArgs[next++];
    TypeKind k = types_.kind(arg);
    if (!g.bound || k == TypeKind::Var || k == TypeKind::Error || meetsBound(types_, arg, text(g.bound)))
      continue;
    checker_.refuseBound(text(record.name), g, arg, types_.show(arg), span);
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
  if (ast_.kind(node) == SynKind::Underscore && around.bindType && owner) // of any type
    if (TypeId bound = around.bindType(unnamed(), ast_.span(node))) return bound;
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
                 (env_.types.contains(base.as<Name>().name) || scalarNamed(text(base.as<Name>().name)));
    if (!bound && base.kind == SynKind::Name && text(base.as<Name>().name) == "List" &&
        brackets.items.size() == 1)
      return types_.list(nested(brackets.items[0].value));
    if (!bound && base.kind == SynKind::Name && text(base.as<Name>().name) == "Tangent" &&
        brackets.items.size() == 1) {
      TypeId of = type(brackets.items[0].value);
      return types::tangentType(types_, around.solved ? around.solved(of) : of);
    }
    DeclId decl = bound ? DeclId::none() : checker_.typeDecl(module_, ast_, brackets.base);
    if (decl && !checker_.takesNoParameters(decl)) return ofDecl(decl, &brackets.items, n.span);
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
      auto pack = env_.packs.find(n.as<Name>().name);
      if (pack == env_.packs.end()) {
        const std::string name = ".." + std::string(text(n.as<Name>().name));
        checker_.sink.report(DiagId::DimensionUnbound, n.span, name).hint =
            "`" + name + "` stands for the axes of a parameter, or is declared: `fn f[" + name + "](…)`";
        return types_.error();
      }
      dims.insert(dims.end(), pack->second.begin(), pack->second.end());
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
    if (hidden_ && (!name || (namesAreExistential_ && !env_.dims.contains(name)))) {
      hidden_->push_back(dims.newSym({name ? std::string(text(name)) : "_", DimSymKind::Unknown, 0, n.span}));
      if (name) env_.dims[name] = dims.symbol(hidden_->back());
      return dims.symbol(hidden_->back());
    }
    if (name && env_.dims.contains(name) && (around.freshDim || namesAreExistential_)) {
      checker_.sink.report(DiagId::DimensionBound, n.span, text(name));
      return DimId::none();
    }
    auto& hook = around.freshDim ? around.freshDim : around.bindDim;
    if (!hook) {
      Diagnostic& d = checker_.sink.report(DiagId::DimensionUnbound, n.span, name ? text(name) : "_");
      if (!name)
        d.hint = "this type states its sizes; `_` stands in the types of variables, parameters and fields";
      return DimId::none();
    }
    NameId used = name ? name : unnamed();
    DimId fresh = hook(used, n.span);
    if (used) env_.dims[used] = fresh;
    return fresh;
  }
  case SynKind::Name: {
    NameId name = n.as<Name>().name;
    if (auto bound = env_.dims.find(name); bound != env_.dims.end()) {
      if (around.readDim) around.readDim(name);
      if (alone) unsettled.erase(name);
      return bound->second;
    }
    if (!isCapital(text(name))) {
      DimId value = around.valueDim ? around.valueDim(node) : checker_.constantDim(module_, name);
      if (!value) reportNoSize(name, n.span);
      return value;
    }
    if (around.bindDim) {
      DimId fresh = around.bindDim(name, n.span);
      env_.dims[name] = fresh;
      if (!alone) unsettled.emplace(name, n.span);
      return fresh;
    }
    if (DimId value = checker_.constantDim(module_, name)) return value; // whose name is told of
    checker_.sink.report(DiagId::DimensionUnbound, n.span, text(name));
    return DimId::none();
  }
  case SynKind::Member: return memberDim(node);
  case SynKind::Binary: {
    DimId d = binaryDim(n.as<Binary>(), n.span);
    if (d) dims.spell(d, checker_.modules.sources.text(n.span));
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
    if (around.valueDim)
      if (DimId value = around.valueDim(node)) return value;
    return notASize(n.span);
  }
}

/// Says that an expression is no size, once in a file. In a body a `let` makes one of an `int`; what a result
/// has is `_`.
DimId TypeResolver::notASize(Span span) {
  const std::string written(checker_.modules.sources.text(span));
  const bool isTold = checker_.sink.isTold([&](const Diagnostic& told) {
    return told.id == DiagId::DimensionValue && told.args[0] == written && told.span.file == span.file;
  });
  if (isTold) return DimId::none();
  Diagnostic& d = checker_.sink.report(DiagId::DimensionValue, span, written);
  d.hint = around.valueType
               ? "an `int` is a size by its name: `let n = " + written + "` before this, and `n` here"
               : "a size that is computed is `_` in the type of a parameter, a field or a result";
  return DimId::none();
}

void TypeResolver::reportNoSize(NameId name, Span span) {
  std::string why = around.whyNoSize ? around.whyNoSize(name) : "";
  const DeclId constant = checker_.constDecl(module_, name);
  bool known = !why.empty() || constant;
  if (why.empty() && constant && checker_.constantSize(constant).told)
    return checker_.repeatConstant(constant);
  if (why.empty()) why = checker_.whyNoSize(module_, name);
  if (why.find(errorTypeText) != std::string::npos) return; // told where its value stands
  if (!why.empty()) {
    checker_.sink.report(DiagId::DimensionValue, span, text(name)).hint = why;
  } else if (!known) {
    std::vector<NameId> inScope = around.sizesInScope ? around.sizesInScope() : std::vector<NameId>();
    for (const auto& [bound, dim] : env_.dims) inScope.push_back(bound);
    checker_.sink.report(DiagId::UnknownName, span, text(name)).hint =
        checker_.suggestSize(module_, name, inScope);
  }
}

DimId TypeResolver::memberDim(SynId node) {
  const auto& member = ast_[node].as<Member>();
  Span span = ast_.span(node);
  if (ast_.kind(member.base) == SynKind::Name) {
    NameId base = ast_[member.base].as<Name>().name;
    if (auto owned = env_.dims.find(ownedName(types_.names, base, member.name)); owned != env_.dims.end())
      return owned->second;
    if (around.valueType)
      if (TypeId type = around.valueType(base); type && types_[type].record) {
        const types::Record& record = types_.recordInfo(types_[type].record);
        for (size_t k = 0; k < record.ownDims(); ++k)
          if (types_.dims.info(record.dimParams[k]).name == text(member.name)) return types_[type].dims[k];
      }
  }
  if (DeclId constant = checker_.constDecl(module_, ast_, node)) {
    const Checker::ConstantSize& size = checker_.constantSize(constant);
    if (size.told)
      checker_.repeatConstant(constant);
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

} // namespace melix::check
