#pragma once
// One function as source text.

#include "decompile/names.h"

#include <unordered_map>

namespace melix::decompile {

/// An expression and how tightly it binds (rule 3): 0 loosest; atoms 20.
struct Expr {
  std::string text;
  int level = 20;
};

class FunctionWriter {
public:
  FunctionWriter(const core::Module& m, core::FunctionId f, Names& names, std::vector<std::string>& notes);
  std::string write();
  std::string typeText(core::TypeId t) { return type(t); }

private:
  using ValueId = core::ValueId;
  const core::Op& op(core::OpId id) const { return f_.ops[id]; }
  const core::Op& terminator(core::RegionId r) const { return op(f_.regions[r].ops.back()); }

  // Text.
  void line(const std::string& text);
  std::string dim(core::DimId d);
  std::string type(core::TypeId t);
  std::string value(ValueId v, int level = 0);
  std::string tuple(const std::vector<ValueId>& vs, size_t from = 0);
  std::string args(const std::vector<ValueId>& vs, size_t from = 0);
  std::string hintOf(ValueId v) const;
  void define(ValueId v, Expr e);
  void bindAll(const std::vector<ValueId>& results, const std::string& e);
  std::string name(ValueId v);
  void note(const std::string& what);

  // Ops.
  void region(core::RegionId r);
  void write(core::OpId id);
  Expr expression(const core::Op& o);
  Expr constant(const core::Op& o);
  Expr binary(const core::Op& o, const char* symbol, int level);
  std::string place(const core::Op& o, size_t firstIndex);
  void update(const core::Op& o);
  std::string variable(const std::string& hint, const std::string& typeText, const std::string& initial);
  std::string variableFor(const core::Op& update);
  void branch(const core::Op& o);
  void match(const core::Op& o);
  void forLoop(const core::Op& o);
  void whileLoop(const core::Op& o);
  void assignCarries(const std::vector<ValueId>& vars, const std::vector<ValueId>& next);
  void nest(const core::Op& o);
  void nestLoops(const core::Op& o);
  void nestResult(const core::Op& o, const core::NestResult& r, ValueId yielded, ValueId filter, ValueId result);
  std::string body(core::RegionId r, ValueId yielded);

  const core::Module& m_;
  core::FunctionId id_;
  const core::Function& f_;
  Names& names_;
  std::vector<std::string>& notes_;
  std::string out_;
  int indent_ = 0;
  int builders_ = 0;                                 ///< bodies of builders around the current line
  std::unordered_map<std::string, int> variables_;   ///< `var`s, and in how many builders they stand
  std::vector<uint32_t> uses_;
  std::vector<core::OpId> lastUse_;                  ///< by value index: the op of the value's own region that uses it last
  std::unordered_map<ValueId, Expr> exprs_;
};

} // namespace melix::decompile
