#include "loops/frame_arrays.h"

#include "core/call_graph.h"
#include "loops/local_blocks.h"

namespace melix::loops {

namespace {

constexpr uint64_t mostElements = 64;
constexpr uint64_t mostBytes = 4096, mostOfRecursion = 256; ///< in all the arrays of a frame

/// Of which parameters nothing but elements is used while their function runs.
class ElementParams {
public:
  explicit ElementParams(const Module& module) : module_(module), isOne_(module.functions.size()) {
    for (uint32_t f = 0; f < module.functions.size(); ++f) find(FunctionId(f));
    // What passes a parameter on to one that does more does more.
    while (!open_.empty()) {
      const Param p = open_.back();
      open_.pop_back();
      auto passed = passedTo_.find(key(p));
      if (passed == passedTo_.end()) continue;
      for (const Param& from : passed->second) exclude(from);
    }
  }

  bool operator()(FunctionId f, size_t k) const { return k < isOne_[f.index].size() && isOne_[f.index][k]; }

private:
  struct Param {
    FunctionId function;
    size_t number;
  };
  static bool isLent(ModeKind mode) { return mode == ModeKind::Borrow || mode == ModeKind::InOut; }
  static uint64_t key(const Param& p) { return uint64_t{p.function.index} << 32 | p.number; }

  void exclude(const Param& p) {
    std::vector<bool>& isOne = isOne_[p.function.index];
    if (p.number >= isOne.size() || !isOne[p.number]) return;
    isOne[p.number] = false;
    open_.push_back(p);
  }

  void find(FunctionId id) {
    const Function& fn = module_.functions[id];
    std::vector<bool>& isOne = isOne_[id.index];
    isOne.assign(fn.params().size(), false);
    std::unordered_map<ValueId, size_t> numbers;
    for (size_t k = 0; k < fn.params().size(); ++k) {
      isOne[k] = isLent(fn.modes[k]) && fn.typeOf(fn.params()[k]) == dataType;
      if (isOne[k]) numbers[fn.params()[k]] = k;
    }
    if (!numbers.empty()) uses(id, fn.body, numbers);
  }
  void uses(FunctionId id, RegionId region, const std::unordered_map<ValueId, size_t>& numbers) {
    const Function& fn = module_.functions[id];
    for (StmtId at : fn.regions[region].stmts) {
      const Stmt& s = fn.stmts[at];
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (auto it = numbers.find(s.operands[k]); it != numbers.end()) use({id, it->second}, s, k);
      for (RegionId inner : s.regions) uses(id, inner, numbers);
    }
  }
  void use(const Param& p, const Stmt& s, size_t operand) {
    switch (s.kind) {
    case StmtKind::PointerOf:
    case StmtKind::KeepAlive: return;
    case StmtKind::Load:
    case StmtKind::Store:
    case StmtKind::AddressOf:
      if (operand != 0) exclude(p);
      return;
    case StmtKind::Call: {
      const Param to{s.as<FunctionId>(), operand};
      passedTo_[key(to)].push_back(p);
      const Function& callee = module_.functions[to.function];
      if (operand >= callee.modes.size() || !isLent(callee.modes[operand])) exclude(p);
      return;
    }
    default: exclude(p);
    }
  }

  const Module& module_;
  std::vector<std::vector<bool>> isOne_;
  std::unordered_map<uint64_t, std::vector<Param>> passedTo_;
  std::vector<Param> open_;
};

class FramePlacer {
public:
  FramePlacer(const Module& module, Function& fn, const ElementParams& params, uint64_t bytes)
      : fn_(fn), params_(params), blocks_(module, fn), left_(bytes) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (const uint64_t bytes = smallBytes(id); bytes > 0 && bytes <= left_) place(id, bytes);
    }
  }

private:
  /// 0: no array, or of no small and constant size.
  uint64_t smallBytes(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::AllocArray) return 0;
    uint64_t elements = 1;
    for (ValueId d : s.operands) {
      const uint64_t* extent = asConstant(fn_, d);
      if (!extent || *extent == 0 || *extent > mostElements) return 0;
      if ((elements *= *extent) > mostElements) return 0;
    }
    return elements * s.as<AllocAttr>().bytes;
  }

  void place(StmtId id, uint64_t bytes) {
    const auto block = blocks_.follow(id, [&](FunctionId callee, size_t k) { return params_(callee, k); });
    if (!block) return;
    left_ -= bytes;
    Stmt& s = fn_.stmts[id];
    blocks_.release(*block, s.results[0]);
    AllocAttr attr = s.as<AllocAttr>();
    attr.bytes = bytes;
    s.kind = StmtKind::FrameArray;
    s.operands.clear();
    s.attr = attr;
  }

  Function& fn_;
  const ElementParams& params_;
  LocalBlocks blocks_;
  uint64_t left_; ///< bytes of the frame that may still be used
};

} // namespace

void placeInFrames(Module& module) {
  const ElementParams params(module);
  const core::CallGraph calls(module.core);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    const bool recursive = fn.source.valid() && calls.isRecursive(fn.source);
    const uint64_t bytes = recursive ? mostOfRecursion : mostBytes;
    FramePlacer(module, fn, params, bytes).run(fn.body);
  }
}

} // namespace melix::loops
