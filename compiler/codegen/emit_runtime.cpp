// Checks, panics and calls of the runtime.
#include "codegen/function_emitter.h"
#include "codegen/sanitize.h"

#include "codegen/debug_info.h"
#include "melix/abi.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>

namespace melix::codegen {
namespace {

const char* symbolOf(ops::BuiltinKind kind) {
  switch (kind) {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  case ops::BuiltinKind::Kind: return #Symbol;
#include "ops/builtins.def"
  }
  return "";
}

} // namespace

/// `numbers`: an array of i64 in memory.
void FunctionEmitter::panicFormat(const std::string& text, llvm::Value* numbers, size_t count) {
  if (count == 0) {
    call(m_.runtime("melix_panic", b_.getVoidTy(), {m_.ptr(), m_.ptr(), m_.i64()}, false),
         {task_, m_.cString(text), b_.getInt64(text.size())});
    return;
  }
  call(m_.runtime("melix_panic_format", b_.getVoidTy(), {m_.ptr(), m_.ptr(), m_.i64(), m_.ptr()}, false),
       {task_, m_.cString(text), b_.getInt64(count), numbers});
}

void FunctionEmitter::emitCheck(const Stmt& s) {
  llvm::BasicBlock *failed = block("failed"), *fine = block("fine");
  b_.CreateCondBr(value(s.operands[0]), fine, failed);
  b_.SetInsertPoint(failed);
  const size_t count = std::min<size_t>(s.operands.size() - 1, MELIX_CHECK_NUMBERS);
  llvm::Value* numbers = kernel_ ? failRecord_ : count ? slot(8 * count) : nullptr;
  for (size_t k = 0; k < count; ++k)
    b_.CreateStore(value(s.operands[k + 1]), b_.CreateConstInBoundsGEP1_64(m_.i64(), numbers, k));
  if (kernel_) {
    const auto number = std::ranges::find(checks_, &s) - checks_.begin();
    b_.CreateRet(b_.getInt64(static_cast<uint64_t>(number)));
  } else {
    panicFormat(s.as<loops::Message>().text, numbers, count);
    b_.CreateUnreachable();
  }
  b_.SetInsertPoint(fine);
}

void FunctionEmitter::emitPanic(const Stmt& s) {
  call(m_.runtime("melix_panic", b_.getVoidTy(), {m_.ptr(), m_.ptr(), m_.i64()}, false),
       {task_, value(s.operands[0]), value(s.operands[1])});
  b_.CreateUnreachable();
  // What follows in the region is dead; it still needs a block.
  b_.SetInsertPoint(block("dead"));
}

/// Assembly without instructions, which no pass looks into: it takes a register and gives it back, or takes
/// an address and may change what is in memory.
void FunctionEmitter::emitBlackBox(const Stmt& s) {
  llvm::Value* v = value(s.operands[0]);
  llvm::Type *type = v->getType(), *i64 = m_.i64();
  auto assembly = [&](llvm::Type* result, const char* constraints, llvm::Value* operand) {
    auto* function = llvm::FunctionType::get(result, {operand->getType()}, false);
    llvm::CallInst* asmCall = b_.CreateCall(llvm::InlineAsm::get(function, "", constraints, true), {operand});
    asmCall->setDoesNotThrow();
    return asmCall;
  };
  if (s.results.empty()) {
    assembly(b_.getVoidTy(), "r,~{memory}", v);
  } else if (type->isFloatTy() || type->isDoubleTy()) {
    setResult(s, assembly(type, "=x,0", v));
  } else { // integers, and the bits of narrow floats
    llvm::Type* bits = b_.getIntNTy(type->getScalarSizeInBits());
    llvm::Value* wide = assembly(i64, "=r,0", b_.CreateZExt(b_.CreateBitCast(v, bits), i64));
    setResult(s, b_.CreateBitCast(b_.CreateTrunc(wide, bits), type));
  }
}

void FunctionEmitter::emitBuiltin(const Stmt& s) {
  call(runtime(symbolOf(s.as<ops::BuiltinKind>()), b_.getVoidTy(), {m_.ptr(), m_.ptr(), m_.ptr()}),
       {task_, value(s.operands[0]), value(s.operands[1])});
}

void FunctionEmitter::emitFormat(const Stmt& s) {
  const auto& attr = s.as<loops::FormatCall>();
  auto* text = llvm::StructType::get(m_.context, {m_.ptr(), m_.i64()});
  auto number = [&](size_t k) { return k < s.operands.size() ? value(s.operands[k]) : b_.getInt64(0); };
  llvm::FunctionCallee format =
      runtime("melix_format_value", text,
              {m_.ptr(), m_.ptr(), m_.ptr(), m_.ptr(), m_.i64(), m_.i32(), m_.i64(), m_.i64()});
  llvm::Value* r =
      call(format, {task_, m_.descriptor(attr.type), value(s.operands[0]), m_.cString(attr.spec),
                    b_.getInt64(attr.spec.size()), b_.getInt32(attr.quoted), number(1), number(2)});
  set(s.results[0], b_.CreateExtractValue(r, 0));
  set(s.results[1], b_.CreateExtractValue(r, 1));
}

/// What stands first in a list's block (MelixListHead); null is the empty list. No list is longer than an
/// axis may be, which LLVM is told: places are checked by one comparison, remainders by a length have no sign
/// but that of the dividend.
llvm::Value* FunctionEmitter::listLength(llvm::Value* list) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *some = block("some"), *done = block("length");
  b_.CreateCondBr(b_.CreateIsNull(list), done, some);
  b_.SetInsertPoint(some);
  llvm::LoadInst* stored = b_.CreateLoad(m_.i64(), list);
  stored->setMetadata(
      llvm::LLVMContext::MD_range,
      llvm::MDBuilder(m_.context).createRange(llvm::APInt(64, 0), llvm::APInt(64, MELIX_MAX_EXTENT + 1)));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  auto* length = b_.CreatePHI(m_.i64(), 2);
  length->addIncoming(b_.getInt64(0), before);
  length->addIncoming(stored, some);
  return length;
}

