// melix_parallel: chunks by size alone, the first failing chunk wins, whatever the number of threads.
#include "runtime_fixture.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

namespace melix::test {
namespace {

constexpr int64_t muchWork = 1'000'000'000;

class Pool : public RuntimeTest, public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    setenv("MELIX_THREADS", GetParam(), 1);
    melix_pool_stop();
  }
  void TearDown() override {
    melix_pool_stop();
    unsetenv("MELIX_THREADS");
  }
  static int64_t call(MelixTask* t, void* f, int64_t begin, int64_t end) {
    return (*static_cast<std::function<int64_t(MelixTask*, int64_t, int64_t)>*>(f))(t, begin, end);
  }
  int64_t parallel(int64_t extent, int64_t grain, std::function<int64_t(MelixTask*, int64_t, int64_t)> body,
                   int64_t work = muchWork) {
    // Every chunk in pieces of `grain`.
    std::function<int64_t(MelixTask*, int64_t, int64_t)> pieces = [&](MelixTask* t, int64_t begin,
                                                                      int64_t end) {
      for (int64_t b = begin; b < end; b += grain)
        if (int64_t failed = body(t, b, std::min(b + grain, end)); failed >= 0) return failed;
      return int64_t(-1);
    };
    return melix_parallel(task, call, &pieces, extent, grain, work);
  }
};

/// The chunks that a launch runs, from the first turn to the last.
using Chunks = std::vector<std::pair<int64_t, int64_t>>;
Chunks chunksOf(MelixTask* task, int64_t extent, int64_t grain, int64_t work) {
  struct Seen {
    std::mutex lock;
    Chunks chunks;
  } seen;
  auto note = [](MelixTask*, void* all, int64_t begin, int64_t end) {
    auto* to = static_cast<Seen*>(all);
    std::lock_guard guard(to->lock);
    to->chunks.push_back({begin, end});
    return int64_t(-1);
  };
  EXPECT_EQ(melix_parallel(task, note, &seen, extent, grain, work), -1);
  std::sort(seen.chunks.begin(), seen.chunks.end());
  return seen.chunks;
}

