// The functions of module `ast`.
#include "expand/expander.h"
#include "expand/print.h"
#include "expand/same.h"

#include <algorithm>
#include <utility>

namespace melix::expand {

namespace {

/// What stands directly in a node.
struct Children : PartVisitor<Children> {
  explicit Children(const Ast& tree) : ast(tree) {}
  const Ast& ast;
  Values found;
  void node(NodeId& id, Role role) {
    if (id) found.push_back(valueOf(ast, id, role));
  }
};

/// Reads and writes whether a declaration is `pub`.
struct Visibility : PartVisitor<Visibility> {
  std::optional<bool> put, found;
  void node(NodeId&, Role) {}
  template <class T>
  void elements(std::vector<T>&) {}
  void flag(bool& isPub) {
    found = isPub;
    if (put) isPub = *put;
  }
};

/// What holds for a function holds for one that is made of it.
void handOn(const std::vector<Attribute>& from, std::vector<Attribute>& to, const Interner& names) {
  const auto isUnchecked = [&](const Attribute& a) { return names.text(a.name) == "unchecked"; };
  if (std::ranges::any_of(to, isUnchecked)) return;
  std::ranges::copy_if(from, std::back_inserter(to), isUnchecked);
}

/// The names that patterns, parameters and generics bind, each once.
struct Bound : PartVisitor<Bound> {
  explicit Bound(const Ast& tree) : ast(tree) {}
  const Ast& ast;
  std::vector<NameId> found;
  void add(NameId name) {
    if (name && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  void node(const NodeId& id, Role role) {
    if (!id) return;
    if (ast.kind(id) != NodeKind::Name) {
      Node copy = ast[id];
      return visitParts(*this, copy.kind, role, copy.payload);
    }
    if (role == Role::Pattern) add(ast[id].as<Name>().name);
  }
  void name(NameId& name, NameRole role) {
    if (role == NameRole::Local) add(name);
  }
};

bool isName(std::string_view text) {
  auto starts = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return !text.empty() && starts(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return starts(c) || (c >= '0' && c <= '9'); });
}

/// Whether `a.b` is of a module `a` that declares `b`.
bool isInModule(const names::Modules& modules, const Ast& ast, ModuleId user, const Member& member) {
  if (ast.kind(member.base) != NodeKind::Name) return false;
  const ModuleId in = modules.prefix(user, ast[member.base].as<Name>().name);
  return in && !modules[in].named(member.name).empty();
}

/// Whether a name, or one behind that of its module, is of a declaration that the module of the user sees.
bool isDeclared(const names::Modules& modules, const Ast& ast, ModuleId user, NodeId node) {
  if (ast.kind(node) == NodeKind::Member) return isInModule(modules, ast, user, ast[node].as<Member>());
  if (ast.kind(node) != NodeKind::Name) return false;
  const auto [from, name] = modules.meant(user, ast[node].as<Name>().name);
  const names::Module& module = modules[from];
  return !module.isPrelude && (!module.named(name).empty() || module.imported.contains(name));
}

} // namespace

/// One call: its arguments, and what it gives.
class AstFunctions {
public:
  AstFunctions(Expander& x, const std::vector<Datum>& args, std::vector<Datum>& results)
      : x_(x), use_(*x.uses_.back()), ast_(*use_.ast), args_(args), results_(results) {}

  std::optional<std::string> problem;

  // --- splices and quotes
  void splices() { give(newCell(-1, {}, false)); }
  void splice_one() { give(newCell(number(0), handle(1), false)); }
  void splice_many() { give(newCell(number(0), handle(1), true)); }

