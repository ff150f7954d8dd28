#include "check/intrinsics/intrinsics.h"

#include "types/tangent.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace melix::check {

using ops::MonoidKind;

namespace {

/// In the order of IntrinsicKind.
constexpr IntrinsicText rows[] = {
#define INTRINSIC(Kind, Name, Signature, Doc) {Name, Signature, Doc},
#include "check/intrinsics/intrinsics.def"
};

/// The reduction that an intrinsic names; `mean` is a sum. None of others.
std::optional<MonoidKind> reductionOf(IntrinsicKind kind) {
  if (kind == IntrinsicKind::Mean) return MonoidKind::Sum;
  const auto row = std::ranges::find(ops::monoids(), intrinsicName(kind), &ops::MonoidInfo::builtin);
  return row == ops::monoids().end() ? std::nullopt : std::optional(row->kind);
}
bool isSumOrProduct(std::optional<MonoidKind> reduction) {
  return reduction == MonoidKind::Sum || reduction == MonoidKind::Prod;
}
bool isOfBools(IntrinsicKind kind) {
  return reductionOf(kind) == MonoidKind::And || reductionOf(kind) == MonoidKind::Or;
}

} // namespace

std::optional<IntrinsicKind> findIntrinsic(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &IntrinsicText::name);
  if (row == std::end(rows)) return std::nullopt;
  return static_cast<IntrinsicKind>(row - std::begin(rows));
}

std::span<const IntrinsicText> intrinsicTexts() { return rows; }

std::string_view intrinsicName(IntrinsicKind kind) { return rows[static_cast<size_t>(kind)].name; }

std::string intrinsicHint(IntrinsicKind kind) {
  const IntrinsicText& row = rows[static_cast<size_t>(kind)];
  return "`" + std::string(row.name) + std::string(row.signature) + "`: " + std::string(row.doc);
}

static std::optional<ops::DirectedKind> directed(IntrinsicKind kind) {
  for (unsigned k = 0; k < ops::directedCount; ++k)
    if (const auto row = static_cast<ops::DirectedKind>(k); ops::directedRow(row).name == intrinsicName(kind))
      return row;
  return std::nullopt;
}

size_t leastArguments(IntrinsicKind kind) {
  if (const auto row = directed(kind)) return ops::directedArity(*row);
  switch (kind) {
  case IntrinsicKind::Fma:
  case IntrinsicKind::Select: return 3;
  case IntrinsicKind::CopySign:
  case IntrinsicKind::Ldexp:
  case IntrinsicKind::LdexpNear:
  case IntrinsicKind::Fill:
  case IntrinsicKind::Div:
  case IntrinsicKind::Pow:
  case IntrinsicKind::Atan2:
  case IntrinsicKind::Dot: return 2;
  default: return 1;
  }
}

bool infersFromExpected(IntrinsicKind kind) {
  return kind == IntrinsicKind::Reshape || kind == IntrinsicKind::ZeroOf || kind == IntrinsicKind::Build;
}

bool namesParameters(std::string_view label) { return label == "wrt" || label == "each"; }

NodeId GivenArgs::positional() {
  for (size_t k = 0; k < args_.size(); ++k)
    if (!used_[k] && args_[k].label.empty()) {
      used_[k] = true;
      return args_[k].node;
    }
  return NodeId::none();
}

NodeId GivenArgs::labelled(std::string_view label) {
  for (size_t k = 0; k < args_.size(); ++k)
    if (!used_[k] && args_[k].label == label) {
      used_[k] = true;
      return args_[k].node;
    }
  return NodeId::none();
}

size_t GivenArgs::positionalsLeft() const {
  size_t count = 0;
  for (size_t k = 0; k < args_.size(); ++k) count += !used_[k] && args_[k].label.empty();
  return count;
}

const GivenArg* GivenArgs::firstUnused() const {
  for (size_t k = 0; k < args_.size(); ++k)
    if (!used_[k]) return &args_[k];
  return nullptr;
}

bool ArrayIntrinsics::takesGenerator(IntrinsicKind kind) {
  return reductionOf(kind) && kind != IntrinsicKind::Reduce;
}

