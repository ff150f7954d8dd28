#include "check/derivatives/vmap.h"

#include "check/derivatives/derivatives.h"

#include <algorithm>

namespace melix::check {

namespace {

/// An argument, or a part of one, that the elements of a batch are read from.
struct Source {
  NodeId value;
  std::optional<size_t> axis; ///< that is mapped over; none: every call gets the whole value
  std::vector<Source> parts;  ///< of a tuple that is mapped over
};

class Batch {
public:
  Batch(NodeBuilder& build, FunctionCalls& calls, TypeId asked, Span span)
      : b(build), calls_(calls), asked_(asked), span_(span) {}
  NodeId call(NodeId function, const std::vector<NodeId>& args, const NamedParameters& named);

private:
  std::optional<std::vector<std::optional<BatchAxis>>> axesOf(const NamedParameters& named, size_t count);
  std::optional<Source> open(NodeId value, NodeId arg, const BatchAxis& over);
  std::optional<Source> openTuple(NodeId tuple, NodeId arg, const BatchAxis& over);
  std::optional<Source> openList(NodeId list, NodeId arg, const BatchAxis& over);
  bool hasFirstAxisOnly(TypeId type, const BatchAxis& over);
  bool agrees(TypeId type, size_t axis, NodeId arg);
  NodeId elementOf(const Source& source, LocalId place);
  NodeId elementAlong(NodeId array, size_t axis, LocalId place);
  NodeId resultAt(NodeId function, const std::vector<Source>& sources, LocalId place, size_t before);
  NodeId withExistentialSizes(NodeId made, size_t before);

