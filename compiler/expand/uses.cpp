// Uses: which macro is meant, what it is given, and what becomes of its result.
#include "expand/expander.h"

#include "syntax/attributes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace melix::expand {

using names::DeclId;
using names::DeclKind;

std::vector<DeclId> Expander::macrosMeant(ModuleId module, const Ast& ast, NodeId path) {
  std::vector<DeclId> out;
  auto take = [&](ModuleId from, NameId name, bool onlyPublic) {
    for (DeclId d : modules_[from].named(name))
      if (modules_.decl(d).kind == DeclKind::Macro && (!onlyPublic || modules_.decl(d).isPub))
        out.push_back(d);
  };
  if (ast.kind(path) == NodeKind::Member) {
    const Member& member = ast[path].as<Member>();
    if (ast.kind(member.base) != NodeKind::Name) return out;
    if (ModuleId used = modules_.prefix(module, ast[member.base].as<Name>().name))
      take(used, member.name, true);
    return out;
  }
  auto [from, name] = modules_.meant(module, ast[path].as<Name>().name);
  take(from, name, false);
  if (!out.empty()) return out;
  if (const std::vector<ModuleId>* imported = modules_[from].imported.find(name))
    for (ModuleId m : *imported) take(m, name, true);
  if (!out.empty()) return out;
  if (auto earlier = modules_[from].earlier.macros.find(name); earlier != modules_[from].earlier.macros.end())
    take(earlier->second, name, false);
  return out;
}

/// Whether a module asks for a name by a `use`.
static bool asksFor(const Ast& ast, NameId name) {
  if (!ast.root) return false;
  return std::ranges::any_of(ast[ast.root].as<Many>().items, [&](NodeId item) {
    if (ast.kind(item) != NodeKind::Use) return false;
    const std::vector<UseName>& names = ast[item].as<UseItem>().names;
    return std::ranges::any_of(names, [&](const UseName& n) { return n.name == name; });
  });
}

/// Whether a `use` asked for a name that its module does not give, or of a module that there is not: an error
/// that was told there.
bool Expander::isToldToBeMissing(ModuleId module, NameId name) const {
  const std::vector<ModuleId>* imported = modules_[module].imported.find(name);
  if (!imported) return asksFor(modules_[module].ast, name);
  return std::ranges::none_of(*imported, [&](ModuleId m) {
    return std::ranges::any_of(modules_[m].named(name), [&](DeclId d) { return modules_.decl(d).isPub; });
  });
}

/// Whether a path means a function.
bool Expander::isFunction(ModuleId module, const Ast& ast, NodeId path) const {
  if (ast.kind(path) != NodeKind::Name) return false;
  auto [from, name] = modules_.meant(module, ast[path].as<Name>().name);
  std::vector<ModuleId> places{from};
  if (const std::vector<ModuleId>* imported = modules_[from].imported.find(name))
    places.insert(places.end(), imported->begin(), imported->end());
  return std::ranges::any_of(places, [&](ModuleId m) {
    const std::span<const DeclId> named = modules_[m].named(name);
    return !named.empty() && modules_.decl(named[0]).kind == DeclKind::Function;
  });
}

