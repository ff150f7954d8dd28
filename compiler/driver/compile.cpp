#include "driver/compile.h"

#include "driver/builtins.h"
#include "driver/devices.h"
#include "driver/embedded.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "driver/source_lines.h"
#include "support/threads.h"
#include "transforms/simplify/unchecked_indexing.h"

#include <algorithm>
#include <atomic>
#include <charconv>

namespace melix::driver {

/// Whether what the passes make is verified after each: in debug builds, or if `MELIX_VERIFY` is set.
static bool verifies() {
#ifdef _GLIBCXX_ASSERTIONS
  return true;
#else
  return std::getenv("MELIX_VERIFY") != nullptr;
#endif
}

/// Whether the analyses that passes keep are made anew and compared after each.
static bool checksPasses() { return std::getenv("MELIX_CHECK_PASSES") != nullptr; }

/// The value of MELIX_LANES; empty if it is not set.
static std::string_view lanes() {
  const char* text = std::getenv("MELIX_LANES");
  return text ? text : "";
}

/// The value of MELIX_LANES if it is a number of rows. More than memory has are as good as any number.
static std::optional<int64_t> mostLanes() {
  const std::string_view text = lanes();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || end != text.end() || number < 1) return std::nullopt;
  return std::min(number, int64_t(1) << 40);
}

void EndLater::operator()(session::Session* session) const {
  static std::atomic<session::Session*> last;
  delete last.exchange(session);
}

SessionPtr makeSession(const CodeOptions& code, Onlooker onlooker) {
  session::Options options;
  options.library = [](std::string_view path) { return findLibraryFile(path); };
  for (std::string_view path : libraryFiles("prelude/")) options.preludeFiles.emplace_back(path);
  options.userFile = [](const std::string& path) -> std::optional<std::string> {
    std::string error;
    return readFile(path, error);
  };
  options.hooks = [](types::TypeStore& types) {
    auto builtins = std::make_shared<HostBuiltins>(types, 0, nullptr);
    interp::Hooks hooks = builtins->hooks();
    hooks.builtin = [builtins, call = hooks.builtin](ops::BuiltinKind kind, interp::BuiltinCall& c) {
      call(kind, c);
    };
    return hooks;
  };
  options.verify = verifies();
  options.checkPasses = checksPasses();
  options.logs = onlooker.logs;
  options.batchesRows = lanes() != "off";
  options.rowsOfTile = mostLanes();
  options.afterPass = std::move(onlooker.afterPass);
  options.strictFloats = code.strictFp;
  options.strictShapes = code.strictShapes;
  options.opensPrivate = code.expanded;
  options.checkOverflow = code.checkOverflow;
  return SessionPtr(new session::Session(std::move(options)));
}

bool accepts(const CodeOptions& options) {
  if (!lanes().empty() && lanes() != "off" && !mostLanes()) {
    writeProblem("MELIX_LANES is `off`, a number of rows from 1, or is not set, not `" +
                 std::string(lanes()) + "`");
    return false;
  }
  if (options.cpu.empty() || options.cpu == "native" || options.cpu == "x86-64-v3") return true;
  writeProblem("there is no processor `" + options.cpu + "`, only native and x86-64-v3");
  return false;
}

codegen::TargetKind targetOf(const CodeOptions& options, codegen::TargetKind usual) {
  if (options.cpu.empty()) return usual;
  return options.cpu == "native" ? codegen::TargetKind::Host : codegen::TargetKind::Portable;
}

std::string nameOf(const ProgramSource& program) {
  if (program.code) return "<code>";
  return program.file == "-" ? "<stdin>" : program.file;
}

std::optional<names::ModuleId> loadRoot(const ProgramSource& program, session::Session& session) {
  if (program.code) return session.load(nameOf(program), *program.code);
  std::string error;
  std::optional<std::string> text = readFile(program.file, error);
  if (!text) {
    writeProblem(error);
    return std::nullopt;
  }
  return session.load(nameOf(program), std::move(*text));
}

bool reported(const session::Session& session, bool ok) {
  writeDiagnostics(session.sink, session.sources);
  if (!session.bug().empty()) {
    writeProblem("a bug of the compiler: " + session.bug());
    return false;
  }
  return ok && session.sink.errorCount() == 0;
}

