// Ops without regions.
#include "interp/compile.h"
#include "interp/steps.h"

#include <algorithm>

namespace melix::interp {

void Compiler::op(const Op& o) {
  for (ValueId v : o.results)
    if (skipped_.contains(v)) return;
  for (DimId d : o.dims) dimReg(d);
  switch (o.kind) {
  case OpKind::Const: return constant(o);
  case OpKind::Zero: return zero(reg(o.results[0]), fn_.typeOf(o.results[0]));
  case OpKind::Undef:
    if (!isObjectValue(o.results[0]))
      emit(runMove, reg(o.results[0]), constantReg(0));
    else
      emit(runDrop, reg(o.results[0]));
    return;
  case OpKind::DimValue: emit(runMove, reg(o.results[0]), dimReg(o.dims[0])); return;
  case OpKind::BindDim: emit(runMove, symReg(o.resultDims[0]), reg(o.operands[0])); return;
  case OpKind::CastDims:
  case OpKind::StopGradient: return move(reg(o.results[0]), o.operands[0]);
  case OpKind::Make:
  case OpKind::Known: return record(o, 0, false);
  case OpKind::Variant: return record(o, o.index(), true);
  case OpKind::Pack: return pack(o);
  case OpKind::Unpack: return unpack(o);
  case OpKind::Capture: return field(o, o.operands[0], o.index());
  case OpKind::Get: return get(o);
  case OpKind::Set:
  case OpKind::AddAt: return update(o);
  case OpKind::Reshape: return reshape(o);
  case OpKind::ArrayOf: return arrayOf(o);
  case OpKind::Math: return math(o);
  case OpKind::Select: return select(o);
  case OpKind::Convert: {
    auto mode = static_cast<uint32_t>(std::holds_alternative<uint32_t>(o.attr) ? o.index() : 0);
    uint32_t from = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.operands[0])));
    uint32_t to = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.results[0])));
    emit(runConvert, reg(o.results[0]), reg(o.operands[0]), from | to << 8 | mode << 16);
    return;
  }
  case OpKind::Bitcast: {
    // The bits stay; a signed integer is extended anew.
    uint32_t from = static_cast<uint32_t>(TypeKind::U64),
             to = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.results[0])));
    TypeId source = fn_.typeOf(o.operands[0]);
    if (types_.isFloat(source))
      emit(runBits, reg(o.results[0]), reg(o.operands[0]), static_cast<uint32_t>(types_.kind(source)));
    else if (types_.isFloat(fn_.typeOf(o.results[0])))
      emit(runMove, reg(o.results[0]), reg(o.operands[0]));
    else
      emit(runConvert, reg(o.results[0]), reg(o.operands[0]), from | to << 8 | 1u << 16);
    return;
  }
  case OpKind::If: return branch(o);
  case OpKind::Match: return match(o);
  case OpKind::For: return forLoop(o);
  case OpKind::While: return whileLoop(o);
  case OpKind::Nest: return nest(o);
  case OpKind::Call: {
    std::vector<uint32_t> dims, results;
    for (DimSym s : o.resultDims) dims.push_back(symReg(s));
    for (ValueId v : o.results) results.push_back(reg(v));
    return callTo(o.as<CallAttr>().callee, operands(o), o.dims, dims, results);
  }
  case OpKind::Check: return check(o);
  case OpKind::Panic: emit(runPanic, reg(o.operands[0])); return;
  case OpKind::ListOf:
  case OpKind::Length:
  case OpKind::Push:
  case OpKind::Pop:
  case OpKind::ToArray:
  case OpKind::ToList: return lists(o);
  case OpKind::ArgSort: emit(runArgSort, reg(o.results[0]), reg(o.operands[0]), o.index()); return;
  case OpKind::Builtin: return builtin(o);
  case OpKind::Format: {
    auto* x = extra<FormatExtra>();
    x->type = fn_.typeOf(o.operands[0]);
    x->attr = o.as<FormatAttr>();
    emit(runFormat, reg(o.results[0]), reg(o.operands[0]), 0, static_cast<uint32_t>(kindOf(x->type)), x);
    return;
  }
  case OpKind::Debug: {
    auto* x = extra<FormatExtra>();
    x->type = fn_.typeOf(o.operands[0]);
    emit(runDebug, 0, reg(o.operands[0]), 0, static_cast<uint32_t>(kindOf(x->type)), x);
    return move(reg(o.results[0]), o.operands[0]);
  }
  case OpKind::Closure:
  case OpKind::Apply: return refuse("a function value (run defunctionalise before)");
  case OpKind::Derivative: return refuse("a derivative (run expand_derivatives before)");
  case OpKind::Yield: return;
  default: return scalar(o);
  }
}

