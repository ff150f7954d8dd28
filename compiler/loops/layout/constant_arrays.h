#pragma once
// Literals of numbers that are copied as a whole, decided over Core: a store for each number would make the
// code as long as the literal. Shorter ones are stored where they stand in the outermost.

#include "core/ir/uses.h"

#include <string>
#include <unordered_map>

namespace melix::loops {

class Literals {
public:
  /// Of a function that stays as it is, with its uses.
  Literals(const core::Function& fn, const types::TypeStore& types, const core::Uses& uses)
      : fn_(fn), types_(types), uses_(uses) {}

  /// The bytes of a literal that is long enough; nothing otherwise.
  const std::string& bytesOf(const core::Op& op);
  /// Whether a value is nothing but a part of such literals.
  bool isPart(core::ValueId v);
  /// Whether a value is a literal of scalars that nothing but another literal holds: they are stored there.
  bool isRow(core::ValueId v) const;

private:
  bool appendBytes(core::ValueId v, std::string& bytes) const;

  const core::Function& fn_;
  const types::TypeStore& types_;
  const core::Uses& uses_;
  std::unordered_map<const core::Op*, std::string> bytes_; ///< what was found; empty: made part by part
};

} // namespace melix::loops
