// Builders, reductions and element-wise work as nests.
#include "lower/body.h"

#include <limits>

namespace melix::lower {

using namespace check;

ValueId BodyLowering::elementwise(const Node& node) {
  const std::vector<LocalId> elements = node.as<Elementwise>().elements;
  NodeId body = node.children.back();
  std::vector<NodeId> args(node.children.begin(), node.children.end() - 1);
  return after(args, node.type, [&](std::vector<ValueId> v) {
    TypeId type = T(node.type);
    std::vector<DimId> dims = types_[type].dims;
    core::Op op = Builder::simple(OpKind::Nest, {}, core::NestAttr{{resultOf(NestKind::Collect, dims.size())}, 0});
    op.dims = dims;
    RegionId outer = b_.region, region = b_.newRegion();
    b_.region = region;
    Values before = values_;
    std::vector<ValueId> axes;
    for (DimId d : dims) {
      axes.push_back(b_.param(types_.int64()));
      axisExtents_[axes.back()] = d;
    }
    for (size_t k = 0; k < v.size(); ++k) {
      TypeId argType = b_.typeOf(v[k]);
      if (types_.kind(argType) != TypeKind::Array) {
        values_[elements[k]] = v[k];
        continue;
      }
      // Trailing axes align; an extent of 1 stretches.
      const std::vector<DimId> own = types_[argType].dims;
      std::vector<ValueId> index;
      for (size_t a = 0; a < own.size(); ++a) {
        size_t at = dims.size() - own.size() + a;
        bool stretched = types_.dims.asConstant(own[a]) == 1 && types_.dims.asConstant(dims[at]) != 1;
        index.push_back(stretched ? b_.integer(0) : axes[at]);
      }
      values_[elements[k]] = b_.getAt(v[k], index);
    }
    b_.yield({expr(body)});
    values_ = before;
    b_.region = outer;
    op.regions = {region};
    return b_.one(std::move(op), type);
  });
}

core::NestResult BodyLowering::resultOf(NestKind kind, size_t axes) {
  core::NestResult r;
  r.kind = kind == NestKind::Collect ? core::NestResultKind::Collect : core::NestResultKind::Reduce;
  if (kind == NestKind::Collect)
    for (uint32_t k = 0; k < axes; ++k)
      r.keep.push_back(k);
  switch (kind) {
  case NestKind::Prod: r.monoid = core::MonoidKind::Prod; break;
  case NestKind::Min: r.monoid = core::MonoidKind::Min; break;
  case NestKind::Max: r.monoid = core::MonoidKind::Max; break;
  case NestKind::Any: r.monoid = core::MonoidKind::Or; break;
  case NestKind::All: r.monoid = core::MonoidKind::And; break;
  case NestKind::ArgMin: r.monoid = core::MonoidKind::ArgMin; break;
  case NestKind::ArgMax: r.monoid = core::MonoidKind::ArgMax; break;
  default: r.monoid = core::MonoidKind::Sum; break;
  }
  if (kind == NestKind::ArgMin || kind == NestKind::ArgMax)
    r.results = static_cast<uint32_t>(axes);
  return r;
}

/// What a filtered-out element contributes to a reduction.
ValueId BodyLowering::monoidUnit(NestKind kind, TypeId type) {
  if (kind == NestKind::Sum)
    return types_.isScalar(type) ? b_.constant(type, 0) : b_.zero(type);
  if (kind == NestKind::Any || kind == NestKind::All)
    return b_.boolean(kind == NestKind::All);
  TypeKind k = types_.kind(type);
  if (types::isFloatKind(k)) {
    double inf = std::numeric_limits<double>::infinity();
    return b_.number(type, kind == NestKind::Prod ? 1.0 : kind == NestKind::Max || kind == NestKind::ArgMax ? -inf : inf);
  }
  if (kind == NestKind::Prod)
    return b_.constant(type, 1);
  unsigned bits = types::scalarBits(k);
  bool isSigned = types::scalarClass(k) == types::ScalarClass::SInt;
  uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, top = uint64_t(1) << (bits - 1);
  bool least = kind == NestKind::Max || kind == NestKind::ArgMax;
  return b_.constant(type, least ? (isSigned ? top : 0) : (isSigned ? top - 1 : all));
}

ValueId BodyLowering::nest(const Node& node) {
  const Nest ref = node.as<Nest>();
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes)
    dims.push_back(D(axis.extent));
  checkExtents(dims);
  std::vector<LocalId> bound;
  for (const NestAxis& axis : ref.axes)
    bound.push_back(axis.index);
  bool collects = ref.kind == NestKind::Collect;
  // What does not depend on the indices is computed once, before (rule 13).
  auto hoistedBefore = hoisted_;
  std::set<DimSym> innerBefore = innerSymbols_;
  hoist(node.children[0], bound);
  if (ref.filtered)
    hoist(node.children[1], bound);
  core::NestResult result = resultOf(ref.kind, dims.size());
  bool filter = ref.filtered && collects;
  if (filter) {
    result.kind = core::NestResultKind::Filter;
    result.keep = {};
    result.yields = 2;
  }
  core::Op op = Builder::simple(OpKind::Nest, {}, core::NestAttr{{result}, 0});
  op.dims = dims;
  RegionId outer = b_.region, region = b_.newRegion();
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  b_.region = region;
  for (const NestAxis& axis : ref.axes) {
    ValueId i = b_.param(types_.int64(), instance_.locals[axis.index].name);
    axisExtents_[i] = D(axis.extent);
    values_[axis.index] = i;
  }
  ValueId value;
  if (ref.filtered) {
    ValueId keep = expr(node.children[1]);
    TypeId bodyType = instance_.nodes[node.children[0]].type;
    value = branches(Builder::simple(OpKind::If, {keep}), {[&](RegionId) { return expr(node.children[0]); }, [&](RegionId) {
                       TypeId t = T(bodyType);
                       return filter ? b_.undef(t) : monoidUnit(ref.kind, t);
                     }}, bodyType, {});
    b_.yield(filter ? std::vector<ValueId>{keep, value} : std::vector<ValueId>{value});
  } else {
    value = expr(node.children[0]);
    b_.yield({value});
  }
  TypeId yielded = b_.typeOf(value);
  b_.region = outer;
  values_ = before;
  dimMap_ = dimsBefore;
  hoisted_ = hoistedBefore;
  innerSymbols_ = innerBefore;
  op.regions = {region};
  if (filter) {
    op.resultDims = {b_.newDim("n")};
    dimMap_[node.resultDims[0]] = types_.dims.symbol(op.resultDims[0]);
    return b_.one(std::move(op), T(node.type));
  }
  if (collects) {
    std::vector<DimId> shape = dims;
    for (DimId d : types_.kind(yielded) == TypeKind::Array ? types_[yielded].dims : std::vector<DimId>())
      shape.push_back(d);
    ValueId made = b_.one(std::move(op), types_.array(types_.element(yielded), std::move(shape)));
    return cast(made, T(node.type));
  }
  bool needsOne = ref.kind == NestKind::ArgMax || ref.kind == NestKind::ArgMin ||
                  ((ref.kind == NestKind::Max || ref.kind == NestKind::Min) && !types_.isFloat(yielded));
  if (needsOne) {
    DimId count = types_.dims.product(dims);
    if (!types_.dims.atLeast(count, 1))
      check(core::CheckKind::NotEmpty, {}, {count}, ref.kind == NestKind::ArgMax || ref.kind == NestKind::ArgMin ? "argmax" : "maximum");
  }
  if (ref.kind == NestKind::ArgMax || ref.kind == NestKind::ArgMin) {
    std::vector<TypeId> ints(dims.size(), types_.int64());
    core::OpId made = b_.append(std::move(op), std::span<const TypeId>(ints));
    if (dims.size() == 1)
      return b_.result(made);
    std::vector<ValueId> parts;
    for (size_t k = 0; k < dims.size(); ++k)
      parts.push_back(b_.result(made, k));
    return b_.make(T(node.type), std::move(parts));
  }
  return b_.one(std::move(op), yielded);
}

