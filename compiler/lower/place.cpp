// Places: paths with their checks, reads, stores.
#include "lower/place.h"

#include "core/ir/nest.h"
#include "lower/body.h"
#include "lower/loops.h"
#include "lower/nest.h"
#include "lower/sizes.h"

namespace melix::lower {

using namespace check;

namespace {

using Indices = std::vector<std::pair<ValueId, ValueId>>;

/// Their values, start and end for each step, taken from `values` at `next`.
Indices takeIndices(const std::vector<Step>& steps, const std::vector<ValueId>& values, size_t& next) {
  Indices out;
  for (const Step& s : steps) {
    ValueId index = s.index.valid() ? values[next++] : ValueId::none();
    ValueId end = s.end.valid() ? values[next++] : ValueId::none();
    out.push_back({index, end});
  }
  return out;
}

ValueId readPath(BodyLowering& fn, ValueId base, const LoweredPath& p) {
  return fn.b.get(base, p.path, p.indices);
}

/// Core steps for a place in a value of `type`, with bounds checks.
LoweredPath pathWith(BodyLowering& fn, TypeId type, ValueId base, const std::vector<Step>& steps,
                     const Indices& indices) {
  LoweredPath out;
  size_t axis = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& s = steps[k];
    core::PathStep step{core::StepKind::Field, s.number, {}, s.step};
    switch (s.kind) {
    case check::StepKind::Field:
      step.kind = core::StepKind::Field;
      type = fn.types.element(type);
      type = fn.types.kind(type) == TypeKind::Tuple   ? fn.types[type].parts[s.number]
             : fn.types.kind(type) == TypeKind::Known ? fn.types[type].parts[s.number]
                                                      : fn.types.fieldType(type, 0, s.number);
      axis = 0;
      break;
    case check::StepKind::Index:
      step.kind = core::StepKind::Index;
      fn.check(core::CheckKind::Index, {indices[k].first}, {fn.types[type].dims[axis++]});
      out.indices.push_back(indices[k].first);
      break;
    case check::StepKind::All:
      step.kind = core::StepKind::All;
      ++axis;
      break;
    case check::StepKind::Slice: {
      step.kind = core::StepKind::Slice;
      step.length = fn.D(s.length);
      DimId extent = fn.types[type].dims[axis++];
      ValueId end = indices[k].second.valid() ? indices[k].second : fn.b.dimValue(extent);
      fn.check(core::CheckKind::Slice, {indices[k].first, end}, {extent});
      if (s.mayWrap) checkSize(fn, s.length); // then it is what the ends are apart
      out.indices.push_back(indices[k].first);
      break;
    }
    case check::StepKind::Element: {
      step.kind = core::StepKind::Element;
      ValueId list = out.path.empty() ? base : readPath(fn, base, out);
      ValueId length = fn.b.one(Builder::simple(OpKind::Length, {list}), fn.types.int64());
      fn.check(core::CheckKind::ListIndex, {indices[k].first, length}, {});
      out.indices.push_back(indices[k].first);
      type = fn.types[fn.types.element(type)].parts[0];
      axis = 0;
      break;
    }
    }
    out.path.push_back(step);
  }
  return out;
}

/// Whether an update adds a number to an element of a variable, or takes one away: `current ± value`.
bool addsToElement(BodyLowering& fn, NodeId statement) {
  const Node& node = fn.instance.nodes[statement];
  if (node.kind != NodeKind::Update) return false;
  const Update& ref = node.as<Update>();
  const Node& made = fn.instance.nodes[node.children[1]];
  bool sum = made.kind == NodeKind::Op &&
             (made.as<OpRef>().kind == OpKind::Add || made.as<OpRef>().kind == OpKind::Sub);
  if (!sum || !fn.types.isScalar(made.type) || ref.place.steps.empty()) return false;
  for (const Step& s : ref.place.steps)
    if (s.kind != check::StepKind::Index) return false;
  auto readsCurrent = [&](NodeId n) {
    auto* local = std::get_if<LocalRef>(&fn.instance.nodes[n].payload);
    return local && local->local == ref.current;
  };
  bool again = false;
  forEachNode(fn.instance, made.children[1], [&](NodeId n) { again |= readsCurrent(n); });
  return readsCurrent(made.children[0]) && !again;
}

/// `x[ids] += v`: every point adds to an accumulator that begins as `x`.
ValueId lowerScatterSum(BodyLowering& fn, const Node& node) {
  const Scatter& ref = node.as<Scatter>();
  const Node& statement = fn.instance.nodes[node.children[0]];
  const Update& update = statement.as<Update>();
  const Node& made = fn.instance.nodes[statement.children[1]];
  ValueId root = fn.values.at(update.place.root);
  TypeId type = fn.b.typeOf(root);
  core::NestBuilder nest(fn.b);
  checkCounts(fn, ref.axes);
  inRegion(fn, nest.body(), [&] {
    for (const NestAxis& axis : ref.axes) axisParam(fn, nest, fn.D(axis.extent), axis.index);
    ValueId sum = nest.accumulator(root);
    std::vector<NodeId> nodes;
    indexNodes(update.place.steps, nodes);
    std::vector<ValueId> indices;
    for (NodeId n : nodes) indices.push_back(fn.expr(n));
    fn.values[update.value] = fn.expr(statement.children[0]);
    size_t next = 0;
    LoweredPath p =
        pathWith(fn, type, root, update.place.steps, takeIndices(update.place.steps, indices, next));
    ValueId value = fn.expr(made.children[1]);
    if (made.as<OpRef>().kind == OpKind::Sub) value = fn.b.unary(OpKind::Neg, value);
    nest.end(fn.b.addAt(sum, value, p.path, p.indices));
  });
  fn.values[update.place.root] = nest.one();
  return fn.unit();
}

} // namespace

