#include "support/near_names.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace melix {

namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// The words of a name in lower case: `_` and capitals behind small letters part them.
std::vector<std::string> wordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t k = 0; k < name.size(); ++k) {
    const bool begins = k > 0 && isUpper(name[k]) && !isUpper(name[k - 1]);
    if ((name[k] == '_' || begins) && !words.back().empty()) words.emplace_back();
    if (name[k] != '_') words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[k])));
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

/// One thing or several of it: `size` and `sizes`.
bool isSameWord(const std::string& a, const std::string& b) { return a == b || a == b + "s" || a + "s" == b; }

bool isPart(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  constexpr size_t fewestLetters = 4;
  const size_t letters = joined(part).size(), all = joined(whole).size();
  return std::min(letters, all) >= fewestLetters && 2 * letters >= all &&
         !std::ranges::search(whole, part, isSameWord).empty();
}

enum class NearKind : uint8_t { Far, Part, Edit, Same };

NearKind nearness(std::string_view wrong, const std::vector<std::string>& words, std::string_view known) {
  if (known == wrong) return NearKind::Far;
  const std::vector<std::string> others = wordsOf(known);
  if (joined(others) == joined(words)) return NearKind::Same;
  if (known.size() >= shortestMisspelt && isOneEdit(wrong, known)) return NearKind::Edit;
  return isPart(words, others) || isPart(others, words) ? NearKind::Part : NearKind::Far;
}

} // namespace

bool isOneEdit(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (std::ranges::all_of(a, isDigit) && std::ranges::all_of(b, isDigit)) return false;
  const bool isSwap = a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
  return isSwap || (a.size() <= 1 && b.size() <= 1);
}

std::vector<std::string> editsOf(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  std::vector<std::string> out;
  for (size_t k = 0; k <= name.size(); ++k) {
    const std::string before(name.substr(0, k)), behind(name.substr(k));
    for (char c : letters) out.push_back(before + c + behind);
    if (behind.empty()) continue;
    out.push_back(before + behind.substr(1));
    for (char c : letters) out.push_back(before + c + behind.substr(1));
    if (behind.size() > 1) out.push_back(before + behind[1] + behind[0] + behind.substr(2));
  }
  return out;
}

std::string_view nearestName(std::string_view wrong, const std::vector<std::string_view>& known) {
  const std::vector<std::string> words = wordsOf(wrong);
  std::string_view best;
  NearKind bestKind = NearKind::Far;
  for (std::string_view candidate : known)
    if (const NearKind kind = nearness(wrong, words, candidate); kind > bestKind) {
      best = candidate;
      bestKind = kind;
    }
  return best;
}

} // namespace melix
