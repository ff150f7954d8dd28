#include "check/tree/quotients.h"

#include "check/body/body.h"
#include "check/tree/formats.h"
#include "check/tree/text_hint.h"
#include "check/tree/typed_walk.h"

namespace melix::check {

namespace {

/// Of `let`s that name each other, and operators inside of each other: no quotient is looked for below.
constexpr unsigned mostDeep = 200;

bool isWrittenQuotient(const Node& node) {
  const auto* op = std::get_if<OpRef>(&node.payload);
  return node.kind == NodeKind::Op && op->kind == OpKind::IDiv && op->index != staysWhole;
}

/// Whether an operation on integers gives about the number that it is given.
bool keepsFraction(OpKind kind) {
  switch (kind) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max: return true;
  default: return false;
  }
}

/// Finds the quotient that an integer of a body is made of.
class QuotientFinder {
public:
  explicit QuotientFinder(NodeFactory& nodes) : nodes_(nodes) {}
  /// An operation, or a variable that has its value from outside of the body; none if `value` is made of
  /// none.
  NodeId in(NodeId value);

private:
  NodeId find(NodeId value);
  NodeId first(const std::vector<NodeId>& values);
  NodeId ofPart(const Node& get);

  NodeFactory& nodes_;
  std::unordered_map<NodeId, NodeId> found_; ///< of what was looked into, none while it is
  unsigned depth_ = 0;
};

NodeId QuotientFinder::in(NodeId value) {
  if (depth_ == mostDeep) return NodeId::none();
  const auto [known, isNew] = found_.emplace(value, NodeId::none());
  if (!isNew) return known->second;
  ++depth_;
  const NodeId quotient = find(value);
  --depth_;
  return found_[value] = quotient;
}

NodeId QuotientFinder::first(const std::vector<NodeId>& values) {
  for (NodeId value : values)
    if (const NodeId quotient = in(value); quotient.valid()) return quotient;
  return NodeId::none();
}

NodeId QuotientFinder::find(NodeId value) {
  const Node& node = nodes_.instance.nodes[value];
  if (isWrittenQuotient(node)) return value;
  switch (node.kind) {
  case NodeKind::Local: {
    const LocalId local = node.as<LocalRef>().local;
    if (nodes_.quotientsOutside.contains(local)) return value;
    const NodeId given = nodes_.valueOf(local);
    return given.valid() ? in(given) : NodeId::none();
  }
  case NodeKind::Op: return keepsFraction(node.as<OpRef>().kind) ? first(node.children) : NodeId::none();
  case NodeKind::If: return first({node.children.begin() + 1, node.children.end()});
  case NodeKind::Match: {
    std::vector<NodeId> values;
    for (const Arm& arm : node.as<Arms>().arms) values.push_back(arm.body);
    return first(values);
  }
  case NodeKind::ArrayOf:
  case NodeKind::ListOf: return first(node.children);
  case NodeKind::Get: return ofPart(node);
  case NodeKind::Nest: {
    using ops::MonoidKind;
    const std::optional<MonoidKind> kind = node.as<Nest>().reduction;
    const bool holds = !kind || kind == MonoidKind::Sum || kind == MonoidKind::Min || kind == MonoidKind::Max;
    return holds ? in(node.children[0]) : NodeId::none();
  }
  case NodeKind::Block:
  case NodeKind::Elementwise: return node.children.empty() ? NodeId::none() : in(node.children.back());
  case NodeKind::Convert: {
    const bool isOfFloat = nodes_.types.isFloat(nodes_.typeOf(node.children[0]));
    return isOfFloat ? NodeId::none() : in(node.children[0]);
  }
  case NodeKind::Pack:
  case NodeKind::Unpack:
  case NodeKind::CastDims:
  case NodeKind::Reshape:
  case NodeKind::Debug:
  case NodeKind::BlackBox:
  case NodeKind::StopGradient: return in(node.children[0]);
  default: return NodeId::none();
  }
}

/// A part of a struct or a tuple that is made here, or the elements of an array.
NodeId QuotientFinder::ofPart(const Node& get) {
  NodeId base = get.children[0];
  const std::vector<Step>& steps = get.as<Steps>().steps;
  const Node* whole = &nodes_.instance.nodes[base];
  while (whole->kind == NodeKind::Local) {
    base = nodes_.valueOf(whole->as<LocalRef>().local);
    if (!base.valid()) return NodeId::none();
    whole = &nodes_.instance.nodes[base];
  }
  const bool isPart = !steps.empty() && steps[0].kind == StepKind::Field;
  if (!isPart) return in(base);
  const bool hasParts = whole->kind == NodeKind::Struct || whole->kind == NodeKind::Tuple;
  return steps.size() == 1 && hasParts ? in(whole->children[steps[0].number]) : NodeId::none();
}

/// What an operand of a quotient is, before both were made as wide.
NodeId operandOf(const Instance& instance, NodeId operand) {
  while (instance.nodes[operand].kind == NodeKind::Convert) operand = instance.nodes[operand].children[0];
  return operand;
}

} // namespace

