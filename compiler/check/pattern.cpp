// Patterns (rule 34).
#include "check/body.h"

#include <algorithm>
#include <optional>

namespace melix::check {

using namespace syntax;

LocalId Body::declareLocal(NameId name, TypeId type, Span span, bool isVar) {
  LocalId l = b.newLocal(types.names.text(name), type, span, isVar);
  scope.push_back({name, l});
  declared.push_back(l);
  noteOpen(l);
  return l;
}

void Body::noteOpen(LocalId local) {
  for (TypeId open : infer.openVars({instance.locals[local].type}))
    if (infer.varClass(open) == types::VarClass::Any)
      return openLocals.push_back({local, static_cast<uint32_t>(types.dims.symCount())});
}

PatternId Body::bindPattern(LocalId local, TypeId type, Span span) {
  Pattern p;
  p.kind = PatternKind::Bind;
  p.type = type;
  p.local = local;
  p.span = span;
  return instance.patterns.add(std::move(p));
}

PatternId Body::anyPattern(TypeId type, Span span) {
  Pattern p;
  p.type = type;
  p.span = span;
  return instance.patterns.add(std::move(p));
}

/// The pattern of one case of an enum that names its fields, which are added to `fields`.
PatternId Body::casePattern(TypeId type, uint32_t k, std::vector<NodeId>& fields, Span span) {
  Pattern p;
  p.kind = PatternKind::Case;
  p.type = type;
  p.caseIndex = k;
  p.span = span;
  const size_t count = types.recordInfo(types[type].record).cases[k].fields.size();
  for (uint32_t f = 0; f < count; ++f) {
    const TypeId field = types.fieldType(type, k, f);
    const LocalId v = b.newLocal("v", field, span);
    p.subs.push_back(bindPattern(v, field, span));
    fields.push_back(b.local(v, span));
  }
  return instance.patterns.add(std::move(p));
}

/// The type with its hidden sizes given names (rule 24).
TypeId Body::openPattern(Pattern& p, TypeId type) {
  if (types.kind(type) != TypeKind::Pack) return type;
  std::vector<DimId> dims;
  for (uint32_t k = 0; k < types[type].number; ++k) {
    p.unpacked.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, p.span}));
    dims.push_back(types.dims.symbol(p.unpacked.back()));
  }
  return types.openPack(type, dims);
}

bool Body::isPreludeEnum(TypeId t, std::string_view name) {
  t = infer.shallow(t);
  if (types.kind(t) != TypeKind::Enum) return false;
  const types::Record& r = types.recordInfo(types[t].record);
  return !r.tangentOf && types.names.text(r.name) == name;
}

/// Finds the case a path means in the enum `type`.
bool Body::caseOf(SynId path, TypeId type, uint32_t& caseIndex) {
  NameId name = ast.kind(path) == SynKind::Member ? ast[path].as<Member>().name : ast[path].as<Name>().name;
  const types::Record& r = types.recordInfo(types[type].record);
  if (types.kind(type) == TypeKind::Struct) {
    caseIndex = 0;
    return r.name == name;
  }
  for (uint32_t k = 0; k < r.cases.size(); ++k)
    if (r.cases[k].name == name) {
      caseIndex = k;
      return true;
    }
  return false;
}

/// Binds the names of a pattern that does not fit, so that nothing is told of them too.
void Body::bindUnknown(SynId pattern, bool isVar) {
  const SynNode n = ast[pattern];
  switch (n.kind) {
  case SynKind::Name:
    if (LocalId l = bindName(n.as<Name>().name, types.error(), n.span, isVar)) used.insert(l);
    return;
  case SynKind::CasePattern:
    for (const PatternField& f : n.as<CasePattern>().fields)
      if (f.pattern) bindUnknown(f.pattern, isVar);
    return;
  case SynKind::RefPattern: return bindUnknown(n.as<One>().inner, true);
  case SynKind::Paren:
  case SynKind::Tuple: forEachChild(ast, pattern, [&](SynId part) { bindUnknown(part, isVar); }); return;
  case SynKind::OrPattern: return bindUnknown(n.as<Many>().items[0], isVar);
  default: return;
  }
}