void Expander::reportUnknown(ModuleId module, const Ast& ast, const MacroUse& use) {
  const NodeId path = use.path;
  std::vector<std::string_view> known;
  auto add = [&](ModuleId from, bool onlyPublic) {
    for (const auto& [name, decls] : modules_[from].decls.all())
      if (const names::Decl& first = modules_.decl((*decls)[0]);
          first.kind == DeclKind::Macro && (!onlyPublic || first.isPub))
        known.push_back(modules_.names.text(name));
  };
  std::string_view wrong;
  if (ast.kind(path) == NodeKind::Member) {
    const Member& member = ast[path].as<Member>();
    wrong = modules_.names.text(member.name);
    if (ast.kind(member.base) == NodeKind::Name) {
      const NameId prefix = ast[member.base].as<Name>().name;
      ModuleId used = modules_.prefix(module, prefix);
      if (!used) {
        const std::string text(modules_.names.text(prefix));
        modules_.sink.report(DiagId::UnknownName, ast.span(member.base), text).hint =
            "`use " + text + "` makes its macros `@" + text + ".name`";
        return;
      }
      add(used, true);
    }
  } else {
    const NameId unknown = ast[path].as<Name>().name;
    wrong = modules_.names.text(unknown);
    if (isToldToBeMissing(module, unknown)) return;
    add(module, false);
    for (const auto& [name, from] : modules_[module].imported.all())
      for (ModuleId m : *from)
        if (const std::vector<DeclId>* found = modules_[m].decls.find(name))
          if (modules_.decl((*found)[0]).kind == DeclKind::Macro) known.push_back(modules_.names.text(name));
  }
  std::sort(known.begin(), known.end());
  Diagnostic& d = modules_.sink.report(DiagId::UnknownMacro, ast.span(path), wrong);
  std::string hint = isAttributeName(wrong)
                         ? "an attribute stands right before its declaration, behind uses of macros"
                         : evaluator_.suggest(wrong, known);
  if (use.target && ast.kind(use.target) == NodeKind::Macro &&
      modules_.names.text(ast[use.target].as<MacroItem>().name) == wrong)
    hint = "its declaration below is taken for what the use stands on: a `;` ends the use";
  if (hint.empty() && isFunction(module, ast, path))
    hint = "`" + std::string(wrong) + "` is a function: it is called without `@`";
  d.hint = hint.empty() ? "a macro is declared by `macro`, or imported by `use module.{name}`" : hint;
}

/// The parameters and the result that a macro declares; false after a report.
bool Expander::readSignature(DeclId decl, MacroFunction& out) {
  const names::Decl d = modules_.decl(decl);
  const Ast& ast = modules_.astOf(decl);
  const auto& macro = ast[d.node].as<MacroItem>();
  const size_t errors = modules_.sink.errorCount();
  for (const Parameter& p : macro.params) {
    MacroParameter q;
    q.name = p.name;
    q.isPack = p.isPack;
    q.defaultValue = p.defaultValue;
    const std::string_view type = p.type && ast.kind(p.type) == NodeKind::Name
                                      ? modules_.names.text(ast[p.type].as<Name>().name)
                                      : std::string_view();
    static constexpr std::pair<std::string_view, ConstantKind> constants[] = {{"int", ConstantKind::Int},
                                                                              {"f64", ConstantKind::F64},
                                                                              {"bool", ConstantKind::Bool},
                                                                              {"str", ConstantKind::Str}};
    bool isKnown = (q.kind = kindNamed(type)).has_value();
    for (auto [name, kind] : constants)
      if (type == name) q.constant = kind, isKnown = true;
    const bool isLast = &p == &macro.params.back();
    if (!isKnown || !p.name || p.isInout || (p.isPack && !q.kind))
      modules_.sink.report(DiagId::MacroParameter, p.span);
    else if (p.isPack && !isLast && &p + 1 != &macro.params.back())
      modules_.sink.report(DiagId::MacroParameter, p.span);
    out.parameters.push_back(q);
  }
  if (macro.result) {
    if (ast.kind(macro.result) == NodeKind::Name)
      out.result = kindNamed(modules_.names.text(ast[macro.result].as<Name>().name));
    if (!out.result) modules_.sink.report(DiagId::MacroResult, ast.span(macro.result));
  }
  return modules_.sink.errorCount() == errors;
}

