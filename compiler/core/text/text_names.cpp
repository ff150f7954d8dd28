#include "core/text/text_names.h"

#include <algorithm>
#include <cctype>

namespace melix::core {

std::string NamePool::take(std::string_view wanted) {
  std::string name(wanted);
  while (!taken_.insert(name).second)
    name = std::string(wanted) + "$" + std::to_string(++next_[std::string(wanted)]);
  return name;
}

std::string asWord(std::string_view text) {
  std::string out;
  for (char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ? c : '_';
  while (!out.empty() && out.back() == '_' && text.back() != '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "_" + out;
  return out;
}

std::string asValueWord(std::string_view text) {
  std::string word = asWord(text);
  std::ranges::replace(word, '.', '_');
  return word;
}

TextNames::TextNames(const Module& m, Dims dims) : module_(m), naming_(dims) {
  NamePool pool;
  for (const Function& f : m.functions) functions_.push_back(pool.take(asWord(f.name)));
}

TextNames::~TextNames() { beginScope(); }

void TextNames::beginScope() {
  for (auto& [s, name] : original_) module_.types.dims.info(s).name = name;
  original_.clear();
  dims_ = NamePool();
}

std::string TextNames::sym(DimSym s) {
  types::DimSymInfo& info = module_.types.dims.info(s);
  if (info.kind != types::DimSymKind::Bound && !original_.contains(s)) {
    const std::string word = wantedName(info);
    original_.emplace(s, info.name);
    info.name = dims_.take(word);
  }
  return info.name;
}

/// What is known of a size that has a number instead of a name is part of it.
std::string TextNames::wantedName(const types::DimSymInfo& info) const {
  if (naming_ == Dims::Numbered) return "D" + std::to_string(info.lowerBound);
  std::string word = asValueWord(info.name);
  return word[0] == '_' ? "D" + word : word; // names with a leading underscore are those of hidden dims
}

std::string TextNames::dim(DimId d) {
  std::vector<DimSym> syms;
  module_.types.dims.collectSymbols(d, syms);
  for (DimSym s : syms) sym(s);
  return module_.types.dims.print(d);
}

std::string TextNames::record(types::RecordId r) {
  auto it = records_.find(r);
  if (it != records_.end()) return it->second;
  std::string name = recordNames_.take(asWord(module_.types.names.text(module_.types.recordInfo(r).name)));
  records_.emplace(r, name);
  recordsMet_.push_back(r);
  return name;
}

std::string TextNames::joined(const std::vector<TypeId>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) out += (i ? ", " : "") + type(parts[i]);
  return out;
}

std::string TextNames::type(TypeId id) {
  const types::Type& t = module_.types[id];
  auto dims = [&] {
    std::string out;
    for (size_t i = 0; i < t.dims.size(); ++i) out += (i ? ", " : "") + dim(t.dims[i]);
    return out;
  };
  if (types::scalarClass(t.kind) != types::ScalarClass::None) return std::string(types::scalarName(t.kind));
  switch (t.kind) {
  case TypeKind::Array: {
    bool grouped = module_.types.kind(t.parts[0]) != TypeKind::Struct &&
                   module_.types.kind(t.parts[0]) != TypeKind::Enum;
    std::string element = type(t.parts[0]);
    bool plain = module_.types.isScalar(t.parts[0]) || !grouped;
    // A record without dimensions is written `R[]` before the extents.
    if (!grouped && element.back() != ']') element += "[]";
    return (plain ? element : "{" + element + "}") + "[" + dims() + "]";
  }
  case TypeKind::Tuple: return "(" + joined(t.parts) + (t.parts.size() == 1 ? ",)" : ")");
  case TypeKind::Struct:
  case TypeKind::Enum: return record(t.record) + (t.dims.empty() ? "" : "[" + dims() + "]");
  case TypeKind::List: return "List[" + type(t.parts[0]) + "]";
  case TypeKind::Function: {
    std::string out = "fn(";
    for (size_t i = 0; i < t.parts.size(); ++i)
      out += std::string(i ? ", " : "") + (t.inout[i] ? "inout " : "") + type(t.parts[i]);
    return out + ") -> " + type(t.result);
  }
  case TypeKind::Known: return "fn#" + std::to_string(t.known.index) + "(" + joined(t.parts) + ")";
  case TypeKind::Pack: return "pack " + std::to_string(t.number) + " " + type(t.parts[0]);
  case TypeKind::Acc: return "acc " + type(t.parts[0]);
  case TypeKind::Str: return "str";
  case TypeKind::Exit: return "exit";
  case TypeKind::Never: return "never";
  default: return module_.types.print(id);
  }
}

} // namespace melix::core
