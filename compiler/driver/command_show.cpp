// melix show: what each stage makes of a program.
#include "core/print.h"
#include "core/walk.h"
#include "decompile/decompile.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "format/format.h"
#include "loops/loops.h"
#include "loops/plan_notes.h"
#include "loops/print.h"
#include "parse/parse.h"
#include "session/pipeline.h"

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

/// Functions of Core that are meant: all, or those of the name given by --only.
std::vector<core::FunctionId> chosenFunctions(const core::Module& module, const std::string& only) {
  std::vector<core::FunctionId> out;
  for (uint32_t k = 0; k < module.functions.size(); ++k)
    if (const core::Function& f = module.functions[core::FunctionId(k)];
        f.body.valid() && (only.empty() || f.name == only))
      out.push_back(core::FunctionId(k));
  return out;
}

struct Count {
  size_t operations = 0, nests = 0, arrays = 0;
  void operator+=(const Count& c) { operations += c.operations, nests += c.nests, arrays += c.arrays; }
  std::string text() const {
    auto of = [](size_t n, const std::string& what) {
      return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    return of(operations, "operation") + ", " + of(nests, "nest") + ", " + of(arrays, "array");
  }
};

/// Whether the results of an operation that are arrays are memory of its own.
bool makesArrays(core::OpKind kind) {
  using core::OpKind;
  return kind == OpKind::Nest || kind == OpKind::ArrayOf || kind == OpKind::Zero || kind == OpKind::ToArray ||
         kind == OpKind::ArgSort;
}

Count countOf(const core::Module& module, const core::Function& f) {
  Count out;
  core::forEachOp(f, [&](core::OpId id) {
    const core::Op& op = f.ops[id];
    ++out.operations;
    out.nests += op.kind == core::OpKind::Nest;
    if (!makesArrays(op.kind)) return;
    for (core::ValueId v : op.results) out.arrays += module.types.kind(f.typeOf(v)) == core::TypeKind::Array;
  });
  return out;
}

/// Operations, nests and arrays in memory of each function, then their sums.
std::string countText(const core::Module& module, const std::vector<core::FunctionId>& functions) {
  std::string out;
  Count total;
  for (core::FunctionId f : functions) {
    const Count count = countOf(module, module.functions[f]);
    out += count.text() + ": " + module.functions[f].name + "\n";
    total += count;
  }
  return out + total.text() + " in all\n";
}

/// A text in the formatter's layout, if it reads.
std::string laidOut(const std::string& text, const std::string& name) {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  FileId file = sources.add(name, text);
  parse::ParseResult parsed = parse::parseFile(file, sources, names, sink);
  return sink.errorCount() == 0 ? format::formatFile(parsed.ast, sources).value_or(text) : text;
}

/// Core as Melix source, laid out.
std::string decompiled(const core::Module& module, core::FunctionId root) {
  return laidOut(decompile::decompile(module, root).text, "<grad>");
}

int showCore(const Invocation& invocation, session::Session& session) {
  const core::Module& module = session.module();
  std::vector<core::FunctionId> functions = chosenFunctions(module, invocation.only);
  if (functions.empty()) {
    writeProblem("there is no function `" + invocation.only + "` in this stage");
    return Failure;
  }
  std::string text;
  if (invocation.count) {
    text = countText(module, functions);
  } else if (invocation.stage == StageKind::Grad) {
    text = decompiled(module, invocation.only.empty() ? module.entry : functions[0]);
  } else {
    core::PrintOptions options;
    if (invocation.stage == StageKind::Plans) options.notes = loops::planNotes(module);
    if (invocation.only.empty())
      text = core::printModule(module, options);
    else
      for (core::FunctionId f : functions) text += core::printFunction(module, f, options) + "\n";
  }
  writeOutput(text);
  return Success;
}

/// The stages from `loops` on.
int showMachine(const Invocation& invocation, session::Session& session) {
  const codegen::Options options =
      codegenOptions(session, invocation.code, targetOf(invocation.code, codegen::TargetKind::Host));
  std::optional<loops::Module> module = loopsOf(session, options);
  if (!module) return Failure;
  if (invocation.stage == StageKind::Loops) {
    writeOutput(loops::print(*module, [&](core::LocId loc) {
      const Span span = session::locationOf(session.module(), loc);
      if (!span.valid()) return std::string();
      return std::string(session.sources.path(span.file)) + ":" +
             std::to_string(session.sources.lineColumn(span).line);
    }));
    return Success;
  }
  auto kind = invocation.stage == StageKind::Llvm ? codegen::TextKind::Ir : codegen::TextKind::Assembly;
  writeOutput(codegen::compileToText(*module, options, kind));
  return Success;
}

int showExpanded(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    const SessionPtr session = makeSession(invocation.code);
    std::optional<names::ModuleId> root = loadRoot(invocation.program, *session);
    if (!root || !reported(*session, true)) return Failure;
    writeOutput(laidOut(session->expandedText(*root), "<expand>"));
    return Success;
  });
}

session::CoreStage coreStageOf(StageKind stage) {
  if (stage == StageKind::Core) return session::CoreStage::Lowered;
  return stage == StageKind::Grad ? session::CoreStage::Derivatives : session::CoreStage::Optimised;
}

/// The stages from `core` on.
int showCompiled(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    const SessionPtr session = makeSession(invocation.code);
    if (!advanceProgram(invocation.program, *session, coreStageOf(invocation.stage))) return Failure;
    return invocation.stage <= StageKind::Plans ? showCore(invocation, *session)
                                                : showMachine(invocation, *session);
  });
}

} // namespace

int commandShow(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  switch (invocation.stage) {
  case StageKind::Ast: return showSyntaxTree(invocation);
  case StageKind::Expand: return showExpanded(invocation);
  default: return showCompiled(invocation);
  }
}

} // namespace melix::driver
