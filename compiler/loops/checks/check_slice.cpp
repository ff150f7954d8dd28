#include "loops/checks/check_slice.h"

#include "loops/analysis/closed_functions.h"
#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

namespace {

constexpr size_t mostChecks = 64; ///< of a loop: what is after them is looked at for each
constexpr size_t mostSwept = 16;  ///< of these not tested at extremes: each looks at those before

constexpr double leastRatio = 4;  ///< of the work of a loop and of the passes over it
constexpr double lanesOfPass = 8; ///< whose reads lie side by side

/// What a statement takes by itself, about, in operations.
double costOf(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Const:
  case StmtKind::Yield: return 0;
  case StmtKind::Load:
  case StmtKind::Store: return 2;
  case StmtKind::Call: return 16;
  default: return 1;
  }
}

/// How often the body of a statement runs, roughly.
double timesOf(const Function& fn, const Stmt& s) {
  constexpr uint64_t unknown = 8;
  return s.kind == StmtKind::For ? static_cast<double>(constantTripCount(fn, s).value_or(unknown)) : 1;
}

bool isBranch(const Stmt& s) { return s.kind == StmtKind::If || s.kind == StmtKind::Switch; }

} // namespace

CheckSlice::CheckSlice(const Module& module, const Function& fn, StmtId loop) : module_(module), fn_(fn) {
  around_ = {loop};
  parents_[fn.stmts[loop].regions[0]] = loop;
  work_ = walk(fn.stmts[loop].regions[0]);
  computable_ = computable_ && checks_.size() <= mostChecks;
  for (Check& c : checks_) {
    Stmts needed;
    std::unordered_set<ValueId> messageValues;
    computable_ =
        computable_ && addCheck(c, false, needed, c.indices) && addCheck(c, true, needed, messageValues);
  }
}

/// Notes what stands in a region; gives its work.
double CheckSlice::walk(RegionId region) {
  double work = 0;
  for (StmtId id : fn_.regions[region].stmts) {
    const Stmt& s = fn_.stmts[id];
    computable_ = computable_ && isEffectFree(s);
    if (!computable_) return work;
    places_[id] = places_.size();
    if (s.kind == StmtKind::Check) checks_.push_back({id, around_, {}});
    noteWrites(s);
    work += costOf(s);
    around_.push_back(id);
    for (RegionId r : s.regions) {
      parents_[r] = id;
      work += timesOf(fn_, s) * walk(r);
    }
    around_.pop_back();
  }
  return work;
}

/// Whether nobody sees that a statement did not run because a later check failed.
bool CheckSlice::isEffectFree(const Stmt& s) const {
  switch (s.kind) {
  case StmtKind::Builtin:
  case StmtKind::Runtime:
  case StmtKind::Format:
  case StmtKind::BlackBox:
  case StmtKind::Panic:
  case StmtKind::While: // may not end
  case StmtKind::Launch: return false;
  case StmtKind::Call: return ends(module_, module_.functions[s.as<FunctionId>()]);
  default: return true;
  }
}

// --- memory

/// Where a pointer comes from: of pointers into one block that may be written the same.
ValueId CheckSlice::rootOf(ValueId v) const {
  for (;;) {
    const Value& value = fn_.values[v];
    if (value.def.valid()) {
      const Stmt& s = fn_.stmts[value.def];
      if (s.kind != StmtKind::PointerOf && s.kind != StmtKind::AddressOf && s.kind != StmtKind::EnsureUnique)
        return v;
      v = s.operands[0];
      continue;
    }
    const auto parent = parents_.find(value.region);
    if (parent == parents_.end()) return v;
    const Stmt& s = fn_.stmts[parent->second]; // what a loop carries began as an operand of it
    const std::vector<ValueId>& params = fn_.regions[value.region].params;
    const auto k = static_cast<size_t>(std::ranges::find(params, v) - params.begin());
    if (s.kind != StmtKind::For || k == 0) return v;
    v = s.operands[k + 1];
  }
}

