#pragma once
// Typed 32-bit ids and the stores they index.

#include <cassert>
#include <compare>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace melix {

/// A 32-bit index into the store of `Tag`s. The default value is `none()`.
template <class Tag>
struct Id {
  static constexpr uint32_t noneIndex = 0xffffffffu;
  uint32_t index = noneIndex;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  static constexpr Id none() { return Id(); }
  constexpr bool valid() const { return index != noneIndex; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr auto operator<=>(const Id&) const = default;
};

/// Owns values addressed by typed ids. A reference stays valid until the store goes or is assigned to: values
/// stand in chunks that never move. A copy of a store has values of its own; a moved store takes them along.
template <class IdType, class Value>
class Store {
  static constexpr uint32_t shift = 5, chunkSize = 1u << shift, mask = chunkSize - 1;

  /// Room for `chunkSize` values, whoever fills it.
  struct Chunk {
    std::vector<Value> values;

    Chunk() { values.reserve(chunkSize); }
    Chunk(const Chunk& other) : Chunk() { values.assign(other.values.begin(), other.values.end()); }
    Chunk(Chunk&&) noexcept = default;
    Chunk& operator=(Chunk other) noexcept {
      values.swap(other.values);
      return *this;
    }
  };

  /// Walks the values that were there when the walk began.
  template <class Owner>
  struct Iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value;
    using difference_type = ptrdiff_t;
    using reference = decltype(std::declval<Owner&>()[IdType()]);

    Owner* store = nullptr;
    uint32_t index = 0;

    reference operator*() const { return (*store)[IdType(index)]; }
    Iterator& operator++() {
      ++index;
      return *this;
    }
    Iterator operator++(int) { return {store, index++}; }
    bool operator==(const Iterator&) const = default;
  };

public:
  IdType add(Value value) {
    if (chunks_.empty() || chunks_.back().values.size() == chunkSize) chunks_.emplace_back();
    chunks_.back().values.push_back(std::move(value));
    return IdType(count() - 1);
  }
  Value& operator[](IdType id) {
    assert(id.index < count() && "id does not belong to this store");
    return chunks_[id.index >> shift].values[id.index & mask];
  }
  const Value& operator[](IdType id) const {
    assert(id.index < count() && "id does not belong to this store");
    return chunks_[id.index >> shift].values[id.index & mask];
  }
  size_t size() const { return count(); }
  auto begin() { return Iterator<Store>{this, 0}; }
  auto end() { return Iterator<Store>{this, count()}; }
  auto begin() const { return Iterator<const Store>{this, 0}; }
  auto end() const { return Iterator<const Store>{this, count()}; }

private:
  uint32_t count() const {
    if (chunks_.empty()) return 0;
    return static_cast<uint32_t>((chunks_.size() - 1) * chunkSize + chunks_.back().values.size());
  }

  std::vector<Chunk> chunks_;
};

} // namespace melix

template <class Tag>
struct std::hash<melix::Id<Tag>> {
  size_t operator()(melix::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
