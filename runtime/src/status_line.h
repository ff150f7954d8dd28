#pragma once
// The last line of a terminal, where a program shows its progress: gone before anything else is written
// there, so that the two never mix.

#include <stdint.h>

namespace melix::runtime {

/// Used under the lock of the writer to the terminal.
class StatusLine {
public:
  /// Clears it, if it is shown, for this text, which is about to be written.
  void makeRoom(const uint8_t* data, int64_t len);
  void clear();
  /// Shows text that fits into a line: as a line that stays, or until `clear`. The latter not while the last
  /// line is one that other output has not ended.
  void show(const uint8_t* data, int64_t len, bool stays);
  /// Leaves the shown text as a line that stays.
  void keep();

private:
  bool shown_ = false;
  bool lineIsOpen_ = false; ///< other output has not ended the last line
};

/// The columns of the terminal that standard error is; 0 if it is none that can clear a line.
int terminalColumns();

} // namespace melix::runtime
