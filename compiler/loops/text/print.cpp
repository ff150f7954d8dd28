#include "loops/text/print.h"

#include "core/text/print.h"
#include "core/text/text_names.h"
#include "core/text/text_words.h"
#include "loops/text/attr_text.h"
#include "loops/text/vector_notes.h"

#include <algorithm>

namespace melix::loops {
namespace {

/// `@key`, in quotes if it is no word.
std::string keyText(const std::string& key) {
  auto stands = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '#';
  };
  return "@" + (!key.empty() && std::ranges::all_of(key, stands) ? key : core::quoted(key));
}

class Printer {
public:
  Printer(const Module& module, core::TextNames& types, const Function& fn, const PlaceText& place)
      : module_(module), types_(types), fn_(fn), place_(place), names_(module, fn), notes_(module, fn) {}

  std::string run(bool isEntry) {
    types_.beginScope();
    placeOf(fn_.loc, 0);
    out_ += std::string(functionText(fn_.kind)) + " " + keyText(fn_.key) + "(";
    for (size_t k = 0; k < fn_.params().size(); ++k) {
      const ValueId p = fn_.params()[k];
      if (k) out_ += ", ";
      if (k < fn_.modes.size() && fn_.modes[k] != ModeKind::Borrow)
        out_ += std::string(modeText(fn_.modes[k])) + " ";
      out_ += names_[p] + ": " + std::string(typeText(fn_.typeOf(p)));
    }
    out_ += ")";
    for (size_t k = 0; k < fn_.results.size(); ++k) {
      out_ += k ? ", " : " -> ";
      out_ += typeText(fn_.results[k]);
    }
    text::function(*this, fn_);
    flag("entry", isEntry);
    out_ += " {\n";
    region(fn_.body, 1);
    return out_ + "}\n";
  }

  // --- parts of a statement: attr_text.h
  // -----------------------------------------------------------------------------------------------
  template <class A>
  const A& attr(const Stmt& s) const {
    return s.as<A>();
  }
  ValueType typeOf(ValueId v) const { return fn_.typeOf(v); }
  TypeKind kindOf(TypeId type) const { return module_.core.types.kind(type); }

  void operands(const Stmt& s) {
    for (size_t k = 0; k < s.operands.size(); ++k) out_ += (k ? ", " : " ") + names_[s.operands[k]];
  }
  void place(const Stmt& s) {
    const size_t count = s.operands.size() - (s.kind == StmtKind::Store ? 1 : 0);
    out_ += " " + names_[s.operands[0]];
    for (size_t k = 1; k + 1 < count; k += 2)
      out_ += (k > 1 ? " + " : "[") + names_[s.operands[k]] + "*" + names_[s.operands[k + 1]];
    if (count > 1) out_ += "]";
  }
  void stored(const Stmt& s) { out_ += " = " + names_[s.operands.back()]; }
  /// By the type of the constant; of a pointer class, and where nothing else says the same, the number.
  void bits(uint64_t v, const Stmt& s) {
    const ValueType type = fn_.typeOf(s.results[0]);
    const TypeKind kind = type.cls == ClassKind::Scalar ? type.scalar : TypeKind::U64;
    const std::string text = core::bitsText(kind, v);
    out_ += " " + (core::textBits(kind, text) == v ? text : core::bitsText(TypeKind::Error, v));
  }
  void number(uint64_t v) { out_ += " " + std::to_string(v); }
  void string(const std::string& text) { out_ += " " + core::quoted(text); }
  void type(TypeId type) { out_ += " " + types_.type(type); }
  void function(FunctionId f) { out_ += " " + keyText(module_.functions[f].key); }
  void builtin(ops::BuiltinKind kind) { word(ops::builtinName(kind)); }
  void runtime(RuntimeKind kind) { word(runtimeText(kind)); }
  void opIndex(core::OpKind op, uint32_t index) {
    if (std::string_view text = core::indexWord(op, index); !text.empty()) word(text);
  }
  void cases(const std::vector<uint32_t>& regionOf) {
    out_ += " [";
    for (size_t k = 0; k < regionOf.size(); ++k) out_ += (k ? ", " : "") + std::to_string(regionOf[k]);
    out_ += "]";
  }
  void dependence(Dependence mark) {
    if (mark != Dependence::Carried) word(dependenceText(mark));
  }
  void source(core::FunctionId f) {
    if (f.valid()) out_ += " of " + types_.function(f);
  }
  void device(Device device) {
    if (device != Device::Host) word("on"), word(nameOf(device));
  }
  void effects(EffectsKind effects) {
    if (effects != EffectsKind::Any) word(effectsText(effects));
  }
  void flag(std::string_view text, bool set) {
    if (set) word(text);
  }
  void implied(std::string_view text, const auto& part, auto value) {
    if (part == value()) return;
    word(text);
    this->part(part);
  }

private:
  void word(std::string_view text) {
    out_ += " ";
    out_ += text;
  }
  void part(const std::string& text) { string(text); }
  void part(ValueType type) { word(typeText(type)); }
  void part(TypeKind kind) { word(types::scalarName(kind)); }
  void part(std::integral auto number) { out_ += " " + std::to_string(number); }

  void indent(int depth) { out_.append(static_cast<size_t>(depth) * 2, ' '); }