PatternId Body::checkPattern(SynId node, TypeId type, bool isVar, bool& refutable) {
  const SynNode n = ast[node];
  if (n.kind == SynKind::Paren) return checkPattern(n.as<One>().inner, type, isVar, refutable);
  type = infer.zonk(type);
  Pattern p;
  p.span = n.span;
  auto wrong = [&] {
    bindUnknown(node, isVar);
    p.type = types.error();
    return instance.patterns.add(std::move(p));
  };
  auto mismatch = [&] {
    if (types.kind(type) != TypeKind::Error) sink.report(DiagId::PatternType, n.span, b.show(type));
    return wrong();
  };
  bool place = bindsPlaces && n.kind == SynKind::Name; // its sizes may change
  type = p.type = place ? type : openPattern(p, type);
  switch (n.kind) {
  case SynKind::Underscore: return instance.patterns.add(std::move(p));
  case SynKind::Name: {
    p.kind = place ? PatternKind::BindPlace : PatternKind::Bind;
    p.local = bindName(n.as<Name>().name, type, n.span, isVar || place);
    if (!p.local) return mismatch();
    return instance.patterns.add(std::move(p));
  }
  case SynKind::Tuple: {
    const NodeList items = n.as<Many>().items;
    if (types.kind(type) != TypeKind::Tuple || types[type].parts.size() != items.size()) return mismatch();
    p.kind = PatternKind::Parts;
    const std::vector<TypeId> parts = types[type].parts;
    for (size_t k = 0; k < items.size(); ++k)
      p.subs.push_back(checkPattern(items[k], parts[k], isVar, refutable));
    return instance.patterns.add(std::move(p));
  }
  case SynKind::CasePattern: {
    const auto pattern = n.as<CasePattern>();
    bool hasCases = types.kind(type) == TypeKind::Enum || types.kind(type) == TypeKind::Struct;
    if (!hasCases && !pattern.hasFields &&
        ast.kind(pattern.path) == SynKind::Name) { // meant as a name to bind
      NameId name = ast[pattern.path].as<Name>().name;
      used.insert(declareLocal(name, types.error(), n.span, isVar));
      sink.report(DiagId::CapitalName, n.span, types.names.text(name));
      p.type = types.error();
      return instance.patterns.add(std::move(p));
    }
    if (!hasCases) return mismatch();
    if (!caseOf(pattern.path, type, p.caseIndex)) {
      std::string_view written = c.modules.sources.text(ast.span(pattern.path));
      std::vector<std::string_view> known;
      for (const types::EnumCase& each : types.recordInfo(types[type].record).cases)
        known.push_back(types.names.text(each.name));
      sink.report(DiagId::UnknownCase, ast.span(pattern.path), b.show(type), written).hint =
          c.suggest(written, known);
      return wrong();
    }
    bool isEnum = types.kind(type) == TypeKind::Enum;
    p.kind = isEnum ? PatternKind::Case : PatternKind::Parts;
    refutable |= isEnum && types.recordInfo(types[type].record).cases.size() > 1;
    const size_t errors = sink.errorCount();
    std::vector<SynId> subs = caseFields(pattern, type, p.caseIndex, n.span);
    if (subs.empty() && sink.errorCount() > errors) return wrong();
    for (uint32_t k = 0; k < subs.size(); ++k) {
      TypeId field = types.fieldType(type, p.caseIndex, k);
      if (subs[k]) {
        p.subs.push_back(checkPattern(subs[k], field, isVar, refutable));
        continue;
      }
      p.subs.push_back(anyPattern(field, n.span));
    }
    return instance.patterns.add(std::move(p));
  }
  case SynKind::OrPattern: return orPattern(std::move(p), n.as<Many>().items, isVar, refutable);
  case SynKind::IntLit:
  case SynKind::FloatLit:
  case SynKind::CharLit:
  case SynKind::BoolLit:
  case SynKind::String:
  case SynKind::Unary: {
    refutable = true;
    p.kind = PatternKind::Literal;
    NodeId value = coerce(checkExpr(node), type, n.span, DiagId::PatternType);
    if (b.kindOf(value) == TypeKind::Error) return mismatch();
    const Node& literal = instance.nodes[value];
    if (literal.kind != NodeKind::Const && literal.kind != NodeKind::Op) { // text with values in it
      PatternId made = mismatch();
      sink.hintLast("a pattern holds no values: `text if text == …` compares with one");
      return made;
    }
    literalPatterns.push_back({PatternId(static_cast<uint32_t>(instance.patterns.size())), value});
    return instance.patterns.add(std::move(p));
  }
  case SynKind::Error: p.type = types.error(); return instance.patterns.add(std::move(p));
  case SynKind::RefPattern:
    sink.report(DiagId::NoConstruct, n.span).hint =
        "`for &x in xs` and `match &x` change parts where they are; beside an index, `xs[i]` does";
    return wrong();
  default: sink.report(DiagId::NoConstruct, n.span); return wrong();
  }
}

