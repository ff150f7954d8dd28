// Items and trees: where uses stand, and what is put in their place.
#include "expand/expander.h"

#include "syntax/attributes.h"

#include <algorithm>

namespace melix::expand {

using names::DeclId;

/// Walks one item or statement and replaces the uses in it.
class ExpandTree : public PartVisitor<ExpandTree> {
public:
  ExpandTree(Expander& expander, ModuleId module, Ast& ast) : x_(expander), module_(module), ast_(ast) {}

  void node(NodeId& id, Role role) {
    if (!id) return;
    while (id && ast_.kind(id) == NodeKind::MacroUse && level_ == 0 && !isAttribute(id)) replace(id, role);
    walk(id, role);
  }

  void nodes(NodeList& ids, Role role) {
    if (role != Role::Stmt) {
      for (NodeId& id : ids) node(id, role);
      return;
    }
    NodeList out;
    std::vector<NodeId> queue(ids.rbegin(), ids.rend());
    while (!queue.empty()) {
      NodeId id = queue.back();
      queue.pop_back();
      if (ast_.kind(id) != NodeKind::MacroUse || level_ > 0 || isAttribute(id)) {
        std::vector<NodeId> after = std::exchange(after_, {});
        const uint32_t end = std::exchange(statementEnd_, ast_.span(id).end);
        walk(id, role);
        statementEnd_ = end;
        std::swap(after, after_);
        out.push_back(id);
        queue.insert(queue.end(), after.rbegin(), after.rend());
        continue;
      }
      NodeId rest;
      std::optional<Value> value = x_.run(module_, ast_, id, rest);
      if (rest) queue.push_back(rest);
      if (!value) {
        out.push_back(x_.errorNode(ast_, ast_.span(id)));
        continue;
      }
      if (std::optional<NodeList> made = statementsOf(ast_, *value))
        queue.insert(queue.end(), made->rbegin(), made->rend());
      else
        out.push_back(refused(id, *value, "a statement"));
    }
    ids = std::move(out);
  }

private:
  /// `@checkpoint { … }`: an attribute of a statement, which the checker refuses.
  bool isAttribute(NodeId use) const {
    const NodeId path = ast_[use].as<MacroUse>().path;
    return ast_.kind(path) == NodeKind::Name &&
           isAttributeName(x_.modules_.names.text(ast_[path].as<Name>().name));
  }

  void walk(NodeId id, Role role) {
    const NodeKind kind = ast_.kind(id);
    if (kind == NodeKind::Macro && level_ == 0) return; // when it is used
    const bool isSplice = kind == NodeKind::Splice || kind == NodeKind::SpliceMany;
    if (isSplice && level_ == 0) {
      x_.modules_.sink.report(DiagId::SpliceOutside, ast_.span(id));
      ast_[id] = {NodeKind::Error, ast_.span(id), None{}};
      return;
    }
    const unsigned level = level_;
    if (kind == NodeKind::Quote) ++level_;
    if (isSplice) --level_;
    visitParts(*this, kind, role, ast_[id].payload);
    level_ = level;
  }

  NodeId refused(NodeId use, Value value, std::string_view wanted) {
    Diagnostic& d = x_.modules_.sink.report(DiagId::MacroKind, ast_.span(use), std::string(wanted),
                                            std::string(kindText(value.kind)));
    d.hint = wanted == "a type"      ? "`quote type { … }` makes a type"
             : wanted == "a pattern" ? "`quote pattern { … }` makes a pattern"
             : value.kind == Kind::Item
                 ? "a use that declares something stands for itself, on a line of its own"
             : wanted == "an expression" ? "`{ … }` in the quote makes an expression of statements"
                                         : "";
    return x_.errorNode(ast_, ast_.span(use));
  }

