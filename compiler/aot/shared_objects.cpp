#include "aot/shared_objects.h"

#include <link.h>
#include <unistd.h>

namespace melix::aot {
namespace {

struct Search {
  std::string_view fileName;
  std::string path;
};

std::string_view fileNameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

int matchLoaded(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!info->dlpi_name || fileNameOf(info->dlpi_name) != search.fileName) return 0;
  search.path = info->dlpi_name;
  return 1;
}

std::string findLoaded(std::string_view fileName) {
  Search search{fileName, {}};
  dl_iterate_phdr(matchLoaded, &search);
  return search.path;
}

} // namespace

std::string findSharedObject(std::string_view fileName) {
  std::string loaded = findLoaded(fileName);
  if (!loaded.empty()) return loaded;
  std::string libc = findLoaded("libc.so.6");
  std::string beside = libc.substr(0, libc.rfind('/') + 1).append(fileName);
  return access(beside.c_str(), R_OK) == 0 ? beside : std::string();
}

} // namespace melix::aot
