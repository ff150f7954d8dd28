#pragma once
// Internal: loops whose turns run side by side, each in a lane. The body stands once for as many turns as
// there are lanes: what is uniform is a single value, as in a scalar loop; what grows by the same from lane
// to lane is its first value and the step; all else is a vector. A branch that lanes take differently becomes
// a mask of those that are on: nothing is read or stored for the others.

#include "codegen/function_emitter.h"
#include "loops/analysis/vectorizability.h"
#include "loops/lanes/interleaved_accesses.h"

#include <functional>
#include <unordered_set>

namespace melix::codegen {

/// The loop in strips of as many turns as it says. What is left behind them is done in strips of one register
/// with a mask; in a last whole strip with a mask where arrays of the frame are written, as these then stay
/// in registers; or in strips of one register and then turn by turn, where the processor has no masks, or
/// these arrays have no room for a whole strip: what is stored under a mask is slow to read back.
void emitLanes(FunctionEmitter& host, const loops::Stmt& loop);

class LaneEmitter {
public:
  /// `host` emits what is uniform; statements keep its place if they are those of a callee.
  /// Its first turn is where a strip of so many begins, or one of as many as there are lanes.
  /// `index` is that of the loop; none in a callee.
  LaneEmitter(FunctionEmitter& host, unsigned lanes, const loops::Variance& variance, loops::ValueId index,
              unsigned strip = 0)
      : host_(host), m_(host.m_), fn_(host.fn_), b_(host.b_), lanes_(lanes), strip_(strip ? strip : lanes),
        variance_(variance), neighbours_(fn_, variance, index) {}

  llvm::Constant* iota(llvm::IntegerType* type); ///< 0, 1, 2, …
  /// A mask of so many lanes of the loop's strip, which is all if there are not more.
  llvm::Value* firstLanes(const loops::Stmt& loop, llvm::Value* count);
  llvm::Value* splat(llvm::Value* v) { return b_.CreateVectorSplat(lanes_, v); }

  // Of the loop itself.
  using Steps = std::vector<loops::ExactStep>;
  /// Lanes of what it carries: those of reductions begin with what was there before in the first lane, those
  /// of running totals with it in all, and a best one with none in any.
  std::vector<llvm::Value*> begun(const Steps& steps, std::vector<llvm::Value*> first);
  /// The same in so many lanes, less than there are.
  std::vector<llvm::Value*> folded(const Steps& steps, std::vector<llvm::Value*> carried, unsigned lanes);
  /// Single values; `before` is what the loop was given.
  std::vector<llvm::Value*> joined(const Steps& steps, std::vector<llvm::Value*> carried,
                                   const std::vector<llvm::Value*>& before);
  /// All lanes once, from turn `first` on.
  std::vector<llvm::Value*> strip(const loops::Stmt& loop, const Steps& steps, llvm::Value* first,
                                  llvm::Value* mask, std::vector<llvm::Value*> carried);
  enum class StripKind {
    Whole,  ///< as long as there are whole ones
    Most,   ///< as long as more than half of one is left, under a mask
    Masked, ///< up to the end
    Long,   ///< up to the end, which is one at most, if more than a register is left
    Last,   ///< up to the end, which is one at most
  };
  /// Strips; `first` becomes the turn behind them, if they are whole.
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
    Value* first = nullptr; ///< of lane 0; the others are `step` units of that many bytes apart
    Value* step = nullptr;
    unsigned unit = 1;
    Value* all = nullptr; ///< or addresses of all
    /// Whether lanes are that many bytes apart, as is known.
    bool isApart(int64_t bytes) const;
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
  /// A phi for each value, which is what comes from that block.
  std::vector<llvm::PHINode*> phis(const Values& values, llvm::BasicBlock* from);

  /// The statements, and what they yield.
  const ValueIds& region(loops::RegionId r);
  void statement(const Stmt& s);
  void scalar(const Stmt& s);

  // lane_scans.cpp
  /// A value that the loop carries and its turns use.
  struct Running {
    loops::ExactStep step;
    Value *before, *after; ///< in all lanes
  };
  void runningTotal(const Stmt& s, Running& running);
  /// The k-th step, a best one: of what is carried by `a` and by `b`, which comes later, or it is not known
  /// and turns tell, to `out`.
  void better(const Steps& steps, size_t k, const Values& a, const Values& b, bool isLater, Values& out);
  /// The same of all lanes, as single values.
  void best(const Steps& steps, size_t k, const Values& lanes, Values& out);

  // lane_totals.cpp
  /// What makes a value that a loop carries: a sum of that and a term.
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
  void forEachLane(const std::function<void(Value*)>& body);

  // lane_memory.cpp
  Place place(const Stmt& s, size_t operandCount);
  Value* addresses(const Place& at);
  llvm::Type* elementOf(const loops::Access& access) const;
  Value* loadBackwards(const Place& at, llvm::VectorType* type, llvm::Align align);
  bool staysInRegisters(const Stmt& s) const;
  void load(const Stmt& s);
  void askAhead(const Stmt& s, Value* at, llvm::Type* type);
  void store(const Stmt& s);
  /// Of registers that follow each other, from `at` on.
  void storeStream(std::span<Value* const> registers, Value* base, Value* at, llvm::Align align);
  /// How many stores follow each other to neighbours.
  size_t storesTogether(std::span<const loops::StmtId> stmts) const;
  /// Of stores to neighbours, whose lanes lie apart: what each lane stores, at once. Whether that is done.
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
  Values branchApart(const Stmt& s, loops::RegionId r, Value* mask, Values others);
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
  loops::Neighbours neighbours_;
  const Stmt* loop_ = nullptr; ///< whose turns are in lanes
  bool isCallee_ = false;      ///< its places are not those of the function that is being written
  Value* mask_ = nullptr;      ///< lanes that are on; null: all
  std::unordered_map<uint32_t, Affine> affine_;
  std::unordered_map<uint32_t, Value*> vectors_;
  std::unordered_map<uint32_t, Running> running_; ///< by what the step makes
  std::unordered_set<loops::StmtId> late_;        ///< totals, which are made behind other statements
};

} // namespace melix::codegen
