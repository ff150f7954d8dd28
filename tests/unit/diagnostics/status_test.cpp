// docs/status.md lists what is read and refused; it is made from diagnostics/unsupported.def.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace melix {
namespace {

struct Row {
  std::string message, area, note;
};
const Row rows[] = {
#define UNSUPPORTED(Id, Message, Area, Note) {Message, Area, Note},
#include "diagnostics/unsupported.def"
};

std::string statusPage() {
  std::map<std::string, std::string> areas;
  for (const Row& row : rows) {
    std::string message = row.message;
    for (const char* hole : {"`{0}`", "`{1}`", "`@{0}`", "{0}"})
      if (size_t at = message.find(hole); at != std::string::npos)
        message.replace(at, std::string(hole).size(), "…");
    areas[row.area] += "| " + message + " | " + row.note + " |\n";
  }
  std::string page =
      "# Status: features that are refused\n\n"
      "The parser accepts the whole grammar. A feature on this page gets the message “… is not "
      "supported yet” with its\n"
      "location, and the program does not run. Everything else the reference describes works.\n";
  for (const auto& [area, lines] : areas)
    page += "\n## " + area + "\n\n| refused | meaning |\n|---|---|\n" + lines;
  return page;
}

TEST(Status, ThePageSaysWhatTheCatalogueSays) {
  const std::string path = MELIX_SOURCE_DIR "/docs/status.md";
  if (std::getenv("MELIX_UPDATE")) std::ofstream(path) << statusPage();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), statusPage()) << "MELIX_UPDATE=1 with this test writes the page anew";
}

} // namespace
} // namespace melix
