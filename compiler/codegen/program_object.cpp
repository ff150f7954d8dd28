// The last object of an executable: the line tables of the others, the MelixProgram and `main`.
#include "codegen/codegen.h"
#include "codegen/data_module.h"

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

/// The constants of a program, and its `main`.
class ProgramModule : public DataModule {
public:
  explicit ProgramModule(const Options& options) : DataModule("program", options) {}

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
  ProgramModule m(options);
  const std::vector<llvm::Constant*> lines = m.allLines(program.objects);
  auto* entry = m.function(m.i32, {m.ptr}, program.entry);
  const uint32_t level = options.target == TargetKind::Portable ? 3 : 0;
  const char* symbol = options.devices.emulator ? "melix_devices_and_emulator" : "melix_devices";
  llvm::Constant* devices = program.devices.uses ? m.external(symbol) : m.null;
  // The runtime writes the tables of lines.
  m.makeMain(m.global(
      m.record({entry, m.arrayOf(lines, false), m.half(level), m.half(static_cast<uint32_t>(lines.size())),
                devices, m.half(static_cast<uint32_t>(program.devices.flags))}),
      true));
  program.objects.push_back({m.object(program.error), {}});
}

} // namespace melix::codegen
