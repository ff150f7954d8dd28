#pragma once
// Checks the body of one instance: expressions with the type asked of them (bidirectional), statements,
// patterns, builders, calls. One pass in source order with unification; types that stay open are resolved at
// the end (rule 15).

#include "check/body/body_parts.h"
#include "check/derivatives/derivatives.h"
#include "check/intrinsics/intrinsics.h"
#include "check/signatures/resolve.h"
#include "diagnostics/messages.h"
#include "support/function_ref.h"

#include <algorithm>

namespace melix::check {

/// The operator on values; `and` and `or` have none.
BinaryKind binaryKind(syntax::BinaryOp op);

class Body : public LibraryCalls, public FunctionCalls {
public:
  Body(Checker& checker, InstanceId id, ModuleId module, const syntax::Ast& ast);
  ~Body();

  Checker& c;
  InstanceId id;
  ModuleId module;
  struct Tree { ///< the tree at hand; changes only while an expression of another file is checked
    const syntax::Ast* at;
    const SynNode& operator[](SynId n) const { return (*at)[n]; }
    operator const syntax::Ast&() const { return *at; }
    const syntax::Ast* operator&() const { return at; }
    SynKind kind(SynId n) const { return at->kind(n); }
    Span span(SynId n) const { return at->span(n); }
    size_t size() const { return at->size(); }
  } ast;
  Trail trail{&c.trail}; ///< of all the state below, of the nodes and of the solutions
  Instance& instance;
  TypeStore& types;
  DiagnosticSink& sink;
  Inference infer;
  NodeBuilder b;
  ArrayIntrinsics arrays;
  Leaves leaves;
  Derivatives derivatives;
  Messages messages; ///< of this body
  Trailed<TypeEnv> env{trail};

  // --- entry points (instances.cpp drives these)
  NodeId checkExpr(SynId node, TypeId expected = TypeId::none());
  NodeId checkBlockItems(const syntax::NodeList& items, TypeId expected, Span span);
  /// The node at `type`: literals take it, dimensions are compared, anything else is `id` with the two types;
  /// `what` asks for it, which is declared at `asker`.
  NodeId coerce(NodeId node, TypeId type, Span span, DiagId id = DiagId::TypeMismatch,
                std::string_view what = {}, Span asker = {});
  void reportType(TypeId type, NodeId given, Span span, DiagId id, std::string_view what);
  NodeId dropped(NodeId value, SynId node);
  LocalId declareLocal(NameId name, TypeId type, Span span, bool isVar);
  /// Settles open numbers, finishes calls, removes inference variables from the tree.
  void settle();
  void refuseChecks(const DimChecks& checks, Span span);
  /// The first variables are the open numbers of the instance's key.
  void literalVariables(const InstanceKey& key, Span span) {
    for (types::VarClass cls : key.open) infer.freshVar(cls, span);
  }
  void warnUnused();

  // --- scopes
  Scope scope{trail};
  Trailed<size_t> scopeFloor{trail}; ///< names below it are not seen, except names of the script
  TrailedVector<LoopFrame> loops{trail};
  Trailed<TypeId> returnType{trail}; ///< declared or being inferred; none: not in a function
  /// Facts about the result from the returned values so far.
  struct Returned {
    std::vector<DimSym> sizes;
    NodeId byTry; ///< the operand of the `?` that determined the type
  };
  Trailed<Returned> returned{trail};
  TypeId freshResult();
  bool mayReturn = false;
  /// A result was guessed: another round will check this body again. Never undone, since attempts fail by it.
  bool isProvisional = false;
  /// Whether a part of it may come of a call whose result is not known yet.
  bool isUnknownYet(TypeId type) const { return isProvisional && types.holds(type, TypeKind::Error); }
  /// Whether a value of this type determines the type of the values beside it.
  bool determinesType(TypeId type) const {
    return types.kind(type) != TypeKind::Never && types.kind(type) != TypeKind::Error && !isUnknownYet(type);
  }
  TypeId openResult(const InstanceInfo& guess);
  void noteOpenResult(TypeId type);
  Trailed<size_t> builderDepth{trail};         ///< nested builder bodies
  TrailedVector<BuilderFrame> builders{trail}; ///< whose bodies are being checked
  TrailedSet<std::set<LocalId>> used{trail};
  /// Variables, and the first lambda that took their value.
  TrailedMap<std::map<LocalId, Span>> captured{trail};
  TrailedVector<LocalId> declared{trail};
  TrailedVector<OpenLocal> openLocals{trail};
  void noteOpen(LocalId local);
  void reportEscapingSizes();

