// No class has more members than one can keep in mind, but for those of classes.txt, which only shrink.
#include "layers/class_sizes.h"
#include "layers/layer_table.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace melix::layers {
namespace {

const std::filesystem::path sourceFolder = MELIX_SOURCE_DIR;
constexpr size_t mostMethods = 60, mostFields = 15;

struct Limit {
  size_t methods = mostMethods, fields = mostFields;
};

/// Lines `file Class methods fields`.
std::map<std::string, Limit> readLimits() {
  std::map<std::string, Limit> limits;
  for (const std::string& line : readLines(sourceFolder / "tests/unit/layers/classes.txt")) {
    std::istringstream words(line);
    std::string file, name;
    Limit limit;
    if (!line.starts_with("#") && words >> file >> name >> limit.methods >> limit.fields)
      limits[file + " " + name] = limit;
  }
  return limits;
}

std::string nameOf(const ClassSize& size) {
  return std::filesystem::relative(size.file, sourceFolder).string() + " " + size.name;
}

std::vector<ClassSize> allClasses() {
  std::vector<ClassSize> all = classesBelow(sourceFolder / "compiler");
  for (ClassSize& size : classesBelow(sourceFolder / "runtime")) all.push_back(std::move(size));
  return all;
}

TEST(Classes, MembersAreToldApart) {
  const std::vector<ClassSize> found = classesIn(R"(
enum class Kind : uint8_t { A, B };
class Shape : public Base {
public:
  explicit Shape(int n) : count_(n), names{"a;", "b"} {} // makes a { shape
  virtual ~Shape() = default;
  int area(std::function<void(int, int)> f) const;
  bool operator==(const Shape&) const = default;
  std::string text() const {
    return "x;";
  }
  using Names = std::map<int, std::string>;
  struct Part {
    int a, b = 0;
  };
  friend class Other;

private:
  static constexpr uint32_t most = 1'000;
  std::map<int, std::function<int(int)>> names;
  const int &first, &second;
  int count_{};
};
)");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "Shape");
  EXPECT_EQ(found[0].methods, 5u);
  EXPECT_EQ(found[0].fields, 5u);
  EXPECT_EQ(found[1].name, "Part");
  EXPECT_EQ(found[1].methods, 0u);
  EXPECT_EQ(found[1].fields, 2u);
}

TEST(Classes, HaveFewMembers) {
  std::map<std::string, Limit> limits = readLimits();
  for (const ClassSize& size : allClasses()) {
    const Limit most = limits.contains(nameOf(size)) ? limits.at(nameOf(size)) : Limit();
    EXPECT_LE(size.methods, most.methods) << "methods of " << nameOf(size);
    EXPECT_LE(size.fields, most.fields) << "fields of " << nameOf(size);
  }
}

TEST(Classes, ThoseThatMayHaveMoreStillHave) {
  std::map<std::string, Limit> limits = readLimits();
  for (const ClassSize& size : allClasses())
    if (size.methods > mostMethods || size.fields > mostFields) limits.erase(nameOf(size));
  for (const auto& [name, limit] : limits) ADD_FAILURE() << name << " can leave classes.txt";
}

/// Classes of a file at the level of its namespaces, but for those that no other file sees.
std::vector<std::string> sharedClasses(const std::filesystem::path& file) {
  std::vector<std::string> spaces, found;
  for (const std::string& line : readLines(file)) {
    std::istringstream words(line);
    std::string first, name, brace;
    words >> first >> name >> brace;
    if (line.starts_with("namespace"))
      spaces.push_back(name);
    else if (line.starts_with("} // namespace") && !spaces.empty())
      spaces.pop_back();
    else if ((line.starts_with("struct ") || line.starts_with("class ")) && !line.ends_with(";") &&
             std::find(spaces.begin(), spaces.end(), "{") == spaces.end())
      found.push_back((spaces.empty() ? "" : spaces.back()) + "::" + name);
  }
  return found;
}

/// Of two of one name in one namespace the linker takes the functions of either.
TEST(Classes, HaveNamesOfTheirOwn) {
  std::map<std::string, std::filesystem::path> files;
  for (const char* folder : {"compiler", "runtime"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sourceFolder / folder)) {
      const std::filesystem::path file = entry.path();
      if (file.extension() != ".h" && file.extension() != ".cpp") continue;
      for (const std::string& name : sharedClasses(file)) {
        const auto [known, isNew] = files.try_emplace(name, file);
        EXPECT_TRUE(isNew || known->second == file) << name << " of " << known->second << " and " << file;
      }
    }
  EXPECT_TRUE(files.contains("melix::transforms::DividedAxis"));
}

} // namespace
} // namespace melix::layers
