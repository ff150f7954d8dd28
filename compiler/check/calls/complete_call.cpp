// From a checked call to the instance it runs: keys, dimensions, results inferred from the callee, and open
// numbers given to templates, which stay open inside (rule 15).
#include "check/body/body.h"
#include "check/instances/instances.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/lookup.h"
#include "check/signatures/pack_names.h"

#include <algorithm>
#include <cstdlib>

namespace melix::check {

using types::DimSymKind;

namespace {

/// A parameter in `[…]` that no argument tells; one that no parameter's type speaks of may be meant as a
/// type.
void reportUnsettled(DiagnosticSink& sink, const FunctionDecl* fn, std::string_view shown,
                     const Interner& names, Span span) {
  bool isGeneric = fn && std::any_of(fn->generics.begin(), fn->generics.end(),
                                     [&](const GenericParam& g) { return names.text(g.name) == shown; });
  std::string what = "`" + std::string(shown) + "` of this call";
  if (!isGeneric) {
    sink.report(DiagId::NothingSettles, span, "the dimension " + what);
    return;
  }
  sink.report(DiagId::NothingSettles, span, "the parameter " + what).hint =
      "no argument tells it: `" + std::string(names.text(fn->name)) +
      "[…](…)` gives it, or leave it out of the `[…]`";
}

/// Where what is called does input or output, in the library at the call; none if it does nothing.
Span ioOf(const names::Modules& modules, const Instance& callee, Span call) {
  return callee.io.valid() && modules.isLibraryFile(callee.io.file) ? call : callee.io;
}

/// The dimension parameters that the callee declares, as far as the call tells what they are: in order of
/// their names, which only says that there is one.
std::vector<NamedSize> declaredSizes(Body& body, const PendingCall& call) {
  TypeEnv around;             // of a function inside of a function
  std::vector<NameId> untold; // of the sizes there
  if (call.known) {
    around = body.c.program_.known(call.known).env;
    untold = body.undeterminedDims(body.c.program_.known(call.known));
  }
  std::vector<NamedSize> out;
  auto add = [&](NameId name, DimId d) {
    const bool isAround =
        body.capturedDim(around, name) && std::find(untold.begin(), untold.end(), name) == untold.end();
    d = body.infer.zonk(d);
    if (!isAround && !body.types.dims.mentionsKind(d, DimSymKind::Inference)) out.push_back({name, d});
  };
  for (const auto& [name, d] : call.bound.dims) add(name, d);
  for (const auto& [pack, axes] : call.bound.packs)
    for (size_t k = 0; k < axes.size(); ++k) add(packDimName(body.types.names, pack, k), axes[k]);
  std::sort(out.begin(), out.end());
  return out;
}

/// Those that the callee's body may need to know: where a function value is given, which may know them.
std::vector<NamedSize> toldSizes(Body& body, const PendingCall& call, const std::vector<TypeId>& args) {
  const bool isGivenFunction =
      std::any_of(args.begin(), args.end(), [&](TypeId t) { return body.types.holds(t, TypeKind::Known); });
  return isGivenFunction ? declaredSizes(body, call) : std::vector<NamedSize>();
}

} // namespace

/// The types that the key of a call is made of: of generics, then of untyped parameters and captures.
std::vector<TypeId> Body::argumentTypes(const PendingCall& call) {
  std::vector<TypeId> args;
  for (NameId g : call.genericNames) args.push_back(infer.zonk(call.bound.types.at(g)));
  for (TypeId t : call.untyped) args.push_back(infer.zonk(t));
  return args;
}

InstanceKey Body::keyOf(const PendingCall& call, Canonical& canonical) {
  InstanceKey key;
  key.decl = call.decl;
  key.known = infer.templateOf(call.known);
  for (NameId pack : call.packNames)
    key.ranks.push_back(static_cast<uint32_t>(call.bound.packs.at(pack).size()));
  const std::vector<TypeId> args = argumentTypes(call);
  const std::vector<NamedSize> sizes = toldSizes(*this, call, args);
  auto take = [&](Canonical made) {
    canonical = std::move(made);
    key.typeArgs = canonical.types;
    key.sizes.clear();
    for (size_t k = 0; k < sizes.size(); ++k) key.sizes.push_back({sizes[k].first, canonical.sizes[k]});
  };
  take(c.instances.canonical(args, sizes));
  if (c.instances.recursesDifferently(key)) take(c.instances.sizeless(args, sizes));
  return key;
}

/// What a call gives to the dimension parameter `name`, or to axis k of a pack (`S#k`); none if nothing does.
DimId Body::boundDim(const PendingCall& call, NameId name) {
  if (const auto axis = packAxisOf(types.names, name)) {
    auto found = call.bound.packs.find(axis->pack);
    return found == call.bound.packs.end() ? DimId::none() : found->second[axis->axis];
  }
  auto found = call.bound.dims.find(name);
  return found == call.bound.dims.end() ? DimId::none() : found->second;
}

/// Whether the types that the call settled on meet the bounds: open numbers met them when they were given.
bool Body::boundsHold(const PendingCall& call, Span span) {
  if (!call.decl || c.modules.decl(call.decl).kind == names::DeclKind::Const) return true;
  for (const GenericParam& g : c.declarations.function(call.decl).generics)
    if (g.kind == GenericKind::Type && !boundMet(types.names.text(c.declarations.function(call.decl).name), g,
                                                 infer.zonk(call.bound.types.at(g.name)), span))
      return false;
  return true;
}

/// `settled` with the variables of `open`, a type of the same structure.
TypeId Body::withLiteralVariables(TypeId open, TypeId settled) {
  if (types.kind(open) == TypeKind::Var) return open;
  const types::Type& from = types[open];
  types::Type out = types[settled];
  if (from.kind != out.kind || from.parts.size() != out.parts.size()) return settled;
  if (out.record) {
    const std::vector<TypeId>& given = types.typeArgs(open);
    std::vector<TypeId> args = types.typeArgs(settled);
    for (size_t k = 0; k < args.size() && k < given.size(); ++k)
      args[k] = withLiteralVariables(given[k], args[k]);
    return args == types.typeArgs(settled) ? settled : c.declarations.reinstantiate(settled, std::move(args));
  }
  for (size_t k = 0; k < out.parts.size(); ++k)
    out.parts[k] = withLiteralVariables(from.parts[k], out.parts[k]);
  if (out.result) out.result = withLiteralVariables(from.result, out.result);
  return out.kind == TypeKind::Array ? types.array(out.parts[0], std::move(out.dims))
                                     : types.intern(std::move(out));
}

/// Numbers that were given open stay open in the body, as when it told what its result is: a call in there
/// that is given one may be decided by the result.
void Body::keepLiteralVariables(const PendingCall& call, InstanceKey& key) {
  const InstanceKey& given = c.instances.info(call.checked).key;
  if (call.openGiven.empty() || given.typeArgs.size() != key.typeArgs.size()) return;
  for (size_t k = 0; k < key.typeArgs.size(); ++k)
    key.typeArgs[k] = withLiteralVariables(given.typeArgs[k], key.typeArgs[k]);
  key.open = given.open;
  for (TypeId v : call.openGiven) key.settled.push_back(infer.zonk(v));
}

/// Notes where input or output is done, if it is a place.
void Body::doesIo(Span at) {
  if (!instance.io.valid()) trail.set(instance.io, at);
}

/// Instance and dimensions of a call whose types are settled.
void Body::finishCall(PendingCall& call) {
  Canonical canonical;
  InstanceKey key = keyOf(call, canonical);
  for (TypeId open : call.openResults) key.results.push_back(infer.zonk(open));
  if (call.checked && !call.openResults.empty()) keepLiteralVariables(call, key);
  Span span = instance.nodes[call.node].span;
  if (!boundsHold(call, span)) return;
  // A generic function is checked where it is declared: nothing more is to be said of it at type parameters.
  if (isOfParams(c, key) && !key.known && c.generics.isHeldToBounds(key.decl) &&
      c.declarations.function(key.decl).result)
    return;
  // A template is checked at them with the numbers open that it was given open: what these become where
  // nothing else decides says nothing of the other types that the parameters stand for.
  if (isOfParams(c, key) && call.checked) {
    doesIo(ioOf(c.modules, c.program_.instance(call.checked), span));
    return;
  }
  InstanceId made = c.instances.instantiate(key, span, canonical.stoodFor);
  const InstanceInfo& info = c.instances.info(made);
  canonical.stoodFor.resize(info.stoodFor.size());
  std::vector<DimId> dims;
  for (NameId name : info.dimNames) {
    DimId d = boundDim(call, name);
    if (!d && !c.program_.instance(made).failed)
      sink.report(DiagId::NothingSettles, span,
                  "the dimension `" + std::string(types.names.text(name)) + "`");
    dims.push_back(d ? infer.zonk(d) : types.dims.constant(0));
  }
  for (DimId d : canonical.stoodFor) dims.push_back(infer.zonk(d));
  for (DimId d : dims)
    if (infer.hasInferenceDim(d)) {
      const bool isTold = messages.has([](const Diagnostic& one) {
        return one.id == DiagId::DimensionValue; // which may have left it open
      });
      if (!c.program_.instance(made).failed && !isTold)
        reportUnsettled(sink, key.known ? nullptr : &c.declarations.function(key.decl), types.dims.show(d),
                        types.names, span);
      trail.set(instance.failed, true);
      break;
    }
  CallTarget& target = instance.nodes.edit(call.node).as<CallTarget>();
  target.instance = made;
  target.dims = std::move(dims);
  const Instance& callee = c.program_.instance(made);
  if (callee.failed) trail.set(instance.failed, true);
  doesIo(ioOf(c.modules, callee, span));
  if (callee.io.valid() && call.inBuilder) sink.report(DiagId::BuilderIo, span);
  if (callee.result) infer.settleTemplates(instance.nodes[call.node].type, callee.result);
}

/// The caller's dimensions for those of the callee; sizes that the callee finds become new symbols, added to
/// `sizes`.
types::DimSubst Body::callerDims(const PendingCall& call, InstanceId made, const Canonical& canonical,
                                 std::vector<DimSym>& sizes, Span span) {
  const Instance& callee = c.program_.instance(made);
  const std::vector<NameId>& named = c.instances.info(made).dimNames;
  types::DimSubst subst;
  for (size_t k = 0; k < callee.dimParams.size(); ++k) {
    DimId d;
    if (k < named.size())
      d = boundDim(call, named[k]);
    else if (k - named.size() < canonical.stoodFor.size()) // none of those beyond stand in its own sizes
      d = canonical.stoodFor[k - named.size()];
    if (d) subst.emplace(callee.dimParams[k], infer.zonk(d));
  }
  for (DimSym s : callee.resultDims) {
    sizes.push_back(types.dims.newSym({types.dims.info(s).name, DimSymKind::Unknown, 0, span}));
    subst.emplace(s, types.dims.symbol(sizes.back()));
  }
  return subst;
}

/// The callee checked at what is known of the arguments now. Open numbers stay open inside; what the body
/// makes of them is unified with the arguments, and its variables that stay open become some of this body's
/// (`Callee::here`).
Callee Body::checkCallee(const PendingCall& call, Span span) {
  Callee out;
  InstanceKey key = keyOf(call, out.canonical);
  std::vector<TypeId> open = infer.openVars(key.typeArgs);
  for (TypeId v : open) key.open.push_back(infer.varClass(v));
  out.openGiven = open;
  bool isConstant = key.decl && c.modules.decl(key.decl).kind == names::DeclKind::Const;
  if (isConstant) key.open.push_back(types::VarClass::OpenInt); // no argument: only says that it is left open
  for (TypeId& t : key.typeArgs)
    t = infer.mapVars(t, [&](TypeId v) {
      return types.var(static_cast<uint32_t>(std::find(open.begin(), open.end(), v) - open.begin()));
    });
  out.instance = c.instances.instantiate(key, span, out.canonical.stoodFor);
  const InstanceInfo info = c.instances.info(out.instance);
  isProvisional = isProvisional || info.isGuess();
  if (c.program_.instance(out.instance).failed || !info.hasResult()) return out;
  out.dims = callerDims(call, out.instance, out.canonical, out.sizes, span);
  for (auto [var, cls] : info.stillOpen) out.here.emplace(var.index, infer.freshVar(cls, span));
  std::vector<TypeId> given = argumentTypes(call);
  for (size_t k = 0; k < info.openArgs.size() && !info.inProgress; ++k)
    infer.unify(inCallerTerms(info.openArgs[k], out), given[k]);
  return out;
}

/// A type of the callee in terms of this body's dimensions and variables.
TypeId Body::inCallerTerms(TypeId t, const Callee& callee) {
  return types.substitute(infer.mapVars(t, [&](TypeId v) { return callee.here.at(v.index); }), callee.dims);
}

/// A call whose result type is the callee's to infer.
NodeId Body::finishInferred(PendingCall call, NodeId node, Span span) {
  call.node = node;
  call.inBuilder = builderDepth > 0;
  Callee callee = checkCallee(call, span);
  const Instance& made = c.program_.instance(callee.instance);
  const InstanceInfo& info = c.instances.info(callee.instance);
  if (made.failed || !info.hasResult()) return b.error(span); // recursion adds nothing to an inferred result
  if (info.key.isOpen()) call.checked = callee.instance, call.openGiven = callee.openGiven;
  bool isGuess = info.isGuess() && info.openGuess.valid();
  bool itself = isGuess && callee.instance == id;
  instance.nodes.edit(node).type = itself    ? returnType
                                   : isGuess ? openResult(info)
                                             : infer.zonk(inCallerTerms(made.result, callee));
  instance.nodes.edit(node).resultDims = callee.sizes;
  for (size_t k = info.openInArgs; !isGuess && k < info.stillOpen.size(); ++k)
    call.openResults.push_back(callee.here.at(info.stillOpen[k].first.index));
  pending.push_back(std::move(call));
  return node;
}

/// Keeps a result whose numbers are still open, unless it has sizes.
void Body::noteOpenResult(TypeId type) {
  std::vector<TypeId> open = infer.openVars({type});
  std::vector<DimSym> sizes;
  types.collectSymbols(infer.zonk(type), sizes);
  if (open.empty() || !sizes.empty()) return;
  InstanceInfo& info = c.instances.info(id);
  info.openGuess = infer.zonk(type);
  for (TypeId var : open) info.literalVariables.push_back({var, infer.varClass(var)});
}

/// A guessed result with its numbers open again.
TypeId Body::openResult(const InstanceInfo& guess) {
  std::map<TypeId, TypeId> opened;
  for (auto [var, cls] : guess.literalVariables) opened.emplace(var, infer.freshVar(cls, instance.span));
  return infer.mapVars(guess.openGuess, [&](TypeId var) { return opened.at(var); });
}

/// Ends the check of an instance at open numbers: nothing is settled, the caller does that.
void Instances::finishOpen(InstanceId id, Body& body, NodeId value) {
  Instance& instance = c_.program_.instance(id);
  InstanceInfo& info = infos_[id.index];
  instance.body = value;
  instance.result = body.infer.zonk(instance.result);
  std::vector<TypeId> all;
  for (TypeId& t : info.openArgs) all.push_back(t = body.infer.zonk(t));
  info.openInArgs = body.infer.openVars(all).size();
  all.push_back(instance.result);
  for (TypeId var : body.infer.openVars(all)) info.stillOpen.push_back({var, body.infer.varClass(var)});
  instance.failed |= body.holdsError();
}
} // namespace melix::check
