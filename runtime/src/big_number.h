#pragma once
// Natural numbers of bounded size, for exact conversion between binary and decimal.

#include <stdint.h>

namespace melix::runtime {

/// Holds what an f64 needs: 2^1074 · 10^17 and the like, with room for a few more digits. Limbs above `size`
/// are not set.
class BigNumber {
public:
  void set(uint64_t value) {
    limbs_[0] = static_cast<uint32_t>(value);
    limbs_[1] = static_cast<uint32_t>(value >> 32);
    size_ = limbs_[1] ? 2 : limbs_[0] ? 1 : 0;
  }
  bool isZero() const { return size_ == 0; }
  void multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t k = 0; k < size_; k++) {
      carry += static_cast<uint64_t>(limbs_[k]) * factor;
      limbs_[k] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry) limbs_[size_++] = static_cast<uint32_t>(carry);
  }
  void multiplyPower10(uint32_t exponent) {
    for (; exponent >= 9; exponent -= 9) multiply(1'000'000'000);
    uint32_t rest = 1;
    for (; exponent > 0; exponent--) rest *= 10;
    multiply(rest);
  }
  void shiftLeft(uint32_t bits) {
    if (size_ == 0) return;
    uint32_t limbs = bits / 32, rest = bits % 32;
    limbs_[size_] = 0;
    for (uint32_t k = size_ + 1; k-- > 0;) {
      uint64_t pair = static_cast<uint64_t>(limbs_[k]) << 32 | (k > 0 ? limbs_[k - 1] : 0);
      limbs_[k + limbs] = static_cast<uint32_t>(pair << rest >> 32);
    }
    for (uint32_t k = 0; k < limbs; k++) limbs_[k] = 0;
    size_ += limbs + 1;
    trim();
  }
  /// -1, 0, 1
  int compare(const BigNumber& other) const {
    if (size_ != other.size_) return size_ < other.size_ ? -1 : 1;
    for (uint32_t k = size_; k-- > 0;) {
      if (limbs_[k] != other.limbs_[k]) return limbs_[k] < other.limbs_[k] ? -1 : 1;
    }
    return 0;
  }
  /// Compares a + b with c.
  static int compareSum(const BigNumber& a, const BigNumber& b, const BigNumber& c) {
    BigNumber sum = a;
    sum.add(b);
    return sum.compare(c);
  }
  void add(const BigNumber& other) {
    uint64_t carry = 0;
    uint32_t size = size_ > other.size_ ? size_ : other.size_;
    for (uint32_t k = 0; k < size; k++) {
      carry += (k < size_ ? limbs_[k] : 0ull) + (k < other.size_ ? other.limbs_[k] : 0ull);
      limbs_[k] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    size_ = size;
    if (carry) limbs_[size_++] = static_cast<uint32_t>(carry);
  }
  /// Divides by a number more than a tenth of this one; leaves the remainder and returns the quotient (0..9,
  /// or 10).
  int divideSmall(const BigNumber& divisor) {
    int quotient = 0;
    while (compare(divisor) >= 0) {
      subtract(divisor);
      quotient++;
    }
    return quotient;
  }

  BigNumber() = default;
  BigNumber(const BigNumber& other) { *this = other; }
  BigNumber& operator=(const BigNumber& other) {
    size_ = other.size_;
    for (uint32_t k = 0; k < size_; k++) limbs_[k] = other.limbs_[k];
    return *this;
  }

private:
  void subtract(const BigNumber& other) { // other <= *this
    int64_t borrow = 0;
    for (uint32_t k = 0; k < size_; k++) {
      borrow += static_cast<int64_t>(limbs_[k]) - (k < other.size_ ? other.limbs_[k] : 0);
      limbs_[k] = static_cast<uint32_t>(borrow);
      borrow >>= 32;
    }
    trim();
  }
  void trim() {
    while (size_ > 0 && limbs_[size_ - 1] == 0) size_--;
  }

  static constexpr uint32_t capacity = 80; // 2560 bits
  uint32_t limbs_[capacity];
  uint32_t size_ = 0;
};

} // namespace melix::runtime
