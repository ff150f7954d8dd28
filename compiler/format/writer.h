#pragma once
// Walks the tree and the tokens side by side: the tree says where lines may end, the tokens give the text.
// Every token is taken exactly once and in order, so nothing can be lost or changed, and each comment stays
// between its two tokens. Separators (newline, `;`, `,`) between statements, fields, cases and arms are
// dropped and written anew.

#include "format/doc.h"
#include "lex/lexer.h"
#include "syntax/ast.h"

namespace melix::format {

using lex::Token;
using lex::TokenKind;
using syntax::Argument;
using syntax::NodeId;
using syntax::NodeKind;
using syntax::NodeList;

class Writer {
public:
  Writer(const syntax::Ast& ast, const lex::TokenStream& stream, const SourceStore& sources);
  /// Writes the whole module into the document; false if tree and tokens do not agree.
  bool writeModule();
  Doc& doc() { return doc_; }

private:
  // --- writer.cpp: tokens, comments, blank lines, lists
  const Token& peek(size_t ahead = 0) const {
    return stream_.tokens[std::min(at_ + ahead, stream_.tokens.size() - 1)];
  }
  bool is(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  std::string_view textOf(const Token& token) const;
  void token();               ///< the next token, with the comments before it
  void token(TokenKind kind); ///< … which must be this one
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
  bool skipSeparators(bool first);
  bool dropComma();
  template <class F>
  void elements(size_t count, std::string_view flat, F writeOne);
  template <class F>
  void list(TokenKind close, size_t count, F writeOne);
  template <class F>
  void listBody(TokenKind close, size_t count, bool softly, F writeOne);
  void findForced();
  bool forced(NodeId node) const { return node && forced_[node.index]; }
  bool blocky(NodeId node) const;

  // --- write_expr.cpp
  void node(NodeId id);
  void binary(NodeId id);
  void postfix(NodeId id);
  void suffix(NodeId id);
  void casts(NodeId id);
  void range(NodeId id);
  void arguments(TokenKind close, const std::vector<Argument>& args);
  void argument(const Argument& arg);
  bool hugs(const std::vector<Argument>& args) const;
  void array(NodeId id);
  void dict(NodeId id);
  void tuple(NodeId id);
  void string(NodeId id);
  void stringTokens();
  void generator(NodeId id);
  void header(const syntax::Header& header);
  void lambda(NodeId id);
  void functionType(NodeId id);
  void casePattern(NodeId id);
  void alternatives(NodeId id);

  // --- write_stmt.cpp
  void sequence(const NodeList& items);
  void block(NodeId id); ///< in the group of what it belongs to
  void ifChain(NodeId id);
  void match(NodeId id);
  void arm(const syntax::MatchArm& arm);
  void loopStatement(NodeId id);
  void let(NodeId id);
  void assertion(NodeId id);
  void sample(NodeId id);
  void macroUse(NodeId id);
  void quote(NodeId id);

  // --- write_item.cpp
  void item(NodeId id);
  void attributes(const std::vector<syntax::Attribute>& list);
  void fn(NodeId id);
  void structItem(NodeId id);
  void enumItem(NodeId id);
  void concept_(NodeId id);
  void macro(NodeId id);
  void use(const NodeList& items, size_t& k);
  void constItem(NodeId id);
  void typeAlias(NodeId id);
  void test(NodeId id);
  void checkItem(NodeId id);
  void generics(const std::vector<syntax::Generic>& list);
  void parameters(const std::vector<syntax::Parameter>& list);
  void parameter(const syntax::Parameter& p);
  void field(const syntax::FieldDecl& field);
  void braced(size_t count, const std::function<void(size_t)>& writeOne, std::string_view flat = ", ");

  const syntax::Ast& ast_;
  const lex::TokenStream& stream_;
  const SourceStore& sources_;
  Doc doc_;
  std::vector<bool> forced_; ///< of each node: it cannot stand on one line
  size_t at_ = 0, nextComment_ = 0;
  uint32_t lastEnd_ = 0; ///< of the last token or comment
  unsigned flat_ = 0;    ///< inside a string nothing ends a line
  unsigned tight_ = 0;   ///< in the ends of a range operators have no blanks around them
  bool ok_ = true;
};

/// Elements between which newlines, `;` and `,` mean the same; `flat` separates them on one line.
template <class F>
void Writer::elements(size_t count, std::string_view flat, F writeOne) {
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
void Writer::listBody(TokenKind close, size_t count, bool softly, F writeOne) {
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
void Writer::list(TokenKind close, size_t count, F writeOne) {
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
