#pragma once
// Lowers one instance. State is the SSA value of every local; regions copy it and the changed locals become
// their results.

#include "check/tree/typed_walk.h"
#include "core/ir/nest.h"
#include "lower/exits.h"
#include "lower/lower.h"
#include "support/persistent_map.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

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
  using Values = PersistentMap<LocalId, ValueId>;
  using Make = std::function<ValueId()>;

  // --- body.cpp
  ValueId expr(NodeId n);
  using MakeOf = std::function<ValueId(std::vector<ValueId>)>;
  /// Lowers `children` in order, then `make`. Code that follows an exit is guarded. A child whose sizes later
  /// children define takes its form after these.
  ValueId after(const std::vector<NodeId>& children, TypeId type, const MakeOf& make);
  ValueId block(const check::Node& node);
  ValueId blockFrom(const std::vector<NodeId>& children, size_t k, TypeId type);
  ValueId guarded(TypeId type, const Make& make);
  ValueId let(const check::Node& node);
  void leaveUnlessMatched(const check::Node& let, ValueId value);
  ValueId afterLet(const check::Node& let, ValueId value, TypeId type, const Make& rest);
  void define(LocalId local, ValueId value);
  ValueId cast(ValueId value, TypeId type);
  ValueId undef(TypeId type);
  ValueId unit();
  void check(core::CheckKind kind, std::vector<ValueId> operands, std::vector<DimId> dims,
             std::string text = {}, TypeId type = {});
  TypeId T(TypeId t) { return dimMap_.empty() ? t : types_.substitute(t, dimMap_); }
  DimId D(DimId d) { return dimMap_.empty() ? d : types_.dims.substitute(d, dimMap_); }
  TypeId inScope(TypeId type);
  /// Binds `symbols`, which occur in `wanted`, to the sizes at the same places in `value`'s type.
  void learnDims(TypeId wanted, ValueId value, const std::vector<DimSym>& symbols);
  void matchDims(TypeId wanted, TypeId actual, types::DimSubst& out);
  core::LocId locOf(Span span);
  bool isOwnExpansion(const Expansion& made) const;

  // --- sizes.cpp
  void checkDivisors(DimId d);
  void checkSize(DimId written);
  void checkSize(DimId d, const std::string& shown);
  void checkClaims(TypeId from, TypeId to);
  void checkDims(const std::vector<check::DimCheckItem>& items);
  void checkCounts(const std::vector<check::NestAxis>& axes);
  void checkExtents(const std::vector<check::NestAxis>& axes);
  void checkShape(const std::vector<DimId>& dims);
  void checkDimArguments(std::span<const DimId> dims, std::span<const ValueId> args);

  // --- expr.cpp
  ValueId exprAt(NodeId n);
  ValueId constant(const check::Node& node);
  ValueId operation(const check::Node& node);
  ValueId applied(const check::OpRef& ref, TypeId type, std::vector<ValueId> v);
  ValueId quotient(OpKind kind, TypeId type, ValueId a, ValueId b);
  bool checksOverflow(TypeId type);
  void checkOverflow(OpKind kind, TypeId type, const std::vector<ValueId>& v);
  ValueId convert(const check::Node& node);
  ValueId madeOf(const check::Node& node, std::vector<ValueId> v);
  ValueId product(const check::Node& node, std::vector<ValueId> v);
  ValueId variant(const check::Node& node, std::vector<ValueId> v);
  ValueId closure(const check::Node& node, std::vector<ValueId> v);
  ValueId packed(const check::Node& node, ValueId value);
  void defineSizes(const check::Node& node, core::Op& op);
  ValueId sized(const check::Node& node, OpKind kind, ValueId value);
  ValueId builtin(const check::Node& node, std::vector<ValueId> v);

  // --- black_box.cpp
  ValueId blackBox(const check::Node& node);

  // --- inside.cpp
  struct LoweredPath {
    core::Path path;
    std::vector<ValueId> indices;
  };
  /// A place whose value is in other variables at the moment; `value` puts it together.
  struct Held {
    check::Place place;
    LoweredPath path;
    std::function<ValueId()> value;
  };
  ValueId whole(LocalId local, const std::vector<check::Step>& steps);
  ValueId holding(Held held, const Make& body);
  ValueId within(const check::Node& node);

  // --- control.cpp
  /// An `if` or `match` whose arms are lowered by `makes`, each in its own region; merges the locals they
  /// change.
  ValueId branches(core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes, TypeId type,
                   const std::vector<DimSym>& sizes);
  ValueId ifNode(const check::Node& node);
  ValueId shortCircuit(const check::Node& node);
  ValueId atEnd(std::vector<NodeId> nodes);

  // --- match.cpp
  /// A match being lowered; `held` is the place whose parts the arms change, without its value.
  struct Matching {
    ValueId value;
    std::vector<check::Arm> arms;
    TypeId type;
    std::vector<DimSym> sizes;
    std::optional<Held> held;
  };
  ValueId match(const check::Node& node);
  ValueId matchChain(const Matching& m, size_t k);
  ValueId matchDirect(const Matching& m);
  ValueId armBody(const Matching& m, const check::Arm& arm);
  bool isDirect(const std::vector<check::Arm>& arms, TypeId scrutinee);
  ValueId rebuilt(check::PatternId p, ValueId original, bool again);
  ValueId rebuiltAlternative(const check::Pattern& p, size_t k, ValueId original);
  ValueId rebuiltCase(const check::Pattern& p, ValueId original);

  // --- match_table.cpp
  std::optional<ValueId> matchTable(const Matching& m, size_t k);

  // --- pattern.cpp
  ValueId test(ValueId value, check::PatternId p);
  ValueId testLiteral(ValueId value, const check::Pattern& p, ops::CmpKind how = ops::CmpKind::Eq);
  ValueId testAlternatives(ValueId value, const check::Pattern& p);
  ValueId testCase(ValueId value, const check::Pattern& p);
  ValueId testElements(ValueId list, const check::Pattern& p);
  ValueId testParts(const std::vector<check::PatternId>& subs, const std::function<ValueId(uint32_t)>& part);
  void bind(ValueId value, check::PatternId p);
  void bindCase(ValueId value, check::PatternId p);
  void bindAlternatives(ValueId value, const check::Pattern& p);
  ValueId opened(ValueId value, const check::Pattern& p);

  // --- loops.cpp
  /// A range as i64; `first` and `step` are none where they are 0 and 1.
  struct Counted {
    ValueId first, step, count;
    TypeId type;
  };
  Counted counted(const std::vector<ValueId>& bounds);
  ValueId rebased(ValueId v, TypeId to);
  void checkStep(ValueId step);
  ValueId indexOf(const Counted& range, ValueId i);
  ValueId forLoop(const check::Node& node);
  void countedLoop(LocalId index, const std::vector<NodeId>& nodes, const Counted& range, bool continues,
                   const std::function<void()>& body);
  void forThatLeaves(const check::For& ref, NodeId body, const Counted& range);
  ValueId whileLoop(const check::Node& node);
  ValueId loopForever(const check::Node& node);
  /// The locals that a loop carries, and the types they keep.
  struct Carries {
    std::vector<LocalId> locals;
    std::vector<TypeId> types;
  };
  Carries carry(const std::set<LocalId>& assigned, core::Op& loop);
  /// Binds the carried locals to parameters of the region at hand.
  void enterCarries(const Carries& carries, const Values& before);
  /// A while over the locals `body` assigns; `condition` and `body` run in their regions.
  void whileOver(const std::set<LocalId>& assigned, const Make& condition, const std::function<void()>& body);
  ValueId setExit(uint64_t code);
  ValueId exitIs(uint64_t code);
  void clearExit(uint64_t code);
  void carryExit(std::set<LocalId>& assigned);
  ValueId jump(const check::Node& node);
  ValueId carriedReturn(ValueId value);
  ValueId returned();

  // --- walk.cpp
  std::set<LocalId> assignedIn(const std::vector<NodeId>& nodes);
  void collectSizes();
  /// Whether the body defines the size later.
  bool isLater(DimSym s) const { return ownSizes_.contains(s) && !dimMap_.contains(s); }

  // --- place.cpp
  using Indices = std::vector<std::pair<ValueId, ValueId>>;
  void indexNodes(const std::vector<check::Step>& steps, std::vector<NodeId>& out);
  Indices takeIndices(const std::vector<check::Step>& steps, const std::vector<ValueId>& values,
                      size_t& next);
  LoweredPath pathWith(TypeId type, ValueId base, const std::vector<check::Step>& steps,
                       const Indices& indices);
  LoweredPath placePath(const check::Place& place, const std::vector<ValueId>& values, size_t& next);
  ValueId current(const check::Place& place, const LoweredPath& p);
  ValueId scatter(const check::Node& node);
  bool addsToElement(NodeId statement);
  ValueId scatterSum(const check::Node& node);
  ValueId get(const check::Node& node);
  ValueId read(ValueId base, const LoweredPath& p);
  void write(const check::Place& place, const LoweredPath& p, ValueId value);
  ValueId assign(const check::Node& node);
  ValueId update(const check::Node& node);
  ValueId pop(const check::Node& node);

  // --- elementwise.cpp
  ValueId elementwise(const check::Node& node);
  ValueId collected(TypeId type, const std::function<ValueId(const std::vector<ValueId>&)>& element);
  ValueId step(OpKind kind, ValueId left, ValueId right);
  ValueId elementAt(ValueId argument, const std::vector<DimId>& dims, const std::vector<ValueId>& axes);

  // --- nest.cpp
  ValueId nest(NodeId n);
  struct NestBody {
    bool filter = false;               ///< yields (bool, value)
    bool counts = false;               ///< yields 1 for elements that pass the filter, after the value
    bool leaves = false;               ///< `?` in the body: yields the position where control left, last
    bool needsOne = false;             ///< there is no result without an element
    ValueId positions;                 ///< the positions that passed the filter, when these are found first
    ValueId unit;                      ///< of a user's monoid
    std::optional<OpKind> checkedStep; ///< an integer sum or product that must not wrap

    /// Whether it yields its value alone, at each point, by a monoid that is known.
    bool isPlain() const {
      return !filter && !counts && !leaves && !needsOne && !positions && !unit && !checkedStep;
    }
  };
  std::optional<OpKind> checkedStep(check::NestKind kind, TypeId type);
  NestBody shapeOf(const check::Node& node, std::vector<DimId>& dims);
  ValueId unitBefore(const check::Node& node, const NestBody& shape);
  RegionId combination(const check::Node& node, const NestBody& shape, TypeId yielded);
  TypeId addResults(const check::Node& node, const NestBody& shape, std::span<const ValueId> out,
                    core::NestBuilder& made);
  ValueId nestResult(const check::Node& node, const NestBody& shape, core::OpId made, size_t own);
  std::vector<ValueId> nestBody(NodeId n, const NestBody& shape, const std::vector<DimId>& dims,
                                core::NestBuilder& made, size_t rows);
  std::vector<ValueId> pointBody(NodeId n, const NestBody& shape, std::span<const DimId> dims,
                                 core::NestBuilder& made, size_t rows);
  ValueId rowOf(NodeId n, const NestBody& shape, std::span<const DimId> dims, size_t rows);
  std::vector<ValueId> nestValue(const check::Node& node, const NestBody& shape);
  ValueId orFiller(ValueId value, TypeId type);
  ValueId filler(TypeId type);
  ValueId flatIndex(const check::Nest& ref);
  void leaveAt(const check::Node& node, ValueId position);
  ValueId positions(const check::Nest& ref, NodeId filter);
  ValueId axisParam(core::NestBuilder& made, DimId extent, LocalId index);
  DimId flatExtent(const check::Nest& ref);
  ValueId flatParam(core::NestBuilder& made, const check::Nest& ref);
  void defineAxes(const check::Nest& ref, ValueId flat);
  std::vector<ValueId> unflatten(const check::Nest& ref, ValueId flat);
  core::NestResult resultOf(check::NestKind kind, size_t axes);
  ValueId monoidUnit(check::NestKind kind, TypeId type);
  void inRegion(RegionId region, const std::function<void()>& fill);

  // --- needs.cpp
  /// The needs of a part of a builder's body: axes of the sweep, by bit; `own`: values of the current point.
  struct Needs {
    uint64_t axes = 0;
    bool own = false;
    bool within(uint64_t given) const { return !own && (axes & ~given) == 0; }
    void join(const Needs& other) { axes |= other.axes, own |= other.own; }
  };
  Needs needs(NodeId n);
  Needs needs(const check::Names& reads);
  void introduce(NodeId n);
  void addSizes(std::span<const check::NestAxis> axes, check::Names& reads);
  Needs needsOf(std::span<const check::NestAxis> axes);
  bool isKnownAhead(const check::NestAxis& axis);
  void introduceIndex(LocalId index, const Needs& given);
  void introduceAxis(const check::NestAxis& axis);
  bool introduceAxes(std::span<const check::NestAxis> axes);
  std::vector<check::NestAxis> introduceInner(std::span<const check::NestAxis> axes);
  bool heavy(NodeId n);
  bool stops(NodeId n);

  // --- way.cpp
  /// The way through a body to a part of it. `pieces`, each with the depth of its parent, are executed on it:
  /// conditions, and the statements that these and the part read. `skips`: there are more conditions on it.
  struct Way {
    std::vector<NodeId> nodes;
    std::vector<std::pair<size_t, NodeId>> pieces;
    Needs needs;
    bool exits = false, skips = false;
    bool searches = false; ///< whether some point of axes that are open gets there
    TypeId type;
    Make there, elsewhere;
    bool runs(NodeId n) const;
  };
  /// The conditions between a node and one of its children, and the siblings that run before the child.
  struct Turn {
    std::vector<NodeId> gate, earlier;
    bool lost = false; ///< no way leads there
  };
  Turn turnAt(NodeId n, NodeId next);
  std::optional<Way> wayTo(const std::vector<NodeId>& nodes, std::optional<uint64_t> axes);
  void addPiece(Way& way, size_t depth, NodeId piece, check::Names& reads);
  bool isOpen(const check::NestAxis& axis) const { return sweep_.open.contains(axis.index); }
  bool isIntoOpen(NodeId n, NodeId next) const;
  ValueId along(const Way& way, size_t k = 0);
  ValueId alongNode(const Way& way, size_t k);
  ValueId anyPoint(const check::Nest& ref, const Make& body);
  ValueId through(const Way& way, NodeId n, const Turn& turn, NodeId next);
  ValueId throughArm(const Way& way, check::Node node, const Turn& turn, NodeId next);

  // --- hoist.cpp
  /// The axes around the current part of a body: axes of the builder, then axes of sweeps inside of it
  /// whose sizes are known ahead. A part that needs not all of `whole` is computed ahead.
  struct Sweep {
    std::vector<check::NestAxis> axes;
    uint64_t whole = 0;
    std::vector<NodeId> path;
    std::map<LocalId, Needs> locals;
    std::map<DimSym, Needs> sizes;
    std::set<LocalId> open; ///< axes of sweeps inside whose sizes are not known ahead: no axes of this
    std::set<NodeId> stays; ///< tried before, and not to be moved: trying again would double at each level
    size_t around = 0;      ///< axes of the builder that are swept around this
    size_t rows = 0;        ///< so many of its axes tell how long a sweep inside is; none if all do, or none
  };
  /// A value computed before a sweep, at each point of some axes of it; `hidden` sizes are packed.
  struct Ahead {
    ValueId value;
    std::vector<LocalId> axes;
    std::vector<DimSym> hidden;
  };
  size_t hoist(NodeId nest, size_t around = 0);
  void look(NodeId n);
  void lookAt(NodeId n);
  void lookInside(NodeId n);
  bool moveAhead(NodeId n, uint64_t axes);
  bool makeLight(const Way& way);
  ValueId computeAhead(uint64_t axes, const Way& value, const Way& reach);
  ValueId whereReached(const std::vector<DimId>& others, const Make& make);
  ValueId nestOver(uint64_t axes, core::NestResult result, const Way& way, const Make& body);
  std::vector<uint32_t> axesOf(uint64_t bits);
  DimId extentOf(uint32_t axis);
  std::vector<DimSym> hiddenSizes(NodeId n);
  ValueId concealed(ValueId value, NodeId n, const std::vector<DimSym>& hidden);
  ValueId revealed(ValueId pack, NodeId n, const std::vector<DimSym>& hidden);
  ValueId hoisted(NodeId n, const Ahead& ahead);

  // --- call.cpp
  ValueId call(const check::Node& node);
  ValueId derivative(const check::Node& node);
  core::Op derivativeOf(const check::Node& node, std::vector<ValueId> args);
  TypeId resultOf(const core::Op& derivative);
  std::vector<ValueId> capturesOf(ValueId known);
  core::Operands withCaptures(const check::CallTarget& target, core::Operands args);

  core::Module& module_;
  types::TypeStore& types_;
  Lowering& lowering_;
  const Instance& instance_;
  core::FunctionId function_;
  Builder b_;
  Values values_;
  types::DimSubst dimMap_;
  FlowKind flow_ = FlowKind::On;
  LocalId exit_, return_; ///< pseudo-locals: how control left, and with which value
  std::map<uint32_t, uint64_t> loopNumbers_;
  std::map<uint32_t, LocalId> loopValues_;
  std::map<NodeId, Ahead> hoisted_;
  std::map<NodeId, Make> instead_; ///< the replacement of a node on the way to another
  Sweep sweep_;
  std::set<ValueId> guarded_; ///< computed ahead only if the sweep has a point
  std::vector<Held> held_;
  std::map<check::PatternId, std::vector<ValueId>> payloads_; ///< of the cases bound, by pattern
  std::map<check::PatternId, ValueId> opened_;                ///< the matched value, its sizes named
  std::set<DimSym> ownSizes_, usedSizes_; ///< sizes that the body defines; that types mention
  uint32_t nextPseudo_;
  uint64_t nextLoop_ = 0;
};

} // namespace melix::lower
