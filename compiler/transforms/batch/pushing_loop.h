#pragma once
// Distributes a counted loop that does nothing but push to lists which it does not read: a nest makes the
// values, and the loop pushes them. The nest is one over rows then (batch_rows.h).
//
//   before:  %l = for %n, %l0 { (%i, %l1)   … %v = f(%i) …   %l2 = push %l1, %v   yield %l2 }
//   after:   %vs = nest (i: n) -> collect[i] { … %v = f(%i) …   yield %v }
//            %l = for %n, %l0 { (%i, %l1)   %v = get %vs[%i]   %l2 = push %l1, %v   yield %l2 }
//
// Keeps: values, and the first iteration that fails.

#include "transforms/batch/built_values.h"

namespace melix::transforms {

class PushingLoop {
public:
  PushingLoop(core::Module& m, core::FunctionId f, core::OpId loop);

  /// Whether the loop is one. `isOther`: whether an op has an effect other than a check.
  bool matches(FunctionRef<bool(core::OpId)> isOther) const;
  /// Appends the nest.
  core::OpId makeNest(core::Builder& b) const;
  /// The loop pushes the values that the nest has made.
  void push(core::OpId nest);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  const core::Region& body() const { return fn().regions[fn().ops[loop_].regions[0]]; }
  bool isPush(core::OpId id) const { return fn().ops[id].kind == core::OpKind::Push; }
  bool onlyPushes() const;
  std::vector<core::ValueId> parts() const;
  /// Whether an iteration makes the value.
  bool isMade(core::ValueId v) const;
  PartKind kindOf(core::ValueId v) const;

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId loop_;
};

} // namespace melix::transforms
