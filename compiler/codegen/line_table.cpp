// Return addresses and their frames, from the DWARF of the finished object. Calls are found by the code's
// relocations: a call of the runtime or of another function has one, a call inside the section is found by
// its opcode.
#include "codegen/target.h"

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <set>

namespace melix::codegen {
namespace {

using llvm::object::ObjectFile;
using llvm::object::SectionRef;

/// Offsets just behind what may be a call. Reading every byte as if an instruction began there finds all of
/// them, and some that are none; these do no harm, since only exact return addresses are looked up.
std::set<uint32_t> returnAddresses(llvm::StringRef code) {
  std::set<uint32_t> out;
  auto byte = [&](size_t k) { return static_cast<unsigned char>(code[k]); };
  for (size_t k = 0; k < code.size(); ++k) {
    if (byte(k) == 0xE8 && k + 5 <= code.size()) out.insert(static_cast<uint32_t>(k + 5));
    // call *disp32(%rip), and call *%reg
    if (byte(k) == 0xFF && k + 1 < code.size()) {
      if (byte(k + 1) == 0x15 && k + 6 <= code.size()) out.insert(static_cast<uint32_t>(k + 6));
      if ((byte(k + 1) & 0xF8) == 0xD0) out.insert(static_cast<uint32_t>(k + 2));
    }
  }
  return out;
}

} // namespace

LineTable readLineTable(const std::string& object, const Options& options) {
  LineTable table;
  auto file = ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return table;
  }
  const ObjectFile& elf = **file;
  SectionRef text;
  bool found = false;
  for (const SectionRef& section : elf.sections()) {
    auto name = section.getName();
    if (name && *name == ".text") {
      text = section;
      found = true;
    } else if (!name) {
      llvm::consumeError(name.takeError());
    }
  }
  if (!found) return table;
  auto code = text.getContents();
  if (!code) {
    llvm::consumeError(code.takeError());
    return table;
  }
  table.size = code->size();

  // The base: any function that other objects can see.
  for (const auto& symbol : elf.symbols()) {
    auto flags = symbol.getFlags();
    auto section = symbol.getSection();
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    bool usable = flags && section && name && address && *section != elf.section_end() && **section == text &&
                  (*flags & llvm::object::SymbolRef::SF_Global);
    if (usable && table.baseSymbol.empty()) {
      table.baseSymbol = name->str();
      table.baseOffset = *address;
    }
    if (!flags) llvm::consumeError(flags.takeError());
    if (!section) llvm::consumeError(section.takeError());
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
  }

  std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(elf);
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
                                   llvm::DILineInfoSpecifier::FunctionNameKind::ShortName);
  std::map<std::string, FileId> files;
  if (options.sources)
    for (uint32_t f = 0; f < options.sources->fileCount(); ++f)
      files.emplace(std::string(options.sources->path(FileId(f))), FileId(f));
  for (uint32_t address : returnAddresses(*code)) {
    // The call itself lies before the address.
    auto frames = dwarf->getInliningInfoForAddress({address - 1, text.getIndex()}, wanted);
    LineEntry entry{address, {}};
    for (uint32_t k = 0; k < frames.getNumberOfFrames(); ++k) {
      const llvm::DILineInfo& info = frames.getFrame(k);
      if (info.Line == 0) continue;
      Frame frame{info.FunctionName, info.FileName, "", info.Line, info.Column};
      auto source = files.find(frame.file);
      if (source != files.end())
        frame.text = std::string(options.sources->lineText(source->second, info.Line));
      entry.frames.push_back(std::move(frame));
    }
    if (!entry.frames.empty()) table.entries.push_back(std::move(entry));
  }
  return table;
}

} // namespace melix::codegen
