// Arguments of calls of declared functions: values, places, names, defaults.
#include "check/body/declared_call.h"
#include "check/body/hints.h"
#include "check/body/other_tree.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/free_names.h"
#include "check/signatures/resolve.h"
#include "check/signatures/scripts.h"

namespace melix::check {

using namespace syntax;

/// Arguments named out of order are evaluated first to last as written.
NodeId DeclaredCall::asWritten(NodeId value, const CallArg& arg) {
  TypeKind kind = b_.kindOf(value);
  if (before_.written.empty() || kind == TypeKind::Known || kind == TypeKind::Error) return value;
  auto at = std::find_if(args_.begin(), args_.end(), [&](const CallArg& a) { return a.span == arg.span; });
  return b_.local(b_.bind("arg", value, before_.written[static_cast<size_t>(at - args_.begin())]), arg.span);
}

void DeclaredCall::inoutArgument(size_t p, const CallArg& arg) {
  const ParamDecl& param = fn_.params[p];
  bool isRef = arg.syntax && body_.ast.kind(arg.syntax) == SynKind::Ref;
  bool isReceiver = p == 0 && arg.node.valid() && arg.syntax && !isRef;
  bool isLocal = !arg.place && !arg.syntax && arg.node.valid() &&
                 body_.instance.nodes[arg.node].kind == NodeKind::Local &&
                 body_.instance.locals[body_.instance.nodes[arg.node].as<LocalRef>().local].isVar;
  Target target;
  Place& place = target.place;
  if (arg.place) {
    place = *arg.place;
  } else if (isLocal) { // the iterator of a loop
    place.root = body_.instance.nodes[arg.node].as<LocalRef>().local;
    place.type = b_.typeOf(arg.node);
  } else if (!isRef && !isReceiver) {
    body_.sink.report(DiagId::InoutArgument, arg.span, name(), types_.names.text(param.name));
    return fail();
  } else if (!body_.checkPlaceTarget(isRef ? body_.ast[arg.syntax].as<One>().inner : arg.syntax, target)) {
    if (!isRef) body_.sink.report(DiagId::InoutArgument, arg.span, name(), types_.names.text(param.name));
    return fail();
  }
  TypeId type = body_.infer.zonk(place.type);
  given_[p].type = type;
  std::vector<DimCheckItem> checks;
  if (const SignatureType& declared = signature_.params[p]; declared.isWritten()) {
    if (!bindPack(declared, type, arg.span)) {
      body_.sink.report(DiagId::ArgumentType, arg.span, name(), written(declared), b_.show(type));
      return fail();
    }
    TypeId paramType = typeOf(declared);
    if (types_.kind(type) == TypeKind::Pack && types_.kind(body_.infer.zonk(paramType)) == TypeKind::Array) {
      body_.openTarget(target, arg.span); // the size stays as it is
      given_[p].type = type = body_.infer.zonk(place.type);
    }
    UnifyResult match = body_.infer.unify(paramType, type);
    if (match.kind == UnifyKind::DimsDiffer) {
      b_.reportMismatch(match, paramType, type, NodeId::none(), arg.span, {name(), declared.span});
      return fail();
    }
    if (match.kind == UnifyKind::Mismatch) {
      Diagnostic& d =
          body_.sink.report(DiagId::ArgumentType, arg.span, name(), b_.show(paramType), b_.show(type));
      if (types_.kind(paramType) == TypeKind::Pack && types_.kind(type) != TypeKind::Pack)
        d.hint = "a variable that may change its size is declared with `_`: `var x: " + b_.show(paramType) +
                 " = …`";
      return fail();
    }
    checks = b_.withMessages(std::move(match.checks), DiagId::ShapeExpected, paramType, type);
  }
  openInside(target);
  if (!checks.empty()) {
    bindArguments();
    before_.lets.push_back(b_.dimChecks(std::move(checks), arg.span));
  }
  checkApart(target, arg.span);
  target_.inouts.push_back({static_cast<uint32_t>(p) + target_.captures, std::move(place)});
}

/// The arguments so far get names, in order: what follows comes after them.
void DeclaredCall::bindArguments() {
  for (ParameterValue& given : given_)
    if (NodeId& value = given.value; value.valid()) value = body_.pinned(value, "arg", before_.lets);
}

/// What is inside of another value is taken out before the call, and ends of slices are named.
void DeclaredCall::openInside(Target& target) {
  if (target.openings.empty() && target.before.empty()) return;
  bindArguments();
  before_.lets.insert(before_.lets.end(), target.before.begin(), target.before.end());
  inouts_.openings.insert(inouts_.openings.end(), target.openings.begin(), target.openings.end());
}

/// Two `&` arguments overlap unless their paths part at different fields or different literal indices (rule
/// 14). Of those inside of other values these count: each comes back whole.
void DeclaredCall::checkApart(const Target& target, Span at) {
  const Place& place = target.openings.empty() ? target.place : target.openings[0].within.place;
  for (const Place& other : inouts_.changed) {
    if (other.root != place.root) continue;
    bool apart = false;
    for (size_t k = 0; k < other.steps.size() && k < place.steps.size(); ++k) {
      const Step &x = other.steps[k], &y = place.steps[k];
      if (x.kind != y.kind) break;
      if (x.kind == StepKind::Field && x.number != y.number) apart = true;
      if (x.kind == StepKind::Index || x.kind == StepKind::Element) {
        auto ix = b_.literal(x.index), iy = b_.literal(y.index);
        apart |= ix && iy && *ix != *iy;
      }
    }
    if (!apart) body_.sink.report(DiagId::OverlappingInout, at);
  }
  inouts_.changed.push_back(place);
}

/// The value of a lower-case name in a parameter's type: an earlier argument, or what the function captured.
NodeId DeclaredCall::valueNamed(NameId name) {
  for (size_t p = 0; p < fn_.params.size(); ++p)
    if (fn_.params[p].name == name) {
      bindArguments();
      return given_[p].value;
    }
  const std::vector<NameId> names = call_.known ? body_.c.program_.known(call_.known).captures.names
                                                : body_.c.scripts.scriptLets(call_.decl);
  auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return NodeId();
  auto k = static_cast<uint32_t>(at - names.begin());
  return call_.known ? body_.part(captures_[0], k, span_) : captures_[k];
}

/// The dimension that it stands for, which is one of the callee.
DimId DeclaredCall::sizeOfValue(const SizeVariable& v) {
  if (!v.name) return DimId::none();
  NodeId value = valueNamed(v.name);
  if (!value.valid()) return body_.c.constants.constantDim(fn_.module, v.name);
  DimId size = b_.dimOf(value);
  return size ? size : b_.dimOf(b_.local(b_.bind(types_.names.text(v.name), value, before_.lets), span_));
}

/// Finds the sizes in a type that values tell; false after a message that one is none.
bool DeclaredCall::findSizes(const SignatureType& type) {
  for (uint32_t k : type.sizes) {
    const SizeVariable& v = signature_.sizes[k];
    if (use_.sizes[k]) continue;
    if (DimId size = sizeOfValue(v)) {
      setSize(k, size);
      continue;
    }
    if (!v.name) {
      reportNotASize(body_.c, v.span);
      return false;
    }
    std::vector<NameId> inScope;
    for (const auto& [name, size] : call_.bound.dims) inScope.push_back(name);
    reportNoSize(body_.c, fn_.module, v.name, v.span, whyNoSize(body_.c, fn_, v.name), inScope);
    return false;
  }
  return true;
}

/// A type of the signature here.
TypeId DeclaredCall::typeOf(const SignatureType& type) {
  if (type.isWrong) body_.c.signatures.report(call_.decl, body_.aroundNamed(call_.decl));
  return findSizes(type) ? use_.type(type, &body_.infer) : types_.error();
}

std::string DeclaredCall::written(const SignatureType& type) const {
  return std::string(body_.c.modules.sources.text(type.span));
}

/// The type of parameter `p`; a pack in it takes its rank from the argument, which is then checked first.
TypeId DeclaredCall::parameterType(size_t p, NodeId& value, const CallArg& arg) {
  const SignatureType& type = signature_.params[p];
  if (use_.openPack(type)) {
    value = body_.checkArg(arg);
    if (b_.kindOf(value) == TypeKind::Error) return TypeId::none();
    if (!bindPack(type, b_.typeOf(value), arg.span)) {
      body_.sink.report(DiagId::ArgumentType, arg.span, name(), written(type), b_.show(b_.typeOf(value)));
      return TypeId::none();
    }
    if (use_.openPack(type)) return TypeId::none(); // told where it is declared
  }
  return typeOf(type);
}

/// What argument `p` is asked for, of a parameter of `type`: sizes that arguments behind it may find are no
/// part of that, what it gives is compared with these behind them.
TypeId DeclaredCall::askedOf(size_t p, TypeId type) {
  const auto behind = given_.begin() + static_cast<ptrdiff_t>(p) + 1;
  const bool isFirst = before_.written.empty() && std::none_of(behind, given_.end(), [](const auto& given) {
                         return given.value.valid();
                       });
  if (isFirst || types_.kind(body_.infer.shallow(type)) == TypeKind::Function) return type;
  return body_.infer.withOwnSizes(type, [this](DimSym s) { return body_.isFoundSize(s); });
}

void DeclaredCall::argument(size_t p, const CallArg& arg) {
  const ParamDecl& param = fn_.params[p];
  if (arg.syntax && body_.ast.kind(arg.syntax) == SynKind::Ref) {
    body_.sink.report(DiagId::NotInout, arg.span, name(), types_.names.text(param.name));
    return fail();
  }
  NodeId value;
  Messages told(body_.sink);
  if (!signature_.params[p].isWritten()) {
    value = body_.unpacked(body_.checkArg(arg), arg.span);
    bool terms = arg.syntax && body_.ast.kind(arg.syntax) == SynKind::Generator;
    if (terms && fn_.combinesTerms) value = body_.inOneAxis(value, arg.span);
    value = asWritten(value, arg);
    given_[p].type = b_.typeOf(value);
  } else {
    TypeId type = parameterType(p, value, arg);
    if (!type) return fail();
    value = asWritten(value.valid() ? value : body_.checkArg(arg, askedOf(p, type)), arg);
    if (types_.kind(body_.infer.shallow(type)) == TypeKind::Function && b_.kindOf(value) == TypeKind::Known)
      value = body_.asFunction(value, body_.infer.zonk(type), arg.span);
    value = body_.coerce(value, type, arg.span, DiagId::ArgumentType, name(), signature_.params[p].span);
    if (told.anyErrors()) adviseLast(told, body_, span_, arg.span);
  }
  given_[p].value = value;
  failed_ |= b_.kindOf(value) == TypeKind::Error;
}

/// A default is evaluated at each call and may use earlier parameters.
void DeclaredCall::defaultArgument(size_t p) {
  const ParamDecl& param = fn_.params[p];
  if (!body_.c.declarations.openDefaults.insert({body_.id, fn_.decl, p}).second) {
    body_.sink.report(DiagId::DefaultCycle, param.span, types_.names.text(param.name), name());
    return fail();
  }
  TypeId type = signature_.params[p].isWritten() ? typeOf(p) : TypeId::none();
  size_t mark = body_.scope.size();
  bool usesEarlier = false;
  for (size_t q = 0; q < p; ++q)
    usesEarlier |= mentions(body_.c.ast(call_.decl), param.defaultValue, fn_.params[q].name);
  for (size_t q = 0; q < p && usesEarlier; ++q) {
    if (!given_[q].value.valid()) continue;
    if (body_.instance.nodes[given_[q].value].kind != NodeKind::Local)
      given_[q].value =
          b_.local(b_.bind(types_.names.text(fn_.params[q].name), given_[q].value, before_.lets), span_);
    body_.scope.add({fn_.params[q].name, body_.instance.nodes[given_[q].value].as<LocalRef>().local});
  }
  NodeId value = defaultValue(param.defaultValue, type, mark);
  body_.c.declarations.openDefaults.erase({body_.id, fn_.decl, p});
  body_.scope.leave(mark);
  if (type) value = body_.coerce(value, type, span_, DiagId::ArgumentType, name());
  given_[p].type = b_.typeOf(value);
  given_[p].value = value;
  failed_ |= b_.kindOf(value) == TypeKind::Error;
}

/// It sees the earlier parameters, which stand in the scope from `mark` on; inside of a function also the
/// names around it.
NodeId DeclaredCall::defaultValue(SynId written, TypeId type, size_t mark) {
  if (call_.known) return body_.checkExpr(written, type);
  Elsewhere home(body_, body_.c.ast(call_.decl), fn_.module, call_.bound, mark);
  return body_.checkExpr(written, type);
}

} // namespace melix::check
