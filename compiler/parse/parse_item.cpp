// Items: functions, types, modules.
#include "parse/parser.h"
#include "syntax/attributes.h"

#include <utility>

namespace melix::parse {

using namespace syntax;

/// How many tokens the attributes at hand take.
size_t Parser::attributesAhead() const {
  size_t k = 0;
  auto attribute = [&] {
    return is(TokenKind::At, k) && is(TokenKind::Identifier, k + 1) && isAttributeName(textOf(peek(k + 1)));
  };
  for (int count = 0; count < 64 && attribute(); ++count) {
    k += 2;
    if (is(TokenKind::LParen, k) && matching_[at_ + k] != 0) k = matching_[at_ + k] - at_ + 1;
  }
  return k;
}

/// item = { attribute } [ "pub" ] ( fn | struct | … );  attribute = "@" attribute name [ arguments ]
bool Parser::parseItemInto(NodeList& out) {
  uint32_t begin = peek().begin;
  std::vector<Attribute> attributes;
  if (!startsItem(attributesAhead())) return false; // `@checkpoint { … }` is a statement
  while (is(TokenKind::At) && is(TokenKind::Identifier, 1) && isAttributeName(textOf(peek(1)))) {
    Attribute attribute;
    take();
    const Token& name = take();
    attribute.name = nameOf(name);
    attribute.span = tokenSpan(name);
    if (is(TokenKind::LParen) && !peek().newlineBefore) {
      attribute.hasArgs = true;
      attribute.args = parseArguments();
    }
    attributes.push_back(std::move(attribute));
  }
  if (recovering_) return true;
  bool isPub = accept(TokenKind::KwPub);
  FnItem fn;
  fn.isPub = isPub;
  fn.attributes = attributes;
  for (bool more = true; more;) {
    if (isWord("pure") && is(TokenKind::KwFn, 1))
      take(), fn.isPure = true;
    else if (is(TokenKind::KwExport) && (is(TokenKind::KwFn, 1) || isWord("pure", 1)))
      take(), fn.isExport = true;
    else if (is(TokenKind::KwExtern))
      take(), fn.isExtern = true, parsePlainString();
    else
      more = false;
  }
  if ((fn.isPure || fn.isExport || fn.isExtern) && !is(TokenKind::KwFn)) fail("`fn`");
  bool mayHaveAttributes = is(TokenKind::KwFn) || is(TokenKind::KwStruct) || is(TokenKind::KwEnum);
  if (!attributes.empty() && !mayHaveAttributes) fail("`fn`, `struct` or `enum`");
  if (isPub && is(TokenKind::Identifier)) fail("an item with a name of its own");
  if (recovering_) return true;
  switch (peek().kind) {
  case TokenKind::KwFn: out.push_back(parseFn(begin, std::move(fn))); break;
  case TokenKind::KwStruct: out.push_back(parseStruct(begin, std::move(attributes), isPub)); break;
  case TokenKind::KwEnum: out.push_back(parseEnum(begin, std::move(attributes), isPub)); break;
  case TokenKind::KwConcept: out.push_back(parseConcept(begin, isPub)); break;
  case TokenKind::KwMacro: out.push_back(parseMacro(begin, isPub)); break;
  case TokenKind::KwUse: parseUse(isPub, out); break;
  case TokenKind::KwConst: out.push_back(parseConst(begin, isPub)); break;
  case TokenKind::KwType: out.push_back(parseTypeAlias(begin, isPub)); break;
  default:
    if (isWord("test"))
      out.push_back(parseTest(begin, NodeKind::Test));
    else if (isWord("bench"))
      out.push_back(parseTest(begin, NodeKind::Bench));
    else if (isWord("check"))
      out.push_back(parseCheckItem(begin));
    else
      fail("an item");
  }
  bool isBody =
      !out.empty() && (ast_.kind(out.back()) == NodeKind::Struct || ast_.kind(out.back()) == NodeKind::Enum ||
                       ast_.kind(out.back()) == NodeKind::Concept);
  if (recovering_ && isBody) skipToItem();
  return true;
}

/// fn = "fn" (word | operator | splice) [ generics ] parameters [ "->" type ] ( "=" expr | block | nothing )
NodeId Parser::parseFn(uint32_t begin, FnItem item) {
  take();
  const Token& name = peek();
  const bool splice = startsSplice();
  bool word = name.kind == TokenKind::Identifier || lex::isKeyword(name.kind);
  bool op = name.kind >= TokenKind::EqEq && name.kind <= TokenKind::Pipe && name.kind != TokenKind::Equal;
  if (splice) {
    takeName(item.name, item.nameSpan);
  } else if (word || op) {
    take();
    item.name = nameOf(name);
    item.nameSpan = tokenSpan(name);
  } else {
    fail("a name");
  }
  item.generics = parseGenerics();
  if (is(TokenKind::LParen))
    item.params = parseParameters(false);
  else
    fail("`(`");
  if (is(TokenKind::Colon) && !recovering_) {
    fail("`->`, `=` or `{`");
    sink_.hintLast(peek(1).newlineBefore ? "a block stands in braces"
                                         : "the type of the result follows `->`");
  }
  if (is(TokenKind::Arrow) && !recovering_) {
    take();
    item.result = parseType();
  }
  if (!recovering_) {
    if (is(TokenKind::Equal)) {
      take();
      item.shortForm = true;
      item.body = parseExpr();
    } else if ((is(TokenKind::LBrace) || is(TokenKind::Dollar)) && sameLine()) {
      item.body = parseBlock();
    } else if (is(TokenKind::LBrace) || (is(TokenKind::Semicolon) && is(TokenKind::LBrace, 1))) {
      fail("`=`, or `{` on the same line");
      recovering_ = false;
      accept(TokenKind::Semicolon);
      item.body = parseBlock();
    }
  }
  return ast_.add(NodeKind::Fn, spanFrom(begin), std::move(item));
}

/// generics = "[" { [ ".." ] name [ ":" type ] [ "=" type ] } "]"
std::vector<Generic> Parser::parseGenerics() {
  std::vector<Generic> out;
  if (!is(TokenKind::LBracket) || recovering_) return out;
  auto open = static_cast<uint32_t>(at_);
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  while (!is(TokenKind::RBracket) && !recovering_) {
    Generic g;
    uint32_t begin = peek().begin;
    g.isPack = accept(TokenKind::DotDot);
    Span span;
    if (!takeName(g.name, span)) break;
    if (accept(TokenKind::Colon)) g.bound = parseType();
    if (accept(TokenKind::Equal)) g.defaultType = parseType();
    g.span = spanFrom(begin);
    out.push_back(g);
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RBracket, open);
  return out;
}

/// Whether a function stands among the fields or cases that the brace at `open` holds; one that is not
/// further in than the line of that brace stands behind it, and the brace that closes it is missing.
bool Parser::isMethod(uint32_t open) const {
  if (!is(TokenKind::KwFn) && !(is(TokenKind::KwPub) && is(TokenKind::KwFn, 1))) return false;
  return sameLine() || indentAt(peek().begin).size() > indentAt(tokens_[open].begin).size();
}

/// Reads over a function where something else is expected; the first one is told.
void Parser::skipMethod(std::string_view expected, bool isTold) {
  accept(TokenKind::KwPub);
  const std::string name = is(TokenKind::Identifier, 1) ? std::string(textOf(peek(1))) : "f";
  if (!isTold) {
    fail(expected);
    sink_.hintLast("a method is a function outside of the type: `x." + name + "()` calls `fn " + name +
                   "(x: …)`");
  }
  skipTo(false);
  separators();
}

/// fields = { [ name ":" ] type [ "=" expr ] | splice } separated by newlines, `,` or `;`
std::vector<FieldDecl> Parser::parseFields(TokenKind close, bool namesOptional) {
  std::vector<FieldDecl> out;
  auto open = static_cast<uint32_t>(at_ - 1);
  Scoped newlines(ignoreNewlines_, close != TokenKind::RBrace);
  separators();
  bool hasMethods = false;
  while (!is(close) && !closesBlock()) {
    if (close == TokenKind::RBrace && isMethod(open)) {
      skipMethod("a field", std::exchange(hasMethods, true));
      continue;
    }
    if (missesBrace(open)) return out;
    FieldDecl f;
    size_t before = at_;
    uint32_t begin = peek().begin;
    bool splice = startsSplice() && !startsLabel();
    bool named = !splice && (!namesOptional || startsLabel());
    Span span;
    const bool lacksType = named && is(TokenKind::Identifier) && is(TokenKind::Equal, 1);
    if (!named || (takeName(f.name, span) && expect(TokenKind::Colon))) f.type = parseType();
    if (lacksType) sink_.hintLast("a field has a type, its default stands behind that: `n: int = 1`");
    if (!f.type) f.type = errorNode();
    if (!recovering_ && !splice && accept(TokenKind::Equal)) f.defaultValue = parseExpr();
    f.span = spanFrom(begin);
    out.push_back(f);
    if (close == TokenKind::RBrace)
      endsElement();
    else if (!is(close) && !is(TokenKind::Comma) && !is(TokenKind::Semicolon))
      break;
    if (recovering_ && close != TokenKind::RBrace) break;
    if (recovering_) skipTo(true); // one bad field does not hide the others
    separators();
    if (at_ == before) break;
  }
  expectClose(close, open, close == TokenKind::RBrace ? std::string_view() : "`,` or `)`");
  return out;
}

/// struct = "struct" name [ generics ] [ ":" type ] "{" fields "}"
NodeId Parser::parseStruct(uint32_t begin, std::vector<Attribute> attributes, bool isPub) {
  take();
  StructItem item;
  item.isPub = isPub;
  item.attributes = std::move(attributes);
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (accept(TokenKind::Colon)) item.base = parseType();
    if (expect(TokenKind::LBrace)) item.fields = parseFields(TokenKind::RBrace, false);
  }
  return ast_.add(NodeKind::Struct, spanFrom(begin), std::move(item));
}

