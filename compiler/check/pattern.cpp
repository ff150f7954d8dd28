// Patterns (rule 34).
#include "check/body.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

LocalId Body::declareLocal(NameId name, TypeId type, Span span, bool isVar) {
  LocalId l = b.newLocal(types.names.text(name), type, span, isVar);
  scope.push_back({name, l});
  declared.push_back(l);
  return l;
}

PatternId Body::bindPattern(LocalId local, TypeId type, Span span) {
  Pattern p;
  p.kind = PatternKind::Bind;
  p.type = type;
  p.local = local;
  p.span = span;
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

PatternId Body::checkPattern(SynId node, TypeId type, bool isVar, bool& refutable) {
  const SynNode n = ast[node];
  type = infer.zonk(type);
  Pattern p;
  p.span = n.span;
  auto mismatch = [&] {
    if (types.kind(type) != TypeKind::Error) sink.report(DiagId::PatternType, n.span, b.show(type));
    p.type = types.error();
    return instance.patterns.add(std::move(p));
  };
  p.type = openPattern(p, type);
  type = p.type;
  switch (n.kind) {
  case SynKind::Underscore: return instance.patterns.add(std::move(p));
  case SynKind::Paren: return checkPattern(n.as<One>().inner, type, isVar, refutable);
  case SynKind::Name: {
    p.kind = PatternKind::Bind;
    p.local = declareLocal(n.as<Name>().name, type, n.span, isVar);
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
    if (types.kind(type) != TypeKind::Enum && types.kind(type) != TypeKind::Struct) return mismatch();
    if (!caseOf(pattern.path, type, p.caseIndex)) {
      sink.report(DiagId::UnknownCase, ast.span(pattern.path), b.show(type),
                  c.modules.sources.text(ast.span(pattern.path)));
      p.type = types.error();
      return instance.patterns.add(std::move(p));
    }
    bool isEnum = types.kind(type) == TypeKind::Enum;
    p.kind = isEnum ? PatternKind::Case : PatternKind::Parts;
    refutable |= isEnum && types.recordInfo(types[type].record).cases.size() > 1;
    const std::vector<types::Field> fields = types.recordInfo(types[type].record).cases[p.caseIndex].fields;
    std::vector<SynId> subs(fields.size());
    std::vector<bool> given(fields.size(), false);
    bool rest = false;
    size_t position = 0;
    for (const PatternField& f : pattern.fields) {
      if (!f.pattern) {
        rest = true;
        continue;
      }
      size_t at = position++;
      if (f.label) {
        at = fields.size();
        for (size_t k = 0; k < fields.size(); ++k)
          if (fields[k].name == f.label) at = k;
      }
      if (at >= fields.size() || given[at]) {
        sink.report(DiagId::PatternType, f.span, b.show(type));
        continue;
      }
      // Binding one field under the name of another is an error.
      if (!f.label && ast.kind(f.pattern) == SynKind::Name)
        for (size_t k = 0; k < fields.size(); ++k)
          if (k != at && fields[k].name && fields[k].name == ast[f.pattern].as<Name>().name)
            sink.report(DiagId::PatternType, f.span,
                        "field " + std::string(types.names.text(fields[at].name)));
      given[at] = true;
      subs[at] = f.pattern;
    }
    for (uint32_t k = 0; k < fields.size(); ++k) {
      TypeId field = types.fieldType(type, p.caseIndex, k);
      if (given[k]) {
        p.subs.push_back(checkPattern(subs[k], field, isVar, refutable));
        continue;
      }
      if (!rest)
        sink.report(DiagId::PatternType, n.span,
                    b.show(type) + ", which has " + std::to_string(fields.size()) +
                        " parts (`..` stands for the rest)");
      Pattern any;
      any.type = field;
      any.span = n.span;
      p.subs.push_back(instance.patterns.add(std::move(any)));
    }
    return instance.patterns.add(std::move(p));
  }
  case SynKind::OrPattern: {
    p.kind = PatternKind::Or;
    size_t mark = scope.size();
    for (SynId alternative : NodeList(n.as<Many>().items))
      p.subs.push_back(checkPattern(alternative, type, isVar, refutable));
    if (scope.size() != mark) {
      sink.report(DiagId::Unsupported, n.span, "a name bound in an alternative");
      scope.resize(mark);
    }
    return instance.patterns.add(std::move(p));
  }
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
    literalPatterns.push_back({PatternId(static_cast<uint32_t>(instance.patterns.size())), value});
    return instance.patterns.add(std::move(p));
  }
  case SynKind::Error: p.type = types.error(); return instance.patterns.add(std::move(p));
  default:
    sink.report(DiagId::Unsupported, n.span, "this pattern");
    p.type = types.error();
    return instance.patterns.add(std::move(p));
  }
}

