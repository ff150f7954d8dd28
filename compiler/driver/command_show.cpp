// melix show: what each stage makes of a program.
#include "core/print.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "loops/loops.h"
#include "loops/print.h"
#include "parse/parse.h"

namespace melix::driver {
namespace {

int showSyntaxTree(const Invocation& invocation) {
  SourceStore sources;
  std::optional<FileId> file = loadProgram(invocation.program, sources);
  if (!file) return Failure;
  Interner names;
  DiagnosticSink sink;
  parse::ParseResult parsed = parse::parseFile(*file, sources, names, sink);
  if (invocation.count) {
    writeOutput(std::to_string(parsed.ast.size()) + " nodes\n");
  } else {
    writeOutput(syntax::dump(parsed.ast, names));
  }
  return writeDiagnostics(sink, sources) ? Success : Failure;
}

size_t opCount(const core::Module& module) {
  size_t count = 0;
  for (const core::Function& f : module.functions)
    for (const core::Region& r : f.regions)
      count += r.ops.size();
  return count;
}

/// The stages from `core` on.
int showCompiled(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    std::unique_ptr<session::Session> session = makeSession();
    std::optional<names::ModuleId> root = loadRoot(invocation.program, *session);
    if (!root) return Failure;
    session::CoreStage stage = invocation.stage == StageKind::Core   ? session::CoreStage::Lowered
                               : invocation.stage == StageKind::Grad ? session::CoreStage::Derivatives
                                                                     : session::CoreStage::Optimised;
    if (!reported(*session, session->program(*root) && session->advance(stage))) return Failure;
    if (invocation.stage <= StageKind::Opt) {
      if (invocation.count) {
        writeOutput(std::to_string(opCount(session->module())) + "\n");
        return Success;
      }
      std::string text;
      for (uint32_t k = 0; k < session->module().functions.size(); ++k)
        if (invocation.only.empty() || session->module().functions[core::FunctionId(k)].name == invocation.only)
          text += core::printFunction(session->module(), core::FunctionId(k)) + "\n";
      writeOutput(invocation.only.empty() ? core::printModule(session->module()) : text);
      return Success;
    }
    loops::Result lowered = loops::fromCore(session->module());
    if (lowered.error) {
      writeProblem("this is not compiled yet: " + lowered.error->what);
      return Failure;
    }
    if (invocation.stage == StageKind::Loops) {
      writeOutput(loops::print(lowered.module));
      return Success;
    }
    codegen::Options options;
    options.optimise = invocation.code.optimise;
    options.sources = &session->sources;
    auto kind = invocation.stage == StageKind::Llvm ? codegen::TextKind::Ir : codegen::TextKind::Assembly;
    writeOutput(codegen::compileToText(lowered.module, options, kind));
    return Success;
  });
}

} // namespace

int commandShow(const Invocation& invocation) {
  return invocation.stage == StageKind::Ast ? showSyntaxTree(invocation) : showCompiled(invocation);
}

} // namespace melix::driver
