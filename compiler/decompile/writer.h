#pragma once
// One function as source text.
//
// How Core is said in Melix: sizes that the run decides are read into `let`s (`let k = len(a)`); what hides
// sizes is a type with `_`; a tuple of one part is the part; an array of things of different sizes is a List;
// known functions are tuples of their captures; exits are integers.

#include "decompile/names.h"

#include <unordered_map>

namespace melix::decompile {

/// An expression and how tightly it binds (rule 3): 0 loosest; atoms 20.
struct Expr {
  std::string text;
  int level = 20;
};

/// What the functions of one program share.
struct Shared {
  const core::Module& module;
  Names& names;
  std::vector<std::string>& notes;
  std::map<std::string, std::pair<std::string, std::string>> builtins =
      {};                                          ///< by signature: name and declaration
  std::map<core::RecordId, std::string> sums = {}; ///< functions that add tangents with enums inside
};

class FunctionWriter {
public:
  FunctionWriter(Shared& shared, core::FunctionId f);
  /// As a declaration.
  std::string write();
  /// The body as statements of a script, without the result.
  std::string statements();
  std::string typeText(core::TypeId t) { return type(t); }
  /// `[N, M]`, or nothing; types may mention them from here on.
  std::string parameters(const std::vector<core::DimSym>& symbols);

private:
  using ValueId = core::ValueId;
  const core::Op& op(core::OpId id) const { return f_.ops[id]; }
  const core::Op& terminator(core::RegionId r) const { return op(f_.regions[r].ops.back()); }
  const std::vector<ValueId>& yieldOf(core::RegionId r) const { return terminator(r).operands; }
  const types::TypeStore& types() const { return m_.types; }
  bool isRagged(core::TypeId t) const;

  // Lines and names (writer.cpp).
  void line(const std::string& text);
  void note(const std::string& what);
  void open(const std::string& head) { line(head), ++indent_; }
  void close(const std::string& tail) { --indent_, line(tail); }
  std::string hintOf(ValueId v) const;
  std::string name(ValueId v);
  void call(ValueId v, std::string text) { exprs_[v] = {std::move(text), 20}; }
  std::string value(ValueId v, int level = 0);
  std::string args(const std::vector<ValueId>& vs, size_t from = 0);
  std::string tuple(const std::vector<ValueId>& vs);
  bool readsVariable(const core::Op& o);
  void define(ValueId v, Expr e);
  void bindAll(const core::Op& o, const std::string& e);
  std::string variable(const std::string& hint, const std::string& typeText, const std::string& initial);

  // Types and sizes (writer_types.cpp).
  std::string dim(core::DimId d, int level = 0);
  std::string dims(const std::vector<core::DimId>& ds);
  std::string type(core::TypeId t);
  std::string sizePath(core::TypeId t, core::DimSym s, const std::string& base);
  std::vector<uint32_t> unreadable(core::TypeId pack);
  void bindDim(core::DimSym s, const std::string& e);
  void bindDims(const std::vector<core::DimSym>& symbols,
                const std::vector<std::pair<core::TypeId, std::string>>& from);
  std::string paramType(core::TypeId t);
  std::string resultTypes();
  void dropUnusedSizes();

  // Ops (writer_ops.cpp, writer_places.cpp).
  void region(core::RegionId r);
  void write(core::OpId id);
  Expr expression(const core::Op& o);
  Expr constant(const core::Op& o);
  Expr convert(const core::Op& o);
  Expr make(const core::Op& o);
  std::string undef(core::TypeId t, int depth = 0);
  Expr binary(const core::Op& o, const char* symbol, int level);
  void builtin(const core::Op& o);
  Expr format(const core::Op& o);
  Expr pack(const core::Op& o);
  void unpack(const core::Op& o);
  std::string place(const core::Op& o, size_t firstIndex);
  void update(const core::Op& o);
  void lists(const core::Op& o);
  std::string variableFor(const core::Op& update);

  // Sums (writer_sums.cpp).
  bool isPlain(core::TypeId t);
  std::string named(const std::string& e);
  std::string sum(core::TypeId t, const std::string& a, const std::string& b);
  std::string sumFunction(core::RecordId id);

  // Control (writer_control.cpp).
  std::string joined(const core::Op& o, std::vector<std::string>& variables);
  void finishArm(const core::Op& o, core::RegionId r, const std::vector<std::string>& variables);
  void finishSizes(const core::Op& o);
  void branch(const core::Op& o);
  void match(const core::Op& o);
  void forLoop(const core::Op& o);
  void whileLoop(const core::Op& o);
  void carryIn(const core::Op& o, size_t lead, core::RegionId body);
  void enterRegion(core::RegionId r, size_t lead);
  void carryOut(const core::Op& o, size_t lead, core::RegionId body);
  void assignCarries(const std::vector<ValueId>& vars, const std::vector<ValueId>& next);

  // Nests (writer_nest.cpp).
  void nest(const core::Op& o);
  void nestLoops(const core::Op& o, bool withResults);
  struct Yields {
    const core::NestResult& result;
    std::vector<ValueId> values, results, units;
  };
  std::vector<Yields> yieldsOf(const core::Op& o) const;
  void nestResult(const core::Op& o, const Yields& y);
  void ragged(const core::Op& o, const Yields& y);
  bool needsLoops(const core::Op& o);
  void startResult(const core::Op& o, const Yields& y);
  void addToResult(const core::Op& o, const Yields& y);
  std::string reduction(const core::Op& o, const Yields& y, const std::string& header,
                        const std::string& body);
  std::string axis(const core::Op& o, uint32_t a);
  std::string header(const core::Op& o, const std::vector<uint32_t>& axes);
  std::vector<bool> neededFor(core::RegionId r, const std::vector<ValueId>& yielded) const;
  std::string body(core::RegionId r, const std::vector<ValueId>& yielded);

  Shared& shared_;
  const core::Module& m_;
  core::FunctionId id_;
  const core::Function& f_;
  Names& names_;
  std::string out_;
  int indent_ = 0;
  int builders_ = 0;                               ///< bodies of builders around the current line
  std::unordered_map<std::string, int> variables_; ///< `var`s, and in how many builders they stand
  std::vector<std::string> sizes_;                 ///< names of sizes that were bound
  std::set<core::DimSym> knownDims_;
  std::vector<uint32_t> uses_;
  std::vector<core::OpId> lastUse_; ///< by value index: the op of the value's own region that uses it last
  std::unordered_map<ValueId, Expr> exprs_;
};

} // namespace melix::decompile
