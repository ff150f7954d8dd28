// What a builder's body computes from some of the indices only is computed in front of it, once for each
// value of those (rule 13).
//
//   [for i, j: if p(j) { f(i) } else { g(j) }]   becomes
//   needed = [for i: any(for j: p(j))]   ahead = [for i: if needed[i] { f(i) }]   … and the same for g
#include "lower/hoist.h"

#include "core/analysis/ranges.h"
#include "core/ir/nest.h"
#include "lower/body.h"
#include "lower/call.h"
#include "lower/control.h"
#include "lower/nest.h"
#include "lower/sizes.h"

#include <bit>

namespace melix::lower {

using namespace check;

namespace {

bool isSeen(const core::Function& fn, RegionId r, const std::set<ValueId>& guarded, core::Ranges& ranges);
void lookFor(BodyLowering& fn, NodeId n);

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
  case NodeKind::On:
  case NodeKind::Block: return true;
  default: return false;
  }
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

void lookInside(BodyLowering& fn, NodeId n) {
  const Node& node = fn.instance.nodes[n];
  size_t axes = fn.hoisting.sweep.axes.size();
  fn.hoisting.sweep.path.push_back(n);
  switch (node.kind) {
  case NodeKind::Nest:
    if (node.as<Nest>().reduction == core::MonoidKind::Combine)
      lookFor(fn, node.children[node.children.size() - 2]);
    if (const std::vector<NestAxis> open = introduceInner(fn, node.as<Nest>().axes); !open.empty()) {
      const Needs given = needsOf(fn, open);
      const size_t rows = static_cast<size_t>(std::bit_width(given.axes));
      if (!given.own && rows > 0)
        fn.hoisting.sweep.rows = fn.hoisting.sweep.rows == 0 ? rows : std::min(fn.hoisting.sweep.rows, rows);
    }
    if (node.as<Nest>().filtered) lookFor(fn, node.children[1]);
    lookFor(fn, node.children[0]);
    break;
  case NodeKind::Match: // its arms stand behind what is matched
    lookFor(fn, node.children[0]);
    introduce(fn, n);
    forEachChild(node, [&](NodeId child) {
      if (child != node.children[0]) lookFor(fn, child);
    });
    break;
  case NodeKind::BlackBox: break; // computed where it stands
  case NodeKind::Elementwise:     // its last child is about elements
    for (size_t k = 0; k + 1 < node.children.size(); ++k) lookFor(fn, node.children[k]);
    break;
  default: forEachChild(node, [&](NodeId child) { lookFor(fn, child); });
  }
  fn.hoisting.sweep.axes.resize(axes);
  fn.hoisting.sweep.path.pop_back();
}

/// What a pack that hides sizes of `type` holds: an array tells such that are axes of it, and nothing else.
TypeId concealing(types::TypeStore& types, TypeId type, const std::vector<DimSym>& hidden) {
  const std::vector<DimId>& dims = types[type].dims;
  const bool told = std::all_of(hidden.begin(), hidden.end(), [&](DimSym s) {
    return std::find(dims.begin(), dims.end(), types.dims.symbol(s)) != dims.end();
  });
  return told || types.kind(type) != TypeKind::Array ? type : types.tuple({type});
}

/// What runs on a way runs again in the body: what is heavy in it is computed ahead too, at every point that
/// needs it.
bool makeLight(BodyLowering& fn, const Way& way) {
  for (auto [depth, piece] : way.pieces) {
    if (!heavy(fn, piece)) continue;
    std::vector<NodeId> path = fn.hoisting.sweep.path;
    std::vector<NestAxis> axes = fn.hoisting.sweep.axes;
    uint64_t whole = std::exchange(fn.hoisting.sweep.whole, ~uint64_t(0));
    fn.hoisting.sweep.path.assign(way.nodes.begin(), way.nodes.begin() + static_cast<ptrdiff_t>(depth) + 1);
    size_t around = 0;
    for (NodeId n : fn.hoisting.sweep.path)
      if (auto* nest = std::get_if<Nest>(&fn.instance.nodes[n].payload))
        around += static_cast<size_t>(
            std::count_if(nest->axes.begin(), nest->axes.end(),
                          [&](const NestAxis& axis) { return !fn.hoisting.sweep.isOpen(axis); }));
    fn.hoisting.sweep.axes.resize(around - fn.hoisting.sweep.around);
    lookFor(fn, piece);
    fn.hoisting.sweep.whole = whole;
    fn.hoisting.sweep.path = std::move(path);
    fn.hoisting.sweep.axes = std::move(axes);
    if (heavy(fn, piece)) return false;
  }
  return true;
}

/// `make` in front of a sweep: where it can be seen, only if the axes `others` have points.
ValueId whereReached(BodyLowering& fn, const std::vector<DimId>& others, const Make& make) {
  RegionId outer = fn.b.region, region = fn.b.newRegion();
  fn.b.region = region;
  ValueId value = make();
  fn.b.region = outer;
  auto moveTo = [&](RegionId to) {
    const std::vector<core::OpId> ops = std::move(fn.b.fn().regions[region].ops);
    fn.b.fn().regions[region].ops.clear();
    auto& list = fn.b.fn().regions[to].ops;
    list.insert(list.end(), ops.begin(), ops.end());
    return value;
  };
  ValueId some;
  core::Ranges ranges(fn.module.types, fn.b.fn());
  if (isSeen(fn.b.fn(), region, fn.hoisting.guarded, ranges))
    for (DimId d : others)
      if (!fn.types.dims.atLeast(d, 1)) {
        ValueId one = fn.b.compare(ops::CmpKind::Gt, fn.b.dimValue(d), fn.b.integer(0));
        some = some ? fn.b.binary(OpKind::And, some, one) : one;
      }
  if (!some) return moveTo(outer);
  TypeId type = fn.b.typeOf(value);
  ValueId guarded = branches(
      fn, Builder::simple(OpKind::If, {some}),
      {[&](RegionId then) { return moveTo(then); }, [&](RegionId) { return filler(fn, type); }}, type, {});
  fn.hoisting.guarded.insert(guarded);
  return guarded;
}

std::vector<uint32_t> axesOf(BodyLowering& fn, uint64_t bits) {
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < fn.hoisting.sweep.axes.size(); ++k)
    if (bits >> k & 1) out.push_back(k);
  return out;
}

