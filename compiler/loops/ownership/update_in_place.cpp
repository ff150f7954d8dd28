#include "loops/ownership/update_in_place.h"

#include "loops/analysis/local_allocations.h"

#include <algorithm>

namespace melix::loops {

namespace {

/// A parameter that its function gives back, and as which of its results.
struct Given {
  size_t param, result;
};

void remove(auto& list, size_t at) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(at)); }

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
  /// Each function after those that it calls, but for recursion.
  std::vector<FunctionId> calleesFirst() const {
    std::vector<FunctionId> out;
    std::vector<bool> seen(given_.size());
    std::vector<std::pair<FunctionId, uint32_t>> open; // and its statement at hand
    for (uint32_t f = 0; f < given_.size(); ++f) {
      auto enter = [&](FunctionId id) {
        if (!seen[id.index]) open.emplace_back(id, 0);
        seen[id.index] = true;
      };
      enter(FunctionId(f));
      while (!open.empty()) {
        const FunctionId id = open.back().first;
        const auto& stmts = module_.functions[id].stmts;
        uint32_t& at = open.back().second;
        if (at == stmts.size()) {
          out.push_back(id);
          open.pop_back();
        } else if (const Stmt& s = stmts[StmtId(at++)]; s.kind == StmtKind::Call) {
          enter(s.as<FunctionId>());
        }
      }
    }
    return out;
  }

  // --- the function itself

  void findGiven(FunctionId id) {
    Function& fn = module_.functions[id];
    if (fn.exported || fn.inlined || fn.kind != FunctionKind::Orchestration) return;
    if (fn.device != Device::Host)
      return; // its launches take blocks, and not what their callers have in frames
    std::optional<LocalBlocks> blocks;
    std::vector<Given>& given = given_[id.index];
    for (size_t k = 0; k < fn.params().size(); ++k) {
      if (fn.modes[k] != ModeKind::Own || fn.typeOf(fn.params()[k]) != dataType) continue;
      if (!blocks) blocks.emplace(module_, fn);
      const auto result = release(fn, *blocks, fn.params()[k]);
      if (!result) continue;
      fn.modes[k] = ModeKind::InOut;
      given.push_back({k, *result});
    }
    std::ranges::sort(given, std::greater(), &Given::result);
    for (const Given& g : given) {
      remove(fn.results, g.result);
      remove(fn.stmts[fn.regions[fn.body].stmts.back()].operands, g.result);
    }
  }
  /// Takes the parameter's block out of the counting if the function updates it whatever happens, and gives
  /// it back; gives as which result. A block that is only updated at times may stay shared.
  std::optional<size_t> release(const Function& fn, LocalBlocks& blocks, ValueId param) const {
    const auto block = blocks.followParam(param, [&](FunctionId callee, size_t k) {
      return module_.functions[callee].modes[k] == ModeKind::InOut;
    });
    auto isCertain = [&](StmtId unique) { return blocks.homeOf(unique) == fn.body; };
    if (!block || std::ranges::none_of(block->uniques, isCertain)) return std::nullopt;
    blocks.release(*block, param);
    return block->result;
  }

  // --- its calls

  void rewriteCalls(FunctionId id) {
    Function& fn = module_.functions[id];
    std::unordered_map<ValueId, ValueId> became;
    rewriteCalls(fn, fn.body, became);
    if (became.empty()) return;
    for (Stmt& s : fn.stmts)
      for (ValueId& v : s.operands)
        if (auto found = became.find(v); found != became.end()) v = found->second;
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
      const ValueId made =
          fn.values.add({dataType, unique, fn.values[result].region, fn.values[result].hint});
      fn.stmts[unique].operands = {call.operands[g.param]};
      fn.stmts[unique].results = {made};
      call.operands[g.param] = made;
      remove(call.results, g.result);
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
