#include "lex/lexer.h"

#include "lex/scan.h"

#include <algorithm>
#include <set>

namespace melix::lex {

namespace {

struct TokenRow {
  TokenKind kind;
  std::string_view text;
};
constexpr TokenRow keywords[] = {
#define KEYWORD(Kind, Text) {TokenKind::Kw##Kind, Text},
#include "lex/tokens.def"
};
constexpr TokenRow symbols[] = {
#define SYMBOL(Kind, Text) {TokenKind::Kind, Text},
#include "lex/tokens.def"
};
constexpr std::string_view texts[] = {
#define KEYWORD(Kind, Text) "`" Text "`",
#define SYMBOL(Kind, Text) "`" Text "`",
#define TOKEN(Kind, Text) Text,
#include "lex/tokens.def"
};

/// Where the lexer stands inside strings: an interpolation holds the depth of brackets opened in it. One in
/// the format of another holds that format so far, with `{}` for each value in it.
struct Interpolation {
  uint32_t depth = 0;
  bool triple = false;
  uint32_t opened = 0;
  bool inFormat = false;
  std::string format{};
};

class Lexer {
public:
  Lexer(FileId file, std::string_view text, uint32_t begin, DiagnosticSink& sink)
      : scan_(file, text, begin, sink), sink_(sink), errorsBefore_(sink.errorCount()) {
    out_.file = file;
  }

  TokenStream run() {
    if (!scan_.checkUtf8()) {
      add(TokenKind::End, scan_.position());
      return std::move(out_);
    }
    scan_.skipPreamble();
    while (skipBlanks()) next();
    endsInString();
    add(TokenKind::End, scan_.position());
    for (size_t k = 0; k + 1 < out_.tokens.size(); ++k)
      out_.tokens[k].spaceAfter = out_.tokens[k + 1].begin > out_.tokens[k].end;
    return std::move(out_);
  }

private:
  /// The end of the text inside an interpolation closes it.
  void endsInString() {
    endInterpolations();
    while (!strings_.empty()) {
      out_.endsInText = strings_.back().triple && sink_.errorCount() == errorsBefore_;
      unclosedInBraces(strings_.back().opened, strings_.back().opened + 1);
      strings_.pop_back();
      out_.unclosed = true;
    }
  }

  Token& add(TokenKind kind, uint32_t begin, std::string text = {}) {
    Token token;
    token.kind = kind;
    token.begin = begin;
    token.end = scan_.position();
    token.newlineBefore = newline_;
    token.spaceBefore = begin > lastEnd_;
    if (kind == TokenKind::StringText || kind == TokenKind::FormatText || kind == TokenKind::FormatEnd ||
        kind == TokenKind::Char) {
      token.text = static_cast<uint32_t>(out_.texts.size());
      out_.texts.push_back(std::move(text));
    }
    newline_ = false;
    lastEnd_ = token.end;
    out_.tokens.push_back(token);
    return out_.tokens.back();
  }

  /// Blanks, newlines and comments; false at the end of the text.
  bool skipBlanks() {
    bool lineIsBlank = newline_ || out_.tokens.empty();
    uint32_t lineStart = scan_.position();
    for (;;) {
      char c = scan_.peek();
      if (scan_.atEnd()) return false;
      if (c == '\n') {
        endInterpolations();
        if (lineIsBlank) out_.blankLines.push_back(lineStart);
        scan_.advance();
        newline_ = lineIsBlank = true;
        lineStart = scan_.position();
      } else if (c == ' ' || c == '\t' || c == '\r') {
        scan_.advance();
      } else if (c == '/' && (scan_.peek(1) == '/' || scan_.peek(1) == '*')) {
        comment(lineIsBlank);
        lineIsBlank = false;
      } else {
        return true;
      }
    }
  }

  void comment(bool ownLine) {
    CommentText comment;
    comment.begin = scan_.position();
    comment.isDoc = scan_.peek(1) == '/' && scan_.peek(2) == '/' && scan_.peek(3) != '/';
    comment.ownLine = ownLine;
    comment.tokensBefore = static_cast<uint32_t>(out_.tokens.size());
    if (scan_.peek(1) == '/')
      scan_.skipLine();
    else if (scan_.skipBlockComment())
      newline_ = true;
    comment.end = scan_.position();
    if (!ownLine && !comment.isDoc) warnIfDivision(comment);
    out_.comments.push_back(comment);
  }

