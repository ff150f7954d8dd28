// melix_main and the command line: what a program's user sees (rule 45).
#include "runtime_fixture.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::test {
namespace {

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
  void declare(const char* name, const char* type, const char* standard = nullptr) {
    call(melix_command_declare,
         Slots().add(name).add(type).add(uint64_t(standard != nullptr)).add(standard ? standard : ""));
  }
  void declareAll() {
    declare("path", "str");
    declare("count", "i32");
    declare("batch_size", "int", "64");
    declare("rate", "f32", "0.5");
    declare("verbose", "bool", "false");
    declare("rest", "List[str]");
  }
  /// MELIX_OK, or MELIX_EXIT with the status in melix_exit_status.
  int32_t parse(std::vector<std::string> words, bool declared = true) {
    words.insert(words.begin(), "prog");
    texts = std::move(words);
    argv.clear();
    for (std::string& w : texts) argv.push_back(w.data());
    melix_set_arguments(static_cast<int32_t>(argv.size()), argv.data());
    if (declared) declareAll();
    Slots doc;
    doc.add("Trains on a table.");
    return melix_call_builtin(task, melix_command_parse, doc.words.data(), results);
  }
  std::string error(std::vector<std::string> words, bool declared = true) {
    output[2].clear();
    EXPECT_EQ(parse(std::move(words), declared), MELIX_EXIT);
    EXPECT_EQ(melix_exit_status(task), MELIX_USAGE);
    return output[2].substr(0, output[2].find('\n'));
  }
  bool given(int64_t k) { return call(melix_command_given, Slots().add(k))[0] != 0; }
  int64_t integer(int64_t k) { return static_cast<int64_t>(call(melix_command_int, Slots().add(k))[0]); }
  std::string word(int64_t k) {
    call(melix_command_text, Slots().add(k));
    return takeText(0);
  }
  std::vector<std::string> texts;
  std::vector<char*> argv;
  std::string output[3];
};

TEST_F(CommandLine, positional_optional_and_rest) {
  ASSERT_EQ(parse({"t.csv", "-3", "--batch-size", "128", "--rate=0.25", "--verbose", "x", "--", "--y"}),
            MELIX_OK);
  EXPECT_EQ(word(0), "t.csv");
  EXPECT_EQ(integer(1), -3);
  EXPECT_EQ(integer(2), 128);
  double rate;
  std::memcpy(&rate, call(melix_command_float, Slots().add(int64_t(3))), 8);
  EXPECT_EQ(rate, 0.25);
  EXPECT_EQ(integer(4), 1);
  call(melix_command_rest, Slots());
  EXPECT_EQ(takeList(0), (std::vector<std::string>{"x", "--y"}));
  ASSERT_EQ(parse({"t.csv", "3", "--no-verbose"}), MELIX_OK);
  EXPECT_FALSE(given(2));
  EXPECT_TRUE(given(4));
  EXPECT_EQ(integer(4), 0);
  EXPECT_FALSE(given(5));
  EXPECT_EQ(live(), 0);
}

TEST_F(CommandLine, mistakes_are_told_with_the_usage) {
  EXPECT_EQ(error({"t.csv", "many"}), "error: `many` for `count` is not an integer");
  EXPECT_NE(
      output[2].find("usage: prog PATH COUNT [REST...] [--batch-size INTEGER] [--rate NUMBER] [--verbose]\n"),
      std::string::npos);
  EXPECT_EQ(error({"t.csv", "9999999999"}), "error: `9999999999` for `count` does not fit its type");
  EXPECT_EQ(error({"t.csv"}), "error: `count` is missing");
  EXPECT_EQ(error({"t.csv", "1", "--rat", "1"}), "error: unknown option `--rat`");
  EXPECT_EQ(error({"t.csv", "1", "--rate"}), "error: `--rate` needs a value");
  EXPECT_EQ(error({"t.csv", "1", "--rate", "fast"}), "error: `fast` for `rate` is not a number");
  EXPECT_EQ(error({"t.csv", "1", "--verbose=3"}), "error: `3` for `verbose` is not `true` or `false`");
  EXPECT_EQ(error({"\xff", "1"}), "error: `\xff` for `path` is not UTF-8");
  EXPECT_EQ(error({"t.csv", "1", "\xff"}), "error: `\xff` for `rest` is not UTF-8");
  EXPECT_EQ(error({"x"}, false), "error: unexpected argument `x`");
  EXPECT_EQ(live(), 0);
}

TEST_F(CommandLine, help_is_made_from_the_parameters) {
  EXPECT_EQ(parse({"--help"}), MELIX_EXIT);
  EXPECT_EQ(melix_exit_status(task), 0);
  EXPECT_EQ(output[1], "usage: prog PATH COUNT [REST...] [--batch-size INTEGER] [--rate NUMBER] [--verbose]\n"
                       "\n"
                       "Trains on a table.\n"
                       "\n"
                       "  PATH\n"
                       "  COUNT\n"
                       "  --batch-size INTEGER    default 64\n"
                       "  --rate NUMBER           default 0.5\n"
                       "  --verbose\n"
                       "  REST\n"
                       "  --help                  show this text\n");
}

class Program : public testing::Test {};

/// Ends the (forked) process with what melix_main returns.
[[noreturn]] void runProgram(MelixEntryFn entry) {
  melix_after_fork();
  char name[] = "prog";
  char* argv[] = {name, nullptr};
  MelixProgram program{entry, nullptr, 3, 0, nullptr, 0};
  setenv("MELIX_STATS", "1", 1);
  signal(SIGINT, SIG_DFL); // as from a terminal; a shell may have started the tests without
  _exit(melix_main(1, argv, &program));
}

