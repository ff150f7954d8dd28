#pragma once
// Checks something tentatively, to find out whether it fits, and undoes it if not.

#include "check/body/body.h"

namespace melix::check {

/// Ends kept or dropped; one that is neither when its scope ends is dropped. Dropped, the body and the
/// instances that were made are as they were before, and nothing is told.
class Attempt {
public:
  explicit Attempt(Body& body)
      : body_(body), messages_(body.sink.all().size()), errors_(body.sink.errorCount()),
        nodes_(body.instance.nodes.size()), mark_(body.trail.mark()) {}
  ~Attempt() {
    if (isOpen_) drop();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

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

  void keep() {
    isOpen_ = false;
    body_.trail.commit(mark_);
  }
  void drop() {
    isOpen_ = false;
    body_.sink.rewind(messages_);
    body_.trail.undo(mark_);
  }

private:
  Body& body_;
  size_t messages_, errors_, nodes_;
  Trail::Mark mark_;
  bool isOpen_ = true;
};

} // namespace melix::check
