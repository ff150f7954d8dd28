#include "check/body/dict_tangents.h"

#include "support/function_ref.h"
#include "types/tangent.h"

namespace melix::check {

using types::DictField;

namespace {

/// Goes through a value and its tangent, both ways alike: only what a Dict becomes differs.
class Conversion {
public:
  Conversion(Body& body, bool toKeys, Span span)
      : body_(body), b_(body.b), types_(body.types), toKeys_(toKeys), span_(span) {}

  NodeId convert(NodeId x, NodeId t);
  NodeId whole(NodeId x, NodeId t);

private:
  TypeId wanted(TypeId type) {
    return toKeys_ ? types::tangentType(types_, type) : types::positionalTangent(types_, type);
  }
  NodeId parts(NodeId x, NodeId t);
  NodeId cases(NodeId x, NodeId t);
  NodeId elements(NodeId x, NodeId t);
  NodeId inside(NodeId x, NodeId t);
  NodeId keyed(NodeId x, NodeId t);
  NodeId placed(NodeId x, NodeId t);
  NodeId zeroOf(NodeId x);
  NodeId eachEntry(TypeId element, NodeId count, NodeId condition,
                   FunctionRef<NodeId(const Step&)> element_at);
  NodeId length(NodeId list) { return b_.make(NodeKind::Length, types_.int64(), span_, {list}); }
  NodeId at(NodeId list, const Step& step) { return b_.elementOf(list, step, span_); }
  NodeId compared(ops::CmpKind kind, NodeId left, NodeId right) {
    return b_.op(OpKind::Cmp, types_.boolean(), {left, right}, span_, static_cast<uint32_t>(kind));
  }
  NodeId fieldOf(NodeId dict, DictField field) { return b_.field(dict, static_cast<uint32_t>(field), span_); }

