// The declared signature of an instance: its sizes, parameters with their defaults, and its result.
#include "check/body/attempt.h"
#include "check/body/body_values.h"
#include "check/instances/instance_body.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/pack_names.h"

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

DimId InstanceBody::newDim(std::string text, NameId name, Span span) {
  if (auto told = told_.find(name); told != told_.end()) return told->second;
  DimSym s = c_.types.dims.newSym({std::move(text), DimSymKind::Parameter, 0, span});
  instance_.dimParams.push_back(s);
  dimNames_.push_back(name);
  return c_.types.dims.symbol(s);
}

const TypeEnv* InstanceBody::around() const {
  return key_.known ? &c_.program_.known(key_.known).env : nullptr;
}

const Signature& InstanceBody::signature() const { return c_.signatures.of(key_.decl, around()); }

void InstanceBody::declareGenerics(Body& body, const FunctionDecl& fn, SignatureUse& use) {
  const Signature& signature = use.signature;
  for (size_t k = 0; k < use.types.size(); ++k) {
    const TypeVariable& v = signature.types[k];
    if (v.source == VariableSource::Outer || nextArg_ >= args_.size()) continue;
    use.types[k] = args_[nextArg_++];
    if (v.source == VariableSource::Declared) body.env.edit().types[v.name] = use.types[k];
  }
  for (size_t k = 0; k < use.sizes.size(); ++k)
    if (const SizeVariable& v = signature.sizes[k]; v.source == VariableSource::Declared)
      body.env.edit().dims[v.name] = use.sizes[k] =
          newDim(std::string(c_.types.names.text(v.name)), v.name, fn.span);
  for (size_t k = 0; k < use.packs.size(); ++k)
    if (const PackVariable& v = signature.packs[k]; v.source == VariableSource::Declared)
      use.packs[k] = makePack(body, v.name, fn.span);
}

std::vector<DimId> InstanceBody::makePack(Body& body, NameId name, Span span) {
  std::vector<DimId> dims;
  uint32_t rank = nextRank_ < key_.ranks.size() ? key_.ranks[nextRank_++] : 0;
  for (uint32_t k = 0; k < rank; ++k)
    dims.push_back(newDim(std::string(c_.types.names.text(name)) + std::to_string(k),
                          packDimName(c_.types.names, name, k), span));
  return body.env.edit().packs[name] = std::move(dims);
}

/// An int that the type of a parameter names, given before it or captured, is a dimension from here on. None
/// for other names.
DimId InstanceBody::sizeOfNamed(Body& body, const FunctionDecl& fn, const SizeVariable& v) {
  const NameId name = v.name;
  auto param =
      std::find_if(fn.params.begin(), fn.params.end(), [name](const ParamDecl& p) { return p.name == name; });
  if (param != fn.params.end()) {
    const auto p = static_cast<size_t>(param - fn.params.begin());
    if (p >= typed_.size() || !typed_[p] || c_.types.kind(typed_[p]) != TypeKind::I64 || param->isInout)
      return DimId::none();
  } else {
    LocalId captured = body.lookupAny(name);
    if (!captured || !body.b.dimOf(body.b.local(captured, call_))) return DimId::none();
    body.scope.removeIf([name](const ScopeEntry& e) { return e.name == name; });
  }
  sizes_.insert(name);
  std::string text(c_.types.names.text(name));
  DimSym size = c_.types.dims.newSym({std::move(text), DimSymKind::Value, INT64_MIN, v.span});
  instance_.dimParams.push_back(size);
  dimNames_.push_back(name);
  return body.env.edit().dims[name] = c_.types.dims.symbol(size);
}

/// The size that a name in lower case, or an expression, stands for in a type of the function, or of the
/// lambda at hand; none after a message.
DimId InstanceBody::sizeOfValue(Body& body, const FunctionDecl* fn, const SizeVariable& v) {
  BodyValues values(body);
  if (DimId size = values.sizeOf(v.written)) return size;
  if (!v.name) {
    reportNotASize(c_, v.span, !fn);
    return DimId::none();
  }
  std::string why = fn ? whyNoSize(c_, *fn, v.name) : "";
  if (why.empty()) why = values.whyNoSize(v.name);
  std::vector<NameId> names = values.names();
  for (size_t p = 0; fn && p < fn->params.size(); ++p) names.push_back(fn->params[p].name);
  for (const auto& [bound, dim] : body.env->dims) names.push_back(bound);
  reportNoSize(c_, body.module, v.name, v.span, std::move(why), names);
  return DimId::none();
}

