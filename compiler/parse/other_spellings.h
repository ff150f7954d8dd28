#pragma once
// Recognises constructs that other languages write in several tokens, where the parser fails.

#include "lex/lexer.h"
#include "support/function_ref.h"

#include <optional>

namespace melix::parse {

using lex::Token;
using lex::TokenKind;

/// The tokens around one at which the parser fails, and their Melix spelling.
class OtherSpelling {
public:
  /// `matching`: the index of the closing bracket of each opening one, 0 if there is none; `text`: the
  /// file's; `expected`: the missing construct that the message at token `at` names.
  OtherSpelling(const std::vector<Token>& tokens, const std::vector<uint32_t>& matching,
                std::string_view text, size_t at, std::string_view expected)
      : tokens_(tokens), matching_(matching), text_(text), at_(at), expected_(expected) {}

  /// Empty if nothing is known.
  std::string hint() const;

private:
  const Token& around(int distance) const;
  bool is(TokenKind kind, int distance = 0) const { return around(distance).kind == kind; }
  /// Of tokens `distance` and `distance + 1`: nothing stands between them.
  bool touches(int distance) const { return around(distance).end == around(distance + 1).begin; }
  std::string_view textOf(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  std::string textBetween(size_t first, size_t end) const;
  size_t findOutside(size_t from, size_t end, FunctionRef<bool(TokenKind)> wanted) const;
  size_t findOutside(size_t from, size_t end, TokenKind wanted) const;
  std::optional<size_t> openBracket() const;
  bool beginsStatement(int distance) const;
  std::string_view habit() const;
  std::string_view habitAt(int distance) const;

  // --- other_spellings.cpp: values
  std::string structLiteral() const;
  std::string namedArgument() const;
  std::string semicolonInArray() const;
  std::string bracedElements() const;
  std::string angleBrackets() const;
  std::string pointFirst() const;
  std::string textAfterName() const;
  std::string callWithoutBrackets() const;
  std::string missingComma() const;
  std::string closedOtherwise() const;
  // --- other_statements.cpp: loops, declarations, blocks
  std::string comprehension() const;
  std::string inclusiveRange() const;
  std::string countingLoop() const;
  std::string colonRange() const;
  std::string steppedRange() const;
  std::string tupleBinding() const;
  std::string constantTuple() const;
  std::string functionBinding() const;
  std::string functionWord() const;
  std::string typedDeclaration() const;
  std::string importedModule() const;
  std::string block() const;
  std::optional<std::string> rangeThrough(const Token& first, const Token& last) const;
  bool endsHead(int distance) const;

  const std::vector<Token>& tokens_;
  const std::vector<uint32_t>& matching_;
  std::string_view text_;
  size_t at_;
  std::string_view expected_;
};

/// Text as code of a message.
inline std::string code(const std::string& text) { return "`" + text + "`"; }

} // namespace melix::parse
