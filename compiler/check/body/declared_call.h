#pragma once
// Checks a call of one declared function: generics are opened, arguments checked against the parameters in
// order, then the result's type is read. Lambdas wait for the arguments beside them, which may resolve their
// types.

#include "check/body/body.h"

namespace melix::check {

class DeclaredCall {
public:
  DeclaredCall(Body& body, DeclId decl, Span span);

  /// The call's node, or an Error node after a message. `argOf` says which argument each parameter gets, -1
  /// for a default.
  NodeId check(const std::vector<CallArg>& args, const std::vector<int>& argOf, const Explicit* explicitArgs,
               TypeId expected);

private:
  void findCaptures();
  void openVariables();
  void setSize(uint32_t k, DimId size);
  bool bindExplicit(const Explicit& items);
  /// Parameters that only the result decides are taken from the type asked for.
  void bindFromResult(TypeId want);
  bool bindPack(const SignatureType& type, TypeId given, Span at);
  NodeId asWritten(NodeId value, const CallArg& arg);

  TypeId askedOf(size_t p, TypeId type);
  void argument(size_t p, const CallArg& arg);
  void inoutArgument(size_t p, const CallArg& arg);
  void bindArguments();
  void openInside(Target& target);
  void checkApart(const Target& target, Span at);
  NodeId valueNamed(NameId name);
  DimId sizeOfValue(const SizeVariable& size);
  bool findSizes(const SignatureType& type);
  TypeId typeOf(const SignatureType& type);
  TypeId typeOf(size_t p) { return typeOf(signature_.params[p]); }
  TypeId parameterType(size_t p, NodeId& value, const CallArg& arg);
  std::string written(const SignatureType& type) const;
  void defaultArgument(size_t p);
  NodeId defaultValue(SynId written, TypeId type, size_t mark);
  bool tangentsFit();
  bool boundsMet();
  void hintFloat(Messages& told, TypeId given);
  NodeId inBlock(NodeId result);
  void unifyMonomorphicArguments(const std::vector<int>& argOf);
  NodeId divergingArgument();
  void nameSizesOfResult();
  void solveSizes(TypeId result, TypeId expected);
  std::vector<DimSym> findSizesOfResult();
  NodeId declaredResult(NodeId node, TypeId expected);
  void fail() { failed_ = true; }
  std::string_view name() const { return types_.names.text(fn_.name); }

  /// The argument, or the default, that a parameter is given.
  struct ParameterValue {
    NodeId value; ///< none for `inout`
    TypeId type;  ///< of an untyped parameter
  };
  struct Inouts {
    std::vector<Opening> openings; ///< where arguments are inside of other values
    std::vector<Place> changed;    ///< the outermost of the places changed
  };
  /// Nodes that are evaluated before the call.
  struct Before {
    /// Arguments before the others, and arguments that defaults use.
    std::vector<NodeId> lets;
    std::vector<std::vector<NodeId>> written; ///< of arguments out of order: the nodes that evaluate each
  };

  Body& body_;
  TypeStore& types_;
  NodeBuilder& b_;
  const FunctionDecl& fn_;
  const Span span_;
  PendingCall call_;
  const Signature& signature_;
  SignatureUse use_;
  CallTarget target_;
  std::vector<CallArg> args_;
  Inouts inouts_;
  Before before_;
  std::vector<NodeId> captures_;      ///< leading arguments: the captures, or the function's value
  std::vector<ParameterValue> given_; ///< by parameter
  bool failed_ = false;
};

} // namespace melix::check
