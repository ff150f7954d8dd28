// The body of one instance, checked at the types of its key.
#include "check/instances/instance_body.h"
#include "check/body/attempt.h"
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
  TypeId want = guessed ? body.freshResult() : known.asked;
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

namespace {

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

} // namespace

void InstanceBody::checkFunction(Body& body) {
  const Ast& tree = c_.ast(key_.decl);
  const FunctionDecl& fn = c_.declarations.function(key_.decl);
  instance_.isCold = fn.isCold;
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
  TypeId want = body.freshResult();
  NodeId value = fn.body ? body.checkExpr(fn.body, want) : body.b.error(fn.span);
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

void checkBody(Checker& c, InstanceId id) { InstanceBody(c, id, c.instances.currentCall()).check(); }

} // namespace melix::check
