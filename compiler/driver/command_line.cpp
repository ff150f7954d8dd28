// The only file that knows CLI11.
#include "driver/command_line.h"

#include "driver/devices.h"
#include "driver/exit_status.h"
#include "loops/pipeline.h"
#include "session/pipeline.h"

#include <algorithm>
#include <charconv>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace melix::driver {
namespace {

constexpr const char* introduction = "melix: compile and run programs of the Melix language";

constexpr const char* overview = R"(A first program:
  melix run -e 'print("hello")'
  melix run examples/digits.mlx --epochs 5

`melix COMMAND --help` explains a command. The exit status is 0; 1 for errors in a
program, failed tests and unformatted files; 2 for a wrong command line; 101 after a
panic; 130 after Ctrl-C; or what the program passed to `exit`.)";

// ---- options that several commands share

void addProgram(CLI::App& command, Invocation& invocation) {
  command.add_option("FILE", invocation.program.file, "the program; - reads standard input");
  command.add_option("-e", invocation.program.code, "the program itself, instead of a file")
      ->option_text("CODE");
}

void addFiles(CLI::App& command, Invocation& invocation, const char* description) {
  command.add_option("FILE", invocation.files, description)->option_text("FILE...")->required();
}

void addStrictness(CLI::App& command, CodeOptions& code) {
  command.add_flag("--strict-fp", code.strictFp,
                   "sum floats one after another, never fuse a multiplication and an addition");
  command.add_flag("--expanded", code.expanded,
                   "read what `show --stage expand` wrote: private items of modules are seen");
  command.add_flag("--strict-shapes", code.strictShapes, "make sizes that only the run can compare errors");
  command.add_flag("--check-overflow", code.checkOverflow,
                   "panic where a sum, difference, product or negative of integers wraps");
}

void addOptimisation(CLI::App& command, CodeOptions& code) {
  auto setLevel = [&code](const std::string& level) {
    if (level != "0" && level != "1")
      throw CLI::ValidationError("there is no level `-O" + level + "`, only -O0 and -O1");
    code.optimise = level == "1";
  };
  command
      .add_option_function<std::string>(
          "-O", setLevel, "-O0: compile quickly, without optimising; -O1: as without this option")
      ->option_text("LEVEL");
}

void addDevice(CLI::App& command, CodeOptions& code) {
  auto setDevice = [&code](const std::string& name) {
    code.device = deviceNamed(name);
    if (code.device == Device::Caller)
      throw CLI::ValidationError("there is no device `" + name + "`, only gpu and cpu");
  };
  command
      .add_option_function<std::string>("--device", setDevice,
                                        "where all of the program runs: gpu, as if in `on gpu { … }`, or cpu")
      ->option_text("NAME");
}

void addCpu(CLI::App& command, CodeOptions& code, const char* description) {
  command.add_option("--cpu", code.cpu, description)->option_text("NAME");
}

void addInterpret(CLI::App& command, CodeOptions& code) {
  command.add_flag("--interpret", code.interpret, "run in the interpreter: slow, the same results");
}

// ---- the commands

void addRun(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  addInterpret(command, invocation.code);
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  addCpu(command, invocation.code, "compile for this processor (native)");
  command.footer("Options of melix stand before the file; everything after it belongs to the program:\n"
                 "  melix run --interpret examples/digits.mlx --epochs 2\n"
                 "  melix run examples/digits.mlx --help");
}

void addDevicesOfBuild(CLI::App& command, CodeOptions& code) {
  code.devices.gpu = true;
  command.add_flag("--with-emulator", code.devices.emulator,
                   "put the emulated device in, on which MELIX_DEVICE=emulated runs `on gpu`");
  command.add_flag(
      "--no-host", [&code](int64_t) { code.devices.host = false; },
      "leave out the code by which this processor stands in for a GPU");
  command
      .add_option("--gpu-arch", code.gpuArchitectures,
                  "machine code for these GPUs (sm_80,sm_90a), by ptxas of the CUDA Toolkit")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAMES")
      ->check([](const std::string& name) {
        return isGpuArchitecture(name) ? ""
                                       : "there is no GPU `" + name + "`, but sm_80, sm_90a and later ones";
      });
}

void addBuild(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  command
      .add_option("-o,--output", invocation.output, "the executable to write (FILE without its ending, here)")
      ->option_text("OUT");
  command.add_flag("--strip", invocation.strip, "leave out symbols and debug information; traces still work");
  addDevicesOfBuild(command, invocation.code);
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  addCpu(command, invocation.code, "compile for this processor (x86-64-v3); native is this machine's");
  command.footer("The executable needs only the C library; no other tool is needed to make it:\n"
                 "  melix build examples/digits.mlx && ./digits --epochs 5");
}

