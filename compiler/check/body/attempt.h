#pragma once
// Checks something tentatively, to find out whether it fits, and undoes it if not.

#include "check/body/body.h"

#include <array>
#include <functional>

namespace melix::check {

/// Where a list stood that only grows.
class ListMark {
public:
  template <class T>
  explicit ListMark(std::vector<T>& list) : cut_([&list, size = list.size()] { list.resize(size); }) {}
  /// Removes the elements added since.
  void cut() const { cut_(); }

private:
  std::function<void()> cut_;
};

/// `drop` restores the body to its state before the attempt:
///   1. no message, nothing solved, no call to finish, no name declared;
///   2. no result or value of a loop recorded, no instance failed.
/// Nodes made during the attempt remain as empty nodes.
class Attempt {
public:
  explicit Attempt(Body& body)
      : body_(body), messages_(body.sink.all().size()), errors_(body.sink.errorCount()),
        nodes_(body.instance.nodes.size()), locals_(body.instance.locals.size()),
        patterns_(body.instance.patterns.size()), instances_(body.c.instanceCount()),
        lists_{ListMark(body.pending),       ListMark(body.follows),         ListMark(body.inside),
               ListMark(body.declared),      ListMark(body.literalPatterns), ListMark(body.b.arrayQuotients),
               ListMark(body.returned.sizes)},
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
    for (const ListMark& list : lists_) list.cut();
    body_.returnType = returnType_;
    body_.loops = loops_;
    body_.infer.restore(solved_);
    body_.c.forgetFailedSince(instances_);
  }

private:
  Body& body_;
  size_t messages_, errors_, nodes_, locals_, patterns_, instances_;
  const std::array<ListMark, 7> lists_;
  const TypeId returnType_;
  const std::vector<LoopFrame> loops_;
  Inference::State solved_;
};

} // namespace melix::check
