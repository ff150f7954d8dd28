#include "codegen/lane_emitter.h"

#include "codegen/debug_info.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/ir/build.h"
#include "loops/lanes/mask_support.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace melix::codegen {

using core::OpKind;
using loops::StmtKind;
using loops::VarianceKind;

// --- values
// ----------------------------------------------------------------------------------------------------------

llvm::Constant* LaneEmitter::iota(llvm::IntegerType* type) {
  std::vector<llvm::Constant*> numbers;
  for (unsigned k = 0; k < lanes_; ++k) numbers.push_back(llvm::ConstantInt::get(type, k));
  return llvm::ConstantVector::get(numbers);
}

/// Compared in numbers as wide as what lanes hold, so that a mask is in as many registers. Around loops it is
/// made of bits: a comparison would be done again in these, at every iteration.
llvm::Value* LaneEmitter::firstLanes(const Stmt& loop, Value* count) {
  const loops::Machine& machine = machineOf(m_.options.target);
  Value* few = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, b_.getInt64(lanes_));
  const bool holdsLoop = loops::anyOf(fn_, loop.regions[0], [](const Stmt& s) { return isLoop(s); });
  if (machine.masks == loops::MaskKind::Registers && holdsLoop && lanes_ <= 64) {
    Value* ones = b_.CreateLShr(b_.getInt64(-1), b_.CreateSub(b_.getInt64(64), few)); // one at least
    return b_.CreateBitCast(b_.CreateTrunc(ones, b_.getIntNTy(lanes_)),
                            llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
  }
  const unsigned bits = std::clamp(machine.vectorBits / loop.as<loops::ForAttr>().vectorWidth, 16U, 64U);
  llvm::IntegerType* type = b_.getIntNTy(bits);
  return b_.CreateICmpULT(iota(type), splat(b_.CreateTrunc(few, type)));
}

LaneEmitter::Affine LaneEmitter::affine(ValueId v) const {
  return isUniform(v) ? Affine{host_.value(v), b_.getInt64(0)} : affine_.at(v.index);
}

llvm::Value* LaneEmitter::vector(const Affine& a) {
  auto* one = llvm::dyn_cast<llvm::ConstantInt>(a.step);
  Value* steps = one && one->isOne() ? iota(m_.i64()) : b_.CreateMul(iota(m_.i64()), splat(a.step));
  return b_.CreateAdd(splat(a.first), steps);
}

llvm::Value* LaneEmitter::vector(ValueId v) {
  switch (variance_.of(v)) {
  case VarianceKind::Uniform: return splat(host_.value(v));
  case VarianceKind::Affine: return vector(affine_.at(v.index));
  case VarianceKind::Varying: break;
  }
  return vectors_.at(v.index);
}

llvm::Type* LaneEmitter::keptType(ValueId v) {
  llvm::Type* t = m_.typeOf(fn_.typeOf(v));
  return isUniform(v) ? t : vectorOf(t);
}

void LaneEmitter::keep(ValueId v, Value* x) {
  if (isUniform(v))
    host_.set(v, x);
  else
    vectors_[v.index] = x;
}

// --- statements
// ----------------------------------------------------------------------------------------------------------

const LaneEmitter::ValueIds& LaneEmitter::region(loops::RegionId r) {
  std::span<const loops::StmtId> stmts = fn_.regions[r].stmts;
  const loops::StmtId yield = stmts.back();
  const std::vector<loops::LaneGroup> groups = loops::laneGroups(m_.unit.module, fn_, r, strides_);
  const Groups grouped = byMember(groups);
  while (!stmts.empty()) {
    if (!isCallee_) b_.SetCurrentDebugLocation(m_.debug->location(fn_.stmts[stmts[0]].loc));
    if (auto group = grouped.find(stmts[0]); group != grouped.end()) {
      emit(*group->second, stmts[0]);
      stmts = stmts.subspan(1);
      continue;
    }
    const std::span<const loops::StmtId> stores = stmts.first(storesTogether(stmts));
    if (storeGroup(stores)) {
      stmts = stmts.subspan(stores.size());
      continue;
    }
    if (!late_.contains(stmts[0])) statement(fn_.stmts[stmts[0]]);
    stmts = stmts.subspan(1);
  }
  return fn_.stmts[yield].operands;
}

