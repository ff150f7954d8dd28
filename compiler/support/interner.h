#pragma once
// Interned names: equal text has equal ids.

#include "support/ids.h"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace melix {

struct NameTag;
using NameId = Id<NameTag>;

/// Maps text to ids and back. Returned views live as long as the interner.
///
/// A name may carry a mark: who wrote it. Names of one spelling with different marks are different names:
/// comparing ids distinguishes them. Their text is the spelling.
class Interner {
public:
  NameId intern(std::string_view text);
  std::string_view text(NameId id) const { return names_[id.index].text; }
  size_t size() const { return names_.size(); }

  /// `name` with one mark more.
  NameId marked(NameId name, uint32_t mark);
  bool isMarked(NameId name) const { return name && names_[name.index].before.valid(); }
  /// Of a marked name: its last mark, and the name without it.
  uint32_t markOf(NameId name) const { return names_[name.index].mark; }
  NameId unmarkedOnce(NameId name) const { return names_[name.index].before; }
  /// The name without marks.
  NameId spelling(NameId name) const {
    while (isMarked(name)) name = unmarkedOnce(name);
    return name;
  }

private:
  struct Name {
    std::string_view text;
    NameId before; ///< none: it has no mark
    uint32_t mark = 0;
  };
  std::deque<std::string> texts_;
  std::vector<Name> names_;
  std::unordered_map<std::string_view, NameId> ids_;
  std::map<std::pair<NameId, uint32_t>, NameId> marked_;
};

} // namespace melix
