#pragma once
// Inlines functions: copies their bodies to where they are called.
//
//   before:  %r = call @relu %x : f32        after:  %c = cmp gt %x, %z : bool   %r = select %c, %x, %z : f32
//
// Whether a call is inlined depends on its caller and its callee alone. A callee is inlined if it has at most
// `largestCallee` ops, with the functions inlined into it, and its caller has at most `largestCaller`. Other
// callers do not matter. So one more call elsewhere changes no bits, and a program grows by `largestCallee` a
// call at most.
//
// Exception: the limit is `mostBatchedOps` for a loop that carries a row at each point of a nest, and for
// the functions it calls. Such a loop is to become a loop over all rows (batch_rows.h).
//
// Not inlined:
//   1. recursive functions;
//   2. functions that are declared so;
//   3. functions with a derivative rule of their own;
//   4. before derivatives are expanded, functions that hold `stop_gradient`.
// Requires: verified Core. Keeps: locations, as inlined at the call. Functions that nothing reaches
// afterwards lose their bodies unless they are kept.

#include "core/ir/ir.h"

namespace melix::transforms {

struct InlineOptions {
  unsigned largestCallee = 128;
  unsigned mostBatchedOps = 512;
  unsigned mostLoopsOfRows = 2048; ///< ops of all of them in one caller; of more none is inlined
  unsigned largestCaller = 4096;
  bool beforeDerivatives = true;
  /// Only functions that take and give integers and bools, and, in nests, functions that compute numbers from
  /// numbers and elements of arrays.
  bool onlyScalars = false;
};

/// Whether any call was inlined.
bool inlineCalls(core::Module& module, InlineOptions options = {});

/// Drops the bodies of functions that no kept function, entry or math body reaches.
void removeUnreachable(core::Module& module);

} // namespace melix::transforms
