#include "core/text/text_lexer.h"

#include <algorithm>
#include <cctype>

namespace melix::core {

static bool isWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

static unsigned hexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>(std::tolower(static_cast<unsigned char>(c)) - 'a' + 10) & 15;
}

/// What stands in quotes from `i` on, which goes after them.
static std::string unquoted(std::string_view s, size_t& i) {
  auto at = [&](size_t k) { return k < s.size() ? s[k] : '\0'; };
  std::string out;
  for (++i; i < s.size() && s[i] != '"'; ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    const char escape = at(++i);
    if (escape == 'x') {
      out += static_cast<char>(hexDigit(at(i + 1)) * 16 + hexDigit(at(i + 2)));
      i += 2;
    } else {
      out += escape == 'n' ? '\n' : escape;
    }
  }
  i = std::min(i + 1, s.size());
  return out;
}

std::vector<Token> lexCore(std::string_view s) {
  std::vector<Token> out;
  unsigned line = 1;
  size_t i = 0, lineStart = 0;
  auto at = [&](size_t k) { return k < s.size() ? s[k] : '\0'; };
  auto add = [&](TokenKind kind, size_t begin, std::string text) {
    out.push_back({kind, std::move(text), line, static_cast<unsigned>(begin - lineStart + 1)});
  };
  auto addFrom = [&](TokenKind kind, size_t begin, size_t skip = 0) {
    add(kind, begin, std::string(s.substr(begin + skip, i - begin - skip)));
  };
  while (i < s.size()) {
    char c = s[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      if (c != '\n') continue;
      ++line;
      lineStart = i;
      continue;
    }
    if (c == '/' && at(i + 1) == '/') {
      while (i < s.size() && s[i] != '\n') ++i;
      continue;
    }
    size_t begin = i;
    if (c == '"') {
      std::string text = unquoted(s, i);
      add(TokenKind::String, begin, std::move(text));
      continue;
    }
    bool negative = c == '-' && std::isdigit(static_cast<unsigned char>(at(i + 1)));
    if (std::isdigit(static_cast<unsigned char>(c)) || negative) {
      const bool isField = begin > 0 && s[begin - 1] == '.'; // `.1.0` is two steps
      ++i;
      while (std::isalnum(static_cast<unsigned char>(at(i))) || (at(i) == '.' && !isField) ||
             ((at(i) == '-' || at(i) == '+') && at(i - 1) == 'e'))
        ++i;
      addFrom(TokenKind::Number, begin);
      continue;
    }
    if (c == '%' && isWordChar(at(i + 1))) {
      ++i;
      while (isWordChar(at(i))) ++i;
      addFrom(TokenKind::Value, begin, 1);
      continue;
    }
    if (c == '@' && at(i + 1) == '"') {
      ++i;
      std::string text = unquoted(s, i);
      add(TokenKind::Function, begin, std::move(text));
      continue;
    }
    if (isWordChar(c) || c == '@') {
      ++i;
      while (isWordChar(at(i)) || at(i) == '.' || (c == '@' && at(i) == '#')) ++i;
      addFrom(c == '@' ? TokenKind::Function : TokenKind::Word, begin, c == '@' ? 1 : 0);
      continue;
    }
    std::string_view two = s.substr(i, 2);
    i += two == "->" || two == "+:" || two == "+=" ? 2 : 1;
    addFrom(TokenKind::Punct, begin);
  }
  add(TokenKind::End, std::max(i, lineStart), "");
  return out;
}

} // namespace melix::core
