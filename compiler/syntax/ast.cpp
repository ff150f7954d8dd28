#include "syntax/ast.h"

namespace melix::syntax {

std::string_view nodeText(NodeKind kind) {
  static constexpr std::string_view texts[] = {
#define NODE(Kind, Text) Text,
#include "syntax/nodes.def"
  };
  return texts[static_cast<size_t>(kind)];
}

bool isItem(NodeKind kind) { return kind >= NodeKind::Fn && kind <= NodeKind::CheckItem; }

bool isOfMacros(NodeKind kind) {
  return kind == NodeKind::MacroUse || kind == NodeKind::Quote || kind == NodeKind::Splice ||
         kind == NodeKind::SpliceMany || kind == NodeKind::Macro || kind == NodeKind::KindArgument;
}

std::string_view spelling(UnaryOp op) { return op == UnaryOp::Neg ? "-" : "not"; }

std::string_view spelling(BinaryOp op) {
  static constexpr std::string_view texts[] = {"+", "-",  "*",  "/", "%",  "@", "^",  "<<",  ">>", "&",
                                               "|", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return texts[static_cast<size_t>(op)];
}

NameId declaredName(const Ast& ast, NodeId node) {
  return std::visit(
      [](const auto& p) {
        if constexpr (requires { NameId(p.name), p.nameSpan; })
          return NameId(p.name);
        else
          return NameId::none();
      },
      ast[node].payload);
}

std::string Ast::docOf(NodeId item, const SourceStore& sources) const {
  // The run of `///` comments whose last one ends on the line above the item.
  std::string_view text = sources.text(file);
  uint32_t end = nodes_[item].span.begin;
  std::string doc;
  for (size_t k = comments.size(); k-- > 0;) {
    const Comment& comment = comments[k];
    if (comment.span.end > end) continue;
    std::string_view between = text.substr(comment.span.end, end - comment.span.end);
    if (!comment.isDoc || between.find_first_not_of(" \t\r\n") != std::string_view::npos) break;
    std::string_view line = sources.text(comment.span).substr(3);
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    doc = std::string(line) + (doc.empty() ? "" : "\n") + doc;
    end = comment.span.begin;
  }
  return doc;
}

namespace {

/// Children of each payload, in source order.
struct Children {
  FunctionRef<void(NodeId)> visit;

  void one(NodeId id) const {
    if (id.valid()) visit(id);
  }
  void all(const NodeList& ids) const {
    for (NodeId id : ids) one(id);
  }
  void args(const std::vector<Argument>& arguments) const {
    for (const Argument& a : arguments) one(a.value);
  }
  void params(const std::vector<Parameter>& parameters) const {
    for (const Parameter& p : parameters) one(p.pattern), one(p.type), one(p.defaultValue);
  }
  void generics(const std::vector<Generic>& list) const {
    for (const Generic& g : list) one(g.bound), one(g.defaultType);
  }
  void fields(const std::vector<FieldDecl>& list) const {
    for (const FieldDecl& f : list) one(f.type), one(f.defaultValue);
  }
  void attributes(const std::vector<Attribute>& list) const {
    for (const Attribute& a : list) args(a.args);
  }

  void operator()(const None&) const {}
  void operator()(const Text&) const {}
  void operator()(const Name&) const {}
  void operator()(const Unary& p) const { one(p.operand); }
  void operator()(const Binary& p) const { one(p.left), one(p.right); }
  void operator()(const One& p) const { one(p.inner); }
  void operator()(const Two& p) const { one(p.first), one(p.second); }
  void operator()(const Range& p) const { one(p.first), one(p.last), one(p.step); }
  void operator()(const Many& p) const { all(p.items); }
  void operator()(const Member& p) const { one(p.base); }
  void operator()(const TupleIndex& p) const { one(p.base); }
  void operator()(const Call& p) const { one(p.callee), args(p.args); }
  void operator()(const Brackets& p) const { one(p.base), args(p.items); }
  void operator()(const StringLit& p) const {
    for (const StringPart& part : p.parts) one(part.value), all(part.formatValues);
  }
  void operator()(const Lambda& p) const { params(p.params), one(p.body); }
  void operator()(const Builder& p) const {
    for (const Header& h : p.headers) one(h.pattern), one(h.range);
    one(p.filter), one(p.body);
  }
  void operator()(const If& p) const { one(p.condition), one(p.then), one(p.otherwise); }
  void operator()(const LetCondition& p) const { one(p.pattern), one(p.value); }
  void operator()(const Match& p) const {
    one(p.scrutinee);
    for (const MatchArm& arm : p.arms) one(arm.pattern), one(arm.guard), one(arm.body);
  }
  void operator()(const For& p) const {
    for (const ForHead& h : p.heads) one(h.pattern), one(h.range);
    one(p.filter), one(p.body);
  }
  void operator()(const While& p) const { one(p.condition), one(p.body); }
  void operator()(const Let& p) const { one(p.pattern), one(p.type), one(p.init), one(p.otherwise); }
  void operator()(const Assign& p) const { one(p.target), one(p.value); }
  void operator()(const OpAssign& p) const { one(p.target), one(p.value); }
  void operator()(const Assert& p) const { one(p.condition), one(p.message); }
  void operator()(const FunctionType& p) const { all(p.params), one(p.result); }
  void operator()(const CasePattern& p) const {
    one(p.path);
    for (const PatternField& f : p.fields) one(f.pattern);
  }
  void operator()(const DictEntries& p) const {
    for (auto [key, value] : p.entries) one(key), one(value);
  }
  void operator()(const MacroUse& p) const { one(p.path), args(p.args), one(p.target); }
  void operator()(const Quote& p) const { one(p.block); }
  void operator()(const Sample& p) const { one(p.target), one(p.type), one(p.value); }
  void operator()(const Scope& p) const { one(p.body); }
  void operator()(const On& p) const { one(p.number), one(p.body); }
  void operator()(const FnItem& p) const {
    attributes(p.attributes), generics(p.generics), params(p.params), one(p.result), one(p.body);
  }
  void operator()(const StructItem& p) const {
    attributes(p.attributes), generics(p.generics), one(p.base), fields(p.fields);
  }
  void operator()(const EnumItem& p) const {
    attributes(p.attributes), generics(p.generics);
    for (const CaseDecl& c : p.cases) fields(c.fields);
  }
  void operator()(const ConceptItem& p) const { generics(p.generics), all(p.functions); }
  void operator()(const MacroItem& p) const { params(p.params), one(p.result), one(p.body); }
  void operator()(const UseItem&) const {}
  void operator()(const ConstItem& p) const { one(p.type), one(p.value); }
  void operator()(const TypeItem& p) const { generics(p.generics), one(p.type); }
  void operator()(const TestItem& p) const { one(p.splice), one(p.body); }
  void operator()(const CheckItem& p) const { one(p.type), one(p.concept_); }
};

/// What a dump shows of a node beside its kind.
struct Label {
  const Interner& names;
  std::string text(NameId id) const { return isSpliced(id) ? "$" : std::string(names.text(id)); }
  std::string name(NameId id) const { return id ? " " + text(id) : ""; }

  std::string operator()(const Text& p) const { return " " + p.text; }
  std::string operator()(const Name& p) const { return name(p.name); }
  std::string operator()(const Unary& p) const { return " " + std::string(spelling(p.op)); }
  std::string operator()(const Binary& p) const { return " " + std::string(spelling(p.op)); }
  std::string operator()(const OpAssign& p) const { return " " + std::string(spelling(p.op)); }
  std::string operator()(const Member& p) const { return name(p.name); }
  std::string operator()(const TupleIndex& p) const { return " " + std::to_string(p.index); }
  std::string operator()(const Let& p) const { return p.isVar ? " var" : ""; }
  std::string operator()(const StringLit& p) const {
    std::string out = " \"";
    for (const StringPart& part : p.parts)
      out += part.value ? "{" + (part.format.empty() ? "" : ":" + part.format) + "}" : part.text;
    return out + "\"";
  }
  std::string labels(const std::vector<Argument>& args) const {
    std::string out;
    for (const Argument& a : args)
      if (a.label) out += name(a.label) + ":";
    return out;
  }
  std::string operator()(const Call& p) const { return labels(p.args); }
  std::string operator()(const Brackets& p) const { return labels(p.items); }
  std::string operator()(const FnItem& p) const {
    std::string out = name(p.name);
    for (const Generic& g : p.generics) out += " [" + std::string(g.isPack ? ".." : "") + text(g.name) + "]";
    for (const Parameter& q : p.params)
      out += " (" + std::string(q.isInout ? "inout " : "") + (q.name ? text(q.name) : "pattern") + ")";
    return out;
  }
  std::string operator()(const StructItem& p) const {
    std::string out = name(p.name);
    for (const FieldDecl& f : p.fields) out += " ." + (f.name ? text(f.name) : "");
    return out;
  }
  std::string operator()(const EnumItem& p) const {
    std::string out = name(p.name);
    for (const CaseDecl& c : p.cases) out += " |" + name(c.name);
    return out;
  }
  std::string operator()(const ConceptItem& p) const { return name(p.name); }
  std::string operator()(const MacroItem& p) const { return name(p.name); }
  std::string operator()(const ConstItem& p) const { return name(p.name); }
  std::string operator()(const TypeItem& p) const { return name(p.name); }
  std::string operator()(const TestItem& p) const { return " \"" + p.name + "\""; }
  std::string operator()(const Scope& p) const { return name(p.name); }
  std::string operator()(const On& p) const { return name(p.device); }
  std::string operator()(const UseItem& p) const {
    std::string out;
    for (const UseName& part : p.path) out += name(part.name);
    for (const UseName& part : p.names) out += " {" + text(part.name) + "}";
    return out + name(p.alias);
  }
  template <class P>
  std::string operator()(const P&) const {
    return "";
  }
};

} // namespace

bool isCapital(std::string_view name) { return !name.empty() && name[0] >= 'A' && name[0] <= 'Z'; }

void forEachChild(const Ast& ast, NodeId node, FunctionRef<void(NodeId)> visit) {
  std::visit(Children{visit}, ast[node].payload);
}

std::string dump(const Ast& ast, const Interner& names) {
  std::string out;
  std::function<void(NodeId, int)> print = [&](NodeId id, int depth) {
    out += std::string(static_cast<size_t>(depth) * 2, ' ') + std::string(nodeText(ast.kind(id)));
    out += std::visit(Label{names}, ast[id].payload) + "\n";
    forEachChild(ast, id, [&](NodeId child) { print(child, depth + 1); });
  };
  if (ast.root) print(ast.root, 0);
  return out;
}

} // namespace melix::syntax
