#pragma once
// Values in the runtime's stored form (melix/types.h), as compiled code takes and gives them.

#include "melix/abi.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace melix::repl {

class StoredValue;

/// The stored values of a task. It outlives them.
class StoredValues {
public:
  explicit StoredValues(MelixTask* task) : task_(task) {}
  StoredValues(const StoredValues&) = delete;
  StoredValues& operator=(const StoredValues&) = delete;

  MelixTask* task() const { return task_; }
  /// A value of the type whose bytes are 0: valid to drop, and to be filled in.
  std::shared_ptr<StoredValue> make(const MelixType* type);
  /// Counts the owners of all blocks anew. To be called after compiled code was left without unwinding.
  void countOwners();

private:
  friend StoredValue;
  MelixTask* task_;
  std::vector<StoredValue*> alive_;
};

/// A value that owns its part of the blocks.
class StoredValue {
public:
  StoredValue(StoredValues& all, const MelixType* type);
  ~StoredValue();
  StoredValue(const StoredValue&) = delete;
  StoredValue& operator=(const StoredValue&) = delete;

  const MelixType* type() const { return type_; }
  std::byte* place() { return bytes_.data(); }
  MelixValue value() const { return {type_, bytes_.data()}; }

private:
  StoredValues& all_;
  const MelixType* type_;
  size_t index_; ///< among those alive
  std::vector<std::byte> bytes_;
};

} // namespace melix::repl
