#pragma once
#include "support/device.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace melix::driver {

enum class CommandKind {
  Run,
  Build,
  Check,
  Show,
  ExplainFusion,
  ExplainBatching,
  Test,
  Bench,
  Fmt,
  Repl,
  Kernel,
  Devices,
  ExplainDevice
};

enum class StageKind { Ast, Expand, Core, Grad, Opt, Plans, Loops, Llvm, Asm, Ptx };

/// A program given on the command line: a file (`-` is standard input) or text (`-e CODE`).
struct ProgramSource {
  std::string file;
  std::optional<std::string> code;
};

/// How a program is compiled and run.
struct CodeOptions {
  bool interpret = false;  ///< by the Core interpreter instead of compiled code
  bool compileAll = false; ///< at the prompt: light entries too
  bool optimise = true;    ///< off under -O0: each nest alone, scalar
  bool strictFp = false;   ///< floats are summed in sequence, no fused multiply-add is formed
  bool expanded = false; ///< private items of other modules are seen: the program was printed after expansion
  bool strictShapes = false;                 ///< sizes that only the run can compare are errors
  bool checkOverflow = false;                ///< integers that wrap are a panic
  Device device = Device::Host;              ///< where a program runs as a whole
  DeviceCode devices;                        ///< for which blocks on a device have code, …
  bool runsHere = false;                     ///< … but for code that runs in this process (devices.h)
  std::vector<std::string> gpuArchitectures; ///< build: the GPUs for which there is machine code (`sm_80`)
  std::string cpu;                           ///< empty: this machine's for `run`, x86-64-v3 for `build`
};

/// A pass of the stages opt and loops, and which of its runs.
struct ShownPass {
  std::string name;
  size_t run = 1;
};

/// The options of `show`.
struct ShowOptions {
  StageKind stage = StageKind::Core;
  std::optional<ShownPass> after; ///< in place of a whole stage, the module after a pass of it
  bool listPasses = false;        ///< the passes, in place of a program
  bool count = false; ///< also of explain-device: numbers of operations, nests and arrays instead of the text
  std::string only;   ///< the function that is meant; empty means all
};

/// A command line that was understood. Members that a command does not take have their default.
struct Invocation {
  CommandKind command = CommandKind::Run;
  ProgramSource program;                     ///< run, build, check, show, explain-…
  std::vector<std::string> files;            ///< check, test, bench, fmt
  std::vector<std::string> programArguments; ///< run
  CodeOptions code;
  std::string output; ///< build; empty: named after the program
  bool strip = false; ///< build
  ShowOptions show;
  std::string filter;       ///< test, bench: part of the names of the blocks to run
  double timeout = 60;      ///< test, bench: seconds after which one is stopped; 0: never
  double seconds = 1;       ///< bench: how long each is measured
  bool checkFormat = false; ///< fmt: change nothing
};

/// A command line that needs no command: it asks for help, or it is wrong.
struct Answer {
  std::string text; ///< to standard output if status is 0, else to standard error
  int status = 0;
};

/// A stage of `melix show`; none if there is none of that name, and then `error` says so.
std::optional<StageKind> stageNamed(const std::string& name, std::string& error);

/// Understands a command line (without the program's name). Reads nothing but the arguments.
std::variant<Invocation, Answer> parseCommandLine(std::vector<std::string> arguments);

} // namespace melix::driver
