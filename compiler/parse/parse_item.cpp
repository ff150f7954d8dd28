// Items: functions, types, modules.
#include "parse/parser.h"

namespace melix::parse {

using namespace syntax;

namespace {
bool isAttributeName(std::string_view name) {
  return name == "derivative" || name == "checkpoint" || name == "unchecked" || name == "inplace" || name == "builtin";
}
} // namespace

bool Parser::startsItem() const {
  switch (peek().kind) {
  case TokenKind::KwFn:
  case TokenKind::KwStruct:
  case TokenKind::KwEnum:
  case TokenKind::KwConcept:
  case TokenKind::KwMacro:
  case TokenKind::KwUse:
  case TokenKind::KwPub:
  case TokenKind::KwConst:
  case TokenKind::KwType:
  case TokenKind::KwExtern:
  case TokenKind::KwExport: return true;
  case TokenKind::Identifier:
    return (isWord("pure") && is(TokenKind::KwFn, 1)) ||
           ((isWord("test") || isWord("bench")) && is(TokenKind::StringStart, 1)) ||
           (isWord("check") && is(TokenKind::Identifier, 1) && sameLine(1) && is(TokenKind::Colon, 2));
  default: return false;
  }
}

/// { attribute } item | statement, then a newline, `;`, `}` or the end
void Parser::parseStatementInto(NodeList& out) {
  if (!parseItemInto(out))
    out.push_back(parseStatement());
  if (recovering_)
    return;
  bool ends = closesBlock() || is(TokenKind::Semicolon) || peek().newlineBefore;
  if (!ends)
    fail("a new line or `;`");
  while (accept(TokenKind::Semicolon)) {
  }
}

/// attribute = "@" ( "derivative" | "checkpoint" | "unchecked" | "inplace" | "builtin" ) [ "(" arguments ")" ]
bool Parser::parseItemInto(NodeList& out) {
  uint32_t begin = peek().begin;
  std::vector<Attribute> attributes;
  size_t start = at_;
  while (is(TokenKind::At) && is(TokenKind::Identifier, 1) && isAttributeName(textOf(peek(1)))) {
    Attribute attribute;
    take();
    const Token& name = take();
    attribute.name = nameOf(name);
    attribute.span = tokenSpan(name);
    if (is(TokenKind::LParen) && !peek().spaceBefore) {
      attribute.hasArgs = true;
      attribute.args = parseArguments();
    }
    attributes.push_back(std::move(attribute));
  }
  if (!startsItem()) {
    at_ = start; // `@checkpoint { … }` is a statement
    return false;
  }
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
  switch (peek().kind) {
  case TokenKind::KwFn: out.push_back(parseFn(begin, std::move(fn))); break;
  case TokenKind::KwStruct: out.push_back(parseStruct(begin, std::move(attributes), isPub)); break;
  case TokenKind::KwEnum: out.push_back(parseEnum(begin, std::move(attributes), isPub)); break;
  case TokenKind::KwConcept: out.push_back(parseConcept(begin, isPub)); break;
  case TokenKind::KwMacro: out.push_back(parseMacro(begin, isPub)); break;
  case TokenKind::KwUse: parseUse(begin, isPub, out); break;
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
  return true;
}

/// fn = "fn" (word | operator) [ generics ] parameters [ "->" type ] ( "=" expr | block | nothing )
NodeId Parser::parseFn(uint32_t begin, FnItem item) {
  take();
  const Token& name = peek();
  bool word = name.kind == TokenKind::Identifier || lex::isKeyword(name.kind);
  bool op = name.kind >= TokenKind::EqEq && name.kind <= TokenKind::Pipe && name.kind != TokenKind::Equal;
  if (word || op || name.kind == TokenKind::At) {
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
  if (is(TokenKind::Arrow) && !recovering_) {
    take();
    item.result = parseType();
  }
  if (!recovering_) {
    if (is(TokenKind::Equal)) {
      take();
      item.shortForm = true;
      item.body = parseExpr();
    } else if (is(TokenKind::LBrace) && sameLine()) {
      item.body = parseBlock();
    }
  }
  return ast_.add(NodeKind::Fn, spanFrom(begin), std::move(item));
}

/// generics = "[" { [ ".." ] name [ ":" type ] [ "=" type ] } "]"
std::vector<Generic> Parser::parseGenerics() {
  std::vector<Generic> out;
  if (!is(TokenKind::LBracket) || recovering_)
    return out;
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  while (!is(TokenKind::RBracket) && !recovering_) {
    Generic g;
    uint32_t begin = peek().begin;
    g.isPack = accept(TokenKind::DotDot);
    Span span;
    if (!takeName(g.name, span))
      break;
    if (accept(TokenKind::Colon))
      g.bound = parseType();
    if (accept(TokenKind::Equal))
      g.defaultType = parseType();
    g.span = spanFrom(begin);
    out.push_back(g);
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket);
  return out;
}

/// parameters = "(" { [ "inout" ] [ ".." ] name [ ":" type ] [ "=" expr ] } ")"; a lambda's may be patterns
std::vector<Parameter> Parser::parseParameters(bool inLambda) {
  std::vector<Parameter> out;
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  while (!is(TokenKind::RParen) && !recovering_) {
    Parameter p;
    uint32_t begin = peek().begin;
    p.isInout = accept(TokenKind::KwInout);
    p.isPack = accept(TokenKind::DotDot);
    Span span;
    if (inLambda && is(TokenKind::LParen))
      p.pattern = parsePattern();
    else if (!takeName(p.name, span))
      break;
    if (accept(TokenKind::Colon))
      p.type = parseType();
    if (accept(TokenKind::Equal))
      p.defaultValue = parseExpr();
    p.span = spanFrom(begin);
    out.push_back(p);
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RParen);
  return out;
}

/// fields = { [ name ":" ] type } separated by newlines, `,` or `;`
std::vector<FieldDecl> Parser::parseFields(TokenKind close, bool namesOptional) {
  std::vector<FieldDecl> out;
  Scoped newlines(ignoreNewlines_, close != TokenKind::RBrace);
  separators();
  while (!is(close) && !is(TokenKind::End) && !recovering_) {
    FieldDecl f;
    uint32_t begin = peek().begin;
    Span span;
    bool named = !namesOptional || (is(TokenKind::Identifier) && is(TokenKind::Colon, 1));
    if (named && (!takeName(f.name, span) || !expect(TokenKind::Colon)))
      break;
    f.type = parseType();
    f.span = spanFrom(begin);
    out.push_back(f);
    bool separated = is(close) || is(TokenKind::Comma) || is(TokenKind::Semicolon) || (!ignoreNewlines_ && peek().newlineBefore);
    if (!separated) {
      fail("`,` or a new line");
      break;
    }
    separators();
  }
  if (recovering_ && close == TokenKind::RBrace) // one bad field does not hide what follows the struct
    while (!is(TokenKind::RBrace) && !is(TokenKind::End))
      take();
  bool recovered = recovering_ && accept(close);
  if (!recovered)
    expect(close);
  else
    recovering_ = false;
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
    if (accept(TokenKind::Colon))
      item.base = parseType();
    if (expect(TokenKind::LBrace))
      item.fields = parseFields(TokenKind::RBrace, false);
  }
  return ast_.add(NodeKind::Struct, spanFrom(begin), std::move(item));
}

/// enum = "enum" name [ generics ] "{" { name [ "(" fields ")" ] } "}"
NodeId Parser::parseEnum(uint32_t begin, std::vector<Attribute> attributes, bool isPub) {
  take();
  EnumItem item;
  item.isPub = isPub;
  item.attributes = std::move(attributes);
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::LBrace)) {
      Scoped newlines(ignoreNewlines_, false);
      separators();
      while (!closesBlock() && !recovering_) {
        CaseDecl c;
        uint32_t caseBegin = peek().begin;
        Span span;
        if (!takeName(c.name, span))
          break;
        if (is(TokenKind::LParen) && !peek().newlineBefore) {
          take();
          c.hasFields = true;
          c.fields = parseFields(TokenKind::RParen, true);
        }
        c.span = spanFrom(caseBegin);
        item.cases.push_back(std::move(c));
        if (!closesBlock() && !is(TokenKind::Comma) && !is(TokenKind::Semicolon) && !peek().newlineBefore)
          fail("`,` or a new line");
        separators();
      }
      expect(TokenKind::RBrace);
    }
  }
  return ast_.add(NodeKind::Enum, spanFrom(begin), std::move(item));
}

