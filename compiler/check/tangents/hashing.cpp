// `hash_of`: equal values, equal numbers, by the type as `==` is (rule 18). Enums, Lists, arrays and what may
// hold itself have an instance of their own; how a hash goes on is the library's (`hash_add`). What a user
// compares by a `==` is hashed by the user's `hash` (rule 48).
#include "check/body/attempt.h"
#include "check/body/dicts.h"
#include "check/tangents/equality.h"
#include "check/tree/protocols.h"

#include <cassert>
#include <set>

namespace melix::check {

namespace {

/// Whether values of the type are compared by a `==` that a user declared.
bool hasOwnEquality(Body& body, TypeId type, Span span) {
  const TypeKind k = body.types.kind(type);
  if (k != TypeKind::Struct && k != TypeKind::Enum) return false;
  Attempt attempt(body);
  const NodeId any = body.b.local(body.b.newLocal("x", type, span), span);
  return body.callOwnEquality(any, any, span).valid();
}

/// `hash(x)` of a user's; none if no function of that name takes it.
NodeId ownHash(Body& body, NodeId x, Span span) {
  const auto declared = body.protocolFunction(body.types.names.intern(protocols::hash), x, span);
  if (!declared) return NodeId::none();
  std::vector<CallArg> args{{NameId::none(), SynId::none(), x, span}};
  return body.callDecl(*declared, args, nullptr, TypeId::none(), span);
}

bool hasOwnHash(Body& body, TypeId type, Span span) {
  Attempt attempt(body);
  const NodeId hash = ownHash(body, body.b.local(body.b.newLocal("x", type, span), span), span);
  return hash.valid() && body.b.kindOf(hash) == TypeKind::U64;
}

/// The first unhashed type, in order of declaration; `seen` are those that are looked at.
TypeId unhashed(Body& body, TypeId type, std::set<TypeId>& seen, Span span) {
  const TypeStore& types = body.types;
  if (!seen.insert(type).second) return TypeId::none();
  std::vector<TypeId> parts = types[type].parts;
  if (hasOwnEquality(body, type, span)) return hasOwnHash(body, type, span) ? TypeId::none() : type;
  if (types.kind(type) == TypeKind::Struct || types.kind(type) == TypeKind::Enum) {
    const auto cases = static_cast<uint32_t>(types.recordInfo(types[type].record).cases.size());
    for (uint32_t k = 0; k < cases; ++k) {
      const size_t fields = types.recordInfo(types[type].record).cases[k].fields.size();
      for (uint32_t f = 0; f < fields; ++f) parts.push_back(body.types.fieldType(type, k, f));
    }
  }
  for (TypeId part : parts)
    if (TypeId found = unhashed(body, part, seen, span)) return found;
  return TypeId::none();
}

/// `hash` with parts behind it, one after another.
NodeId hashedParts(Body& body, NodeId hash, const std::vector<NodeId>& parts, std::vector<NodeId> nodes,
                   Span span) {
  for (NodeId part : parts) {
    hash = hashed(body, hash, part, span);
    if (body.b.kindOf(hash) == TypeKind::Error) return hash;
    hash = body.b.local(body.b.bind("h", hash, nodes), span);
  }
  nodes.push_back(hash);
  return body.b.block(std::move(nodes), span);
}

NodeId hashedRecord(Body& body, NodeId hash, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x);
  const bool isTuple = body.types.kind(type) == TypeKind::Tuple;
  const size_t count = isTuple ? body.types[type].parts.size()
                               : body.types.recordInfo(body.types[type].record).cases[0].fields.size();
  std::vector<NodeId> nodes, parts;
  NodeId whole = body.b.local(body.b.bind("x", x, nodes), span);
  for (uint32_t k = 0; k < count; ++k) parts.push_back(body.b.field(whole, k, span));
  return hashedParts(body, hash, parts, std::move(nodes), span);
}

/// `match x { Case(f…) => hash, the number of the case, f… }`
NodeId hashedCases(Body& body, NodeId hash, NodeId x, Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(x);
  const size_t count = body.types.recordInfo(body.types[type].record).cases.size();
  Arms arms;
  for (uint32_t k = 0; k < count; ++k) {
    std::vector<NodeId> fields;
    const PatternId pattern = body.casePattern(type, k, fields, span);
    NodeId begun = body.callPrelude("hash_add", {hash, b.integer(k, span, b.typeOf(hash))}, span);
    arms.arms.push_back({pattern, NodeId::none(), hashedParts(body, begun, fields, {}, span)});
  }
  return b.make(NodeKind::Match, b.typeOf(hash), span, {x}, std::move(arms));
}

/// `var total = hash_add(hash, length); for k in 0..length { total = hashed(total, x[k]) }; total`
NodeId hashedElements(Body& body, NodeId hash, NodeId x, Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(x), number = b.typeOf(hash), unit = body.types.unit();
  const bool isList = body.types.kind(type) == TypeKind::List;
  auto length = [&] {
    return isList ? b.make(NodeKind::Length, body.types.int64(), span, {x})
                  : b.dimValue(b.dimsOf(type)[0], span);
  };
  const LocalId total = b.newLocal("total", number, span, true);
  check::For loop;
  loop.loop = static_cast<LoopId>(body.instance.nodes.size());
  loop.index = b.newLocal("k", body.types.int64(), span);
  NodeId element = b.local(loop.index, span);
  if (isList) {
    Steps steps{{Step{StepKind::Element, 0, element, {}, {}, 1, span}}};
    element = b.make(NodeKind::Get, body.types[type].parts[0], span, {x}, std::move(steps));
  } else {
    element = b.at(x, {loop.index}, span);
  }
  NodeId next = hashed(body, b.local(total, span), element, span);
  NodeId set = b.make(NodeKind::Assign, unit, span, {next}, Place{total, {}, number});
  NodeId each = b.make(NodeKind::For, unit, span, {b.integer(0, span), length(), set}, loop);
  NodeId begun = body.callPrelude("hash_add", {hash, length()}, span);
  return b.block({b.let(total, begun), each, b.local(total, span)}, span);
}

/// A value with sizes beside it: these, then what is inside.
NodeId hashedInside(Body& body, NodeId hash, NodeId x, Span span) {
  NodeBuilder::Opened opened = body.b.open(x, span);
  return hashedParts(body, hash, {opened.value}, std::move(opened.nodes), span);
}

} // namespace

