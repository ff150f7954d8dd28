// Executables: objects of the code generator, linked with the runtime, stripped and run.
#include "aot/link.h"
#include "codegen/codegen.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::codegen {
namespace {

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int status = -1;
  std::string output; ///< both streams
};

class Executable : public testing::Test {
protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("melix_exe_" + std::to_string(getpid()))).string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// Builds the program of this text, each op on a line of its own, and runs it.
  Outcome buildAndRun(std::string_view text, const char* environment = "") {
    Interner names;
    types::TypeStore types{names};
    core::Module core{types};
    EXPECT_EQ(core::parseModule(core, text), "");
    for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
    core.entry = core::findFunction(core, "main");
    SourceStore sources;
    place(core, sources);
    Options options;
    options.target = TargetKind::Portable;
    options.sources = &sources;
    loops::Result lowered = loops::fromCore(core, loopOptions(options));
    if (lowered.error) {
      ADD_FAILURE() << lowered.error->what;
      return {};
    }
    Compiled program = compile(lowered.module, options);
    EXPECT_EQ(program.error, "");
    addStart(program, options);
    EXPECT_EQ(program.error, "");
    std::string archive = readFile(RUNTIME_ARCHIVE);
    std::vector<std::string_view> objects;
    for (const Object& object : program.objects) objects.push_back(object.bytes);
    std::string problem;
    std::optional<std::string> bytes = aot::linkExecutable(objects, archive, problem, {.strip = true});
    EXPECT_EQ(problem, "");
    std::ofstream(path_, std::ios::binary) << bytes.value_or("");
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    Outcome outcome;
    FILE* pipe = popen((std::string(environment) + " " + path_ + " 2>&1").c_str(), "r");
    char buffer[256];
    while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) outcome.output.append(buffer, got);
    int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
    return outcome;
  }

  static void place(core::Module& core, SourceStore& sources) {
    std::string text;
    for (int line = 1; line <= 20'000; ++line) text += std::to_string(line % 900 + 100) + "\n";
    FileId file = sources.add("made.mlx", text);
    uint32_t line = 0;
    auto next = [&] {
      uint32_t begin = 4 * line++;
      return core.locs.add({core::LocKind::Source, Span{file, begin, begin + 3}, {}, {}});
    };
    for (uint32_t f = 0; f < core.functions.size(); ++f) {
      core::Function& fn = core.functions[core::FunctionId(f)];
      fn.loc = next();
      for (uint32_t k = 0; k < fn.ops.size(); ++k) fn.ops[core::OpId(k)].loc = next();
    }
  }

  std::string path_;
};

TEST_F(Executable, PrintsAndGivesItsStatus) {
  Outcome outcome = buildAndRun(R"(
fn main () -> (i64) {
  %a = const "hello" : str
  %u = builtin print %a : ()
  %r = const 7 : i64
  yield %r
}
)",
                                "MELIX_STATS=1");
  EXPECT_EQ(outcome.status, 7);
  EXPECT_NE(outcome.output.find("hello\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("live blocks 0"), std::string::npos) << outcome.output;
  EXPECT_LT(std::filesystem::file_size(path_), 300'000u);
}

TEST_F(Executable, TracesPanicsThoughStripped) {
  Outcome outcome = buildAndRun(R"(
fn pick [N] (%x: i64[N], %i: i64) -> (i64) {
  check index "" %i dims [N]
  %v = get %x[%i] : i64
  yield %v
}
fn main () -> (i64) {
  %x2 = zero : i64[10]
  %k = const 12 : i64
  %r = call @pick %x2, %k dims [10] : i64
  yield %r
}
)");
  EXPECT_EQ(outcome.status, 101);
  EXPECT_EQ(outcome.output, "made.mlx:2:1: panic: index 12 is out of range for an axis of size 10\n"
                            "102\n"
                            "  at pick (made.mlx:2)\n"
                            "  at main (made.mlx:8)\n");
}

TEST_F(Executable, TracesThroughAllObjectsOfALongProgram) {
  std::string text = R"(
fn f0 [N] (%x: i64[N], %i: i64) -> (i64) {
  check index "" %i dims [N]
  %v = get %x[%i] : i64
  yield %v
}
)";
  for (int k = 1; k <= 200; ++k) {
    text += "fn f" + std::to_string(k) + " [N] (%x: i64[N], %i: i64) -> (i64) {\n  %s0 = call @f" +
            std::to_string(k - 1) + " %x, %i dims [N] : i64\n";
    for (int step = 1; step <= 50; ++step)
      text += "  %s" + std::to_string(step) + " = add %s" + std::to_string(step - 1) + ", %i : i64\n";
    text += "  yield %s50\n}\n";
  }
  text += R"(
fn main () -> (i64) {
  %x = zero : i64[10]
  %i = const 12 : i64
  %r = call @f200 %x, %i dims [10] : i64
  yield %r
}
)";
  Outcome outcome = buildAndRun(text);
  EXPECT_EQ(outcome.status, 101);
  for (const char* frame : {"  at f0 (", "  at f1 (", "  at f199 (", "  at f200 (", "  at main ("})
    EXPECT_NE(outcome.output.find(frame), std::string::npos) << frame << " in\n" << outcome.output;
}

} // namespace
} // namespace melix::codegen
