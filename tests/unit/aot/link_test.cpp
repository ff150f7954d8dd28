#include "aot/link.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::aot {
namespace {

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int status = -1;
  std::string output;
};

/// Runs a program with an empty environment and gives its exit status and what it printed.
Outcome execute(const std::string& program, const char* argument) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    char* argv[] = {const_cast<char*>(program.c_str()), const_cast<char*>(argument), nullptr};
    char* environment[] = {nullptr};
    execve(program.c_str(), argv, environment);
    _exit(127);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[256];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) outcome.output.append(buffer, got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

class LinkExecutable : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("melix_link_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    output_ = folder_ / "program";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::optional<std::string> link(const char* objectPath, std::string_view archive = {},
                                  LinkOptions options = {}) {
    std::string object = readFile(objectPath);
    std::string_view objects[] = {object};
    std::string problem;
    std::optional<std::string> bytes = linkExecutable(objects, archive, problem, options);
    if (!bytes) return problem;
    std::ofstream(output_, std::ios::binary) << *bytes;
    std::filesystem::permissions(output_, std::filesystem::perms::owner_all);
    return std::nullopt;
  }

  std::filesystem::path folder_;
  std::string output_;
};

TEST_F(LinkExecutable, RunsWithArgumentsAndGivesMainsResultAsStatus) {
  ASSERT_EQ(link(PROGRAM_OBJECT), std::nullopt);
  Outcome outcome = execute(output_, "hello");
  EXPECT_EQ(outcome.status, 42);
  EXPECT_EQ(outcome.output, "hello\n");
}

TEST_F(LinkExecutable, NeedsNoToolFromPath) {
  std::string path = getenv("PATH") ? getenv("PATH") : "";
  setenv("PATH", "", 1);
  std::optional<std::string> error = link(PROGRAM_OBJECT);
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(error, std::nullopt);
  EXPECT_EQ(execute(output_, "x").status, 42);
}

TEST_F(LinkExecutable, NeedsTheMathLibraryOnlyWhereUsed) {
  ASSERT_EQ(link(PROGRAM_OBJECT), std::nullopt);
  EXPECT_EQ(readFile(output_).find("libm.so.6"), std::string::npos);
  ASSERT_EQ(link(USES_LIBM_OBJECT), std::nullopt);
  EXPECT_NE(readFile(output_).find("libm.so.6"), std::string::npos);
  EXPECT_EQ(execute(output_, "").status, 3);
}

TEST_F(LinkExecutable, TakesWhatIsNeededFromTheArchive) {
  std::string archive = readFile(HELPER_ARCHIVE);
  ASSERT_EQ(link(USES_ARCHIVE_OBJECT, archive), std::nullopt);
  EXPECT_EQ(execute(output_, "").status, 7);
}

TEST_F(LinkExecutable, LeavesOutWhatMainDoesNotReach) {
  ASSERT_EQ(link(PROGRAM_OBJECT), std::nullopt);
  EXPECT_EQ(readFile(output_).find("nobody calls this code"), std::string::npos);
}

TEST_F(LinkExecutable, StripsSymbolsOnRequest) {
  const std::string entryName("\0_start", 7); // as in a symbol table, not the end of a longer name
  ASSERT_EQ(link(PROGRAM_OBJECT), std::nullopt);
  EXPECT_NE(readFile(output_).find(entryName), std::string::npos);
  ASSERT_EQ(link(PROGRAM_OBJECT, {}, {.strip = true}), std::nullopt);
  EXPECT_EQ(readFile(output_).find(entryName), std::string::npos);
  EXPECT_EQ(execute(output_, "x").status, 42);
}

TEST_F(LinkExecutable, NamesAnUndefinedFunctionAndCanLinkAgain) {
  std::optional<std::string> error = link(UNDEFINED_OBJECT);
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("no_such_function"), std::string::npos) << *error;
  EXPECT_NE(error->find("program"), std::string::npos) << *error;
  EXPECT_EQ(error->find("/proc/"), std::string::npos) << *error;
  EXPECT_FALSE(std::filesystem::exists(output_));
  EXPECT_EQ(link(PROGRAM_OBJECT), std::nullopt);
}

TEST_F(LinkExecutable, ReportsBytesThatAreNoObject) {
  std::string_view objects[] = {"these are not the bytes of an object"};
  std::string problem;
  EXPECT_EQ(linkExecutable(objects, {}, problem), std::nullopt);
  EXPECT_NE(problem, "");
}

} // namespace
} // namespace melix::aot