  /// Rule 6: `// 2` or `// (n)` after an operand looks like a division of another language.
  void warnIfDivision(const CommentText& comment) {
    if (out_.tokens.empty() || newline_) return;
    TokenKind last = out_.tokens.back().kind;
    bool operand = last == TokenKind::Identifier || last == TokenKind::Int || last == TokenKind::Float ||
                   last == TokenKind::RParen || last == TokenKind::RBracket;
    std::string_view body = scan_.text(comment.begin, comment.end).substr(2);
    while (!body.empty() && (body.front() == ' ' || body.front() == '(')) body.remove_prefix(1);
    while (!body.empty() && (body.back() == ' ' || body.back() == ')' || body.back() == '\r'))
      body.remove_suffix(1);
    if (operand && isOneWordOfCode(body) && comment.begin <= lastEnd_ + 1)
      sink_.report(DiagId::CommentDivision, scan_.span(comment.begin, comment.end));
  }

  bool isOneWordOfCode(std::string_view body) const {
    if (body.empty()) return false;
    bool number = body.find_first_not_of("0123456789._") == std::string_view::npos;
    if (number) return true;
    Scanner word(out_.file, body, 0, sink_);
    if (!word.skipName() || !word.atEnd()) return false;
    // A name counts only if the text uses it as a token before.
    for (const Token& token : out_.tokens)
      if (token.kind == TokenKind::Identifier && scan_.text(token.begin, token.end) == body) return true;
    return false;
  }

  void next() {
    char c = scan_.peek();
    uint32_t begin = scan_.position();
    if (scan_.nameStart() > 0) return word(begin);
    if (c >= '0' && c <= '9') return number(begin);
    if (c == '"') return stringStart(begin);
    if (c == '\'') return charLiteral(begin);
    if (!strings_.empty() && strings_.back().depth == 0 && (c == '}' || c == ':'))
      return interpolationEnd(begin);
    symbol(begin);
  }

  void word(uint32_t begin) {
    if (size_t hashes = rawHashes(); hashes != std::string_view::npos) return rawString(begin, hashes);
    scan_.skipName();
    std::string_view text = scan_.text(begin, scan_.position());
    for (const TokenRow& row : keywords)
      if (row.text == text) {
        add(row.kind, begin);
        return;
      }
    add(TokenKind::Identifier, begin);
  }

  /// Rule 4. After `.` digits are a tuple position and nothing else.
  void number(uint32_t begin) {
    bool afterDot = !out_.tokens.empty() && out_.tokens.back().kind == TokenKind::Dot;
    bool isFloat = false;
    bool ok = afterDot ? scan_.digits() : scan_.number(isFloat);
    if (scan_.skipName()) ok = false;
    if (!ok && scan_.peek() == '.') scan_.advance();
    if (!ok) badNumber(begin, scan_.text(begin, scan_.position()));
    add(isFloat ? TokenKind::Float : TokenKind::Int, begin);
  }

  void badNumber(uint32_t begin, std::string_view text) {
    struct Prefix {
      std::string_view text, hint;
    };
    static constexpr Prefix prefixes[] = {
        {"0x", "behind `0x` stand digits from 0 to 9 and from a to f, with `_` between them"},
        {"0b", "behind `0b` stand the digits 0 and 1, with `_` between them"},
        {"0o", "behind `0o` stand digits from 0 to 7, with `_` between them"},
    };
    std::string_view hint = text.find('_') == std::string_view::npos
                                ? "a float has a digit on both sides of the point, or an exponent"
                                : "`_` stands between two digits";
    for (const Prefix& prefix : prefixes)
      if (text.starts_with(prefix.text)) hint = prefix.hint;
    const std::string_view unit = text.substr(std::min(text.find_last_of("0123456789.") + 1, text.size()));
    if (unit == "im" || unit == "i" || unit == "j")
      hint = "complex numbers are not supported yet: a tuple or a struct holds the two parts";
    report(DiagId::BadNumber, begin, scan_.position(), text, hint);
  }

