#include "repl/screen_model.h"

#include "support/characters.h"

#include <algorithm>

namespace melix::repl {
namespace {

constexpr char32_t tail = 0; ///< the second column of a wide character

void append(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

} // namespace

void ScreenModel::write(std::string_view bytes) {
  pending_ += bytes;
  size_t at = 0;
  while (at < pending_.size()) {
    const char c = pending_[at];
    if (c == '\x1b') {
      if (at + 1 >= pending_.size()) break;
      if (pending_[at + 1] != '[') {
        unknown_.push_back(pending_.substr(at, 2));
        at += 2;
        continue;
      }
      size_t end = at + 2;
      while (end < pending_.size() && (pending_[end] < '@' || pending_[end] > '~')) ++end;
      if (end == pending_.size()) break;
      sequence(std::string_view(pending_).substr(at + 2, end - at - 2), pending_[end]);
      at = end + 1;
    } else if (c == '\r') {
      column_ = 0;
      wraps_ = false;
      ++at;
    } else if (c == '\n') {
      newline();
      column_ = 0; // as a terminal's line discipline has it
      ++at;
    } else {
      const CodePoint point = codePointAt(pending_, at);
      if (point.bytes == 1 && static_cast<unsigned char>(c) >= 0x80 && pending_.size() - at < 4) break;
      if (static_cast<unsigned char>(c) < 0x20)
        unknown_.push_back(std::string(1, c));
      else
        put(point.value);
      at += point.bytes;
    }
  }
  pending_.erase(0, at);
}

void ScreenModel::newline() {
  wraps_ = false;
  if (row_ + 1 < rows_.size()) {
    ++row_;
  } else {
    rows_.erase(rows_.begin());
    rows_.emplace_back(columns_, U' ');
  }
}

void ScreenModel::put(char32_t c) {
  const size_t width = columnsOf(c);
  if (width == 0) return; // drawn over the one before it
  if (wraps_ || column_ + width > columns_) {
    newline();
    column_ = 0;
  }
  rows_[row_][column_] = c;
  if (width == 2) rows_[row_][column_ + 1] = tail;
  column_ += width;
  if (column_ >= columns_) {
    column_ = columns_ - 1;
    wraps_ = true;
  }
}

void ScreenModel::sequence(std::string_view parameters, char last) {
  size_t number = 0;
  for (char c : parameters)
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<size_t>(c - '0');
  const size_t by = std::max<size_t>(number, 1);
  wraps_ = false;
  auto clearRow = [&](size_t row, size_t from) {
    std::fill(rows_[row].begin() + static_cast<ptrdiff_t>(from), rows_[row].end(), U' ');
  };
  switch (last) {
  case 'A': row_ -= std::min(row_, by); return;
  case 'B': row_ = std::min(row_ + by, rows_.size() - 1); return;
  case 'C': column_ = std::min(column_ + by, columns_ - 1); return;
  case 'D': column_ -= std::min(column_, by); return;
  case 'H': row_ = column_ = 0; return;
  case 'K': clearRow(row_, column_); return;
  case 'J':
    if (number == 2)
      for (size_t r = 0; r < rows_.size(); ++r) clearRow(r, 0);
    else {
      clearRow(row_, column_);
      for (size_t r = row_ + 1; r < rows_.size(); ++r) clearRow(r, 0);
    }
    return;
  case 'm': return;
  case 'h':
  case 'l':
    if (parameters == "?25" || parameters == "?2004") return;
    break;
  default: break;
  }
  unknown_.push_back("\\e[" + std::string(parameters) + last);
}

std::string ScreenModel::text() const {
  std::string out;
  for (const std::u32string& row : rows_) {
    for (char32_t c : row)
      if (c != tail) append(out, c);
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  while (out.ends_with("\n\n") || out == "\n") out.pop_back();
  return out;
}

void ScreenModel::resize(size_t columns) {
  columns_ = columns;
  for (std::u32string& row : rows_) row.resize(columns, U' ');
  column_ = std::min(column_, columns - 1);
  wraps_ = false;
}

} // namespace melix::repl
