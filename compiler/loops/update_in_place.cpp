#include "loops/update_in_place.h"

#include "core/call_graph.h"
#include "loops/local_blocks.h"

#include <algorithm>

namespace melix::loops {

namespace {

/// A parameter that its function gives back, and as which of its results.
struct Given {
  size_t param, result;
};

class Updater {
public:
  explicit Updater(Module& module) : module_(module), given_(module.functions.size()) {}

  void run() {
    for (FunctionId f : calleesFirst()) {
      rewriteCalls(f);
      findGiven(f);
    }
    for (uint32_t f = 0; f < given_.size(); ++f) rewriteCalls(FunctionId(f)); // of recursion
  }

private:
  std::vector<FunctionId> calleesFirst() const {
    std::vector<std::vector<FunctionId>> made(module_.core.functions.size());
    for (uint32_t f = 0; f < given_.size(); ++f)
      if (const core::FunctionId source = module_.functions[FunctionId(f)].source; source.valid())
        made[source.index].push_back(FunctionId(f));
    std::vector<FunctionId> out;
    const core::CallGraph calls(module_.core);
    for (core::FunctionId source : calls.order())
      out.insert(out.end(), made[source.index].begin(), made[source.index].end());
    return out;
  }

  // --- the function itself

  void findGiven(FunctionId id) {
    Function& fn = module_.functions[id];
    if (fn.exported || fn.inlined || fn.kind != FunctionKind::Orchestration) return;
    for (size_t k = 0; k < fn.params().size(); ++k)
      if (fn.modes[k] == ModeKind::Own && fn.typeOf(fn.params()[k]) == dataType) findGiven(id, k);
    std::vector<Given>& given = given_[id.index];
    std::ranges::sort(given, std::greater(), &Given::result);
    for (const Given& g : given) {
      auto drop = [&](auto& list) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(g.result)); };
      drop(fn.results);
      drop(fn.stmts[fn.regions[fn.body].stmts.back()].operands);
    }
  }
  void findGiven(FunctionId id, size_t k) {
    Function& fn = module_.functions[id];
    LocalBlocks blocks(module_, fn);
    const ValueId param = fn.params()[k];
    const auto block = blocks.followParam(param, [&](FunctionId callee, size_t n) {
      return module_.functions[callee].modes[n] == ModeKind::InOut;
    });
    const bool isUpdated =
        block && std::ranges::any_of(block->uniques, [&](StmtId unique) {
          return blocks.homeOf(unique) == fn.body; // whatever happens: a block that is not may stay shared
        });
    if (!isUpdated) return;
    blocks.release(*block, param);
    fn.modes[k] = ModeKind::InOut;
    given_[id.index].push_back({k, *block->result});
  }

  // --- its calls

  void rewriteCalls(FunctionId id) {
    Function& fn = module_.functions[id];
    std::unordered_map<ValueId, ValueId> became;
    rewriteCalls(fn, fn.body, became);
    if (became.empty()) return;
    for (Stmt& s : fn.stmts)
      for (ValueId& v : s.operands)
        for (auto it = became.find(v); it != became.end(); it = became.find(v)) v = it->second;
  }
  void rewriteCalls(Function& fn, RegionId region, std::unordered_map<ValueId, ValueId>& became) {
    const std::vector<StmtId> stmts = std::move(fn.regions[region].stmts);
    std::vector<StmtId> out;
    for (StmtId id : stmts) {
      const std::vector<RegionId> inner = fn.stmts[id].regions;
      for (RegionId r : inner) rewriteCalls(fn, r, became);
      if (fn.stmts[id].kind == StmtKind::Call) rewriteCall(fn, id, out, became);
      out.push_back(id);
    }
    fn.regions[region].stmts = std::move(out);
  }
  void rewriteCall(Function& fn, StmtId id, std::vector<StmtId>& out,
                   std::unordered_map<ValueId, ValueId>& became) {
    const FunctionId callee = fn.stmts[id].as<FunctionId>();
    if (fn.stmts[id].results.size() == module_.functions[callee].results.size()) return;
    for (const Given& g : given_[callee.index]) {
      const StmtId unique = fn.stmts.add({StmtKind::EnsureUnique, fn.stmts[id].loc, {}, {}, {}, {}});
      Stmt& call = fn.stmts[id];
      const ValueId result = call.results[g.result];
      const ValueId made = fn.values.add({dataType, unique, fn.values[result].region});
      fn.stmts[unique].operands = {call.operands[g.param]};
      fn.stmts[unique].results = {made};
      call.operands[g.param] = made;
      call.results.erase(call.results.begin() + static_cast<std::ptrdiff_t>(g.result));
      became.emplace(result, made);
      out.push_back(unique);
    }
  }

  Module& module_;
  std::vector<std::vector<Given>> given_; ///< by function, the last result first
};

} // namespace

void updateInPlace(Module& module) { Updater(module).run(); }

} // namespace melix::loops