/// concept = "concept" name [ generics ] "{" { fn without body } "}"
NodeId Parser::parseConcept(uint32_t begin, bool isPub) {
  take();
  ConceptItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::LBrace)) {
      Scoped newlines(ignoreNewlines_, false);
      separators();
      while (is(TokenKind::KwFn) && !recovering_) {
        item.functions.push_back(parseFn(peek().begin, FnItem{}));
        separators();
      }
      expect(TokenKind::RBrace);
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
    if (!recovering_ && accept(TokenKind::Arrow))
      item.result = parseType();
    if (!recovering_ && is(TokenKind::LBrace))
      item.body = parseBlock();
    else
      fail("`{`");
  }
  return ast_.add(NodeKind::Macro, spanFrom(begin), std::move(item));
}

/// use = "use" path { "," path };  path = name { "." name } [ ".{" names "}" ] [ "as" name ]
void Parser::parseUse(uint32_t begin, bool isPub, NodeList& out) {
  take();
  do {
    UseItem item{};
    item.isPub = isPub;
    uint32_t pathBegin = out.empty() || begin != peek().begin ? peek().begin : begin;
    do {
      if (is(TokenKind::LBrace) && !item.path.empty()) {
        take();
        item.hasNames = true;
        Scoped inBrackets(ignoreNewlines_, true);
        while (!is(TokenKind::RBrace) && !recovering_) {
          UseName part;
          if (!takeName(part.name, part.span))
            break;
          item.names.push_back(part);
          if (!accept(TokenKind::Comma))
            break;
        }
        expect(TokenKind::RBrace);
        break;
      }
      UseName part;
      if (!takeName(part.name, part.span, !item.path.empty()))
        break;
      item.path.push_back(part);
    } while (accept(TokenKind::Dot));
    Span span;
    if (!recovering_ && accept(TokenKind::KwAs))
      takeName(item.alias, span);
    out.push_back(ast_.add(NodeKind::Use, spanFrom(pathBegin), std::move(item)));
  } while (!recovering_ && accept(TokenKind::Comma));
}

