#include "loops/text/verify.h"

#include "loops/analysis/closed_functions.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/groups/group_schedule.h"
#include "loops/ownership/ownership.h"
#include "loops/ownership/uniqueness.h"
#include "loops/text/print.h"

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {
namespace {

/// How many of something a statement may have.
struct Count {
  size_t least, most = least;
  bool holds(size_t n) const { return least <= n && n <= most; }
};
constexpr Count least(size_t n) { return {n, SIZE_MAX}; }
constexpr Count any = least(0);

struct Shape {
  Count operands, results, regions;
};
constexpr Shape shapes[] = {
#define STMT(Kind, Text, Site, Attribute, Operands, Results, Regions)                                        \
  {Count(Operands), Count(Results), Count(Regions)},
#include "loops/ir/stmts.def"
};
const Shape& shapeOf(const Stmt& s) { return shapes[static_cast<size_t>(s.kind)]; }

std::string nameOf(const Stmt& s) {
  const std::string_view name =
      s.kind == StmtKind::Scalar ? ops::opText(s.as<ScalarAttr>().op) : stmtText(s.kind);
  return "`" + std::string(name) + "`";
}

class Verifier {
public:
  Verifier(const Module& module, const Function& fn, States states)
      : module_(module), fn_(fn), states_(states), counted_(states.has(State::CountsInserted)) {}

  std::string run() {
    if (!fits(fn_.body)) return problems_;
    std::unordered_map<ValueId, int> owned;
    for (size_t k = 0; k < fn_.params().size(); ++k) {
      const ValueType type = fn_.typeOf(fn_.params()[k]);
      if (fn_.modeOf(k) == ModeKind::Own && type.counted()) owned[fn_.params()[k]] = 1;
      if (fn_.modeOf(k) == ModeKind::Size && type != indexType) say("a size that is no i64");
    }
    region(fn_.body, owned, fn_.results, true);
    updates(fn_.body);
    const bool isKernel = fn_.kind == FunctionKind::Kernel || fn_.kind == FunctionKind::Device;
    if (isKernel && !isClosed(module_, fn_, fn_.body)) say("a kernel that is not closed");
    return problems_;
  }

private:
  using Owned = std::unordered_map<ValueId, int>;

  void say(const std::string& what) { problems_ += fn_.key + ": " + what + "\n"; }
  /// As the text of the function has it.
  std::string name(ValueId v) {
    if (!names_) names_.emplace(module_, fn_);
    return (*names_)[v];
  }

  // --- shapes
  // -----------------------------------------------------------------------------------------------------
  /// Whether all statements have what their kind asks for: nothing else is looked at before.
  bool fits(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      std::string problem = findMisfit(s);
      if (problem.empty() && !shapeOf(s).regions.holds(s.regions.size()))
        problem = nameOf(s) + " of " + std::to_string(s.regions.size()) + " regions";
      if (problem.empty() && !std::ranges::all_of(s.operands, [this](ValueId v) { return isValue(v); }))
        problem = nameOf(s) + " of what is no value";
      if (problem.empty()) problem = misfitOfTypes(s);
      if (!problem.empty()) return say(problem), false;
      for (RegionId inner : s.regions)
        if (!fits(inner)) return false;
    }
    return true;
  }

  bool isValue(ValueId v) const { return v.valid() && v.index < fn_.values.size(); }

  std::string misfitOfTypes(const Stmt& s) const {
    switch (s.kind) {
    case StmtKind::Switch:
      if (s.as<SwitchAttr>().regionOf.empty() || !isInteger(s.operands[0]))
        return "`switch` needs an integer and regions";
      for (uint32_t region : s.as<SwitchAttr>().regionOf)
        if (region >= s.regions.size()) return "`switch` has no region " + std::to_string(region);
      return {};
    case StmtKind::For: return carriesFit(s, 2) ? "" : "`for` carries other types than it gives";
    case StmtKind::While: return carriesFit(s, 0) ? "" : "`while` carries other types than it gives";
    case StmtKind::Call:
    case StmtKind::Launch: {
      const Function& callee = module_.functions[s.as<FunctionId>()];
      const bool fit = areGiven(callee, s.operands) && typesOf(fn_, s.results) == callee.results;
      return fit ? "" : "a call that does not fit @" + callee.key;
    }
    default: return {};
    }
  }
  bool isInteger(ValueId v) const {
    const ValueType type = fn_.typeOf(v);
    return type.cls == ClassKind::Scalar && types::isIntKind(type.scalar);
  }
  bool carriesFit(const Stmt& loop, size_t first) const {
    return typesOf(fn_, std::span(loop.operands).subspan(first)) == typesOf(fn_, loop.results);
  }
  static std::vector<ValueType> typesOf(const Function& fn, std::span<const ValueId> values) {
    std::vector<ValueType> types;
    for (ValueId v : values) types.push_back(fn.typeOf(v));
    return types;
  }

  /// Whether a caller may give these: of scratch its size, of elements also their address.
  bool areGiven(const Function& callee, std::span<const ValueId> operands) const {
    if (operands.size() != callee.params().size()) return false;
    for (size_t k = 0; k < operands.size(); ++k) {
      const ValueType given = fn_.typeOf(operands[k]);
      const ModeKind mode = callee.modeOf(k);
      const bool isAddress = mode == ModeKind::Elements && given == addressType;
      const ValueType wanted = mode == ModeKind::Scratch ? indexType : callee.typeOf(callee.params()[k]);
      if (given != wanted && !isAddress) return false;
    }
    return true;
  }

  // --- scopes and counts
  // ----------------------------------------------------------------------------------------------
  bool counts(ValueId v) const {
    if (!fn_.typeOf(v).counted()) return false;
    StmtId def = fn_.values[v].def;
    if (!def) return true;
    const StmtKind kind = fn_.stmts[def].kind;
    return kind != StmtKind::Const && kind != StmtKind::Text && kind != StmtKind::FrameArray;
  }

  /// Checks a region that owns `owned`; at its end nothing is left.
  void region(RegionId r, Owned owned, const std::vector<ValueType>& results, bool ownsParams) {
    std::vector<ValueId> defined = fn_.regions[r].params;
    if (ownsParams && r != fn_.body)
      for (ValueId p : defined)
        if (counts(p)) owned[p] += 1;
    for (ValueId p : defined) scope_.insert(p);
    const std::vector<StmtId>& stmts = fn_.regions[r].stmts;
    if (stmts.empty() || fn_.stmts[stmts.back()].kind != StmtKind::Yield)
      return say("a region without yield");
    for (StmtId id : stmts) {
      const Stmt& s = fn_.stmts[id];
      statement(s, owned);
      for (ValueId v : s.results) {
        scope_.insert(v);
        defined.push_back(v);
        bool borrowed = s.kind == StmtKind::Load && !s.as<Access>().transfersOwnership;
        if (counts(v) && !borrowed) owned[v] += 1;
      }
    }
    const Stmt& yield = fn_.stmts[stmts.back()];
    if (yield.operands.size() != results.size())
      say("a yield of " + std::to_string(yield.operands.size()) + " values");
    else
      for (size_t k = 0; k < results.size(); ++k)
        if (fn_.typeOf(yield.operands[k]) != results[k])
          say("a yield of another type: " + name(yield.operands[k]));
    if (counted_ && reachable_)
      for (auto [v, count] : owned)
        if (count != 0) say(name(v) + " has " + std::to_string(count) + " owners left");
    reachable_ = true;
    for (ValueId v : defined) scope_.erase(v);
  }

  void statement(const Stmt& s, Owned& owned) {
    for (size_t k = 0; k < s.operands.size(); ++k) {
      ValueId v = s.operands[k];
      if (!scope_.count(v)) say(name(v) + " is not in scope in " + nameOf(s));
      if (!counts(v) || !counted_) continue;
      if (s.kind == StmtKind::Retain)
        owned[v] += 1;
      else if (consumes(module_, s, k))
        owned[v] -= 1;
    }
    if (s.kind == StmtKind::Panic) reachable_ = false;
    if (s.kind == StmtKind::For) schedule(s);
    if (siteOf(s.kind) == SiteKind::Group) ofGroup(s);
    const std::vector<ValueType> results = typesOf(fn_, s.results);
    noteOfThread(s);
    const unsigned outer = divergent_;
    if (!s.regions.empty() && isDivergent(s)) ++divergent_;
    bool isBranch = s.kind == StmtKind::If || s.kind == StmtKind::Switch;
    for (size_t k = 0; k < s.regions.size(); ++k) {
      if (s.kind == StmtKind::While && k == 0) {
        region(s.regions[k], {}, {scalarType(TypeKind::Bool)}, false);
        continue;
      }
      // What a branch consumes of values from outside must be the same in each; the first one says.
      region(s.regions[k], isBranch ? inherited(s.regions[k]) : Owned{}, results, true);
    }
    divergent_ = outer;
    if (isBranch && counted_ && !s.regions.empty())
      for (auto [v, count] : inherited(s.regions[0])) owned[v] -= count;
  }

  void ofGroup(const Stmt& s) {
    if (fn_.points.threads == 1) return say(nameOf(s) + " without a group of threads");
    if (divergent_ > 0 && s.kind != StmtKind::Thread)
      say(nameOf(s) + " that some threads of a group do not reach");
    if (s.kind != StmtKind::Shuffle) return;
    const auto distance = s.as<uint64_t>();
    if (!std::has_single_bit(distance) || distance >= warpThreads || distance >= fn_.points.threads)
      say("`shuffle` over " + std::to_string(distance) + " threads");
    if (fn_.typeOf(s.operands[0]) != fn_.typeOf(s.results[0]) || !isScalarValue(s.operands[0]))
      say("`shuffle` of no number");
  }
  bool isScalarValue(ValueId v) const { return fn_.typeOf(v).cls == ClassKind::Scalar; }
  /// Whether the threads of a group may decide differently whether, or how often, they run the regions. After
  /// a shuffle they have the same.
  bool isDivergent(const Stmt& s) const {
    if (fn_.points.threads == 1) return false;
    const size_t deciding = s.kind == StmtKind::For ? 2 : s.kind == StmtKind::While ? 0 : 1;
    return std::ranges::any_of(std::span(s.operands).first(std::min(deciding, s.operands.size())),
                               [this](ValueId v) { return ofThread_.contains(v); });
  }
  /// Numbers of a thread's own, by its position.
  void noteOfThread(const Stmt& s) {
    const bool isOwn = s.kind == StmtKind::Thread ||
                       (s.kind == StmtKind::Scalar &&
                        std::ranges::any_of(s.operands, [this](ValueId v) { return ofThread_.contains(v); }));
    if (isOwn) ofThread_.insert(s.results.begin(), s.results.end());
  }

  /// Whether iterations can run as the loop says.
  void schedule(const Stmt& loop) {
    const auto& attr = loop.as<ForAttr>();
    if (attr.vectorWidth > 0 && states_.has(State::NoLanes)) say("a loop in lanes before they are chosen");
    if (attr.dependence == Dependence::None && states_.has(State::KernelsOutlined))
      say("a parallel loop that is no kernel");
    if (attr.vectorWidth > 0 && !canVectorize(module_, fn_, loop))
      say("a vectorised loop whose iterations cannot run side by side");
    if (attr.unrollJam > 1 && !loop.results.empty() && !addsAfterLoops(fn_, loop))
      say("a sum in rows whose loops need what it carries");
    const uint64_t together =
        std::max<uint64_t>(uint64_t{attr.vectorWidth} * attr.interleave, attr.unrollJam);
    if (attr.minDistance > 0 && together > attr.minDistance)
      say("a loop of " + std::to_string(together) + " iterations together, of which only " +
          std::to_string(attr.minDistance) + " share no memory");
  }

  // --- blocks that a callee updates in place
  // -----------------------------------------------------------------------------------------------
  void updates(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (size_t k = 0; k < s.operands.size(); ++k) {
        const ValueId v = s.operands[k];
        const bool isElements = isParam(v, ModeKind::Elements);
        if ((isElements || isParam(v, ModeKind::InOut)) && !usesElements(s, k)) say(misused(v, "held by", s));
        if (isElements && changes(s, k)) say(misused(v, "changed by", s));
        if (s.kind == StmtKind::Call && isUpdated(s, k)) updated(s, k);
      }
      for (RegionId inner : s.regions) updates(inner);
    }
  }
  /// Nobody else may have the block that is passed.
  void updated(const Stmt& call, size_t operand) {
    const ValueId v = call.operands[operand];
    if (std::ranges::count(call.operands, v) > 1) say(misused(v, "passed twice by", call));
    if (counted_ && !hasOneOwner(v)) say(misused(v, "not unique in", call));
  }
  std::string misused(ValueId v, const char* how, const Stmt& s) {
    const char* what = isParam(v, ModeKind::Elements) ? " is only read" : " is updated in place";
    return name(v) + what + ", and " + how + " " + nameOf(s);
  }
  ModeKind modeAt(const Stmt& call, size_t operand) const {
    return module_.functions[call.as<FunctionId>()].modeOf(operand);
  }
  bool isUpdated(const Stmt& call, size_t operand) const { return modeAt(call, operand) == ModeKind::InOut; }
  bool changes(const Stmt& s, size_t operand) const {
    return s.kind == StmtKind::Store || (s.kind == StmtKind::Call && isUpdated(s, operand));
  }
  bool isParam(ValueId v, ModeKind mode) const {
    const auto& params = fn_.params();
    const auto found = std::ranges::find(params, v);
    return found != params.end() && fn_.modeOf(static_cast<size_t>(found - params.begin())) == mode;
  }
  bool hasOneOwner(ValueId v) {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() && isParam(v, ModeKind::InOut)) return true;
    const StmtKind kind = def.valid() ? fn_.stmts[def].kind : StmtKind::Yield;
    if (kind == StmtKind::EnsureUnique || kind == StmtKind::AllocArray || kind == StmtKind::FrameArray)
      return true;
    if (!problems_.empty()) return true; // what passes it on is not to be relied upon
    if (!unique_) unique_.emplace(module_, fn_, UniqueBlocks::UpdatesKind::Asked);
    return unique_->isUnique(v);
  }
  bool usesElements(const Stmt& s, size_t operand) const {
    switch (s.kind) {
    case StmtKind::Load:
    case StmtKind::Store:
    case StmtKind::AddressOf: return operand == 0;
    case StmtKind::PointerOf:
    case StmtKind::KeepAlive:
    case StmtKind::AllocArray:
    case StmtKind::Acquire:
    case StmtKind::AcquireUpdate:
    case StmtKind::DeviceCopy:
    case StmtKind::Fetch:
    case StmtKind::Put:
    case StmtKind::Launch: return true;
    case StmtKind::Runtime: return s.as<RuntimeCall>().kind == RuntimeKind::ListLength;
    case StmtKind::Call: return usesOnlyElements(modeAt(s, operand));
    default: return false;
    }
  }

  /// Values from outside that a branch gives away, net of what it retains.
  Owned inherited(RegionId r) {
    Owned net;
    if (!counted_) return net;
    collect(r, net);
    for (auto it = net.begin(); it != net.end();)
      it = !scope_.count(it->first) || it->second <= 0 ? net.erase(it) : std::next(it);
    return net;
  }
  void collect(RegionId r, Owned& net) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (size_t k = 0; k < s.operands.size(); ++k) {
        if (!counts(s.operands[k])) continue;
        if (s.kind == StmtKind::Retain)
          net[s.operands[k]] -= 1;
        else if (consumes(module_, s, k))
          net[s.operands[k]] += 1;
      }
      if ((s.kind == StmtKind::If || s.kind == StmtKind::Switch) && !s.regions.empty())
        collect(s.regions[0], net);
    }
  }

  const Module& module_;
  const Function& fn_;
  const States states_;
  const bool counted_;
  std::optional<UniqueBlocks> unique_; ///< once it is asked for
  bool reachable_ = true;
  unsigned divergent_ = 0; ///< branches and loops around, in which threads of a group part
  std::unordered_set<ValueId> scope_, ofThread_;
  std::optional<ValueNames> names_;
  std::string problems_;
};

} // namespace

std::string findMisfit(const Stmt& s) {
  const Shape& shape = shapeOf(s);
  const bool isAccess = std::holds_alternative<Access>(s.attr);
  const bool paired = (s.operands.size() % 2 == 0) == (s.kind == StmtKind::Store);
  if (shape.operands.holds(s.operands.size()) && shape.results.holds(s.results.size()) &&
      (!isAccess || paired))
    return {};
  return nameOf(s) + " of " + std::to_string(s.operands.size()) + " operands and " +
         std::to_string(s.results.size()) + " results";
}

std::string verify(const Module& module, States states) {
  std::string problems;
  for (const Function& fn : module.functions) problems += Verifier(module, fn, states).run();
  return problems;
}

} // namespace melix::loops