/// The axes that `over` names, as they are written.
std::optional<std::vector<size_t>> ArrayIntrinsics::axesAsWritten(NodeId over, size_t rank, Span span) {
  std::vector<NodeId> items{over};
  if (b.instance.nodes[over].kind == NodeKind::Tuple) items = b.instance.nodes[over].children;
  std::vector<size_t> axes;
  for (NodeId item : items) {
    auto axis = b.axisOf(b.literal(item), rank, span);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// The same in order, each once.
std::optional<std::vector<size_t>> ArrayIntrinsics::axesOf(NodeId over, size_t rank, Span span) {
  auto axes = axesAsWritten(over, rank, span);
  if (!axes) return axes;
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) == axes->end()) return axes;
  b.reportBadAxis(rank, span);
  return std::nullopt;
}

bool ArrayIntrinsics::needArray(NodeId x, std::string_view name, Span span) {
  if (b.kindOf(x) == TypeKind::Array) return true;
  if (b.kindOf(x) != TypeKind::Error)
    b.sink.report(DiagId::WantsArray, span, std::string(name), b.show(b.typeOf(x)));
  return false;
}

/// The elementary function of that name; `rem` has none, it is `%`.
static std::optional<ops::MathKind> elementary(IntrinsicKind kind) {
  for (unsigned k = 0; k < ops::mathCount; ++k)
    if (const auto math = static_cast<ops::MathKind>(k); ops::mathName(math) == intrinsicName(kind))
      return math;
  return std::nullopt;
}

