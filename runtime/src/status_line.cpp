#include "status_line.h"

#include "system.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

constexpr int standardError = 2;

void put(const void* data, int64_t len) { writeAll(standardError, static_cast<const uint8_t*>(data), len); }

} // namespace

void StatusLine::makeRoom(const uint8_t* data, int64_t len) {
  if (len <= 0) return;
  clear();
  lineIsOpen_ = data[len - 1] != '\n';
}

void StatusLine::clear() {
  constexpr char clearLine[] = "\r\033[K";
  if (shown_) put(clearLine, sizeof clearLine - 1);
  shown_ = false;
}

void StatusLine::show(const uint8_t* data, int64_t len, bool stays) {
  if (lineIsOpen_ && !stays) return;
  if (lineIsOpen_) put("\n", 1);
  lineIsOpen_ = false;
  clear();
  put(data, len);
  shown_ = true;
  if (stays) keep();
}

void StatusLine::keep() {
  if (shown_) put("\n", 1);
  shown_ = false;
}

int terminalColumns() {
  constexpr int usual = 80;
  const char* kind = environmentVariable("TERM");
  if (!isatty(standardError) || !kind || strcmp(kind, "dumb") == 0) return 0;
  winsize size;
  return ioctl(standardError, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

} // namespace melix::runtime