/// The pattern written for each field of a case, by position or name; none for those that `..` stands for. No
/// list after a message about a field that the case has not.
std::vector<SynId> Body::caseFields(const CasePattern& pattern, TypeId type, uint32_t caseIndex, Span span) {
  const std::vector<types::Field> fields = types.recordInfo(types[type].record).cases[caseIndex].fields;
  std::vector<SynId> subs(fields.size());
  bool rest = false;
  size_t position = 0;
  const NameId caseName = types.recordInfo(types[type].record).cases[caseIndex].name;
  const bool isEnum = types.kind(type) == TypeKind::Enum;
  const std::string shown = isEnum ? std::string(types.names.text(caseName)) : b.show(type);
  auto wrongField = [&](const PatternField& f, size_t at) {
    if (at < fields.size()) { // it has one already
      std::string part =
          fields[at].name ? std::string(types.names.text(fields[at].name)) : "part " + std::to_string(at + 1);
      sink.report(DiagId::RepeatedName, f.span, part, "this pattern");
    } else if (f.label) {
      std::vector<std::string_view> known;
      for (const types::Field& field : fields) known.push_back(types.names.text(field.name));
      sink.report(DiagId::UnknownField, f.span, shown, types.names.text(f.label)).hint =
          c.suggest(types.names.text(f.label), known);
    } else {
      sink.report(DiagId::PatternType, f.span, b.show(type)).hint =
          "`" + shown + "` has " + std::to_string(fields.size()) +
          (fields.size() == 1 ? " field" : " fields");
    }
  };
  for (const PatternField& f : pattern.fields) {
    if (!f.pattern) {
      rest = true;
      continue;
    }
    size_t at = position++;
    if (f.label)
      for (at = 0; at < fields.size() && fields[at].name != f.label;) ++at;
    if (at >= fields.size() || subs[at]) {
      wrongField(f, at);
      return {};
    }
    // Binding one field under the name of another is an error.
    if (ast.kind(f.pattern) == SynKind::Name)
      for (size_t k = 0; k < fields.size(); ++k)
        if (k != at && fields[k].name && fields[k].name == ast[f.pattern].as<Name>().name)
          sink.report(DiagId::PatternField, f.span, types.names.text(fields[k].name),
                      fields[at].name ? "field `" + std::string(types.names.text(fields[at].name)) + "`"
                                      : "part " + std::to_string(at + 1));
    subs[at] = f.pattern;
  }
  for (SynId sub : subs)
    if (!sub && !rest) {
      sink.report(DiagId::PatternType, span, b.show(type)).hint = "it has " + std::to_string(fields.size()) +
                                                                  (fields.size() == 1 ? " part" : " parts") +
                                                                  "; `..` stands for those that are left out";
      break;
    }
  return subs;
}

