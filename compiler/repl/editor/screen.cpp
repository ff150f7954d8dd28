#include "repl/editor/screen.h"

#include "support/characters.h"

#include <algorithm>
#include <cstdint>

namespace melix::repl {
namespace {

constexpr std::string_view continued = "… ", wrapped = "  ", plain = "\x1b[0m";
constexpr size_t margin = 2; ///< columns of these

std::string_view codeOf(Colour colour) {
  switch (colour) {
  case Colour::Keyword: return "\x1b[1;34m";
  case Colour::Number: return "\x1b[36m";
  case Colour::Text: return "\x1b[32m";
  case Colour::Comment: return "\x1b[2m";
  case Colour::Bracket: return "\x1b[1;7m";
  case Colour::Plain: break;
  }
  return "";
}

/// The text without escape sequences of colours.
size_t columnsOfRow(std::string_view row) {
  std::string text;
  for (size_t k = 0; k < row.size(); ++k)
    if (row[k] == '\x1b')
      k = std::min(row.find('m', k), row.size());
    else
      text += row[k];
  return columnsOf(text);
}

std::string cutAt(std::string_view line, size_t columns) {
  size_t used = 0, at = 0;
  while (at < line.size()) {
    const size_t next = characterAfter(line, at), more = columnsOf(line.substr(at, next - at));
    if (used + more > columns) break;
    used += more;
    at = next;
  }
  return std::string(line.substr(0, at));
}

/// Rows that are being filled from left to right.
struct Filling {
  std::vector<std::string> rows;
  size_t columns; ///< of a row
  bool hasColours;
  size_t used = 0;
  Colour colour = Colour::Plain;

  void begin(std::string_view prompt) {
    end();
    rows.emplace_back(prompt);
    used = columnsOf(prompt);
  }
  void end() {
    if (colour != Colour::Plain) rows.back() += plain;
    colour = Colour::Plain;
  }
  void add(std::string_view character, Colour wanted) {
    const size_t more = columnsOf(character);
    if (used + more > columns && used > margin) begin(wrapped);
    if (hasColours && wanted != colour) {
      end();
      rows.back() += codeOf(wanted);
      colour = wanted;
    }
    rows.back() += character;
    used += more;
  }
};

} // namespace

/// The last column stays free: after a character there, terminals differ in where the cursor is.
Screen::Rows Screen::layOut(const View& view, TerminalSize size) {
  Filling filling{{}, std::max<size_t>(size.columns, margin + 3) - 1, terminal_.hasColours()};
  Rows out;
  filling.begin(cutAt(view.prompt, filling.columns - 2));
  auto span = view.colours.begin();
  for (size_t at = 0;;) {
    if (at == view.cursor) {
      out.cursorRow = filling.rows.size() - 1;
      out.cursorColumn = filling.used;
    }
    if (at >= view.text.size()) break;
    if (view.text[at] == '\n') {
      filling.begin(continued);
      ++at;
      continue;
    }
    while (span != view.colours.end() && span->end <= at) ++span;
    const bool isIn = span != view.colours.end() && span->begin <= at;
    const size_t next = characterAfter(view.text, at);
    filling.add(view.text.substr(at, next - at), isIn ? span->colour : Colour::Plain);
    // A character that went to the next row took the cursor with it.
    if (at == view.cursor && out.cursorRow + 1 < filling.rows.size()) {
      out.cursorRow = filling.rows.size() - 1;
      out.cursorColumn = margin;
    }
    if (view.cursor > at && view.cursor < next) {
      out.cursorRow = filling.rows.size() - 1;
      out.cursorColumn = filling.used;
    }
    at = next;
  }
  filling.end();
  out.rows = std::move(filling.rows);

  const size_t below = std::min(view.below.size(), size.rows > 2 ? size.rows - 2 : 0);
  const size_t room = std::max<size_t>(size.rows, 1) - std::min(below, std::max<size_t>(size.rows, 1) - 1);
  isCut_ = out.rows.size() > room;
  if (isCut_) {
    const size_t half = room / 2,
                 first = std::min(out.cursorRow > half ? out.cursorRow - half : 0, out.rows.size() - room);
    out.rows.erase(out.rows.begin(), out.rows.begin() + static_cast<ptrdiff_t>(first));
    out.rows.resize(room);
    out.cursorRow -= first;
  }
  for (size_t k = 0; k < below; ++k) out.rows.push_back(cutAt(view.below[k], filling.columns));
  return out;
}

/// Moves the cursor to the begin of a row, which is there or follows the last one.
void Screen::toRow(std::string& out, size_t row) {
  out += '\r';
  if (row < row_) out += "\x1b[" + std::to_string(row_ - row) + "A";
  for (; row_ < row; ++row_) out += "\n";
  row_ = row;
}

/// Spaces over a whole row: from within a row they go on to the next one, where the cursor then is.
void Screen::begin() {
  forget();
  terminal_.write(std::string(terminal_.size().columns, ' ') + '\r');
}

void Screen::draw(const View& view) { draw(view, terminal_.size()); }

void Screen::draw(const View& view, TerminalSize size) {
  std::string out = "\x1b[?25l";
  if (size.columns != columns_ && !drawn_.empty()) {
    // Terminals wrap again what they show: rows that are now too long have become several.
    size_t rows = 0;
    for (size_t k = 0; k < row_; ++k)
      rows += std::max<size_t>(1, (columnsOfRow(drawn_[k]) + size.columns - 1) / size.columns);
    row_ = rows + column_ / size.columns;
    toRow(out, 0);
    out += "\x1b[J";
    drawn_.clear();
  }
  columns_ = size.columns;
  Rows next = layOut(view, size);
  for (size_t k = 0; k < next.rows.size(); ++k) {
    if (k < drawn_.size() && drawn_[k] == next.rows[k]) continue;
    toRow(out, k);
    out += next.rows[k] + "\x1b[K";
  }
  if (next.rows.size() < drawn_.size()) {
    toRow(out, next.rows.size());
    out += "\x1b[J";
  }
  toRow(out, next.cursorRow);
  column_ = next.cursorColumn;
  if (next.cursorColumn > 0) out += "\x1b[" + std::to_string(next.cursorColumn) + "C";
  out += "\x1b[?25h";
  drawn_ = std::move(next.rows);
  terminal_.write(out);
}

void Screen::finish(const View& view) {
  if (isCut_) {
    std::string out;
    toRow(out, 0);
    terminal_.write(out + "\x1b[J");
    forget();
  }
  draw(view, {terminal_.size().columns, SIZE_MAX / 2});
  std::string out;
  toRow(out, drawn_.empty() ? 0 : drawn_.size() - 1);
  terminal_.write(out + "\n");
  forget();
}

void Screen::clear() {
  terminal_.write("\x1b[H\x1b[2J");
  forget();
}

void Screen::forget() {
  drawn_.clear();
  row_ = column_ = 0;
}

} // namespace melix::repl
