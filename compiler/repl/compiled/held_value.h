#pragma once
// Values that the prompt holds from one entry to the next.

#include "repl/compiled/stored_forms.h"

namespace melix::repl {

/// A value in the form in which it was made, plain or stored; the other one is made when it is asked for, and
/// kept. Copies share both.
class HeldValue {
public:
  HeldValue(types::TypeId type, interp::Value plain) : forms_(new Forms{type, std::move(plain), {}}) {}
  HeldValue(types::TypeId type, std::shared_ptr<StoredValue> stored)
      : forms_(new Forms{type, {}, std::move(stored)}) {}

  const interp::Value& plain(StoredForms& forms) const;
  /// None if memory is not available; then `problem` says so.
  std::shared_ptr<StoredValue> stored(StoredForms& forms, const MelixType* descriptor,
                                      std::string& problem) const;

  /// Forgets the plain form, which may lend from the stored one.
  void dropPlain() const {
    if (forms_->stored) forms_->plain.reset();
  }
  /// Whether that is the object of the plain form, as far as there is one.
  bool isPlain(const interp::Value& value) const {
    return forms_->plain && interp::isObject(value.kind()) && interp::isObject(forms_->plain->kind()) &&
           value.slot().o == forms_->plain->slot().o;
  }
  /// Whether both are copies of one value.
  bool sharesWith(const HeldValue& other) const { return forms_ == other.forms_; }

private:
  struct Forms {
    types::TypeId type;
    std::optional<interp::Value> plain;
    std::shared_ptr<StoredValue> stored;
  };
  std::shared_ptr<Forms> forms_;
};

} // namespace melix::repl
