// melix_main and the command line: what a program's user sees (rule 45).
#include "runtime_fixture.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace melix::test {
namespace {

const MelixParam params[] = {
    {"path", scalar(MELIX_KIND_STR), 0, 0, nullptr, "the table"},
    {"count", scalar(MELIX_KIND_I32), 0, 0, nullptr, nullptr},
    {"batch_size", scalar(MELIX_KIND_I64), MELIX_PARAM_DEFAULT, 0, "64", "rows at once"},
    {"rate", scalar(MELIX_KIND_F32), MELIX_PARAM_DEFAULT, 0, "0.5", nullptr},
    {"verbose", scalar(MELIX_KIND_BOOL), MELIX_PARAM_DEFAULT, 0, "false", "say more"},
    {"rest", &melix_type_str_list, MELIX_PARAM_REST, 0, nullptr, nullptr},
};
const MelixCommandLine spec{params, 6, "Trains on a table."};

class CommandLine : public RuntimeTest {
protected:
  void SetUp() override {
    melix_set_writer(
        [](void* out, int32_t fd, const uint8_t* data, int64_t len) {
          static_cast<std::string*>(out)[fd].append(reinterpret_cast<const char*>(data),
                                                    static_cast<size_t>(len));
        },
        output);
  }
  void TearDown() override { melix_set_writer(nullptr, nullptr); }
  int32_t parse(std::vector<std::string> words, const MelixCommandLine& line = spec) {
    words.insert(words.begin(), "prog");
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    return melix_parse_command_line(task, &line, static_cast<int32_t>(words.size()), argv.data(), args);
  }
  std::string error(std::vector<std::string> words) {
    EXPECT_EQ(parse(std::move(words)), MELIX_USAGE);
    return output[2].substr(0, output[2].find('\n'));
  }
  MelixArg args[8];
  std::string output[3];
};

TEST_F(CommandLine, positional_optional_and_rest) {
  ASSERT_EQ(parse({"t.csv", "-3", "--batch-size", "128", "--rate=0.25", "--verbose", "x", "--", "--y"}),
            MELIX_OK);
  EXPECT_EQ(
      text({reinterpret_cast<const uint8_t*>(args[0].slots[0]), static_cast<int64_t>(args[0].slots[1])}),
      "t.csv");
  EXPECT_EQ(static_cast<int32_t>(args[1].slots[0]), -3);
  EXPECT_EQ(args[2].slots[0], 128u);
  float rate;
  std::memcpy(&rate, &args[3].slots[0], 4);
  EXPECT_EQ(rate, 0.25f);
  EXPECT_EQ(args[4].slots[0], 1u);
  void* rest = reinterpret_cast<void*>(args[5].slots[0]);
  EXPECT_EQ(format(&melix_type_str_list, &rest), R"(["x", "--y"])");
  melix_release(task, rest);
  melix_release(task, reinterpret_cast<void*>(args[0].slots[0]));
  EXPECT_EQ(live(), 0);
  ASSERT_EQ(parse({"t.csv", "3", "--no-verbose"}), MELIX_OK);
  EXPECT_EQ(args[2].given, 0);
  EXPECT_EQ(args[4].given, 1);
  EXPECT_EQ(args[4].slots[0], 0u);
  EXPECT_EQ(args[5].slots[0], 0u);
  melix_release(task, reinterpret_cast<void*>(args[0].slots[0]));
}

TEST_F(CommandLine, mistakes_are_told_with_the_usage) {
  EXPECT_EQ(error({"t.csv", "many"}), "error: `many` for `count` is not an integer");
  EXPECT_NE(
      output[2].find("usage: prog PATH COUNT [REST...] [--batch-size INTEGER] [--rate NUMBER] [--verbose]\n"),
      std::string::npos);
  output[2].clear();
  EXPECT_EQ(error({"t.csv", "9999999999"}), "error: `9999999999` for `count` does not fit its type");
  output[2].clear();
  EXPECT_EQ(error({"t.csv"}), "error: `count` is missing");
  output[2].clear();
  EXPECT_EQ(error({"t.csv", "1", "--rat", "1"}), "error: unknown option `--rat`");
  output[2].clear();
  EXPECT_EQ(error({"t.csv", "1", "--rate"}), "error: `--rate` needs a value");
  output[2].clear();
  EXPECT_EQ(error({"t.csv", "1", "--rate", "fast"}), "error: `fast` for `rate` is not a number");
  output[2].clear();
  EXPECT_EQ(error({"\xff", "1"}), "error: `\xff` for `path` is not UTF-8");
  output[2].clear();
  MelixCommandLine none{nullptr, 0, nullptr};
  EXPECT_EQ(parse({"x"}, none), MELIX_USAGE);
  EXPECT_EQ(output[2].substr(0, output[2].find('\n')), "error: unexpected argument `x`");
  EXPECT_EQ(live(), 0);
}

TEST_F(CommandLine, help_is_made_from_the_parameters) {
  EXPECT_EQ(parse({"--help"}), -1);
  EXPECT_EQ(output[1], "usage: prog PATH COUNT [REST...] [--batch-size INTEGER] [--rate NUMBER] [--verbose]\n"
                       "\n"
                       "Trains on a table.\n"
                       "\n"
                       "  PATH                    the table\n"
                       "  COUNT\n"
                       "  --batch-size INTEGER    rows at once (default 64)\n"
                       "  --rate NUMBER           default 0.5\n"
                       "  --verbose               say more\n"
                       "  REST\n"
                       "  --help                  show this text\n");
}

class Program : public testing::Test {};

/// Ends the (forked) process with what melix_main returns.
[[noreturn]] void runProgram(MelixEntryFn entry, const MelixCommandLine* line = nullptr,
                             std::vector<const char*> words = {}) {
  words.insert(words.begin(), "prog");
  std::vector<char*> argv;
  for (const char* w : words) argv.push_back(const_cast<char*>(w));
  argv.push_back(nullptr);
  MelixProgram program{entry, line, nullptr, 3, 0};
  setenv("MELIX_STATS", "1", 1);
  _exit(melix_main(static_cast<int32_t>(words.size()), argv.data(), &program));
}

void print(MelixTask* task, const char* words, MelixBuiltinFn fn = melix_io_print) {
  MelixStr s = str(words);
  uint64_t args[] = {1, reinterpret_cast<uint64_t>(&s)};
  fn(task, args, nullptr);
}

TEST_F(Program, ends_with_the_status_of_its_entry) {
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) { return int32_t(MELIX_OK); }),
              testing::ExitedWithCode(0), "melix: live blocks 0, allocations 0, peak 0 bytes\n$");
  EXPECT_EXIT(runProgram([](MelixTask* t, const MelixArg*) {
                print(t, "error: no such thing", melix_io_eprint);
                return int32_t(MELIX_FAILED);
              }),
              testing::ExitedWithCode(1), "error: no such thing\n");
}

