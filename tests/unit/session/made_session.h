#pragma once
// A session over the library's sources.
#include "session/session.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace melix::session {

inline std::map<std::string, std::string>& library() {
  static std::map<std::string, std::string> files;
  if (files.empty()) {
    std::filesystem::path root = std::filesystem::path(MELIX_SOURCE_DIR) / "stdlib";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
      if (entry.path().extension() == ".mlx") {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        files[std::filesystem::relative(entry.path(), root).string()] = text.str();
      }
  }
  return files;
}

/// A session whose user files are `files`.
inline std::unique_ptr<Session> makeSession(std::map<std::string, std::string> files = {}) {
  Options options;
  options.library = [](std::string_view path) {
    auto found = library().find(std::string(path));
    return found == library().end() ? std::string_view() : std::string_view(found->second);
  };
  for (const auto& [path, text] : library())
    if (path.starts_with("prelude/")) options.preludeFiles.push_back(path);
  options.userFile = [files](const std::string& path) -> std::optional<std::string> {
    auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  options.verify = true;
  return std::make_unique<Session>(std::move(options));
}

} // namespace melix::session
