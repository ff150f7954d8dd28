#pragma once
// Internal: words and numbers in the text of Core, and of languages that share its values, as printers write
// them and readers take them.

#include "core/ir/ir.h"

namespace melix::core {

/// Text in quotes; characters that are not printable are escaped.
std::string quoted(std::string_view text);

/// A scalar of this kind: the shortest number that reads back to the same bits; a NaN, and any other value
/// that no number denotes, as bits.
std::string bitsText(TypeKind kind, uint64_t bits);
uint64_t textBits(TypeKind kind, std::string_view text);

/// The word for the attribute number of an op (`lt`, `exp`, `wrap`); empty if it has none for it.
std::string_view indexWord(OpKind kind, uint32_t index);
std::optional<uint32_t> indexOfWord(OpKind kind, std::string_view word);

/// The kind of this name among the first `count`.
template <class Kind, class NameOf>
std::optional<Kind> byName(std::string_view name, unsigned count, NameOf nameOf) {
  for (unsigned k = 0; k < count; ++k)
    if (nameOf(static_cast<Kind>(k)) == name) return static_cast<Kind>(k);
  return std::nullopt;
}

} // namespace melix::core
