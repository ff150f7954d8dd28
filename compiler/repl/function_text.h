#pragma once
#include "session/session.h"

namespace melix::repl {

/// The text that the prompt shows of a template value: the signatures of a named function, as they are
/// written; of any other the name of its type in messages.
std::string functionText(session::Session& session, types::TypeId type);

} // namespace melix::repl
