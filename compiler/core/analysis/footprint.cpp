#include "core/analysis/footprint.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace melix::core {

Footprint Footprint::within(const Axes& axes) const {
  Footprint out = *this;
  for (Axes& each : out.operands) std::erase_if(each, [&](ValueId x) { return !axes.contains(x); });
  return out;
}

bool Footprint::hasTwoSides() const {
  bool any = false;
  forEachPair([&](const Axes&, const Axes&) { any = true; });
  return any;
}

Footprints::Footprints(const Module& m, FunctionId f)
    : m_(m), f_(m.functions[f]), info_(analysis<AccessInfo>(m, f)) {
  uint32_t next = 0;
  for (OpId id : f_.regions[f_.body].ops) number(id, next);
}

Footprints::Footprints(const Module& m, const Function& f, OpId nest)
    : m_(m), f_(f), info_(std::make_shared<AccessInfo>(f, nest)) {
  uint32_t next = 0;
  number(nest, next);
}

void Footprints::number(OpId id, uint32_t& next) {
  const uint32_t position = ++next;
  for (RegionId inner : f_.ops[id].regions)
    for (OpId op : f_.regions[inner].ops) number(op, next);
  spans_[id] = {position, next};
}

std::span<const ValueId> Footprints::readOperands(const Op& op) {
  const std::span<const ValueId> all(op.operands);
  switch (op.kind) {
  case OpKind::Get: return all.first(1);
  case OpKind::Set:
  case OpKind::AddAt: return all.first(2);
  default: return all;
  }
}

TermAccess Footprints::access(OpId get) const {
  const Op& op = f_.ops[get];
  TermAccess out{get, {}, info_->axesOf(op.operands[0])};
  for (ValueId index : std::span(op.operands).subspan(1)) {
    out.indices.push_back(info_->axesOf(index));
    out.axes.insert(out.indices.back().begin(), out.indices.back().end());
  }
  return out;
}

std::vector<TermAccess> Footprints::accesses(OpId nest, ValueId term) const {
  std::vector<TermAccess> out;
  std::vector<ValueId> open{term};
  std::unordered_set<OpId> seen;
  const Span body = spans_.at(nest);
  while (!open.empty()) {
    const OpId def = f_.values[open.back()].def;
    open.pop_back();
    const auto span = def.valid() ? spans_.find(def) : spans_.end();
    const bool inside =
        span != spans_.end() && span->second.position > body.position && span->second.position <= body.end;
    if (!inside || !seen.insert(def).second) continue;
    const Op& op = f_.ops[def];
    const bool element = op.kind == OpKind::Get && op.operands.size() > 1 &&
                         m_.types.kind(f_.typeOf(op.results[0])) != TypeKind::Array;
    if (element) out.push_back(access(def));
    const std::span<const ValueId> read = readOperands(op);
    open.insert(open.end(), read.begin(), read.end());
    for (RegionId r : op.regions) {
      const Operands& yields = terminator(f_, r).operands;
      open.insert(open.end(), yields.begin(), yields.end());
    }
  }
  std::ranges::sort(out, {}, [&](const TermAccess& a) { return spans_.at(a.get).position; });
  return out;
}

Footprint Footprints::of(OpId nest, ValueId term) const {
  Footprint out;
  for (TermAccess& each : accesses(nest, term)) out.operands.push_back(std::move(each.axes));
  return out;
}

namespace {

Axes without(const Axes& axes, const Axes& others) {
  Axes out;
  std::ranges::set_difference(axes, others, std::inserter(out, out.end()));
  return out;
}

class SumWalk {
public:
  SumWalk(const Module& m, const Function& f, OpId nest, FunctionRef<void(const SumInNest&)> visit)
      : f_(f), footprints_(m, f, nest), visit_(visit) {}

  void op(OpId id, OpId part) {
    const Op& op = f_.ops[id];
    std::span<const ValueId> axes;
    if (op.kind == OpKind::Nest) {
      const NestView nest(f_, op);
      axes = nest.axisParams();
      around_.insert(axes.begin(), axes.end());
      for (const NestPart& each : nest.parts())
        if (isSum(*each.spec)) sum(id, nest, each, part);
    }
    for (RegionId r : op.regions)
      for (OpId inner : f_.regions[r].ops) this->op(inner, part.valid() ? part : inner);
    for (ValueId axis : axes) around_.erase(axis);
  }

private:
  void sum(OpId id, const NestView& nest, const NestPart& part, OpId around) {
    SumInNest out{{}, {nest.axisParams().begin(), nest.axisParams().end()}, around, id};
    for (uint32_t axis : part.spec->keep) out.reduced.erase(nest.axisParams()[axis]);
    for (TermAccess& each : footprints_.accesses(id, nest.yields(part)[0]))
      if (std::ranges::any_of(each.axes, [&](ValueId x) { return out.reduced.contains(x); }))
        out.kept.operands.push_back(std::move(each.axes));
    out.kept = out.kept.within(without(around_, out.reduced));
    visit_(out);
  }

  const Function& f_;
  const Footprints footprints_;
  FunctionRef<void(const SumInNest&)> visit_;
  Axes around_; ///< of the nests around the op at hand
};

} // namespace

void Footprint::forEachPair(FunctionRef<void(const Axes& one, const Axes& other)> visit) const {
  std::vector<const Axes*> before; // that differ: many operands have the same axes
  for (const Axes& each : operands) {
    if (std::ranges::any_of(before, [&](const Axes* b) { return *b == each; })) continue;
    for (const Axes* b : before) {
      const Axes one = without(*b, each), other = without(each, *b);
      if (!one.empty() && !other.empty()) visit(one, other);
    }
    before.push_back(&each);
  }
}

void forEachSum(const Module& m, const Function& f, OpId nest, FunctionRef<void(const SumInNest&)> visit) {
  SumWalk(m, f, nest, visit).op(nest, OpId());
}

Sides sidesOf(const Module& m, const Function& f, OpId nest) {
  Sides out;
  auto ownAxes = [&](const Axes& axes) {
    uint64_t bits = 0;
    for (ValueId axis : axes)
      if (f.values[axis].region == f.ops[nest].regions[0] && f.values[axis].index < 64)
        bits |= uint64_t{1} << f.values[axis].index;
    return bits;
  };
  forEachSum(m, f, nest, [&](const SumInNest& sum) {
    sum.kept.forEachPair(
        [&](const Axes& one, const Axes& other) { out.add({ownAxes(one), ownAxes(other)}); });
  });
  return out;
}

} // namespace melix::core
