#include "check/body/declared_call.h"

#include "check/body/attempt.h"
#include "check/body/other_tree.h"
#include "check/signatures/free_names.h"
#include "check/tree/quotients.h"

#include <numeric>

namespace melix::check {

using namespace syntax;

std::vector<size_t> orderOfTelling(const FunctionDecl& fn, const Ast& tree, Interner& names) {
  NameId tangent = names.intern("Tangent");
  std::function<bool(SynId)> mentionsTangent = [&](SynId type) {
    bool found = tree.kind(type) == SynKind::Name && tree[type].as<Name>().name == tangent;
    forEachChild(tree, type, [&](SynId part) { found |= mentionsTangent(part); });
    return found;
  };
  auto lateness = [&](size_t p) {
    SynId type = fn.params[p].type;
    return !type ? 0 : tree.kind(type) == SynKind::FunctionType ? 2 : mentionsTangent(type) ? 1 : 0;
  };
  std::vector<size_t> order(fn.params.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t p, size_t q) { return lateness(p) < lateness(q); });
  return order;
}

DeclaredCall::DeclaredCall(Body& body, DeclId decl, Span span)
    : body_(body), types_(body.types), b_(body.b), fn_(body.c.function(decl)), tree_(body.c.ast(decl)),
      span_(span), resolver_(body.c, fn_.module, tree_, call_.bound) {
  call_.decl = decl;
  findCaptures(decl);
  given_.resize(fn_.params.size());
  resolver_.around.bindDim = [this](NameId dim, Span at) {
    return types_.dims.symbol(body_.infer.freshDim(std::string(types_.names.text(dim)), at));
  };
  resolver_.around.valueDim = [this](SynId s) { return sizeOfValue(s); };
  resolver_.around.whyNoSize = [this](NameId name) { return whyNoSize(body_.c, fn_, name); };
  resolver_.around.solved = [this](TypeId type) { return body_.infer.zonk(type); };
  resolver_.around.bindType = [this](NameId type, Span at) -> TypeId {
    if (type && types_.names.text(type).find('.') == std::string_view::npos)
      return TypeId::none(); // an unknown name, not a bare record's parameter
    TypeId var = body_.fresh(at);
    if (type) {
      call_.bound.types[type] = var;
      call_.genericNames.push_back(type);
    }
    return var;
  };
}

/// What the function captured, and what names of the place where it stands mean here.
void DeclaredCall::findCaptures(DeclId decl) {
  for (size_t k = body_.given.size(); k-- > 0;) {
    const Given given = body_.given[k];
    if (!given.nested || given.functions[0] != decl) continue;
    const Known& known = body_.c.program_.known(given.nested);
    call_.known = given.nested;
    target_.known = true;
    captures_ = {given.value};
    call_.untyped = types_[b_.typeOf(given.value)].parts;
    call_.bound = known.env;
    if (known.nesting.owner == body_.id) return;
    if (body_.c.info(body_.id).key.known == given.nested) { // it calls itself: its own sizes are others
      for (auto& [name, dim] : call_.bound.dims)
        if (auto here = body_.env->dims.find(name); here != body_.env->dims.end()) dim = here->second;
      for (auto& [name, pack] : call_.bound.packs)
        if (auto here = body_.env->packs.find(name); here != body_.env->packs.end()) pack = here->second;
      for (const GenericParam& g : fn_.generics) call_.bound.packs.erase(g.name);
      return;
    }
    types::DimSubst there;
    for (size_t n = 0; n < call_.untyped.size(); ++n)
      body_.c.matchSymbols(known.captures.types[n], call_.untyped[n], there);
    for (auto& [name, dim] : call_.bound.dims) dim = types_.dims.substitute(dim, there);
    for (auto& [name, pack] : call_.bound.packs)
      for (DimId& dim : pack) dim = types_.dims.substitute(dim, there);
    for (NameId name : body_.undeterminedDims(known)) {
      auto at = std::find(known.captures.names.begin(), known.captures.names.end(), name) -
                known.captures.names.begin();
      NodeId size = body_.part(given.value, static_cast<uint32_t>(at), span_);
      *body_.capturedDim(call_.bound, name) =
          b_.dimOf(b_.local(b_.bind(types_.names.text(name), size, before_.lets), span_));
    }
    return;
  }
  for (NameId let : body_.c.scriptLets(decl)) {
    NodeId value = body_.scriptLet(decl, let, span_);
    captures_.push_back(value.valid() ? value : b_.unit(span_));
    call_.untyped.push_back(b_.typeOf(captures_.back()));
  }
  target_.captures = static_cast<uint32_t>(captures_.size());
}

