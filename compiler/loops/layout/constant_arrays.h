#pragma once
// Finds literals of numbers that are copied as a whole, decided over Core. One store per number would make
// the code as long as the literal. Shorter literals are stored at their place in the outermost one.

#include "core/ir/uses.h"

#include <string>
#include <unordered_map>

namespace melix::loops {

class Literals {
public:
  /// For a function that stays as it is, and its uses.
  Literals(const core::Function& fn, const types::TypeStore& types, const core::Uses& uses)
      : fn_(fn), types_(types), uses_(uses) {}

  /// The bytes of a literal that is long enough; nothing otherwise.
  const std::string& bytesOf(const core::Op& op);
  /// Whether a value is only used as a part of such literals.
  bool isPart(core::ValueId v);
  /// Whether a value is a literal of scalars that only another literal holds: its scalars are stored there.
  bool isRow(core::ValueId v) const;

private:
  bool appendBytes(core::ValueId v, std::string& bytes) const;

  const core::Function& fn_;
  const types::TypeStore& types_;
  const core::Uses& uses_;
  std::unordered_map<const core::Op*, std::string> bytes_; ///< results so far; empty: made part by part
};

} // namespace melix::loops
