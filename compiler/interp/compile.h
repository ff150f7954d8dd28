#pragma once
// Internal: from a Core function to code.

#include "core/nest.h"
#include "core/path.h"
#include "core/uses.h"
#include "core/walk.h"
#include "interp/code.h"
#include "interp/nest.h"
#include "interp/places.h"
#include "interp/steps.h"

#include <map>
#include <set>
#include <unordered_set>

namespace melix::interp {

using namespace core;

/// Every value has a register of its own. The last use of an object moves it out of its register (precise
/// ownership is what lets `set` work in place); an object whose last use only reads it is dropped after the
/// op.
class Compiler {
public:
  Compiler(const Program& program, FunctionId f, Code& code);
  void compile();

private:
  using ValueSet = std::set<ValueId>;

  // Registers and instructions.
  TypeKind kindOf(TypeId t) const { return slotKind(types_, t); }
  bool isObjectValue(ValueId v) const { return isObject(kindOf(fn_.typeOf(v))); }
  uint32_t newReg(bool object);
  uint32_t reg(ValueId v);
  uint32_t constantReg(uint64_t bits);
  size_t emit(Handler run, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint32_t d = 0,
              const Extra* extra = nullptr);
  size_t here() const { return code_.instrs.size(); }
  template <class T>
  T* extra() {
    code_.extras.push_back(std::make_unique<T>());
    return static_cast<T*>(code_.extras.back().get());
  }
  void refuse(const std::string& what);

  // Dimensions.
  uint32_t dimReg(DimId d);
  uint32_t symReg(DimSym s);
  uint32_t atomReg(types::DimAtomId a);
  std::vector<uint32_t> dimRegs(std::span<const DimId> dims);

  // Ownership.
  uint32_t operand(ValueId v);
  std::vector<uint32_t> operands(const Op& op, size_t from = 0);
  void move(uint32_t to, ValueId v);
  /// Values to registers at once, for the carries of a loop.
  void moveAll(const std::vector<uint32_t>& to, std::span<const ValueId> from);
  void dropDying();
  void forget(const std::vector<uint32_t>& regs);
  void region(RegionId r, const ValueSet& inherited, const std::function<void(const Op&)>& yield);
  void usesInside(RegionId r, ValueSet& out) const;

  // Ops.
  void op(const Op& op);
  void effect(const Op& op);
  void undef(ValueId v);
  void undefObject(uint32_t into, TypeId t);
  void convert(const Op& op);
  void bitcast(const Op& op);
  void scalar(const Op& op);
  void constant(const Op& op);
  void zero(uint32_t into, TypeId t);
  void zeroPart(RegsExtra& record, TypeId t);
  void zeroRecord(uint32_t into, const std::vector<TypeId>& parts, bool isEnum);
  void zeroArray(uint32_t into, const types::Type& type);
  void zeroPack(uint32_t into, TypeId t);
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
  void branch(const Op& op);
  void match(const Op& op);
  void forLoop(const Op& op);
  void whileLoop(const Op& op);
  void nest(const Op& op);
  void combineRegion(const Op& op, const NestResult& r, NestResultExtra& x);
  void nestResult(const Op& op, const core::NestView& nest, const core::NestPart& part, NestExtra& x,
                  size_t& filter);

  struct PendingYield {
    uint32_t result, slot;
    ValueId value;
  };
  std::vector<PendingYield> pendingYields_;

  const Program& program_;
  const Function& fn_;
  const core::Uses uses_;
  types::TypeStore& types_;
  Code& code_;
  LocId loc_;
  std::unordered_map<ValueId, uint32_t> regs_;
  std::unordered_map<DimSym, uint32_t> symRegs_;
  std::vector<std::unordered_map<DimId, uint32_t>> dimRegs_; ///< computed expressions, by enclosing region
  std::map<uint64_t, uint32_t> constants_;
  ValueSet dying_;  ///< objects whose last use is the current op
  ValueSet inside_; ///< used in the regions of the current op
  const Op* current_ = nullptr;
  std::unordered_set<ValueId> skipped_; ///< products that a fused reduction computes itself
};

} // namespace melix::interp
