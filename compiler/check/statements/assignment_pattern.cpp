// A pattern as it is written, against the type of what it takes apart (rule 34).
#include "check/body/body.h"
#include "check/signatures/suggestions.h"

#include <optional>

namespace melix::check {

using namespace syntax;

namespace {

class WrittenPattern {
public:
  /// `refutable` is set if some value of the type does not match.
  WrittenPattern(Body& body, SynId node, TypeId type, bool isVar, bool& refutable)
      : body_(body), types_(body.types), node_(node), written_(body.ast[node]), type_(body.infer.zonk(type)),
        isVar_(isVar), refutable_(refutable) {
    pattern_.span = written_.span;
  }

  PatternId check();

private:
  PatternId keep() { return body_.instance.patterns.add(std::move(pattern_)); }
  PatternId wrong();
  PatternId mismatch();
  PatternId name(bool isPlace);
  PatternId tuple();
  PatternId elements();
  PatternId withFields();
  PatternId meantAsName();
  PatternId unknownCase(SynId path);
  PatternId literal();
  PatternId alternatives();
  void bindSameNames(Alternative& names, size_t mark, const std::set<NameId>& before);

  Body& body_;
  TypeStore& types_;
  SynId node_;
  const SynNode& written_;
  TypeId type_;
  bool isVar_;
  bool& refutable_;
  Pattern pattern_;
};

/// The patterns written for the fields of a case, by position or name.
class FieldPatterns {
public:
  FieldPatterns(Body& body, const CasePattern& pattern, TypeId type, uint32_t caseIndex, Span span)
      : body_(body), types_(body.types), pattern_(pattern), type_(type), span_(span),
        case_(types_.recordInfo(types_[type].record).cases[caseIndex]),
        shown_(types_.kind(type) == TypeKind::Enum ? std::string(types_.names.text(case_.name))
                                                   : body.b.show(type)) {}

  std::optional<std::vector<SynId>> find();

private:
  void reportField(const PatternField& field, size_t at);
  void refuseNameOfAnother(const PatternField& field, size_t at);
  void refuseMissing(const std::vector<SynId>& subs);
  std::string partName(size_t at, std::string_view ofField) const;

