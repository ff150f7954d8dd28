#pragma once
// Internal: splits a module into units, each of which becomes one object. LLVM takes time in proportion to
// the code, and units are made at the same time: a long program takes as many processors as there are.

#include "loops/ir/ir.h"

#include <vector>

namespace melix::codegen {

/// Functions that are compiled together, in the order of the module.
struct Unit {
  const loops::Module& module;
  std::vector<loops::FunctionId> functions;
  /// Functions that are inlined into their callers and that a function of the unit calls: each unit has a
  /// copy of its own.
  std::vector<loops::FunctionId> copies;
  bool alone = false; ///< there is no other unit

  /// The functions, then the copies.
  std::vector<loops::FunctionId> all() const;
  /// How many statements these have: the time that LLVM takes is in proportion.
  size_t statements() const;
};

/// Whether each unit that calls the function has a copy of it.
bool isCopied(const loops::Function& fn);

/// All functions of the module in one unit.
Unit wholeModule(const loops::Module& module);
/// The kernels of a device and their callees.
Unit deviceUnit(const loops::Module& module);
/// The same in parts, each of which a GPU loads at the first launch of one of its kernels.
std::vector<Unit> imagesOf(const loops::Module& module);

/// The module cut where a unit has enough statements, by a rule that looks at nothing but the module.
/// `emulates`: with the kernels of a device.
std::vector<Unit> unitsOf(const loops::Module& module, bool emulates);

/// The units from the longest to the shortest: made in this order, they end at about the same time.
std::vector<size_t> longestFirst(const std::vector<Unit>& units);

} // namespace melix::codegen