  void quoted() {
    const Template& made = x_.templates_[static_cast<size_t>(number(0))];
    Copier copier(*made.ast, ast_, x_.modules_.names);
    std::vector<std::pair<Handle, bool>> held;
    const std::vector<SyntaxTable::Cell>& cells = x_.table_.cells;
    for (auto cell = static_cast<size_t>(number(1)); cells[cell].before >= 0;
         cell = static_cast<size_t>(cells[cell].before))
      held.push_back({cells[cell].last, cells[cell].isMany});
    std::reverse(held.begin(), held.end());
    uint32_t height = 0;
    for (size_t k = 0; k < held.size(); ++k) {
      Spliced& s = copier.spliced[made.splices[k]];
      s.isMany = held[k].second;
      if (!s.isMany)
        s.values = {value(held[k].first)};
      else
        for (Handle h : x_.table_.lists[static_cast<size_t>(held[k].first.number)])
          s.values.push_back(value(h));
      for (const Value& v : s.values)
        if (auto found = x_.table_.heights.find(v.node); found != x_.table_.heights.end())
          height = std::max(height, found->second);
    }
    if (height >= maxQuoteHeight)
      return void(problem = "syntax nested more than " + std::to_string(maxQuoteHeight) + " quotes deep");
    copier.mark = [&](NameId n) { return x_.modules_.names.marked(n, x_.markFor(use_, made.home)); };
    copier.fileOf = [&](FileId f) { return x_.fileFor(use_, f); };
    Value out = content(made, copier);
    if (copier.problem()) {
      Span place = copier.problem()->place;
      place.file = x_.fileFor(use_, place.file);
      return failAt(place, copier.problem()->message);
    }
    if ((ast_.size() - use_.firstNode) * sizeof(Node) > maxUseBytes)
      return void(problem = "the syntax takes more than 256 MiB");
    x_.table_.heights[out.node] = height + 1;
    give(out);
  }

  void matches() {
    Template& pattern = x_.templates_[static_cast<size_t>(number(0))];
    Matcher matcher(*pattern.ast, ast_, x_.modules_.names);
    std::optional<Bindings> found = matcher.match(pattern.quote, value(handle(1)));
    if (NodeId splice = matcher.misplaced())
      return failAt(
          pattern.ast->span(splice),
          "in a pattern `$..` stands for any number of a list's parts, once in a list: `$x` matches one");
    results_.push_back(found && agree(pattern, *found));
    if (found) x_.table_.lastMatch = {number(0), number(1), std::move(*found)};
  }
  void bound() {
    const Bindings& found = matched();
    const NodeId splice =
        x_.templates_[static_cast<size_t>(number(0))].splices[static_cast<size_t>(number(2))];
    give(found.one.at(splice));
  }
  void bound_all() {
    const Bindings& found = matched();
    const NodeId splice =
        x_.templates_[static_cast<size_t>(number(0))].splices[static_cast<size_t>(number(2))];
    give(found.many.at(splice));
  }

  void as_kind() {
    const Kind wanted = *kindNamed(text(0));
    const Value given = value(handle(1));
    if (std::optional<Value> v = converted(ast_, given, wanted)) return give(*v);
    failAt(ast_.span(given.node),
           std::string(kindText(wanted)) + " is wanted, and this is " + std::string(kindText(given.kind)));
  }

  // --- literals
  void literal_int() { give(literal(ast_, NodeKind::IntLit, std::to_string(number(0)), span())); }
  void literal_number() { // its digits say whether it is whole
    const bool isWhole = text(0).find_first_not_of("-0123456789") == std::string::npos;
    give(literal(ast_, isWhole ? NodeKind::IntLit : NodeKind::FloatLit, text(0), span()));
  }
  void literal_bool() {
    give(literal(ast_, NodeKind::BoolLit, std::get<bool>(args_[0]) ? "true" : "false", span()));
  }
  void literal_char() { give(literal(ast_, NodeKind::CharLit, text(0), span())); }
  void literal_text() {
    StringLit s;
    if (!text(0).empty()) s.parts.push_back({text(0), NodeId::none(), "", {}, span()});
    give(Value{Kind::Expr, ast_.add(NodeKind::String, span(), std::move(s))});
  }

