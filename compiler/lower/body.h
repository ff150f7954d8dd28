#pragma once
// Lowers one instance. State is the SSA value of every local; regions copy it and the changed locals become
// their results.

#include "check/tree/typed_walk.h"
#include "core/ir/nest.h"
#include "lower/exits.h"
#include "lower/hoisting.h"
#include "lower/lower.h"
#include "support/function_ref.h"
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
using core::MonoidKind;
using core::OpKind;
using core::RegionId;
using core::ValueId;
using types::DimId;
using types::DimSym;
using types::TypeId;
using types::TypeKind;

/// Whether control still runs on: surely, perhaps (the exit value says), or not at all.
enum class FlowKind : uint8_t { On, Maybe, Off };

using Values = PersistentMap<LocalId, ValueId>;
using MakeOf = FunctionRef<ValueId(std::vector<ValueId>)>;

/// How control leaves the parts of a body: by a code in a local of its own, and a value in another.
class Exits {
public:
  /// `locals`: how many the body has; the locals of exits get the numbers after them.
  explicit Exits(uint32_t locals) : code(locals), value(locals + 1), nextLocal_(locals + 2) {}

  LocalId addLocal() { return LocalId(nextLocal_++); }
  /// Gives a loop the number that exit codes name it by.
  uint64_t addLoop(uint32_t loop) { return numbers_[loop] = nextLoop_++; }
  uint64_t numberOf(uint32_t loop) const { return numbers_.at(loop); }

  FlowKind flow = FlowKind::On;
  const LocalId code, value;                ///< how control left, and with the value of a `return`
  std::map<uint32_t, LocalId> loopValues{}; ///< of loops at hand that `break` gives a value

private:
  uint32_t nextLocal_;
  uint64_t nextLoop_ = 0;
  std::map<uint32_t, uint64_t> numbers_{};
};

/// Sizes by the symbols of the typed tree.
struct Sizes {
  types::DimSubst known;
  std::set<DimSym> own, used; ///< sizes that the body defines; sizes that types mention
  /// Whether the body defines the size later.
  bool isLater(DimSym s) const { return own.contains(s) && !known.contains(s); }
};

/// The parts of values that patterns have bound.
struct BoundPatterns {
  std::map<check::PatternId, std::vector<ValueId>> payloads; ///< of the cases
  std::map<check::PatternId, ValueId> opened;                ///< the matched value, its sizes named
};

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

/// Lowers one instance: its builder, the value of each local, and how far control has got. The forms of the
/// typed tree are lowered by the functions of the headers beside this one.
class BodyLowering {
public:
  BodyLowering(core::Module& module, Lowering& lowering, const Instance& instance, core::FunctionId function);
  void run();

  ValueId expr(NodeId n);
  /// Lowers `children` in order, then `make`. Code that follows an exit is guarded. A child whose sizes later
  /// children define takes its form after these.
  ValueId after(const std::vector<NodeId>& children, TypeId type, MakeOf make);
  ValueId guarded(TypeId type, const Make& make);
  void define(LocalId local, ValueId value);
  ValueId cast(ValueId value, TypeId type);
  ValueId undef(TypeId type);
  ValueId unit();
  void check(core::CheckKind kind, std::vector<ValueId> operands, std::vector<DimId> dims,
             std::string text = {}, TypeId type = {});
  TypeId T(TypeId t) { return sizes.known.empty() ? t : types.substitute(t, sizes.known); }
  DimId D(DimId d) { return sizes.known.empty() ? d : types.dims.substitute(d, sizes.known); }
  /// Binds `symbols`, which occur in `wanted`, to the sizes at the same places in `value`'s type.
  void learnDims(TypeId wanted, ValueId value, const std::vector<DimSym>& symbols);
  void matchDims(TypeId wanted, TypeId actual, types::DimSubst& out);
  core::LocId locOf(Span span);

  core::Module& module;
  types::TypeStore& types;
  Lowering& lowering;
  const Instance& instance;
  core::FunctionId function;
  Builder b;
  Values values;
  Sizes sizes;
  Exits exits;
  Hoisting hoisting;
  BoundPatterns patterns;
  std::vector<Held> held;
};

ValueId lowerBlock(BodyLowering& fn, const check::Node& node);
ValueId blockFrom(BodyLowering& fn, const std::vector<NodeId>& children, size_t k, TypeId type);
ValueId lowerLet(BodyLowering& fn, const check::Node& node);

} // namespace melix::lower
