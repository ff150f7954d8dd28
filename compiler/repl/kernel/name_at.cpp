#include "repl/kernel/name_at.h"

#include "support/characters.h"

namespace melix::repl {

namespace {

bool isOfPath(char c) { return isOfWord(c) || c == '.'; }

/// The path that ends where the word at a byte does; empty if there is no word.
std::string_view pathAround(std::string_view text, size_t at) {
  size_t begin = at, end = at;
  while (end < text.size() && isOfWord(text[end])) ++end;
  while (begin > 0 && isOfPath(text[begin - 1])) --begin;
  while (begin < end && text[begin] == '.') ++begin;
  const std::string_view path = text.substr(begin, end - begin);
  return path.ends_with('.') ? path.substr(0, path.size() - 1) : path;
}

/// The bracket of the call whose arguments a byte is in; `npos` if it is in none.
size_t callBefore(std::string_view text, size_t at) {
  size_t closed = 0;
  while (at-- > 0) {
    const char c = text[at];
    if (c == ')' || c == ']' || c == '}') {
      ++closed;
    } else if (c == '(' || c == '[' || c == '{') {
      if (closed == 0 && c == '(' && at > 0 && isOfWord(text[at - 1])) return at;
      if (closed > 0) --closed;
    }
  }
  return std::string_view::npos;
}

} // namespace

std::vector<std::string> namesAt(std::string_view text, size_t cursor) {
  std::vector<std::string> out;
  auto add = [&](std::string_view path) {
    if (!path.empty()) out.emplace_back(path);
    if (const size_t point = path.rfind('.'); point != std::string_view::npos && point + 1 < path.size())
      out.emplace_back(path.substr(point + 1));
  };
  add(pathAround(text, cursor));
  if (const size_t call = callBefore(text, cursor); call != std::string_view::npos)
    add(pathAround(text, call));
  return out;
}

} // namespace melix::repl