void CheckSlice::noteWrites(const Stmt& s) {
  auto write = [&](ValueId pointer) {
    const ValueId root = rootOf(pointer);
    written_.insert(root);
    if (!isInside(root)) return;
    const StmtId def = fn_.values[root].def;
    const StmtKind kind = def.valid() ? fn_.stmts[def].kind : StmtKind::Yield;
    const bool isFresh = kind == StmtKind::Scratch || kind == StmtKind::FrameArray ||
                         kind == StmtKind::AllocArray || kind == StmtKind::AllocNode;
    writesAnything_ = writesAnything_ || !isFresh;
  };
  switch (s.kind) {
  case StmtKind::Store:
  case StmtKind::CopyBytes:
  case StmtKind::ZeroBytes: return write(s.operands[0]);
  case StmtKind::Call:
    for (ValueId v : s.operands)
      if (fn_.typeOf(v).cls != ClassKind::Scalar) write(v);
    return;
  default: return;
  }
}

bool CheckSlice::isUnwritten(ValueId base) const {
  const ValueId root = rootOf(base);
  return !writesAnything_ && !isInside(root) && !written_.contains(root);
}

// --- slices

StmtId CheckSlice::loopOf(ValueId index) const {
  const Value& value = fn_.values[index];
  const auto parent = parents_.find(value.region);
  const bool isIndex = !value.def.valid() && parent != parents_.end() &&
                       fn_.stmts[parent->second].kind == StmtKind::For &&
                       fn_.regions[value.region].params[0] == index;
  return isIndex ? parent->second : StmtId();
}

bool CheckSlice::addAll(std::span<const ValueId> values, Stmts& needed,
                        std::unordered_set<ValueId>& indices) const {
  return std::ranges::all_of(values, [&](ValueId v) { return add(v, needed, indices); });
}

/// The statements after a value, and the indices; false if it is not known before the loop.
bool CheckSlice::add(ValueId v, Stmts& needed, std::unordered_set<ValueId>& indices) const {
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    v = open.back();
    open.pop_back();
    if (!isInside(v)) continue;
    const StmtId def = fn_.values[v].def;
    if (!def.valid()) {
      if (!loopOf(v).valid()) return false;
      indices.insert(v);
      continue;
    }
    if (!needed.insert(def).second) continue;
    const Stmt& s = fn_.stmts[def];
    const bool isScalarRead = s.kind == StmtKind::Load && fn_.typeOf(v).cls == ClassKind::Scalar &&
                              !s.as<Access>().transfersOwnership && isUnwritten(s.operands[0]);
    const bool isKnown = s.kind == StmtKind::Const || s.kind == StmtKind::Scalar ||
                         s.kind == StmtKind::PointerOf || s.kind == StmtKind::AddressOf || isScalarRead ||
                         isBranch(s);
    if (!isKnown) return false;
    open.insert(open.end(), s.operands.begin(), s.operands.end());
    if (!isBranch(s)) continue;
    for (ValueId result : s.results)
      if (fn_.typeOf(result).counted()) return false;
    for (RegionId r : s.regions) {
      const std::vector<ValueId>& yielded = fn_.stmts[fn_.regions[r].stmts.back()].operands;
      open.insert(open.end(), yielded.begin(), yielded.end());
    }
  }
  return true;
}

bool CheckSlice::addCheck(const Check& check, bool messages, Stmts& needed,
                          std::unordered_set<ValueId>& indices) const {
  const Stmt& s = fn_.stmts[check.stmt];
  bool known = addAll(std::span(s.operands).first(messages ? s.operands.size() : 1), needed, indices);
  for (StmtId id : check.around) {
    const Stmt& a = fn_.stmts[id];
    known = known && addAll(std::span(a.operands).first(a.kind == StmtKind::For ? 2 : 1), needed, indices);
  }
  return known;
}

Slice CheckSlice::sliceOf(std::span<const size_t> numbers, bool messages) const {
  Slice out;
  std::unordered_set<ValueId> indices;
  for (size_t k : numbers) {
    const Check& c = checks_[k];
    out.checks.insert(c.stmt);
    out.around.insert(c.around.begin(), c.around.end());
    addCheck(c, messages, out.needed, indices);
  }
  return out;
}

