// Instances: keys, signatures, checking of bodies on demand.
#include "check/instances/instances.h"

#include "check/body/body.h"
#include "check/body/tries.h"
#include "check/instances/programs.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/key_reuse.h"
#include "check/signatures/lookup.h"
#include "check/signatures/scripts.h"

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

Checker::Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink, bool strictShapes)
    : program_(types), modules(modules), types(types), sink(sink), strictShapes(strictShapes),
      signatures_(std::make_unique<SignatureTable>(*this)), signatures(*signatures_) {
  types.derived.dictOfValues = [this](TypeId dict, TypeId values) {
    return declarations.reinstantiate(dict, {this->types.typeArgs(dict)[0], values});
  };
}
Checker::~Checker() = default;

KnownId Instances::ownTemplate(Known known, Span place) {
  KnownId& id = ownTemplates_[{known.kind, place.file.index, place.begin, place.end}];
  if (!id) id = c_.program_.addKnown(std::move(known));
  return id;
}

DimSym Instances::canonicalSym(uint32_t k, DimSymKind kind) {
  std::vector<DimSym>& list = canonicalSyms_[kind == DimSymKind::Parameter ? 0 : 1];
  while (list.size() <= k)
    list.push_back(
        c_.types.dims.newSym({"D" + std::to_string(list.size()),
                              kind == DimSymKind::Parameter ? DimSymKind::Parameter : DimSymKind::Unknown,
                              0,
                              {}}));
  return list[k];
}

Canonical Instances::canonical(const std::vector<TypeId>& given, const std::vector<NamedSize>& sizes) {
  std::vector<DimSym> symbols;
  for (TypeId t : given) c_.types.collectSymbols(t, symbols);
  for (const auto& [name, d] : sizes) c_.types.dims.collectSymbols(d, symbols);
  types::DimSubst subst;
  Canonical out;
  for (DimSym s : symbols) {
    if (c_.types.dims.info(s).kind == DimSymKind::Bound || subst.contains(s)) continue;
    bool fixed = c_.types.dims.info(s).kind == DimSymKind::Parameter ||
                 c_.types.dims.info(s).kind == DimSymKind::Inference;
    subst.emplace(s, c_.types.dims.symbol(canonicalSym(static_cast<uint32_t>(out.stoodFor.size()),
                                                       fixed ? DimSymKind::Parameter : DimSymKind::Unknown)));
    out.stoodFor.push_back(c_.types.dims.symbol(s));
  }
  for (TypeId t : given) out.types.push_back(subst.empty() ? t : c_.types.substitute(t, subst));
  for (const auto& [name, d] : sizes) out.sizes.push_back(c_.types.dims.substitute(d, subst));
  return out;
}

Canonical Instances::sizeless(const std::vector<TypeId>& given, const std::vector<NamedSize>& sizes) {
  Canonical out;
  std::vector<DimId> own;
  auto renamed = [&](DimId d) {
    if (c_.types.dims.mentionsKind(d, DimSymKind::Bound)) return d; // what hides in a pack
    auto at = std::find(out.stoodFor.begin(), out.stoodFor.end(), d);
    if (at == out.stoodFor.end()) {
      own.push_back(
          c_.types.dims.symbol(canonicalSym(static_cast<uint32_t>(own.size()), DimSymKind::Unknown)));
      out.stoodFor.push_back(d);
      return own.back();
    }
    return own[static_cast<size_t>(at - out.stoodFor.begin())];
  };
  for (TypeId t : given)
    out.types.push_back(c_.types.rewrite(t, [&](TypeId part) {
      const types::Type& type = c_.types[part];
      std::vector<DimId> dims = type.dims;
      if (type.kind != TypeKind::Array && !type.record) return part;
      for (DimId& d : dims) d = renamed(d);
      return type.record ? c_.types.record(type.record, std::move(dims))
                         : c_.types.array(type.parts[0], std::move(dims));
    }));
  for (const auto& [name, d] : sizes) out.sizes.push_back(renamed(d));
  return out;
}

/// Makes an instance that of its key. Where what asked for it is undone and it has failed, it is forgotten:
/// who asks again is told why.
void Instances::remember(InstanceId id) {
  c_.trail.record([this, id] {
    const auto known = instances_.find(infos_[id.index].key);
    const bool hasFailed = c_.program_.instance(id).failed;
    if (hasFailed && known != instances_.end() && known->second == id) instances_.erase(known);
  });
  instances_[infos_[id.index].key] = id;
}