void LaneEmitter::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Scalar: return scalar(s);
  case StmtKind::Load: return load(s);
  case StmtKind::Store: return store(s);
  case StmtKind::AddressOf:
    if (isUniform(s.results[0])) return host_.statement(s);
    return keep(s.results[0], addresses(place(s, s.operands.size())));
  case StmtKind::Call: return call(s);
  case StmtKind::If:
  case StmtKind::Switch: return branch(s);
  case StmtKind::For: return forLoop(s);
  case StmtKind::While: return whileLoop(s);
  default: return host_.statement(s);
  }
}

void LaneEmitter::scalar(const Stmt& s) {
  const ValueId result = s.results[0];
  const auto& attr = s.as<loops::ScalarAttr>();
  if (auto found = running_.find(result.index); found != running_.end())
    return runningTotal(s, found->second);
  if (isUniform(result)) return host_.statement(s);
  if (variance_.of(result) == VarianceKind::Varying) {
    Values operands;
    for (ValueId v : s.operands) operands.push_back(vector(v));
    return keep(result, host_.ops_.apply(attr, operands, fn_.typeOf(result).scalar));
  }
  const Affine a = affine(s.operands[0]);
  const Affine b = s.operands.size() > 1 ? affine(s.operands[1]) : a;
  Affine& out = affine_[result.index];
  switch (attr.op) {
  case OpKind::Add: out = {b_.CreateAdd(a.first, b.first), b_.CreateAdd(a.step, b.step)}; return;
  case OpKind::Sub: out = {b_.CreateSub(a.first, b.first), b_.CreateSub(a.step, b.step)}; return;
  case OpKind::And: { // the place in a strip of iterations
    auto* mask = llvm::cast<llvm::ConstantInt>(b.first);
    const bool fills = mask->getZExtValue() + 1 == strip_;
    out = {fills ? b_.getInt64(0) : b_.CreateAnd(a.first, mask), a.step};
    return;
  }
  case OpKind::Neg: out = {b_.CreateNeg(a.first), b_.CreateNeg(a.step)}; return;
  default: { // a product with a uniform value
    Value* factor = isUniform(s.operands[0]) ? a.first : b.first;
    out = {b_.CreateMul(a.first, b.first), b_.CreateMul(isUniform(s.operands[0]) ? b.step : a.step, factor)};
  }
  }
}

// --- the loop
// ----------------------------------------------------------------------------------------------------------

LaneEmitter::Values LaneEmitter::begun(const Steps& steps, Values first) {
  for (size_t k = 0; k < steps.size(); ++k) {
    const loops::ReassociableStep& step = steps[k];
    if (step.running) {
      first[k] = splat(first[k]);
    } else if (step.best || step.along) {
      first[k] = llvm::Constant::getNullValue(vectorOf(first[k]->getType()));
    } else {
      llvm::Constant* units = host_.ops_.constant(loops::scalarType(step.kind), step.unit);
      first[k] = b_.CreateInsertElement(splat(units), first[k], uint64_t(0));
    }
  }
  return first;
}

LaneEmitter::Values LaneEmitter::folded(const Steps& steps, Values carried, unsigned lanes) {
  for (unsigned half = lanes_ / 2; half >= lanes; half /= 2) {
    std::vector<int> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    Values lows, highs;
    for (Value* v : carried) {
      lows.push_back(b_.CreateShuffleVector(v, low));
      highs.push_back(b_.CreateShuffleVector(v, high));
    }
    for (size_t k = 0; k < steps.size(); ++k) {
      const loops::ReassociableStep& step = steps[k];
      if (step.along) continue;
      if (step.best) {
        better(steps, k, lows, highs, false, carried);
      } else if (step.running) {
        carried[k] = lows[k];
      } else {
        Value* halves[] = {lows[k], highs[k]};
        carried[k] = host_.ops_.apply({step.op, 0, step.kind}, halves, step.kind);
      }
    }
  }
  return carried;
}

LaneEmitter::Values LaneEmitter::joined(const Steps& steps, Values carried, const Values& before) {
  const Values lanes = carried;
  Steps others = steps;
  for (size_t k = 0; k < steps.size(); ++k)
    if (steps[k].best) others[k] = {OpKind::Select, {}, steps[k].kind, 0, false, {}, true};
  carried = folded(others, std::move(carried), 1);
  for (size_t k = 0; k < steps.size(); ++k)
    if (!others[k].along) carried[k] = b_.CreateExtractElement(carried[k], uint64_t(0));
  for (size_t k = 0; k < steps.size(); ++k)
    if (steps[k].best) best(steps, k, lanes, carried);
  const Values found = carried;
  for (size_t k = 0; k < steps.size(); ++k)
    if (steps[k].best) better(steps, k, before, found, true, carried);
  return carried;
}

