#pragma once
// Internal to the emulated device.

#include <stdint.h>

namespace melix::runtime {

/// An order of `count` points or threads, in which each comes once: one of many by MELIX_DEVICE_SEED; without
/// it odd numbers come first.
class Order {
public:
  explicit Order(uint64_t count);
  /// The next one; false if there is none.
  bool next(uint64_t& number);

private:
  uint64_t count_, left_, at_, step_;
  bool isDrawn_;
};

} // namespace melix::runtime
