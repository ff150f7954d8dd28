#pragma once
// The state of printing a tree: print.cpp has expressions, patterns and types, print_statements.cpp
// statements and print_items.cpp declarations.

#include "expand/print.h"

namespace melix::expand {

/// How tightly an expression binds: from lambdas to postfix operators and single names.
enum Level : uint8_t {
  Lowest,
  OrLevel,
  AndLevel,
  NotLevel,
  CompareLevel,
  RangeLevel,
  BitOrLevel,
  BitAndLevel,
  ShiftLevel,
  SumLevel,
  ProductLevel,
  AsLevel,
  PrefixLevel,
  PowerLevel,
  PostfixLevel,
  Atom
};

class Printer {
public:
  Printer(const Ast& ast, const Spelling& spelling) : ast_(ast), spelling_(spelling) {}

  std::string out;
  void node(NodeId id);
  void statements(const NodeList& items);
  void field(const FieldDecl& f);
  void case_(const CaseDecl& c);
  void parameter(const Parameter& p);
  void header(const Header& h);
  void arm(const MatchArm& a);
  void generic(const Generic& g);
  void arguments(std::string_view open, std::string_view close, const std::vector<Argument>& all);

private:
  void name(NameId id);

  /// In brackets unless it holds together at least so tightly.
  void at(NodeId id, Level least);
  void bracketed(std::string_view open, std::string_view close, NodeId id);
  template <class T, class F>
  void each(std::string_view open, std::string_view close, const std::vector<T>& all, F write) {
    out += open;
    for (size_t k = 0; k < all.size(); ++k) {
      if (k > 0) out += ", ";
      write(all[k]);
    }
    out += close;
  }
  void list(std::string_view open, std::string_view close, const NodeList& items, bool tuple);
  void separated(const NodeList& items, std::string_view by);
  static std::string escaped(std::string_view text, char quote);
  void string(const StringLit& s);
  std::string piece(NodeId value);
  std::string format(const StringPart& part);
  void binary(const Binary& b);
  void range(const Range& r);
  void tupleIndex(const TupleIndex& t);
  void dict(const DictEntries& d);
  void generator(const Builder& b);
  void lambda(const Lambda& l);
  void functionType(const FunctionType& f);
  void casePattern(const CasePattern& c);

  // --- statements
  void block(const NodeList& items);
  void body(NodeId id);
  void ifChain(const If& first);
  /// A block or a match in the head of a statement would be taken for its body.
  void condition(NodeId id);
  void match(const Match& m);
  void forLoop(const For& f);
  void jump(std::string_view word, NodeId value);
  void let(const Let& l);
  void macroUse(const MacroUse& u);
  void quote(const Quote& q);
  void splice(NodeId id);

  // --- items
  void attributes(const std::vector<Attribute>& all);
  void generics(const std::vector<Generic>& all);
  void head(bool isPub, std::string_view word, NameId declared);
  void fn(const FnItem& f);
  void structItem(const StructItem& s);
  void enumItem(const EnumItem& e);
  void use(const UseItem& u);
  void item(const Node& n);

  const Ast& ast_;
  const Spelling& spelling_;
};

} // namespace melix::expand
