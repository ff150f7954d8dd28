#include "repl/compiled/stored_value.h"

namespace melix::repl {

std::shared_ptr<StoredValue> StoredValues::make(const MelixType* type) {
  return std::make_shared<StoredValue>(*this, type);
}

void StoredValues::countOwners() {
  std::vector<MelixValue> values;
  for (const StoredValue* each : alive_) values.push_back(each->value());
  melix_count_owners(task_, values.data(), static_cast<int64_t>(values.size()));
}

StoredValue::StoredValue(StoredValues& all, const MelixType* type)
    : all_(all), type_(type), index_(all.alive_.size()), bytes_(type->size) {
  all.alive_.push_back(this);
}

StoredValue::~StoredValue() {
  melix_release_value(all_.task_, type_, bytes_.data());
  all_.alive_[index_] = all_.alive_.back();
  all_.alive_[index_]->index_ = index_;
  all_.alive_.pop_back();
}

} // namespace melix::repl
