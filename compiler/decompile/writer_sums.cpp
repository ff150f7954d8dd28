// Sums and negatives of tangents that hold enums: Melix has them for tangents it derived itself; here their
// types are declarations. Of one operand the negative is meant, of two the sum.

#include "decompile/writer.h"

namespace melix::decompile {

using namespace core;

/// Whether `+` and `-` are there: no enum anywhere inside.
bool FunctionWriter::isPlain(TypeId t) {
  std::set<RecordId> seen;
  std::function<bool(TypeId)> plain = [&](TypeId at) {
    const types::Type& ty = types()[at];
    if (ty.kind == TypeKind::Enum) return false;
    for (TypeId part : ty.parts)
      if (!plain(part)) return false;
    if (ty.kind != TypeKind::Struct || !seen.insert(ty.record).second) return true;
    for (const types::Field& field : std::vector<types::Field>(types().recordInfo(ty.record).cases[0].fields))
      if (!plain(field.type)) return false;
    return true;
  };
  return plain(t);
}

/// A name for what an expression says.
std::string FunctionWriter::named(const std::string& e, std::string_view hint) {
  std::string n = names_.local(hint);
  line("let " + n + " = " + e);
  return n;
}

static std::string listed(const std::vector<std::string>& x) {
  return x.size() == 1 ? x[0] : x[0] + ", " + x[1];
}

static std::vector<std::string> each(std::vector<std::string> x, const std::string& place) {
  for (std::string& one : x) one += place;
  return x;
}

/// `a + b` or `-a`, all names or parts of names.
std::string FunctionWriter::combined(TypeId t, const std::vector<std::string>& x) {
  if (isPlain(t)) return types().isUnit(t) ? "()" : x.size() == 1 ? "-" + x[0] : x[0] + " + " + x[1];
  const types::Type& ty = types()[t];
  switch (ty.kind) {
  case TypeKind::Enum:
  case TypeKind::Struct: return recordFunction(ty.record, x.size()) + "(" + listed(x) + ")";
  case TypeKind::Pack:
    return showsSizes(t) ? combined(ty.parts[0], x) : sizedFunction(t, x.size()) + "(" + listed(x) + ")";
  case TypeKind::Tuple: {
    std::string out;
    for (size_t k = 0; k < ty.parts.size(); ++k)
      out += (k ? ", " : "") + combined(ty.parts[k], each(x, "." + std::to_string(k)));
    return "(" + out + (ty.parts.size() == 1 ? ",)" : ")");
  }
  default: return elements(t, x);
  }
}

/// Element by element: of arrays and lists. A list without elements is a zero.
std::string FunctionWriter::elements(TypeId t, std::vector<std::string> x) {
  const types::Type& ty = types()[t];
  if (ty.kind == TypeKind::List || isRagged(t)) {
    std::string head, tail;
    if (ty.kind == TypeKind::List && x.size() == 2)
      head = "if len(" + x[0] + ") == 0 { " + x[1] + " } else if len(" + x[1] + ") == 0 { " + x[0] +
             " } else { ",
      tail = " }";
    for (size_t k = 0; k < std::max<size_t>(ty.dims.size(), 1); ++k) {
      std::string i = names_.local("i");
      head += "list(for " + i + " in 0..len(" + x[0] + "): ";
      x = each(std::move(x), "[" + i + "]");
      tail = ")" + tail;
    }
    return head + combined(ty.parts[0], x) + tail;
  }
  std::string axes, at;
  for (size_t k = 0; k < ty.dims.size(); ++k) {
    std::string i = names_.local("i"), extent = ty.dims.size() == 1
                                                    ? "len(" + x[0] + ")"
                                                    : "shape(" + x[0] + ")." + std::to_string(k);
    axes += (k ? ", " : "") + i + " in 0.." + extent;
    at += (k ? ", " : "") + i;
  }
  return "[for " + axes + ": " + combined(ty.parts[0], each(std::move(x), "[" + at + "]")) + "]";
}

/// `fn add_T[N](a: T[N], b: T[N]) -> T[N] {`, to be closed.
void FunctionWriter::openCombining(const std::string& name, const std::string& params,
                                   const std::string& type, size_t operands) {
  open("fn " + name + params + "(a: " + type + (operands == 1 ? "" : ", b: " + type) + ") -> " + type + " {");
}

/// The function for structs of sizes.
std::string FunctionWriter::sizedFunction(TypeId pack, size_t operands) {
  SizedStruct& own = shared_.sized.at(sizedStruct(pack).form);
  std::string& name = own.functions[operands];
  if (!name.empty()) return name;
  name = names_.item((operands == 1 ? "negate_" : "add_") + own.name);
  FunctionWriter w(shared_, id_);
  w.parameters(own.symbols);
  std::string text = own.name + own.params;
  w.openCombining(name, own.params, text, operands);
  const std::vector<std::string> x =
      operands == 1 ? std::vector<std::string>{"a.value"} : std::vector<std::string>{"a.value", "b.value"};
  w.line(own.name + "(" + w.combined(own.inner, x) + ") as " + text);
  w.close("}");
  own.declaration += "\n" + w.out_;
  return name;
}

/// The function for a record; of an enum case by case, the case that comes first being zero.
std::string FunctionWriter::recordFunction(RecordId id, size_t operands) {
  const std::string name = names_.combining(id, operands);
  auto [it, fresh] = shared_.sums.try_emplace({id, operands});
  if (!fresh) return name;
  FunctionWriter w(shared_, id_);
  const types::Record& r = types().recordInfo(id);
  std::string params = w.parameters(r.dimParams);
  w.openCombining(name, params, names_.record(id) + params, operands);
  if (r.isEnum)
    w.combineCases(id, operands);
  else {
    std::vector<std::vector<std::string>> fields;
    for (uint32_t k = 0; k < r.cases[0].fields.size(); ++k) {
      fields.push_back({"a." + names_.field(id, 0, k)});
      if (operands == 2) fields.back().push_back("b." + names_.field(id, 0, k));
    }
    w.line(w.combinedCase(id, 0, fields));
  }
  w.close("}");
  shared_.sums[{id, operands}] = std::move(w.out_);
  return name;
}

/// A struct or an enum case of combined fields.
std::string FunctionWriter::combinedCase(RecordId id, uint32_t c,
                                         const std::vector<std::vector<std::string>>& fields) {
  const types::Record& r = types().recordInfo(id);
  std::string out;
  for (uint32_t k = 0; k < fields.size(); ++k)
    out += (k ? ", " : "") + combined(r.cases[c].fields[k].type, fields[k]);
  return names_.record(id) + (r.isEnum ? "." + names_.enumCase(id, c) : "") + "(" + out + ")";
}

void FunctionWriter::combineCases(RecordId id, size_t operands) {
  const types::Record& r = types().recordInfo(id);
  open("match a {");
  for (uint32_t c = 0; c < r.cases.size(); ++c) {
    std::vector<std::vector<std::string>> fields;
    std::string here = names_.enumCase(id, c), mine, theirs;
    for (uint32_t k = 0; k < r.cases[c].fields.size(); ++k) {
      fields.push_back({names_.local("l")});
      mine += (k ? ", " : "(") + fields.back()[0];
      if (operands == 1) continue;
      fields.back().push_back(names_.local("r"));
      theirs += (k ? ", " : "(") + fields.back()[1];
    }
    if (!mine.empty()) mine += ")";
    if (!theirs.empty()) theirs += ")";
    const std::string both = fields.empty() ? "a" : combinedCase(id, c, fields);
    if (operands == 1 || c == 0) {
      line(here + mine + " => " + (operands == 1 ? both : "b"));
      continue;
    }
    open(here + mine + " => match b {");
    line(names_.enumCase(id, 0) + " => a");
    line(here + theirs + " => " + both);
    if (r.cases.size() > 2) line("_ => panic(\"tangents of different cases are added\")");
    close("}");
  }
  close("}");
}

} // namespace melix::decompile
