#include "source/source.h"

#include <algorithm>

namespace melix {

Span cover(Span a, Span b) {
  if (!a.valid() || a.file != b.file) return a.valid() ? a : b;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

uint32_t characterCount(std::string_view text) {
  uint32_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

FileId SourceStore::add(std::string path, std::string text) {
  File file{std::move(path), std::move(text), {0}};
  for (uint32_t k = 0; k < file.text.size(); ++k)
    if (file.text[k] == '\n') file.lineStarts.push_back(k + 1);
  files_.push_back(std::move(file));
  return FileId(static_cast<uint32_t>(files_.size() - 1));
}

LineColumn SourceStore::lineColumn(FileId id, uint32_t offset) const {
  const File& file = files_[id.index];
  offset = std::min(offset, static_cast<uint32_t>(file.text.size()));
  auto next = std::upper_bound(file.lineStarts.begin(), file.lineStarts.end(), offset);
  auto line = static_cast<uint32_t>(next - file.lineStarts.begin());
  uint32_t start = file.lineStarts[line - 1];
  return {line, characterCount(std::string_view(file.text).substr(start, offset - start)) + 1};
}

std::string_view SourceStore::lineText(FileId id, uint32_t line) const {
  const File& file = files_[id.index];
  uint32_t start = file.lineStarts[line - 1];
  size_t end = line < file.lineStarts.size() ? file.lineStarts[line] - 1 : file.text.size();
  if (end > start && file.text[end - 1] == '\r') --end;
  return std::string_view(file.text).substr(start, end - start);
}

} // namespace melix
