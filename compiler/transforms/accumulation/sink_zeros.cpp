#include "transforms/accumulation/sink_zeros.h"

#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class Renewer {
public:
  Renewer(Module& m, FunctionId id) : m_(m), id_(id), uses_(m, id) {}

  void run() { region(fn().body); }

private:
  Function& fn() const { return m_.functions[id_]; }

  void region(RegionId r) {
    const std::vector<OpId> ops = std::move(fn().regions[r].ops);
    fn().regions[r].ops.clear();
    for (OpId op : ops) {
      for (uint32_t k : takenOver(op)) renew(op, k, r);
      fn().regions[r].ops.push_back(op);
      const auto regions = fn().ops[op].regions;
      for (RegionId inner : regions) region(inner);
    }
    std::erase_if(fn().regions[r].ops,
                  [&](OpId op) { return isZero(op) && !uses_.used(fn().ops[op].results[0]); });
  }

  bool isZero(OpId op) const {
    return fn().ops[op].kind == OpKind::Zero && !m_.types.isScalar(fn().typeOf(fn().ops[op].results[0]));
  }

  /// The operand is a zero of its own, unless it is that already.
  void renew(OpId user, uint32_t operand, RegionId r) {
    const ValueId old = fn().ops[user].operands[operand];
    const OpId def = fn().values[old].def;
    if (!def.valid() || !isZero(def) || (uses_.regionOf(def) == r && uses_.count(old) == 1)) return;
    Builder b(m_, id_, r, fn().ops[def].loc);
    const ValueId own = b.zero(fn().typeOf(old));
    uses_.enter(fn().values[own].def, r);
    uses_.change(user, [&](Op& op) { op.operands[operand] = own; });
  }

  /// Operands whose memory the op's results use, each time that it runs.
  const std::vector<uint32_t>& takenOver(OpId id) {
    const auto [known, fresh] = takenOver_.try_emplace(id);
    if (!fresh) return known->second;
    std::vector<uint32_t> out;
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Set || op.kind == OpKind::AddAt) out.push_back(0);
    if (op.kind == OpKind::Call)
      for (const InoutPair& pair : m_.functions[op.as<CallAttr>().callee].inouts) out.push_back(pair.param);
    for (const Slot& slot : slotsOf(fn(), op)) {
      if (slot.kind != SlotKind::Accumulator && slot.kind != SlotKind::Carry) continue;
      const RegionId body = paramRegions(op, slot).back();
      for (uint32_t k = 0; k < slot.operands.count; ++k)
        if (isTakenOver(slot.params.of(fn().regions[body].params)[k], body))
          out.push_back(slot.operands.first + k);
    }
    std::ranges::sort(out);
    return takenOver_[id] = std::move(out);
  }
  /// Whether an op of the region takes its parameter over: not only one of an arm, which may never run.
  bool isTakenOver(ValueId param, RegionId body) {
    bool is = false;
    uses_.forEach(param, [&](Use use) {
      is = is ||
           (uses_.regionOf(use.op) == body && std::ranges::binary_search(takenOver(use.op), use.operand));
    });
    return is;
  }

  Module& m_;
  const FunctionId id_;
  LiveUses uses_;
  std::unordered_map<OpId, std::vector<uint32_t>> takenOver_;
};

} // namespace

void sinkZeros(Module& m) {
  changeBodies(m, [&](FunctionId f) { Renewer(m, f).run(); });
}

} // namespace melix::transforms
