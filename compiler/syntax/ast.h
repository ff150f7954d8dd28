#pragma once
// The syntax tree: an arena of nodes with typed ids, spans on everything, comments kept beside it. One
// structure for the formatter, macros, language server and checker. Nothing here is resolved: names are text,
// types are syntax.

#include "source/source.h"
#include "support/function_ref.h"
#include "support/interner.h"

#include <string>
#include <variant>
#include <vector>

namespace melix::syntax {

struct NodeTag;
using NodeId = Id<NodeTag>;
using NodeList = std::vector<NodeId>;

enum class NodeKind : uint8_t {
#define NODE(Kind, Text) Kind,
#include "syntax/nodes.def"
};
std::string_view nodeText(NodeKind kind);

/// A splice in the place of a name, `fn $n()`: names hold it until the quote it stands in is used.
inline constexpr uint32_t splicedBit = 0x80000000u;
inline NameId splicedName(NodeId splice) { return NameId(splice.index | splicedBit); }
inline bool isSpliced(NameId name) { return name.valid() && (name.index & splicedBit) != 0; }
inline NodeId spliceOf(NameId name) { return NodeId(name.index & ~splicedBit); }

enum class UnaryOp : uint8_t { Neg, Not };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  MatMul,
  Pow,
  Shl,
  Shr,
  BitAnd,
  BitOr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
};
std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);

/// `name: value`, `&place`, or a value. Also an item of brackets.
struct Argument {
  NameId label; ///< none for a positional one
  Span labelSpan;
  NodeId value;
};

/// A parameter of a function, lambda, concept function or macro. A lambda's may be a pattern.
struct Parameter {
  NameId name; ///< none when `pattern` is given
  NodeId pattern;
  NodeId type;         ///< none: untyped
  NodeId defaultValue; ///< none: must be given
  bool isInout = false;
  bool isPack = false; ///< `..xs: Expr`
  Span span;
};

/// `T: Float = f32`, `N`, `..S`.
struct Generic {
  NameId name;
  NodeId bound;       ///< none
  NodeId defaultType; ///< none
  bool isPack = false;
  Span span;
};

/// `name: T = e`, of a struct or an enum case (then the name may be missing). One that a splice gives has it
/// as its type.
struct FieldDecl {
  NameId name;
  NodeId type;
  NodeId defaultValue; ///< none: must be given
  Span span;
};

/// `Name(a: T, b: U)` of an enum; `Name: 3` does not exist. One that a splice gives has its name only.
struct CaseDecl {
  NameId name;
  std::vector<FieldDecl> fields;
  bool hasFields = false; ///< brackets were written
  Span span;
};

/// One header of a builder or generator: `i`, `i, j in 0..n` gives two, `(a, b) in zip(xs, ys)`, `..i`.
struct Header {
  NodeId pattern; ///< a pattern that names the index or the element
  NodeId range;   ///< the expression after `in`; none
  bool isPack = false;
  Span span;
};

/// One `x in xs` or `&x in xs` of a `for` loop.
struct ForHead {
  NodeId pattern;
  bool byPlace = false;
  NodeId range;
};

/// `Pat if guard => body`. One that a splice gives has it as its pattern, and no body.
struct MatchArm {
  NodeId pattern, guard, body;
  Span span;
};

/// A piece of a string: text, or an expression with its format.
struct StringPart {
  std::string text;
  NodeId value;       ///< none for text
  std::string format; ///< after the colon, with `{}` for each of `formatValues`
  NodeList formatValues;
  Span span;
};

/// A field of a case or struct pattern: `p`, `name: p`, `..`.
struct PatternField {
  NameId label;
  NodeId pattern; ///< none for `..`
  Span span;
};

/// `@name` or `@name(…)` before an item, statement or block.
struct Attribute {
  NameId name;
  std::vector<Argument> args;
  bool hasArgs = false;
  Span span;
};

/// An imported name of `use a.{f, G}`.
struct UseName {
  NameId name;
  Span span;
};

// Payloads, one for each shape; nodes.def says which kind has which.
struct None {};
struct Text {
  std::string text;
}; // Number, RawString, Comment-like leaves
struct Name {
  NameId name;
};
struct Unary {
  UnaryOp op;
  NodeId operand;
};
struct Binary {
  BinaryOp op;
  NodeId left, right;
  Span opSpan;
};
struct One {
  NodeId inner;
}; // Paren, Try, Ref, Return, Break, Splice …
struct Two {
  NodeId first, second;
}; // As (value, type)
struct Range {
  NodeId first, last, step;
}; // each may be none
struct Many {
  NodeList items;
}; // Tuple, Array, Block, …
struct Member {
  NodeId base;
  NameId name;
  Span nameSpan;
};
struct TupleIndex {
  NodeId base;
  uint32_t index;
};
struct Call {
  NodeId callee;
  std::vector<Argument> args;
};
struct Brackets {
  NodeId base;
  std::vector<Argument> items;
}; // e[items] in expressions and types
struct StringLit {
  std::vector<StringPart> parts;
};
struct Lambda {
  std::vector<Parameter> params;
  NodeId body;
};
struct Builder {
  std::vector<Header> headers;
  NodeId filter, body;
};
struct If {
  NodeId condition, then, otherwise;
}; // condition may be LetCondition
struct LetCondition {
  NodeId pattern, value;
};
struct Match {
  NodeId scrutinee;
  std::vector<MatchArm> arms;
}; // scrutinee may be Ref
struct For {
  std::vector<ForHead> heads; ///< at least one; each after the first runs anew for every element before it
  NodeId filter;              ///< none
  NodeId body;
};
struct While {
  NodeId condition, body;
}; // condition may be LetCondition
struct Let {
  bool isVar;
  NodeId pattern, type, init, otherwise;
}; // type, otherwise may be none
struct Assign {
  NodeId target, value;
};
struct OpAssign {
  BinaryOp op;
  NodeId target, value;
};
struct Assert {
  NodeId condition, message;
};
struct FunctionType {
  NodeList params;
  std::vector<bool> inout;
  NodeId result;
};
struct CasePattern {
  NodeId path;
  std::vector<PatternField> fields;
  bool hasFields;
};
struct DictEntries {
  std::vector<std::pair<NodeId, NodeId>> entries;
};
struct MacroUse {
  NodeId path;
  std::vector<Argument> args;
  bool hasArgs;
  NodeId target;
};
struct Quote {
  NameId what;
  NodeId block;
}; // `what`: none (a block), or a kind of nodes.def; also KindArgument
struct Sample {
  NodeId target, type, value;
}; // name: T ~ e
struct Scope {
  NameId name;
  NodeId body;
}; // scope s { }
struct On {
  NameId device;
  NodeId number;
  NodeId body;
}; // on gpu { }, on gpu(1) { }

