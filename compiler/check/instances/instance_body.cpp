// The body of one instance, checked at the types of its key.
#include "check/body/attempt.h"
#include "check/body/body.h"
#include "check/body/body_values.h"
#include "check/instances/instances.h"
#include "check/instances/programs.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/pack_names.h"
#include "check/signatures/scripts.h"
#include "types/tangent.h"

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

namespace {

/// Declares what a body sees, then checks it: parameters, dimensions, captures, and whatever the key says.
class InstanceBody {
public:
  InstanceBody(Checker& checker, InstanceId id, Span call)
      : c_(checker), id_(id), call_(call), key_(checker.instances.info(id).key),
        instance_(checker.program_.instance(id)) {
    openKey();
  }

  void check() {
    if (key_.decl)
      checkDeclared();
    else
      checkKnown();
  }

private:
  void openKey();
  void checkKnown();
  NodeId lambdaBody(Body& body, const Known& known, size_t captures);
  void lambdaParameter(Body& body, const Parameter& written, size_t k, std::vector<NodeId>& lets,
                       std::map<NameId, Span>& sizes);
  TypeId writtenParameter(Body& body, size_t p, std::map<NameId, Span>& inside);
  void takeParts(Body& body, const Parameter& written, size_t k, TypeId want, std::vector<NodeId>& lets);
  void reportUnsettled(NameId name, Span span);
  void checkDeclared();
  void checkConst(Body& body);
  void checkDefaults(Body& body);
  void checkFunction(Body& body);
  NodeId bindCaptures(Body& body, const FunctionDecl& fn);
  void declareGenerics(Body& body, const FunctionDecl& fn, SignatureUse& use);
  std::vector<DimId> makePack(Body& body, NameId name, Span span);
  void declareParameters(Body& body, const FunctionDecl& fn, SignatureUse& use);
  void declareVariables(Body& body, const FunctionDecl& fn, SignatureUse& use, size_t p);
  void checkDefault(Body& body, const ParamDecl& param, TypeId type);
  TypeId declaredResult(Body& body, const FunctionDecl& fn, SignatureUse& use);
  DimId sizeOfValue(Body& body, const FunctionDecl* fn, const SizeVariable& v);
  DimId sizeOfNamed(Body& body, const FunctionDecl& fn, const SizeVariable& v);
  const TypeEnv* around() const;
  const Signature& signature() const;
  types::DimSymInfo asInCaller(types::DimSymInfo size, const std::vector<DimId>& stoodFor);
  void takeToldSizes(Body& body);
  DimId newDim(std::string text, NameId name, Span span);
  /// The result that is known already, in a second round.
  TypeId knownResult() const {
    return c_.instances.info(id_).state == ResultState::Known ? instance_.result : TypeId::none();
  }

