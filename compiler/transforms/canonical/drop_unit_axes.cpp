#include "transforms/canonical/drop_unit_axes.h"

#include "core/analysis/evaluate.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class AxisDropper {
public:
  AxisDropper(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run(const std::vector<OpId>& nests) {
    bool changed = false;
    for (OpId id : nests) {
      const std::vector<uint32_t> axes = droppedAxes(m_, f_, f_.ops[id]);
      for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) drop(id, *axis);
      if (!axes.empty()) collectSingles(id);
      changed |= !axes.empty();
      changed |= readAtZero(id);
    }
    return changed;
  }

  /// The axes of one point that no result keeps, if none of its results stands in the way.
  static std::vector<uint32_t> droppedAxes(const Module& m, const Function& f, const Op& op) {
    std::vector<uint32_t> out = unitAxes(m, op);
    if (out.empty()) return out;
    const NestView nest(f, op);
    for (const NestPart& part : nest.parts()) {
      const NestResult& r = *part.spec;
      const bool combines = r.kind == NestResultKind::Reduce && !isCombine(r) && !isPosition(r);
      const TypeId type = f.typeOf(nest.yields(part)[0]);
      if (r.kind != NestResultKind::Collect && !(combines && isPlain(m, type))) return {};
      std::erase_if(
          out, [&](uint32_t axis) { return std::find(r.keep.begin(), r.keep.end(), axis) != r.keep.end(); });
    }
    return out;
  }

  static std::vector<uint32_t> unitAxes(const Module& m, const Op& op) {
    std::vector<uint32_t> out;
    for (uint32_t axis = 0; axis < op.dims.size(); ++axis)
      if (m.types.dims.asConstant(op.dims[axis]) == 1) out.push_back(axis);
    return out;
  }

private:
  static bool isPlain(const Module& m, TypeId t) {
    return m.types.isInt(t) || m.types.isFloat(t) || m.types.kind(t) == TypeKind::Bool;
  }
  /// Appends to a list of its own what then comes into the body before the op of that number.
  template <class Make>
  ValueId inBody(RegionId body, LocId loc, size_t at, Make make) {
    std::vector<OpId> before = std::exchange(f_.regions[body].ops, {});
    Builder b(m_, id_, body, loc);
    const ValueId made = make(b);
    std::vector<OpId>& ops = f_.regions[body].ops;
    for (OpId op : ops) uses_.enter(op, body);
    before.insert(before.begin() + static_cast<std::ptrdiff_t>(at), ops.begin(), ops.end());
    ops = std::move(before);
    return made;
  }

  void drop(OpId id, uint32_t axis) {
    const Op& op = f_.ops[id];
    const RegionId body = op.regions[0];
    const ValueId first = inBody(body, op.loc, 0, [](Builder& b) { return b.integer(0); });
    dropAxis(f_, uses_, id, axis, first);
  }

  /// What uses an axis of one point that stays uses 0.
  bool readAtZero(OpId id) {
    bool changed = false;
    for (uint32_t axis : unitAxes(m_, f_.ops[id])) {
      const RegionId body = f_.ops[id].regions[0];
      const ValueId param = f_.regions[body].params[axis];
      if (uses_.count(param) == 0) continue;
      uses_.replace(param, inBody(body, f_.ops[id].loc, 0, [](Builder& b) { return b.integer(0); }));
      changed = true;
    }
    return changed;
  }

  /// Results that have nothing left to reduce collect: what their one term and the unit give.
  void collectSingles(OpId id) {
    Op& op = f_.ops[id];
    const RegionId body = op.regions[0];
    const NestView nest(f_, op);
    for (const NestPart& part : nest.parts()) {
      NestResult& r = resultOf(op, part);
      if (r.kind != NestResultKind::Reduce || r.keep.size() != op.dims.size()) continue;
      const uint32_t place = part.yields.first;
      const OpId end = terminatorId(f_, body);
      const ValueId term = f_.ops[end].operands[place];
      const TypeId type = f_.typeOf(term);
      if (isSum(r) && m_.types.isFloat(type)) { // of one -0 it is 0
        const ValueId sum = inBody(body, op.loc, f_.regions[body].ops.size() - 1, [&](Builder& b) {
          return b.binary(OpKind::Add, b.constant(type, unitOf(r.monoid, m_.types.kind(type))), term);
        });
        uses_.change(end, [&](Op& yield) { yield.operands[place] = sum; });
      }
      NestResult collects;
      collects.keep = r.keep;
      r = collects;
    }
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
};

} // namespace

bool dropUnitAxes(Module& m) {
  return changeBodies(m, [&](FunctionId id) {
    const Function& f = m.functions[id];
    std::vector<OpId> nests;
    forEachOp(f, [&](OpId op) {
      if (f.ops[op].kind == OpKind::Nest && !AxisDropper::unitAxes(m, f.ops[op]).empty()) nests.push_back(op);
    });
    return !nests.empty() && AxisDropper(m, id).run(nests);
  });
}

} // namespace melix::transforms