  /// Of the builders at hand, and of builders that ended inside of them.
  TrailedVector<HeaderIndex> headerIndices{trail};
  TrailedVector<IndexUse> indexUses{trail};
  Trailed<size_t> conditions{trail}; ///< conditions around the expression at hand
  TrailedMap<std::unordered_map<NameId, std::vector<LocalId>>> indexPacks{trail}; ///< `..i` of headers

  // --- expressions (expr.cpp)
  NodeId checkExprAsIs(SynId node, TypeId expected);
  NodeId checkName(SynId node, TypeId expected);
  std::vector<std::pair<NameId, Span>> boundBelow(Span use);
  void unknownField(const syntax::Member& member, TypeId type);
  NodeId unknownName(NameId name, Span span);
  void unknownTarget(NameId name, Span span);
  NodeId constantValue(DeclId constant, TypeId expected, Span span);
  NodeId constantExpression(DeclId constant, TypeId expected, Span span);
  NodeId constantCall(Span span);
  NodeId wholeConstant(DeclId constant, Span span);
  NodeId caseValue(DeclId decl, uint32_t k, TypeId expected, Span span);
  NodeId checkNumber(const SynNode& n);
  NodeId checkUnary(const syntax::Unary& u, Span span, TypeId expected);
  NodeId checkBinary(const syntax::Binary& bin, Span span);
  std::pair<NodeId, NodeId> checkOperands(const syntax::Binary& bin);
  NodeId combined(syntax::BinaryOp op, NodeId left, NodeId right, Span span);
  NodeId checkAs(const syntax::Two& as, Span span);
  NodeId asOperand(SynId operand, TypeId type);
  /// Operands of `as` that do not take its type; a note for later attempts, which is never undone.
  std::set<std::pair<const syntax::Ast*, SynId>> unaskedOperands;
  NodeId convertTo(NodeId value, TypeId type, Span span);
  bool isNumberLiteral(SynId node);
  bool callNeedsType(SynId node);
  bool nameNeedsType(NameId name);
  NodeId unpacked(NodeId node, Span span);
  bool isRagged(TypeId array);
  TypeId successType(TypeId type);
  bool isFallible(TypeId type);
  std::string takesOut(TypeId type) override;
  std::string conversionHint(TypeId want, NodeId value, Span span);
  bool partsDiffer(TypeId want, TypeId got);
  NodeId coerceParts(NodeId node, TypeId tuple, Span span, DiagId id, std::string_view what, Span asker);
  NodeId rowsOf(NodeId node, TypeId ragged, Span span);
  NodeId tryValue(NodeId value, Span span);
  NodeId passedOn(NodeId error, TypeId wanted, Span span);
  NodeId checkTry(const syntax::One& t, Span span, TypeId expected);
  NodeId checkTuple(const syntax::Many& m, Span span, TypeId expected);
  NodeId checkArray(const syntax::Many& m, Span span, TypeId expected);
  NodeId checkMember(SynId node, TypeId expected);
  NodeId checkTupleIndex(const syntax::TupleIndex& t, Span span);
  NodeId checkIf(const syntax::If& node, Span span, TypeId expected);
  bool isFoundSize(DimSym s);
  TypeId expectedFrom(TypeId type);
  NodeId joinBranches(NodeId cond, NodeId then, NodeId otherwise, Span span, TypeId expected);
  NodeId checkMatch(const syntax::Match& node, Span span, TypeId expected);
  NodeId asInt(NodeId node, Span span);
  bool isRange(TypeId type);
  NodeId checkRangeValue(const syntax::Range& r, Span span);
  NodeId checkBoolean(SynId node, std::string_view what);
  NodeId boolean(NodeId value, std::string_view what, Span span); ///< the value, if it is one
  NodeId ownOperator(std::string_view name, std::vector<NodeId> args, Span span);
  NodeId declaredOperator(NameId op, std::vector<CallArg> call, Span span);
  NodeId ownOpAssign(const syntax::OpAssign& a, Span span);

