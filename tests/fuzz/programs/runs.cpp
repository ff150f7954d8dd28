#include "fuzz/programs/runs.h"

#include "codegen/codegen.h"
#include "driver/driver.h"
#include "driver/embedded.h"
#include "driver/interpret.h"
#include "fuzz/programs/child.h"
#include "harness/launches.h"
#include "jit/jit.h"
#include "loops/pipeline.h"
#include "session/session.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace melix::fuzz::programs {

namespace {

constexpr const char* programName = "fuzz.mlx";
constexpr int refusedStatus = 3, bugStatus = 4;

constexpr loops::Machine foreignMachines[] = {{"", 128, 16, loops::MaskKind::None},
                                              {"", 256, 32, loops::MaskKind::Registers},
                                              {"", 512, 16, loops::MaskKind::None},
                                              {"", 512, 8, loops::MaskKind::Registers},
                                              {"", 256, 16, loops::MaskKind::Values}};

session::Options sessionOptions(const RunOptions& options) {
  session::Options out;
  out.library = [](std::string_view path) { return driver::findLibraryFile(path); };
  for (std::string_view path : driver::libraryFiles("prelude/")) out.preludeFiles.emplace_back(path);
  out.strictFloats = options.strict;
  out.verify = options.verify;
  return out;
}

/// Between processes: outcomes as lengths and bytes.
void write(std::string& out, const std::string& text) { out += std::to_string(text.size()) + "\n" + text; }

void write(std::string& out, const Outcome& o) {
  write(out, o.way);
  write(out, std::to_string(o.status));
  write(out, std::to_string(o.slow));
  write(out, std::to_string(o.rounds));
  write(out, o.output);
  write(out, o.errors);
}

std::string read(const std::string& in, size_t& at) {
  size_t end = in.find('\n', at);
  size_t count = std::stoul(in.substr(at, end - at));
  at = end + 1 + count;
  return in.substr(end + 1, count);
}

std::vector<Outcome> readAll(const std::string& in) {
  std::vector<Outcome> out;
  for (size_t at = 0; at < in.size();) {
    Outcome& o = out.emplace_back();
    o.way = read(in, at);
    o.status = std::stoi(read(in, at));
    o.slow = read(in, at) == "1";
    o.rounds = read(in, at) == "1";
    o.output = read(in, at);
    o.errors = read(in, at);
  }
  return out;
}

/// What happens in the process that compiles; its output is the outcomes.
class Compiling {
public:
  Compiling(const std::string& text, const RunOptions& options)
      : text_(text), options_(options), session_(sessionOptions(options)) {}

  int run() {
    names::ModuleId root = session_.load(programName, text_);
    bool ok = session_.program(root);
    Outcome early;
    if (options_.early == RunOptions::Early::Derivatives)
      ok = ok && session_.advance(session::CoreStage::Complete);
    if (ok && options_.early != RunOptions::Early::No)
      early = inChild("interpreter before the passes", [&] { return interpret(); });
    early.rounds = options_.earlyRounds;
    ok = ok && session_.advance(session::CoreStage::Optimised);
    if (!session_.bug().empty()) return stop(session_.bug(), bugStatus);
    if (!ok) return stop(diagnostics(), refusedStatus);
    keep(inChild("interpreter", [&] { return interpret(); }));
    if (options_.early != RunOptions::Early::No) keep(early);
    if (!options_.compiled) return finish();
    codegen::Options options;
    options.sources = &session_.sources;
    if (options_.native) runCompiled(options, "default", nullptr);
    if (options_.onDevice > 0) runOnDevice(options);
    options.target = codegen::TargetKind::Portable;
    if (options_.portable) runCompiled(options, "portable", "1");
    options.optimise = false;
    if (options_.unoptimised) runCompiled(options, "-O0", "1");
    return finish();
  }

private:
  int finish() {
    std::fwrite(out_.data(), 1, out_.size(), stdout);
    return problem_.empty() ? 0 : stop(problem_, bugStatus);
  }

  int interpret() {
    std::string name = programName;
    char* arguments[] = {name.data(), nullptr};
    return driver::interpretProgram(session_, 1, arguments);
  }

  static int execute(const codegen::Compiled& compiled, const char* threads) {
    setenv("MELIX_THREADS", threads, 1);
    setenv("MELIX_STATS", "1", 1);
    std::string name = programName, error;
    char* arguments[] = {name.data(), nullptr};
    int status = jit::runProgram(compiled, 1, arguments, error);
    if (!error.empty()) std::fprintf(stderr, "a bug of the code generator: %s\n", error.c_str());
    return status;
  }

