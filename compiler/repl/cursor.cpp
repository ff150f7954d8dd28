#include "repl/cursor.h"

#include "lex/lexer.h"
#include "support/characters.h"

#include <algorithm>
#include <set>

namespace melix::repl {

using lex::Token;
using lex::TokenKind;

namespace {

constexpr size_t mostWords = 2000;

/// The text with bytes that are no UTF-8 replaced, at the same places.
std::string readable(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; at < out.size();) {
    const CodePoint here = codePointAt(out, at);
    if (here.bytes == 1 && static_cast<unsigned char>(out[at]) >= 0x80) out[at] = '?';
    at += here.bytes;
  }
  return out;
}

/// An open bracket, or an open text with a value in braces.
struct Open {
  size_t token;
  size_t argument; ///< the token that the argument at hand begins with
  std::vector<std::string> labels = {};
  size_t positional = 0;
};

class CursorFinder {
public:
  CursorFinder(std::string_view text) : text_(readable(text)) {
    const FileId file = sources_.add("<prompt>", text_);
    DiagnosticSink unheard;
    stream_ = lex::lex(file, sources_, unheard);
    tokens_ = std::move(stream_.tokens);
    if (!tokens_.empty()) tokens_.pop_back(); // the end
  }

  Cursor found() {
    Cursor out;
    out.begin = text_.size();
    if (isInComment()) return out;
    const bool isText = takeOpenText(out);
    if (!isText && !takeWord(out)) return out;
    readBrackets();
    out.closing = closing();
    out.isActive = isActive_;
    takeCall(out);
    if (isText) return out;
    takeWords(out);
    const size_t end = tokens_.size();
    if (end > 0 && tokens_[end - 1].kind == TokenKind::Dot) {
      out.place = CursorPlace::Member;
      out.receiver = receiverBefore(end - 1);
    } else {
      out.place = CursorPlace::Name;
    }
    return out;
  }

private:
  std::string_view textOf(size_t k) const {
    return std::string_view(text_).substr(tokens_[k].begin, tokens_[k].end - tokens_[k].begin);
  }
  bool isIdentifier(size_t k) const { return k < tokens_.size() && tokens_[k].kind == TokenKind::Identifier; }
  bool isInComment() const {
    return !stream_.comments.empty() && stream_.comments.back().end == text_.size() &&
           stream_.comments.back().begin < text_.size();
  }

  /// Tokens that the lexer adds at the end of an open text: what is between its braces is at the cursor.
  bool takeSynthetic() {
    bool isBetweenBraces = false;
    const auto isSynthetic = [&] { return !tokens_.empty() && tokens_.back().begin == text_.size(); };
    while (isSynthetic()) {
      isBetweenBraces |= tokens_.back().kind == TokenKind::FormatEnd;
      tokens_.pop_back();
    }
    return isBetweenBraces;
  }

  /// Takes the text away in which the cursor is. Whether it is in one; between the braces of one it is not.
  bool takeOpenText(Cursor& out) {
    const bool wasOpen = !tokens_.empty() && tokens_.back().kind == TokenKind::StringEnd &&
                         tokens_.back().begin == text_.size();
    if (takeSynthetic() || !wasOpen) return false;
    size_t parts = 0;
    while (!tokens_.empty() && tokens_.back().kind == TokenKind::StringText) {
      tokens_.pop_back();
      ++parts;
    }
    const bool isWhole = !tokens_.empty() && tokens_.back().kind == TokenKind::StringStart && parts < 2;
    if (!isWhole) {
      while (!tokens_.empty() && tokens_.back().kind != TokenKind::StringStart) tokens_.pop_back();
      if (!tokens_.empty()) tokens_.pop_back();
      return true;
    }
    out.begin = tokens_.back().end;
    const bool isRaw = textOf(tokens_.size() - 1).starts_with('r');
    out.place = isRaw ? CursorPlace::RawText : CursorPlace::Text;
    tokens_.pop_back();
    return true;
  }

  /// Takes the name at the cursor away. False if something else than a name is there.
  bool takeWord(Cursor& out) {
    if (tokens_.empty() || tokens_.back().end < text_.size()) return true;
    const TokenKind kind = tokens_.back().kind;
    if (kind == TokenKind::Identifier || lex::isKeyword(kind)) {
      out.begin = tokens_.back().begin;
      tokens_.pop_back();
      return true;
    }
    switch (kind) { // after which no name begins
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Char:
    case TokenKind::Bad:
    case TokenKind::FormatText:
    case TokenKind::StringEnd:
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::RBrace:
    case TokenKind::Question: return false;
    default: return true;
    }
  }

  static bool isMacroSign(const Token& token) {
    const bool isFree = token.spaceBefore || token.newlineBefore || token.begin == 0;
    return token.kind == TokenKind::At && isFree && !token.spaceAfter;
  }

  void readBrackets() {
    opener_.assign(tokens_.size(), tokens_.size());
    for (size_t k = 0; k < tokens_.size(); ++k) {
      const Token& token = tokens_[k];
      isActive_ |= isMacroSign(token) || token.kind == TokenKind::KwUse || token.kind == TokenKind::KwConst;
      switch (token.kind) {
      case TokenKind::LParen:
      case TokenKind::LBracket:
      case TokenKind::LBrace:
      case TokenKind::StringStart: open_.push_back({k, k + 1}); break;
      case TokenKind::RParen: close(k, TokenKind::LParen); break;
      case TokenKind::RBracket: close(k, TokenKind::LBracket); break;
      case TokenKind::RBrace: close(k, TokenKind::LBrace); break;
      case TokenKind::StringEnd: close(k, TokenKind::StringStart); break;
      case TokenKind::Comma: endArgument(k); break;
      default: break;
      }
    }
  }