void Compiler::scalar(const Op& o) {
  TypeId type = fn_.typeOf(o.operands[0]);
  uint32_t out = reg(o.results[0]);
  uint32_t detail = std::holds_alternative<uint32_t>(o.attr) ? o.index() : 0;
  if (isObjectValue(o.operands[0])) {
    uint32_t second = o.operands.size() > 1 ? reg(o.operands[1]) : 0;
    if (o.kind == OpKind::Cmp) {
      emit(runCompareText, out, reg(o.operands[0]), second, detail);
      return;
    }
    auto how = o.kind == OpKind::Add   ? TangentOp::Add
               : o.kind == OpKind::Sub ? TangentOp::Sub
                                       : TangentOp::Neg;
    uint32_t first = operand(o.operands[0]);
    emit(runTangent, out, first, second, static_cast<uint32_t>(how));
    return;
  }
  Handler run = scalarHandler(o.kind, types_.kind(type), detail);
  if (!run) return refuse("`" + std::string(ops::opText(o.kind)) + "` of " + types_.print(type));
  auto r = [&](size_t k) { return k < o.operands.size() ? reg(o.operands[k]) : 0; };
  emit(run, out, r(0), r(1), r(2));
}

void Compiler::constant(const Op& o) {
  ValueId v = o.results[0];
  const auto& c = o.as<Constant>();
  TypeKind kind = types_.kind(fn_.typeOf(v));
  if (kind == TypeKind::Str) {
    // The text lives with the code; the register shares it.
    auto* text = new Str(c.text);
    code_.owned.push_back(text);
    uint32_t r = newReg(false);
    code_.constants.resize(code_.regs, Slot{0});
    code_.constants[r].o = text;
    emit(runMoveObject, reg(v), r);
    return;
  }
  if (isObjectValue(v)) return record(o, 0, false); // the unit value
  uint64_t bits = slotOfBits(kindOf(fn_.typeOf(v)), c.bits).u;
  auto [place, fresh] = regs_.try_emplace(v, constantReg(bits));
  if (!fresh) emit(runMove, place->second, constantReg(bits)); // somebody expects it there
}

