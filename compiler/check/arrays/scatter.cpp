// Assignment through index arrays and masks (rule 14): `x[ids] = v`, `x[ids] op= v`, `x[mask] op= v`.
#include "check/body/body.h"
#include "check/tree/broadcast.h"

namespace melix::check {

using namespace syntax;

/// Whether `value` can be spread over a place of `type`. Sizes that only the run can compare are checked in
/// `nodes`.
bool Body::isBroadcastable(NodeId value, TypeId type, std::vector<NodeId>& nodes) {
  Span span = b.spanOf(value);
  TypeId mine = b.typeOf(value);
  const std::vector<DimId> dims = b.dimsOf(infer.zonk(type));
  BroadcastResult shape = broadcast(infer, types.dims, {dims, b.dimsOf(mine)});
  if (shape.kind == UnifyKind::DimsDiffer) {
    Diagnostic& told = b.shapesDiffer(type, shape.differ.leftAxis, mine, shape.differ.rightAxis, span);
    b.noteNames(told, dims[shape.differ.leftAxis]);
    b.noteOrigin(told, value, shape.differ.rightAxis);
    return false;
  }
  if (shape.dims.size() > dims.size()) {
    sink.report(DiagId::TypeMismatch, span, b.show(type), b.show(mine));
    return false;
  }
  for (size_t k = 0; k < dims.size(); ++k) {
    DimId want = infer.zonk(dims[k]), got = infer.zonk(shape.dims[k]);
    if (want == got) continue;
    UnifyResult match{UnifyKind::DimsDiffer, {}, want, got, dims[k], static_cast<uint32_t>(k)};
    b.reportMismatch(match, type, mine, value, span);
    return false;
  }
  std::vector<DimCheckItem> checks;
  for (const AxisPair& at : shape.checks)
    checks.push_back(b.shapesFit(type, at.leftAxis, mine, at.rightAxis));
  if (!checks.empty()) nodes.push_back(b.dimChecks(std::move(checks), span));
  return true;
}

/// The element of `value` that meets the point `at`: trailing axes align, an extent of 1 stretches.
NodeId Body::broadcastElement(NodeId value, const std::vector<LocalId>& at, Span span) {
  const std::vector<DimId> dims = b.dimsOf(b.typeOf(value));
  if (dims.empty()) return value;
  Steps steps;
  for (size_t k = 0; k < dims.size(); ++k) {
    bool stretched = types.dims.asConstant(dims[k]) == 1;
    NodeId index = stretched ? b.integer(0, span) : b.local(at[at.size() - dims.size() + k], span);
    steps.steps.push_back({StepKind::Index, 0, index, {}, {}, 1, span});
  }
  return b.make(NodeKind::Get, types.element(b.typeOf(value)), span, {value}, std::move(steps));
}

/// `place = next(what it holds, value)`: the value first, then the place is read.
NodeId Body::update(Place place, NodeId value, FunctionRef<NodeId(NodeId, NodeId)> next, Span span) {
  Update ref;
  ref.value = b.newLocal("value", b.typeOf(value), span);
  ref.current = b.newLocal("current", infer.zonk(place.type), span);
  b.standsFor.add(ref.value, value);
  b.standsFor.add(ref.current, readPlace(place, span));
  bool literal = instance.nodes[value].kind == NodeKind::Const;
  NodeId added = literal ? value : b.local(ref.value, b.spanOf(value));
  NodeId made = next(unpacked(b.local(ref.current, span), span), added);
  if (b.kindOf(made) == TypeKind::Error) return made;
  made = coerce(made, place.type, span);
  ref.place = std::move(place);
  return b.make(NodeKind::Update, types.unit(), span, {value, made}, std::move(ref));
}

/// `place = value` or `place op= value`.
NodeId Body::assignOrUpdate(Place place, const BinaryOp* op, NodeId value, Span span) {
  if (!op) return b.make(NodeKind::Assign, types.unit(), span, {value}, std::move(place));
  auto next = [&](NodeId current, NodeId right) { return combined(*op, current, right, span); };
  return update(std::move(place), value, next, span);
}

/// One assignment or update for each point of `type`, in row-major order; `steps` leads to a point.
NodeId Body::scatter(const Target& target, TypeId type, const BinaryOp* op, NodeId value, Span span,
                     FunctionRef<std::vector<Step>(const std::vector<LocalId>&)> steps) {
  Scatter ref;
  std::vector<LocalId> at;
  for (DimId d : b.dimsOf(infer.zonk(type))) {
    at.push_back(b.newLocal("i", types.int64(), span));
    ref.axes.push_back({at.back(), d, span});
  }
  Place place{target.place.root, steps(at), types.element(target.whole)};
  NodeId statement = assignOrUpdate(std::move(place), op, broadcastElement(value, at, span), span);
  if (b.kindOf(statement) == TypeKind::Error) return statement;
  return b.make(NodeKind::Scatter, types.unit(), span, {statement}, std::move(ref));
}

/// `place[mask] op= value` where the value does not depend on which elements are chosen: they are chosen in
/// one sweep.
NodeId Body::assignWhere(const Target& target, NodeId mask, const BinaryOp* op, NodeId value, Span span) {
  NodeId whole = readPlace(target.place, span);
  TypeId element = types.element(target.whole);
  NodeId made = b.collect(b.dimsOf(target.whole), span, [&](const std::vector<LocalId>& at) {
    std::vector<LocalId> chosen(at.begin(), at.begin() + static_cast<ptrdiff_t>(types.rank(b.typeOf(mask))));
    NodeId current = b.at(whole, at, span), next = broadcastElement(value, at, span);
    if (op) next = combined(*op, current, next, span);
    next = coerce(next, element, span);
    if (b.kindOf(next) == TypeKind::Error) return next;
    return b.make(NodeKind::If, element, span, {b.at(mask, chosen, span), next, current});
  });
  if (b.kindOf(made) == TypeKind::Error) return made;
  return b.make(NodeKind::Assign, types.unit(), span, {made}, target.place);
}

/// The steps to the element of `place` that row `at[0]` of the positions `flat` of a mask means.
std::vector<Step> Body::maskedSteps(const Place& place, NodeId flat, const std::vector<DimId>& axes,
                                    const std::vector<LocalId>& at, Span span) {
  std::vector<Step> steps = place.steps;
  NodeId position = b.at(flat, {at[0]}, span);
  for (size_t k = 0; k < axes.size(); ++k) {
    std::vector<DimId> inner(axes.begin() + static_cast<ptrdiff_t>(k) + 1, axes.end());
    NodeId index = position;
    if (!inner.empty())
      index = b.op(OpKind::IDiv, types.int64(), {index, b.dimValue(types.dims.product(inner), span)}, span);
    if (k > 0) index = b.op(OpKind::IRem, types.int64(), {index, b.dimValue(axes[k], span)}, span);
    steps.push_back({StepKind::Index, 0, index, {}, {}, 1, span});
  }
  for (size_t k = 1; k < at.size(); ++k)
    steps.push_back({StepKind::Index, 0, b.local(at[k], span), {}, {}, 1, span});
  return steps;
}

/// What the index arrays or the mask of a target choose.
NodeId Body::readGathered(const Target& target, Span span) {
  auto bracket = static_cast<ptrdiff_t>(target.bracket);
  const std::vector<Step>& steps = target.place.steps;
  NodeId base = readPlace({target.place.root, {steps.begin(), steps.begin() + bracket}, target.whole}, span);
  if (target.gathers.mask.valid()) return maskSelect(base, target.gathers.mask, span);
  Gathers own = target.gathers;
  for (Gathers::Array& a : own.arrays) a.step -= target.bracket;
  return gather(base, {steps.begin() + bracket, steps.end()}, std::move(own), target.place.type, span);
}

NodeId Body::assignGathered(Target target, const BinaryOp* op, SynId written, Span span) {
  std::vector<NodeId> nodes;
  Gathers& gathers = target.gathers;
  pinSteps(target.place.steps, gathers, nodes);
  bool masked = gathers.mask.valid();
  TypeId type = target.place.type, element = types.element(target.whole);
  DimSym size;
  NodeId flat;
  std::vector<DimId> axes;
  if (masked) {
    gathers.mask = pinned(gathers.mask, "mask", nodes);
    if (!maskFits(target.whole, gathers.mask, span, nodes)) return b.error(span);
    axes = b.dimsOf(b.typeOf(gathers.mask));
    size = types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span});
    std::vector<DimId> dims = b.dimsOf(target.whole);
    dims.erase(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(axes.size()));
    dims.insert(dims.begin(), types.dims.symbol(size));
    type = types.array(element, std::move(dims));
    flat = whereTrue(gathers.mask, size, span, [&](const std::vector<LocalId>& at) {
      NodeId position = b.local(at[0], span);
      for (size_t k = 1; k < at.size(); ++k) {
        position = b.op(OpKind::Mul, types.int64(), {position, b.dimValue(axes[k], span)}, span);
        position = b.op(OpKind::Add, types.int64(), {position, b.local(at[k], span)}, span);
      }
      return position;
    });
  }
  NodeId value = unpacked(checkExpr(written, op ? TypeId::none() : type), span);
  if (b.kindOf(value) == TypeKind::Error) return value;
  if (op && *op == BinaryOp::MatMul) { // not element-wise: what is chosen is multiplied as a whole
    value = pinned(value, "v", nodes);
    value = combined(*op, readGathered(target, span), value, span);
    if (b.kindOf(value) == TypeKind::Error) return value;
    op = nullptr;
  }
  if (!op) value = coerce(value, b.kindOf(value) == TypeKind::Array ? type : element, b.spanOf(value));
  if (b.kindOf(value) == TypeKind::Error) return value;
  std::vector<NodeId> checks;
  if (op && !isBroadcastable(value, type, checks)) return b.error(span);
  bool rows = masked && types.rank(b.typeOf(value)) == types.rank(type);
  if (rows || (masked && !checks.empty())) // the checks tell how many are chosen
    flat = b.local(b.bind("positions", flat, nodes), span);
  value = pinned(value, "v", nodes);
  nodes.insert(nodes.end(), checks.begin(), checks.end());
  NodeId statement; // its operands are names now: nothing is evaluated inside of openings
  if (masked && !rows)
    statement = assignWhere(target, gathers.mask, op, value, span);
  else
    statement = scatter(target, type, op, value, span, [&](const std::vector<LocalId>& at) {
      return masked ? maskedSteps(target.place, flat, axes, at, span)
                    : pointSteps(target.place.steps, target.bracket, gathers, at, span);
    });
  if (b.kindOf(statement) == TypeKind::Error) return statement;
  return finishTarget(target, std::move(nodes), statement, span);
}

} // namespace melix::check