  Body& body_;
  NodeBuilder& b_;
  TypeStore& types_;
  bool toKeys_;
  Span span_;
};

NodeId Conversion::convert(NodeId x, NodeId t) {
  const TypeId type = b_.typeOf(x);
  if (!types::holdsDict(types_, type)) return t;
  switch (types_.kind(type)) {
  case TypeKind::Tuple:
  case TypeKind::Known: return parts(x, t);
  case TypeKind::Array: {
    std::vector<NodeId> nodes;
    NodeId left = b_.local(b_.bind("x", x, nodes), span_), right = b_.local(b_.bind("t", t, nodes), span_);
    nodes.push_back(b_.collect(b_.dimsOf(type), span_, [&](const std::vector<LocalId>& i) {
      return convert(b_.at(left, i, span_), b_.at(right, i, span_));
    }));
    return b_.block(std::move(nodes), span_);
  }
  case TypeKind::Struct:
    if (!types_.isDict(type) && !b_.isBoxed(type)) return parts(x, t);
    [[fallthrough]];
  default: {
    Known known;
    known.kind = toKeys_ ? KnownKind::Keyed : KnownKind::Placed;
    known.name = "tangent";
    return body_.callOwn(std::move(known), span_, {x, t}, span_);
  }
  }
}

/// What an instance of its own does.
NodeId Conversion::whole(NodeId x, NodeId t) {
  const TypeId type = b_.typeOf(x);
  if (types_.isDict(type)) return toKeys_ ? keyed(x, t) : placed(x, t);
  switch (types_.kind(type)) {
  case TypeKind::List: return elements(x, t);
  case TypeKind::Pack: return inside(x, t);
  case TypeKind::Struct: return parts(x, t);
  default: return cases(x, t);
  }
}

NodeId Conversion::parts(NodeId x, NodeId t) {
  std::vector<NodeId> nodes, made;
  NodeId left = b_.local(b_.bind("x", x, nodes), span_), right = b_.local(b_.bind("t", t, nodes), span_);
  const TypeId type = b_.typeOf(x);
  const bool isStruct = types_.kind(type) == TypeKind::Struct;
  const size_t count =
      isStruct ? types_.recordInfo(types_[type].record).cases[0].fields.size() : types_[type].parts.size();
  for (uint32_t k = 0; k < count; ++k) {
    NodeId part =
        types_.kind(type) == TypeKind::Known ? body_.part(left, k, span_) : b_.field(left, k, span_);
    made.push_back(convert(part, b_.field(right, k, span_)));
  }
  nodes.push_back(b_.rebuilt(wanted(type), std::move(made), span_));
  return b_.block(std::move(nodes), span_);
}

/// `match t { Case(s…) => match x { Case(v…) => Case(s…), _ => panic(…) } …, zero => zero }`
NodeId Conversion::cases(NodeId x, NodeId t) {
  const TypeId type = b_.typeOf(x), tangent = b_.typeOf(t), made = wanted(type);
  const size_t count = types_.recordInfo(types_[type].record).cases.size();
  const bool isTangent = types::tangentCase(types_, type, 0) == 0;
  Arms outer;
  for (uint32_t k = isTangent ? 1 : 0; k < count; ++k) {
    const uint32_t there = types::tangentCase(types_, type, k);
    std::vector<NodeId> v, s, fields;
    PatternId value = body_.casePattern(type, k, v, span_),
              slope = body_.casePattern(tangent, there, s, span_);
    for (size_t f = 0; f < v.size(); ++f) fields.push_back(convert(v[f], s[f]));
    Arms inner;
    inner.arms.push_back(
        {value, NodeId::none(), b_.make(NodeKind::Variant, made, span_, std::move(fields), Index{there})});
    if (count > 1)
      inner.arms.push_back({body_.anyPattern(type, span_), NodeId::none(),
                            body_.refuseTangents("a tangent of another case", span_)});
    outer.arms.push_back(
        {slope, NodeId::none(), b_.make(NodeKind::Match, made, span_, {x}, std::move(inner))});
  }
  NodeId zero = b_.make(NodeKind::Variant, made, span_, {}, Index{0});
  outer.arms.push_back({body_.anyPattern(tangent, span_), NodeId::none(), zero});
  return b_.make(NodeKind::Match, made, span_, {t}, std::move(outer));
}

/// A List of what `element_at` gives; none where the condition does not hold.
NodeId Conversion::eachEntry(TypeId element, NodeId count, NodeId condition,
                             FunctionRef<NodeId(const Step&)> element_at) {
  const TypeId list = types_.list(element);
  NodeId made = b_.listOfEach(element, count, element_at, span_);
  return b_.make(NodeKind::If, list, span_, {condition, made, b_.make(NodeKind::ListOf, list, span_)});
}

NodeId Conversion::elements(NodeId x, NodeId t) {
  NodeId some = compared(ops::CmpKind::Ne, length(t), b_.integer(0, span_));
  const TypeId element = types_[wanted(b_.typeOf(x))].parts[0];
  return eachEntry(element, length(x), some, [&](const Step& k) { return convert(at(x, k), at(t, k)); });
}

/// Of a value that hides its sizes: those of its tangent are the same.
NodeId Conversion::inside(NodeId x, NodeId t) {
  std::vector<NodeId> nodes;
  const TypeId type = b_.typeOf(x);
  NodeId value = b_.local(b_.bind("value", body_.unpacked(x, span_), nodes), span_);
  NodeId slope = b_.local(b_.bind("slope", body_.unpacked(t, span_), nodes), span_);
  const TypeId inner = b_.typeOf(value);
  slope = body_.coerce(
      slope, toKeys_ ? types::positionalTangent(types_, inner) : types::tangentType(types_, inner), span_);
  nodes.push_back(body_.coerce(convert(value, slope), wanted(type), span_));
  return b_.block(std::move(nodes), span_);
}

/// The Dict `x` with the tangents of its values; that of no key where `t` is zero.
NodeId Conversion::keyed(NodeId x, NodeId t) {
  const TypeId made = wanted(b_.typeOf(x));
  std::vector<NodeId> nodes;
  NodeId entries = b_.local(b_.bind("entries", fieldOf(x, DictField::Entries), nodes), span_);
  NodeId slopes = b_.local(b_.bind("slopes", fieldOf(t, DictField::Entries), nodes), span_);
  const LocalId some =
      b_.bind("some", compared(ops::CmpKind::Ne, length(slopes), b_.integer(0, span_)), nodes);
  const TypeId entry = types_.tuple(types_.typeArgs(made));
  NodeId out = eachEntry(entry, length(entries), b_.local(some, span_), [&](const Step& k) {
    std::vector<NodeId> both;
    NodeId mine = b_.local(b_.bind("entry", at(entries, k), both), span_);
    NodeId slope = b_.field(at(slopes, k), 1, span_);
    both.push_back(b_.tuple({b_.field(mine, 0, span_), convert(b_.field(mine, 1, span_), slope)}, span_));
    return b_.block(std::move(both), span_);
  });
  const LocalId list = b_.bind("out", out, nodes);
  auto kept = [&](DictField field, NodeId otherwise) {
    NodeId mine = fieldOf(x, field);
    return b_.make(NodeKind::If, b_.typeOf(mine), span_, {b_.local(some, span_), mine, otherwise});
  };
  NodeId noTable = b_.make(NodeKind::ListOf, b_.typeOf(fieldOf(x, DictField::Table)), span_);
  std::vector<NodeId> fields{kept(DictField::Table, noTable), b_.local(list, span_),
                             kept(DictField::Gone, b_.integer(0, span_)),
                             kept(DictField::Bits, b_.integer(0, span_))};
  nodes.push_back(b_.rebuilt(made, std::move(fields), span_));
  return b_.block(std::move(nodes), span_);
}

/// The tangents of `t` at the places of the keys of `x`; none where there are none.
NodeId Conversion::placed(NodeId x, NodeId t) {
  const TypeId made = wanted(b_.typeOf(x)), type = b_.typeOf(x);
  std::vector<NodeId> nodes;
  const TypeId list = types_.fieldType(made, 0, static_cast<uint32_t>(DictField::Entries));
  const TypeId pair = types_[list].parts[0], slope = types_[pair].parts[1];
  NodeId entries = b_.local(b_.bind("entries", fieldOf(x, DictField::Entries), nodes), span_);
  nodes.push_back(body_.callPrelude("dict_has_keys", {x, t}, span_));
  NodeId some = compared(ops::CmpKind::Ne, body_.callPrelude("dict_len", {t}, span_), b_.integer(0, span_));
  NodeId out = eachEntry(pair, length(entries), some, [&](const Step& k) {
    std::vector<NodeId> both;
    NodeId mine = b_.local(b_.bind("entry", at(entries, k), both), span_);
    NodeId value = b_.field(mine, 1, span_);
    NodeId there = b_.local(
        b_.bind("there", body_.callPrelude("dict_find", {t, b_.field(mine, 0, span_)}, span_), both), span_);
    Step step{StepKind::Element, 0, there, {}, {}, 1, span_};
    NodeId given = convert(value, b_.field(at(fieldOf(t, DictField::Entries), step), 1, span_));
    NodeId isThere = compared(ops::CmpKind::Ge, there, b_.integer(0, span_));
    NodeId found = b_.make(NodeKind::If, slope, span_, {isThere, given, zeroOf(value)});
    both.push_back(b_.rebuilt(pair, {b_.unit(span_), found}, span_));
    return b_.block(std::move(both), span_);
  });
  std::vector<NodeId> fields;
  for (uint32_t f = 0; f < types_.recordInfo(types_[type].record).cases[0].fields.size(); ++f)
    fields.push_back(f == static_cast<uint32_t>(DictField::Entries) ? out : b_.unit(span_));
  nodes.push_back(b_.rebuilt(made, std::move(fields), span_));
  return b_.block(std::move(nodes), span_);
}

/// The zero among the tangents of `x`, as Core has them.
NodeId Conversion::zeroOf(NodeId x) {
  const TypeId type = b_.typeOf(x), zero = wanted(type);
  if (types_.kind(type) != TypeKind::Pack) return b_.op(OpKind::Zero, zero, {}, span_);
  std::vector<NodeId> nodes; // of the sizes of the value
  NodeId value = b_.local(b_.bind("value", body_.unpacked(x, span_), nodes), span_);
  NodeId inner = b_.op(OpKind::Zero, types::positionalTangent(types_, b_.typeOf(value)), {}, span_);
  nodes.push_back(body_.coerce(inner, zero, span_));
  return b_.block(std::move(nodes), span_);
}

} // namespace

NodeId keyedTangent(Body& body, NodeId x, NodeId t, Span span) {
  return Conversion(body, true, span).convert(x, t);
}
NodeId placedTangent(Body& body, NodeId x, NodeId t, Span span) {
  return Conversion(body, false, span).convert(x, t);
}
NodeId keyedBody(Body& body, NodeId x, NodeId t, Span span) {
  return Conversion(body, true, span).whole(x, t);
}
NodeId placedBody(Body& body, NodeId x, NodeId t, Span span) {
  return Conversion(body, false, span).whole(x, t);
}

} // namespace melix::check
