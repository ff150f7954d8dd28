#pragma once
// Vectors of few small values.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace melix {

/// A vector whose first `Own` elements stand in the object itself; more are on the heap. The interface is
/// that of std::vector as far as it goes. A reference to an element is valid until one is added.
template <class T, uint32_t Own>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <std::ranges::sized_range Range>
    requires std::convertible_to<std::ranges::range_reference_t<Range>, T>
  SmallVector(const Range& values) { // NOLINT(google-explicit-constructor): a list of the same values
    assign(std::ranges::begin(values), std::ranges::end(values));
  }
  template <std::forward_iterator It>
  SmallVector(It first, It last) {
    assign(first, last);
  }
  SmallVector(size_t count, T value) { resize(count, value); }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~SmallVector() { release(); }

  explicit operator std::vector<T>() const { return {begin(), end()}; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return isOwn() ? reinterpret_cast<T*>(room_.own) : room_.heap; }
  const T* data() const { return isOwn() ? reinterpret_cast<const T*>(room_.own) : room_.heap; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t k) { return data()[k]; }
  const T& operator[](size_t k) const { return data()[k]; }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void clear() { size_ = 0; }
  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }
  void push_back(T value) {
    reserve(size_ + 1);
    end()[0] = value;
    ++size_;
  }
  void resize(size_t count, T value = T()) {
    reserve(count);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = static_cast<uint32_t>(count);
  }
  template <class It>
  void assign(It first, It last) {
    size_ = 0;
    insert(end(), first, last);
  }
  /// The inserted elements belong to another list.
  template <std::forward_iterator It>
  T* insert(const T* place, It first, It last) {
    const size_t at = static_cast<size_t>(place - begin());
    const size_t count = static_cast<size_t>(std::distance(first, last));
    if (count == 0) return begin() + at;
    reserve(size_ + count);
    T* hole = begin() + at;
    std::copy_backward(hole, end(), end() + count);
    std::copy(first, last, hole);
    size_ += static_cast<uint32_t>(count);
    return hole;
  }
  T* insert(const T* place, T value) { return insert(place, &value, &value + 1); }
  T* erase(const T* first, const T* last) {
    T* to = begin() + (first - begin());
    if (first == last) return to;
    T* rest = std::copy(begin() + (last - begin()), end(), to);
    size_ = static_cast<uint32_t>(rest - begin());
    return to;
  }
  T* erase(const T* place) { return erase(place, place + 1); }

  bool operator==(const SmallVector& other) const { return std::ranges::equal(*this, other); }

private:
  bool isOwn() const { return capacity_ == Own; }
  void grow(size_t least) {
    const size_t capacity = std::max<size_t>(least, size_t(2) * capacity_);
    T* heap = std::allocator<T>().allocate(capacity);
    std::copy(begin(), end(), heap);
    release();
    room_.heap = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void release() {
    if (!isOwn()) std::allocator<T>().deallocate(room_.heap, capacity_);
    capacity_ = Own;
  }
  /// Takes the elements of `other`, which is then empty; this one owns nothing.
  void take(SmallVector& other) noexcept {
    std::memcpy(&room_, &other.room_, sizeof(room_));
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, Own);
  }

  uint32_t size_ = 0, capacity_ = Own;
  union Room {
    alignas(T) std::byte own[Own * sizeof(T)]{};
    T* heap;
  } room_;
};

} // namespace melix
