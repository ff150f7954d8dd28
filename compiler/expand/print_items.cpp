// Declarations.
#include "expand/printer.h"

namespace melix::expand {

void Printer::attributes(const std::vector<Attribute>& all) {
  for (const Attribute& a : all) {
    out += "@";
    name(a.name);
    if (a.hasArgs) arguments("(", ")", a.args);
    out += "\n";
  }
}

void Printer::generics(const std::vector<Generic>& all) {
  if (all.empty()) return;
  each("[", "]", all, [&](const Generic& g) { generic(g); });
}

void Printer::head(bool isPub, std::string_view word, NameId declared) {
  if (isPub) out += "pub ";
  out += word;
  out += " ";
  name(declared);
}

void Printer::fn(const FnItem& f) {
  attributes(f.attributes);
  if (f.isPub) out += "pub ";
  if (f.isExtern) out += "extern ";
  if (f.isExport) out += "export ";
  if (f.isPure) out += "pure ";
  head(false, "fn", f.name);
  generics(f.generics);
  each("(", ")", f.params, [&](const Parameter& p) { parameter(p); });
  if (f.result) out += " -> ", node(f.result);
  if (!f.body) return;
  out += f.shortForm ? " = " : " ";
  f.shortForm ? node(f.body) : body(f.body);
}

void Printer::structItem(const StructItem& s) {
  if (!s.name && s.fields.size() == 1) return field(s.fields[0]);
  attributes(s.attributes);
  head(s.isPub, "struct", s.name);
  generics(s.generics);
  if (s.base) out += ": ", node(s.base);
  out += " {\n";
  for (const FieldDecl& f : s.fields) field(f), out += "\n";
  out += "}";
}

void Printer::enumItem(const EnumItem& e) {
  if (!e.name && e.cases.size() == 1) return case_(e.cases[0]);
  attributes(e.attributes);
  head(e.isPub, "enum", e.name);
  generics(e.generics);
  out += " {\n";
  for (const CaseDecl& c : e.cases) case_(c), out += "\n";
  out += "}";
}

void Printer::use(const UseItem& u) {
  out += u.isPub ? "pub use " : "use ";
  for (size_t k = 0; k < u.path.size(); ++k) {
    if (k > 0) out += ".";
    name(u.path[k].name);
  }
  if (u.hasNames) each(".{", "}", u.names, [&](const UseName& n) { name(n.name); });
  if (u.alias) out += " as ", name(u.alias);
}

void Printer::item(const Node& n) {
  switch (n.kind) {
  case NodeKind::Fn: return fn(n.as<FnItem>());
  case NodeKind::Struct: return structItem(n.as<StructItem>());
  case NodeKind::Enum: return enumItem(n.as<EnumItem>());
  case NodeKind::Concept: {
    const ConceptItem& c = n.as<ConceptItem>();
    head(c.isPub, "concept", c.name);
    generics(c.generics);
    out += " ";
    return block(c.functions);
  }
  case NodeKind::Macro: {
    const MacroItem& m = n.as<MacroItem>();
    head(m.isPub, "macro", m.name);
    each("(", ")", m.params, [&](const Parameter& p) { parameter(p); });
    if (m.result) out += " -> ", node(m.result);
    out += " ";
    return body(m.body);
  }
  case NodeKind::Use: return use(n.as<UseItem>());
  case NodeKind::Const: {
    const ConstItem& c = n.as<ConstItem>();
    head(c.isPub, "const", c.name);
    if (c.type) out += ": ", node(c.type);
    out += " = ";
    return node(c.value);
  }
  case NodeKind::TypeAlias: {
    const TypeItem& t = n.as<TypeItem>();
    head(t.isPub, "type", t.name);
    generics(t.generics);
    out += " = ";
    return node(t.type);
  }
  case NodeKind::Test:
  case NodeKind::Bench: {
    const TestItem& t = n.as<TestItem>();
    out += n.kind == NodeKind::Test ? "test " : "bench ";
    t.splice ? node(t.splice) : void(out += "\"" + escaped(t.name, '"') + "\"");
    out += " ";
    return body(t.body);
  }
  case NodeKind::CheckItem:
    out += "check ";
    node(n.as<CheckItem>().type), out += ": ";
    return node(n.as<CheckItem>().concept_);
  default: return;
  }
}

} // namespace melix::expand