void print(MelixTask* task, const char* words, MelixBuiltinFn fn = melix_io_print) {
  MelixStr s = str(words);
  uint64_t args[] = {1, reinterpret_cast<uint64_t>(&s)};
  fn(task, args, nullptr);
}

TEST_F(Program, ends_with_the_status_of_its_entry) {
  EXPECT_EXIT(runProgram([](MelixTask*) { return int32_t(MELIX_OK); }), testing::ExitedWithCode(0),
              "melix: live blocks 0, allocations 0, peak 0 bytes\n$");
  EXPECT_EXIT(runProgram([](MelixTask* t) {
                print(t, "error: no such thing", melix_io_eprint);
                return int32_t(MELIX_FAILED);
              }),
              testing::ExitedWithCode(1), "error: no such thing\n");
}

TEST_F(Program, a_panic_is_written_and_ends_with_101) {
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                melix_alloc(t, 100);
                melix_panic(t, reinterpret_cast<const uint8_t*>("broken"), 6);
              }),
              testing::ExitedWithCode(101),
              "panic: broken\nmelix: live blocks 0, allocations 1, peak 100 bytes\n$");
}

TEST_F(Program, exit_ends_with_its_number) {
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                uint64_t args[] = {42};
                melix_exit(t, args, nullptr);
                return 0;
              }),
              testing::ExitedWithCode(42), "live blocks 0");
}

TEST_F(Program, endless_recursion_ends_with_101) {
  EXPECT_EXIT(runProgram([](MelixTask*) {
                std::function<int32_t(int32_t)> down = [&](int32_t n) { return down(n + 1) + 1; };
                return down(0);
              }),
              testing::ExitedWithCode(101), "panic: stack overflow: recursion without end\\?\n");
}

TEST_F(Program, control_c_is_seen_where_the_flag_is_polled) {
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                raise(SIGINT);
                while (!reinterpret_cast<volatile MelixTaskHead*>(t)->cancel) {
                }
                melix_cancelled(t);
              }),
              testing::ExitedWithCode(130), "live blocks 0");
  EXPECT_EXIT(runProgram([](MelixTask*) -> int32_t {
                raise(SIGINT);
                raise(SIGINT); // nobody polls
                return 0;
              }),
              testing::ExitedWithCode(130), "");
}

TEST_F(Program, a_fault_that_is_no_stack_overflow_ends_as_usual) {
#ifndef MELIX_SANITIZE
  EXPECT_EXIT(runProgram([](MelixTask*) -> int32_t {
                volatile uintptr_t nowhere = 16; // volatile: else the compiler sees the fault and refuses it
                return *reinterpret_cast<volatile int*>(nowhere);
              }),
              testing::KilledBySignal(SIGSEGV), "");
#endif
}

/// Prints a line that is not written at once, to where the test reads.
void printToErrors(MelixTask* t) {
  dup2(2, 1);
  print(t, "kept");
}

[[noreturn]] void compute() {
  for (volatile bool goesOn = true;;)
    if (!goesOn) break;
  std::abort();
}

// AddressSanitizer tells on the same stream of a stack that it does not know.
#ifdef MELIX_SANITIZE
constexpr const char* keptOnly = "kept\n";
#else
constexpr const char* keptOnly = "^kept\n$";
#endif

TEST_F(Program, output_is_written_before_a_signal_ends_the_process) {
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                printToErrors(t);
                raise(SIGTERM);
                compute();
              }),
              testing::KilledBySignal(SIGTERM), keptOnly);
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                printToErrors(t);
                raise(SIGABRT);
                compute();
              }),
              testing::KilledBySignal(SIGABRT), keptOnly);
#ifndef MELIX_SANITIZE
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                printToErrors(t);
                volatile uintptr_t nowhere = 16;
                return *reinterpret_cast<volatile int*>(nowhere);
              }),
              testing::KilledBySignal(SIGSEGV), keptOnly);
#endif
}

/// Where two processes meet: when the child printed.
double* sharedTime() {
  void* page = mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<double*>(page);
}

double secondsNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double* printedAt = sharedTime();

TEST_F(Program, a_line_waits_for_a_tenth_of_a_second_while_the_program_computes) {
  ASSERT_NE(printedAt, nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    runProgram([](MelixTask* t) -> int32_t {
      *printedAt = secondsNow();
      print(t, "first");
      compute();
    });
  }
  char text[16];
  EXPECT_EQ(read(ends[0], text, sizeof text), 6);
  const double waited = secondsNow() - *printedAt;
  EXPECT_GT(waited, 0.09);
  EXPECT_LT(waited, 1.0); // where the processors have more to do than this
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

/// How often the threads of this process but the calling one went to sleep, and how many there are.
std::pair<int, int> sleepsOfOthers() {
  std::pair<int, int> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(gettid())) continue;
    std::ifstream status(thread.path() / "status");
    for (std::string word; status >> word;)
      if (int count = 0; word == "voluntary_ctxt_switches:" && status >> count) found.first += count;
    ++found.second;
  }
  return found;
}

TEST_F(Program, the_thread_that_writes_sleeps_while_nothing_waits) {
  EXPECT_EXIT(runProgram([](MelixTask* t) -> int32_t {
                printToErrors(t);
                usleep(300'000); // it is written by now
                const auto before = sleepsOfOthers();
                usleep(500'000);
                const auto after = sleepsOfOthers();
                return before.second != 1 ? 3 : before == after ? 0 : 4;
              }),
              testing::ExitedWithCode(0), "^kept\n");
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
