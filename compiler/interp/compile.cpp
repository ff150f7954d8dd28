#include "interp/compile.h"

#include "interp/steps.h"

#include <algorithm>

namespace melix::interp {

Compiler::Compiler(const Program& program, FunctionId f, Code& code)
    : program_(program), fn_(program.module().functions[f]), uses_(program.module(), f),
      types_(program.module().types), code_(code), loc_(fn_.loc) {
  code.function = f;
  dimRegs_.emplace_back();
}

void Compiler::compile() {
  for (DimSym s : fn_.dimParams) code_.paramRegs.push_back(symReg(s));
  for (ValueId p : fn_.params()) code_.paramRegs.push_back(reg(p));
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
  code_.constants.resize(code_.regs, Slot{0});
}

// --- registers
// ----------------------------------------------------------------------------------------------------

uint32_t Compiler::newReg(bool object) {
  uint32_t r = code_.regs++;
  if (object) code_.objectRegs.push_back(r);
  return r;
}

uint32_t Compiler::reg(ValueId v) {
  auto [it, fresh] = regs_.try_emplace(v, 0);
  if (fresh) it->second = newReg(isObjectValue(v));
  return it->second;
}

uint32_t Compiler::constantReg(uint64_t bits) {
  auto [it, fresh] = constants_.try_emplace(bits, 0);
  if (fresh) {
    it->second = newReg(false);
    code_.constants.resize(code_.regs, Slot{0});
    code_.constants[it->second].u = bits;
  }
  return it->second;
}

size_t Compiler::emit(Handler run, uint32_t a, uint32_t b, uint32_t c, uint32_t d, const Extra* x) {
  code_.instrs.push_back({run, a, b, c, d, x});
  code_.locs.push_back(loc_);
  return code_.instrs.size() - 1;
}

void Compiler::refuse(const std::string& what) {
  auto* message = extra<MessageExtra>();
  message->text = what + " is not interpreted";
  emit(runRefuse, 0, 0, 0, 0, message);
}

// --- dimensions
// ---------------------------------------------------------------------------------------------------

uint32_t Compiler::symReg(DimSym s) {
  auto [it, fresh] = symRegs_.try_emplace(s, 0);
  if (fresh) it->second = newReg(false);
  return it->second;
}

uint32_t Compiler::dimReg(DimId d) {
  types::DimStore& dims = types_.dims;
  if (std::optional<int64_t> c = dims.asConstant(d)) return constantReg(static_cast<uint64_t>(*c));
  if (std::optional<DimSym> s = dims.asSymbol(d)) return symReg(*s);
  for (auto& scope : dimRegs_)
    if (auto it = scope.find(d); it != scope.end()) return it->second;
  auto arith = [&](OpKind kind, uint32_t a, uint32_t b) {
    uint32_t out = newReg(false);
    emit(scalarHandler(kind, TypeKind::I64, 0), out, a, b);
    return out;
  };
  std::optional<uint32_t> sum;
  for (const types::DimTerm& t : dims.terms(d)) {
    std::optional<uint32_t> product;
    if (t.coefficient != 1 || t.factors.empty()) product = constantReg(static_cast<uint64_t>(t.coefficient));
    for (types::DimAtomId a : t.factors) {
      uint32_t r = atomReg(a);
      product = product ? arith(OpKind::Mul, *product, r) : r;
    }
    sum = sum ? arith(OpKind::Add, *sum, *product) : *product;
  }
  dimRegs_.back().emplace(d, *sum);
  return *sum;
}

uint32_t Compiler::atomReg(types::DimAtomId id) {
  const types::DimAtom& a = types_.dims.atom(id);
  if (a.kind == types::DimAtomKind::Symbol) return symReg(a.symbol);
  if (a.kind == types::DimAtomKind::TooLarge) return constantReg(0); // a check before it has failed
  constexpr OpKind kinds[] = {OpKind::Add, OpKind::IDiv, OpKind::IRem, OpKind::Min, OpKind::Max};
  Handler run = scalarHandler(kinds[static_cast<size_t>(a.kind)], TypeKind::I64, 0);
  uint32_t all = dimReg(a.args[0]);
  for (size_t i = 1; i < a.args.size(); ++i) {
    uint32_t out = newReg(false), next = dimReg(a.args[i]);
    emit(run, out, all, next);
    all = out;
  }
  return all;
}

std::vector<uint32_t> Compiler::dimRegs(std::span<const DimId> dims) {
  std::vector<uint32_t> out;
  for (DimId d : dims) out.push_back(dimReg(d));
  return out;
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
void Compiler::region(RegionId r, const ValueSet& inherited, const std::function<void(const Op&)>& yield) {
  const Region& region = fn_.regions[r];
  dimRegs_.emplace_back();
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
    loc_ = o.loc;
    if (i + 1 == region.ops.size())
      yield(o);
    else
      op(o);
    loc_ = o.loc;
    dropDying();
  }
  current_ = outer;
  dimRegs_.pop_back();
}

} // namespace melix::interp
