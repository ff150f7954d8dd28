#pragma once
// The lexer's view of the text: one position, and the pieces that need many lines of their own (numbers,
// escapes, UTF-8).

#include "diagnostics/diagnostic.h"

#include <algorithm>

namespace melix::lex {

/// `[[fill]<^>][+][0][width][.digits][e|f|g|x|b|%]`; `{}` stands for a width or digits that a value gives.
bool isFormat(std::string_view format);

class Scanner {
public:
  Scanner(FileId file, std::string_view text, uint32_t begin, DiagnosticSink& sink)
      : file_(file), text_(text), sink_(sink), at_(begin) {}

  uint32_t position() const { return at_; }
  bool atEnd() const { return at_ >= text_.size(); }
  char peek(uint32_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance() { at_ += at_ < text_.size(); }
  /// Of the character so many bytes ahead, if a name may begin with it or have it in it: its bytes; else 0.
  uint32_t nameStart(uint32_t ahead = 0) const;
  uint32_t namePart() const;
  bool skipName();                     ///< the characters of a name; false if there are none
  std::string unseenCharacter() const; ///< `U+00A0`, if the next is one that shows nothing; else empty
  std::string_view rest() const { return text_.substr(std::min<size_t>(at_, text_.size())); }
  std::string_view text(uint32_t begin, uint32_t end) const { return text_.substr(begin, end - begin); }
  Span span(uint32_t begin, uint32_t end) const { return {file_, begin, end}; }

  bool checkUtf8();    ///< reports the first bad byte
  void skipPreamble(); ///< byte-order mark and `#!` line
  void skipLine();
  void skipAll() { at_ = static_cast<uint32_t>(text_.size()); }
  bool skipBlockComment(); ///< nested; true if it spans lines
  bool digits();           ///< a run of digits
  bool number(bool& isFloat);
  /// One character of a string or char literal, escapes decoded.
  void character(std::string& out);
  /// One character as it stands.
  void rawCharacter(std::string& out);

private:
  bool digitsOf(unsigned base);
  void escape(std::string& out);

  FileId file_;
  std::string_view text_;
  DiagnosticSink& sink_;
  uint32_t at_;
  unsigned badEscapes_ = 0; ///< a great many are not all reported
};

} // namespace melix::lex
