// What a builder's body computes from some of the indices only is computed in front of it, once for each
// value of those (rule 13).
//
//   [for i, j: if p(j) { f(i) } else { g(j) }]   becomes
//   needed = [for i: any(for j: p(j))]   ahead = [for i: if needed[i] { f(i) }]   … and the same for g
#include "core/analysis/ranges.h"
#include "core/ir/nest.h"
#include "lower/body.h"

#include <bit>

namespace melix::lower {

using namespace check;

namespace {

/// Expressions that may be computed ahead as a whole; of the others, parts may.
bool mayMove(NodeKind kind) {
  switch (kind) {
  case NodeKind::Call:
  case NodeKind::Nest:
  case NodeKind::Elementwise:
  case NodeKind::Derivative:
  case NodeKind::ArgSort:
  case NodeKind::ToArray:
  case NodeKind::ToList:
  case NodeKind::Apply:
  case NodeKind::Builtin:
  case NodeKind::Format:
  case NodeKind::Debug:
  case NodeKind::If:
  case NodeKind::Match:
  case NodeKind::ShortAnd:
  case NodeKind::ShortOr:
  case NodeKind::Loop:
  case NodeKind::Block: return true;
  default: return false;
  }
}

bool isSeen(const core::Function& fn, const core::Op& op, const std::set<ValueId>& guarded,
            core::Ranges& ranges);

/// Whether a program can tell that the code ran, or it reads one of `guarded`, which are made up where no
/// point needs them.
bool isSeen(const core::Function& fn, RegionId r, const std::set<ValueId>& guarded, core::Ranges& ranges) {
  const core::Ranges::Mark mark = ranges.enter(r);
  bool seen = false;
  for (core::OpId id : fn.regions[r].ops) {
    seen = seen || isSeen(fn, fn.ops[id], guarded, ranges);
    ranges.define(fn.ops[id]);
  }
  ranges.leave(mark);
  return seen;
}

bool isSeen(const core::Function& fn, const core::Op& op, const std::set<ValueId>& guarded,
            core::Ranges& ranges) {
  if (std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return guarded.contains(v); }))
    return true;
  switch (op.kind) {
  case OpKind::Call:
  case OpKind::Apply:
  case OpKind::Derivative:
  case OpKind::While:
  case OpKind::Builtin:
  case OpKind::Panic:
  case OpKind::Debug:
  case OpKind::BlackBox:
  case OpKind::Pop: return true;
  case OpKind::Check: return !ranges.isProved(op);
  default: break;
  }
  return std::any_of(op.regions.begin(), op.regions.end(),
                     [&](RegionId inner) { return isSeen(fn, inner, guarded, ranges); });
}

} // namespace

/// Computes ahead what the body and the filter of `nest` need not all of its indices for, of which the first
/// `around` are known. Where the extent of a sweep inside needs fewer than those that are left, so many stand
/// around the others: what is the same for all of these, at a point of that sweep, is computed ahead then.
size_t BodyLowering::hoist(NodeId nest, size_t around) {
  const Node& node = instance_.nodes[nest];
  const std::span<const NestAxis> axes = std::span(node.as<Nest>().axes).subspan(around);
  Sweep outer = std::move(sweep_);
  sweep_ = {};
  sweep_.around = around;
  if (flow_ == FlowKind::On && introduceAxes(axes)) {
    sweep_.whole = (uint64_t(1) << sweep_.axes.size()) - 1;
    sweep_.path = {nest};
    if (node.as<Nest>().filtered) look(node.children[1]);
    look(node.children[0]);
  }
  const size_t rows = sweep_.rows < axes.size() ? sweep_.rows : 0;
  sweep_ = std::move(outer);
  return rows;
}

/// Computes `n` ahead, or parts of it. What it binds is introduced behind it, sizes that are bound inside
/// too: where these are needed, it runs as a whole.
void BodyLowering::look(NodeId n) {
  if (heavy(n)) lookAt(n);
  introduce(n);
}

void BodyLowering::lookAt(NodeId n) {
  NodeKind kind = instance_.nodes[n].kind;
  if (mayMove(kind) && !exitsIn(instance_, n)) {
    Needs given = needs(n);
    bool fewer = (given.axes & sweep_.whole) != sweep_.whole;
    if (!given.own && fewer && !sweep_.stays.contains(n)) {
      if (moveAhead(n, given.axes)) return;
      sweep_.stays.insert(n);
    }
  }
  lookInside(n);
}

