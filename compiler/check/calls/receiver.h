#pragma once
// The functions that can be called as methods of a value, `x.f(…)`: asked of declarations, before a call is
// written.

#include "check/signatures/checker.h"

namespace melix::check {

class Body;

/// A value of a type, seen from a module, as the first argument of calls. Trials leave no message.
class Receiver {
public:
  Receiver(Checker& checker, ModuleId seenFrom, TypeId type);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// The modules that declare the type and its parts: their functions need no import (rule 8).
  std::vector<ModuleId> homes();
  /// Whether the function's first parameter takes the value.
  bool isTakenBy(DeclId function);

private:
  std::unique_ptr<Body> body_;
  NodeId value_;
};

/// Whether the first parameter of a function says nothing of its type: `x`, `x: T`, `x: T[..S]`.
bool takesAnything(Checker& checker, DeclId function);

} // namespace melix::check
