#include "check/body/declared_call.h"

#include "check/body/attempt.h"
#include "check/body/body_values.h"
#include "check/body/other_tree.h"
#include "check/instances/instances.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/free_names.h"
#include "check/signatures/lookup.h"
#include "check/signatures/scripts.h"
#include "check/tree/quotients.h"

#include <numeric>

namespace melix::check {

using namespace syntax;

/// The value of a function inside of another one that is called by its name; none for others.
KnownId Body::nestedNamed(DeclId decl) const {
  for (size_t k = given.size(); k-- > 0;)
    if (given[k].nested && given[k].functions[0] == decl) return given[k].nested;
  return KnownId::none();
}

static PendingCall begun(DeclId decl, KnownId known) {
  PendingCall call;
  call.decl = decl;
  call.known = known;
  return call;
}

const TypeEnv* Body::aroundNamed(DeclId decl) const {
  const KnownId nested = nestedNamed(decl);
  return nested ? &c.program_.known(nested).env : nullptr;
}

DeclaredCall::DeclaredCall(Body& body, DeclId decl, Span span)
    : body_(body), types_(body.types), b_(body.b), fn_(body.c.declarations.function(decl)), span_(span),
      call_(begun(decl, body.nestedNamed(decl))),
      signature_(body.c.signatures.of(decl, body.aroundNamed(decl))), use_(body.c, signature_) {
  findCaptures();
  use_.takeOuter(call_.bound);
  given_.resize(fn_.params.size());
}

/// What the function captured, and what names of the place where it stands mean here.
void DeclaredCall::findCaptures() {
  if (call_.known) {
    const auto given = std::find_if(body_.given.rbegin(), body_.given.rend(), [this](const Given& each) {
      return each.nested == call_.known && each.functions[0] == call_.decl;
    });
    const NodeId value = given->value;
    const Known& known = body_.c.program_.known(call_.known);
    target_.known = true;
    captures_ = {value};
    call_.untyped = types_[b_.typeOf(value)].parts;
    call_.bound = known.env;
    if (known.nesting.owner == body_.id) return;
    if (body_.c.instances.info(body_.id).key.known ==
        call_.known) { // it calls itself: its own sizes are others
      for (auto& [name, dim] : call_.bound.dims)
        if (auto here = body_.env->dims.find(name); here != body_.env->dims.end()) dim = here->second;
      for (auto& [name, pack] : call_.bound.packs)
        if (auto here = body_.env->packs.find(name); here != body_.env->packs.end()) pack = here->second;
      for (const GenericParam& g : fn_.generics) call_.bound.packs.erase(g.name);
      return;
    }
    types::DimSubst there;
    for (size_t n = 0; n < call_.untyped.size(); ++n)
      matchSymbols(body_.c, known.captures.types[n], call_.untyped[n], there);
    for (auto& [name, dim] : call_.bound.dims) dim = types_.dims.substitute(dim, there);
    for (auto& [name, pack] : call_.bound.packs)
      for (DimId& dim : pack) dim = types_.dims.substitute(dim, there);
    for (NameId name : body_.undeterminedDims(known)) {
      auto at = std::find(known.captures.names.begin(), known.captures.names.end(), name) -
                known.captures.names.begin();
      NodeId size = body_.part(value, static_cast<uint32_t>(at), span_);
      *body_.capturedDim(call_.bound, name) =
          b_.dimOf(b_.local(b_.bind(types_.names.text(name), size, before_.lets), span_));
    }
    return;
  }
  for (NameId let : body_.c.scripts.scriptLets(call_.decl)) {
    NodeId value = body_.scriptLet(call_.decl, let, span_);
    captures_.push_back(value.valid() ? value : b_.unit(span_));
    call_.untyped.push_back(b_.typeOf(captures_.back()));
  }
  target_.captures = static_cast<uint32_t>(captures_.size());
}

NodeId DeclaredCall::check(const std::vector<CallArg>& args, const std::vector<int>& argOf,
                           const Explicit* explicitArgs, TypeId expected) {
  args_ = args;
  openVariables();
  if (explicitArgs && !bindExplicit(*explicitArgs)) return b_.error(span_);
  bindFromResult(expected ? body_.infer.zonk(expected) : TypeId::none());
  std::vector<int> given;
  std::copy_if(argOf.begin(), argOf.end(), std::back_inserter(given), [](int at) { return at >= 0; });
  if (!std::is_sorted(given.begin(), given.end())) before_.written.resize(args_.size());
  unifyMonomorphicArguments(argOf);
  for (size_t p : signature_.order) {
    if (failed_) break;
    if (argOf[p] < 0)
      defaultArgument(p);
    else if (fn_.params[p].isInout)
      inoutArgument(p, args_[static_cast<size_t>(argOf[p])]);
    else
      argument(p, args_[static_cast<size_t>(argOf[p])]);
  }
  if (NodeId ended = failed_ ? NodeId::none() : divergingArgument(); ended.valid()) return inBlock(ended);
  if (failed_ || !tangentsFit() || !boundsMet()) return b_.error(span_);
  nameSizesOfResult();
  for (size_t k = 0; k < use_.packs.size(); ++k)
    if (use_.packs[k] && signature_.packs[k].source != VariableSource::Outer)
      call_.packNames.push_back(signature_.packs[k].name);
  std::vector<NodeId> children = captures_;
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    if (given_[p].value.valid()) children.push_back(given_[p].value);
    if (!signature_.params[p].isWritten()) call_.untyped.push_back(given_[p].type);
  }
  if (!fn_.builtin.empty()) {
    std::vector<DimSym> sizes = findSizesOfResult();
    const TypeId result = signature_.result.isWritten() ? typeOf(signature_.result) : types_.unit();
    return inBlock(body_.callBuiltin(fn_, children, result, std::move(sizes), expected, span_));
  }
  NodeId node = b_.make(NodeKind::Call, types_.error(), span_, std::move(children), std::move(target_));
  return inBlock(signature_.result.isWritten() ? declaredResult(node, expected)
                                               : body_.finishInferred(std::move(call_), node, span_));
}