void addCheck(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  addStrictness(command, invocation.code);
  command.footer("Reports errors and warnings and runs nothing.");
}

struct Stage {
  const char* name;
  StageKind kind;
  const char* description;
  bool counts = false, selects = false; ///< whether --count and --only work for it
};

constexpr Stage stages[] = {
    {"ast", StageKind::Ast, "the syntax tree", true, false},
    {"expand", StageKind::Expand, "the program after its macros are expanded"},
    {"core", StageKind::Core, "the typed middle form, as it comes from the program", true, true},
    {"grad", StageKind::Grad, "the derivatives that the program asks for, as a Melix program", true, true},
    {"opt", StageKind::Opt, "the middle form, optimised", true, true},
    {"plans", StageKind::Plans, "the same, with how each nest will run and why", false, true},
    {"loops", StageKind::Loops, "buffers, kernels and schedules"},
    {"llvm", StageKind::Llvm, "LLVM's intermediate representation"},
    {"asm", StageKind::Asm, "assembly"},
    {"ptx", StageKind::Ptx, "the assembly of the kernels for a GPU"},
};

StageKind findStage(const std::string& name) {
  std::string error;
  if (const std::optional<StageKind> stage = stageNamed(name, error)) return *stage;
  throw CLI::ValidationError(error);
}

/// The stages with a property, for messages.
std::string stagesThat(bool Stage::* property) {
  std::string names;
  for (const Stage& stage : stages)
    if (stage.*property) names += (names.empty() ? "" : ", ") + std::string(stage.name);
  return names;
}

/// What `melix show` is asked for and does not do at a stage; empty if there is nothing.
std::string notShown(const Invocation& invocation) {
  const Stage& stage = stages[static_cast<size_t>(invocation.show.stage)];
  auto only = [&](const char* option, bool Stage::* property) {
    return std::string(option) + " works for the stages " + stagesThat(property) + ", not for " + stage.name;
  };
  if (invocation.show.count && !stage.counts) return only("--count", &Stage::counts);
  if (!invocation.show.only.empty() && !stage.selects) return only("--only", &Stage::selects);
  return {};
}

std::string describeStages() {
  std::string text = "Stages, in the order in which they are made:";
  for (const Stage& stage : stages) {
    std::string name = stage.name;
    text += "\n  " + name + std::string(7 - name.size(), ' ') + stage.description;
  }
  return text;
}

/// How often a pass of this name runs.
template <class Pass>
size_t runsOfPass(std::span<const Pass> passes, const std::string& name) {
  return static_cast<size_t>(std::ranges::count(passes, std::string_view(name), &Pass::name));
}

/// Each name once.
template <class Pass>
std::string namesOf(std::span<const Pass> passes) {
  std::string names;
  for (size_t k = 0; k < passes.size(); ++k)
    if (runsOfPass(passes.first(k), std::string(passes[k].name)) == 0)
      names += (names.empty() ? "" : ", ") + std::string(passes[k].name);
  return names;
}

