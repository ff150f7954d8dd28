#pragma once
// Text to tokens. Newlines are no tokens: each token says whether one stands before it, and the parser
// applies rule 1.

#include "diagnostics/diagnostic.h"

namespace melix::lex {

enum class TokenKind : uint8_t {
#define KEYWORD(Kind, Text) Kw##Kind,
#define SYMBOL(Kind, Text) Kind,
#define TOKEN(Kind, Text) Kind,
#include "lex/tokens.def"
};

/// As it stands in messages: `fn`, `(`, a name.
std::string_view tokenText(TokenKind kind);
bool isKeyword(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::End;
  bool newlineBefore = false;
  bool spaceBefore = false;
  bool spaceAfter = false;
  uint32_t begin = 0, end = 0;
  uint32_t text = 0; ///< index into TokenStream::texts, of Char, StringText, FormatText and FormatEnd
};

struct CommentText {
  uint32_t begin = 0, end = 0;
  bool isDoc = false;
  bool ownLine = false;
  uint32_t tokensBefore = 0; ///< how many tokens stand before it
};

struct TokenStream {
  FileId file;
  std::vector<Token> tokens; ///< the last is End
  std::vector<std::string> texts;
  std::vector<CommentText> comments;
  std::vector<uint32_t> blankLines;                           ///< offsets of starts of blank lines
  std::vector<std::pair<uint32_t, uint32_t>> unclosedStrings; ///< begin and end of each reported one
  bool unclosed = false;   ///< the text ended in an interpolation, which is reported
  bool endsInText = false; ///< the only thing wrong is that a `"""` string is not closed
};

/// Never fails: unreadable text is reported and becomes Bad tokens. A text that is not UTF-8 gives only End.
TokenStream lex(FileId file, const SourceStore& sources, DiagnosticSink& sink);
/// The same of another text of that file, whose offsets are the file's, from `begin` on.
TokenStream lex(FileId file, std::string_view text, uint32_t begin, DiagnosticSink& sink);

} // namespace melix::lex