NodeId DeclaredCall::check(const std::vector<CallArg>& args, const std::vector<int>& argOf,
                           const Explicit* explicitArgs, TypeId expected) {
  args_ = args;
  openGenerics();
  if (explicitArgs && !bindExplicit(*explicitArgs)) return b_.error(span_);
  bindFromResult(expected ? body_.infer.zonk(expected) : TypeId::none());
  std::vector<int> given;
  std::copy_if(argOf.begin(), argOf.end(), std::back_inserter(given), [](int at) { return at >= 0; });
  if (!std::is_sorted(given.begin(), given.end())) before_.written.resize(args_.size());
  unifyMonomorphicArguments(argOf);
  for (size_t p : orderOfTelling(fn_, tree_, types_.names)) {
    if (failed_) break;
    resolver_.owner = fn_.params[p].name;
    if (argOf[p] < 0)
      defaultArgument(p);
    else if (fn_.params[p].isInout)
      inoutArgument(p, args_[static_cast<size_t>(argOf[p])]);
    else
      argument(p, args_[static_cast<size_t>(argOf[p])]);
  }
  if (NodeId ended = failed_ ? NodeId::none() : divergingArgument(); ended.valid()) return inBlock(ended);
  if (failed_ || !tangentsFit() || !boundsMet()) return b_.error(span_);
  resolver_.owner = NameId::none();
  if (fn_.result) nameSizesOfResult();
  std::vector<NodeId> children = captures_;
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    if (given_[p].value.valid()) children.push_back(given_[p].value);
    if (!fn_.params[p].type) call_.untyped.push_back(given_[p].type);
  }
  if (!fn_.builtin.empty()) return inBlock(body_.callBuiltin(fn_, children, call_.bound, expected, span_));
  NodeId node = b_.make(NodeKind::Call, types_.error(), span_, std::move(children), std::move(target_));
  return inBlock(fn_.result ? declaredResult(node, expected)
                            : body_.finishInferred(std::move(call_), node, span_));
}