  // --- lists
  void list() { giveList({}); }
  void push() {
    std::vector<Handle>& from = x_.table_.lists[static_cast<size_t>(number(0))];
    from.push_back(handle(1)); // the library builds each list once
    results_.push_back(number(0));
  }
  void count() {
    results_.push_back(static_cast<int64_t>(x_.table_.lists[static_cast<size_t>(number(0))].size()));
  }
  void at() {
    results_.push_back(
        x_.table_.lists[static_cast<size_t>(number(0))][static_cast<size_t>(number(1))].number);
  }
  void statements() {
    const Value v = value(handle(0));
    std::optional<NodeList> items = statementsOf(ast_, v);
    if (!items) return give(Values{v});
    Values out;
    for (NodeId id : *items) out.push_back(valueOf(ast_, id, Role::Stmt));
    give(out);
  }

  // --- what syntax is
  void kind() { results_.push_back(std::string(kindName(value(handle(0)).kind))); }
  void text() { results_.push_back(print(ast_, value(handle(0)), x_.modules_.names)); }
  void same() {
    const Value a = value(handle(0)), b = value(handle(1));
    results_.push_back(isSame(ast_, a.node, b.node));
  }
  void children() {
    const Value v = value(handle(0));
    Children visitor(ast_);
    Node copy = ast_[v.node];
    visitParts(visitor, copy.kind, roleOf(v), copy.payload);
    give(visitor.found);
  }
  void bindings() {
    Bound visitor(ast_);
    visitor.node(value(handle(0)).node, roleOf(value(handle(0))));
    Values out;
    for (NameId name : visitor.found)
      out.push_back({Kind::Ident, ast_.add(NodeKind::Name, span(), Name{name})});
    give(out);
  }
  void names() {
    Values out;
    std::vector<NameId> seen;
    std::function<void(NodeId)> look = [&](NodeId id) {
      if (ast_.kind(id) == NodeKind::Name) {
        const NameId name = ast_[id].as<Name>().name;
        if (std::find(seen.begin(), seen.end(), name) == seen.end()) {
          seen.push_back(name);
          out.push_back({Kind::Ident, id});
        }
      }
      forEachChild(ast_, id, look);
    };
    look(value(handle(0)).node);
    give(out);
  }
  /// What uses of macros declare counts once they are expanded.
  void declared() { results_.push_back(isDeclared(x_.modules_, ast_, use_.module, value(handle(0)).node)); }
  void file() {
    const Span s = ast_.span(value(handle(0)).node);
    results_.push_back(s.valid() ? std::string(x_.modules_.sources.path(s.file)) : std::string());
  }
  void line() { results_.push_back(static_cast<int64_t>(place().line)); }
  void column() { results_.push_back(static_cast<int64_t>(place().column)); }
  void attributes() {
    Values out;
    for (NodeId id = value(handle(0)).node; ast_.kind(id) == NodeKind::MacroUse;
         id = ast_[id].as<MacroUse>().target) {
      MacroUse alone = ast_[id].as<MacroUse>();
      if (!alone.target) break;
      alone.target = NodeId::none();
      const Span at = ast_.span(id);
      out.push_back({Kind::Expr, ast_.add(NodeKind::MacroUse, at, std::move(alone))});
    }
    give(out);
  }

