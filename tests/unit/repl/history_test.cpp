// The history of the prompt in its file.
#include "repl/history/history.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::repl {
namespace {

namespace fs = std::filesystem;

class HistoryFile : public testing::Test {
protected:
  HistoryFile() { fs::create_directories(folder_); }
  ~HistoryFile() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::temp_directory_path() / ("melix_history_" + std::to_string(getpid()));
  const std::string file_ = (folder_ / "history").string();
};

std::string contents(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(HistoryFile, EntriesOfSeveralLinesComeBackWhole) {
  History first(file_);
  first.add("let a = 1");
  first.add("fn f() {\n  \"\\n\"\n}");
  first.add("fn f() {\n  \"\\n\"\n}");
  EXPECT_EQ(contents(file_), "let a = 1\nfn f() {\\n  \"\\\\n\"\\n}\n");
  const History second(file_);
  EXPECT_EQ(second.entries(), first.entries());
  EXPECT_EQ(second.entries().size(), 2u);
  struct stat status{};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(HistoryFile, TwoPromptsAppend) {
  History one(file_), other(file_);
  one.add("a");
  other.add("b");
  one.add("c");
  EXPECT_EQ(History(file_).entries(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(HistoryFile, OfALargeFileTheTailIsReadAndTheRestGoes) {
  std::ofstream out(file_);
  for (int k = 0; k < 3'000'000; ++k) out << "entry number " << k << " of many of them\n";
  out.close();
  ASSERT_GT(fs::file_size(file_), 100'000'000u);
  const History history(file_);
  ASSERT_EQ(history.entries().size(), History::mostEntries);
  EXPECT_EQ(history.entries().back(), "entry number 2999999 of many of them");
  EXPECT_LT(fs::file_size(file_), 1'000'000u);
  EXPECT_EQ(History(file_).entries(), history.entries());
}

TEST_F(HistoryFile, OfManyEntriesTheLastOnesStay) {
  std::ofstream out(file_);
  for (int k = 0; k < 20'001; ++k) out << "x" << k << "\n";
  out.close();
  EXPECT_EQ(History(file_).entries().front(), "x10001");
  EXPECT_EQ(contents(file_).substr(0, 7), "x10001\n");
}

TEST_F(HistoryFile, AFileThatMayOnlyBeReadIsRead) {
  std::ofstream(file_) << "a\n";
  fs::permissions(file_, fs::perms::owner_read);
  EXPECT_EQ(History(file_).entries(), std::vector<std::string>{"a"});
}

TEST_F(HistoryFile, AFileThatIsNoneIsToldOnce) {
  History history(folder_.string());
  history.add("a");
  const std::optional<std::string> problem = history.takeProblem();
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find(folder_.string()), std::string::npos);
  EXPECT_FALSE(history.takeProblem().has_value());
  EXPECT_EQ(history.entries().size(), 1u) << "entries of this run are there";
}

TEST_F(HistoryFile, UnreadableBytesAreLeftOut) {
  std::ofstream(file_) << "a\xff\x01z\n\n\n\x1b[31mred\n";
  EXPECT_EQ(History(file_).entries(), (std::vector<std::string>{"az", "[31mred"}));
}

} // namespace
} // namespace melix::repl
