#include "aot/lld.h"

#include "aot/memory_file.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace melix::aot {

namespace {

/// Standard output goes to another descriptor while this lives. lld writes an executable either through
/// mapped memory, where a full disk is a signal, or ends the process when a write fails; only what it writes
/// to standard output can be caught.
class OutputTo {
public:
  explicit OutputTo(int descriptor) : kept_(dup(STDOUT_FILENO)) { dup2(descriptor, STDOUT_FILENO); }
  OutputTo(const OutputTo&) = delete;
  OutputTo& operator=(const OutputTo&) = delete;
  ~OutputTo() {
    if (kept_ < 0) {
      close(STDOUT_FILENO);
      return;
    }
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }

private:
  int kept_;
};

} // namespace

std::optional<std::string> runLld(const std::vector<std::string>& arguments, std::string& messages) {
  std::vector<const char*> argv{"ld.lld", "-o", "-"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  llvm::raw_string_ostream out(messages);
  MemoryFile made("");
  if (!made.isOpen()) {
    messages += "no memory for the executable";
    return std::nullopt;
  }
  std::fflush(stdout);
  {
    OutputTo captured(made.descriptor());
    lld::Result result = lld::lldMain(argv, out, out, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0) return std::nullopt;
  }
  std::optional<std::string> bytes = made.content();
  if (!bytes || llvm::outs().has_error()) {
    llvm::outs().clear_error();
    messages += "no memory for the executable";
    return std::nullopt;
  }
  return bytes;
}

} // namespace melix::aot