  // --- statements (stmt.cpp)
  NodeId checkStatement(SynId node, bool last, TypeId expected);
  NodeId checkConst(const syntax::ConstItem& item, Span span);
  void makeSizesUnknown(TypeId asked, Span span);
  NodeId letNever(const syntax::Let& let, NodeId init, Span span);
  NodeId checkLet(const syntax::Let& let, Span span);
  NodeId checkAssign(const syntax::Assign& a, Span span);
  NodeId assignParts(const syntax::NodeList& parts, SynId written, Span span);
  NodeId checkOpAssign(const syntax::OpAssign& a, Span span);
  std::optional<DeclId> protocolFunction(NameId name, NodeId value, Span span);
  void enterLoop(LoopFrame frame);
  void leaveLoop();
  NodeId checkReturn(const syntax::One& ret, Span span);
  bool isUsedUp(NodeId value, SynId node);

  // --- places (place.cpp)
  /// Whether `node` may be assigned to, and the target it names; no part of it that a name is bound to.
  bool checkTarget(SynId node, Target& target);
  /// The same, without index arrays.
  bool checkPlaceTarget(SynId node, Target& target);
  bool targetOf(SynId node, Target& target, bool report);
  bool partOf(SynId node, Target& target, bool report);
  bool placeOfName(SynId node, Place& place, bool report);
  bool placeOfField(SynId node, Place& place, bool report);
  bool mayChange(const Place& place, SynId node);
  bool elementOf(Place& list, SynId written, Span span);
  NodeId checkIndexing(SynId node);
  NodeId indexInto(NodeId base, const std::vector<syntax::Argument>& items, Span span);
  NodeId readPlace(const Place& place, Span span);

  // --- changing parts of a value (binding_places.cpp)
  /// Names bound by `for &x`: the place that each means
  TrailedMap<std::map<LocalId, Place>> aliases{trail};
  TrailedVector<Hold> holds{trail};
  Trailed<bool> bindsPlaces{trail}; ///< patterns bind places
  NodeId readLocal(LocalId local, Span span);
  bool endHold();
  void openTarget(Target& target, Span span);
  bool needsOpening(const Place& place);
  /// `statement` on the variables of the openings.
  NodeId insideOf(const std::vector<Opening>& openings, NodeId statement, Span span);
  NodeId finishTarget(const Target& target, std::vector<NodeId> nodes, NodeId statement, Span span);
  std::vector<NodeId> pinTarget(Target& target, NodeId& value);
  NodeId assignTo(Target target, const syntax::BinaryOp* op, NodeId value, Span span);
  /// place = next(what it holds, value)
  NodeId updateTarget(Target target, NodeId value, FunctionRef<NodeId(NodeId, NodeId)> next, Span span);
  NodeId matchPlace(const syntax::Match& node, Span span, TypeId expected);
  NodeId matchArms(const syntax::Match& node, NodeId value, std::vector<Place> places, Span span,
                   TypeId expected);

  // --- index arrays and masks (gather.cpp, scatter.cpp)
  NodeId pinned(NodeId node, std::string_view name, std::vector<NodeId>& nodes);
  void pinSteps(std::vector<Step>& steps, Gathers& gathers, std::vector<NodeId>& nodes);
  std::vector<Step> pointSteps(const std::vector<Step>& steps, size_t bracket, const Gathers& gathers,
                               const std::vector<LocalId>& at, Span span);
  NodeId gather(NodeId base, std::vector<Step> steps, Gathers gathers, TypeId type, Span span);
  bool maskFits(TypeId type, NodeId mask, Span span, std::vector<NodeId>& nodes);
  NodeId whereTrue(NodeId mask, DimSym size, Span span,
                   FunctionRef<NodeId(const std::vector<LocalId>&)> value);
  NodeId maskSelect(NodeId base, NodeId mask, Span span);
  NodeId readGathered(const Target& target, Span span);
  NodeId assignGathered(Target target, const syntax::BinaryOp* op, SynId written, Span span);
  NodeId assignOrUpdate(Place place, const syntax::BinaryOp* op, NodeId value, Span span);
  NodeId update(Place place, NodeId value, FunctionRef<NodeId(NodeId, NodeId)> next, Span span);
  NodeId scatter(const Target& target, TypeId type, const syntax::BinaryOp* op, NodeId value, Span span,
                 FunctionRef<std::vector<Step>(const std::vector<LocalId>&)> steps);
  NodeId assignWhere(const Target& target, NodeId mask, const syntax::BinaryOp* op, NodeId value, Span span);
  std::vector<Step> maskedSteps(const Place& place, NodeId flat, const std::vector<DimId>& axes,
                                const std::vector<LocalId>& at, Span span);
  bool isBroadcastable(NodeId value, TypeId type, std::vector<NodeId>& nodes);
  NodeId broadcastElement(NodeId value, const std::vector<LocalId>& at, Span span);

