#pragma once
// Bytes that come in pieces, cut into lines.

#include "support/function_ref.h"

#include <string>
#include <string_view>

namespace melix::repl {

class LineSplitter {
public:
  explicit LineSplitter(size_t longest) : longest_(longest) {}

  /// `isWhole` is false of a line that is longer than the longest one: of that the text is a part.
  using TakeLine = FunctionRef<void(std::string_view line, bool isWhole)>;
  /// Gives the lines that these bytes end, without their newlines.
  void add(std::string_view bytes, TakeLine take);
  /// Gives the rest, if it has no newline.
  void end(TakeLine take);

private:
  void keep(std::string_view part);
  void give(TakeLine take);

  const size_t longest_;
  std::string line_;
  bool isWhole_ = true;
};

} // namespace melix::repl