void BodyLowering::lookInside(NodeId n) {
  const Node& node = instance_.nodes[n];
  size_t axes = sweep_.axes.size();
  sweep_.path.push_back(n);
  switch (node.kind) {
  case NodeKind::Nest:
    if (node.as<Nest>().kind == NestKind::Reduce) look(node.children[node.children.size() - 2]);
    if (const std::vector<NestAxis> open = introduceInner(node.as<Nest>().axes); !open.empty()) {
      const Needs given = needsOf(open);
      const size_t rows = static_cast<size_t>(std::bit_width(given.axes));
      if (!given.own && rows > 0) sweep_.rows = sweep_.rows == 0 ? rows : std::min(sweep_.rows, rows);
    }
    if (node.as<Nest>().filtered) look(node.children[1]);
    look(node.children[0]);
    break;
  case NodeKind::Match: // its arms stand behind what is matched
    look(node.children[0]);
    introduce(n);
    forEachChild(node, [&](NodeId child) {
      if (child != node.children[0]) look(child);
    });
    break;
  case NodeKind::BlackBox: break; // computed where it stands
  case NodeKind::Elementwise:     // its last child is about elements
    for (size_t k = 0; k + 1 < node.children.size(); ++k) look(node.children[k]);
    break;
  default: forEachChild(node, [&](NodeId child) { look(child); });
  }
  sweep_.axes.resize(axes);
  sweep_.path.pop_back();
}

/// What a pack that hides sizes of `type` holds: an array tells such that are axes of it, and nothing else.
static TypeId concealing(types::TypeStore& types, TypeId type, const std::vector<DimSym>& hidden) {
  const std::vector<DimId>& dims = types[type].dims;
  const bool told = std::all_of(hidden.begin(), hidden.end(), [&](DimSym s) {
    return std::find(dims.begin(), dims.end(), types.dims.symbol(s)) != dims.end();
  });
  return told || types.kind(type) != TypeKind::Array ? type : types.tuple({type});
}

/// Lowers `n`, which needs `axes` only, in front of the sweep; false if it has to stay where it is.
bool BodyLowering::moveAhead(NodeId n, uint64_t axes) {
  TypeId type = instance_.nodes[n].type;
  if (types_.kind(type) == TypeKind::Never || (axes != 0 && types_.kind(type) == TypeKind::Known))
    return false;
  if (axes != 0) { // what needs still fewer comes before
    uint64_t whole = std::exchange(sweep_.whole, axes);
    lookInside(n);
    sweep_.whole = whole;
  }
  std::vector<NodeId> nodes = sweep_.path;
  nodes.push_back(n);
  auto value = wayTo(nodes, axes), reach = wayTo(nodes, std::nullopt);
  if (!value || !makeLight(*value)) return false;
  if (value->skips && (!reach || !makeLight(*reach))) return false;
  const std::vector<DimSym> hidden = hiddenSizes(n);
  value->type = hidden.empty() ? type : types_.pack(concealing(types_, type, hidden), hidden);
  value->there = [this, n, hidden] { return concealed(expr(n), n, hidden); };
  value->elsewhere = [this, &value] { return filler(T(value->type)); };
  Ahead ahead{computeAhead(axes, *value, reach ? *reach : Way{}), {}, hidden};
  for (uint32_t k : axesOf(axes)) ahead.axes.push_back(sweep_.axes[k].index);
  if (ahead.axes.empty() && !hidden.empty()) {
    ValueId open = revealed(ahead.value, n, hidden);
    if (guarded_.contains(ahead.value)) guarded_.insert(open);
    ahead = {open, {}, {}};
  }
  hoisted_[n] = std::move(ahead);
  return true;
}

