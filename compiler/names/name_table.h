#pragma once
// Tables from names to meanings; a table may have an enclosing one.

#include "support/interner.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace melix::names {

/// A table from names. A name it lacks is looked up in the enclosing table, which outlives it, except the
/// names that it hides. A nested table costs only its own entries.
template <class T>
class NameTable {
public:
  using Own = std::unordered_map<NameId, T>;

  /// The meaning of the name; null if it has none.
  const T* find(NameId name) const {
    for (const NameTable* at = this; at; at = at->hides(name) ? nullptr : at->around_)
      if (auto found = at->own_.find(name); found != at->own_.end()) return &found->second;
    return nullptr;
  }
  bool contains(NameId name) const { return find(name); }
  /// An entry of its own, which starts as a copy of the enclosing table's entry.
  T& operator[](NameId name) {
    if (auto found = own_.find(name); found != own_.end()) return found->second;
    const T* known = find(name);
    return own_.emplace(name, known ? *known : T()).first->second;
  }
  /// The entries of this table, without the enclosing one.
  const Own& own() const { return own_; }
  /// All that it holds.
  std::vector<std::pair<NameId, const T*>> all() const {
    std::vector<std::pair<NameId, const T*>> out;
    for (const NameTable* at = this; at; at = at->around_)
      for (const auto& [name, meant] : at->own_)
        if (at == this || find(name) == &meant) out.emplace_back(name, &meant);
    return out;
  }
  /// Sets the enclosing table; own entries stay.
  void layIn(const NameTable& around, const std::unordered_set<NameId>& hidden = {}) {
    around_ = &around;
    hidden_ = hidden;
  }

private:
  bool hides(NameId name) const { return hidden_.contains(name); }

  Own own_;
  std::unordered_set<NameId> hidden_;
  const NameTable* around_ = nullptr;
};

} // namespace melix::names
