#include "loops/ownership/drop_invariant_carries.h"

#include <unordered_map>

namespace melix::loops {

namespace {

class Dropper {
public:
  explicit Dropper(Function& fn) : fn_(fn) {}

  /// From the inside out: what an inner loop passes on may be all that an outer one does with a value.
  void region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      Stmt& s = fn_.stmts[id];
      for (RegionId inner : s.regions) region(inner);
      for (ValueId& v : s.operands) v = sourceOf(v);
      if (s.kind == StmtKind::For) loop(s);
    }
  }
  /// In all that was left behind.
  void rename(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      Stmt& s = fn_.stmts[id];
      for (ValueId& v : s.operands) v = sourceOf(v);
      for (RegionId inner : s.regions) rename(inner);
    }
  }

private:
  ValueId sourceOf(ValueId v) const {
    for (auto it = became_.find(v); it != became_.end(); it = became_.find(v)) v = it->second;
    return v;
  }

  void loop(Stmt& s) {
    Region& body = fn_.regions[s.regions[0]];
    std::vector<ValueId>& next = fn_.stmts[body.stmts.back()].operands;
    for (size_t k = s.results.size(); k-- > 0;) {
      if (next[k] != body.params[k + 1]) continue;
      became_[body.params[k + 1]] = became_[s.results[k]] = s.operands[k + 2];
      auto drop = [](std::vector<ValueId>& list, size_t at) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      };
      drop(body.params, k + 1);
      drop(next, k);
      drop(s.operands, k + 2);
      drop(s.results, k);
    }
  }

  Function& fn_;
  std::unordered_map<ValueId, ValueId> became_;
};

} // namespace

void dropInvariantCarries(Function& function) {
  Dropper dropper(function);
  dropper.region(function.body);
  dropper.rename(function.body);
}

} // namespace melix::loops
