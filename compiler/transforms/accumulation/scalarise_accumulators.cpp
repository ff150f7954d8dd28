#include "transforms/accumulation/scalarise_accumulators.h"

#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/ir/work.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/derivatives/derivative_context.h"
#include "transforms/walks/for_each_function.h"
#include "types/leaves.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Of an accumulator, what it accumulates.
TypeId accumulated(const types::TypeStore& types, TypeId t) {
  return types.kind(t) == TypeKind::Acc ? types[t].parts[0] : t;
}
/// Where in a path of a record, or an array of them, the field stands; its end if it speaks of whole records.
size_t fieldStep(const Module& m, const Function& f, const Op& access) {
  return leadingAxes(m.types, accumulated(m.types, f.typeOf(access.operands[0])), access.as<Path>());
}
bool isOfWholeRecords(const Module& m, const Function& f, const Op& access) {
  return fieldStep(m, f, access) == access.as<Path>().size();
}

/// All that one zero becomes, if it is only added to and read in parts.
class Accumulation {
public:
  Accumulation(const Module& m, const Function& f, const Uses& uses, const SlotTable& slots,
               const std::unordered_map<RegionId, OpId>& owners)
      : m_(m), f_(f), uses_(uses), slots_(slots), owners_(owners) {}

  /// Whether it can be split.
  bool follow(ValueId zero) {
    join(zero);
    for (size_t k = 0; ok_ && k < values_.size(); ++k) {
      comesFrom(values_[k]);
      uses_.forEach(values_[k], [&](Use use) { goesTo(use); });
    }
    return ok_ && !read_.empty();
  }
  const std::vector<ValueId>& values() const { return values_; }
  /// Which parts are read, in their order.
  std::vector<uint32_t> parts() const { return {read_.begin(), read_.end()}; }

private:
  void join(ValueId v) {
    if (seen_.insert(v).second) values_.push_back(v);
  }
  void joinAll(OpId id, const Slot& slot) {
    const Op& op = f_.ops[id];
    ok_ = ok_ && slot.kind != SlotKind::Part && slot.kind != SlotKind::Stack;
    for (ValueId v : slot.results.of(op.results)) join(v);
    forEachParam(f_, op, slot, [this](ValueId v) { join(v); });
    forEachSource(f_, op, slot, [this](ValueId v) { join(v); });
  }
  void comesFrom(ValueId v) {
    if (const SlotTable::Entry* entry = slots_.of(v)) return joinAll(entry->op, entry->slot);
    const OpId def = f_.values[v].def;
    const OpKind kind = def.valid() ? f_.ops[def].kind : OpKind::Undef;
    const bool isOfOthers =
        kind == OpKind::AddAt || (kind == OpKind::Get && isOfWholeRecords(m_, f_, f_.ops[def]));
    if (isOfOthers)
      join(f_.ops[def].operands[0]);
    else
      ok_ = ok_ && kind == OpKind::Zero;
  }
  void goesTo(Use use) {
    const Op& op = f_.ops[use.op];
    if (op.kind == OpKind::Get || op.kind == OpKind::AddAt)
      access(op, use.operand);
    else if (op.kind == OpKind::Yield)
      yields(uses_.regionOf(use.op), use.operand);
    else
      enters(use.op, use.operand);
  }
  void access(const Op& op, uint32_t operand) {
    const size_t field = fieldStep(m_, f_, op);
    const Path& path = op.as<Path>();
    ok_ = ok_ && operand == 0 && (field == path.size() || path[field].kind == StepKind::Field) &&
          panickingSums(m_, f_, op).empty();
    if (op.kind == OpKind::AddAt || field == path.size())
      join(op.results[0]);
    else
      read_.insert(path[field].number);
  }
  void yields(RegionId region, uint32_t operand) {
    const auto owner = owners_.find(region);
    if (owner == owners_.end()) { // what the function gives
      ok_ = false;
      return;
    }
    joinSlotOf(owner->second, operand, [&](const Slot& slot) {
      const bool isOf = std::ranges::count(yieldRegions(f_.ops[owner->second], slot), region) > 0;
      return isOf ? slot.yields : Places();
    });
  }
  void enters(OpId op, uint32_t operand) {
    joinSlotOf(op, operand, [](const Slot& slot) { return slot.operands; });
  }
  void joinSlotOf(OpId op, uint32_t number, const auto& placesOf) {
    const std::vector<Slot> slots =
        f_.ops[op].regions.empty() ? std::vector<Slot>() : slotsOf(f_, f_.ops[op]);
    const auto slot = std::ranges::find_if(slots, [&](const Slot& each) {
      const Places places = placesOf(each);
      return number >= places.first && number < places.first + places.count;
    });
    ok_ = ok_ && slot != slots.end();
    if (ok_) joinAll(op, *slot);
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  const SlotTable& slots_;
  const std::unordered_map<RegionId, OpId>& owners_;
  std::vector<ValueId> values_;
  std::unordered_set<ValueId> seen_;
  std::set<uint32_t> read_;
  bool ok_ = true;
};

class AccumulatorSplitter {
public:
  AccumulatorSplitter(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run() {
    if (!find()) return false;
    region(f_.body);
    return true;
  }

private:
  using Parts = std::vector<ValueId>;

  // --- what is split

  bool find() {
    std::vector<ValueId> zeros;
    std::unordered_map<RegionId, OpId> owners;
    forEachOp(f_, [&](OpId id) {
      const Op& op = f_.ops[id];
      if (op.kind == OpKind::Zero && isOfRecords(f_.typeOf(op.results[0]))) zeros.push_back(op.results[0]);
      for (RegionId r : op.regions) owners.emplace(r, id);
    });
    if (zeros.empty()) return false;
    const SlotTable slots(f_);
    std::unordered_set<ValueId> stay;
    for (ValueId zero : zeros) {
      if (numbersOf_.contains(zero) || stay.contains(zero)) continue;
      Accumulation all(m_, f_, uses_, slots, owners);
      if (!all.follow(zero)) {
        stay.insert(all.values().begin(), all.values().end());
        continue;
      }
      numbers_.push_back(all.parts());
      for (ValueId v : all.values()) numbersOf_.emplace(v, numbers_.size() - 1);
    }
    return !numbers_.empty();
  }
  bool isOfRecords(TypeId t) const {
    const TypeId element = m_.types.kind(t) == TypeKind::Array ? m_.types.element(t) : t;
    const TypeKind kind = m_.types.kind(element);
    return (kind == TypeKind::Tuple || kind == TypeKind::Struct) && types::isFlattened(m_.types, element) &&
           !sizedByValue(m_.types, t);
  }
  bool isSplit(ValueId v) const { return numbersOf_.contains(v); }
  const std::vector<uint32_t>& numbersOf(ValueId v) const { return numbers_[numbersOf_.at(v)]; }

  TypeId partType(TypeId t, uint32_t k) const {
    const TypeId part = *pathType(m_.types, accumulated(m_.types, t), {PathStep{StepKind::Field, k, {}, 1}});
    return m_.types.kind(t) == TypeKind::Acc ? m_.types.acc(part) : part;
  }
  /// That part of a record, or of each record of an array.
  ValueId partOf(Builder& b, ValueId record, uint32_t k) const {
    const OpId def = f_.values[record].def;
    if (def.valid() && f_.ops[def].kind == OpKind::Make) return f_.ops[def].operands[k];
    if (m_.types.kind(f_.typeOf(record)) != TypeKind::Array) return b.field(record, k);
    const Dims extents = m_.types[f_.typeOf(record)].dims;
    NestBuilder nest(b);
    const std::vector<ValueId> at = nest.openAxes(extents);
    Builder body = b.in(nest.body());
    Path path(at.size(), PathStep{StepKind::Index, 0, {}, 1});
    path.push_back({StepKind::Field, k, {}, 1});
    nest.collect(body.get(record, std::move(path), at));
    return nest.one();
  }

  // --- splitting, values before their uses

  std::vector<OpId>& opsOf(RegionId r) { return f_.regions[r].ops; }

  void region(RegionId r) {
    const std::vector<OpId> before = std::exchange(opsOf(r), {});
    work.ops += before.size();
    for (OpId id : before) {
      const size_t first = opsOf(r).size();
      if (access(id, r)) {
        uses_.leave(id);
        for (size_t k = first; k < opsOf(r).size(); ++k) uses_.enter(opsOf(r)[k], r);
        continue;
      }
      opsOf(r).push_back(id);
      hand(id);
      const Regions inner = f_.ops[id].regions;
      for (RegionId each : inner) region(each);
    }
  }

  /// Whether the op, which makes, adds to or reads what is split, is gone; what does it to parts is appended.
  bool access(OpId id, RegionId r) {
    const Op op = f_.ops[id];
    Builder b(m_, id_, r, op.loc);
    if (op.kind == OpKind::Zero && isSplit(op.results[0])) {
      for (uint32_t k : numbersOf(op.results[0]))
        parts_[op.results[0]].push_back(b.zero(partType(f_.typeOf(op.results[0]), k)));
      return true;
    }
    if ((op.kind != OpKind::Get && op.kind != OpKind::AddAt) || !isSplit(op.operands[0])) return false;
    const size_t field = fieldStep(m_, f_, op);
    if (field == op.as<Path>().size())
      parts_[op.results[0]] = op.kind == OpKind::Get ? readAll(b, op) : addToAll(b, op);
    else if (op.kind == OpKind::Get)
      read(b, op, field);
    else
      add(b, op, field);
    return true;
  }
  Parts readAll(Builder& b, const Op& get) const {
    const Place place = placeOf(get);
    Parts out = parts_.at(get.operands[0]);
    for (ValueId& part : out) part = b.get(part, place.path, place.indices);
    return out;
  }
  Parts addToAll(Builder& b, const Op& add) const {
    const Place place = placeOf(add);
    Parts out = parts_.at(add.operands[0]);
    for (size_t k = 0; k < out.size(); ++k) {
      const ValueId added = partOf(b, add.operands[1], numbersOf(add.operands[0])[k]);
      out[k] = b.addAt(out[k], added, place.path, place.indices);
    }
    return out;
  }
  void read(Builder& b, const Op& get, size_t field) {
    const Place place = placeOf(get);
    const Path rest = pathOfPart(get, field);
    ValueId part = parts_.at(get.operands[0])[*placeOfPart(get, field)];
    if (!rest.empty()) part = b.get(part, rest, place.indices);
    uses_.replace(get.results[0], part);
  }
  void add(Builder& b, const Op& add, size_t field) {
    const Place place = placeOf(add);
    Parts out = parts_.at(add.operands[0]);
    if (const std::optional<size_t> k = placeOfPart(add, field))
      out[*k] = b.addAt(out[*k], add.operands[1], pathOfPart(add, field), place.indices);
    parts_[add.results[0]] = std::move(out);
  }
  /// Which of those that are read the field is.
  std::optional<size_t> placeOfPart(const Op& access, size_t field) const {
    const std::vector<uint32_t>& numbers = numbersOf(access.operands[0]);
    const auto at = std::ranges::find(numbers, access.as<Path>()[field].number);
    if (at == numbers.end()) return std::nullopt;
    return static_cast<size_t>(at - numbers.begin());
  }
  static Path pathOfPart(const Op& access, size_t field) {
    Path path = access.as<Path>();
    path.erase(path.begin() + static_cast<std::ptrdiff_t>(field));
    return path;
  }

  /// Parts go into the op, around it and out of it.
  void hand(OpId id) {
    const Operands before = f_.ops[id].operands;
    if (std::ranges::any_of(before, [this](ValueId v) { return isSplit(v); })) {
      Operands after;
      for (ValueId v : before) append(v, after);
      uses_.change(id, [&](Op& op) { op.operands = std::move(after); });
    }
    const Results results = f_.ops[id].results;
    if (std::ranges::none_of(results, [this](ValueId v) { return isSplit(v); })) return;
    for (RegionId inner : f_.ops[id].regions) {
      const std::vector<ValueId> params = std::exchange(f_.regions[inner].params, {});
      for (ValueId v : defined(params)) Builder(m_, id_, inner, f_.ops[id].loc).defineParam(v);
    }
    takeOver(f_, id, defined(results));
    if (f_.ops[id].kind == OpKind::Nest)
      addAccumulators(f_.ops[id], f_.ops[id].results.size() - results.size());
  }
  void append(ValueId v, Operands& out) const {
    if (!isSplit(v)) return out.push_back(v);
    for (ValueId part : parts_.at(v)) out.push_back(part);
  }
  /// New values in the place of those that are split.
  std::vector<ValueId> defined(std::span<const ValueId> values) {
    std::vector<ValueId> out;
    for (ValueId v : values) {
      if (!isSplit(v)) {
        out.push_back(v);
        continue;
      }
      Parts& parts = parts_[v];
      for (uint32_t k : numbersOf(v))
        parts.push_back(f_.values.add(Value{partType(f_.typeOf(v), k), {}, {}, 0, f_.values[v].hint}));
      out.insert(out.end(), parts.begin(), parts.end());
    }
    return out;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  std::vector<std::vector<uint32_t>> numbers_;    ///< by accumulation: the parts that are read
  std::unordered_map<ValueId, size_t> numbersOf_; ///< which accumulation a value is of
  std::unordered_map<ValueId, Parts> parts_;
};

} // namespace

bool scalariseAccumulators(Module& m) {
  require(m, {State::DerivativesGone});
  return changeBodies(m, [&](FunctionId f) {
    bool changed = false;
    while (AccumulatorSplitter(m, f).run()) changed = true; // records in records
    return changed;
  });
}

} // namespace melix::transforms
