// Index arrays and masks: what they read and what they write (rules 14 and 30).
#include "check/body/body.h"
#include "check/tree/broadcast.h"

namespace melix::check {

using namespace syntax;

/// The node, or a name for its value: evaluated here, once.
NodeId Body::pinned(NodeId node, std::string_view name, std::vector<NodeId>& nodes) {
  NodeKind k = instance.nodes[node].kind;
  if (k == NodeKind::Const || k == NodeKind::DimValue) return node;
  return b.local(b.bind(name, node, nodes), b.spanOf(node));
}

/// Evaluates the indices of a place here, in the order written, and the index arrays among them.
void Body::pinSteps(std::vector<Step>& steps, Gathers& gathers, std::vector<NodeId>& nodes) {
  for (size_t k = 0; k < steps.size(); ++k) {
    for (Gathers::Array& a : gathers.arrays)
      if (a.step == k) a.values = pinned(a.values, "ids", nodes);
    if (steps[k].late) continue;
    if (steps[k].index.valid()) steps[k].index = pinned(steps[k].index, "at", nodes);
    if (steps[k].end.valid()) steps[k].end = pinned(steps[k].end, "end", nodes);
  }
}

/// The steps to one element of what a bracket with index arrays chooses: `at` has an index for each axis
/// kept.
std::vector<Step> Body::pointSteps(const std::vector<Step>& steps, size_t bracket, const Gathers& gathers,
                                   const std::vector<LocalId>& at, Span span) {
  std::vector<Step> out(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(bracket));
  size_t next = 0;
  for (size_t k = bracket; k < steps.size(); ++k) {
    Step s = steps[k];
    auto array = std::find_if(gathers.arrays.begin(), gathers.arrays.end(),
                              [&](const Gathers::Array& a) { return a.step == k; });
    if (array != gathers.arrays.end()) {
      size_t rank = types.rank(b.typeOf(array->values));
      std::vector<LocalId> mine(at.begin() + static_cast<ptrdiff_t>(next),
                                at.begin() + static_cast<ptrdiff_t>(next + rank));
      next += rank;
      s.index = b.convert(b.at(array->values, mine, span), types.int64(), span);
    } else if (s.kind == StepKind::All || s.kind == StepKind::Slice) {
      NodeId index = b.local(at[next++], span);
      if (s.step != 1) index = b.op(OpKind::Mul, types.int64(), {index, b.integer(s.step, span)}, span);
      if (s.kind == StepKind::Slice) index = b.op(OpKind::Add, types.int64(), {index, s.index}, span);
      s = {StepKind::Index, 0, index, {}, {}, 1, span};
    }
    out.push_back(s);
  }
  for (; next < at.size(); ++next)
    out.push_back({StepKind::Index, 0, b.local(at[next], span), {}, {}, 1, span});
  return out;
}

/// `x[ids, …]`: each index array works on its own axis (a grid).
NodeId Body::gather(NodeId base, std::vector<Step> steps, Gathers gathers, TypeId type, Span span) {
  std::vector<NodeId> nodes;
  NodeId array = b.local(b.bind("x", base, nodes), span);
  pinSteps(steps, gathers, nodes);
  TypeId element = types.element(b.typeOf(base));
  nodes.push_back(b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& at) {
    return b.make(NodeKind::Get, element, span, {array}, Steps{pointSteps(steps, 0, gathers, at, span)});
  }));
  return b.block(std::move(nodes), span);
}

/// Whether `mask` may choose elements of an array of `type`: it has its leading axes. Sizes that only the run
/// can compare are checked in `nodes`.
bool Body::maskFits(TypeId type, NodeId mask, Span span, std::vector<NodeId>& nodes) {
  TypeId maskType = b.typeOf(mask);
  std::vector<DimId> dims = b.dimsOf(type), own = b.dimsOf(maskType);
  if (own.size() > dims.size()) {
    sink.report(DiagId::RankMismatch, span, b.show(type), std::to_string(dims.size()),
                std::to_string(own.size()));
    return false;
  }
  std::vector<DimCheckItem> checks;
  for (size_t k = 0; k < own.size(); ++k) {
    UnifyKind match = infer.unifyDim(dims[k], own[k]);
    if (match == UnifyKind::NeedsCheck) checks.push_back(b.shapesFit(type, k, maskType, k));
    if (match != UnifyKind::DimsDiffer) continue;
    Diagnostic& told = b.shapesDiffer(type, k, maskType, k, span);
    b.noteNames(told, dims[k]);
    b.noteOrigin(told, mask, k);
    return false;
  }
  if (!checks.empty()) nodes.push_back(b.dimChecks(std::move(checks), span));
  return true;
}

/// A sweep over the axes of a mask that keeps `value` where it is true.
NodeId Body::whereTrue(NodeId mask, DimSym size, Span span,
                       FunctionRef<NodeId(const std::vector<LocalId>&)> value) {
  Nest nest;
  nest.filtered = true;
  std::vector<LocalId> at;
  for (DimId d : b.dimsOf(b.typeOf(mask))) {
    at.push_back(b.newLocal("i", types.int64(), span));
    nest.axes.push_back({at.back(), d, span});
  }
  NodeId kept = value(at);
  std::vector<DimId> dims{types.dims.symbol(size)};
  for (DimId d : b.dimsOf(b.typeOf(kept))) dims.push_back(d);
  TypeId type = types.array(types.element(b.typeOf(kept)), std::move(dims));
  NodeId node = b.make(NodeKind::Nest, type, span, {kept, b.at(mask, at, span)}, std::move(nest));
  instance.nodes.edit(node).resultDims = {size};
  return node;
}

/// `x[mask]`: the elements where a mask of the leading axes is true, row-major; their number is unknown.
NodeId Body::maskSelect(NodeId base, NodeId mask, Span span) {
  std::vector<NodeId> nodes;
  NodeId x = b.local(b.bind("x", base, nodes), span), m = b.local(b.bind("mask", mask, nodes), span);
  if (!maskFits(b.typeOf(x), m, span, nodes)) return b.error(span);
  DimSym size = types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span});
  nodes.push_back(
      whereTrue(m, size, span, [&](const std::vector<LocalId>& at) { return b.at(x, at, span); }));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
