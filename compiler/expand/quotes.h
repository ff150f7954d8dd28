#pragma once
// Rewrites functions that hold syntax into functions like others. A quote becomes a call of module `ast` with
// the values of its splices; a pattern becomes a test and the values that it binds. After this no quote is
// left outside of tables.

#include "expand/value.h"
#include "names/modules.h"

namespace melix::expand {

using names::ModuleId;

/// A quote as it is written, and where.
struct Template {
  const Ast* ast;
  NodeId quote;
  ModuleId home;
  std::vector<NodeId>
      splices; ///< of the outermost level, in the order of the text; a variable of a pattern once
};

/// The splices of a quote's outermost level, in the order of the text.
std::vector<NodeId> splicesOf(const Ast& ast, NodeId quote);

/// The types of constants that macro parameters take.
enum class ConstantKind : uint8_t { Int, F64, Bool, Str };
struct MacroParameter {
  NameId name;
  std::optional<Kind> kind; ///< none: a constant
  ConstantKind constant = ConstantKind::Int;
  bool isPack = false;
  NodeId defaultValue; ///< none: must be given
};

/// Writes calls of module `ast` in place of quotes.
class QuoteWriter : public PartVisitor<QuoteWriter> {
public:
  /// `home`: the module that the code stands in; `seen`: the module whose names it sees, for macros their
  /// side of it.
  QuoteWriter(names::Modules& modules, Ast& ast, ModuleId home, ModuleId seen,
              std::vector<Template>& templates);

  /// Rewrites an item or a statement where it stands.
  void rewrite(NodeId node);
  /// A macro as a function of its parameters, all of them syntax or constants.
  NodeId functionOf(const MacroItem& macro, const std::vector<MacroParameter>& parameters, Span span);

  // --- visitor of payloads
  void node(NodeId& id, Role role);
  void nodes(NodeList& ids, Role role);

private:
  /// A quote in a pattern: the name it is replaced by, and the number of its template.
  struct Tested {
    NodeId name;
    size_t quote;
  };

  NodeId astName(std::string_view text, Span span);
  NodeId call(std::string_view function, std::vector<NodeId> args, Span span);
  NodeId number(size_t value, Span span);
  NodeId copyName(NodeId name);
  size_t addTemplate(NodeId quote, bool isPattern);
  void rewriteQuote(NodeId id);
  void takeQuotes(NodeId& pattern, std::vector<Tested>& out);
  bool holdsQuote(NodeId pattern) const;
  NodeId test(const std::vector<Tested>& tested, Span span);
  NodeList bindings(const std::vector<Tested>& tested, NodeId usedIn);
  bool mentions(NodeId node, NameId name) const;
  void splitAlternatives(Match& match);
  void rewriteArm(MatchArm& arm);
  void rewriteIf(NodeId id);
  void rewriteWhile(NodeId id);
  void rewriteLet(NodeId id, NodeList& out);
  void checkKinds(FnItem& fn);
  void checkReturns(NodeId node, Kind kind);
  std::optional<Kind> kindMeant(NodeId type) const;
  NodeId wrapped(NodeList statements, NodeId last, Span span);

  names::Modules& modules_;
  Ast& ast_;
  ModuleId home_, seen_;
  std::vector<Template>& templates_;
  uint32_t mark_;
  unsigned named_ = 0;
};

} // namespace melix::expand
