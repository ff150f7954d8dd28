#pragma once
// Checks something tentatively, to find out whether it fits, and undoes it if not.

#include "check/body/body.h"

namespace melix::check {

/// An attempt is kept or dropped; one that is neither when its scope ends is dropped. A dropped attempt
/// leaves the body and the memo of instances as they were before, and no message.
class Attempt {
public:
  explicit Attempt(Body& body)
      : body_(body), messages_(body.sink), nodes_(body.instance.nodes.size()), mark_(body.trail.mark()) {}
  ~Attempt() {
    if (isOpen_) drop();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const Messages& messages() const { return messages_; }
  bool hasMessages() const { return messages_.any(); }
  bool hasErrors() const { return messages_.anyErrors(); }
  /// Whether sizes that were met are compared when the program runs.
  bool comparesAtRun() const {
    for (size_t k = nodes_; k < body_.instance.nodes.size(); ++k) {
      NodeKind kind = body_.instance.nodes[NodeId(static_cast<uint32_t>(k))].kind;
      if (kind == NodeKind::DimCheck || kind == NodeKind::CastDims) return true;
    }
    return false;
  }

  void keep() {
    isOpen_ = false;
    body_.trail.commit(mark_);
  }
  void drop() {
    isOpen_ = false;
    messages_.drop();
    body_.trail.undo(mark_);
  }

private:
  Body& body_;
  Messages messages_;
  size_t nodes_;
  Trail::Mark mark_;
  bool isOpen_ = true;
};

} // namespace melix::check
