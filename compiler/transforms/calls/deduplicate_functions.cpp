#include "transforms/calls/deduplicate_functions.h"

#include "core/ir/analyses.h"
#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "core/text/print.h"

#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class FunctionDeduplicator {
public:
  explicit FunctionDeduplicator(Module& m)
      : m_(m), calls_(m), effects_(m), texts_(m), same_(m.functions.size()) {}

  void run() {
    for (FunctionId id : calls_.order()) {
      if (!m_.functions[id].body.valid()) continue;
      redirect(id);
      if (m_.functions[id].customJvp.valid()) continue;
      same_[id.index] = first_.try_emplace(key(id), id).first->second;
    }
    for (auto& [kind, body] : m_.mathBodies) body = representative(body);
    for (uint32_t i = 0; i < m_.functions.size(); ++i)
      if (m_.functions[FunctionId(i)].body.valid()) redirect(FunctionId(i));
  }

private:
  FunctionId representative(FunctionId f) const { return same_[f.index].valid() ? same_[f.index] : f; }
  void redirect(FunctionId id) {
    Function& f = m_.functions[id];
    forEachOp(f, [&](OpId op) {
      if (auto* call = std::get_if<CallAttr>(&f.ops[op].attr)) call->callee = representative(call->callee);
    });
  }

  std::string key(FunctionId id) {
    const Function& f = m_.functions[id];
    std::string out = texts_.of(id) + std::to_string(static_cast<int>(f.device));
    bool mayEnd = calls_.reachesRecursion(id);
    std::string places;
    forEachOp(f, [&](OpId op) {
      const bool acts = effects_.ofItself(f, op).any();
      if (acts || f.ops[op].kind == OpKind::Call) places += place(f.ops[op].loc);
      mayEnd = mayEnd || acts;
    });
    return mayEnd ? out + f.name + places : out;
  }
  /// A location as a trace prints it.
  std::string place(LocId loc) const {
    std::string out = ";";
    for (; loc.valid(); loc = m_.locs[loc].inner) {
      const Loc& link = m_.locs[loc];
      out += std::to_string(link.span.file.index) + ":" + std::to_string(link.span.begin) + ":" +
             std::to_string(link.span.end) + link.function + ",";
    }
    return out;
  }

  Module& m_;
  const CallGraph calls_;
  const Effects effects_;
  StructureText texts_;
  std::vector<FunctionId> same_; ///< by function: the first of those that are equal to it
  std::unordered_map<std::string, FunctionId> first_;
};

} // namespace

void deduplicateFunctions(Module& m) {
  require(m, {State::DerivativesGone});
  FunctionDeduplicator(m).run();
  raiseAll(m);
}

} // namespace melix::transforms