/// The local that a name of a pattern binds: a new one, or that of the first alternative. None if the
/// alternatives differ.
LocalId Body::bindName(NameId name, TypeId type, Span span, bool isVar) {
  if (!alternative) return declareLocal(name, type, span, isVar);
  auto first = std::find_if(alternative->names.begin(), alternative->names.end(),
                            [&](const ScopeEntry& e) { return e.name == name; });
  if (first == alternative->names.end()) {
    sink.report(DiagId::AlternativeNames, span, types.names.text(name));
    return declareLocal(name, types.error(), span, isVar);
  }
  alternative->bound.insert(name);
  UnifyKind match = infer.unify(instance.locals[first->local].type, type).kind;
  return match == UnifyKind::Equal || match == UnifyKind::NeedsCheck ? first->local : LocalId::none();
}

/// `a | b`: every alternative binds the same names at the same types; sizes are those of the one that
/// matches.
PatternId Body::orPattern(Pattern p, const NodeList& alternatives, bool isVar, bool& refutable) {
  p.kind = PatternKind::Or;
  size_t mark = scope.size();
  Alternative names{{}, {}, alternative};
  const std::set<NameId> before = alternative ? alternative->bound : std::set<NameId>();
  for (size_t k = 0; k < alternatives.size(); ++k) {
    names.bound.clear();
    const size_t messages = sink.all().size();
    if (k > 0) alternative = &names;
    p.subs.push_back(checkPattern(alternatives[k], p.type, isVar, refutable));
    alternative = names.outer;
    if (k == 0) names.names.assign(scope.begin() + static_cast<ptrdiff_t>(mark), scope.end());
    if (k == 0 && alternative)
      for (const ScopeEntry& e : alternative->names)
        if (alternative->bound.contains(e.name) && !before.contains(e.name)) names.names.push_back(e);
    for (const ScopeEntry& e : names.names)
      if (k > 0 && !names.bound.contains(e.name) && sink.all().size() == messages) {
        sink.report(DiagId::AlternativeNames, ast.span(alternatives[k]), types.names.text(e.name));
        p.type = types.error();
      }
  }
  return instance.patterns.add(std::move(p));
}

NodeId Body::checkMatch(const syntax::Match& node, Span span, TypeId expected) {
  if (ast.kind(node.scrutinee) == SynKind::Ref) return matchPlace(node, span, expected);
  NodeId value = checkExpr(node.scrutinee);
  return b.kindOf(value) == TypeKind::Error ? value : matchArms(node, value, {}, span, expected);
}

