#pragma once
// Internal: emits vectorised loops, with each iteration in a lane. The body is emitted once for as many
// iterations as there are lanes. A uniform value is a single value, as in a scalar loop. An affine value is
// its first value and the step from lane to lane. Any other value is a vector. A branch that lanes take
// differently becomes a mask of the active lanes. Nothing is read or stored for the others.

#include "codegen/function_emitter.h"
#include "loops/analysis/vectorizability.h"
#include "loops/lanes/interleaved_accesses.h"
#include "support/function_ref.h"

#include <unordered_set>

namespace melix::codegen {

/// Emits the loop in strips of as many iterations as its attribute says. The remaining iterations run in one
/// of three ways:
///   1. in strips of one register under a mask;
///   2. in a last whole strip under a mask, where arrays of the frame are written, as these then stay in
///      registers;
///   3. in strips of one register and then one by one, where the processor has no masks, or these arrays have
///      no room for a whole strip. Values stored under a mask are slow to read back.
void emitLanes(FunctionEmitter& host, const loops::Stmt& loop);

class LaneEmitter {
public:
  /// `host` emits uniform values. Statements keep its location if they come from a callee. The first
  /// iteration is at the beginning of a strip of `strip` iterations, or of as many as there are lanes.
  /// `index` is the index of the loop; none in a callee.
  LaneEmitter(FunctionEmitter& host, unsigned lanes, const loops::Variance& variance, loops::ValueId index,
              unsigned strip = 0)
      : host_(host), m_(host.m_), fn_(host.fn_), b_(host.b_), lanes_(lanes), strip_(strip ? strip : lanes),
        variance_(variance), strides_(fn_, variance, index) {}

  llvm::Constant* iota(llvm::IntegerType* type); ///< 0, 1, 2, …
  /// A mask of so many lanes of the loop's strip, which is all if there are not more.
  llvm::Value* firstLanes(const loops::Stmt& loop, llvm::Value* count);
  llvm::Value* splat(llvm::Value* v) { return b_.CreateVectorSplat(lanes_, v); }

  // Of the loop itself.
  using Steps = std::vector<loops::ReassociableStep>;
  /// The initial lanes of carried values. Reductions begin with the initial value in the first lane, running
  /// totals with it in all lanes, and the best of an argmin or argmax with none in any lane.
  std::vector<llvm::Value*> begun(const Steps& steps, std::vector<llvm::Value*> first);
  /// The same in so many lanes, less than there are.
  std::vector<llvm::Value*> folded(const Steps& steps, std::vector<llvm::Value*> carried, unsigned lanes);
  /// Single values; `before` are the initial values of the loop.
  std::vector<llvm::Value*> joined(const Steps& steps, std::vector<llvm::Value*> carried,
                                   const std::vector<llvm::Value*>& before);
  /// All lanes once, from iteration `first` on.
  std::vector<llvm::Value*> strip(const loops::Stmt& loop, const Steps& steps, llvm::Value* first,
                                  llvm::Value* mask, std::vector<llvm::Value*> carried);
  enum class StripKind {
    Whole,  ///< as long as there are whole ones
    Most,   ///< as long as more than half of one is left, under a mask
    Masked, ///< up to the end
    Long,   ///< up to the end, which is one at most, if more than a register is left
    Last,   ///< up to the end, which is one at most
  };
  /// Strips; `first` becomes the iteration after them, if they are whole.
  std::vector<llvm::Value*> strips(const loops::Stmt& loop, const Steps& steps, llvm::Value*& first,
                                   llvm::Value* end, StripKind kind, std::vector<llvm::Value*> carried);

private:
  using Stmt = loops::Stmt;
  using ValueId = loops::ValueId;
  using Value = llvm::Value;
  using Values = std::vector<llvm::Value*>;
  using ValueIds = std::vector<ValueId>;

  /// first, first + step, first + 2 · step, …
  struct Affine {
    Value *first, *step;
  };
  /// Where the lanes of an access lie.
  struct Place {
    Value* first = nullptr; ///< of lane 0; lane k is k · `step` units of that many bytes further
    Value* step = nullptr;
    unsigned unit = 1;
    Value* all = nullptr; ///< or the addresses of all lanes
    /// Whether the stride between lanes is known to be that many bytes.
    bool isSeparate(int64_t bytes) const;
  };

  bool isUniform(ValueId v) const { return variance_.isUniform(v); }
  Value* vector(ValueId v);
  Value* vector(const Affine& a);
  Affine affine(ValueId v) const;
  llvm::VectorType* vectorOf(llvm::Type* t) { return llvm::FixedVectorType::get(t, lanes_); }
  /// As it is kept: by itself, or a vector.
  Value* kept(ValueId v, bool uniform) { return host_.generic(uniform ? host_.value(v) : vector(v)); }
  llvm::Type* keptType(ValueId v);
  void keep(ValueId v, Value* x);
  llvm::BasicBlock* block(const char* name) { return host_.block(name); }
  /// A phi for each value, whose operand from that block it is.
  std::vector<llvm::PHINode*> phis(const Values& values, llvm::BasicBlock* from);

