#include "interp/assembler.h"

#include "types/leaves.h"

#include <algorithm>

namespace melix::interp {

// --- registers
// ----------------------------------------------------------------------------------------------------

uint32_t Assembler::newReg(bool object) {
  uint32_t r = code_.regs++;
  if (object) code_.objectRegs.push_back(r);
  return r;
}

uint32_t Assembler::reg(ValueId v) {
  auto [it, fresh] = regs_.try_emplace(v, 0);
  if (fresh) it->second = newReg(isObjectValue(v));
  return it->second;
}

void Assembler::params() {
  for (DimSym s : fn_.dimParams) code_.paramRegs.push_back(symReg(s));
  for (ValueId p : fn_.params()) code_.paramRegs.push_back(reg(p));
}

uint32_t Assembler::textReg(std::string text) {
  auto* made = new Str(std::move(text));
  code_.owned.push_back(made);
  uint32_t r = newReg(false);
  code_.constants.resize(code_.regs, Slot{0});
  code_.constants[r].o = made;
  return r;
}

uint32_t Assembler::constantReg(uint64_t bits) {
  auto [it, fresh] = constants_.try_emplace(bits, 0);
  if (fresh) {
    it->second = newReg(false);
    code_.constants.resize(code_.regs, Slot{0});
    code_.constants[it->second].u = bits;
  }
  return it->second;
}

size_t Assembler::emit(Handler run, uint32_t a, uint32_t b, uint32_t c, uint32_t d, const Extra* x) {
  code_.instrs.push_back({run, a, b, c, d, x});
  code_.locs.push_back(loc_);
  return code_.instrs.size() - 1;
}

void Assembler::refuse(const std::string& what) {
  auto* message = extra<MessageExtra>();
  message->text = what + " is not interpreted";
  emit(runRefuse, 0, 0, 0, 0, message);
}

// --- dimensions
// ---------------------------------------------------------------------------------------------------

uint32_t Assembler::symReg(DimSym s) {
  auto [it, fresh] = symRegs_.try_emplace(s, 0);
  if (fresh) it->second = newReg(false);
  return it->second;
}

uint32_t Assembler::dimReg(DimId d) {
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

uint32_t Assembler::atomReg(types::DimAtomId id) {
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

std::vector<uint32_t> Assembler::dimRegs(std::span<const DimId> dims) {
  std::vector<uint32_t> out;
  for (DimId d : dims) out.push_back(dimReg(d));
  return out;
}

// --- values of a type
// ---------------------------------------------------------------------------------------------------------------

/// Lists and hidden sizes may be asked for their lengths, which are 0; records may be taken apart.
void Assembler::undefObject(uint32_t into, TypeId t) {
  if (!forms_.isRecord(t)) {
    switch (types_.kind(t)) {
    case TypeKind::List:
    case TypeKind::Str:
    case TypeKind::Pack: return zero(into, t);
    default: emit(runDrop, into); return;
    }
  }
  auto* x = extra<RegsExtra>();
  for (uint32_t k = 0; k < types::partsOf(types_, t); ++k) {
    const TypeId part = types::partOf(types_, t, k);
    TypeKind kind = kindOf(part);
    uint32_t r = isObject(kind) ? newReg(true) : constantReg(0);
    if (isObject(kind)) undefObject(r, part);
    x->regs.push_back(isObject(kind) ? r | moveBit : r);
    x->kinds.push_back(kind);
  }
  emit(runRecord, into, 0, false, 0, x);
}

/// A zero of type `t` as a part of the record that is made next.
void Assembler::zeroPart(RegsExtra& record, TypeId t) {
  TypeKind kind = kindOf(t);
  uint32_t r = newReg(isObject(kind));
  zero(r, t);
  record.regs.push_back(isObject(kind) ? r | moveBit : r);
  record.kinds.push_back(kind);
}

void Assembler::zeroRecord(uint32_t into, TypeId t) {
  auto* x = extra<RegsExtra>();
  for (uint32_t k = 0; k < types::partsOf(types_, t); ++k) zeroPart(*x, types::partOf(types_, t, k));
  emit(runRecord, into, 0, false, 0, x);
}

void Assembler::zeroArray(uint32_t into, const types::Type& type) {
  auto* x = extra<RegsExtra>();
  x->element = kindOf(type.parts[0]);
  x->dims = dimRegs(type.dims);
  emit(runNewArray, into, 0, 0, 0, x);
  bool empty = std::any_of(type.dims.begin(), type.dims.end(),
                           [&](DimId d) { return types_.dims.asConstant(d) == 0; }); // it may hold itself
  if (!isObject(x->element) || empty) return;
  uint32_t element = newReg(true);
  zero(element, type.parts[0]);
  emit(runFillZero, into, element);
  emit(runDrop, element);
}

/// Hidden sizes are 0.
void Assembler::zeroPack(uint32_t into, TypeId t) {
  uint32_t hidden = types_[t].number;
  auto* x = extra<RegsExtra>();
  x->regs.assign(hidden, constantReg(0));
  x->kinds.assign(hidden, TypeKind::I64);
  zeroPart(*x, types_.openPack(t, std::vector<DimId>(hidden, types_.dims.constant(0))));
  emit(runRecord, into, 0, 0, 0, x);
}

void Assembler::zero(uint32_t into, TypeId t) {
  if (forms_.isRecord(t)) return zeroRecord(into, t);
  const types::Type& type = types_[t];
  switch (type.kind) {
  case TypeKind::Array: return zeroArray(into, type);
  case TypeKind::Enum: emit(runRecord, into, 0, true, 0, extra<RegsExtra>()); return; // case 0 of a tangent
  case TypeKind::List: {
    auto* x = extra<RegsExtra>();
    x->element = kindOf(type.parts[0]);
    emit(runNewList, into, 0, 0, 0, x);
    return;
  }
  case TypeKind::Pack: return zeroPack(into, t);
  // In arrays of cases that an enum does not have: nothing reads them.
  case TypeKind::Str: emit(runMoveObject, into, textReg({})); return; // texts are computed ahead
  case TypeKind::Function: emit(runDrop, into); return;
  case TypeKind::Acc: return refuse("a zero of " + types_.print(t));
  default: emit(runMove, into, constantReg(0)); return;
  }
}

} // namespace melix::interp
