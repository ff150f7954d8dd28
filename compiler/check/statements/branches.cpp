// Branches and where they meet.
#include "check/statements/branches.h"
#include "check/body/asked_through.h"
#include "check/body/function_values.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

NodeId ownBranch(Body& body, TypeId expected, const std::function<NodeId(TypeId)>& check) {
  const TypeId own = body.infer.withOwnUnknowns(expected);
  const NodeId value = check(own);
  const TypeKind kind = body.b.kindOf(value);
  if (kind != TypeKind::Never && kind != TypeKind::Error)
    return body.coerce(value, own, body.b.spanOf(value));
  body.infer.unify(expected, own); // nothing comes from here that could differ
  return value;
}

NodeId Body::checkIf(const syntax::If& node, Span span, TypeId expected) {
  size_t mark = scope.size();
  const bool isUnsettled = expected && infer.isUnsettled(expected);
  auto branch = [&](SynId written) {
    auto check = [&](TypeId asked) { return checkExpr(written, asked); };
    return isUnsettled ? ownBranch(*this, expected, check) : check(expected);
  };
  if (ast.kind(node.condition) == SynKind::LetCondition) {
    const auto& let = ast[node.condition].as<LetCondition>();
    NodeId value =
        checkAsked(*this, let.value, askedThroughPattern(*this, let.value, let.pattern, node.then, expected));
    bool refutable = false;
    Arm hit;
    hit.pattern = checkPattern(let.pattern, b.typeOf(value), false, refutable);
    ++conditions;
    hit.body = branch(node.then);
    scope.leave(mark);
    Arm miss;
    miss.pattern = anyPattern(b.typeOf(value), span);
    miss.body = node.otherwise ? branch(node.otherwise) : b.unit(span);
    --conditions;
    NodeId joined = joinBranches(NodeId::none(), hit.body, miss.body, span, expected, isUnsettled);
    if (b.kindOf(joined) == TypeKind::Error) return joined;
    const Node& pair = instance.nodes[joined];
    hit.body = pair.children[0], miss.body = pair.children[1];
    NodeId match = b.make(NodeKind::Match, pair.type, span, {value}, Arms{{hit, miss}, {}});
    instance.nodes.edit(match).resultDims = pair.resultDims;
    return match;
  }
  NodeId cond = checkBoolean(node.condition, "`if`");
  ++conditions;
  NodeId then = branch(node.then);
  NodeId otherwise = node.otherwise ? branch(node.otherwise) : NodeId::none();
  --conditions;
  if (!node.otherwise) {
    TypeKind k = b.kindOf(then);
    if (k != TypeKind::Never && k != TypeKind::Error && !types.isUnit(b.typeOf(then)) &&
        !isUsedUp(then, node.then)) {
      sink.report(DiagId::UnusedValue, b.spanOf(then), b.show(b.typeOf(then))).hint =
          "an `else` gives the value for when the condition is false; `let _ = …` discards this one";
      return b.error(span);
    }
    return b.make(NodeKind::If, types.unit(), span, {cond, then});
  }
  return joinBranches(cond, then, otherwise, span, expected, isUnsettled);
}

/// The type of what is of one of two types that differ in sizes: each size that does is a new one, added to
/// `fresh`.
TypeId Body::joinedSizes(TypeId one, TypeId other, Span span, std::vector<DimSym>& fresh) {
  types::Type joined = types[one = infer.zonk(one)];
  const types::Type& theirs = types[other = infer.zonk(other)];
  if (one == other || joined.parts.size() != theirs.parts.size() || joined.dims.size() != theirs.dims.size())
    return one;
  for (size_t k = 0; k < joined.dims.size(); ++k)
    if (joined.dims[k] != theirs.dims[k]) {
      fresh.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span}));
      joined.dims[k] = types.dims.symbol(fresh.back());
    }
  for (size_t k = 0; k < joined.parts.size(); ++k)
    joined.parts[k] = joinedSizes(joined.parts[k], theirs.parts[k], span, fresh);
  return joined.kind == TypeKind::Array ? types.array(joined.parts[0], std::move(joined.dims))
                                        : types.intern(std::move(joined));
}

/// Whether the size has no value before the program runs: what is found, or an `int`.
bool Body::isFoundSize(DimSym s) {
  const types::DimSymKind kind = types.dims.info(s).kind;
  return kind == types::DimSymKind::Unknown || kind == types::DimSymKind::Value;
}

/// What the value so far tells of those that meet it: its type, unless that has sizes or templates, which
/// these need not share.
TypeId Body::expectedFrom(TypeId type) {
  bool sized = type && holdsTemplate(*this, type);
  if (type)
    types.rewrite(infer.zonk(type), [&](TypeId part) {
      sized |= !types[part].dims.empty();
      return part;
    });
  return sized ? TypeId::none() : type;
}

/// The two branches at one type. With a condition: an If; without: a node of the same type holding both.
/// `isUnsettled`: what is asked of them is so, and each is what it found of it.
NodeId Body::joinBranches(NodeId cond, NodeId then, NodeId otherwise, Span span, TypeId expected,
                          bool isUnsettled) {
  TypeId a = b.typeOf(then), o = b.typeOf(otherwise);
  auto made = [&](TypeId type) {
    std::vector<NodeId> children{then, otherwise};
    if (cond.valid()) children.insert(children.begin(), cond);
    return b.make(NodeKind::If, type, span, std::move(children));
  };
  if (types.kind(a) == TypeKind::Never || isUnknownYet(a)) return made(o);
  if (types.kind(o) == TypeKind::Never || isUnknownYet(o)) return made(a);
  if (types.kind(a) == TypeKind::Error || types.kind(o) == TypeKind::Error) return b.error(span);
  if (expected && !isUnsettled) {
    then = coerce(then, expected, b.spanOf(then));
    otherwise = coerce(otherwise, expected, b.spanOf(otherwise));
    return made(infer.zonk(expected));
  }
  // Statement position: branches whose values nobody wants.
  if (!expected && (types.isUnit(a) || types.isUnit(o))) {
    NodeId& valued = types.isUnit(a) ? otherwise : then;
    if (!types.isUnit(b.typeOf(valued)) && isUsedUp(valued, SynId::none()))
      valued = b.block({valued, b.unit(span)}, span);
  }
  joinAsFunctions(*this, then, otherwise);
  a = b.typeOf(then), o = b.typeOf(otherwise);
  if (types.kind(a) == TypeKind::Error || types.kind(o) == TypeKind::Error) return b.error(span);
  UnifyResult match = infer.unify(a, o);
  // One message is enough where they do not meet.
  if (isUnsettled && match.kind > UnifyKind::NeedsCheck) infer.unify(expected, a);
  if (match.kind == UnifyKind::DimsDiffer) {
    b.reportBranches(match, then, otherwise, span);
    return b.error(span);
  }
  if (match.kind == UnifyKind::Mismatch) {
    sink.report(DiagId::BranchTypes, span, b.show(a), b.show(o)).hint = templateHint(*this, a, o);
    return b.error(span);
  }
  if (match.kind == UnifyKind::NeedsCheck) {
    std::vector<DimSym> fresh;
    NodeId node = made(joinedSizes(a, o, span, fresh));
    instance.nodes.edit(node).resultDims = fresh;
    return node;
  }
  return made(infer.zonk(a));
}

} // namespace melix::check