/// Whether `n` reads only what is known outside of the builder at hand.
bool BodyLowering::invariant(NodeId n) {
  std::set<LocalId> inner;
  std::set<DimSym> symbols;
  bool fine = true;
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    for (DimSym s : node.resultDims)
      symbols.insert(s);
    if (auto* let = std::get_if<PatternRef>(&node.payload)) {
      std::function<void(PatternId)> names = [&](PatternId p) {
        const Pattern& pattern = instance_.patterns[p];
        if (pattern.local)
          inner.insert(pattern.local);
        symbols.insert(pattern.unpacked.begin(), pattern.unpacked.end());
        for (PatternId sub : pattern.subs)
          names(sub);
      };
      names(let->pattern);
    }
    if (auto* arms = std::get_if<Arms>(&node.payload)) {
      std::function<void(PatternId)> names = [&](PatternId p) {
        const Pattern& pattern = instance_.patterns[p];
        if (pattern.local)
          inner.insert(pattern.local);
        for (PatternId sub : pattern.subs)
          names(sub);
      };
      for (const check::Arm& arm : arms->arms)
        names(arm.pattern);
    }
    if (auto* nest = std::get_if<Nest>(&node.payload))
      for (const NestAxis& axis : nest->axes)
        inner.insert(axis.index);
    if (auto* elements = std::get_if<Elementwise>(&node.payload))
      inner.insert(elements->elements.begin(), elements->elements.end());
    if (auto* loop = std::get_if<check::For>(&node.payload))
      inner.insert(loop->index);
    if (auto* update = std::get_if<Update>(&node.payload))
      inner.insert({update->value, update->current});
    fine &= node.kind != NodeKind::Return && node.kind != NodeKind::Break && node.kind != NodeKind::Continue && node.kind != NodeKind::Error &&
            node.kind != NodeKind::Assign && node.kind != NodeKind::Update && node.kind != NodeKind::Pop && node.kind != NodeKind::Debug;
  });
  if (!fine)
    return false;
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    if (auto* ref = std::get_if<LocalRef>(&node.payload))
      fine &= inner.contains(ref->local) || values_.contains(ref->local);
    std::vector<DimSym> used;
    types_.collectSymbols(node.type, used);
    if (auto* d = std::get_if<Dim>(&node.payload))
      types_.dims.collectSymbols(d->dim, used);
    for (DimSym s : used)
      fine &= !innerSymbols_.contains(s) || symbols.contains(s);
  });
  return fine;
}

