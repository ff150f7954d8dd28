#pragma once
// Whether passes over Loops keep what may fail. No such pass proves a check: it copies, moves and guards
// them, and copies keep place and message. So each place that may panic before a pass may do so after it. One
// copy in the module is enough: of several instances or versions it is not asked which one has it.

#include "loops/ir/ir.h"

#include <map>
#include <string>
#include <tuple>

namespace melix::loops {

class KeptChecks {
public:
  explicit KeptChecks(const Module& module) : places_(placesOf(module)) {}

  /// What a pass lost since the last call: empty, or a message about one check or panic.
  std::string after(const Module& module);

private:
  /// A statement of a kind at a place, with its message.
  using Key = std::tuple<StmtKind, LocId, std::string>;
  /// By these the name of a function in which it stands.
  using Places = std::map<Key, std::string>;
  static Places placesOf(const Module& module);

  Places places_;
};

} // namespace melix::loops