NodeId ArrayIntrinsics::call(IntrinsicKind kind, GivenArgs& args, TypeId expected, Span span) {
  if (const auto math = elementary(kind)) return mathFunction(*math, args, span);
  if (const auto row = directed(kind)) return directedFunction(*row, args, span);
  switch (kind) {
  case IntrinsicKind::Sum:
  case IntrinsicKind::Prod:
  case IntrinsicKind::Any:
  case IntrinsicKind::All:
  case IntrinsicKind::ArgMax:
  case IntrinsicKind::ArgMin:
  case IntrinsicKind::LogSumExp:
  case IntrinsicKind::Mean: return reduction(kind, args, span);
  case IntrinsicKind::Max:
  case IntrinsicKind::Min: {
    if (args.positionalsLeft() < 2) return reduction(kind, args, span);
    NodeId result = args.positional();
    while (args.positionalsLeft() > 0) result = minMax(kind, result, args.positional(), span);
    return result;
  }
  case IntrinsicKind::Abs: return absolute(args.positional(), span);
  case IntrinsicKind::Sqrt: return floatFunction(OpKind::Sqrt, 0, args.positional(), "sqrt", span);
  case IntrinsicKind::Floor:
    return floatFunction(OpKind::Round, static_cast<uint32_t>(ops::RoundMode::Floor), args.positional(),
                         "floor", span);
  case IntrinsicKind::Ceil:
    return floatFunction(OpKind::Round, static_cast<uint32_t>(ops::RoundMode::Ceil), args.positional(),
                         "ceil", span);
  case IntrinsicKind::Trunc:
    return floatFunction(OpKind::Round, static_cast<uint32_t>(ops::RoundMode::Trunc), args.positional(),
                         "trunc", span);
  case IntrinsicKind::RoundEven:
    return floatFunction(OpKind::Round, static_cast<uint32_t>(ops::RoundMode::HalfEven), args.positional(),
                         "round", span);
  case IntrinsicKind::CopySign:
  case IntrinsicKind::Fma: {
    std::vector<NodeId> given;
    for (size_t k = 0; k < (kind == IntrinsicKind::Fma ? 3u : 2u); ++k) given.push_back(args.positional());
    return ofNumbers(kind, std::move(given), span, [&](std::vector<NodeId> e, TypeId element) {
      return b.op(kind == IntrinsicKind::Fma ? OpKind::Fma : OpKind::CopySign, element, std::move(e), span);
    });
  }
  case IntrinsicKind::Ldexp:
  case IntrinsicKind::LdexpNear: {
    const auto range = kind == IntrinsicKind::Ldexp ? ops::ScaleRange::Any : ops::ScaleRange::Near;
    NodeId y = args.positional(), n = args.positional();
    return ofNumbers(kind, {y, n}, span, [&](std::vector<NodeId> e, TypeId element) {
      return b.op(OpKind::Scale, element, std::move(e), span, static_cast<uint32_t>(range));
    });
  }
  case IntrinsicKind::Select: return select(args, span);
  case IntrinsicKind::Div: {
    NodeId x = args.positional(), y = args.positional();
    return ofNumbers(kind, {x, y}, span, [&](std::vector<NodeId> e, TypeId element) {
      return b.op(OpKind::IDiv, element, std::move(e), span, staysWhole);
    });
  }
  case IntrinsicKind::Bits: return bitsOf(args.positional(), span);
  case IntrinsicKind::F32FromBits:
  case IntrinsicKind::F64FromBits: {
    bool wide = kind == IntrinsicKind::F64FromBits;
    NodeId x = args.positional();
    UnifyResult match =
        b.infer.unify(b.types.scalar(wide ? TypeKind::U64 : TypeKind::U32), b.types.element(b.typeOf(x)));
    if (match.kind != UnifyKind::Equal) {
      b.sink.report(DiagId::ArgumentType, span, std::string(intrinsicName(kind)), wide ? "u64" : "u32",
                    b.show(b.typeOf(x)));
      return b.error(span);
    }
    return b.elementwise({x}, span, [&](std::vector<NodeId> e) {
      return b.op(OpKind::Bitcast, b.types.scalar(wide ? TypeKind::F64 : TypeKind::F32), std::move(e), span);
    });
  }
  case IntrinsicKind::Shape: return shapeOf(args.positional(), span);
  case IntrinsicKind::Len: return lengthOf(args.positional(), span);
  case IntrinsicKind::Reshape: return reshape(args, expected, span);
  case IntrinsicKind::Permute: return permute(args, span);
  case IntrinsicKind::Concat: return concat(args, span);
  case IntrinsicKind::Stack: return stack(args, span);
  case IntrinsicKind::Cumsum: return cumsum(args, span);
  case IntrinsicKind::Zeros:
  case IntrinsicKind::Ones:
  case IntrinsicKind::Fill: return ofSizes(kind, args, expected, span);
  case IntrinsicKind::Flip: return flip(args, span);
  case IntrinsicKind::ArgSort: return argSort(args, span);
  case IntrinsicKind::StopGradient: {
    NodeId x = args.positional();
    return b.make(NodeKind::StopGradient, b.typeOf(x), span, {x});
  }
  case IntrinsicKind::BlackBox: {
    NodeId x = args.positional();
    return b.make(NodeKind::BlackBox, b.typeOf(x), span, {x});
  }
  case IntrinsicKind::Debug: {
    NodeId x = args.positional();
    return b.make(NodeKind::Debug, b.typeOf(x), span, {x});
  }
  default: return NodeId::none();
  }
}