  void visible() {
    Node other = ast_[value(handle(1)).node];
    Visibility flag;
    visitParts(flag, other.kind, Role::Item, other.payload);
    flag.put = flag.found.value_or(false);
    Node copy = ast_[value(handle(0)).node];
    visitParts(flag, copy.kind, Role::Item, copy.payload);
    if (copy.kind == NodeKind::Fn && other.kind == NodeKind::Fn)
      handOn(other.as<FnItem>().attributes, std::get<FnItem>(copy.payload).attributes, x_.modules_.names);
    give(Value{value(handle(0)).kind, ast_.add(copy.kind, copy.span, std::move(copy.payload))});
  }
  /// Puts the places within a node of one file at one place.
  struct Spans : PartVisitor<Spans> {
    Spans(FileId from_, Span to_) : from(from_), to(to_) {}
    FileId from;
    Span to;
    void node(NodeId&, Role) {}
    void span(Span& place) {
      if (place.file == from) place = to;
    }
  };
  void placed() {
    const Span at = ast_.span(value(handle(1)).node);
    FileId& file = use_.placed[{at.file, text(2)}];
    if (!file.valid() && at.valid())
      file = x_.modules_.sources.addExpansion(
          {x_.modules_.sources.written(at.file), use_.span, use_.macro, text(2)});
    std::function<void(NodeId)> look = [&](NodeId id) {
      Span& own = ast_[id].span;
      if (const Expansion* e = x_.modules_.sources.expansion(own.file); e && e->use == use_.span) {
        auto quoted = use_.files.find(e->of);
        if (quoted == use_.files.end() || quoted->second != own.file) return; // placed, with all in it
        Spans spans(own.file, {file, at.begin, at.end});
        own = spans.to;
        visitParts(spans, ast_.kind(id), Role::Any, ast_[id].payload);
      }
      forEachChild(ast_, id, look);
    };
    if (at.valid()) look(value(handle(0)).node);
    give(value(handle(0)));
  }

  // --- names
  void ident() { giveName(text(0), x_.markFor(use_, use_.home)); }
  void fresh() { giveName(text(0), x_.modules_.newMark(use_.home)); }
  void inject() {
    if (!isName(text(0))) return failAt(use_.span, "`" + text(0) + "` is no name");
    Interner& all = x_.modules_.names;
    std::vector<uint32_t> marks;
    for (NameId n = use_.written; all.isMarked(n); n = all.unmarkedOnce(n)) marks.push_back(all.markOf(n));
    NameId name = all.intern(text(0));
    for (size_t k = marks.size(); k-- > 0;) name = all.marked(name, marks[k]);
    give(Value{Kind::Ident, ast_.add(NodeKind::Name, use_.span, Name{name})});
  }

  // --- what is told
  void fail() { note(text(0), number(1)); }
  void warn() {
    const Span at = number(1) < 0 ? use_.span : ast_.span(value(handle(1)).node);
    x_.modules_.sink.report(DiagId::MacroWarning, at, text(0));
  }

  // --- places
  void walk() {
    Values out;
    std::function<void(Value)> look = [&](Value v) {
      if (ast_.kind(v.node) != NodeKind::Paren) out.push_back(v); // brackets only group
      for (Value each : placesIn(v)) look(each);
    };
    look(value(handle(0)));
    give(out);
  }
  void places() { give(placesIn(value(handle(0)))); }
  void with_places() {
    const Value v = value(handle(0));
    const std::vector<Handle> others = x_.table_.lists[static_cast<size_t>(number(1))];
    Places places(ast_);
    places.others = &others;
    places.values = &x_.table_.values;
    Node copy = ast_[v.node];
    places.role = roleOf(v);
    auto* use = std::get_if<MacroUse>(&copy.payload); // its name is no place
    const NodeId path = use ? std::exchange(use->path, NodeId::none()) : NodeId::none();
    visitParts(places, copy.kind, places.role, copy.payload);
    if (use) use->path = path;
    if (!places.problem.empty()) return failAt(ast_.span(v.node), places.problem);
    if (!places.changed) return give(v);
    give(Value{v.kind == Kind::Ident ? Kind::Expr : v.kind,
               ast_.add(copy.kind, copy.span, std::move(copy.payload))});
  }
  void expand() {
    const Value v = value(handle(0));
    std::unordered_set<NodeId> placed;
    NodeId node = x_.unshared(ast_, v.node, placed);
    x_.expandBody(use_.module, ast_, node, roleOf(v));
    give(Value{v.kind == Kind::Block || v.kind == Kind::Item || v.kind == Kind::Stmt
                   ? v.kind
                   : valueOf(ast_, node, roleOf(v)).kind,
               node});
  }

private:
  /// Where expressions and statements stand in a node; with `others`, puts these there.
  struct Places : PartVisitor<Places> {
    explicit Places(Ast& tree) : ast(tree) {}
    Ast& ast;
    Values found;
    const std::vector<Handle>* others = nullptr;
    const Values* values = nullptr;
    size_t next = 0;
    bool changed = false;
    std::string problem;
    Role role = Role::Any;