/// The extent of an axis; one of an inner sweep, which is checked where that stands, counts as 0 if it is
/// negative.
DimId extentOf(BodyLowering& fn, uint32_t axis) {
  DimId d = fn.D(fn.hoisting.sweep.axes[axis].extent);
  bool outer =
      axis + fn.hoisting.sweep.around < fn.instance.nodes[fn.hoisting.sweep.path[0]].as<Nest>().axes.size();
  return outer || fn.types.dims.atLeast(d, 0) ? d : fn.types.dims.max(d, fn.types.dims.constant(0));
}

/// One result over `axes` of the sweep, from what `body`, which goes `way`, gives at each point; over no axes
/// the value itself.
ValueId nestOver(BodyLowering& fn, uint64_t axes, core::NestResult result, const Way& way, const Make& body) {
  const std::vector<uint32_t> order = axesOf(fn, axes);
  ValueId value;
  auto lowered = [&] {
    if (way.exits) fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(core::exits::on));
    value = fn.cast(orFiller(fn, body(), way.type), fn.T(way.type));
  };
  if (order.empty()) {
    inRegion(fn, fn.b.region, lowered); // here: only what is known while it is lowered is forgotten
    return value;
  }
  core::NestBuilder made(fn.b);
  inRegion(fn, made.body(), [&] {
    for (uint32_t k : order) axisParam(fn, made, extentOf(fn, k), fn.hoisting.sweep.axes[k].index);
    lowered();
  });
  made.add(std::move(result), value);
  if (const TypeId type = made.type(0); fn.types.kind(type) == TypeKind::Array) {
    const std::vector<DimId>& dims = fn.types[type].dims;
    for (DimId d : dims) checkSize(fn, d);
    checkShape(fn, dims);
  }
  return made.one();
}

