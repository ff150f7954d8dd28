// Places: paths with their checks, reads, stores.
#include "core/ir/nest.h"
#include "lower/body.h"

namespace melix::lower {

using namespace check;

/// The expressions in the steps of a place, in the order they are written.
void BodyLowering::indexNodes(const std::vector<Step>& steps, std::vector<NodeId>& out) {
  forEachIndex(steps, [&](NodeId index) { out.push_back(index); });
}

/// Their values, start and end for each step, taken from `values` at `next`.
BodyLowering::Indices BodyLowering::takeIndices(const std::vector<Step>& steps,
                                                const std::vector<ValueId>& values, size_t& next) {
  Indices out;
  for (const Step& s : steps) {
    ValueId index = s.index.valid() ? values[next++] : ValueId::none();
    ValueId end = s.end.valid() ? values[next++] : ValueId::none();
    out.push_back({index, end});
  }
  return out;
}

/// Core steps for a place in a value of `type`, with bounds checks.
BodyLowering::LoweredPath BodyLowering::pathWith(TypeId type, ValueId base, const std::vector<Step>& steps,
                                                 const Indices& indices) {
  LoweredPath out;
  size_t axis = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& s = steps[k];
    core::PathStep step{core::StepKind::Field, s.number, {}, s.step};
    switch (s.kind) {
    case check::StepKind::Field:
      step.kind = core::StepKind::Field;
      type = types_.element(type);
      type = types_.kind(type) == TypeKind::Tuple   ? types_[type].parts[s.number]
             : types_.kind(type) == TypeKind::Known ? types_[type].parts[s.number]
                                                    : types_.fieldType(type, 0, s.number);
      axis = 0;
      break;
    case check::StepKind::Index:
      step.kind = core::StepKind::Index;
      check(core::CheckKind::Index, {indices[k].first}, {types_[type].dims[axis++]});
      out.indices.push_back(indices[k].first);
      break;
    case check::StepKind::All:
      step.kind = core::StepKind::All;
      ++axis;
      break;
    case check::StepKind::Slice: {
      step.kind = core::StepKind::Slice;
      step.length = D(s.length);
      DimId extent = types_[type].dims[axis++];
      ValueId end = indices[k].second.valid() ? indices[k].second : b_.dimValue(extent);
      check(core::CheckKind::Slice, {indices[k].first, end}, {extent});
      if (s.mayWrap) checkSize(s.length); // then it is what the ends are apart
      out.indices.push_back(indices[k].first);
      break;
    }
    case check::StepKind::Element: {
      step.kind = core::StepKind::Element;
      ValueId list = out.path.empty() ? base : read(base, out);
      ValueId length = b_.one(Builder::simple(OpKind::Length, {list}), types_.int64());
      check(core::CheckKind::ListIndex, {indices[k].first, length}, {});
      out.indices.push_back(indices[k].first);
      type = types_[types_.element(type)].parts[0];
      axis = 0;
      break;
    }
    }
    out.path.push_back(step);
  }
  return out;
}

ValueId BodyLowering::read(ValueId base, const LoweredPath& p) { return b_.get(base, p.path, p.indices); }

ValueId BodyLowering::get(const Node& node) {
  const std::vector<Step>& steps = node.as<Steps>().steps;
  // Base, then indices in the order written.
  auto* local = std::get_if<LocalRef>(&instance_.nodes[node.children[0]].payload);
  ValueId known = local ? whole(local->local, steps) : ValueId::none();
  std::vector<NodeId> children;
  if (!known) children.push_back(node.children[0]);
  indexNodes(steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    ValueId base = known ? known : v[0];
    size_t next = known ? 0 : 1;
    Indices indices = takeIndices(steps, v, next);
    if (types_.kind(b_.typeOf(base)) == TypeKind::Known)
      return b_.one(Builder::simple(OpKind::Capture, {base}, steps[0].number),
                    types_[b_.typeOf(base)].parts[steps[0].number]);
    LoweredPath p = pathWith(b_.typeOf(base), base, steps, indices);
    return cast(read(base, p), T(node.type));
  });
}

void BodyLowering::write(const Place& place, const LoweredPath& p, ValueId value) {
  if (p.path.empty()) {
    define(place.root, cast(value, b_.typeOf(values_.at(place.root))));
    return;
  }
  ValueId base = values_.at(place.root);
  if (auto type = core::pathType(types_, b_.typeOf(base), p.path)) value = cast(value, *type);
  ValueId next = b_.set(base, value, p.path, p.indices);
  b_.fn().values[next].hint = b_.fn().values[base].hint;
  values_[place.root] = next;
}

BodyLowering::LoweredPath BodyLowering::placePath(const Place& place, const std::vector<ValueId>& values,
                                                  size_t& next) {
  Indices indices = takeIndices(place.steps, values, next);
  ValueId root = values_.at(place.root);
  return pathWith(b_.typeOf(root), root, place.steps, indices);
}

