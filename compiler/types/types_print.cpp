#include "types/types.h"

#include "diagnostics/diagnostic.h"

namespace melix::types {

namespace {

/// Prints types with their dimensions in normal form, or as the source spells them.
class TypePrinter {
public:
  TypePrinter(const TypeStore& types, bool spelled) : types_(types), spelled_(spelled) {}

  std::string type(TypeId id) {
    if (!id.valid()) return "?";
    if (isFull()) return "…";
    ++written_;
    const Type& t = types_[id];
    if (scalarClass(t.kind) != ScalarClass::None)
      return std::string(t.kind == TypeKind::I64 ? "int"
                                                 : scalarName(t.kind)); // `int` is how programs spell i64
    switch (t.kind) {
    case TypeKind::Error: return std::string(errorTypeText);
    case TypeKind::Never: return "!";
    case TypeKind::Str: return "str";
    case TypeKind::Exit: return "exit";
    case TypeKind::Array: return array(t);
    case TypeKind::Tuple: return "(" + joined(t.parts) + (t.parts.size() == 1 ? ",)" : ")");
    case TypeKind::Struct:
    case TypeKind::Enum: return record(id);
    case TypeKind::List: return "List[" + type(t.parts[0]) + "]";
    case TypeKind::Function: return function(t);
    case TypeKind::Known:
      if (spelled_) return "function";
      return "fn#" + std::to_string(t.known.index) + "(" + joined(t.parts) + ")";
    case TypeKind::Pack: return type(t.parts[0]);
    case TypeKind::Acc: return "acc " + type(t.parts[0]);
    case TypeKind::Param: return std::string(types_.names.text(types_.paramInfo(id).name));
    case TypeKind::Slope: return "Tangent[" + type(t.parts[0]) + "]";
    case TypeKind::Var: return "_";
    default: return "?";
    }
  }

private:
  /// Messages show so many types of those that one is made of.
  static constexpr size_t mostShown = 48;
  bool isFull() const { return spelled_ && written_ >= mostShown; }

  std::string joined(const std::vector<TypeId>& parts) {
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i) {
      out += (i ? ", " : "") + type(parts[i]);
      if (isFull() && i + 1 < parts.size()) return out.ends_with("…") ? out : out + ", …";
    }
    return out;
  }

  std::string dims(std::span<const DimId> sizes, std::string before) const {
    for (DimId d : sizes)
      before += (before.empty() ? "" : ", ") + (spelled_ ? types_.dims.show(d) : types_.dims.print(d));
    return before;
  }

  std::string array(const Type& t) {
    std::string element = type(t.parts[0]);
    if (types_.kind(t.parts[0]) == TypeKind::Function) element = "(" + element + ")";
    return element + "[" + dims(t.dims, "") + "]";
  }

  std::string function(const Type& t) {
    std::string out = "(";
    for (size_t i = 0; i < t.parts.size(); ++i)
      out += std::string(i ? ", " : "") + (t.inout[i] ? "inout " : "") + type(t.parts[i]);
    return out + ") -> " + type(t.result);
  }

  std::string record(TypeId id) {
    const Type& t = types_[id];
    const Record& r = types_.recordInfo(t.record);
    std::string args = dims(std::span(t.dims).first(r.ownDims()), joined(types_.typeArgs(id))),
                name(types_.names.text(r.name));
    if (!args.empty()) name += "[" + args + "]";
    return r.isReplaced && spelled_ ? name + " (redefined since)" : name;
  }

  const TypeStore& types_;
  bool spelled_;
  size_t written_ = 0; ///< types so far
};

} // namespace

std::string TypeStore::print(TypeId id) const { return TypePrinter(*this, false).type(id); }

std::string TypeStore::show(TypeId id) const { return TypePrinter(*this, true).type(id); }

} // namespace melix::types
