#include "decompile/scope.h"

#include <cctype>

namespace melix::decompile {

void KnownSizes::dropUnusedLets(std::string& text) const {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t k = lets_.size(); k-- > 0;) {
    const std::string& name = lets_[k];
    size_t uses = 0;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size()))
      uses += (at == 0 || !isWord(text[at - 1])) &&
              (at + name.size() == text.size() || !isWord(text[at + name.size()]));
    const size_t at = text.find("let " + name + " = ");
    if (uses != 1 || at == std::string::npos) continue;
    const size_t begin = text.rfind('\n', at) + 1;
    text.erase(begin, text.find('\n', at) + 1 - begin);
  }
}

} // namespace melix::decompile
