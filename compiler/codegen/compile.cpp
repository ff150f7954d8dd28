#include "codegen/debug_info.h"
#include "codegen/device_images.h"
#include "codegen/emitter.h"
#include "codegen/target.h"
#include "codegen/units.h"
#include "melix/abi.h"
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

/// The kernels of a unit as PTX. Sets `problem` if there is none.
std::string ptxOf(const Unit& kernels, Options options, SharedLayouts& layouts, std::string& problem) {
  options.target = TargetKind::Gpu;
  options.addressing = {globalSpace, globalSpace, 64};
  Build build(kernels, options, layouts);
  llvm::StripDebugInfo(*build.emitter.llvm);
  problem = build.optimise();
  return problem.empty() ? assemblyOf(*build.emitter.llvm, *build.machine) : "";
}

/// Makes the objects of a module, in any order.
class Objects {
public:
  Objects(const loops::Module& module, const Options& options)
      : options_(options), layouts_(module.core.types), units_(unitsOf(module, options.devices.emulator)) {
    images_ = units_.size();
    if (options.devices.any()) std::ranges::move(imagesOf(module), std::back_inserter(units_));
    made_.resize(units_.size());
  }

  Compiled run() {
    const std::vector<size_t> order = longestFirst(units_);
    forEachInParallel(order.size(), [&](size_t k) { make(order[k]); });
    Compiled out;
    for (Made& one : made_) {
      out.objects.push_back(std::move(one.object));
      out.entries.merge(one.entries);
      out.error += one.problem;
    }
    return out;
  }

private:
  struct Made {
    Object object;
    std::map<core::FunctionId, std::string> entries;
    std::string problem;
  };

  void make(size_t k) {
    Made& made = made_[k];
    if (k >= images_) return makeImage(units_[k], made);
    Build build(units_[k], options_, layouts_);
    made.entries = std::move(build.emitter.entries);
    made.object = build.object(made.problem);
  }

  void makeImage(const Unit& unit, Made& made) {
    const std::string ptx = options_.devices.gpu ? ptxOf(unit, options_, layouts_, made.problem) : "";
    if (made.problem.empty()) made.object = imageObject(unit, ptx, options_, made.problem);
  }

  const Options options_;
  SharedLayouts layouts_;
  std::vector<Unit> units_;
  size_t images_; ///< the first unit that is one
  std::vector<Made> made_;
};

} // namespace

Compiled compile(const loops::Module& module, const Options& given) {
  Compiled out = Objects(module, optionsFor(module, given)).run();
  out.devices.uses = loops::usesDevices(module.core, given.device);
  out.devices.flags =
      (given.devices.host ? 0 : MELIX_DEVICE_NEEDED) | (given.devices.checked ? MELIX_DEVICE_CHECKED : 0);
  if (module.entry.valid()) out.entry = out.entries.at(module.functions[module.entry].source);
  return out;
}

std::string kernelsAsPtx(const loops::Module& module, const Options& given) {
  const Unit kernels = deviceUnit(module);
  if (kernels.functions.empty()) return {};
  SharedLayouts layouts(module.core.types);
  std::string problem;
  const std::string text = ptxOf(kernels, optionsFor(module, given), layouts, problem);
  return problem.empty() ? text : problem;
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
