// Where lanes read and store: side by side, a step apart, or anywhere.
#include "codegen/lane_emitter.h"

#include "loops/ir/cost_table.h"
#include "melix/abi.h"

#include <llvm/IR/Constants.h>

#include <numeric>

namespace melix::codegen {

using loops::Access;

static_assert(loops::streamedBytes == MELIX_STREAMED_BYTES);

/// base + offset + elemBytes · Σ index·stride: its part that is the same in all lanes, the step from one to
/// the next, and what varies.
LaneEmitter::Place LaneEmitter::place(const Stmt& s, size_t operandCount) {
  const auto& access = s.as<Access>();
  llvm::Constant* none = llvm::ConstantInt::get(m_.index(), 0);
  Value *same = none, *step = none, *varying = nullptr;
  for (size_t k = 1; k + 1 < operandCount; k += 2) {
    const ValueId index = s.operands[k], stride = s.operands[k + 1];
    if (isUniform(stride) && variance_.of(index) != loops::VarianceKind::Varying) {
      const Affine a = affine(index);
      Value* by = host_.index(host_.value(stride));
      same = b_.CreateAdd(same, b_.CreateMul(host_.index(a.first), by));
      if (!isUniform(index)) step = b_.CreateAdd(step, b_.CreateMul(host_.index(a.step), by));
    } else {
      Value* term = b_.CreateMul(host_.index(vector(index)), host_.index(vector(stride)));
      varying = varying ? b_.CreateAdd(varying, term) : term;
    }
  }
  const bool isUnit = llvm::isPowerOf2_32(access.elemBytes) && access.elemBytes <= 8;
  Place out;
  out.unit = isUnit ? access.elemBytes : 1;
  auto scaled = [&](Value* v) {
    return isUnit ? v : b_.CreateMul(v, llvm::ConstantInt::get(v->getType(), access.elemBytes));
  };
  llvm::Type* unit = b_.getIntNTy(out.unit * 8);
  auto at = [&](Value* base) {
    base = b_.CreateGEP(unit, base, scaled(same));
    return access.offset ? b_.CreateGEP(m_.i8(), base, b_.getInt64(static_cast<uint64_t>(access.offset)))
                         : base;
  };
  out.step = scaled(step);
  const bool isOne = isUniform(s.operands[0]);
  if (isOne && !varying) {
    out.first = at(host_.value(s.operands[0]));
    return out;
  }
  Value* more = b_.CreateMul(iota(m_.index()), splat(out.step));
  if (varying) more = b_.CreateAdd(more, scaled(varying));
  out.all = b_.CreateGEP(unit, isOne ? at(host_.value(s.operands[0])) : at(vector(s.operands[0])), more);
  return out;
}

llvm::Value* LaneEmitter::addresses(const Place& at) {
  if (at.all) return at.all;
  return b_.CreateGEP(b_.getIntNTy(at.unit * 8), at.first, b_.CreateMul(iota(m_.index()), splat(at.step)));
}

static int64_t storeBytes(const llvm::Module& m, llvm::Type* type) {
  return static_cast<int64_t>(m.getDataLayout().getTypeStoreSize(type).getFixedValue());
}

bool LaneEmitter::Place::isSeparate(int64_t bytes) const {
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(step);
  return !all && known &&
         uint64_t(known->getSExtValue()) * unit == uint64_t(bytes); // modulo 2^64, as computed
}

/// What lies side by side the other way round is turned around where all lanes are on: those that are off may
/// read where no memory is, which takes processors long even if a mask says that they do not.
llvm::Value* LaneEmitter::loadBackwards(const Place& at, llvm::VectorType* type, llvm::Align align) {
  auto turned = [&] {
    Value* back = b_.CreateMul(at.step, llvm::ConstantInt::get(m_.index(), lanes_ - 1));
    Value* first = b_.CreateGEP(b_.getIntNTy(at.unit * 8), at.first, back);
    return b_.CreateVectorReverse(b_.CreateAlignedLoad(type, first, align));
  };
  if (!mask_) return turned();
  llvm::BasicBlock *all = block("all"), *some = block("some"), *after = block("loaded");
  b_.CreateCondBr(b_.CreateAndReduce(mask_), all, some);
  b_.SetInsertPoint(all);
  Value* together = turned();
  b_.CreateBr(after);
  b_.SetInsertPoint(some);
  Value* gathered =
      b_.CreateMaskedGather(type, addresses(at), align, mask_, llvm::Constant::getNullValue(type));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* either = b_.CreatePHI(type, 2);
  either->addIncoming(together, all);
  either->addIncoming(gathered, some);
  return either;
}

/// An array of the frame that is read and written as a whole, in lanes that are off as well, becomes a value.
bool LaneEmitter::staysInRegisters(const Stmt& s) const {
  return mask_ && loop_ && loops::hasRoomInFrame(fn_, *loop_, s, lanes_);
}

/// What an element moves as: where a processor has no registers of bf16, LLVM would take them one by one.
llvm::Type* LaneEmitter::elementOf(const Access& access) const {
  llvm::Type* element = m_.memoryTypeOf(access.elem);
  return element->isBFloatTy() ? llvm::Type::getInt16Ty(m_.context) : element;
}

void LaneEmitter::load(const Stmt& s) {
  if (isUniform(s.results[0])) return host_.statement(s);
  const auto& access = s.as<Access>();
  llvm::Type* element = elementOf(access);
  llvm::VectorType* type = vectorOf(element);
  const llvm::Align align = m_.llvm->getDataLayout().getABITypeAlign(element);
  const Place at = place(s, s.operands.size());
  llvm::Constant* nothing = llvm::Constant::getNullValue(type); // in lanes that are off
  Value* v = nullptr;
  const int64_t bytes = storeBytes(*m_.llvm, element);
  if (at.isSeparate(-bytes))
    v = loadBackwards(at, type, align);
  else if (!at.isSeparate(bytes))
    v = b_.CreateMaskedGather(type, addresses(at), align, mask_, nothing);
  else if (mask_ && !staysInRegisters(s))
    v = b_.CreateMaskedLoad(type, at.first, align, mask_, nothing);
  else
    v = b_.CreateAlignedLoad(type, at.first, align);
  if (access.prefetch && at.first && loop_) emitPrefetch(s, at.first, type);
  llvm::Type* scalar = m_.typeOf(access.elem);
  if (scalar == m_.i1())
    v = b_.CreateTrunc(v, vectorOf(scalar));
  else if (scalar != element)
    v = b_.CreateBitCast(v, vectorOf(scalar));
  keep(s.results[0], v);
}

/// Prefetches the element that the reduction reads some iterations later. The last uniform term of the place
/// is the term of the reduction. The processor itself prefetches within a page, so smaller strides are left
/// to it. Elements at a distance of whole pages share few lines of the nearest cache: a prefetch would evict
/// lines that are in use.
void LaneEmitter::emitPrefetch(const Stmt& s, Value* at, llvm::Type* type) {
  constexpr uint64_t iterationsAhead = 8, lineBytes = 64, pageBytes = 4096;
  Value* stride = nullptr;
  for (size_t k = 1; k + 1 < s.operands.size(); k += 2)
    if (isUniform(s.operands[k]) && isUniform(s.operands[k + 1])) stride = host_.value(s.operands[k + 1]);
  const auto& attr = loop_->as<loops::ForAttr>();
  if (!stride || lanes_ < attr.vectorWidth * attr.interleave)
    return; // a register at a time is bound by what it reads
  const uint64_t elemBytes = s.as<Access>().elemBytes,
                 bytes = m_.llvm->getDataLayout().getTypeStoreSize(type);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(m_.index(), n); };
  Value* by = host_.index(stride);
  Value* isFar = b_.CreateICmpSGE(by, number(pageBytes / 2 / elemBytes));
  Value* isOffPage = b_.CreateICmpNE(b_.CreateAnd(by, number(pageBytes / elemBytes - 1)), number(0));
  Value* asked =
      b_.CreateSelect(b_.CreateAnd(isFar, isOffPage), b_.CreateMul(by, number(iterationsAhead)), number(0));
  Value* place = b_.CreateGEP(b_.getIntNTy(static_cast<unsigned>(8 * elemBytes)), at, asked);
  for (uint64_t k = 0; k < bytes; k += lineBytes)
    b_.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {at->getType()},
        {b_.CreateConstGEP1_64(m_.i8(), place, k), b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

void LaneEmitter::store(const Stmt& s) {
  const auto& access = s.as<Access>();
  llvm::Type* element = elementOf(access);
  const llvm::Align align = m_.llvm->getDataLayout().getABITypeAlign(element);
  Value* v = kept(s.operands.back(), false);
  llvm::Type* scalar = m_.typeOf(access.elem);
  if (scalar == m_.i1())
    v = b_.CreateZExt(v, vectorOf(element));
  else if (scalar != element)
    v = b_.CreateBitCast(v, vectorOf(element));
  const Place at = place(s, s.operands.size() - 1);
  if (!at.isSeparate(storeBytes(*m_.llvm, element)))
    b_.CreateMaskedScatter(v, addresses(at), align, mask_);
  else if (staysInRegisters(s))
    b_.CreateAlignedStore(b_.CreateSelect(mask_, v, b_.CreateAlignedLoad(v->getType(), at.first, align)),
                          at.first, align);
  else if (mask_)
    b_.CreateMaskedStore(v, at.first, align, mask_);
  else if (access.nonTemporal)
    storeStream({&v, 1}, host_.value(s.operands[0]), at.first, align);
  else
    b_.CreateAlignedStore(v, at.first, align);
}

/// Past the cache if the array is large, and the place one of whole registers. What workers of the pool have
/// stored so is seen by others once they leave their job: the count of those inside is kept by locked
/// instructions, which wait for such stores.
void LaneEmitter::storeStream(std::span<Value* const> registers, Value* base, Value* at, llvm::Align align) {
  const uint64_t size = m_.llvm->getDataLayout().getTypeStoreSize(registers[0]->getType());
  const uint64_t bytes = std::min<uint64_t>(size, machineOf(m_.options.target).vectorBits / 8);
  auto place = [&](Value* address, uint64_t unit) {
    return b_.CreateAnd(b_.CreatePtrToInt(address, b_.getInt64Ty()), b_.getInt64(unit - 1));
  };
  auto store = [&](llvm::Align known) {
    std::vector<llvm::StoreInst*> all;
    for (size_t k = 0; k < registers.size(); ++k)
      all.push_back(b_.CreateAlignedStore(registers[k], b_.CreateConstGEP1_64(m_.i8(), at, k * size), known));
    return all;
  };
  Value* isLarge = b_.CreateICmpEQ(place(base, MELIX_LARGE_ALIGN), b_.getInt64(MELIX_HEADER_BYTES));
  Value* isWhole = b_.CreateICmpEQ(place(at, bytes), b_.getInt64(0));
  llvm::BasicBlock *large = block("large"), *stream = block("stream"), *plain = block("plain"),
                   *after = block("stored");
  b_.CreateCondBr(isLarge, large, plain);
  b_.SetInsertPoint(large);
  b_.CreateCondBr(isWhole, stream, plain);
  b_.SetInsertPoint(stream);
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  for (llvm::StoreInst* each : store(llvm::Align(bytes)))
    each->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(m_.context, one));
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  store(align);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

size_t LaneEmitter::storesTogether(std::span<const loops::StmtId> stmts) const {
  auto isNext = [&](const Stmt& s, size_t k) {
    const Stmt& first = fn_.stmts[stmts[0]];
    if (s.kind != loops::StmtKind::Store || s.operands.size() != first.operands.size()) return false;
    Access expected = first.as<Access>();
    expected.offset += static_cast<int64_t>(k) * expected.elemBytes;
    return s.as<Access>() == expected &&
           std::equal(s.operands.begin(), s.operands.end() - 1, first.operands.begin());
  };
  size_t count = 0;
  while (count < std::min<size_t>(stmts.size(), lanes_) && isNext(fn_.stmts[stmts[count]], count)) ++count;
  return count;
}

namespace {

/// Of so many vectors, a power of two, as many lanes at a time: lane m of vector k becomes lane k of vector
/// m.
void transpose(llvm::IRBuilder<>& b, std::vector<llvm::Value*>& vectors, size_t lanes) {
  for (size_t bit = 1; bit < vectors.size(); bit *= 2) {
    std::vector<int> low(lanes), high(lanes);
    for (size_t lane = 0; lane < lanes; ++lane) {
      low[lane] = static_cast<int>(lane & bit ? lanes + lane - bit : lane);
      high[lane] = static_cast<int>(lane & bit ? lanes + lane : lane + bit);
    }
    for (size_t k = 0; k < vectors.size(); ++k) {
      if (k & bit) continue;
      llvm::Value *first = vectors[k], *second = vectors[k + bit];
      vectors[k] = b.CreateShuffleVector(first, second, low);
      vectors[k + bit] = b.CreateShuffleVector(first, second, high);
    }
  }
}

} // namespace

bool LaneEmitter::storeGroup(std::span<const loops::StmtId> stmts) {
  const size_t size = stmts.size();
  if (size < 2 || (size & (size - 1)) != 0 || lanes_ % size != 0) return false;
  const Stmt& s = fn_.stmts[stmts[0]];
  const auto& access = s.as<Access>();
  llvm::Type* element = m_.memoryTypeOf(access.elem);
  if (m_.typeOf(access.elem) != element ||
      m_.llvm->getDataLayout().getTypeStoreSize(element) != access.elemBytes)
    return false;
  const Place at = place(s, s.operands.size() - 1);
  if (at.all || at.isSeparate(access.elemBytes)) return false;
  Values values;
  for (loops::StmtId id : stmts) values.push_back(vector(fn_.stmts[id].operands.back()));
  transpose(b_, values, lanes_);
  const llvm::Align align = m_.llvm->getDataLayout().getABITypeAlign(element);
  for (uint64_t lane = 0; lane < lanes_; ++lane) {
    Value* gathered = b_.CreateMul(at.step, llvm::ConstantInt::get(m_.index(), lane));
    Value* to = b_.CreateGEP(b_.getIntNTy(at.unit * 8), at.first, gathered);
    std::vector<int> part(size);
    std::iota(part.begin(), part.end(), static_cast<int>(lane - lane % size));
    Value* group = b_.CreateShuffleVector(values[lane % size], part);
    llvm::BasicBlock* next = nullptr;
    if (mask_) { // a store of which nothing is on waits for the page, be it there or not
      llvm::BasicBlock* on = block("on");
      next = block("next");
      b_.CreateCondBr(b_.CreateExtractElement(mask_, lane), on, next);
      b_.SetInsertPoint(on);
    }
    b_.CreateAlignedStore(group, to, align);
    if (!next) continue;
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }
  return true;
}

} // namespace melix::codegen
