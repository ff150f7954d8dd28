#pragma once
// Internal: the module under construction, and the state that all emitters of functions share.

#include "codegen/codegen.h"
#include "codegen/units.h"
#include "loops/layout/layout.h"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace melix::codegen {

class DebugInfo;

/// The range of a size parameter; none for other parameters, which may be any number.
inline std::optional<llvm::ConstantRange> rangeOfParam(const loops::Function& fn, size_t k) {
  if (k >= fn.modes.size() || fn.modes[k] != loops::ModeKind::Size) return std::nullopt;
  return llvm::ConstantRange(llvm::APInt(64, 0), llvm::APInt::getSignedMinValue(64));
}

/// The layouts of a module's types. Units are emitted at the same time, and a question about types may make
/// some: one unit asks at a time.
class SharedLayouts {
public:
  explicit SharedLayouts(types::TypeStore& types) : layouts_(types) {}
  /// The result of `ask` on the layouts, which nobody else uses meanwhile.
  auto held(const auto& ask) {
    std::lock_guard lock(guard_);
    return ask(layouts_);
  }
  loops::StoredForm stored(types::TypeId type) {
    return held([&](loops::Layouts& layouts) { return layouts.stored(type); });
  }

private:
  std::mutex guard_;
  loops::Layouts layouts_;
};

/// Emits an LLVM function for each function of a unit, with a chunk function before each kernel.
class ModuleEmitter {
public:
  ModuleEmitter(const Unit& unit, const Options& options, SharedLayouts& layouts, llvm::LLVMContext& context);
  ~ModuleEmitter();

  void run();
  /// As of Compiled, those in the unit.
  std::map<core::FunctionId, std::string> entries;

  const Unit& unit;
  const Options& options;
  llvm::LLVMContext& context;
  std::unique_ptr<llvm::Module> llvm;
  SharedLayouts& layouts;
  std::unique_ptr<DebugInfo> debug;

  // types
  llvm::Type* typeOf(loops::ValueType type);
  llvm::Type* memoryTypeOf(loops::ValueType type);
  llvm::Type* resultOf(const loops::Function& fn);
  llvm::PointerType* ptr() { return llvm::PointerType::get(context, 0); }
  llvm::IntegerType* i1() { return llvm::Type::getInt1Ty(context); }
  llvm::IntegerType* i8() { return llvm::Type::getInt8Ty(context); }
  llvm::IntegerType* i32() { return llvm::Type::getInt32Ty(context); }
  llvm::IntegerType* i64() { return llvm::Type::getInt64Ty(context); }
  /// The type of offsets and counts in memory.
  llvm::IntegerType* index() { return llvm::Type::getIntNTy(context, options.addressing.indexBits); }

  /// A function of the runtime (melix/abi.h), declared at first use.
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> params,
                               bool returns = true);

  // functions
  /// Declared at first use: it may stand in another unit.
  llvm::Function* functionOf(loops::FunctionId f);
  /// The kernel itself, which the function of a kernel calls for a chunk.
  llvm::Function* kernelOf(loops::FunctionId f);

  // constants.cpp
  llvm::Constant* text(const std::string& text);  ///< data of an immortal block
  llvm::Constant* cString(llvm::StringRef text);  ///< NUL-terminated
  llvm::Constant* descriptor(types::TypeId type); ///< a MelixType

private:
  llvm::Function* declare(llvm::Type* result, const std::vector<llvm::Type*>& params, bool visible,
                          const std::string& name);
  void addAttributes(llvm::Function* f);
  void emitEntry(loops::FunctionId f);
  // constants.cpp
  llvm::Constant* descriptorOf(types::TypeId type);
  llvm::Constant* descriptorOf(loops::StoredType type);
  llvm::Constant* dimsInPlace(loops::StoredType type);
  llvm::Constant* typeRecord(uint8_t kind, uint8_t rank, loops::StoredType type, uint32_t fieldCount,
                             uint32_t caseCount, llvm::Constant* name, llvm::Constant* elem,
                             llvm::Constant* fields, llvm::Constant* cases);
  llvm::Constant* fieldTable(const std::vector<llvm::Constant*>& fields);
  llvm::Constant* field(llvm::Constant* name, llvm::Constant* described, uint32_t offset);
  /// Leaves in slots of an enum: the offsets of the leaves that come next.
  using Slots = std::span<const uint32_t>;
  llvm::Constant* fieldInSlots(llvm::Constant* name, loops::StoredType type, Slots& slots);
  llvm::Constant* productInSlots(loops::StoredType type, Slots& slots);
  llvm::Constant* casesInSlots(loops::StoredType type, Slots parts);
  llvm::Constant* casesInNodes(loops::StoredType type);
  using FieldTable = std::vector<llvm::Constant*>;
  llvm::Constant* caseRecord(types::TypeId type, uint32_t c, const FieldTable& fields, uint32_t bytes);
  llvm::Constant* caseTable(const std::vector<llvm::Constant*>& cases);
  llvm::Constant* fieldName(types::TypeId type, uint32_t c, uint32_t k);
  llvm::Constant* recordName(types::TypeId type);
  llvm::Constant* packDescriptor(loops::StoredType type);
  llvm::Constant* makeDescriptor(loops::StoredType type);
  llvm::Constant* describeProduct(loops::StoredType type, loops::StoredType product, llvm::Constant* fields,
                                  Slots parts);
  llvm::Constant* productFields(loops::StoredType type, uint32_t shift);
  loops::Layouts* held_ = nullptr; ///< while a descriptor is made
  /// MelixType, MelixField, MelixCase.
  struct Records {
    llvm::StructType *type, *field, *oneCase;
  };
  Records records_;
  std::map<uint32_t, llvm::Function*> functions_, kernels_;
  std::map<std::string, llvm::Constant*> texts_, strings_;
  std::map<uint32_t, llvm::GlobalVariable*> descriptors_;
};

/// Emits the body of one function (or kernel).
void emitFunction(ModuleEmitter& module, loops::FunctionId f);

} // namespace melix::codegen