ValueId BodyLowering::current(const Place& place, const LoweredPath& p) {
  return p.path.empty() ? values_.at(place.root) : read(values_.at(place.root), p);
}

ValueId BodyLowering::assign(const Node& node) {
  const Place& place = node.as<Place>();
  std::vector<NodeId> children;
  indexNodes(place.steps, children);
  children.push_back(node.children[0]);
  return after(children, types_.unit(), [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(place, v, next);
    write(place, p, v[next]);
    return unit();
  });
}

/// The place's indices, then the value, then check, read and store (rule 14).
ValueId BodyLowering::update(const Node& node) {
  const Update& ref = node.as<Update>();
  std::vector<NodeId> children;
  indexNodes(ref.place.steps, children);
  children.push_back(node.children[0]);
  return after(children, types_.unit(), [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(ref.place, v, next);
    values_[ref.current] = current(ref.place, p);
    values_[ref.value] = v[next];
    ValueId combined = expr(node.children[1]);
    values_.erase(ref.value);
    values_.erase(ref.current);
    write(ref.place, p, combined);
    return unit();
  });
}

/// Whether an update adds a number to an element of a variable, or takes one away: `current ± value`.
bool BodyLowering::addsToElement(NodeId statement) {
  const Node& node = instance_.nodes[statement];
  if (node.kind != NodeKind::Update) return false;
  const Update& ref = node.as<Update>();
  const Node& made = instance_.nodes[node.children[1]];
  bool sum = made.kind == NodeKind::Op &&
             (made.as<OpRef>().kind == OpKind::Add || made.as<OpRef>().kind == OpKind::Sub);
  if (!sum || !types_.isScalar(made.type) || ref.place.steps.empty()) return false;
  for (const Step& s : ref.place.steps)
    if (s.kind != check::StepKind::Index) return false;
  auto readsCurrent = [&](NodeId n) {
    auto* local = std::get_if<LocalRef>(&instance_.nodes[n].payload);
    return local && local->local == ref.current;
  };
  bool again = false;
  forEachNode(instance_, made.children[1], [&](NodeId n) { again |= readsCurrent(n); });
  return readsCurrent(made.children[0]) && !again;
}

/// `x[ids] += v`: every point adds to an accumulator that begins as `x`.
ValueId BodyLowering::scatterSum(const Node& node) {
  const Scatter& ref = node.as<Scatter>();
  const Node& statement = instance_.nodes[node.children[0]];
  const Update& update = statement.as<Update>();
  const Node& made = instance_.nodes[statement.children[1]];
  ValueId root = values_.at(update.place.root);
  TypeId type = b_.typeOf(root);
  core::NestBuilder nest(b_);
  checkCounts(ref.axes);
  inRegion(nest.body(), [&] {
    for (const NestAxis& axis : ref.axes) axisParam(nest, D(axis.extent), axis.index);
    ValueId sum = nest.accumulator(root);
    std::vector<NodeId> nodes;
    indexNodes(update.place.steps, nodes);
    std::vector<ValueId> indices;
    for (NodeId n : nodes) indices.push_back(expr(n));
    values_[update.value] = expr(statement.children[0]);
    size_t next = 0;
    LoweredPath p = pathWith(type, root, update.place.steps, takeIndices(update.place.steps, indices, next));
    ValueId value = expr(made.children[1]);
    if (made.as<OpRef>().kind == OpKind::Sub) value = b_.unary(OpKind::Neg, value);
    nest.end(b_.addAt(sum, value, p.path, p.indices));
  });
  values_[update.place.root] = nest.one();
  return unit();
}

/// `x[ids] op= v`: one statement for each point, in row-major order.
ValueId BodyLowering::scatter(const Node& node) {
  if (addsToElement(node.children[0])) return scatterSum(node);
  const Scatter& ref = node.as<Scatter>();
  std::function<void(size_t)> level = [&](size_t k) {
    if (k == ref.axes.size()) {
      expr(node.children[0]);
      return;
    }
    DimId extent = D(ref.axes[k].extent);
    checkCounts({ref.axes[k]});
    Counted range;
    range.type = types_.int64();
    range.count = b_.dimValue(extent);
    countedLoop(ref.axes[k].index, {node.children[0]}, range, false, [&] { level(k + 1); });
  };
  level(0);
  return unit();
}

ValueId BodyLowering::pop(const Node& node) {
  const Place& place = node.as<Place>();
  std::vector<NodeId> children;
  indexNodes(place.steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath p = placePath(place, v, next);
    ValueId list = current(place, p);
    TypeId listType = b_.typeOf(list);
    core::OpId made = b_.append(Builder::simple(OpKind::Pop, {list}), {types_[listType].parts[0], listType});
    write(place, p, b_.result(made, 1));
    return b_.result(made, 0);
  });
}

} // namespace melix::lower