const MacroFunction& Expander::macroFunction(DeclId decl) {
  auto [found, isNew] = macros_.try_emplace(decl);
  MacroFunction& out = found->second;
  if (!isNew || !readSignature(decl, out)) return out;
  const names::Decl d = modules_.decl(decl);
  Ast& ast = modules_.treeOf(decl);
  // Uses in its body first: they may make what it splices.
  NodeList body{ast[d.node].as<MacroItem>().body};
  open_.push_back({&ast, d.node});
  expandBody(d.module, ast, body[0]);
  open_.pop_back();
  ast[d.node].as<MacroItem>().body = body[0];
  QuoteWriter writer(modules_, ast, d.module, modules_.macroSide(d.module), templates_);
  const MacroItem macro = ast[d.node].as<MacroItem>();
  NodeId function = writer.functionOf(macro, out.parameters, ast.span(d.node));
  out.function = modules_.declareInside(modules_.macroSide(d.module), ast, function, d.name, d.span);
  modules_[d.module].macroFunctions.push_back(out.function);
  return out;
}

namespace {

std::optional<double> asDouble(const Datum& d) {
  if (const auto* i = std::get_if<int64_t>(&d)) return static_cast<double>(*i);
  if (const auto* f = std::get_if<double>(&d)) return *f;
  return std::nullopt;
}

std::string withoutUnderscores(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '_') out += c;
  return out;
}

