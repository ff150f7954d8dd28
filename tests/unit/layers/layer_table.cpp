#include "layers/layer_table.h"

#include <fstream>
#include <sstream>

namespace melix::layers {
namespace {

bool isExternalLibrary(const std::string& name) { return name == "llvm" || name == "lld"; }

bool isSource(const std::filesystem::path& file) {
  auto extension = file.extension();
  return extension == ".h" || extension == ".cpp" || extension == ".def";
}

/// `#include "core/ir/ir.h"` gives `core/ir/ir.h`; a line that includes nothing gives the empty string.
std::string headerOf(const std::string& line) {
  size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line.compare(hash, 1, "#") != 0) return {};
  size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return {};
  size_t open = line.find_first_of("\"<", word);
  if (open == std::string::npos) return {};
  size_t end = line.find(line[open] == '<' ? '>' : '"', open + 1);
  return line.substr(open + 1, end - open - 1);
}

} // namespace

std::vector<std::string> readLines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

LayerTable LayerTable::read(const std::filesystem::path& file) {
  LayerTable table;
  for (const std::string& line : readLines(file)) {
    size_t colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    std::string folder = line.substr(0, colon);
    table.folders_.push_back(folder);
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;) table.direct_[folder].push_back(word);
    table.direct_[folder];
  }
  for (const std::string& folder : table.folders_) table.close(folder, table.allowed_[folder]);
  return table;
}

void LayerTable::close(const std::string& folder, std::set<std::string>& found) const {
  for (const std::string& below : direct_.at(folder)) {
    if (below == "*") {
      found.insert(folders_.begin(), folders_.end());
    } else if (found.insert(below).second && !isExternalLibrary(below)) {
      std::set<std::string> deeper;
      close(below, deeper);
      for (const std::string& name : deeper)
        if (!isExternalLibrary(name)) found.insert(name);
    }
  }
}

std::string LayerTable::folderOf(const std::string& path) const {
  const size_t slash = path.find('/');
  if (slash == std::string::npos) return {};
  const std::string room = path.substr(0, path.find('/', slash + 1));
  return isFolder(room) ? room : path.substr(0, slash);
}

bool LayerTable::hasRooms(const std::string& folder) const {
  for (const std::string& name : folders_)
    if (name.starts_with(folder + "/")) return true;
  return false;
}

bool LayerTable::allows(const std::string& from, const std::string& to) const {
  return from == to || allowed_.at(from).contains(to);
}

std::vector<Include> includesBelow(const std::filesystem::path& folder) {
  std::vector<Include> includes;
  if (!std::filesystem::exists(folder)) return includes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!isSource(entry.path())) continue;
    int number = 0;
    for (const std::string& line : readLines(entry.path())) {
      ++number;
      std::string header = headerOf(line);
      if (header.empty()) continue;
      size_t slash = header.find('/');
      includes.push_back(
          {entry.path(), number, header, slash == std::string::npos ? "" : header.substr(0, slash)});
    }
  }
  return includes;
}

} // namespace melix::layers
