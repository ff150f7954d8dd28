#pragma once
// Lowers one instance. State is the SSA value of every local; regions copy it and what changed becomes their results.

#include "core/build.h"
#include "lower/lower.h"

#include <functional>
#include <set>
#include <unordered_map>

namespace melix::lower {

using check::Instance;
using check::LocalId;
using check::NodeId;
using check::NodeKind;
using core::Builder;
using core::OpKind;
using core::RegionId;
using core::ValueId;
using types::DimId;
using types::DimSym;
using types::TypeId;
using types::TypeKind;

/// Whether control still runs on: surely, perhaps (the exit value says), or not at all.
enum class FlowKind : uint8_t { On, Maybe, Off };

class BodyLowering {
public:
  BodyLowering(core::Module& module, Lowering& lowering, const Instance& instance, core::FunctionId function);
  void run();

private:
  using Values = std::map<LocalId, ValueId>;
  using Make = std::function<ValueId()>;

  // --- body.cpp
  ValueId expr(NodeId n);
  ValueId exprAt(NodeId n);
  /// Lowers `children` in order, then `make`; what follows an exit is guarded.
  ValueId after(const std::vector<NodeId>& children, TypeId type, const std::function<ValueId(std::vector<ValueId>)>& make);
  ValueId block(const check::Node& node);
  ValueId blockFrom(const std::vector<NodeId>& children, size_t k, TypeId type);
  ValueId guarded(TypeId type, const Make& make);
  ValueId let(const check::Node& node);
  void define(LocalId local, ValueId value);
  ValueId cast(ValueId value, TypeId type);
  ValueId undef(TypeId type);
  ValueId unit();
  ValueId constant(const check::Node& node);
  ValueId operation(const check::Node& node);
  ValueId convert(const check::Node& node);
  ValueId known(const check::Node& node);
  void check(core::CheckKind kind, std::vector<ValueId> operands, std::vector<DimId> dims, std::string text = {}, TypeId type = {});
  void checkDims(const std::vector<check::DimCheckItem>& items);
  void checkExtents(const std::vector<DimId>& dims);
  TypeId T(TypeId t) { return dimMap_.empty() ? t : types_.substitute(t, dimMap_); }
  DimId D(DimId d) { return dimMap_.empty() ? d : types_.dims.substitute(d, dimMap_); }
  /// Sizes of `value`'s type where `wanted` has the symbols `symbols`; they are what the symbols mean from here on.
  void learnDims(TypeId wanted, ValueId value, const std::vector<DimSym>& symbols);
  void matchDims(TypeId wanted, TypeId actual, types::DimSubst& out);
  core::LocId locOf(Span span);

  // --- control.cpp
  struct Arm {
    Make make;
  };
  /// An `if` or `match` whose arms are lowered by `makes`, each in its own region; merges the locals they change.
  ValueId branches(core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes, TypeId type, const std::vector<DimSym>& sizes);
  ValueId ifNode(const check::Node& node);
  ValueId shortCircuit(const check::Node& node);
  ValueId match(const check::Node& node);
  ValueId matchChain(ValueId value, const std::vector<check::Arm>& arms, size_t k, TypeId type, const std::vector<DimSym>& sizes);
  ValueId matchDirect(ValueId value, const std::vector<check::Arm>& arms, TypeId type, const std::vector<DimSym>& sizes);
  bool isDirect(const std::vector<check::Arm>& arms, TypeId scrutinee);
  bool irrefutable(check::PatternId p);
  ValueId test(ValueId value, check::PatternId p);
  void bind(ValueId value, check::PatternId p);
  ValueId opened(ValueId value, const check::Pattern& p);
  ValueId forLoop(const check::Node& node);
  ValueId whileLoop(const check::Node& node);
  ValueId loopForever(const check::Node& node);
  /// A while over the locals `body` assigns; `condition` and `body` run in their regions.
  void whileOver(const std::set<LocalId>& assigned, const Make& condition, const std::function<void()>& body);
  std::set<LocalId> assignedIn(const std::vector<NodeId>& nodes);
  bool exitsIn(NodeId n, bool onlyOutside, std::set<uint32_t> inside);
  void visit(NodeId n, const std::function<void(NodeId)>& f);
  void childrenOf(NodeId n, const std::function<void(NodeId)>& f);
  ValueId setExit(uint64_t code);
  ValueId exitIs(uint64_t code);
  ValueId jump(const check::Node& node);

  // --- place.cpp
  struct LoweredPath {
    core::Path path;
    std::vector<ValueId> indices;
  };
  LoweredPath path(TypeId type, const std::vector<check::Step>& steps);
  void loweredIndices(const std::vector<check::Step>& steps, std::vector<std::pair<ValueId, ValueId>>& out);
  LoweredPath pathWith(TypeId type, ValueId base, const std::vector<check::Step>& steps, const std::vector<std::pair<ValueId, ValueId>>& indices);
  ValueId get(const check::Node& node);
  ValueId read(ValueId base, const LoweredPath& p);
  void write(const check::Place& place, const LoweredPath& p, ValueId value);
  ValueId assign(const check::Node& node);
  ValueId update(const check::Node& node);
  ValueId pop(const check::Node& node);
  void checkIndex(ValueId index, DimId extent);
  bool proved(ValueId index, DimId extent);
  struct Affine {
    std::map<ValueId, int64_t> terms;
    DimId constant;
    bool known = true;
  };
  Affine affine(ValueId v);

  // --- nest.cpp
  ValueId nest(const check::Node& node);
  ValueId elementwise(const check::Node& node);
  void hoist(NodeId body, const std::vector<LocalId>& bound);
  bool invariant(NodeId n);
  core::NestResult resultOf(check::NestKind kind, size_t axes);
  ValueId monoidUnit(check::NestKind kind, TypeId type);

  // --- call.cpp
  ValueId call(const check::Node& node);
  ValueId derivative(const check::Node& node);
  std::vector<ValueId> withCaptures(const check::CallTarget& target, std::vector<ValueId> args);

  core::Module& module_;
  types::TypeStore& types_;
  Lowering& lowering_;
  const Instance& instance_;
  core::FunctionId function_;
  Builder b_;
  Values values_;
  types::DimSubst dimMap_;
  FlowKind flow_ = FlowKind::On;
  LocalId exit_, return_;                  ///< pseudo-locals: how control left, and with what
  std::map<uint32_t, uint64_t> loopNumbers_;
  std::map<uint32_t, LocalId> loopValues_;
  std::map<ValueId, DimId> axisExtents_;
  std::map<NodeId, ValueId> hoisted_;
  std::set<DimSym> innerSymbols_;
  uint32_t nextPseudo_;
};

} // namespace melix::lower
