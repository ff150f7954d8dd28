#pragma once
#include "interp/interp.h"
#include "melix/abi.h"

#include <atomic>
#include <span>

namespace melix::driver {

/// The runtime's builtins for the interpreter: the same C functions that compiled code calls, so that both
/// print and read alike.
class HostBuiltins {
public:
  /// The command line of the program, its name first.
  HostBuiltins(types::TypeStore& types, int argc, char** argv);
  ~HostBuiltins();
  HostBuiltins(const HostBuiltins&) = delete;
  HostBuiltins& operator=(const HostBuiltins&) = delete;

  /// Refer to this object; `debug` and `format` print as the runtime does.
  interp::Hooks hooks();
  /// On which builtins run, and compiled code may.
  MelixTask* task() { return task_; }
  void flush() { melix_flush(); }
  /// Whether the program called `exit`; then the run has ended as by a panic.
  bool exited() const { return exited_; }
  int exitStatus() const { return exitStatus_; }
  /// Compiled code that the task ran called `exit`.
  void noteExit();
  /// Whether Ctrl-C was noticed since the last call.
  bool takeInterrupt();

  /// A value as `print` shows it.
  std::string show(types::TypeId type, const interp::Value& value, const core::FormatAttr& format,
                   std::span<const int64_t> numbers = {});

private:
  void call(ops::BuiltinKind kind, interp::BuiltinCall& call);

  types::TypeStore& types_;
  MelixTask* task_;
  bool exited_ = false;
  int exitStatus_ = 0;
};

} // namespace melix::driver
