#include "check/body/hints.h"

namespace melix::check {

void adviseLast(Body& body, Span whole, Span part) {
  const Expansion* made = body.c.modules.sources.expansion(whole.file);
  if (made && !made->advice.empty() && !body.sink.all().empty() && body.sink.all().back().span == part)
    body.sink.hintLast(made->advice);
}

} // namespace melix::check
