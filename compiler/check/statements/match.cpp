// `match`: its arms, where they meet, and whether they cover every value (rule 34).
#include "check/body/asked_through.h"
#include "check/body/function_values.h"
#include "check/body/hints.h"
#include "check/statements/branches.h"

#include <algorithm>
#include <optional>
#include <set>

namespace melix::check {

using namespace syntax;

NodeId Body::checkMatch(const syntax::Match& node, Span span, TypeId expected) {
  if (ast.kind(node.scrutinee) == SynKind::Ref) return matchPlace(node, span, expected);
  NodeId value = checkAsked(*this, node.scrutinee, askedOfScrutinee(*this, node, expected));
  return b.kindOf(value) == TypeKind::Error ? value : matchArms(node, value, {}, span, expected);
}

/// The arms of a match on `value`, which is read from `places`, if there is one.
NodeId Body::matchArms(const syntax::Match& node, NodeId value, std::vector<Place> places, Span span,
                       TypeId expected) {
  TypeId type = b.typeOf(value);
  Arms arms;
  arms.places = std::move(places);
  const bool isUnsettled = expected && infer.isUnsettled(expected);
  const bool isGiven = expected && !isUnsettled;
  NodeId first; ///< body that has a value
  TypeId common = isGiven ? expected : TypeId::none();
  const bool isAsked = expected && types.kind(infer.shallow(expected)) != TypeKind::Known;
  SizeJoin sizes(*this, isGiven ? TypeId::none() : expected, span);
  bool failed = false;
  for (const MatchArm& written : node.arms) {
    size_t mark = scope.size();
    Arm arm;
    bool refutable = false;
    bindsPlaces = !arms.places.empty();
    arm.pattern = checkPattern(written.pattern, type, false, refutable);
    bindsPlaces = false;
    if (!arms.places.empty()) {
      Hold hold{arms.places[0], false, {}, false, {}};
      for (size_t k = mark; k < scope.size(); ++k) hold.names.push_back(scope[k].local);
      holds.push_back(std::move(hold));
    }
    ++conditions;
    if (written.guard) arm.guard = checkBoolean(written.guard, "a guard");
    auto check = [&](TypeId asked) { return checkStatement(written.body, true, asked); };
    arm.body =
        isUnsettled ? ownBranch(*this, expected, check) : check(isGiven ? expected : expectedFrom(common));
    --conditions;
    scope.leave(mark);
    if (!arms.places.empty()) failed |= !endHold();
    if (NodeId met = first; first.valid() && !isGiven && joinAsFunctions(*this, met, arm.body)) {
      common = b.typeOf(met);
      for (Arm& earlier : arms.arms)
        if (holdsTemplate(*this, b.typeOf(earlier.body)))
          earlier.body = earlier.body == first ? met : coerce(earlier.body, common, b.spanOf(earlier.body));
      first = met;
    }
    TypeId mine = b.typeOf(arm.body);
    failed |= (types.kind(mine) == TypeKind::Error && !isUnknownYet(mine)) ||
              types.kind(instance.patterns[arm.pattern].type) == TypeKind::Error;
    if (determinesType(mine)) {
      UnifyResult match = !common || isGiven ? UnifyResult{} : infer.unify(common, mine);
      if (!common) {
        common = mine;
        first = arm.body;
      } else if (sizes.allows(match.kind)) {
        common = sizes.join(common, mine);
      } else if (match.kind == UnifyKind::DimsDiffer) {
        b.reportBranches(match, first, arm.body, b.spanOf(arm.body));
        failed = true;
      } else if (!expected && types.isUnit(infer.shallow(common)) && !types.isUnit(mine) &&
                 isUsedUp(arm.body, SynId::none()))
        arm.body = b.block({arm.body, b.unit(span)}, span);
      else {
        Messages told(sink);
        arm.body = coerce(arm.body, common, b.spanOf(arm.body),
                          isAsked ? DiagId::TypeMismatch : DiagId::BranchTypes);
        if (told.anyErrors()) adviseLast(told, *this, span, told.last()->span);
      }
    }
    arms.arms.push_back(arm);
  }
  if (failed && isUnsettled && common) infer.unify(expected, common); // one message is enough
  if (failed) return b.error(span);
  checkExhaustive(arms.arms, type, span);
  NodeId made =
      b.make(NodeKind::Match, common ? infer.zonk(common) : types.never(), span, {value}, std::move(arms));
  instance.nodes.edit(made).resultDims = std::move(sizes.found);
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
  static constexpr std::string_view longList = "a List of "; ///< what no pattern says

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
      const std::vector<types::EnumCase>& cases = types.recordInfo(types[type].record).cases;
      const std::vector<std::vector<Row>> byCase = rowsByCase(rows, cases.size());
      for (uint32_t k = 0; k < cases.size(); ++k) {
        std::string name(types.names.text(cases[k].name));
        bool bare = cases[k].fields.empty();
        Witness found = expand(byCase[k], fieldsOf(type, k), rest, [](const Pattern*) { return true; },
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
    if (kind == TypeKind::List) return missingList(rows, types[type].parts[0], rest);
    return expand(rows, {}, rest, none, {"_", "", false});
  }

  /// Lists of a length that there is a pattern for, then all others.
  Witness missingList(const std::vector<Row>& rows, TypeId element, const std::vector<TypeId>& rest) {
    std::set<size_t> lengths;
    for (const Row& row : rows)
      if (const Pattern* p = at(row[0]); !isAny(p)) lengths.insert(p->subs.size());
    for (size_t length : lengths) {
      auto isSo = [length](const Pattern* p) { return p->subs.size() == length; };
      Witness found = expand(rows, std::vector<TypeId>(length, element), rest, isSo, {"[", "]", false});
      if (found) return found;
    }
    size_t other = 0;
    while (lengths.contains(other)) ++other;
    auto none = [](const Pattern*) { return false; };
    if (other < *lengths.rbegin())
      return expand(rows, std::vector<TypeId>(other, element), rest, none, {"[", "]", false});
    const std::string longer = std::string(longList) + std::to_string(other) + " or more";
    return expand(rows, {}, rest, none, {longer, "", false});
  }

  /// For each case the rows that may be about it; their order does not matter.
  std::vector<std::vector<Row>> rowsByCase(const std::vector<Row>& rows, size_t cases) {
    std::vector<std::vector<Row>> out(cases);
    for (const Row& row : rows) {
      const Pattern* p = at(row[0]);
      if (isAny(p))
        for (std::vector<Row>& of : out) of.push_back(row);
      else if (p->kind == PatternKind::Case)
        out[p->caseIndex].push_back(row);
    }
    return out;
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
      instance.patterns.edit(pattern).value.bits = instance.nodes[value].as<Const>().bits;
  std::vector<Coverage::Row> rows;
  for (const Arm& arm : arms)
    if (!arm.guard.valid()) rows.push_back({arm.pattern});
  if (auto left = Coverage{instance, types}.missing(std::move(rows), {infer.zonk(type)}))
    sink.report(DiagId::NotExhaustive, span,
                left->front().starts_with(Coverage::longList) ? left->front() : "`" + left->front() + "`");
}

} // namespace melix::check