/// What `value` leads to, at each point of `axes` where some point of the sweep needs it.
ValueId computeAhead(BodyLowering& fn, uint64_t axes, const Way& value, const Way& reach) {
  uint64_t all = (uint64_t(1) << fn.hoisting.sweep.axes.size()) - 1;
  uint64_t searched = axes | (reach.needs.own ? all : reach.needs.axes);
  std::vector<DimId> others;
  for (uint32_t k : axesOf(fn, all & ~(value.skips ? searched : axes))) others.push_back(extentOf(fn, k));
  return whereReached(fn, others, [&] {
    ValueId needed;
    if (value.skips) {
      Way way = reach;
      way.type = fn.types.boolean();
      way.there = [&fn] { return fn.b.boolean(true); };
      way.elsewhere = [&fn] { return fn.b.boolean(false); };
      core::NestResult some = core::reducing(core::MonoidKind::Or);
      const std::vector<uint32_t> order = axesOf(fn, searched);
      for (uint32_t k = 0; k < order.size(); ++k)
        if (axes >> order[k] & 1) some.keep.push_back(k);
      needed = nestOver(fn, searched, some, way, [&] { return along(fn, way); });
    }
    return nestOver(fn, axes, core::collecting(axesOf(fn, axes).size()), value, [&] {
      if (!needed) return along(fn, value);
      std::vector<ValueId> at;
      for (uint32_t k : axesOf(fn, axes)) at.push_back(fn.values.at(fn.hoisting.sweep.axes[k].index));
      ValueId here = at.empty() ? needed : fn.b.getAt(needed, at);
      return branches(
          fn, Builder::simple(OpKind::If, {here}),
          {[&](RegionId) { return along(fn, value); }, [&](RegionId) { return value.elsewhere(); }},
          value.type, {});
    });
  });
}

/// Sizes in the type of `n` that are not known in front of the sweep.
std::vector<DimSym> hiddenSizes(BodyLowering& fn, NodeId n) {
  std::vector<DimSym> all, hidden;
  fn.types.collectSymbols(fn.instance.nodes[n].type, all);
  for (DimSym s : all)
    if (fn.sizes.isLater(s) && std::find(hidden.begin(), hidden.end(), s) == hidden.end())
      hidden.push_back(s);
  return hidden;
}

/// The value of `n` as a pack of its `hidden` sizes.
ValueId concealed(BodyLowering& fn, ValueId value, NodeId n, const std::vector<DimSym>& hidden) {
  if (hidden.empty()) return value;
  TypeId type = fn.instance.nodes[n].type;
  types::DimSubst actual;
  fn.matchDims(type, fn.b.typeOf(value), actual);
  core::Op op = Builder::simple(OpKind::Pack, {});
  for (DimSym s : hidden)
    op.dims.push_back(actual.contains(s) ? actual.at(s) : fn.D(fn.types.dims.symbol(s)));
  const TypeId held = concealing(fn.types, type, hidden), pack = fn.T(fn.types.pack(held, hidden));
  const TypeId open = fn.types.openPack(pack, op.dims);
  op.operands = {held == type ? fn.cast(value, open)
                              : fn.b.make(open, {fn.cast(value, fn.types[open].parts[0])})};
  return fn.b.one(std::move(op), pack);
}

/// The value of `n` out of its pack; sizes that it brought into scope are known from here on.
ValueId revealed(BodyLowering& fn, ValueId pack, NodeId n, const std::vector<DimSym>& hidden) {
  core::Op op = Builder::simple(OpKind::Unpack, {pack});
  std::vector<DimId> dims;
  for (DimSym s : hidden) {
    op.resultDims.push_back(fn.b.newDim(fn.types.dims.info(s).name));
    dims.push_back(fn.types.dims.symbol(op.resultDims.back()));
  }
  ValueId value = fn.b.one(std::move(op), fn.types.openPack(fn.b.typeOf(pack), dims));
  if (concealing(fn.types, fn.instance.nodes[n].type, hidden) != fn.instance.nodes[n].type)
    value = fn.b.field(value, 0);
  Names own;
  collectDefined(fn.instance, n, own);
  for (size_t k = 0; k < hidden.size(); ++k)
    if (own.sizes.contains(hidden[k])) fn.sizes.known[hidden[k]] = dims[k];
  types::DimSubst known = fn.sizes.known; // what names the other sizes may stand behind this
  for (size_t k = 0; k < hidden.size(); ++k) known.try_emplace(hidden[k], dims[k]);
  return fn.cast(value, fn.types.substitute(fn.instance.nodes[n].type, known));
}