  void charLiteral(uint32_t begin) {
    scan_.advance();
    std::string text;
    while (!scan_.atEnd() && scan_.peek() != '\'' && scan_.peek() != '\n') scan_.character(text);
    bool closed = scan_.peek() == '\'';
    if (closed) scan_.advance();
    if (!closed || characterCount(text) != 1) report(DiagId::BadCharLiteral, begin, scan_.position());
    add(TokenKind::Char, begin, text.empty() ? "?" : text);
  }

  /// Of `r"` and `r#"`: how many `#` there are; else npos.
  size_t rawHashes() const {
    std::string_view rest = scan_.rest();
    if (!rest.starts_with('r')) return std::string_view::npos;
    const size_t quote = rest.find_first_not_of('#', 1);
    return quote != std::string_view::npos && rest[quote] == '"' ? quote - 1 : std::string_view::npos;
  }

  /// `r"…"`, or `r#"…"#` with as many `#` on both sides, on one line.
  void rawString(uint32_t begin, size_t hashes) {
    std::string closing = '"' + std::string(hashes, '#');
    const std::string_view line = scan_.rest().substr(0, scan_.rest().find('\n'));
    constexpr std::string_view quotes = "\"\"\""; // of another language, and of several lines
    const bool isTriple = line.substr(1).starts_with(quotes) && line.rfind(quotes) == 1;
    if (isTriple) closing = quotes;
    for (size_t k = 0; k < 1 + hashes + (isTriple ? 3 : 1); ++k) scan_.advance();
    add(TokenKind::StringStart, begin);
    const uint32_t start = scan_.position();
    while (!scan_.atEnd() && scan_.peek() != '\n' && !scan_.rest().starts_with(closing)) scan_.advance();
    if (scan_.position() > start)
      add(TokenKind::StringText, start, std::string(scan_.text(start, scan_.position())));
    if (!scan_.rest().starts_with(closing)) return unclosedRaw(begin, closing);
    closeString(begin, closing);
  }

  /// Goes on behind what was to close a raw text, if that plainly is there.
  void unclosedRaw(uint32_t begin, std::string_view closing) {
    const uint32_t end = scan_.position();
    const size_t before = sink_.errorCount();
    unclosed(begin, end);
    if (sink_.errorCount() > before)
      sink_.hintLast(
          "a raw string ends on its line with the quotes and signs that it begins with, `r\"…\"` or "
          "`r#\"…\"#`; a string of several lines stands between `\"\"\"`");
    const size_t close = closing.size() > 1 ? scan_.rest().find(closing) : std::string_view::npos;
    if (close != std::string_view::npos)
      while (scan_.position() < end + close + closing.size()) scan_.advance();
    add(TokenKind::StringEnd, end);
  }

  void closeString(uint32_t begin, std::string_view closing) {
    uint32_t end = scan_.position();
    bool insideOther = !strings_.empty() && !strings_.back().triple &&
                       strings_.back().depth == 0; // which is not closed either
    if (scan_.peek() != '"' && !insideOther) unclosed(begin, end);
    if (closing == "\"" && strings_.empty()) skipBrokenText();
    for (size_t k = 0; k < closing.size() && scan_.peek() == closing[k]; ++k) scan_.advance();
    add(TokenKind::StringEnd, end);
  }

  /// At the end of a line that a string is broken by: goes on to the quote that was to close it, which leaves
  /// an odd number of them in the next line that has any.
  void skipBrokenText() {
    if (scan_.peek() != '\n') return;
    std::string_view rest = scan_.rest();
    size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return;
    constexpr std::string_view beforeOpening = " (,=[{:"; // the character before a quote that begins a string
    if (beforeOpening.find(rest[quote - 1]) != std::string_view::npos) return;
    std::string_view line = rest.substr(quote, rest.substr(quote).find('\n'));
    if (std::count(line.begin(), line.end(), '"') % 2 == 0) return;
    while (scan_.peek() != '"') scan_.advance();
    sink_.hintLast("a string of several lines stands between `\"\"\"`");
  }

  void stringStart(uint32_t begin) {
    bool triple = scan_.peek(1) == '"' && scan_.peek(2) == '"';
    for (int k = 0; k < (triple ? 3 : 1); ++k) scan_.advance();
    add(TokenKind::StringStart, begin);
    stringText(begin, triple);
  }

