#include "driver/compile.h"

#include "driver/embedded.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"
#include "loops/loops.h"

#include <pthread.h>

namespace melix::driver {

std::unique_ptr<session::Session> makeSession(const CodeOptions& code) {
  session::Options options;
  options.library = [](std::string_view path) { return findLibraryFile(path); };
  for (std::string_view path : libraryFiles("prelude/")) options.preludeFiles.emplace_back(path);
  options.userFile = [](const std::string& path) -> std::optional<std::string> {
    std::string error;
    return readFile(path, error);
  };
  options.verify = std::getenv("MELIX_VERIFY") != nullptr;
  options.fuse = !code.strictFp;
  return std::make_unique<session::Session>(std::move(options));
}

bool accepts(const CodeOptions& options) {
  if (options.strictShapes) {
    writeProblem("`--strict-shapes` is not available in this version");
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

std::optional<names::ModuleId> loadRoot(const ProgramSource& program, session::Session& session) {
  if (program.code) return session.load("<code>", *program.code);
  std::string error;
  std::optional<std::string> text = readFile(program.file, error);
  if (!text) {
    writeProblem(error);
    return std::nullopt;
  }
  return session.load(program.file == "-" ? "<stdin>" : program.file, std::move(*text));
}

bool reported(const session::Session& session, bool ok) {
  writeDiagnostics(session.sink, session.sources);
  if (!session.bug().empty()) {
    writeProblem("a bug of the compiler: " + session.bug());
    return false;
  }
  return ok && session.sink.errorCount() == 0;
}

std::optional<codegen::Compiled> compileCore(session::Session& session, const CodeOptions& code,
                                             codegen::TargetKind target) {
  loops::Result lowered = loops::fromCore(session.module());
  if (lowered.error) {
    writeProblem("this is not compiled yet: " + lowered.error->what);
    return std::nullopt;
  }
  codegen::Options options;
  options.target = target;
  options.optimise = code.optimise;
  options.sources = &session.sources;
  codegen::Compiled compiled = codegen::compile(lowered.module, options);
  if (!compiled.error.empty()) {
    writeProblem("a bug of the code generator: " + compiled.error);
    return std::nullopt;
  }
  return compiled;
}

namespace {
struct Work {
  const std::function<int()>* run;
  int status = 0;
};
} // namespace

int onBigStack(const std::function<int()>& unguarded) {
  std::function<int()> work = [&] {
    try {
      return unguarded();
    } catch (const std::exception& e) { // no phase throws on purpose
      writeProblem("a bug of the compiler: " + std::string(e.what()));
      return static_cast<int>(Failure);
    }
  };
  Work job{&work, 0};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  bool started = false;
  for (size_t megabytes : {512, 64}) {
    pthread_attr_setstacksize(&attributes, megabytes << 20);
    started = pthread_create(
                  &thread, &attributes,
                  [](void* data) -> void* {
                    auto* mine = static_cast<Work*>(data);
                    mine->status = (*mine->run)();
                    return nullptr;
                  },
                  &job) == 0;
    if (started) break;
  }
  pthread_attr_destroy(&attributes);
  if (!started) return work();
  pthread_join(thread, nullptr);
  return job.status;
}

} // namespace melix::driver
