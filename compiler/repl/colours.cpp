#include "repl/colours.h"

#include "lex/lexer.h"

#include <algorithm>

namespace melix::repl {
namespace {

Colour colourOf(lex::TokenKind kind) {
  using enum lex::TokenKind;
  switch (kind) {
  case Int:
  case Float: return Colour::Number;
  case Char:
  case StringStart:
  case StringText:
  case FormatText:
  case StringEnd: return Colour::Text;
  default: return lex::isKeyword(kind) ? Colour::Keyword : Colour::Plain;
  }
}

} // namespace

std::vector<ColouredPart> coloursOf(const std::string& text) {
  SourceStore sources;
  DiagnosticSink unheard;
  const FileId file = sources.add("<prompt>", text);
  const lex::TokenStream stream = lex::lex(file, sources, unheard);
  std::vector<ColouredPart> out;
  for (const lex::Token& token : stream.tokens)
    if (const Colour colour = colourOf(token.kind); colour != Colour::Plain && token.begin < token.end)
      out.push_back({token.begin, token.end, colour});
  for (const lex::CommentText& comment : stream.comments)
    out.push_back({comment.begin, comment.end, Colour::Comment});
  std::ranges::sort(out, {}, &ColouredPart::begin);
  return out;
}

} // namespace melix::repl
