#include "check/calls/receiver.h"

#include "check/body/body.h"
#include "check/instances/instances.h"
#include "check/signatures/signature.h"

namespace melix::check {

Receiver::Receiver(Checker& checker, ModuleId seenFrom, TypeId type) {
  const InstanceId id = checker.instances.addInstance({});
  Instance& instance = checker.program_.instance(id);
  instance.failed = true; // nothing of it is run
  body_ = std::make_unique<Body>(checker, id, seenFrom, checker.modules[seenFrom].ast);
  const Unheard unheard(checker.sink);
  // A variable, which `inout` parameters take too.
  const LocalId local = body_->b.newLocal("x", type, Span(), true);
  body_->used.insert(local);
  value_ = body_->b.local(local, Span());
}

Receiver::~Receiver() = default;

std::vector<ModuleId> Receiver::homes() { return body_->homeModules(body_->b.typeOf(value_)); }

bool Receiver::isTakenBy(DeclId function) {
  const Unheard unheard(body_->sink);
  return body_->takesFirst(function, value_);
}

bool takesAnything(Checker& checker, DeclId function) {
  const Unheard unheard(checker.sink);
  const std::vector<SignatureType>& params = checker.signatures.of(function).params;
  if (params.empty()) return false;
  const SignatureType& first = params[0];
  if (!first.isWritten()) return true;
  auto isFree = [&](TypeId type) {
    return checker.types.kind(type) == TypeKind::Var || checker.types.kind(type) == TypeKind::Param;
  };
  const bool isOfAnyRank = checker.types.kind(first.type) == TypeKind::Array && !first.packs.empty() &&
                           first.axes == 0 && isFree(checker.types.element(first.type));
  return isFree(first.type) || isOfAnyRank;
}

} // namespace melix::check
