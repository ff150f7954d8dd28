#include "decompile/names.h"

#include <cctype>

namespace melix::decompile {

/// Words of the language, and functions that the writer calls.
static const std::set<std::string>& reserved() {
  static const std::set<std::string> words = [] {
    std::set<std::string> out{
        "fn",       "let",    "var",    "if",       "else",   "match",         "for",           "in",
        "while",    "loop",   "break",  "continue", "return", "struct",        "enum",          "concept",
        "macro",    "quote",  "use",    "pub",      "const",  "type",          "extern",        "export",
        "inout",    "as",     "and",    "or",       "not",    "true",          "false",         "assert",
        "step",     "test",   "bench",  "scope",    "on",     "pure",          "check",         "inf",
        "nan",      "pi",     "sum",    "prod",     "min",    "max",           "any",           "all",
        "argmin",   "argmax", "reduce", "zero",     "shape",  "len",           "push",          "pop",
        "reshape",  "list",   "array",  "argsort",  "sqrt",   "abs",           "fma",           "floor",
        "ceil",     "trunc",  "round",  "copysign", "ldexp",  "ldexp_near",    "bits",          "wrap",
        "saturate", "debug",  "print",  "eprint",   "panic",  "f32_from_bits", "f64_from_bits", "str",
        "int",      "bool",   "main"};
    for (uint32_t k = 0; k < ops::directedCount; ++k)
      out.emplace(ops::directedRow(static_cast<ops::DirectedKind>(k)).name);
    for (uint32_t k = 0; k < ops::mathCount; ++k) out.emplace(ops::mathName(static_cast<ops::MathKind>(k)));
    return out;
  }();
  return words;
}

std::string identifier(std::string_view text, bool capital) {
  std::string out;
  for (char c : text) {
    bool ok = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (ok)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  while (!out.empty() && (out.front() == '_' || std::isdigit(static_cast<unsigned char>(out.front()))))
    out.erase(0, 1);
  if (out.empty()) out = capital ? "T" : "v";
  char first = out[0];
  out[0] = static_cast<char>(capital ? std::toupper(first) : std::tolower(first));
  return reserved().count(out) ? out + "_" : out;
}

std::string Names::unique(const std::string& wanted, Taken& taken, const Taken& also) {
  for (int& k = taken.wanted[wanted];;) {
    ++k;
    std::string name = wanted;
    if (k > 1)
      name += (std::isdigit(static_cast<unsigned char>(wanted.back())) ? "_" : "") + std::to_string(k);
    if (!also.names.contains(name) && taken.names.insert(name).second) return name;
  }
}

/// fwd(jvp(f)) is f_fwd, bwd(jvp(f)) is f_bwd, jvp(f) is f_jvp.
static std::string companionName(std::string name) {
  std::string suffix;
  for (bool found = true; found;) {
    found = false;
    for (std::string_view kind : {"fwd(jvp(", "bwd(jvp(", "jvp(", "fwd(", "bwd("}) {
      if (!name.starts_with(kind)) continue;
      suffix = "_" + std::string(kind.substr(0, 3)) + suffix;
      name = name.substr(kind.size());
      found = true;
      break;
    }
  }
  return name + suffix;
}

std::string Names::function(core::FunctionId f) {
  auto it = functions_.find(f);
  if (it != functions_.end()) return it->second;
  return functions_[f] = unique(identifier(companionName(m_.functions[f].name), false), items_, {});
}

std::string Names::builtin(ops::BuiltinKind kind) {
  return unique(identifier(ops::builtinName(kind), false), items_, {});
}

std::string Names::item(std::string_view hint) { return unique(std::string(hint), items_, {}); }

std::string Names::combining(types::RecordId r, size_t operands) {
  auto [it, fresh] = combining_.try_emplace({r, operands});
  if (fresh)
    it->second = unique(identifier((operands == 1 ? "negate_" : "add_") + record(r), false), items_, {});
  return it->second;
}

std::string Names::record(types::RecordId r) {
  auto it = records_.find(r);
  if (it != records_.end()) return it->second;
  return records_[r] = unique(identifier(m_.types.names.text(m_.types.recordInfo(r).name), true), items_, {});
}

std::string Names::field(types::RecordId r, uint32_t c, uint32_t k) {
  NameId name = m_.types.recordInfo(r).cases[c].fields[k].name;
  return name.valid() ? std::string(m_.types.names.text(name)) : "f" + std::to_string(k);
}

/// Closures of one name are told apart.
std::string Names::enumCase(types::RecordId r, uint32_t c) {
  auto it = cases_.find(r);
  if (it == cases_.end()) {
    Taken taken;
    std::vector<std::string> names;
    for (const types::EnumCase& one : m_.types.recordInfo(r).cases)
      names.push_back(unique(identifier(m_.types.names.text(one.name), true), taken, {}));
    it = cases_.emplace(r, std::move(names)).first;
  }
  return it->second[c];
}

std::string Names::dim(core::DimSym s, bool upper) {
  if (auto it = parameters_.find(s); it != parameters_.end()) return it->second;
  if (auto it = dims_.find(s); it != dims_.end()) return it->second;
  return dims_[s] = unique(identifier(m_.types.dims.info(s).name, upper), locals_, items_);
}

void Names::ofRecord(const std::vector<core::DimSym>& symbols) {
  Taken taken;
  for (core::DimSym s : symbols)
    if (auto it = parameters_.find(s); it != parameters_.end()) taken.names.insert(it->second);
  for (core::DimSym s : symbols)
    if (!parameters_.count(s))
      parameters_[s] = unique(identifier(m_.types.dims.info(s).name, true), taken, items_);
}

void Names::parameter(core::DimSym s) {
  parameters_[s] = unique(identifier(m_.types.dims.info(s).name, true), parameterNames_, items_);
}

std::string Names::local(std::string_view hint) { return unique(identifier(hint, false), locals_, items_); }

void Names::startFunction() {
  locals_ = {};
  dims_.clear();
}

} // namespace melix::decompile