std::optional<int64_t> integerOf(std::string_view written) {
  std::string text = withoutUnderscores(written);
  int base = 10;
  if (text.size() > 2 && text[0] == '0')
    base = text[1] == 'x' ? 16 : text[1] == 'b' ? 2 : text[1] == 'o' ? 8 : 10;
  const char* first = text.data() + (base == 10 ? 0 : 2);
  int64_t value = 0;
  auto [end, error] = std::from_chars(first, text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<Datum> negated(const Datum& d) {
  if (const auto* i = std::get_if<int64_t>(&d))
    return Datum(static_cast<int64_t>(0 - static_cast<uint64_t>(*i)));
  if (const auto* f = std::get_if<double>(&d)) return Datum(-*f);
  return std::nullopt;
}

/// Arithmetic of constants: none for what does not fit.
std::optional<Datum> computed(BinaryOp op, const Datum& a, const Datum& b) {
  const auto* i = std::get_if<int64_t>(&a);
  const auto* j = std::get_if<int64_t>(&b);
  if (i && j) {
    int64_t out = 0;
    switch (op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(*i, *j, &out) ? std::nullopt : std::optional<Datum>(out);
    case BinaryOp::Sub:
      return __builtin_sub_overflow(*i, *j, &out) ? std::nullopt : std::optional<Datum>(out);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(*i, *j, &out) ? std::nullopt : std::optional<Datum>(out);
    case BinaryOp::Div:
    case BinaryOp::Rem: {
      if (*j == 0 || (*i == INT64_MIN && *j == -1)) return std::nullopt;
      int64_t quotient = *i / *j, rest = *i % *j;
      if (rest != 0 && (rest < 0) != (*j < 0)) --quotient, rest += *j;
      return op == BinaryOp::Div ? quotient : rest;
    }
    default: return std::nullopt;
    }
  }
  if (const auto *s = std::get_if<std::string>(&a), *t = std::get_if<std::string>(&b); s && t)
    return op == BinaryOp::Add ? std::optional<Datum>(*s + *t) : std::nullopt;
  std::optional<double> x = asDouble(a), y = asDouble(b);
  if (!x || !y) return std::nullopt;
  switch (op) {
  case BinaryOp::Add: return *x + *y;
  case BinaryOp::Sub: return *x - *y;
  case BinaryOp::Mul: return *x * *y;
  case BinaryOp::Div: return *x / *y;
  default: return std::nullopt;
  }
}

} // namespace

/// Literals, negated ones, constants of such, and arithmetic with them.
std::optional<Datum> Expander::constant(ModuleId module, const Ast& ast, NodeId node, unsigned depth) {
  if (!node || depth > 64) return std::nullopt;
  const Node& n = ast[node];
  switch (n.kind) {
  case NodeKind::Paren: return constant(module, ast, n.as<One>().inner, depth + 1);
  case NodeKind::IntLit: {
    std::optional<int64_t> value = integerOf(n.as<Text>().text);
    return value ? std::optional<Datum>(*value) : std::nullopt;
  }
  case NodeKind::FloatLit: {
    const double value = std::strtod(withoutUnderscores(n.as<Text>().text).c_str(), nullptr);
    return std::isfinite(value) ? std::optional<Datum>(value) : std::nullopt;
  }
  case NodeKind::BoolLit: return n.as<Text>().text == "true";
  case NodeKind::String: {
    std::string text;
    for (const StringPart& part : n.as<StringLit>().parts) {
      if (part.value) return std::nullopt;
      text += part.text;
    }
    return text;
  }
  case NodeKind::Unary: {
    std::optional<Datum> inner = constant(module, ast, n.as<Unary>().operand, depth + 1);
    return inner && n.as<Unary>().op == UnaryOp::Neg ? negated(*inner) : std::nullopt;
  }
  case NodeKind::Binary: {
    std::optional<Datum> a = constant(module, ast, n.as<Binary>().left, depth + 1);
    std::optional<Datum> b = a ? constant(module, ast, n.as<Binary>().right, depth + 1) : std::nullopt;
    return b ? computed(n.as<Binary>().op, *a, *b) : std::nullopt;
  }
  case NodeKind::Name: {
    auto [from, name] = modules_.meant(module, n.as<Name>().name);
    std::vector<ModuleId> places{from};
    if (const std::vector<ModuleId>* imported = modules_[from].imported.find(name))
      places.insert(places.end(), imported->begin(), imported->end());
    for (ModuleId m : places)
      for (DeclId d : modules_[m].named(name))
        if (modules_.decl(d).kind == DeclKind::Const) {
          const Ast& tree = modules_.astOf(d);
          return constant(m, tree, tree[modules_.decl(d).node].as<ConstItem>().value, depth + 1);
        }
    return std::nullopt;
  }
  default: return std::nullopt;
  }
}

/// How well one argument fits a parameter: 3 a constant, 2 a kind of its own, 1 an expression.
std::optional<int> Expander::bindOne(ModuleId module, Ast& ast, const MacroParameter& parameter,
                                     NodeId written, MacroArgument& out, std::string& why) {
  const std::string name = "`" + std::string(modules_.names.text(parameter.name)) + "`";
  if (!parameter.kind) {
    static constexpr std::string_view wanted[] = {"an integer", "a number", "a bool", "a string"};
    std::optional<Datum> value = constant(module, ast, written);
    const size_t kind = static_cast<size_t>(parameter.constant);
    auto take = [&](auto&& v) {
      out = v;
      return std::optional(3);
    };
    if (value) {
      if (parameter.constant == ConstantKind::Int)
        if (const auto* v = std::get_if<int64_t>(&*value)) return take(*v);
      if (parameter.constant == ConstantKind::F64)
        if (std::optional<double> v = asDouble(*value)) return take(*v);
      if (parameter.constant == ConstantKind::Bool)
        if (const auto* v = std::get_if<bool>(&*value)) return take(*v);
      if (parameter.constant == ConstantKind::Str)
        if (const auto* v = std::get_if<std::string>(&*value)) return take(*v);
    }
    why =
        name + " is " + std::string(wanted[kind]) + " known at compile time: a literal, or a `const` of such";
    return std::nullopt;
  }
  Value value;
  if (ast.kind(written) == NodeKind::KindArgument) {
    const Quote& given = ast[written].as<Quote>();
    const bool isType = modules_.names.text(given.what) == "type";
    value = valueOf(ast, given.block, isType ? Role::Type : Role::Pattern);
    if (value.kind == Kind::Ident) value.kind = isType ? Kind::Type : Kind::Pattern;
  } else {
    value = valueOf(ast, written, Role::Stmt);
    if (ast.kind(written) == NodeKind::Block && *parameter.kind != Kind::Expr) value.kind = Kind::Block;
  }
  std::optional<Value> fits = converted(ast, value, *parameter.kind);
  if (!fits) {
    why = name + " is " + std::string(kindText(*parameter.kind)) + ", and this is " +
          std::string(kindText(value.kind));
    return std::nullopt;
  }
  out = table_.keep(*fits);
  return value.kind == *parameter.kind && value.kind != Kind::Expr ? 2 : 1;
}

/// Gives each parameter its argument; none, with a reason, if they do not fit.
std::optional<int> Expander::bindArguments(ModuleId module, Ast& ast, const MacroUse& use,
                                           const MacroFunction& macro, bool withTarget,
                                           std::vector<MacroArgument>& out, std::string& why) {
  const std::vector<MacroParameter>& params = macro.parameters;
  std::vector<std::vector<NodeId>> given(params.size());
  size_t next = 0;
  size_t positions = params.size();
  if (withTarget) {
    if (params.empty() || !params.back().kind) {
      why = "it takes no statement or declaration";
      return std::nullopt;
    }
    --positions;
    given.back().push_back(use.target);
  }
  for (const Argument& arg : use.args) {
    size_t at = positions;
    if (arg.label) {
      for (size_t k = 0; k < positions; ++k)
        if (modules_.names.text(params[k].name) == modules_.names.text(arg.label)) at = k;
      if (at == positions || !given[at].empty()) {
        why = "it has no parameter `" + std::string(modules_.names.text(arg.label)) + "`" +
              (at == positions ? "" : " left");
        return std::nullopt;
      }
    } else {
      while (next < positions && !given[next].empty() && !params[next].isPack) ++next;
      at = next;
    }
    if (at >= positions) {
      why = "it takes " + std::to_string(positions) + (positions == 1 ? " argument" : " arguments");
      return std::nullopt;
    }
    given[at].push_back(arg.value);
  }
  int score = 0;
  for (size_t k = 0; k < params.size(); ++k) {
    if (params[k].isPack) {
      std::vector<Handle> all;
      for (NodeId written : given[k]) {
        MacroArgument one;
        std::optional<int> fits = bindOne(module, ast, params[k], written, one, why);
        if (!fits) return std::nullopt;
        all.push_back(std::get<Handle>(one));
      }
      out.push_back(std::move(all));
      continue;
    }
    if (given[k].empty() && params[k].defaultValue) given[k].push_back(params[k].defaultValue);
    if (given[k].empty()) {
      why = "`" + std::string(modules_.names.text(params[k].name)) + "` is missing";
      return std::nullopt;
    }
    MacroArgument one;
    std::optional<int> fits = bindOne(module, ast, params[k], given[k][0], one, why);
    if (!fits) return std::nullopt;
    score += *fits;
    out.push_back(std::move(one));
  }
  return score;
}

std::optional<Expander::Chosen> Expander::choose(ModuleId module, Ast& ast, NodeId node) {
  const MacroUse use = ast[node].as<MacroUse>();
  const std::vector<DeclId> meant = macrosMeant(module, ast, use.path);
  if (meant.empty()) {
    reportUnknown(module, ast, use);
    return std::nullopt;
  }
  std::optional<Chosen> best;
  int bestScore = -1;
  bool isTie = false, isBroken = false;
  std::string why;
  // With what follows, where a macro has a parameter for it; else without.
  for (bool withTarget : {true, false}) {
    if (best || (withTarget && !use.target)) continue;
    for (DeclId decl : meant) {
      const MacroFunction& macro = macroFunction(decl);
      if (!macro.function) {
        if (!isBroken && isOpen(decl)) reportCycle(decl, ast.span(node));
        isBroken = true;
        continue;
      }
      Chosen chosen{&macro, decl, {}, withTarget};
      std::string reason;
      std::optional<int> score = bindArguments(module, ast, use, macro, withTarget, chosen.arguments, reason);
      if (!score) {
        const bool hasRoom = use.args.size() < macro.parameters.size();
        if (why.empty() || (withTarget && hasRoom)) why = reason;
        continue;
      }
      isTie = *score == bestScore;
      if (*score <= bestScore) continue;
      best = std::move(chosen);
      bestScore = *score;
    }
  }
  std::string name(modules_.sources.text(ast.span(use.path)));
  if (best && !isTie) return best;
  if (isBroken) return std::nullopt;
  Diagnostic& d = isTie ? modules_.sink.report(DiagId::MacroAmbiguous, ast.span(use.path), name)
                        : modules_.sink.report(DiagId::MacroArguments, ast.span(node), name, why);
  for (DeclId decl : meant) d.notes.push_back({modules_.decl(decl).span, "declared here"});
  return std::nullopt;
}

unsigned Expander::depthOf(Span span) const {
  unsigned depth = 0;
  for (const Expansion* e = modules_.sources.expansion(span.file); e;
       e = modules_.sources.expansion(e->use.file))
    ++depth;
  return depth;
}

std::optional<Value> Expander::run(ModuleId module, Ast& ast, NodeId node, NodeId& rest) {
  const Span path = ast.span(ast[node].as<MacroUse>().path);
  Span span = ast.span(node);
  if (NodeId target = ast[node].as<MacroUse>().target) // the use alone
    span.end = std::max(
        path.end, std::min(span.end, ast.span(target).file == span.file ? ast.span(target).begin : span.end));
  const std::string_view text = modules_.sources.text(span);
  span.end = span.begin + static_cast<uint32_t>(text.find_last_not_of(" \t\r\n") + 1);
  if (depthOf(span) + uses_.size() >= maxExpansionDepth) {
    modules_.sink.report(DiagId::MacroDepth, span, std::to_string(maxExpansionDepth));
    return std::nullopt;
  }
  const size_t values = table_.values.size();
  const size_t cells = table_.cells.size(), lists = table_.lists.size();
  std::optional<Chosen> chosen = choose(module, ast, node);
  if (!chosen) return std::nullopt;
  if (!chosen->takesTarget) rest = ast[node].as<MacroUse>().target;
  auto use = std::make_unique<Use>();
  use->node = node;
  use->module = module;
  use->home = modules_.decl(chosen->decl).module;
  use->ast = &ast;
  use->macro = modules_.names.text(modules_.decl(chosen->decl).name);
  use->span = span;
  const NodeId written = ast[node].as<MacroUse>().path;
  NodeId first = written;
  while (ast.kind(first) == NodeKind::Member) first = ast[first].as<Member>().base;
  use->written = ast[first].as<Name>().name;
  use->firstNode = ast.size();
  uses_.push_back(std::move(use));
  hasExpanded_ = true;
  Use& now = *uses_.back();
  const uint64_t left = maxModuleSteps - std::min(maxModuleSteps, spent_[&ast].steps);
  Outcome outcome =
      evaluator_.run(chosen->macro->function, chosen->arguments, std::min(maxUseSteps, left), maxUseBytes);
  spent_[&ast].steps += outcome.steps;
  std::optional<Value> result;
  if (outcome.kind != OutcomeKind::Value) {
    reportOutcome(now, outcome);
  } else {
    Value value = table_.values[static_cast<size_t>(outcome.value.number)];
    result = value;
    if (std::optional<Kind> wanted = chosen->macro->result) {
      result = converted(ast, value, *wanted);
      if (!result)
        modules_.sink.report(DiagId::MacroGives, span, now.macro, std::string(kindText(*wanted)),
                             std::string(kindText(value.kind)));
    }
    if (result && !isWithinBounds(now, result->node)) result.reset();
    if (result) {
      std::unordered_set<NodeId> placed;
      result->node = unshared(ast, result->node, placed);
    }
  }
  uses_.pop_back();
  table_.values.resize(values);
  table_.lastMatch = {};
  if (uses_.empty()) {
    table_.cells.resize(cells), table_.lists.resize(lists);
    table_.heights.clear();
  }
  return result;
}

/// Counts before anything is copied.
bool Expander::isWithinBounds(const Use& use, NodeId result) {
  const uint64_t left = maxModuleNodes - std::min(maxModuleNodes, spent_[use.ast].nodes);
  const uint64_t size = sizeOf(*use.ast, result, left + 1);
  spent_[use.ast].nodes += size;
  if (size <= left) return true;
  modules_.sink.report(DiagId::MacroSize, use.span, use.macro, std::to_string(maxModuleNodes) + " nodes")
      .hint = "what stands in a quote twice is there twice: a `let` in the quote computes it once";
  return false;
}

/// A tree in which each node stands once: what stands again is copied.
NodeId Expander::unshared(Ast& ast, NodeId node, std::unordered_set<NodeId>& placed) {
  if (!placed.insert(node).second) {
    Copier copier(ast, ast, modules_.names);
    copier.splices = false;
    return copier.copy(node, Role::Any);
  }
  struct Children : PartVisitor<Children> {
    Children(Expander& expander, Ast& tree, std::unordered_set<NodeId>& seen)
        : x(expander), ast(tree), placed(seen) {}
    Expander& x;
    Ast& ast;
    std::unordered_set<NodeId>& placed;
    void node(NodeId& id, Role) {
      if (id) id = x.unshared(ast, id, placed);
    }
  } children(*this, ast, placed);
  visitParts(children, ast.kind(node), Role::Any, ast[node].payload);
  return node;
}

void Expander::reportOutcome(const Use& use, const Outcome& outcome) {
  DiagnosticSink& sink = modules_.sink;
  if (use.failure) {
    const Span place = use.failure->place.valid() ? use.failure->place : use.span;
    // Many uses that fail alike have one cause, mostly the macro.
    constexpr ptrdiff_t shown = 3;
    const ptrdiff_t alike = std::ranges::count_if(sink.all(), [&](const Diagnostic& told) {
      return told.id == DiagId::MacroFailed && told.args[0] == use.failure->message;
    });
    if (alike >= shown) return;
    Diagnostic& d = sink.report(DiagId::MacroFailed, place, use.failure->message);
    const Expansion* of = modules_.sources.expansion(place.file);
    const bool showsUse = (of && of->use == use.span) || place == use.span;
    if (!showsUse) d.notes.push_back({use.span, "in the use of `@" + use.macro + "` here"});
    if (alike + 1 == shown)
      d.notes.push_back({Span(), "further uses that fail in the same way are not reported"});
    return;
  }
  switch (outcome.kind) {
  case OutcomeKind::Value: return;
  case OutcomeKind::Reported:
    if (sink.errorCount() > 0 && !sink.all().empty())
      sink.annotateLast(use.span, "`@" + use.macro + "` is used here");
    return;
  case OutcomeKind::Panic: {
    Diagnostic& d = sink.report(DiagId::MacroPanic, use.span, use.macro, outcome.problem);
    if (outcome.place.valid()) d.notes.push_back({outcome.place, "the panic"});
    return;
  }
  case OutcomeKind::Steps: sink.report(DiagId::MacroSteps, use.span, use.macro); return;
  case OutcomeKind::Memory: sink.report(DiagId::MacroSize, use.span, use.macro, "256 MiB"); return;
  }
}

uint32_t Expander::markFor(Use& use, ModuleId home) {
  auto [found, isNew] = use.marks.try_emplace(home, 0);
  if (isNew) found->second = modules_.newMark(home);
  return found->second;
}

FileId Expander::fileFor(Use& use, FileId file) {
  if (!file.valid()) return file;
  auto [found, isNew] = use.files.try_emplace(modules_.sources.written(file), FileId());
  if (isNew) found->second = modules_.sources.addExpansion({file, use.span, use.macro});
  return found->second;
}

} // namespace melix::expand
