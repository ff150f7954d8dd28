#pragma once
// One function as source text.
//
// How Core is said in Melix: README.md beside this file.

#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "decompile/names.h"
#include "decompile/scope.h"

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

using core::ValueId;

/// Writes the ops of one function: the expression that each value stands for, and the lines so far. The
/// functions of the headers beside this one give the text of each op in Melix.
class FunctionWriter {
public:
  FunctionWriter(Shared& shared, core::FunctionId function);
  /// As a declaration.
  std::string write();
  /// The body as statements of a script, without the result.
  std::string statements();
  /// The text so far, without the names of sizes that nothing mentions.
  std::string text();

  const core::Op& op(core::OpId id) const { return f.ops[id]; }
  const core::Op& terminator(core::RegionId r) const { return op(f.regions[r].ops.back()); }
  const core::Operands& yieldOf(core::RegionId r) const { return terminator(r).operands; }
  const types::TypeStore& types() const { return m.types; }

  void note(const std::string& what);
  std::string hintOf(ValueId v) const;
  std::string name(ValueId v);
  bool isNamed(ValueId v) const { return exprs_.contains(v); }
  void setExpression(ValueId v, Expr e) { exprs_[v] = std::move(e); }
  void call(ValueId v, std::string text) { setExpression(v, {std::move(text)}); }
  /// Gives a value the expression of another.
  void callAs(ValueId v, ValueId other) { exprs_[v] = exprs_[other]; }
  /// Whether no op of the value's own region uses it after `user`.
  bool isLastUse(ValueId v, const core::Op& user) const;
  std::string value(ValueId v, int level = 0);
  std::string args(std::span<const ValueId> vs, size_t from = 0);
  std::string tuple(std::span<const ValueId> vs);

  Shared& shared;
  const core::Module& m;
  core::FunctionId id;
  const core::Function& f;
  Names& names;
  Lines lines;
  KnownSizes sizes;
  Variables variables;
  const core::Uses uses;

private:
  std::vector<core::OpId> lastUse_; ///< by value index: the op of the value's own region that uses it last
  std::unordered_map<ValueId, Expr> exprs_;
};

/// `[N, M]`, or nothing; types may mention them from here on.
std::string parameters(FunctionWriter& w, const std::vector<core::DimSym>& symbols);
/// The value of an op: in place if it is a scalar that its own region uses once, else by a `let`.
void define(FunctionWriter& w, ValueId v, Expr e);
/// Names the results of a call and the sizes it decides.
void bindResults(FunctionWriter& w, const core::Op& o, const std::string& e);
/// Names the sizes that the results of an op bring, except sizes that `silent` names.
void finishSizes(FunctionWriter& w, const core::Op& o, const std::map<core::DimSym, std::string>& silent);
/// Declares a `var`; its name.
std::string variable(FunctionWriter& w, const std::string& hint, const std::string& typeText,
                     const std::string& initial);

} // namespace melix::decompile