  /// Emits the statements of a region; gives the values it yields.
  const ValueIds& region(loops::RegionId r);
  void statement(const Stmt& s);
  void scalar(const Stmt& s);

  // lane_scans.cpp
  /// A value that the loop carries and its iterations use.
  struct Running {
    loops::ReassociableStep step;
    Value *before, *after; ///< in all lanes
  };
  void runningTotal(const Stmt& s, Running& running);
  /// The k-th step, an argmin or argmax: writes the better of the carried values `a` and `b` to `out`.
  /// `isLater`: `b` is later than `a`; otherwise the iteration numbers decide.
  void better(const Steps& steps, size_t k, const Values& a, const Values& b, bool isLater, Values& out);
  /// The same of all lanes, as single values.
  void best(const Steps& steps, size_t k, const Values& lanes, Values& out);

  // lane_totals.cpp
  /// The statement that makes a value that a loop carries: a sum of that value and a term.
  struct Total {
    loops::StmtId sum;
    ValueId term;
  };
  class TotalsLoop;
  std::vector<Total> totalsOf(const Stmt& s) const;
  Value* beginWithNothing(const Stmt& s);
  void forTotals(const Stmt& s, std::vector<Total> totals);

  // lane_calls.cpp
  class Slot;
  void call(const Stmt& s);
  void callMerged(const Stmt& s);
  void callOneByOne(const Stmt& s);
  void forEachLane(FunctionRef<void(Value*)> body);

  // lane_memory.cpp
  Place place(const Stmt& s, size_t operandCount);
  Value* addresses(const Place& at);
  llvm::Type* elementOf(const loops::Access& access) const;
  Value* loadBackwards(const Place& at, llvm::VectorType* type, llvm::Align align);
  bool staysInRegisters(const Stmt& s) const;
  void load(const Stmt& s);
  void emitPrefetch(const Stmt& s, Value* at, llvm::Type* type);
  void store(const Stmt& s);
  /// Of registers that follow each other, from `at` on.
  void storeStream(std::span<Value* const> registers, Value* base, Value* at, llvm::Align align);
  /// How many stores follow each other to neighbours.
  size_t storesTogether(std::span<const loops::StmtId> stmts) const;
  /// Emits stores to neighbouring elements, each with a stride between lanes, at once. Whether that is done.
  bool storeGroup(std::span<const loops::StmtId> stmts);

  // lane_rows.cpp
  using Groups = std::unordered_map<loops::StmtId, const loops::LaneGroup*>;
  /// Of groups of accesses that lanes do together, by each of their statements. None under a mask.
  Groups byMember(std::span<const loops::LaneGroup> groups) const;
  /// All of the group, where its place is.
  void emit(const loops::LaneGroup& group, loops::StmtId at);
  void loadRows(const loops::LaneGroup& group);
  void storeRows(const loops::LaneGroup& group);
  /// The type of the elements, and as many of them as a register holds.
  llvm::VectorType* registerOf(const loops::LaneGroup& group) const;
  /// Where the first lane's lowest column lies.
  Value* firstRow(const loops::LaneGroup& group);

  // lane_control.cpp
  Value* masked(Value* mask) { return mask_ ? b_.CreateAnd(mask_, mask) : mask; }
  void branch(const Stmt& s);
  void branchTogether(const Stmt& s);
  Values emitBranchSeparately(const Stmt& s, loops::RegionId r, Value* mask, Values others);
  Value* takes(const Stmt& s, size_t region);
  bool mustSkip(loops::RegionId r) const;
  bool isWorthSkipping(loops::RegionId r) const;
  std::vector<llvm::PHINode*> openCarries(std::span<const ValueId> params, std::span<const ValueId> first,
                                          llvm::BasicBlock* from);
  void closeCarries(std::span<llvm::PHINode* const> phis, std::span<const ValueId> params,
                    const ValueIds& next, Value* mask);
  void forLoop(const Stmt& s);
  void whileLoop(const Stmt& s);

  FunctionEmitter& host_;
  ModuleEmitter& m_;
  const loops::Function& fn_;
  llvm::IRBuilder<>& b_;
  const unsigned lanes_, strip_;
  const loops::Variance& variance_;
  loops::LaneStrides strides_;
  const Stmt* loop_ = nullptr; ///< whose iterations are in lanes
  bool isCallee_ = false;      ///< its locations are not in the function that is being emitted
  Value* mask_ = nullptr;      ///< lanes that are on; null: all
  std::unordered_map<uint32_t, Affine> affine_;
  std::unordered_map<uint32_t, Value*> vectors_;
  std::unordered_map<uint32_t, Running> running_; ///< by the result of the step
  std::unordered_set<loops::StmtId> late_;        ///< totals, which are emitted after other statements
};

} // namespace melix::codegen
