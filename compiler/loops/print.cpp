#include "loops/print.h"

#include "core/text_names.h"

namespace melix::loops {
namespace {

std::string typeText(ValueType type) {
  switch (type.cls) {
  case ClassKind::Data: return "data";
  case ClassKind::Word: return "word";
  case ClassKind::Address: return "address";
  case ClassKind::Scalar: break;
  }
  return std::string(types::scalarName(type.scalar));
}

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

const char* runtimeText(RuntimeKind kind) {
  switch (kind) {
  case RuntimeKind::ListPush: return "list_push";
  case RuntimeKind::ListPop: return "list_pop";
  case RuntimeKind::ListReserve: return "list_reserve";
  case RuntimeKind::ListLength: return "list_length";
  case RuntimeKind::ListToArray: return "list_to_array";
  case RuntimeKind::ListFromArray: return "list_from_array";
  case RuntimeKind::RetainElements: return "retain_elements";
  case RuntimeKind::ReleaseElements: return "release_elements";
  case RuntimeKind::ArgSort: return "argsort";
  }
  return "";
}

class Printer {
public:
  Printer(const Module& module, const Function& fn, const PlaceText& place)
      : module_(module), fn_(fn), place_(place) {}

  std::string run() {
    static const char* const kinds[] = {"fn", "chunk", "kernel"};
    static const char* const modes[] = {"borrow", "own", "dest"};
    placeOf(fn_.loc, 0);
    out_ += std::string(kinds[static_cast<int>(fn_.kind)]) + " " + fn_.key + "(";
    for (size_t k = 0; k < fn_.params().size(); ++k) {
      if (k) out_ += ", ";
      ValueId p = fn_.params()[k];
      if (k < fn_.modes.size() && (fn_.typeOf(p).counted() || fn_.modes[k] == ModeKind::Dest))
        out_ += std::string(modes[static_cast<int>(fn_.modes[k])]) + " ";
      out_ += name(p) + ": " + typeText(fn_.typeOf(p));
    }
    out_ += ")";
    for (size_t k = 0; k < fn_.results.size(); ++k) out_ += (k ? ", " : " -> ") + typeText(fn_.results[k]);
    out_ += " {\n";
    region(fn_.body, 1);
    return out_ + "}\n";
  }

private:
  std::string name(ValueId v) {
    NameId hint = fn_.values[v].hint;
    if (!hint.valid()) return "%" + std::to_string(v.index);
    auto [found, fresh] = names_.try_emplace(v);
    if (fresh) found->second = "%" + pool_.take(core::asWord(module_.core.types.names.text(hint)));
    return found->second;
  }

  /// A line that tells the place, if it is another one than before.
  void placeOf(LocId loc, int depth) {
    std::string place = place_ ? place_(loc) : "";
    if (place.empty() || place == lastPlace_) return;
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += "// " + place + "\n";
    lastPlace_ = std::move(place);
  }

  std::string attrText(const Stmt& s) {
    auto typed = [&](TypeId type) { return " " + module_.core.types.print(type); };
    switch (s.kind) {
    case StmtKind::Const: {
      uint64_t bits = s.as<uint64_t>();
      return bits > 0xffffffff ? " 0x" + hex(bits) : " " + std::to_string(bits);
    }
    case StmtKind::Scratch: return " " + std::to_string(s.as<uint64_t>());
    case StmtKind::Text: return " " + quote(s.as<std::string>());
    case StmtKind::Descriptor: return typed(s.as<TypeId>());
    case StmtKind::FrameArray:
      return " " + std::to_string(s.as<AllocAttr>().bytes) + (s.as<AllocAttr>().zeroed ? " zeroed" : "");
    case StmtKind::AllocArray:
    case StmtKind::AllocNode:
      return typed(s.as<AllocAttr>().type) + (s.as<AllocAttr>().zeroed ? " zeroed" : "");
    case StmtKind::Call:
    case StmtKind::Launch: return " " + module_.functions[s.as<FunctionId>()].key;
    case StmtKind::Builtin: return " " + std::string(ops::builtinName(s.as<ops::BuiltinKind>()));
    case StmtKind::Runtime:
      return std::string(" ") + runtimeText(s.as<RuntimeCall>().kind) + typed(s.as<RuntimeCall>().type);
    case StmtKind::Format: return typed(s.as<FormatCall>().type) + " " + quote(s.as<FormatCall>().spec);
    case StmtKind::Check: return " " + quote(s.as<Message>().text);
    case StmtKind::For: {
      const auto& attr = s.as<ForAttr>();
      if (attr.mark == MarkKind::Points) return " points";
      return attr.mark == MarkKind::Parallel ? " parallel(" + name(attr.work) + ")" : "";
    }
    case StmtKind::Switch: {
      std::string text = " [";
      for (uint32_t r : s.as<SwitchAttr>().regionOf) text += (text.size() > 2 ? " " : "") + std::to_string(r);
      return text + "]";
    }
    case StmtKind::Scalar: {
      const auto& attr = s.as<ScalarAttr>();
      return attr.index ? " #" + std::to_string(attr.index) : "";
    }
    default: return "";
    }
  }

