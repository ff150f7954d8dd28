#include "layers/class_sizes.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

namespace melix::layers {

namespace {

/// The text without comments, lines of the preprocessor, and what stands between quotes.
std::string codeOf(const std::string& text) {
  std::string out;
  bool startsLine = true;
  for (size_t k = 0; k < text.size(); ++k) {
    auto skipTo = [&](std::string_view end) { k = std::min(text.find(end, k + 1), text.size() - 1); };
    if (text.compare(k, 2, "//") == 0 || (startsLine && text[k] == '#')) {
      while (k < text.size() && (text[k] != '\n' || text[k - 1] == '\\')) ++k;
      out += '\n';
    } else if (text.compare(k, 2, "/*") == 0) {
      skipTo("*/"), ++k;
    } else if (bool isDigits = text[k] == '\'' && !out.empty() && std::isdigit(out.back());
               (text[k] == '"' || text[k] == '\'') && !isDigits) {
      const char quote = text[k];
      for (++k; k < text.size() && text[k] != quote; ++k) k += text[k] == '\\';
      out += "\"\"";
    } else {
      out += text[k];
    }
    startsLine = k < text.size() && (text[k] == '\n' || (startsLine && text[k] == ' '));
  }
  return out;
}

/// Counts the members of a class from the text of its body.
class Members {
public:
  explicit Members(ClassSize& size) : size_(size) {}

  /// One declaration: up to its `;`, or to the body of a function.
  void add(std::string declaration) {
    static const std::regex access("\\b(public|private|protected)\\s*:"), arguments("<[^<>]*>"),
        other("^\\s*(using|friend|typedef|static_assert|enum|class|struct|union)\\b|^\\s*$"),
        templated("^\\s*template\\s*<>");
    declaration = std::regex_replace(declaration, access, "");
    for (std::string before; before != declaration;)
      before = declaration, declaration = std::regex_replace(before, arguments, "");
    if (std::regex_search(declaration, other)) return;
    const std::string head = declaration.substr(0, declaration.find_first_of("={"));
    const bool isFunction =
        head.find('(') != std::string::npos || declaration.find("operator") != std::string::npos;
    if (isFunction)
      ++size_.methods;
    else
      size_.fields += 1 + static_cast<size_t>(std::count(head.begin(), head.end(), ','));
  }

private:
  ClassSize& size_;
};

/// Reads the body that begins at `at`, behind its brace.
void readBody(const std::string& code, size_t at, ClassSize& size) {
  Members members(size);
  std::string declaration;
  size_t braces = 0, parentheses = 0;
  for (; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '}' && braces-- == 0) return;
    if (c == '{') ++braces;
    if (braces > 0) continue;
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (c == '}') {
      // A function ends with its body; the initialisers of a constructor and of a field go on.
      const size_t next = code.find_first_not_of(" \n", at + 1);
      const bool goesOn =
          next != std::string::npos && std::string_view(";,{.").find(code[next]) != std::string::npos;
      if (goesOn || parentheses > 0) continue;
      members.add(std::move(declaration)), declaration.clear();
    } else if (c == ';' && parentheses == 0) {
      members.add(std::move(declaration)), declaration.clear();
    } else {
      declaration += c;
    }
  }
}

} // namespace

std::vector<ClassSize> classesIn(const std::string& text) {
  static const std::regex definition(
      "\\b(?:class|struct)\\s+([A-Za-z_]\\w*)\\s*(?:final\\s*)?(?::[^;{(]*)?\\{");
  const std::string code = codeOf(text);
  std::vector<ClassSize> found;
  for (std::sregex_iterator at(code.begin(), code.end(), definition), end; at != end; ++at) {
    if (at->prefix().str().ends_with("enum ")) continue;
    ClassSize size{(*at)[1].str(), {}, 0, 0};
    readBody(code, static_cast<size_t>(at->position() + at->length()), size);
    found.push_back(std::move(size));
  }
  return found;
}

std::vector<ClassSize> classesBelow(const std::filesystem::path& folder) {
  std::vector<ClassSize> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    for (ClassSize& size : classesIn(text.str())) {
      size.file = entry.path();
      all.push_back(std::move(size));
    }
  }
  return all;
}

} // namespace melix::layers