std::optional<WrittenQuotient> quotientIn(NodeBuilder& b, NodeId value) {
  const NodeId found = QuotientFinder(b).in(value);
  if (!found.valid()) return std::nullopt;
  const Node& node = b.instance.nodes[found];
  if (node.kind == NodeKind::Local) return b.quotientsOutside.at(node.as<LocalRef>().local);
  auto written = [&](NodeId operand) {
    return b.library.writtenOperand(b.spanOf(operandOf(b.instance, operand)));
  };
  return WrittenQuotient{node.span, written(node.children[0]), written(node.children[1])};
}

namespace {

std::string waysOut(const WrittenQuotient& quotient, const std::string& type, bool asked) {
  const auto& [span, left, right] = quotient;
  const std::string as = " as " + type;
  const bool isNumber = left.find_first_not_of("0123456789") == std::string::npos;
  return "`" + left + (isNumber ? ".0" : as) + " / " + right + "` divides as floats, `div(" +
         asArgument(left) + ", " + asArgument(right) + ")" + (asked ? as : "") + "` rounds down";
}

bool isInside(Span part, Span whole) {
  return part.file == whole.file && whole.begin <= part.begin && part.end <= whole.end;
}

} // namespace

std::string quotientHint(NodeBuilder& b, NodeId value, TypeId type) {
  const std::optional<WrittenQuotient> quotient = quotientIn(b, value);
  return quotient ? waysOut(*quotient, b.show(b.infer.zonk(type)), true) : "";
}

std::string floatHint(NodeBuilder& b, NodeId value) {
  if (!b.isNumber(b.types.element(b.typeOf(value)))) return {};
  const std::string divided = quotientHint(b, value, b.types.scalar(TypeKind::F64));
  return divided.empty() ? "`" + b.library.writtenOperand(b.spanOf(value)) + " as f64` converts" : divided;
}

void noteQuotient(Diagnostic& to, NodeBuilder& b, NodeId value, Span span) {
  const std::optional<WrittenQuotient> quotient = quotientIn(b, value);
  if (quotient && !isInside(quotient->span, span))
    to.note(quotient->span, "this quotient of integers is rounded down");
}

namespace {

/// A body, and what its integers become.
class Warning {
public:
  explicit Warning(Body& body) : body_(body), b_(body.b) {}

  /// Looks at what a node does with the integer that it is given.
  void lookAt(const Node& node) {
    if (node.kind == NodeKind::Convert && b_.types.isFloat(b_.infer.zonk(node.type)))
      return warn(node.children[0], b_.infer.zonk(node.type), "becomes a float", node.span);
    if (node.kind == NodeKind::Format && showsFraction(node.as<FormatSpec>().spec))
      return warn(node.children[0], f64(), "is shown with digits behind the point", node.span);
    if (node.kind == NodeKind::Call && isPowerOfFloat(node))
      warn(node.children.back(), b_.typeOf(node.children[0]), "is an exponent", node.span);
  }

private:
  TypeId f64() const { return b_.types.scalar(TypeKind::F64); }

  bool isPowerOfFloat(const Node& call) {
    const InstanceId callee = call.as<CallTarget>().instance;
    return callee && call.children.size() == 2 && b_.types.isFloat(b_.typeOf(call.children[0])) &&
           body_.c.program_.instance(callee).name == NodeBuilder::powerFunction;
  }

  void warn(NodeId value, TypeId type, std::string_view what, Span span) {
    if (!b_.types.isInt(b_.types.element(b_.typeOf(value)))) return;
    const std::optional<WrittenQuotient> quotient = quotientIn(b_, value);
    if (!quotient || body_.c.modules.isLibraryFile(quotient->span.file)) return;
    Diagnostic& d =
        body_.sink.report(DiagId::IntegerQuotient, quotient->span, what); // the first that becomes of it
    d.hint = waysOut(*quotient, b_.show(type), false);
    if (!isInside(quotient->span, span) && span.valid()) d.note(span, "here it " + std::string(what));
  }

  Body& body_;
  NodeBuilder& b_;
};

} // namespace

void warnQuotients(Body& body) {
  const Instance& instance = body.instance;
  const bool holdsQuotient = std::any_of(instance.nodes.begin(), instance.nodes.end(), isWrittenQuotient);
  if (!holdsQuotient && body.b.quotientsOutside.empty()) return;
  Warning warning(body);
  forEachNode(instance, instance.body, [&](NodeId n) { warning.lookAt(instance.nodes[n]); });
}

} // namespace melix::check
