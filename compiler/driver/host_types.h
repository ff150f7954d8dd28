#pragma once
#include "interp/value.h"
#include "melix/abi.h"

#include <deque>
#include <unordered_map>

namespace melix::driver {

/// Values of the interpreter in the runtime's stored form (melix/abi.h, sections 1 and 2), so that the
/// runtime can print and write them. Enums are boxed and arrays of structs are dense: no program sees the
/// difference.
class HostTypes {
public:
  HostTypes(types::TypeStore& types, MelixTask* task) : types_(types), task_(task) {}

  /// The descriptor of a type; it lives as long as this object.
  const MelixType* describe(types::TypeId type);
  /// Writes a value to `to`, which has room for `describe(type)->size` bytes; `to` owns the blocks that it
  /// allocates.
  void store(types::TypeId type, interp::Slot value, char* to);

private:
  types::TypeId opened(types::TypeId type);
  /// The descriptor of a type. The descriptor of an element (not `inside` of another type) may be filled in
  /// later, since a type may be an element of itself. An unfilled one has alignment 0.
  const MelixType* descriptor(types::TypeId type, bool inside);
  void fill(types::TypeId type, MelixType& out);
  /// Lays fields out after `offset` bytes; returns their end, and the strictest alignment in `align`.
  uint32_t layOut(std::span<const types::TypeId> parts, std::span<const NameId> names, uint32_t offset,
                  uint8_t& align, uint8_t& flags, const MelixField*& fields);
  void describeEnum(types::TypeId type, MelixType& out);
  void storeArray(types::TypeId type, const interp::Array& array, char* to);
  void storeRecord(types::TypeId type, const interp::Record& record, char* to);
  const char* text(std::string_view s);

  types::TypeStore& types_;
  MelixTask* task_;
  std::unordered_map<types::TypeId, MelixType*> known_;
  std::vector<std::pair<types::TypeId, MelixType*>> waiting_;
  std::deque<MelixType> descriptors_;
  std::deque<std::vector<MelixField>> fields_;
  std::deque<std::vector<MelixCase>> cases_;
  std::deque<std::string> texts_;
};

} // namespace melix::driver
