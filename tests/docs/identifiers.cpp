// Counts private words in the names of the compiler's code, and compares the counts with an allowance that
// only shrinks. A word is a part of a name: `Turns` of `mostTurnsOf`. README.md beside this file says how
// names are counted.

#include "allowance.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// A private word in small letters, and the word of the field.
const std::map<std::string, std::string_view>& bannedWords() {
  static const std::map<std::string, std::string_view> table = {
      {"turn", "iteration"},
      {"turns", "iterations, tripCount"},
      {"apart", "disjoint, separate"},
      {"told", "known"},
      {"tell", "determine, record"},
      {"tells", "determines"},
      {"again", "rematerialise, repeat"},
      {"settle", "resolve, apply"},
      {"settled", "resolved, final"},
      {"dear", "expensive"},
      {"behind", "after"},
      {"beside", "adjacent, by side"},
      {"brief", "short"},
      {"quiet", "free of effects"},
      {"anyway", "unconditional"},
      {"surely", "proven"},
      {"freer", "speculator"},
      {"spread", "expand, scalarise"},
      {"settles", "resolves, applies"},
      {"dearer", "more expensive"},
      {"ask", "test, require"},
      {"asks", "tests, requires"},
      {"asked", "tested, required"},
      {"stand", "be placed, substitute"},
      {"stands", "is placed, substitutes"},
      {"plain", "the property that is meant"},
  };
  return table;
}

/// Two words that are private only together: `inFront`.
bool areBanned(std::string_view first, std::string_view second) { return first == "in" && second == "front"; }

/// The source without comments and literals.
std::string codeOf(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at).starts_with("R\"(")) {
      size_t end = text.find(")\"", at);
      at = end == std::string_view::npos ? text.size() : end + 2;
      out += ' ';
    } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || std::isalnum(text[at - 1]) == 0))) {
      char quote = text[at++];
      while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
      ++at;
      out += ' ';
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool isLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isCapital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// The words of a name in small letters.
std::vector<std::string> wordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t at = 0; at < name.size(); ++at) {
    bool begins = name[at] == '_' || (isCapital(name[at]) && (at == 0 || !isCapital(name[at - 1])));
    if (begins && !words.back().empty()) words.emplace_back();
    if (name[at] != '_')
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[at])));
  }
  return words;
}

/// The banned word of a name; empty if it has none.
std::string bannedIn(std::string_view name) {
  std::vector<std::string> words = wordsOf(name);
  for (size_t k = 0; k < words.size(); ++k) {
    if (bannedWords().contains(words[k])) return words[k];
    if (k > 0 && areBanned(words[k - 1], words[k])) return words[k - 1] + "-" + words[k];
  }
  return "";
}

using Counts = std::map<std::string, std::set<std::string>>; // files and names, by folder and word

void readFile(const fs::path& file, const fs::path& root, Counts& counts) {
  std::ifstream in(file);
  std::string code = codeOf(std::string(std::istreambuf_iterator<char>(in), {}));
  std::string where = file.lexically_relative(root).string();
  std::string folder = where.substr(0, where.find('/', where.find('/') + 1));
  for (size_t at = 0; at < code.size();) {
    size_t end = at;
    while (end < code.size() && isLetter(code[end])) ++end;
    std::string name = code.substr(at, end - at);
    if (std::string word = name.empty() ? "" : bannedIn(name); !word.empty())
      counts[folder + " " + word].insert(where + ": " + name);
    at = std::max(end, at + 1);
  }
}

Counts readAll(const fs::path& root) {
  Counts counts;
  for (std::string_view folder : {"core", "transforms", "loops", "codegen", "session"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "compiler" / folder))
      if (fs::path kind = entry.path().extension(); kind == ".h" || kind == ".cpp" || kind == ".def")
        readFile(entry.path(), root, counts);
  return counts;
}

std::string_view insteadOf(const std::string& key) {
  auto found = bannedWords().find(key.substr(key.find(' ') + 1));
  return found == bannedWords().end() ? "before" : found->second;
}

Allowance sizesOf(const Counts& counts) {
  Allowance sizes;
  for (const auto& [key, names] : counts) sizes[key] = names.size();
  return sizes;
}

void show(const Counts& counts, const std::string& key) {
  std::cout << "  the word of the field: " << insteadOf(key) << "\n";
  for (const std::string& name : counts.at(key)) std::cout << "  " << name << "\n";
}

} // namespace

int main(int argc, char** argv) {
  const AllowanceArgs args(argc, argv);
  if (!args.isValid) return 2;
  const Counts counts = readAll(args.root);
  if (args.list)
    for (const auto& [key, names] : counts) {
      std::cout << key << "\n";
      show(counts, key);
    }
  if (args.update)
    writeAllowance(sizesOf(counts), "How many names with each private word a folder may have: README.md.",
                   args.file);
  const auto explain = [&](const std::string& key) { show(counts, key); };
  return args.list || args.update || compare(sizesOf(counts), readAllowance(args.file), explain) ? 0 : 1;
}
