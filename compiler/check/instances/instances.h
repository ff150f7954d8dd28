#pragma once
// The requested instances, and the instances whose check is in progress.

#include "check/signatures/declared.h"

#include <deque>

namespace melix::check {

class Instances {
public:
  explicit Instances(Checker& checker) : c_(checker) {}

  Canonical canonical(const std::vector<TypeId>& types, const std::vector<NamedSize>& sizes = {});
  /// The same with every dimension renamed, constants and expressions too: for recursion that changes sizes
  /// (rule 11).
  Canonical sizeless(const std::vector<TypeId>& types, const std::vector<NamedSize>& sizes = {});
  /// Whether an instance of this function is being checked whose key differs from this one.
  bool recursesDifferently(const InstanceKey& key) const;
  /// The instance of `key`, checked (or being checked). `call` is where it was asked for, `stoodFor` the
  /// dimensions that the renamed sizes are there. A body that fits at sizes of its own is not checked at the
  /// sizes of the key.
  InstanceId instantiate(InstanceKey key, Span call, const std::vector<DimId>& stoodFor = {});
  const InstanceInfo& info(InstanceId id) const { return infos_[id.index]; }
  InstanceInfo& info(InstanceId id) { return infos_[id.index]; }
  /// A template value that the compiler itself calls (Equality, Moved, Scaled, Dotted). There is one of a
  /// kind for each place, since a place always asks for the same.
  KnownId ownTemplate(Known known, Span place);
  /// Whether an instance of a lambda was asked for, with its captures here or anywhere else.
  bool isCalled(const Known& lambda) const {
    return calledLambdas_.contains({lambda.lambda.tree, lambda.lambda.node});
  }
  /// Where the instance that is being checked was asked for.
  Span currentCall() const { return stack_.empty() ? Span() : stack_.back().call; }
  /// A fresh instance without memo: for tests, scripts and probes.
  InstanceId addInstance(InstanceKey key);
  void renewGuess(InstanceId id);
  /// Ends the checking of a body whose value is `value`; `declared` is its result type, or none if it is
  /// inferred.
  void finish(InstanceId id, Body& body, NodeId value, TypeId declared);
  /// Instances are checked anew when they are asked for.
  void forget() { instances_.clear(); }

private:
  DimSym canonicalSym(uint32_t k, types::DimSymKind kind);
  void remember(InstanceId id);
  void noteDependency(InstanceId id);
  bool startRound(InstanceId id, Messages& told);
  void annotateWithCall(Messages& told, const std::string& name, Span call);
  void closeInstance(Messages& told);
  std::string divergingParameter(const InstanceKey& key);
  InstanceId atOwnSizes(const InstanceKey& key, Span call, const std::vector<DimId>& stoodFor);
  bool refusesInstance(const InstanceKey& key, const std::string& name, Span call);
  void finishOpen(InstanceId id, Body& body, NodeId value);

  struct Open {
    std::string name;
    Origin origin;
    Span call;
    InstanceId id;
    size_t lowest;     ///< the lowest on the stack whose result this one had to guess; itself: none
    size_t firstGuess; ///< of guesses_, made since it was opened
    bool isTemplate;   ///< there may be any number of instances like this one
  };

  Checker& c_;
  /// None: the body does not fit at sizes of its own, where its calls tell others.
  std::map<InstanceKey, InstanceId> instances_;
  std::deque<InstanceInfo> infos_; ///< stay in place while bodies ask for more
  std::vector<Open> stack_;        ///< instances being checked
  /// Instances made for the outermost call of a template that is being checked, by function.
  std::map<Origin, size_t> made_;
  /// Finished instances that are forgotten when the results they guessed are known.
  std::vector<InstanceId> guesses_;
  std::set<std::pair<const syntax::Ast*, SynId>> calledLambdas_;
  std::vector<DimSym> canonicalSyms_[2];
  std::map<std::tuple<KnownKind, uint32_t, uint32_t, uint32_t>, KnownId> ownTemplates_;
};

} // namespace melix::check