/// Whether elements of this type are reduced this way; says so if not. Sums are of all that `+` combines.
bool ArrayIntrinsics::reduces(IntrinsicKind kind, TypeId element, Span span) {
  TypeId type = b.infer.shallow(element);
  TypeKind k = b.types.kind(type);
  bool number = b.isNumber(type) || k == TypeKind::Bool || b.infer.isOpen(type);
  bool parts = k == TypeKind::Array || k == TypeKind::Tuple || k == TypeKind::Struct || k == TypeKind::Enum ||
               k == TypeKind::List || k == TypeKind::Slope;
  bool fits = number;
  if (isOfBools(kind))
    fits = k == TypeKind::Bool;
  else if (kind == IntrinsicKind::Sum || kind == IntrinsicKind::Mean)
    fits = number || (parts && types::canAdd(b.types, b.infer.zonk(type)));
  else if (kind == IntrinsicKind::Cumsum) // of bools nothing is counted
    fits = b.isNumber(type) || b.infer.isOpen(type) || (parts && types::canAdd(b.types, b.infer.zonk(type)));
  else if (kind == IntrinsicKind::LogSumExp)
    fits = b.types.isFloat(type) || b.infer.isOpen(type);
  if (fits || k == TypeKind::Error) return k != TypeKind::Error;
  std::string name(intrinsicName(kind));
  if (!isOfBools(kind) &&
      b.lacks(type, kind == IntrinsicKind::LogSumExp ? "Float" : "Num", "`" + name + "`", span))
    return false;
  if (isOfBools(kind))
    b.sink.report(DiagId::WantsBool, span, "`" + name + "`", b.show(type)).hint =
        "compare: `" + name + "(x != 0)`";
  else if (kind == IntrinsicKind::LogSumExp)
    b.sink.report(DiagId::WantsFloat, span, name, b.show(type)).hint = "`as f64` behind a value converts it";
  else
    b.sink.report(DiagId::WantsNumbers, span, name, b.show(type)).hint =
        k == TypeKind::Array  ? "of arrays, collect them first: `" + name + "([for i: x[i]], over: 0)`"
        : k == TypeKind::Char ? "`x as int` converts"
        : k == TypeKind::Str && kind == IntrinsicKind::Sum
            ? "`join(list(for x in xs: …), \"\")` concatenates strings"
            : "";
  return false;
}

namespace {

/// The terms of a generator as an array.
NodeId collected(NodeBuilder& b, Node node, Nest nest, Span span) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : nest.axes) dims.push_back(axis.extent);
  if (nest.filtered) {
    node.resultDims = {b.types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span})};
    dims = {b.types.dims.symbol(node.resultDims[0])};
  }
  nest.reduction.reset();
  const TypeId type = b.types.array(b.infer.zonk(b.typeOf(node.children[0])), std::move(dims));
  NodeId made = b.make(NodeKind::Nest, type, span, std::move(node.children), std::move(nest));
  b.instance.nodes.edit(made).resultDims = node.resultDims;
  return made;
}

/// The sum of what holds Dicts, whose keys are merged by `+`.
NodeId sumInOrder(NodeBuilder& b, NodeId terms, Span span) {
  NodeId zero = b.op(OpKind::Zero, b.infer.zonk(b.types.element(b.typeOf(terms))), {}, span);
  return b.library.callPrelude("sum_in_order", {terms, zero}, span);
}

} // namespace

NodeId ArrayIntrinsics::reduction(IntrinsicKind kind, GivenArgs& args, Span span) {
  NodeId x = args.positional();
  NodeId over = args.labelled("over"), keepArg = args.labelled("keep");
  bool keep = keepArg.valid() && b.literal(keepArg) == 1;
  TypeId type = b.typeOf(x);
  if (b.types.kind(type) == TypeKind::Error) return b.error(span);
  if (b.types.kind(type) == TypeKind::List) {
    NodeId array = b.library.callPrelude("array", {x}, span);
    GivenArgs inner({{array, "", span}});
    return reduction(kind, inner, span);
  }
  size_t rank = b.types.rank(type);
  if (kind == IntrinsicKind::Sum && rank > 0 && !over.valid() &&
      types::holdsDict(b.types, b.infer.zonk(b.types.element(type))))
    return reduces(kind, b.types.element(type), span) ? sumInOrder(b, x, span) : b.error(span);
  const std::optional<MonoidKind> reduction = reductionOf(kind);
  const bool places = reduction && ops::isPosition(*reduction);
  if (rank == 0 && !places && !over.valid() && b.types.isScalar(b.infer.shallow(type))) // `T[..S]` of no axes
    return reduces(kind, type, span) ? reduceAxes(kind, x, {}, keep, span) : b.error(span);
  if (rank == 0) {
    b.sink.report(DiagId::WantsArray, span, std::string(intrinsicName(kind)), b.show(type));
    return b.error(span);
  }
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (over.valid()) {
    auto chosen = axesOf(over, rank, b.spanOf(over));
    if (!chosen) return b.error(span);
    axes = *chosen;
  }
  if (!reduces(kind, b.types.element(type), span)) return b.error(span);
  return kind == IntrinsicKind::LogSumExp ? logSumExp(x, axes, keep, span)
                                          : reduceAxes(kind, x, axes, keep, span);
}

