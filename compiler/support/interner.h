#pragma once
// Interned names: equal text has equal ids.

#include "support/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace melix {

struct NameTag;
using NameId = Id<NameTag>;

/// Maps text to ids and back. Returned views live as long as the interner.
class Interner {
public:
  NameId intern(std::string_view text);
  std::string_view text(NameId id) const { return texts_[id.index]; }
  size_t size() const { return texts_.size(); }

private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, NameId> ids_;
};

} // namespace melix