  /// Text up to the closing quotes or to an interpolation, whose tokens follow.
  void stringText(uint32_t opened, bool triple) {
    uint32_t start = scan_.position();
    std::string text;
    auto flush = [&] {
      if (!text.empty()) add(TokenKind::StringText, start, std::move(text));
    };
    for (;;) {
      char c = scan_.peek();
      bool closing = triple ? c == '"' && scan_.peek(1) == '"' && scan_.peek(2) == '"' : c == '"';
      if (scan_.atEnd() || closing || (c == '\n' && !triple)) {
        flush();
        out_.endsInText = triple && scan_.atEnd() && sink_.errorCount() == errorsBefore_;
        return closeString(opened, triple ? "\"\"\"" : "\"");
      }
      if (c == '{' && scan_.peek(1) != '{') {
        flush();
        scan_.advance();
        if (strings_.size() >= 256) {
          report(DiagId::NestedTooDeep, start, scan_.position(), "256");
          scan_.skipAll();
          strings_.clear();
          out_.unclosed = true;
          return;
        }
        strings_.push_back({0, triple, opened});
        return;
      }
      if (c == '}' && scan_.peek(1) != '}') {
        report(DiagId::LoneBrace, scan_.position(), scan_.position() + 1);
        for (size_t left = loneFormatLength(); left > 0; --left) scan_.rawCharacter(text);
      }
      if ((c == '{' || c == '}') && scan_.peek(1) == c) scan_.advance();
      scan_.character(text);
    }
  }

  /// Of a lone `}` that a format and another `}` follow, as an interpolation ends: the characters up to that
  /// one, which is lone for the same cause. Else 0.
  size_t loneFormatLength() const {
    if (scan_.peek(1) != ':') return 0;
    std::string_view behind = scan_.rest().substr(2);
    size_t end = behind.find_first_of("}\"\n");
    if (end == std::string_view::npos || behind[end] != '}' || behind.substr(end + 1).starts_with('}'))
      return 0;
    return isFormat(behind.substr(0, end)) ? 2 + characterCount(behind.substr(0, end)) : 0;
  }

  /// At the `:` or `}` behind the value of an interpolation, or at the `}` behind one in its format.
  void interpolationEnd(uint32_t begin) {
    Interpolation level = strings_.back();
    const bool hasFormat = level.inFormat || scan_.peek() == ':';
    if (level.inFormat && scan_.peek() == ':') return symbol(begin);
    strings_.pop_back();
    std::string text;
    if (hasFormat) {
      scan_.advance();
      text = formatText();
      level.format += text;
      if (scan_.peek() == '{') {
        add(TokenKind::FormatText, begin, text);
        scan_.advance();
        level.format += "{}";
        level.inFormat = true;
        strings_.push_back(level);
        return;
      }
      if (!isFormat(level.format)) report(DiagId::BadFormat, begin + 1, scan_.position(), level.format);
    }
    if (scan_.peek() == '}')
      scan_.advance();
    else
      unclosedInBraces(level.opened, begin);
    add(TokenKind::FormatEnd, begin, text);
    stringText(level.opened, level.triple);
  }

  /// The characters of a format up to its end or to a value in it.
  std::string formatText() {
    const uint32_t start = scan_.position();
    constexpr std::string_view ends = "{}\n\"";
    while (!scan_.atEnd() && ends.find(scan_.peek()) == std::string_view::npos) scan_.advance();
    return std::string(scan_.text(start, scan_.position()));
  }

  void unclosed(uint32_t begin, uint32_t end) {
    out_.unclosedStrings.emplace_back(begin, end);
    report(DiagId::UnclosedString, begin, end);
  }
  /// The end comes between braces of the string, whose opening one may be meant as text.
  void unclosedInBraces(uint32_t begin, uint32_t end) {
    const size_t before = sink_.errorCount();
    unclosed(begin, end);
    if (sink_.errorCount() > before) sink_.hintLast("a brace that is text is written `{{`");
  }

  /// A newline ends a string of one line, also between its braces; only brackets in there may span lines.
  void endInterpolations() {
    while (!strings_.empty() && !strings_.back().triple && strings_.back().depth == 0) {
      uint32_t opened = strings_.back().opened;
      strings_.pop_back();
      if (strings_.empty() || strings_.back().triple || strings_.back().depth > 0)
        unclosedInBraces(opened, scan_.position());
      add(TokenKind::FormatEnd, scan_.position());
      add(TokenKind::StringEnd, scan_.position());
    }
  }

