#pragma once
// Something checked to find out whether it can be.

#include "check/body.h"

namespace melix::check {

/// `drop` leaves the body as if what was checked since had never been looked at: no message, nothing solved,
/// no call to finish, no name declared, no result or value of a loop told, no instance failed; what was made
/// of it stays behind empty.
class Attempt {
public:
  explicit Attempt(Body& body)
      : body_(body), messages_(body.sink.all().size()), errors_(body.sink.errorCount()),
        nodes_(body.instance.nodes.size()), locals_(body.instance.locals.size()),
        patterns_(body.instance.patterns.size()), calls_(body.pending.size()), follows_(body.follows.size()),
        inside_(body.inside.size()), names_(body.declared.size()), literals_(body.literalPatterns.size()),
        quotients_(body.b.quotients.size()), arrayQuotients_(body.b.arrayQuotients.size()),
        returned_(body.returnedSizes.size()), instances_(body.c.instanceCount()),
        returnType_(body.returnType), loops_(body.loops), solved_(body.infer.state()) {}

  bool hasMessages() const { return body_.sink.all().size() > messages_; }
  bool hasErrors() const { return body_.sink.errorCount() > errors_; }
  /// Whether sizes that were met are compared when the program runs.
  bool comparesAtRun() const {
    for (size_t k = nodes_; k < body_.instance.nodes.size(); ++k) {
      NodeKind kind = body_.instance.nodes[NodeId(static_cast<uint32_t>(k))].kind;
      if (kind == NodeKind::DimCheck || kind == NodeKind::CastDims) return true;
    }
    return false;
  }

  void drop() {
    body_.sink.rewind(messages_);
    Instance& instance = body_.instance;
    const TypeId none = body_.types.error();
    for (size_t k = nodes_; k < instance.nodes.size(); ++k)
      instance.nodes[NodeId(static_cast<uint32_t>(k))] = {NodeKind::Block, none, {}, {}, {}, {}};
    for (size_t k = locals_; k < instance.locals.size(); ++k)
      instance.locals[LocalId(static_cast<uint32_t>(k))].type = none;
    for (size_t k = patterns_; k < instance.patterns.size(); ++k)
      instance.patterns[PatternId(static_cast<uint32_t>(k))].type = none;
    body_.pending.resize(calls_);
    body_.follows.resize(follows_);
    body_.inside.resize(inside_);
    body_.declared.resize(names_);
    body_.literalPatterns.resize(literals_);
    body_.b.quotients.resize(quotients_);
    body_.b.arrayQuotients.resize(arrayQuotients_);
    body_.returnedSizes.resize(returned_);
    body_.returnType = returnType_;
    body_.loops = loops_;
    body_.infer.restore(solved_);
    body_.c.forgetFailedSince(instances_);
  }

private:
  Body& body_;
  size_t messages_, errors_, nodes_, locals_, patterns_, calls_, follows_, inside_, names_, literals_,
      quotients_, arrayQuotients_, returned_, instances_;
  const TypeId returnType_;
  const std::vector<LoopFrame> loops_;
  Inference::State solved_;
};

} // namespace melix::check
