#pragma once
// Typed 32-bit ids and the stores they index.

#include <bit>
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
  /// Each chunk is twice as large as the one before: their table is short, and values mostly stand side by
  /// side.
  static constexpr uint32_t firstShift = 3, firstSize = 1u << firstShift;

  /// Room for a fixed number of values, whoever fills it.
  struct Chunk {
    std::vector<Value> values;

    explicit Chunk(size_t capacity) { values.reserve(capacity); }
    Chunk(const Chunk& other) : Chunk(other.values.capacity()) {
      values.assign(other.values.begin(), other.values.end());
    }
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
  Store() = default;
  Store(const Store&) = default;
  Store(Store&& other) noexcept : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  Store& operator=(Store other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }

  IdType add(Value value) {
    if (size_ == sizeBefore(chunks_.size())) chunks_.emplace_back(size_t(firstSize) << chunks_.size());
    chunks_.back().values.push_back(std::move(value));
    return IdType(size_++);
  }
  /// Takes the value away that was added last; its id is given again.
  void removeLast() {
    assert(size_ > 0 && "nothing is left to take away");
    chunks_.back().values.pop_back();
    if (chunks_.back().values.empty()) chunks_.pop_back();
    --size_;
  }
  // Every walk looks values up: calls of these took 7 % of the time of the passes.
  [[gnu::always_inline]] Value& operator[](IdType id) {
    assert(id.index < size_ && "id does not belong to this store");
    return chunks_[chunkOf(id)].values[offsetOf(id)];
  }
  [[gnu::always_inline]] const Value& operator[](IdType id) const {
    assert(id.index < size_ && "id does not belong to this store");
    return chunks_[chunkOf(id)].values[offsetOf(id)];
  }
  size_t size() const { return size_; }
  auto begin() { return Iterator<Store>{this, 0}; }
  auto end() { return Iterator<Store>{this, size_}; }
  auto begin() const { return Iterator<const Store>{this, 0}; }
  auto end() const { return Iterator<const Store>{this, size_}; }

private:
  /// How many values the first `chunks` chunks hold. Counted with that of the first chunk added, an index has
  /// its chunk in its highest bit and its place there in the others.
  static uint32_t sizeBefore(size_t chunks) {
    return static_cast<uint32_t>(((uint64_t(1) << chunks) - 1) << firstShift);
  }
  static size_t chunkOf(IdType id) { return std::bit_width(id.index + firstSize) - 1 - firstShift; }
  static uint32_t offsetOf(IdType id) {
    const uint32_t at = id.index + firstSize;
    return at - std::bit_floor(at);
  }

  std::vector<Chunk> chunks_; ///< full but for the last; a moved store has none
  uint32_t size_ = 0;
};

} // namespace melix

template <class Tag>
struct std::hash<melix::Id<Tag>> {
  size_t operator()(melix::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
