// Sums and negatives of tangents that hold enums: Melix has them for tangents it derived itself; here their
// types are declarations. Of one operand the negative is meant, of two the sum.

#include "decompile/writer_sums.h"

#include "decompile/writer.h"
#include "decompile/writer_sizes.h"
#include "decompile/writer_types.h"

namespace melix::decompile {

using namespace core;

namespace {

std::string listed(const std::vector<std::string>& x) { return x.size() == 1 ? x[0] : x[0] + ", " + x[1]; }

std::vector<std::string> each(std::vector<std::string> x, const std::string& place) {
  for (std::string& one : x) one += place;
  return x;
}

/// Element by element: of arrays and lists. A list without elements is a zero.
std::string elements(FunctionWriter& w, TypeId t, std::vector<std::string> x) {
  const types::Type& ty = w.types()[t];
  if (ty.kind == TypeKind::List || isRagged(w, t)) {
    std::string head, tail;
    if (ty.kind == TypeKind::List && x.size() == 2)
      head = "if len(" + x[0] + ") == 0 { " + x[1] + " } else if len(" + x[1] + ") == 0 { " + x[0] +
             " } else { ",
      tail = " }";
    for (size_t k = 0; k < std::max<size_t>(ty.dims.size(), 1); ++k) {
      std::string i = w.names.local("i");
      head += "list(for " + i + " in 0..len(" + x[0] + "): ";
      x = each(std::move(x), "[" + i + "]");
      tail = ")" + tail;
    }
    return head + combined(w, ty.parts[0], x) + tail;
  }
  std::string axes, at;
  for (size_t k = 0; k < ty.dims.size(); ++k) {
    std::string i = w.names.local("i"), extent = ty.dims.size() == 1
                                                     ? "len(" + x[0] + ")"
                                                     : "shape(" + x[0] + ")." + std::to_string(k);
    axes += (k ? ", " : "") + i + " in 0.." + extent;
    at += (k ? ", " : "") + i;
  }
  return "[for " + axes + ": " + combined(w, ty.parts[0], each(std::move(x), "[" + at + "]")) + "]";
}

/// `fn add_T[N](a: T[N], b: T[N]) -> T[N] {`, to be closed.
void openCombining(FunctionWriter& w, const std::string& name, const std::string& params,
                   const std::string& type, size_t operands) {
  w.lines.open("fn " + name + params + "(a: " + type + (operands == 1 ? "" : ", b: " + type) + ") -> " +
               type + " {");
}

/// The function for structs of sizes.
std::string sizedFunction(FunctionWriter& writer, TypeId pack, size_t operands) {
  SizedStruct& own = writer.shared.sized.at(sizedStruct(writer, pack).form);
  std::string& name = own.functions[operands];
  if (!name.empty()) return name;
  name = writer.names.item((operands == 1 ? "negate_" : "add_") + own.name);
  FunctionWriter w(writer.shared, writer.id);
  parameters(w, own.symbols);
  std::string text = own.name + own.params;
  openCombining(w, name, own.params, text, operands);
  const std::vector<std::string> x =
      operands == 1 ? std::vector<std::string>{"a.value"} : std::vector<std::string>{"a.value", "b.value"};
  w.lines.add(own.name + "(" + combined(w, own.inner, x) + ") as " + text);
  w.lines.close("}");
  own.declaration += "\n" + w.text();
  return name;
}

/// A struct or an enum case of combined fields.
std::string combinedCase(FunctionWriter& w, RecordId id, uint32_t c,
                         const std::vector<std::vector<std::string>>& fields) {
  const types::Record& r = w.types().recordInfo(id);
  std::string out;
  for (uint32_t k = 0; k < fields.size(); ++k)
    out += (k ? ", " : "") + combined(w, r.cases[c].fields[k].type, fields[k]);
  return w.names.record(id) + (r.isEnum ? "." + w.names.enumCase(id, c) : "") + "(" + out + ")";
}

void combineCases(FunctionWriter& w, RecordId id, size_t operands) {
  const types::Record& r = w.types().recordInfo(id);
  w.lines.open("match a {");
  for (uint32_t c = 0; c < r.cases.size(); ++c) {
    std::vector<std::vector<std::string>> fields;
    std::string here = w.names.enumCase(id, c), mine, theirs;
    for (uint32_t k = 0; k < r.cases[c].fields.size(); ++k) {
      fields.push_back({w.names.local("l")});
      mine += (k ? ", " : "(") + fields.back()[0];
      if (operands == 1) continue;
      fields.back().push_back(w.names.local("r"));
      theirs += (k ? ", " : "(") + fields.back()[1];
    }
    if (!mine.empty()) mine += ")";
    if (!theirs.empty()) theirs += ")";
    const std::string both = fields.empty() ? "a" : combinedCase(w, id, c, fields);
    if (operands == 1 || c == 0) {
      w.lines.add(here + mine + " => " + (operands == 1 ? both : "b"));
      continue;
    }
    w.lines.open(here + mine + " => match b {");
    w.lines.add(w.names.enumCase(id, 0) + " => a");
    w.lines.add(here + theirs + " => " + both);
    if (r.cases.size() > 2) w.lines.add("_ => panic(\"tangents of different cases are added\")");
    w.lines.close("}");
  }
  w.lines.close("}");
}

/// The function for a record; of an enum case by case, the case that comes first being zero.
std::string recordFunction(FunctionWriter& writer, RecordId id, size_t operands) {
  const std::string name = writer.names.combining(id, operands);
  auto [it, fresh] = writer.shared.sums.try_emplace({id, operands});
  if (!fresh) return name;
  FunctionWriter w(writer.shared, writer.id);
  const types::Record& r = writer.types().recordInfo(id);
  std::string params = parameters(w, r.dimParams);
  openCombining(w, name, params, writer.names.record(id) + params, operands);
  if (r.isEnum)
    combineCases(w, id, operands);
  else {
    std::vector<std::vector<std::string>> fields;
    for (uint32_t k = 0; k < r.cases[0].fields.size(); ++k) {
      fields.push_back({"a." + writer.names.field(id, 0, k)});
      if (operands == 2) fields.back().push_back("b." + writer.names.field(id, 0, k));
    }
    w.lines.add(combinedCase(w, id, 0, fields));
  }
  w.lines.close("}");
  writer.shared.sums[{id, operands}] = w.text();
  return name;
}

} // namespace

/// Whether `+` and `-` are there: no enum anywhere inside.
bool isPlain(FunctionWriter& w, TypeId t) {
  std::set<RecordId> seen;
  std::function<bool(TypeId)> plain = [&](TypeId at) {
    const types::Type& ty = w.types()[at];
    if (ty.kind == TypeKind::Enum) return false;
    for (TypeId part : ty.parts)
      if (!plain(part)) return false;
    if (ty.kind != TypeKind::Struct || !seen.insert(ty.record).second) return true;
    for (const types::Field& field :
         std::vector<types::Field>(w.types().recordInfo(ty.record).cases[0].fields))
      if (!plain(field.type)) return false;
    return true;
  };
  return plain(t);
}

/// A name for what an expression says.
std::string named(FunctionWriter& w, const std::string& e, std::string_view hint) {
  std::string n = w.names.local(hint);
  w.lines.add("let " + n + " = " + e);
  return n;
}

/// `a + b` or `-a`, all names or parts of names.
std::string combined(FunctionWriter& w, TypeId t, const std::vector<std::string>& x) {
  if (isPlain(w, t)) return w.types().isUnit(t) ? "()" : x.size() == 1 ? "-" + x[0] : x[0] + " + " + x[1];
  const types::Type& ty = w.types()[t];
  switch (ty.kind) {
  case TypeKind::Enum:
  case TypeKind::Struct: return recordFunction(w, ty.record, x.size()) + "(" + listed(x) + ")";
  case TypeKind::Pack:
    return showsSizes(w, t) ? combined(w, ty.parts[0], x)
                            : sizedFunction(w, t, x.size()) + "(" + listed(x) + ")";
  case TypeKind::Tuple: {
    std::string out;
    for (size_t k = 0; k < ty.parts.size(); ++k)
      out += (k ? ", " : "") + combined(w, ty.parts[k], each(x, "." + std::to_string(k)));
    return "(" + out + (ty.parts.size() == 1 ? ",)" : ")");
  }
  default: return elements(w, t, x);
  }
}

} // namespace melix::decompile
