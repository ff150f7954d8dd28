#include "check/body/dicts.h"

#include "check/body/function_values.h"
#include "check/signatures/bounds.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"

#include <algorithm>
#include <set>

namespace melix::check {

using namespace syntax;
using types::DictField;

namespace {

uint32_t number(DictField field) { return static_cast<uint32_t>(field); }

/// Keys or values of a literal, which have one type: that asked for, or the first one's.
class OneType {
public:
  OneType(Body& body, TypeId asked) : body_(body), type_(asked) {}

  /// The expression at the common type; an Error node after a message.
  NodeId check(SynId written) {
    NodeBuilder& b = body_.b;
    NodeId value = body_.checkExpr(written, type_);
    if (b.kindOf(value) == TypeKind::Never || b.kindOf(value) == TypeKind::Error) return value;
    if (!type_) {
      value = withFunctionTypes(body_, value);
      type_ = b.typeOf(value);
      first_ = b.spanOf(value);
      return value;
    }
    if (body_.infer.isOpen(type_) || b.isNumber(type_)) body_.infer.unify(type_, b.typeOf(value));
    return body_.coerce(value, type_, b.spanOf(value), DiagId::TypeMismatch, {}, first_);
  }
  TypeId type() const { return type_; }

private:
  Body& body_;
  TypeId type_;
  Span first_;
};

/// A call of a library function of one List.
NodeId ofList(Body& body, std::string_view function, TypeId element, std::vector<NodeId> items, Span span) {
  NodeId list = body.b.composite(NodeKind::ListOf, body.types.list(element), span, std::move(items));
  return body.b.kindOf(list) == TypeKind::Never ? list : body.callPrelude(function, {list}, span);
}

/// A literal key that stands twice in one literal.
bool isRepeated(Body& body, SynId key, std::set<std::string_view>& seen) {
  const SynKind kind = body.ast.kind(key);
  const bool isText = kind == SynKind::String;
  if (kind != SynKind::IntLit && kind != SynKind::CharLit && !isText) return false;
  if (isText && std::ranges::any_of(body.ast[key].as<StringLit>().parts,
                                    [](const StringPart& p) { return p.value.valid(); }))
    return false;
  if (seen.insert(body.c.modules.sources.text(body.ast.span(key))).second) return false;
  body.sink.report(DiagId::KeyTwice, body.ast.span(key), body.c.modules.sources.text(body.ast.span(key)));
  return true;
}

/// The key of a bracket, at the type of the Dict's keys.
NodeId keyOf(Body& body, TypeId dict, const std::vector<Argument>& items, Span span) {
  if (items.size() != 1 || items[0].label) {
    body.sink.report(DiagId::OneKey, span, body.b.show(dict));
    return body.b.error(span);
  }
  const TypeId key = body.types.typeArgs(dict)[0];
  const Span at = body.ast.span(items[0].value);
  if (!isKey(body, key, at)) return body.b.error(span);
  return body.coerce(body.checkExpr(items[0].value, key), key, at);
}

/// The place of the entry of a key, in an expression: a panic if there is none.
NodeId foundPlace(Body& body, NodeId dict, NodeId key, Span span) {
  NodeBuilder& b = body.b;
  TypeStore& types = body.types;
  std::vector<NodeId> nodes;
  const LocalId place = b.bind("place", body.callPrelude("dict_find", {dict, key}, span), nodes);
  NodeId isThere = b.op(OpKind::Cmp, types.boolean(), {b.local(place, span), b.integer(0, span)}, span,
                        static_cast<uint32_t>(ops::CmpKind::Ge));
  NodeId text = body.callPrelude("dict_missing", {key}, span);
  NodeId panic = b.make(NodeKind::Panic, types.never(), span, {text});
  nodes.push_back(b.make(NodeKind::If, types.unit(), span, {isThere, b.unit(span), panic}));
  nodes.push_back(b.local(place, span));
  return b.block(std::move(nodes), span);
}

/// The steps from a Dict to the value of its entry at a place.
std::vector<Step> stepsTo(NodeId place, Span span, bool late) {
  Step entries{StepKind::Field, number(DictField::Entries), {}, {}, {}, 1, span};
  Step entry{StepKind::Element, 0, place, {}, {}, 1, span};
  entry.late = late;
  return {entries, entry, {StepKind::Field, 1, {}, {}, {}, 1, span}};
}

} // namespace

bool isKey(Body& body, TypeId type, Span span) {
  const TypeId key = body.infer.zonk(type);
  const TypeId open = body.infer.shallow(type);
  const bool isFloat = body.infer.isOpen(open) && body.infer.varClass(open) == types::VarClass::OpenFloat;
  if (body.types.kind(key) == TypeKind::Error) return false;
  if (!isFloat && body.types.kind(open) == TypeKind::Var) return true;
  if (!isFloat && meetsBound(body.types, key, "Hash")) {
    const TypeId unhashed = unhashedInside(body, key, span);
    if (!unhashed) return true;
    const std::string shown = body.b.show(unhashed), shownKey = body.b.show(key);
    const bool isTold = body.sink.isTold(
        [&](const Diagnostic& d) { return d.id == DiagId::NotAKey && d.args[0] == shownKey; });
    if (isTold) return false;
    body.sink.report(DiagId::NotAKey, span, shownKey).hint =
        "`" + shown + "` has a `==` of its own: `fn hash(x: " + shown +
        ") -> u64` beside it gives equal values the same number";
    return false;
  }
  if (body.b.lacksInside(key, "Hash", "a key", span)) return false;
  body.sink.report(DiagId::NotAKey, span, isFloat ? "f32" : body.b.show(key));
  return false;
}

NodeId checkDict(Body& body, const DictEntries& entries, Span span, TypeId expected) {
  NodeBuilder& b = body.b;
  const TypeId want = expected ? body.infer.shallow(expected) : TypeId::none();
  const bool isUnknown = want && body.types.kind(want) == TypeKind::Error; // told already
  const bool isAsked = want && body.types.isDict(want);
  const std::vector<TypeId> asked =
      isAsked ? body.types.typeArgs(want) : std::vector<TypeId>(2, isUnknown ? want : TypeId::none());
  OneType keys(body, asked[0]), values(body, asked[1]);
  std::set<std::string_view> seen;
  std::vector<std::pair<NodeId, NodeId>> pairs;
  bool failed = isUnknown;
  for (const auto& [key, value] : entries.entries) {
    failed |= isRepeated(body, key, seen);
    pairs.emplace_back(keys.check(key), values.check(value));
    for (NodeId part : {pairs.back().first, pairs.back().second}) failed |= b.kindOf(part) == TypeKind::Error;
  }
  const TypeId key = keys.type(), value = values.type();
  if (failed || (key && !isKey(body, key, b.spanOf(pairs[0].first)))) return b.error(span);
  std::vector<NodeId> items;
  for (const auto& [k, v] : pairs)
    items.push_back(b.composite(NodeKind::Tuple, body.types.tuple({b.typeOf(k), b.typeOf(v)}), span, {k, v}));
  if (!key || !value) return b.block(std::move(items), span); // never gets there
  const TypeId entry = body.types.tuple({body.infer.zonk(key), body.infer.zonk(value)});
  return ofList(body, "dict_of", entry, std::move(items), span);
}

NodeId checkArrayAsked(Body& body, const Many& written, Span span, TypeId want) {
  NodeBuilder& b = body.b;
  const std::vector<TypeId> asked = body.types.typeArgs(want);
  if (!isKey(body, asked[0], span)) return b.error(span);
  if (body.types.isDict(want)) {
    if (written.items.empty())
      return ofList(body, "dict_of", body.types.tuple({asked[0], asked[1]}), {}, span);
    body.sink.report(DiagId::EntriesWanted, span, b.show(want));
    return b.error(span);
  }
  OneType elements(body, asked[0]);
  std::vector<NodeId> items;
  for (SynId item : written.items) {
    items.push_back(elements.check(item));
    if (b.kindOf(items.back()) == TypeKind::Error) return items.back();
  }
  return ofList(body, "set_of", asked[0], std::move(items), span);
}

namespace {

/// Whether a Set of this one value is a Set of its elements.
bool isIterated(Body& body, NodeId x) {
  const TypeKind k = body.b.kindOf(x);
  if (k == TypeKind::Array || k == TypeKind::List || k == TypeKind::Str) return true;
  const bool isStruct = k == TypeKind::Struct || k == TypeKind::Enum;
  return isStruct && body.protocolFunction(body.types.names.intern("iter"), x, body.b.spanOf(x)).has_value();
}

/// The type arguments that are written or asked for; open ones else.
std::vector<TypeId> typesAskedBy(Body& body, bool isDict, const WrittenCall& call) {
  std::vector<TypeId> out;
  const TypeId want = call.expected ? body.infer.shallow(call.expected) : TypeId::none();
  if (call.items) {
    for (const Argument& item : *call.items) out.push_back(body.resolveType(item.value, false));
  } else if (want && (isDict ? body.types.isDict(want) : body.types.isSet(want))) {
    out = body.types.typeArgs(want);
  }
  return out;
}

} // namespace

NodeId callDictType(Body& body, DeclId decl, const WrittenCall& call) {
  NodeBuilder& b = body.b;
  const std::string_view name = body.types.names.text(body.c.declarations.record(decl).name);
  const bool isDict = name == "Dict";
  const size_t parameters = isDict ? 2 : 1;
  std::vector<TypeId> asked = typesAskedBy(body, isDict, call);
  if (!asked.empty() && asked.size() != parameters) {
    body.sink.report(DiagId::TypeArguments, call.span, name, std::to_string(parameters),
                     std::to_string(asked.size()));
    return b.error(call.span);
  }
  if (asked.empty())
    for (size_t k = 0; k < parameters; ++k) asked.push_back(body.fresh(call.span));
  for (const CallArg& arg : call.args)
    if (arg.label) {
      body.unknownArgument(arg, name, false, {});
      return b.error(call.span);
    }
  if (!isKey(body, asked[0], call.span)) return b.error(call.span);
  const std::string_view function = isDict ? "dict_of" : "set_of";
  const TypeId element = isDict ? body.types.tuple({asked[0], asked[1]}) : asked[0];
  if (isDict && call.args.size() > 1) {
    body.sink.report(DiagId::ArgumentCount, call.span, name, "1", std::to_string(call.args.size()));
    return b.error(call.span);
  }
  if (call.args.size() == 1) {
    NodeId x = body.unpacked(body.checkArg(call.args[0]), call.args[0].span);
    if (b.kindOf(x) == TypeKind::Error || b.kindOf(x) == TypeKind::Never) return x;
    if (isDict || isIterated(body, x)) {
      NodeId list = body.callPrelude("list", {x}, call.span);
      if (b.kindOf(list) == TypeKind::Error) return list;
      const bool isText = b.kindOf(x) == TypeKind::Str;
      if (isText && !isDict && body.types.kind(body.infer.shallow(element)) == TypeKind::Str) {
        body.sink.report(DiagId::ArgumentKind, call.args[0].span, name, "elements of type `str`", "char")
            .hint =
            "in brackets a string is one element: `Set([" + body.writtenShort(call.args[0].span) + "])`";
        return b.error(call.span);
      }
      list = body.coerce(list, body.types.list(element), call.args[0].span, DiagId::ArgumentType, name);
      if (b.kindOf(list) == TypeKind::Error || !isKey(body, asked[0], call.args[0].span))
        return b.error(call.span);
      return body.callPrelude(function, {list}, call.span);
    }
    x = body.coerce(x, element, call.args[0].span, DiagId::ArgumentType, name);
    if (b.kindOf(x) == TypeKind::Error || !isKey(body, element, call.args[0].span)) return b.error(call.span);
    return ofList(body, function, body.infer.zonk(element), {x}, call.span);
  }
  const bool isOpen = body.types.kind(body.infer.shallow(element)) == TypeKind::Var;
  OneType elements(body, isOpen && !call.args.empty() ? TypeId::none() : element);
  std::vector<NodeId> items;
  for (const CallArg& arg : call.args) {
    items.push_back(elements.check(arg.syntax));
    if (b.kindOf(items.back()) == TypeKind::Error) return items.back();
  }
  if (!items.empty() && elements.type() && !isKey(body, elements.type(), call.args[0].span))
    return b.error(call.span);
  if (elements.type()) body.infer.unify(element, elements.type());
  return ofList(body, function, body.infer.zonk(element), std::move(items), call.span);
}

NodeId valueOfKey(Body& body, NodeId dict, const std::vector<Argument>& items, Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(dict);
  std::vector<NodeId> nodes;
  const LocalId held = b.bind("d", dict, nodes);
  NodeId key = keyOf(body, type, items, span);
  if (b.kindOf(key) == TypeKind::Error) return key;
  key = body.pinned(key, "key", nodes);
  const LocalId place = b.bind("place", foundPlace(body, b.local(held, span), key, span), nodes);
  nodes.push_back(body.callPrelude("dict_value", {b.local(held, span), b.local(place, span)}, span));
  return b.block(std::move(nodes), span);
}

bool placeOfKey(Body& body, Target& target, const std::vector<Argument>& items, Span span) {
  Place& place = target.place;
  const TypeId type = body.infer.zonk(place.type);
  Gathers none;
  body.pinSteps(place.steps, none, target.before);
  NodeId key = keyOf(body, type, items, span);
  if (body.b.kindOf(key) == TypeKind::Error) return false;
  key = body.pinned(key, "key", target.before);
  NodeId found = foundPlace(body, body.readPlace(place, span), key, span);
  for (const Step& step : stepsTo(found, span, true)) place.steps.push_back(step);
  place.type = body.types.typeArgs(type)[1];
  target.key = key;
  target.dict = type;
  target.keyEnd = place.steps.size();
  return true;
}

bool isSealed(Body& body, TypeId type) {
  return (body.types.isDict(type) || body.types.isSet(type)) && body.module != body.c.modules.prelude();
}

bool insertsKey(const Target& target) {
  return target.key.valid() && target.keyEnd == target.place.steps.size();
}

NodeId insertAtKey(Body& body, const Target& target, NodeId value, Span span) {
  const size_t steps = stepsTo(NodeId::none(), span, true).size();
  Place dict = target.place;
  dict.steps.resize(dict.steps.size() - steps);
  dict.type = target.dict;
  std::vector<CallArg> args(3);
  for (CallArg& arg : args) arg.span = span;
  args[0].node = body.readPlace(dict, span), args[0].place = dict;
  args[1].node = target.key, args[2].node = value;
  const NameId name = body.types.names.intern("dict_insert");
  return body.callDecl(functionsIn(body.c, body.c.modules.prelude(), name, true)[0], args, nullptr,
                       TypeId::none(), span);
}

bool holdsLate(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.late; });
}

NodeId iteratedList(Body& body, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x);
  if (body.types.isDict(type)) return body.callPrelude("dict_items", {x}, span);
  if (!body.types.isSet(type)) return x;
  return body.callPrelude("keys", {body.b.field(x, 0, span)}, span);
}

} // namespace melix::check
