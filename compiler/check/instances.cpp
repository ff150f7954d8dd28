// Instances: keys, signatures, checking of bodies on demand.
#include "check/body.h"
#include "check/key_reuse.h"

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

Checker::Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink, bool strictShapes)
    : program_(types), modules(modules), types(types), sink(sink), strictShapes(strictShapes) {}
Checker::~Checker() = default;

KnownId Checker::equality(ModuleId asker) {
  if (!equality_) {
    Known known;
    known.kind = KnownKind::Equality;
    known.module = asker;
    known.name = "==";
    equality_ = program_.addKnown(std::move(known));
  }
  return equality_;
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

Canonical Checker::canonical(const std::vector<TypeId>& given) {
  std::vector<DimSym> symbols;
  for (TypeId t : given) types.collectSymbols(t, symbols);
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
  return out;
}

Canonical Checker::sizeless(const std::vector<TypeId>& given) {
  Canonical out;
  std::vector<DimId> own;
  auto renamed = [&](DimId d) {
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
      const types::Type type = types[part];
      std::vector<DimId> dims = type.dims;
      if (type.kind != TypeKind::Array && !type.record) return part;
      for (DimId& d : dims) d = renamed(d);
      return type.record ? types.record(type.record, std::move(dims))
                         : types.array(type.parts[0], std::move(dims));
    }));
  return out;
}

bool Checker::recursesDifferently(const InstanceKey& key) const {
  return key.decl && std::any_of(stack_.begin(), stack_.end(), [&](const Open& open) {
           const InstanceKey& other = infos_[open.id.index].key;
           return other.decl == key.decl && other != key;
         });
}

InstanceId Checker::addInstance(InstanceKey key) {
  InstanceId id = program_.addInstance();
  infos_.push_back({});
  infos_.back().key = std::move(key);
  return id;
}

/// Types that double at each level would be too large to look at long before 64 levels.
bool Checker::growsWithoutEnd(const InstanceKey& key) {
  constexpr size_t most = 4096;
  std::function<size_t(TypeId)> parts = [&](TypeId t) {
    size_t count = 1;
    for (TypeId part : std::vector<TypeId>(types[t].parts))
      if (count < most) count += parts(part);
    return count;
  };
  return std::any_of(key.typeArgs.begin(), key.typeArgs.end(), [&](TypeId t) { return parts(t) >= most; });
}

InstanceId Checker::instantiate(const InstanceKey& key, Span call) {
  if (auto found = instances_.find(key); found != instances_.end()) {
    InstanceInfo& known = infos_[found->second.index];
    known.recursed |= known.inProgress && !known.resultKnown;
    return found->second;
  }
  std::string name =
      key.decl ? std::string(types.names.text(modules.decl(key.decl).name)) : program_.known(key.known).name;
  if (stack_.size() >= 64 || growsWithoutEnd(key)) {
    Diagnostic& d = sink.report(DiagId::InstanceDepth, stack_.front().call, stack_.front().name);
    d.notes.push_back({call, "asked for here"});
    InstanceId broken = addInstance(key);
    program_.instance(broken).failed = true;
    program_.instance(broken).result = types.error();
    return broken;
  }
  InstanceId id = addInstance(key);
  instances_.emplace(key, id);
  stack_.push_back({name, call, id});
  size_t before = sink.all().size();
  checkBody(id, key);
  if (infos_[id.index].recursed && !program_.instance(id).failed) {
    // The result is known now: check once more, with recursive calls at it.
    TypeId result = program_.instance(id).result;
    std::string kept = program_.instance(id).name;
    program_.instance(id) = Instance();
    program_.instance(id).name = kept;
    infos_[id.index].recursed = false;
    infos_[id.index].resultKnown = true;
    program_.instance(id).result = result;
    sink.rewind(before);
    checkBody(id, key);
  }
  stack_.pop_back();
  bool isTemplate = !key.decl || !scriptLets(key.decl).empty() ||
                    (modules.decl(key.decl).kind == names::DeclKind::Function &&
                     (function(key.decl).hasUntyped() || !function(key.decl).generics.empty()));
  if (isTemplate && call.valid())
    sink.annotate(before, {call, "while checking `" + name + "` for this call"});
  return id;
}