/// What runs on a way runs again in the body: what is heavy in it is computed ahead too, at every point that
/// needs it.
bool BodyLowering::makeLight(const Way& way) {
  for (auto [depth, piece] : way.pieces) {
    if (!heavy(piece)) continue;
    std::vector<NodeId> path = sweep_.path;
    std::vector<NestAxis> axes = sweep_.axes;
    uint64_t whole = std::exchange(sweep_.whole, ~uint64_t(0));
    sweep_.path.assign(way.nodes.begin(), way.nodes.begin() + static_cast<ptrdiff_t>(depth) + 1);
    size_t around = 0;
    for (NodeId n : sweep_.path)
      if (auto* nest = std::get_if<Nest>(&instance_.nodes[n].payload))
        around += static_cast<size_t>(std::count_if(nest->axes.begin(), nest->axes.end(),
                                                    [&](const NestAxis& axis) { return !isOpen(axis); }));
    sweep_.axes.resize(around - sweep_.around);
    look(piece);
    sweep_.whole = whole;
    sweep_.path = std::move(path);
    sweep_.axes = std::move(axes);
    if (heavy(piece)) return false;
  }
  return true;
}

/// What `value` leads to, at each point of `axes` where some point of the sweep needs it.
ValueId BodyLowering::computeAhead(uint64_t axes, const Way& value, const Way& reach) {
  uint64_t all = (uint64_t(1) << sweep_.axes.size()) - 1;
  uint64_t searched = axes | (reach.needs.own ? all : reach.needs.axes);
  std::vector<DimId> others;
  for (uint32_t k : axesOf(all & ~(value.skips ? searched : axes))) others.push_back(extentOf(k));
  return whereReached(others, [&] {
    ValueId needed;
    if (value.skips) {
      Way way = reach;
      way.type = types_.boolean();
      way.there = [this] { return b_.boolean(true); };
      way.elsewhere = [this] { return b_.boolean(false); };
      core::NestResult some = resultOf(NestKind::Any, 0);
      const std::vector<uint32_t> order = axesOf(searched);
      for (uint32_t k = 0; k < order.size(); ++k)
        if (axes >> order[k] & 1) some.keep.push_back(k);
      needed = nestOver(searched, some, way, [&] { return along(way); });
    }
    return nestOver(axes, resultOf(NestKind::Collect, axesOf(axes).size()), value, [&] {
      if (!needed) return along(value);
      std::vector<ValueId> at;
      for (uint32_t k : axesOf(axes)) at.push_back(values_.at(sweep_.axes[k].index));
      ValueId here = at.empty() ? needed : b_.getAt(needed, at);
      return branches(Builder::simple(OpKind::If, {here}),
                      {[&](RegionId) { return along(value); }, [&](RegionId) { return value.elsewhere(); }},
                      value.type, {});
    });
  });
}

/// `make` in front of a sweep: where it can be seen, only if the axes `others` have points.
ValueId BodyLowering::whereReached(const std::vector<DimId>& others, const Make& make) {
  RegionId outer = b_.region, region = b_.newRegion();
  b_.region = region;
  ValueId value = make();
  b_.region = outer;
  auto moveTo = [&](RegionId to) {
    const std::vector<core::OpId> ops = std::move(b_.fn().regions[region].ops);
    b_.fn().regions[region].ops.clear();
    auto& list = b_.fn().regions[to].ops;
    list.insert(list.end(), ops.begin(), ops.end());
    return value;
  };
  ValueId some;
  core::Ranges ranges(module_.types, b_.fn());
  if (isSeen(b_.fn(), region, guarded_, ranges))
    for (DimId d : others)
      if (!types_.dims.atLeast(d, 1)) {
        ValueId one = b_.compare(ops::CmpKind::Gt, b_.dimValue(d), b_.integer(0));
        some = some ? b_.binary(OpKind::And, some, one) : one;
      }
  if (!some) return moveTo(outer);
  TypeId type = b_.typeOf(value);
  ValueId guarded = branches(
      Builder::simple(OpKind::If, {some}),
      {[&](RegionId then) { return moveTo(then); }, [&](RegionId) { return filler(type); }}, type, {});
  guarded_.insert(guarded);
  return guarded;
}

/// One result over `axes` of the sweep, from what `body`, which goes `way`, gives at each point; over no axes
/// the value itself.
ValueId BodyLowering::nestOver(uint64_t axes, core::NestResult result, const Way& way, const Make& body) {
  const std::vector<uint32_t> order = axesOf(axes);
  ValueId value;
  auto lowered = [&] {
    if (way.exits) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
    value = cast(orFiller(body(), way.type), T(way.type));
  };
  if (order.empty()) {
    inRegion(b_.region, lowered); // here: only what is known while it is lowered is forgotten
    return value;
  }
  core::NestBuilder made(b_);
  inRegion(made.body(), [&] {
    for (uint32_t k : order) axisParam(made, extentOf(k), sweep_.axes[k].index);
    lowered();
  });
  made.add(std::move(result), value);
  if (const TypeId type = made.type(0); types_.kind(type) == TypeKind::Array) {
    const std::vector<DimId>& dims = types_[type].dims;
    for (DimId d : dims) checkSize(d);
    checkShape(dims);
  }
  return made.one();
}

