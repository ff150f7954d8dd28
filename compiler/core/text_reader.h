#pragma once
// Internal to parsing Core text: tokens, declarations, dimensions and types.

#include "core/build.h"
#include "core/text_lexer.h"
#include "core/text_names.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace melix::core {

/// Reads with one token of lookahead. The first problem is kept and ends the text, so that nothing loops.
class TextReader {
public:
  TextReader(Module& m, std::string_view text) : m_(m), tokens_(lexCore(text)) {
    for (uint32_t i = 0; i < m.functions.size(); ++i)
      functions_.emplace(asWord(m.functions[FunctionId(i)].name), FunctionId(i));
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
    if (!accept(text)) fail("`" + std::string(text) + "` expected, not `" + peek().text + "`");
  }
  bool ok() const { return error_.empty(); }
  void fail(const std::string& what) {
    if (ok()) error_ = "line " + std::to_string(peek().line) + ": " + what;
    at_ = tokens_.size() - 1;
  }
  std::string word() {
    if (peek().kind != TokenKind::Word) fail("a word expected, not `" + peek().text + "`");
    return next().text;
  }
  int64_t integer() {
    if (peek().kind != TokenKind::Number) fail("a number expected, not `" + peek().text + "`");
    return std::strtoll(next().text.c_str(), nullptr, 0);
  }
  uint32_t count() { return static_cast<uint32_t>(integer()); }
  std::string string() {
    if (peek().kind != TokenKind::String) fail("a string expected");
    return next().text;
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
  void declare() {
    unsigned depth = 0;
    while (ok() && peek().kind != TokenKind::End) {
      if (depth == 0 && (is("struct") || is("enum"))) {
        types::Record r;
        r.isEnum = next().text == "enum";
        std::string name = word();
        r.name = m_.types.names.intern(name);
        if (accept("["))
          list("]", [&] { r.dimParams.push_back(newSym(word(), types::DimSymKind::Parameter)); });
        r.cases.resize(r.isEnum ? 0 : 1);
        records_.insert_or_assign(name, m_.types.addRecord(std::move(r)));
        continue;
      }
      if (depth == 0 && is("fn")) {
        next();
        Function f;
        f.name = word();
        f.key = f.name;
        f.loc = loc_;
        std::string name = f.name;
        functions_.insert_or_assign(name, m_.functions.add(std::move(f)));
        continue;
      }
      if (is("{") || is("(")) ++depth;
      if ((is("}") || is(")")) && depth > 0) --depth;
      next();
    }
  }

  DimSym newSym(std::string name, types::DimSymKind kind) {
    return m_.types.dims.newSym({std::move(name), kind, 0, {}});
  }

  void record() {
    bool isEnum = next().text == "enum";
    RecordId id = records_.at(word());
    syms_.clear();
    if (accept("[")) {
      size_t k = 0;
      list("]", [&] { syms_[word()] = m_.types.recordInfo(id).dimParams[k++]; });
    }
    if (accept("tangent")) {
      RecordId of = records_.at(word());
      m_.types.recordInfo(id).tangentOf = of;
      m_.types.tangentRecords.insert_or_assign(of, id);
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
    m_.types.recordInfo(id).cases = std::move(cases);
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
    if (name[0] == '_') {
      uint32_t number = name.size() == 1 ? 0 : static_cast<uint32_t>(std::atoi(name.c_str() + 1));
      return d.symbol(m_.types.boundSym(number));
    }
    return d.symbol(symbol(name));
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
    types::TypeStore& t = m_.types;
    if (accept("(")) return t.tuple(typeList());
    if (accept("{")) {
      TypeId element = type();
      expect("}");
      return arrayOf(element);
    }
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
      fail("no type `" + name + "`");
      return t.error();
    }
    std::vector<DimId> args;
    size_t want = t.recordInfo(it->second).dimParams.size();
    if ((want > 0 || is("[")) && accept("[")) args = dimList();
    if (args.size() != want) {
      fail("`" + name + "` takes " + std::to_string(want) + " dimensions");
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

  Module& m_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string error_;
  LocId loc_;
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_map<std::string, RecordId> records_;
  std::unordered_map<std::string, DimSym> syms_;
};

} // namespace melix::core
