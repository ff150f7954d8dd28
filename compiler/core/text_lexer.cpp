#include "core/text_lexer.h"

#include <cctype>

namespace melix::core {

static bool isWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

static int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
}

std::vector<Token> lexCore(std::string_view s) {
  std::vector<Token> out;
  unsigned line = 1;
  size_t i = 0;
  auto at = [&](size_t k) { return k < s.size() ? s[k] : '\0'; };
  auto add = [&](TokenKind kind, size_t begin, size_t end) {
    out.push_back({kind, std::string(s.substr(begin, end - begin)), line});
  };
  while (i < s.size()) {
    char c = s[i];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    if (c == '/' && at(i + 1) == '/') {
      while (i < s.size() && s[i] != '\n') ++i;
      continue;
    }
    size_t begin = i;
    if (c == '"') {
      Token t{TokenKind::String, {}, line};
      for (++i; i < s.size() && s[i] != '"'; ++i) {
        if (s[i] != '\\')
          t.text += s[i];
        else if (s[++i] == 'n')
          t.text += '\n';
        else if (s[i] == 'x') {
          t.text += static_cast<char>(hexDigit(at(i + 1)) * 16 + hexDigit(at(i + 2)));
          i += 2;
        } else
          t.text += s[i];
      }
      ++i;
      out.push_back(std::move(t));
      continue;
    }
    bool negative = c == '-' && std::isdigit(static_cast<unsigned char>(at(i + 1)));
    if (std::isdigit(static_cast<unsigned char>(c)) || negative) {
      const bool isField = begin > 0 && s[begin - 1] == '.'; // `.1.0` is two steps
      ++i;
      while (std::isalnum(static_cast<unsigned char>(at(i))) || (at(i) == '.' && !isField) ||
             ((at(i) == '-' || at(i) == '+') && at(i - 1) == 'e'))
        ++i;
      add(TokenKind::Number, begin, i);
      continue;
    }
    if (c == '%' && isWordChar(at(i + 1))) {
      ++i;
      while (isWordChar(at(i))) ++i;
      add(TokenKind::Value, begin + 1, i);
      continue;
    }
    if (isWordChar(c) || c == '@') {
      ++i;
      while (isWordChar(at(i)) || at(i) == '.') ++i;
      add(c == '@' ? TokenKind::Function : TokenKind::Word, c == '@' ? begin + 1 : begin, i);
      continue;
    }
    std::string_view two = s.substr(i, 2);
    i += two == "->" || two == "+:" || two == "+=" ? 2 : 1;
    add(TokenKind::Punct, begin, i);
  }
  out.push_back({TokenKind::End, "", line});
  return out;
}

} // namespace melix::core