  // --- ranges of header indices (ranges.cpp)
  void noteIndexUse(NodeId index, DimId extent);
  bool affine(NodeId n, IndexUse& use, int64_t scale);
  void collectUsesInClosures(SynId body);
  bool isInvariant(DimId d);
  DimId otherIndicesReach(const IndexUse& use, const HeaderIndex& index);
  DimId rangeFrom(const IndexUse& use, const HeaderIndex& index);
  bool rangesFromBareUses(std::vector<DimCheckItem>& checks);
  DimId rangeFromUses(const HeaderIndex& index, bool& differ);
  bool resolveRanges(std::vector<DimCheckItem>& checks, NodeId value);
  bool meetsError(NodeId value);
  bool checkReach(const IndexUse& use);
  NodeId hoistFromBuilder(NodeId base, uint32_t firstOwn, const std::vector<syntax::Argument>& items);
  bool readsFrom(NodeId node, const BuilderFrame& builder, uint32_t last);

  // --- builders (builder.cpp)
  /// `inner` gives the elements instead of the builder's body, which they are made of.
  using CheckElement = std::function<NodeId()>;
  NodeId checkBuilder(const syntax::Builder& builder, Span span, TypeId expected, BuilderUse use,
                      const CheckElement* inner = nullptr);
  NodeId inOneAxis(NodeId array, Span span);
  TrailedVector<NodeId> generatorBefore{trail}; ///< of the terms just checked

  // --- patterns (pattern.cpp)
  void bindAll(SynId pattern, TypeId type, bool isVar);
  PatternId checkPattern(SynId node, TypeId type, bool isVar, bool& refutable);
  std::optional<std::vector<SynId>> caseFields(const syntax::CasePattern& pattern, TypeId type,
                                               uint32_t caseIndex, Span span);
  Trailed<Alternative*> alternative{trail}; ///< at hand
  LocalId bindName(NameId name, TypeId type, Span span, bool isVar);
  PatternId anyPattern(TypeId type, Span span);
  PatternId casePattern(TypeId type, uint32_t k, std::vector<NodeId>& fields, Span span);
  bool caseOf(SynId path, TypeId type, uint32_t& caseIndex);
  void checkExhaustive(const std::vector<Arm>& arms, TypeId type, Span span);
  TypeId openPattern(Pattern& p, TypeId type);
  /// Their values are taken over when numbers are resolved.
  TrailedVector<std::pair<PatternId, NodeId>> literalPatterns{trail};