/// The expressions in the steps of a place, in the order they are written.
void indexNodes(const std::vector<Step>& steps, std::vector<NodeId>& out) {
  forEachIndex(steps, [&](NodeId index) { out.push_back(index); });
}

ValueId lowerGet(BodyLowering& fn, const Node& node) {
  const std::vector<Step>& steps = node.as<Steps>().steps;
  // Base, then indices in the order written.
  auto* local = std::get_if<LocalRef>(&fn.instance.nodes[node.children[0]].payload);
  ValueId known = local ? whole(fn, local->local, steps) : ValueId::none();
  std::vector<NodeId> children;
  if (!known) children.push_back(node.children[0]);
  indexNodes(steps, children);
  return fn.after(children, node.type, [&](std::vector<ValueId> v) {
    ValueId base = known ? known : v[0];
    size_t next = known ? 0 : 1;
    Indices indices = takeIndices(steps, v, next);
    if (fn.types.kind(fn.b.typeOf(base)) == TypeKind::Known)
      return fn.b.one(Builder::simple(OpKind::Capture, {base}, steps[0].number),
                      fn.types[fn.b.typeOf(base)].parts[steps[0].number]);
    LoweredPath p = pathWith(fn, fn.b.typeOf(base), base, steps, indices);
    return fn.cast(readPath(fn, base, p), fn.T(node.type));
  });
}

void writePath(BodyLowering& fn, const Place& place, const LoweredPath& p, ValueId value) {
  if (p.path.empty()) {
    fn.define(place.root, fn.cast(value, fn.b.typeOf(fn.values.at(place.root))));
    return;
  }
  ValueId base = fn.values.at(place.root);
  if (auto type = core::pathType(fn.types, fn.b.typeOf(base), p.path)) value = fn.cast(value, *type);
  ValueId next = fn.b.set(base, value, p.path, p.indices);
  fn.b.fn().values[next].hint = fn.b.fn().values[base].hint;
  fn.values[place.root] = next;
}

LoweredPath placePath(BodyLowering& fn, const Place& place, const std::vector<ValueId>& values,
                      size_t& next) {
  Indices indices = takeIndices(place.steps, values, next);
  ValueId root = fn.values.at(place.root);
  return pathWith(fn, fn.b.typeOf(root), root, place.steps, indices);
}

ValueId current(BodyLowering& fn, const Place& place, const LoweredPath& p) {
  return p.path.empty() ? fn.values.at(place.root) : readPath(fn, fn.values.at(place.root), p);
}

ValueId lowerAssign(BodyLowering& fn, const Node& node) {
  const Place& place = node.as<Place>();
  std::vector<NodeId> children;
  indexNodes(place.steps, children);
  children.push_back(node.children[0]);
  return fn.after(children, fn.types.unit(), [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(fn, place, v, next);
    writePath(fn, place, p, v[next]);
    return fn.unit();
  });
}

/// The place's indices, then the value, then check, read and store (rule 14).
ValueId lowerUpdate(BodyLowering& fn, const Node& node) {
  const Update& ref = node.as<Update>();
  std::vector<NodeId> children;
  indexNodes(ref.place.steps, children);
  children.push_back(node.children[0]);
  return fn.after(children, fn.types.unit(), [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(fn, ref.place, v, next);
    fn.values[ref.current] = current(fn, ref.place, p);
    fn.values[ref.value] = v[next];
    ValueId combined = fn.expr(node.children[1]);
    fn.values.erase(ref.value);
    fn.values.erase(ref.current);
    writePath(fn, ref.place, p, combined);
    return fn.unit();
  });
}

/// `x[ids] op= v`: one statement for each point, in row-major order.
ValueId lowerScatter(BodyLowering& fn, const Node& node) {
  if (addsToElement(fn, node.children[0])) return lowerScatterSum(fn, node);
  const Scatter& ref = node.as<Scatter>();
  std::function<void(size_t)> level = [&](size_t k) {
    if (k == ref.axes.size()) {
      fn.expr(node.children[0]);
      return;
    }
    DimId extent = fn.D(ref.axes[k].extent);
    checkCounts(fn, {ref.axes[k]});
    Counted range;
    range.type = fn.types.int64();
    range.count = fn.b.dimValue(extent);
    countedLoop(fn, ref.axes[k].index, {node.children[0]}, range, false, [&] { level(k + 1); });
  };
  level(0);
  return fn.unit();
}

ValueId lowerPop(BodyLowering& fn, const Node& node) {
  const Place& place = node.as<Place>();
  std::vector<NodeId> children;
  indexNodes(place.steps, children);
  return fn.after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(fn, place, v, next);
    ValueId list = current(fn, place, p);
    TypeId listType = fn.b.typeOf(list);
    core::OpId made =
        fn.b.append(Builder::simple(OpKind::Pop, {list}), {fn.types[listType].parts[0], listType});
    writePath(fn, place, p, fn.b.result(made, 1));
    return fn.b.result(made, 0);
  });
}

} // namespace melix::lower
