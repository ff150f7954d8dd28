// What holds of records once they are flat (states.def).
#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "core/text/print.h"
#include "types/leaves.h"

#include <algorithm>

namespace melix::core {

namespace {

class RecordVerifier {
public:
  explicit RecordVerifier(const Module& m) : m_(m), fixed_(fixedSignatures(m)) {}

  std::vector<std::string> run() {
    if (!m_.recordsFlat) return {"the module does not say that its records are flat"};
    for (uint32_t i = 0; i < m_.functions.size(); ++i)
      if (m_.functions[FunctionId(i)].body.valid()) function(FunctionId(i));
    return std::move(problems_);
  }

private:
  bool isWhole(TypeId t) const { return types::isFlattened(m_.types, t); }
  template <class List>
  bool anyWhole(const Function& f, const List& values) const {
    return std::ranges::any_of(values, [&](ValueId v) { return isWhole(f.typeOf(v)); });
  }

  void function(FunctionId id) {
    const Function& f = m_.functions[id];
    const bool yieldsWhole = std::ranges::any_of(f.results, [&](TypeId t) { return isWhole(t); });
    if (!fixed_[id.index] && (yieldsWhole || anyWhole(f, f.params())))
      problems_.push_back(f.name + ": a parameter or result is a whole record");
    forEachOp(f, [&](OpId op) {
      if (takesCase(f, f.ops[op]))
        problems_.push_back(f.name + ": `" + printOp(m_, id, op) +
                            "`: a case of a flat enum, which is its tag");
      if (takesWhole(f, f.ops[op]))
        problems_.push_back(f.name + ": `" + printOp(m_, id, op) + "`: takes or gives a whole record");
    });
  }
  bool takesCase(const Function& f, const Op& op) const {
    const bool isMatch = op.kind == OpKind::Match;
    return (isMatch || op.kind == OpKind::Variant) &&
           types::hasParts(m_.types, f.typeOf(isMatch ? op.operands[0] : op.results[0]));
  }
  /// A payload is loaded, and so is what goes into a combination of elements of arrays.
  bool takesWhole(const Function& f, const Op& op) const {
    const bool isCall = op.kind == OpKind::Call && !fixed_[op.as<CallAttr>().callee.index];
    if (op.regions.empty() && !isCall) return false;
    if (anyWhole(f, op.results) || (isCall && anyWhole(f, op.operands))) return true;
    if (op.kind == OpKind::Match) return false;
    const size_t carrying = op.kind == OpKind::While ? 2 : std::min<size_t>(op.regions.size(), 1);
    return std::any_of(op.regions.begin(), op.regions.begin() + static_cast<std::ptrdiff_t>(carrying),
                       [&](RegionId r) { return anyWhole(f, f.regions[r].params); });
  }

  const Module& m_;
  const std::vector<bool> fixed_;
  std::vector<std::string> problems_;
};

} // namespace

std::vector<std::string> verifyRecords(const Module& m) { return RecordVerifier(m).run(); }

} // namespace melix::core
