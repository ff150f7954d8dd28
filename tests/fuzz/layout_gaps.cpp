// Where rule 1 and rule 34 let a program be laid out differently.
#include "fuzz/mutate.h"

#include <algorithm>
#include <map>

namespace melix::fuzz {

namespace {

using lex::Token;
using lex::TokenKind;
using syntax::NodeId;
using syntax::NodeKind;

/// What the tree says about the gap in front of the token at an offset.
struct Note {
  bool newline = false, never = false, comma = false, semicolon = false;
};

class Notes {
public:
  Notes(const syntax::Ast& ast, const lex::TokenStream& stream) : ast_(ast), stream_(stream) {
    for (size_t k = 0; k < stream.tokens.size(); ++k) tokenAt_[stream.tokens[k].begin] = k;
    for (uint32_t k = 0; k < ast.size(); ++k) visit(NodeId(k));
  }
  Note& before(size_t token) { return notes_[token]; }

private:
  /// Index of the first token at or after an offset.
  size_t tokenFrom(uint32_t offset) const {
    auto at = tokenAt_.lower_bound(offset);
    return at == tokenAt_.end() ? stream_.tokens.size() - 1 : at->second;
  }

  void separated(Span next, bool comma) {
    Note& note = before(tokenFrom(next.begin));
    note.newline = note.semicolon = true;
    note.comma |= comma;
  }

  /// An infix operator between two operands: a newline may stand on both sides.
  void infix(uint32_t afterOperand) {
    size_t op = tokenFrom(afterOperand);
    before(op).newline = before(op + 1).newline = true;
  }

  /// An item may stand below the uses on it, if the first of them is a statement.
  void belowUses(NodeId id) {
    while (ast_.kind(id) == NodeKind::MacroUse && ast_[id].as<syntax::MacroUse>().target)
      id = ast_[id].as<syntax::MacroUse>().target;
    if (syntax::isItem(ast_.kind(id))) before(tokenFrom(ast_.span(id).begin)).newline = true;
  }

  void visit(NodeId id) {
    const syntax::Node& n = ast_[id];
    auto each = [&](const auto& list, bool comma, auto spanOf) {
      for (size_t k = 1; k < list.size(); ++k) separated(spanOf(list[k]), comma);
    };
    switch (n.kind) {
    case NodeKind::Block:
    case NodeKind::Module: {
      const auto& items = n.as<syntax::Many>().items;
      for (size_t k = 1; k < items.size(); ++k)
        if (ast_.kind(items[k]) != NodeKind::Use) separated(ast_.span(items[k]), false);
      for (NodeId item : items) belowUses(item);
      break;
    }
    case NodeKind::Struct:
      each(n.as<syntax::StructItem>().fields, true, [](const auto& f) { return f.span; });
      break;
    case NodeKind::Enum:
      each(n.as<syntax::EnumItem>().cases, true, [](const auto& c) { return c.span; });
      break;
    case NodeKind::Match: each(n.as<syntax::Match>().arms, true, [](const auto& a) { return a.span; }); break;
    case NodeKind::Concept:
      each(n.as<syntax::ConceptItem>().functions, false, [&](NodeId f) { return ast_.span(f); });
      break;
    case NodeKind::Binary: infix(n.as<syntax::Binary>().opSpan.begin); break;
    case NodeKind::As: infix(ast_.span(n.as<syntax::Two>().first).end); break;
    case NodeKind::Range:
      if (n.as<syntax::Range>().last) infix(ast_.span(n.as<syntax::Range>().first).end);
      break;
    default: break;
    }
  }

