#include "transforms/counted_loops/recurrence.h"

#include "core/analysis/footprint.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "transforms/analysis/index_offset.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Values that are looked at to see what a read varies with.
constexpr size_t mostLooked = 512;

/// Whether a number is added to by what follows in a region, and nothing else becomes of it: `held` are the
/// values that it becomes.
bool onlyAddsTo(const Function& f, RegionId r, std::unordered_set<ValueId>& held);

/// The same of one op; what it gives, or hands on to its regions, is held too.
bool addsTo(const Function& f, const Op& op, uint32_t operand, std::unordered_set<ValueId>& held) {
  switch (op.kind) {
  case OpKind::Yield: return true;
  case OpKind::Add: held.insert(op.results[0]); return true;
  case OpKind::Sub: held.insert(op.results[0]); return operand == 0;
  case OpKind::Select: held.insert(op.results[0]); return operand > 0;
  case OpKind::For:
    if (operand == 0) return false;
    held.insert(LoopView(f, op).carryParams()[operand - 1]);
    held.insert(op.results[operand - 1]);
    return true;
  default: return false;
  }
}

bool onlyAddsTo(const Function& f, RegionId r, std::unordered_set<ValueId>& held) {
  for (OpId id : f.regions[r].ops) {
    const Op& op = f.ops[id];
    for (uint32_t k = 0; k < op.operands.size(); ++k)
      if (held.contains(op.operands[k]) && !addsTo(f, op, k, held)) return false;
    for (RegionId inner : op.regions) {
      if (!onlyAddsTo(f, inner, held)) return false;
      const Operands& yields = terminator(f, inner).operands;
      for (size_t k = 0; k < op.results.size(); ++k)
        if (held.contains(yields[k])) held.insert(op.results[k]);
    }
  }
  return true;
}

/// What the reads of an iteration vary with: axes of the nest, and axes and indices around the loop, but its
/// own.
class IterationAxes {
public:
  IterationAxes(const Function& f, const Uses& uses, OpId loop, const std::vector<ValueId>& axes)
      : f_(f), uses_(uses), loop_(loop), axes_(axes) {}

  /// Whether two reads vary with what the other does not vary with.
  bool areTwo(RegionId iteration) {
    noteOffset(iteration);
    Footprint term;
    forEachOp(f_, iteration, [&](OpId id) {
      looked_ = 0;
      if (f_.ops[id].kind == OpKind::Get) term.operands.push_back(of(f_.ops[id]));
    });
    return term.hasTwoSides();
  }

private:
  /// In a range that begins at i, as `i + k`, the sum is the loop's own index.
  void noteOffset(RegionId iteration) {
    auto sizeOf = [this](ValueId v) {
      const OpId def = f_.values[v].def;
      const bool isSize = def.valid() && f_.ops[def].kind == OpKind::DimValue;
      return isSize ? std::optional(f_.ops[def].dims[0]) : std::nullopt;
    };
    if (const std::optional<IndexOffset> offset =
            indexOffset(f_, iteration, f_.regions[iteration].params[0], sizeOf))
      for (ValueId sum : offset->sums) known_[sum] = {};
  }
  /// Of an op and what stands in it.
  std::set<ValueId> of(const Op& op) {
    std::set<ValueId> out;
    auto add = [&](const Op& x) {
      for (ValueId v : x.operands) out.merge(of(v));
    };
    add(op);
    for (RegionId r : op.regions)
      forEachOp(f_, r, [&](OpId id) {
        if (looked_ < mostLooked) add(f_.ops[id]);
      });
    return out;
  }
  std::set<ValueId> of(ValueId v) {
    if (const auto known = known_.find(v); known != known_.end()) return known->second;
    if (++looked_ > mostLooked) return {};
    std::set<ValueId> out;
    if (const OpId def = f_.values[v].def; def.valid())
      out = of(f_.ops[def]);
    else if (std::ranges::find(axes_, v) != axes_.end() || isIndexAround(v))
      out.insert(v);
    return known_[v] = out;
  }
  /// Whether a parameter is an axis of a nest around the loop, or the index of a loop around it.
  bool isIndexAround(ValueId v) const {
    const RegionId r = f_.values[v].region;
    const OpId parent = r.valid() ? f_.regions[r].parent : OpId();
    if (!parent.valid() || !uses_.ancestorIn(r, loop_).valid()) return false;
    const Op& op = f_.ops[parent];
    const uint32_t number = f_.values[v].index;
    return op.kind == OpKind::Nest ? number < op.dims.size() : op.kind == OpKind::For && number == 0;
  }

  const Function& f_;
  const Uses& uses_;
  const OpId loop_;
  const std::vector<ValueId>& axes_;
  std::unordered_map<ValueId, std::set<ValueId>> known_;
  size_t looked_ = 0;
};

} // namespace

bool onlyAdds(const Function& f, RegionId iteration, ValueId begun, ValueId last) {
  std::unordered_set<ValueId> held{begun};
  return onlyAddsTo(f, iteration, held) && last != begun && held.contains(last);
}

bool readsTwoSides(const Function& f, const Uses& uses, OpId loop, const std::vector<ValueId>& axes,
                   RegionId iteration) {
  return IterationAxes(f, uses, loop, axes).areTwo(iteration);
}

} // namespace melix::transforms
