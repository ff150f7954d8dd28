#pragma once
// The parts of a node, one after another in the order of the text: one table of the parts of each payload.
// Copying, comparing, matching and looking for names derive from it.
//
// A visitor has these functions.
//   - node(NodeId&, Role)           a child, which may be none
//   - nodes(NodeList&, Role)        a list of children
//   - name(NameId&, NameRole)       a name, which may be none or a splice
//   - span(Span&)                   a place in the text
//   - text(std::string&)            text that means something
//   - fact(uint64)                  an operator or a flag
//   - flag(bool)                    one that patterns need not say: `pub`
//   - attributes(std::vector<Attribute>&)   likewise
//   - elements(std::vector<T>&)     a list of parts that are no nodes; part(visitor, T&) visits one

#include "syntax/ast.h"

#include <bit>

namespace melix::expand {

using namespace syntax;

/// The syntactic category that a child must have.
enum class Role : uint8_t { Expr, Stmt, Body, Item, Type, Pattern, Any };
/// The purpose of a name: a local name is distinguished by who wrote it; of the others only the spelling
/// counts.
enum class NameRole : uint8_t { Local, Item, Label };

template <class V>
void part(V& v, Argument& a) {
  v.name(a.label, NameRole::Label), v.node(a.value, Role::Any), v.span(a.labelSpan);
}
template <class V>
void part(V& v, Parameter& p) {
  v.fact(p.isInout), v.fact(p.isPack), v.name(p.name, NameRole::Local), v.node(p.pattern, Role::Pattern);
  v.node(p.type, Role::Type), v.node(p.defaultValue, Role::Expr), v.span(p.span);
}
template <class V>
void part(V& v, Generic& g) {
  v.fact(g.isPack), v.name(g.name, NameRole::Local), v.node(g.bound, Role::Type);
  v.node(g.defaultType, Role::Type), v.span(g.span);
}
template <class V>
void part(V& v, FieldDecl& f) {
  v.name(f.name, NameRole::Label), v.node(f.type, Role::Type), v.node(f.defaultValue, Role::Expr),
      v.span(f.span);
}
template <class V>
void part(V& v, CaseDecl& c) {
  v.name(c.name, NameRole::Item), v.fact(c.hasFields), v.elements(c.fields), v.span(c.span);
}
template <class V>
void part(V& v, Header& h) {
  v.fact(h.isPack), v.node(h.pattern, Role::Pattern), v.node(h.range, Role::Expr), v.span(h.span);
}
template <class V>
void part(V& v, ForHead& h) {
  v.fact(h.byPlace), v.node(h.pattern, Role::Pattern), v.node(h.range, Role::Expr);
}
template <class V>
void part(V& v, MatchArm& a) {
  v.node(a.pattern, Role::Pattern), v.node(a.guard, Role::Expr), v.node(a.body, Role::Stmt), v.span(a.span);
}
template <class V>
void part(V& v, StringPart& p) {
  v.text(p.text), v.node(p.value, Role::Expr), v.text(p.format), v.nodes(p.formatValues, Role::Expr),
      v.span(p.span);
}
template <class V>
void part(V& v, PatternField& f) {
  v.name(f.label, NameRole::Label), v.node(f.pattern, Role::Pattern), v.span(f.span);
}
template <class V>
void part(V& v, Attribute& a) {
  v.name(a.name, NameRole::Label), v.fact(a.hasArgs), v.elements(a.args), v.span(a.span);
}
template <class V>
void part(V& v, UseName& n) {
  v.name(n.name, NameRole::Item), v.span(n.span);
}
template <class V>
void part(V& v, std::pair<NodeId, NodeId>& entry) {
  v.node(entry.first, Role::Expr), v.node(entry.second, Role::Expr);
}

/// The defaults of most visitors: only children matter, wherever they stand.
template <class V>
struct PartVisitor {
  void nodes(NodeList& ids, Role role) {
    for (NodeId& id : ids) self().node(id, role);
  }
  void name(NameId&, NameRole) {}
  void span(Span&) {}
  void text(std::string&) {}
  void fact(uint64_t) {}
  void flag(bool) {}
  void attributes(std::vector<Attribute>& all) { self().elements(all); }
  template <class T>
  void elements(std::vector<T>& all) {
    for (T& each : all) part(self(), each);
  }

private:
  V& self() { return static_cast<V&>(*this); }
};

/// Visits the parts of a payload.
template <class V>
struct PayloadParts {
  V& v;
  NodeKind kind;
  Role role;

