// Ops without regions: scalars, constants, products.
#include "interp/compile.h"
#include "interp/steps.h"

namespace melix::interp {

void Compiler::op(const Op& o) {
  for (ValueId v : o.results)
    if (skipped_.contains(v)) return;
  for (DimId d : o.dims) dimReg(d);
  switch (o.kind) {
  case OpKind::Const: return constant(o);
  case OpKind::Zero: return zero(reg(o.results[0]), fn_.typeOf(o.results[0]));
  case OpKind::Undef: return undef(o.results[0]);
  case OpKind::DimValue: emit(runMove, reg(o.results[0]), dimReg(o.dims[0])); return;
  case OpKind::BindDim: emit(runMove, symReg(o.resultDims[0]), reg(o.operands[0])); return;
  case OpKind::CastDims:
  case OpKind::BlackBox:
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
  case OpKind::Convert: return convert(o);
  case OpKind::Bitcast: return bitcast(o);
  case OpKind::If: return branch(o);
  case OpKind::Match: return match(o);
  case OpKind::For: return forLoop(o);
  case OpKind::While: return whileLoop(o);
  case OpKind::Nest: return nest(o);
  default: return effect(o);
  }
}

void Compiler::undef(ValueId v) {
  if (isObjectValue(v))
    undefObject(reg(v), fn_.typeOf(v));
  else
    emit(runMove, reg(v), constantReg(0));
}

void Compiler::convert(const Op& o) {
  auto mode = static_cast<uint32_t>(std::holds_alternative<uint32_t>(o.attr) ? o.index() : 0);
  auto from = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.operands[0])));
  auto to = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.results[0])));
  emit(runConvert, reg(o.results[0]), reg(o.operands[0]), from | to << 8 | mode << 16);
}

/// The bits stay; a signed integer is extended anew.
void Compiler::bitcast(const Op& o) {
  auto from = static_cast<uint32_t>(TypeKind::U64),
       to = static_cast<uint32_t>(types_.kind(fn_.typeOf(o.results[0])));
  TypeId source = fn_.typeOf(o.operands[0]);
  uint32_t out = reg(o.results[0]), in = reg(o.operands[0]);
  if (types_.isFloat(source))
    emit(runBits, out, in, static_cast<uint32_t>(types_.kind(source)));
  else if (types_.isFloat(fn_.typeOf(o.results[0])))
    emit(runMove, out, in);
  else
    emit(runConvert, out, in, from | to << 8 | 1u << 16);
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
    emit(runMoveObject, reg(v), textReg(c.text));
    return;
  }
  if (isObjectValue(v)) return record(o, 0, false); // the unit value
  uint64_t bits = slotOfBits(kindOf(fn_.typeOf(v)), c.bits).u;
  if (hasReg(v))
    emit(runMove, reg(v), constantReg(bits)); // somebody expects it there
  else
    alias(v, constantReg(bits));
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
  const auto& bodies = program_.module().mathBodies;
  auto body = bodies.find({kind, wide});
  if (body != bodies.end())
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

} // namespace melix::interp