/// Signature and body of one instance.
void Checker::checkBody(InstanceId id, const InstanceKey& key) {
  // Symbols of the key become the instance's own.
  types::DimSubst own;
  std::vector<DimSym> keySymbols, fresh;
  for (TypeId t : key.typeArgs) types.collectSymbols(t, keySymbols);
  std::set<DimSym> seen;
  for (DimSym s : keySymbols)
    if (types.dims.info(s).kind != DimSymKind::Bound && seen.insert(s).second) {
      types::DimSymInfo info = types.dims.info(s);
      fresh.push_back(types.dims.newSym({info.name, info.kind, 0, {}}));
      own.emplace(s, types.dims.symbol(fresh.back()));
    }
  std::vector<TypeId> args;
  for (TypeId t : key.typeArgs) args.push_back(own.empty() ? t : types.substitute(t, own));
  InstanceInfo& started = infos_[id.index];
  started.inProgress = true;
  started.canonicalCount = static_cast<uint32_t>(fresh.size());
  Instance& instance = program_.instance(id);
  instance.key = std::to_string(id.index);
  TypeId knownResult = started.resultKnown ? instance.result : TypeId::none();
  if (!key.open.empty()) started.openArgs = args;

  if (key.known && !key.decl) {
    const Known known = program_.known(key.known);
    bool lambda = known.kind == KnownKind::Lambda;
    const Ast& tree = lambda ? *known.tree : modules[known.module].ast;
    Body body(*this, id, known.module, tree);
    body.openNumbers(key, Span());
    instance.name = known.name;
    instance.dimParams = fresh;
    body.env = known.env;
    body.mayReturn = lambda;
    bool bare = known.kind == KnownKind::Intrinsic || known.kind == KnownKind::Constructor ||
                known.kind == KnownKind::Equality;
    size_t captures = lambda ? known.captureNames.size() : bare ? 0 : 1;
    instance.captures = static_cast<uint32_t>(captures);
    if (lambda)
      body.bindCaptures(known, {args.begin(), args.begin() + static_cast<ptrdiff_t>(captures)},
                        tree.span(known.lambda));
    for (size_t k = instance.params.size(); k < args.size(); ++k) {
      NameId name = lambda ? tree[known.lambda].as<Lambda>().params[k - captures].name
                           : types.names.intern("x" + std::to_string(k));
      Span span = lambda ? tree.span(known.lambda) : Span();
      LocalId l = body.b.newLocal(name ? types.names.text(name) : "_", args[k], span);
      instance.params.push_back(l);
      body.used.insert(l);
      body.scope.push_back({name, l});
    }
    TypeId type;
    NodeId value;
    if (lambda) {
      const auto written = tree[known.lambda].as<Lambda>();
      std::vector<NodeId> lets;
      for (size_t k = captures; k < args.size(); ++k) {
        const Parameter& p = written.params[k - captures];
        if (p.pattern) {
          bool refutable = false;
          PatternId pattern = body.checkPattern(p.pattern, args[k], false, refutable);
          lets.push_back(body.b.make(NodeKind::Let, types.unit(), p.span,
                                     {body.b.local(instance.params[k], p.span)}, PatternRef{pattern}));
        } else if (p.type) {
          TypeId want = body.resolveType(p.type, true);
          UnifyResult match = body.infer.unify(want, args[k]);
          if (match.kind > UnifyKind::NeedsCheck)
            sink.report(DiagId::ArgumentType, p.span, instance.name, types.show(want), types.show(args[k]));
          for (auto& [name, dim] : body.env.dims) dim = body.infer.zonk(dim);
        }
      }
      value = body.checkExpr(written.body);
      if (!lets.empty()) {
        lets.push_back(value);
        value = body.b.block(std::move(lets), tree.span(known.lambda));
      }
    } else {
      Span span = stack_.empty() ? Span() : stack_.back().call;
      auto param = [&](size_t k) { return body.b.local(instance.params[k], span); };
      std::vector<CallArg> given;
      for (size_t k = captures; k < args.size(); ++k)
        given.push_back({NameId::none(), SynId::none(), param(k), span});
      value = body.applyKnown(known, bare ? NodeId::none() : param(0), given, TypeId::none(), span);
    }
    finish(id, body, value, knownResult);
    return;
  }

  const names::Decl decl = modules.decl(key.decl);
  const Ast& tree = ast(key.decl);
  Body body(*this, id, decl.module, tree);
  body.openNumbers(key, decl.span);
  instance.name = std::string(types.names.text(decl.name));
  instance.span = decl.span;
  if (decl.kind == names::DeclKind::Const) {
    const auto item = tree[decl.node].as<ConstItem>();
    TypeId want = item.type ? body.resolveType(item.type, false) : TypeId::none();
    NodeId value = body.checkExpr(item.value, want);
    if (want) value = body.coerce(value, want, decl.span);
    finish(id, body, value, knownResult);
    return;
  }
  const FunctionDecl fn = function(key.decl);
  body.mayReturn = true;
  // The key's types: of generics, of captures, of untyped parameters.
  const Known nested = key.known ? program_.known(key.known) : Known();
  const std::vector<NameId> lets = key.known ? std::vector<NameId>() : scriptLets(key.decl);
  auto untyped =
      std::count_if(fn.params.begin(), fn.params.end(), [](const ParamDecl& p) { return !p.type; });
  auto captures = static_cast<ptrdiff_t>(key.known ? nested.captureNames.size() : lets.size());
  const std::vector<TypeId> captured(args.end() - untyped - captures, args.end() - untyped);
  NodeId self;
  if (key.known)
    self = body.bindNested(key.known, captured, fn);
  else
    body.bindLets(lets, captured, fn.span);
  std::vector<NameId> dimNames = key.known ? body.untoldDims(nested) : std::vector<NameId>();
  size_t nextArg = 0, nextRank = 0;
  auto newDim = [&](std::string text, NameId name, Span span) {
    DimSym s = types.dims.newSym({std::move(text), DimSymKind::Parameter, 0, span});
    instance.dimParams.push_back(s);
    dimNames.push_back(name);
    return types.dims.symbol(s);
  };
  for (const GenericParam& g : fn.generics) {
    if (g.kind == GenericKind::Type)
      body.env.types[g.name] = args[nextArg++];
    else if (g.kind == GenericKind::Dim)
      body.env.dims[g.name] = newDim(std::string(types.names.text(g.name)), g.name, fn.span);
  }
  auto makePack = [&](NameId name, Span span) {
    std::vector<DimId> dims;
    uint32_t rank = nextRank < key.ranks.size() ? key.ranks[nextRank++] : 0;
    for (uint32_t k = 0; k < rank; ++k)
      dims.push_back(
          newDim(std::string(types.names.text(name)) + std::to_string(k), packDimName(name, k), span));
    body.env.packs[name] = std::move(dims);
  };
  for (const GenericParam& g : fn.generics)
    if (g.kind == GenericKind::Pack) makePack(g.name, fn.span);
  TypeResolver resolver(*this, fn.module, tree, body.env);
  resolver.bindDim = [&](NameId name, Span span) {
    return newDim(name ? std::string(types.names.text(name)) : "_", name, span);
  };
  resolver.bindType = [&](NameId name, Span) {
    bool owned = name && types.names.text(name).find('.') != std::string_view::npos;
    return owned && nextArg < args.size() ? args[nextArg++] : TypeId::none();
  };
  resolver.valueDim = [&](SynId s) { return body.dimOfSyntax(s); };
  // Types first: implicit parameters come in the order of the parameters, as at a call.
  std::vector<TypeId> paramTypes(fn.params.size());
  for (size_t p = 0; p < fn.params.size(); ++p) {
    if (!fn.params[p].type) continue;
    std::function<void(SynId)> packs = [&](SynId s) {
      if (tree.kind(s) == SynKind::PackUse && !body.env.packs.contains(tree[s].as<Name>().name))
        makePack(tree[s].as<Name>().name, tree.span(s));
      forEachChild(tree, s, packs);
    };
    packs(fn.params[p].type);
    resolver.owner = fn.params[p].name;
    paramTypes[p] = resolver.parameter(fn.params[p].type, fn.params[p].isInout);
  }
  nextArg += captured.size();
  for (size_t p = 0; p < fn.params.size(); ++p) {
    const ParamDecl& param = fn.params[p];
    TypeId type = param.type ? paramTypes[p] : nextArg < args.size() ? args[nextArg++] : types.error();
    LocalId l = body.declareLocal(param.name, type, param.span, param.isInout);
    instance.locals[l].isInout = param.isInout;
    if (param.isInout) body.used.insert(l);
    instance.params.push_back(l);
  }
  instance.dimParams.insert(instance.dimParams.end(), fresh.begin(), fresh.end());
  infos_[id.index].dimNames = dimNames;
  resolver.owner = NameId::none();
  resolver.bindDim = nullptr;
  if (fn.result) {
    TypeEnv before = body.env;
    resolver.freshDim = [&](NameId name, Span span) {
      return types.dims.symbol(types.dims.newSym(
          {name ? std::string(types.names.text(name)) : "_", DimSymKind::Unknown, 0, span}));
    };
    instance.result = resolver.result(fn.result);
    infos_[id.index].resultKnown = true;
    body.env = before;
    knownResult = instance.result;
  }
  body.returnType = knownResult;
  TypeId want = body.returnHere(fn.span);
  NodeId value = fn.body ? body.checkSized(fn.body, want) : body.b.error(fn.span);
  if (want && fn.body)
    value = body.coerce(value, want, tree.kind(fn.body) == SynKind::Block ? fn.span : tree.span(fn.body));
  if (self.valid()) value = body.b.block({self, value}, fn.span);
  finish(id, body, value, knownResult);
}

