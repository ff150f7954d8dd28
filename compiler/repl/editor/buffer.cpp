#include "repl/editor/buffer.h"

#include "support/characters.h"

#include <algorithm>
#include <utility>

namespace melix::repl {
namespace {

constexpr size_t mostKept = size_t(16) << 20; ///< bytes of earlier texts

bool isSpace(char c) { return c == ' ' || c == '\n'; }

} // namespace

void Buffer::reset(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
  earlier_.clear();
  kept_ = 0;
  last_ = Last::Other;
}

/// The text as it is can be gone back to.
void Buffer::keep() {
  earlier_.push_back({text_, cursor_});
  kept_ += text_.size();
  while (kept_ > mostKept && earlier_.size() > 1) {
    kept_ -= earlier_.front().text.size();
    earlier_.erase(earlier_.begin());
  }
}

void Buffer::replace(std::string text, size_t cursor) {
  keep();
  text_ = std::move(text);
  cursor_ = std::min(cursor, text_.size());
  last_ = Last::Other;
}

void Buffer::replaceRange(size_t begin, size_t end, std::string_view by) {
  keep();
  text_.replace(begin, end - begin, by);
  cursor_ = begin + by.size();
  last_ = Last::Other;
}

void Buffer::insert(std::string_view text) {
  if (text.empty()) return;
  const bool isOne = characterAfter(text, 0) == text.size() && text != "\n";
  if (!isOne || last_ != Last::Typed) keep();
  text_.insert(cursor_, text);
  cursor_ += text.size();
  last_ = isOne ? Last::Typed : Last::Other;
}

void Buffer::eraseBefore() {
  if (cursor_ == 0) return;
  // A character is erased code point by code point from its end, as it was typed.
  size_t begin = cursor_ - 1;
  while (begin > 0 && isContinuation(text_[begin])) --begin;
  keep();
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
  last_ = Last::Other;
}

void Buffer::eraseAfter() {
  if (cursor_ == text_.size()) return;
  keep();
  text_.erase(cursor_, characterAfter(text_, cursor_) - cursor_);
  last_ = Last::Other;
}

bool Buffer::move(size_t cursor) {
  last_ = Last::Other;
  return std::exchange(cursor_, std::min(cursor, text_.size())) != cursor_;
}

bool Buffer::left() { return move(characterBefore(text_, cursor_)); }
bool Buffer::right() { return move(characterAfter(text_, cursor_)); }

size_t Buffer::lineBegin(size_t at) const {
  const size_t newline = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

size_t Buffer::lineEnd(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

bool Buffer::toLineBegin() { return move(lineBegin(cursor_)); }
bool Buffer::toLineEnd() { return move(lineEnd(cursor_)); }
bool Buffer::up() { return vertical(true); }
bool Buffer::down() { return vertical(false); }

bool Buffer::vertical(bool isUp) {
  const size_t begin = lineBegin(cursor_), end = lineEnd(cursor_);
  if (isUp ? begin == 0 : end == text_.size()) return false;
  if (last_ != Last::Vertical) column_ = columnsOf(std::string_view(text_).substr(begin, cursor_ - begin));
  const size_t there = isUp ? lineBegin(begin - 1) : end + 1, last = lineEnd(there);
  size_t at = there, column = 0;
  while (at < last) {
    const size_t next = characterAfter(text_, at);
    column += columnsOf(std::string_view(text_).substr(at, next - at));
    if (column > column_) break;
    at = next;
  }
  cursor_ = at;
  last_ = Last::Vertical;
  return true;
}

size_t Buffer::wordBefore() const {
  size_t at = cursor_;
  while (at > 0 && !isOfWord(text_[at - 1])) --at;
  while (at > 0 && isOfWord(text_[at - 1])) --at;
  return at;
}

size_t Buffer::wordAfter() const {
  size_t at = cursor_;
  while (at < text_.size() && !isOfWord(text_[at])) ++at;
  while (at < text_.size() && isOfWord(text_[at])) ++at;
  return at;
}

void Buffer::cut(size_t begin, size_t end) {
  if (begin == end) return;
  const bool follows = last_ == Last::Cut;
  keep();
  const std::string part = text_.substr(begin, end - begin);
  if (!follows)
    cut_ = part;
  else
    cut_ = begin < cursor_ ? part + cut_ : cut_ + part;
  text_.erase(begin, end - begin);
  cursor_ = begin;
  last_ = Last::Cut;
}

void Buffer::cutToLineEnd() {
  const size_t end = lineEnd(cursor_);
  cut(cursor_, end == cursor_ && end < text_.size() ? end + 1 : end);
}

void Buffer::cutToLineBegin() { cut(lineBegin(cursor_), cursor_); }

void Buffer::cutWordBefore() {
  size_t at = cursor_;
  while (at > 0 && isSpace(text_[at - 1])) --at;
  while (at > 0 && !isSpace(text_[at - 1])) --at;
  cut(at, cursor_);
}

void Buffer::cutPartBefore() { cut(wordBefore(), cursor_); }
void Buffer::cutWordAfter() { cut(cursor_, wordAfter()); }

void Buffer::yank() {
  if (cut_.empty()) return;
  keep();
  text_.insert(cursor_, cut_);
  cursor_ += cut_.size();
  last_ = Last::Other;
}

void Buffer::transpose() {
  const size_t begin = lineBegin(cursor_), end = lineEnd(cursor_);
  size_t middle = cursor_ == end ? characterBefore(text_, cursor_) : cursor_;
  if (middle <= begin || middle >= end) return;
  const size_t first = characterBefore(text_, middle), last = characterAfter(text_, middle);
  keep();
  const std::string one = text_.substr(first, middle - first), other = text_.substr(middle, last - middle);
  text_.replace(first, last - first, other + one);
  cursor_ = last;
  last_ = Last::Other;
}

bool Buffer::undo() {
  if (earlier_.empty()) return false;
  State& state = earlier_.back();
  kept_ -= state.text.size();
  text_ = std::move(state.text);
  cursor_ = state.cursor;
  earlier_.pop_back();
  last_ = Last::Other;
  return true;
}

} // namespace melix::repl
