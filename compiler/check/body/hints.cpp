#include "check/body/hints.h"

namespace melix::check {

void adviseLast(Messages& told, Body& body, Span whole, Span part) {
  const Expansion* made = body.c.modules.sources.expansion(whole.file);
  if (made && !made->advice.empty() && told.any() && told.last()->span == part) told.hintLast(made->advice);
}

} // namespace melix::check
