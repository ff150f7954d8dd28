#pragma once
// Draws the text that is being edited. Rows of the terminal that stay the same are not written again.

#include "repl/terminal/terminal.h"

#include <vector>

namespace melix::repl {

enum class Colour : uint8_t { Plain, Keyword, Number, Text, Comment, Bracket };
/// Bytes of a text of one colour; spans are in order and do not overlap.
struct ColouredPart {
  size_t begin, end;
  Colour colour;
};

struct View {
  std::string_view prompt; ///< of the first line; the others have `… `
  std::string_view text;
  size_t cursor = 0;
  std::vector<ColouredPart> colours;
  std::vector<std::string> below; ///< lines after the text, cut at the width
};

class Screen {
public:
  explicit Screen(Terminal& terminal) : terminal_(terminal) {}

  /// Begins on a row of its own, also after output that did not end its line.
  void begin();
  /// Draws in place of the last drawing. A text of more rows than the terminal has is shown around the
  /// cursor.
  void draw(const View& view);
  /// Draws all of the text a last time, be it longer than the terminal; the next output begins on a row of
  /// its own.
  void finish(const View& view);
  /// Clears the terminal.
  void clear();
  /// Forgets the last drawing: it stays where it is, and the next text begins where the cursor is.
  void forget();

private:
  struct Rows {
    std::vector<std::string> rows;
    size_t cursorRow = 0, cursorColumn = 0;
  };
  Rows layOut(const View& view, TerminalSize size);
  void draw(const View& view, TerminalSize size);
  void toRow(std::string& out, size_t row);

  Terminal& terminal_;
  std::vector<std::string> drawn_;
  size_t row_ = 0, column_ = 0, columns_ = 0;
  bool isCut_ = false; ///< whether rows are left out
};

} // namespace melix::repl
