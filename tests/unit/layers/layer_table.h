#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace melix::layers {

/// A line of text that includes a header: `folder` is the path's first part (empty for `#include <vector>`).
struct Include {
  std::filesystem::path file;
  int line = 0;
  std::string header;
  std::string folder;
};

/// The table of layers.txt, with what is allowed through other folders filled in.
class LayerTable {
public:
  static LayerTable read(const std::filesystem::path& file);

  const std::vector<std::string>& folders() const { return folders_; }
  bool isFolder(const std::string& name) const { return direct_.contains(name); }
  /// The folder of a path below compiler/: `folder/room` where the table has such a room, else its first
  /// part.
  std::string folderOf(const std::string& path) const;
  /// Whether a folder is cut into rooms.
  bool hasRooms(const std::string& folder) const;
  bool allows(const std::string& from, const std::string& to) const;

private:
  void close(const std::string& folder, std::set<std::string>& found) const;

  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> direct_;
  std::map<std::string, std::set<std::string>> allowed_;
};

/// All includes of the C++ sources and catalogues below a folder.
std::vector<Include> includesBelow(const std::filesystem::path& folder);

/// The lines of a text file.
std::vector<std::string> readLines(const std::filesystem::path& file);

} // namespace melix::layers
