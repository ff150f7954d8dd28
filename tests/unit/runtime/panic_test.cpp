// A panic tells place, message, source line and the Melix frames, and leaves nothing behind.
#include "runtime_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace melix::test {
namespace {

/// Return addresses of the calls in the functions below, noted in a first run; a line table is made of them.
std::vector<const uint8_t*> noted;
using Hook = void (*)(MelixTask*);
Hook volatile hook;

__attribute__((noinline)) void panicHere(MelixTask* task) {
  int64_t values[] = {5, 3};
  melix_panic_format(task, "index {0} is out of range for an axis of size {1} {x} {7}", 2, values);
}

__attribute__((noinline)) void leaf(MelixTask* task) {
  hook(task);
  asm volatile("");
}
__attribute__((noinline)) void middle(MelixTask* task) {
  leaf(task);
  asm volatile("");
}

/// Notes the return addresses of its own call and of its caller's.
__attribute__((noinline)) void noteCaller(MelixTask*) {
  auto** frame = static_cast<void**>(__builtin_frame_address(0));
  auto** outer = static_cast<void**>(frame[0]);
  noted = {static_cast<const uint8_t*>(frame[1]), static_cast<const uint8_t*>(outer[1])};
}

/// A line table over a few return addresses.
struct Table {
  std::string strings;
  std::vector<MelixFrame> frames;
  std::vector<MelixLineEntry> entries;
  MelixLineTable table{};

