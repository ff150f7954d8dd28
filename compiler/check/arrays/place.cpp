// Places and indexing (rules 14, 28, 30).
#include "check/arrays/index.h"
#include "check/body/dicts.h"
#include "check/instances/instances.h"
#include "check/signatures/lookup.h"

#include <charconv>

namespace melix::check {

using namespace syntax;

namespace {

/// Reports that a value of `type` has no elements; of a tuple there are parts.
void cannotIndex(Body& body, TypeId type, Span base, const std::vector<Argument>& items, Span span) {
  Diagnostic& d = body.sink.report(DiagId::CannotIndex, span, body.b.show(type));
  if (body.types.kind(type) != TypeKind::Tuple || items.size() != 1) return;
  const size_t parts = body.types[type].parts.size();
  const std::string_view written = body.c.modules.sources.text(body.ast.span(items[0].value));
  const bool fromEnd = written.starts_with("-");
  size_t part = 0;
  const char* begin = written.data() + fromEnd;
  const auto read = std::from_chars(begin, written.data() + written.size(), part);
  const bool isNumber = read.ec == std::errc() && read.ptr == written.data() + written.size();
  if (!isNumber) {
    d.hint = "the parts of a tuple are `t.0`, `t.1`: the place is a literal";
  } else if (fromEnd ? part > 0 && part <= parts : part < parts) {
    const std::string place = std::to_string(fromEnd ? parts - part : part);
    d.hint = "a part of a tuple is taken by a point: `" + body.writtenOperand(base) + "." + place + "`";
  }
}

/// Reports that a character of a text is no place; another text is made of its parts.
void refuseTextPlace(Body& body, const Brackets& brackets, Span span) {
  const std::string text = body.writtenOperand(body.ast.span(brackets.base));
  const SynId item = brackets.items[0].value;
  std::string at = body.writtenShort(body.ast.span(item)), behind = at + " + 1";
  if (body.ast.kind(item) == SynKind::IntLit && at.size() < 10) behind = std::to_string(std::stoll(at) + 1);
  body.sink.report(DiagId::NotAssignable, span, body.c.modules.sources.text(span)).hint =
      body.ast.kind(item) == SynKind::Range || brackets.items.size() != 1
          ? "a string is immutable: a new one is made of its parts, `s[0..a] + \"x\" + s[b..]`"
          : "a string is immutable: `" + text + " = " + text + "[0.." + at + "] + \"x\" + " + text + "[" +
                behind + "..]` makes another";
}

/// Whether a `let` binds the local and nothing else.
bool isLet(const Body& body, LocalId l) {
  const Span at = body.instance.locals[l].span;
  for (uint32_t k = 0; k < body.ast.size(); ++k) {
    const SynNode& n = body.ast[SynId(k)];
    if (n.kind == SynKind::Let && body.ast.span(n.as<syntax::Let>().pattern) == at) return true;
  }
  return false;
}

/// What makes a variable of a name that is bound otherwise; empty of a `let`, which may be a `var`.
std::string variableHint(Body& body, LocalId l, const std::string& name) {
  const std::string copied = "`var y = " + name + "` makes a variable of it";
  const std::vector<LocalId>& params = body.instance.params;
  const bool isLambda = !body.c.instances.info(body.id).key.decl;
  if (!isLambda && std::find(params.begin(), params.end(), l) != params.end())
    return "`inout " + name + "` changes what is passed, " + copied;
  return !body.instance.locals[l].span.valid() || isLet(body, l) ? "" : copied;
}

} // namespace

NodeId Body::readPlace(const Place& place, Span span) {
  NodeId base = b.local(place.root, span);
  if (place.steps.empty()) return base;
  return b.make(NodeKind::Get, infer.zonk(place.type), span, {base}, Steps{place.steps});
}

bool Body::checkTarget(SynId node, Target& target) {
  return targetOf(node, target, true) && mayChange(target.place, node);
}

bool Body::checkPlaceTarget(SynId node, Target& target) {
  Messages told(sink);
  if (partOf(node, target, true) && mayChange(target.place, node)) return true;
  SynId written = node;
  while (ast.kind(written) == SynKind::Paren) written = ast[written].as<One>().inner;
  const SynKind kind = ast.kind(written);
  const bool isPlace = kind == SynKind::Name || kind == SynKind::Member || kind == SynKind::TupleIndex ||
                       kind == SynKind::Brackets;
  if (!isPlace && told.any() && told.last()->id == DiagId::NotAssignable)
    told.hintLast("a value has no place in which it could change: `var x = " +
                  writtenShort(ast.span(written)) + "` makes a variable of it");
  return false;
}

/// A target that is one place.
bool Body::partOf(SynId node, Target& target, bool report) {
  if (!targetOf(node, target, report)) return false;
  if (!target.gathers.any()) return true;
  if (report) sink.report(DiagId::NotOnePlace, ast.span(node));
  return false;
}

bool Body::placeOfName(SynId node, Place& place, bool report) {
  const SynNode& n = ast[node];
  NameId name = n.as<Name>().name;
  std::string_view text = types.names.text(name);
  LocalId l = lookupAny(name);
  if (!l) {
    if (report && constDecl(c, module, name))
      sink.report(DiagId::NotAssignable, n.span, text);
    else if (report)
      unknownTarget(name, n.span);
    return false;
  }
  const check::Local& local = instance.locals[l];
  used.insert(l);
  if (!local.isVar) {
    if (!report) return false;
    bool capture = false;
    for (uint32_t k = 0; k < instance.captures && k < instance.params.size(); ++k)
      capture |= instance.params[k] == l;
    Diagnostic& d = sink.report(capture ? DiagId::CaptureAssigned : DiagId::NotAssignable, n.span, text);
    if (!capture) d.hint = variableHint(*this, l, std::string(text));
    return false;
  }
  if (builderDepth > 0 && report) {
    size_t begin = builders.back().scopeBegin;
    for (size_t k = 0; k < begin && k < scope.size(); ++k)
      if (scope[k].local == l) {
        sink.report(DiagId::BuilderAssigns, n.span, text);
        return false;
      }
  }
  used.insert(l);
  if (auto taken = captured.find(l); taken != captured.end() && report) {
    sink.report(DiagId::CapturedBefore, n.span, text).notes.push_back({taken->second, "captured here"});
    captured.erase(l);
  }
  auto alias = aliases.find(l);
  place = alias != aliases.end() ? alias->second : Place{l, {}, infer.zonk(local.type)};
  return true;
}

/// A field of a struct, or a part of a tuple, of the place at hand.
bool Body::placeOfField(SynId node, Place& place, bool report) {
  const SynNode& n = ast[node];
  bool named = n.kind == SynKind::Member;
  TypeId type = infer.zonk(place.type);
  auto step = [&](uint32_t k, TypeId part) {
    place.steps.push_back({StepKind::Field, k, {}, {}, {}, 1, n.span});
    place.type = part;
    return true;
  };
  if (named && types.kind(type) == TypeKind::Struct && !isSealed(*this, type)) {
    const std::vector<types::Field>& fields = types.recordInfo(types[type].record).cases[0].fields;
    for (uint32_t k = 0; k < fields.size(); ++k)
      if (fields[k].name == n.as<Member>().name) return step(k, types.fieldType(type, 0, k));
  }
  if (!named && types.kind(type) == TypeKind::Tuple && n.as<TupleIndex>().index < types[type].parts.size())
    return step(n.as<TupleIndex>().index, types[type].parts[n.as<TupleIndex>().index]);
  if (!report || types.kind(type) == TypeKind::Error) return false;
  if (named)
    unknownField(n.as<Member>(), type);
  else
    sink.report(DiagId::UnknownField, n.span, b.show(type), std::to_string(n.as<TupleIndex>().index));
  return false;
}

bool Body::targetOf(SynId node, Target& target, bool report) {
  const SynNode& n = ast[node];
  Place& place = target.place;
  switch (n.kind) {
  case SynKind::Paren: return targetOf(n.as<One>().inner, target, report);
  case SynKind::Name: return placeOfName(node, place, report);
  case SynKind::Member:
  case SynKind::TupleIndex: {
    SynId base = n.kind == SynKind::Member ? n.as<Member>().base : n.as<TupleIndex>().base;
    if (!partOf(base, target, report)) return false;
    if (types.kind(infer.zonk(place.type)) == TypeKind::Pack) openTarget(target, n.span);
    return placeOfField(node, place, report);
  }
  case SynKind::Brackets: {
    const auto& brackets = n.as<Brackets>();
    if (!partOf(brackets.base, target, report)) return false;
    if (needsOpening(place)) openTarget(target, n.span);
    TypeId type = infer.zonk(place.type);
    if (types.kind(type) == TypeKind::List && brackets.items.size() == 1)
      return elementOf(place, brackets.items[0].value, n.span);
    if (types.isDict(type)) return placeOfKey(*this, target, brackets.items, n.span);
    if (types.kind(type) == TypeKind::Str) {
      if (report) refuseTextPlace(*this, brackets, n.span);
      return false;
    }
    if (types.kind(type) != TypeKind::Array) {
      if (report && types.kind(type) != TypeKind::Error)
        cannotIndex(*this, type, ast.span(brackets.base), brackets.items, n.span);
      return false;
    }
    IndexItems index(*this, type, n.span);
    if (!index.add(brackets.items)) return false;
    if (!index.newAxes.empty()) {
      if (report) sink.report(DiagId::NotAssignable, n.span, c.modules.sources.text(n.span));
      return false;
    }
    if (index.gathers.any() && holdsLate(place.steps)) openTarget(target, n.span); // one search for all
    target.whole = type;
    target.bracket = place.steps.size();
    target.gathers = std::move(index.gathers);
    for (Gathers::Array& a : target.gathers.arrays) a.step += target.bracket;
    target.before.insert(target.before.end(), index.before.begin(), index.before.end());
    place.steps.insert(place.steps.end(), index.steps.begin(), index.steps.end());
    place.type = target.gathers.mask.valid() ? type : index.type();
    return true;
  }
  default:
    if (report)
      sink.report(DiagId::NotAssignable, n.span, c.modules.sources.text(n.span)).hint =
          n.kind == SynKind::Call && !n.as<syntax::Call>().args.empty()
              ? "functions are declared with `fn`, and elements stand in square brackets: `x[0] = …`"
              : "a variable, its fields and its elements can; `==` compares";
    return false;
  }
}

bool Body::elementOf(Place& list, SynId written, Span span) {
  NodeId index = SequenceItem(*this, written).place([&] { return readPlace(list, span); });
  if (b.kindOf(index) == TypeKind::Error) return false;
  TypeId element = types[infer.zonk(list.type)].parts[0];
  list.steps.push_back({StepKind::Element, 0, index, {}, {}, 1, span});
  list.type = element;
  return true;
}

NodeId Body::checkIndexing(SynId node) {
  const SynNode& n = ast[node];
  const auto& brackets = n.as<Brackets>();
  auto firstOwn = static_cast<uint32_t>(instance.locals.size());
  NodeId base = hoistFromBuilder(checkExpr(brackets.base), firstOwn, brackets.items);
  return indexInto(base, brackets.items, n.span);
}

NodeId Body::indexInto(NodeId base, const std::vector<Argument>& items, Span span) {
  TypeId type = b.typeOf(base);
  TypeKind k = types.kind(type);
  if (k == TypeKind::Error) return base;
  if (k == TypeKind::Str && items.size() == 1) return SequenceItem(*this, items[0].value).ofText(base, span);
  if (k == TypeKind::List && items.size() == 1) return SequenceItem(*this, items[0].value).ofList(base, span);
  if (types.isDict(type)) return valueOfKey(*this, base, items, span);
  if (k == TypeKind::Known) {
    sink.report(DiagId::NoDetachedParameters, span);
    return b.error(span);
  }
  // `x[..i]` of a scalar: a pack without axes.
  bool packsOnly = k != TypeKind::Array && !items.empty();
  for (const Argument& item : items) {
    auto pack = ast.kind(item.value) == SynKind::PackUse ? indexPacks.find(ast[item.value].as<Name>().name)
                                                         : indexPacks.end();
    packsOnly &= pack != indexPacks.end() && pack->second.empty();
  }
  if (packsOnly) return base;
  if (k != TypeKind::Array) {
    cannotIndex(*this, type, b.spanOf(base), items, span);
    return b.error(span);
  }
  IndexItems index(*this, type, span);
  if (!index.add(items)) return b.error(span);
  std::vector<NodeId> nodes;
  if (!index.before.empty()) base = b.local(b.bind("x", base, nodes), span);
  nodes.insert(nodes.end(), index.before.begin(), index.before.end());
  bool allWhole = std::all_of(index.steps.begin(), index.steps.end(),
                              [](const Step& s) { return s.kind == StepKind::All; });
  NodeId chosen = base;
  if (index.gathers.mask.valid())
    chosen = maskSelect(base, index.gathers.mask, span);
  else if (index.gathers.any())
    chosen = gather(base, index.steps, index.gathers, index.type(), span);
  else if (!allWhole)
    chosen = b.make(NodeKind::Get, index.type(), span, {base}, Steps{index.steps});
  if (!index.newAxes.empty()) chosen = b.make(NodeKind::Reshape, index.typeWithNewAxes(), span, {chosen});
  nodes.push_back(chosen);
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