/// A function that is no template says the types of its parameters before other arguments are asked for
/// theirs.
void DeclaredCall::unifyMonomorphicArguments(const std::vector<int>& argOf) {
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    if (argOf[p] < 0 || !signature_.params[p].isFunction) continue;
    CallArg& arg = args_[static_cast<size_t>(argOf[p])];
    if (!body_.mayBeFunction(arg)) continue;
    arg.node = body_.checkArg(arg);
    body_.unifyMonomorphic(arg.node, typeOf(p));
  }
}

/// The arguments up to the one that never gives a value, if there is one.
NodeId DeclaredCall::divergingArgument() {
  std::vector<NodeId> nodes;
  for (const ParameterValue& given : given_) {
    const NodeId value = given.value;
    if (!value.valid()) continue;
    nodes.push_back(value);
    if (b_.kindOf(value) == TypeKind::Never) return b_.block(std::move(nodes), span_);
  }
  return NodeId::none();
}

// --- generics
// -------------------------------------------------------------------------------------------------------

/// Types and sizes to be found for the variables, but for those that values tell.
void DeclaredCall::openVariables() {
  for (size_t k = 0; k < use_.types.size(); ++k) {
    const TypeVariable& v = signature_.types[k];
    if (v.source == VariableSource::Outer) continue;
    const bool isDeclared = v.source == VariableSource::Declared;
    call_.bound.types[v.name] = use_.types[k] = body_.fresh(isDeclared ? span_ : v.span);
    call_.genericNames.push_back(v.name);
  }
  for (uint32_t k = 0; k < use_.sizes.size(); ++k) {
    const SizeVariable& v = signature_.sizes[k];
    const bool isDeclared = v.source == VariableSource::Declared;
    if (!isDeclared && v.source != VariableSource::Implied) continue;
    setSize(k, types_.dims.symbol(body_.infer.freshDim(std::string(types_.names.text(v.name)),
                                                       isDeclared ? span_ : v.span)));
  }
}

void DeclaredCall::setSize(uint32_t k, DimId size) {
  use_.sizes[k] = size;
  if (NameId name = signature_.sizes[k].name) call_.bound.dims[name] = size;
}

