#include "transforms/canonical/scalarise_carried_records.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/build.h"
#include "core/ir/flow.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class RecordOpener {
public:
  RecordOpener(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run() {
    region(f_.body);
    return changed_;
  }

private:
  std::vector<OpId>& opsOf(RegionId r) { return f_.regions[r].ops; }
  Builder at(RegionId r, OpId op) { return {m_, id_, r, f_.ops[op].loc}; }

  void region(RegionId r) {
    const std::vector<OpId> before = std::exchange(opsOf(r), {});
    work.ops += before.size();
    for (OpId id : before) {
      if (update(id, r)) continue;
      open(id, r);
      const Regions inner = f_.ops[id].regions;
      for (RegionId each : inner) region(each);
    }
  }
  /// The ops that stand in the list of the region from `first` on came.
  void enter(RegionId r, size_t first) {
    for (size_t k = first; k < opsOf(r).size(); ++k) uses_.enter(opsOf(r)[k], r);
    changed_ |= first < opsOf(r).size();
  }

  // --- records and their parts

  bool isOpened(TypeId t) const {
    const TypeKind kind = m_.types.kind(t);
    if (kind != TypeKind::Tuple && kind != TypeKind::Struct) return false;
    return !m_.types.isUnit(t) && m_.types.partCount(t) <= mostParts;
  }
  std::optional<TypeId> partType(TypeId record, uint32_t k) const {
    return pathType(m_.types, record, {PathStep{StepKind::Field, k, {}, 1}});
  }
  const Op* made(ValueId v, OpKind kind) const {
    const OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == kind ? &f_.ops[def] : nullptr;
  }
  ValueId partOf(Builder& b, ValueId record, uint32_t k) const {
    if (const Op* make = made(record, OpKind::Make)) return make->operands[k];
    if (made(record, OpKind::Undef)) return b.undef(*partType(f_.typeOf(record), k));
    return b.field(record, k);
  }
  /// Appends the parts of `v`, those of its parts in their place; `v` itself if it is no such record.
  void scalarise(Builder& b, ValueId v, Operands& out) const {
    const TypeId type = f_.typeOf(v);
    if (!isOpened(type)) return out.push_back(v);
    for (uint32_t k = 0; partType(type, k); ++k) scalarise(b, partOf(b, v, k), out);
  }
  /// Appends new values of the types of the parts.
  void defineParts(TypeId type, NameId hint, std::vector<ValueId>& out) {
    if (!isOpened(type)) return out.push_back(f_.values.add(Value{type, {}, {}, 0, hint}));
    for (uint32_t k = 0; std::optional<TypeId> part = partType(type, k); ++k) defineParts(*part, hint, out);
  }
  /// The record of parts that stand in a list from `next` on.
  ValueId putTogether(Builder& b, TypeId type, std::span<const ValueId> parts, size_t& next) const {
    if (!isOpened(type)) return parts[next++];
    Operands own;
    for (uint32_t k = 0; std::optional<TypeId> part = partType(type, k); ++k)
      own.push_back(putTogether(b, *part, parts, next));
    return b.make(type, std::move(own));
  }

  // --- loops and branches

  /// Appends the op to the region, with what splits records before it and what puts them together
  /// after it.
  void open(OpId id, RegionId r) {
    const Op& op = f_.ops[id];
    const bool carries = op.kind == OpKind::For || op.kind == OpKind::While;
    const bool chooses = op.kind == OpKind::If || op.kind == OpKind::Match;
    if ((!carries && !chooses) ||
        std::ranges::none_of(op.results, [&](ValueId v) { return isOpened(f_.typeOf(v)); })) {
      opsOf(r).push_back(id);
      return;
    }
    const std::vector<Slot> slots = slotsOf(f_, f_.ops[id]);
    const size_t front = opsOf(r).size();
    enterWith(at(r, id), id, slots);
    enter(r, front);
    for (RegionId inner : paramRegions(f_.ops[id], slots[0])) beginWith(inner, id, slots);
    for (RegionId inner : yieldRegions(f_.ops[id], slots[0])) endWith(inner, slots);
    opsOf(r).push_back(id);
    const size_t after = opsOf(r).size();
    leaveWith(at(r, id), id, slots);
    enter(r, after);
  }

  void enterWith(Builder b, OpId id, const std::vector<Slot>& slots) {
    const Operands before = f_.ops[id].operands;
    uint32_t lead = 0;
    Operands after;
    for (const Slot& slot : slots) {
      if (slot.operands.count == 0) continue;
      for (; lead < slot.operands.first; ++lead) after.push_back(before[lead]); // what the op asks itself
      scalarise(b, before[lead++], after);
    }
    for (; lead < before.size(); ++lead) after.push_back(before[lead]);
    uses_.change(id, [&](Op& op) { op.operands = std::move(after); });
  }
  void beginWith(RegionId inner, OpId id, const std::vector<Slot>& slots) {
    std::vector<OpId> rest = std::exchange(opsOf(inner), {});
    const std::vector<ValueId> before = std::exchange(f_.regions[inner].params, {});
    Builder b = at(inner, id);
    uint32_t lead = 0;
    std::vector<std::pair<ValueId, std::vector<ValueId>>> opened;
    for (const Slot& slot : slots) {
      if (slot.params.count == 0) continue;
      for (; lead < slot.params.first; ++lead) b.defineParam(before[lead]); // the index
      const ValueId param = before[lead++];
      std::vector<ValueId> parts{param};
      if (isOpened(f_.typeOf(param))) {
        parts.clear();
        defineParts(f_.typeOf(param), f_.values[param].hint, parts);
        opened.emplace_back(param, parts);
      }
      for (ValueId v : parts) b.defineParam(v);
    }
    for (; lead < before.size(); ++lead) b.defineParam(before[lead]);
    for (const auto& [param, parts] : opened) {
      size_t next = 0;
      uses_.replace(param, putTogether(b, f_.typeOf(param), parts, next));
    }
    enter(inner, 0);
    opsOf(inner).insert(opsOf(inner).end(), rest.begin(), rest.end());
  }
  void endWith(RegionId inner, const std::vector<Slot>& slots) {
    const OpId end = opsOf(inner).back();
    opsOf(inner).pop_back();
    const size_t first = opsOf(inner).size();
    Builder b = at(inner, end);
    const Operands before = f_.ops[end].operands;
    Operands after;
    for (const Slot& slot : slots) {
      const ValueId v = before[slot.yields.first];
      if (slot.kind == SlotKind::Stack)
        after.push_back(v);
      else
        scalarise(b, v, after);
    }
    enter(inner, first);
    uses_.change(end, [&](Op& op) { op.operands = std::move(after); });
    opsOf(inner).push_back(end);
  }
  void leaveWith(Builder b, OpId id, const std::vector<Slot>& slots) {
    const Results before = f_.ops[id].results;
    std::vector<ValueId> after;
    for (const Slot& slot : slots) {
      const ValueId result = before[slot.results.first];
      if (isOpened(f_.typeOf(result)))
        defineParts(f_.typeOf(result), f_.values[result].hint, after);
      else
        after.push_back(result);
    }
    takeOver(f_, id, after);
    size_t next = 0;
    for (const Slot& slot : slots) {
      const ValueId result = before[slot.results.first];
      const ValueId whole = putTogether(b, f_.typeOf(result), after, next);
      if (whole != result) uses_.replace(result, whole);
    }
  }

  // --- updates

  /// Whether the op, an update of a record that was put together, is gone: a part is updated instead.
  bool update(OpId id, RegionId r) {
    const Op& op = f_.ops[id];
    if (op.kind != OpKind::Set && op.kind != OpKind::AddAt) return false;
    if (!isOpened(f_.typeOf(op.operands[0])) || !isOfPart(op.operands[0], op.as<Path>())) return false;
    const size_t first = opsOf(r).size();
    Builder b = at(r, id);
    const size_t before = f_.ops.size();
    const ValueId updated = updatedBy(b, op, op.operands[0], 0);
    noteWritten(id_, id, id_, before);
    uses_.leave(id);
    enter(r, first);
    uses_.replace(op.results[0], updated);
    return true;
  }
  bool isOfPart(ValueId v, const Path& path) const {
    return made(v, OpKind::Make) && !path.empty() && path[0].kind == StepKind::Field;
  }
  /// What `v` becomes by the op, of whose path `v` is the place after `steps` fields.
  ValueId updatedBy(Builder& b, const Op& op, ValueId v, size_t steps) const {
    const Place place = placeOf(op);
    const Path rest(place.path.begin() + static_cast<std::ptrdiff_t>(steps), place.path.end());
    if (isOfPart(v, rest)) {
      Operands parts = made(v, OpKind::Make)->operands;
      parts[rest[0].number] = updatedBy(b, op, parts[rest[0].number], steps + 1);
      return b.make(f_.typeOf(v), std::move(parts));
    }
    if (op.kind == OpKind::AddAt) return b.addAt(v, op.operands[1], rest, place.indices);
    return rest.empty() ? op.operands[1] : b.set(v, op.operands[1], rest, place.indices);
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  bool changed_ = false;
};

} // namespace

bool scalariseCarriedRecords(Module& m) {
  require(m, {State::DerivativesGone});
  return changeBodies(m, [&](FunctionId f) { return RecordOpener(m, f).run(); });
}

} // namespace melix::transforms
