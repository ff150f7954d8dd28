#pragma once
// The session of a prompt as a program (`:save`).

#include "repl/transcript.h"

#include <functional>

namespace melix::repl {

struct SavedProgram {
  std::string text;
  std::vector<std::string> problems; ///< one for each piece that is another one in the program, for people
};

/// An error of a program: where it begins, and its message.
struct ProgramError {
  size_t at;
  std::string message;
  DiagId id;
  std::vector<size_t> calls; ///< where its notes are
  std::string name;          ///< the first argument of the message; may be empty
};
using CheckProgram = std::function<std::vector<ProgramError>(const std::string& program)>;

/// A program that has the variables of the session after it and prints the same as the entries printed.
///   1. Of a name that was declared again the last declaration stays; overloads stay.
///   2. A `let` stays unless it has no effect and the name is bound again before it is used.
///   3. An expression that was shown stays as `let _ = …`, unless it has no effect.
///   4. A piece that is an error in the program is a comment there, with the reason, and a problem.
///   5. Of a `let` that functions see and that was bound again, only the last one stays in this way.
///   6. A statement that ran with an earlier declaration of a name it uses is a problem: it may do other
///      things now.
SavedProgram savedProgram(const Transcript& transcript, session::Session& session,
                          const Definitions& definitions, const CheckProgram& errorsOf);

/// Whether `:save` wrote a text, and nothing has changed it since.
bool isSavedProgram(std::string_view text);

} // namespace melix::repl
