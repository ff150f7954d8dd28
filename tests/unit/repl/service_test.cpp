// The service of a kernel, over a language of the test.
#include "repl/kernel/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace melix::repl {
namespace {

/// Knows the names that entries have said. The entry `wait` runs until it is interrupted.
class Words : public NotebookLanguage {
public:
  EntryEnd execute(const std::string& code, EntryAnswers& answers) override {
    if (code == "throw") throw std::runtime_error("thrown");
    if (code == "exit") return {EntryStatus::Ok, 5};
    if (code == "print")
      for (int k = 0; k < 1000; ++k) answers.text(Stream::Output, "x");
    if (code == "both") {
      answers.text(Stream::Output, "out");
      answers.text(Stream::Errors, "err");
      answers.display("text/plain", "value");
    }
    if (code == "say and wait") answers.text(Stream::Output, "early");
    if (code.ends_with("wait")) {
      while (!interrupted_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return {EntryStatus::Interrupted};
    }
    known_ = code;
    return {};
  }
  bool isIncomplete(const std::string& text) const override { return text.ends_with('('); }
  Matches complete(const std::string&, size_t cursor) const override { return {cursor, {{known_, ""}}}; }
  std::optional<std::string> inspect(const std::string& name) const override {
    return name == known_ ? std::optional<std::string>("known") : std::nullopt;
  }
  std::shared_ptr<const Questions> snapshot() const override { return std::make_shared<Words>(known_); }
  void interrupt() override { interrupted_ = true; }
  void forgetInterrupt() override { interrupted_ = false; }

  explicit Words(std::string known = "") : known_(std::move(known)) {}

private:
  std::string known_;
  std::atomic<bool> interrupted_ = false;
};

class Kernel : public testing::Test {
protected:
  Kernel()
      : service_(words_,
                 [this](std::string_view lines) {
                   const std::lock_guard guard(mutex_);
                   written_ += lines;
                 }),
        watcher_([this] { service_.watch(); }), runner_([this] { status_ = service_.run(); }) {}
  ~Kernel() override { end(); }

  void ask(const std::string& request) { service_.take(request); }
  void execute(int id, const std::string& code) {
    ask("{\"id\": " + std::to_string(id) + ", \"do\": \"execute\", \"code\": \"" + code + "\"}");
  }
  std::string written() {
    const std::lock_guard guard(mutex_);
    return written_;
  }
  bool sees(const std::string& part) {
    for (int k = 0; k < 10'000 && written().find(part) == std::string::npos; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return written().find(part) != std::string::npos;
  }
  int end() {
    if (!runner_.joinable()) return status_;
    service_.endInput();
    runner_.join();
    watcher_.join();
    return status_;
  }

private:
  Words words_;
  std::mutex mutex_;
  std::string written_;
  int status_ = -1;
  Service service_;
  std::thread watcher_, runner_;
};

TEST_F(Kernel, RequestsAreAnsweredInOrder) {
  execute(1, "a");
  ask(R"({"id": 2, "do": "complete", "code": "ab", "cursor": 1})");
  ask("nonsense");
  ask(R"({"id": 3, "do": "is_complete", "code": "f("})");
  ask(R"({"id": 4, "do": "inspect", "code": "a"})");
  EXPECT_EQ(end(), 0) << "the end of the input ends it when all is answered";
  EXPECT_EQ(
      written(),
      "{\"id\":1,\"kind\":\"done\",\"status\":\"ok\"}\n"
      "{\"id\":2,\"kind\":\"done\",\"status\":\"ok\",\"start\":1,\"end\":1,\"matches\":[\"a\"],"
      "\"signatures\":[\"\"]}\n"
      "{\"id\":null,\"kind\":\"error\",\"text\":\"a request is an object of JSON on one line, in UTF-8\"}\n"
      "{\"id\":3,\"kind\":\"done\",\"status\":\"ok\",\"completeness\":\"incomplete\"}\n"
      "{\"id\":4,\"kind\":\"done\",\"status\":\"ok\",\"found\":true,\"text\":\"known\"}\n");
}

TEST_F(Kernel, QuestionsAreAnsweredWhileAnEntryRuns) {
  execute(1, "a");
  execute(2, "wait");
  ask(R"({"id": 3, "do": "complete", "code": ""})");
  ask(R"({"id": 4, "do": "fly"})");
  EXPECT_TRUE(sees(R"({"id":3,"kind":"done","status":"ok","start":0,"end":0,"matches":["a"])"));
  EXPECT_TRUE(sees(R"({"id":4,"kind":"done","status":"error"})"));
  ask(R"({"id": 5, "do": "interrupt"})");
  EXPECT_TRUE(sees(R"({"id":2,"kind":"done","status":"interrupted"})"));
  EXPECT_TRUE(sees(R"({"id":5,"kind":"done","status":"ok"})"));
}

TEST_F(Kernel, AnInterruptStopsTheEntryThatWaitsNextAndNoLaterOne) {
  ask(R"({"id": 1, "do": "interrupt"})");
  EXPECT_TRUE(sees(R"({"id":1,)"));
  execute(2, "b");
  EXPECT_TRUE(sees(R"({"id":2,"kind":"done","status":"ok"})"));
  execute(3, "wait");
  execute(4, "c");
  for (int k = 0; k < 5; ++k) ask(R"({"id": 9, "do": "interrupt"})");
  EXPECT_TRUE(sees(R"({"id":3,"kind":"done","status":"interrupted"})"));
  EXPECT_TRUE(sees(R"({"id":4,"kind":"done")"));
  execute(5, "d");
  EXPECT_TRUE(sees(R"({"id":5,"kind":"done","status":"ok"})"));
}

TEST_F(Kernel, TextIsGatheredButNotHeldBack) {
  execute(1, "print");
  EXPECT_TRUE(sees("\"done\""));
  const std::string all = written();
  EXPECT_LT(std::ranges::count(all, '\n'), 50);
  EXPECT_EQ(std::ranges::count(all, 'x') - 2 * (std::ranges::count(all, '\n') - 1), 1000)
      << "each text has two more";
  execute(2, "say and wait");
  EXPECT_TRUE(sees("early"));
  ask(R"({"id": 9, "do": "interrupt"})");
  execute(3, "both");
  EXPECT_TRUE(sees("\"id\":3,\"kind\":\"done\""));
  const std::string after = written();
  const size_t out = after.find("\"out\""), err = after.find("\"err\""), value = after.find("\"value\"");
  EXPECT_LT(out, err);
  EXPECT_LT(err, value);
}

TEST_F(Kernel, WhatIsThrownIsToldAsABug) {
  execute(1, "throw");
  execute(2, "a");
  EXPECT_TRUE(sees("a bug of the compiler: thrown"));
  EXPECT_TRUE(sees(R"({"id":1,"kind":"done","status":"error"})"));
  EXPECT_TRUE(sees(R"({"id":2,"kind":"done","status":"ok"})"));
}

TEST_F(Kernel, AnEntryAndQuitEndIt) {
  execute(1, "exit");
  execute(2, "a");
  EXPECT_TRUE(sees(R"({"id":1,"kind":"done","status":"ok","exit":5})"));
  EXPECT_EQ(end(), 5);
  EXPECT_EQ(written().find("\"id\":2"), std::string::npos);
}

TEST_F(Kernel, QuitEndsIt) {
  execute(1, "a");
  ask(R"({"id": 2, "do": "quit"})");
  execute(3, "b");
  EXPECT_TRUE(sees(R"({"id":2,"kind":"done","status":"ok","exit":0})"));
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(written().find("\"id\":3"), std::string::npos);
}

} // namespace
} // namespace melix::repl
