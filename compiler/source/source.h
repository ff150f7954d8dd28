#pragma once
// Source texts and places in them.

#include "support/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace melix {

struct FileTag;
using FileId = Id<FileTag>;

/// Bytes [begin, end) of a file. A span without a valid file is nowhere.
struct Span {
  FileId file;
  uint32_t begin = 0, end = 0;
  bool valid() const { return file.valid(); }
  auto operator<=>(const Span&) const = default;
};

/// From 1; columns count characters (code points), not bytes.
struct LineColumn {
  uint32_t line = 0, column = 0;
};

/// Code that a macro wrote: places in the file of the macro, once for each use.
struct Expansion {
  FileId of;               ///< the file whose text it is; never an expansion
  Span use;                ///< the expanded code, which may stand in an expansion itself
  std::string macro;       ///< its name
  std::string advice = {}; ///< the hint of errors in it, if the macro gives one
};

/// Owns the texts of a session. Views stay valid as long as the store.
class SourceStore {
public:
  FileId add(std::string path, std::string text);
  /// A file with the text of another one, for the text that a use of a macro takes from it.
  FileId addExpansion(Expansion expansion);
  /// None: the file is one of those added.
  const Expansion* expansion(FileId file) const {
    return isExpansion(file) ? &expansions_[file.index - firstExpansion] : nullptr;
  }
  static bool isExpansion(FileId file) { return file.valid() && file.index >= firstExpansion; }
  /// The file that was added, of itself or of an expansion.
  FileId written(FileId file) const {
    const Expansion* e = expansion(file);
    return e ? e->of : file;
  }
  std::string_view path(FileId file) const { return files_[written(file).index].path; }
  std::string_view text(FileId file) const { return files_[written(file).index].text; }
  std::string_view text(Span span) const { return text(span.file).substr(span.begin, span.end - span.begin); }
  LineColumn lineColumn(FileId file, uint32_t offset) const;
  LineColumn lineColumn(Span span) const { return lineColumn(span.file, span.begin); }
  /// A line without its end; `line` from 1.
  std::string_view lineText(FileId file, uint32_t line) const;
  size_t fileCount() const { return files_.size(); }

private:
  struct File {
    std::string path, text;
    std::vector<uint32_t> lineStarts;
    std::vector<uint32_t> continued; ///< bytes that continue a character
  };
  static constexpr uint32_t firstExpansion = 1u << 30;
  std::deque<File> files_;
  std::deque<Expansion> expansions_;
};

/// Number of code points of UTF-8 text (invalid bytes count one each).
uint32_t characterCount(std::string_view text);

} // namespace melix