TEST_P(Pool, chunks_are_by_sizes_alone) {
  const bool alone =
      std::string_view(GetParam()) == "1"; // then pieces are as long as one can wait for Ctrl-C
  constexpr int64_t pieceOfOne = 20'000'000;
  for (int64_t extent : {1, 2, 63, 64, 65, 1000, 12345})
    for (int64_t grain : {1, 4, 64})
      for (int64_t work : {int64_t(1'000'000), muchWork}) {
        const int64_t most = std::min<int64_t>(work / 4'000, 256), pieces = (extent + grain - 1) / grain;
        const int64_t longest =
            work < 2 * pieceOfOne ? extent : grain * ((extent / grain + 1) / (work / pieceOfOne) + 1);
        const int64_t turns = alone ? longest : grain * ((pieces + most - 1) / most);
        Chunks expected;
        for (int64_t b = 0; b < extent; b += turns) expected.push_back({b, std::min(b + turns, extent)});
        EXPECT_EQ(chunksOf(task, extent, grain, work), expected) << extent << " by " << grain;
      }
  EXPECT_EQ(parallel(0, 1, [](MelixTask*, int64_t, int64_t) { return int64_t(3); }), -1);
}

TEST_P(Pool, launches_that_take_less_than_thought_stay_on_the_caller) {
  auto self = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  for (int k = 0; k < 1000; k++)
    parallel(
        100, 1,
        [&](MelixTask*, int64_t, int64_t) {
          elsewhere += std::this_thread::get_id() != self;
          return int64_t(-1);
        },
        40'000);                // ten chunks of next to nothing
  EXPECT_LT(elsewhere, 10'000); // the system may stop the caller in a first chunk
}

TEST_P(Pool, first_turns_that_take_as_long_as_thought_are_followed_by_all_threads) {
  std::set<std::thread::id> threads;
  std::vector<int> runs(100, 0);
  std::mutex lock;
  parallel(
      100, 1,
      [&](MelixTask*, int64_t begin, int64_t end) {
        std::this_thread::sleep_for(std::chrono::microseconds(200)); // others run meanwhile
        std::lock_guard guard(lock);
        threads.insert(std::this_thread::get_id());
        for (int64_t k = begin; k < end; k++) runs[static_cast<size_t>(k)]++;
        return int64_t(-1);
      },
      40'000);
  EXPECT_EQ(runs, std::vector<int>(100, 1));
  EXPECT_EQ(threads.size() > 1, std::string_view(GetParam()) != "1");
}

TEST_P(Pool, thousands_of_launches) {
  std::atomic<int64_t> sum{0};
  for (int k = 0; k < 5000; k++) {
    parallel(8, 1, [&](MelixTask*, int64_t begin, int64_t) {
      sum += begin;
      return int64_t(-1);
    });
  }
  EXPECT_EQ(sum, 5000 * 28);
}

TEST_P(Pool, the_failure_of_the_lowest_chunk_is_reported) {
  for (int round = 0; round < 200; round++) {
    int64_t result = parallel(1000, 10, [&](MelixTask*, int64_t begin, int64_t) {
      if (begin == 370 && round % 2) std::this_thread::yield();
      return begin >= 370 && begin % 20 == 10 ? begin : int64_t(-1);
    });
    ASSERT_EQ(result, 370);
  }
}

TEST_P(Pool, the_panic_of_the_lowest_chunk_is_raised_in_the_caller) {
  for (int round = 0; round < 100; round++) {
    EXPECT_EQ(run([&] {
                melix_alloc(task, 100);
                parallel(100, 1, [&](MelixTask* t, int64_t begin, int64_t) {
                  melix_alloc(t, 1000);
                  if (begin >= 17) {
                    int64_t values[] = {begin};
                    melix_panic_format(t, "chunk {0}", 1, values);
                  }
                  return int64_t(-1);
                });
              }),
              MELIX_PANIC);
    ASSERT_EQ(message(), "chunk 17");
    ASSERT_EQ(live(), 0);
  }
}

TEST_P(Pool, endless_recursion_in_a_chunk_is_a_panic) {
  EXPECT_EQ(run([&] {
              parallel(4, 1, [&](MelixTask*, int64_t, int64_t) {
                std::function<int64_t(int64_t)> down = [&](int64_t n) { return down(n + 1) + 1; };
                return down(0);
              });
            }),
            MELIX_PANIC);
  EXPECT_EQ(message(), "stack overflow: recursion without end?");
}

TEST_P(Pool, nested_launches_run_inline) {
  std::atomic<int64_t> count{0};
  parallel(16, 1, [&](MelixTask* outer, int64_t, int64_t) {
    auto self = std::this_thread::get_id();
    std::function<int64_t(MelixTask*, int64_t, int64_t)> inner = [&](MelixTask*, int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      count += end - begin;
      return int64_t(-1);
    };
    return melix_parallel(outer, call, &inner, 100, 7, muchWork);
  });
  EXPECT_EQ(count, 1600);
}

TEST_P(Pool, little_work_stays_on_the_caller) {
  auto self = std::this_thread::get_id();
  parallel(
      100, 1,
      [&](MelixTask*, int64_t, int64_t) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        return int64_t(-1);
      },
      1000);
}

TEST_P(Pool, blocks_made_and_shared_by_workers_are_counted) {
  std::vector<void*> made(200);
  void* shared = nullptr;
  EXPECT_EQ(run([&] {
              shared = melix_alloc(task, 100);
              parallel(200, 1, [&](MelixTask* t, int64_t begin, int64_t) {
                for (int k = 0; k < 50; k++) {
                  melix_retain(t, shared);
                  void* temporary = melix_alloc(t, 64 * (k % 20));
                  melix_release(t, temporary);
                  melix_release(t, shared);
                }
                made[static_cast<size_t>(begin)] = melix_alloc(t, 500);
                return int64_t(-1);
              });
              EXPECT_EQ(live(), 201);
              // Released by other threads than those that made them.
              parallel(200, 1, [&](MelixTask* t, int64_t begin, int64_t) {
                melix_release(t, made[static_cast<size_t>(199 - begin)]);
                return int64_t(-1);
              });
              EXPECT_EQ(live(), 1);
              melix_release(task, shared);
            }),
            MELIX_OK);
  EXPECT_EQ(live(), 0);
  EXPECT_GE(melix_stats(task).allocations, 200 * 51);
}

TEST_P(Pool, what_workers_make_and_the_caller_frees_is_used_again) {
  constexpr int64_t blocks = 512;
  std::vector<void*> made(blocks);
  auto launch = [&] {
    parallel(blocks, 1, [&](MelixTask* t, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; b++) made[static_cast<size_t>(b)] = melix_alloc(t, 200);
      return int64_t(-1);
    });
    for (void* each : made) melix_release(task, each);
  };
  std::set<void*> all;
  for (int k = 0; k < 200; k++) {
    launch();
    all.insert(made.begin(), made.end());
  }
  // Each thread may keep some at hand.
  EXPECT_LE(all.size(), 8U * blocks);
}

TEST_P(Pool, cancellation_reaches_the_chunks) {
  EXPECT_EQ(run([&] {
              reinterpret_cast<MelixTaskHead*>(task)->cancel = 1;
              parallel(100, 1, [&](MelixTask* t, int64_t, int64_t) {
                if (reinterpret_cast<MelixTaskHead*>(t)->cancel) melix_cancelled(t);
                return int64_t(-1);
              });
            }),
            MELIX_CANCELLED);
  melix_clear_cancel(task);
}

INSTANTIATE_TEST_SUITE_P(Threads, Pool, testing::Values("1", "2", "3", "7"));

TEST_F(RuntimeTest, a_forked_child_may_use_the_pool) {
  setenv("MELIX_THREADS", "2", 1);
  melix_pool_stop();
  auto fill = [](MelixTask*, void* at, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) static_cast<int64_t*>(at)[k] = k;
    return int64_t(-1);
  };
  std::vector<int64_t> data(1000);
  melix_parallel(task, fill, data.data(), 1000, 1, muchWork);
  EXPECT_EXIT(
      {
        melix_after_fork();
        std::vector<int64_t> own(1000);
        melix_parallel(task, fill, own.data(), 1000, 1, muchWork);
        melix_pool_stop();
        _exit(own[999] == 999 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  melix_pool_stop();
  unsetenv("MELIX_THREADS");
}

} // namespace
} // namespace melix::test
