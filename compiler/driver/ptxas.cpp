// Machine code of GPUs by ptxas, the assembler of the CUDA Toolkit, where it is installed.
#include "driver/devices.h"
#include "driver/files.h"
#include "driver/program_input.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace melix::driver {

namespace {

namespace fs = std::filesystem;

/// A folder that is removed with all that is in it.
class WorkFolder {
public:
  WorkFolder() {
    std::error_code ignored;
    std::string path = (fs::temp_directory_path(ignored) / "melix-XXXXXX").string();
    if (mkdtemp(path.data())) path_ = path;
  }
  WorkFolder(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return path_ + "/" + name; }
  bool exists() const { return !path_.empty(); }

private:
  std::string path_;
};

std::optional<std::string> findPtxas() {
  std::string folders;
  if (const char* path = std::getenv("PATH")) folders = path;
  if (const char* toolkit = std::getenv("CUDA_HOME")) folders += std::string(":") + toolkit + "/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/ptxas";
    if (end > begin && access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

/// Runs a program, with what it writes in a file. False if it fails.
bool runTool(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return false;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// `sm_80` is 80. Code for `sm_90a` runs on that one alone: -90. 0 is none.
int32_t architectureOf(std::string_view name) {
  int32_t number = 0;
  if (!name.starts_with("sm_")) return 0;
  const char *last = name.data() + name.size(), *end = std::from_chars(name.data() + 3, last, number).ptr;
  if (number < 80 || number > 999) return 0;
  const std::string_view rest(end, last);
  return rest.empty() ? number : rest == "a" ? -number : 0;
}

class Ptxas {
public:
  Ptxas(std::string tool, std::vector<std::string> architectures)
      : tool_(std::move(tool)), architectures_(std::move(architectures)) {}

  std::vector<codegen::Cubin> operator()(const std::string& ptx, std::string& problem) const {
    const WorkFolder folder;
    const std::string source = folder.file("kernels.ptx"), log = folder.file("log");
    if (!folder.exists() || replaceFile(source, ptx)) {
      problem = "there is no folder for temporary files";
      return {};
    }
    std::vector<codegen::Cubin> out;
    for (const std::string& name : architectures_) {
      const std::string code = folder.file(name.c_str());
      std::string ignored;
      std::optional<std::string> bytes;
      if (runTool({tool_, "-arch=" + name, source, "-o", code}, log)) bytes = readFile(code, ignored);
      if (!bytes) {
        problem = "ptxas fails for " + name + ":\n" + readFile(log, ignored).value_or("");
        return {};
      }
      out.push_back({architectureOf(name), std::move(*bytes)});
    }
    return out;
  }

private:
  std::string tool_;
  std::vector<std::string> architectures_;
};

} // namespace

bool isGpuArchitecture(const std::string& name) { return architectureOf(name) != 0; }

std::optional<codegen::Assemble> findAssembler(const std::vector<std::string>& architectures) {
  if (architectures.empty()) return codegen::Assemble();
  if (std::optional<std::string> tool = findPtxas()) {
    Ptxas assemble(*tool, architectures);
    std::string problem;
    assemble(".version 7.0\n.target sm_80\n.address_size 64\n", problem);
    if (problem.empty()) return assemble;
    writeProblem(problem);
    return std::nullopt;
  }
  writeProblem("`--gpu-arch` needs ptxas of the CUDA Toolkit, which is neither on PATH nor in CUDA_HOME/bin; "
               "without the option the driver makes the code when the program runs");
  return std::nullopt;
}

} // namespace melix::driver
