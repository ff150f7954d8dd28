#include "loops/text/parse.h"

#include "core/text/text_reader.h"
#include "loops/text/attr_text.h"
#include "loops/text/print.h"
#include "loops/text/verify.h"

namespace melix::loops {
namespace {

using core::Token;
using core::TokenKind;

constexpr unsigned stmtCount = static_cast<unsigned>(StmtKind::Yield) + 1;
constexpr unsigned runtimeCount = static_cast<unsigned>(RuntimeKind::ArgSort) + 1;
constexpr unsigned functionKinds = static_cast<unsigned>(FunctionKind::Device) + 1;
constexpr unsigned modeKinds = static_cast<unsigned>(ModeKind::Elements) + 1;

class LoopsParser : core::TextReader {
public:
  LoopsParser(core::Module& core, Module& module, std::string_view text)
      : TextReader(core, text), module_(module) {}

  std::string run() {
    declare([&] { return declareFunction(); });
    while (ok() && peek().kind != TokenKind::End) {
      if (functionKind())
        function();
      else if (is("struct") || is("enum"))
        record();
      else
        expected("a function or a record");
    }
    return error_;
  }

  // --- parts of a statement: attr_text.h
  // -----------------------------------------------------------------------------------------------
  template <class A>
  A& attr(Stmt& s) {
    return s.attr.emplace<A>();
  }
  ValueType typeOf(ValueId v) const { return fn_->typeOf(v); }
  TypeKind kindOf(TypeId type) const { return m_.types.kind(type); }

  /// On the line of the statement: what stands on the next one begins another.
  void operands(Stmt& s) {
    if (peek().kind != TokenKind::Value || peek().line != line_) return;
    do s.operands.push_back(value());
    while (ok() && accept(","));
  }
  void place(Stmt& s) {
    s.operands.push_back(value());
    if (!accept("[")) return;
    do {
      s.operands.push_back(value());
      expect("*");
      s.operands.push_back(value());
    } while (ok() && accept("+"));
    expect("]");
  }
  void stored(Stmt& s) {
    expect("=");
    s.operands.push_back(value());
  }
  void bits(uint64_t& v, Stmt& s) {
    if (peek().kind != TokenKind::Number && !is("true") && !is("false")) return expected("a constant");
    later_.push_back([this, &v, &s, text = next().text] {
      const ValueType type = typeOf(s.results[0]);
      v = core::textBits(type.cls == ClassKind::Scalar ? type.scalar : TypeKind::U64, text);
    });
  }
  void number(uint64_t& v) { v = TextReader::number<uint64_t>(); }
  void string(std::string& text) { text = TextReader::string(); }
  void type(TypeId& type) { type = TextReader::type(); }
  void function(FunctionId& f) {
    const Token at = peek();
    if (at.kind != TokenKind::Function) return expected("a function");
    auto found = keys_.find(next().text);
    if (found == keys_.end()) return failAt(at, "no function @" + at.text);
    f = found->second;
  }
  void builtin(ops::BuiltinKind& kind) {
    kind = choice<ops::BuiltinKind>(ops::builtinCount, ops::builtinName);
  }
  void runtime(RuntimeKind& kind) { kind = choice<RuntimeKind>(runtimeCount, runtimeText); }
  void opIndex(core::OpKind op, uint32_t& index) {
    if (!core::indexWord(op, 0).empty()) index = indexWordOf(op);
  }
  void cases(std::vector<uint32_t>& regionOf) {
    expect("[");
    list("]", [&] { regionOf.push_back(count()); });
  }
  void dependence(Dependence& mark) {
    for (Dependence kind : {Dependence::Independent, Dependence::None})
      if (mark == Dependence::Carried && accept(dependenceText(kind))) mark = kind;
  }
  void device(Device& device) {
    if (!accept("on")) return;
    device = deviceNamed(word());
    if (device == Device::Caller) fail("a device");
  }
  void effects(EffectsKind& effects) {
    for (EffectsKind kind : {EffectsKind::Silent, EffectsKind::Closed})
      if (effects == EffectsKind::Any && accept(effectsText(kind))) effects = kind;
  }
  void source(core::FunctionId& f) {
    if (!accept("of")) return;
    const std::string name = word();
    auto found = functions_.find(name);
    if (ok()) f = found == functions_.end() ? declareCore(name) : found->second;
  }
  void flag(std::string_view text, bool& set) { set = accept(text); }
  template <class Part>
  void implied(std::string_view text, Part& part, auto value) {
    if (accept(text)) return read(part);
    later_.push_back([&part, value] { part = value(); });
  }

private:
  void read(std::string& text) { string(text); }
  void read(ValueType& type) { type = valueType(); }
  void read(TypeKind& kind) {
    const Token at = peek();
    const ValueType type = valueType();
    if (type.cls != ClassKind::Scalar) return failAt(at, "a scalar type expected, not `" + at.text + "`");
    kind = type.scalar;
  }
  template <std::integral Number>
  void read(Number& n) {
    n = TextReader::number<Number>();
  }
  /// Once the statement has what its kind asks for, and its operands and results have types.
  void readImplied() {
    for (auto& read : later_)
      if (ok()) read();
    later_.clear();
  }

  ValueType valueType() {
    const Token at = peek();
    const std::string name = word();
    for (ValueType type : {dataType, wordType, addressType})
      if (typeText(type) == name) return type;
    auto kind = core::byName<TypeKind>(name, static_cast<unsigned>(TypeKind::C128) + 1, types::scalarName);
    if (!kind) failAt(at, "no type `" + name + "` of a value");
    return scalarType(kind.value_or(TypeKind::I64));
  }
  std::vector<ValueType> valueTypes() {
    std::vector<ValueType> out;
    do out.push_back(valueType());
    while (ok() && accept(","));
    return out;
  }