  /// With the number of threads, or with all that are to be compared.
  void runCompiled(const codegen::Options& options, const std::string& way, const char* threads) {
    if (!problem_.empty()) return;
    loops::Options loopOptions = codegen::loopOptions(options);
    loopOptions.verify = options_.verify;
    if (options_.foreign > 0 && way == "default")
      loopOptions.machine = &foreignMachines[(options_.foreign - 1) % std::size(foreignMachines)];
    if (options_.shortStrips) loopOptions.strips = {5, 1, 32, 32, 64, 7};
    loops::Result lowered = loops::fromCore(session_.module(), loopOptions);
    problem_ = lowered.error ? "not compiled: " + lowered.error->what : lowered.bug;
    if (!problem_.empty()) return;
    harness::makeLaunchesLong(lowered.module);
    codegen::Compiled compiled = codegen::compile(lowered.module, options);
    problem_ = compiled.error;
    if (!problem_.empty()) return;
    std::vector<const char*> counts = {"1", "2", "3"};
    if (threads) counts = {threads};
    for (const char* count : counts)
      keep(inChild(way + ", threads " + count, [&] { return execute(compiled, count); }));
  }

  void runOnDevice(codegen::Options options) {
    options.devices = {.host = false, .emulator = true};
    options.device = Device::Gpu;
    setenv("MELIX_DEVICE", "emulated", 1);
    setenv("MELIX_DEVICE_SEED", std::to_string(options_.onDevice).c_str(), 1);
    runCompiled(options, "device", "1");
    unsetenv("MELIX_DEVICE");
    unsetenv("MELIX_DEVICE_SEED");
  }

  void keep(const Outcome& o) { write(out_, o); }

  std::string diagnostics() {
    std::string out;
    for (const Diagnostic& d : session_.sink.all()) {
      std::string text = renderDiagnostic(d, session_.sources, false);
      if (text.find("warning:") == std::string::npos) out += text;
    }
    return out.empty() ? "refused without a message" : out;
  }

  static int stop(const std::string& why, int status) {
    std::fputs(why.c_str(), stderr);
    return status;
  }

  const std::string& text_;
  const RunOptions& options_;
  session::Session session_;
  std::string out_, problem_;
};

Outcome runExecutable(const std::string& text, const RunOptions& options) {
  std::string folder = "/tmp/melix_fuzz_" + std::to_string(getpid());
  std::string command = "mkdir -p " + folder;
  if (std::system(command.c_str()) != 0)
    return {"executable", bugStatus, false, false, "", "no folder " + folder};
  std::string source = folder + "/" + programName, program = folder + "/program";
  std::ofstream(source) << text;
  std::vector<std::string> arguments = {"build", source, "-o", program};
  if (options.strict) arguments.insert(arguments.begin() + 1, "--strict-fp");
  Outcome built = inChild("executable", [&] { return driver::runMelix(arguments); });
  Outcome out = built;
  if (built.status == 0)
    out = inChild("executable", [&] {
      setenv("MELIX_STATS", "1", 1);
      execl(program.c_str(), programName, static_cast<char*>(nullptr));
      return 127;
    });
  unlink(source.c_str());
  unlink(program.c_str());
  rmdir(folder.c_str());
  // It names the source by the path that it was built from.
  for (size_t at = out.errors.find(folder + "/"); at != std::string::npos; at = out.errors.find(folder + "/"))
    out.errors.erase(at, folder.size() + 1);
  return out;
}

} // namespace

Runs runEveryWay(const std::string& text, const RunOptions& options) {
  Outcome compiling = inChild("compiler", [&] { return Compiling(text, options).run(); }, true);
  Runs out;
  out.compiled = compiling.status == 0;
  out.refused = compiling.status == refusedStatus;
  if (!out.compiled) {
    out.problem = compiling.errors;
    if (compiling.slow)
      out.problem = "the compiler takes too long";
    else if (compiling.status >= 256)
      out.problem += "\nthe compiler ended by signal " + std::to_string(compiling.status - 256);
    return out;
  }
  out.problem = compiling.errors; // of a sanitizer
  out.outcomes = readAll(compiling.output);
  if (options.executable) out.outcomes.push_back(runExecutable(text, options));
  return out;
}

} // namespace melix::fuzz::programs