void LaneEmitter::better(const Steps& steps, size_t k, const Values& a, const Values& b, bool isLater,
                         Values& out) {
  const loops::ReassociableStep& step = steps[k];
  const loops::ArgExtremeStep& best = *step.best;
  auto compared = [&](ops::CmpKind how, Value* x, Value* y, types::TypeKind kind) {
    Value* operands[] = {x, y};
    return host_.ops_.apply({OpKind::Cmp, static_cast<uint32_t>(how), kind}, operands, types::TypeKind::Bool);
  };
  auto isBetter = [&](Value* x, Value* y) { return compared(best.beyond, x, y, step.kind); };
  Value* takes = isBetter(b[k], a[k]);
  if (!isLater) {
    Value* isEarlier = compared(ops::CmpKind::Lt, b[best.iteration], a[best.iteration], types::TypeKind::I64);
    takes = b_.CreateOr(takes, b_.CreateAnd(isEarlier, b_.CreateNot(isBetter(a[k], b[k]))));
  }
  const size_t there = best.isThere;
  takes = b_.CreateAnd(b[there], b_.CreateOr(takes, b_.CreateNot(a[there])));
  out[k] = b_.CreateSelect(takes, b[k], a[k]);
  for (size_t place : best.places) out[place] = b_.CreateSelect(takes, b[place], a[place]);
  out[there] = b_.CreateOr(a[there], b[there]);
}

/// The value of all lanes that have one, and of those that have this value the first iteration.
void LaneEmitter::best(const Steps& steps, size_t k, const Values& lanes, Values& out) {
  const loops::ReassociableStep& step = steps[k];
  const loops::ArgExtremeStep& best = *step.best;
  Value* there = lanes[best.isThere];
  llvm::Constant* unit = host_.ops_.constant(loops::scalarType(step.kind), step.unit);
  const Values value{b_.CreateSelect(there, lanes[k], splat(unit))};
  const Steps extremes{
      {best.beyond == ops::CmpKind::Lt ? OpKind::Min : OpKind::Max, {}, step.kind, step.unit}};
  out[k] = b_.CreateExtractElement(folded(extremes, value, 1)[0], uint64_t(0));
  Value* isBest = b_.CreateAnd(b_.CreateICmpEQ(lanes[k], splat(out[k])), there);
  Value* none = splat(b_.getInt64(std::numeric_limits<int64_t>::max()));
  for (size_t place : best.places)
    out[place] = b_.CreateIntMinReduce(b_.CreateSelect(isBest, lanes[place], none), true);
  out[best.isThere] = b_.CreateOrReduce(there);
}

LaneEmitter::Values LaneEmitter::strip(const Stmt& loop, const Steps& steps, Value* first, Value* mask,
                                       Values carried) {
  const ValueIds& params = fn_.regions[loop.regions[0]].params;
  const ValueIds& next = fn_.stmts[fn_.regions[loop.regions[0]].stmts.back()].operands;
  loop_ = &loop;
  affine_[params[0].index] = {first, b_.getInt64(1)};
  for (size_t k = 0; k < carried.size(); ++k)
    if (steps[k].running)
      running_[next[k].index] = {steps[k], carried[k], nullptr};
    else
      vectors_[params[k + 1].index] = carried[k];
  mask_ = mask;
  region(loop.regions[0]);
  mask_ = nullptr;
  for (size_t k = 0; k < carried.size(); ++k) {
    if (steps[k].running) {
      carried[k] = running_.at(next[k].index).after;
      continue;
    }
    Value* v = vector(next[k]);
    carried[k] = mask ? b_.CreateSelect(mask, v, carried[k]) : v;
  }
  return carried;
}