  // --- calls (call.cpp, overload.cpp)
  NodeId checkCall(SynId node, TypeId expected);
  bool isDeclaredName(SynId s);
  bool isNestedName(SynId s);
  bool isShadowedByFunction(LocalId local, NameId name);
  NodeId callName(SynId callee, WrittenCall& call);
  bool isFunction(DeclId constant);
  NodeId constructAlias(SynId callee, WrittenCall& call);
  NodeId callQualified(SynId callee, WrittenCall& call);
  NodeId callInModule(ModuleId in, const syntax::Member& member, WrittenCall& call);
  DeclId enumNamed(SynId node);
  std::optional<uint32_t> caseIn(DeclId decl, const syntax::Member& member);
  NodeId callMember(SynId callee, WrittenCall& call);
  std::optional<std::pair<DeclId, uint32_t>> caseNamed(NameId name, TypeId expected, Span span);
  bool isDeclaredBeside(NameId name, const std::vector<std::vector<DeclId>>& layers);
  NodeId callNamed(NameId name, const std::vector<std::vector<DeclId>>& layers,
                   const std::vector<CallArg>& args, const Explicit* explicitArgs, TypeId expected, Span span,
                   Span nameSpan);
  NodeId callIntrinsicBeside(IntrinsicKind intrinsic, const std::vector<std::vector<DeclId>>& own,
                             const std::vector<CallArg>& args, const Explicit* explicitArgs, TypeId expected,
                             Span span);
  NodeId callDecl(DeclId decl, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                  TypeId expected, Span span);
  NodeId callValue(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span);
  TypeId expectedArgument(TypeId function, size_t k, size_t count);
  TypeId expectedTangent(TypeId function, const std::vector<uint32_t>& wrt, size_t count);
  TypeId expectedInput(TypeId function, SynId x);
  TypeId writtenType(const Signature& signature, const TypeEnv& env, size_t k);
  NodeId transformArg(const CallArg& arg, TypeId asked);
  NodeId callKnown(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span);
  NodeId callIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                       TypeId expected, Span span);
  NodeId callBuiltin(const FunctionDecl& fn, const std::vector<NodeId>& args, TypeId declared,
                     std::vector<DimSym> sizes, TypeId expected, Span span);
  NodeId construct(DeclId decl, uint32_t caseIndex, const std::vector<CallArg>& args,
                   const Explicit* explicitArgs, TypeId expected, Span span);
  bool intoArguments(const std::vector<CallArg>& args);
  std::optional<DeclId> choose(NameId name, const std::vector<DeclId>& candidates, std::vector<CallArg>& args,
                               Span span, bool report);
  bool boundMet(std::string_view of, const GenericParam& g, TypeId type, Span span);
  TypeId openedPack(TypeId pack);
  std::optional<std::vector<DimId>> axesLeft(const SignatureType& type, TypeId given, NameId pack, Span at);
  UnifyResult unifyGiven(TypeId want, TypeId given);
  bool applicable(DeclId decl, const std::vector<CallArg>& args, std::vector<int>& score);
  /// Whether the first parameter takes a value; the other parameters are ignored.
  bool takesFirst(DeclId decl, NodeId value);
  NodeId checkArg(const CallArg& arg, TypeId expected = TypeId::none());
  void unknownArgument(const CallArg& arg, std::string_view callee, bool isGiven,
                       const std::vector<std::string_view>& known);
  bool matchArgs(const FunctionDecl& fn, const std::vector<CallArg>& args, std::vector<int>& argOf,
                 bool report, Span span);
  std::vector<ModuleId> homeModules(TypeId type);
  NodeId templateValue(Known known, std::vector<NodeId> captures, Span span);
  KnownId nestedNamed(DeclId decl) const;
  const TypeEnv* aroundNamed(DeclId decl) const;
  const Signature& signatureOf(const Known& known, size_t candidate);
  bool mayBeFunction(const CallArg& arg);
  void unifyMonomorphic(NodeId function, TypeId asked);
  NodeId intrinsicValue(IntrinsicKind kind, Span span);
  std::optional<IntrinsicKind> intrinsicMeant(const Known& known, const std::vector<CallArg>& args);
  // --- captures (captures.cpp)
  TrailedVector<Given> given{trail};
  TrailedMap<std::map<NameId, LocalId>> scriptLets{trail}; ///< `let`s of the script that have a value here
  bool isScript = false;
  void noteLets(SynId statement);
  void capture(Known& known, NameId name, NodeId value, std::vector<NodeId>& values);
  void captureNames(SynId node, Known& known, std::vector<NodeId>& values);
  void captureLets(const std::vector<DeclId>& functions, Known& known, std::vector<NodeId>& values,
                   Span span);
  DimId* capturedDim(TypeEnv& of, NameId name);
  std::vector<NameId> undeterminedDims(const Known& known);
  NodeId scriptLet(DeclId function, NameId name, Span span);
  NodeId part(NodeId known, uint32_t k, Span span);
  Trailed<size_t> blockBegin{trail}; ///< size of the scope where the block at hand begins
  void checkNames(SynId function);
  NodeId checkNested(SynId node);
  TrailedVector<NodeId> inside{trail}; ///< the values of functions and lambdas inside of this one
  NodeId overloadSet(LocalId before, NodeId added, Span span);
  bool nestedAt(LocalId local);
  bool isReadable(NodeId node);
  void giveCaptures(const Known& known, NodeId function);
  NodeId functionValue(std::vector<DeclId> candidates, Span span);
  void bindCaptures(const Known& known, const std::vector<TypeId>& captured, Span span);
  NodeId bindNested(KnownId nested, const std::vector<TypeId>& captured, const FunctionDecl& fn);
  void bindLets(const std::vector<NameId>& lets, const std::vector<TypeId>& captured, Span span);
  NodeId callOverloads(NodeId function, const std::vector<CallArg>& args, const Explicit* items,
                       TypeId expected, Span span);
  NodeId lambdaReturning(NodeId value, TypeId result);
  NodeId asFunction(NodeId value, TypeId functionType, Span span);
  NodeId checkLambda(SynId node, TypeId expected);