/// enum = "enum" name [ generics ] "{" { case } "}"
NodeId Parser::parseEnum(uint32_t begin, std::vector<Attribute> attributes, bool isPub) {
  take();
  EnumItem item;
  item.isPub = isPub;
  item.attributes = std::move(attributes);
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::LBrace)) {
      auto open = static_cast<uint32_t>(at_ - 1);
      Scoped newlines(ignoreNewlines_, false);
      separators();
      bool hasMethods = false;
      while (!closesBlock()) {
        if (isMethod(open)) {
          skipMethod("a case", std::exchange(hasMethods, true));
          continue;
        }
        if (missesBrace(open)) break;
        size_t before = at_;
        parseCaseInto(item.cases);
        endsElement();
        if (recovering_) skipTo(true);
        separators();
        if (at_ == before) break;
      }
      if (!missesBrace(open)) expectClose(TokenKind::RBrace, open);
    }
  }
  return ast_.add(NodeKind::Enum, spanFrom(begin), std::move(item));
}

/// case = ( name | splice ) [ "(" fields ")" ]
void Parser::parseCaseInto(std::vector<CaseDecl>& out) {
  CaseDecl c;
  uint32_t begin = peek().begin;
  Span span;
  if (!takeName(c.name, span)) return;
  if (is(TokenKind::LParen) && !peek().newlineBefore) {
    take();
    c.hasFields = true;
    c.fields = parseFields(TokenKind::RParen, true);
  }
  c.span = spanFrom(begin);
  out.push_back(std::move(c));
}

