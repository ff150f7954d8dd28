#include "loops/kernels/deduplicate_kernels.h"

#include "loops/ir/build.h"
#include "loops/kernels/code_equality.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

namespace {

using core::OpKind;

bool isReference(const Stmt& s) { return s.kind == StmtKind::Call || s.kind == StmtKind::Launch; }

bool isSilent(const Function& fn) {
  return (fn.kind == FunctionKind::Kernel || fn.kind == FunctionKind::Device) &&
         std::ranges::none_of(fn.stmts, [](const Stmt& s) { return s.kind == StmtKind::Check; });
}

/// Whether an op takes no longer if nothing is known of an operand. Integers are multiplied and divided by a
/// constant, and floats divided by one, in other ways than by a number.
bool isIndifferent(const ScalarAttr& attr) {
  switch (attr.op) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Cmp:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::Select: return true;
  case OpKind::Mul:
  case OpKind::Fma: return types::isFloatKind(attr.from);
  default: return false;
  }
}

/// Whether a use of an operand is worth nothing more if it is a constant.
bool isIndifferent(const Stmt& s, size_t operand) {
  switch (s.kind) {
  case StmtKind::Scalar: return isIndifferent(s.as<ScalarAttr>());
  case StmtKind::Store: return operand + 1 == s.operands.size();
  case StmtKind::For: return operand >= 2;
  case StmtKind::While:
  case StmtKind::Yield: return true;
  default: return false;
  }
}

/// Constants that may as well be parameters.
std::unordered_set<ValueId> indifferentConstants(const Function& fn) {
  std::unordered_set<ValueId> out;
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::Const && fn.typeOf(s.results[0]).cls == ClassKind::Scalar)
      out.insert(s.results[0]);
  for (const Stmt& s : fn.stmts)
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (!isIndifferent(s, k)) out.erase(s.operands[k]);
  return out;
}

/// Kernels that become the first of them.
struct Group {
  FunctionId first;
  std::vector<std::pair<FunctionId, OtherConstants>> others; ///< and what each has for constants of the first
  std::vector<ValueId> given; ///< constants of the first that become parameters
  std::optional<std::unordered_set<ValueId>> indifferent;
};

class KernelDeduplicator {
public:
  KernelDeduplicator(Module& module, size_t mostGiven) : module_(module), mostGiven_(mostGiven) {}

  void run() {
    for (uint32_t f = 0; f < module_.functions.size(); ++f)
      if (isSilent(module_.functions[FunctionId(f)])) add(FunctionId(f));
    for (auto& [hash, groups] : groups_)
      for (Group& group : groups)
        if (!group.others.empty()) merge(group);
    if (launches_.empty()) return;
    for (Function& fn : module_.functions) redirect(fn);
    dropUncalled(module_);
  }

private:
  /// What a launch of a kernel becomes.
  struct NewLaunch {
    FunctionId kernel;
    std::vector<std::pair<ValueType, uint64_t>> given;
  };

  void add(FunctionId f) {
    std::vector<Group>& groups = groups_[codeHash(module_.functions[f])];
    for (Group& group : groups)
      if (joins(group, f)) return;
    groups.push_back({f, {}, {}, {}});
  }

  bool joins(Group& group, FunctionId f) {
    const Function& first = module_.functions[group.first];
    const Function& other = module_.functions[f];
    if (first.kind != other.kind || first.points != other.points) return false;
    std::optional<OtherConstants> others = differences(first, other);
    if (!others) return false;
    std::vector<ValueId> given = group.given;
    for (const auto& [ours, theirs] : *others)
      if (std::ranges::find(given, ours) == given.end()) given.push_back(ours);
    if (given.size() > mostGiven_) return false;
    if (!others->empty()) {
      if (!group.indifferent) group.indifferent = indifferentConstants(first);
      if (!std::ranges::all_of(*others, [&](const auto& o) { return group.indifferent->contains(o.first); }))
        return false;
    }
    group.given = std::move(given);
    group.others.emplace_back(f, std::move(*others));
    return true;
  }