/// The array of what `value` gives for each place along the axes that are kept: it gets the extents of the
/// reduced ones, and reads the element at given indices of these.
NodeId ArrayIntrinsics::alongKept(NodeId x, const std::vector<size_t>& axes, bool keep, Span span,
                                  OfReduced value) {
  std::vector<NodeId> nodes;
  LocalId array = b.bind("x", x, nodes);
  std::vector<DimId> dims = b.dimsOf(b.typeOf(x)), outer, inner;
  auto reduced = [&](size_t k) { return std::find(axes.begin(), axes.end(), k) != axes.end(); };
  for (size_t k = 0; k < dims.size(); ++k) (reduced(k) ? inner : outer).push_back(dims[k]);
  std::vector<DimId> shape = keep ? dims : outer;
  if (keep)
    for (size_t axis : axes) shape[axis] = b.types.dims.constant(1);
  nodes.push_back(b.collect(shape, span, [&](const std::vector<LocalId>& place) {
    return value(inner, [&](const std::vector<LocalId>& r) {
      std::vector<LocalId> index;
      size_t nextOuter = 0, nextInner = 0;
      for (size_t k = 0; k < dims.size(); ++k)
        index.push_back(reduced(k) ? r[nextInner++] : place[keep ? k : nextOuter++]);
      return b.at(b.local(array, span), index, span);
    });
  }));
  return b.block(std::move(nodes), span);
}

NodeId ArrayIntrinsics::reduceAxes(IntrinsicKind kind, NodeId x, const std::vector<size_t>& axes, bool keep,
                                   Span span) {
  bool sums = isSumOrProduct(reductionOf(kind));
  return alongKept(x, axes, keep, span, [&](const std::vector<DimId>& inner, ElementAt read) {
    NodeId total = b.reduce(*reductionOf(kind), inner, span, [&](const std::vector<LocalId>& r) {
      return sums ? summand(kind, read(r), span) : read(r);
    });
    if (kind != IntrinsicKind::Mean) return total;
    return meanOf(total, b.types.element(b.typeOf(x)), b.dimValue(b.types.dims.product(inner), span), span);
  });
}

bool ArrayIntrinsics::isIntOrBool(TypeId element) {
  const TypeId type = b.infer.shallow(element);
  return b.types.kind(type) == TypeKind::Bool || b.types.isInt(type);
}

/// What is summed of a number: of bools and integers whose mean is wanted an f64, which does not wrap.
NodeId ArrayIntrinsics::summand(IntrinsicKind kind, NodeId value, Span span) {
  if (kind == IntrinsicKind::Mean && isIntOrBool(b.typeOf(value)))
    return b.convert(value, b.types.scalar(TypeKind::F64), span);
  return b.summable(value, span);
}

/// total / count; the mean of bools and integers is an f32 (rule 16 gives it for bools).
NodeId ArrayIntrinsics::meanOf(NodeId total, TypeId element, NodeId count, Span span) {
  if (isIntOrBool(element))
    return b.convert(b.binary(BinaryKind::Div, total, count, span), b.types.scalar(TypeKind::F32), span);
  TypeId shallow = b.infer.shallow(element);
  if (b.infer.isOpen(shallow)) b.infer.unify(b.infer.freshVar(types::VarClass::OpenFloat, span), shallow);
  if (b.lacks(shallow, "Float", "`mean`", span)) return b.error(span);
  return b.binary(BinaryKind::Div, total, count, span);
}