/// The arms of a match on `value`, which is read from `places`, if there is one.
NodeId Body::matchArms(const syntax::Match& node, NodeId value, std::vector<Place> places, Span span,
                       TypeId expected) {
  TypeId type = b.typeOf(value);
  Arms arms;
  arms.places = std::move(places);
  NodeId first; ///< body that has a value
  TypeId common = expected;
  std::vector<DimSym> fresh;
  bool failed = false;
  for (const MatchArm& written : node.arms) {
    size_t mark = scope.size();
    Arm arm;
    bool refutable = false;
    bindsPlaces = !arms.places.empty();
    arm.pattern = checkPattern(written.pattern, type, false, refutable);
    bindsPlaces = false;
    if (!arms.places.empty()) {
      holds.push_back({arms.places[0], false, {}, false, {}});
      for (size_t k = mark; k < scope.size(); ++k) holds.back().names.push_back(scope[k].local);
    }
    ++conditions;
    if (written.guard) arm.guard = checkBoolean(written.guard, "a guard");
    arm.body = checkStatement(written.body, true, expected ? expected : hintOf(common));
    --conditions;
    scope.resize(mark);
    if (!arms.places.empty()) failed |= !endHold();
    if (NodeId met = first; first.valid() && !expected && meetAsFunctions(met, arm.body)) {
      common = b.typeOf(met);
      for (Arm& earlier : arms.arms)
        if (b.kindOf(earlier.body) == TypeKind::Known)
          earlier.body = earlier.body == first ? met : coerce(earlier.body, common, b.spanOf(earlier.body));
      first = met;
    }
    TypeId mine = b.typeOf(arm.body);
    failed |= (types.kind(mine) == TypeKind::Error && !unsure) ||
              types.kind(instance.patterns[arm.pattern].type) == TypeKind::Error;
    if (types.kind(mine) != TypeKind::Never && types.kind(mine) != TypeKind::Error) {
      UnifyResult match = !common || expected ? UnifyResult{} : infer.unify(common, mine);
      if (!common) {
        common = mine;
        first = arm.body;
      } else if (match.kind == UnifyKind::DimsDiffer) {
        b.reportBranches(match, first, arm.body, b.spanOf(arm.body));
        failed = true;
      } else if (match.kind == UnifyKind::NeedsCheck)
        common = joinedSizes(common, mine, span, fresh);
      else if (types.isUnit(infer.shallow(common)) && !types.isUnit(mine) &&
               isUsedUp(arm.body, SynId::none()))
        arm.body = b.block({arm.body, b.unit(span)}, span);
      else
        arm.body = coerce(arm.body, common, b.spanOf(arm.body), DiagId::BranchTypes);
    }
    arms.arms.push_back(arm);
  }
  if (failed) return b.error(span);
  checkExhaustive(arms.arms, type, span);
  NodeId made =
      b.make(NodeKind::Match, common ? infer.zonk(common) : types.never(), span, {value}, std::move(arms));
  instance.nodes[made].resultDims = std::move(fresh);
  return made;
}

namespace {

/// Which values of a type a set of patterns leaves over, by the usual recursion on the first column.
struct Coverage {
  Instance& instance;
  TypeStore& types;
  using Row = std::vector<PatternId>;

  const Pattern* at(PatternId p) const { return p.valid() ? &instance.patterns[p] : nullptr; }
  static bool isAny(const Pattern* p) {
    return !p || p->kind == PatternKind::Wildcard || p->kind == PatternKind::Bind ||
           p->kind == PatternKind::BindPlace;
  }

  /// The rows with one for each alternative of their first patterns.
  std::vector<Row> alternatives(const std::vector<Row>& rows) {
    std::vector<Row> out;
    std::function<void(const Row&)> add = [&](const Row& row) {
      const Pattern* p = at(row[0]);
      if (!p || p->kind != PatternKind::Or) return out.push_back(row);
      Row one = row;
      for (PatternId sub : p->subs) {
        one[0] = sub;
        add(one);
      }
    };
    for (const Row& row : rows) add(row);
    return out;
  }

  /// How a value that is taken apart is written around its parts.
  struct Around {
    std::string open, close;
    bool isShort = false; ///< `_` says as much where its parts may be anything
  };
  using Witness = std::optional<std::vector<std::string>>;

