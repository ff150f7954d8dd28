// `melix run` whose kernels run on a device: device_runner run [OPTIONS] FILE [ARGUMENTS]. See README.md
// beside this file.
#include "device/launches.h"
#include "device/memory.h"
#include "driver/compile.h"
#include "driver/driver.h"
#include "driver/exit_status.h"
#include "harness/launches.h"
#include "jit/jit.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace melix::device {
namespace {

constexpr int skipped = 77;
constexpr int notOnMachine = 3; ///< with MELIX_DEVICE_REQUIRED

/// A number in the environment, or `usual`.
uint64_t asked(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

std::unique_ptr<Machine> makeMachine(std::string& missing) {
  const char* name = std::getenv("MELIX_DEVICE");
  return name && std::strcmp(name, "twin") == 0 ? makeTwin() : makeCuda(missing);
}

/// What was done where, at the end of the file that MELIX_DEVICE_COUNTS names; what could not be done.
void tellCounts() {
  const LaunchCounts& counts = launchCounts();
  if (!counts.problems.empty()) std::fprintf(stderr, "device: problem %s", counts.problems.c_str());
  const char* name = std::getenv("MELIX_DEVICE_COUNTS");
  FILE* file = name ? std::fopen(name, "a") : nullptr;
  if (!file) return;
  std::fprintf(file, "kernels %llu launches %llu here %llu problems %zu\n",
               static_cast<unsigned long long>(counts.kernels),
               static_cast<unsigned long long>(counts.onMachine),
               static_cast<unsigned long long>(counts.here),
               static_cast<size_t>(std::count(counts.problems.begin(), counts.problems.end(), '\n')));
  std::fclose(file);
}

/// Whether the machine did what is required of it: without MELIX_DEVICE_REQUIRED, nothing; else every kernel
/// could run there, and at least one launch did.
bool didWhatIsRequired() {
  const LaunchCounts& counts = launchCounts();
  if (asked("MELIX_DEVICE_REQUIRED", 0) == 0) return true;
  if (counts.onMachine > 0 && counts.problems.empty()) return true;
  std::fprintf(stderr, "device: %s ran on it\n", counts.onMachine ? "not all that could have" : "no launch");
  return false;
}

/// The program with its kernels on the machine: code for this processor, which gives launches of kernels
/// away.
int runModule(loops::Module& module, codegen::Options options, const driver::Invocation& invocation,
              Machine& machine) {
  harness::makeLaunchesLong(module);
  for (uint32_t k = 0; k < module.functions.size(); ++k) {
    loops::Function& fn = module.functions[loops::FunctionId(k)];
    fn.exported |= fn.kind == loops::FunctionKind::Kernel;
  }
  const codegen::Compiled compiled = codegen::compile(module, options);
  jit::Jit jit;
  std::string error = compiled.error.empty() ? jit.add(compiled) : compiled.error;
  void* entry = error.empty() ? jit.lookup(compiled.entry) : nullptr;
  if (!entry) {
    std::fprintf(stderr, "device: %s\n", error.empty() ? "the program has no entry" : error.c_str());
    return driver::Failure;
  }
  options.addressing = {1, static_cast<unsigned>(asked("MELIX_DEVICE_SCRATCH", 3)),
                        static_cast<unsigned>(asked("MELIX_DEVICE_INDEX", 32))};
  options.sources = nullptr;
  const size_t bytes = asked("MELIX_DEVICE_MEMORY", 1024) << 20;
  uint8_t* memory = machine.sharedMemory(bytes);
  if (!memory) {
    std::fputs("device: no memory that both reach\n", stderr);
    return driver::Failure;
  }
  const LaunchOptions limits{static_cast<uint32_t>(asked("MELIX_DEVICE_THREADS", 256)),
                             asked("MELIX_DEVICE_LAUNCHES", 1000), asked("MELIX_DEVICE_TIMES", 0) != 0};
  launchOn(machine, module, options, limits,
           [&](loops::FunctionId f) { return jit.lookup(codegen::exportedSymbol(module.functions[f])); });
  std::vector<std::string> words{invocation.program.file};
  words.insert(words.end(), invocation.programArguments.begin(), invocation.programArguments.end());
  std::vector<char*> argv(words.size() + 1);
  std::transform(words.begin(), words.end(), argv.begin(), [](std::string& word) { return word.data(); });
  holdMemory(memory, bytes);
  const int result = jit::runEntry(reinterpret_cast<MelixEntryFn>(entry), compiled.usesDevices,
                                   static_cast<int>(words.size()), argv.data());
  tellCounts();
  const int status = didWhatIsRequired() ? result : notOnMachine;
  std::fflush(nullptr);
  std::_Exit(status); // what the program's memory was taken from is still in use
}

int runProgram(const driver::Invocation& invocation, Machine& machine) {
  const driver::SessionPtr session = driver::makeSession(invocation.code);
  const codegen::Options options =
      driver::codegenOptions(*session, invocation.code, codegen::TargetKind::Portable);
  std::optional<loops::Module> module;
  const int status = driver::onBigStack([&] {
    if (driver::advanceProgram(invocation.program, *session, session::CoreStage::Optimised))
      if (std::optional<loops::Module> made = driver::loopsOf(*session, options))
        module.emplace(std::move(*made));
    return module ? driver::Success : driver::Failure;
  });
  if (!module) return status;
  return runModule(*module, options, invocation, machine);
}

int run(std::vector<std::string> arguments) {
  auto parsed = driver::parseCommandLine(arguments);
  const auto* invocation = std::get_if<driver::Invocation>(&parsed);
  if (!invocation || invocation->command != driver::CommandKind::Run || invocation->code.interpret)
    return driver::runMelix(std::move(arguments));
  std::string missing;
  const std::unique_ptr<Machine> machine = makeMachine(missing);
  if (!machine) {
    std::printf("skipped: %s\n", missing.c_str());
    return skipped;
  }
  return runProgram(*invocation, *machine);
}

} // namespace
} // namespace melix::device

int main(int argc, char** argv) {
  setenv("MELIX_THREADS", "1", 1);
  return melix::device::run({argv + 1, argv + argc});
}
