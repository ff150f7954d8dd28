// The only file that knows nlohmann-json.
#include "repl/kernel/protocol.h"

#include "support/characters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace melix::repl {

namespace {

using Json = nlohmann::ordered_json;

struct Verb {
  std::string_view name;
  RequestKind kind;
};
constexpr Verb verbs[] = {
    {"execute", RequestKind::Execute},     {"complete", RequestKind::Complete},
    {"inspect", RequestKind::Inspect},     {"is_complete", RequestKind::IsComplete},
    {"interrupt", RequestKind::Interrupt}, {"quit", RequestKind::Quit},
};

bool takesCode(RequestKind kind) { return kind != RequestKind::Interrupt && kind != RequestKind::Quit; }
bool takesCursor(RequestKind kind) { return kind == RequestKind::Complete || kind == RequestKind::Inspect; }

std::string inQuotes(std::string_view text) {
  constexpr size_t longest = 40;
  const bool isLong = text.size() > longest;
  size_t end = isLong ? longest : text.size();
  while (isLong && end > 0 && isContinuation(text[end])) --end;
  return "`" + std::string(text.substr(0, end)) + (isLong ? "…" : "") + "`";
}

std::string verbList() {
  std::string out;
  for (const Verb& each : verbs)
    out += (out.empty()                      ? "`"
            : each.kind == RequestKind::Quit ? " or `"
                                             : ", `") +
           std::string(each.name) + "`";
  return out;
}

size_t codePointsOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !isContinuation(c); }));
}

/// The byte at which so many code points have passed; the text has as many.
size_t byteOf(std::string_view text, size_t codePoints) {
  size_t at = 0;
  for (; codePoints > 0; --codePoints) do
      ++at;
    while (at < text.size() && isContinuation(text[at]));
  return at;
}

std::string answerLine(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json answerOf(std::optional<int64_t> id, std::string_view kind) {
  Json out;
  out["id"] = id ? Json(*id) : Json(nullptr);
  out["kind"] = kind;
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[at + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

bool isText(std::string_view mime) { return mime.starts_with("text/") || mime == "image/svg+xml"; }

/// The cursor of a request, by default the end of its code; gives why there is none, or nothing.
std::string readCursor(const Json& line, Request& request) {
  request.cursor = request.code.size();
  const auto found = line.find("cursor");
  if (found == line.end()) return "";
  const size_t count = codePointsOf(request.code);
  if (!found->is_number_unsigned()) return "`cursor` wants a number of code points";
  const auto cursor = found->get<uint64_t>();
  if (cursor > count)
    return "the cursor " + std::to_string(cursor) + " is beyond the " + std::to_string(count) +
           " code points of the code";
  request.cursor = byteOf(request.code, cursor);
  return "";
}

/// Gives why the line is no request, or nothing.
std::string readParts(const Json& line, Request& request) {
  const auto verb = line.find("do");
  if (verb == line.end() || !verb->is_string()) return "`do` wants " + verbList();
  const auto& name = verb->get_ref<const std::string&>();
  const auto* known = std::ranges::find(verbs, name, &Verb::name);
  if (known == std::end(verbs)) return inQuotes(name) + " is nothing to do; `do` wants " + verbList();
  request.kind = known->kind;
  if (!takesCode(request.kind)) return "";
  const auto code = line.find("code");
  if (code == line.end() || !code->is_string()) return "`code` wants a text";
  request.code = code->get<std::string>();
  return takesCursor(request.kind) ? readCursor(line, request) : "";
}

} // namespace

std::variant<Request, Refusal> readRequest(std::string_view line) {
  const bool hasNul = line.find('\0') != std::string_view::npos; // which ends the text for the library
  const Json read = hasNul ? Json() : Json::parse(line, nullptr, false);
  if (!read.is_object()) return Refusal{{}, "a request is an object of JSON on one line, in UTF-8"};
  const auto id = read.find("id");
  constexpr uint64_t mostId = INT64_MAX;
  const bool isId = id != read.end() && id->is_number_integer() &&
                    (!id->is_number_unsigned() || id->get<uint64_t>() <= mostId);
  if (!isId) return Refusal{{}, "`id` wants a whole number"};
  Request request;
  request.id = id->get<int64_t>();
  if (std::string reason = readParts(read, request); !reason.empty())
    return Refusal{request.id, std::move(reason)};
  return request;
}

std::string textAnswer(int64_t id, Stream stream, std::string_view text) {
  Json out = answerOf(id, "text");
  out["stream"] = stream == Stream::Output ? "stdout" : "stderr";
  out["text"] = text;
  return answerLine(out);
}

std::string displayAnswer(int64_t id, std::string_view mime, std::string_view bytes) {
  Json out = answerOf(id, "display");
  out["mime"] = mime;
  out["data"] = isText(mime) ? std::string(bytes) : base64(bytes);
  return answerLine(out);
}

std::string errorAnswer(std::optional<int64_t> id, std::string_view text) {
  Json out = answerOf(id, "error");
  out["text"] = text;
  return answerLine(out);
}

std::string progressAnswer(int64_t id, const ProgressStep& step) {
  Json out = answerOf(id, "progress");
  out["label"] = step.label;
  out["done"] = step.done;
  out["total"] = step.total ? Json(*step.total) : Json(nullptr);
  out["seconds"] = step.seconds;
  out["note"] = step.note;
  out["ended"] = step.ended;
  return answerLine(out);
}

namespace {

Json done(int64_t id, EntryStatus status) {
  Json out = answerOf(id, "done");
  out["status"] = status == EntryStatus::Ok ? "ok" : status == EntryStatus::Error ? "error" : "interrupted";
  return out;
}

} // namespace

std::string doneAnswer(int64_t id, const EntryEnd& end) {
  Json out = done(id, end.status);
  if (end.exit) out["exit"] = *end.exit;
  return answerLine(out);
}

std::string matchesAnswer(int64_t id, const Request& request, const Matches& matches) {
  const std::string_view before = std::string_view(request.code).substr(0, request.cursor);
  Json out = done(id, EntryStatus::Ok);
  out["start"] = codePointsOf(before.substr(0, matches.begin));
  out["end"] = codePointsOf(before);
  Json texts = Json::array(), signatures = Json::array();
  for (const Match& each : matches.all) {
    texts.push_back(each.text);
    signatures.push_back(each.signature);
  }
  out["matches"] = std::move(texts);
  out["signatures"] = std::move(signatures);
  return answerLine(out);
}

std::string inspectAnswer(int64_t id, const std::optional<std::string>& text) {
  Json out = done(id, EntryStatus::Ok);
  out["found"] = text.has_value();
  out["text"] = text.value_or("");
  return answerLine(out);
}

std::string completenessAnswer(int64_t id, bool isIncomplete) {
  Json out = done(id, EntryStatus::Ok);
  out["completeness"] = isIncomplete ? "incomplete" : "complete";
  return answerLine(out);
}

} // namespace melix::repl
