#pragma once
// State of the sweep at hand: the parts of a comprehension's body that are computed ahead of it, and the
// ways that lead to them.

#include "check/tree/typed.h"
#include "core/ir/ir.h"

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace melix::lower {

using Make = std::function<core::ValueId()>;

/// The needs of a part of a builder's body: axes of the sweep, by bit; `own`: values of the current point.
struct Needs {
  uint64_t axes = 0;
  bool own = false;
  bool within(uint64_t given) const { return !own && (axes & ~given) == 0; }
  void join(const Needs& other) { axes |= other.axes, own |= other.own; }
};

/// The way through a body to a part of it. `pieces`, each with the depth of its parent, are executed on it:
/// conditions, and the statements that these and the part read. `skips`: there are more conditions on it.
struct Way {
  std::vector<check::NodeId> nodes;
  std::vector<std::pair<size_t, check::NodeId>> pieces;
  Needs needs;
  bool exits = false, skips = false;
  bool searches = false; ///< whether some point of axes that are open gets there
  types::TypeId type;
  Make there, elsewhere;
  bool runs(check::NodeId n) const;
};

/// The axes around the current part of a body: axes of the builder, then axes of sweeps inside of it
/// whose sizes are known ahead. A part that needs not all of `whole` is computed ahead.
struct Sweep {
  std::vector<check::NestAxis> axes;
  uint64_t whole = 0;
  std::vector<check::NodeId> path;
  std::map<check::LocalId, Needs> locals;
  std::map<types::DimSym, Needs> sizes;
  std::set<check::LocalId> open; ///< axes of sweeps inside whose sizes are not known ahead: no axes of this
  std::set<check::NodeId>
      stays;         ///< tried before, and not to be moved: trying again would double at each level
  size_t around = 0; ///< axes of the builder that are swept around this
  size_t rows = 0;   ///< so many of its axes tell how long a sweep inside is; none if all do, or none
  bool isOpen(const check::NestAxis& axis) const { return open.contains(axis.index); }
};
/// A value computed before a sweep, at each point of some axes of it; `hidden` sizes are packed.
struct Ahead {
  core::ValueId value;
  std::vector<check::LocalId> axes;
  std::vector<types::DimSym> hidden;
};

struct Hoisting {
  Sweep sweep;
  std::map<check::NodeId, Ahead> ahead;  ///< values computed before
  std::map<check::NodeId, Make> instead; ///< the replacement of a node on the way to another
  std::set<core::ValueId> guarded;       ///< computed ahead only if the sweep has a point
};

} // namespace melix::lower
