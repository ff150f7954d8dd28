// The second object of an executable: the line table of the first, the MelixProgram and `main`.
#include "codegen/codegen.h"
#include "codegen/target.h"

#include "melix/abi.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
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

Compiled programObject(const Compiled& program, const Options& options) {
  llvm::LLVMContext context;
  llvm::Module m("program", context);
  auto machine = makeTargetMachine(options, false);
  m.setTargetTriple(machine->getTargetTriple());
  m.setDataLayout(machine->createDataLayout());
  auto *i8 = llvm::Type::getInt8Ty(context), *i32 = llvm::Type::getInt32Ty(context),
       *i64 = llvm::Type::getInt64Ty(context);
  auto* ptr = llvm::PointerType::get(context, 0);
  llvm::Constant* null = llvm::ConstantPointerNull::get(ptr);
  auto global = [&](llvm::Constant* value, bool constant) {
    return new llvm::GlobalVariable(m, value->getType(), constant, llvm::GlobalValue::PrivateLinkage, value,
                                    "data");
  };

  llvm::Constant* lines = null;
  if (!program.lines.baseSymbol.empty()) {
    LineData data = encodeLines(program.lines);
    auto* code = new llvm::GlobalVariable(m, i8, true, llvm::GlobalValue::ExternalLinkage, nullptr,
                                          program.lines.baseSymbol);
    llvm::Constant* base = llvm::ConstantExpr::getGetElementPtr(
        i8, code, llvm::ConstantInt::getSigned(i64, -static_cast<int64_t>(program.lines.baseOffset)));
    auto words = [&](const std::vector<uint32_t>& v) -> llvm::Constant* {
      return v.empty() ? null : global(llvm::ConstantDataArray::get(context, v), true);
    };
    llvm::Constant* strings = global(llvm::ConstantDataArray::getString(context, data.strings, false), true);
    lines = global(llvm::ConstantStruct::getAnon(
                       {base, llvm::ConstantInt::get(i64, program.lines.size), words(data.entries),
                        llvm::ConstantInt::get(i64, data.count), words(data.frames), strings, null}),
                   false);
  }

  // MelixProgram, and main(argc, argv) that hands it over.
  auto* entryType = llvm::FunctionType::get(i32, {ptr}, false);
  auto* entry = llvm::Function::Create(entryType, llvm::Function::ExternalLinkage, program.entry, m);
  int level = options.target == TargetKind::Portable ? 3 : 0;
  llvm::Constant* record =
      global(llvm::ConstantStruct::getAnon(
                 {entry, lines, llvm::ConstantInt::get(i32, level), llvm::ConstantInt::get(i32, 0)}),
             true);
  auto* run = llvm::Function::Create(llvm::FunctionType::get(i32, {i32, ptr, ptr}, false),
                                     llvm::Function::ExternalLinkage, "melix_main", m);
  auto* main = llvm::Function::Create(llvm::FunctionType::get(i32, {i32, ptr}, false),
                                      llvm::Function::ExternalLinkage, "main", m);
  main->addFnAttr("frame-pointer", "all");
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", main));
  b.CreateRet(b.CreateCall(run, {main->getArg(0), main->getArg(1), record}));

  Compiled out;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (!emitCode(m, *machine, stream, false)) out.error = "this target has no object files";
  out.object.assign(bytes.begin(), bytes.end());
  return out;
}

} // namespace melix::codegen
