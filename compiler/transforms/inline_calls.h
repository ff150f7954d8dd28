#pragma once
// Copies the bodies of small functions, and of functions called once, to where they are called.
//
//   before:  %r = call @relu %x : f32        after:  %c = cmp gt %x, %z : bool   %r = select %c, %x, %z : f32
//
// Not inlined: recursive functions, functions with a derivative rule of their own, and, before derivatives
// are expanded, those that hold `stop_gradient`. Requires: verified Core. Keeps: locations, as inlined at the
// call. Functions that nothing reaches afterwards lose their bodies unless they are kept.

#include "core/ir.h"

namespace melix::transforms {

struct InlineOptions {
  unsigned smallOps = 16; ///< a body of at most this many ops is copied to every call
  bool calledOnce = true; ///< whatever their size
  bool beforeDerivatives = true;
};

void inlineCalls(core::Module& module, InlineOptions options = {});

/// Drops the bodies of functions that no kept function, entry or math body reaches.
void removeUnreachable(core::Module& module);

} // namespace melix::transforms