std::vector<uint32_t> BodyLowering::axesOf(uint64_t bits) {
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < sweep_.axes.size(); ++k)
    if (bits >> k & 1) out.push_back(k);
  return out;
}

/// The extent of an axis; one of an inner sweep, which is checked where that stands, counts as 0 if it is
/// negative.
DimId BodyLowering::extentOf(uint32_t axis) {
  DimId d = D(sweep_.axes[axis].extent);
  bool outer = axis + sweep_.around < instance_.nodes[sweep_.path[0]].as<Nest>().axes.size();
  return outer || types_.dims.atLeast(d, 0) ? d : types_.dims.max(d, types_.dims.constant(0));
}

/// Sizes in the type of `n` that are not known in front of the sweep.
std::vector<DimSym> BodyLowering::hiddenSizes(NodeId n) {
  std::vector<DimSym> all, hidden;
  types_.collectSymbols(instance_.nodes[n].type, all);
  for (DimSym s : all)
    if (isLater(s) && std::find(hidden.begin(), hidden.end(), s) == hidden.end()) hidden.push_back(s);
  return hidden;
}

/// The value of `n` as a pack of its `hidden` sizes.
ValueId BodyLowering::concealed(ValueId value, NodeId n, const std::vector<DimSym>& hidden) {
  if (hidden.empty()) return value;
  TypeId type = instance_.nodes[n].type;
  types::DimSubst actual;
  matchDims(type, b_.typeOf(value), actual);
  core::Op op = Builder::simple(OpKind::Pack, {});
  for (DimSym s : hidden) op.dims.push_back(actual.contains(s) ? actual.at(s) : D(types_.dims.symbol(s)));
  const TypeId held = concealing(types_, type, hidden), pack = T(types_.pack(held, hidden));
  const TypeId open = types_.openPack(pack, op.dims);
  op.operands = {held == type ? cast(value, open) : b_.make(open, {cast(value, types_[open].parts[0])})};
  return b_.one(std::move(op), pack);
}

/// The value of `n` out of its pack; sizes that it brought into scope are known from here on.
ValueId BodyLowering::revealed(ValueId pack, NodeId n, const std::vector<DimSym>& hidden) {
  core::Op op = Builder::simple(OpKind::Unpack, {pack});
  std::vector<DimId> dims;
  for (DimSym s : hidden) {
    op.resultDims.push_back(b_.newDim(types_.dims.info(s).name));
    dims.push_back(types_.dims.symbol(op.resultDims.back()));
  }
  ValueId value = b_.one(std::move(op), types_.openPack(b_.typeOf(pack), dims));
  if (concealing(types_, instance_.nodes[n].type, hidden) != instance_.nodes[n].type)
    value = b_.field(value, 0);
  Names own;
  collectDefined(instance_, n, own);
  for (size_t k = 0; k < hidden.size(); ++k)
    if (own.sizes.contains(hidden[k])) dimMap_[hidden[k]] = dims[k];
  types::DimSubst known = dimMap_; // what names the other sizes may stand behind this
  for (size_t k = 0; k < hidden.size(); ++k) known.try_emplace(hidden[k], dims[k]);
  return cast(value, types_.substitute(instance_.nodes[n].type, known));
}

/// What was computed ahead for `n`, at the point at hand.
ValueId BodyLowering::hoisted(NodeId n, const Ahead& ahead) {
  if (ahead.axes.empty()) return cast(ahead.value, T(instance_.nodes[n].type));
  std::vector<ValueId> at;
  for (LocalId axis : ahead.axes) at.push_back(values_.at(axis));
  ValueId value = b_.getAt(ahead.value, at);
  return ahead.hidden.empty() ? cast(value, T(instance_.nodes[n].type)) : revealed(value, n, ahead.hidden);
}

} // namespace melix::lower
