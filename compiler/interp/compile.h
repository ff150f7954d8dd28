#pragma once
// Internal: from a Core function to code.

#include "core/ir/flow.h"
#include "core/ir/path.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "interp/assembler.h"
#include "interp/nest.h"
#include "interp/places.h"
#include "support/function_ref.h"

#include <set>
#include <unordered_set>

namespace melix::interp {

/// The last use of an object moves it out of its register (precise ownership lets `set` work in place). An
/// object whose last use only reads it is dropped after the op.
class Compiler : private Assembler {
public:
  Compiler(Program& program, FunctionId f, Code& code);
  void compile();

private:
  using ValueSet = std::set<ValueId>;

  // Ownership.
  uint32_t operand(ValueId v);
  std::vector<uint32_t> operands(const Op& op, size_t from = 0);
  void move(uint32_t to, ValueId v);
  /// Values to registers at once, for the carries of a loop.
  void moveAll(const std::vector<uint32_t>& to, std::span<const ValueId> from);
  void dropDying();
  void forget(const std::vector<uint32_t>& regs);
  void region(RegionId r, const ValueSet& inherited, FunctionRef<void(const Op&)> yield);
  void usesInside(RegionId r, ValueSet& out) const;

  // Ops.
  void op(const Op& op);
  void effect(const Op& op);
  void undef(ValueId v);
  void convert(const Op& op);
  void bitcast(const Op& op);
  void scalar(const Op& op);
  void constant(const Op& op);
  void record(const Op& op, uint32_t tag, bool isEnum);
  void pack(const Op& op);
  void unpack(const Op& op);
  void field(const Op& op, ValueId from, uint32_t k);
  void get(const Op& op);
  void update(const Op& op);
  const PlaceExtra* place(const Op& op, size_t firstIndex, TypeId placeType);
  void reshape(const Op& op);
  void arrayOf(const Op& op);
  void math(const Op& op);
  void select(const Op& op);
  void lists(const Op& op);
  void call(const Op& op);
  void format(const Op& op);
  void debug(const Op& op);
  void check(const Op& op);
  void builtin(const Op& op);
  void callTo(FunctionId callee, const std::vector<uint32_t>& args, std::span<const DimId> dims,
              const std::vector<uint32_t>& resultDims, const std::vector<uint32_t>& results);
  void resume(const Op& op, const ValueSet& dying);
  void choose(const Op& op, const Op& yield);
  void branch(const Op& op);
  void match(const Op& op);
  std::vector<uint32_t> carryIn(const LoopView& loop, const Op& op);
  void carryOn(const LoopView& loop, const std::vector<uint32_t>& state, const Op& yield);
  void carryOut(const LoopView& loop);
  void forLoop(const Op& op);
  void whileLoop(const Op& op);
  void nest(const Op& op);
  void combineRegion(const Op& op, const NestResult& r, NestResultExtra& x);
  /// A yielded value whose register is final once the body has been compiled.
  struct PendingYield {
    uint32_t result, slot;
    ValueId value;
  };
  void collected(NestResultExtra& rx, TypeId type);
  void nestResult(const core::NestView& nest, const core::NestPart& part, NestExtra& x,
                  std::vector<PendingYield>& pending);

  const Program& program_;
  const core::Uses uses_;
  ValueSet dying_;  ///< objects whose last use is the current op
  ValueSet inside_; ///< used in the regions of the current op
  const Op* current_ = nullptr;
  std::unordered_set<ValueId> skipped_; ///< products that a fused reduction computes itself
};

} // namespace melix::interp
