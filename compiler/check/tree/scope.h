#pragma once
// The names that can be seen at a place of a body.

#include "check/tree/trail.h"
#include "check/tree/typed.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace melix::check {

/// A name that can be seen, the latest one last.
struct ScopeEntry {
  NameId name;
  LocalId local;
};

/// A stack of names: a block leaves by the size it began with. A name is found in constant time, however many
/// there are. Each change is recorded.
class Scope {
public:
  explicit Scope(Trail& trail) : trail_(trail) {}

  size_t size() const { return entries_.size(); }
  const ScopeEntry& operator[](size_t k) const { return entries_[k]; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  void add(ScopeEntry entry) {
    trail_.record([this] { pop(); });
    push(entry);
  }
  /// Forgets the names after the first `mark`.
  void leave(size_t mark) {
    while (entries_.size() > mark) {
      trail_.record([this, last = entries_.back()] { push(last); });
      pop();
    }
  }
  /// Forgets the entries that `condition` holds for, wherever they stand.
  template <class Condition>
  void removeIf(Condition&& condition) {
    const std::vector<ScopeEntry> all(entries_);
    leave(0);
    for (const ScopeEntry& entry : all)
      if (!condition(entry)) add(entry);
  }
  /// The latest variable of that name among the entries from `first` on; none if there is none.
  LocalId find(NameId name, size_t first = 0) const {
    auto places = places_.find(name);
    bool seen = places != places_.end() && !places->second.empty() && places->second.back() >= first;
    return seen ? entries_[places->second.back()].local : LocalId::none();
  }

private:
  void push(ScopeEntry entry) {
    places_[entry.name].push_back(entries_.size());
    entries_.push_back(entry);
  }
  void pop() {
    places_[entries_.back().name].pop_back();
    entries_.pop_back();
  }

  Trail& trail_;
  std::vector<ScopeEntry> entries_;
  std::unordered_map<NameId, std::vector<size_t>> places_; ///< of each name, upwards
};

} // namespace melix::check
