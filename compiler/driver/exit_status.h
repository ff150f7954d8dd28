#pragma once

namespace melix::driver {

/// The exit status of the command, by rule 45.
enum ExitStatus : int {
  Success = 0,
  Failure = 1,          ///< a diagnostic, an `Err` out of `main`, a failed test, an unformatted file
  WrongCommandLine = 2, ///< of melix or of the program
  Panicked = 101,
  Interrupted = 130,
};

} // namespace melix::driver
