#pragma once
// From a command line to a session and from its Core to machine code: shared by `run`, `build`, `show`,
// `test` and the prompt.

#include "codegen/codegen.h"
#include "driver/command_line.h"
#include "loops/pipeline.h"
#include "session/session.h"
#include "support/function_ref.h"

#include <memory>
#include <optional>

namespace melix::driver {

/// Ends a session when the next one ends: the last one's memory goes back with the process, for to give it
/// back piece by piece is a fiftieth of the time of a build.
struct EndLater {
  void operator()(session::Session* session) const;
};
using SessionPtr = std::unique_ptr<session::Session, EndLater>;

/// Observers of the passes on Core.
struct Onlooker {
  session::PassLogs logs;
  std::function<void(const core::Module&, std::string_view pass)> afterPass;
};

/// A session over the embedded library and the file system.
SessionPtr makeSession(const CodeOptions& options, Onlooker onlooker = {});
/// Whether these options, and the variables of the environment, can be followed; if not, writes the reason to
/// standard error.
bool accepts(const CodeOptions& options);
/// The processor asked for, else `usual`.
codegen::TargetKind targetOf(const CodeOptions& options, codegen::TargetKind usual);
/// The name of the program in messages.
std::string nameOf(const ProgramSource& program);
/// Reads and loads the program of a command line; says on standard error why it cannot.
std::optional<names::ModuleId> loadRoot(const ProgramSource& program, session::Session& session);
/// Reads a program and takes it to a stage of Core; writes its errors to standard error.
bool advanceProgram(const ProgramSource& program, session::Session& session, session::CoreStage stage);
/// Takes a program that is to run to optimised Core; warns if nothing in it runs.
bool prepareProgram(const ProgramSource& program, session::Session& session);
/// Writes diagnostics, or the compiler's own bug; returns `ok`.
bool reported(const session::Session& session, bool ok);
/// Lowers optimised Core to Loops; writes to standard error which parts are not compiled yet.
using AfterLoopsPass = std::function<void(const loops::Module&, std::string_view pass)>;
std::optional<loops::Module> loopsOf(session::Session& session, const codegen::Options& code,
                                     const AfterLoopsPass& afterPass = {});
/// The options of the code generator.
codegen::Options codegenOptions(session::Session& session, const CodeOptions& code,
                                codegen::TargetKind target);
/// Compiles optimised Core to an object; writes to standard error which parts are not compiled yet.
std::optional<codegen::Compiled> compileCore(session::Session& session, const codegen::Options& options);

/// Runs `work` on a thread with a stack large enough for the deepest trees that the parser lets through.
int onBigStack(FunctionRef<int()> work);

} // namespace melix::driver