  /// Reports, but not every one of a great many.
  template <class... Args>
  void report(DiagId id, uint32_t begin, uint32_t end, Args&&... args) {
    if (sink_.errorCount() < errorsBefore_ + maxErrors)
      sink_.report(id, scan_.span(begin, end), std::forward<Args>(args)...);
  }

  void symbol(uint32_t begin) {
    std::string_view rest = scan_.rest();
    for (const TokenRow& row : symbols) {
      if (!rest.starts_with(row.text)) continue;
      for (size_t k = 0; k < row.text.size(); ++k) scan_.advance();
      countBrackets(row.kind);
      add(row.kind, begin);
      return;
    }
    if (const std::string unseen = scan_.unseenCharacter(); !unseen.empty()) return skipUnseen(unseen);
    badCharacter(begin);
  }

  /// What shows nothing is no fault of its own on every line: each is told once, and nothing stands there.
  void skipUnseen(const std::string& name) {
    const uint32_t begin = scan_.position();
    std::string text;
    scan_.rawCharacter(text);
    if (!unseen_.insert(name).second) return;
    report(DiagId::BadCharacter, begin, scan_.position(), name,
           "it shows a blank or nothing: leave it out, or write a blank");
  }

  void badCharacter(uint32_t begin) {
    const std::string_view rest = scan_.rest();
    std::string text;
    scan_.rawCharacter(text);
    const std::string_view hint = hintOfSign(begin, rest);
    report(DiagId::BadCharacter, begin, scan_.position(), text, hint);
    if (text == "#" && hint != nameHint) scan_.skipLine(); // a comment, elsewhere
    if (text == "!" && hint == conversionHint) scan_.skipName();
    if (text == "\u201c") skipQuoted();
    add(TokenKind::Bad, begin);
  }

  /// What `rest`, which begins with no token of Melix, is meant to be.
  std::string_view hintOfSign(uint32_t begin, std::string_view rest) const {
    const bool touchesName =
        !out_.tokens.empty() && out_.tokens.back().kind == TokenKind::Identifier && lastEnd_ == begin;
    const std::string_view name = touchesName ? scan_.text(out_.tokens.back().begin, lastEnd_) : "";
    if (rest.starts_with('!') && touchesName)
      return !strings_.empty() && strings_.back().depth == 0 ? conversionHint
                                                             : "a function is called without it: `f(x)`";
    if (rest.starts_with('#') && name == "r") return nameHint;
    return habitHint(HabitKind::Sign, rest);
  }

  /// Behind the opening quote of a word processor: goes on behind the closing one of the line.
  void skipQuoted() {
    constexpr std::string_view closing = "\u201d";
    const std::string_view rest = scan_.rest();
    const size_t length = rest.substr(0, rest.find('\n')).find(closing);
    const uint32_t end = scan_.position() + static_cast<uint32_t>(length + closing.size());
    while (length != std::string_view::npos && scan_.position() < end) scan_.advance();
  }

  void countBrackets(TokenKind kind) {
    if (strings_.empty()) return;
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace)
      ++strings_.back().depth;
    else if (kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace)
      strings_.back().depth -= strings_.back().depth > 0;
  }

  Scanner scan_;
  DiagnosticSink& sink_;
  size_t errorsBefore_;
  static constexpr size_t maxErrors = 30;
  static constexpr std::string_view nameHint = "a name has letters, digits and `_`";
  static constexpr std::string_view conversionHint = "a value stands in a string without it: `{x}`";
  TokenStream out_;
  std::vector<Interpolation> strings_;
  std::set<std::string> unseen_; ///< characters that were told of
  bool newline_ = false;
  uint32_t lastEnd_ = 0;
};

} // namespace

std::string_view tokenText(TokenKind kind) { return texts[static_cast<size_t>(kind)]; }
bool isKeyword(TokenKind kind) { return kind <= TokenKind::KwAssert; }

TokenStream lex(FileId file, const SourceStore& sources, DiagnosticSink& sink) {
  return lex(file, sources.text(file), 0, sink);
}

TokenStream lex(FileId file, std::string_view text, uint32_t begin, DiagnosticSink& sink) {
  return Lexer(file, text, begin, sink).run();
}

} // namespace melix::lex
