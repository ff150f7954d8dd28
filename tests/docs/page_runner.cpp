// Runs the examples of one page of documentation. See README.md beside this file.
#include "harness/process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace melix::docs {
namespace {

using Lines = std::vector<std::string>;

struct Block {
  std::string info; ///< what follows the fence: `melix`, `melix fail`, `text`, …
  Lines lines;
  size_t line;  ///< of the opening fence, from 1
  bool follows; ///< only blank lines between it and the block above
};

struct PageText {
  std::vector<Block> blocks;
  std::string prose; ///< what stands outside of them, without `code`
};

void addProse(const std::string& line, std::string& prose) {
  bool code = false;
  for (char c : line) {
    if (c == '`') code = !code;
    if (!code) prose += c;
  }
  prose += '\n';
}

PageText readPage(const std::string& path) {
  PageText page;
  bool inside = false, follows = false;
  size_t number = 0;
  for (const std::string& line : harness::splitLines(harness::readText(path))) {
    ++number;
    if (line.starts_with("```")) {
      if (!inside) page.blocks.push_back({line.substr(3), {}, number, follows});
      inside = !inside;
      follows = true;
    } else if (inside) {
      page.blocks.back().lines.push_back(line);
    } else {
      addProse(line, page.prose);
      follows = follows && line.empty();
    }
  }
  return page;
}

class Page {
public:
  /// On a device programs run as a whole on the emulated one, and commands are left out.
  Page(const std::string& melix, const std::string& path, bool onDevice)
      : melix_(melix), path_(path), onDevice_(onDevice) {
    std::string folder = std::filesystem::temp_directory_path() / "melix_docs_XXXXXX";
    if (mkdtemp(folder.data())) folder_ = folder;
    const char* programs = std::getenv("PATH");
    options_ = {
        folder_,
        {{"PATH", std::filesystem::path(melix_).parent_path().string() + ":" + (programs ? programs : "")}}};
    if (onDevice_) options_.environment.emplace_back("MELIX_DEVICE", "emulated");
  }
  Page(const Page&) = delete;
  ~Page() { std::filesystem::remove_all(folder_); }

  bool run() {
    auto [blocks, prose] = readPage(path_);
    checkLinks(prose);
    for (size_t i = 0; i < blocks.size(); ++i) {
      bool hasText = i + 1 < blocks.size() && blocks[i + 1].info == "text" && blocks[i + 1].follows;
      runBlock(blocks[i], hasText ? &blocks[i + 1] : nullptr);
    }
    std::printf("%zu examples\n", examples_);
    return passed_;
  }

private:
  /// Links to files, from the page's own folder; `name.md#heading` is the file.
  void checkLinks(const std::string& text) {
    for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      std::string target = text.substr(at + 2, text.find_first_of(")# ", at) - at - 2);
      if (target.empty() || std::filesystem::exists(std::filesystem::path(path_).parent_path() / target))
        continue;
      passed_ = false;
      std::printf("%s: the link to %s leads nowhere\n", path_.c_str(), target.c_str());
    }
  }

  void runBlock(const Block& block, const Block* text) {
    if (block.info == "melix") return runProgram(block, text);
    if (block.info == "melix fail") return runFailing(block, text);
    if (block.info.starts_with("melix ")) return write(block.info.substr(6), block.lines);
    if (block.info == "console" && !onDevice_) runConsole(block);
  }

  void runProgram(const Block& block, const Block* text) {
    harness::ProcessResult result = melixOn(text ? "run" : "check", block);
    Lines got = harness::splitLines(result.errors + result.output);
    compare(block, text ? text->lines : Lines{}, got);
  }

  /// The message begins at the first line that is an error or a panic; the page may show less than all of it.
  void runFailing(const Block& block, const Block* text) {
    Lines got = harness::splitLines(melixOn("run", block).errors);
    auto isMessage = [](const std::string& line) {
      return line.starts_with("error: ") || line.find(": error: ") != std::string::npos ||
             line.find(": panic: ") != std::string::npos;
    };
    got.erase(got.begin(), std::find_if(got.begin(), got.end(), isMessage));
    Lines wanted = text ? text->lines : Lines{"(a block with the message)"};
    if (got.size() > wanted.size()) got.resize(wanted.size());
    compare(block, wanted, got);
  }

  void runConsole(const Block& block) {
    for (size_t i = 0; i < block.lines.size();) {
      std::string command;
      if (!harness::takePrefix(block.lines[i++], "$ ", command)) continue;
      Lines wanted;
      while (i < block.lines.size() && !block.lines[i].starts_with("$ ")) wanted.push_back(block.lines[i++]);
      harness::ProcessResult result =
          harness::runProcess({"/bin/sh", "-c", "exec 2>&1; " + command}, options_);
      compare(block, wanted, harness::splitLines(result.output));
    }
  }

  harness::ProcessResult melixOn(const std::string& command, const Block& block) {
    write("example.mlx", block.lines);
    std::vector<std::string> arguments{melix_, command, "example.mlx"};
    if (onDevice_ && command == "run") arguments.insert(arguments.begin() + 2, {"--device", "gpu"});
    return harness::runProcess(arguments, options_);
  }

  void write(const std::string& name, const Lines& lines) const {
    std::filesystem::path file = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file);
    for (const std::string& line : lines) stream << line << '\n';
  }

  void compare(const Block& block, const Lines& wanted, const Lines& got) {
    ++examples_;
    if (wanted == got) return;
    passed_ = false;
    std::printf("%s:%zu: this example gives\n", path_.c_str(), block.line);
    for (const std::string& line : got) std::printf("%s\n", line.c_str());
    std::printf("and not\n");
    for (const std::string& line : wanted) std::printf("%s\n", line.c_str());
  }

  std::string melix_, path_, folder_;
  const bool onDevice_;
  harness::ProcessOptions options_;
  size_t examples_ = 0;
  bool passed_ = true;
};

} // namespace
} // namespace melix::docs

int main(int argc, char** argv) {
  const bool onDevice = argc == 4 && std::string_view(argv[3]) == "on_device";
  if (argc != 3 && !onDevice) {
    std::puts("Usage: page_runner MELIX FILE.md [on_device]");
    return 2;
  }
  std::string melix = std::filesystem::absolute(argv[1]);
  return melix::docs::Page(melix, std::filesystem::absolute(argv[2]), onDevice).run() ? 0 : 1;
}