  void close(size_t k, TokenKind opener) {
    if (open_.empty() || tokens_[open_.back().token].kind != opener) return;
    opener_[k] = open_.back().token;
    open_.pop_back();
  }

  std::string labelAt(size_t k) const {
    const bool isLabel = isIdentifier(k) && k + 1 < tokens_.size() && tokens_[k + 1].kind == TokenKind::Colon;
    return isLabel ? std::string(textOf(k)) : std::string();
  }

  void endArgument(size_t comma) {
    if (open_.empty()) return;
    Open& open = open_.back();
    if (tokens_[open.token].kind != TokenKind::LParen) return;
    const std::string label = labelAt(open.argument);
    if (label.empty())
      ++open.positional;
    else
      open.labels.push_back(label);
    open.argument = comma + 1;
  }

  std::string closing() const {
    std::string out;
    for (size_t k = open_.size(); k-- > 0;) {
      const size_t token = open_[k].token;
      switch (tokens_[token].kind) {
      case TokenKind::LParen: out += ')'; break;
      case TokenKind::LBracket: out += ']'; break;
      case TokenKind::LBrace: out += '}'; break;
      default: out += "}" + std::string(textOf(token));
      }
    }
    return out;
  }

  /// The call around the cursor, if the innermost open bracket is that of one.
  void takeCall(Cursor& out) {
    if (open_.empty()) return;
    const Open& open = open_.back();
    const size_t bracket = open.token;
    out.isArgumentBegin = open.argument == tokens_.size();
    if (tokens_[bracket].kind != TokenKind::LParen || bracket == 0 || tokens_[bracket].newlineBefore) return;
    size_t name = bracket - 1;
    if (tokens_[name].kind == TokenKind::RBracket) { // `f[T](`
      if (opener_[name] == 0 || opener_[name] >= tokens_.size()) return;
      name = opener_[name] - 1;
    }
    if (!isIdentifier(name)) return;
    const bool isMember = name > 0 && tokens_[name - 1].kind == TokenKind::Dot;
    if (name > 0 && (tokens_[name - 1].kind == TokenKind::KwFn || tokens_[name - 1].kind == TokenKind::At ||
                     tokens_[name - 1].kind == TokenKind::KwMacro))
      return;
    if (isMember) out.call.receiver = receiverBefore(name - 1);
    if (isMember && out.call.receiver.isEmpty()) return;
    out.call.name = {tokens_[name].begin, tokens_[name].end};
    out.call.labels = open.labels;
    out.call.positional = open.positional;
    out.call.label = labelAt(open.argument);
    // The text at the cursor is the whole argument, with its label.
    const size_t first = open.argument + (out.call.label.empty() ? 0 : 2);
    const bool isText = out.place == CursorPlace::Text || out.place == CursorPlace::RawText;
    if (isText && first != tokens_.size()) out.place = CursorPlace::Nowhere;
  }

  /// The expression that ends before the point at `dot`: a name, literal or bracket, with what is applied to
  /// it.
  Part receiverBefore(size_t dot) const {
    size_t k = dot, first = dot;
    while (k > 0) {
      const Token& token = tokens_[k - 1];
      if (token.kind == TokenKind::Question) {
        --k;
        continue;
      }
      if (token.kind == TokenKind::RParen || token.kind == TokenKind::RBracket ||
          token.kind == TokenKind::StringEnd) {
        first = opener_[k - 1];
        if (first >= tokens_.size()) return {};
        if (token.kind != TokenKind::StringEnd && isAppliedAt(first)) {
          k = first;
          continue;
        }
      } else if (token.kind == TokenKind::Identifier || token.kind == TokenKind::Int ||
                 token.kind == TokenKind::Float || token.kind == TokenKind::Char ||
                 token.kind == TokenKind::KwTrue || token.kind == TokenKind::KwFalse) {
        first = k - 1;
      } else {
        return {};
      }
      if (first == 0 || tokens_[first - 1].kind != TokenKind::Dot) break;
      k = first - 1;
    }
    if (k == 0 || first == dot) return {};
    return {tokens_[first].begin, tokens_[dot - 1].end};
  }

  /// Whether a bracket applies to what stands before it.
  bool isAppliedAt(size_t bracket) const {
    if (bracket == 0 || tokens_[bracket].newlineBefore) return false;
    switch (tokens_[bracket - 1].kind) {
    case TokenKind::Identifier:
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::Question: return true;
    default: return false;
    }
  }

  void takeWords(Cursor& out) const {
    std::set<std::string> seen;
    const size_t first = tokens_.size() > mostWords ? tokens_.size() - mostWords : 0;
    for (size_t k = first; k < tokens_.size(); ++k)
      if (isIdentifier(k) && (k == 0 || tokens_[k - 1].kind != TokenKind::Dot))
        seen.insert(std::string(textOf(k)));
    out.words.assign(seen.begin(), seen.end());
  }

  const std::string text_;
  SourceStore sources_;
  lex::TokenStream stream_;
  std::vector<Token> tokens_;  ///< before the name or text at the cursor
  std::vector<size_t> opener_; ///< by the number of a closing token; as many as there are: none
  std::vector<Open> open_;
  bool isActive_ = false;
};

} // namespace

Cursor cursorIn(const std::string& text, size_t cursor) {
  return CursorFinder(std::string_view(text).substr(0, std::min(cursor, text.size()))).found();
}

} // namespace melix::repl