bool Instances::recursesDifferently(const InstanceKey& key) const {
  return key.decl && std::any_of(stack_.begin(), stack_.end(), [&](const Open& open) {
           if (infos_[open.id.index].key.decl != key.decl) return false;
           InstanceKey other = infos_[open.id.index].key;
           if (key.sizes.empty() || other.sizes.empty()) other.sizes = key.sizes; // it has sizes of its own
           return other != key;
         });
}

InstanceId Instances::addInstance(InstanceKey key) {
  InstanceId id = c_.program_.addInstance();
  infos_.push_back({});
  infos_.back().key = std::move(key);
  return id;
}

/// Whether there may be any number of instances like this one.
static bool isTemplate(Checker& c, const InstanceKey& key) {
  return !key.decl || !c.scripts.scriptLets(key.decl).empty() ||
         (c.modules.decl(key.decl).kind == names::DeclKind::Function &&
          (c.declarations.function(key.decl).hasUntyped() ||
           !c.declarations.function(key.decl).generics.empty()));
}

/// Whether a message says that instances which ask for others have no end.
static bool tellsOfNesting(const Diagnostic& d) {
  return d.id == DiagId::InstanceDepth || d.id == DiagId::InstanceCount || d.id == DiagId::InstanceChain ||
         d.id == DiagId::InstanceRing;
}

static Origin originOf(const Program& program, const InstanceKey& key) {
  const Known* known = key.decl ? nullptr : &program.known(key.known);
  return {key.decl, known && known->lambda.tree ? &(*known->lambda.tree)[known->lambda.node] : nullptr};
}

/// Instances that ask for others have an end (rule 11): whether that is reached, which is told once. Types
/// that double at each level would be too large to look at long before 64 levels.
bool Instances::refusesInstance(const InstanceKey& key, const std::string& name, Span call) {
  constexpr size_t mostNested = 64, mostOpen = 256, mostParts = 4096, mostInstances = 10'000;
  if (std::none_of(stack_.begin(), stack_.end(), [](const Open& open) { return open.isTemplate; }))
    made_.clear();
  const Origin origin = originOf(c_.program_, key);
  size_t& made = made_[origin];
  const bool isCounted = origin != Origin();
  auto isLarge = [this](TypeId t) { return c_.types.partCount(t) >= mostParts; };
  auto isSame = [&](const Open& open) { return isCounted && open.origin == origin; };
  const bool isLong = stack_.size() >= mostOpen;
  const bool isDeep =
      isLong || static_cast<size_t>(std::count_if(stack_.begin(), stack_.end(), isSame)) >= mostNested ||
      (recursesDifferently(key) && std::any_of(key.typeArgs.begin(), key.typeArgs.end(), isLarge));
  if (!isDeep && (!isCounted || ++made <= mostInstances)) return false;
  made = mostInstances; // none after this one
  if ((!isDeep || isLong) && c_.sink.isTold(tellsOfNesting)) return true;
  const Open& first = stack_.front();
  Span place = first.call.valid() ? first.call : c_.program_.instance(first.id).span;
  const bool areTemplates =
      std::any_of(stack_.begin(), stack_.end(), [](const Open& o) { return o.isTemplate; });
  const DiagId tooLong = areTemplates ? DiagId::InstanceChain : DiagId::InstanceRing;
  Diagnostic& d = isLong   ? c_.sink.report(tooLong, place, first.name, name)
                  : isDeep ? c_.sink.report(DiagId::InstanceDepth, place, name)
                           : c_.sink.report(DiagId::InstanceCount, place, name);
  d.notes.push_back({call, "instantiated here"});
  if (!isLong) d.hint = divergingParameter(key);
  return true;
}

