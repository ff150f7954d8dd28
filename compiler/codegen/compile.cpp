#include "codegen/debug_info.h"
#include "codegen/emitter.h"
#include "codegen/target.h"
#include "codegen/units.h"
#include "support/threads.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace melix::codegen {
namespace {

bool hasLoops(const loops::Module& module) {
  for (const loops::Function& fn : module.functions)
    for (const loops::Stmt& s : fn.stmts)
      if (isLoop(s) || s.kind == loops::StmtKind::Launch) return true;
  // Recursion loops too.
  for (const loops::Function& fn : module.functions)
    for (const loops::Stmt& s : fn.stmts)
      if (s.kind == loops::StmtKind::Call && module.functions[s.as<loops::FunctionId>()].key == fn.key)
        return true;
  return false;
}

/// Address spaces of PTX.
constexpr unsigned globalSpace = 1, localSpace = 5;

bool usesDevices(const loops::Module& module) {
  return std::ranges::any_of(module.functions, [](const loops::Function& fn) {
    return std::ranges::any_of(fn.stmts, [](const loops::Stmt& s) {
      return s.kind == loops::StmtKind::Runtime &&
             s.as<loops::RuntimeCall>().kind == loops::RuntimeKind::DeviceReady;
    });
  });
}

/// What the options come to for a module. Code without loops runs once: making it takes longer than running
/// it.
Options optionsFor(const loops::Module& module, Options options) {
  options.optimise &= hasLoops(module);
  return options;
}

/// A unit as LLVM IR, and the machine it is for.
class Build {
public:
  Build(const Unit& unit, const Options& options, SharedLayouts& layouts)
      : emitter(unit, options, layouts, context), options_(options) {
    machine = makeTargetMachine(options);
    emitter.llvm->setTargetTriple(machine->getTargetTriple());
    emitter.llvm->setDataLayout(machine->createDataLayout());
    emitter.llvm->setPICLevel(llvm::PICLevel::BigPIC);
    emitter.run();
  }

  /// Makes the IR ready for code generation. Returns what is wrong with it: a bug; empty if all is well.
  std::string optimise() {
    std::string problem;
    llvm::raw_string_ostream text(problem);
    if (!llvm::verifyModule(*emitter.llvm, &text)) codegen::optimise(*emitter.llvm, *machine, options_);
    return problem;
  }

  /// The object of the unit. Sets `problem` if there is none.
  Object object(std::string& problem) {
    problem = optimise();
    if (!problem.empty()) return {};
    std::optional<std::string> bytes = objectOf(*emitter.llvm, *machine);
    if (!bytes) {
      problem = noObjectFiles;
      return {};
    }
    LineTable lines = readLineTable(*bytes, options_);
    return {std::move(*bytes), std::move(lines)};
  }

  llvm::LLVMContext context;
  ModuleEmitter emitter;
  std::unique_ptr<llvm::TargetMachine> machine;

private:
  const Options& options_;
};

} // namespace

Compiled compile(const loops::Module& module, const Options& given) {
  const Options options = optionsFor(module, given);
  const std::vector<Unit> units = unitsOf(module);
  SharedLayouts layouts(module.core.types);
  Compiled out;
  out.objects.resize(units.size());
  std::vector<std::string> problems(units.size());
  std::vector<std::map<core::FunctionId, std::string>> entries(units.size());
  const std::vector<size_t> order = longestFirst(units);
  forEachInParallel(units.size(), [&](size_t iteration) {
    const size_t k = order[iteration];
    Build build(units[k], options, layouts);
    entries[k] = std::move(build.emitter.entries);
    out.objects[k] = build.object(problems[k]);
  });
  for (auto& some : entries) out.entries.merge(some);
  out.usesDevices = usesDevices(module);
  if (module.entry.valid()) out.entry = out.entries.at(module.functions[module.entry].source);
  for (const std::string& problem : problems) out.error += problem;
  return out;
}

std::string kernelsAsPtx(const loops::Module& module, const Options& given) {
  const Unit kernels = deviceUnit(module);
  if (kernels.functions.empty()) return {};
  Options options = optionsFor(module, given);
  options.target = TargetKind::Gpu;
  options.addressing = {globalSpace, localSpace, 64};
  SharedLayouts layouts(module.core.types);
  Build build(kernels, options, layouts);
  llvm::StripDebugInfo(*build.emitter.llvm);
  const std::string problem = build.optimise();
  return problem.empty() ? assemblyOf(*build.emitter.llvm, *build.machine) : problem;
}

std::string compileToText(const loops::Module& module, const Options& given, TextKind kind) {
  const Options options = optionsFor(module, given);
  const Unit whole = wholeModule(module);
  SharedLayouts layouts(module.core.types);
  Build build(whole, options, layouts);
  std::string text = build.optimise();
  if (kind == TextKind::Assembly) return text + assemblyOf(*build.emitter.llvm, *build.machine);
  llvm::raw_string_ostream stream(text);
  build.emitter.llvm->print(stream, nullptr);
  return text;
}

} // namespace melix::codegen