/// The number that a text is, without anything else; 0 if it is none.
size_t numberIn(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// Sets what `--after PASS` or `--after PASS:RUN` asks for, and the stage that the pass belongs to.
void setPass(Invocation& invocation, const std::string& text) {
  const size_t colon = text.find(':');
  ShownPass pass{text.substr(0, colon), 1};
  const size_t inCore = runsOfPass(session::passes(), pass.name),
               inLoops = runsOfPass(loops::passes(), pass.name);
  if (inCore + inLoops == 0)
    throw CLI::ValidationError("there is no pass `" + pass.name + "`, only " + namesOf(session::passes()) +
                               "; " + namesOf(loops::passes()));
  if (colon != std::string::npos) pass.run = numberIn(std::string_view(text).substr(colon + 1));
  if (pass.run == 0 || pass.run > inCore + inLoops)
    throw CLI::ValidationError("`" + pass.name + "` runs " + std::to_string(inCore + inLoops) +
                               (inCore + inLoops == 1 ? " time" : " times") + ": `--after " + pass.name +
                               ":1` is what stands after the first");
  invocation.show.stage = inCore > 0 ? StageKind::Opt : StageKind::Loops;
  invocation.show.after = std::move(pass);
}

void addShow(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  auto setStage = [&invocation](const std::string& name) { invocation.show.stage = findStage(name); };
  auto* what = command.add_option_group("+what")->require_option(1);
  what->add_option_function<std::string>("--stage", setStage, "what to show, see below")
      ->option_text("STAGE");
  what->add_option_function<std::string>(
          "--after", [&invocation](const std::string& text) { setPass(invocation, text); },
          "what stands after a pass of the stages opt and loops; PASS:2 after its second run")
      ->option_text("PASS");
  what->add_flag("--passes", invocation.show.listPasses,
                 "the passes in the order in which they run, as tables");
  command.add_flag("--count", invocation.show.count,
                   "the numbers of operations, nests and arrays of each function");
  command.add_option("--only", invocation.show.only, "only this function")->option_text("NAME");
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  addCpu(command, invocation.code, "compile for this processor (native)");
  command.footer(describeStages());
}

void addExplainFusion(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  addStrictness(command, invocation.code);
  command.footer(
      "Array operations, comprehensions and reductions are sweeps over axes. For each that others read:\n"
      "whether it became one sweep with them, and if not, why it writes an array.");
}

void addExplainBatching(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  addStrictness(command, invocation.code);
  command.footer(
      "For each loop, branch and call with products in the body of a comprehension: how it runs for all\n"
      "examples at once, or why it runs for an example at a time.");
}

void addExplainDevice(CLI::App& command, Invocation& invocation) {
  addProgram(command, invocation);
  command.add_flag("--count", invocation.show.count, "how many kernels there are on each side, and why");
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  command.footer("For each line: the kernels that it becomes, what the host runs instead and why, and which\n"
                 "arrays are copied where they were changed on the other side. No GPU is needed.");
}

void addSeconds(CLI::App& command, const char* name, double& seconds, double least, const char* purpose) {
  const auto isWithin = [least](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end == 0 && value >= least && value <= 1e9) return "";
    std::ostringstream problem;
    problem << "it is a number of seconds from " << least << " to 1e9, not `" << text << "`";
    return problem.str();
  };
  command.add_option(name, seconds, purpose)->option_text("SECONDS")->check(isWithin);
}

void addTest(CLI::App& command, Invocation& invocation) {
  addFiles(command, invocation, "programs with blocks `test \"name\" { }`, or folders with such");
  command.add_option("--filter", invocation.filter, "run only tests whose name contains this")
      ->option_text("TEXT");
  addSeconds(command, "--timeout", invocation.timeout, 0, "stop a test after this time (60); 0: never");
  addInterpret(command, invocation.code);
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  command.footer("Each test runs in a process of its own. The status is 1 if any fails.");
}

void addBench(CLI::App& command, Invocation& invocation) {
  addFiles(command, invocation, "programs with blocks `bench \"name\" { }`, or folders with such");
  command.add_option("--filter", invocation.filter, "run only benches whose name contains this")
      ->option_text("TEXT");
  addSeconds(command, "--seconds", invocation.seconds, 1e-3, "measure each for this time (1)");
  addSeconds(command, "--timeout", invocation.timeout, 0,
             "stop one that takes so much longer than that (60); 0: never");
  addOptimisation(command, invocation.code);
  addDevice(command, invocation.code);
  addStrictness(command, invocation.code);
  addCpu(command, invocation.code, "compile for this processor (native)");
  command.footer(
      "For each: the median time of one run, half of what lies between the quartiles in percent of\n"
      "that, and the blocks of memory that one run asks for. Each runs in a process of its own.");
}

void addFmt(CLI::App& command, Invocation& invocation) {
  addFiles(command, invocation,
           "files, or folders with .mlx files; - formats standard input to standard output");
  command.add_flag("--check", invocation.checkFormat,
                   "change nothing; name the files that are not formatted");
  command.footer("The layout has no options: it depends on the program alone.");
}

/// How entries run.
void addEntryWays(CLI::App& command, CodeOptions& code) {
  addInterpret(command, code);
  command.add_flag("--compile", code.compileAll, "compile every entry, also what is done at once")
      ->excludes("--interpret");
}

void addRepl(CLI::App& command, Invocation& invocation) {
  addEntryWays(command, invocation.code);
  addStrictness(command, invocation.code);
  command.footer("Definitions are kept, the value of each expression is shown; `:help` lists the commands.\n"
                 "Ctrl-C stops what runs, Ctrl-D ends the session. MELIX_HISTORY is the file for the\n"
                 "history, empty for none; else melix/history in XDG_DATA_HOME or ~/.local/share.");
}

void addKernel(CLI::App& command, Invocation& invocation) {
  addEntryWays(command, invocation.code);
  addStrictness(command, invocation.code);
  command.footer(
      "Reads requests such as {\"id\": 1, \"do\": \"execute\", \"code\": \"1 + 1\"}, a line each, and\n"
      "answers in lines of JSON: docs/reference/notebook.md. The kernel for Jupyter, in\n"
      "editors/jupyter, starts it. Ctrl-C stops what runs, the end of the input ends it.");
}