bool advanceProgram(const ProgramSource& program, session::Session& session, session::CoreStage stage) {
  std::optional<names::ModuleId> root = loadRoot(program, session);
  if (!root) return false;
  bool ok = session.program(*root) && session.advance(stage);
  return reported(session, ok);
}

namespace {

/// What is not compiled yet, at the place in the program that it comes from.
void reportUnsupported(session::Session& session, const loops::Unsupported& found) {
  Span place; // the innermost that is known
  for (core::LocId loc = found.loc; loc; loc = session.module().locs[loc].inner)
    if (const Span span = session.module().locs[loc].span; span.valid()) place = span;
  DiagnosticSink sink;
  sink.report(DiagId::NoDerivative, place, found.what);
  writeDiagnostics(sink, session.sources);
}

/// Says which blocks MELIX_DEVICE=check leaves to the device alone.
void tellUnchecked(const session::Session& session, const loops::Module& module) {
  std::map<Line, std::string> blocks;
  for (const loops::OnHost& block : module.unchecked)
    blocks[lineOf(session, module.core, block.loc, "")] = block.why;
  for (const auto& [at, why] : blocks)
    writeError("melix: " + at.file + ":" + std::to_string(at.line) + ": a block with " + why +
               " is not checked\n");
}

/// Says that a file has nothing that runs, and what runs of what it has.
void warnIfNothingRuns(session::Session& session, names::ModuleId root) {
  const names::Module& module = session.modules()[root];
  const bool runs = !module.statements.empty() || !module.named(session.names.intern("main")).empty();
  if (runs || session.sink.errorCount() > 0) return;
  const FileId file = module.ast.file;
  Diagnostic& d = session.sink.report(DiagId::NothingRuns, Span{file, 0, 0});
  const std::string name(session.sources.path(file));
  if (!module.tests.empty()) d.hint = "`melix test " + name + "` runs its tests";
  if (module.tests.empty() && !module.benches.empty()) d.hint = "`melix bench " + name + "` runs its benches";
}

} // namespace

bool prepareProgram(const ProgramSource& program, session::Session& session) {
  std::optional<names::ModuleId> root = loadRoot(program, session);
  if (!root) return false;
  const bool ok = session.program(*root);
  if (ok) warnIfNothingRuns(session, *root);
  return reported(session, ok && session.advance(session::CoreStage::Optimised));
}

std::optional<loops::Module> loopsOf(session::Session& session, const codegen::Options& code,
                                     const AfterLoopsPass& afterPass) {
  const names::Modules& modules = session.modules();
  if (modules.hasUnchecked())
    transforms::dropIndexChecks(session.module(), [&](Span place) { return modules.isUnchecked(place); });
  loops::Options options = codegen::loopOptions(code);
  options.verify = verifies();
  options.afterPass = afterPass;
  loops::Result lowered = loops::fromCore(session.module(), options);
  if (!lowered.error && lowered.bug.empty()) {
    tellUnchecked(session, lowered.module);
    return std::move(lowered.module);
  }
  if (lowered.error)
    reportUnsupported(session, *lowered.error);
  else
    writeProblem("a bug of the compiler: " + lowered.bug);
  return std::nullopt;
}

codegen::Options codegenOptions(session::Session& session, const CodeOptions& code,
                                codegen::TargetKind target) {
  codegen::Options options;
  options.target = target;
  options.optimise = code.optimise;
  options.device = code.device;
  if (loops::usesDevices(session.module(), code.device))
    options.devices = code.runsHere ? devicesHere(true) : code.devices;
  options.sources = &session.sources;
  return options;
}

std::optional<codegen::Compiled> compileCore(session::Session& session, const codegen::Options& options) {
  std::optional<loops::Module> module = loopsOf(session, options);
  if (!module) return std::nullopt;
  codegen::Compiled compiled = codegen::compile(*module, options);
  if (!compiled.error.empty()) {
    writeProblem("a bug of the code generator: " + compiled.error);
    return std::nullopt;
  }
  return compiled;
}

int onBigStack(FunctionRef<int()> work) {
  int status = Success;
  auto guarded = [&] {
    try {
      status = work();
    } catch (const std::exception& e) { // no phase throws on purpose
      writeProblem("a bug of the compiler: " + std::string(e.what()));
      status = Failure;
    }
  };
  if (!runOnStack({512, 64}, guarded)) guarded();
  return status;
}

} // namespace melix::driver
