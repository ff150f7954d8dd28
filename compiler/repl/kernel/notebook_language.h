#pragma once
// The language of a kernel: the questions of the service, and the answers of an entry while it runs. Offsets
// in texts are bytes here; the protocol counts code points.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

/// A name that may stand at the cursor.
struct Match {
  std::string text;
  std::string signature; ///< or its type; empty: it has none
};
struct Matches {
  size_t begin = 0; ///< of the text that a match replaces, up to the cursor
  std::vector<Match> all;
};

/// The questions that change nothing.
class Questions {
public:
  virtual ~Questions() = default;
  virtual bool isIncomplete(const std::string& text) const = 0;
  virtual Matches complete(const std::string& text, size_t cursor) const = 0;
  /// The signature and documentation of a name, such as `relu` or `nn.init`; nothing if it is unknown.
  virtual std::optional<std::string> inspect(const std::string& name) const = 0;
};

/// How far a loop is.
struct ProgressStep {
  std::string label;
  int64_t done = 0;
  std::optional<int64_t> total; ///< none: it is not known in advance
  double seconds = 0;           ///< since the loop began
  std::string note;             ///< of the program, such as a loss
  bool ended = false;
};

enum class Stream : uint8_t { Output, Errors };

/// Takes the answers of an entry while it runs, from any thread.
class EntryAnswers {
public:
  virtual ~EntryAnswers() = default;
  virtual void text(Stream stream, std::string_view text) = 0;
  /// A value or a picture, by its MIME type.
  virtual void display(std::string_view mime, std::string_view bytes) = 0;
  virtual void error(std::string_view text) = 0;
  virtual void progress(const ProgressStep& step) = 0;
};

enum class EntryStatus : uint8_t { Ok, Error, Interrupted };
struct EntryEnd {
  EntryStatus status = EntryStatus::Ok;
  std::optional<int> exit = {}; ///< the entry ended the kernel, with this exit status
};

/// One thread asks at a time, but for `interrupt`.
class NotebookLanguage : public Questions {
public:
  /// Runs an entry to its end. Its output and its values go to `answers`.
  virtual EntryEnd execute(const std::string& code, EntryAnswers& answers) = 0;
  /// The questions as they are answered between two entries; may be asked while an entry runs.
  virtual std::shared_ptr<const Questions> snapshot() const = 0;
  /// Stops the entry that runs, from any thread. `forgetInterrupt` makes it as if nobody had asked.
  virtual void interrupt() = 0;
  virtual void forgetInterrupt() = 0;
};

} // namespace melix::repl