void addDevices(CLI::App& command, Invocation&) {
  command.footer("The first is the one that `on gpu` runs on. The status is 1 if there is none.");
}

struct Command {
  const char* name;
  CommandKind kind;
  const char* description;
  const char* usage;
  void (*add)(CLI::App&, Invocation&);
};

constexpr Command commands[] = {
    {"run", CommandKind::Run, "compile a program and run it",
     "melix run [options] FILE [arguments of the program]\n"
     "       melix run [options] -e CODE [arguments of the program]",
     addRun},
    {"build", CommandKind::Build, "make an executable of a program", "melix build [options] FILE [-o OUT]",
     addBuild},
    {"check", CommandKind::Check, "report errors and warnings", "melix check [options] FILE", addCheck},
    {"test", CommandKind::Test, "run the tests in a program", "melix test [options] FILE...", addTest},
    {"bench", CommandKind::Bench, "measure the benches in a program", "melix bench [options] FILE...",
     addBench},
    {"show", CommandKind::Show, "show what the compiler makes of a program",
     "melix show --stage STAGE [options] FILE", addShow},
    {"explain-fusion", CommandKind::ExplainFusion, "say which sweeps over arrays became one, and which not",
     "melix explain-fusion [options] FILE", addExplainFusion},
    {"explain-batching", CommandKind::ExplainBatching,
     "say what runs for all examples at once, and what does not", "melix explain-batching [options] FILE",
     addExplainBatching},
    {"explain-device", CommandKind::ExplainDevice,
     "say what runs on a GPU, and what keeps the rest on the host", "melix explain-device [options] FILE",
     addExplainDevice},
    {"fmt", CommandKind::Fmt, "format programs in place", "melix fmt [--check] FILE...", addFmt},
    {"repl", CommandKind::Repl, "a prompt for expressions and definitions", "melix repl [options]", addRepl},
    {"kernel", CommandKind::Kernel, "the prompt for notebooks, as lines of JSON", "melix kernel [options]",
     addKernel},
    {"devices", CommandKind::Devices, "list the GPUs of this machine", "melix devices", addDevices},
};

// ---- what CLI11 cannot say

/// Options of `melix run` whose value is the next argument.
bool takesNextArgument(const std::string& argument) {
  return argument == "--cpu" || argument == "--device" || argument == "-O" || argument == "-e";
}

/// Cuts off what belongs to the program: all that follows the file or `-e CODE`.
std::vector<std::string> splitProgramArguments(std::vector<std::string>& arguments) {
  size_t at = 1; // after `run`
  for (bool found = false; at < arguments.size() && !found; ++at) {
    const std::string& argument = arguments[at];
    bool isOption = argument.size() > 1 && argument[0] == '-';
    found = !isOption || argument.starts_with("-e");
    if (takesNextArgument(argument) && at + 1 < arguments.size()) ++at;
  }
  std::vector<std::string> rest(arguments.begin() + static_cast<ptrdiff_t>(at), arguments.end());
  arguments.resize(at);
  return rest;
}

bool takesProgram(CommandKind kind) {
  return kind == CommandKind::Run || kind == CommandKind::Build || kind == CommandKind::Check ||
         kind == CommandKind::Show || kind == CommandKind::ExplainFusion ||
         kind == CommandKind::ExplainBatching || kind == CommandKind::ExplainDevice;
}

/// What is wrong although every option alone is right; empty if nothing is.
std::string findContradiction(const Invocation& invocation) {
  if (!takesProgram(invocation.command) || invocation.show.listPasses) return {};
  bool hasFile = !invocation.program.file.empty();
  if (!hasFile && !invocation.program.code) return "no program: give a FILE, `-` or `-e CODE`";
  if (hasFile && invocation.program.code) return "give a FILE or `-e CODE`, not both";
  const bool hasName = hasFile && invocation.program.file != "-";
  if (invocation.command == CommandKind::Build && !hasName && invocation.output.empty())
    return "no name for the executable: give `-o OUT`";
  return invocation.command == CommandKind::Show ? notShown(invocation) : std::string();
}

Answer wrong(const std::string& message, const std::string& command) {
  std::string help = command.empty() ? "melix --help" : "melix " + command + " --help";
  return {"melix: error: " + message + "\n  hint: `" + help + "` explains the command line\n",
          WrongCommandLine};
}

