#pragma once
// The trail: an undo log of the state of a check. State that an attempt may change stands in the containers
// below, which record each change themselves, so that no kind of state can be left out of an undo.

#include "support/ids.h"

#include <cassert>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace melix::check {

/// Records changes from a mark on, until they are undone or committed. Marks are nested: the last one that
/// was set ends first. While no mark is set nothing is recorded.
///
/// A trail may stand over an outer one, which is marked, undone and committed with it: that of a body stands
/// over that of the checker, which outlives it.
class Trail {
public:
  struct Mark {
    size_t changes, outer;
  };

  explicit Trail(Trail* outer = nullptr) : outer_(outer) {}
  Trail(const Trail&) = delete;
  Trail& operator=(const Trail&) = delete;

  Mark mark() {
    ++marks_;
    return {undo_.size(), outer_ ? outer_->mark().changes : 0};
  }
  /// Takes the changes since the mark back, the last one first, and ends the mark.
  void undo(Mark mark) {
    for (; undo_.size() > mark.changes; undo_.pop_back()) undo_.back()();
    end();
    if (outer_) outer_->undo({mark.outer, 0});
  }
  /// Lets the changes since the mark stand, and ends the mark: that around it may still undo them.
  void commit(Mark mark) {
    assert(undo_.size() >= mark.changes && "an outer mark ended before an inner one");
    end();
    if (outer_) outer_->commit({mark.outer, 0});
  }

  bool isRecording() const { return marks_ > 0; }
  /// How a change that is about to be made is undone. A caller that captures a copy asks isRecording() first.
  template <class Undo>
  void record(Undo&& undo) {
    if (isRecording()) undo_.emplace_back(std::forward<Undo>(undo));
  }
  /// Assigns to a place that stands until the trail ends.
  template <class T, class Value>
  void set(T& place, Value&& value) {
    if (isRecording()) record([&place, before = place] { place = before; });
    place = std::forward<Value>(value);
  }

private:
  void end() {
    assert(marks_ > 0 && "a mark ends twice");
    if (--marks_ == 0) undo_.clear();
  }

  Trail* const outer_;
  std::vector<std::function<void()>> undo_;
  size_t marks_ = 0;
};

/// A value; each change of it is recorded.
template <class T>
class Trailed {
public:
  explicit Trailed(Trail& trail, T value = {}) : trail_(trail), value_(std::move(value)) {}
  Trailed(const Trailed&) = delete;

  operator const T&() const { return value_; }
  explicit operator bool() const
    requires(!std::is_same_v<T, bool>)
  {
    return static_cast<bool>(value_);
  }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  /// The value, to be changed before the next mark is set or ends.
  T& edit() {
    if (trail_.isRecording()) trail_.record([this, before = value_] { value_ = before; });
    return value_;
  }
  Trailed& operator=(T value) {
    edit() = std::move(value);
    return *this;
  }
  /// Assigns, and gives the value that was there.
  T exchange(T value) { return std::exchange(edit(), std::move(value)); }
  void operator++() { ++edit(); }
  void operator--() { --edit(); }
  void operator+=(const T& more) { edit() += more; }
  void operator-=(const T& less) { edit() -= less; }

private:
  Trail& trail_;
  T value_;
};

/// A vector; each change of it is recorded.
template <class T>
class TrailedVector {
public:
  explicit TrailedVector(Trail& trail) : trail_(trail) {}
  TrailedVector(const TrailedVector&) = delete;

  operator const std::vector<T>&() const { return values_; }
  const std::vector<T>& operator*() const { return values_; }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const T& operator[](size_t k) const { return values_[k]; }
  const T& back() const { return values_.back(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  auto rbegin() const { return values_.rbegin(); }
  auto rend() const { return values_.rend(); }

  void push_back(T value) {
    trail_.record([this] { values_.pop_back(); });
    values_.push_back(std::move(value));
  }
  void pop_back() {
    if (trail_.isRecording()) trail_.record([this, last = values_.back()] { values_.push_back(last); });
    values_.pop_back();
  }
  /// An element, to be changed before the next mark is set or ends.
  T& edit(size_t k) {
    if (trail_.isRecording()) trail_.record([this, k, before = values_[k]] { values_[k] = before; });
    return values_[k];
  }
  T& editBack() { return edit(values_.size() - 1); }
  /// Sets all elements, and gives the old ones.
  std::vector<T> exchange(std::vector<T> values) {
    if (trail_.isRecording()) trail_.record([this, before = values_] { values_ = before; });
    return std::exchange(values_, std::move(values));
  }
  void clear() {
    if (!empty()) exchange({});
  }
  void resize(size_t size) {
    while (values_.size() > size) pop_back();
  }

private:
  Trail& trail_;
  std::vector<T> values_;
};

/// A map from keys to values; each change of it is recorded.
template <class Map>
class TrailedMap {
public:
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;

  explicit TrailedMap(Trail& trail) : trail_(trail) {}
  TrailedMap(const TrailedMap&) = delete;

  operator const Map&() const { return values_; }
  const Map& operator*() const { return values_; }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  bool contains(const Key& key) const { return values_.contains(key); }
  auto find(const Key& key) const { return values_.find(key); }
  const Value& at(const Key& key) const { return values_.at(key); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// Adds a value unless there is one for the key: whether there was none.
  bool add(const Key& key, Value value) {
    const bool isNew = values_.try_emplace(key, std::move(value)).second;
    if (isNew) trail_.record([this, key] { values_.erase(key); });
    return isNew;
  }
  void set(const Key& key, Value value) {
    erase(key);
    add(key, std::move(value));
  }
  void erase(const Key& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return;
    if (trail_.isRecording())
      trail_.record([this, key, before = found->second] { values_.emplace(key, before); });
    values_.erase(found);
  }
  /// All of it, to be changed before the next mark is set or ends.
  Map& edit() {
    if (trail_.isRecording()) trail_.record([this, before = values_] { values_ = before; });
    return values_;
  }

private:
  Trail& trail_;
  Map values_;
};

/// A set; each change of it is recorded.
template <class Set>
class TrailedSet {
public:
  using Key = typename Set::key_type;

  explicit TrailedSet(Trail& trail) : trail_(trail) {}
  TrailedSet(const TrailedSet&) = delete;

  bool contains(const Key& key) const { return values_.contains(key); }
  void insert(const Key& key) {
    if (values_.insert(key).second) trail_.record([this, key] { values_.erase(key); });
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

private:
  Trail& trail_;
  Set values_;
};

/// A store whose changes are recorded on the trail of who fills it; afterwards it is only read. A reference
/// stays valid while its value is there.
template <class IdType, class Value>
class TrailedStore {
public:
  IdType add(Value value) {
    if (trail_) trail_->record([this] { values_.removeLast(); });
    return values_.add(std::move(value));
  }
  const Value& operator[](IdType id) const { return values_[id]; }
  /// A value, to be changed before the next mark is set or ends.
  Value& edit(IdType id) {
    if (trail_ && trail_->isRecording())
      trail_->record([this, id, before = values_[id]] { values_[id] = before; });
    return values_[id];
  }
  /// A value, to be changed for good: the change is never undone while the value exists.
  Value& note(IdType id) { return values_[id]; }
  size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  /// None: changes are recorded no more.
  void recordOn(Trail* trail) { trail_ = trail; }

private:
  Store<IdType, Value> values_;
  Trail* trail_ = nullptr;
};

} // namespace melix::check
