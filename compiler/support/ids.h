#pragma once
// Typed 32-bit ids and the stores they index.

#include <cassert>
#include <compare>
#include <cstdint>
#include <functional>
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

/// Owns values addressed by typed ids. A reference is invalidated by the next `add`.
template <class IdType, class Value>
class Store {
public:
  IdType add(Value value) {
    values_.push_back(std::move(value));
    return IdType(static_cast<uint32_t>(values_.size() - 1));
  }
  Value& operator[](IdType id) {
    assert(id.index < values_.size() && "id does not belong to this store");
    return values_[id.index];
  }
  const Value& operator[](IdType id) const {
    assert(id.index < values_.size() && "id does not belong to this store");
    return values_[id.index];
  }
  size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

private:
  std::vector<Value> values_;
};

} // namespace melix

template <class Tag>
struct std::hash<melix::Id<Tag>> {
  size_t operator()(melix::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