const Command* findCommand(const std::string& name) {
  auto found = std::find_if(std::begin(commands), std::end(commands),
                            [&](const Command& c) { return name == c.name; });
  return found == std::end(commands) ? nullptr : found;
}

/// The first word is neither a command nor an option that stands alone.
Answer unknownCommand(const std::string& word) {
  if (word.starts_with('-')) return wrong("there is no option `" + word + "`", "");
  return wrong("there is no command `" + word + "`", "");
}

/// The first argument that no option of the command took.
Answer unexpectedArgument(const CLI::App& command) {
  std::vector<std::string> extras = command.remaining();
  const std::string& word = extras.front();
  bool isOption = word.size() > 1 && word[0] == '-';
  return wrong((isOption ? "there is no option `" : "unexpected argument `") + word + "`",
               command.get_name());
}

/// A flag that is given a value; empty if there is none.
std::string flagWithValue(const CLI::App& command, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    size_t end = argument.find('=');
    if (!argument.starts_with("--") || end == std::string::npos) continue;
    std::string name = argument.substr(0, end);
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option && option->get_items_expected_max() == 0) return name;
  }
  return {};
}

/// Whether a first word is the file of a program, which then runs.
bool isProgram(const std::string& word) {
  return !word.starts_with('-') && (word.ends_with(".mlx") || word.find('/') != std::string::npos);
}

bool asksForHelpOrVersion(const std::string& word) {
  return word == "--help" || word == "-h" || word == "--version";
}

/// Help with a usage line of our own: CLI11's does not know what stands before and after the file.
class HelpFormatter : public CLI::Formatter {
public:
  explicit HelpFormatter(const char* usage) : usage_(usage) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return std::string("Usage: ") + usage_ + "\n";
  }

  /// A positional argument is shown by its text alone, or by its name.
  std::string make_option_name(const CLI::Option* option, bool isPositional) const override {
    if (isPositional && !option->get_option_text().empty()) return option->get_option_text();
    return CLI::Formatter::make_option_name(option, isPositional);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return {};
    return CLI::Formatter::make_option_opts(option);
  }

private:
  const char* usage_;
};

void configure(CLI::App& app, const char* usage) {
  auto formatter = std::make_shared<HelpFormatter>(usage);
  formatter->column_width(26);
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "COMMAND");
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "print this help");
}

} // namespace

std::optional<StageKind> stageNamed(const std::string& name, std::string& error) {
  std::string known;
  for (const Stage& stage : stages) {
    if (name == stage.name) return stage.kind;
    known += std::string(known.empty() ? "" : ", ") + stage.name;
  }
  error = "there is no stage `" + name + "`, only " + known;
  return std::nullopt;
}

std::variant<Invocation, Answer> parseCommandLine(std::vector<std::string> arguments) {
  Invocation invocation;
  CLI::App app(introduction, "melix");
  configure(app, "melix COMMAND [options]");
  app.set_version_flag("--version", "melix " MELIX_VERSION, "print the version");
  app.require_subcommand(1);

  if (!arguments.empty() && isProgram(arguments[0])) arguments.insert(arguments.begin(), "run");
  const Command* chosen = arguments.empty() ? nullptr : findCommand(arguments[0]);
  if (!chosen && !arguments.empty() && !asksForHelpOrVersion(arguments[0]))
    return unknownCommand(arguments[0]);
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.description);
    configure(*sub, command.usage);
    sub->group("Commands");
    if (&command == chosen) command.add(*sub, invocation);
  }
  app.footer(overview); // after the commands, which would inherit it
  if (arguments.empty()) return Answer{app.help(), WrongCommandLine};
  if (chosen) invocation.command = chosen->kind;
  if (chosen && chosen->kind == CommandKind::Run)
    invocation.programArguments = splitProgramArguments(arguments);

  std::string name = chosen ? chosen->name : "";
  if (chosen)
    if (std::string flag = flagWithValue(*app.get_subcommand(name), arguments); !flag.empty())
      return wrong("`" + flag + "` takes no value", name);
  try {
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    app.parse(std::move(arguments));
  } catch (const CLI::CallForVersion&) {
    return Answer{"melix " MELIX_VERSION "\n", Success};
  } catch (const CLI::CallForHelp&) {
    return Answer{(chosen ? app.get_subcommand(name) : &app)->help(), Success};
  } catch (const CLI::ExtrasError&) {
    return unexpectedArgument(*app.get_subcommand(name));
  } catch (const CLI::ParseError& error) {
    return wrong(error.what(), name);
  }
  std::string contradiction = findContradiction(invocation);
  if (!contradiction.empty()) return wrong(contradiction, name);
  return invocation;
}

} // namespace melix::driver
