#pragma once
#include "session/session.h"

namespace melix::repl {

/// What the prompt shows of a template value: the signatures of a function that has a name, as they are
/// written; of any other what messages call its type.
std::string functionText(session::Session& session, types::TypeId type);

} // namespace melix::repl