/// concept = "concept" name [ generics ] "{" { fn without body } "}"
NodeId Parser::parseConcept(uint32_t begin, bool isPub) {
  take();
  ConceptItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::LBrace)) {
      auto open = static_cast<uint32_t>(at_ - 1);
      Scoped newlines(ignoreNewlines_, false);
      separators();
      while (is(TokenKind::KwFn)) {
        item.functions.push_back(parseFn(peek().begin, FnItem{}));
        endsElement();
        if (recovering_) skipTo(true);
        separators();
      }
      expectClose(TokenKind::RBrace, open, "`fn` or `}`");
    }
  }
  return ast_.add(NodeKind::Concept, spanFrom(begin), std::move(item));
}

/// macro = "macro" name parameters "->" type block
NodeId Parser::parseMacro(uint32_t begin, bool isPub) {
  take();
  MacroItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    if (is(TokenKind::LParen))
      item.params = parseParameters(false);
    else
      fail("`(`");
    if (!recovering_ && accept(TokenKind::Arrow)) item.result = parseType();
    if (!recovering_ && (is(TokenKind::LBrace) || is(TokenKind::Dollar)))
      item.body = parseBlock();
    else
      fail("`{`");
  }
  return ast_.add(NodeKind::Macro, spanFrom(begin), std::move(item));
}

