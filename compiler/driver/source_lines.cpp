#include "driver/source_lines.h"

namespace melix::driver {

Line lineOf(const session::Session& session, const core::Module& module, core::LocId loc,
            std::string_view program) {
  Span found;
  for (; loc.valid(); loc = module.locs[loc].inner) {
    const Span span = module.locs[loc].span;
    if (!span.valid()) continue;
    const bool here = session.sources.path(span.file) == program;
    if (here || !found.valid()) found = span;
  }
  if (!found.valid()) return {};
  return {std::string(session.sources.path(found.file)), session.sources.lineColumn(found).line};
}

std::string placeFrom(const Line& from, const Line& line) {
  const std::string number = "line " + std::to_string(line.line);
  if (line == from) return "this line";
  return line.file == from.file || line.file.empty() ? number : line.file + ", " + number;
}

std::string_view textOf(const session::Session& session, const Line& line) {
  for (FileId file(0); file.index < session.sources.fileCount(); ++file.index)
    if (session.sources.path(file) == line.file) return session.sources.lineText(file, line.line);
  return {};
}

std::string textOf(const LineSentences& lines) {
  std::string out;
  for (const auto& [at, sentences] : lines)
    for (const auto& [text, times] : sentences)
      out += at.file + ":" + std::to_string(at.line) + ": " + text +
             (times > 1 ? " (" + std::to_string(times) + " times)" : "") + "\n";
  return out;
}

} // namespace melix::driver
