// melix show: what each stage makes of a program.
#include "core/ir/walk.h"
#include "core/text/print.h"
#include "decompile/decompile.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/devices.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/pass_tables.h"
#include "driver/program_input.h"
#include "format/format.h"
#include "loops/pipeline.h"
#include "loops/plan/plan_notes.h"
#include "loops/text/print.h"
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
  if (invocation.show.count) {
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

/// A module of Core as the command asks for it; none if there is no such function.
std::optional<std::string> shownText(const Invocation& invocation, const core::Module& module) {
  std::vector<core::FunctionId> functions = chosenFunctions(module, invocation.show.only);
  if (functions.empty()) {
    writeProblem("there is no function `" + invocation.show.only + "` in this stage");
    return std::nullopt;
  }
  if (invocation.show.count) return countText(module, functions);
  if (invocation.show.stage == StageKind::Grad)
    return decompiled(module, invocation.show.only.empty() ? module.entry : functions[0]);
  core::PrintOptions options;
  if (invocation.show.stage == StageKind::Plans) options.notes = loops::planNotes(module);
  if (invocation.show.only.empty()) return core::printModule(module, options);
  std::string text;
  for (core::FunctionId f : functions) text += core::printFunction(module, f, options) + "\n";
  return text;
}

/// Loops with the places in the program that statements come from.
std::string shownText(const loops::Module& module, session::Session& session) {
  return loops::print(module, [&](core::LocId loc) {
    const Span span = session::locationOf(session.module(), loc);
    if (!span.valid()) return std::string();
    return std::string(session.sources.path(span.file)) + ":" +
           std::to_string(session.sources.lineColumn(span).line);
  });
}

/// What is shown depends on no device of the machine.
DeviceCode shownDevices(StageKind stage) {
  DeviceCode devices = devicesHere(false);
  devices.host = true;
  devices.gpu |= stage == StageKind::Ptx;
  return devices;
}

/// The stages from `loops` on.
std::optional<std::string> machineText(const Invocation& invocation, session::Session& session) {
  CodeOptions code = invocation.code;
  code.devices = shownDevices(invocation.show.stage);
  const codegen::Options options = codegenOptions(session, code, targetOf(code, codegen::TargetKind::Host));
  std::optional<loops::Module> module = loopsOf(session, options);
  if (!module) return std::nullopt;
  if (invocation.show.stage == StageKind::Loops) return shownText(*module, session);
  if (invocation.show.stage == StageKind::Ptx) {
    const std::string text = codegen::kernelsAsPtx(*module, options);
    return text.empty() ? "// no kernel of this program runs on a GPU\n" : text;
  }
  auto kind = invocation.show.stage == StageKind::Llvm ? codegen::TextKind::Ir : codegen::TextKind::Assembly;
  return codegen::compileToText(*module, options, kind);
}

session::CoreStage coreStageOf(StageKind stage) {
  if (stage == StageKind::Core) return session::CoreStage::Lowered;
  return stage == StageKind::Grad ? session::CoreStage::Derivatives : session::CoreStage::Optimised;
}

} // namespace

std::optional<std::string> textOfStage(const Invocation& invocation, session::Session& session) {
  if (!session.advance(coreStageOf(invocation.show.stage))) {
    reported(session, false);
    return std::nullopt;
  }
  return invocation.show.stage <= StageKind::Plans ? shownText(invocation, session.module())
                                                   : machineText(invocation, session);
}

namespace {

int showExpanded(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    const SessionPtr session = makeSession(invocation.code);
    std::optional<names::ModuleId> root = loadRoot(invocation.program, *session);
    if (!root || !reported(*session, true)) return Failure;
    writeOutput(laidOut(session->expandedText(*root), "<expand>"));
    return Success;
  });
}

/// The stages from `core` on.
int showCompiled(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    const SessionPtr session = makeSession(invocation.code);
    if (!advanceProgram(invocation.program, *session, coreStageOf(invocation.show.stage))) return Failure;
    const std::optional<std::string> text = textOfStage(invocation, *session);
    if (text) writeOutput(*text);
    return text ? Success : Failure;
  });
}

/// Shows the module after one run of a pass.
class AfterPass {
public:
  explicit AfterPass(const Invocation& invocation) : invocation_(invocation) {}

  int show() {
    return onBigStack([&]() -> int {
      const bool isCore = invocation_.show.stage == StageKind::Opt;
      Onlooker onlooker;
      if (isCore)
        onlooker.afterPass = [this](const core::Module& m, std::string_view pass) { ofCore(m, pass); };
      const SessionPtr session = makeSession(invocation_.code, std::move(onlooker));
      if (!advanceProgram(invocation_.program, *session, session::CoreStage::Optimised)) return Failure;
      if (!isCore && !lowered(*session)) return Failure;
      if (text_) writeOutput(*text_);
      if (runs_ < invocation_.show.after->run)
        writeProblem("`" + invocation_.show.after->name + "` does not run with these options");
      return text_ ? Success : Failure;
    });
  }

private:
  bool isIt(std::string_view pass) {
    return pass == invocation_.show.after->name && ++runs_ == invocation_.show.after->run;
  }
  void ofCore(const core::Module& module, std::string_view pass) {
    if (isIt(pass)) text_ = shownText(invocation_, module);
  }
  bool lowered(session::Session& session) {
    const codegen::Options options =
        codegenOptions(session, invocation_.code, targetOf(invocation_.code, codegen::TargetKind::Host));
    return loopsOf(session, options,
                   [&](const loops::Module& module, std::string_view pass) {
                     if (isIt(pass)) text_ = shownText(module, session);
                   })
        .has_value();
  }

  const Invocation& invocation_;
  size_t runs_ = 0;
  std::optional<std::string> text_;
};

} // namespace

int commandShow(const Invocation& invocation) {
  if (invocation.show.listPasses) {
    writeOutput(passTables());
    return Success;
  }
  if (!accepts(invocation.code)) return WrongCommandLine;
  if (invocation.show.after) return AfterPass(invocation).show();
  switch (invocation.show.stage) {
  case StageKind::Ast: return showSyntaxTree(invocation);
  case StageKind::Expand: return showExpanded(invocation);
  default: return showCompiled(invocation);
  }
}

} // namespace melix::driver