/// Lowers `n`, which needs `axes` only, in front of the sweep; false if it has to stay where it is.
bool moveAhead(BodyLowering& fn, NodeId n, uint64_t axes) {
  TypeId type = fn.instance.nodes[n].type;
  if (fn.types.kind(type) == TypeKind::Never || (axes != 0 && fn.types.kind(type) == TypeKind::Known))
    return false;
  if (axes != 0) { // what needs still fewer comes before
    uint64_t whole = std::exchange(fn.hoisting.sweep.whole, axes);
    lookInside(fn, n);
    fn.hoisting.sweep.whole = whole;
  }
  std::vector<NodeId> nodes = fn.hoisting.sweep.path;
  nodes.push_back(n);
  auto value = wayTo(fn, nodes, axes), reach = wayTo(fn, nodes, std::nullopt);
  if (!value || !makeLight(fn, *value)) return false;
  if (value->skips && (!reach || !makeLight(fn, *reach))) return false;
  const std::vector<DimSym> hidden = hiddenSizes(fn, n);
  value->type = hidden.empty() ? type : fn.types.pack(concealing(fn.types, type, hidden), hidden);
  value->there = [&fn, n, hidden] { return concealed(fn, fn.expr(n), n, hidden); };
  value->elsewhere = [&fn, &value] { return filler(fn, fn.T(value->type)); };
  Ahead ahead{computeAhead(fn, axes, *value, reach ? *reach : Way{}), {}, hidden};
  for (uint32_t k : axesOf(fn, axes)) ahead.axes.push_back(fn.hoisting.sweep.axes[k].index);
  if (ahead.axes.empty() && !hidden.empty()) {
    ValueId open = revealed(fn, ahead.value, n, hidden);
    if (fn.hoisting.guarded.contains(ahead.value)) fn.hoisting.guarded.insert(open);
    ahead = {open, {}, {}};
  }
  fn.hoisting.ahead[n] = std::move(ahead);
  return true;
}

void lookAt(BodyLowering& fn, NodeId n) {
  NodeKind kind = fn.instance.nodes[n].kind;
  if (mayMove(kind) && !exitsIn(fn.instance, n)) {
    Needs given = needs(fn, n);
    bool fewer = (given.axes & fn.hoisting.sweep.whole) != fn.hoisting.sweep.whole;
    if (!given.own && fewer && !fn.hoisting.sweep.stays.contains(n)) {
      if (moveAhead(fn, n, given.axes)) return;
      fn.hoisting.sweep.stays.insert(n);
    }
  }
  lookInside(fn, n);
}

/// Computes `n` ahead, or parts of it. What it binds is introduced behind it, sizes that are bound inside
/// too: where these are needed, it runs as a whole.
void lookFor(BodyLowering& fn, NodeId n) {
  if (heavy(fn, n)) lookAt(fn, n);
  introduce(fn, n);
}

} // namespace

/// Computes ahead what the body and the filter of `nest` need not all of its indices for, of which the first
/// `around` are known. Where the extent of a sweep inside needs fewer than those that are left, so many stand
/// around the others: what is the same for all of these, at a point of that sweep, is computed ahead then.
size_t hoist(BodyLowering& fn, NodeId nest, size_t around) {
  const Node& node = fn.instance.nodes[nest];
  const std::span<const NestAxis> axes = std::span(node.as<Nest>().axes).subspan(around);
  Sweep outer = std::move(fn.hoisting.sweep);
  fn.hoisting.sweep = {};
  fn.hoisting.sweep.around = around;
  if (fn.exits.flow == FlowKind::On && introduceAxes(fn, axes)) {
    fn.hoisting.sweep.whole = (uint64_t(1) << fn.hoisting.sweep.axes.size()) - 1;
    fn.hoisting.sweep.path = {nest};
    if (node.as<Nest>().filtered) lookFor(fn, node.children[1]);
    lookFor(fn, node.children[0]);
  }
  const size_t rows = fn.hoisting.sweep.rows < axes.size() ? fn.hoisting.sweep.rows : 0;
  fn.hoisting.sweep = std::move(outer);
  return rows;
}

/// What was computed ahead for `n`, at the point at hand.
ValueId hoisted(BodyLowering& fn, NodeId n, const Ahead& ahead) {
  if (ahead.axes.empty()) return fn.cast(ahead.value, fn.T(fn.instance.nodes[n].type));
  std::vector<ValueId> at;
  for (LocalId axis : ahead.axes) at.push_back(fn.values.at(axis));
  ValueId value = fn.b.getAt(ahead.value, at);
  return ahead.hidden.empty() ? fn.cast(value, fn.T(fn.instance.nodes[n].type))
                              : revealed(fn, value, n, ahead.hidden);
}

} // namespace melix::lower