  TrailedVector<PendingCall> pending{trail};
  Callee checkCallee(const PendingCall& call, Span span);
  TypeId inCallerTerms(TypeId t, const Callee& callee);
  std::vector<TypeId> argumentTypes(const PendingCall& call);
  InstanceKey keyOf(const PendingCall& call, Canonical& canonical);
  DimId boundDim(const PendingCall& call, NameId name);
  types::DimSubst callerDims(const PendingCall& call, InstanceId made, const Canonical& canonical,
                             std::vector<DimSym>& sizes, Span span);
  bool boundsHold(const PendingCall& call, Span span);
  void finishCall(PendingCall& call);
  void doesIo(Span at);
  TypeId withLiteralVariables(TypeId open, TypeId settled);
  void keepLiteralVariables(const PendingCall& call, InstanceKey& key);
  NodeId finishInferred(PendingCall call, NodeId node, Span span);
  void settleCalls();
  void settleInside();
  void settleLambda(KnownId id, std::vector<TypeId> args);
  bool holdsUnresolved(TypeId type);
  void settleNodes();
  void settlePayload(Node& node);
  void settleLiteral(Node& node, bool negated);
  void settleQuotients();
  Const patternConstant(NodeId value) const;
  void reportMisapplied(const OpRef& op, TypeId type, Span span);
  bool holdsError();
  TrailedVector<TypeId> compared{trail}; ///< enums whose `==` is being expanded
  NodeId equalityBody(NodeId x, NodeId y, Span span);
  NodeId equalCases(NodeId x, NodeId y, Span span);
  NodeId equalElements(NodeId x, NodeId y, Span span);
  NodeId movedBody(NodeId x, NodeId t, Span span);
  NodeId movedCases(NodeId x, NodeId t, Span span);
  NodeId eachPlace(LocalId list, NodeId length, Span span, FunctionRef<NodeId(NodeId, const Step&)> each);
  NodeId movedElements(NodeId x, NodeId t, Span span);
  NodeId movedInside(NodeId x, NodeId t, Span span);
  NodeId scaledBody(const Known& known, const std::vector<NodeId>& args, Span span);
  NodeId dottedBody(NodeId x, NodeId y, Span span);
  NodeId dottedCases(NodeId x, NodeId y, TypeId result, Span span);
  NodeId dottedElements(NodeId x, NodeId y, TypeId result, Span span);
  NodeId eachCase(NodeId t, Span span, FunctionRef<NodeId(NodeId)> each);
  NodeId eachElement(NodeId list, Span span, FunctionRef<NodeId(NodeId)> each);
  NodeId refuseTangents(std::string_view why, Span span);