    static bool isPlace(Role role) {
      return role == Role::Expr || role == Role::Stmt || role == Role::Body || role == Role::Any ||
             role == Role::Item;
    }
    void node(NodeId& id, Role r) {
      if (!id || !isPlace(r)) return;
      const NodeKind kind = ast.kind(id);
      if (kind == NodeKind::FunctionType || kind == NodeKind::KindArgument) return;
      if (!others) return found.push_back(valueOf(ast, id, r));
      if (next >= others->size()) return void(problem = "too few nodes for the places of this");
      const Value given = (*values)[static_cast<size_t>((*others)[next++].number)];
      if (given.node == id) return;
      NodeId put = nodeFor(ast, given, r);
      if (!put) return void(problem = std::string(kindText(given.kind)) + " does not fit in this place");
      id = put;
      changed = true;
    }
    void nodes(NodeList& ids, Role r) {
      if (r == Role::Pattern || r == Role::Type) return;
      for (NodeId& id : ids) node(id, r);
    }
    void attributes(std::vector<Attribute>&) {}
  };

  static Role roleOf(Value v) {
    switch (v.kind) {
    case Kind::Type: return Role::Type;
    case Kind::Pattern: return Role::Pattern;
    case Kind::Block: return Role::Body;
    case Kind::Stmt: return Role::Stmt;
    case Kind::Item: return Role::Item;
    default: return Role::Expr;
    }
  }

  Values placesIn(Value v) {
    if (ast_.kind(v.node) == NodeKind::Quote) return {};
    Places places(ast_);
    places.role = roleOf(v);
    if (places.role == Role::Type || places.role == Role::Pattern) return {};
    if (ast_.kind(v.node) == NodeKind::MacroUse) { // its name is none
      Node copy = ast_[v.node];
      copy.as<MacroUse>().path = NodeId::none();
      visitParts(places, copy.kind, places.role, copy.payload);
      return std::move(places.found);
    }
    visitParts(places, ast_.kind(v.node), places.role, ast_[v.node].payload);
    return std::move(places.found);
  }

  int64_t number(size_t k) const { return std::get<int64_t>(args_[k]); }
  Handle handle(size_t k) const { return {number(k)}; }
  const std::string& text(size_t k) const { return std::get<std::string>(args_[k]); }
  Value value(Handle h) const { return x_.table_.values[static_cast<size_t>(h.number)]; }
  Span span() { return {x_.fileFor(use_, ast_.file), use_.span.begin, use_.span.end}; }

  void give(Value v) { results_.push_back(x_.table_.keep(v).number); }
  void give(int64_t n) { results_.push_back(n); }
  void give(const Values& all) {
    std::vector<Handle> out;
    for (Value v : all) out.push_back(x_.table_.keep(v));
    giveList(std::move(out));
  }
  void giveList(std::vector<Handle> all) {
    x_.table_.lists.push_back(std::move(all));
    results_.push_back(static_cast<int64_t>(x_.table_.lists.size() - 1));
  }
  int64_t newCell(int64_t before, Handle last, bool isMany) {
    x_.table_.cells.push_back({before, last, isMany});
    return static_cast<int64_t>(x_.table_.cells.size() - 1);
  }

