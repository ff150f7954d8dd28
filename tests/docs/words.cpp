// Counts what makes a text hard to read, in the comments of headers and in the pages of the documentation,
// and compares the counts with an allowance that only shrinks. README.md beside this file says how the counts
// are defined.

#include "allowance.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr size_t longSentence = 40;    // words
constexpr size_t endlessSentence = 80; // words
constexpr size_t shownPlaces = 8;      // of each kind and folder

/// A private word, the word of the field, and phrases in which the word has its plain sense.
struct Banned {
  std::string_view word;
  std::string_view instead;
  std::vector<std::string_view> plain;
};

const std::vector<Banned>& bannedWords() {
  static const std::vector<Banned> table = {
      {"turn",
       "iteration",
       {"in turn", "turn into", "turn on", "turn off", "turn around", "to turn", "turn back"}},
      {"turns",
       "iterations, trip count",
       {"turns into", "turns on", "turns off", "turns out", "turns a", "turns the"}},
      {"dear", "expensive", {}},
      {"dearer", "more expensive", {}},
      {"apart", "disjoint", {"apart from", "far apart"}},
      {"made again", "rematerialised", {}},
      {"make again", "rematerialise", {}},
      {"makes again", "rematerialises", {}},
      {"made of less", "needs a strict subset of the axes", {}},
      {"behind", "after", {}},
      {"in front", "before", {}},
      {"told", "known, specified", {}},
      {"tells", "determines, specifies", {"tells the user"}},
      {"settled", "resolved, final", {}},
      {"brief", "short", {"in brief"}},
      {"quiet", "free of effects", {}},
  };
  return table;
}

enum Kind { Over40, Over80, Private, NoNoun, Opener, Kinds };
constexpr std::array<std::string_view, Kinds> kindNames = {"over-40", "over-80", "private-word", "no-noun",
                                                           "opener"};

using Words = std::vector<std::string>;

struct Place {
  std::string where;
  std::string why;
  size_t weight;
};

/// The counts of one folder.
struct Tally {
  size_t sentences = 0;
  std::array<std::vector<Place>, Kinds> places;
};

/// Text without its code: `code` is one word, a link is its text, a comment or tag of HTML is nothing.
std::string proseOf(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {
      size_t ticks = 1;
      while (i + ticks < text.size() && text[i + ticks] == '`') ++ticks;
      size_t end = text.find(std::string(ticks, '`'), i + ticks);
      if (end == std::string_view::npos) continue;
      out += "CODE";
      i = end + ticks - 1;
    } else if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      size_t end = text.find(')', i);
      if (end != std::string_view::npos) i = end;
    } else if (text[i] == '<' && i + 1 < text.size() &&
               (std::isalpha(static_cast<unsigned char>(text[i + 1])) || text[i + 1] == '/' ||
                text[i + 1] == '!')) {
      size_t end = text.find('>', i);
      if (end != std::string_view::npos) i = end;
    } else if (text[i] != '*' && text[i] != '[' && text[i] != ']') {
      out += text[i];
    }
  }
  return out;
}

/// The words of a sentence in small letters; an operator or a number that stands alone is none.
Words wordsOf(std::string_view sentence) {
  Words words;
  std::istringstream in{std::string(sentence)};
  for (std::string item; in >> item;) {
    std::string word;
    bool hasLetter = false;
    for (unsigned char c : item) {
      bool letter = std::isalnum(c) != 0 || c >= 0x80 || c == '\'' || c == '-' || c == '_';
      hasLetter |= std::isalpha(c) != 0;
      if (letter) word += static_cast<char>(std::tolower(c));
    }
    if (hasLetter) words.push_back(word);
  }
  return words;
}

Words split(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

bool standsAt(const Words& words, size_t at, const Words& phrase) {
  return at + phrase.size() <= words.size() &&
         std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<long>(at));
}

/// Whether one of the plain phrases covers the word at `at`.
bool isPlain(const Words& words, size_t at, const Banned& banned) {
  for (std::string_view text : banned.plain) {
    Words phrase = split(text);
    for (size_t back = 0; back < phrase.size() && back <= at; ++back)
      if (standsAt(words, at - back, phrase)) return true;
  }
  return false;
}

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Whether the word at `at` stands for a thing that no noun names.
bool lacksNoun(const Words& words, size_t at) {
  std::string_view word = words[at];
  std::string_view next = at + 1 < words.size() ? std::string_view(words[at + 1]) : "";
  if (word == "what") return true;
  if (word == "which") return at == 0;
  if (word == "those") return isOneOf(next, {"that", "which", "who", "of", "are", "have"});
  if (word == "that") return next == "which" || (at == 0 && isOneOf(next, {"is", "are", "has", "was"}));
  if (word == "there")
    return at == 0 &&
           !isOneOf(next, {"is", "are", "was", "were", "may", "can", "must", "will", "has", "need"});
  return false;
}

