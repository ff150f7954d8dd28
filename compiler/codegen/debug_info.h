#pragma once
// Internal: emits debug information (DWARF). The location chain of a statement becomes a line with the calls
// it was inlined at.

#include "codegen/codegen.h"

#include <llvm/IR/DIBuilder.h>

#include <map>
#include <optional>

namespace melix::codegen {

/// The name of a source file in debug information. An entry at a prompt is no file, and others have its
/// path too: its name ends in a number.
std::string debugName(const SourceStore& sources, FileId file);

class DebugInfo {
public:
  DebugInfo(llvm::Module& llvm, const core::Module& core, const Options& options);

  /// The function that the following locations are in.
  void beginFunction(llvm::Function* f, const std::string& name, core::LocId loc);
  llvm::DILocation* location(core::LocId loc);
  /// Line 0: a call that shows no frame.
  llvm::DILocation* nowhere();
  void finish() { builder_.finalize(); }

private:
  struct Position {
    llvm::DIFile* file;
    uint32_t line, column;
  };
  Position position(Span span);
  llvm::DIFile* fileOf(FileId file);
  llvm::DISubprogram* subprogram(const std::string& name, llvm::StringRef linkage, Span span);
  Span spanOf(core::LocId loc) const;

  llvm::Module& llvm_;
  const core::Module& core_;
  const Options& options_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_;
  llvm::DISubroutineType* signature_;
  llvm::DISubprogram* current_ = nullptr;
  std::map<uint32_t, llvm::DIFile*> files_;
  std::map<std::pair<std::string, uint32_t>, llvm::DISubprogram*> inlined_; ///< by name and file
  struct Last {
    core::LocId loc;
    llvm::DISubprogram* function;
    llvm::DILocation* made;
  };
  std::optional<Last> last_;
};

} // namespace melix::codegen