struct FnItem {
  NameId name;
  Span nameSpan;
  std::vector<Generic> generics;
  std::vector<Parameter> params;
  NodeId result; ///< none
  NodeId body;   ///< none: extern, builtin, concept
  bool shortForm = false;
  bool isPub = false, isPure = false, isExtern = false, isExport = false;
  std::vector<Attribute> attributes;
};
struct StructItem {
  NameId name;
  Span nameSpan;
  std::vector<Generic> generics;
  NodeId base; ///< `: Array[T, M, N]`
  std::vector<FieldDecl> fields;
  bool isPub = false;
  std::vector<Attribute> attributes;
};
struct EnumItem {
  NameId name;
  Span nameSpan;
  std::vector<Generic> generics;
  std::vector<CaseDecl> cases;
  bool isPub = false;
  std::vector<Attribute> attributes;
};
struct ConceptItem {
  NameId name;
  Span nameSpan;
  std::vector<Generic> generics;
  NodeList functions;
  bool isPub;
};
struct MacroItem {
  NameId name;
  Span nameSpan;
  std::vector<Parameter> params;
  NodeId result, body;
  bool isPub;
};
struct UseItem {
  std::vector<UseName> path;
  std::vector<UseName> names;
  bool hasNames;
  NameId alias;
  bool isPub;
};
struct ConstItem {
  NameId name;
  Span nameSpan;
  NodeId type, value;
  bool isPub;
};
struct TypeItem {
  NameId name;
  Span nameSpan;
  std::vector<Generic> generics;
  NodeId type;
  bool isPub;
};
struct TestItem {
  std::string name;
  Span nameSpan;
  NodeId body;
  NodeId splice; ///< in the place of the name; none
}; // also BenchItem
struct CheckItem {
  NodeId type, concept_;
};

using Payload = std::variant<None, Text, Name, Unary, Binary, One, Two, Range, Many, Member, TupleIndex, Call,
                             Brackets, StringLit, Lambda, Builder, If, LetCondition, Match, For, While, Let,
                             Assign, OpAssign, Assert, FunctionType, CasePattern, DictEntries, MacroUse,
                             Quote, Sample, Scope, On, FnItem, StructItem, EnumItem, ConceptItem, MacroItem,
                             UseItem, ConstItem, TypeItem, TestItem, CheckItem>;

struct Node {
  NodeKind kind;
  Span span;
  Payload payload;
  template <class P>
  const P& as() const {
    return std::get<P>(payload);
  }
  template <class P>
  P& as() {
    return std::get<P>(payload);
  }
};

/// A comment; a documentation comment belongs to the item that follows.
struct Comment {
  Span span;            ///< with its marks
  bool isDoc = false;   ///< `///`
  bool ownLine = false; ///< nothing but blanks before it on its line
};

/// Whether a node declares something, tests or imports.
bool isItem(NodeKind kind);
/// Whether a node is part of a macro, of syntax as data, or of a use.
bool isOfMacros(NodeKind kind);

/// The tree of one file.
class Ast {
public:
  FileId file;
  NodeId root;                      ///< a Module node: Many of items and statements
  std::vector<Comment> comments;    ///< in order
  std::vector<uint32_t> blankLines; ///< offsets of the starts of blank lines, in order
  bool hasMacros = false;           ///< something stands in it that expansion has to look at

  NodeId add(NodeKind kind, Span span, Payload payload = None{}) {
    hasMacros |= isOfMacros(kind);
    return nodes_.add({kind, span, std::move(payload)});
  }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  Node& operator[](NodeId id) { return nodes_[id]; }
  NodeKind kind(NodeId id) const { return nodes_[id].kind; }
  Span span(NodeId id) const { return nodes_[id].span; }
  size_t size() const { return nodes_.size(); }
  /// The `///` text directly above `item`, marks removed.
  std::string docOf(NodeId item, const SourceStore& sources) const;

private:
  Store<NodeId, Node> nodes_;
};

/// Whether a name begins with a capital: that of a case, a type or a dimension variable.
bool isCapital(std::string_view name);
/// The name that a declaration declares; none for any other node.
NameId declaredName(const Ast& ast, NodeId node);
/// Calls `visit` for every direct child, in source order.
void forEachChild(const Ast& ast, NodeId node, FunctionRef<void(NodeId)> visit);
/// An indented outline for `show --stage ast`.
std::string dump(const Ast& ast, const Interner& names);

} // namespace melix::syntax
