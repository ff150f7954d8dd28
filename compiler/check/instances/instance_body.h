#pragma once
// The check of the body of one instance, at the types of its key.

#include "check/body/body.h"

#include <map>
#include <set>

namespace melix::check {

/// Declares the names that a body sees (parameters, dimensions, captures), then checks it at the types of its
/// key.
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
  void lambdaParameter(Body& body, const syntax::Parameter& written, size_t k, std::vector<NodeId>& lets,
                       std::map<NameId, Span>& sizes);
  TypeId writtenParameter(Body& body, size_t p, std::map<NameId, Span>& inside);
  void takeParts(Body& body, const syntax::Parameter& written, size_t k, TypeId want,
                 std::vector<NodeId>& lets);
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
  std::map<NameId, DimId> told_; ///< dimension parameters that the key determines, in these
  std::vector<NameId> dimNames_;
  size_t nextArg_ = 0, nextRank_ = 0;
  std::set<NameId> sizes_;    ///< ints that are dimensions
  std::vector<TypeId> typed_; ///< types of the parameters so far; none: not written
  size_t capturedEnd_ = 0;    ///< of args_: the types of captures end here
};

} // namespace melix::check
