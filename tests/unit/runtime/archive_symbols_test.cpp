// A program needs nothing but libc and libm: no symbol of the C++ library, no sanitizer, no thread-local
// storage.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

struct Symbols {
  std::set<std::string> defined, undefined, threadLocal;
};

Symbols readArchive() {
  Symbols out;
  FILE* pipe = popen(RUNTIME_NM " --format=sysv " RUNTIME_ARCHIVE " 2>/dev/null", "r");
  char line[1024];
  while (pipe && fgets(line, sizeof line, pipe)) {
    std::istringstream fields(line);
    std::string field, parts[7];
    for (int k = 0; k < 7 && std::getline(fields, field, '|'); k++) {
      size_t from = field.find_first_not_of(" \n"), to = field.find_last_not_of(" \n");
      parts[k] = from == std::string::npos ? "" : field.substr(from, to - from + 1);
    }
    if (parts[2].empty()) continue;
    bool isUndefined = parts[6].find("*UND*") != std::string::npos;
    (isUndefined ? out.undefined : out.defined).insert(parts[0]);
    if (parts[3] == "TLS") out.threadLocal.insert(parts[0]);
  }
  if (pipe) pclose(pipe);
  return out;
}

std::set<std::string> readAllowed() {
  std::set<std::string> out;
  std::ifstream file(ALLOWED_SYMBOLS);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') out.insert(line);
  }
  return out;
}

TEST(ArchiveSymbols, takes_only_what_is_allowed_from_outside) {
#ifdef MELIX_GUARD_PAGES
  GTEST_SKIP() << "pages that trap need more of the system";
#endif
  Symbols symbols = readArchive();
  std::set<std::string> allowed = readAllowed();
  ASSERT_GT(symbols.defined.size(), 100u);
  for (const std::string& name : symbols.undefined)
    EXPECT_TRUE(symbols.defined.count(name) || allowed.count(name)) << name;
  EXPECT_TRUE(symbols.threadLocal.empty());
}

TEST(ArchiveSymbols, defines_every_builtin_of_the_catalogue) {
  Symbols symbols = readArchive();
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  EXPECT_TRUE(symbols.defined.count(#Symbol)) << #Symbol;
#include "ops/builtins.def"
#define FUNCTION(symbol) EXPECT_TRUE(symbols.defined.count(#symbol)) << #symbol;
#include "melix/functions.def"
}

} // namespace