void countSentence(std::string_view sentence, const std::string& where, Tally& tally) {
  Words words = wordsOf(sentence);
  if (words.size() < 2) return;
  ++tally.sentences;
  std::string length = std::to_string(words.size()) + " words";
  if (words.size() > longSentence) tally.places[Over40].push_back({where, length, words.size()});
  if (words.size() > endlessSentence) tally.places[Over80].push_back({where, length, words.size()});
  for (const Banned& banned : bannedWords()) {
    Words phrase = split(banned.word);
    for (size_t at = 0; at < words.size(); ++at)
      if (standsAt(words, at, phrase) && !isPlain(words, at, banned))
        tally.places[Private].push_back(
            {where, std::string(banned.word) + " -> " + std::string(banned.instead), 1});
  }
  if (sentence.back() == '?') return;
  for (size_t at = 0; at < words.size(); ++at)
    if (lacksNoun(words, at)) tally.places[NoNoun].push_back({where, words[at] + " without a noun", 1});
  bool opens = isOneOf(words[0], {"what", "which"}) || standsAt(words, 0, {"those", "that"}) ||
               standsAt(words, 0, {"of", "what"});
  if (opens && sentence.back() == '.')
    tally.places[Opener].push_back({where, "begins with " + words[0], words.size()});
}

/// Collects the lines of a paragraph, and cuts it into sentences that know their lines.
class Paragraph {
public:
  Paragraph(std::string file, Tally& tally) : file_(std::move(file)), tally_(tally) {}

  void add(std::string_view line, size_t number) {
    starts_.push_back({text_.size(), number});
    text_ += line;
    text_ += ' ';
  }

  void end() {
    // Code goes first, its full stops too; lines are counted in the text as it was, so each line is one mark.
    std::string marked;
    for (size_t i = 0; i < starts_.size(); ++i) {
      size_t stop = i + 1 < starts_.size() ? starts_[i + 1].first : text_.size();
      marked += '\x01';
      marked += text_.substr(starts_[i].first, stop - starts_[i].first);
    }
    cut(proseOf(marked));
    text_.clear();
    starts_.clear();
  }

private:
  void cut(std::string_view prose) {
    size_t line = 0;
    size_t sentenceLine = 0;
    std::string sentence;
    for (size_t i = 0; i < prose.size(); ++i) {
      if (prose[i] == '\x01') {
        ++line;
        continue;
      }
      bool blank = std::isspace(static_cast<unsigned char>(prose[i])) != 0;
      if (sentence.empty()) {
        if (blank) continue;
        sentenceLine = line;
      }
      sentence += prose[i];
      if (isEnd(prose, i)) finish(sentence, sentenceLine);
    }
    while (!sentence.empty() && sentence.back() == ' ') sentence.pop_back();
    finish(sentence, sentenceLine);
  }

  static bool isEnd(std::string_view prose, size_t at) {
    if (prose[at] != '.' && prose[at] != '!' && prose[at] != '?') return false;
    size_t next = at + 1;
    while (next < prose.size() && (prose[next] == ' ' || prose[next] == '\x01')) ++next;
    if (next == prose.size()) return true;
    return next > at + 1 && std::islower(static_cast<unsigned char>(prose[next])) == 0;
  }

  void finish(std::string& sentence, size_t line) {
    if (!sentence.empty())
      countSentence(sentence, file_ + ":" + std::to_string(starts_[line == 0 ? 0 : line - 1].second), tally_);
    sentence.clear();
  }

  std::string file_;
  Tally& tally_;
  std::string text_;
  std::vector<std::pair<size_t, size_t>> starts_; // where a line begins in the text, and its number
};

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void readPage(std::istream& in, const std::string& name, Tally& tally) {
  Paragraph paragraph(name, tally);
  std::string fence;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    std::string_view text = trimmed(line);
    if (text.starts_with("```")) {
      std::string ticks(text.substr(0, std::min(text.find_first_not_of('`'), text.size())));
      if (fence.empty()) {
        paragraph.end();
        fence = ticks;
      } else if (ticks == text && ticks.size() >= fence.size()) {
        fence.clear();
      }
      continue;
    }
    if (!fence.empty()) continue;
    bool item = text.starts_with("- ") || text.starts_with("* ") || text.starts_with("> ");
    size_t digits = text.find_first_not_of("0123456789");
    item |= digits != std::string_view::npos && digits > 0 && text.substr(digits).starts_with(". ");
    if (text.empty() || item || text.starts_with('#') || text.starts_with('|')) paragraph.end();
    if (text.empty()) continue;
    if (text.starts_with('|')) {
      std::istringstream cells{std::string(text)};
      for (std::string cell; std::getline(cells, cell, '|');) {
        paragraph.add(cell, number);
        paragraph.end();
      }
    } else {
      paragraph.add(item ? text.substr(text.find(' ')) : text, number);
      if (text.starts_with('#')) paragraph.end();
    }
  }
  paragraph.end();
}