TEST_F(Program, a_panic_is_written_and_ends_with_101) {
  EXPECT_EXIT(runProgram([](MelixTask* t, const MelixArg*) -> int32_t {
                melix_alloc(t, 100);
                melix_panic(t, reinterpret_cast<const uint8_t*>("broken"), 6);
              }),
              testing::ExitedWithCode(101),
              "panic: broken\nmelix: live blocks 0, allocations 1, peak 100 bytes\n$");
}

TEST_F(Program, exit_ends_with_its_number) {
  EXPECT_EXIT(runProgram([](MelixTask* t, const MelixArg*) -> int32_t {
                uint64_t args[] = {42};
                melix_exit(t, args, nullptr);
                return 0;
              }),
              testing::ExitedWithCode(42), "live blocks 0");
}

TEST_F(Program, a_wrong_command_line_ends_with_2) {
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) { return int32_t(0); }, &spec, {"t.csv", "x"}),
              testing::ExitedWithCode(2), "error: `x` for `count` is not an integer");
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) { return int32_t(9); }, &spec, {"--help"}),
              testing::ExitedWithCode(0), "");
}

TEST_F(Program, arguments_left_by_a_panic_are_freed) {
  EXPECT_EXIT(runProgram([](MelixTask* t, const MelixArg*)
                             -> int32_t { melix_panic(t, reinterpret_cast<const uint8_t*>("no"), 2); },
                         &spec, {"t.csv", "1", "rest"}),
              testing::ExitedWithCode(101), "live blocks 0, allocations 3");
}

