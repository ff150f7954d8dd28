#pragma once
// The tokens of a module, written one after another, each with the comments before it, and the spaces and
// lines between them. Every token is taken exactly once and in order, so nothing can be lost or changed, and
// each comment stays between its two tokens. Separators (newline, `;`, `,`) between statements, fields, cases
// and arms are dropped and written anew.

#include "format/doc.h"
#include "lex/lexer.h"

namespace melix::format {

using lex::Token;
using lex::TokenKind;

class TokenWriter {
public:
  Doc& doc() { return doc_; }

protected:
  TokenWriter(const lex::TokenStream& stream, const SourceStore& sources)
      : stream_(stream), sources_(sources) {}

  const Token& peek(size_t ahead = 0) const {
    return stream_.tokens[std::min(at_ + ahead, stream_.tokens.size() - 1)];
  }
  bool is(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  void token();               ///< the next token, with the comments before it
  void token(TokenKind kind); ///< the same; the token must be of this kind
  void verbatim(uint32_t begin, uint32_t end);
  void word() { token(), doc_.space(); }
  void tokensBefore(uint32_t offset); ///< the tokens up to an offset, with spaces between
  void line(std::string_view flat);
  void comments();                  ///< those before the next token, inside of a line
  void commentsBetween(bool first); ///< those before the next token, on lines of their own
  bool commentsAhead() const {
    return nextComment_ < stream_.comments.size() && stream_.comments[nextComment_].tokensBefore <= at_;
  }
  bool blankBetween(uint32_t begin, uint32_t end) const;
  bool skipSeparators(bool first); ///< with the comments before each on lines of their own
  void dropSeparators();           ///< the same inside of a line, with all comments before the next token
  bool dropComma();
  template <class F>
  void elements(size_t count, std::string_view flat, F writeOne);
  template <class F>
  void list(TokenKind close, size_t count, F writeOne);
  template <class F>
  void listBody(TokenKind close, size_t count, bool softly, F writeOne);
  /// Everything has been written.
  bool atEnd() const { return is(TokenKind::End) && nextComment_ == stream_.comments.size(); }

  Doc doc_;
  unsigned flat_ = 0; ///< inside a string nothing ends a line
  bool ok_ = true;

private:
  const lex::TokenStream& stream_;
  const SourceStore& sources_;
  size_t at_ = 0, nextComment_ = 0;
  uint32_t lastEnd_ = 0; ///< of the last token or comment
};

/// Elements between which newlines, `;` and `,` mean the same; `flat` separates them on one line.
template <class F>
void TokenWriter::elements(size_t count, std::string_view flat, F writeOne) {
  for (size_t k = 0; k < count; ++k) {
    if (k > 0) line(flat);
    skipSeparators(k == 0);
    commentsBetween(k == 0);
    writeOne(k);
  }
  skipSeparators(count == 0);
  commentsBetween(count == 0);
}

/// Elements in brackets, between which commas stand; the opening bracket has been written.
template <class F>
void TokenWriter::listBody(TokenKind close, size_t count, bool softly, F writeOne) {
  for (size_t k = 0; k < count; ++k) {
    if (k > 0) {
      token(TokenKind::Comma);
      softly ? doc_.fillLine() : line(" ");
    }
    writeOne(k);
  }
  if (is(TokenKind::Comma)) dropComma();
  if (!is(close)) ok_ = false;
  comments();
}

template <class F>
void TokenWriter::list(TokenKind close, size_t count, F writeOne) {
  Group group(doc_);
  token();
  if (count == 0) {
    comments();
    return token(close);
  }
  {
    Indent indent(doc_);
    line("");
    listBody(close, count, false, writeOne);
  }
  line("");
  token(close);
}

} // namespace melix::format