  // --- values
  // -----------------------------------------------------------------------------------------------------
  std::string valueName() {
    if (peek().kind != TokenKind::Value) expected("a value");
    return next().text;
  }
  ValueId value() {
    const Token at = peek();
    auto found = values_.find(valueName());
    if (found != values_.end()) return found->second;
    failAt(at, "no value %" + at.text);
    return {};
  }
  ValueId define(const std::string& name, ValueType type, RegionId region) {
    const bool isNumber = std::isdigit(static_cast<unsigned char>(name[0]));
    const ValueId v =
        fn_->values.add({type, StmtId(), region, isNumber ? NameId() : m_.types.names.intern(name)});
    if (!values_.emplace(name, v).second) fail("%" + name + " is defined twice");
    return v;
  }

  // --- functions
  // --------------------------------------------------------------------------------------------------
  std::optional<FunctionKind> functionKind() const {
    if (peek().kind != TokenKind::Word) return std::nullopt;
    return core::byName<FunctionKind>(peek().text, functionKinds, functionText);
  }

  bool declareFunction() {
    const std::optional<FunctionKind> kind = functionKind();
    if (!kind) return false;
    next();
    const Token at = peek();
    if (at.kind != TokenKind::Function) return expected("the key of a function"), true;
    Function fn;
    fn.key = next().text;
    fn.kind = *kind;
    fn.loc = loc_;
    fn.body = fn.regions.add({});
    if (!keys_.emplace(at.text, FunctionId()).second)
      return failAt(at, "@" + at.text + " is made twice"), true;
    keys_[at.text] = module_.functions.add(std::move(fn));
    return true;
  }

  void function() {
    next();
    FunctionId id;
    function(id);
    if (!ok()) return;
    fn_ = &module_.functions[id];
    values_.clear();
    syms_.clear();
    expect("(");
    list(")", [&] { param(); });
    if (accept("->")) fn_->results = valueTypes();
    text::function(*this, *fn_);
    readImplied();
    if (accept("entry")) module_.entry = id;
    expect("{");
    statements(fn_->body);
  }

  void param() {
    ModeKind mode = ModeKind::Borrow;
    if (peek().kind == TokenKind::Word) mode = choice<ModeKind>(modeKinds, modeText);
    const std::string name = valueName();
    expect(":");
    const ValueType type = valueType();
    if (!ok()) return;
    fn_->modes.push_back(mode);
    fn_->regions[fn_->body].params.push_back(define(name, type, fn_->body));
  }

  // --- statements
  // -------------------------------------------------------------------------------------------------
  /// Up to `}`.
  void statements(RegionId home) {
    nested([&] {
      while (ok() && !is("}")) statement(home);
    });
    expect("}");
  }

  void statement(RegionId home) {
    const Token at = peek();
    std::vector<std::string> names;
    if (at.kind == TokenKind::Value) {
      do names.push_back(valueName());
      while (ok() && accept(","));
      expect("=");
    }
    Stmt s{StmtKind::Const, loc_, {}, {}, {}, {}};
    line_ = peek().line;
    kind(s);
    if (ok()) text::statement(*this, s);
    const std::vector<ValueType> types = !names.empty() && ok() ? resultTypes() : std::vector<ValueType>();
    if (ok() && types.size() != names.size()) failAt(at, "as many types as results expected");
    for (size_t k = 0; ok() && k < names.size(); ++k) s.results.push_back(define(names[k], types[k], home));
    if (const std::string problem = ok() ? findMisfit(s) : ""; !problem.empty()) failAt(at, problem);
    readImplied();
    if (!ok()) return;
    const StmtId id = fn_->stmts.add(std::move(s));
    for (ValueId v : fn_->stmts[id].results) fn_->values[v].def = id;
    fn_->regions[home].stmts.push_back(id);
    while (ok() && is("{")) block(fn_->stmts[id], types);
  }
  std::vector<ValueType> resultTypes() {
    expect(":");
    return valueTypes();
  }

  void kind(Stmt& s) {
    const Token at = peek();
    const std::string name = word();
    if (!ok()) return;
    if (auto kind = core::byName<StmtKind>(name, stmtCount, stmtText)) {
      s.kind = *kind;
    } else if (auto op = core::byName<core::OpKind>(name, ops::opCount, ops::opText)) {
      s.kind = StmtKind::Scalar;
      s.attr = ScalarAttr{*op};
    } else {
      failAt(at, "no statement `" + name + "`");
    }
  }

  void block(Stmt& s, const std::vector<ValueType>& carried) {
    const RegionId r = fn_->regions.add({});
    s.regions.push_back(r);
    std::vector<ValueType> types;
    if (s.kind == StmtKind::For) types.push_back(indexType);
    if (isLoop(s)) types.insert(types.end(), carried.begin(), carried.end());
    expect("{");
    size_t count = 0;
    const Token at = peek();
    if (accept("("))
      list(")", [&] {
        const std::string name = valueName();
        if (ok() && count < types.size()) fn_->regions[r].params.push_back(define(name, types[count], r));
        ++count;
      });
    if (count != types.size()) failAt(at, std::to_string(types.size()) + " parameters expected");
    if (ok()) statements(r);
  }

  Module& module_;
  Function* fn_ = nullptr; ///< that is read
  std::unordered_map<std::string, FunctionId> keys_;
  std::unordered_map<std::string, ValueId> values_;
  std::vector<std::function<void()>> later_;
  unsigned line_ = 0; ///< of the statement's name
};

} // namespace

ParseResult parse(core::Module& core, std::string_view text) {
  ParseResult result{Module(core), {}};
  result.error = LoopsParser(core, result.module, text).run();
  if (result.error.empty()) result.error = verify(result.module, {});
  return result;
}

} // namespace melix::loops