  void operator()(None&) const {}
  void operator()(Text& p) const { v.text(p.text); }
  void operator()(Name& p) const { v.name(p.name, NameRole::Local); }
  void operator()(Unary& p) const { v.fact(static_cast<uint64_t>(p.op)), v.node(p.operand, Role::Expr); }
  void operator()(Binary& p) const {
    v.fact(static_cast<uint64_t>(p.op)), v.node(p.left, Role::Expr), v.node(p.right, Role::Expr),
        v.span(p.opSpan);
  }
  void operator()(One& p) const {
    const bool keeps = kind == NodeKind::Paren || kind == NodeKind::RefPattern;
    v.node(p.inner, kind == NodeKind::Loop ? Role::Body : keeps ? role : Role::Expr);
  }
  void operator()(Two& p) const { v.node(p.first, Role::Expr), v.node(p.second, Role::Type); }
  void operator()(Range& p) const {
    v.node(p.first, Role::Expr), v.node(p.last, Role::Expr), v.node(p.step, Role::Expr);
  }
  void operator()(Many& p) const {
    const bool isList = kind == NodeKind::Block || kind == NodeKind::Module;
    v.nodes(p.items, isList ? Role::Stmt : kind == NodeKind::AxisNames ? Role::Any : role);
  }
  void operator()(Member& p) const {
    v.node(p.base, role == Role::Type ? Role::Type : Role::Expr), v.name(p.name, NameRole::Label),
        v.span(p.nameSpan);
  }
  void operator()(TupleIndex& p) const { v.node(p.base, Role::Expr), v.fact(p.index); }
  void operator()(Call& p) const { v.node(p.callee, Role::Expr), v.elements(p.args); }
  void operator()(Brackets& p) const {
    v.node(p.base, role == Role::Type ? Role::Type : Role::Expr), v.elements(p.items);
  }
  void operator()(StringLit& p) const { v.elements(p.parts); }
  void operator()(Lambda& p) const { v.elements(p.params), v.node(p.body, Role::Expr); }
  void operator()(Builder& p) const {
    v.elements(p.headers), v.node(p.filter, Role::Expr), v.node(p.body, Role::Expr);
  }
  void operator()(If& p) const {
    v.node(p.condition, Role::Expr), v.node(p.then, Role::Body);
    // The child after `else` is a block, or the next `if`.
    v.node(p.otherwise, Role::Body);
  }
  void operator()(LetCondition& p) const { v.node(p.pattern, Role::Pattern), v.node(p.value, Role::Expr); }
  void operator()(Match& p) const { v.node(p.scrutinee, Role::Expr), v.elements(p.arms); }
  void operator()(For& p) const {
    v.elements(p.heads), v.node(p.filter, Role::Expr), v.node(p.body, Role::Body);
  }
  void operator()(While& p) const { v.node(p.condition, Role::Expr), v.node(p.body, Role::Body); }
  void operator()(Let& p) const {
    v.fact(p.isVar), v.node(p.pattern, Role::Pattern), v.node(p.type, Role::Type);
    v.node(p.init, Role::Expr), v.node(p.otherwise, Role::Body);
  }
  void operator()(Assign& p) const { v.node(p.target, Role::Expr), v.node(p.value, Role::Expr); }
  void operator()(OpAssign& p) const {
    v.fact(static_cast<uint64_t>(p.op)), v.node(p.target, Role::Expr), v.node(p.value, Role::Expr);
  }
  void operator()(Assert& p) const { v.node(p.condition, Role::Expr), v.node(p.message, Role::Expr); }
  void operator()(FunctionType& p) const {
    for (bool isInout : p.inout) v.fact(isInout);
    v.nodes(p.params, Role::Type), v.node(p.result, Role::Type);
  }
  void operator()(CasePattern& p) const {
    v.node(p.path, Role::Expr), v.fact(p.hasFields), v.elements(p.fields);
  }
  void operator()(DictEntries& p) const { v.elements(p.entries); }
  void operator()(MacroUse& p) const {
    v.node(p.path, Role::Any), v.fact(p.hasArgs), v.elements(p.args), v.node(p.target, Role::Any);
  }
  void operator()(Quote& p) const { v.name(p.what, NameRole::Label), v.node(p.block, Role::Any); }
  void operator()(Sample& p) const {
    v.node(p.target, Role::Expr), v.node(p.type, Role::Type), v.node(p.value, Role::Expr);
  }
  void operator()(Scope& p) const { v.name(p.name, NameRole::Local), v.node(p.body, Role::Body); }
  void operator()(On& p) const {
    v.name(p.device, NameRole::Label), v.node(p.number, Role::Expr), v.node(p.body, Role::Body);
  }
  void operator()(FnItem& p) const {
    v.attributes(p.attributes), v.name(p.name, NameRole::Item), v.elements(p.generics), v.elements(p.params);
    v.node(p.result, Role::Type), v.node(p.body, p.shortForm ? Role::Expr : Role::Body);
    v.flag(p.isPub), v.fact(p.isPure), v.fact(p.isExtern), v.fact(p.isExport), v.span(p.nameSpan);
  }
  void operator()(StructItem& p) const {
    v.attributes(p.attributes), v.flag(p.isPub), v.name(p.name, NameRole::Item), v.elements(p.generics);
    v.node(p.base, Role::Type), v.elements(p.fields), v.span(p.nameSpan);
  }
  void operator()(EnumItem& p) const {
    v.attributes(p.attributes), v.flag(p.isPub), v.name(p.name, NameRole::Item), v.elements(p.generics);
    v.elements(p.cases), v.span(p.nameSpan);
  }
  void operator()(ConceptItem& p) const {
    v.flag(p.isPub), v.name(p.name, NameRole::Item), v.elements(p.generics), v.nodes(p.functions, Role::Item),
        v.span(p.nameSpan);
  }
  void operator()(MacroItem& p) const {
    v.flag(p.isPub), v.name(p.name, NameRole::Item), v.elements(p.params), v.node(p.result, Role::Type);
    v.node(p.body, Role::Body), v.span(p.nameSpan);
  }
  void operator()(UseItem& p) const {
    v.flag(p.isPub), v.elements(p.path), v.fact(p.hasNames), v.elements(p.names);
    v.name(p.alias, NameRole::Item);
  }
  void operator()(ConstItem& p) const {
    v.flag(p.isPub), v.name(p.name, NameRole::Item), v.node(p.type, Role::Type), v.node(p.value, Role::Expr),
        v.span(p.nameSpan);
  }
  void operator()(TypeItem& p) const {
    v.flag(p.isPub), v.name(p.name, NameRole::Item), v.elements(p.generics), v.node(p.type, Role::Type),
        v.span(p.nameSpan);
  }
  void operator()(TestItem& p) const {
    v.text(p.name), v.node(p.splice, Role::Expr), v.node(p.body, Role::Body), v.span(p.nameSpan);
  }
  void operator()(CheckItem& p) const { v.node(p.type, Role::Type), v.node(p.concept_, Role::Type); }
};

/// `role`: the role of the node itself.
template <class V>
void visitParts(V& v, NodeKind kind, Role role, Payload& payload) {
  std::visit(PayloadParts<V>{v, kind, role}, payload);
}

} // namespace melix::expand
