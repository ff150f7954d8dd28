#pragma once
// The memory of the device that belongs to each block: a table by address.

#include "device.h"

namespace melix::runtime {

/// The memory of the device for one block.
struct DeviceCopy {
  MelixBlock* block;
  void* memory;
  int64_t use;                ///< the number of the last
  DeviceCopy* next;           ///< of the same bucket
  DeviceCopy *before, *after; ///< in the order of their last uses
};

/// All copies, by block and by their last use.
class DeviceCopies {
public:
  DeviceCopy* find(const MelixBlock* block) const {
    if (!buckets_) return nullptr;
    DeviceCopy* copy = buckets_[bucketOf(block)];
    while (copy && copy->block != block) copy = copy->next;
    return copy;
  }
  /// Null if the host has no memory for it.
  DeviceCopy* add(MelixBlock* block, void* memory) {
    if (count_ == capacity_ && !grow()) return nullptr;
    auto* copy = static_cast<DeviceCopy*>(malloc(sizeof(DeviceCopy)));
    if (!copy) return nullptr;
    *copy = {block, memory, 0, nullptr, nullptr, nullptr};
    enter(copy);
    append(copy);
    count_++;
    return copy;
  }
  void remove(DeviceCopy* copy) {
    DeviceCopy** place = &buckets_[bucketOf(copy->block)];
    while (*place != copy) place = &(*place)->next;
    *place = copy->next;
    unlink(copy);
    count_--;
    free(copy);
  }
  /// It is the one that was used last.
  void use(DeviceCopy* copy, int64_t use) {
    copy->use = use;
    unlink(copy);
    append(copy);
  }
  DeviceCopy* oldest() const { return oldest_; }

private:
  uint64_t bucketOf(const MelixBlock* block) const {
    return (reinterpret_cast<uintptr_t>(block) / MELIX_DATA_ALIGN * 0x9E3779B97F4A7C15) >> shift_;
  }
  void enter(DeviceCopy* copy) {
    DeviceCopy*& first = buckets_[bucketOf(copy->block)];
    copy->next = first;
    first = copy;
  }
  void append(DeviceCopy* copy) {
    copy->before = newest_;
    copy->after = nullptr;
    (newest_ ? newest_->after : oldest_) = copy;
    newest_ = copy;
  }
  void unlink(DeviceCopy* copy) {
    (copy->before ? copy->before->after : oldest_) = copy->after;
    (copy->after ? copy->after->before : newest_) = copy->before;
  }
  bool grow() {
    const uint64_t capacity = capacity_ ? 2 * capacity_ : 256;
    auto** buckets = static_cast<DeviceCopy**>(calloc(capacity, sizeof(DeviceCopy*)));
    if (!buckets) return false;
    free(buckets_);
    buckets_ = buckets;
    capacity_ = capacity;
    shift_ = static_cast<unsigned>(__builtin_clzll(capacity)) + 1;
    for (DeviceCopy* copy = oldest_; copy; copy = copy->after) enter(copy);
    return true;
  }

  DeviceCopy** buckets_ = nullptr;
  uint64_t count_ = 0, capacity_ = 0;
  unsigned shift_ = 0;
  DeviceCopy *oldest_ = nullptr, *newest_ = nullptr;
};

} // namespace melix::runtime