  /// A use where one node stands.
  void replace(NodeId& id, Role role) {
    const NodeId use = id;
    NodeId rest;
    std::optional<Value> value = x_.run(module_, ast_, use, rest);
    if (rest) {
      if (ast_.span(rest).end == statementEnd_)
        after_.insert(after_.begin(), rest);
      else
        x_.modules_.sink.report(DiagId::MacroNoTarget, ast_.span(rest));
    }
    if (!value) {
      id = x_.errorNode(ast_, ast_.span(use));
      return;
    }
    id = nodeFor(ast_, *value, role == Role::Any ? Role::Expr : role);
    if (!id && role == Role::Any) id = nodeFor(ast_, *value, Role::Type);
    if (id) return;
    static constexpr std::string_view wanted[] = {
        "an expression", "a statement", "a block", "a declaration", "a type", "a pattern", "an expression"};
    id = refused(use, *value, wanted[static_cast<size_t>(role)]);
  }

  Expander& x_;
  ModuleId module_;
  Ast& ast_;
  unsigned level_ = 0;        ///< quotes around the node at hand
  std::vector<NodeId> after_; ///< what stands behind the statement at hand, though it was read as part of it
  uint32_t statementEnd_ = 0;
};

namespace {

bool declares(NodeKind kind) { return isItem(kind) && kind != NodeKind::Test && kind != NodeKind::Bench; }

bool holdsQuotes(const Ast& ast, NodeId node) {
  if (ast.kind(node) == NodeKind::Quote) return true;
  if (ast.kind(node) == NodeKind::Macro) return false;
  bool any = false;
  forEachChild(ast, node, [&](NodeId child) { any = any || holdsQuotes(ast, child); });
  return any;
}

} // namespace

void Expander::expand(ModuleId module, Ast& ast) {
  expanding_[&ast] = module;
  NodeList items = ast[ast.root].as<Many>().items;
  expandItems(module, ast, items);
  ast[ast.root].payload = Many{std::move(items)};
  expanding_.erase(&ast);
  // What nobody used is checked, too.
  if (modules_[module].isRoot)
    for (const auto& [name, decls] : modules_[module].decls.own())
      for (DeclId d : std::vector<DeclId>(decls))
        if (modules_.decl(d).kind == names::DeclKind::Macro && modules_.decl(d).module == module)
          macroFunction(d);
  if (modules_[module].isRoot) modules_.macroSide(module);
}

/// A queue: what a use gives is looked at next.
void Expander::expandItems(ModuleId module, Ast& ast, NodeList& items) {
  ExpandTree tree(*this, module, ast);
  NodeList out;
  std::vector<NodeId> queue(items.rbegin(), items.rend());
  while (!queue.empty()) {
    NodeList one{queue.back()};
    queue.pop_back();
    if (ast.kind(one[0]) != NodeKind::MacroUse) {
      NodeList behind = expandItem(module, ast, one[0]);
      for (NodeId item : behind) declareMade(module, ast, item);
      queue.insert(queue.end(), behind.rbegin(), behind.rend());
      out.push_back(one[0]);
      continue;
    }
    NodeId rest;
    std::optional<Value> value = run(module, ast, one[0], rest);
    if (rest) queue.push_back(rest);
    NodeList made;
    if (!value) {
      made.push_back(errorNode(ast, ast.span(one[0])));
    } else if (std::optional<NodeList> statements = statementsOf(ast, *value)) {
      made = std::move(*statements);
    } else {
      modules_.sink.report(DiagId::MacroKind, ast.span(one[0]), "a declaration or a statement",
                           std::string(kindText(value->kind)));
      made.push_back(errorNode(ast, ast.span(one[0])));
    }
    for (NodeId item : made) declareMade(module, ast, item);
    if (rest && declares(ast.kind(rest))) declareMade(module, ast, rest);
    queue.insert(queue.end(), made.rbegin(), made.rend());
  }
  items = std::move(out);
}

/// An item that a use made: visible to the rest of the module under its spelling.
void Expander::declareMade(ModuleId module, Ast& ast, NodeId item) {
  if (!isItem(ast.kind(item))) return;
  spellNames(module, ast, item);
  if (!macros_.empty()) modules_.macroSide(module);
  if (declares(ast.kind(item))) modules_.indexItem(module, ast, item);
}

/// Takes the marks off the names that an item declares; what the quote calls so means them.
void Expander::spellNames(ModuleId module, Ast& ast, NodeId item) {
  struct Speller : PartVisitor<Speller> {
    Speller(names::Modules& all, ModuleId in) : modules(all), module(in) {}
    names::Modules& modules;
    ModuleId module;
    void name(NameId& id, NameRole role) const {
      if (role != NameRole::Item || !modules.names.isMarked(id)) return;
      modules.setMade(id, module);
      id = modules.names.spelling(id);
    }
    void node(NodeId&, Role) const {}
  } speller(modules_, module);
  visitParts(speller, ast.kind(item), Role::Item, ast[item].payload);
}

NodeList Expander::expandItem(ModuleId module, Ast& ast, NodeId item) {
  State& state = items_[{&ast, item}];
  if (state == State::Done) return std::exchange(behind_[{&ast, item}], {});
  if (state == State::Open) return {};
  state = State::Open;
  open_.push_back({&ast, item});
  ExpandTree tree(*this, module, ast);
  NodeList one{item};
  tree.nodes(one, Role::Stmt); // the item is no use: it stays, and what was read as part of it follows
  if (holdsQuotes(ast, item)) QuoteWriter(modules_, ast, module, module, templates_).rewrite(item);
  open_.pop_back();
  items_[{&ast, item}] = State::Done;
  return NodeList(one.begin() + 1, one.end());
}

void Expander::expandBody(ModuleId module, Ast& ast, NodeId& node, Role role) {
  ExpandTree(*this, module, ast).node(node, role);
}

bool Expander::prepareSignature(DeclId decl) {
  if (expanding_.empty()) return true;
  const names::Decl d = modules_.decl(decl);
  Ast& ast = modules_.treeOf(decl);
  if (!ast.hasMacros || !expanding_.contains(&ast) || ast.kind(d.node) != NodeKind::Fn) return true;
  FnItem& fn = ast[d.node].as<FnItem>();
  ExpandTree tree(*this, d.module, ast);
  for (Parameter& p : fn.params) tree.node(p.type, Role::Type);
  tree.node(fn.result, Role::Type);
  return true;
}

bool Expander::prepareBody(DeclId decl) {
  if (expanding_.empty()) return true;
  const names::Decl d = modules_.decl(decl);
  Ast& ast = modules_.treeOf(decl);
  if (!ast.hasMacros || !expanding_.contains(&ast)) return true;
  auto found = items_.find({&ast, d.node});
  if (found != items_.end() && found->second == State::Done) return true;
  if (isOpen(decl)) return reportCycle(decl, uses_.empty() ? d.span : uses_.back()->span);
  const bool isOfModule =
      d.kind != names::DeclKind::Function || std::ranges::count(modules_[d.module].named(d.name), decl) > 0;
  if (!isOfModule) return true; // it stands in an item that is
  NodeList behind = expandItem(d.module, ast, d.node);
  behind_[{&ast, d.node}] = std::move(behind);
  return true;
}

/// Whether what is declared is being expanded.
bool Expander::isOpen(DeclId decl) const {
  return std::ranges::count(open_, ItemKey(&modules_.astOf(decl), modules_.decl(decl).node)) > 0;
}

/// `f` waits for a use that runs what calls `f`.
bool Expander::reportCycle(DeclId decl, Span place) {
  const names::Decl d = modules_.decl(decl);
  std::string path;
  bool isInside = false;
  for (const ItemKey& key : open_) {
    isInside |= key == ItemKey(&modules_.astOf(decl), d.node);
    NameId name = declaredName(*key.first, key.second);
    if (isInside && name) path += "`" + std::string(modules_.names.text(name)) + "` → ";
  }
  for (const auto& use : uses_) path += "`@" + use->macro + "` → ";
  path += "`" + std::string(modules_.names.text(d.name)) + "`";
  modules_.sink.report(DiagId::MacroCycle, place, modules_.names.text(d.name), path)
      .notes.push_back({d.span, "this waits for its own expansion"});
  return false;
}

} // namespace melix::expand