/// Lowers, in front of a builder, the costly parts of its body that do not depend on its indices and are reached on every
/// path through the body.
void BodyLowering::hoist(NodeId body, const std::vector<LocalId>&) {
  visit(body, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    innerSymbols_.insert(node.resultDims.begin(), node.resultDims.end());
  });
  for (uint32_t k = 0; k < instance_.locals.size(); ++k)
    if (instance_.locals[LocalId(k)].asDim && !values_.contains(LocalId(k)))
      innerSymbols_.insert(instance_.locals[LocalId(k)].asDim);
  std::function<void(NodeId)> look = [&](NodeId n) {
    if (hoisted_.contains(n))
      return;
    const Node node = instance_.nodes[n];
    bool costly = node.kind == NodeKind::Call || node.kind == NodeKind::Nest || node.kind == NodeKind::Elementwise ||
                  node.kind == NodeKind::Derivative || node.kind == NodeKind::ArgSort;
    bool io = node.kind == NodeKind::Call && !node.as<CallTarget>().inouts.empty();
    if (costly && !io && flow_ == FlowKind::On && invariant(n)) {
      hoisted_[n] = expr(n);
      return;
    }
    switch (node.kind) {
    case NodeKind::If:
    case NodeKind::Match:
    case NodeKind::ShortAnd:
    case NodeKind::ShortOr: look(node.children[0]); return; // the rest runs on some paths only
    case NodeKind::For:
    case NodeKind::While:
    case NodeKind::Loop: return;
    default: childrenOf(n, look);
    }
  };
  look(body);
}

} // namespace melix::lower
