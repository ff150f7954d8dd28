#pragma once
// Verifies that passes over Loops keep every statement that may fail. No such pass proves a check: it copies,
// moves and guards checks, and copies keep their message and place. So each place that may panic before a
// pass may panic after it. One copy in the module is enough: the test ignores which instance or version has
// it.

#include "loops/ir/ir.h"

#include <map>
#include <string>
#include <tuple>

namespace melix::loops {

class KeptChecks {
public:
  explicit KeptChecks(const Module& module) : places_(placesOf(module)) {}

  /// The losses of a pass since the last call: empty, or a message about one check or panic.
  std::string after(const Module& module);

private:
  /// A statement of a kind at a place, with its message.
  using Key = std::tuple<StmtKind, LocId, std::string>;
  /// For each key, the name of a function that contains it.
  using Places = std::map<Key, std::string>;
  static Places placesOf(const Module& module);

  Places places_;
};

} // namespace melix::loops