/// Says which parameter has another type in each of the nested instances of a function.
std::string Instances::divergingParameter(const InstanceKey& key) {
  std::vector<InstanceId> nested;
  for (const Open& open : stack_)
    if (key.decl && infos_[open.id.index].key.decl == key.decl) nested.push_back(open.id);
  if (nested.size() < 2 || c_.modules.decl(key.decl).kind != names::DeclKind::Function) return {};
  const std::vector<TypeId>& first = infos_[nested[0].index].key.typeArgs;
  const std::vector<TypeId>& second = infos_[nested[1].index].key.typeArgs;
  const FunctionDecl& fn = c_.declarations.function(key.decl);
  std::vector<NameId> untyped; // the last of the key's types
  for (const ParamDecl& p : fn.params)
    if (!p.type) untyped.push_back(p.name);
  for (size_t k = 0, at = key.typeArgs.size() - untyped.size(); k < untyped.size(); ++k, ++at)
    if (first[at] != second[at])
      return "annotate `" + std::string(c_.types.names.text(untyped[k])) +
             "`, whose type changes with each call";
  size_t at = 0; // the first
  for (const GenericParam& g : fn.generics) {
    if (g.kind != GenericKind::Type) continue;
    if (first[at] != second[at])
      return "`" + std::string(c_.types.names.text(g.name)) + "` stands for another type in each call";
    ++at;
  }
  return {};
}

/// The instance of `key` whose dimension parameters are numbers of its own; none if its body needs to know
/// that they are those of the call, which is found out once. What was tried is taken back.
InstanceId Instances::atOwnSizes(const InstanceKey& key, Span call, const std::vector<DimId>& stoodFor) {
  InstanceKey own = key;
  own.sizes.clear();
  if (auto found = instances_.find(own); found != instances_.end() && !found->second)
    return InstanceId::none();
  Messages told(c_.sink);
  const Trail::Mark mark = c_.trail.mark();
  const InstanceId id = instantiate(own, call, stoodFor);
  const bool fits = !c_.program_.instance(id).failed && !told.anyErrors();
  if (fits || infos_[id.index].inProgress || infos_[id.index].isGuess() || told.has(tellsOfNesting)) {
    c_.trail.commit(mark);
    return id;
  }
  told.drop();
  c_.trail.undo(mark);
  return instances_[std::move(own)] = InstanceId::none();
}

InstanceId Instances::instantiate(InstanceKey key, Span call, const std::vector<DimId>& stoodFor) {
  if (!key.sizes.empty())
    if (InstanceId own = atOwnSizes(key, call, stoodFor); own.valid()) return own;
  if (auto found = instances_.find(key); found != instances_.end() && found->second) {
    noteDependency(found->second);
    return found->second;
  }
  std::string name = key.decl ? std::string(c_.types.names.text(c_.modules.decl(key.decl).name))
                              : c_.program_.known(key.known).name;
  const bool isReady = !key.decl || !c_.hooks.prepareBody || c_.hooks.prepareBody(key.decl);
  if (!isReady || refusesInstance(key, name, call) || !c_.generics.mayInstantiate(key)) {
    InstanceId broken = addInstance(key);
    c_.program_.instance(broken).failed = true;
    c_.program_.instance(broken).result = c_.types.error();
    return broken;
  }
  InstanceId id = addInstance(key);
  infos_[id.index].stoodFor = stoodFor;
  remember(id);
  if (!key.decl && c_.program_.known(key.known).kind == KnownKind::Lambda)
    calledLambdas_.insert(
        {c_.program_.known(key.known).lambda.tree, c_.program_.known(key.known).lambda.node});
  Messages told(c_.sink);
  stack_.push_back(
      {name, originOf(c_.program_, key), call, id, stack_.size(), guesses_.size(), isTemplate(c_, key)});
  checkBody(c_, id);
  while (startRound(id, told)) checkBody(c_, id);
  if (stack_.back().isTemplate && call.valid()) annotateWithCall(told, name, call);
  if (key.decl && c_.modules.decl(key.decl).kind == names::DeclKind::Const && c_.program_.instance(id).failed)
    c_.constants.keepErrors(key.decl, told.all());
  closeInstance(told);
  return id;
}

/// The errors are those of a template's body for this call. What is wrong inside of a library
/// function is told once, at the call: whoever wrote that did not write the library.
void Instances::annotateWithCall(Messages& told, const std::string& name, Span call) {
  told.noteErrors({call, "while checking `" + name + "` for this call"});
  const bool isGuess = stack_.back().lowest + 1 < stack_.size();
  if (isGuess || c_.modules.isLibraryFile(call.file)) return;
  auto isOfLibrary = [this](const Diagnostic& d) {
    return diagSeverity(d.id) == SeverityKind::Error && c_.modules.isLibraryFile(d.span.file);
  };
  const auto found = std::ranges::find_if(told.all(), isOfLibrary);
  if (found == told.all().end()) return;
  Diagnostic first = *found;
  told.dropIf(isOfLibrary);
  if (told.anyErrors()) return;
  Diagnostic& d = c_.sink.report(DiagId::LibraryCall, call, name, diagMessage(first));
  d.notes.push_back({first.span, "here"});
  for (DiagNote& note : first.notes)
    if (note.span != call) d.notes.push_back(std::move(note));
}

