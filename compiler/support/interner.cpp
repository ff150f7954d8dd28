#include "support/interner.h"

namespace melix {

NameId Interner::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  NameId id(static_cast<uint32_t>(texts_.size() - 1));
  ids_.emplace(texts_.back(), id);
  return id;
}

} // namespace melix
