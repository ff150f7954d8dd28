#include "repl/compiled/held_value.h"

namespace melix::repl {

const interp::Value& HeldValue::plain(StoredForms& forms) const {
  if (!forms_->plain) forms_->plain = forms.plain(forms_->type, forms_->stored);
  return *forms_->plain;
}

/// An array of scalars then is one: the plain form lends it from the stored one.
std::shared_ptr<StoredValue> HeldValue::stored(StoredForms& forms, const MelixType* descriptor,
                                               std::string& problem) const {
  if (forms_->stored) return forms_->stored;
  forms_->stored = forms.stored(forms_->type, *forms_->plain, descriptor, problem);
  if (forms_->stored) forms_->plain.reset();
  return forms_->stored;
}

} // namespace melix::repl
