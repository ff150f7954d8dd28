#include "repl/kernel/line_splitter.h"

namespace melix::repl {

void LineSplitter::keep(std::string_view part) {
  if (line_.size() + part.size() <= longest_ && isWhole_)
    line_ += part;
  else
    isWhole_ = false;
}

void LineSplitter::give(TakeLine take) {
  take(line_, isWhole_);
  line_.clear();
  isWhole_ = true;
}

void LineSplitter::add(std::string_view bytes, TakeLine take) {
  for (size_t newline; (newline = bytes.find('\n')) != std::string_view::npos;) {
    keep(bytes.substr(0, newline));
    give(take);
    bytes.remove_prefix(newline + 1);
  }
  keep(bytes);
}

void LineSplitter::end(TakeLine take) {
  if (!line_.empty() || !isWhole_) give(take);
}

} // namespace melix::repl