  void merge(const Group& group) {
    Function& first = module_.functions[group.first];
    for (const auto& [f, others] : group.others) {
      NewLaunch& launch = launches_[f] = {group.first, {}};
      for (ValueId v : group.given) {
        const auto other = std::ranges::find(others, v, [](const auto& o) { return o.first; });
        launch.given.push_back(other == others.end() ? constant(first, v)
                                                     : constant(module_.functions[f], other->second));
      }
    }
    NewLaunch& launch = launches_[group.first] = {group.first, {}};
    for (ValueId v : group.given) launch.given.push_back(constant(first, v));
    for (ValueId v : group.given) giveFromOutside(first, v);
  }
  static std::pair<ValueType, uint64_t> constant(const Function& fn, ValueId v) {
    return {fn.typeOf(v), *asConstant(fn, v)};
  }
  static void giveFromOutside(Function& fn, ValueId v) {
    const ValueId param = fn.values.add({fn.typeOf(v), StmtId(), fn.body, fn.values[v].hint});
    fn.regions[fn.body].params.push_back(param);
    fn.modes.push_back(ModeKind::Borrow);
    for (Stmt& s : fn.stmts) std::ranges::replace(s.operands, v, param);
    std::erase(fn.regions[fn.values[v].region].stmts, fn.values[v].def);
  }

  /// What moved may be listed in regions that are gone too: only what runs is given constants, once.
  void redirect(Function& fn) {
    if (fn.body.valid()) give(fn, fn.body);
    for (Stmt& s : fn.stmts)
      if (const NewLaunch* now = newLaunch(s)) s.attr = now->kernel;
  }
  const NewLaunch* newLaunch(const Stmt& s) const {
    if (s.kind != StmtKind::Launch) return nullptr;
    const auto found = launches_.find(s.as<FunctionId>());
    return found == launches_.end() ? nullptr : &found->second;
  }
  void give(Function& fn, RegionId region) {
    std::vector<StmtId> stmts;
    for (StmtId id : std::vector<StmtId>(fn.regions[region].stmts)) {
      for (RegionId inner : std::vector<RegionId>(fn.stmts[id].regions.begin(), fn.stmts[id].regions.end()))
        give(fn, inner);
      if (const NewLaunch* now = newLaunch(fn.stmts[id])) give(fn, region, id, *now, stmts);
      stmts.push_back(id);
    }
    fn.regions[region].stmts = std::move(stmts);
  }
  /// The constants are appended to `before`.
  static void give(Function& fn, RegionId region, StmtId launch, const NewLaunch& now,
                   std::vector<StmtId>& before) {
    for (const auto& [type, bits] : now.given) {
      const StmtId made = fn.stmts.add({StmtKind::Const, fn.stmts[launch].loc, {}, {}, {}, bits});
      const ValueId v = fn.values.add({type, made, region});
      fn.stmts[made].results.push_back(v);
      fn.stmts[launch].operands.push_back(v);
      before.push_back(made);
    }
  }

  Module& module_;
  size_t mostGiven_;
  std::unordered_map<size_t, std::vector<Group>> groups_; ///< by hash
  std::unordered_map<FunctionId, NewLaunch> launches_;    ///< by kernel
};

} // namespace

void deduplicateKernels(Module& module) { KernelDeduplicator(module, 0).run(); }

void deduplicateKernelsModuloConstants(Module& module) {
  constexpr size_t mostGiven = 8;
  KernelDeduplicator(module, mostGiven).run();
}

void dropUncalled(Module& module) {
  std::vector<FunctionId> open;
  std::unordered_set<FunctionId> called;
  auto reach = [&](FunctionId f) {
    if (f.valid() && called.insert(f).second) open.push_back(f);
  };
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (module.functions[FunctionId(f)].exported) reach(FunctionId(f));
  if (open.empty()) return;
  while (!open.empty()) {
    FunctionId f = open.back();
    open.pop_back();
    for (const Stmt& s : module.functions[f].stmts)
      if (isReference(s)) reach(s.as<FunctionId>());
  }
  Store<FunctionId, Function> kept;
  std::unordered_map<FunctionId, FunctionId> number;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (called.count(FunctionId(f)))
      number[FunctionId(f)] = kept.add(std::move(module.functions[FunctionId(f)]));
  for (Function& fn : kept)
    for (Stmt& s : fn.stmts)
      if (isReference(s)) s.attr = number.at(s.as<FunctionId>());
  module.functions = std::move(kept);
  if (module.entry.valid()) module.entry = number.at(module.entry);
}

} // namespace melix::loops
