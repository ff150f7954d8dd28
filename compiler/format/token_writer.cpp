#include "format/token_writer.h"

#include <algorithm>

namespace melix::format {

static std::string withoutCarriageReturns(std::string_view text) {
  std::string out;
  for (size_t k = 0; k < text.size(); ++k)
    if (text[k] != '\r' || k + 1 >= text.size() || text[k + 1] != '\n') out += text[k];
  return out;
}

void TokenWriter::verbatim(uint32_t begin, uint32_t end) {
  std::string_view text = sources_.text(Span{stream_.file, begin, end});
  if (text.find('\r') == std::string_view::npos)
    doc_.text(text);
  else
    doc_.ownText(withoutCarriageReturns(text));
}

void TokenWriter::token() {
  comments();
  const Token& t = peek();
  verbatim(t.begin, t.end);
  lastEnd_ = t.end;
  if (at_ + 1 < stream_.tokens.size())
    ++at_;
  else
    ok_ = false;
}

void TokenWriter::token(TokenKind kind) {
  if (!is(kind)) ok_ = false;
  token();
}

void TokenWriter::tokensBefore(uint32_t offset) {
  while (ok_ && peek().begin < offset) word();
}

void TokenWriter::line(std::string_view flat) {
  if (flat_ == 0) return doc_.line(flat);
  if (!flat.empty()) doc_.text(flat);
}

bool TokenWriter::blankBetween(uint32_t begin, uint32_t end) const {
  auto blank = std::lower_bound(stream_.blankLines.begin(), stream_.blankLines.end(), begin);
  return blank != stream_.blankLines.end() && *blank < end;
}

/// Inside of a line: one that ends its line ends ours, a short `/* */` stays where it is.
void TokenWriter::comments() {
  while (commentsAhead()) {
    const lex::CommentText& c = stream_.comments[nextComment_++];
    std::string_view source = sources_.text(Span{stream_.file, c.begin, c.end});
    source = source.substr(0, source.find_last_not_of(" \t\r") + 1);
    lastEnd_ = c.end;
    bool oneLine = source.starts_with("/*") && source.find('\n') == std::string_view::npos;
    std::string_view text = doc_.keep(withoutCarriageReturns(source));
    if (oneLine) {
      doc_.space();
      doc_.text(text);
      if (!is(TokenKind::Comma) && !is(TokenKind::RParen) && !is(TokenKind::RBracket)) doc_.space();
    } else if (!c.ownLine) {
      doc_.trailing(text);
    } else {
      doc_.hardLine();
      doc_.text(text);
      doc_.hardLine();
    }
  }
}

/// Between statements and the like: on lines of their own, or at the end of the line before; blank lines are
/// kept.
void TokenWriter::commentsBetween(bool first) {
  while (commentsAhead()) {
    const lex::CommentText& c = stream_.comments[nextComment_++];
    std::string_view source = sources_.text(Span{stream_.file, c.begin, c.end});
    source = source.substr(0, source.find_last_not_of(" \t\r") + 1);
    std::string_view text = doc_.keep(withoutCarriageReturns(source));
    bool blank = !first && blankBetween(lastEnd_, c.begin);
    lastEnd_ = c.end;
    first = false;
    if (!c.ownLine) {
      doc_.trailing(text);
      continue;
    }
    blank ? doc_.blankLine() : doc_.hardLine();
    doc_.text(text);
    doc_.hardLine();
  }
  bool closing = is(TokenKind::RBrace) || is(TokenKind::End);
  if (!first && !closing && blankBetween(lastEnd_, peek().begin)) doc_.blankLine();
}

/// Drops `;` and `,`, keeping the comments before them.
bool TokenWriter::skipSeparators(bool first) {
  bool any = false;
  while (is(TokenKind::Semicolon) || is(TokenKind::Comma)) {
    commentsBetween(first && !any);
    lastEnd_ = peek().end;
    ++at_;
    any = true;
  }
  return any;
}

void TokenWriter::dropSeparators() {
  while (comments(), is(TokenKind::Semicolon) || is(TokenKind::Comma)) {
    const bool commented = at_ > 0 && lastEnd_ > stream_.tokens[at_ - 1].end;
    lastEnd_ = peek().end;
    ++at_;
    if (commented && !is(TokenKind::RParen)) doc_.space();
  }
}

/// Drops the comma before a closing bracket.
bool TokenWriter::dropComma() {
  comments();
  lastEnd_ = peek().end;
  ++at_;
  return true;
}

} // namespace melix::format