  const syntax::Ast& ast_;
  const lex::TokenStream& stream_;
  std::map<uint32_t, size_t> tokenAt_;
  std::map<size_t, Note> notes_;
};

bool endsOperand(const Token& t) {
  switch (t.kind) {
  case TokenKind::Identifier:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Char:
  case TokenKind::StringEnd:
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
  case TokenKind::Question: return true;
  default: return lex::isKeyword(t.kind);
  }
}

bool opensOrContinues(TokenKind kind) {
  switch (kind) {
  case TokenKind::Comma:
  case TokenKind::Equal:
  case TokenKind::FatArrow:
  case TokenKind::Arrow:
  case TokenKind::Colon:
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::LBrace: return true;
  default: return false;
  }
}

} // namespace

std::vector<Gap> layoutGaps(const syntax::Ast& ast, const SourceStore& sources) {
  DiagnosticSink sink;
  lex::TokenStream stream = lex::lex(ast.file, sources, sink);
  Notes notes(ast, stream);
  std::vector<Gap> out;
  std::vector<TokenKind> open;
  unsigned strings = 0;
  size_t comment = 0;
  for (size_t k = 0; k + 1 < stream.tokens.size(); ++k) {
    const Token& t = stream.tokens[k];
    const Token& next = stream.tokens[k + 1];
    if (t.kind == TokenKind::LParen || t.kind == TokenKind::LBracket || t.kind == TokenKind::LBrace)
      open.push_back(t.kind);
    if ((t.kind == TokenKind::RParen || t.kind == TokenKind::RBracket || t.kind == TokenKind::RBrace) &&
        !open.empty())
      open.pop_back();
    strings += t.kind == TokenKind::StringStart;
    strings -= t.kind == TokenKind::StringEnd;
    while (comment < stream.comments.size() && stream.comments[comment].begin < t.end) ++comment;
    bool hasComment = comment < stream.comments.size() && stream.comments[comment].begin < next.begin;
    auto blank = std::lower_bound(stream.blankLines.begin(), stream.blankLines.end(), t.end);
    bool hasBlank = blank != stream.blankLines.end() && *blank < next.begin;
    bool glued = t.kind == TokenKind::At || t.kind == TokenKind::Minus || t.kind == TokenKind::Amp ||
                 t.kind == TokenKind::Dollar || t.kind == TokenKind::DollarDotDot;
    // `4.abs()` without blanks: `4.` alone is no number.
    glued |= t.kind == TokenKind::Dot && k > 0 &&
             (stream.tokens[k - 1].kind == TokenKind::Int || stream.tokens[k - 1].kind == TokenKind::Float);
    if (strings > 0 || hasComment || hasBlank || next.kind == TokenKind::End ||
        (glued && !notes.before(k + 1).newline))
      continue;
    Note note = notes.before(k + 1);
    Gap gap{t.end, next.begin, false, note.comma, note.semicolon};
    bool separator =
        note.semicolon && (t.kind == TokenKind::Semicolon || (t.kind == TokenKind::Comma && note.comma));
    if (separator) {
      // What stands before the separator belongs to the gap, unless it is more than blanks and one newline.
      std::string_view before = k == 0 ? "" : sources.text(Span{ast.file, stream.tokens[k - 1].end, t.begin});
      bool plain = before.find_first_not_of(" \t\r\n") == std::string_view::npos &&
                   std::count(before.begin(), before.end(), '\n') < 2;
      if (!plain) continue;
      gap.begin = t.begin - static_cast<uint32_t>(before.size());
    }
    bool inBrackets = !open.empty() && open.back() != TokenKind::LBrace;
    bool suffix = (next.kind == TokenKind::LParen || next.kind == TokenKind::LBracket) && endsOperand(t);
    bool continues = next.kind == TokenKind::Dot || next.kind == TokenKind::KwElse;
    if (next.kind == TokenKind::Semicolon || next.kind == TokenKind::Comma) continue;
    gap.newline = !suffix && (inBrackets || note.newline || opensOrContinues(t.kind) || continues);
    bool beforeBrace = next.kind == TokenKind::RBrace && t.kind != TokenKind::LBrace;
    gap.newline |= beforeBrace && !inBrackets;
    // At the start of a line these are infix only when a blank follows.
    bool needsBlank =
        next.kind == TokenKind::Minus || next.kind == TokenKind::At || next.kind == TokenKind::Amp;
    gap.newline &= inBrackets || !needsBlank || next.spaceAfter;
    if (!gap.newline && sources.text(Span{ast.file, t.end, next.begin}).find('\n') != std::string_view::npos)
      continue;
    out.push_back(gap);
  }
  return out;
}

std::string changeLayout(std::string_view text, const std::vector<Gap>& gaps, Random& random, unsigned rate) {
  std::string out;
  uint32_t at = 0;
  auto blanks = [&] { return std::string(random() % 3, random() % 8 == 0 ? '\t' : ' '); };
  for (const Gap& gap : gaps) {
    out += text.substr(at, gap.begin - at);
    at = gap.end;
    std::string_view old = text.substr(gap.begin, gap.end - gap.begin);
    bool separates = gap.comma || gap.semicolon;
    if (random() % 100 >= rate) {
      out += old;
    } else if (separates) {
      unsigned choice = random() % 4;
      out += blanks();
      out += choice == 0 && gap.comma ? "," : choice == 1 ? ";" : choice == 2 ? "\r\n" : "\n";
      out += blanks();
    } else if (gap.newline && random() % 2 == 0) {
      out += blanks() + "\n" + blanks();
    } else {
      out += old.empty() ? std::string() : " " + blanks();
    }
  }
  out += text.substr(at);
  return out;
}

} // namespace melix::fuzz
