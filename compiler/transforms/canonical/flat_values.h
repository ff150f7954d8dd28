#pragma once
// The values of a function while its records are flattened: the leaves that stand for each. A part of
// flatten_records.

#include "core/ir/place.h"
#include "types/leaves.h"

#include <unordered_map>

namespace melix::transforms {

class FlatValues {
protected:
  FlatValues(core::Module& m, core::FunctionId id) : m_(m), id_(id), f_(m.functions[id]) {}

  static constexpr size_t whole = 0; ///< the limit of a record that stays whole

  core::TypeId typeOf(core::ValueId v) const { return f_.typeOf(v); }
  bool isFlat(core::TypeId t, size_t most = types::mostLeaves) const {
    return most != whole && types::isFlattened(m_.types, t, most);
  }
  size_t count(core::TypeId t, size_t most = types::mostLeaves) const {
    return isFlat(t, most) ? types::leavesOf(m_.types, t, most).size() : 1;
  }

  /// The leaves of a record; of another value the one that stands for it.
  std::span<const core::ValueId> leaves(const core::ValueId& v) const;
  core::ValueId one(core::ValueId v) const { return leaves(v)[0]; }
  void append(core::ValueId v, core::Operands& out) const;
  void setLeaves(core::ValueId v, std::span<const core::ValueId> by) {
    leaves_[v] = std::vector<core::ValueId>(by.begin(), by.end());
  }

  /// New values of the leaves' types, named by their paths.
  std::vector<core::ValueId> define(core::TypeId type, NameId hint, size_t most = types::mostLeaves);
  /// Appends the leaves of the value of type `type` at a place in memory, a read each.
  void load(core::Builder& b, core::ValueId root, core::TypeId type, const core::Place& at,
            std::vector<core::ValueId>& out, size_t most = types::mostLeaves);
  /// The place of a leaf of the value at a place.
  core::Place leafPlace(core::TypeId root, core::Place at, const types::Leaf& leaf);
  /// Splits a record that an op gives whole.
  void split(core::Builder& b, core::ValueId v);
  /// The record of leaves that stand in a list from `next` on.
  core::ValueId join(core::Builder& b, core::TypeId type, std::span<const core::ValueId> from, size_t& next,
                     size_t most);
  /// The value as it goes into memory.
  core::ValueId stored(core::Builder& b, core::ValueId v);
  /// Appends the leaves of a record that may be larger, up to `most`.
  void expand(core::Builder& b, core::ValueId v, size_t most, core::Operands& out);

  core::Module& m_;
  core::FunctionId id_;
  core::Function& f_;

private:
  /// The name of a field, or its number; of an enum `tag` and the numbers of the slots.
  std::string partName(core::TypeId product, uint32_t k) const;
  /// The name of a value with the names of the parts on the way to the leaf.
  NameId leafName(NameId hint, core::TypeId type, const types::Leaf& leaf);

  std::unordered_map<core::ValueId, std::vector<core::ValueId>> leaves_;
};

} // namespace melix::transforms