void Compiler::zero(uint32_t into, TypeId t) {
  const types::Type type = types_[t];
  auto parts = [&](const std::vector<TypeId>& of, uint32_t tag, bool isEnum) {
    auto* x = extra<RegsExtra>();
    for (TypeId p : of) {
      TypeKind kind = kindOf(p);
      uint32_t r = newReg(isObject(kind));
      zero(r, p);
      x->regs.push_back(isObject(kind) ? r | moveBit : r);
      x->kinds.push_back(kind);
    }
    emit(runRecord, into, tag, isEnum, 0, x);
  };
  switch (type.kind) {
  case TypeKind::Array: {
    if (type.dims.size() > maxRank) return refuse("an array of rank above 8");
    auto* x = extra<RegsExtra>();
    x->element = kindOf(type.parts[0]);
    x->dims = dimRegs(type.dims);
    emit(runNewArray, into, 0, 0, 0, x);
    if (!isObject(x->element)) return;
    uint32_t element = newReg(true);
    zero(element, type.parts[0]);
    emit(runFillZero, into, element);
    emit(runDrop, element);
    return;
  }
  case TypeKind::Tuple:
  case TypeKind::Known: return parts(type.parts, 0, false);
  case TypeKind::Struct: {
    std::vector<TypeId> fields;
    for (uint32_t k = 0; k < types_.recordInfo(type.record).cases[0].fields.size(); ++k)
      fields.push_back(types_.fieldType(t, 0, k));
    return parts(fields, 0, false);
  }
  case TypeKind::Enum: return parts({}, 0, true);
  case TypeKind::List: {
    auto* x = extra<RegsExtra>();
    x->element = kindOf(type.parts[0]);
    emit(runNewList, into, 0, 0, 0, x);
    return;
  }
  case TypeKind::Pack: {
    // Hidden sizes are 0.
    std::vector<DimId> none(type.number, types_.dims.constant(0));
    auto* x = extra<RegsExtra>();
    for (uint32_t k = 0; k < type.number; ++k) {
      x->regs.push_back(constantReg(0));
      x->kinds.push_back(TypeKind::I64);
    }
    TypeId inner = types_.openPack(t, none);
    uint32_t r = newReg(isObject(kindOf(inner)));
    zero(r, inner);
    x->regs.push_back(isObject(kindOf(inner)) ? r | moveBit : r);
    x->kinds.push_back(kindOf(inner));
    emit(runRecord, into, 0, 0, 0, x);
    return;
  }
  case TypeKind::Str:
  case TypeKind::Function:
  case TypeKind::Acc: return refuse("a zero of " + types_.print(t));
  default: emit(runMove, into, constantReg(0)); return;
  }
}

void Compiler::record(const Op& o, uint32_t tag, bool isEnum) {
  auto* x = extra<RegsExtra>();
  for (ValueId v : o.operands) {
    x->kinds.push_back(kindOf(fn_.typeOf(v)));
    x->regs.push_back(operand(v));
  }
  emit(runRecord, reg(o.results[0]), tag, isEnum, 0, x);
}

void Compiler::pack(const Op& o) {
  auto* x = extra<RegsExtra>();
  for (DimId d : o.dims) {
    x->regs.push_back(dimReg(d));
    x->kinds.push_back(TypeKind::I64);
  }
  x->kinds.push_back(kindOf(fn_.typeOf(o.operands[0])));
  x->regs.push_back(operand(o.operands[0]));
  emit(runRecord, reg(o.results[0]), 0, 0, 0, x);
}

void Compiler::unpack(const Op& o) {
  for (uint32_t k = 0; k < o.resultDims.size(); ++k)
    emit(runPart, symReg(o.resultDims[k]), reg(o.operands[0]), k, 0);
  field(o, o.operands[0], static_cast<uint32_t>(o.resultDims.size()));
}

void Compiler::field(const Op& o, ValueId from, uint32_t k) {
  bool object = isObjectValue(o.results[0]);
  uint32_t source = operand(from);
  emit(runField, reg(o.results[0]), source, k, object);
}

// --- places
// -------------------------------------------------------------------------------------------------------

static bool allIndices(const Path& p) {
  return std::all_of(p.begin(), p.end(), [](const PathStep& s) { return s.kind == StepKind::Index; });
}

const PlaceExtra* Compiler::place(const Op& o, size_t firstIndex, TypeId placeType) {
  auto* x = extra<PlaceExtra>();
  size_t at = firstIndex;
  bool keeps = false;
  std::string problem;
  TypeId root = fn_.typeOf(o.operands[0]);
  Path prefix;
  for (const PathStep& s : o.as<Path>()) {
    PlaceStep step{s.kind, s.number, 0, 0, s.step};
    if (s.kind == StepKind::Index || s.kind == StepKind::Slice || s.kind == StepKind::Element)
      step.index = reg(o.operands[at++]);
    if (s.kind == StepKind::Slice) step.length = dimReg(s.length);
    keeps |= s.kind == StepKind::Slice || s.kind == StepKind::All;
    TypeId before = *pathType(types_, root, prefix);
    // Axes that no step mentions before a field are kept.
    if (s.kind == StepKind::Field && types_.kind(before) == TypeKind::Array) keeps = true;
    prefix.push_back(s);
    x->steps.push_back(step);
  }
  bool isArray = types_.kind(placeType) == TypeKind::Array;
  // A whole array stored in a field or list is one object; anything else of array type is gathered.
  const PathStep& end = o.as<Path>().back();
  bool one = !keeps && (end.kind == StepKind::Field || end.kind == StepKind::Element);
  x->wholeArray = isArray && !one;
  x->element = kindOf(x->wholeArray ? types_.element(placeType) : placeType);
  if (x->wholeArray) x->dims = dimRegs(types_[placeType].dims);
  return x;
}

