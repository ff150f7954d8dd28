// Instances: keys, signatures, checking of bodies on demand.
#include "check/body/body.h"
#include "check/body/tries.h"
#include "check/signatures/key_reuse.h"

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

Checker::Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink, bool strictShapes)
    : program_(types), modules(modules), types(types), sink(sink), strictShapes(strictShapes),
      signatures_(std::make_unique<SignatureTable>(*this)), signatures(*signatures_) {
  types.derived.dictOfValues = [this](TypeId dict, TypeId values) {
    return reinstantiate(dict, {this->types.typeArgs(dict)[0], values});
  };
}
Checker::~Checker() = default;

KnownId Checker::ownTemplate(Known known, Span place) {
  KnownId& id = ownTemplates_[{known.kind, place.file.index, place.begin, place.end}];
  if (!id) id = program_.addKnown(std::move(known));
  return id;
}

DimSym Checker::canonicalSym(uint32_t k, DimSymKind kind) {
  std::vector<DimSym>& list = canonicalSyms_[kind == DimSymKind::Parameter ? 0 : 1];
  while (list.size() <= k)
    list.push_back(
        types.dims.newSym({"D" + std::to_string(list.size()),
                           kind == DimSymKind::Parameter ? DimSymKind::Parameter : DimSymKind::Unknown,
                           0,
                           {}}));
  return list[k];
}

Canonical Checker::canonical(const std::vector<TypeId>& given, const std::vector<NamedSize>& sizes) {
  std::vector<DimSym> symbols;
  for (TypeId t : given) types.collectSymbols(t, symbols);
  for (const auto& [name, d] : sizes) types.dims.collectSymbols(d, symbols);
  types::DimSubst subst;
  Canonical out;
  for (DimSym s : symbols) {
    if (types.dims.info(s).kind == DimSymKind::Bound || subst.contains(s)) continue;
    bool fixed =
        types.dims.info(s).kind == DimSymKind::Parameter || types.dims.info(s).kind == DimSymKind::Inference;
    subst.emplace(s, types.dims.symbol(canonicalSym(static_cast<uint32_t>(out.stoodFor.size()),
                                                    fixed ? DimSymKind::Parameter : DimSymKind::Unknown)));
    out.stoodFor.push_back(types.dims.symbol(s));
  }
  for (TypeId t : given) out.types.push_back(subst.empty() ? t : types.substitute(t, subst));
  for (const auto& [name, d] : sizes) out.sizes.push_back(types.dims.substitute(d, subst));
  return out;
}

Canonical Checker::sizeless(const std::vector<TypeId>& given, const std::vector<NamedSize>& sizes) {
  Canonical out;
  std::vector<DimId> own;
  auto renamed = [&](DimId d) {
    if (types.dims.mentionsKind(d, DimSymKind::Bound)) return d; // what hides in a pack
    auto at = std::find(out.stoodFor.begin(), out.stoodFor.end(), d);
    if (at == out.stoodFor.end()) {
      own.push_back(types.dims.symbol(canonicalSym(static_cast<uint32_t>(own.size()), DimSymKind::Unknown)));
      out.stoodFor.push_back(d);
      return own.back();
    }
    return own[static_cast<size_t>(at - out.stoodFor.begin())];
  };
  for (TypeId t : given)
    out.types.push_back(types.rewrite(t, [&](TypeId part) {
      const types::Type& type = types[part];
      std::vector<DimId> dims = type.dims;
      if (type.kind != TypeKind::Array && !type.record) return part;
      for (DimId& d : dims) d = renamed(d);
      return type.record ? types.record(type.record, std::move(dims))
                         : types.array(type.parts[0], std::move(dims));
    }));
  for (const auto& [name, d] : sizes) out.sizes.push_back(renamed(d));
  return out;
}

/// Makes an instance that of its key. Where what asked for it is undone and it has failed, it is forgotten:
/// who asks again is told why.
void Checker::remember(InstanceId id) {
  trail.record([this, id] {
    const auto known = instances_.find(infos_[id.index].key);
    const bool hasFailed = program_.instance(id).failed;
    if (hasFailed && known != instances_.end() && known->second == id) instances_.erase(known);
  });
  instances_[infos_[id.index].key] = id;
}

bool Checker::recursesDifferently(const InstanceKey& key) const {
  return key.decl && std::any_of(stack_.begin(), stack_.end(), [&](const Open& open) {
           if (infos_[open.id.index].key.decl != key.decl) return false;
           InstanceKey other = infos_[open.id.index].key;
           if (key.sizes.empty() || other.sizes.empty()) other.sizes = key.sizes; // it has sizes of its own
           return other != key;
         });
}