bool DeclaredCall::bindExplicit(const Explicit& items) {
  TypeEnv mine = body_.env;
  BodyValues values(body_);
  TypeResolver outer(body_.c, body_.module, body_.ast, mine, {.values = &values});
  size_t position = 0;
  for (const Argument& item : items) {
    const GenericParam* g = nullptr;
    if (item.label) {
      for (const GenericParam& candidate : fn_.generics)
        if (body_.types.names.spelling(candidate.name) == item.label) g = &candidate;
    } else if (position < fn_.generics.size()) {
      g = &fn_.generics[position++];
    }
    if (!g) {
      body_.sink.report(DiagId::TypeArguments, span_, name(), std::to_string(fn_.generics.size()),
                        std::to_string(items.size()));
      return false;
    }
    if (g->kind == GenericKind::Type)
      body_.infer.unify(call_.bound.types[g->name], outer.type(item.value));
    else if (DimId d = outer.dim(item.value); d && g->kind == GenericKind::Dim)
      body_.infer.unifyDim(call_.bound.dims[g->name], d);
  }
  return true;
}

/// The first pack among the axes of a type that is not known yet gets those of `given` that the other axes
/// leave; false if these are more.
bool DeclaredCall::bindPack(const SignatureType& type, TypeId given, Span at) {
  const std::optional<uint32_t> pack = use_.openPack(type);
  if (!pack) return true;
  std::optional<std::vector<DimId>> axes = body_.axesLeft(type, given, signature_.packs[*pack].name, at);
  if (!axes) return false;
  call_.bound.packs[signature_.packs[*pack].name] = *axes;
  use_.packs[*pack] = std::move(axes);
  return true;
}

/// Parameters that only the result decides are taken from the type asked for. What the result finds may be of
/// any size here.
void DeclaredCall::bindFromResult(TypeId want) {
  const SignatureType& result = signature_.result;
  if (!signature_.resultDecides || !result.isWritten() || !want || types_.kind(want) == TypeKind::Var) return;
  TypeId array = want; // of a value whose sizes are kept beside it, for results that are arrays
  if (types_.kind(want) == TypeKind::Pack) array = body_.openedPack(want);
  if (!bindPack(result, array, span_) || result.isWrong) return;
  SignatureUse any = use_;
  for (uint32_t k : result.sizes)
    if (!any.sizes[k]) any.sizes[k] = types_.dims.symbol(body_.infer.freshDim("_", signature_.sizes[k].span));
  Messages told(body_.sink);
  const TypeId type = any.type(result, &body_.infer);
  if (!told.any())
    body_.infer.unify(type, types_.kind(type) == TypeKind::Array ? array : want);
  else
    told.drop();
}

/// A `Tangent[P]` that tells P is a tangent of its own type: whether what was given is one.
bool DeclaredCall::tangentsFit() {
  for (size_t p = 0; p < signature_.params.size(); ++p) {
    const SignatureType& param = signature_.params[p];
    if (!given_[p].value.valid() || !param.namesTangent) continue;
    TypeId type = body_.infer.zonk(b_.typeOf(given_[p].value));
    for (TypeId open : body_.infer.openVars({type})) // a whole number is a float here
      if (body_.infer.varClass(open) == types::VarClass::OpenInt)
        body_.infer.unify(body_.infer.freshVar(types::VarClass::OpenFloat, span_), open);
    if (body_.infer.unify(typeOf(param), type).kind <= UnifyKind::NeedsCheck) continue;
    body_.sink.report(DiagId::ArgumentType, b_.spanOf(given_[p].value), name(), written(param),
                      b_.show(type));
    return false;
  }
  return true;
}

/// The message that a parameter takes no integers shows how the argument with these becomes one of floats.
void DeclaredCall::hintFloat(Messages& told, TypeId given) {
  if (!told.any() || told.last()->id != DiagId::BoundNotMet || told.last()->args[2] != "Float") return;
  for (const ParameterValue& parameter : given_) {
    if (!parameter.value.valid() || types_.element(b_.typeOf(parameter.value)) != given) continue;
    told.hintLast(floatHint(b_, parameter.value));
    if (Diagnostic* last = told.last()) noteQuotient(*last, b_, parameter.value, span_);
    return;
  }
}

