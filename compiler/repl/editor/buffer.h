#pragma once
// The text that is being edited, with its cursor, the last cut and the way back.

#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

/// Positions are bytes, and stand between characters.
class Buffer {
public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  bool isEmpty() const { return text_.empty(); }

  /// Another text, with the cursor at its end; the way back begins here.
  void reset(std::string text = "");
  /// Another text as a change that can be undone.
  void replace(std::string text, size_t cursor);
  void replaceRange(size_t begin, size_t end, std::string_view by);
  void moveTo(size_t cursor) { move(cursor); }

  void insert(std::string_view text);
  void eraseBefore();
  void eraseAfter();

  // Motions; each says whether the cursor moved.
  bool left();
  bool right();
  bool up();   ///< to the same column of the line above, or of the last line that was moved from
  bool down(); ///< below
  bool toLineBegin();
  bool toLineEnd();
  bool toBegin() { return move(0); }
  bool toEnd() { return move(text_.size()); }
  bool wordLeft() { return move(wordBefore()); }
  bool wordRight() { return move(wordAfter()); }

  // Cuts: `yank` inserts the last one. Cuts that follow each other are one.
  void cutToLineEnd(); ///< at the end of a line the newline
  void cutToLineBegin();
  void cutWordBefore(); ///< back to white space
  void cutPartBefore(); ///< back to the begin of the word
  void cutWordAfter();
  void yank();
  /// Exchanges the characters around the cursor.
  void transpose();
  /// Back to before the last change; characters typed one after another are one change.
  bool undo();

  size_t lineBegin(size_t at) const;
  size_t lineEnd(size_t at) const;

private:
  enum class Last : uint8_t { Other, Typed, Cut, Vertical };
  struct State {
    std::string text;
    size_t cursor;
  };
  bool move(size_t cursor);
  bool vertical(bool isUp);
  void keep();
  void cut(size_t begin, size_t end);
  size_t wordBefore() const;
  size_t wordAfter() const;

  std::string text_, cut_;
  size_t cursor_ = 0, column_ = 0;
  Last last_ = Last::Other;
  std::vector<State> earlier_;
  size_t kept_ = 0; ///< bytes of `earlier_`
};

} // namespace melix::repl
