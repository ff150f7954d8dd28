#include "codegen/debug_info.h"

#include "core/trace_name.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

namespace melix::codegen {

DebugInfo::DebugInfo(llvm::Module& llvm, const core::Module& core, const Options& options)
    : llvm_(llvm), core_(core), options_(options), builder_(llvm) {
  llvm.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  llvm::DIFile* file = builder_.createFile(options.sourceName, ".");
  unit_ = builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C99), file, "melix",
                                     true, "", 0, "", llvm::DICompileUnit::FullDebug);
  signature_ = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
}

llvm::DIFile* DebugInfo::fileOf(FileId file) {
  if (!file || !options_.sources) return unit_->getFile();
  llvm::DIFile*& made = files_[file.index];
  if (!made) {
    std::string_view path = options_.sources->path(file);
    made = builder_.createFile(llvm::StringRef(path.data(), path.size()), ".");
  }
  return made;
}

DebugInfo::Position DebugInfo::position(Span span) {
  if (!span.valid() || !options_.sources) return {unit_->getFile(), 0, 0};
  LineColumn at = options_.sources->lineColumn(span);
  return {fileOf(span.file), at.line, at.column};
}

Span DebugInfo::spanOf(core::LocId loc) const {
  Span span;
  while (loc) {
    const core::Loc& l = core_.locs[loc];
    if (l.span.valid()) span = l.span;
    if (l.kind == core::LocKind::Source) break;
    loc = l.inner;
  }
  return span;
}

llvm::DISubprogram* DebugInfo::subprogram(const std::string& name, llvm::StringRef linkage, Span span) {
  Position at = position(span);
  return builder_.createFunction(at.file, core::traceName(name), linkage, at.file, at.line, signature_,
                                 at.line, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
}

void DebugInfo::beginFunction(llvm::Function* f, const std::string& name, core::LocId loc) {
  current_ = subprogram(name, f->getName(), spanOf(loc));
  f->setSubprogram(current_);
}

llvm::DILocation* DebugInfo::nowhere() { return llvm::DILocation::get(llvm_.getContext(), 0, 0, current_); }

llvm::DILocation* DebugInfo::location(core::LocId loc) {
  llvm::LLVMContext& context = llvm_.getContext();
  llvm::DISubprogram* scope = current_;
  llvm::DILocation* at = nullptr;
  // A line belongs to the file of its scope.
  auto make = [&](const Position& p) {
    llvm::DIScope* in = scope;
    if (p.line != 0 && p.file != scope->getFile()) in = builder_.createLexicalBlockFile(scope, p.file);
    return llvm::DILocation::get(context, p.line, p.column, in, at);
  };
  Span last;
  for (; loc; loc = core_.locs[loc].inner) {
    const core::Loc& l = core_.locs[loc];
    if (l.span.valid()) last = l.span;
    if (l.kind == core::LocKind::Source) break;
    if (l.kind != core::LocKind::InlinedAt) continue;
    at = make(position(l.span));
    // A function inlined from several files has a scope for each.
    Span inner = spanOf(l.inner);
    llvm::DISubprogram*& made = inlined_[l.function + "\n" + std::to_string(inner.file.index)];
    if (!made) made = subprogram(l.function, "", inner);
    scope = made;
  }
  return make(position(last));
}

} // namespace melix::codegen