void Compiler::get(const Op& o) {
  const auto& path = o.as<Path>();
  ValueId from = o.operands[0], to = o.results[0];
  if (path.size() == 1 && path[0].kind == StepKind::Field && types_.kind(fn_.typeOf(from)) != TypeKind::Array)
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
  const types::Type to = types_[fn_.typeOf(o.results[0])];
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
  const types::Type to = types_[fn_.typeOf(o.results[0])];
  x->dims = dimRegs(to.dims);
  x->element = kindOf(to.parts[0]);
  x->regs = operands(o);
  bool rows = types_.kind(fn_.typeOf(o.operands[0])) == TypeKind::Array;
  emit(runArrayOf, reg(o.results[0]), 0, rows, static_cast<uint32_t>(x->element), x);
}

void Compiler::math(const Op& o) {
  auto kind = static_cast<ops::MathKind>(o.index());
  TypeKind type = types_.kind(fn_.typeOf(o.results[0]));
  TypeKind wide = type == TypeKind::F64 ? TypeKind::F64 : TypeKind::F32;
  auto convert = [&](uint32_t from, TypeKind a, TypeKind b) {
    if (a == b) return from;
    uint32_t r = newReg(false);
    emit(runConvert, r, from, static_cast<uint32_t>(a) | static_cast<uint32_t>(b) << 8);
    return r;
  };
  std::vector<uint32_t> args;
  for (ValueId v : o.operands) args.push_back(convert(reg(v), type, wide));
  uint32_t out = type == wide ? reg(o.results[0]) : newReg(false);
  auto body = m_.mathBodies.find({kind, wide});
  if (body != m_.mathBodies.end())
    callTo(body->second, args, {}, {}, {out});
  else
    emit(runMathHook, out, args[0], static_cast<uint32_t>(kind) | static_cast<uint32_t>(wide) << 8,
         args.back());
  if (type != wide)
    emit(runConvert, reg(o.results[0]), out, static_cast<uint32_t>(wide) | static_cast<uint32_t>(type) << 8);
}

void Compiler::select(const Op& o) {
  emit(isObjectValue(o.results[0]) ? runSelectObject : runSelect, reg(o.results[0]), reg(o.operands[0]),
       reg(o.operands[1]), reg(o.operands[2]));
}

void Compiler::lists(const Op& o) {
  auto kindOfValue = [&](ValueId v) { return static_cast<uint32_t>(kindOf(fn_.typeOf(v))); };
  switch (o.kind) {
  case OpKind::ListOf: {
    auto* x = extra<RegsExtra>();
    x->element = kindOf(types_[fn_.typeOf(o.results[0])].parts[0]);
    x->regs = operands(o);
    emit(runNewList, reg(o.results[0]), 0, 0, 0, x);
    return;
  }
  case OpKind::Length: emit(runLength, reg(o.results[0]), reg(o.operands[0])); return;
  case OpKind::Push: {
    uint32_t list = operand(o.operands[0]);
    uint32_t value = isObjectValue(o.operands[1]) ? operand(o.operands[1]) : reg(o.operands[1]);
    emit(runPush, reg(o.results[0]), list, value, kindOfValue(o.operands[1]));
    return;
  }
  case OpKind::Pop: {
    uint32_t list = operand(o.operands[0]);
    emit(runPop, reg(o.results[0]), reg(o.results[1]), list, kindOfValue(o.results[0]));
    return;
  }
  case OpKind::ToArray: {
    const types::Type to = types_[fn_.typeOf(o.results[0])];
    auto* x = extra<RegsExtra>();
    x->element = kindOf(to.parts[0]);
    emit(runMove, symReg(o.resultDims[0]), constantReg(0));
    emit(runLength, symReg(o.resultDims[0]), reg(o.operands[0]));
    x->dims = dimRegs(to.dims);
    emit(runToArray, reg(o.results[0]), reg(o.operands[0]), 0, 0, x);
    return;
  }
  default: { // ToList
    const types::Type row = types_[types_[fn_.typeOf(o.results[0])].parts[0]];
    auto* x = extra<RegsExtra>();
    bool rows = row.kind == TypeKind::Array;
    if (rows) x->dims = dimRegs(row.dims);
    x->element = kindOf(types_[fn_.typeOf(o.results[0])].parts[0]);
    emit(runToList, reg(o.results[0]), reg(o.operands[0]), rows, 0, x);
    return;
  }
  }
}

