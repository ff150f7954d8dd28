#pragma once
// Some points of an outer loop are swept together inside of the chains of an inner one, so that what does not
// differ between them is read once, and no chain waits for its last term.
//
//   before:  for points rows(2) 0, %m { %i
//              for points vector(64) 0, %n { %j
//                %s = for 0, %k, %0 { %l %c   load %x[%i, %l], %y[%l, %j]   yield fma … %c }
//                store %r[%i, %j] = %s } }
//   after:   for points 0, %m / 2 { %t
//              for points vector(64) 0, %n { %j
//                %s0, %s1 = for 0, %k, %0, %0 { %l %c0 %c1
//                  load %y[%l, %j]   load %x[%t·2, %l]   load %x[%t·2 + 1, %l]   yield fma … %c0, fma … %c1 }
//                store %r[%t·2, %j] = %s0   store %r[%t·2 + 1, %j] = %s1 } }
//            for points %m / 2 · 2, %m { %i … as before … }
//
// The rows may be turns of a sum around the chain, `for points rows 6 0, %m, %z { (%i, %t) … }`: they add to
// what it carries one after another, behind the chains.
//
// Done for loops that say how many rows they take; a strip, if there is one, is of fewer turns then. Every
// chain takes its terms in its order. Requires: counts
// inserted. Keeps: bits, every effect in its order.

#include "loops/ir.h"

#include <optional>
#include <span>

namespace melix::loops {

/// Whether points of the loop can be swept together and some chain in lanes inside of it gains by that: it
/// reads what is the same at all of them.
bool gainsByRows(const Module& module, const Function& fn, const Stmt& loop);

/// The same of one loop inside of it, once that is in lanes.
bool gainsAround(const Module& module, const Function& fn, const Stmt& loop, const Stmt& lanes);

/// The same of partial sums in the frame, strips of which are in lanes: how many bytes of it a point has.
std::optional<uint64_t> frameOfStrips(const Module& module, const Function& fn, const Stmt& loop);

/// Whether what a loop carries is used behind the last loop in it only, by plain statements: turns that are
/// swept together then add one after another.
bool addsBehindLoops(const Function& fn, const Stmt& sum);

/// Of sums in a loop, each around the next, the one whose turns can be swept together once the loop is in
/// lanes, and that gains by that: chains in it read what is the same in all of its turns, and what they read
/// of each turn is the same in all lanes.
std::optional<StmtId> sumForRows(const Function& fn, StmtId lanes, std::span<const StmtId> sums);

/// Whether turns of a loop store neighbours, which is done for all rows together.
bool storesAlong(const Function& fn, const Stmt& loop);

/// The same of a chain, a loop that carries something and holds no other: its stores, if all of them are to
/// neighbours, and nothing in it reads what they write.
std::vector<StmtId> storesOfChain(const Function& fn, const Stmt& loop);

void jamRows(Function& function);

} // namespace melix::loops