void readHeader(std::istream& in, const std::string& name, Tally& tally) {
  Paragraph paragraph(name, tally);
  std::string line;
  bool fenced = false;
  for (size_t number = 1; std::getline(in, line); ++number) {
    size_t slashes = line.find("//");
    if (slashes == std::string::npos || (slashes > 0 && line[slashes - 1] == ':')) {
      paragraph.end();
      fenced = false;
      continue;
    }
    bool whole = trimmed(line).starts_with("//");
    std::string_view text = std::string_view(line).substr(slashes);
    text.remove_prefix(std::min(text.find_first_not_of("/<"), text.size()));
    bool code = text.starts_with("    ");
    text = trimmed(text);
    if (text.starts_with("```")) {
      fenced = !fenced;
      paragraph.end();
      continue;
    }
    if (!whole || text.empty() || code || fenced || text.starts_with("- ")) paragraph.end();
    if (text.empty() || code || fenced) continue;
    paragraph.add(text.starts_with("- ") ? text.substr(2) : text, number);
  }
  paragraph.end();
}

/// The folder that a file is counted with: no deeper than one below `docs`, so that files of the compiler may
/// move.
std::string folderOf(const fs::path& file) {
  auto part = file.begin();
  std::string top = part->string();
  if (top != "docs" || std::distance(file.begin(), file.end()) < 3) return top;
  return top + "/" + (++part)->string();
}

std::map<std::string, Tally> readAll(const fs::path& root) {
  std::map<std::string, Tally> tallies;
  std::vector<fs::path> files = {root / "README.md"};
  for (std::string_view folder : {"compiler", "docs", "runtime", "stdlib", "tests"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      fs::path type = entry.path().extension();
      bool isHeader = type == ".h" && (folder == "compiler" || folder == "runtime");
      if (type == ".md" || isHeader) files.push_back(entry.path());
    }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file);
    fs::path name = file.lexically_relative(root);
    Tally& tally = tallies[folderOf(name)];
    if (name.extension() == ".md")
      readPage(in, name.string(), tally);
    else
      readHeader(in, name.string(), tally);
  }
  return tallies;
}

void showWorst(std::vector<Place> places, size_t count) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.where < b.where;
  });
  for (size_t i = 0; i < std::min(count, places.size()); ++i)
    std::cout << "  " << places[i].where << ": " << places[i].why << "\n";
}

Allowance countsOf(const std::map<std::string, Tally>& tallies) {
  Allowance counts;
  for (const auto& [folder, tally] : tallies)
    for (size_t kind = 0; kind < Kinds; ++kind)
      counts[folder + " " + std::string(kindNames[kind])] = tally.places[kind].size();
  return counts;
}

/// The worst places of a folder and kind.
void show(const std::map<std::string, Tally>& tallies, const std::string& key, size_t count) {
  const size_t gap = key.find(' ');
  const auto kind = std::find(std::begin(kindNames), std::end(kindNames), key.substr(gap + 1));
  showWorst(tallies.at(key.substr(0, gap)).places[static_cast<size_t>(kind - std::begin(kindNames))], count);
}

} // namespace

int main(int argc, char** argv) {
  const AllowanceArgs args(argc, argv);
  if (!args.isValid) return 2;
  const std::map<std::string, Tally> tallies = readAll(args.root);
  for (const auto& [folder, tally] : tallies)
    std::cout << folder << ": " << tally.sentences << " sentences\n";
  const Allowance counts = countsOf(tallies);
  for (const auto& [key, count] : counts) {
    if (count > 0) std::cout << key << ": " << count << "\n";
    if (args.list) show(tallies, key, count);
  }
  if (args.update)
    writeAllowance(counts, "How many places of each kind a folder may have: README.md.", args.file);
  const auto explain = [&](const std::string& key) { show(tallies, key, shownPlaces); };
  return args.list || args.update || compare(counts, readAllowance(args.file), explain) ? 0 : 1;
}
