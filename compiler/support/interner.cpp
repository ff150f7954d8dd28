#include "support/interner.h"

namespace melix {

NameId Interner::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  names_.push_back({texts_.back(), NameId::none()});
  NameId id(static_cast<uint32_t>(names_.size() - 1));
  ids_.emplace(texts_.back(), id);
  return id;
}

NameId Interner::marked(NameId name, uint32_t mark) {
  auto [found, isNew] = marked_.try_emplace({name, mark}, NameId(static_cast<uint32_t>(names_.size())));
  if (isNew) names_.push_back({text(name), name, mark});
  return found->second;
}

} // namespace melix
