#include "codegen/emitter.h"

#include "codegen/debug_info.h"
#include "codegen/device_images.h"
#include "codegen/target.h"
#include "loops/analysis/written_captures.h"

#include <algorithm>
#include <optional>

namespace melix::codegen {
namespace {

using loops::ClassKind;
using loops::FunctionKind;
using types::TypeKind;

} // namespace

ModuleEmitter::ModuleEmitter(const Unit& u, const Options& o, SharedLayouts& l, llvm::LLVMContext& c)
    : unit(u), options(o), context(c), llvm(std::make_unique<llvm::Module>(o.sourceName, c)), layouts(l),
      debug(std::make_unique<DebugInfo>(*llvm, u.module.core, o)) {
  auto* p = ptr();
  records_.type = llvm::StructType::create(
      context, {i8(), i8(), i8(), i8(), i32(), i32(), i32(), p, p, p, p, p}, "MelixType");
  records_.field = llvm::StructType::create(context, {p, p, i32()}, "MelixField");
  records_.oneCase = llvm::StructType::create(context, {p, p, i32(), i32()}, "MelixCase");
}

ModuleEmitter::~ModuleEmitter() = default;

// --- types
// ------------------------------------------------------------------------------------------------------------

llvm::Type* ModuleEmitter::typeOf(loops::ValueType type) {
  if (type.cls != ClassKind::Scalar) return ptr();
  switch (type.scalar) {
  case TypeKind::Bool: return i1();
  case TypeKind::F16: return llvm::Type::getHalfTy(context);
  case TypeKind::BF16: return llvm::Type::getBFloatTy(context);
  case TypeKind::F32: return llvm::Type::getFloatTy(context);
  case TypeKind::F64: return llvm::Type::getDoubleTy(context);
  default: return llvm::IntegerType::get(context, types::scalarBits(type.scalar));
  }
}

llvm::Type* ModuleEmitter::memoryTypeOf(loops::ValueType type) {
  bool isBool = type.cls == ClassKind::Scalar && type.scalar == TypeKind::Bool;
  return isBool ? i8() : typeOf(type);
}

llvm::Type* ModuleEmitter::resultOf(const loops::Function& fn) {
  if (fn.results.empty()) return llvm::Type::getVoidTy(context);
  if (fn.results.size() == 1) return typeOf(fn.results[0]);
  std::vector<llvm::Type*> parts;
  for (loops::ValueType type : fn.results) parts.push_back(typeOf(type));
  return llvm::StructType::get(context, parts);
}

llvm::FunctionCallee ModuleEmitter::runtime(llvm::StringRef name, llvm::Type* result,
                                            llvm::ArrayRef<llvm::Type*> params, bool returns) {
  llvm::FunctionCallee callee =
      llvm->getOrInsertFunction(name, llvm::FunctionType::get(result, params, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->addFnAttr(llvm::Attribute::NoUnwind);
  if (!returns) {
    f->addFnAttr(llvm::Attribute::NoReturn);
    f->addFnAttr(llvm::Attribute::Cold);
  }
  return callee;
}

// --- functions
// --------------------------------------------------------------------------------------------------------

void ModuleEmitter::addAttributes(llvm::Function* f) {
  f->addFnAttr("frame-pointer", "all");
  f->addFnAttr("probe-stack", "inline-asm");
  f->addFnAttr(llvm::Attribute::NoUnwind);
}

llvm::Function* ModuleEmitter::declare(llvm::Type* result, const std::vector<llvm::Type*>& params,
                                       bool visible, const std::string& name) {
  auto linkage = visible ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
  auto* f = llvm::Function::Create(llvm::FunctionType::get(result, params, false), linkage, name, *llvm);
  addAttributes(f);
  return f;
}

llvm::Function* ModuleEmitter::functionOf(loops::FunctionId id) {
  llvm::Function*& made = functions_[id.index];
  if (made) return made;
  const loops::Function& fn = unit.module.functions[id];
  if (fn.kind == FunctionKind::Device && options.target == TargetKind::Gpu)
    return made = declareDeviceEntry(*this, id);
  std::vector<llvm::Type*> params{ptr(), ptr(), i64(), i64()};
  llvm::Type* result = i64();
  if (fn.kind == FunctionKind::Orchestration) {
    params.resize(1);
    for (loops::ValueId p : fn.params()) params.push_back(typeOf(fn.typeOf(p)));
    result = resultOf(fn);
  }
  const bool isRecorded = fn.kind == FunctionKind::Device; // by the object of its image
  const bool visible = fn.exported || isRecorded || !(unit.alone || isCopied(fn));
  made = declare(result, params, visible, visible ? exportedSymbol(fn) : fn.key);
  if (fn.kind != FunctionKind::Orchestration) {
    made->addFnAttr(runsNests);
    made->setAlignment(llvm::Align(64)); // so that what it takes does not depend on what stands before it
  } else {
    for (unsigned k = 0; k < fn.params().size(); ++k)
      if (const auto range = rangeOfParam(fn, k))
        made->addParamAttr(k + 1, llvm::Attribute::get(context, llvm::Attribute::Range, *range));
  }
  if (isCopied(fn)) made->addFnAttr(llvm::Attribute::AlwaysInline);
  return made;
}

llvm::Function* ModuleEmitter::kernelOf(loops::FunctionId id) {
  llvm::Function*& made = kernels_[id.index];
  if (made) return made;
  const loops::Function& fn = unit.module.functions[id];
  // Captures, bounds, and a record for the numbers of a failed check.
  std::vector<llvm::Type*> params;
  for (size_t k = 0; k < fn.params().size(); ++k) {
    const bool isScratch = fn.modes[k] == loops::ModeKind::Scratch;
    const unsigned space = isScratch ? options.addressing.scratch : options.addressing.arrays;
    llvm::Type* type = typeOf(fn.typeOf(fn.params()[k]));
    params.push_back(type->isPointerTy() ? llvm::PointerType::get(context, space) : type);
  }
  params.push_back(ptr());
  made = declare(i64(), params, false, fn.key + ".kernel");
  // A barrier is a use of memory that one thread of a group writes and others read.
  std::optional<loops::WrittenCaptures> ofGroup;
  if (fn.points.threads > 1) ofGroup.emplace(unit.module, fn);
  for (unsigned k = 0; k < params.size(); ++k) {
    const bool isWritten = ofGroup && k < fn.params().size() && ofGroup->contains(fn.params()[k]);
    if (params[k]->isPointerTy() && !isWritten) made->addParamAttr(k, llvm::Attribute::NoAlias);
  }
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  if (fn.points.threads > 1) made->addFnAttr(llvm::Attribute::Convergent); // it may have barriers
  return made;
}

/// Whether a host may enter by it: a kernel of its own is no such function.
static bool isEntry(const loops::Function& fn) {
  return fn.exported && fn.kind == FunctionKind::Orchestration && fn.params().empty();
}

/// i32 entry(task): a program gives an i64 status, a test or bench nothing.
void ModuleEmitter::emitEntry(loops::FunctionId id) {
  const loops::Function& fn = unit.module.functions[id];
  const std::string& symbol = entries[fn.source] = "melix_entry." + fn.key;
  auto* f = llvm::Function::Create(llvm::FunctionType::get(i32(), {ptr()}, false),
                                   llvm::Function::ExternalLinkage, symbol, *llvm);
  addAttributes(f);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", f));
  llvm::Value* status = b.CreateCall(functionOf(id), {f->getArg(0)});
  if (!status->getType()->isIntegerTy(64)) status = b.getInt64(0);
  b.CreateRet(b.CreateTrunc(status, i32()));
}

void ModuleEmitter::run() {
  const std::vector<loops::FunctionId> all = unit.all();
  for (loops::FunctionId f : all) functionOf(f);
  for (loops::FunctionId f : unit.functions)
    if (isEntry(unit.module.functions[f])) emitEntry(f);
  for (loops::FunctionId f : all) emitFunction(*this, f);
  debug->finish();
}

std::string exportedSymbol(const loops::Function& function) { return "melix." + function.key; }

} // namespace melix::codegen