/// Whoever calls an instance whose result is not known, or one that did so, is checked at a guess.
void Instances::noteDependency(InstanceId id) {
  InstanceInfo& used = infos_[id.index];
  if (!used.isGuess() || stack_.empty()) return;
  used.recursed |= used.inProgress;
  size_t head = used.guessedFor;
  for (size_t k = 0; used.inProgress && k < stack_.size(); ++k)
    if (stack_[k].id == id) head = k;
  stack_.back().lowest = std::min(stack_.back().lowest, head);
}

/// Another round over the body on top of the stack, if it was called while its result was not known: with
/// the result found, at first with its numbers open, if that is how they were found. What was guessed
/// meanwhile is forgotten. Functions that call each other have their rounds with the first of them.
bool Instances::startRound(InstanceId id, Messages& told) {
  Open& open = stack_.back();
  if (open.lowest + 1 < stack_.size()) return false;
  InstanceInfo& info = infos_[id.index];
  Instance& instance = c_.program_.instance(id);
  const TypeId found = instance.result;
  bool confirmed =
      info.state == ResultState::Guessed && found == info.guess && guesses_.size() == open.firstGuess;
  for (size_t k = open.firstGuess; k < guesses_.size(); ++k) instances_.erase(infos_[guesses_[k].index].key);
  guesses_.resize(open.firstGuess);
  bool guess = info.state == ResultState::Unknown && info.openGuess.valid();
  bool again = info.recursed && !confirmed && !c_.types.holds(found, TypeKind::Error) &&
               (guess || !info.key.isOpen()); // at open numbers, a known result says no more
  info.state = again && guess ? ResultState::Guessed : ResultState::Known;
  if (!again) return false;
  Instance next;
  next.name = std::move(instance.name);
  next.result = info.guess = found;
  next.resultDims = std::move(instance.resultDims);
  info.guessDims = std::move(instance.dimParams);
  instance = std::move(next);
  info.recursed = false;
  info.stillOpen.clear();
  told.dropRound();
  return true;
}

/// The guess in terms of this round's dimension parameters.
void Instances::renewGuess(InstanceId id) {
  InstanceInfo& info = infos_[id.index];
  Instance& instance = c_.program_.instance(id);
  types::DimSubst renewed;
  for (size_t k = 0; k < info.guessDims.size() && k < instance.dimParams.size(); ++k)
    renewed.emplace(info.guessDims[k], c_.types.dims.symbol(instance.dimParams[k]));
  info.guessDims.clear();
  if (!renewed.empty()) instance.result = info.guess = c_.types.substitute(instance.result, renewed);
}

/// Takes the instance off the stack. Its messages stand, unless it is a guess that will be checked again.
void Instances::closeInstance(Messages& told) {
  const Open open = std::move(stack_.back());
  stack_.pop_back();
  if (stack_.empty()) return;
  Open& caller = stack_.back();
  if (open.lowest < stack_.size()) {
    infos_[open.id.index].guessedFor = open.lowest;
    guesses_.push_back(open.id);
    caller.lowest = std::min(caller.lowest, open.lowest);
  } else {
    told.makeFinal();
  }
}