/// Whether a list, not null, has one owner and room for so many elements.
llvm::Value* FunctionEmitter::hasRoom(llvm::Value* list, llvm::Value* capacity) {
  auto at = [&](int64_t offset) {
    return b_.CreateConstInBoundsGEP1_64(m_.i8(), list, static_cast<uint64_t>(offset));
  };
  llvm::Value* has = b_.CreateLoad(m_.i64(), at(sizeof(int64_t)));
  auto* refs = b_.CreateLoad(m_.i32(), at(-int64_t(MELIX_HEADER_BYTES)));
  refs->setAtomic(llvm::AtomicOrdering::Acquire);
  refs->setAlignment(llvm::Align(4));
  return b_.CreateAnd(b_.CreateICmpSLE(capacity, has), b_.CreateICmpEQ(refs, b_.getInt32(1)));
}

/// A list that has room and one owner takes no call, unless the room is poisoned.
void FunctionEmitter::listReserve(llvm::Value* slot, types::TypeId elem, llvm::Value* capacity) {
  auto* p = m_.ptr();
  auto reserve = [&] {
    call(runtime("melix_list_reserve", b_.getVoidTy(), {p, p, p, m_.i64()}),
         {task_, slot, m_.descriptor(elem), capacity});
  };
  if (sanitizesPrograms) return reserve();
  llvm::BasicBlock *some = block("some"), *grow = block("grow"), *done = block("reserved");
  llvm::Value* list = b_.CreateLoad(p, slot);
  b_.CreateCondBr(b_.CreateIsNull(list), grow, some);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(hasRoom(list, capacity), done, grow);
  b_.SetInsertPoint(grow);
  reserve();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// The place of a new last element, zeroed; calls as `listReserve` does.
llvm::Value* FunctionEmitter::listPush(llvm::Value* slot, types::TypeId elem) {
  auto* p = m_.ptr();
  auto push = [&] {
    return call(runtime("melix_list_push", p, {p, p, p}), {task_, slot, m_.descriptor(elem)});
  };
  if (sanitizesPrograms) return push();
  llvm::BasicBlock *some = block("some"), *room = block("room"), *grow = block("grow"),
                   *done = block("pushed");
  llvm::Value* list = b_.CreateLoad(p, slot);
  b_.CreateCondBr(b_.CreateIsNull(list), grow, some);

  b_.SetInsertPoint(some);
  llvm::Value* length = b_.CreateLoad(m_.i64(), list);
  llvm::Value* next = b_.CreateNSWAdd(length, b_.getInt64(1));
  b_.CreateCondBr(hasRoom(list, next), room, grow);

  b_.SetInsertPoint(room);
  const int64_t size = m_.layouts.stored(elem).size;
  b_.CreateStore(next, list);
  llvm::Value* offset = b_.CreateNSWMul(length, b_.getInt64(size));
  llvm::Value* elements = b_.CreateConstInBoundsGEP1_64(m_.i8(), list, MELIX_LIST_ELEMENTS);
  llvm::Value* here = b_.CreateInBoundsGEP(m_.i8(), elements, offset);
  b_.CreateMemSet(here, b_.getInt8(0), b_.getInt64(size), llvm::MaybeAlign());
  b_.CreateBr(done);

  b_.SetInsertPoint(grow);
  llvm::Value* made = push();
  b_.CreateBr(done);

  b_.SetInsertPoint(done);
  auto* place = b_.CreatePHI(p, 2);
  place->addIncoming(here, room);
  place->addIncoming(made, grow);
  return place;
}

void FunctionEmitter::emitRuntimeCall(const Stmt& s) {
  using loops::RuntimeKind;
  const auto& attr = s.as<loops::RuntimeCall>();
  auto* p = m_.ptr();
  auto arg = [&](size_t k) { return value(s.operands[k]); };
  switch (attr.kind) {
  case RuntimeKind::ListPush: return setResult(s, listPush(arg(0), attr.type));
  case RuntimeKind::ListPop:
    return setResult(
        s, call(runtime("melix_list_pop", p, {p, p, p}), {task_, arg(0), m_.descriptor(attr.type)}));
  case RuntimeKind::ListReserve: return listReserve(arg(0), attr.type, arg(1));
  case RuntimeKind::ListLength: return setResult(s, listLength(arg(0)));
  case RuntimeKind::ListToArray:
    return setResult(
        s, call(runtime("melix_list_to_array", p, {p, p, p}), {task_, arg(0), m_.descriptor(attr.type)}));
  case RuntimeKind::ListFromArray:
    return setResult(s, call(runtime("melix_list_from_array", p, {p, p, m_.i64(), p}),
                             {task_, arg(0), arg(1), m_.descriptor(attr.type)}));
  case RuntimeKind::DeviceReady:
    return setResult(s, b_.CreateTrunc(call(runtime("melix_device_ready", m_.i64(), {m_.i64()}), {arg(0)}),
                                       b_.getInt1Ty()));
  case RuntimeKind::DeviceCompare:
    call(runtime("melix_device_compare", b_.getVoidTy(), {p, p, p, p, p}),
         {task_, m_.descriptor(attr.type), arg(0), arg(1), arg(2)});
    return;
  case RuntimeKind::ArgSort:
    call(runtime("melix_argsort", b_.getVoidTy(), {p, p, p, m_.i64(), m_.i32(), p}),
         {task_, m_.descriptor(attr.type), arg(0), arg(1), b_.CreateTrunc(arg(2), m_.i32()), arg(3)});
    return;
  case RuntimeKind::RetainElements:
  case RuntimeKind::ReleaseElements: break;
  }
  // One value after another.
  const char* name = attr.kind == RuntimeKind::RetainElements ? "melix_retain_value" : "melix_release_value";
  llvm::BasicBlock *head = block("each"), *body = block("one"), *done = block("all");
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  auto* i = b_.CreatePHI(m_.i64(), 2);
  i->addIncoming(b_.getInt64(0), from);
  b_.CreateCondBr(b_.CreateICmpSLT(i, arg(1)), body, done);
  b_.SetInsertPoint(body);
  llvm::Value* offset = b_.CreateNSWMul(i, b_.getInt64(m_.layouts.stored(attr.type).size));
  call(runtime(name, b_.getVoidTy(), {p, p, p}),
       {task_, m_.descriptor(attr.type), b_.CreateInBoundsGEP(m_.i8(), arg(0), offset)});
  i->addIncoming(b_.CreateNSWAdd(i, b_.getInt64(1)), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
}

} // namespace melix::codegen
