#include "loops/tiles/short_strips.h"

#include <algorithm>

namespace melix::loops {

ShortStrips::ShortStrips(const Function& fn, const Stmt& points) : fn_(fn), fixed_(fn, points.regions[0]) {
  note(points.regions[0]);
}

std::optional<ValueId> ShortStrips::areShort(Builder& b) const {
  std::optional<ValueId> all;
  Copies copies;
  for (auto [end, most] : ends_) {
    const ValueId isShort = b.compare(ops::CmpKind::Le, fixed_.write(b, end, copies), b.integer(most));
    all = all ? b.both(*all, isShort) : isShort;
  }
  return all;
}

void ShortStrips::note(RegionId region) {
  for (StmtId id : fn_.regions[region].stmts) {
    const Stmt& s = fn_.stmts[id];
    for (RegionId r : s.regions) note(r);
    if (s.kind == StmtKind::For && s.as<ForAttr>().minDistance > 0) note(s);
  }
}

void ShortStrips::note(const Stmt& strip) {
  constexpr int64_t mostStrips = 2;
  const int64_t most = int64_t(strip.as<ForAttr>().minDistance) * mostStrips;
  const StmtId def = fn_.values[strip.operands[1]].def;
  const bool isPart = def.valid() && fn_.stmts[def].kind == StmtKind::Scalar &&
                      fn_.stmts[def].as<ScalarAttr>().op == core::OpKind::Min;
  std::vector<ValueId> all = isPart ? fn_.stmts[def].operands : std::vector<ValueId>();
  all.push_back(strip.operands[1]);
  const auto end =
      std::ranges::find_if(all, [this](ValueId v) { return fixed_.holds(v) && !asConstant(fn_, v); });
  if (end != all.end()) ends_.emplace_back(*end, most);
}

} // namespace melix::loops
