#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace melix::fuzz {

namespace {

std::string_view slice(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

/// What is written where macros are used and made.
std::string macroPiece(Random& random) {
  static constexpr std::string_view pieces[] = {
      "@",   "@unroll(2) ", "quote ", "quote { ", "quote type { ", "$",
      "$..", "$(",          "$[",     "$..(",     "macro ",        "macro m(x: Expr) = quote { $x }\n",
      "@m ", "@m(1) "};
  return std::string(pieces[random() % std::size(pieces)]);
}

} // namespace

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> programsBelow(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".mlx") out.push_back(entry->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

Corpus::Corpus(const std::string& sourceFolder) {
  for (const char* folder :
       {"/tests/unit/parse/programs", "/examples", "/stdlib", "/tests/programs", "/../shared/programs"})
    for (const std::string& path : programsBelow(sourceFolder + folder)) {
      programs_.push_back(readFile(path));
      std::vector<Span> tokens = tokenSpans(programs_.back());
      if (std::ranges::any_of(tokens, [&](Span at) { return isOfMacros(programs_.back(), at); }))
        macros_.push_back(programs_.size() - 1);
    }
}

bool Corpus::usesMacros(size_t k) const { return std::ranges::binary_search(macros_, k); }

size_t Corpus::draw(Random& random) const {
  return random() % 3 == 0 && !macros_.empty() ? macros_[random() % macros_.size()]
                                               : random() % programs_.size();
}

bool isOfMacros(std::string_view text, Span token) {
  const std::string_view word = slice(text, token);
  if (word == "@")
    return token.end < text.size() && std::isalpha(static_cast<unsigned char>(text[token.end]));
  return word == "quote" || word == "macro" || word == "$" || word == "$..";
}

std::vector<Span> tokenSpans(std::string_view text) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("text", std::string(text));
  std::vector<Span> out;
  for (const lex::Token& t : lex::lex(file, sources, sink).tokens)
    if (t.end > t.begin) out.push_back({file, t.begin, t.end});
  return out;
}

std::string changeTokens(std::string_view text, const std::string& others, Random& random) {
  std::string out(text);
  for (unsigned count = 1 + random() % 4; count > 0; --count) {
    std::vector<Span> here = tokenSpans(out), there = tokenSpans(others);
    if (here.empty() || there.empty()) return out;
    Span at = here[random() % here.size()];
    Span other = here[random() % here.size()];
    std::string word(slice(out, at));
    switch (random() % 6) {
    case 0: out.erase(at.begin, at.end - at.begin); break;
    case 1: out.insert(at.begin, word + " "); break;
    case 2: out.replace(at.begin, at.end - at.begin, std::string(slice(out, other))); break;
    case 3:
      out.replace(at.begin, at.end - at.begin, std::string(slice(others, there[random() % there.size()])));
      break;
    case 4: out.insert(at.begin, macroPiece(random)); break;
    default: out.insert(at.begin, random() % 2 == 0 ? "\n" : " ");
    }
  }
  return out;
}

std::string changeBytes(std::string_view text, Random& random) {
  static constexpr std::string_view likely = "{}[]()\"'\\/*\n\r$@#.,;:=-><&|\0\x7f\xc3\xa9\xff";
  std::string out(text);
  for (unsigned count = 1 + random() % 8; count > 0; --count) {
    size_t at = out.empty() ? 0 : random() % out.size();
    char byte = random() % 3 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
    switch (random() % 4) {
    case 0: out.insert(at, 1, byte); break;
    case 1: out.erase(at, 1 + random() % 4); break;
    case 2: out.insert(at, out.substr(at, random() % 40)); break;
    default:
      if (at < out.size()) out[at] = byte;
    }
  }
  if (random() % 20 == 0) out.resize(random() % (out.size() + 1));
  return out;
}

} // namespace melix::fuzz
