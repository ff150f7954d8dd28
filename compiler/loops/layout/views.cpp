#include "loops/layout/views.h"

namespace melix::loops {

using core::OpKind;

bool Views::onlyReadIn(core::ValueId v, core::RegionId region) {
  auto [known, isNew] = onlyRead_.try_emplace({v, region}, true);
  if (!isNew) return known->second;
  bool onlyRead = true;
  uses_.forEach(v, [&](core::Use use) {
    const bool reads = fn_.ops[use.op].kind == OpKind::Get && use.operand == 0;
    onlyRead = onlyRead && (reads || !uses_.ancestorIn(region, use.op).valid());
  });
  if (!onlyRead) return known->second = false;
  const core::OpId def = fn_.values[v].def;
  if (!def || fn_.ops[def].kind != OpKind::Get) return true;
  return known->second = onlyReadIn(fn_.ops[def].operands[0], region);
}

bool Views::mayView(const core::Op& get) {
  const core::ValueId result = get.results[0];
  bool isRead = uses_.used(result);
  uses_.forEach(result, [&](core::Use use) {
    const OpKind kind = fn_.ops[use.op].kind;
    isRead = isRead && (kind == OpKind::Get || (kind == OpKind::Set && use.operand == 1));
  });
  return isRead && onlyReadIn(get.operands[0], uses_.homeOf(result));
}

} // namespace melix::loops