/// const = "const" name [ ":" type ] "=" expr
NodeId Parser::parseConst(uint32_t begin, bool isPub) {
  take();
  ConstItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    if (accept(TokenKind::Colon))
      item.type = parseType();
    if (expect(TokenKind::Equal))
      item.value = parseExpr();
  }
  return ast_.add(NodeKind::Const, spanFrom(begin), std::move(item));
}

/// type = "type" name [ generics ] "=" type
NodeId Parser::parseTypeAlias(uint32_t begin, bool isPub) {
  take();
  TypeItem item{};
  item.isPub = isPub;
  if (takeName(item.name, item.nameSpan)) {
    item.generics = parseGenerics();
    if (expect(TokenKind::Equal))
      item.type = parseType();
  }
  return ast_.add(NodeKind::TypeAlias, spanFrom(begin), std::move(item));
}

/// A string without interpolation.
std::string Parser::parsePlainString() {
  std::string text;
  if (!expect(TokenKind::StringStart, "a string"))
    return text;
  while (is(TokenKind::StringText))
    text += stream_.texts[take().text];
  if (!accept(TokenKind::StringEnd))
    fail("a string without `{…}`");
  return text;
}

/// test = "test" string block;  bench = "bench" string block
NodeId Parser::parseTest(uint32_t begin, NodeKind kind) {
  take();
  TestItem item;
  item.nameSpan = tokenSpan(peek());
  item.name = parsePlainString();
  if (!recovering_ && is(TokenKind::LBrace))
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
  if (expect(TokenKind::Colon))
    item.concept_ = parseType();
  return ast_.add(NodeKind::CheckItem, spanFrom(begin), std::move(item));
}

} // namespace melix::parse
