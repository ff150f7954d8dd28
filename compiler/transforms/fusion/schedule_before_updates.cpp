#include "transforms/fusion/schedule_before_updates.h"

#include "core/ir/nest.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class Advancer {
public:
  Advancer(Function& f, const Effects& effects) : f_(f), effects_(effects) {}

  void region(RegionId r) {
    for (OpId id : f_.regions[r].ops)
      for (RegionId inner : f_.ops[id].regions) region(inner);
    block(r);
  }

private:
  void block(RegionId r) {
    const std::vector<OpId> ops = f_.regions[r].ops;
    placeOf_.clear();
    after_.assign(ops.size() + 1, {});
    uint32_t fence = 0, update = 0; // the last of each so far; the first place is 1
    bool moved = false;
    for (uint32_t place = 1; place <= ops.size(); ++place) {
      const OpId id = ops[place - 1];
      const Op& op = f_.ops[id];
      const bool free = op.resultDims.empty() && !effects_.ofOp(f_, id).any();
      uint32_t to = place;
      if (free && update > fence && op.kind == OpKind::Nest && nestAccs(op) == 0) {
        const uint32_t last = std::max(fence, lastNeeded(id));
        if (last < update) to = last;
      }
      moved |= to != place;
      placeOf_[id] = to;
      after_[to].push_back(id);
      if (isUpdate(op)) update = place;
      if (!free) fence = place;
    }
    if (!moved) return;
    std::vector<OpId> out;
    for (const std::vector<OpId>& here : after_) out.insert(out.end(), here.begin(), here.end());
    f_.regions[r].ops = std::move(out);
    f_.version.raise();
  }

  /// The place of the last op of the block whose results the nest needs.
  uint32_t lastNeeded(OpId nest) const {
    uint32_t last = 0;
    forEachOp(f_, f_.ops[nest].regions[0], [&](OpId id) {
      for (ValueId v : f_.ops[id].operands) {
        auto it = placeOf_.find(f_.values[v].def);
        if (it != placeOf_.end()) last = std::max(last, it->second);
      }
    });
    return last;
  }
  bool isUpdate(const Op& op) const {
    if (op.kind == OpKind::Nest) return nestAccs(op) > 0;
    return op.kind == OpKind::Set || op.kind == OpKind::AddAt || op.kind == OpKind::Push;
  }

  Function& f_;
  const Effects& effects_;
  std::unordered_map<OpId, uint32_t> placeOf_;
  std::vector<std::vector<OpId>> after_; ///< by place
};

} // namespace

void advanceNests(Module& m, FunctionId f, const Effects& effects) {
  Function& function = m.functions[f];
  Advancer(function, effects).region(function.body);
}

} // namespace melix::transforms