/// The loop is entered only if it iterates: what hoisting passes put before it is then not for nothing.
LaneEmitter::Values LaneEmitter::strips(const Stmt& loop, const Steps& steps, Value*& first, Value* end,
                                        StripKind kind, Values carried) {
  const bool masked = kind != StripKind::Whole;
  const unsigned beyond = kind == StripKind::Whole  ? lanes_ - 1
                          : kind == StripKind::Most ? lanes_ / 2
                          : kind == StripKind::Long ? loop.as<loops::ForAttr>().vectorWidth
                                                    : 0;
  llvm::BasicBlock *from = b_.GetInsertBlock(), *body = block("strip"), *done = block("whole");
  Value* last = beyond ? b_.CreateNSWSub(end, b_.getInt64(beyond)) : end;
  b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, done);
  Values entry = carried;
  entry.push_back(first);
  b_.SetInsertPoint(body);
  const std::vector<llvm::PHINode*> iteration = phis(entry, from);
  llvm::PHINode* at = iteration.back();
  carried.assign(iteration.begin(), iteration.end() - 1);
  Value* mask = masked ? firstLanes(loop, b_.CreateNSWSub(end, at)) : nullptr;
  Values next = strip(loop, steps, at, mask, carried);
  b_.SetCurrentDebugLocation(m_.debug->location(loop.loc));
  if (loop.as<loops::ForAttr>().polls) host_.poll();
  next.push_back(b_.CreateNSWAdd(at, b_.getInt64(lanes_)));
  llvm::BasicBlock* back = b_.GetInsertBlock();
  if (kind == StripKind::Last || kind == StripKind::Long) {
    b_.CreateBr(done);
  } else {
    for (size_t k = 0; k < iteration.size(); ++k) iteration[k]->addIncoming(next[k], back);
    b_.CreateCondBr(b_.CreateICmpSLT(next.back(), last), body, done);
  }
  b_.SetInsertPoint(done);
  const std::vector<llvm::PHINode*> after = phis(entry, from);
  for (size_t k = 0; k < after.size(); ++k) after[k]->addIncoming(next[k], back);
  first = after.back();
  return {after.begin(), after.end() - 1};
}

std::vector<llvm::PHINode*> LaneEmitter::phis(const Values& values, llvm::BasicBlock* from) {
  std::vector<llvm::PHINode*> out;
  for (Value* v : values) {
    out.push_back(b_.CreatePHI(v->getType(), 2));
    out.back()->addIncoming(v, from);
  }
  return out;
}

namespace {

/// How the iterations after whole strips are done.
enum class RestKind {
  None,
  Masked,       ///< all strips are under a mask
  Register,     ///< by registers, under a mask
  Strip,        ///< as one strip more, under a mask
  PerIteration, ///< by whole registers, then iteration by iteration
};

RestKind restOf(const loops::Function& fn, const loops::Stmt& loop, uint32_t strip,
                const loops::Machine& machine) {
  const std::optional<uint64_t> tripCount = loops::constantTripCount(fn, loop);
  if (tripCount && *tripCount % strip == 0) return RestKind::None;
  const bool fits = fn.tripCount.unrolledBy % strip == 0 && fn.tripCount.tripCountMultipleOf % strip == 0;
  if (fits && loops::isOverChunk(fn, loop)) return RestKind::None;
  if (!loops::canMask(machine, fn, loop)) return RestKind::PerIteration;
  if (loops::writesToFrame(fn, loop.regions[0]))
    return loops::storesHaveRoomInFrame(fn, loop, loop.regions[0], strip) ? RestKind::Strip
                                                                          : RestKind::PerIteration;
  if (tripCount && *tripCount < strip) return RestKind::Strip; // a strip has some lane that is on
  const auto& attr = loop.as<loops::ForAttr>();                // long code stands once, whatever masks cost
  const bool isAll = attr.predicated && (attr.interleave == 1 || machine.masks == loops::MaskKind::Registers);
  return isAll ? RestKind::Masked : RestKind::Register;
}

/// Whether lanes go different ways there: each branch asks for those that are on, too.
bool holdsBranch(const loops::Function& fn, loops::RegionId r, const loops::Variance& variance) {
  return std::ranges::any_of(fn.regions[r].stmts, [&](loops::StmtId id) {
    const loops::Stmt& s = fn.stmts[id];
    const bool isBranch = s.kind == StmtKind::If || s.kind == StmtKind::Switch;
    return (isBranch && !variance.isUniform(s.operands[0])) ||
           std::ranges::any_of(s.regions,
                               [&](loops::RegionId inner) { return holdsBranch(fn, inner, variance); });
  });
}

constexpr unsigned mostMasks = 4; ///< of seven registers

/// Whether loops inside carry something, beside which a mask costs little: iterations of one register wait
/// for it.
bool carriesInside(const loops::Function& fn, const loops::Stmt& loop, const loops::Variance& variance) {
  const auto& stmts = fn.regions[loop.regions[0]].stmts;
  return loop.results.empty() && std::ranges::any_of(stmts, [&](loops::StmtId id) {
           const loops::Stmt& s = fn.stmts[id];
           return s.kind == StmtKind::For && !s.results.empty() && !holdsBranch(fn, s.regions[0], variance);
         });
}

/// Whether what is left of a strip is done in one register if it has room there: a short row is then all of
/// it, and a short iteration is little code.
bool isShortWorthIt(const loops::Function& fn, const loops::Stmt& loop) {
  constexpr size_t fewStmts = 16;
  const auto& stmts = fn.regions[loop.regions[0]].stmts;
  return loop.as<loops::ForAttr>().interleave > 1 && stmts.size() <= fewStmts &&
         std::ranges::all_of(stmts, [&](loops::StmtId id) { return fn.stmts[id].regions.empty(); });
}

} // namespace