  NodeId callInstanceOf(KnownId id, NodeId function, const std::vector<NodeId>& args, Span span);
  NodeId callOwn(Known known, Span place, const std::vector<NodeId>& args, Span span);
  bool isGenerator(const std::vector<CallArg>& args) const;
  NodeId arrayOfList(NodeId list, TypeId asked, Span span);
  bool determinesTangent(TypeId type);
  NodeId callAtOnce(IntrinsicKind kind, const std::vector<CallArg>& args, Span span);
  NodeId callPrint(IntrinsicKind kind, const std::vector<CallArg>& args, Span span);
  NodeId wrongCount(IntrinsicKind kind, const std::string& wanted, size_t got, Span span);
  NodeId callMapLeaves(const std::vector<CallArg>& args, Span span);
  NodeId callFoldLeaves(const std::vector<CallArg>& args, TypeId expected, Span span);
  NodeId callBuild(const std::vector<CallArg>& args, TypeId expected, Span span);
  NodeId callDot(IntrinsicKind kind, const std::vector<CallArg>& args, Span span);
  NodeId callConversion(IntrinsicKind kind, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                        Span span);
  bool refuseOwnSum(IntrinsicKind kind, TypeId summed, Span span);
  NodeId callReduction(IntrinsicKind kind, const std::vector<CallArg>& args, Span span);
  NodeId callArrayFunction(IntrinsicKind kind, const std::vector<CallArg>& args, TypeId expected, Span span);
  NodeId callListIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, TypeId expected, Span span);
  NodeId callReturning(NodeId function, std::vector<NodeId> args, TypeId asked, Span span);
  NodeId applyKnown(const Known& known, NodeId capture, const std::vector<CallArg>& args, TypeId expected,
                    Span span);
  NodeId knownCapture(NodeId function, NodeId fallback);

  // --- transforms (transform_calls.cpp)
  static std::optional<TransformKind> transformOf(IntrinsicKind kind);
  NodeId callTransform(TransformKind kind, IntrinsicKind intrinsic, const std::vector<CallArg>& args,
                       Span span);
  NodeId transformed(TransformKind kind, std::string_view name, NamedParameters named, NodeId function,
                     Span span);
  NodeId known(NodeId function, Span span);
  std::set<size_t> aritiesOf(TypeId function);
  /// Over 0: a transform is called through an instance of its own, so that it can be transformed.
  Trailed<int> wrapTransforms{trail};
  /// (Derivative or ToClosure, Call whose target it takes over)
  TrailedVector<std::pair<NodeId, NodeId>> follows{trail};

  // --- LibraryCalls, FunctionCalls
  NodeId callPrelude(std::string_view name, std::vector<NodeId> args, Span span) override;
  NodeId callOwnEquality(NodeId a, NodeId b, Span span) override;
  NodeId callEquality(NodeId a, NodeId b, Span span) override;
  std::string writtenShort(Span span);
  std::string writtenOperand(Span span) override;
  NodeId callMoved(NodeId x, NodeId t, Span span) override;
  NodeId callScaled(BinaryKind kind, NodeId t, NodeId scalar, Span span) override;
  NodeId callDotted(NodeId x, NodeId y, Span span) override;
  NodeId callFunction(NodeId function, std::vector<NodeId> args, Span span) override;
  void followTarget(NodeId derivative, NodeId call) override;
  NodeId gradientOf(NodeId function, std::vector<uint32_t> wrt, Span span) override;
  NodeId pullbackValue(PullbackShape shape, NodeId saved, Span span) override;
  bool wantsWhole(NodeId function, size_t k) override;
  bool changesParameters(NodeId function) override;
  std::set<size_t> arities(NodeId function) override { return aritiesOf(b.typeOf(function)); }

  // --- types in bodies
  /// With `binds`, `?N` and `_` become sizes to be found; with `keepsSizes`, the sizes for `_` are kept
  /// beside the value, where they may change.
  TypeId resolveType(SynId node, bool binds, bool keepsSizes = false);
  std::string conversionHint(std::string_view type, Span callee);
  LocalId lookup(NameId name);
  LocalId lookupAny(NameId name); ///< without marking it used
  std::vector<NameId> visibleNames() const;
  TypeId fresh(Span span) { return infer.freshVar(types::VarClass::Any, span); }
  std::optional<std::vector<TypeId>> monomorphicParameters(const Known& known);
  NodeId monomorphicFunction(NodeId value);
  NodeId toStr(NodeId value, std::string spec, Span span);
  TypeId optionOf(TypeId payload);
  uint32_t caseNumber(TypeId type, std::string_view name);

  // --- the command line (command_line.cpp)
  std::vector<TypeId> declareCommandLine(const FunctionDecl& fn, std::string doc, std::vector<NodeId>& nodes);
  NodeId commandLineValue(const ParamDecl& param, uint32_t k, TypeId type);
  NodeId callMain(DeclId decl, const FunctionDecl& fn, const std::vector<TypeId>& paramTypes);
  bool isPreludeEnum(TypeId t, std::string_view name);
};

} // namespace melix::check