TypeId unhashedInside(Body& body, TypeId type, Span span) {
  std::set<TypeId> seen;
  return unhashed(body, type, seen, span);
}

NodeId hashed(Body& body, NodeId hash, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x);
  if (hasOwnEquality(body, type, span)) {
    NodeId own = ownHash(body, x, span);
    assert(own.valid() && "a key with a `==` of its own has a `hash` too");
    return body.b.kindOf(own) == TypeKind::Error ? own : body.callPrelude("hash_add", {hash, own}, span);
  }
  switch (body.types.kind(type)) {
  case TypeKind::Error: return x;
  case TypeKind::Param: return hash; // only looked at where it is declared
  case TypeKind::Tuple: return hashedRecord(body, hash, x, span);
  case TypeKind::Pack: return hashedInside(body, hash, x, span);
  case TypeKind::Struct:
    if (body.types.isDict(type)) return body.callPrelude("hash_add", {hash, x}, span);
    if (!body.b.isBoxed(type)) return hashedRecord(body, hash, x, span);
    [[fallthrough]];
  case TypeKind::Enum:
  case TypeKind::List:
  case TypeKind::Array: {
    Known known;
    known.kind = KnownKind::Hashed;
    known.name = "hash_of";
    return body.callOwn(std::move(known), placeOfEquality(body), {hash, x}, span);
  }
  default: return body.callPrelude("hash_add", {hash, x}, span);
  }
}

NodeId hashedBody(Body& body, NodeId hash, NodeId x, Span span) {
  switch (body.b.kindOf(x)) {
  case TypeKind::Struct: return hashedRecord(body, hash, x, span);
  case TypeKind::Enum: return hashedCases(body, hash, x, span);
  default: return hashedElements(body, hash, x, span);
  }
}

NodeId callHashOf(Body& body, const CallArg& arg, Span span) {
  NodeId x = body.checkArg(arg);
  if (body.b.kindOf(x) == TypeKind::Error || body.b.kindOf(x) == TypeKind::Never) return x;
  for (TypeId open : body.infer.openVars({body.b.typeOf(x)}))
    if (body.infer.varClass(open) == types::VarClass::OpenInt) body.infer.unify(body.types.int64(), open);
  if (!isKey(body, body.b.typeOf(x), arg.span)) return body.b.error(span);
  std::vector<NodeId> nodes;
  NodeId value = body.b.local(body.b.bind("x", x, nodes), span);
  nodes.push_back(hashed(body, body.b.number("0", body.types.scalar(TypeKind::U64), span), value, span));
  return body.b.block(std::move(nodes), span);
}

} // namespace melix::check
