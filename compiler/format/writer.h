#pragma once
// Walks the tree and the tokens side by side: the tree says where lines may end, the tokens give the text.

#include "format/token_writer.h"
#include "support/function_ref.h"
#include "syntax/ast.h"

namespace melix::format {

using syntax::Argument;
using syntax::NodeId;
using syntax::NodeKind;
using syntax::NodeList;

/// Whether a node brings its own lines and so stands after `=` on the same line.
bool isBlocky(NodeKind kind);
/// An item, or a use of a macro on one.
bool standsAsItem(const syntax::Ast& ast, NodeId id);

class Writer : public TokenWriter {
public:
  Writer(const syntax::Ast& ast, const lex::TokenStream& stream, const SourceStore& sources);
  /// Writes the whole module into the document; false if tree and tokens do not agree.
  bool writeModule();

private:
  bool forced(NodeId node) const { return node && forced_[node.index]; }

  // --- write_expr.cpp
  void node(NodeId id);
  void binary(NodeId id);
  void postfix(NodeId id);
  void suffix(NodeId id);
  void name(NameId name);
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
  void block(NodeId id); ///< in the group of its owner
  void ifChain(NodeId id);
  void match(NodeId id);
  void arm(const syntax::MatchArm& arm);
  void loopStatement(NodeId id);
  void let(NodeId id);
  void assertion(NodeId id);
  void sample(NodeId id);
  void macroUse(NodeId id);
  void quote(NodeId id);
  void quoted(NodeId id);
  void kindArgument(NodeId id);
  bool isOpenUse(NodeId id) const;

  // --- write_item.cpp
  void item(NodeId id);
  void attributes(const std::vector<syntax::Attribute>& list);
  void fn(NodeId id);
  void structItem(NodeId id);
  void enumItem(NodeId id);
  void case_(const syntax::CaseDecl& c);
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
  void braced(size_t count, FunctionRef<void(size_t)> writeOne, std::string_view flat = ", ");

  const syntax::Ast& ast_;
  const std::vector<bool> forced_; ///< of each node: it cannot stand on one line
  NodeId statement_;               ///< the innermost that is being written
  unsigned tight_ = 0;             ///< in the ends of a range operators have no blanks around them
};

} // namespace melix::format