void Instances::finish(InstanceId id, Body& body, NodeId value, TypeId declared) {
  Instance& instance = c_.program_.instance(id);
  InstanceInfo& info = infos_[id.index];
  if (!declared) {
    TypeId type = body.b.typeOf(value);
    const bool adds = body.determinesType(type);
    if (body.returnType && body.returned->byTry.valid() && c_.types.isUnit(type)) {
      refuseTry(body, body.returned->byTry, type, body.b.spanOf(body.returned->byTry));
      instance.failed = true;
      type = c_.types.error();
    } else if (body.returnType && adds) {
      value = body.coerce(value, body.freshResult(), body.b.spanOf(value));
      type = body.infer.zonk(body.returnType);
    } else if (body.returnType && (body.isProvisional || c_.types.kind(type) == TypeKind::Never)) {
      type = body.infer.zonk(body.returnType);
    } else if (!adds && info.recursed) {
      bool isHead = stack_.back().lowest + 1 == stack_.size();
      if (isHead && !body.messages.anyErrors())
        c_.sink.report(DiagId::RecursiveResult, instance.span, instance.name);
      type = c_.types.error();
    }
    instance.result = type;
    if (body.isProvisional && info.state == ResultState::Unknown) body.noteOpenResult(type);
  }
  if (info.key.isOpen()) {
    finishOpen(id, body, value);
  } else {
    instance.body = value;
    for (uint32_t k = 0; k < info.key.settled.size(); ++k)
      body.infer.unify(info.key.settled[k], c_.types.var(k));
    if (const std::vector<TypeId> asked = info.key.results; !asked.empty()) {
      std::vector<TypeId> left = body.infer.openVars({instance.result});
      for (size_t k = 0; k < left.size() && k < asked.size(); ++k) body.infer.unify(asked[k], left[k]);
    }
    body.settle();
    instance.result = declared ? declared : body.infer.zonk(instance.result);
  }
  if (!declared)
    instance.result = withExistentialSizes(c_, instance.result, [&](DimSym s) {
      const std::vector<DimSym>& params = instance.dimParams;
      return c_.types.dims.info(s).kind != DimSymKind::Bound &&
             std::find(params.begin(), params.end(), s) == params.end();
    });
  std::vector<DimSym> symbols;
  c_.types.collectSymbols(instance.result, symbols);
  instance.resultDims.clear();
  for (DimSym s : symbols)
    if (c_.types.dims.info(s).kind != DimSymKind::Bound &&
        std::find(instance.dimParams.begin(), instance.dimParams.end(), s) == instance.dimParams.end())
      instance.resultDims.push_back(s);
  instance.failed =
      (instance.failed && !body.isProvisional) || c_.types.holds(instance.result, TypeKind::Error);
  const InstanceKey& key = infos_[id.index].key;
  if (instance.io.valid() && key.decl && c_.modules.decl(key.decl).kind == names::DeclKind::Function &&
      c_.declarations.function(key.decl).isPure)
    c_.sink.report(DiagId::NotPure, instance.span, instance.name);
  if (!infos_[id.index].key.isOpen() && !instance.failed && !isOfParams(c_, key))
    infos_[id.index].usesUpKeys = checkKeys(c_, id);
  const bool isWritten = key.decl || (key.known && c_.program_.known(key.known).kind == KnownKind::Lambda);
  if (isWritten && !key.isOpen() && !body.isProvisional &&
      !c_.modules.isLibraryFile(body.ast.span(body.ast.at->root).file))
    body.warnUnused();
  infos_[id.index].inProgress = false;
}

TypeId withExistentialSizes(Checker& c, TypeId type, FunctionRef<bool(DimSym)> own) {
  return c.types.rewrite(type, [&](TypeId part) {
    types::Type t = c.types[part];
    for (DimId& d : t.dims) {
      std::vector<DimSym> symbols;
      c.types.dims.collectSymbols(d, symbols);
      if (!c.types.dims.asSymbol(d) && std::any_of(symbols.begin(), symbols.end(), own))
        d = c.types.dims.symbol(c.types.dims.newSym({"_", DimSymKind::Unknown, 0, Span()}));
    }
    return t.kind == TypeKind::Array ? c.types.array(t.parts[0], std::move(t.dims))
                                     : c.types.intern(std::move(t));
  });
}

/// Symbols of `from` as they appear in `to`, a type of the same structure.
void matchSymbols(Checker& c, TypeId from, TypeId to, types::DimSubst& out) {
  const types::Type &a = c.types[from], &t = c.types[to];
  for (size_t k = 0; k < a.dims.size() && k < t.dims.size(); ++k)
    if (auto s = c.types.dims.asSymbol(a.dims[k]); s && c.types.dims.info(*s).kind != DimSymKind::Bound)
      out.emplace(*s, t.dims[k]);
  for (size_t k = 0; k < a.parts.size() && k < t.parts.size(); ++k)
    matchSymbols(c, a.parts[k], t.parts[k], out);
}

} // namespace melix::check
