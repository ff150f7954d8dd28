// Sums of tangents that hold enums: Melix has `+` for tangents it derived itself; here their types are
// declarations.

#include "decompile/writer.h"

namespace melix::decompile {

using namespace core;

/// Whether `+` is there: no enum anywhere inside, and no sizes that stand in front of what hides them.
bool FunctionWriter::isPlain(TypeId t) {
  std::set<RecordId> seen;
  std::function<bool(TypeId)> plain = [&](TypeId at) {
    const types::Type ty = types()[at];
    if (ty.kind == TypeKind::Enum || (ty.kind == TypeKind::Pack && !unreadable(at).empty())) return false;
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
std::string FunctionWriter::named(const std::string& e) {
  std::string n = names_.local("term");
  line("let " + n + " = " + e);
  return n;
}

/// a + b, both names or parts of names.
std::string FunctionWriter::sum(TypeId t, const std::string& a, const std::string& b) {
  if (isPlain(t)) return types().isUnit(t) ? "()" : a + " + " + b;
  const types::Type ty = types()[t];
  switch (ty.kind) {
  case TypeKind::Enum:
  case TypeKind::Struct:
    return sumFunction(ty.record) + (ty.dims.empty() ? "" : dims(ty.dims)) + "(" + a + ", " + b + ")";
  case TypeKind::Pack: {
    const size_t sizes = unreadable(t).size();
    if (sizes == 0) return sum(ty.parts[0], a, b);
    if (types().isUnit(ty.parts[0])) return a;
    std::string out;
    for (size_t k = 0; k < sizes; ++k) out += a + "." + std::to_string(k) + ", ";
    std::string part = "." + std::to_string(sizes);
    return "(" + out + sum(ty.parts[0], a + part, b + part) + ")";
  }
  case TypeKind::Tuple: {
    std::string out;
    for (size_t k = 0; k < ty.parts.size(); ++k) {
      std::string part = "." + std::to_string(k);
      out += (k ? ", " : "") + sum(ty.parts[k], a + part, b + part);
    }
    return "(" + out + (ty.parts.size() == 1 ? ",)" : ")");
  }
  case TypeKind::Array:
    if (!isRagged(t)) {
      std::string axes, at;
      for (size_t k = 0; k < ty.dims.size(); ++k) {
        std::string i = names_.local("i"),
                    extent = ty.dims.size() == 1 ? "len(" + a + ")" : "shape(" + a + ")." + std::to_string(k);
        axes += (k ? ", " : "") + i + " in 0.." + extent;
        at += (k ? ", " : "") + i;
      }
      return "[for " + axes + ": " + sum(ty.parts[0], a + "[" + at + "]", b + "[" + at + "]") + "]";
    }
    [[fallthrough]];
  default: {
    std::string out = names_.local("total"), i = names_.local("i");
    return "{ var " + out + " = " + a + "; if len(" + a + ") == 0 { " + out + " = " + b + " } else if len(" +
           b + ") != 0 { for " + i + " in 0..len(" + a + ") { " + out + "[" + i +
           "] = " + sum(ty.parts[0], out + "[" + i + "]", b + "[" + i + "]") + " } }; " + out + " }";
  }
  }
}

/// The function that adds two values of a record, case by case; the case without payload that comes first is
/// zero.
std::string FunctionWriter::sumFunction(RecordId id) {
  auto [it, fresh] = shared_.sums.try_emplace(id);
  std::string record = names_.record(id);
  if (!fresh) return names_.sum(id);
  FunctionWriter w(shared_, id_);
  const types::Record r = types().recordInfo(id);
  std::vector<DimId> own;
  for (DimSym s : r.dimParams) own.push_back(m_.types.dims.symbol(s));
  std::string params = w.parameters(r.dimParams), text = record + params;
  auto construct = [&](uint32_t c, const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::string fields;
    for (uint32_t k = 0; k < r.cases[c].fields.size(); ++k)
      fields += (k ? ", " : "") + w.sum(r.cases[c].fields[k].type, a[k], b[k]);
    return (r.isEnum ? record + "." + names_.enumCase(id, c) : record) + "(" + fields + ")";
  };
  w.open("fn " + names_.sum(id) + params + "(a: " + text + ", b: " + text + ") -> " + text + " {");
  if (!r.isEnum) {
    std::vector<std::string> left, right;
    for (uint32_t k = 0; k < r.cases[0].fields.size(); ++k) {
      left.push_back("a." + names_.field(id, 0, k));
      right.push_back("b." + names_.field(id, 0, k));
    }
    w.line(construct(0, left, right));
  } else {
    w.open("match a {");
    for (uint32_t c = 0; c < r.cases.size(); ++c) {
      std::vector<std::string> left, right;
      std::string here = names_.enumCase(id, c), mine, theirs;
      for (uint32_t k = 0; k < r.cases[c].fields.size(); ++k) {
        left.push_back(names_.local("l"));
        right.push_back(names_.local("r"));
        mine += (k ? ", " : "") + left.back();
        theirs += (k ? ", " : "") + right.back();
      }
      if (c == 0) {
        w.line(here + " => b");
        continue;
      }
      w.open(here + (mine.empty() ? "" : "(" + mine + ")") + " => match b {");
      w.line(names_.enumCase(id, 0) + " => a");
      w.line(here + (theirs.empty() ? "" : "(" + theirs + ")") + " => " +
             (mine.empty() ? "a" : construct(c, left, right)));
      if (r.cases.size() > 2) w.line("_ => panic(\"tangents of different cases are added\")");
      w.close("}");
    }
    w.close("}");
  }
  w.close("}");
  shared_.sums[id] = std::move(w.out_);
  return names_.sum(id);
}

} // namespace melix::decompile