/// The variables that the type of parameter `p` is the first to name.
void InstanceBody::declareVariables(Body& body, const FunctionDecl& fn, SignatureUse& use, size_t p) {
  const Signature& signature = use.signature;
  for (size_t k = 0; k < signature.params[p].packsEnd; ++k)
    if (!use.packs[k]) use.packs[k] = makePack(body, signature.packs[k].name, signature.packs[k].span);
  for (size_t k = 0; k < signature.params[p].sizesEnd; ++k) {
    const SizeVariable& v = signature.sizes[k];
    if (use.sizes[k] || v.source == VariableSource::Outer || v.source == VariableSource::Found) continue;
    if (v.source == VariableSource::Implied) {
      body.env.edit().dims[v.name] = use.sizes[k] =
          newDim(std::string(c_.types.names.text(v.name)), v.name, v.span);
      continue;
    }
    use.sizes[k] = v.name ? sizeOfNamed(body, fn, v) : DimId::none();
    if (!use.sizes[k]) use.sizes[k] = sizeOfValue(body, &fn, v);
  }
}

/// Types first: implicit parameters come in the order of the parameters, as at a call.
void InstanceBody::declareParameters(Body& body, const FunctionDecl& fn, SignatureUse& use) {
  const Signature& signature = use.signature;
  auto isWrong = [](const SignatureType& type) { return type.isWrong; };
  if (std::ranges::any_of(signature.params, isWrong) || signature.result.isWrong)
    c_.signatures.report(key_.decl, around());
  for (size_t p = 0; p < fn.params.size(); ++p) {
    declareVariables(body, fn, use, p);
    typed_.push_back(signature.params[p].isWritten() ? use.parameter(p) : TypeId::none());
    instance_.failed |= typed_[p] && c_.types.kind(typed_[p]) == TypeKind::Error;
  }
  for (const SizeVariable& v : signature.sizes)
    if (!v.standsAlone) reportUnsettled(v.name, v.span);
  nextArg_ = capturedEnd_;
  for (size_t p = 0; p < fn.params.size(); ++p) {
    const ParamDecl& param = fn.params[p];
    TypeId untyped = nextArg_ < args_.size() ? args_[nextArg_] : c_.types.error();
    nextArg_ += !typed_[p];
    if (param.defaultValue) checkDefault(body, param, typed_[p]);
    const bool isSize = sizes_.contains(param.name);
    const DimId size = isSize ? body.env->dims.at(param.name) : DimId::none();
    LocalId l = body.declareLocal(param.name, typed_[p] ? typed_[p] : untyped, param.span, param.isInout);
    instance_.locals.edit(l).isInout = param.isInout;
    if (isSize) {
      body.env.edit().dims[param.name] = size;
      body.scope.removeIf([&](const ScopeEntry& e) { return e.local == l; });
    }
    body.used.insert(l);
    instance_.params.push_back(l);
  }
  instance_.dimParams.insert(instance_.dimParams.end(), fresh_.begin(), fresh_.end());
  c_.instances.info(id_).dimNames = dimNames_;
}

/// A default value, which may use the parameters before its own; calls check it again, each at its own types.
void InstanceBody::checkDefault(Body& body, const ParamDecl& param, TypeId type) {
  Attempt attempt(body);
  NodeId value = body.checkExpr(param.defaultValue, type);
  if (type) body.coerce(value, type, body.ast.span(param.defaultValue), DiagId::ArgumentType, instance_.name);
  if (attempt.hasErrors()) attempt.keep();
}

/// Sizes that the function finds are numbers of their own.
TypeId InstanceBody::declaredResult(Body& body, const FunctionDecl& fn, SignatureUse& use) {
  const SignatureType& result = use.signature.result;
  for (uint32_t k : result.sizes) {
    const SizeVariable& v = use.signature.sizes[k];
    if (use.sizes[k]) continue;
    use.sizes[k] =
        v.source == VariableSource::Found
            ? c_.types.dims.symbol(c_.types.dims.newSym(
                  {v.name ? std::string(c_.types.names.text(v.name)) : "_", DimSymKind::Unknown, 0, v.span}))
            : sizeOfValue(body, &fn, v);
  }
  instance_.result = use.type(result);
  c_.instances.info(id_).state = ResultState::Known;
  return instance_.result;
}

} // namespace melix::check
