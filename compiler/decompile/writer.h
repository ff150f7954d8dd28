#pragma once
// One function as source text.
//
// How Core is said in Melix: README.md beside this file.

#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "decompile/names.h"

#include <functional>
#include <unordered_map>

namespace melix::decompile {

/// An expression and how tightly it binds (rule 3): 0 loosest; atoms 20.
struct Expr {
  std::string text;
  int level = 20;
};

/// A struct that hides sizes where `_` alone does not say which (writer_sizes.cpp).
struct SizedStruct {
  std::string name, params, declaration;
  core::TypeId form;                         ///< the pack, its other sizes being parameters of the struct
  core::TypeId inner;                        ///< its type inside, in terms of the parameters
  std::vector<core::DimSym> symbols;         ///< the parameters: hidden sizes, then others
  std::map<size_t, std::string> functions{}; ///< by count of operands: negates one, adds two
};

/// State that the functions of one program share.
struct Shared {
  const core::Module& module;
  Names& names;
  std::vector<std::string>& notes;
  core::Effects effects{module};
  std::map<std::string, std::pair<std::string, std::string>> builtins =
      {}; ///< by signature: name and declaration
  /// Functions that negate (one operand) and add tangents with enums inside.
  std::map<std::pair<core::RecordId, size_t>, std::string> sums = {};
  std::map<core::TypeId, SizedStruct> sized = {}; ///< by the form of the pack
  std::map<core::TypeId, std::pair<core::TypeId, std::vector<core::DimId>>> forms = {}; ///< see formOf
  std::vector<core::DimSym> hidden = {}, others = {}; ///< parameters of these structs
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
  const core::Operands& yieldOf(core::RegionId r) const { return terminator(r).operands; }
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
  std::string args(std::span<const ValueId> vs, size_t from = 0);
  std::string tuple(std::span<const ValueId> vs);
  bool readsVariable(const core::Op& o);
  void define(ValueId v, Expr e);
  std::string returned();
  void bindAll(const core::Op& o, const std::string& e);
  void finishSizes(const core::Op& o, const std::map<core::DimSym, std::string>& silent);
  std::string variable(const std::string& hint, const std::string& typeText, const std::string& initial);

  // Types (writer_types.cpp).
  std::string dim(core::DimId d, int level = 0);
  std::string dims(const std::vector<core::DimId>& ds);
  std::string type(core::TypeId t);
  std::string raggedType(core::TypeId t, size_t axis);
  std::string resultTypes();

  // Sizes (writer_sizes.cpp).
  std::string sizePath(core::TypeId t, core::DimSym s, const std::string& base);
  std::vector<size_t> silentSizes(std::span<const core::DimSym> symbols,
                                  const std::vector<core::TypeId>& from);
  void bindDim(core::DimSym s, const std::string& e);
  void bindDims(std::span<const core::DimSym> symbols,
                const std::vector<std::pair<core::TypeId, std::string>>& from);
  void dropUnusedSizes();
  void countSizes(core::TypeId t, std::map<core::DimSym, int>& counts) const;
  bool showsSizes(core::TypeId pack);
  core::DimSym parameter(std::vector<core::DimSym>& made, const char* hint, size_t k);
  core::DimSym hiddenSize(size_t k);
  core::TypeId formOf(core::TypeId pack, std::vector<core::DimId>& others);
  const SizedStruct& sizedStruct(core::TypeId pack);
  std::string sizedType(core::TypeId pack, std::span<const core::DimId> hidden = {});
  Expr sized(core::TypeId pack, const std::string& inner, std::span<const core::DimId> hidden);
  Expr pack(const core::Op& o);
  void unpack(const core::Op& o);
  bool hasNegativeSize(core::TypeId t) const;
  Expr resized(core::TypeId from, core::TypeId to, const std::string& e);
  bool fieldsTellSizes(core::RecordId id, uint32_t c);
  Expr construct(core::TypeId t, uint32_t c, const std::string& fields);

