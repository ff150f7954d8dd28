// The lines of a kernel.
#include "repl/kernel/line_splitter.h"
#include "repl/kernel/name_at.h"
#include "repl/kernel/protocol.h"

#include <gtest/gtest.h>

namespace melix::repl {
namespace {

Request requestOf(std::string_view line) {
  const auto read = readRequest(line);
  if (const auto* refusal = std::get_if<Refusal>(&read)) ADD_FAILURE() << line << ": " << refusal->reason;
  return std::holds_alternative<Request>(read) ? std::get<Request>(read) : Request();
}

Refusal refusalOf(std::string_view line) {
  const auto read = readRequest(line);
  EXPECT_TRUE(std::holds_alternative<Refusal>(read)) << line;
  return std::holds_alternative<Refusal>(read) ? std::get<Refusal>(read) : Refusal();
}

TEST(Protocol, RequestsAreRead) {
  const Request execute = requestOf(R"({"id": 7, "do": "execute", "code": "1 + \"ä\"\n", "more": [1]})");
  EXPECT_EQ(execute.id, 7);
  EXPECT_EQ(execute.kind, RequestKind::Execute);
  EXPECT_EQ(execute.code, "1 + \"ä\"\n");
  EXPECT_EQ(requestOf(R"({"id": -1, "do": "interrupt"})").kind, RequestKind::Interrupt);
  EXPECT_EQ(requestOf(R"({"do": "quit", "id": 9223372036854775807})").id, INT64_MAX);
  EXPECT_EQ(requestOf(" {\"id\": 1, \"do\": \"is_complete\", \"code\": \"\"} \r").code, "");
}

TEST(Protocol, CursorsCountCodePoints) {
  auto cursorAt = [](const std::string& cursor) {
    return requestOf(R"({"id": 1, "do": "complete", "code": "aä😀b", "cursor": )" + cursor + "}").cursor;
  };
  EXPECT_EQ(cursorAt("0"), 0u);
  EXPECT_EQ(cursorAt("1"), 1u);
  EXPECT_EQ(cursorAt("2"), 3u);
  EXPECT_EQ(cursorAt("3"), 7u);
  EXPECT_EQ(cursorAt("4"), 8u);
  EXPECT_EQ(requestOf(R"({"id": 1, "do": "inspect", "code": "aä"})").cursor, 3u) << "by default the end";
}

TEST(Protocol, WrongCursorsAreRefused) {
  for (const char* cursor : {"5", "-1", "1.0", "\"1\"", "null", "18446744073709551615", "1e3"}) {
    const Refusal refusal =
        refusalOf(std::string(R"({"id": 4, "do": "complete", "code": "aä😀b", "cursor": )") + cursor + "}");
    EXPECT_EQ(refusal.id, 4);
    EXPECT_NE(refusal.reason.find("cursor"), std::string::npos) << refusal.reason;
  }
}

TEST(Protocol, LinesThatAreNoRequestAreRefused) {
  for (const std::string& line :
       {std::string(), std::string("   "), std::string("1"), std::string("[]"), std::string("nonsense"),
        std::string("{\"id\": 1, \"do\": \"quit\""), std::string("{\"id\": 1, \"do\": \"quit\"} x"),
        std::string("{\"id\": 1, \"do\": \"execute\", \"code\": \"\xff\"}"),
        std::string("{\"id\": 1, \"do\": \"execute\", \"code\": \"\xed\xa0\x80\"}"),
        std::string("{\"id\": 1, \"do\": \"execute\", \"code\": \"\\ud800\"}"),
        std::string("{\"id\": 1}\0", 10), std::string(100'000, '['), std::string(100'000, '\0')}) {
    const Refusal refusal = refusalOf(line);
    EXPECT_FALSE(refusal.id) << line.substr(0, 80);
    EXPECT_EQ(refusal.reason, "a request is an object of JSON on one line, in UTF-8");
  }
}

TEST(Protocol, PartsThatAreMissingAreNamed) {
  for (const char* id : {"", "\"id\": null, ", "\"id\": \"1\", ", "\"id\": 1.5, ",
                         "\"id\": 9223372036854775808, ", "\"id\": [1], "}) {
    const Refusal refusal = refusalOf(std::string("{") + id + R"("do": "quit"})");
    EXPECT_FALSE(refusal.id) << id;
    EXPECT_EQ(refusal.reason, "`id` wants a whole number");
  }
  EXPECT_EQ(refusalOf(R"({"id": 3})").id, 3);
  EXPECT_EQ(refusalOf(R"({"id": 3, "do": 1})").reason,
            "`do` wants `execute`, `complete`, `inspect`, `is_complete`, `interrupt` or `quit`");
  EXPECT_EQ(refusalOf(R"({"id": 3, "do": "fly"})").reason.substr(0, 23), "`fly` is nothing to do;");
  EXPECT_EQ(refusalOf(R"({"id": 3, "do": "execute"})").reason, "`code` wants a text");
  EXPECT_EQ(refusalOf(R"({"id": 3, "do": "execute", "code": 1})").reason, "`code` wants a text");
  EXPECT_LT(refusalOf(R"({"id": 3, "do": ")" + std::string(1000, 'x') + "\"}").reason.size(), 200u);
}

TEST(Protocol, AnswersAreALineEach) {
  EXPECT_EQ(textAnswer(1, Stream::Output, "a\n\"ä\""),
            "{\"id\":1,\"kind\":\"text\",\"stream\":\"stdout\",\"text\":\"a\\n\\\"ä\\\"\"}\n");
  EXPECT_EQ(textAnswer(1, Stream::Errors, "\xff"),
            "{\"id\":1,\"kind\":\"text\",\"stream\":\"stderr\",\"text\":\"\ufffd\"}\n");
  EXPECT_EQ(errorAnswer({}, "no"), "{\"id\":null,\"kind\":\"error\",\"text\":\"no\"}\n");
  EXPECT_EQ(progressAnswer(2, {"e", 3, {}, 0.5, "", false}),
            "{\"id\":2,\"kind\":\"progress\",\"label\":\"e\",\"done\":3,\"total\":null,\"seconds\":0.5,"
            "\"note\":\"\",\"ended\":false}\n");
  EXPECT_EQ(doneAnswer(2, {EntryStatus::Interrupted}),
            "{\"id\":2,\"kind\":\"done\",\"status\":\"interrupted\"}\n");
  EXPECT_EQ(doneAnswer(2, {EntryStatus::Ok, 3}),
            "{\"id\":2,\"kind\":\"done\",\"status\":\"ok\",\"exit\":3}\n");
}

TEST(Protocol, PicturesAreBase64ButSvg) {
  auto dataOf = [](std::string_view bytes) {
    const std::string line = displayAnswer(1, "image/png", bytes);
    const size_t begin = line.find("\"data\":\"") + 8;
    return line.substr(begin, line.find('"', begin) - begin);
  };
  EXPECT_EQ(dataOf(""), "");
  EXPECT_EQ(dataOf("f"), "Zg==");
  EXPECT_EQ(dataOf("fo"), "Zm8=");
  EXPECT_EQ(dataOf("foo"), "Zm9v");
  EXPECT_EQ(dataOf("foobar"), "Zm9vYmFy");
  EXPECT_EQ(dataOf(std::string_view("\xff\xfe\0\x10", 4)), "//4AEA==");
  EXPECT_EQ(displayAnswer(1, "image/svg+xml", "<svg/>"),
            "{\"id\":1,\"kind\":\"display\",\"mime\":\"image/svg+xml\",\"data\":\"<svg/>\"}\n");
}

TEST(Protocol, MatchesStandInCodePoints) {
  Request request = requestOf(R"({"id": 1, "do": "complete", "code": "\"ä😀\" + na", "cursor": 9})");
  EXPECT_EQ(matchesAnswer(1, request, {request.cursor - 2, {{"name", "int"}, {"nan", ""}}}),
            "{\"id\":1,\"kind\":\"done\",\"status\":\"ok\",\"start\":7,\"end\":9,"
            "\"matches\":[\"name\",\"nan\"],\"signatures\":[\"int\",\"\"]}\n");
}

