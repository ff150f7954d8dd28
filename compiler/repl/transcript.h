#pragma once
// The entries that succeeded, cut into declarations and statements, for a program that does the same.

#include "check/signatures/declared.h"
#include "repl/definitions.h"
#include "session/session.h"

#include <set>
#include <string>
#include <vector>

namespace melix::repl {

enum class PieceKind : uint8_t {
  Declaration, ///< of a name that is written
  Made,        ///< a macro use that declares
  Import,      ///< `use`
  Test,        ///< a test, a bench, a check: it has no name
  Let,         ///< `let` and `var`
  Shown,       ///< an expression whose value was shown
  Statement,   ///< any other
};

/// A declaration or statement of an entry.
struct Piece {
  size_t entry = 0;
  PieceKind kind = PieceKind::Statement;
  std::string text;               ///< as it was written, without the comments around it
  std::string comments;           ///< before it
  std::string after;              ///< a comment on its last line
  std::set<std::string> names;    ///< declared or bound names
  std::set<std::string> mentions; ///< all other names in it, whatever they mean there
  /// Beside the names it binds it changes nothing, and does no input or output.
  bool isPure = false;
};

class Transcript {
public:
  /// Before `add`: the function that the statements of the entry are, checked.
  /// Returns true.
  bool ran(session::Session& session, check::InstanceId instance);
  /// Adds an entry that succeeded. `module` has its declarations, `variables` are the variables after it.
  void add(const std::string& text, session::Session& session, names::ModuleId module,
           const std::vector<check::PromptVariable>& variables);

  const std::vector<Piece>& pieces() const { return pieces_; }

private:
  std::vector<Piece> pieces_;
  size_t entries_ = 0;
  bool hasIo_ = false, isShown_ = false; ///< of the entry at hand
};

} // namespace melix::repl
