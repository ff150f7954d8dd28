#include "repl/terminal/keys.h"

#include "support/characters.h"

#include <array>

namespace melix::repl {
namespace {

constexpr char escape = '\x1b';
constexpr std::string_view pasteBegins = "\x1b[200~", pasteEnds = "\x1b[201~";
constexpr size_t longestSequence = 32;

/// A key by the end of its sequence: a letter, or a number before `~`.
struct Named {
  std::string_view end, name;
};
constexpr std::array<Named, 18> named = {{{"A", "up"},
                                          {"B", "down"},
                                          {"C", "right"},
                                          {"D", "left"},
                                          {"H", "home"},
                                          {"F", "end"},
                                          {"Z", "shift-tab"},
                                          {"1~", "home"},
                                          {"7~", "home"},
                                          {"4~", "end"},
                                          {"8~", "end"},
                                          {"3~", "delete"},
                                          {"2~", "insert"},
                                          {"5~", "page-up"},
                                          {"6~", "page-down"},
                                          {"M", "enter"},
                                          {"13u", "enter"},
                                          {"27u", "escape"}}};

/// A sequence without its introducer, such as `1;5C`: the second number holds the modifiers.
std::string nameOf(std::string_view sequence) {
  const char last = sequence.back();
  std::string_view first = sequence.substr(0, sequence.size() - 1);
  unsigned modifiers = 0;
  if (const size_t semicolon = first.find(';'); semicolon != std::string_view::npos) {
    for (char c : first.substr(semicolon + 1)) {
      if (c < '0' || c > '9') break;
      modifiers = modifiers * 10 + static_cast<unsigned>(c - '0');
    }
    first = first.substr(0, semicolon);
    modifiers = modifiers == 0 ? 0 : modifiers - 1;
  }
  const bool isNumbered = last == '~' || last == 'u';
  const std::string end = isNumbered ? std::string(first) + last : std::string(1, last);
  for (const Named& each : named)
    if (each.end == end)
      return std::string(modifiers & 4 ? "ctrl-" : modifiers & 2 ? "alt-" : "") + std::string(each.name);
  return "";
}

std::string nameOfControl(char c) {
  switch (c) {
  case '\r':
  case '\n': return "enter";
  case '\t': return "tab";
  case '\x7f':
  case '\b': return "backspace";
  default: break;
  }
  if (c >= 1 && c <= 26) return std::string("ctrl-") + static_cast<char>('a' + c - 1);
  return c == '\x1f' ? "ctrl-_" : "";
}

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

} // namespace

std::optional<Key> KeyDecoder::take(size_t bytes, Key key) {
  at_ += bytes;
  if (at_ >= bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  }
  return key;
}

std::optional<Key> KeyDecoder::next() {
  while (at_ < bytes_.size()) {
    std::optional<Key> key = isPaste_ ? pasted() : bytes_[at_] == escape ? sequence() : typed();
    if (!key || !key->name.empty()) return key;
  }
  return std::nullopt;
}

std::optional<Key> KeyDecoder::flush() {
  if (isPaste_) return endPaste(bytes_.size(), 0);
  if (!isWaiting()) return std::nullopt;
  if (bytes_.size() - at_ == 1 && bytes_[at_] == escape) return take(1, {"escape", ""});
  take(bytes_.size() - at_, {});
  return std::nullopt;
}

/// What begins with an escape. A key with no name is none of ours; nothing if more bytes are wanted.
std::optional<Key> KeyDecoder::sequence() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  if (rest.size() < 2) return std::nullopt;
  if (rest[1] == escape) return take(1, {"escape", ""});
  if (rest[1] != '[' && rest[1] != 'O') {
    if (isControl(rest[1])) return take(2, {"alt-" + nameOfControl(rest[1]), ""});
    const size_t bytes = codePointAt(rest, 1).bytes;
    return take(1 + bytes, {"alt-" + std::string(rest.substr(1, bytes)), ""});
  }
  size_t end = 2;
  while (end < rest.size() && (rest[end] < '@' || rest[end] > '~')) {
    // A control character ends what is no sequence; so does what is too long for one.
    if (isControl(rest[end]) || end > longestSequence) return take(end, {});
    ++end;
  }
  if (end == rest.size()) return std::nullopt;
  if (rest.substr(0, end + 1) == pasteBegins) {
    isPaste_ = true;
    searched_ = 0;
    return take(end + 1, {});
  }
  return take(end + 1, {nameOf(rest.substr(2, end - 1)), ""});
}

std::optional<Key> KeyDecoder::pasted() {
  const size_t found = bytes_.find(pasteEnds, at_ + searched_);
  if (found == std::string::npos) {
    const size_t there = bytes_.size() - at_;
    searched_ = there < pasteEnds.size() ? 0 : there - pasteEnds.size();
    return std::nullopt;
  }
  return endPaste(found, pasteEnds.size());
}

/// The paste up to this byte; so many more bytes are its end.
std::optional<Key> KeyDecoder::endPaste(size_t end, size_t more) {
  std::string text;
  for (size_t k = at_; k < end; ++k)
    if (bytes_[k] != '\r')
      text += bytes_[k];
    else if (k + 1 >= bytes_.size() || bytes_[k + 1] != '\n')
      text += '\n';
  isPaste_ = false;
  return take(end + more - at_, {"paste", printable(text)});
}

std::optional<Key> KeyDecoder::typed() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  if (isControl(rest[0])) return take(1, {nameOfControl(rest[0]), ""});
  const CodePoint point = codePointAt(rest, 0);
  if (point.bytes == 1 && static_cast<unsigned char>(rest[0]) >= 0xC2 && rest.size() < 4) {
    // The rest of a character may still come, if all so far continues one.
    bool continues = true;
    for (char c : rest.substr(1)) continues = continues && isContinuation(c);
    const auto first = static_cast<unsigned char>(rest[0]);
    const size_t wanted = first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
    if (continues && rest.size() < wanted) return std::nullopt;
  }
  const std::string text = printable(rest.substr(0, point.bytes));
  return take(point.bytes, {text, text});
}

} // namespace melix::repl