/// A function that is no template says the types of its parameters before other arguments are asked for
/// theirs.
void DeclaredCall::unifyMonomorphicArguments(const std::vector<int>& argOf) {
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    const SynId written = fn_.params[p].type;
    if (argOf[p] < 0 || !written || tree_.kind(written) != SynKind::FunctionType) continue;
    CallArg& arg = args_[static_cast<size_t>(argOf[p])];
    if (!body_.mayBeFunction(arg)) continue;
    arg.node = body_.checkArg(arg);
    resolver_.owner = fn_.params[p].name;
    body_.unifyMonomorphic(arg.node, resolver_.type(written));
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

void DeclaredCall::openGenerics() {
  for (const GenericParam& g : fn_.generics) {
    if (g.kind == GenericKind::Type) {
      call_.bound.types[g.name] = body_.fresh(span_);
      call_.genericNames.push_back(g.name);
    } else if (g.kind == GenericKind::Dim) {
      call_.bound.dims[g.name] =
          types_.dims.symbol(body_.infer.freshDim(std::string(types_.names.text(g.name)), span_));
    } else {
      call_.packNames.push_back(g.name);
    }
  }
}

bool DeclaredCall::bindExplicit(const Explicit& items) {
  TypeEnv mine = body_.env;
  TypeResolver outer(body_.c, body_.module, body_.ast, mine);
  outer.around.valueDim = [this](SynId s) { return body_.dimOfSyntax(s); };
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

bool DeclaredCall::bindPack(SynId type, TypeId given, Span at) {
  NameId name = packIn(tree_, type, call_.bound);
  if (!name) return true;
  if (!body_.bindPackAxes(fn_, type, given, call_.bound, at)) return false;
  if (std::find(call_.packNames.begin(), call_.packNames.end(), name) == call_.packNames.end())
    call_.packNames.push_back(name);
  return true;
}

bool DeclaredCall::mentions(SynId written, NameId wanted) const {
  return check::mentions(tree_, written, wanted);
}

void DeclaredCall::bindFromResult(TypeId want) {
  bool resultDecides = false;
  for (const GenericParam& g : fn_.generics)
    resultDecides |= std::none_of(fn_.params.begin(), fn_.params.end(),
                                  [&](const ParamDecl& p) { return mentions(p.type, g.name); });
  if (!resultDecides || !fn_.result || !want || types_.kind(want) == TypeKind::Var) return;
  TypeId array = want; // of a value whose sizes are kept beside it, for results that are arrays
  if (types_.kind(want) == TypeKind::Pack) array = body_.openedPack(want);
  if (!bindPack(fn_.result, array, span_)) return;
  TypeEnv saved = call_.bound;
  Messages told(body_.sink);
  resolver_.around.freshDim = [this](NameId, Span at) {
    return types_.dims.symbol(body_.infer.freshDim("_", at));
  };
  resolver_.around.valueDim = [this](SynId) { return types_.dims.symbol(body_.infer.freshDim("_", span_)); };
  TypeId result = resolver_.result(fn_.result);
  resolver_.around.freshDim = nullptr;
  resolver_.around.valueDim = [this](SynId s) { return sizeOfValue(s); };
  if (!told.any())
    body_.infer.unify(result, types_.kind(result) == TypeKind::Array ? array : want);
  else
    told.drop();
  for (auto& [dim, value] : saved.dims) call_.bound.dims[dim] = value;
  if (!saved.packs.empty()) call_.bound.packs = saved.packs;
}

/// A `Tangent[P]` that tells P is a tangent of its own type: whether what was given is one.
bool DeclaredCall::tangentsFit() {
  const NameId tangent = types_.names.intern("Tangent");
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    const ParamDecl& param = fn_.params[p];
    if (!given_[p].value.valid() || !param.type || !mentions(param.type, tangent)) continue;
    TypeId type = body_.infer.zonk(b_.typeOf(given_[p].value));
    for (TypeId open : body_.infer.openVars({type})) // a whole number is a float here
      if (body_.infer.varClass(open) == types::VarClass::OpenInt)
        body_.infer.unify(body_.infer.freshVar(types::VarClass::OpenFloat, span_), open);
    if (body_.infer.unify(resolver_.parameter(param.type, param.isInout), type).kind <= UnifyKind::NeedsCheck)
      continue;
    body_.sink.report(DiagId::ArgumentType, b_.spanOf(given_[p].value), name(),
                      body_.c.modules.sources.text(tree_.span(param.type)), b_.show(type));
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
  for (const GenericParam& g : fn_.generics) {
    if (g.kind == GenericKind::Type) {
      TypeId type = body_.infer.zonk(call_.bound.types[g.name]);
      if (types_.kind(type) == TypeKind::Var && body_.infer.varClass(type) == types::VarClass::Any &&
          g.defaultType) {
        TypeResolver defaults(body_.c, fn_.module, tree_, call_.bound);
        const TypeId standard = defaults.nested(g.defaultType);
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
    } else if (g.kind == GenericKind::Pack && !call_.bound.packs.contains(g.name)) {
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
  for (size_t p = 0; p < fn_.params.size(); ++p) {
    const ParamDecl& param = fn_.params[p];
    if (!given_[p].value.valid() || param.isInout || !mentions(fn_.result, param.name) ||
        b_.dimOf(given_[p].value))
      continue;
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

/// The declared result type; sizes that the callee finds come into scope.
NodeId DeclaredCall::declaredResult(NodeId node, TypeId expected) {
  std::vector<DimSym> sizes;
  auto unknownSize = [&](std::string_view name, Span at) {
    sizes.push_back(types_.dims.newSym({std::string(name), types::DimSymKind::Unknown, 0, at}));
    return types_.dims.symbol(sizes.back());
  };
  resolver_.around.bindDim = nullptr;
  resolver_.around.freshDim = [&](NameId dim, Span at) {
    return unknownSize(dim ? types_.names.text(dim) : "_", at);
  };
  resolver_.around.valueDim = [&](SynId s) -> DimId {
    if (tree_.kind(s) != SynKind::Name) return DimId::none();
    NameId name = tree_[s].as<Name>().name;
    for (size_t p = 0; p < fn_.params.size(); ++p)
      if (fn_.params[p].name == name && given_[p].value.valid()) {
        DimId known = b_.dimOf(given_[p].value);
        return known ? known : unknownSize(types_.names.text(name), span_);
      }
    return sizeOfValue(s);
  };
  TypeId result = body_.infer.zonk(resolver_.result(fn_.result));
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
