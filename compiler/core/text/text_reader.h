#pragma once
// Internal: reads the tokens, records, dimensions and types of the text of Core, and of languages that share
// its types.

#include "core/ir/build.h"
#include "core/text/text_lexer.h"
#include "core/text/text_names.h"
#include "core/text/text_words.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace melix::core {

/// Reads with one token of lookahead. The first problem is kept and ends the text, so that nothing loops.
class TextReader {
public:
  TextReader(Module& m, std::string_view text) : m_(m), tokens_(lexCore(text)) {
    NamePool names; // as TextNames calls them
    for (uint32_t i = 0; i < m.functions.size(); ++i)
      functions_.emplace(names.take(asWord(m.functions[FunctionId(i)].name)), FunctionId(i));
    loc_ = m.locs.add(Loc{});
  }

protected:
  // --- tokens
  // -----------------------------------------------------------------------------------------------------
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token next() {
    Token t = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  bool is(std::string_view text) const {
    const Token& t = peek();
    return t.text == text && (t.kind == TokenKind::Punct || t.kind == TokenKind::Word);
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) expected("`" + std::string(text) + "`");
  }
  bool ok() const { return error_.empty(); }
  void fail(const std::string& what) { failAt(peek(), what); }
  void failAt(const Token& t, const std::string& what) {
    if (ok())
      error_ = "line " + std::to_string(t.line) + ", column " + std::to_string(t.column) + ": " + what;
    at_ = tokens_.size() - 1;
  }
  void expected(std::string_view what) {
    fail(std::string(what) + " expected, not " +
         (peek().kind == TokenKind::End ? "the end of the text" : "`" + peek().text + "`"));
  }
  /// Runs `item` unless it stands inside of too many others, so that no text needs more stack than there is.
  template <class Item>
  auto nested(Item item) {
    struct Depth {
      unsigned& depth;
      ~Depth() { --depth; }
    } here{++depth_};
    if (depth_ > mostNested) fail("too many things inside of each other");
    return item();
  }
  std::string word() {
    if (peek().kind != TokenKind::Word) expected("a word");
    return next().text;
  }
  /// A whole number that fits.
  template <class Number>
  Number number() {
    const std::string& text = peek().text;
    Number n = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (peek().kind != TokenKind::Number || problem != std::errc() || end != text.data() + text.size()) {
      expected("a whole number of at most " + std::to_string(std::numeric_limits<Number>::max()));
      return 0;
    }
    next();
    return n;
  }
  int64_t integer() { return number<int64_t>(); }
  uint32_t count() { return number<uint32_t>(); }
  std::string string() {
    if (peek().kind != TokenKind::String) expected("a string");
    return next().text;
  }
  template <class Kind, class NameOf>
  Kind choice(unsigned count, NameOf nameOf) {
    const Token at = peek();
    std::optional<Kind> kind = byName<Kind>(word(), count, nameOf);
    if (!kind) failAt(at, "`" + at.text + "` is not known here");
    return kind.value_or(Kind());
  }
  uint32_t indexWordOf(OpKind op) {
    const Token at = peek();
    std::optional<uint32_t> index = indexOfWord(op, word());
    if (!index) failAt(at, "`" + at.text + "` is not known here");
    return index.value_or(0);
  }
  /// item (`,` item)* up to `close`, which is consumed.
  template <class Item>
  void list(std::string_view close, Item item) {
    for (bool first = true; ok() && !is(close); first = false) {
      if (!first) expect(",");
      if (!is(close)) item();
    }
    expect(close);
  }

  // --- declarations
  // -----------------------------------------------------------------------------------------------
  /// All records and functions, before any is read; `declareFunction` takes the words before one.
  template <class DeclareFunction>
  void declare(DeclareFunction declareFunction) {
    unsigned depth = 0;
    while (ok() && peek().kind != TokenKind::End) {
      if (depth == 0 && (is("struct") || is("enum"))) {
        declareRecord();
        continue;
      }
      if (depth == 0 && declareFunction()) continue;
      if (is("{") || is("(")) ++depth;
      if ((is("}") || is(")")) && depth > 0) --depth;
      next();
    }
    if (ok()) at_ = 0;
  }