  /// A line that says the place, if it is another one than before.
  void placeOf(LocId loc, int depth) {
    std::string place = place_ ? place_(loc) : "";
    if (place.empty() || place == lastPlace_) return;
    indent(depth);
    out_ += "// " + place + "\n";
    lastPlace_ = std::move(place);
  }

  void region(RegionId r, int depth) {
    for (StmtId id : fn_.regions[r].stmts) statement(id, depth);
  }

  void statement(StmtId id, int depth) {
    const Stmt& s = fn_.stmts[id];
    placeOf(s.loc, depth);
    indent(depth);
    for (size_t k = 0; k < s.results.size(); ++k) out_ += (k ? ", " : "") + names_[s.results[k]];
    if (!s.results.empty()) out_ += " = ";
    out_ += s.kind == StmtKind::Scalar ? ops::opText(s.as<ScalarAttr>().op) : stmtText(s.kind);
    text::statement(*this, s);
    for (size_t k = 0; k < s.results.size(); ++k) {
      out_ += k ? ", " : " : ";
      out_ += typeText(fn_.typeOf(s.results[k]));
    }
    const std::string_view note = place_ ? notes_.of(id) : "";
    const bool inLanes = s.kind == StmtKind::For && s.as<ForAttr>().vectorWidth > 0;
    if (inLanes) notes_.enter(s);
    for (RegionId r : s.regions) inner(r, depth, r == s.regions[0] ? note : "");
    if (inLanes) notes_.leave();
    if (s.regions.empty()) comment(note);
    out_ += "\n";
  }
  void comment(std::string_view note) {
    if (!note.empty()) out_ += "  // " + std::string(note);
  }

  void inner(RegionId r, int depth, std::string_view note) {
    out_ += " {";
    const std::vector<ValueId>& params = fn_.regions[r].params;
    for (size_t k = 0; k < params.size(); ++k) out_ += (k ? ", " : " (") + names_[params[k]];
    out_ += params.empty() ? "" : ")";
    comment(note);
    out_ += "\n";
    region(r, depth + 1);
    indent(depth);
    out_ += "}";
  }

  const Module& module_;
  core::TextNames& types_;
  const Function& fn_;
  const PlaceText& place_;
  const ValueNames names_;
  VectorNotes notes_;
  std::string lastPlace_;
  std::string out_;
};

} // namespace

std::string_view stmtText(StmtKind kind) {
  constexpr std::string_view texts[] = {
#define STMT(Kind, Text, ...) Text,
#include "loops/ir/stmts.def"
  };
  return texts[static_cast<size_t>(kind)];
}

std::string_view typeText(ValueType type) {
  constexpr std::string_view texts[] = {"", "data", "word", "address"};
  return type.cls == ClassKind::Scalar ? types::scalarName(type.scalar)
                                       : texts[static_cast<size_t>(type.cls)];
}

std::string_view runtimeText(RuntimeKind kind) {
  constexpr std::string_view texts[] = {
#define RUNTIME(Kind, Text) Text,
#include "loops/ir/runtime_calls.def"
  };
  return texts[static_cast<size_t>(kind)];
}

std::string_view modeText(ModeKind kind) {
  constexpr std::string_view texts[] = {"borrow", "own", "dest", "inout", "scratch", "size", "elements"};
  return texts[static_cast<size_t>(kind)];
}

std::string_view dependenceText(Dependence kind) {
  constexpr std::string_view texts[] = {"", "independent", "parallel"};
  return texts[static_cast<size_t>(kind)];
}

std::string_view effectsText(EffectsKind kind) {
  constexpr std::string_view texts[] = {"", "silent", "closed"};
  return texts[static_cast<size_t>(kind)];
}

std::string_view functionText(FunctionKind kind) {
  constexpr std::string_view texts[] = {"fn", "chunk", "kernel", "device"};
  return texts[static_cast<size_t>(kind)];
}

ValueNames::ValueNames(const Module& module, const Function& fn) {
  core::NamePool pool;
  unsigned numbered = 0;
  auto name = [&](ValueId v) {
    const NameId hint = fn.values[v].hint;
    const std::string wanted =
        hint.valid() ? core::asValueWord(module.core.types.names.text(hint)) : std::to_string(numbered++);
    names_.emplace(v, "%" + pool.take(wanted));
  };
  auto region = [&](auto& self, RegionId r) -> void {
    std::ranges::for_each(fn.regions[r].params, name);
    for (StmtId id : fn.regions[r].stmts) {
      std::ranges::for_each(fn.stmts[id].results, name);
      for (RegionId inner : fn.stmts[id].regions) self(self, inner);
    }
  };
  region(region, fn.body);
}

std::string ValueNames::operator[](ValueId v) const {
  auto found = names_.find(v);
  return found == names_.end() ? "%undefined" : found->second;
}

std::string print(const Module& module, const Function& function, const PlaceText& place) {
  core::TextNames types(module.core);
  const bool isEntry = module.entry.valid() && &module.functions[module.entry] == &function;
  return Printer(module, types, function, place).run(isEntry);
}

std::string print(const Module& module, const PlaceText& place) {
  core::TextNames types(module.core);
  std::string functions;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    functions +=
        (f ? "\n" : "") +
        Printer(module, types, module.functions[FunctionId(f)], place).run(FunctionId(f) == module.entry);
  const std::string records = core::printRecords(module.core, types);
  return records + (records.empty() ? "" : "\n") + functions;
}

} // namespace melix::loops
