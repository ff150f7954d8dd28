// What a slip of the hand costs its reader: a program that is accepted is changed at one place, and when it
// is refused then, the messages are few and the first of them stands near that place. At the end stands
// how often that held; too seldom fails.
#include "fuzz/compiled.h"
#include "fuzz/mutate.h"
#include "fuzz/run.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

using namespace melix;

namespace {

constexpr size_t fewMessages = 3, nearLines = 2;

/// Shares of what is refused, over all slips that could be drawn.
struct Wanted {
  double few, near;
};
constexpr Wanted ofAll{0.985, 0.97}, ofMacros{0.98, 0.95};

struct Program {
  std::string text;
  std::vector<Span> tokens;
  std::vector<size_t> macros; ///< which of them are of macros
  size_t messages;            ///< warnings that it has anyway
};

/// The programs of the repository that are accepted, as far as they have been drawn.
const Program* drawnProgram(fuzz::Random& random) {
  static const fuzz::Corpus texts(MELIX_SOURCE_DIR);
  static std::vector<std::optional<Program>> known(texts.size());
  const size_t k = texts.draw(random);
  if (!known[k]) {
    Program made{texts[k], fuzz::tokenSpans(texts[k]), {}, 0};
    for (size_t t = 0; t + 1 < made.tokens.size(); ++t)
      if (fuzz::isOfMacros(made.text, made.tokens[t])) made.macros.push_back(t);
    for (const fuzz::Message& message : fuzz::messagesOf(made.text)) {
      ++made.messages;
      if (message.isError) made.tokens.clear();
    }
    known[k] = std::move(made);
  }
  return known[k]->tokens.size() < 2 ? nullptr : &*known[k];
}

struct Slip {
  std::string text;
  size_t at; ///< the byte where it was made
};

bool isWord(std::string_view token) {
  return token.size() > 2 && std::isalpha(static_cast<unsigned char>(token[0]));
}

std::string misspelled(std::string word, fuzz::Random& random) {
  const size_t at = 1 + random() % (word.size() - 1);
  if (random() % 2 == 0)
    word.erase(at, 1);
  else
    std::swap(word[at - 1], word[at]);
  return word;
}

/// Removes, doubles, swaps, replaces or misspells a token, or removes a line; every other time where macros
/// are.
Slip slipIn(const Program& program, fuzz::Random& random) {
  const bool atMacro = !program.macros.empty() && random() % 2 == 0;
  const size_t k =
      atMacro ? program.macros[random() % program.macros.size()] : random() % (program.tokens.size() - 1);
  const Span at = program.tokens[k], next = program.tokens[k + 1];
  auto text = [&](Span span) { return program.text.substr(span.begin, span.end - span.begin); };
  Slip out{program.text, at.begin};
  switch (random() % 6) {
  case 0: out.text.erase(at.begin, at.end - at.begin); break;
  case 1: out.text.insert(at.begin, text(at) + " "); break;
  case 2:
    out.text.replace(at.begin, next.end - at.begin,
                     text(next) + program.text.substr(at.end, next.begin - at.end) + text(at));
    break;
  case 3:
    out.text.replace(at.begin, at.end - at.begin, text(program.tokens[random() % program.tokens.size()]));
    break;
  case 4:
    if (isWord(text(at))) out.text.replace(at.begin, at.end - at.begin, misspelled(text(at), random));
    break;
  default: {
    const size_t begin = program.text.rfind('\n', at.begin) + 1, end = program.text.find('\n', at.begin);
    out.text.erase(begin, end == std::string::npos ? end : end + 1 - begin);
    out.at = begin;
  }
  }
  return out;
}

struct Tally {
  size_t slips = 0, refused = 0, few = 0, near = 0;
} all, macros; ///< macros: of programs with macros only

size_t lineOf(const Slip& slip) {
  const size_t end = std::min(slip.at, slip.text.size());
  return 1 +
         static_cast<size_t>(std::count(slip.text.begin(), slip.text.begin() + static_cast<long>(end), '\n'));
}

/// The lines about the slip, and what is said.
void show(const Slip& slip, const std::vector<fuzz::Message>& messages) {
  const size_t line = lineOf(slip);
  std::printf("seed %llu, line %zu\n", static_cast<unsigned long long>(fuzz::currentSeed()), line);
  std::istringstream text(slip.text);
  size_t at = 0;
  for (std::string written; std::getline(text, written);)
    if (++at + 1 >= line && at <= line + 1) std::printf("| %s\n", written.c_str());
  for (const fuzz::Message& message : messages) std::printf("%s", message.text.c_str());
}

void step(fuzz::Random& random) {
  static const bool isShown = std::getenv("MELIX_FUZZ_SHOW");
  const Program* program = drawnProgram(random);
  if (!program) return;
  const Slip slip = slipIn(*program, random);
  const std::vector<fuzz::Message> messages = fuzz::messagesOf(slip.text);
  Tally other; // of programs without macros
  Tally& mine = program->macros.empty() ? other : macros;
  for (Tally* tally : {&all, &mine}) ++tally->slips;
  auto first = std::find_if(messages.begin(), messages.end(), [](const auto& m) { return m.isError; });
  if (first == messages.end()) return;
  const bool isFew = messages.size() <= program->messages + fewMessages;
  const size_t line = lineOf(slip);
  const bool isNear = std::max<size_t>(first->line, line) - std::min<size_t>(first->line, line) <= nearLines;
  for (Tally* tally : {&all, &mine}) ++tally->refused, tally->few += isFew, tally->near += isNear;
  if (isShown && !(isFew && isNear)) show(slip, messages);
}

/// Whether a share of so many draws speaks against the wanted one: it is more than two standard errors below.
bool contradicts(double share, double wanted, double draws) {
  return share < wanted - 2 * std::sqrt(wanted * (1 - wanted) / draws);
}

/// Says what held; whether it did often enough.
bool holds(const char* what, const Tally& tally, Wanted wanted) {
  const double refused = static_cast<double>(std::max<size_t>(tally.refused, 1));
  const double few = static_cast<double>(tally.few) / refused,
               near = static_cast<double>(tally.near) / refused;
  std::printf("%s: %zu slips, %zu refused: "
              "at most %zu messages in %.2f %%, the first within %zu lines in %.2f %%\n",
              what, tally.slips, tally.refused, fewMessages, 100 * few, nearLines, 100 * near);
  constexpr size_t enough = 200; // for shares to mean something
  return tally.refused < enough ||
         !(contradicts(few, wanted.few, refused) || contradicts(near, wanted.near, refused));
}

} // namespace

int main(int argc, char** argv) {
  if (const int status = fuzz::runFuzzer(argc, argv, step); status != 0) return status;
  const bool all_hold = holds("all", all, ofAll), macros_hold = holds("with macros", macros, ofMacros);
  return all_hold && macros_hold ? 0 : 1;
}
