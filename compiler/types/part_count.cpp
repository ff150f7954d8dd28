#include "types/types.h"

#include <algorithm>

namespace melix::types {

/// Counts each type once and keeps the number: what a type reaches is far smaller than what it is made of.
class PartCounter {
public:
  explicit PartCounter(const TypeStore& types) : types_(types) {}

  size_t count(TypeId id) {
    const Type& t = types_[id];
    if (t.parts.empty() && !t.result && !t.record) return 1;
    if (auto known = types_.partCounts_.find(id); known != types_.partCounts_.end()) return known->second;
    size_t found = 1;
    for (TypeId part : t.parts) add(found, part);
    if (t.result) add(found, t.result);
    if (t.record) addRecord(found, t.record);
    if (isComplete_) types_.partCounts_.emplace(id, found);
    return found;
  }

private:
  static constexpr size_t most = TypeStore::mostParts + 1;

  void add(size_t& sum, TypeId part) {
    if (sum < most) sum = std::min(most, sum + count(part));
  }

  /// Its fields or its arguments, whichever are more: an argument need not be in a field.
  void addRecord(size_t& sum, RecordId id) {
    if (std::find(open_.begin(), open_.end(), id) != open_.end()) return;
    open_.push_back(id);
    const Record& record = types_.recordInfo(id);
    isComplete_ &= !record.cases.empty();
    size_t fields = sum, arguments = sum;
    for (const EnumCase& c : record.cases)
      for (const Field& field : c.fields) add(fields, field.type);
    for (TypeId argument : record.typeArgs) add(arguments, argument);
    sum = std::max(fields, arguments);
    open_.pop_back();
  }

  const TypeStore& types_;
  std::vector<RecordId> open_; ///< records on the way
  bool isComplete_ = true;     ///< the fields of all records met are known
};

size_t TypeStore::partCount(TypeId id) const { return PartCounter(*this).count(id); }

} // namespace melix::types