NodeId Body::checkMatch(const syntax::Match& node, Span span, TypeId expected) {
  if (ast.kind(node.scrutinee) == SynKind::Ref) {
    sink.report(DiagId::Unsupported, span, "`match &place`");
    return b.error(span);
  }
  NodeId value = checkExpr(node.scrutinee);
  TypeId type = b.typeOf(value);
  if (types.kind(type) == TypeKind::Error) return value;
  Arms arms;
  NodeId result;
  TypeId common = expected;
  bool failed = false;
  for (const MatchArm& written : node.arms) {
    size_t mark = scope.size();
    Arm arm;
    bool refutable = false;
    arm.pattern = checkPattern(written.pattern, type, false, refutable);
    if (written.guard) arm.guard = checkBoolean(written.guard, "a guard");
    arm.body = checkStatement(written.body, true, common);
    scope.resize(mark);
    TypeId mine = b.typeOf(arm.body);
    failed |= types.kind(mine) == TypeKind::Error ||
              types.kind(instance.patterns[arm.pattern].type) == TypeKind::Error;
    if (types.kind(mine) != TypeKind::Never && types.kind(mine) != TypeKind::Error) {
      if (!common)
        common = mine;
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
  return b.make(NodeKind::Match, common ? infer.zonk(common) : types.never(), span, {value}, std::move(arms));
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

  /// Empty: everything is covered; else an example of what is not.
  std::string missing(std::vector<Row> rows, std::vector<TypeId> columns) {
    if (columns.empty()) return rows.empty() ? "()" : "";
    // Or-patterns become rows of their own.
    for (size_t k = 0; k < rows.size(); ++k)
      if (const Pattern* p = at(rows[k][0]); p && p->kind == PatternKind::Or) {
        Row row = rows[k];
        std::vector<PatternId> subs = p->subs;
        rows.erase(rows.begin() + static_cast<ptrdiff_t>(k));
        for (PatternId sub : subs) {
          row[0] = sub;
          rows.insert(rows.begin() + static_cast<ptrdiff_t>(k), row);
        }
        --k;
      }
    TypeId type = columns[0];
    if (types.kind(type) == TypeKind::Pack)
      for (const Row& row : rows)
        if (const Pattern* p = at(row[0])) type = p->type;
    std::vector<TypeId> rest(columns.begin() + 1, columns.end());
    TypeKind kind = types.kind(type);
    // A column that no pattern looks into is not taken apart: types may be recursive.
    if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return isAny(at(row[0])); }))
      return expand(rows, {}, rest, [](const Pattern*) { return false; }, "_");
    if (kind == TypeKind::Tuple || kind == TypeKind::Struct) {
      std::vector<TypeId> parts = kind == TypeKind::Tuple ? types[type].parts : fieldsOf(type, 0);
      return expand(
          rows, parts, rest, [](const Pattern* p) { return p->kind == PatternKind::Parts; },
          kind == TypeKind::Tuple ? "(…)" : "");
    }
    if (kind == TypeKind::Enum) {
      const std::vector<types::EnumCase> cases = types.recordInfo(types[type].record).cases;
      for (uint32_t k = 0; k < cases.size(); ++k) {
        std::string found = expand(
            rows, fieldsOf(type, k), rest,
            [k](const Pattern* p) { return p->kind == PatternKind::Case && p->caseIndex == k; },
            std::string(types.names.text(cases[k].name)));
        if (!found.empty()) return found;
      }
      return "";
    }
    if (kind == TypeKind::Bool) {
      for (uint64_t value : {0u, 1u}) {
        std::string found = expand(
            rows, {}, rest,
            [value](const Pattern* p) { return p->kind == PatternKind::Literal && p->value.bits == value; },
            value ? "true" : "false");
        if (!found.empty()) return found;
      }
      return "";
    }
    return expand(rows, {}, rest, [](const Pattern*) { return false; }, "_");
  }

  std::vector<TypeId> fieldsOf(TypeId type, uint32_t c) {
    std::vector<TypeId> out;
    for (uint32_t k = 0; k < types.recordInfo(types[type].record).cases[c].fields.size(); ++k)
      out.push_back(types.fieldType(type, c, k));
    return out;
  }

  template <class Matches>
  std::string expand(const std::vector<Row>& rows, std::vector<TypeId> parts, const std::vector<TypeId>& rest,
                     Matches matches, std::string shown) {
    std::vector<Row> next;
    for (const Row& row : rows) {
      const Pattern* p = at(row[0]);
      if (!isAny(p) && !matches(p)) continue;
      Row made = isAny(p) ? Row(parts.size()) : Row(p->subs.begin(), p->subs.end());
      made.resize(parts.size());
      made.insert(made.end(), row.begin() + 1, row.end());
      next.push_back(std::move(made));
    }
    parts.insert(parts.end(), rest.begin(), rest.end());
    return missing(std::move(next), std::move(parts)).empty() ? "" : shown.empty() ? "_" : shown;
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
  std::string left = Coverage{instance, types}.missing(std::move(rows), {infer.zonk(type)});
  if (!left.empty()) sink.report(DiagId::NotExhaustive, span, "`" + left + "`");
}

} // namespace melix::check
