#pragma once
// The tests or benches of a file, compiled together: each is an entry of its own.

#include "driver/command_line.h"
#include "driver/compile.h"
#include "jit/jit.h"
#include "session/session.h"

namespace melix::driver {

enum class BlockKind : uint8_t { Test, Bench };

class Blocks {
public:
  explicit Blocks(const CodeOptions& code);

  /// Reads a file and takes the blocks whose name contains `filter` as far as they are to be run. False after
  /// errors, which are written to standard error. A file without such blocks is not looked at any further.
  bool load(const std::string& file, BlockKind kind, const std::string& filter);

  /// The exit status where nothing was loaded: Failure after errors, WrongCommandLine where MELIX_DEVICE is
  /// no word that a program knows.
  int status() const { return status_; }

  const session::Session::NamedFunctions& all() const { return functions_; }
  /// Runs one, as a program does. Gives its exit status, and whether it came to its end, which neither a
  /// panic nor `exit` does. Compiled code is called by `run`; otherwise the block is called once.
  struct End {
    int status;
    bool returned;
  };
  End run(core::FunctionId function, const jit::EntryRunner& run = {});

private:
  bool link();

  const CodeOptions& code_;
  SessionPtr session_;
  session::Session::NamedFunctions functions_;
  std::map<core::FunctionId, MelixEntryFn> entries_;
  codegen::DeviceUse devices_;
  int status_ = 1;
  std::unique_ptr<jit::Jit> jit_; ///< made after the code, which brings the processor with it
};

/// Says on standard error that there was nothing to run; the exit status for it.
int nothingToRun(BlockKind kind, const std::string& filter);

} // namespace melix::driver
