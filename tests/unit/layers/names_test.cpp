// What a source file names for itself, no other file of its folder names too: the release preset compiles
// several of them as one, where such a name would be an error, or mean the other one without any.
#include "layers/layer_table.h"

#include <gtest/gtest.h>
#include <regex>

namespace melix::layers {
namespace {

const std::filesystem::path sourceFolder = MELIX_SOURCE_DIR;

/// The types, constants and functions that a line without indentation begins to define or declare.
std::vector<std::string> namesIn(const std::string& line) {
  static const std::regex type(R"(^(?:class|struct|enum class|enum) (\w+)(?: final)?(?: :[^:].*)? ?\{)");
  static const std::regex constants(R"(^(?:inline |static )*const(?:expr)? [^(]*=)"),
      constant(R"((\w+)(?:\[\w*\])? =)");
  static const std::regex function(
      R"(^(?!return|using|namespace|class|struct|template)[A-Za-z_][\w:<>,&* ]*[&* >](\w+)\()");
  std::smatch found;
  if (std::regex_search(line, found, type)) return {found[1]};
  if (std::regex_search(line, found, constants)) {
    std::vector<std::string> names;
    for (std::sregex_iterator at(line.begin(), line.end(), constant), end; at != end; ++at)
      names.push_back((*at)[1]);
    return names;
  }
  if (std::regex_search(line, found, function)) return {found[1]};
  return {};
}

/// The files of a folder by the names that they define.
using Names = std::map<std::string, std::set<std::string>>;

struct FolderNames {
  Names own;    ///< in anonymous namespaces and behind `static`, of sources
  Names shared; ///< of headers
};

void addNames(FolderNames& names, const std::filesystem::path& file) {
  const bool isHeader = file.extension() == ".h";
  bool isAnonymous = false;
  for (const std::string& line : readLines(file)) {
    if (line == "namespace {") isAnonymous = true;
    if (line == "} // namespace") isAnonymous = false;
    if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) continue;
    if (!isHeader && !isAnonymous && !line.starts_with("static ")) continue;
    for (const std::string& name : namesIn(line))
      (isHeader ? names.shared : names.own)[name].insert(file.filename().string());
  }
}

FolderNames namesOf(const std::filesystem::path& folder) {
  FolderNames names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path extension = entry.path().extension();
    const bool isMain = entry.path().filename() == "main.cpp";
    if ((extension == ".cpp" || extension == ".h") && !isMain) addNames(names, entry.path());
  }
  return names;
}

TEST(Names, DefinitionsAreToldFromUses) {
  using Found = std::vector<std::string>;
  EXPECT_EQ(namesIn("class Hoister {"), Found{"Hoister"});
  EXPECT_EQ(namesIn("struct Walk final : public Base {"), Found{"Walk"});
  EXPECT_EQ(namesIn("class Undefined::Walk : public Base {"), Found{});
  EXPECT_EQ(namesIn("class Module;"), Found{});
  EXPECT_EQ(namesIn("constexpr int deepest = 4, most[2] = {1, 2};"), (Found{"deepest", "most"}));
  EXPECT_EQ(namesIn("std::vector<Op> opsOf(const Function& f,"), Found{"opsOf"});
  EXPECT_EQ(namesIn("return opsOf(f);"), Found{});
  EXPECT_EQ(namesIn("Ops Function::opsOf(int n) const {"), Found{});
}

TEST(Names, OfOneFileAreNotThoseOfAnother) {
  LayerTable table = LayerTable::read(sourceFolder / "tests/unit/layers/layers.txt");
  size_t count = 0;
  for (const std::string& folder : table.folders()) {
    FolderNames names = namesOf(sourceFolder / "compiler" / folder);
    for (auto& [name, files] : names.own) {
      ++count;
      if (auto shared = names.shared.find(name); shared != names.shared.end())
        files.insert(shared->second.begin(), shared->second.end());
      std::string list;
      for (const std::string& file : files) list += " " + file;
      EXPECT_EQ(files.size(), 1U) << "compiler/" << folder << ": `" << name << "` is named in" << list;
    }
  }
  EXPECT_GT(count, 1000U);
}

} // namespace
} // namespace melix::layers