  Checker& c_;
  InstanceId id_;
  Span call_;
  const InstanceKey key_;
  Instance& instance_;
  std::vector<TypeId> args_;     ///< types of the key, with dimensions of the instance's own
  std::vector<DimSym> fresh_;    ///< these
  std::map<NameId, DimId> told_; ///< dimension parameters that the key tells, in these
  std::vector<NameId> dimNames_;
  size_t nextArg_ = 0, nextRank_ = 0;
  std::set<NameId> sizes_;    ///< ints that are dimensions
  std::vector<TypeId> typed_; ///< types of the parameters so far; none: not written
  size_t capturedEnd_ = 0;    ///< of args_: the types of captures end here
};

/// The next symbol of the key, called as it was written where the instance was first asked for: what is told
/// of the body is told to whoever wrote that.
types::DimSymInfo InstanceBody::asInCaller(types::DimSymInfo size, const std::vector<DimId>& stoodFor) {
  size.origin = {};
  size.lowerBound = 0;
  if (fresh_.size() >= stoodFor.size() || !stoodFor[fresh_.size()]) return size;
  const DimId there = stoodFor[fresh_.size()];
  std::string name = c_.types.dims.show(there);
  const bool isTaken =
      std::any_of(fresh_.begin(), fresh_.end(), [&](DimSym s) { return c_.types.dims.info(s).name == name; });
  if (isTaken || name == "_") return size;
  size.name = std::move(name);
  if (auto symbol = c_.types.dims.asSymbol(there)) size.origin = c_.types.dims.info(*symbol).origin;
  return size;
}

/// Sizes around a function inside of a function that the key tells, which were dimension parameters.
void InstanceBody::takeToldSizes(Body& body) {
  std::vector<NameId> names;
  std::vector<DimSym> params;
  for (size_t k = 0; k < dimNames_.size(); ++k)
    if (auto told = told_.find(dimNames_[k]); told != told_.end()) {
      *body.capturedDim(body.env.edit(), dimNames_[k]) = told->second;
    } else {
      names.push_back(dimNames_[k]);
      params.push_back(instance_.dimParams[k]);
    }
  dimNames_ = std::move(names);
  instance_.dimParams = std::move(params);
}

/// Symbols of the key become the instance's own.
void InstanceBody::openKey() {
  TypeStore& types = c_.types;
  types::DimSubst own;
  std::vector<DimSym> symbols;
  for (TypeId t : key_.typeArgs) types.collectSymbols(t, symbols);
  for (const auto& [name, d] : key_.sizes) types.dims.collectSymbols(d, symbols);
  InstanceInfo& info = c_.instances.info(id_);
  std::set<DimSym> seen;
  for (DimSym s : symbols)
    if (types.dims.info(s).kind != DimSymKind::Bound && seen.insert(s).second) {
      fresh_.push_back(types.dims.newSym(asInCaller(types.dims.info(s), info.stoodFor)));
      own.emplace(s, types.dims.symbol(fresh_.back()));
    }
  for (TypeId t : key_.typeArgs) args_.push_back(own.empty() ? t : types.substitute(t, own));
  for (const auto& [name, d] : key_.sizes) told_.emplace(name, types.dims.substitute(d, own));
  info.inProgress = true;
  info.stoodFor.resize(fresh_.size());
  if (key_.isOpen()) info.openArgs = args_;
  instance_.key = std::to_string(id_.index);
}

/// A function without a declaration: a lambda, or what makes or wraps functions.
void InstanceBody::checkKnown() {
  const Known& known = c_.program_.known(key_.known);
  bool lambda = known.kind == KnownKind::Lambda;
  bool keepsType =
      known.kind == KnownKind::Moved || known.kind == KnownKind::Scaled || known.kind == KnownKind::Hashed;
  bool dotted = known.kind == KnownKind::Dotted;
  bool keyed = known.kind == KnownKind::Keyed || known.kind == KnownKind::ZeroLike;
  bool placed = known.kind == KnownKind::Placed;
  bool own = keepsType || dotted || keyed || placed || known.kind == KnownKind::Equality;
  bool bare = own || known.kind == KnownKind::Intrinsic || known.kind == KnownKind::Constructor;
  const Ast& tree = lambda ? *known.lambda.tree : c_.modules[known.module].ast;
  Body body(c_, id_, known.module, tree);
  body.literalVariables(key_, Span());
  instance_.name = known.name;
  instance_.dimParams = fresh_;
  body.env = known.env;
  body.mayReturn = lambda;
  if (own) {
    instance_.result = keepsType ? args_[0]
                       : dotted  ? types::widestFloat(c_.types, args_[0])
                       : keyed   ? types::tangentType(c_.types, args_[0])
                       : placed  ? types::positionalTangent(c_.types, args_[0])
                                 : c_.types.boolean();
    c_.instances.info(id_).state = ResultState::Known;
  }
  size_t captures = lambda ? known.captures.names.size() : bare ? 0 : 1;
  instance_.captures = static_cast<uint32_t>(captures);
  if (lambda)
    body.bindCaptures(known, {args_.begin(), args_.begin() + static_cast<ptrdiff_t>(captures)},
                      tree.span(known.lambda.node));
  for (size_t k = instance_.params.size(); k < args_.size(); ++k) {
    NameId name = lambda ? tree[known.lambda.node].as<Lambda>().params[k - captures].name
                         : c_.types.names.intern("x" + std::to_string(k));
    Span span = lambda ? tree.span(known.lambda.node) : Span();
    LocalId l = body.b.newLocal(name ? c_.types.names.text(name) : "_", args_[k], span);
    instance_.params.push_back(l);
    body.used.insert(l);
    body.scope.add({name, l});
  }
  NodeId value;
  if (lambda) {
    value = lambdaBody(body, known, captures);
  } else {
    auto param = [&](size_t k) { return body.b.local(instance_.params[k], call_); };
    std::vector<CallArg> given;
    for (size_t k = captures; k < args_.size(); ++k)
      given.push_back({NameId::none(), SynId::none(), param(k), call_});
    value = body.applyKnown(known, bare ? NodeId::none() : param(0), given, TypeId::none(), call_);
  }
  c_.instances.finish(id_, body, value, knownResult());
}

NodeId InstanceBody::lambdaBody(Body& body, const Known& known, size_t captures) {
  const Ast& tree = *known.lambda.tree;
  const auto& written = tree[known.lambda.node].as<Lambda>();
  std::vector<NodeId> lets;
  std::map<NameId, Span> sizes;
  for (size_t k = captures; k < args_.size(); ++k) {
    lambdaParameter(body, written.params[k - captures], k, lets, sizes);
    body.env.edit().dims.erase(written.params[k - captures].name); // which it hides
  }
  for (auto [name, span] : sizes)
    if (body.infer.hasInferenceDim(body.env->dims.at(name))) reportUnsettled(name, span);
  const InstanceInfo& info = c_.instances.info(id_);
  const bool guessed = !known.asked && info.state == ResultState::Guessed;
  body.returnType = guessed ? body.openResult(info) : known.asked;
  TypeId want = guessed ? body.freshResult(tree.span(written.body)) : known.asked;
  NodeId value = body.checkExpr(written.body, want);
  if (want) value = body.coerce(value, want, tree.span(written.body));
  if (lets.empty()) return value;
  lets.push_back(value);
  return body.b.block(std::move(lets), tree.span(known.lambda.node));
}

/// A size that only stands inside of others.
void InstanceBody::reportUnsettled(NameId name, Span span) {
  c_.sink.report(DiagId::DimensionUnbound, span, c_.types.names.text(name)).hint =
      "it cannot be inferred: it must be by itself the size of an axis of some parameter, or declared in "
      "`[…]`";
  instance_.failed = true;
}

/// What is written of parameter `k` beside its name: a pattern, or a type that the argument must have.
void InstanceBody::lambdaParameter(Body& body, const Parameter& written, size_t k, std::vector<NodeId>& lets,
                                   std::map<NameId, Span>& sizes) {
  if (written.pattern) {
    bool refutable = false;
    PatternId pattern = body.checkPattern(written.pattern, args_[k], false, refutable);
    lets.push_back(body.b.make(NodeKind::Let, c_.types.unit(), written.span,
                               {body.b.local(instance_.params[k], written.span)}, PatternRef{pattern}));
  } else if (written.type) {
    TypeId want = writtenParameter(body, k - instance_.captures, sizes);
    if (body.partsDiffer(want, args_[k])) return takeParts(body, written, k, want, lets);
    UnifyResult match = body.infer.unify(want, args_[k]);
    if (match.kind == UnifyKind::DimsDiffer)
      body.b.reportMismatch(match, want, args_[k], NodeId::none(), written.span);
    else if (match.kind == UnifyKind::Mismatch)
      c_.sink.report(DiagId::TypeMismatch, written.span, body.b.show(want), body.b.show(args_[k]));
    else if (!match.checks.empty())
      lets.push_back(body.b.dimChecks(
          body.b.withMessages(std::move(match.checks), DiagId::ShapeExpected, want, args_[k]), written.span));
    for (auto& [name, dim] : body.env.edit().dims) dim = body.infer.zonk(dim);
  }
}

/// A tuple whose parts keep their sizes beside them is opened, as an argument of a declared function is.
void InstanceBody::takeParts(Body& body, const Parameter& written, size_t k, TypeId want,
                             std::vector<NodeId>& lets) {
  NodeId taken = body.coerce(body.b.local(instance_.params[k], written.span), want, written.span);
  if (body.b.kindOf(taken) == TypeKind::Error) return;
  const LocalId opened = body.b.bind(c_.types.names.text(written.name), taken, lets);
  body.scope.add({written.name, opened});
  body.used.insert(opened);
  for (auto& [name, dim] : body.env.edit().dims) dim = body.infer.zonk(dim);
}

/// The type that is written of the lambda's parameter `p`: its variables are sizes to be found. Names that
/// stand in expressions go to `inside`: another parameter has to settle them.
TypeId InstanceBody::writtenParameter(Body& body, size_t p, std::map<NameId, Span>& inside) {
  const Known& known = c_.program_.known(key_.known);
  const Signature& signature = c_.signatures.ofLambda(known);
  if (signature.params[p].isWrong) {
    c_.signatures.reportLambda(known);
    return c_.types.error();
  }
  SignatureUse use(c_, signature);
  use.takeOuter(body.env);
  for (uint32_t k : signature.params[p].sizes) {
    const SizeVariable& v = signature.sizes[k];
    if (auto bound = body.env->dims.find(v.name); v.name && bound != body.env->dims.end()) {
      use.sizes[k] = bound->second;
      body.lookup(v.name);
    } else if (v.source == VariableSource::Value) {
      use.sizes[k] = sizeOfValue(body, nullptr, v);
    } else if (v.source == VariableSource::Implied) {
      std::string name(v.name ? c_.types.names.text(v.name) : "_");
      use.sizes[k] = c_.types.dims.symbol(body.infer.freshDim(std::move(name), v.span));
      if (v.name) body.env.edit().dims[v.name] = use.sizes[k];
    }
    if (!v.standsAlone) inside.emplace(v.name, v.span);
  }
  return use.type(signature.params[p]);
}

void InstanceBody::checkDeclared() {
  const names::Decl decl = c_.modules.decl(key_.decl);
  Body body(c_, id_, decl.module, c_.ast(key_.decl));
  body.literalVariables(key_, decl.span);
  instance_.name = std::string(c_.types.names.text(decl.name));
  instance_.span = decl.span;
  if (decl.kind == names::DeclKind::Const)
    checkConst(body);
  else if (decl.kind == names::DeclKind::Struct || decl.kind == names::DeclKind::Enum)
    checkDefaults(body);
  else
    checkFunction(body);
}

void InstanceBody::checkConst(Body& body) {
  const Ast& tree = c_.ast(key_.decl);
  const auto& item = tree[c_.modules.decl(key_.decl).node].as<ConstItem>();
  TypeId want = item.type ? body.resolveType(item.type, false) : TypeId::none();
  NodeId value = body.checkExpr(item.value, want);
  if (want) value = body.coerce(value, want, tree.span(item.value));
  c_.instances.finish(id_, body, value, knownResult());
}

/// What the fields of a struct or of an enum's cases have if they are not given, at the declaration's own
/// parameters. Each sees the fields before its own; values that are made check it again, each at its own
/// types.
void InstanceBody::checkDefaults(Body& body) {
  const RecordDecl& record = c_.declarations.record(key_.decl);
  for (const GenericParam& g : record.generics) {
    if (g.kind == GenericKind::Type)
      body.env.edit().types[g.name] = args_[nextArg_++];
    else if (g.kind == GenericKind::Dim)
      body.env.edit().dims[g.name] = newDim(std::string(c_.types.names.text(g.name)), g.name, record.span);
  }
  const Ast& tree = c_.ast(key_.decl);
  TypeResolver resolver(c_, record.module, tree, body.env.edit());
  auto check = [&](const std::vector<FieldDecl>& fields) {
    const size_t mark = body.scope.size();
    for (const FieldDecl& f : fields) {
      ParamDecl field{f.name, f.type, f.defaultValue, false, f.span};
      TypeId type = resolver.field(f.type);
      if (f.defaultValue) checkDefault(body, field, type);
      if (f.name) body.used.insert(body.declareLocal(f.name, type, f.span, false));
    }
    body.scope.leave(mark);
  };
  const SynNode& item = tree[c_.modules.decl(key_.decl).node];
  if (record.isEnum)
    for (const CaseDecl& each : item.as<EnumItem>().cases) check(each.fields);
  else
    check(item.as<StructItem>().fields);
  c_.instances.finish(id_, body, body.b.unit(record.span), c_.types.unit());
}

/// Where the result of a function is written: at the end of its block.
Span resultSpan(const Ast& tree, const FunctionDecl& fn) {
  if (tree.kind(fn.body) != SynKind::Block) return tree.span(fn.body);
  const NodeList& items = tree[fn.body].as<Many>().items;
  return items.empty() ? fn.span : tree.span(items.back());
}

/// What stands at the end of a block and has no value; empty if something there has one.
std::string_view withoutValue(const Ast& tree, SynId body) {
  if (tree.kind(body) != SynKind::Block) return {};
  const NodeList& items = tree[body].as<Many>().items;
  if (items.empty()) return "nothing";
  switch (tree.kind(items.back())) {
  case SynKind::Let: return tree[items.back()].as<syntax::Let>().isVar ? "a `var`" : "a `let`";
  case SynKind::Assign:
  case SynKind::OpAssign: return "an assignment";
  case SynKind::For: return "a `for`";
  case SynKind::While: return "a `while`";
  default: return {};
  }
}

void InstanceBody::checkFunction(Body& body) {
  const Ast& tree = c_.ast(key_.decl);
  const FunctionDecl& fn = c_.declarations.function(key_.decl);
  instance_.place.isApart = fn.isApart;
  body.mayReturn = true;
  NodeId self = bindCaptures(body, fn);
  SignatureUse use(c_, signature());
  use.takeOuter(body.env);
  declareGenerics(body, fn, use);
  declareParameters(body, fn, use);
  c_.instances.renewGuess(id_);
  TypeId result = use.signature.result.isWritten() ? declaredResult(body, fn, use) : knownResult();
  const InstanceInfo& info = c_.instances.info(id_);
  body.returnType = !result && info.state == ResultState::Guessed ? body.openResult(info) : result;
  TypeId want = body.freshResult(fn.span);
  NodeId value = fn.body ? body.checkSized(fn.body, want) : body.b.error(fn.span);
  if (want && fn.body) {
    Messages told(c_.sink);
    value = body.coerce(value, want, resultSpan(tree, fn));
    std::string_view last = withoutValue(tree, fn.body);
    if (told.anyErrors() && !last.empty())
      told.hintLast("the value of a block is that of its last expression: here stands " + std::string(last));
  }
  if (self.valid()) value = body.b.block({self, value}, fn.span);
  c_.instances.finish(id_, body, value, result);
}

/// The key's types are those of generics, of captures, of untyped parameters.
NodeId InstanceBody::bindCaptures(Body& body, const FunctionDecl& fn) {
  const Known& nested = key_.known ? c_.program_.known(key_.known) : Known();
  const std::vector<NameId> lets = key_.known ? std::vector<NameId>() : c_.scripts.scriptLets(key_.decl);
  auto untyped = static_cast<size_t>(
      std::count_if(fn.params.begin(), fn.params.end(), [](const ParamDecl& p) { return !p.type; }));
  size_t captures = key_.known ? nested.captures.names.size() : lets.size();
  capturedEnd_ = args_.size() - untyped;
  const std::vector<TypeId> captured(args_.begin() + static_cast<ptrdiff_t>(capturedEnd_ - captures),
                                     args_.begin() + static_cast<ptrdiff_t>(capturedEnd_));
  if (key_.known) {
    NodeId self = body.bindNested(key_.known, captured, fn);
    dimNames_ = body.undeterminedDims(nested);
    takeToldSizes(body);
    return self;
  }
  body.bindLets(lets, captured, fn.span);
  return NodeId::none();
}

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

} // namespace

void checkBody(Checker& c, InstanceId id) { InstanceBody(c, id, c.instances.currentCall()).check(); }

} // namespace melix::check
