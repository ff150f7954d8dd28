#include "transforms/batch/pushing_loop.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

PushingLoop::PushingLoop(Module& m, FunctionId f, OpId loop) : m_(m), f_(f), loop_(loop) {}

bool PushingLoop::matches(FunctionRef<bool(OpId)> isOther) const {
  const Op& op = fn().ops[loop_];
  if (op.kind != OpKind::For || op.results.empty() || op.as<LoopAttr>().collects > 0 || !onlyPushes())
    return false;
  const RegionId region = op.regions[0];
  return std::ranges::none_of(body().ops, [&](OpId id) { return !isPush(id) && isOther(id); }) &&
         !parts().empty() &&
         std::ranges::all_of(parts(), [&](ValueId v) { return hasOuterSizes(m_, fn(), region, v); });
}

/// Whether the loop carries lists alone, and each is used by pushes, one after another, and nothing else.
bool PushingLoop::onlyPushes() const {
  std::unordered_map<ValueId, size_t> uses;
  forEachOp(fn(), fn().ops[loop_].regions[0], [&](OpId id) {
    for (ValueId v : fn().ops[id].operands) ++uses[v];
  });
  std::unordered_map<ValueId, ValueId> pushed; // by lists: the one after a push
  for (OpId id : body().ops)
    if (isPush(id)) pushed[fn().ops[id].operands[0]] = fn().ops[id].results[0];
  size_t pushes = 0;
  for (size_t k = 1; k < body().params.size(); ++k) {
    ValueId v = body().params[k];
    if (m_.types.kind(fn().typeOf(v)) != TypeKind::List) return false;
    for (; pushed.contains(v) && uses[v] == 1; v = pushed.at(v)) ++pushes;
    if (uses[v] != 1 || v != fn().ops[body().ops.back()].operands[k - 1]) return false;
  }
  return pushes > 0 && pushes == pushed.size();
}

bool PushingLoop::isMade(ValueId v) const {
  const OpId def = fn().values[v].def;
  return def.valid() ? std::ranges::find(body().ops, def) != body().ops.end() : v == body().params[0];
}

PartKind PushingLoop::kindOf(ValueId v) const {
  if (!isMade(v)) return PartKind::Outside;
  const OpId def = fn().values[v].def;
  return def.valid() && builds(fn().ops[def].kind) ? PartKind::Built : PartKind::Stored;
}

/// The values that are stored, in the order of the pushes.
std::vector<ValueId> PushingLoop::parts() const {
  std::vector<ValueId> out;
  for (OpId id : body().ops)
    if (isPush(id))
      std::ranges::copy(storedParts(fn(), fn().ops[id].operands[1], [&](ValueId v) { return kindOf(v); }),
                        std::back_inserter(out));
  return out;
}

OpId PushingLoop::makeNest(Builder& b) const {
  const ValueId count = b.binary(OpKind::Max, fn().ops[loop_].operands[0], b.integer(0));
  NestBuilder nest(b);
  Cloner copy(m_, f_, f_);
  copy.values[body().params[0]] = nest.axis(m_.types.dims.symbol(b.bindDim(count, "n")));
  Builder in = b.in(nest.body());
  for (OpId id : std::vector<OpId>(body().ops))
    if (!isPush(id) && fn().ops[id].kind != OpKind::Yield) copy.op(id, in);
  for (ValueId v : parts()) nest.collect(copy.value(v));
  return nest.finish();
}

void PushingLoop::push(OpId nest) {
  const RegionId region = fn().ops[loop_].regions[0];
  const Results arrays = fn().ops[nest].results;
  Builder in(m_, f_, fn().regions.add(Region{}), fn().ops[loop_].loc);
  const ValueId index = body().params[0];
  size_t next = 0;
  auto read = [&] { return in.getAt(arrays[next++], std::span(&index, 1)); };
  for (OpId id : body().ops) {
    if (!isPush(id)) continue;
    fn().ops[id].operands[1] =
        rebuild(in, fn().ops[id].operands[1], [&](ValueId v) { return kindOf(v); }, read);
    fn().regions[in.region].ops.push_back(id);
  }
  fn().regions[in.region].ops.push_back(body().ops.back());
  fn().regions[region].ops = std::move(fn().regions[in.region].ops);
}

} // namespace melix::transforms
