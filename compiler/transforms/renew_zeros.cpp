#include "transforms/renew_zeros.h"

#include "core/flow.h"
#include "core/uses.h"

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
      for (uint32_t k : takenOver(fn().ops[op])) renew(op, k, r);
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
  std::vector<uint32_t> takenOver(const Op& op) {
    std::vector<uint32_t> out;
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
    return out;
  }
  /// Whether an op of the region takes its parameter over: not only one of an arm, which may never run.
  bool isTakenOver(ValueId param, RegionId body) {
    if (const auto known = isTakenOver_.find(param); known != isTakenOver_.end()) return known->second;
    bool is = false;
    uses_.forEach(param, [&](Use use) {
      if (is || uses_.regionOf(use.op) != body) return;
      const std::vector<uint32_t> taken = takenOver(fn().ops[use.op]);
      is = std::ranges::find(taken, use.operand) != taken.end();
    });
    isTakenOver_.emplace(param, is);
    return is;
  }

  Module& m_;
  const FunctionId id_;
  LiveUses uses_;
  std::unordered_map<ValueId, bool> isTakenOver_; ///< of parameters of bodies
};

} // namespace

void renewZeros(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].body.valid()) Renewer(m, FunctionId(i)).run();
}

} // namespace melix::transforms