  void declareRecord() {
    types::Record r;
    r.isEnum = next().text == "enum";
    const Token at = peek();
    std::string name = word();
    r.name = m_.types.names.intern(name);
    if (accept("[")) list("]", [&] { r.dimParams.push_back(newSym(word(), types::DimSymKind::Parameter)); });
    r.cases.resize(r.isEnum ? 0 : 1);
    if (!ok()) return;
    if (!records_.emplace(name, RecordId()).second) return failAt(at, "`" + name + "` is declared twice");
    records_[name] = m_.types.addRecord(std::move(r));
  }
  /// A function of Core.
  FunctionId declareCore(const std::string& name) {
    Function f;
    f.name = f.key = name;
    f.loc = loc_;
    return functions_[name] = m_.functions.add(std::move(f));
  }

  DimSym newSym(std::string name, types::DimSymKind kind) {
    return m_.types.dims.newSym({std::move(name), kind, 0, {}});
  }

  void record() {
    bool isEnum = next().text == "enum";
    RecordId id = declaredRecord();
    syms_.clear();
    if (ok() && accept("[")) {
      size_t k = 0;
      list("]", [&] { syms_[word()] = m_.types.recordInfo(id).dimParams[k++]; });
    }
    if (accept("tangent")) {
      RecordId of = declaredRecord();
      if (!ok()) return;
      m_.types.recordInfo(id).tangentOf = of;
      m_.types.derived.tangents.insert_or_assign(of, id);
    }
    std::vector<types::EnumCase> cases;
    auto field = [&] {
      types::Field f;
      if (peek(1).text == ":" && peek().kind == TokenKind::Word) {
        f.name = m_.types.names.intern(word());
        expect(":");
      }
      f.type = type();
      cases.back().fields.push_back(f);
    };
    expect("{");
    if (isEnum) {
      list("}", [&] {
        cases.push_back({m_.types.names.intern(word()), {}});
        expect("(");
        list(")", field);
      });
    } else {
      cases.emplace_back();
      list("}", field);
    }
    if (ok()) m_.types.recordInfo(id).cases = std::move(cases);
  }
  RecordId declaredRecord() {
    const Token at = peek();
    auto found = records_.find(word());
    if (found != records_.end()) return found->second;
    failAt(at, "no record `" + at.text + "`");
    return {};
  }

  // --- dimensions and types
  // ---------------------------------------------------------------------------------------
  DimSym symbol(const std::string& name) {
    auto it = syms_.find(name);
    if (it != syms_.end()) return it->second;
    return syms_.emplace(name, newSym(name, types::DimSymKind::Unknown)).first->second;
  }
  std::vector<DimSym> symbols() { // after `[`
    std::vector<DimSym> out;
    list("]", [&] { out.push_back(symbol(word())); });
    return out;
  }
  DimId dim() {
    types::DimStore& d = m_.types.dims;
    bool negative = accept("-");
    DimId all = product();
    if (negative) all = d.sub(d.constant(0), all);
    while (ok() && (is("+") || is("-"))) {
      bool minus = next().text == "-";
      DimId right = product();
      all = minus ? d.sub(all, right) : d.add(all, right);
    }
    return all;
  }
  DimId product() {
    types::DimStore& d = m_.types.dims;
    DimId all = factor();
    while (ok() && (is("*") || is("/") || is("%"))) {
      std::string how = next().text;
      DimId right = factor();
      all = how == "*" ? d.mul(all, right) : how == "/" ? d.floorDiv(all, right) : d.mod(all, right);
    }
    return all;
  }
  DimId factor() {
    return nested([&] { return factorInside(); });
  }
  DimId factorInside() {
    types::DimStore& d = m_.types.dims;
    if (accept("(")) {
      DimId inner = dim();
      expect(")");
      return inner;
    }
    if (peek().kind == TokenKind::Number) return d.constant(integer());
    std::string name = word();
    if ((name == "min" || name == "max") && accept("(")) {
      std::optional<DimId> all;
      list(")", [&] {
        DimId one = dim();
        all = !all ? one : name == "min" ? d.min(*all, one) : d.max(*all, one);
      });
      return all ? *all : d.constant(0);
    }
    if (name[0] == '_') return d.symbol(hidden(name));
    return d.symbol(symbol(name));
  }
  /// `_`, `_1`, `_2`: a dimension that a pack hides.
  DimSym hidden(std::string_view name) {
    uint32_t number = 0;
    std::from_chars(name.data() + 1, name.data() + name.size(), number);
    if (number >= mostHidden) fail("too many hidden dimensions");
    return m_.types.boundSym(std::min(number, mostHidden));
  }
  std::vector<DimId> dimList() { // after `[`
    std::vector<DimId> out;
    list("]", [&] { out.push_back(dim()); });
    return out;
  }
  std::vector<TypeId> typeList() { // after `(`
    std::vector<TypeId> out;
    list(")", [&] { out.push_back(type()); });
    return out;
  }
  TypeId arrayOf(TypeId element) { return accept("[") ? m_.types.array(element, dimList()) : element; }

