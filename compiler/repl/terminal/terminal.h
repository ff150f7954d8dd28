#pragma once
// The terminal of an editor: bytes in, bytes out, a size.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace melix::repl {

struct TerminalSize {
  size_t columns = 80, rows = 24;
};

class Terminal {
public:
  virtual ~Terminal() = default;
  /// Waits for bytes, so many milliseconds at most, and takes no more than `most`; negative: without end. No
  /// bytes after that time, or if something else happened, such as another size; none at all at the end of
  /// the input.
  virtual std::optional<std::string> read(int milliseconds, size_t most) = 0;
  /// Whether bytes are there already.
  virtual bool hasInput() = 0;
  virtual void write(std::string_view bytes) = 0;
  virtual TerminalSize size() = 0;
  virtual bool hasColours() = 0;
  /// Keys come one by one and are not shown by the terminal, from `begin` to `end`.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Stops the process, as the shell's job control does, until it goes on.
  virtual void suspend() = 0;
};

/// The size of the terminal that is standard output, else a usual one.
TerminalSize terminalSize();

/// Standard input and output, if both are a terminal that moves its cursor: not one that is `dumb`.
std::unique_ptr<Terminal> standardTerminal();

} // namespace melix::repl
