#pragma once
// The lines of a kernel: requests as they are read, answers as they are written. Each is an object of JSON on
// a line of its own, in UTF-8; docs/reference/notebook.md describes them.

#include "repl/kernel/notebook_language.h"

#include <variant>

namespace melix::repl {

enum class RequestKind : uint8_t { Execute, Complete, Inspect, IsComplete, Interrupt, Quit };

struct Request {
  int64_t id = 0;
  RequestKind kind = RequestKind::Execute;
  std::string code;
  size_t cursor = 0; ///< a byte of the code where a code point begins, or its end
};

/// A line that is no request.
struct Refusal {
  std::optional<int64_t> id; ///< if at least that was understood
  std::string reason;
};

std::variant<Request, Refusal> readRequest(std::string_view line);

// Answers, each with its newline. Bytes that are no UTF-8 become U+FFFD.
std::string textAnswer(int64_t id, Stream stream, std::string_view text);
/// Of an image that is no SVG the data is base64.
std::string displayAnswer(int64_t id, std::string_view mime, std::string_view bytes);
std::string errorAnswer(std::optional<int64_t> id, std::string_view text);
std::string progressAnswer(int64_t id, const ProgressStep& step);
std::string doneAnswer(int64_t id, const EntryEnd& end);

// The last answers to questions.
std::string matchesAnswer(int64_t id, const Request& request, const Matches& matches);
std::string inspectAnswer(int64_t id, const std::optional<std::string>& text);
std::string completenessAnswer(int64_t id, bool isIncomplete);

} // namespace melix::repl
