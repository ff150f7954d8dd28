#pragma once
// Entries of this run and of earlier ones. The file has a line for each entry, in which `\n` stands for a
// newline and
// `\\` for a backslash. Several prompts may append to one file.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

class History {
public:
  static constexpr size_t mostEntries = 10'000;

  /// Without a file: it has the entries of this run.
  History() = default;
  /// Reads the last entries of a file, if there is one.
  explicit History(std::string file);

  /// Takes an entry that has ended, unless it is that before it, and appends it to the file.
  void add(const std::string& entry);
  const std::vector<std::string>& entries() const { return entries_; }
  /// The nearest entry that holds a text: before the one with this number, or after it.
  std::optional<size_t> findBefore(std::string_view text, size_t number) const;
  std::optional<size_t> findAfter(std::string_view text, size_t number) const;
  /// Why the file could not be read or written, the first time that it could not.
  std::optional<std::string> takeProblem();

private:
  void read();
  void append(const std::string& line);
  void writeAnew();
  void fail(const char* what);

  std::string file_;
  std::vector<std::string> entries_;
  std::string problem_;
  bool isTold_ = false;
};

/// The file for the history: `MELIX_HISTORY`, where an empty one means none; else `melix/history` in
/// `XDG_DATA_HOME`, else in `~/.local/share`. Makes its folder.
std::string historyFile();

} // namespace melix::repl
