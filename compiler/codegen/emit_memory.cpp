// Loads, stores, allocation and ownership.
#include "codegen/emit_devices.h"
#include "codegen/function_emitter.h"

#include "melix/abi.h"

namespace melix::codegen {

using loops::Access;
using loops::AllocAttr;
using loops::ClassKind;

/// base + offset + elemBytes · Σ index·stride. Axes are in range by construction, so nothing here wraps.
llvm::Value* FunctionEmitter::address(const Stmt& s, size_t operandCount) {
  const auto& access = s.as<Access>();
  llvm::Value *base = value(s.operands[0]), *sum = nullptr;
  for (size_t k = 1; k + 1 < operandCount; k += 2) {
    llvm::Value *at = index(value(s.operands[k])), *stride = index(value(s.operands[k + 1]));
    auto* one = llvm::dyn_cast<llvm::ConstantInt>(stride);
    llvm::Value* term = one && one->isOne() ? at : b_.CreateNSWMul(at, stride);
    sum = sum ? b_.CreateNSWAdd(sum, term) : term;
  }
  if (sum) {
    unsigned bytes = access.elemBytes;
    llvm::Type* unit = bytes == 8 ? m_.i64() : bytes == 4 ? m_.i32() : bytes == 2 ? b_.getInt16Ty() : m_.i8();
    if (bytes != 8 && bytes != 4 && bytes != 2 && bytes != 1)
      sum = b_.CreateNSWMul(sum, llvm::ConstantInt::get(m_.index(), bytes));
    base = b_.CreateInBoundsGEP(unit, base, sum);
  }
  return access.offset ? b_.CreateConstInBoundsGEP1_64(m_.i8(), base, static_cast<uint64_t>(access.offset))
                       : base;
}

/// Of what an address is a multiple, as far as is known: what is counted from data is so by the size of its
/// elements.
llvm::Align FunctionEmitter::alignOf(ValueId pointer) const {
  const loops::StmtId made = fn_.values[pointer].def;
  if (!made.valid() || fn_.stmts[made].kind != loops::StmtKind::AddressOf) return llvm::Align(1);
  const auto& access = fn_.stmts[made].as<Access>();
  const uint64_t unit = std::max<uint64_t>(access.elemBytes, 1) | static_cast<uint64_t>(access.offset);
  const llvm::Align inside = llvm::commonAlignment(llvm::Align(slotAlign), unit);
  const ValueId base = fn_.stmts[made].operands[0];
  return fn_.typeOf(base).cls == ClassKind::Data ? inside : std::min(inside, alignOf(base));
}

void FunctionEmitter::emitLoad(const Stmt& s) {
  const auto& access = s.as<Access>();
  llvm::Value* at = address(s, s.operands.size());
  llvm::Value* v = b_.CreateLoad(m_.memoryTypeOf(access.elem), at);
  if (m_.typeOf(access.elem) == m_.i1()) v = b_.CreateICmpNE(v, b_.getInt8(0));
  setResult(s, v);
}

void FunctionEmitter::emitStore(const Stmt& s) {
  const auto& access = s.as<Access>();
  llvm::Value* v = generic(value(s.operands.back()));
  llvm::Value* at = address(s, s.operands.size() - 1);
  if (v->getType() == m_.i1()) v = b_.CreateZExt(v, m_.i8());
  // Slots of builtins are 8 bytes: what is smaller is extended, so that no byte of them is undefined.
  if (access.borrowed && access.elemBytes == 8 && v->getType()->isIntegerTy() && v->getType() != m_.i64())
    v = b_.CreateZExt(v, m_.i64());
  b_.CreateStore(v, at);
}

static_assert(types::maxExtent == MELIX_MAX_EXTENT, "compiler and runtime agree on what is too large");

/// The size of an array all of whose dims are constants, if it is one.
std::optional<int64_t> FunctionEmitter::knownBytes(const Stmt& alloc) {
  auto bytes = static_cast<int64_t>(alloc.as<AllocAttr>().bytes);
  for (ValueId d : alloc.operands) {
    auto* extent = llvm::dyn_cast<llvm::ConstantInt>(value(d));
    if (!extent || extent->getSExtValue() <= 0) return std::nullopt;
    if (__builtin_mul_overflow(bytes, extent->getSExtValue(), &bytes) || bytes > MELIX_MAX_EXTENT)
      return std::nullopt;
  }
  return bytes;
}

void FunctionEmitter::emitAllocArray(const Stmt& s) {
  const auto& attr = s.as<AllocAttr>();
  llvm::Value* bytes = b_.getInt64(attr.bytes);
  if (std::optional<int64_t> known = knownBytes(s)) {
    bytes = b_.getInt64(static_cast<uint64_t>(*known));
  } else {
    llvm::Value* dims = slot(8 * s.operands.size());
    for (size_t k = 0; k < s.operands.size(); ++k)
      b_.CreateStore(value(s.operands[k]), b_.CreateConstInBoundsGEP1_64(m_.i64(), dims, k));
    bytes = call(runtime("melix_checked_bytes", m_.i64(), {m_.ptr(), m_.i64(), m_.i64(), m_.ptr()}),
                 {task_, bytes, b_.getInt64(s.operands.size()), dims});
  }
  if (m_.layouts.stored(attr.type).counted)
    return setResult(s, call(runtime("melix_alloc_typed", m_.ptr(), {m_.ptr(), m_.i64(), m_.ptr(), m_.i32()}),
                             {task_, bytes, m_.descriptor(attr.type), b_.getInt32(MELIX_LAYOUT_ELEMENTS)}));
  const char* name = attr.zeroed ? "melix_alloc_zeroed" : "melix_alloc";
  setResult(s, call(runtime(name, m_.ptr(), {m_.ptr(), m_.i64()}), {task_, bytes}));
}

void FunctionEmitter::emitFrameArray(const Stmt& s) {
  const auto& attr = s.as<AllocAttr>();
  const bool mayBeAcquired = m_.options.devices.any() && task_ && !fn_.isClosed();
  llvm::Value* at = mayBeAcquired ? DeviceEmitter(*this).frameBlock(attr.bytes) : slot(attr.bytes);
  if (attr.zeroed) b_.CreateMemSet(at, b_.getInt8(0), attr.bytes, llvm::Align(16));
  setResult(s, at);
}

void FunctionEmitter::emitAllocNode(const Stmt& s) {
  const auto& attr = s.as<AllocAttr>();
  setResult(s,
            call(runtime("melix_alloc_typed", m_.ptr(), {m_.ptr(), m_.i64(), m_.ptr(), m_.i32()}),
                 {task_, b_.getInt64(attr.bytes), m_.descriptor(attr.type), b_.getInt32(MELIX_LAYOUT_NODE)}));
}

void FunctionEmitter::emitCount(const Stmt& s) {
  llvm::Value* v = value(s.operands[0]);
  if (llvm::isa<llvm::Constant>(v)) return; // immortal
  bool word = fn_.typeOf(s.operands[0]).cls == ClassKind::Word;
  bool drop = s.kind == loops::StmtKind::Drop;
  const char* name =
      drop ? (word ? "melix_release_word" : "melix_release") : (word ? "melix_retain_word" : "melix_retain");
  call(runtime(name, b_.getVoidTy(), {m_.ptr(), m_.ptr()}), {task_, v});
}

/// One owner is the common case and takes no call.
void FunctionEmitter::emitEnsureUnique(const Stmt& s) {
  llvm::Value* v = generic(value(s.operands[0]));
  llvm::BasicBlock *look = block("look"), *copy = block("copy"), *done = block("unique");
  b_.CreateCondBr(b_.CreateIsNull(v), copy, look);
  b_.SetInsertPoint(look);
  llvm::Value* header =
      b_.CreateConstInBoundsGEP1_64(m_.i8(), v, static_cast<uint64_t>(-int64_t(MELIX_HEADER_BYTES)));
  auto* refs = b_.CreateLoad(m_.i32(), header);
  refs->setAtomic(llvm::AtomicOrdering::Acquire);
  refs->setAlignment(llvm::Align(4));
  b_.CreateCondBr(b_.CreateICmpEQ(refs, b_.getInt32(1)), done, copy);
  llvm::BasicBlock* looked = b_.GetInsertBlock();
  b_.SetInsertPoint(copy);
  Values args{task_, v};
  std::vector<llvm::Type*> types{m_.ptr(), m_.ptr()};
  for (size_t k = 1; k < s.operands.size(); ++k) {
    args.push_back(value(s.operands[k]));
    types.push_back(m_.i64());
  }
  const char* name = s.operands.size() > 1 ? "melix_unique_beside" : "melix_ensure_unique";
  llvm::Value* made = call(runtime(name, m_.ptr(), types), args);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  auto* result = b_.CreatePHI(m_.ptr(), 2);
  result->addIncoming(v, looked);
  result->addIncoming(made, copy);
  setResult(s, result);
}

void FunctionEmitter::emitTag(const Stmt& s) {
  llvm::Value* word = value(s.operands[0]);
  llvm::Value* bits = b_.CreatePtrToInt(word, m_.i64());
  llvm::BasicBlock *node = block("node"), *done = block("tag");
  llvm::BasicBlock* from = b_.GetInsertBlock();
  llvm::Value* immediate = b_.CreateLShr(bits, 1);
  b_.CreateCondBr(b_.CreateTrunc(bits, m_.i1()), done, node);
  b_.SetInsertPoint(node);
  llvm::Value* loaded = b_.CreateZExt(b_.CreateLoad(m_.i32(), word), m_.i64());
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  auto* tag = b_.CreatePHI(m_.i64(), 2);
  tag->addIncoming(immediate, from);
  tag->addIncoming(loaded, node);
  setResult(s, tag);
}

} // namespace melix::codegen
