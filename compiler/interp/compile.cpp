#include "interp/compile.h"

#include "interp/steps.h"

#include <algorithm>

namespace melix::interp {

Compiler::Compiler(Program& program, FunctionId f, Code& code)
    : Assembler(program.forms(), program.module().types, program.module().functions[f], code),
      program_(program), uses_(program.module(), f) {
  code.function = f;
}

void Compiler::compile() {
  params();
  region(fn_.body, {}, [&](const Op& yield) {
    auto* results = extra<RegsExtra>();
    for (DimId d : yield.dims) {
      results->regs.push_back(dimReg(d));
      results->kinds.push_back(TypeKind::I64);
    }
    for (ValueId v : yield.operands) {
      results->kinds.push_back(kindOf(fn_.typeOf(v)));
      results->regs.push_back(operand(v));
    }
    emit(runReturn, 0, 0, 0, 0, results);
  });
  finish();
}

// --- ownership
// ----------------------------------------------------------------------------------------------------

uint32_t Compiler::operand(ValueId v) {
  uint32_t r = reg(v);
  if (!isObjectValue(v) || !dying_.contains(v) || inside_.contains(v)) return r;
  if (std::count(current_->operands.begin(), current_->operands.end(), v) != 1) return r;
  dying_.erase(v);
  return r | moveBit;
}

std::vector<uint32_t> Compiler::operands(const Op& op, size_t from) {
  std::vector<uint32_t> out;
  for (size_t i = from; i < op.operands.size(); ++i) out.push_back(operand(op.operands[i]));
  return out;
}

void Compiler::move(uint32_t to, ValueId v) {
  if ((reg(v)) == to) {
    dying_.erase(v);
    return;
  }
  if (isObjectValue(v))
    emit(runMoveObject, to, operand(v));
  else
    emit(runMove, to, reg(v));
}

void Compiler::moveAll(const std::vector<uint32_t>& to, std::span<const ValueId> from) {
  bool crossing = false;
  for (size_t k = 0; k < to.size(); ++k)
    for (size_t j = 0; j < to.size(); ++j) crossing |= j != k && reg(from[j]) == to[k];
  if (!crossing) {
    for (size_t k = 0; k < to.size(); ++k) move(to[k], from[k]);
    forget(to);
    return;
  }
  std::vector<uint32_t> temps;
  for (ValueId v : from) {
    temps.push_back(newReg(isObjectValue(v)));
    if (isObjectValue(v))
      emit(runMoveObject, temps.back(), operand(v));
    else
      emit(runMove, temps.back(), reg(v));
  }
  for (size_t k = 0; k < to.size(); ++k) {
    if (isObjectValue(from[k]))
      emit(runMoveObject, to[k], temps[k] | moveBit);
    else
      emit(runMove, to[k], temps[k]);
  }
  forget(to);
}

/// Registers that were overwritten hold nothing to be dropped.
void Compiler::forget(const std::vector<uint32_t>& regs) {
  std::erase_if(dying_, [&](ValueId v) { return std::find(regs.begin(), regs.end(), reg(v)) != regs.end(); });
}

void Compiler::dropDying() {
  for (ValueId v : dying_) emit(runDrop, reg(v));
  dying_.clear();
}

void Compiler::usesInside(RegionId r, ValueSet& out) const {
  forEachOp(fn_, r, [&](OpId id) {
    for (ValueId v : fn_.ops[id].operands) out.insert(v);
  });
}

/// `inherited`: values of outer regions that die with this region and may be moved in it.
void Compiler::region(RegionId r, const ValueSet& inherited, FunctionRef<void(const Op&)> yield) {
  const Region& region = fn_.regions[r];
  openDims();
  std::map<ValueId, size_t> last;
  ValueSet own = inherited;
  for (ValueId p : region.params) own.insert(p);
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const Op& op = fn_.ops[region.ops[i]];
    ValueSet used(op.operands.begin(), op.operands.end());
    for (RegionId inner : op.regions) usesInside(inner, used);
    for (ValueId v : used) last[v] = i;
    own.insert(op.results.begin(), op.results.end());
  }
  std::map<size_t, ValueSet> dyingAt;
  for (auto [v, i] : last)
    if (own.contains(v) && isObjectValue(v)) dyingAt[i].insert(v);
  const Op* outer = current_;
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const Op& o = fn_.ops[region.ops[i]];
    dying_ = dyingAt[i];
    inside_.clear();
    for (RegionId inner : o.regions) usesInside(inner, inside_);
    current_ = &o;
    at(o.loc);
    if (i + 1 == region.ops.size())
      yield(o);
    else
      op(o);
    at(o.loc);
    dropDying();
  }
  current_ = outer;
  closeDims();
}

} // namespace melix::interp