  static std::string hex(uint64_t v) {
    std::string out;
    for (; v; v >>= 4) out.insert(out.begin(), "0123456789abcdef"[v & 15]);
    return out;
  }

  std::string accessText(const Stmt& s) {
    const auto& a = s.as<Access>();
    size_t count = s.operands.size() - (s.kind == StmtKind::Store ? 1 : 0);
    std::string text = " " + name(s.operands[0]) + "[";
    for (size_t k = 1; k + 1 < count; k += 2)
      text += (k > 1 ? " + " : "") + name(s.operands[k]) + "*" + name(s.operands[k + 1]);
    text += "]";
    if (a.offset) text += " +" + std::to_string(a.offset);
    if (a.take) text += " take";
    if (a.lend) text += " lend";
    if (s.kind == StmtKind::Store) text += " = " + name(s.operands.back());
    return text;
  }

  void region(RegionId r, int depth) {
    for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id], depth);
  }

  void statement(const Stmt& s, int depth) {
    placeOf(s.loc, depth);
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    for (size_t k = 0; k < s.results.size(); ++k) out_ += (k ? ", " : "") + name(s.results[k]);
    if (!s.results.empty()) out_ += " = ";
    out_ += s.kind == StmtKind::Scalar ? ops::opText(s.as<ScalarAttr>().op) : stmtText(s.kind);
    bool isAccess = s.kind == StmtKind::Load || s.kind == StmtKind::Store || s.kind == StmtKind::AddressOf;
    if (isAccess) {
      out_ += accessText(s);
    } else {
      out_ += attrText(s);
      for (size_t k = 0; k < s.operands.size(); ++k) out_ += (k ? ", " : " ") + name(s.operands[k]);
    }
    if (!s.results.empty()) {
      out_ += " : ";
      for (size_t k = 0; k < s.results.size(); ++k)
        out_ += (k ? ", " : "") + typeText(fn_.typeOf(s.results[k]));
    }
    for (RegionId r : s.regions) {
      out_ += " {";
      for (ValueId p : fn_.regions[r].params) out_ += " " + name(p);
      out_ += "\n";
      region(r, depth + 1);
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      out_ += "}";
    }
    out_ += "\n";
  }

  const Module& module_;
  const Function& fn_;
  const PlaceText& place_;
  core::NamePool pool_;
  std::unordered_map<ValueId, std::string> names_;
  std::string lastPlace_;
  std::string out_;
};

} // namespace

std::string_view stmtText(StmtKind kind) {
  switch (kind) {
#define STMT(Kind, Text, Closed)                                                                             \
  case StmtKind::Kind: return Text;
#include "loops/stmts.def"
  }
  return {};
}

std::string print(const Module& module, const Function& function, const PlaceText& place) {
  return Printer(module, function, place).run();
}

std::string print(const Module& module, const PlaceText& place) {
  std::string out;
  for (const Function& fn : module.functions) out += print(module, fn, place) + "\n";
  return out;
}

} // namespace melix::loops