void emitLanes(FunctionEmitter& host, const loops::Stmt& loop) {
  using enum LaneEmitter::StripKind;
  const auto& attr = loop.as<loops::ForAttr>();
  const loops::Variance variance(host.fn_, loop);
  const uint32_t strip = attr.vectorWidth * attr.interleave;
  const loops::ValueId index = host.fn_.regions[loop.regions[0]].params[0];
  const loops::Machine& machine = machineOf(host.m_.options.target);
  const RestKind rest = restOf(host.fn_, loop, strip, machine);
  // What is left behind strips: several registers at a time where one would wait, a strip of which more than
  // half is left as a whole if that is as few.
  const bool isCarried = rest == RestKind::Register && machine.masks == loops::MaskKind::Registers &&
                         carriesInside(host.fn_, loop, variance);
  const bool isMost = isCarried && attr.interleave <= mostMasks;
  LaneEmitter wide(host, strip, variance, index), narrow(host, attr.vectorWidth, variance, index);
  llvm::Value *first = host.value(loop.operands[0]), *end = host.value(loop.operands[1]);
  const LaneEmitter::Steps steps = *loops::exactSteps(host.fn_, loop);
  std::vector<llvm::Value*> carried;
  for (size_t k = 0; k < loop.results.size(); ++k) carried.push_back(host.value(loop.operands[k + 2]));
  const std::vector<llvm::Value*> before = carried;
  carried = wide.begun(steps, std::move(carried));
  const std::optional<uint64_t> tripCount = loops::constantTripCount(host.fn_, loop);
  const bool isShort = rest == RestKind::Strip && !tripCount && isShortWorthIt(host.fn_, loop);
  if (tripCount == strip) {
    carried = wide.strip(loop, steps, first, nullptr, std::move(carried));
  } else if (rest == RestKind::Strip && tripCount && 0 < *tripCount && *tripCount < strip) {
    carried = wide.strip(loop, steps, first, wide.firstLanes(loop, host.b_.getInt64(*tripCount)),
                         std::move(carried));
  } else {
    const LaneEmitter::StripKind kind = rest == RestKind::Masked ? Masked : isMost ? Most : Whole;
    carried = wide.strips(loop, steps, first, end, kind, std::move(carried));
    if (rest == RestKind::Strip)
      carried = wide.strips(loop, steps, first, end, isShort ? Long : Last, std::move(carried));
  }
  carried = wide.folded(steps, std::move(carried), attr.vectorWidth);
  if (isShort)
    carried = LaneEmitter(host, attr.vectorWidth, variance, index, strip)
                  .strips(loop, steps, first, end, Last, std::move(carried));
  if (isCarried && !isMost)
    carried = LaneEmitter(host, attr.vectorWidth * mostMasks, variance, index)
                  .strips(loop, steps, first, end, Most, std::move(carried));
  if (rest == RestKind::Register)
    carried = narrow.strips(loop, steps, first, end, attr.interleave > 1 ? Masked : Last, std::move(carried));
  if (rest == RestKind::PerIteration && attr.interleave > 1)
    carried = narrow.strips(loop, steps, first, end, Whole, std::move(carried));
  carried = narrow.joined(steps, std::move(carried), before);
  if (rest == RestKind::PerIteration) carried = host.emitIterations(loop, first, std::move(carried));
  for (size_t k = 0; k < carried.size(); ++k) host.set(loop.results[k], carried[k]);
}

} // namespace melix::codegen
