#pragma once
// Internal: an object that holds constants, for the records of the runtime.

#include "codegen/target.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace melix::codegen {

/// Options of a target for which nothing is optimised.
inline Options quickOptions(Options options) {
  options.optimise = false;
  return options;
}

/// The module of such an object.
class DataModule {
public:
  DataModule(const char* name, const Options& options)
      : machine(makeTargetMachine(quickOptions(options))), module(name, context) {
    module.setTargetTriple(machine->getTargetTriple());
    module.setDataLayout(machine->createDataLayout());
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::Module module;
  llvm::Type *i8 = llvm::Type::getInt8Ty(context), *i32 = llvm::Type::getInt32Ty(context),
             *i64 = llvm::Type::getInt64Ty(context);
  llvm::PointerType* ptr = llvm::PointerType::get(context, 0);
  llvm::Constant* null = llvm::ConstantPointerNull::get(ptr);

  llvm::Constant* word(uint64_t value) { return llvm::ConstantInt::get(i64, value); }
  llvm::Constant* half(uint32_t value) { return llvm::ConstantInt::get(i32, value); }
  llvm::Constant* record(llvm::ArrayRef<llvm::Constant*> fields) {
    return llvm::ConstantStruct::getAnon(fields);
  }

  /// Data that only this object sees; `constant`: nobody changes it.
  llvm::Constant* global(llvm::Constant* value, bool constant) {
    return new llvm::GlobalVariable(module, value->getType(), constant, llvm::GlobalValue::PrivateLinkage,
                                    value, "data");
  }
  /// Text that ends with NUL.
  llvm::Constant* text(llvm::StringRef value) {
    return global(llvm::ConstantDataArray::getString(context, value), true);
  }
  /// Records of one type, one after another; null if there are none.
  llvm::Constant* arrayOf(const std::vector<llvm::Constant*>& records, bool constant) {
    if (records.empty()) return null;
    return global(
        llvm::ConstantArray::get(llvm::ArrayType::get(records[0]->getType(), records.size()), records),
        constant);
  }
  /// A symbol of another object.
  llvm::Constant* external(const std::string& symbol) {
    return new llvm::GlobalVariable(module, i8, true, llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  }

  /// The bytes of the object. Sets `problem` if there is none.
  std::string object(std::string& problem) {
    std::optional<std::string> bytes = objectOf(module, *machine);
    if (!bytes) problem = noObjectFiles;
    return bytes.value_or("");
  }
};

} // namespace melix::codegen
