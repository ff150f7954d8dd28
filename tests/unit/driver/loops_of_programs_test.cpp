// Loops of every program. What is printed reads back to the same Loops, and to the same text. What runs in
// chunks on the pool should allocate, count and call nothing: a kernel does none of it, in no program; what
// the chunks of examples and benchmarks do that are no kernels stands in chunks.txt and only shrinks.
#include "driver/compile.h"
#include "driver/same_loops.h"
#include "loops/text/parse.h"
#include "loops/text/print.h"

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

std::vector<std::string> programsIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source + folder))
    if (entry.path().extension() == ".mlx") out.push_back(entry.path().string().substr(source.size()));
  std::ranges::sort(out);
  return out;
}

// --- text

/// What a reader of its own makes of the text, printed.
std::string readBack(const std::string& text) {
  Interner names;
  types::TypeStore types(names);
  core::Module core(types);
  loops::ParseResult read = loops::parse(core, text);
  return read.error.empty() ? loops::print(read.module) : read.error + "\n";
}

/// The first line that differs, for messages.
std::string firstDifference(std::string_view a, std::string_view b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() && y == b.end()) return {};
  auto line = [](std::string_view text, size_t at) {
    const size_t before = text.substr(0, at).rfind('\n');
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return std::string(text.substr(begin, text.find('\n', at) - begin));
  };
  return line(a, static_cast<size_t>(x - a.begin())) + "\n" + line(b, static_cast<size_t>(y - b.begin()));
}

/// Reads the text after each pass back: with a reader of its own to the same text, and to the same Loops.
/// Passes that change nothing are not asked again.
class TextAfterPasses {
public:
  TextAfterPasses(const std::string& program, core::Module& core) : program_(program), core_(core) {}

  void operator()(const loops::Module& module, std::string_view pass) {
    std::string text = loops::print(module);
    if (text == last_) return;
    EXPECT_EQ(firstDifference(text, readBack(text)), "") << program_ << " after " << pass;
    const loops::ParseResult read = loops::parse(core_, text);
    EXPECT_EQ(loops::SameLoops(module, read.module).difference(), "") << program_ << " after " << pass;
    last_ = std::move(text);
    ++count_;
  }

  size_t count() const { return count_; }

private:
  const std::string& program_;
  core::Module& core_;
  std::string last_;
  size_t count_ = 0;
};

// --- chunks

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

std::ostream& operator<<(std::ostream& out, const Held& held) {
  return out << held.allocations << " " << held.counts << " " << held.calls;
}

/// What stands in the chunks of a program, that of kernels apart.
struct Chunks {
  Held kernels, others;
  size_t kernelCount = 0;
};

Chunks chunksOf(const loops::Module& module) {
  Chunks out;
  for (const loops::Function& fn : module.functions) {
    if (fn.kind == loops::FunctionKind::Orchestration) continue;
    if (fn.key.ends_with(".blocks")) continue; // in place of a kernel, where arrays are large
    const bool isKernel = fn.kind != loops::FunctionKind::Chunk;
    out.kernelCount += isKernel;
    note(module, fn, fn.body, isKernel ? out.kernels : out.others);
  }
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

void checkChunks(const std::string& program, const Chunks& chunks, const std::map<std::string, Held>& most) {
  EXPECT_EQ(chunks.kernels, Held()) << program;
  if (!program.starts_with("examples/") && !program.starts_with("tests/bench/")) return;
  const auto line = most.find(program);
  const Held limit = line == most.end() ? Held() : line->second;
  EXPECT_TRUE(chunks.others.isWithin(limit)) << program << " " << chunks.others;
  if (line != most.end()) EXPECT_NE(chunks.others, Held()) << program << " can leave chunks.txt";
}

// --- all programs

struct Folder {
  const char* path;
  bool asksForText;
  size_t leastKernels;   ///< of all its programs, so that none are found by mistake is seen
  bool onDevice = false; ///< its programs run as a whole on a device
};

class LoopsOfPrograms : public testing::TestWithParam<Folder> {
protected:
  void check(const std::string& program) {
    const SessionPtr session = makeSession({});
    ProgramSource text;
    text.file = source + program;
    if (!advanceProgram(text, *session, session::CoreStage::Optimised)) return;
    TextAfterPasses texts(program, session->module());
    codegen::Options target;
    if (GetParam().onDevice) {
      target.devices = {.emulator = true};
      target.device = Device::Gpu;
    }
    loops::Options options = codegen::loopOptions(target);
    if (GetParam().asksForText) options.afterPass = std::ref(texts);
    const loops::Result lowered = loops::fromCore(session->module(), options);
    texts_ += texts.count();
    const Chunks chunks = chunksOf(lowered.module);
    kernels_ += chunks.kernelCount;
    checkChunks(program, chunks, most_);
  }

  size_t kernels_ = 0, texts_ = 0;
  const std::map<std::string, Held> most_ = table();
};

TEST_P(LoopsOfPrograms, ReadBackAfterEveryPassAndHoldNothingInKernels) {
  testing::internal::CaptureStderr(); // of the programs that are wrong on purpose
  onBigStack([&] {
    for (const std::string& program : programsIn(GetParam().path)) check(program);
    return 0;
  });
  testing::internal::GetCapturedStderr();
  EXPECT_GE(kernels_, GetParam().leastKernels);
  EXPECT_EQ(texts_ > 0, GetParam().asksForText);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, LoopsOfPrograms,
    testing::Values(Folder{"tests/programs/arrays", true, 51}, Folder{"tests/programs/basics", true, 1},
                    Folder{"tests/programs/library", true, 1}, Folder{"tests/programs/panics", true, 1},
                    Folder{"tests/programs/dictionaries", false, 0}, Folder{"tests/programs/fail", false, 0},
                    Folder{"tests/programs/macros", false, 0}, Folder{"examples", true, 51},
                    Folder{"tests/bench/subjects", true, 51}, Folder{"tests/grad", false, 51},
                    Folder{"tests/programs/devices", true, 51, true}),
    [](const auto& folder) {
      std::string name = folder.param.path;
      std::ranges::replace(name, '/', '_');
      return name;
    });

} // namespace
} // namespace melix::driver
