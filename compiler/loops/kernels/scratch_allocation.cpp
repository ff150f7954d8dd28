#include "loops/kernels/scratch_allocation.h"

#include "loops/analysis/launch_expressions.h"
#include "loops/analysis/local_allocations.h"
#include "loops/kernels/large_scratch.h"
#include "loops/kernels/scratch_sizes.h"

#include <algorithm>

namespace melix::loops {

namespace {

/// The arrays of one chunk.
class ScratchPlacer {
public:
  ScratchPlacer(const Module& module, Function& fn) : module_(module), fn_(fn), blocks_(module, fn) {}

  /// Whether it can be a kernel, with some arrays in scratch.
  bool find() { return collect(fn_.body) && !arrays_.empty(); }
  /// Whether an array that is perhaps never made may be larger by far than what there is: it is no row of an
  /// unknown number of elements, but one of many, or of several such numbers.
  bool mayBeLarge() const {
    return std::ranges::any_of(
        arrays_, [this](const Array& array) { return !array.isReached && !isRow(fn_.stmts[array.alloc]); });
  }
  /// Returns the size of each parameter that it has now.
  std::vector<ScratchSize> place() {
    std::vector<ScratchSize> sizes;
    sizes.reserve(arrays_.size());
    for (const Array& array : arrays_) sizes.push_back(place(array));
    fn_.kind = FunctionKind::Kernel;
    return sizes;
  }

private:
  /// An array, and when it is made, as far as that is the same for all iterations.
  struct Array {
    StmtId alloc;
    std::vector<ScratchSize::Condition> conditions;
    std::vector<std::pair<ValueId, ValueId>> loops;
    bool isReached; ///< by the first iteration, if these hold
  };

  bool isRow(const Stmt& alloc) const {
    constexpr uint64_t few = 4096; // elements beside an unknown number
    uint64_t known = 1, unknown = 0;
    for (ValueId size : alloc.operands) {
      const uint64_t* number = asConstant(fn_, size);
      known *= number ? std::min(few + 1, *number) : 1;
      known = std::min(few + 1, known);
      unknown += number ? 0 : isProduct(size) ? 2 : 1;
    }
    return unknown + (known > few) <= 1;
  }
  bool isProduct(ValueId size) const {
    const StmtId def = fn_.values[size].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return false;
    const Stmt& s = fn_.stmts[def];
    return s.as<ScalarAttr>().op == core::OpKind::Mul &&
           std::ranges::none_of(s.operands, [this](ValueId v) { return asConstant(fn_, v); });
  }

