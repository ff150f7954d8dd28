#pragma once
// Internal: the instructions of one function while they are written, and the registers they use.

#include "core/ir/ir.h"
#include "interp/steps.h"

#include <map>
#include <span>

namespace melix::interp {

using namespace core;

/// Every value and every symbol has a register of its own, unless another takes it over.
class Assembler {
protected:
  Assembler(Forms& forms, types::TypeStore& types, const Function& fn, Code& code)
      : forms_(forms), types_(types), fn_(fn), code_(code), loc_(fn.loc), dimRegs_(1) {}

  TypeKind kindOf(TypeId t) const { return slotKind(types_, t); }
  bool isObjectValue(ValueId v) const { return isObject(kindOf(fn_.typeOf(v))); }

  // Registers.
  uint32_t newReg(bool object);
  uint32_t reg(ValueId v);
  bool hasReg(ValueId v) const { return regs_.contains(v); }
  /// The value, or symbol, stands in a register that is there.
  void alias(ValueId v, uint32_t r) { regs_[v] = r; }
  void alias(DimSym s, uint32_t r) { symRegs_[s] = r; }
  uint32_t constantReg(uint64_t bits);
  /// Of a text that lives with the code; the register shares it.
  uint32_t textReg(std::string text);
  /// Records the registers of the parameters in the code.
  void params();

  // Instructions.
  /// Sets the source location of the instructions that follow.
  void at(LocId loc) { loc_ = loc; }
  size_t emit(Handler run, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint32_t d = 0,
              const Extra* extra = nullptr);
  size_t here() const { return code_.instrs.size(); }
  /// Makes the next instruction the target of the jump; `target` is the field for it.
  void land(size_t jump, uint32_t Instr::* target) {
    code_.instrs[jump].*target = static_cast<uint32_t>(here());
  }
  template <class T>
  T* extra() {
    code_.extras.push_back(std::make_unique<T>());
    return static_cast<T*>(code_.extras.back().get());
  }
  void refuse(const std::string& what);
  /// No register comes after this.
  void finish() { code_.constants.resize(code_.regs, Slot{0}); }

  // Dimensions; values computed from them in a region are known up to its end.
  uint32_t dimReg(DimId d);
  uint32_t symReg(DimSym s);
  std::vector<uint32_t> dimRegs(std::span<const DimId> dims);
  void openDims() { dimRegs_.emplace_back(); }
  void closeDims() { dimRegs_.pop_back(); }

  // Values that a type has.
  void zero(uint32_t into, TypeId t);
  void undefObject(uint32_t into, TypeId t);

  Forms& forms_;
  types::TypeStore& types_;
  const Function& fn_;

private:
  uint32_t atomReg(types::DimAtomId a);
  void zeroPart(RegsExtra& record, TypeId t);
  void zeroRecord(uint32_t into, TypeId t);
  void zeroArray(uint32_t into, const types::Type& type);
  void zeroPack(uint32_t into, TypeId t);

  Code& code_;
  LocId loc_;
  std::unordered_map<ValueId, uint32_t> regs_;
  std::unordered_map<DimSym, uint32_t> symRegs_;
  std::vector<std::unordered_map<DimId, uint32_t>> dimRegs_; ///< computed expressions, by enclosing region
  std::map<uint64_t, uint32_t> constants_;
};

} // namespace melix::interp
