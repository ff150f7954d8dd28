#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace melix::aot {

/// Bytes that the linker can open by path although no file system holds them. The path is valid in this
/// process while the object lives.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view bytes);
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  bool isOpen() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  std::string path() const;
  /// All bytes in it; nothing if they cannot be read.
  std::optional<std::string> content() const;

private:
  int descriptor_;
};

} // namespace melix::aot