  Body& body_;
  TypeStore& types_;
  const CasePattern& pattern_;
  TypeId type_;
  Span span_;
  const types::EnumCase case_;
  const std::string shown_;
};

std::string counted(size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

PatternId WrittenPattern::check() {
  const bool isPlace = body_.bindsPlaces && written_.kind == SynKind::Name; // its sizes may change
  type_ = pattern_.type = isPlace ? type_ : body_.openPattern(pattern_, type_);
  switch (written_.kind) {
  case SynKind::Underscore: return keep();
  case SynKind::Name: return name(isPlace);
  case SynKind::Tuple: return tuple();
  case SynKind::Array: return elements();
  case SynKind::CasePattern: return withFields();
  case SynKind::OrPattern: return alternatives();
  case SynKind::IntLit:
  case SynKind::FloatLit:
  case SynKind::CharLit:
  case SynKind::BoolLit:
  case SynKind::String:
  case SynKind::Unary: return literal();
  case SynKind::Error: pattern_.type = types_.error(); return keep();
  case SynKind::RefPattern:
    body_.sink.report(DiagId::NoConstruct, written_.span).hint =
        "`for &x in xs` and `match &x` change parts where they are; beside an index, `xs[i]` does";
    return wrong();
  default: body_.sink.report(DiagId::NoConstruct, written_.span); return wrong();
  }
}

PatternId WrittenPattern::wrong() {
  body_.bindAll(node_, types_.error(), isVar_);
  pattern_.type = types_.error();
  return keep();
}

PatternId WrittenPattern::mismatch() {
  if (types_.kind(type_) != TypeKind::Error)
    body_.sink.report(DiagId::PatternType, written_.span, body_.b.show(type_));
  return wrong();
}

PatternId WrittenPattern::name(bool isPlace) {
  pattern_.kind = isPlace ? PatternKind::BindPlace : PatternKind::Bind;
  pattern_.local = body_.bindName(written_.as<Name>().name, type_, written_.span, isVar_ || isPlace);
  return pattern_.local ? keep() : mismatch();
}

PatternId WrittenPattern::tuple() {
  const NodeList& items = written_.as<Many>().items;
  if (types_.kind(type_) != TypeKind::Tuple || types_[type_].parts.size() != items.size()) return mismatch();
  pattern_.kind = PatternKind::Parts;
  const std::vector<TypeId>& parts = types_[type_].parts;
  for (size_t k = 0; k < items.size(); ++k)
    pattern_.subs.push_back(body_.checkPattern(items[k], parts[k], isVar_, refutable_));
  return keep();
}

/// `[a, b]`: a List of so many elements.
PatternId WrittenPattern::elements() {
  if (types_.kind(type_) != TypeKind::List) {
    Messages told(body_.sink);
    const PatternId made = mismatch();
    if (types_.kind(type_) == TypeKind::Array)
      told.hintLast("brackets destructure a List: the elements of an array are `x[0]`, `x[1]`");
    return made;
  }
  refutable_ = true;
  pattern_.kind = PatternKind::Elements;
  const TypeId element = types_[type_].parts[0];
  for (SynId each : written_.as<Many>().items)
    pattern_.subs.push_back(body_.checkPattern(each, element, isVar_, refutable_));
  return keep();
}

PatternId WrittenPattern::withFields() {
  const auto& pattern = written_.as<CasePattern>();
  if (body_.ast.kind(pattern.path) == SynKind::Error) return wrong();
  const bool isEnum = types_.kind(type_) == TypeKind::Enum;
  if (!isEnum && types_.kind(type_) != TypeKind::Struct)
    return !pattern.hasFields && body_.ast.kind(pattern.path) == SynKind::Name ? meantAsName() : mismatch();
  if (!body_.caseOf(pattern.path, type_, pattern_.caseIndex)) return unknownCase(pattern.path);
  pattern_.kind = isEnum ? PatternKind::Case : PatternKind::Parts;
  refutable_ |= isEnum && types_.recordInfo(types_[type_].record).cases.size() > 1;
  const auto subs = body_.caseFields(pattern, type_, pattern_.caseIndex, written_.span);
  if (!subs) return wrong();
  for (uint32_t k = 0; k < subs->size(); ++k) {
    const TypeId field = types_.fieldType(type_, pattern_.caseIndex, k);
    pattern_.subs.push_back((*subs)[k] ? body_.checkPattern((*subs)[k], field, isVar_, refutable_)
                                       : body_.anyPattern(field, written_.span));
  }
  return keep();
}

/// A capitalised name where there are no cases.
PatternId WrittenPattern::meantAsName() {
  const NameId name = body_.ast[written_.as<CasePattern>().path].as<Name>().name;
  body_.used.insert(body_.declareLocal(name, types_.error(), written_.span, isVar_));
  body_.sink.report(DiagId::CapitalName, written_.span, types_.names.text(name));
  pattern_.type = types_.error();
  return keep();
}

PatternId WrittenPattern::unknownCase(SynId path) {
  const Span span = body_.ast.span(path);
  const std::string_view text = body_.c.modules.sources.text(span);
  std::vector<std::string_view> known;
  for (const types::EnumCase& each : types_.recordInfo(types_[type_].record).cases)
    known.push_back(types_.names.text(each.name));
  body_.sink.report(DiagId::UnknownCase, span, body_.b.show(type_), text).hint = nearOrListed(text, known);
  return wrong();
}

PatternId WrittenPattern::literal() {
  refutable_ = true;
  pattern_.kind = PatternKind::Literal;
  const NodeId value = body_.coerce(body_.checkExpr(node_), type_, written_.span, DiagId::PatternType);
  if (body_.b.kindOf(value) == TypeKind::Error) return mismatch();
  const NodeKind kind = body_.instance.nodes[value].kind;
  if (kind != NodeKind::Const && kind != NodeKind::Op) { // text with values in it
    Messages told(body_.sink);
    const PatternId made = mismatch();
    told.hintLast("a pattern holds no values: `text if text == …` compares with one");
    return made;
  }
  const PatternId made(static_cast<uint32_t>(body_.instance.patterns.size()));
  body_.literalPatterns.push_back({made, value});
  return keep();
}

/// `a | b`: every alternative binds the same names at the same types; sizes are those of the one that
/// matches.
PatternId WrittenPattern::alternatives() {
  pattern_.kind = PatternKind::Or;
  Trailed<Alternative*>& current = body_.alternative;
  const size_t mark = body_.scope.size();
  Alternative names{{}, {}, current};
  const std::set<NameId> before = *current ? (*current)->bound : std::set<NameId>();
  for (SynId each : written_.as<Many>().items) {
    const bool isFirst = pattern_.subs.empty();
    names.bound.clear();
    const Messages told(body_.sink);
    if (!isFirst) current = &names;
    pattern_.subs.push_back(body_.checkPattern(each, pattern_.type, isVar_, refutable_));
    current = names.outer;
    if (isFirst) bindSameNames(names, mark, before);
    for (const ScopeEntry& e : names.names) {
      if (isFirst || names.bound.contains(e.name) || told.any()) continue;
      body_.sink.report(DiagId::AlternativeNames, body_.ast.span(each), types_.names.text(e.name));
      pattern_.type = types_.error();
    }
  }
  return keep();
}

/// The names that the first alternative has bound: those that are new, and those of an or-pattern around it.
void WrittenPattern::bindSameNames(Alternative& names, size_t mark, const std::set<NameId>& before) {
  names.names.assign(body_.scope.begin() + static_cast<ptrdiff_t>(mark), body_.scope.end());
  if (!names.outer) return;
  for (const ScopeEntry& e : names.outer->names)
    if (names.outer->bound.contains(e.name) && !before.contains(e.name)) names.names.push_back(e);
}

std::optional<std::vector<SynId>> FieldPatterns::find() {
  std::vector<SynId> subs(case_.fields.size());
  bool rest = false;
  size_t position = 0;
  for (const PatternField& f : pattern_.fields) {
    if (!f.pattern) {
      rest = true;
      continue;
    }
    size_t at = position++;
    if (f.label)
      for (at = 0; at < case_.fields.size() && case_.fields[at].name != f.label;) ++at;
    if (at >= subs.size() || subs[at]) {
      reportField(f, at);
      return std::nullopt;
    }
    if (body_.ast.kind(f.pattern) == SynKind::Name) refuseNameOfAnother(f, at);
    subs[at] = f.pattern;
  }
  if (!rest) refuseMissing(subs);
  return subs;
}

/// The field's name, or its place.
std::string FieldPatterns::partName(size_t at, std::string_view ofField) const {
  const NameId name = case_.fields[at].name;
  if (!name) return "part " + std::to_string(at + 1);
  const std::string text(types_.names.text(name));
  return ofField.empty() ? text : std::string(ofField) + " `" + text + "`";
}

void FieldPatterns::reportField(const PatternField& f, size_t at) {
  DiagnosticSink& sink = body_.sink;
  if (at < case_.fields.size()) { // it has one already
    sink.report(DiagId::RepeatedName, f.span, partName(at, ""), "this pattern");
  } else if (f.label) {
    std::vector<std::string_view> known;
    for (const types::Field& field : case_.fields)
      if (field.name) known.push_back(types_.names.text(field.name));
    const bool areNameless = known.empty() && !case_.fields.empty();
    sink.report(DiagId::UnknownField, f.span, shown_, types_.names.text(f.label)).hint =
        areNameless ? "the fields of `" + shown_ + "` have no names: their places tell them"
                    : nearOrListed(types_.names.text(f.label), known);
  } else {
    sink.report(DiagId::PatternType, f.span, body_.b.show(type_)).hint =
        "`" + shown_ + "` has " + counted(case_.fields.size(), "field");
  }
}

/// Binding one field under the name of another is an error.
void FieldPatterns::refuseNameOfAnother(const PatternField& f, size_t at) {
  const NameId bound = body_.ast[f.pattern].as<Name>().name;
  for (size_t k = 0; k < case_.fields.size(); ++k)
    if (k != at && case_.fields[k].name == bound)
      body_.sink.report(DiagId::PatternField, f.span, types_.names.text(bound), partName(at, "field"));
}

void FieldPatterns::refuseMissing(const std::vector<SynId>& subs) {
  if (std::find(subs.begin(), subs.end(), SynId()) == subs.end()) return;
  body_.sink.report(DiagId::PatternType, span_, body_.b.show(type_)).hint =
      "it has " + counted(subs.size(), "part") + "; `..` stands for those that are left out";
}

} // namespace

PatternId Body::checkPattern(SynId node, TypeId type, bool isVar, bool& refutable) {
  while (ast.kind(node) == SynKind::Paren) node = ast[node].as<One>().inner;
  return WrittenPattern(*this, node, type, isVar, refutable).check();
}

/// The pattern written for each field of a case, by position or name; none for those that `..` stands for.
/// Nothing after a message about a field that the case has not.
std::optional<std::vector<SynId>> Body::caseFields(const CasePattern& pattern, TypeId type,
                                                   uint32_t caseIndex, Span span) {
  return FieldPatterns(*this, pattern, type, caseIndex, span).find();
}

} // namespace melix::check