// --- effects and calls
// --------------------------------------------------------------------------------------------

void Compiler::check(const Op& o) {
  auto* x = extra<CheckExtra>();
  x->check = o.as<CheckAttr>();
  for (ValueId v : o.operands) {
    x->operands.push_back(reg(v));
    x->kinds.push_back(kindOf(fn_.typeOf(v)));
  }
  x->dims = dimRegs(o.dims);
  emit(runCheck, 0, 0, 0, 0, x);
}

void Compiler::builtin(const Op& o) {
  auto* x = extra<BuiltinExtra>();
  x->builtin = o.as<BuiltinAttr>().builtin;
  for (ValueId v : o.operands) {
    x->args.push_back(reg(v));
    x->argTypes.push_back(fn_.typeOf(v));
  }
  for (ValueId v : o.results) {
    x->results.push_back(reg(v));
    x->resultTypes.push_back(fn_.typeOf(v));
  }
  for (uint32_t k = 0; k < x->resultTypes.size(); ++k) {
    bool hidden = types_.kind(x->resultTypes[k]) == TypeKind::Pack;
    const types::Type& type = types_[hidden ? types_[x->resultTypes[k]].parts[0] : x->resultTypes[k]];
    if (type.kind != TypeKind::Array) continue;
    for (uint32_t axis = 0; axis < type.dims.size(); ++axis) {
      std::optional<DimSym> s = types_.dims.asSymbol(type.dims[axis]);
      bool defined = s && std::count(o.resultDims.begin(), o.resultDims.end(), *s) > 0;
      bool found = defined || types_.dims.mentionsKind(type.dims[axis], types::DimSymKind::Bound);
      x->dims.push_back(found ? constantReg(static_cast<uint64_t>(int64_t(-1))) : dimReg(type.dims[axis]));
      if (!defined) continue;
      x->dimResults.push_back(symReg(*s));
      x->dimSources.push_back({k, axis});
    }
  }
  emit(runBuiltin, 0, 0, 0, 0, x);
}

void Compiler::callTo(FunctionId callee, const std::vector<uint32_t>& args, std::span<const DimId> dims,
                      const std::vector<uint32_t>& resultDims, const std::vector<uint32_t>& results) {
  auto* x = extra<CallExtra>();
  x->callee = callee;
  const Function& f = m_.functions[callee];
  x->args = dimRegs(dims);
  x->argKinds.assign(dims.size(), TypeKind::I64);
  for (size_t k = 0; k < args.size(); ++k) {
    x->args.push_back(args[k]);
    x->argKinds.push_back(kindOf(f.typeOf(f.params()[k])));
  }
  x->results = resultDims;
  x->resultKinds.assign(resultDims.size(), TypeKind::I64);
  for (size_t k = 0; k < results.size(); ++k) {
    x->results.push_back(results[k]);
    x->resultKinds.push_back(kindOf(f.results[k]));
  }
  emit(runCall, 0, 0, 0, 0, x);
}

} // namespace melix::interp
