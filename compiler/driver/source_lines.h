#pragma once
// Decisions of the compiler, by lines of the program.

#include "core/ir/ir.h"
#include "session/session.h"

#include <map>
#include <string>

namespace melix::driver {

/// A line of the program, or of the library where the program calls it.
struct Line {
  std::string file;
  uint32_t line = 0;
  auto operator<=>(const Line&) const = default;
};

/// Of the places of a chain the innermost in the program itself; if there is none, the first.
Line lineOf(const session::Session& session, const core::Module& module, core::LocId loc,
            std::string_view program);

/// How a sentence about a line names another: `this line`, `line 3`, `other.mlx, line 3`.
std::string placeFrom(const Line& from, const Line& line);

/// The text of the line; empty if the session does not have the file.
std::string_view textOf(const session::Session& session, const Line& line);

/// Sentences about lines, with how often each is said.
using LineSentences = std::map<Line, std::map<std::string, size_t>>;
/// `FILE:LINE: sentence (2 times)`, in the order of the lines.
std::string textOf(const LineSentences& lines);

} // namespace melix::driver