  void giveName(const std::string& text, uint32_t mark) {
    if (!isName(text)) return failAt(use_.span, "`" + text + "` is no name");
    Interner& all = x_.modules_.names;
    give(Value{Kind::Ident, ast_.add(NodeKind::Name, span(), Name{all.marked(all.intern(text), mark)})});
  }

  void note(const std::string& message, int64_t at) {
    if (use_.failure) return;
    use_.failure = CopyProblem{at < 0 ? use_.span : ast_.span(value({at}).node), message};
  }
  void failAt(Span at, const std::string& message) {
    if (!use_.failure) use_.failure = CopyProblem{at, message};
    problem = message;
  }
  LineColumn place() const {
    const Span s = ast_.span(value(handle(0)).node);
    return s.valid() ? x_.modules_.sources.lineColumn(s) : LineColumn{};
  }

  /// One variable that stands twice in a pattern stands for the same twice.
  bool agree(const Template& pattern, Bindings& found) {
    std::map<NameId, NodeId> first;
    for (NodeId splice : pattern.splices) {
      const NameId name = (*pattern.ast)[(*pattern.ast)[splice].as<One>().inner].as<Name>().name;
      auto [place, isNew] = first.try_emplace(name, splice);
      if (isNew) continue;
      if (found.one.contains(splice) && found.one.contains(place->second)) {
        if (!isSame(ast_, found.one[splice].node, found.one[place->second].node)) return false;
        continue;
      }
      const Values a = found.many[splice], b = found.many[place->second];
      if (a.size() != b.size()) return false;
      for (size_t k = 0; k < a.size(); ++k)
        if (!isSame(ast_, a[k].node, b[k].node)) return false;
    }
    return true;
  }

  const Bindings& matched() {
    if (x_.table_.lastMatch.pattern != number(0) || x_.table_.lastMatch.subject != number(1)) {
      Template& pattern = x_.templates_[static_cast<size_t>(number(0))];
      Matcher matcher(*pattern.ast, ast_, x_.modules_.names);
      x_.table_.lastMatch = {number(0), number(1), *matcher.match(pattern.quote, value(handle(1)))};
    }
    return x_.table_.lastMatch.found;
  }

  /// The content of a quote as the value it is on its own.
  Value content(const Template& made, Copier& copier) {
    const Ast& from = *made.ast;
    const Quote& quote = from[made.quote].as<Quote>();
    const std::string_view what = quote.what ? x_.modules_.names.text(quote.what) : std::string_view();
    if (what == "type") return {Kind::Type, copier.copy(quote.block, Role::Type)};
    if (what == "pattern") return {Kind::Pattern, copier.copy(quote.block, Role::Pattern)};
    if (!what.empty()) {
      std::string name(what);
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
      NodeId node = copier.copy(quote.block, Role::Any);
      return {*kindNamed(name), node};
    }
    NodeId block = copier.copy(quote.block, Role::Body);
    const NodeList& items = ast_[block].as<Many>().items;
    if (items.size() != 1 || from[quote.block].as<Many>().items.size() != 1) return {Kind::Block, block};
    if (from.kind(from[quote.block].as<Many>().items[0]) == NodeKind::SpliceMany) return {Kind::Block, block};
    return valueOf(ast_, items[0], Role::Stmt);
  }

  Expander& x_;
  Expander::Use& use_;
  Ast& ast_;
  const std::vector<Datum>& args_;
  std::vector<Datum>& results_;
};

std::optional<std::string> Expander::call(std::string_view function, const std::vector<Datum>& args,
                                          std::vector<Datum>& results) {
  if (uses_.empty()) return "syntax exists only while macros are expanded";
  using Member = void (AstFunctions::*)();
  static const std::unordered_map<std::string_view, Member> table = {
#define FUNCTION(Name, Purpose) {#Name, &AstFunctions::Name},
#include "expand/functions.def"
  };
  AstFunctions functions(*this, args, results);
  (functions.*table.at(function))();
  return std::move(functions.problem);
}

} // namespace melix::expand
