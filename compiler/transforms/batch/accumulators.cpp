#include "transforms/batch/accumulators.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

ValueId continuedAs(const Module& m, const Function& f, ValueId v) {
  const Op& op = f.ops[f.values[v].def];
  const size_t k = f.values[v].index;
  switch (op.kind) {
  case OpKind::AddAt: return op.operands[0];
  case OpKind::Nest: return NestView(f, op).accOperands()[k - NestView(f, op).partResults()];
  case OpKind::For:
  case OpKind::While: return LoopView(f, op).carryOperands()[k];
  case OpKind::If:
  case OpKind::Match: return terminator(f, op.regions[0]).operands[k];
  case OpKind::Call:
    for (const InoutPair& pair : m.functions[op.as<CallAttr>().callee].inouts)
      if (pair.result == k) return op.operands[pair.param];
    return {};
  default: return {};
  }
}

ValueId accumulatorOf(const Module& m, const Function& f, RegionId region, ValueId v) {
  while (v.valid() && f.values[v].def.valid()) v = continuedAs(m, f, v);
  return v.valid() && f.values[v].region == region ? v : ValueId();
}

} // namespace melix::transforms
