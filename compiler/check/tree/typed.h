#pragma once
// The typed tree: the result of checking one instance. It is the side table from (instance, node) to type and
// meaning, in the form that `lower` walks. Names are resolved and calls have one target. Operators on arrays
// are Elementwise or Nest nodes with explicit axes. Sugar (`?`, methods, interpolation, compound assignment,
// iteration) is gone.
//
// Types in a finished tree hold no inference variables and no Inference dimension symbols.

#include "check/tree/trail.h"
#include "ops/monoid.h"
#include "support/device.h"
#include "syntax/ast.h"
#include "types/types.h"

#include <string>
#include <variant>
#include <vector>

namespace melix::check {

using types::DimId;
using types::DimSym;
using types::KnownId;
using types::TypeId;

struct NodeTag;
struct LocalTag;
struct InstanceTag;
struct PatternTag;
using NodeId = Id<NodeTag>;
using LocalId = Id<LocalTag>;
/// A function at concrete types, named by its key.
using InstanceId = Id<InstanceTag>;
using PatternId = Id<PatternTag>;
/// Numbers the loops of one instance; `break` and `continue` name theirs.
using LoopId = uint32_t;

enum class NodeKind : uint8_t {
#define NODE(Kind) Kind,
#include "check/tree/typed.def"
};

struct Local {
  NameId name;
  TypeId type;
  bool isVar = false;
  bool isInout = false;
  DimSym asDim; ///< set when this `int` is used as a dimension: its definition binds the symbol
  Span span;
};

struct Const {
  uint64_t bits = 0;
  std::string text;
};
struct LocalRef {
  LocalId local;
};
struct Dim {
  DimId dim;
};
struct Dims {
  std::vector<DimId> dims;
};
struct Index {
  uint32_t index = 0;
};
struct KnownRef {
  KnownId known;
};

enum class StepKind : uint8_t { Field, Index, Slice, All, Element };
/// A step of a place, as core::PathStep; the index expressions are nodes. A Slice has `index` = its start,
/// `end` = its end (none: to the end of the axis), `length` = the resulting extent. Negative literals are
/// resolved.
struct Step {
  StepKind kind;
  uint32_t number = 0; ///< of Field
  NodeId index, end;
  DimId length;
  int64_t step = 1;
  Span span;
  bool mayWrap = false; ///< the ends match the source of `length` only modulo 2^64
  bool late = false;    ///< the index looks for a key: it is evaluated where the place is changed, not before
};
struct Steps {
  std::vector<Step> steps;
};
/// A variable, or a part of one: a target of assignments.
struct Place {
  LocalId root;
  std::vector<Step> steps;
  TypeId type;
};

struct OpRef {
  ops::OpKind kind;
  uint32_t index = 0; ///< MathKind, CmpKind, RoundMode; of IDiv until operands are resolved: staysWhole
};
/// A quotient that is one of whole numbers whatever its operands become: `div(x, y)`.
constexpr uint32_t staysWhole = 1;
struct ConvertRef {
  ops::ConvertMode mode = ops::ConvertMode::Saturate;
  bool checked = false; ///< panics if the value does not fit (rule 17)
};

/// Element-wise work with broadcasting: argument k's element is bound to elements[k]. The result has the
/// node's dims; an argument's axes align with the trailing axes, and an axis of extent 1 in its type
/// stretches.
struct Elementwise {
  std::vector<LocalId> elements;
};

struct DimCheckItem {
  DimId left, right;        ///< must be equal
  std::string text;         ///< the message; {0} {1} … are the numbers of left, right, then of `shown`
  std::vector<DimId> shown; ///< further sizes that the message shows
  uint32_t axis = 0;        ///< of the types that are compared
  bool isOpen = false;      ///< a size in it was not found yet
  types::DimSubst equal{};  ///< of open sizes: the sizes assumed to be equal there
};
struct DimChecks {
  std::vector<DimCheckItem> items;
  bool written = false; ///< the program asks for the check: `x as T`, `reshape`
};

struct Update {
  Place place;
  LocalId value;   ///< bound to the first child
  LocalId current; ///< bound to the old value of the place, read after the value
                   ///< second child: the new value
};
struct NestAxis {
  LocalId index; ///< an int, 0 <= index < extent
  DimId extent;
  Span span;
  std::string range = {}; ///< the range that it goes over, as it is written; may be empty

