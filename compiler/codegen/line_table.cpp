// Return addresses and their frames, from the DWARF of the finished object. Calls are found by the code's
// relocations: a call of the runtime or of another function has one, a call inside the section is found by
// its opcode.
#include "codegen/debug_info.h"
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

/// Offsets just after what may be a call. Reading every byte as if an instruction began there finds all of
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

/// The value, or nothing: what is wrong with the object is told by whoever links it.
template <class T>
std::optional<T> valueOf(llvm::Expected<T> expected) {
  if (expected) return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return std::nullopt;
}

std::optional<SectionRef> textSection(const ObjectFile& elf) {
  std::optional<SectionRef> text;
  for (const SectionRef& section : elf.sections())
    if (valueOf(section.getName()) == llvm::StringRef(".text")) text = section;
  return text;
}

/// The base: any function that other objects can see.
void findBase(const ObjectFile& elf, const SectionRef& text, LineTable& table) {
  for (const auto& symbol : elf.symbols()) {
    auto flags = valueOf(symbol.getFlags());
    auto section = valueOf(symbol.getSection());
    auto name = valueOf(symbol.getName());
    auto address = valueOf(symbol.getAddress());
    bool usable = flags && section && name && address && *section != elf.section_end() && **section == text &&
                  (*flags & llvm::object::SymbolRef::SF_Global);
    if (!usable) continue;
    table.baseSymbol = name->str();
    table.baseOffset = *address;
    return;
  }
}

/// The frames that are inlined at a call, with the source line of each.
class FrameReader {
public:
  FrameReader(const ObjectFile& elf, const SourceStore* sources)
      : dwarf_(llvm::DWARFContext::create(elf)), sources_(sources) {
    for (uint32_t f = 0; sources && f < sources->fileCount(); ++f)
      files_.emplace(debugName(*sources, FileId(f)), FileId(f));
  }

  std::vector<Frame> framesAt(uint64_t address, uint64_t section) {
    llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
                                     llvm::DILineInfoSpecifier::FunctionNameKind::ShortName);
    auto inlined = dwarf_->getInliningInfoForAddress({address, section}, wanted);
    std::vector<Frame> out;
    for (uint32_t k = 0; k < inlined.getNumberOfFrames(); ++k) {
      const llvm::DILineInfo& info = inlined.getFrame(k);
      if (info.Line == 0) continue;
      Frame frame{info.FunctionName, info.FileName, "", info.Line, info.Column};
      if (const auto source = files_.find(frame.file); source != files_.end()) {
        frame.file = std::string(sources_->path(source->second));
        frame.text = std::string(sources_->lineText(source->second, info.Line));
      }
      out.push_back(std::move(frame));
    }
    return out;
  }

private:
  std::unique_ptr<llvm::DWARFContext> dwarf_;
  const SourceStore* sources_;
  std::map<std::string, FileId> files_;
};

} // namespace

LineTable readLineTable(const std::string& object, const Options& options) {
  LineTable table;
  auto file = valueOf(ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object")));
  if (!file) return table;
  const ObjectFile& elf = **file;
  std::optional<SectionRef> text = textSection(elf);
  if (!text) return table;
  std::optional<llvm::StringRef> code = valueOf(text->getContents());
  if (!code) return table;
  table.size = code->size();
  findBase(elf, *text, table);
  FrameReader reader(elf, options.sources);
  for (uint32_t address : returnAddresses(*code)) {
    // The call itself lies before the address.
    LineEntry entry{address, reader.framesAt(address - 1, text->getIndex())};
    if (!entry.frames.empty()) table.entries.push_back(std::move(entry));
  }
  return table;
}

} // namespace melix::codegen
