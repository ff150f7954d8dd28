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

/// Binds the names of a pattern that does not fit, or of what never comes, so that nothing is told of them
/// too.
void Body::bindAll(SynId pattern, TypeId type, bool isVar) {
  const SynNode n = ast[pattern];
  switch (n.kind) {
  case SynKind::Name:
    if (LocalId l = bindName(n.as<Name>().name, type, n.span, isVar)) used.insert(l);
    return;
  case SynKind::CasePattern:
    for (const PatternField& f : n.as<CasePattern>().fields)
      if (f.pattern) bindAll(f.pattern, type, isVar);
    return;
  case SynKind::RefPattern: return bindAll(n.as<One>().inner, type, true);
  case SynKind::Paren:
  case SynKind::Tuple: forEachChild(ast, pattern, [&](SynId part) { bindAll(part, type, isVar); }); return;
  case SynKind::OrPattern: return bindAll(n.as<Many>().items[0], type, isVar);
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
    bindAll(node, types.error(), isVar);
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
      for (const types::Field& field : fields)
        if (field.name) known.push_back(types.names.text(field.name));
      sink.report(DiagId::UnknownField, f.span, shown, types.names.text(f.label)).hint =
          known.empty() && !fields.empty()
              ? "the fields of `" + shown + "` have no names: their places tell them"
              : c.suggest(types.names.text(f.label), known);
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

} // namespace melix::check
