#pragma once
// A text whose lines are still to be broken: a flat list of pieces, groups and places where a line may end. A
// group is printed on one line if it fits, else every place directly in it ends a line. Blanks and newlines
// are only remembered until the next text, so that none is ever doubled or left at the end of a line.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace melix::format {

class Doc {
public:
  /// Text that stays as long as the document is printed; it may hold newlines of its own (a `"""` string).
  void text(std::string_view text) { add(OpKind::Text, text); }
  void ownText(std::string text) { add(OpKind::Text, owned_.emplace_back(std::move(text))); }
  void space() { add(OpKind::Space); }
  /// A place where the group may end a line; on one line it prints `flat`.
  void line(std::string_view flat) { add(OpKind::Line, flat); }
  /// Ends the line only if the text up to the next place does not fit.
  void fillLine() { add(OpKind::FillLine, " "); }
  void hardLine() { add(OpKind::Hard); }
  void blankLine() { add(OpKind::Blank); }
  /// The groups around it do not fit on one line.
  void forceBreak() { add(OpKind::Force); }
  /// Text at the end of the line printed so far, even if a newline is due; ends the line.
  void trailing(std::string_view text) { add(OpKind::Trailing, text); }
  void beginGroup() { add(OpKind::Begin); }
  void endGroup() { add(OpKind::End); }
  void indent() { add(OpKind::Indent); }
  void dedent() { add(OpKind::Dedent); }
  std::string_view keep(std::string text) { return owned_.emplace_back(std::move(text)); }

  /// The text, ending with a newline unless it is empty.
  std::string print(uint32_t columns) const;

private:
  enum class OpKind : uint8_t {
    Text,
    Space,
    Line,
    FillLine,
    Hard,
    Blank,
    Force,
    Trailing,
    Begin,
    End,
    Indent,
    Dedent
  };
  struct Op {
    OpKind kind;
    std::string_view text;
  };
  friend class Printer;
  void add(OpKind kind, std::string_view text = {}) { ops_.push_back({kind, text}); }

  std::vector<Op> ops_;
  std::deque<std::string> owned_;
};

/// Opens a group or an indentation for a scope.
class Group {
public:
  explicit Group(Doc& doc) : doc_(doc) { doc_.beginGroup(); }
  ~Group() { doc_.endGroup(); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

private:
  Doc& doc_;
};
class Indent {
public:
  explicit Indent(Doc& doc) : doc_(doc) { doc_.indent(); }
  ~Indent() { doc_.dedent(); }
  Indent(const Indent&) = delete;
  Indent& operator=(const Indent&) = delete;

private:
  Doc& doc_;
};

} // namespace melix::format
