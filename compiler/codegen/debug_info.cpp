#include "codegen/debug_info.h"

#include "core/ir/trace_name.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

namespace melix::codegen {

std::string debugName(const SourceStore& sources, FileId file) {
  std::string name(sources.path(file));
  if (name.starts_with('<')) name += "#" + std::to_string(sources.written(file).index);
  return name;
}

DebugInfo::DebugInfo(llvm::Module& llvm, const core::Module& core, const Options& options)
    : llvm_(llvm), core_(core), options_(options), builder_(llvm) {
  llvm.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  llvm::DIFile* file = builder_.createFile(options.sourceName, ".");
  unit_ = builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C99), file, "melix",
                                     true, "", 0, "", llvm::DICompileUnit::FullDebug, 0, true, false,
                                     llvm::DICompileUnit::DebugNameTableKind::None);
  signature_ = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
}

llvm::DIFile* DebugInfo::fileOf(FileId file) {
  if (!file || !options_.sources) return unit_->getFile();
  llvm::DIFile*& made = files_[file.index];
  if (!made) made = builder_.createFile(debugName(*options_.sources, file), ".");
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
  // Statements that follow each other mostly have one location.
  if (last_ && last_->loc == loc && last_->function == current_) return last_->made;
  std::vector<core::LocId> chain; // towards the source
  for (core::LocId at = loc; at; at = core_.locs[at].inner) {
    chain.push_back(at);
  }
  // What a function that was inlined shows of itself is the innermost place of the chain after the call.
  std::vector<Span> places(chain.size() + 1);
  for (size_t k = chain.size(); k-- > 0;) {
    const Span span = core_.locs[chain[k]].span;
    places[k] = places[k + 1].valid() ? places[k + 1] : span;
  }
  llvm::DISubprogram* scope = current_;
  llvm::DILocation* at = nullptr;
  // A line belongs to the file of its scope.
  auto make = [&](const Position& p) {
    llvm::DIScope* in = scope;
    if (p.line != 0 && p.file != scope->getFile()) in = builder_.createLexicalBlockFile(scope, p.file);
    return llvm::DILocation::get(llvm_.getContext(), p.line, p.column, in, at);
  };
  for (size_t k = 0; k < chain.size(); ++k) {
    const core::Loc& l = core_.locs[chain[k]];
    if (l.kind != core::LocKind::InlinedAt) continue;
    at = make(position(l.span));
    // A function inlined from several files has a scope for each.
    llvm::DISubprogram*& made = inlined_[{l.function, places[k + 1].file.index}];
    if (!made) made = subprogram(l.function, "", places[k + 1]);
    scope = made;
  }
  const bool isShown = chain.empty() || core_.locs[chain.back()].kind != core::LocKind::BlockCall;
  last_ = {loc, current_, make(isShown ? position(places[0]) : Position{scope->getFile(), 0, 0})};
  return last_->made;
}

} // namespace melix::codegen
