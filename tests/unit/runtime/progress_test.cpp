// What loops tell on standard error where that is no terminal.
#include "runtime_fixture.h"

namespace melix::test {
namespace {

class Progress : public RuntimeTest {
protected:
  void SetUp() override {
    melix_set_writer(
        [](void* out, int32_t fd, const uint8_t* data, int64_t len) {
          EXPECT_EQ(fd, 2);
          static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data),
                                                 static_cast<size_t>(len));
        },
        &written);
  }
  void TearDown() override { melix_set_writer(nullptr, nullptr); }

  /// A step of a loop that began some seconds ago; what it writes.
  std::string step(const char* label, int64_t total, int64_t done, double seconds, bool ended = false) {
    written.clear();
    uint64_t word;
    melix_clock(task, nullptr, &word);
    double started;
    std::memcpy(&started, &word, sizeof started);
    started -= seconds;
    std::memcpy(&word, &started, sizeof word);
    call(melix_progress_step,
         Slots().add(label).add(total).add(done).add(static_cast<int64_t>(word)).add(ended));
    return written;
  }
  void note(const char* text) { call(melix_progress_note, Slots().add(text)); }

  std::string written;
};

TEST_F(Progress, lines_come_in_growing_distances) {
  EXPECT_EQ(step("a", 200, 0, 0), "");
  EXPECT_EQ(step("a", 200, 1, 0.5), "");
  EXPECT_EQ(step("a", 200, 50, 10), "a   25 %  50/200  5.00/s  30 s left\n");
  EXPECT_EQ(step("a", 200, 60, 12), ""); // 10 seconds after the one before
  EXPECT_EQ(step("a", 200, 200, 40, true), "a  100 %  200/200  5.00/s  40 s\n");
}

TEST_F(Progress, totals_that_are_unknown_or_wrong_are_not_shown) {
  EXPECT_EQ(step("", -1, 30, 4, true), "30  7.50/s  4.0 s\n");
  EXPECT_EQ(step("more", 2, 30, 4, true), "more  30  7.50/s  4.0 s\n");
  EXPECT_EQ(step("none", 0, 0, 0, true), "none  100 %  0/0\n");
}

TEST_F(Progress, a_host_receives_steps_in_place_of_lines) {
  std::string steps;
  melix_set_progress(
      [](void* out, const MelixProgress* p) {
        *static_cast<std::string*>(out) +=
            std::string(reinterpret_cast<const char*>(p->label.data), static_cast<size_t>(p->label.len)) +
            " " + std::to_string(p->done) + "/" + std::to_string(p->total) + (p->ended ? " ended" : "") +
            "\n";
      },
      &steps);
  EXPECT_EQ(step("a", 200, 0, 0), "");
  EXPECT_EQ(step("a", 200, 1, 0), "");
  EXPECT_EQ(step("a", 200, 200, 40, true), "");
  EXPECT_EQ(step("b", -1, 7, 40, true), "");
  melix_set_progress(nullptr, nullptr);
  EXPECT_EQ(steps.substr(steps.find("a 200")), "a 200/200 ended\nb 7/-1 ended\n");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), steps.starts_with("a 0/200") ? 3 : 2)
      << "the second step comes too soon";
  EXPECT_EQ(step("c", 4, 4, 2, true), "c  100 %  4/4  2.00/s  2.0 s\n");
}

TEST_F(Progress, slow_steps_and_long_times) {
  EXPECT_EQ(step("e", 4, 2, 400, true), "e   50 %  2/4  200 s each  6:40\n");
  EXPECT_EQ(step("e", 1000, 500, 8000, true), "e   50 %  500/1000  16.0 s each  2:13:20\n");
  EXPECT_EQ(step("e", 5000, 5000, 2, true), "e  100 %  5000/5000  2500/s  2.0 s\n");
}

TEST_F(Progress, a_note_stands_behind_the_numbers_of_its_loop) {
  step("n", 4, 0, 0);
  note("loss 0.25");
  EXPECT_EQ(step("n", 4, 4, 2, true), "n  100 %  4/4  2.00/s  2.0 s  loss 0.25\n");
  step("n", 4, 0, 0);
  EXPECT_EQ(step("n", 4, 4, 2, true), "n  100 %  4/4  2.00/s  2.0 s\n");
}

TEST_F(Progress, controls_do_not_reach_the_terminal) {
  step("x", 1, 0, 0);
  note("a\nb\x1b[2Jc\xc2\x9b"
       "d\xe2\x80\xae"
       "e\xe2\x80\xa8"); // the last two turn writing, break lines
  EXPECT_EQ(step("\tx", 1, 1, 2, true), " x  100 %  1/1  2.00 s each  2.0 s  a b [2Jc d e \n");
}

} // namespace
} // namespace melix::test
