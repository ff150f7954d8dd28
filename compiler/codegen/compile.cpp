#include "codegen/debug_info.h"
#include "codegen/emitter.h"
#include "codegen/target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace melix::codegen {
namespace {

bool hasLoops(const loops::Module& module) {
  for (const loops::Function& fn : module.functions)
    for (const loops::Stmt& s : fn.stmts)
      if (s.kind == loops::StmtKind::For || s.kind == loops::StmtKind::While ||
          s.kind == loops::StmtKind::Launch)
        return true;
  // Recursion loops too.
  for (const loops::Function& fn : module.functions)
    for (const loops::Stmt& s : fn.stmts)
      if (s.kind == loops::StmtKind::Call && module.functions[s.as<loops::FunctionId>()].key == fn.key)
        return true;
  return false;
}

/// LLVM IR after the passes, ready for code generation.
class Build {
public:
  Build(const loops::Module& module, const Options& options) : emitter(module, options, context) {
    bool loops = hasLoops(module);
    machine = makeTargetMachine(options, loops);
    emitter.llvm->setTargetTriple(machine->getTargetTriple());
    emitter.llvm->setDataLayout(machine->createDataLayout());
    emitter.llvm->setPICLevel(llvm::PICLevel::BigPIC);
    emitter.run();
    llvm::raw_string_ostream text(error);
    if (llvm::verifyModule(*emitter.llvm, &text)) return;
    optimise(*emitter.llvm, *machine, options.optimise && loops);
  }

  llvm::LLVMContext context;
  ModuleEmitter emitter;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string error;
};

} // namespace

Compiled compile(const loops::Module& module, const Options& options) {
  Build build(module, options);
  Compiled out;
  out.error = build.error;
  if (!out.error.empty()) return out;
  out.entry = build.emitter.entrySymbol;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (!emitCode(*build.emitter.llvm, *build.machine, stream, false)) {
    out.error = "this target has no object files";
    return out;
  }
  out.object.assign(bytes.begin(), bytes.end());
  out.lines = readLineTable(out.object, options);
  return out;
}

std::string compileToText(const loops::Module& module, const Options& options, TextKind kind) {
  Build build(module, options);
  std::string text = build.error;
  if (kind == TextKind::Ir) {
    llvm::raw_string_ostream stream(text);
    build.emitter.llvm->print(stream, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  emitCode(*build.emitter.llvm, *build.machine, stream, true);
  return text + std::string(bytes.begin(), bytes.end());
}

} // namespace melix::codegen