  struct Line {
    const char* function;
    const char* file;
    uint32_t line, column;
    const char* text;
  };
  explicit Table(std::map<const uint8_t*, std::vector<Line>> calls) {
    const uint8_t* base = calls.begin()->first - 64;
    for (auto& [address, lines] : calls) {
      entries.push_back({static_cast<uint32_t>(address - base), static_cast<uint32_t>(frames.size())});
      for (const Line& l : lines)
        frames.push_back({add(l.function), add(l.file), l.line, l.column, add(l.text)});
    }
    table.base = base;
    table.size = static_cast<uint64_t>(calls.rbegin()->first - base) + 16;
    table.count = entries.size();
    entries.push_back({static_cast<uint32_t>(table.size), static_cast<uint32_t>(frames.size())});
    table.entries = entries.data();
    table.frames = frames.data();
    table.strings = strings.c_str();
    melix_register_lines(&table);
  }
  ~Table() { melix_unregister_lines(&table); }

private:
  uint32_t add(const char* s) {
    auto at = static_cast<uint32_t>(strings.size());
    strings += s;
    strings += '\0';
    return at;
  }
};

class Panic : public RuntimeTest {
protected:
  void SetUp() override { setenv("MELIX_STACK", "32M", 1); } // quickly used up
  void TearDown() override { unsetenv("MELIX_STACK"); }
  /// Addresses of the calls `leaf → hook` and `middle → leaf`.
  void noteCalls() {
    hook = noteCaller;
    run([&] { middle(task); });
    ASSERT_EQ(noted.size(), 2u);
  }
};

TEST_F(Panic, shows_place_line_and_frames_inlined_ones_too) {
  noteCalls();
  Table table(
      {{noted[0], {{"inner", "a.mlx", 3, 7, "  let y = x[i]"}, {"leaf", "a.mlx", 9, 3, "  inner(x, 5)"}}},
       {noted[1], {{"main", "main.mlx", 20, 1, "leaf(x)"}}}});
  hook = panicHere;
  EXPECT_EQ(run([&] { middle(task); }), MELIX_PANIC);
  EXPECT_EQ(panic, "a.mlx:3:7: panic: index 5 is out of range for an axis of size 3 {x} {7}\n"
                   "  let y = x[i]\n"
                   "  at inner (a.mlx:3)\n"
                   "  at leaf (a.mlx:9)\n"
                   "  at main (main.mlx:20)\n");
}

TEST_F(Panic, a_call_at_the_end_of_its_code_is_told_from_the_code_behind_it) {
  noteCalls();
  Table ends({{noted[0], {{"leaf", "a.mlx", 9, 3, "x[5]"}}}});
  ends.table.size = static_cast<uint64_t>(noted[0] - ends.table.base);
  MelixLineTable behind{noted[0], 64, ends.entries.data(), 0, ends.frames.data(), "", nullptr};
  melix_register_lines(&behind);
  hook = panicHere;
  EXPECT_EQ(run([&] { middle(task); }), MELIX_PANIC);
  melix_unregister_lines(&behind);
  EXPECT_EQ(panic, "a.mlx:9:3: panic: index 5 is out of range for an axis of size 3 {x} {7}\nx[5]\n"
                   "  at leaf (a.mlx:9)\n");
}

TEST_F(Panic, without_a_table_there_is_the_message) {
  hook = panicHere;
  EXPECT_EQ(run([&] { middle(task); }), MELIX_PANIC);
  EXPECT_EQ(panic, "panic: index 5 is out of range for an axis of size 3 {x} {7}\n");
}

TEST_F(Panic, the_compiler_may_give_the_place) {
  EXPECT_EQ(run([&] {
              melix_panic_at(task, "b.mlx:1:2", "assert x",
                             reinterpret_cast<const uint8_t*>("assertion failed"), 16);
            }),
            MELIX_PANIC);
  EXPECT_EQ(panic, "b.mlx:1:2: panic: assertion failed\nassert x\n");
}

TEST_F(Panic, a_builtin_panics_at_its_caller) {
  noteCalls();
  Table table({{noted[0], {{"f", "s.mlx", 4, 2, "s[9]"}}}});
  hook = [](MelixTask* t) {
    uint64_t args[] = {reinterpret_cast<uint64_t>("abc"), 3, 9}, results[2];
    melix_str_char_at(t, args, results);
  };
  EXPECT_EQ(run([&] { middle(task); }), MELIX_PANIC);
  EXPECT_EQ(panic,
            "s.mlx:4:2: panic: index 9 is out of range for a string of 3 bytes\ns[9]\n  at f (s.mlx:4)\n");
}

TEST_F(Panic, frames_end_at_the_landing) {
  noteCalls();
  Table table({{noted[0], {{"leaf", "a.mlx", 1, 1, "x"}}}, {noted[1], {{"middle", "a.mlx", 2, 1, "y"}}}});
  hook = [](MelixTask* t) {
    hook = panicHere;
    melix_catch(t, [](MelixTask* inner, void*) { leaf(inner); }, nullptr);
  };
  EXPECT_EQ(run([&] { middle(task); }), MELIX_OK);
  int64_t len;
  EXPECT_EQ(
      std::string(melix_panic_text(task, &len)).substr(0, static_cast<size_t>(len)),
      "a.mlx:1:1: panic: index 5 is out of range for an axis of size 3 {x} {7}\nx\n  at leaf (a.mlx:1)\n");
}

TEST_F(Panic, cancellation_and_exit_reach_the_landing) {
  EXPECT_EQ(run([&] {
              melix_alloc(task, 8);
              melix_cancelled(task);
            }),
            MELIX_CANCELLED);
  EXPECT_EQ(run([&] {
              uint64_t args[] = {7};
              melix_exit(task, args, nullptr);
            }),
            MELIX_EXIT);
  EXPECT_EQ(melix_exit_status(task), 7);
  EXPECT_EQ(live(), 0);
}

// --- panics of chunks ---

__attribute__((noinline)) int64_t chunkBody(MelixTask* task, void*, int64_t begin, int64_t end) {
  if (begin <= 20 && 20 < end) leaf(task);
  return -1;
}
__attribute__((noinline)) void launch(MelixTask* task) {
  melix_parallel(task, chunkBody, nullptr, 64, 1, 1'000'000'000);
  asm volatile("");
}

TEST_F(Panic, a_trace_goes_on_from_the_chunk_to_the_launch_whatever_thread_ran_it) {
  std::string texts[3];
  const char* threads[] = {"1", "2", "3"};
  for (int k = 0; k < 3; k++) {
    setenv("MELIX_THREADS", threads[k], 1);
    melix_pool_stop();
    if (k == 0) {
      hook = [](MelixTask*) { // the calls in `leaf`, in `chunkBody`, and in `launch`
        const std::vector<const uint8_t*> callers = {reinterpret_cast<const uint8_t*>(&leaf),
                                                     reinterpret_cast<const uint8_t*>(&chunkBody),
                                                     reinterpret_cast<const uint8_t*>(&launch)};
        noted.clear();
        auto** frame = static_cast<void**>(__builtin_frame_address(0));
        for (int up = 0; up < 12 && noted.size() < callers.size();
             up++, frame = static_cast<void**>(frame[0])) {
          auto* address = static_cast<const uint8_t*>(frame[1]);
          const uint8_t* around = nullptr; // the last of them that begins in front of the address
          for (const uint8_t* start : callers)
            if (start < address && address < start + 512) around = std::max(around, start);
          if (around == callers[noted.size()]) noted.push_back(address);
        }
      };
      run([&] { launch(task); });
      ASSERT_EQ(noted.size(), 3u);
    }
    Table table({{noted[0], {{"leaf", "p.mlx", 1, 1, "x"}}},
                 {noted[1], {{"body", "p.mlx", 2, 1, "y"}}},
                 {noted[2], {{"launch", "p.mlx", 3, 1, "z"}}}});
    hook = panicHere;
    EXPECT_EQ(run([&] { launch(task); }), MELIX_PANIC);
    texts[k] = panic;
  }
  melix_pool_stop();
  unsetenv("MELIX_THREADS");
  EXPECT_EQ(texts[0].substr(0, texts[0].find(':')), "p.mlx");
  EXPECT_EQ(texts[0].substr(texts[0].find("\n")),
            "\nx\n  at leaf (p.mlx:1)\n  at body (p.mlx:2)\n  at launch (p.mlx:3)\n");
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

// --- stack overflow ---

__attribute__((noinline)) int64_t recurse(MelixTask* task, int64_t depth) {
  volatile int64_t local[4] = {depth, 0, 0, 0};
  if (depth == 3) hook(task);
  return depth < 0 ? 0 : recurse(task, depth + 1) + local[0];
}
__attribute__((noinline)) int64_t recurseWithAllocation(MelixTask* task, int64_t depth) {
  void* data = melix_alloc(task, 300);
  int64_t below = depth < 0 ? 0 : recurseWithAllocation(task, depth + 1);
  melix_release(task, data);
  return below + depth;
}

TEST_F(Panic, endless_recursion_is_a_panic_with_both_ends_of_the_trace) {
  hook = noteCaller; // from recurse at depth 3: the call of the hook, and the recursive call
  run([&] { recurse(task, 0); });
  ASSERT_EQ(noted.size(), 2u);
  Table table({{noted[1], {{"f", "r.mlx", 2, 5, "  f(n + 1)"}}}});
  EXPECT_EQ(run([&] { recurse(task, 0); }), MELIX_PANIC);
  EXPECT_EQ(
      panic.find("r.mlx:2:5: panic: stack overflow: recursion without end?\n  f(n + 1)\n  at f (r.mlx:2)\n"),
      0u);
  EXPECT_NE(panic.find(" more frames\n"), std::string::npos);
  auto lines = std::count(panic.begin(), panic.end(), '\n');
  EXPECT_GT(lines, 30);
  EXPECT_LT(lines, 50);
  // And the task can go on.
  EXPECT_EQ(run([&] { recurse(task, 0); }), MELIX_PANIC);
  EXPECT_EQ(run([&] { melix_release(task, melix_alloc(task, 10)); }), MELIX_OK);
}

TEST_F(Panic, recursion_that_allocates_is_caught_too) {
  MELIX_NOT_UNDER_GUARD_PAGES();
  EXPECT_EQ(run([&] { recurseWithAllocation(task, 0); }), MELIX_PANIC);
  EXPECT_EQ(message(), "stack overflow: recursion without end?");
  EXPECT_EQ(live(), 0);
}

TEST_F(Panic, the_stack_has_the_size_that_was_asked_for) {
  setenv("MELIX_STACK", "2M", 1);
  int64_t deepest = 0;
  run([&] {
    std::function<void(int64_t)> down = [&](int64_t n) {
      volatile char room[1000] = {0};
      deepest = n + room[0];
      down(n + 1);
    };
    down(0);
  });
  EXPECT_EQ(message(), "stack overflow: recursion without end?");
  EXPECT_GT(deepest, 200);
  EXPECT_LT(deepest, 2200);
}

} // namespace
} // namespace melix::test
