#include "types/types.h"

namespace melix::types {

static std::string joined(const TypeStore& types, const std::vector<TypeId>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) out += (i ? ", " : "") + types.print(parts[i]);
  return out;
}

static std::string printFunction(const TypeStore& types, const Type& t) {
  std::string out = "(";
  for (size_t i = 0; i < t.parts.size(); ++i)
    out += std::string(i ? ", " : "") + (t.inout[i] ? "inout " : "") + types.print(t.parts[i]);
  return out + ") -> " + types.print(t.result);
}

static std::string printRecord(const TypeStore& types, const Type& t) {
  const Record& r = types.recordInfo(t.record);
  std::string args = joined(types, r.typeArgs);
  for (DimId d : t.dims) args += (args.empty() ? "" : ", ") + types.dims.print(d);
  std::string name(types.names.text(r.name));
  return args.empty() ? name : name + "[" + args + "]";
}

std::string TypeStore::print(TypeId id) const {
  if (!id.valid()) return "?";
  const Type& t = (*this)[id];
  if (scalarClass(t.kind) != ScalarClass::None)
    return std::string(t.kind == TypeKind::I64 ? "int" : scalarName(t.kind)); // `int` is how programs spell i64
  switch (t.kind) {
  case TypeKind::Error: return "{error}";
  case TypeKind::Never: return "!";
  case TypeKind::Str: return "str";
  case TypeKind::Exit: return "exit";
  case TypeKind::Array: {
    std::string out;
    for (size_t i = 0; i < t.dims.size(); ++i) out += (i ? ", " : "") + dims.print(t.dims[i]);
    TypeKind inner = kind(t.parts[0]);
    std::string element = print(t.parts[0]);
    if (inner == TypeKind::Function) element = "(" + element + ")";
    return element + "[" + out + "]";
  }
  case TypeKind::Tuple: return "(" + joined(*this, t.parts) + (t.parts.size() == 1 ? ",)" : ")");
  case TypeKind::Struct:
  case TypeKind::Enum: return printRecord(*this, t);
  case TypeKind::List: return "List[" + print(t.parts[0]) + "]";
  case TypeKind::Function: return printFunction(*this, t);
  case TypeKind::Known: return "fn#" + std::to_string(t.known.index) + "(" + joined(*this, t.parts) + ")";
  case TypeKind::Pack: return print(t.parts[0]);
  case TypeKind::Acc: return "acc " + print(t.parts[0]);
  case TypeKind::Var: return "?" + std::to_string(t.number);
  default: return "?";
  }
}

} // namespace melix::types
