// Branches and where they meet.
#include "check/statements/branches.h"
#include "check/body/asked_through.h"
#include "check/body/function_values.h"
#include "check/signatures/lookup.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;

NodeId ownBranch(Body& body, TypeId expected, FunctionRef<NodeId(TypeId)> check) {
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
  auto branch = [&](SynId written) {
    auto check = [&](TypeId asked) { return checkExpr(written, asked); };
    return expected && node.otherwise ? ownBranch(*this, expected, check) : check(expected);
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
    NodeId joined = joinBranches(NodeId::none(), hit.body, miss.body, span, expected);
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
  return joinBranches(cond, then, otherwise, span, expected);
}

bool SizeJoin::allows(UnifyKind kind) const {
  return kind == UnifyKind::NeedsCheck ||
         (kind == UnifyKind::DimsDiffer && expected_ && body_.infer.mayDiffer(expected_));
}

DimId SizeJoin::joined(DimId one, DimId other) {
  types::DimStore& dims = body_.types.dims;
  const auto symbol = dims.asSymbol(one);
  if (one == other || (symbol && std::ranges::find(found, *symbol) != found.end())) return one;
  found.push_back(dims.newSym({"_", types::DimSymKind::Unknown, 0, span_}));
  return dims.symbol(found.back());
}

TypeId SizeJoin::join(TypeId one, TypeId other) {
  TypeStore& types = body_.types;
  one = body_.infer.zonk(one), other = body_.infer.zonk(other);
  if (!expected_) return joinAxes(one, other);
  const TypeId wanted = body_.infer.zonk(expected_);
  types::DimSubst sizes, others;
  matchSymbols(body_.c, wanted, one, sizes);
  matchSymbols(body_.c, wanted, other, others);
  if (types.substitute(wanted, sizes) != one || types.substitute(wanted, others) != other)
    return joinAxes(one, other); // variables stand in formulas only
  for (auto& [variable, size] : sizes) size = joined(size, others.at(variable));
  return types.substitute(wanted, sizes);
}

TypeId SizeJoin::joinAxes(TypeId one, TypeId other) {
  TypeStore& types = body_.types;
  types::Type type = types[one];
  const types::Type& theirs = types[other];
  if (one == other || type.parts.size() != theirs.parts.size() || type.dims.size() != theirs.dims.size())
    return one;
  for (size_t k = 0; k < type.dims.size(); ++k) type.dims[k] = joined(type.dims[k], theirs.dims[k]);
  for (size_t k = 0; k < type.parts.size(); ++k) type.parts[k] = joinAxes(type.parts[k], theirs.parts[k]);
  return type.kind == TypeKind::Array ? types.array(type.parts[0], std::move(type.dims))
                                      : types.intern(std::move(type));
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
NodeId Body::joinBranches(NodeId cond, NodeId then, NodeId otherwise, Span span, TypeId expected) {
  TypeId a = b.typeOf(then), o = b.typeOf(otherwise);
  auto made = [&](TypeId type) {
    std::vector<NodeId> children{then, otherwise};
    if (cond.valid()) children.insert(children.begin(), cond);
    return b.make(NodeKind::If, type, span, std::move(children));
  };
  if (types.kind(a) == TypeKind::Never || isUnknownYet(a)) return made(o);
  if (types.kind(o) == TypeKind::Never || isUnknownYet(o)) return made(a);
  if (types.kind(a) == TypeKind::Error || types.kind(o) == TypeKind::Error) return b.error(span);
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
  SizeJoin sizes(*this, expected, span);
  if (sizes.allows(match.kind)) {
    NodeId node = made(sizes.join(a, o));
    instance.nodes.edit(node).resultDims = std::move(sizes.found);
    return node;
  }
  // One message is enough where they do not meet.
  if (expected && match.kind != UnifyKind::Equal) infer.unify(expected, a);
  if (match.kind == UnifyKind::DimsDiffer) {
    b.reportBranches(match, then, otherwise, span);
    return b.error(span);
  }
  if (match.kind == UnifyKind::Mismatch) {
    sink.report(DiagId::BranchTypes, span, b.show(a), b.show(o)).hint = templateHint(*this, a, o);
    return b.error(span);
  }
  return made(infer.zonk(a));
}

} // namespace melix::check
