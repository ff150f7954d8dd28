#include "transforms/counted_loops/carry_stored_values.h"

#include "core/analysis/affine.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "support/wrapping.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

using Forms = std::vector<AffineForm>; ///< of the indices of a place

class ReadCarrier {
public:
  ReadCarrier(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  void run() {
    region(f_.body);
    if (!gone_.empty()) removeGone(f_.body);
  }

private:
  void region(RegionId r) {
    std::vector<OpId> out;
    const std::vector<OpId> ops = f_.regions[r].ops;
    for (OpId id : ops) {
      const auto regions = f_.ops[id].regions;
      for (RegionId inner : regions) region(inner);
      if (f_.ops[id].kind == OpKind::For) loop(id, r, out);
      out.push_back(id);
    }
    f_.regions[r].ops = std::move(out);
  }

  /// `front`: what comes before the loop, in region `r`.
  void loop(OpId id, RegionId r, std::vector<OpId>& front) {
    const RegionId body = f_.ops[id].regions[0];
    if (f_.ops[id].as<LoopAttr>().collects > 0 || !f_.regions[body].dimParams.empty()) return;
    const size_t carries = f_.ops[id].operands.size() - 1;
    for (size_t k = 0; k < carries; ++k) carry(id, k, r, front);
  }

  void carry(OpId id, size_t k, RegionId r, std::vector<OpId>& front) {
    const RegionId body = f_.ops[id].regions[0];
    const ValueId array = f_.regions[body].params[k + 1];
    const OpId set = f_.values[terminator(f_, body).operands[k]].def;
    if (!set.valid() || f_.ops[set].kind != OpKind::Set || f_.ops[set].operands[0] != array ||
        uses_.regionOf(set) != body)
      return;
    const std::optional<Forms> last = placeBefore(body, set);
    if (!last || !isKnownBefore(*last, f_.typeOf(f_.ops[id].operands[k + 1]))) return;
    std::vector<OpId> reads;
    uses_.forEach(array, [&](Use use) {
      const Op& get = f_.ops[use.op];
      if (get.kind == OpKind::Get && get.operands.size() == last->size() + 1 && isEqual(body, use.op, *last))
        reads.push_back(use.op);
    });
    if (reads.empty()) return;
    const ValueId first = firstRead(id, k, *last, r, front);
    const ValueId param = Builder(m_, id_, body, f_.ops[id].loc).param(f_.typeOf(first));
    for (OpId get : reads) {
      uses_.replace(f_.ops[get].results[0], param);
      uses_.leave(get);
      gone_.insert(get);
    }
    const ValueId written = f_.ops[set].operands[1];
    uses_.change(terminatorId(f_, body), [&](Op& yield) { yield.operands.push_back(written); });
    uses_.change(id, [&](Op& op) { op.operands.push_back(first); });
    Op& op = f_.ops[id];
    op.results.push_back(f_.values.add({f_.typeOf(first), id, {}, uint32_t(op.results.size()), {}}));
  }

  // --- places

  bool isWithin(RegionId r, RegionId outer) const {
    while (r.valid() && r != outer) {
      const OpId around = f_.regions[r].parent;
      r = around.valid() ? uses_.regionOf(around) : RegionId();
    }
    return r.valid();
  }

  /// Of a scalar of an array, by the loop's index and what is the same in all iterations.
  std::optional<Forms> formsOf(RegionId body, OpId access) const {
    const Place place = placeOf(f_.ops[access]);
    auto isIndex = [](const PathStep& s) { return s.kind == StepKind::Index; };
    if (place.path.empty() || !std::ranges::all_of(place.path, isIndex)) return std::nullopt;
    Forms out;
    for (ValueId index : place.indices) {
      std::optional<AffineForm> form =
          affineForm(m_.types.dims, f_, index,
                     {[&](ValueId v) { return v == f_.regions[body].params[0]; },
                      [&](ValueId v) { return !isWithin(uses_.homeOf(v), body); }});
      if (!form) return std::nullopt;
      out.push_back(std::move(*form));
    }
    return out;
  }

  /// Where the iteration before it wrote, said in an iteration.
  std::optional<Forms> placeBefore(RegionId body, OpId set) const {
    if (!m_.types.isScalar(f_.typeOf(f_.ops[set].operands[1]))) return std::nullopt;
    std::optional<Forms> forms = formsOf(body, set);
    if (!forms) return std::nullopt;
    for (AffineForm& form : *forms)
      for (const auto& [axis, step] : form.axes) form.constant = wrappingDifference(form.constant, step);
    return forms;
  }
  /// Whether the sizes in these numbers are there before the loop: those of the array are.
  bool isKnownBefore(const Forms& place, TypeId array) const {
    const std::vector<DimId>& dims = m_.types[array].dims;
    return std::ranges::all_of(place, [&](const AffineForm& form) {
      return std::ranges::all_of(
          form.dims, [&](const auto& term) { return std::ranges::find(dims, term.first) != dims.end(); });
    });
  }
  bool isEqual(RegionId body, OpId get, const Forms& place) const { return formsOf(body, get) == place; }

  // --- the first iteration

  /// What the first iteration reads there; any number if it does not run or may not read there.
  ValueId firstRead(OpId id, size_t k, const Forms& place, RegionId r, std::vector<OpId>& front) {
    const ValueId count = f_.ops[id].operands[0], array = f_.ops[id].operands[k + 1];
    const RegionId scratch = f_.regions.add(Region{});
    Builder b(m_, id_, scratch, f_.ops[id].loc);
    ValueId mayRead = b.compare(ops::CmpKind::Gt, count, b.integer(0));
    std::vector<ValueId> indices;
    for (size_t axis = 0; axis < place.size(); ++axis) {
      AffineForm first = place[axis];
      first.axes.clear();
      indices.push_back(emit(b, first));
      const ValueId extent = b.dimValue(m_.types[f_.typeOf(array)].dims[axis]);
      mayRead = b.binary(OpKind::And, mayRead, b.compare(ops::CmpKind::Ge, indices.back(), b.integer(0)));
      mayRead = b.binary(OpKind::And, mayRead, b.compare(ops::CmpKind::Lt, indices.back(), extent));
    }
    Op choice = Builder::simple(OpKind::If, {mayRead});
    choice.regions = {b.newRegion(), b.newRegion()};
    Builder yes = b.in(choice.regions[0]), no = b.in(choice.regions[1]);
    const ValueId read = yes.getAt(array, indices);
    const TypeId type = f_.typeOf(read);
    yes.yield({read});
    no.yield({no.constant(type, 0)});
    const ValueId first = b.one(std::move(choice), type);
    for (OpId op : f_.regions[scratch].ops) {
      uses_.enter(op, r);
      front.push_back(op);
    }
    f_.regions[scratch].ops.clear();
    return first;
  }
  void removeGone(RegionId r) {
    std::erase_if(f_.regions[r].ops, [&](OpId id) { return gone_.contains(id); });
    for (OpId id : f_.regions[r].ops)
      for (RegionId inner : f_.ops[id].regions) removeGone(inner);
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  std::unordered_set<OpId> gone_;
};

} // namespace

void carryStoredValues(Module& m) {
  require(m, {State::DerivativesGone});
  changeBodies(m, [&](FunctionId f) { ReadCarrier(m, f).run(); });
}

} // namespace melix::transforms