  /// The name of the extent in a message.
  std::string shownExtent(const types::DimStore& dims) const {
    return range.empty() ? "dimension " + dims.show(extent) : "the length of the range " + range;
  }
};
/// `x[ids, …] op= v`: for each point of `axes`, in row-major order, the statement that is the only child: an
/// Assign or an Update of one element. Values that it reads besides the indices are let-bound before.
struct Scatter {
  std::vector<NestAxis> axes;
};

/// The value of `place` moves to the variable `local` while the child runs, and back when control leaves it,
/// however it does. Where the place hides sizes, the local's type names them: they are checked on the way in.
struct Within {
  Place place;
  LocalId local;
};

struct Loop {
  LoopId loop = 0;
};
struct For {
  LoopId loop = 0;
  LocalId index;
};

/// A builder or a reduction over all its axes. Offsets, steps and iterated values are let-bound in the body.
/// With a filter: a builder makes Node::resultDims[0] elements (one axis only); a reduction skips elements
/// that fail it. Combine (a monoid of the user): children: body, then unit, combine body over `left`,
/// `right`. The result type of a reduction is that of its body; that of a position is int, or a tuple of
/// them.
struct Nest {
  std::optional<ops::MonoidKind> reduction; ///< none: a builder
  bool isPosition() const { return reduction && ops::isPosition(*reduction); }
  std::vector<NestAxis> axes;
  bool filtered = false;
  LocalId left, right;
};

struct InoutArg {
  uint32_t param; ///< position among the callee's parameters
  Place place;
};
/// Arguments by value stand in the node's children in parameter order; inout parameters are skipped there.
struct CallTarget {
  InstanceId instance;
  bool known = false; ///< the first child is a value of Known type, whose captures are the leading parameters
  uint32_t captures = 0; ///< leading arguments that the callee captured, in a call by name
  std::vector<DimId> dims;
  std::vector<InoutArg> inouts;
};
struct BuiltinRef {
  ops::BuiltinKind builtin;
};
struct FormatSpec {
  std::string spec;
  bool quoted = false; ///< as inside another value
};

enum class DerivativeMode : uint8_t { Jvp, Reverse, Forward, Backward };
/// The result and its cotangent are one value each (a tuple's cotangent is a tuple).
///
/// Children and type of each mode:
///   Jvp      arguments, a tangent for each of `wrt`          -> (result, tangent of the result).
///   Reverse  arguments, the cotangent of the result          -> (result, cotangents of `wrt` …).
///   Forward  arguments                                       -> (result, saved).
///   Backward the saved value, the cotangent of the result    -> (cotangents of `wrt` …).
struct DerivativeRef {
  DerivativeMode mode;
  CallTarget target;         ///< as in a Call; its known callee value, if any, is the first child
  std::vector<uint32_t> wrt; ///< parameters of the instance (captures counted)
  types::RecordId saved;     ///< of Forward and Backward
};

struct Arm {
  PatternId pattern;
  NodeId guard; ///< none when there is none
  NodeId body;
};
struct Arms {
  std::vector<Arm> arms;
  std::vector<Place>
      places; ///< at most one: the scrutinee of `match &place`, whose indices are evaluated before
};
struct PatternRef {
  PatternId pattern;
};

enum class PatternKind : uint8_t {
  Wildcard,
  Bind,      ///< local
  BindPlace, ///< local, a variable that is written back to the place matched when the arm is left
  Literal,   ///< value
  Case,      ///< caseIndex; subs by position
  Parts,     ///< tuple or struct; subs by position
  Elements,  ///< a List of as many elements as there are subs
  Or,        ///< subs are alternatives that bind nothing
};
struct Pattern {
  PatternKind kind = PatternKind::Wildcard;
  TypeId type;
  LocalId local;
  Const value;
  uint32_t caseIndex = 0;
  std::vector<PatternId> subs;
  std::vector<DimSym>
      unpacked; ///< dims opened when the part matched is of Pack type (type is then the opened one)
  Span span;
};

struct OnDevice {
  Device device;
};

using Payload = std::variant<std::monostate, Const, LocalRef, Dim, Dims, Index, KnownRef, Steps, Place, OpRef,
                             ConvertRef, Elementwise, DimChecks, Update, Scatter, Within, Loop, For, Nest,
                             CallTarget, BuiltinRef, FormatSpec, DerivativeRef, Arms, PatternRef, OnDevice>;

struct Node {
  NodeKind kind = NodeKind::Error;
  TypeId type;
  Span span;
  std::vector<NodeId> children;
  std::vector<DimSym> resultDims; ///< unknown sizes that this node's value brings into scope
  Payload payload;

  template <class P>
  const P& as() const {
    return std::get<P>(payload);
  }
  template <class P>
  P& as() {
    return std::get<P>(payload);
  }
};

/// One checked instance of a function, lambda or script body.
struct Instance {
  std::string name; ///< for traces: `forward`, `loss`, `main.lambda`
  std::string key;  ///< unique in the program
  std::vector<DimSym> dimParams;
  std::vector<LocalId> params; ///< captures first; Local::isInout marks inout ones
  uint32_t captures = 0;
  TypeId result;
  std::vector<DimSym> resultDims; ///< unknown sizes in the result
  NodeId body;
  bool isCold = false; ///< its code never goes into that of its callers
  Span io;             ///< the first place in it that does input or output; none if nothing does
  bool failed = false; ///< errors were reported; not to be lowered
  Span span;

  TrailedStore<NodeId, Node> nodes;
  TrailedStore<LocalId, Local> locals;
  TrailedStore<PatternId, Pattern> patterns;
  /// While a body is checked its changes are recorded; afterwards, on none, the instance is only read.
  void recordOn(Trail* trail) {
    nodes.recordOn(trail);
    locals.recordOn(trail);
    patterns.recordOn(trail);
  }
};

} // namespace melix::check