bool DeclaredCall::boundsMet() {
  size_t next = 0, nextPack = 0;
  for (const GenericParam& g : fn_.generics) {
    if (g.kind == GenericKind::Type) {
      const TypeVariable& v = signature_.types[next++];
      TypeId type = body_.infer.zonk(call_.bound.types[g.name]);
      if (types_.kind(type) == TypeKind::Var && body_.infer.varClass(type) == types::VarClass::Any &&
          v.standard) {
        if (types_.kind(v.standard) == TypeKind::Error)
          body_.c.signatures.report(call_.decl, body_.aroundNamed(call_.decl));
        const TypeId standard = use_.substituted(v.standard, &body_.infer);
        // What open floats become where nothing settles them is left to what does (rule 15).
        const bool isOpen = types_.kind(standard) == TypeKind::F32;
        body_.infer.unify(type, isOpen ? body_.infer.freshVar(types::VarClass::OpenFloat, span_) : standard);
      }
      const TypeId given = body_.infer.zonk(call_.bound.types[g.name]);
      Messages told(body_.sink);
      if (!body_.boundMet(name(), g, given, span_)) {
        if (types_.isInt(given)) hintFloat(told, given);
        return false;
      }
    } else if (g.kind == GenericKind::Pack && !use_.packs[nextPack++]) {
      if (!body_.messages.anyErrors()) // else what would settle it may be what went wrong
        body_.sink.report(DiagId::NothingSettles, span_, "the shape of `" + std::string(name()) + "`");
      return false;
    }
  }
  return true;
}

// --- the result
// -----------------------------------------------------------------------------------------------------

NodeId DeclaredCall::inBlock(NodeId result) {
  result = body_.insideOf(inouts_.openings, result, span_);
  std::vector<NodeId> nodes;
  for (const std::vector<NodeId>& lets : before_.written) nodes.insert(nodes.end(), lets.begin(), lets.end());
  nodes.insert(nodes.end(), before_.lets.begin(), before_.lets.end());
  nodes.push_back(result);
  return b_.block(std::move(nodes), span_);
}

/// Arguments that are sizes of the result get names, unless they are sizes as they stand.
void DeclaredCall::nameSizesOfResult() {
  for (uint32_t p : signature_.result.named) {
    const ParamDecl& param = fn_.params[p];
    if (!given_[p].value.valid() || param.isInout || b_.dimOf(given_[p].value)) continue;
    NodeId value = valueNamed(param.name);
    given_[p].value = b_.local(b_.bind(types_.names.text(param.name), value, before_.lets), span_);
  }
}

/// Sizes that no argument tells are those of the type asked for: a function value that is given may know
/// them.
void DeclaredCall::solveSizes(TypeId result, TypeId expected) {
  if (!expected || !body_.infer.hasInferenceDim(result)) return;
  Attempt attempt(body_);
  if (body_.infer.unify(body_.infer.zonk(expected), result).kind <= UnifyKind::NeedsCheck) attempt.keep();
}

/// Sizes of the result that are not known from the arguments' types: of a value that was given, or found by
/// the callee, which come into scope.
std::vector<DimSym> DeclaredCall::findSizesOfResult() {
  std::vector<DimSym> found;
  auto unknown = [&](std::string_view name, Span at) {
    found.push_back(types_.dims.newSym({std::string(name), types::DimSymKind::Unknown, 0, at}));
    return types_.dims.symbol(found.back());
  };
  for (uint32_t k : signature_.result.sizes) {
    const SizeVariable& v = signature_.sizes[k];
    if (use_.sizes[k]) continue;
    if (v.source == VariableSource::Found) {
      setSize(k, unknown(v.name ? types_.names.text(v.name) : "_", v.span));
      continue;
    }
    const auto param = std::find_if(fn_.params.begin(), fn_.params.end(),
                                    [&](const ParamDecl& p) { return v.name && p.name == v.name; });
    const auto p = static_cast<size_t>(param - fn_.params.begin());
    if (param == fn_.params.end() || !given_[p].value.valid()) continue;
    const DimId known = b_.dimOf(given_[p].value);
    setSize(k, known ? known : unknown(types_.names.text(v.name), span_));
  }
  return found;
}

/// The declared result type.
NodeId DeclaredCall::declaredResult(NodeId node, TypeId expected) {
  std::vector<DimSym> sizes = findSizesOfResult();
  TypeId result = body_.infer.zonk(typeOf(signature_.result));
  if (!body_.infer.openVars(call_.untyped).empty()) {
    solveSizes(result, expected);
    if (body_.c.program_.instance(body_.checkCallee(call_, span_).instance).failed) return b_.error(span_);
  }
  Node& made = body_.instance.nodes.edit(node);
  made.type = result;
  made.resultDims = sizes;
  call_.node = node;
  call_.inBuilder = body_.builderDepth > 0;
  body_.pending.push_back(std::move(call_));
  return node;
}

} // namespace melix::check
