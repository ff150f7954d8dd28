// Places: reading and changing parts of values, reshaping, stacking.
#include "interp/compile.h"
#include "interp/steps.h"

namespace melix::interp {

void Compiler::field(const Op& o, ValueId from, uint32_t k) {
  bool object = isObjectValue(o.results[0]);
  uint32_t source = operand(from);
  emit(runField, reg(o.results[0]), source, k, object);
}

static bool allIndices(const Path& p) {
  return std::all_of(p.begin(), p.end(), [](const PathStep& s) { return s.kind == StepKind::Index; });
}

const PlaceExtra* Compiler::place(const Op& o, size_t firstIndex, TypeId placeType) {
  auto* x = extra<PlaceExtra>();
  size_t at = firstIndex;
  bool keeps = false;
  const auto& path = o.as<Path>();
  for (const PathStep& s : path) {
    PlaceStep step{s.kind, s.number, 0, 0, s.step};
    if (s.kind == StepKind::Index || s.kind == StepKind::Slice || s.kind == StepKind::Element)
      step.index = reg(o.operands[at++]);
    if (s.kind == StepKind::Slice) step.length = dimReg(s.length);
    keeps |= s.kind == StepKind::Slice || s.kind == StepKind::All;
    x->steps.push_back(step);
  }
  const bool isArray = types_.kind(placeType) == TypeKind::Array && !forms_.isRecord(placeType);
  // A whole array stored in a field or list is one object; anything else of array type is gathered.
  const PathStep& end = path.back();
  bool one = !keeps && (end.kind == StepKind::Field || end.kind == StepKind::Element);
  x->wholeArray = isArray && !one;
  x->element = kindOf(x->wholeArray ? types_.element(placeType) : placeType);
  if (x->wholeArray) x->dims = dimRegs(types_[placeType].dims);
  return x;
}

void Compiler::get(const Op& o) {
  const auto& path = o.as<Path>();
  ValueId from = o.operands[0], to = o.results[0];
  if (path.size() == 1 && path[0].kind == StepKind::Field && forms_.isRecord(fn_.typeOf(from)))
    return field(o, from, path[0].number);
  TypeKind kind = kindOf(fn_.typeOf(to));
  if (!isObject(kind) && allIndices(path) && path.size() <= 3) {
    auto r = [&](size_t k) { return k < path.size() ? reg(o.operands[1 + k]) : 0; };
    bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
    auto* x = extra<RegsExtra>();
    x->regs = {r(0), r(1), r(2)};
    emit(fastGet(path.size(), slotBytes(kind), isSigned), reg(to), reg(from), r(0), r(1), x);
    return;
  }
  const PlaceExtra* x = place(o, 1, fn_.typeOf(to));
  emit(runGet, reg(to), reg(from), 0, 0, x);
}

void Compiler::update(const Op& o) {
  const auto& path = o.as<Path>();
  bool add = o.kind == OpKind::AddAt;
  TypeKind kind = kindOf(fn_.typeOf(o.operands[1]));
  if (path.empty()) { // the whole value
    if (!add) return move(reg(o.results[0]), o.operands[1]);
    uint32_t first = operand(o.operands[0]);
    if (isObject(kind))
      emit(runTangent, reg(o.results[0]), first, reg(o.operands[1]), static_cast<uint32_t>(TangentOp::Add));
    else
      emit(scalarHandler(OpKind::Add, kind, 0), reg(o.results[0]), reg(o.operands[0]), reg(o.operands[1]));
    return;
  }
  bool fast = !isObject(kind) && allIndices(path) && path.size() <= 3;
  if (fast) {
    auto* x = extra<RegsExtra>();
    for (size_t k = 0; k < 3; ++k) x->regs.push_back(k < path.size() ? reg(o.operands[2 + k]) : 0);
    uint32_t value = reg(o.operands[1]), target = operand(o.operands[0]);
    emit(add ? fastAddAt(path.size(), kind) : fastSet(path.size()), reg(o.results[0]), target, value, 0, x);
    return;
  }
  const PlaceExtra* x = place(o, 2, fn_.typeOf(o.operands[1]));
  uint32_t target = operand(o.operands[0]), value = add ? reg(o.operands[1]) : operand(o.operands[1]);
  emit(add ? runAddAt : runSet, reg(o.results[0]), target, value, static_cast<uint32_t>(kind), x);
}

void Compiler::reshape(const Op& o) {
  const types::Type& to = types_[fn_.typeOf(o.results[0])];
  auto* x = extra<RegsExtra>();
  x->dims = dimRegs(to.dims);
  if (to.kind != TypeKind::Array || types_.kind(fn_.typeOf(o.operands[0])) != TypeKind::Array) {
    // Rank 0 on one side: one element.
    if (to.kind != TypeKind::Array) {
      auto* p = extra<PlaceExtra>();
      for (size_t k = 0; k < types_[fn_.typeOf(o.operands[0])].dims.size(); ++k)
        p->steps.push_back({StepKind::Index, 0, constantReg(0), 0, 1});
      p->element = kindOf(fn_.typeOf(o.results[0]));
      emit(runGet, reg(o.results[0]), reg(o.operands[0]), 0, 0, p);
      return;
    }
    x->element = kindOf(fn_.typeOf(o.operands[0]));
    x->regs = {operand(o.operands[0])};
    emit(runArrayOf, reg(o.results[0]), 0, 0, static_cast<uint32_t>(x->element), x);
    return;
  }
  uint32_t from = operand(o.operands[0]);
  emit(runReshape, reg(o.results[0]), from, 0, 0, x);
}

void Compiler::arrayOf(const Op& o) {
  auto* x = extra<RegsExtra>();
  const types::Type& to = types_[fn_.typeOf(o.results[0])];
  x->dims = dimRegs(to.dims);
  x->element = kindOf(to.parts[0]);
  x->regs = operands(o);
  bool rows = types_.kind(fn_.typeOf(o.operands[0])) == TypeKind::Array;
  emit(runArrayOf, reg(o.results[0]), 0, rows, static_cast<uint32_t>(x->element), x);
}

} // namespace melix::interp