  /// Nothing: everything is covered; else an example of what is not, a text for each column.
  Witness missing(std::vector<Row> rows, std::vector<TypeId> columns) {
    if (columns.empty()) return rows.empty() ? Witness(std::in_place) : std::nullopt;
    rows = alternatives(rows);
    TypeId type = columns[0];
    if (types.kind(type) == TypeKind::Pack)
      for (const Row& row : rows)
        if (const Pattern* p = at(row[0])) type = p->type;
    std::vector<TypeId> rest(columns.begin() + 1, columns.end());
    TypeKind kind = types.kind(type);
    auto none = [](const Pattern*) { return false; };
    // A column that no pattern looks into is not taken apart: types may be recursive.
    if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return isAny(at(row[0])); }))
      return expand(rows, {}, rest, none, {"_", "", false});
    if (kind == TypeKind::Tuple || kind == TypeKind::Struct) {
      std::vector<TypeId> parts = kind == TypeKind::Tuple ? types[type].parts : fieldsOf(type, 0);
      std::string name(kind == TypeKind::Tuple ? "" : nameOf(type));
      return expand(rows, parts, rest, [](const Pattern* p) { return p->kind == PatternKind::Parts; },
                    {name + "(", ")", true});
    }
    if (kind == TypeKind::Enum) {
      const std::vector<types::EnumCase> cases = types.recordInfo(types[type].record).cases;
      for (uint32_t k = 0; k < cases.size(); ++k) {
        std::string name(types.names.text(cases[k].name));
        bool bare = cases[k].fields.empty();
        Witness found =
            expand(rows, fieldsOf(type, k), rest,
                   [k](const Pattern* p) { return p->kind == PatternKind::Case && p->caseIndex == k; },
                   {bare ? name : name + "(", bare ? "" : ")", false});
        if (found) return found;
      }
      return std::nullopt;
    }
    if (kind == TypeKind::Bool) {
      for (uint64_t value : {0u, 1u}) {
        Witness found = expand(
            rows, {}, rest,
            [value](const Pattern* p) { return p->kind == PatternKind::Literal && p->value.bits == value; },
            {value ? "true" : "false", "", false});
        if (found) return found;
      }
      return std::nullopt;
    }
    return expand(rows, {}, rest, none, {"_", "", false});
  }

  std::string_view nameOf(TypeId record) const {
    return types.names.text(types.recordInfo(types[record].record).name);
  }

  std::vector<TypeId> fieldsOf(TypeId type, uint32_t c) {
    std::vector<TypeId> out;
    for (uint32_t k = 0; k < types.recordInfo(types[type].record).cases[c].fields.size(); ++k)
      out.push_back(types.fieldType(type, c, k));
    return out;
  }

  template <class Matches>
  Witness expand(const std::vector<Row>& rows, std::vector<TypeId> parts, const std::vector<TypeId>& rest,
                 Matches matches, const Around& around) {
    std::vector<Row> next;
    for (const Row& row : rows) {
      const Pattern* p = at(row[0]);
      if (!isAny(p) && !matches(p)) continue;
      Row made = isAny(p) ? Row(parts.size()) : Row(p->subs.begin(), p->subs.end());
      made.resize(parts.size());
      made.insert(made.end(), row.begin() + 1, row.end());
      next.push_back(std::move(made));
    }
    const auto count = static_cast<ptrdiff_t>(parts.size());
    parts.insert(parts.end(), rest.begin(), rest.end());
    Witness found = missing(std::move(next), std::move(parts));
    if (!found) return found;
    std::string inside;
    bool anything = true;
    for (auto part = found->begin(); part != found->begin() + count; ++part) {
      anything &= *part == "_";
      inside += (inside.empty() ? "" : ", ") + *part;
    }
    found->erase(found->begin(), found->begin() + count);
    found->insert(found->begin(), anything && around.isShort ? "_" : around.open + inside + around.close);
    return found;
  }
};

} // namespace

void Body::checkExhaustive(const std::vector<Arm>& arms, TypeId type, Span span) {
  // Literal patterns know their value once numbers are settled; bools are known now.
  for (auto [pattern, value] : literalPatterns)
    if (b.kindOf(value) == TypeKind::Bool)
      instance.patterns[pattern].value.bits = instance.nodes[value].as<Const>().bits;
  std::vector<Coverage::Row> rows;
  for (const Arm& arm : arms)
    if (!arm.guard.valid()) rows.push_back({arm.pattern});
  if (auto left = Coverage{instance, types}.missing(std::move(rows), {infer.zonk(type)}))
    sink.report(DiagId::NotExhaustive, span, "`" + left->front() + "`");
}

} // namespace melix::check