InstanceId Checker::addInstance(InstanceKey key) {
  InstanceId id = program_.addInstance();
  program_.instance(id).place.device = key.device;
  infos_.push_back({});
  infos_.back().key = std::move(key);
  return id;
}

/// Whether there may be any number of instances like this one.
static bool isTemplate(Checker& c, const InstanceKey& key) {
  return !key.decl || !c.scriptLets(key.decl).empty() ||
         (c.modules.decl(key.decl).kind == names::DeclKind::Function &&
          (c.function(key.decl).hasUntyped() || !c.function(key.decl).generics.empty()));
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
bool Checker::refusesInstance(const InstanceKey& key, const std::string& name, Span call) {
  constexpr size_t mostNested = 64, mostOpen = 256, mostParts = 4096, mostInstances = 10'000;
  if (std::none_of(stack_.begin(), stack_.end(), [](const Open& open) { return open.isTemplate; }))
    made_.clear();
  const Origin origin = originOf(program_, key);
  size_t& made = made_[origin];
  const bool isCounted = origin != Origin();
  auto isLarge = [this](TypeId t) { return types.partCount(t) >= mostParts; };
  auto isSame = [&](const Open& open) { return isCounted && open.origin == origin; };
  const bool isLong = stack_.size() >= mostOpen;
  const bool isDeep =
      isLong || static_cast<size_t>(std::count_if(stack_.begin(), stack_.end(), isSame)) >= mostNested ||
      (recursesDifferently(key) && std::any_of(key.typeArgs.begin(), key.typeArgs.end(), isLarge));
  if (!isDeep && (!isCounted || ++made <= mostInstances)) return false;
  made = mostInstances; // none after this one
  if ((!isDeep || isLong) && sink.isTold(tellsOfNesting)) return true;
  const Open& first = stack_.front();
  Span place = first.call.valid() ? first.call : program_.instance(first.id).span;
  const bool areTemplates =
      std::any_of(stack_.begin(), stack_.end(), [](const Open& o) { return o.isTemplate; });
  const DiagId tooLong = areTemplates ? DiagId::InstanceChain : DiagId::InstanceRing;
  Diagnostic& d = isLong   ? sink.report(tooLong, place, first.name, name)
                  : isDeep ? sink.report(DiagId::InstanceDepth, place, name)
                           : sink.report(DiagId::InstanceCount, place, name);
  d.notes.push_back({call, "instantiated here"});
  if (!isLong) d.hint = divergingParameter(key);
  return true;
}

/// Says which parameter has another type in each of the nested instances of a function.
std::string Checker::divergingParameter(const InstanceKey& key) {
  std::vector<InstanceId> nested;
  for (const Open& open : stack_)
    if (key.decl && infos_[open.id.index].key.decl == key.decl) nested.push_back(open.id);
  if (nested.size() < 2 || modules.decl(key.decl).kind != names::DeclKind::Function) return {};
  const std::vector<TypeId>& first = infos_[nested[0].index].key.typeArgs;
  const std::vector<TypeId>& second = infos_[nested[1].index].key.typeArgs;
  const FunctionDecl& fn = function(key.decl);
  std::vector<NameId> untyped; // the last of the key's types
  for (const ParamDecl& p : fn.params)
    if (!p.type) untyped.push_back(p.name);
  for (size_t k = 0, at = key.typeArgs.size() - untyped.size(); k < untyped.size(); ++k, ++at)
    if (first[at] != second[at])
      return "annotate `" + std::string(types.names.text(untyped[k])) +
             "`, whose type changes with each call";
  size_t at = 0; // the first
  for (const GenericParam& g : fn.generics) {
    if (g.kind != GenericKind::Type) continue;
    if (first[at] != second[at])
      return "`" + std::string(types.names.text(g.name)) + "` stands for another type in each call";
    ++at;
  }
  return {};
}

/// The instance of `key` whose dimension parameters are numbers of its own; none if its body needs to know
/// that they are those of the call, which is found out once. What was tried is taken back.
InstanceId Checker::atOwnSizes(const InstanceKey& key, Span call, const std::vector<DimId>& stoodFor) {
  InstanceKey own = key;
  own.sizes.clear();
  if (auto found = instances_.find(own); found != instances_.end() && !found->second)
    return InstanceId::none();
  Messages told(sink);
  const Trail::Mark mark = trail.mark();
  const InstanceId id = instantiate(own, call, stoodFor);
  const bool fits = !program_.instance(id).failed && !told.anyErrors();
  if (fits || infos_[id.index].inProgress || infos_[id.index].isGuess() || told.has(tellsOfNesting)) {
    trail.commit(mark);
    return id;
  }
  told.drop();
  trail.undo(mark);
  return instances_[std::move(own)] = InstanceId::none();
}

InstanceId Checker::instantiate(InstanceKey key, Span call, const std::vector<DimId>& stoodFor) {
  if (!stack_.empty()) key.device = infos_[stack_.back().id.index].key.device;
  if (!key.sizes.empty())
    if (InstanceId own = atOwnSizes(key, call, stoodFor); own.valid()) return own;
  if (auto found = instances_.find(key); found != instances_.end() && found->second) {
    noteDependency(found->second);
    return found->second;
  }
  std::string name =
      key.decl ? std::string(types.names.text(modules.decl(key.decl).name)) : program_.known(key.known).name;
  const bool isReady = !key.decl || !hooks.prepareBody || hooks.prepareBody(key.decl);
  if (!isReady || refusesInstance(key, name, call) || !mayInstantiate(key)) {
    InstanceId broken = addInstance(key);
    program_.instance(broken).failed = true;
    program_.instance(broken).result = types.error();
    return broken;
  }
  InstanceId id = addInstance(key);
  infos_[id.index].stoodFor = stoodFor;
  remember(id);
  if (!key.decl && program_.known(key.known).kind == KnownKind::Lambda)
    calledLambdas_.insert({program_.known(key.known).lambda.tree, program_.known(key.known).lambda.node});
  Messages told(sink);
  stack_.push_back(
      {name, originOf(program_, key), call, id, stack_.size(), guesses_.size(), isTemplate(*this, key)});
  checkBody(id);
  while (startRound(id, told)) checkBody(id);
  if (stack_.back().isTemplate && call.valid()) annotateWithCall(told, name, call);
  if (key.decl && modules.decl(key.decl).kind == names::DeclKind::Const && program_.instance(id).failed)
    constants_.errors.try_emplace(key.decl, told.all().begin(), told.all().end());
  closeInstance(told);
  return id;
}

/// The errors are those of a template's body for this call. What is wrong inside of a library
/// function is told once, at the call: whoever wrote that did not write the library.
void Checker::annotateWithCall(Messages& told, const std::string& name, Span call) {
  told.noteErrors({call, "while checking `" + name + "` for this call"});
  const bool isGuess = stack_.back().lowest + 1 < stack_.size();
  if (isGuess || modules.isLibraryFile(call.file)) return;
  auto isOfLibrary = [this](const Diagnostic& d) {
    return diagSeverity(d.id) == SeverityKind::Error && modules.isLibraryFile(d.span.file);
  };
  const auto found = std::ranges::find_if(told.all(), isOfLibrary);
  if (found == told.all().end()) return;
  Diagnostic first = *found;
  told.dropIf(isOfLibrary);
  if (told.anyErrors()) return;
  Diagnostic& d = sink.report(DiagId::LibraryCall, call, name, diagMessage(first));
  d.notes.push_back({first.span, "here"});
  for (DiagNote& note : first.notes)
    if (note.span != call) d.notes.push_back(std::move(note));
}

/// Whoever calls an instance whose result is not known, or one that did so, is checked at a guess.
void Checker::noteDependency(InstanceId id) {
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
bool Checker::startRound(InstanceId id, Messages& told) {
  Open& open = stack_.back();
  if (open.lowest + 1 < stack_.size()) return false;
  InstanceInfo& info = infos_[id.index];
  Instance& instance = program_.instance(id);
  const TypeId found = instance.result;
  bool confirmed =
      info.state == ResultState::Guessed && found == info.guess && guesses_.size() == open.firstGuess;
  for (size_t k = open.firstGuess; k < guesses_.size(); ++k) instances_.erase(infos_[guesses_[k].index].key);
  guesses_.resize(open.firstGuess);
  bool guess = info.state == ResultState::Unknown && info.openGuess.valid();
  bool again = info.recursed && !confirmed && !types.holds(found, TypeKind::Error) &&
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
void Checker::renewGuess(InstanceId id) {
  InstanceInfo& info = infos_[id.index];
  Instance& instance = program_.instance(id);
  types::DimSubst renewed;
  for (size_t k = 0; k < info.guessDims.size() && k < instance.dimParams.size(); ++k)
    renewed.emplace(info.guessDims[k], types.dims.symbol(instance.dimParams[k]));
  info.guessDims.clear();
  if (!renewed.empty()) instance.result = info.guess = types.substitute(instance.result, renewed);
}

/// Takes the instance off the stack. Its messages stand, unless it is a guess that will be checked again.
void Checker::closeInstance(Messages& told) {
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

void Checker::finish(InstanceId id, Body& body, NodeId value, TypeId declared) {
  Instance& instance = program_.instance(id);
  InstanceInfo& info = infos_[id.index];
  if (!declared) {
    TypeId type = body.b.typeOf(value);
    const bool adds = body.determinesType(type);
    if (body.returnType && body.returned->byTry.valid() && types.isUnit(type)) {
      refuseTry(body, body.returned->byTry, type, body.b.spanOf(body.returned->byTry));
      instance.failed = true;
      type = types.error();
    } else if (body.returnType && adds) {
      value = body.coerce(value, body.freshResult(body.b.spanOf(value)), body.b.spanOf(value));
      type = body.infer.zonk(body.returnType);
    } else if (body.returnType && (body.isProvisional || types.kind(type) == TypeKind::Never)) {
      type = body.infer.zonk(body.returnType);
    } else if (!adds && info.recursed) {
      bool isHead = stack_.back().lowest + 1 == stack_.size();
      if (isHead && !body.messages.anyErrors())
        sink.report(DiagId::RecursiveResult, instance.span, instance.name);
      type = types.error();
    }
    instance.result = type;
    if (body.isProvisional && info.state == ResultState::Unknown) body.noteOpenResult(type);
  }
  if (info.key.isOpen()) {
    finishOpen(id, body, value);
  } else {
    instance.body = value;
    for (uint32_t k = 0; k < info.key.settled.size(); ++k)
      body.infer.unify(info.key.settled[k], types.var(k));
    if (const std::vector<TypeId> asked = info.key.results; !asked.empty()) {
      std::vector<TypeId> left = body.infer.openVars({instance.result});
      for (size_t k = 0; k < left.size() && k < asked.size(); ++k) body.infer.unify(asked[k], left[k]);
    }
    body.settle();
    instance.result = declared ? declared : body.infer.zonk(instance.result);
  }
  if (!declared)
    instance.result = withExistentialSizes(instance.result, [&](DimSym s) {
      const std::vector<DimSym>& params = instance.dimParams;
      return types.dims.info(s).kind != DimSymKind::Bound &&
             std::find(params.begin(), params.end(), s) == params.end();
    });
  std::vector<DimSym> symbols;
  types.collectSymbols(instance.result, symbols);
  instance.resultDims.clear();
  for (DimSym s : symbols)
    if (types.dims.info(s).kind != DimSymKind::Bound &&
        std::find(instance.dimParams.begin(), instance.dimParams.end(), s) == instance.dimParams.end())
      instance.resultDims.push_back(s);
  instance.failed = (instance.failed && !body.isProvisional) || types.holds(instance.result, TypeKind::Error);
  const InstanceKey& key = infos_[id.index].key;
  if (instance.io.valid() && key.decl && modules.decl(key.decl).kind == names::DeclKind::Function &&
      function(key.decl).isPure)
    sink.report(DiagId::NotPure, instance.span, instance.name);
  if (!infos_[id.index].key.isOpen() && !instance.failed && !isOfParams(key))
    infos_[id.index].usesUpKeys = checkKeys(*this, id);
  const bool isWritten = key.decl || (key.known && program_.known(key.known).kind == KnownKind::Lambda);
  if (isWritten && !key.isOpen() && !body.isProvisional &&
      !modules.isLibraryFile(body.ast.span(body.ast.at->root).file))
    body.warnUnused();
  infos_[id.index].inProgress = false;
}

TypeId Checker::withExistentialSizes(TypeId type, const std::function<bool(DimSym)>& own) {
  return types.rewrite(type, [&](TypeId part) {
    types::Type t = types[part];
    for (DimId& d : t.dims) {
      std::vector<DimSym> symbols;
      types.dims.collectSymbols(d, symbols);
      if (!types.dims.asSymbol(d) && std::any_of(symbols.begin(), symbols.end(), own))
        d = types.dims.symbol(types.dims.newSym({"_", DimSymKind::Unknown, 0, Span()}));
    }
    return t.kind == TypeKind::Array ? types.array(t.parts[0], std::move(t.dims))
                                     : types.intern(std::move(t));
  });
}

/// Symbols of `from` as they appear in `to`, a type of the same structure.
void Checker::matchSymbols(TypeId from, TypeId to, types::DimSubst& out) {
  const types::Type &a = types[from], &t = types[to];
  for (size_t k = 0; k < a.dims.size() && k < t.dims.size(); ++k)
    if (auto s = types.dims.asSymbol(a.dims[k]); s && types.dims.info(*s).kind != DimSymKind::Bound)
      out.emplace(*s, t.dims[k]);
  for (size_t k = 0; k < a.parts.size() && k < t.parts.size(); ++k) matchSymbols(a.parts[k], t.parts[k], out);
}

} // namespace melix::check