NameId Checker::packDimName(NameId pack, uint32_t k) {
  return types.names.intern(std::string(types.names.text(pack)) + "#" + std::to_string(k));
}

/// An inferred result whose sizes are computed from what only the function knows, `n - 1` of an argument n:
/// callers read them off the value, so each such size becomes one of its own.
TypeId Checker::withOwnSizes(TypeId result, const std::vector<DimSym>& params) {
  return types.rewrite(result, [&](TypeId part) {
    types::Type t = types[part];
    for (DimId& d : t.dims) {
      std::vector<DimSym> symbols;
      types.dims.collectSymbols(d, symbols);
      bool own = std::any_of(symbols.begin(), symbols.end(), [&](DimSym s) {
        return types.dims.info(s).kind != DimSymKind::Bound &&
               std::find(params.begin(), params.end(), s) == params.end();
      });
      if (own && !types.dims.asSymbol(d))
        d = types.dims.symbol(types.dims.newSym({"_", DimSymKind::Unknown, 0, Span()}));
    }
    return t.kind == TypeKind::Array ? types.array(t.parts[0], std::move(t.dims))
                                     : types.intern(std::move(t));
  });
}

/// Symbols of `from` as they appear in `to`, a type of the same structure.
void Checker::matchSymbols(TypeId from, TypeId to, types::DimSubst& out) {
  const types::Type a = types[from], t = types[to];
  for (size_t k = 0; k < a.dims.size() && k < t.dims.size(); ++k)
    if (auto s = types.dims.asSymbol(a.dims[k]); s && types.dims.info(*s).kind != DimSymKind::Bound)
      out.emplace(*s, t.dims[k]);
  for (size_t k = 0; k < a.parts.size() && k < t.parts.size(); ++k) matchSymbols(a.parts[k], t.parts[k], out);
}