/// m + log(sum(exp(x - m))) with m the maximum, or m itself when that is not finite; weights carry the
/// derivative, so the maximum is a constant for it.
NodeId ArrayIntrinsics::logSumExp(NodeId x, const std::vector<size_t>& axes, bool keep, Span span) {
  TypeId element = b.types.element(b.typeOf(x));
  if (b.infer.isOpen(element)) b.infer.unify(b.infer.freshVar(types::VarClass::OpenFloat, span), element);
  auto math = [&](ops::MathKind f, NodeId v) {
    return b.op(OpKind::Math, element, {v}, span, static_cast<uint32_t>(f));
  };
  return alongKept(x, axes, keep, span, [&](const std::vector<DimId>& inner, ElementAt read) {
    std::vector<NodeId> body;
    NodeId top = b.reduce(MonoidKind::Max, inner, span, read);
    LocalId m = b.bind("m", b.make(NodeKind::StopGradient, element, span, {top}), body);
    auto compare = [&](ops::CmpKind how, NodeId left) {
      return b.op(OpKind::Cmp, b.types.boolean(), {left, b.number("0", element, span)}, span,
                  static_cast<uint32_t>(how));
    };
    auto choose = [&](LocalId condition, NodeId yes, NodeId no) {
      return b.op(OpKind::Select, element, {b.local(condition, span), yes, no}, span);
    };
    auto number = [&](const char* text) { return b.number(text, element, span); };
    auto highest = [&] { return b.local(m, span); };
    // x - m is nan when both are the same infinity; the shift is then 0. Where all are -inf, the sum counts
    // one more, so that the slopes are their limit 0 and not that of the logarithm times 0.
    LocalId finite = b.bind(
        "finite", compare(ops::CmpKind::Eq, b.op(OpKind::Sub, element, {highest(), highest()}, span)), body);
    LocalId below = b.bind("below", compare(ops::CmpKind::Lt, highest()), body);
    LocalId shift = b.bind("shift", choose(finite, highest(), number("0")), body);
    NodeId total = b.reduce(MonoidKind::Sum, inner, span, [&](const std::vector<LocalId>& r) {
      return math(ops::MathKind::Exp, b.op(OpKind::Sub, element, {read(r), b.local(shift, span)}, span));
    });
    NodeId more = choose(finite, number("0"), choose(below, number("1"), number("0")));
    NodeId start = choose(finite, highest(), choose(below, highest(), number("0")));
    NodeId sum = b.op(OpKind::Add, element, {total, more}, span);
    body.push_back(b.op(OpKind::Add, element, {start, math(ops::MathKind::Log, sum)}, span));
    return b.block(std::move(body), span);
  });
}

NodeId ArrayIntrinsics::reduceGenerator(IntrinsicKind kind, NodeId generator, Span span) {
  Node node = b.instance.nodes[generator];
  if (node.kind != NodeKind::Nest) return generator; // an error was reported
  Nest nest = node.as<Nest>();
  nest.reduction = reductionOf(kind);
  NodeId body = node.children[0];
  TypeId element = b.typeOf(body);
  if (!reduces(kind, element, span)) return b.error(span);
  if (kind == IntrinsicKind::Sum && types::holdsDict(b.types, b.infer.zonk(element)))
    return sumInOrder(b, collected(b, std::move(node), std::move(nest), span), span);
  if (isSumOrProduct(nest.reduction))
    if (b.types.isScalar(b.infer.shallow(element))) body = summand(kind, body, span);
  node.children[0] = body;
  TypeId type = b.typeOf(body);
  if (nest.isPosition())
    type = nest.axes.size() == 1 ? b.types.int64()
                                 : b.types.tuple(std::vector<TypeId>(nest.axes.size(), b.types.int64()));
  std::vector<DimId> dims;
  for (const NestAxis& axis : nest.axes) dims.push_back(axis.extent);
  NodeId count = b.dimValue(b.types.dims.product(dims), span);
  if (kind == IntrinsicKind::Mean && nest.filtered)
    count = b.make(NodeKind::Nest, b.types.int64(), span, {b.integer(1, span), node.children[1]}, nest);
  NodeId total = b.make(NodeKind::Nest, type, span, std::move(node.children), std::move(nest));
  return kind == IntrinsicKind::Mean ? meanOf(total, element, count, span) : total;
}

} // namespace melix::check