  /// Whether all that does not belong into a kernel are arrays that may lie in scratch.
  bool collect(RegionId region) {
    return std::ranges::all_of(fn_.regions[region].stmts, [this](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      const bool isClosedCall = s.kind == StmtKind::Call && module_.functions[s.as<FunctionId>()].isClosed();
      if (s.kind == StmtKind::AllocArray) return take(id);
      if (s.kind == StmtKind::Check) check(s);
      if (s.kind == StmtKind::Drop || s.kind == StmtKind::EnsureUnique) return taken_.contains(s.operands[0]);
      if (siteOf(s.kind) == SiteKind::Host && !isClosedCall) return false;
      return std::ranges::all_of(s.regions, [&](RegionId r) { return collectIn(s, r); });
    });
  }
  /// The same of a region of a statement; a check in it may end the iteration before what follows.
  bool collectIn(const Stmt& s, RegionId region) {
    const size_t conditions = conditions_.size(), loops = loops_.size(), checks = checks_;
    const bool isReached = isReached_;
    enter(s, region);
    const bool all = collect(region);
    conditions_.resize(conditions);
    loops_.resize(loops);
    isReached_ = isReached && (checks == checks_ || isOfChunk(s));
    return all;
  }
  void enter(const Stmt& s, RegionId region) {
    if (s.kind == StmtKind::If && isUniform(s.operands[0]))
      conditions_.push_back({s.operands[0], region != s.regions[0]});
    else if (s.kind == StmtKind::For && isUniform(s.operands[0]) && isUniform(s.operands[1]))
      loops_.emplace_back(s.operands[0], s.operands[1]);
    else if (!isOfChunk(s))
      isReached_ = false;
  }
  /// The loop over the iterations of a chunk: there is one.
  bool isOfChunk(const Stmt& s) const {
    return s.kind == StmtKind::For && s.operands[0] == fn_.params()[0] && s.operands[1] == fn_.params()[1];
  }
  void check(const Stmt& s) {
    ++checks_;
    if (isUniform(s.operands[0]))
      conditions_.push_back({s.operands[0]});
    else
      isReached_ = false;
  }
  bool isUniform(ValueId v) const { return LaunchValues::isUniform(fn_, v); }
  bool take(StmtId alloc) {
    const Stmt& s = fn_.stmts[alloc];
    if (s.as<AllocAttr>().zeroed ||
        !std::ranges::all_of(s.operands, [this](ValueId v) { return isUniform(v); }))
      return false;
    const auto block = follow(alloc);
    if (!block || !isElementsOnly(*block, fn_.body)) return false;
    arrays_.push_back({alloc, conditions_, loops_, isReached_});
    taken_.insert(block->values.begin(), block->values.end());
    return true;
  }
  std::optional<LocalBlocks::Block> follow(StmtId alloc) const {
    return blocks_.follow(alloc, [](FunctionId, size_t) { return false; });
  }
  /// Whether nothing but elements of a block are loaded and stored, and loops carry it.
  bool isElementsOnly(const LocalBlocks::Block& block, RegionId region) const {
    return std::ranges::all_of(fn_.regions[region].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      const bool isAccess = s.kind == StmtKind::Load || s.kind == StmtKind::Store ||
                            s.kind == StmtKind::Drop || s.kind == StmtKind::EnsureUnique ||
                            s.kind == StmtKind::For || s.kind == StmtKind::Yield;
      if (!isAccess && std::ranges::any_of(s.operands, [&](ValueId v) { return block.values.contains(v); }))
        return false;
      return std::ranges::all_of(s.regions, [&](RegionId r) { return isElementsOnly(block, r); });
    });
  }

  ScratchSize place(const Array& array) {
    const StmtId alloc = array.alloc;
    const Stmt& s = fn_.stmts[alloc];
    ScratchSize size{s.operands, static_cast<int64_t>(s.as<AllocAttr>().bytes)};
    size.isChecked = checks_ > 0;
    size.conditions = array.conditions;
    size.loops = array.loops;
    const ValueId param = fn_.values.add({addressType, StmtId(), fn_.body, {}});
    blocks_.release(follow(alloc).value(), param); // loops may carry less than before
    blocks_.leave(std::span(&alloc, 1));
    fn_.regions[fn_.body].params.push_back(param);
    fn_.modes.push_back(ModeKind::Scratch);
    return size;
  }

  const Module& module_;
  Function& fn_;
  LocalBlocks blocks_;
  std::vector<Array> arrays_;
  std::unordered_set<ValueId> taken_; ///< what they are called
  size_t checks_ = 0;
  // Of where the reading stands.
  std::vector<ScratchSize::Condition> conditions_;
  std::vector<std::pair<ValueId, ValueId>> loops_;
  bool isReached_ = true;
};

} // namespace

void assignScratch(Module& module) {
  std::vector<ScratchSizes> byNumber; // of the parameters
  std::unordered_map<FunctionId, ChunkBefore> large;
  for (uint32_t f = 0, all = static_cast<uint32_t>(module.functions.size()); f < all; ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.kind != FunctionKind::Chunk) continue;
    ScratchPlacer placer(module, fn);
    if (!placer.find()) continue;
    const std::optional<Function> before = placer.mayBeLarge() ? std::optional(fn) : std::nullopt;
    const std::vector<ScratchSize> sizes = placer.place();
    if (sizes.size() > byNumber.size()) byNumber.resize(sizes.size());
    for (size_t k = 0; k < sizes.size(); ++k) byNumber[k][FunctionId(f)] = {sizes[k]};
    if (before) {
      const FunctionId chunk = module.functions.add(*before);
      module.functions[chunk].key += ".blocks";
      module.functions[chunk].points = {};
      large[FunctionId(f)] = {chunk, sizes.size()};
    }
  }
  for (const ScratchSizes& sizes : byNumber) recordScratchSizes(module, sizes);
  launchByScratch(module, large);
}

} // namespace melix::loops