  TypeId type() {
    return nested([&] { return ok() ? typeInside() : m_.types.error(); });
  }
  TypeId typeInside() {
    types::TypeStore& t = m_.types;
    if (accept("(")) return t.tuple(typeList());
    if (accept("{")) {
      TypeId element = type();
      expect("}");
      return arrayOf(element);
    }
    const Token at = peek();
    std::string name = word();
    if (name == "List") {
      expect("[");
      TypeId element = type();
      expect("]");
      return t.list(element);
    }
    if (name == "fn") return functionType();
    if (name == "pack") return packType();
    if (name == "acc") return t.acc(type());
    if (name == "str") return arrayOf(t.str());
    if (name == "exit") return t.exit();
    if (name == "never") return t.never();
    if (name == "int") return arrayOf(t.int64());
    for (unsigned k = 0; k <= static_cast<unsigned>(TypeKind::C128); ++k)
      if (types::scalarName(static_cast<TypeKind>(k)) == name)
        return arrayOf(t.scalar(static_cast<TypeKind>(k)));
    auto it = records_.find(name);
    if (it == records_.end()) {
      failAt(at, "no type `" + name + "`");
      return t.error();
    }
    std::vector<DimId> args;
    size_t want = t.recordInfo(it->second).dimParams.size();
    if ((want > 0 || is("[")) && accept("[")) args = dimList();
    if (args.size() != want) {
      failAt(at, "`" + name + "` takes " + std::to_string(want) + " dimensions");
      return t.error();
    }
    return arrayOf(t.record(it->second, std::move(args)));
  }
  TypeId functionType() {
    if (accept("#")) {
      types::KnownId id(count());
      expect("(");
      return m_.types.known(id, typeList());
    }
    std::vector<TypeId> params;
    std::vector<bool> inout;
    expect("(");
    list(")", [&] {
      inout.push_back(accept("inout"));
      params.push_back(type());
    });
    expect("->");
    TypeId result = type();
    return m_.types.function(std::move(params), std::move(inout), result);
  }
  TypeId packType() {
    types::Type t;
    t.kind = TypeKind::Pack;
    t.number = count();
    t.parts = {type()};
    return m_.types.intern(std::move(t));
  }

  static constexpr unsigned mostNested = 500;
  static constexpr uint32_t mostHidden = 1000;

  Module& m_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  unsigned depth_ = 0; ///< nesting depth of the text being read
  std::string error_;
  LocId loc_;
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_map<std::string, RecordId> records_;
  std::unordered_map<std::string, DimSym> syms_;
};

} // namespace melix::core
