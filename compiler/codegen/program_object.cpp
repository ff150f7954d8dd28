// The last object of an executable: the line tables of the others, the MelixProgram and `main`.
#include "codegen/codegen.h"
#include "codegen/target.h"

#include "melix/abi.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <map>

namespace melix::codegen {

LineData encodeLines(const LineTable& table) {
  LineData data;
  std::map<std::string, uint32_t> offsets;
  auto add = [&](const std::string& text) {
    auto [at, fresh] = offsets.emplace(text, static_cast<uint32_t>(data.strings.size()));
    if (fresh) data.strings.append(text.c_str(), text.size() + 1);
    return at->second;
  };
  add("");
  uint32_t frames = 0;
  for (const LineEntry& entry : table.entries) {
    data.entries.insert(data.entries.end(), {entry.address, frames});
    for (const Frame& f : entry.frames) {
      data.frames.insert(data.frames.end(), {add(f.function), add(f.file), f.line, f.column, add(f.text)});
      ++frames;
    }
  }
  data.count = table.entries.size();
  data.entries.insert(data.entries.end(), {static_cast<uint32_t>(table.size), frames});
  return data;
}

namespace {

/// The module that is made, and the constants that go into it.
class ProgramModule {
public:
  explicit ProgramModule(const llvm::TargetMachine& machine) : module("program", context) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
  }

  llvm::LLVMContext context;
  llvm::Module module;
  llvm::Type *i8 = llvm::Type::getInt8Ty(context), *i32 = llvm::Type::getInt32Ty(context),
             *i64 = llvm::Type::getInt64Ty(context);
  llvm::PointerType* ptr = llvm::PointerType::get(context, 0);
  llvm::Constant* null = llvm::ConstantPointerNull::get(ptr);

  llvm::Constant* global(llvm::Constant* value, bool constant) {
    return new llvm::GlobalVariable(module, value->getType(), constant, llvm::GlobalValue::PrivateLinkage,
                                    value, "data");
  }

  /// A MelixLineTable.
  llvm::Constant* lines(const LineTable& table) {
    auto* code = new llvm::GlobalVariable(module, i8, true, llvm::GlobalValue::ExternalLinkage, nullptr,
                                          table.baseSymbol);
    llvm::Constant* base = llvm::ConstantExpr::getGetElementPtr(
        i8, code, llvm::ConstantInt::getSigned(i64, -static_cast<int64_t>(table.baseOffset)));
    LineData data = encodeLines(table);
    auto words = [&](const std::vector<uint32_t>& v) -> llvm::Constant* {
      return v.empty() ? null : global(llvm::ConstantDataArray::get(context, v), true);
    };
    llvm::Constant* strings = global(llvm::ConstantDataArray::getString(context, data.strings, false), true);
    return llvm::ConstantStruct::getAnon({base, llvm::ConstantInt::get(i64, table.size), words(data.entries),
                                          llvm::ConstantInt::get(i64, data.count), words(data.frames),
                                          strings, null});
  }

  /// The tables of the objects that have one.
  std::vector<llvm::Constant*> allLines(const std::vector<Object>& objects) {
    std::vector<llvm::Constant*> tables;
    for (const Object& object : objects)
      if (!object.lines.baseSymbol.empty()) tables.push_back(lines(object.lines));
    return tables;
  }

  /// They stand one after another in memory that the runtime may write.
  llvm::Constant* arrayOf(const std::vector<llvm::Constant*>& tables) {
    if (tables.empty()) return null;
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(tables[0]->getType(), tables.size()), tables),
                  false);
  }

  llvm::Constant* external(const char* symbol) {
    return new llvm::GlobalVariable(module, i8, true, llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  }
  llvm::Function* function(llvm::Type* result, llvm::ArrayRef<llvm::Type*> params, const std::string& name) {
    return llvm::Function::Create(llvm::FunctionType::get(result, params, false),
                                  llvm::Function::ExternalLinkage, name, module);
  }

  /// main(argc, argv), which hands a MelixProgram over.
  void makeMain(llvm::Constant* program) {
    auto* run = function(i32, {i32, ptr, ptr}, "melix_main");
    auto* main = function(i32, {i32, ptr}, "main");
    main->addFnAttr("frame-pointer", "all");
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", main));
    b.CreateRet(b.CreateCall(run, {main->getArg(0), main->getArg(1), program}));
  }
};

} // namespace

void addStart(Compiled& program, const Options& options) {
  Options quick = options;
  quick.optimise = false;
  auto machine = makeTargetMachine(quick);
  ProgramModule m(*machine);
  const std::vector<llvm::Constant*> lines = m.allLines(program.objects);
  auto* entry = m.function(m.i32, {m.ptr}, program.entry);
  int level = options.target == TargetKind::Portable ? 3 : 0;
  const char* symbol = options.forDevices ? "melix_devices_and_emulator" : "melix_devices";
  llvm::Constant* devices = program.usesDevices ? m.external(symbol) : m.null;
  m.makeMain(
      m.global(llvm::ConstantStruct::getAnon({entry, m.arrayOf(lines), llvm::ConstantInt::get(m.i32, level),
                                              llvm::ConstantInt::get(m.i32, lines.size()), devices}),
               true));
  std::optional<std::string> bytes = objectOf(m.module, *machine);
  if (!bytes) program.error = noObjectFiles;
  program.objects.push_back({bytes.value_or(""), {}});
}

} // namespace melix::codegen
