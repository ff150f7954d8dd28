#pragma once
// The way between values of the interpreter and the runtime's stored form.

#include "interp/forms.h"
#include "repl/compiled/stored_value.h"

#include <optional>
#include <string>

namespace melix::repl {

/// Whether values of a type have a stored form, and may go from one entry to the next. Functions of unknown
/// identity do not: they are numbered within one Core module.
bool isStorable(types::TypeStore& types, types::TypeId type);

/// Translates by the descriptors that compiled code gives with its values: they say how a type lies.
class StoredForms {
public:
  StoredForms(types::TypeStore& types, StoredValues& values)
      : types_(types), values_(values), forms_(types, true) {}

  /// The value in the plain form. Arrays of scalars are not copied: they keep the stored value.
  interp::Value plain(types::TypeId type, const std::shared_ptr<StoredValue>& stored);
  /// The stored form of a plain value. None if memory is not available; then `problem` says so.
  std::shared_ptr<StoredValue> stored(types::TypeId type, const interp::Value& plain,
                                      const MelixType* descriptor, std::string& problem);

private:
  types::TypeStore& types_;
  StoredValues& values_;
  interp::Forms forms_;
};

} // namespace melix::repl