// --- passes

/// Indices and values read that others are computed from, without what stands after a read.
std::unordered_set<ValueId> CheckSlice::atomsOf(std::span<const ValueId> values) const {
  std::unordered_set<ValueId> atoms;
  std::unordered_set<StmtId> seen;
  std::vector<ValueId> open(values.begin(), values.end());
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (!isInside(v)) continue;
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.stmts[def].kind == StmtKind::Load) {
      atoms.insert(v);
      continue;
    }
    if (!seen.insert(def).second) continue;
    const Stmt& s = fn_.stmts[def];
    open.insert(open.end(), s.operands.begin(), s.operands.end());
    for (RegionId r : s.regions) {
      const std::vector<ValueId>& yielded = fn_.stmts[fn_.regions[r].stmts.back()].operands;
      open.insert(open.end(), yielded.begin(), yielded.end());
    }
  }
  return atoms;
}

/// A check may be what makes a later read possible: one about the same numbers, or about none of the loop.
bool CheckSlice::findPasses(std::span<const size_t> first) {
  for (size_t k : first) checks_[k].pass = 0;
  if (checks_.size() - first.size() > mostSwept) return false;
  struct Passed {
    size_t place;
    std::unordered_set<ValueId> atoms;
    unsigned pass;
  };
  std::vector<Passed> before;
  for (Check& c : checks_) {
    if (c.pass == 0) continue;
    Stmts needed;
    std::unordered_set<ValueId> indices;
    addCheck(c, false, needed, indices);
    for (StmtId id : needed) {
      if (fn_.stmts[id].kind != StmtKind::Load) continue;
      const std::unordered_set<ValueId> atoms = atomsOf(fn_.stmts[id].operands);
      auto isOne = [&](ValueId v) { return atoms.contains(v); };
      for (const Passed& p : before)
        if (p.place < places_.at(id) && (p.atoms.empty() || std::ranges::any_of(p.atoms, isOne)))
          c.pass = std::max(c.pass, p.pass + 1);
    }
    before.push_back({places_.at(c.stmt), atomsOf(std::span(fn_.stmts[c.stmt].operands).first(1)), c.pass});
  }
  return true;
}

/// A pass sweeps the loops with which its conditions vary.
bool CheckSlice::isCheap() const {
  double passes = 0;
  Stmts seen;
  for (const Check& c : checks_) {
    auto index = [&](StmtId loop) { return fn_.regions[fn_.stmts[loop].regions[0]].params[0]; };
    if (c.pass == 0 || !c.indices.contains(index(c.around[0]))) continue;
    double tripCount = 1;
    for (StmtId id : std::span(c.around).subspan(1))
      if (fn_.stmts[id].kind == StmtKind::For && c.indices.contains(index(id)))
        tripCount *= timesOf(fn_, fn_.stmts[id]);
    Stmts needed;
    std::unordered_set<ValueId> indices;
    addCheck(c, false, needed, indices);
    const double together = isSideBySide(needed, c) ? lanesOfPass : 1;
    for (StmtId id : needed)
      if (seen.insert(id).second) passes += tripCount * costOf(fn_.stmts[id]) / together;
  }
  return work_ >= leastRatio * passes;
}

/// Whether what is read for a check lies side by side, so that its pass runs in lanes.
bool CheckSlice::isSideBySide(const Stmts& needed, const Check& check) const {
  StmtId loop; // the innermost
  for (StmtId id : check.around)
    if (fn_.stmts[id].kind == StmtKind::For) loop = id;
  const ValueId index = fn_.regions[fn_.stmts[loop].regions[0]].params[0];
  return std::ranges::all_of(needed, [&](StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::Load) return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar;
    for (size_t k = 1; k + 1 < s.operands.size(); k += 2) {
      const uint64_t* stride = asConstant(fn_, s.operands[k + 1]);
      if (s.operands[k] == index ? !stride || *stride != 1 : isInside(s.operands[k])) return false;
    }
    return true;
  });
}

} // namespace melix::loops