void Checker::finish(InstanceId id, Body& body, NodeId value, TypeId declared) {
  Instance& instance = program_.instance(id);
  if (!declared) {
    TypeId type = body.b.typeOf(value);
    if (body.returnType && types.kind(type) != TypeKind::Never && types.kind(type) != TypeKind::Error) {
      value = body.coerce(value, body.returnHere(body.b.spanOf(value)), body.b.spanOf(value));
      type = body.infer.zonk(body.returnType);
    } else if (body.returnType && types.kind(type) == TypeKind::Never) {
      type = body.infer.zonk(body.returnType);
    }
    if (types.kind(type) == TypeKind::Never && infos_[id.index].recursed) {
      sink.report(DiagId::RecursiveResult, instance.span, instance.name);
      type = types.error();
    }
    instance.result = type;
  }
  if (!infos_[id.index].key.open.empty()) {
    finishOpen(id, body, value);
  } else {
    instance.body = value;
    if (const std::vector<TypeId> asked = infos_[id.index].key.results; !asked.empty()) {
      std::vector<TypeId> left = body.infer.openVars({instance.result});
      for (size_t k = 0; k < left.size() && k < asked.size(); ++k) body.infer.unify(asked[k], left[k]);
    }
    body.settle();
    instance.result = declared ? declared : body.infer.zonk(instance.result);
  }
  if (!declared) instance.result = withOwnSizes(instance.result, instance.dimParams);
  std::vector<DimSym> symbols;
  types.collectSymbols(instance.result, symbols);
  instance.resultDims.clear();
  for (DimSym s : symbols)
    if (types.dims.info(s).kind != DimSymKind::Bound &&
        std::find(instance.dimParams.begin(), instance.dimParams.end(), s) == instance.dimParams.end())
      instance.resultDims.push_back(s);
  instance.failed |= types.kind(instance.result) == TypeKind::Error;
  const InstanceKey& key = infos_[id.index].key;
  if (instance.doesIo && key.decl && modules.decl(key.decl).kind == names::DeclKind::Function &&
      function(key.decl).isPure)
    sink.report(DiagId::NotPure, instance.span, instance.name);
  if (infos_[id.index].key.open.empty() && !instance.failed)
    infos_[id.index].usesUpKeys = checkKeys(*this, id);
  infos_[id.index].inProgress = false;
  infos_[id.index].resultKnown = true;
}

} // namespace melix::check
