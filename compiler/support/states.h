#pragma once
// Sets of states: facts about a whole module that passes require, establish and end.

#include <cstdint>
#include <initializer_list>

namespace melix {

/// `State` is an enum class of fewer than 32 states, numbered from 0.
template <class State>
class States {
public:
  constexpr States() = default;
  constexpr States(std::initializer_list<State> states) {
    for (State s : states) bits_ |= bitOf(s);
  }

  constexpr bool has(State s) const { return (bits_ & bitOf(s)) != 0; }
  constexpr bool has(States all) const { return (bits_ & all.bits_) == all.bits_; }
  constexpr bool isEmpty() const { return bits_ == 0; }
  constexpr States operator|(States other) const { return States(bits_ | other.bits_); }
  /// These without the others.
  constexpr States operator-(States other) const { return States(bits_ & ~other.bits_); }
  constexpr bool operator==(const States&) const = default;

private:
  constexpr explicit States(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bitOf(State s) { return uint32_t(1) << static_cast<uint32_t>(s); }

  uint32_t bits_ = 0;
};

} // namespace melix