TEST_F(Program, endless_recursion_ends_with_101) {
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) {
                std::function<int32_t(int32_t)> down = [&](int32_t n) { return down(n + 1) + 1; };
                return down(0);
              }),
              testing::ExitedWithCode(101), "panic: stack overflow: recursion without end\\?\n");
}

TEST_F(Program, control_c_is_seen_where_the_flag_is_polled) {
  EXPECT_EXIT(runProgram([](MelixTask* t, const MelixArg*) -> int32_t {
                raise(SIGINT);
                while (!reinterpret_cast<volatile MelixTaskHead*>(t)->cancel) {
                }
                melix_cancelled(t);
              }),
              testing::ExitedWithCode(130), "live blocks 0");
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) -> int32_t {
                raise(SIGINT);
                raise(SIGINT); // nobody polls
                return 0;
              }),
              testing::ExitedWithCode(130), "");
}

TEST_F(Program, a_fault_that_is_no_stack_overflow_ends_as_usual) {
#ifndef MELIX_SANITIZE
  EXPECT_EXIT(runProgram([](MelixTask*, const MelixArg*) -> int32_t {
                volatile uintptr_t nowhere = 16; // volatile: else the compiler sees the fault and refuses it
                return *reinterpret_cast<volatile int*>(nowhere);
              }),
              testing::KilledBySignal(SIGSEGV), "");
#endif
}

TEST_F(RuntimeTest, print_joins_its_pieces_with_spaces) {
  std::string output[3];
  melix_set_writer(
      [](void* out, int32_t fd, const uint8_t* data, int64_t len) {
        static_cast<std::string*>(out)[fd].append(reinterpret_cast<const char*>(data),
                                                  static_cast<size_t>(len));
      },
      output);
  MelixStr pieces[] = {str("a"), str(""), str("b")};
  call(melix_io_print, Slots().add(int64_t(3)).add(pieces));
  call(melix_io_print, Slots().add(int64_t(0)).add(pieces));
  call(melix_io_write, Slots().add("x"));
  call(melix_io_eprint, Slots().add(int64_t(1)).add(pieces));
  melix_set_writer(nullptr, nullptr);
  EXPECT_EQ(output[1], "a  b\n\nx");
  EXPECT_EQ(output[2], "a\n");
}

TEST_F(RuntimeTest, surroundings) {
  double first, second;
  std::memcpy(&first, call(melix_clock, Slots()), 8);
  std::memcpy(&second, call(melix_clock, Slots()), 8);
  EXPECT_LE(first, second);
  setenv("MELIX_TEST_VARIABLE", "yes", 1);
  EXPECT_EQ(call(melix_environment, Slots().add("MELIX_TEST_VARIABLE"))[0], 1u);
  EXPECT_EQ(takeText(1), "yes");
  EXPECT_EQ(call(melix_environment, Slots().add("MELIX_NO_SUCH_VARIABLE"))[0], 0u);
  char name[] = "prog", one[] = "1";
  char* argv[] = {name, one};
  melix_set_arguments(2, argv);
  call(melix_arguments, Slots());
  EXPECT_EQ(takeList(0), std::vector<std::string>{"1"});
}

} // namespace
} // namespace melix::test
