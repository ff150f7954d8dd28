// What runs in chunks on the pool should allocate, count and call nothing: a kernel does none of it, in no
// program; what the chunks of examples and benchmarks do that are no kernels stands in chunks.txt and only
// shrinks.
#include "driver/compile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace melix::driver {
namespace {

using loops::StmtKind;

const std::string source = MELIX_SOURCE_DIR "/";

/// Statements that no kernel may hold.
struct Held {
  size_t allocations = 0, counts = 0, calls = 0;

  bool isWithin(const Held& most) const {
    return allocations <= most.allocations && counts <= most.counts && calls <= most.calls;
  }
  bool operator==(const Held&) const = default;
};

void note(const loops::Module& module, const loops::Stmt& s, Held& held) {
  if (loops::siteOf(s.kind) != loops::SiteKind::Host) return;
  switch (s.kind) {
  case StmtKind::AllocArray:
  case StmtKind::AllocNode: ++held.allocations; return;
  case StmtKind::Retain:
  case StmtKind::Drop:
  case StmtKind::EnsureUnique: ++held.counts; return;
  case StmtKind::Call: held.calls += !module.functions[s.as<loops::FunctionId>()].isClosed(); return;
  default: ++held.calls;
  }
}

void note(const loops::Module& module, const loops::Function& fn, loops::RegionId region, Held& held) {
  for (loops::StmtId id : fn.regions[region].stmts) {
    note(module, fn.stmts[id], held);
    for (loops::RegionId inner : fn.stmts[id].regions) note(module, fn, inner, held);
  }
}

/// What stands in the chunks of a program, that of kernels apart.
struct Found {
  Held kernels, chunks;
  size_t kernelCount = 0;
};

Found foundIn(const std::string& path) {
  Found found;
  const SessionPtr session = makeSession({});
  ProgramSource program;
  program.file = path;
  if (!advanceProgram(program, *session, session::CoreStage::Optimised)) return found;
  const loops::Result lowered = loops::fromCore(session->module(), codegen::loopOptions({}));
  for (const loops::Function& fn : lowered.module.functions) {
    if (fn.kind == loops::FunctionKind::Orchestration) continue;
    if (fn.key.ends_with(".blocks")) continue; // in place of a kernel, where arrays are large
    const bool isKernel = fn.kind == loops::FunctionKind::Kernel;
    found.kernelCount += isKernel;
    note(lowered.module, fn, fn.body, isKernel ? found.kernels : found.chunks);
  }
  return found;
}

std::ostream& operator<<(std::ostream& out, const Held& held) {
  return out << held.allocations << " " << held.counts << " " << held.calls;
}

std::vector<std::string> programsIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source + folder))
    if (entry.path().extension() == ".mlx") out.push_back(entry.path().string().substr(source.size()));
  std::ranges::sort(out);
  return out;
}

/// Lines `program allocations counts calls`.
std::map<std::string, Held> table() {
  std::map<std::string, Held> out;
  std::ifstream file(source + "tests/unit/driver/chunks.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string program;
    Held held;
    if (!line.starts_with("#") && words >> program >> held.allocations >> held.counts >> held.calls)
      out[program] = held;
  }
  return out;
}

/// Of each program in a folder.
std::map<std::string, Found> foundInAll(const std::string& folder) {
  std::map<std::string, Found> out;
  testing::internal::CaptureStderr(); // of the programs that are wrong on purpose
  onBigStack([&] {
    for (const std::string& program : programsIn(folder)) out[program] = foundIn(source + program);
    return 0;
  });
  testing::internal::GetCapturedStderr();
  return out;
}

class Kernels : public testing::TestWithParam<const char*> {};

TEST_P(Kernels, AllocateCountAndCallNothing) {
  size_t kernels = 0;
  for (const auto& [program, found] : foundInAll(GetParam())) {
    kernels += found.kernelCount;
    EXPECT_EQ(found.kernels, Held()) << program;
  }
  EXPECT_GT(kernels, 50u);
}

INSTANTIATE_TEST_SUITE_P(Programs, Kernels,
                         testing::Values("examples", "tests/bench/subjects", "tests/grad", "tests/programs"));

TEST(Chunks, DoNoMoreThanTheyDid) {
  const std::map<std::string, Held> most = table();
  for (const char* folder : {"examples", "tests/bench/subjects"})
    for (const auto& [program, found] : foundInAll(folder)) {
      const auto line = most.find(program);
      const Held limit = line == most.end() ? Held() : line->second;
      EXPECT_TRUE(found.chunks.isWithin(limit)) << program << " " << found.chunks;
      if (line != most.end()) EXPECT_NE(found.chunks, Held()) << program << " can leave chunks.txt";
    }
}

} // namespace
} // namespace melix::driver
