#pragma once
// Checks something tentatively, to find out whether it fits, and undoes it if not.

#include "check/body/body.h"

namespace melix::check {

/// An attempt is kept or dropped; one that is neither when its scope ends is dropped. A dropped attempt
/// leaves the body and the memo of instances as they were before, and no message.
class Attempt {
public:
  explicit Attempt(Body& body) : body_(body), messages_(body.sink), mark_(body.trail.mark()) {}
  ~Attempt() {
    if (isOpen_) drop();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const Messages& messages() const { return messages_; }
  bool hasMessages() const { return messages_.any(); }
  bool hasErrors() const { return messages_.anyErrors(); }

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
  Trail::Mark mark_;
  bool isOpen_ = true;
};

} // namespace melix::check