TEST(NameAt, TheCursorStandsInOrAfterAName) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesAt("relu(x)", 2), Names{"relu"});
  EXPECT_EQ(namesAt("relu(x)", 4), Names{"relu"});
  EXPECT_EQ(namesAt("relu(x)", 5), (Names{"x", "relu"}));
  EXPECT_EQ(namesAt("relu(", 5), Names{"relu"});
  EXPECT_EQ(namesAt("nn.init(k)", 5), (Names{"nn.init", "init"}));
  EXPECT_EQ(namesAt("nn.init(k)", 1), Names{"nn"});
  EXPECT_EQ(namesAt("f(a, [g(b), ", 12), Names{"f"});
  EXPECT_EQ(namesAt("f(g(1), ", 8), Names{"f"});
  EXPECT_EQ(namesAt("a.", 2), Names{"a"});
  EXPECT_EQ(namesAt("größe", 3), Names{"größe"});
  EXPECT_EQ(namesAt(" + ", 1), Names{});
  EXPECT_EQ(namesAt("", 0), Names{});
  EXPECT_EQ(namesAt(")]}...", 6), Names{});
}

TEST(LineSplitter, LinesComeInAnyPieces) {
  for (size_t piece = 1; piece < 9; ++piece) {
    std::vector<std::string> lines;
    auto take = [&](std::string_view line, bool isWhole) {
      lines.push_back(isWhole ? std::string(line) : "too long");
    };
    LineSplitter splitter(4);
    const std::string text = "ab\n\nabcd\nabcde\nabcdefghijkl\nx\nlast";
    for (size_t at = 0; at < text.size(); at += piece)
      splitter.add(std::string_view(text).substr(at, piece), take);
    EXPECT_EQ(lines.size(), 6u);
    splitter.end(take);
    splitter.end(take);
    EXPECT_EQ(lines, (std::vector<std::string>{"ab", "", "abcd", "too long", "too long", "x", "last"}));
  }
}

} // namespace
} // namespace melix::repl
