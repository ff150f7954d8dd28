// Ops with regions.
#include "interp/compile.h"
#include "interp/steps.h"

#include <algorithm>

namespace melix::interp {

/// Behind the regions of an op: what one of them moved away is gone, the rest of `dying` is dropped.
void Compiler::resume(const Op& o, const ValueSet& dying) {
  at(o.loc);
  current_ = &o;
  dying_ = dying;
}

/// What an arm yields becomes the results.
void Compiler::choose(const Op& o, const Op& yield) {
  for (size_t k = 0; k < yield.dims.size(); ++k)
    emit(runMove, symReg(o.resultDims[k]), dimReg(yield.dims[k]));
  for (size_t k = 0; k < o.results.size(); ++k) move(reg(o.results[k]), yield.operands[k]);
}

void Compiler::branch(const Op& o) {
  ValueSet inherited = dying_;
  inherited.erase(o.operands[0]);
  ValueSet all = dying_;
  auto arm = [&](RegionId r) { region(r, inherited, [&](const Op& yield) { choose(o, yield); }); };
  size_t test = emit(runJumpUnless, reg(o.operands[0]));
  arm(o.regions[0]);
  size_t jump = emit(runJump);
  land(test, &Instr::b);
  arm(o.regions[1]);
  land(jump, &Instr::a);
  resume(o, all);
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
  emit(isObjectValue(scrutinee) ? runMatch : runSwitch, from, 0, 0, 0, x);
  std::vector<uint32_t> starts, jumps;
  for (uint32_t r = 0; r < o.regions.size(); ++r) {
    starts.push_back(static_cast<uint32_t>(here()));
    const std::vector<ValueId>& params = fn_.regions[o.regions[r]].params;
    for (uint32_t k = 0; k < params.size(); ++k) {
      emit(runField, reg(params[k]), from, k, isObjectValue(params[k]));
    }
    if (dies && !used) emit(runDrop, from);
    region(o.regions[r], inherited, [&](const Op& yield) { choose(o, yield); });
    jumps.push_back(static_cast<uint32_t>(emit(runJump)));
  }
  for (uint32_t j : jumps) land(j, &Instr::a);
  for (uint32_t r : regionOf) x->targets.push_back(starts[r]);
  resume(o, all);
}

/// What is carried is held in the registers of the body's parameters, which become those of the results.
std::vector<uint32_t> Compiler::carryIn(const LoopView& loop, const Op& o) {
  for (size_t k = 0; k < o.dims.size(); ++k) emit(runMove, symReg(loop.bodyDims()[k]), dimReg(o.dims[k]));
  std::vector<uint32_t> state;
  for (size_t k = 0; k < loop.carries(); ++k) {
    state.push_back(reg(loop.carryParams()[k]));
    move(state[k], loop.carryOperands()[k]);
    alias(loop.carryResults()[k], state[k]);
  }
  return state;
}

/// The next state; sizes are found from this one, and change after it.
void Compiler::carryOn(const LoopView& loop, const std::vector<uint32_t>& state, const Op& yield) {
  std::vector<uint32_t> dims;
  for (DimId d : yield.dims) {
    dims.push_back(newReg(false));
    emit(runMove, dims.back(), dimReg(d));
  }
  moveAll(state, loop.carryYields());
  for (size_t k = 0; k < dims.size(); ++k) emit(runMove, symReg(loop.bodyDims()[k]), dims[k]);
}

void Compiler::carryOut(const LoopView& loop) {
  const std::span<const DimSym> last = loop.bodyDims(), after = loop.resultDims();
  for (size_t k = 0; k < last.size(); ++k) emit(runMove, symReg(after[k]), symReg(last[k]));
}

void Compiler::forLoop(const Op& o) {
  const LoopView loop(fn_, o);
  uint32_t n = reg(loop.count());
  const std::vector<uint32_t> state = carryIn(loop, o);
  if (loop.stacks() > 0) emit(runRealDim, symReg(loop.extent()), n);
  for (ValueId stack : loop.stackResults()) {
    const types::Type& t = types_[fn_.typeOf(stack)];
    auto* x = extra<RegsExtra>();
    x->element = kindOf(t.parts[0]);
    x->dims = dimRegs(t.dims);
    emit(runNewArray, reg(stack), 0, 0, 0, x);
  }
  ValueSet all = dying_;
  uint32_t i = reg(loop.index());
  emit(runForStart, i);
  size_t next = emit(runForNext, i, n);
  region(loop.body(), {}, [&](const Op& yield) {
    for (size_t k = 0; k < loop.stacks(); ++k) {
      ValueId v = loop.stackYields()[k];
      bool row = types_.kind(fn_.typeOf(v)) == TypeKind::Array;
      emit(runPutRow, reg(loop.stackResults()[k]), i, reg(v),
           row ? uint32_t(TypeKind::Array) : static_cast<uint32_t>(kindOf(fn_.typeOf(v))));
    }
    carryOn(loop, state, yield);
  });
  emit(runLoopBack, static_cast<uint32_t>(next));
  land(next, &Instr::c);
  carryOut(loop);
  resume(o, all);
}

void Compiler::whileLoop(const Op& o) {
  const LoopView loop(fn_, o);
  const std::vector<DimSym>& condDims = fn_.regions[loop.condition()].dimParams;
  for (size_t k = 0; k < condDims.size(); ++k) alias(condDims[k], symReg(loop.bodyDims()[k]));
  const std::vector<uint32_t> state = carryIn(loop, o);
  ValueSet all = dying_;
  auto start = static_cast<uint32_t>(here());
  // The condition only looks at the state: its parameters are held elsewhere so that it does not use them up.
  const std::span<const ValueId> condParams = loop.carryParams(loop.condition());
  for (size_t k = 0; k < condParams.size(); ++k) {
    if (!isObjectValue(condParams[k]))
      alias(condParams[k], state[k]);
    else
      emit(runMoveObject, reg(condParams[k]), state[k]);
  }
  uint32_t go = newReg(false);
  region(loop.condition(), {}, [&](const Op& yield) { emit(runMove, go, reg(yield.operands[0])); });
  for (ValueId p : condParams)
    if (isObjectValue(p)) emit(runDrop, reg(p));
  size_t test = emit(runJumpUnless, go);
  region(loop.body(), {}, [&](const Op& yield) { carryOn(loop, state, yield); });
  emit(runLoopBack, start);
  land(test, &Instr::b);
  carryOut(loop);
  resume(o, all);
}

/// How a user's monoid combines: from and to the registers of the region's parameters.
void Compiler::combineRegion(const Op& o, const NestResult& nr, NestResultExtra& x) {
  x.combine.start = static_cast<uint32_t>(here());
  RegionId combine = o.regions[nr.combineRegion];
  for (ValueId p : fn_.regions[combine].params) {
    x.combine.params.push_back(reg(p));
    x.combine.kinds.push_back(kindOf(fn_.typeOf(p)));
  }
  std::vector<uint32_t> outs;
  for (uint32_t y = 0; y < nr.yields; ++y) outs.push_back(newReg(isObject(x.combine.kinds[y])));
  // Results are put where the left operands were.
  region(combine, {}, [&](const Op& yield) {
    for (uint32_t y = 0; y < nr.yields; ++y) move(outs[y], yield.operands[y]);
  });
  for (uint32_t y = 0; y < nr.yields; ++y) {
    if (isObject(x.combine.kinds[y]))
      emit(runMoveObject, x.combine.params[y], outs[y] | moveBit);
    else
      emit(runMove, x.combine.params[y], outs[y]);
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
    alias(nest.accResults()[k], accs[k]);
  }
  std::vector<PendingYield> pending;
  for (const core::NestPart& part : nest.parts()) nestResult(nest, part, *x, pending);
  ValueSet all = dying_;
  uint32_t state = newReg(true);
  emit(runNestBegin, state, 0, 0, 0, x);
  x->body = static_cast<uint32_t>(here());
  region(r, {}, [&](const Op&) {
    moveAll(accs, nest.accYields());
    dying_.clear(); // NestStep still looks at what was yielded
  });
  for (const PendingYield& p : pending)
    (p.slot < 2 ? x->results[p.result].yields[p.slot] : x->results[p.result].combine.yields[p.slot - 2]) =
        reg(p.value);
  at(o.loc);
  emit(runNestStep, state, 0, 0, 0, x);
  size_t over = emit(runJump);
  for (const core::NestPart& part : nest.parts())
    if (core::isCombine(*part.spec)) combineRegion(o, *part.spec, x->results[part.number]);
  land(over, &Instr::a);
  x->end = static_cast<uint32_t>(over);
  resume(o, all);
}

/// How values of a type are put into a result.
void Compiler::collected(NestResultExtra& rx, TypeId type) {
  rx.kind0 = kindOf(type);
  rx.isArray = types_.kind(type) == TypeKind::Array;
  rx.element = kindOf(types_.element(type));
  if (rx.isArray) rx.elementDims = dimRegs(types_[type].dims);
}

void Compiler::nestResult(const core::NestView& nest, const core::NestPart& part, NestExtra& x,
                          std::vector<PendingYield>& pending) {
  const NestResult& nr = *part.spec;
  NestResultExtra rx;
  rx.spec = nr;
  bool isFilter = nr.kind == NestResultKind::Filter;
  // Registers of yielded values are settled when the body has been compiled.
  auto later = [&](uint32_t slot, ValueId v) {
    pending.push_back({static_cast<uint32_t>(x.results.size()), slot, v});
  };
  const auto yields = nest.yields(part);
  if (isFilter) {
    rx.dimOut = symReg(nest.size(part));
    for (uint32_t k = 0; k < nr.yields; ++k) {
      later(0, yields[0]);
      later(1, yields[1 + k]);
      NestResultExtra one = rx;
      collected(one, fn_.typeOf(yields[1 + k]));
      one.outs.push_back(reg(nest.results(part)[k]));
      x.results.push_back(std::move(one));
    }
    return;
  }
  ValueId value = yields[0];
  TypeId type = fn_.typeOf(value);
  bool reduces = nr.kind == NestResultKind::Reduce;
  if (core::isCombine(nr)) {
    for (uint32_t k = 0; k < nr.yields; ++k) {
      rx.combine.yields.push_back(0);
      later(2 + k, yields[k]);
      rx.combine.units.push_back(reg(nest.units(part)[k]));
      rx.outs.push_back(reg(nest.results(part)[k]));
    }
    x.results.push_back(std::move(rx));
    return;
  }
  const core::Value& v = fn_.values[value];
  rx.spec.fused = nr.fused && reduces && v.def.valid() && fn_.ops[v.def].kind == OpKind::Mul;
  collected(rx, type);
  if (rx.spec.fused) {
    // The product itself is needed only if somebody else looks at it.
    if (uses_.count(value) == 1) skipped_.insert(value);
    later(0, fn_.ops[v.def].operands[0]);
    later(1, fn_.ops[v.def].operands[1]);
  } else {
    later(0, value);
  }
  if (core::isSum(nr) && isObject(rx.kind0)) {
    rx.zero = newReg(true);
    zero(rx.zero, type);
  } else if (reduces && !core::isPosition(nr)) {
    rx.scalar.combine = core::scalarFunction(core::combiningOp(nr.monoid), rx.kind0);
    if (rx.spec.fused) rx.scalar.fma = core::scalarFunction(OpKind::Fma, rx.kind0);
    rx.scalar.unit = slotOfBits(rx.kind0, core::unitOf(nr.monoid, rx.kind0));
  }
  for (ValueId result : nest.results(part)) rx.outs.push_back(reg(result));
  x.results.push_back(std::move(rx));
}

} // namespace melix::interp
