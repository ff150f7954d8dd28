// Ops with regions.
#include "interp/compile.h"
#include "interp/steps.h"

#include <algorithm>

namespace melix::interp {

void Compiler::branch(const Op& o) {
  ValueSet inherited = dying_;
  inherited.erase(o.operands[0]);
  ValueSet all = dying_;
  LocId loc = o.loc;
  auto arm = [&](RegionId r) {
    region(r, inherited, [&](const Op& yield) {
      std::vector<uint32_t> to;
      for (size_t k = 0; k < yield.dims.size(); ++k)
        emit(runMove, symReg(o.resultDims[k]), dimReg(yield.dims[k]));
      for (ValueId v : o.results) to.push_back(reg(v));
      for (size_t k = 0; k < to.size(); ++k) move(to[k], yield.operands[k]);
    });
  };
  size_t test = emit(runJumpUnless, reg(o.operands[0]));
  arm(o.regions[0]);
  size_t jump = emit(runJump);
  code_.instrs[test].b = static_cast<uint32_t>(here());
  arm(o.regions[1]);
  code_.instrs[jump].a = static_cast<uint32_t>(here());
  loc_ = loc;
  current_ = &o;
  dying_ = all; // what an arm moved away is gone; the rest is dropped
}

void Compiler::match(const Op& o) {
  ValueId scrutinee = o.operands[0];
  uint32_t from = reg(scrutinee);
  bool used = inside_.contains(scrutinee), dies = dying_.contains(scrutinee);
  ValueSet inherited = dying_;
  if (!used) inherited.erase(scrutinee);
  ValueSet all = dying_;
  const std::vector<uint32_t>& regionOf = o.as<MatchAttr>().regionOf;
  auto* x = extra<MatchExtra>();
  emit(runMatch, from, 0, 0, 0, x);
  std::vector<uint32_t> starts, jumps;
  for (uint32_t r = 0; r < o.regions.size(); ++r) {
    starts.push_back(static_cast<uint32_t>(here()));
    const std::vector<ValueId>& params = fn_.regions[o.regions[r]].params;
    for (uint32_t k = 0; k < params.size(); ++k) {
      emit(runField, reg(params[k]), from, k, isObjectValue(params[k]));
    }
    if (dies && !used) emit(runDrop, from);
    region(o.regions[r], inherited, [&](const Op& yield) {
      for (size_t k = 0; k < yield.dims.size(); ++k)
        emit(runMove, symReg(o.resultDims[k]), dimReg(yield.dims[k]));
      for (size_t k = 0; k < o.results.size(); ++k) move(reg(o.results[k]), yield.operands[k]);
    });
    jumps.push_back(static_cast<uint32_t>(emit(runJump)));
  }
  for (uint32_t j : jumps) code_.instrs[j].a = static_cast<uint32_t>(here());
  for (uint32_t r : regionOf) x->targets.push_back(starts[r]);
  loc_ = o.loc;
  current_ = &o;
  dying_ = all;
}

void Compiler::forLoop(const Op& o) {
  uint32_t collects = o.as<LoopAttr>().collects;
  RegionId r = o.regions[0];
  const std::vector<ValueId>& params = fn_.regions[r].params;
  const std::vector<DimSym>& dimParams = fn_.regions[r].dimParams;
  size_t count = params.size() - 1;

  uint32_t n = reg(o.operands[0]);
  std::vector<uint32_t> state;
  for (size_t k = 0; k < dimParams.size(); ++k) emit(runMove, symReg(dimParams[k]), dimReg(o.dims[k]));
  for (size_t k = 0; k < count; ++k) {
    state.push_back(reg(params[k + 1]));
    move(state[k], o.operands[k + 1]);
    regs_[o.results[k]] = state[k];
  }
  if (collects > 0) emit(runRealDim, symReg(o.resultDims[0]), n);
  for (size_t k = count; k < o.results.size(); ++k) {
    const types::Type& t = types_[fn_.typeOf(o.results[k])];
    auto* x = extra<RegsExtra>();
    x->element = kindOf(t.parts[0]);
    x->dims = dimRegs(t.dims);
    emit(runNewArray, reg(o.results[k]), 0, 0, 0, x);
  }
  ValueSet all = dying_;
  uint32_t i = reg(params[0]);
  emit(runForStart, i);
  size_t next = emit(runForNext, i, n);
  region(r, {}, [&](const Op& yield) {
    for (size_t k = count; k < yield.operands.size(); ++k) {
      ValueId v = yield.operands[k];
      bool row = types_.kind(fn_.typeOf(v)) == TypeKind::Array;
      emit(runPutRow, reg(o.results[k]), i, reg(v),
           row ? uint32_t(TypeKind::Array) : static_cast<uint32_t>(kindOf(fn_.typeOf(v))));
    }
    std::vector<uint32_t> dims;
    for (DimId d : yield.dims) {
      dims.push_back(newReg(false));
      emit(runMove, dims.back(), dimReg(d));
    }
    moveAll(state, {yield.operands.data(), count});
    for (size_t k = 0; k < dims.size(); ++k) emit(runMove, symReg(dimParams[k]), dims[k]);
  });
  emit(runLoopBack, static_cast<uint32_t>(next));
  code_.instrs[next].c = static_cast<uint32_t>(here());
  for (size_t k = 0; k < dimParams.size(); ++k)
    emit(runMove, symReg(o.resultDims[k + (collects > 0)]), symReg(dimParams[k]));
  loc_ = o.loc;
  current_ = &o;
  dying_ = all;
}

void Compiler::whileLoop(const Op& o) {
  RegionId cond = o.regions[0], body = o.regions[1];
  const std::vector<ValueId>& params = fn_.regions[body].params;
  const std::vector<DimSym>&dimParams = fn_.regions[body].dimParams, &condDims = fn_.regions[cond].dimParams;
  std::vector<uint32_t> state;
  for (size_t k = 0; k < dimParams.size(); ++k) {
    symRegs_[condDims[k]] = symReg(dimParams[k]);
    emit(runMove, symReg(dimParams[k]), dimReg(o.dims[k]));
  }
  for (size_t k = 0; k < params.size(); ++k) {
    state.push_back(reg(params[k]));
    // The condition only looks at the state: its parameters are held elsewhere so that it does not use them
    // up.
    move(state[k], o.operands[k]);
    regs_[o.results[k]] = state[k];
  }
  ValueSet all = dying_;
  auto start = static_cast<uint32_t>(here());
  size_t test = 0;
  const std::vector<ValueId>& condParams = fn_.regions[cond].params;
  for (size_t k = 0; k < condParams.size(); ++k) {
    if (!isObjectValue(condParams[k]))
      regs_[condParams[k]] = state[k];
    else
      emit(runMoveObject, reg(condParams[k]), state[k]);
  }
  uint32_t go = newReg(false);
  region(cond, {}, [&](const Op& yield) { emit(runMove, go, reg(yield.operands[0])); });
  for (ValueId p : condParams)
    if (isObjectValue(p)) emit(runDrop, reg(p));
  test = emit(runJumpUnless, go);
  region(body, {}, [&](const Op& yield) {
    std::vector<uint32_t> dims;
    for (DimId d : yield.dims) {
      dims.push_back(newReg(false));
      emit(runMove, dims.back(), dimReg(d));
    }
    moveAll(state, yield.operands);
    for (size_t k = 0; k < dims.size(); ++k) emit(runMove, symReg(dimParams[k]), dims[k]);
  });
  emit(runLoopBack, start);
  code_.instrs[test].b = static_cast<uint32_t>(here());
  for (size_t k = 0; k < dimParams.size(); ++k) emit(runMove, symReg(o.resultDims[k]), symReg(dimParams[k]));
  loc_ = o.loc;
  current_ = &o;
  dying_ = all;
}

/// How a user's monoid combines: from and to the registers of the region's parameters.
void Compiler::combineRegion(const Op& o, const NestResult& nr, NestResultExtra& x) {
  x.combineStart = static_cast<uint32_t>(here());
  RegionId combine = o.regions[nr.combineRegion];
  for (ValueId p : fn_.regions[combine].params) {
    x.combineParams.push_back(reg(p));
    x.combineKinds.push_back(kindOf(fn_.typeOf(p)));
  }
  std::vector<uint32_t> outs;
  for (uint32_t y = 0; y < nr.yields; ++y) outs.push_back(newReg(isObject(x.combineKinds[y])));
  // Results are put where the left operands were.
  region(combine, {}, [&](const Op& yield) {
    for (uint32_t y = 0; y < nr.yields; ++y) move(outs[y], yield.operands[y]);
  });
  for (uint32_t y = 0; y < nr.yields; ++y) {
    if (isObject(x.combineKinds[y]))
      emit(runMoveObject, x.combineParams[y], outs[y] | moveBit);
    else
      emit(runMove, x.combineParams[y], outs[y]);
  }
  emit(runEndSub);
}

void Compiler::nest(const Op& o) {
  const core::NestView nest(fn_, o);
  RegionId r = nest.body();
  auto* x = extra<NestExtra>();
  x->extents = dimRegs(o.dims);
  for (ValueId axis : nest.axisParams()) x->axes.push_back(reg(axis));

  // Accumulators are held in the registers of the body's parameters, which become those of the results.
  std::vector<uint32_t> accs;
  for (uint32_t k = 0; k < nest.accs(); ++k) {
    accs.push_back(reg(nest.accParams()[k]));
    move(accs[k], nest.accOperands()[k]);
    regs_[nest.accResults()[k]] = accs[k];
  }
  size_t filter = 0;
  std::vector<PendingYield> outer = std::move(pendingYields_);
  pendingYields_.clear();
  for (const core::NestPart& part : nest.parts()) nestResult(o, nest, part, *x, filter);
  std::vector<PendingYield> pending = std::move(pendingYields_);
  pendingYields_ = std::move(outer);
  ValueSet all = dying_;
  uint32_t state = newReg(true);
  emit(runNestBegin, state, 0, 0, 0, x);
  x->body = static_cast<uint32_t>(here());
  region(r, {}, [&](const Op&) {
    moveAll(accs, nest.accYields());
    dying_.clear(); // NestStep still looks at what was yielded
  });
  for (const PendingYield& p : pending)
    (p.slot < 2 ? x->results[p.result].yields[p.slot] : x->results[p.result].combineYields[p.slot - 2]) =
        reg(p.value);
  loc_ = o.loc;
  emit(runNestStep, state, 0, 0, 0, x);
  size_t over = emit(runJump);
  for (const core::NestPart& part : nest.parts())
    if (core::isCombine(*part.spec)) combineRegion(o, *part.spec, x->results[part.number]);
  code_.instrs[over].a = static_cast<uint32_t>(here());
  x->end = static_cast<uint32_t>(over);
  loc_ = o.loc;
  current_ = &o;
  dying_ = all;
}

void Compiler::nestResult(const Op& o, const core::NestView& nest, const core::NestPart& part, NestExtra& x,
                          size_t& filter) {
  const NestResult& nr = *part.spec;
  NestResultExtra rx;
  rx.kind = nr.kind;
  rx.monoid = nr.monoid;
  rx.order = nr.order;
  rx.lanes = nr.lanes;
  rx.keep = nr.keep;
  bool isFilter = nr.kind == NestResultKind::Filter;
  // Registers of yielded values are settled when the body has been compiled.
  auto later = [&](uint32_t slot, ValueId v) {
    pendingYields_.push_back({static_cast<uint32_t>(x.results.size()), slot, v});
  };
  const auto yields = nest.yields(part);
  if (isFilter) later(0, yields[0]);
  ValueId value = isFilter ? yields[1] : yields[0];
  TypeId type = fn_.typeOf(value);
  bool reduces = nr.kind == NestResultKind::Reduce;
  if (core::isCombine(nr)) {
    for (uint32_t k = 0; k < nr.yields; ++k) {
      rx.combineYields.push_back(0);
      later(2 + k, yields[k]);
      rx.units.push_back(reg(nest.units(part)[k]));
      rx.outs.push_back(reg(nest.results(part)[k]));
    }
    x.results.push_back(std::move(rx));
    return;
  }
  const core::Value& v = fn_.values[value];
  const bool fused = nr.fused && reduces && v.def.valid() && fn_.ops[v.def].kind == OpKind::Mul;
  rx.kind0 = kindOf(type);
  rx.isArray = types_.kind(type) == TypeKind::Array;
  rx.element = kindOf(types_.element(type));
  if (rx.isArray) rx.elementDims = dimRegs(types_[type].dims);
  if (fused) {
    // The product itself is needed only if somebody else looks at it.
    if (uses_.count(value) == 1) skipped_.insert(value);
    later(0, fn_.ops[v.def].operands[0]);
    later(1, fn_.ops[v.def].operands[1]);
  } else {
    later(isFilter ? 1 : 0, value);
  }
  if (reduces && nr.monoid == MonoidKind::Sum && isObject(rx.kind0)) {
    rx.zero = newReg(true);
    zero(rx.zero, type);
  } else if (reduces && !core::isPosition(nr)) {
    rx.scalar.combine = core::scalarFunction(core::combiningOp(nr.monoid), rx.kind0);
    if (fused) rx.scalar.fma = core::scalarFunction(OpKind::Fma, rx.kind0);
    rx.scalar.unit = slotOfBits(rx.kind0, core::unitOf(nr.monoid, rx.kind0));
  }
  for (ValueId result : nest.results(part)) rx.outs.push_back(reg(result));
  if (isFilter) rx.dimOut = symReg(o.resultDims[filter++]);
  x.results.push_back(std::move(rx));
}

} // namespace melix::interp