/// use = "use" path { "," path };  path = name { "." name } [ ".{" names "}" ] [ "as" name ]
void Parser::parseUse(bool isPub, NodeList& out) {
  take();
  do {
    UseItem item{};
    item.isPub = isPub;
    uint32_t pathBegin = peek().begin;
    do {
      if (is(TokenKind::LBrace) && !item.path.empty()) {
        auto open = static_cast<uint32_t>(at_);
        take();
        item.hasNames = true;
        Scoped inBrackets(ignoreNewlines_, true);
        while (!is(TokenKind::RBrace) && !recovering_) {
          UseName part;
          if (!takeName(part.name, part.span)) break;
          item.names.push_back(part);
          if (is(TokenKind::KwAs)) {
            fail("`,` or `}`");
            sink_.hintLast("only a module gets another name: `use a.b as c`");
          }
          if (!accept(TokenKind::Comma)) break;
        }
        expectClose(TokenKind::RBrace, open);
        break;
      }
      UseName part;
      if (!takeName(part.name, part.span, !item.path.empty())) break;
      item.path.push_back(part);
    } while (accept(TokenKind::Dot));
    Span span;
    if (!recovering_ && accept(TokenKind::KwAs)) takeName(item.alias, span);
    out.push_back(ast_.add(NodeKind::Use, spanFrom(pathBegin), std::move(item)));
  } while (!recovering_ && accept(TokenKind::Comma));
}

/// const = "const" name [ ":" type ] "=" expr
NodeId Parser::parseConst(uint32_t begin, bool isPub) {
  take();
  ConstItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    if (accept(TokenKind::Colon)) item.type = parseType();
    if (expect(TokenKind::Equal)) item.value = parseExpr();
  }
  if (!item.value) item.value = errorNode();
  return ast_.add(NodeKind::Const, spanFrom(begin), std::move(item));
}

/// type = "type" name [ generics ] "=" type
NodeId Parser::parseTypeAlias(uint32_t begin, bool isPub) {
  take();
  TypeItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::Equal)) item.type = parseType();
  }
  if (!item.type) item.type = errorNode();
  return ast_.add(NodeKind::TypeAlias, spanFrom(begin), std::move(item));
}

/// A string without interpolation.
std::string Parser::parsePlainString() {
  std::string text;
  if (!expect(TokenKind::StringStart, "a string")) return text;
  while (is(TokenKind::StringText)) text += stream_.texts[take().text];
  if (!accept(TokenKind::StringEnd)) fail("a string without `{…}`");
  return text;
}

/// test = "test" ( string | splice ) block;  bench = "bench" ( string | splice ) block
NodeId Parser::parseTest(uint32_t begin, NodeKind kind) {
  take();
  TestItem item;
  item.nameSpan = tokenSpan(peek());
  if (is(TokenKind::Dollar))
    item.splice = parseSplice();
  else
    item.name = parsePlainString();
  if (!recovering_ && (is(TokenKind::LBrace) || is(TokenKind::Dollar)))
    item.body = parseBlock();
  else
    fail("`{`");
  return ast_.add(kind, spanFrom(begin), std::move(item));
}

/// check = "check" name ":" type
NodeId Parser::parseCheckItem(uint32_t begin) {
  take();
  CheckItem item{};
  item.type = parseType();
  if (expect(TokenKind::Colon)) item.concept_ = parseType();
  return ast_.add(NodeKind::CheckItem, spanFrom(begin), std::move(item));
}

} // namespace melix::parse