  NodeBuilder& b;
  FunctionCalls& calls_;
  TypeId asked_;
  Span span_;
  std::string_view hint_;      ///< for an argument that cannot be mapped over
  std::vector<NodeId> before_; ///< evaluated once, before the nest
  /// The size of the batch, with the array and the axis that gave it.
  DimId count_;
  TypeId first_;
  size_t firstAxis_ = 0;
  std::vector<DimCheckItem> checks_;
};

} // namespace

NodeId Batch::call(NodeId function, const std::vector<NodeId>& args, const NamedParameters& named) {
  const auto axes = axesOf(named, args.size());
  if (!axes) return b.error(span_);
  if (named.positions.empty() && args.size() > 1) hint_ = mappedHint;
  std::vector<Source> sources;
  for (NodeId arg : args) {
    NodeId value = b.local(b.bind("x", arg, before_), b.spanOf(arg));
    const std::optional<BatchAxis>& over = (*axes)[sources.size()];
    std::optional<Source> source = over ? open(value, value, *over) : Source{value, {}, {}};
    if (!source) return b.error(span_);
    sources.push_back(std::move(*source));
  }
  if (!checks_.empty()) before_.push_back(b.dimChecks(std::move(checks_), span_));
  const size_t before = b.types.dims.symCount();
  before_.push_back(b.collect({count_}, span_, [&](const std::vector<LocalId>& place) {
    return resultAt(function, sources, place[0], before);
  }));
  return b.block(std::move(before_), span_);
}

/// For each of `count` arguments the axis to map over; none for one that is shared. None after a report.
std::optional<std::vector<std::optional<BatchAxis>>> Batch::axesOf(const NamedParameters& named,
                                                                   size_t count) {
  std::vector<uint32_t> positions = named.positions;
  for (uint32_t k = 0; named.positions.empty() && k < count; ++k) positions.push_back(k);
  if (positions.empty())
    b.sink.report(DiagId::ArgumentCount, span_, "vmap(f)", "at least 1", "0");
  else if (std::ranges::max(positions) >= count)
    b.sink.report(DiagId::TooFewArguments, span_, std::to_string(count), "the parameters that `each:` names");
  else if (named.axes.size() > 1 && named.axes.size() != positions.size())
    b.sink.report(DiagId::AxesOfParameters, named.axes[0].written, std::to_string(named.axes.size()),
                  std::to_string(positions.size()));
  else {
    std::vector<std::optional<BatchAxis>> axes(count);
    for (size_t k = 0; k < positions.size(); ++k)
      axes[positions[k]] = named.axes.empty() ? BatchAxis() : named.axes[named.axes.size() > 1 ? k : 0];
    return axes;
  }
  return std::nullopt;
}

/// `value` is the argument `arg`, or a part of it.
std::optional<Source> Batch::open(NodeId value, NodeId arg, const BatchAxis& over) {
  const TypeId type = b.typeOf(value);
  const TypeKind kind = b.types.kind(type);
  if (kind == TypeKind::Tuple && !b.types.isUnit(type)) return openTuple(value, arg, over);
  if (kind == TypeKind::List) return openList(value, arg, over);
  if (kind != TypeKind::Array) {
    if (kind != TypeKind::Error)
      b.sink.report(DiagId::WantsArray, b.spanOf(arg), "vmap(f)", b.show(type)).hint = hint_;
    return std::nullopt;
  }
  const bool isRagged = b.types.kind(b.infer.shallow(b.types.element(type))) == TypeKind::Pack;
  if (isRagged && !hasFirstAxisOnly(type, over)) return std::nullopt;
  const auto axis = b.axisOf(over.number, b.types.rank(type), over.written);
  if (!axis || !agrees(type, *axis, arg)) return std::nullopt;
  return Source{value, axis, {}};
}

std::optional<Source> Batch::openTuple(NodeId tuple, NodeId arg, const BatchAxis& over) {
  Source source{tuple, {}, {}};
  for (uint32_t k = 0; k < b.types[b.typeOf(tuple)].parts.size(); ++k) {
    auto part = open(b.tuplePart(tuple, k, b.spanOf(arg)), arg, over);
    if (!part) return std::nullopt;
    source.parts.push_back(std::move(*part));
  }
  return source;
}

std::optional<Source> Batch::openList(NodeId list, NodeId arg, const BatchAxis& over) {
  const TypeId type = b.typeOf(list), element = b.types[type].parts[0];
  if (!hasFirstAxisOnly(type, over)) return std::nullopt;
  const NodeId value = b.local(b.bind("xs", list, before_), b.spanOf(arg));
  const NodeId length = b.make(NodeKind::Length, b.types.int64(), span_, {value});
  std::vector<DimId> dims{b.dimOf(b.local(b.bind("n", length, before_), span_))};
  for (DimId d : b.dimsOf(element)) dims.push_back(d);
  const TypeId shown = b.types.array(b.types.element(element), std::move(dims)); // with the length as a size
  if (!agrees(shown, 0, arg)) return std::nullopt;
  return Source{value, 0, {}};
}

/// Whether the elements of a List or a ragged array are asked for; says so if not.
bool Batch::hasFirstAxisOnly(TypeId type, const BatchAxis& over) {
  if (over.number == 0) return true;
  b.sink.report(DiagId::FirstAxisOnly, over.written, b.show(type));
  return false;
}

/// Whether an axis has the size of the batch, which the first one gives; says so if not.
bool Batch::agrees(TypeId type, size_t axis, NodeId arg) {
  const DimId mine = b.dimsOf(type)[axis];
  if (!count_) {
    count_ = mine;
    first_ = type;
    firstAxis_ = axis;
    return true;
  }
  const UnifyKind match = b.infer.unifyDim(count_, mine);
  if (match == UnifyKind::DimsDiffer) {
    Diagnostic& told = b.shapesDiffer(first_, firstAxis_, type, axis, b.spanOf(arg));
    b.noteNames(told, count_);
    b.noteOrigin(told, arg, axis);
    return false;
  }
  if (match == UnifyKind::NeedsCheck) checks_.push_back(b.shapesFit(first_, firstAxis_, type, axis));
  return true;
}

NodeId Batch::elementOf(const Source& source, LocalId place) {
  if (!source.parts.empty()) {
    std::vector<NodeId> parts;
    for (const Source& part : source.parts) parts.push_back(elementOf(part, place));
    return b.tuple(std::move(parts), span_);
  }
  if (!source.axis) return source.value;
  if (b.kindOf(source.value) == TypeKind::Array) return elementAlong(source.value, *source.axis, place);
  return b.elementOf(source.value, {StepKind::Element, 0, b.local(place, span_), {}, {}, 1, span_}, span_);
}

/// `array[:, place]`, with a colon for each axis before `axis`.
NodeId Batch::elementAlong(NodeId array, size_t axis, LocalId place) {
  const TypeId type = b.typeOf(array);
  std::vector<DimId> dims = b.dimsOf(type);
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  Steps steps{std::vector<Step>(axis, Step{StepKind::All, 0, {}, {}, {}, 1, span_})};
  steps.steps.push_back({StepKind::Index, 0, b.local(place, span_), {}, {}, 1, span_});
  return b.make(NodeKind::Get, b.types.array(b.types.element(type), std::move(dims)), span_, {array},
                std::move(steps));
}

/// The result at one place; `before` is the number of sizes that are known around the nest.
NodeId Batch::resultAt(NodeId function, const std::vector<Source>& sources, LocalId place, size_t before) {
  std::vector<NodeId> elements;
  for (const Source& source : sources) elements.push_back(elementOf(source, place));
  NodeId made = calls_.callFunction(function, std::move(elements), span_);
  if (b.kindOf(made) != TypeKind::Never) return withExistentialSizes(made, before);
  b.sink.report(DiagId::NoElement, span_);
  return b.error(span_);
}

/// The sizes in a type that are newer than the first `before` symbols: those that a call found.
static std::vector<types::DimSym> sizesFoundSince(NodeBuilder& b, TypeId type, size_t before) {
  std::vector<types::DimSym> symbols;
  b.types.collectSymbols(b.infer.zonk(type), symbols);
  std::erase_if(symbols, [&](types::DimSym s) {
    return s.index < before || b.types.dims.info(s).kind == types::DimSymKind::Inference ||
           b.types.dims.info(s).kind == types::DimSymKind::Bound;
  });
  return symbols;
}

/// What a function made of one element. An array with a size that was first found by the call keeps it beside
/// its elements where a ragged array is asked for, and is an error elsewhere.
NodeId Batch::withExistentialSizes(NodeId made, size_t before) {
  TypeId type = b.infer.zonk(b.typeOf(made));
  std::vector<types::DimSym> own = sizesFoundSince(b, type, before);
  if (own.empty()) return made;
  TypeId wanted = asked_ ? b.infer.zonk(asked_) : b.types.error();
  if (b.types.kind(wanted) != TypeKind::Array || b.types.kind(b.types.element(wanted)) != TypeKind::Pack) {
    b.sink.report(DiagId::RaggedBuilder, span_, b.show(type));
    return b.error(span_);
  }
  Dims sizes;
  for (types::DimSym s : own) sizes.dims.push_back(b.types.dims.symbol(s));
  return b.make(NodeKind::Pack, b.types.pack(type, own), span_, {made}, std::move(sizes));
}

NodeId vmap(NodeBuilder& build, FunctionCalls& calls, NodeId function, const std::vector<NodeId>& args,
            const NamedParameters& named, TypeId asked, Span span) {
  return Batch(build, calls, asked, span).call(function, args, named);
}

} // namespace melix::check