  // Ops (writer_ops.cpp, writer_places.cpp).
  void region(core::RegionId r);
  void write(core::OpId id);
  Expr expression(const core::Op& o);
  bool readsNothing(const core::Op& o) const;
  Expr constant(const core::Op& o);
  Expr convert(const core::Op& o);
  Expr make(const core::Op& o);
  std::string undef(core::TypeId t, int depth = 0);
  bool hidesSizes(core::TypeId t) const;
  std::string undefLists(core::TypeId t, int depth);
  Expr binary(const core::Op& o, const char* symbol, int level);
  void builtin(const core::Op& o);
  Expr format(const core::Op& o);
  std::string place(const core::Op& o, size_t firstIndex);
  std::string sliceLength(const core::PathStep& s);
  std::string fieldStep(core::TypeId& t, const core::PathStep& s);
  bool slicesRows(const core::Op& o);
  void throughRows(const core::Op& o, size_t at, std::string place,
                   const std::function<void(const std::string& i, const std::string& range)>& step,
                   const std::function<void(const std::string& place, const std::string& part)>& done);
  Expr rows(const core::Op& o);
  void updateRows(const core::Op& o);
  void update(const core::Op& o);
  void lists(const core::Op& o);
  std::string variableFor(const core::Op& update);

  // Checks and other effects (writer_checks.cpp).
  bool isWritten(core::OpId check) const;
  bool acts(core::OpId id) const;
  void check(core::OpId id);

  // Sums and negatives (writer_sums.cpp).
  bool isPlain(core::TypeId t);
  std::string named(const std::string& e, std::string_view hint = "term");
  std::string combined(core::TypeId t, const std::vector<std::string>& x);
  std::string elements(core::TypeId t, std::vector<std::string> x);
  void openCombining(const std::string& name, const std::string& params, const std::string& type,
                     size_t operands);
  std::string sizedFunction(core::TypeId pack, size_t operands);
  std::string recordFunction(core::RecordId id, size_t operands);
  std::string combinedCase(core::RecordId id, uint32_t c,
                           const std::vector<std::vector<std::string>>& fields);
  void combineCases(core::RecordId id, size_t operands);

  // Control (writer_control.cpp).
  /// Variables that the arms of a branch assign: its results, and sizes that none of them shows (places among
  /// the op's resultDims).
  struct Joined {
    std::vector<std::string> results;
    std::map<size_t, std::string> sizes;
  };
  std::string joined(const core::Op& o, Joined& variables);
  void finishArm(const core::Op& o, core::RegionId r, const Joined& variables);
  void branch(const core::Op& o);
  void match(const core::Op& o);
  void forLoop(const core::Op& o);
  void whileLoop(const core::Op& o);
  /// Variables for sizes that change from one iteration to the next and that no carried value shows (places
  /// among the body's dimParams).
  using CarriedSizes = std::map<size_t, std::string>;
  CarriedSizes carryIn(const core::Op& o, const core::LoopView& loop);
  void enterRegion(const core::LoopView& loop, core::RegionId r, const CarriedSizes& sizes);
  void carryOn(const core::LoopView& loop, const CarriedSizes& sizes);
  void carryOut(const core::Op& o, const core::LoopView& loop, const CarriedSizes& sizes);
  void assignCarries(std::span<const ValueId> vars, std::span<const ValueId> next);

  // Nests (writer_nest.cpp).
  void nest(const core::Op& o);
  void nestLoops(const core::Op& o, bool withResults);
  struct Yields {
    const core::NestResult& result;
    std::vector<ValueId> values, results, units;
  };
  std::vector<Yields> yieldsOf(const core::Op& o) const;
  std::string unit(core::MonoidKind monoid, core::TypeId t);
  std::string unlessEmpty(const core::Op& o, const Yields& y, const std::vector<uint32_t>& reduced,
                          const std::string& text);
  bool nestResult(const core::Op& o, const Yields& y, bool acting);
  void ragged(const core::Op& o, const Yields& y, bool acting);
  bool needsLoops(const core::Op& o);
  void startResult(const core::Op& o, const Yields& y);
  void addToResult(const core::Op& o, const Yields& y);
  std::string reduction(const core::Op& o, const Yields& y, const std::string& header,
                        const std::string& body);
  std::string axis(const core::Op& o, uint32_t a);
  std::string header(const core::Op& o, const std::vector<uint32_t>& axes);
  std::vector<bool> neededFor(core::RegionId r, const core::Operands& yielded, bool acting = false) const;
  std::string body(core::RegionId r, const core::Operands& yielded, bool acting = false);

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
  std::set<core::DimId> notEmpty_; ///< dimensions that checks found to be above zero
  const core::Uses uses_;
  std::vector<core::OpId> lastUse_; ///< by value index: the op of the value's own region that uses it last
  std::unordered_map<ValueId, Expr> exprs_;
};

} // namespace melix::decompile
