#include "source/source.h"

#include <algorithm>

namespace melix {

static bool continuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

uint32_t characterCount(std::string_view text) {
  return static_cast<uint32_t>(text.size() -
                               static_cast<size_t>(std::ranges::count_if(text, continuesCharacter)));
}

FileId SourceStore::add(std::string path, std::string text) {
  File file{std::move(path), std::move(text), {0}, {}};
  for (uint32_t k = 0; k < file.text.size(); ++k) {
    if (file.text[k] == '\n') file.lineStarts.push_back(k + 1);
    if (continuesCharacter(file.text[k])) file.continued.push_back(k);
  }
  files_.push_back(std::move(file));
  return FileId(static_cast<uint32_t>(files_.size() - 1));
}

FileId SourceStore::addExpansion(Expansion expansion) {
  expansion.of = written(expansion.of);
  expansions_.push_back(std::move(expansion));
  return FileId(firstExpansion + static_cast<uint32_t>(expansions_.size() - 1));
}

LineColumn SourceStore::lineColumn(FileId id, uint32_t offset) const {
  const File& file = files_[written(id).index];
  offset = std::min(offset, static_cast<uint32_t>(file.text.size()));
  auto next = std::upper_bound(file.lineStarts.begin(), file.lineStarts.end(), offset);
  auto line = static_cast<uint32_t>(next - file.lineStarts.begin());
  uint32_t start = file.lineStarts[line - 1];
  auto from = std::lower_bound(file.continued.begin(), file.continued.end(), start);
  auto to = std::lower_bound(from, file.continued.end(), offset);
  return {line, offset - start - static_cast<uint32_t>(to - from) + 1};
}

std::string_view SourceStore::lineText(FileId id, uint32_t line) const {
  const File& file = files_[written(id).index];
  uint32_t start = file.lineStarts[line - 1];
  size_t end = line < file.lineStarts.size() ? file.lineStarts[line] - 1 : file.text.size();
  if (end > start && file.text[end - 1] == '\r') --end;
  return std::string_view(file.text).substr(start, end - start);
}

} // namespace melix
