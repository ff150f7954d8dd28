#include "check/calls/named_parameters.h"

#include "check/derivatives/vmap.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/suggestions.h"

namespace melix::check {

using namespace syntax;

namespace {

/// The names of the parameters of a function, as far as it has them.
class ParameterNames {
public:
  ParameterNames(Body& body, TypeId function) : body_(body), names_(namesOf(function)) {}
  std::optional<uint32_t> positionOf(NameId name) const;
  std::vector<std::string_view> texts() const;

private:
  std::vector<std::vector<NameId>> namesOf(TypeId function) const;

  Body& body_;
  std::vector<std::vector<NameId>> names_; ///< for each function that a template value may be
};

std::vector<std::vector<NameId>> ParameterNames::namesOf(TypeId function) const {
  if (body_.types.kind(function) != TypeKind::Known) return {};
  const Known& value = body_.c.program_.known(body_.types[function].known);
  auto spelt = [&](const auto& params) {
    std::vector<NameId> names;
    for (const auto& param : params) names.push_back(body_.types.names.spelling(param.name));
    return names;
  };
  switch (value.kind) {
  case KnownKind::Overloads: {
    std::vector<std::vector<NameId>> all;
    for (DeclId decl : value.candidates) all.push_back(spelt(body_.c.declarations.function(decl).params));
    return all;
  }
  case KnownKind::Lambda: return {spelt((*value.lambda.tree)[value.lambda.node].as<Lambda>().params)};
  case KnownKind::Transform: return namesOf(body_.types[function].parts[0]);
  default: return {};
  }
}

std::optional<uint32_t> ParameterNames::positionOf(NameId name) const {
  for (const std::vector<NameId>& names : names_) {
    auto found = std::ranges::find(names, body_.types.names.spelling(name));
    if (found != names.end()) return static_cast<uint32_t>(found - names.begin());
  }
  return std::nullopt;
}

std::vector<std::string_view> ParameterNames::texts() const {
  std::vector<std::string_view> texts;
  for (const std::vector<NameId>& names : names_)
    for (NameId name : names) texts.push_back(body_.types.names.text(name));
  return texts;
}

/// Reads the arguments of a transform that follow its function.
class NamedReader {
public:
  NamedReader(Body& body, IntrinsicKind transform, TypeId function)
      : body_(body), transform_(transform), function_(function) {}
  std::optional<NamedParameters> read(const std::vector<CallArg>& args);

private:
  std::string_view labelOfPositions() const;
  void unknown(const CallArg& arg, std::string_view label);
  bool readPositions(const CallArg& arg);
  bool readAxes(const CallArg& arg);

  Body& body_;
  IntrinsicKind transform_;
  TypeId function_;
  NamedParameters named_;
};

std::optional<NamedParameters> NamedReader::read(const std::vector<CallArg>& args) {
  std::set<std::string_view> given;
  const CallArg* over = nullptr;
  for (size_t k = 1; k < args.size(); ++k) {
    const std::string_view label = body_.types.names.text(args[k].label);
    const bool isOver = transform_ == IntrinsicKind::Vmap && label == "over";
    if (!isOver && label != labelOfPositions()) {
      unknown(args[k], label);
      return std::nullopt;
    }
    if (!given.insert(label).second) {
      body_.sink.report(DiagId::ArgumentTwice, args[k].span, intrinsicName(transform_), label);
      return std::nullopt;
    }
    if (isOver) over = &args[k];
    if (!isOver && !readPositions(args[k])) return std::nullopt;
  }
  if (over && !readAxes(*over)) return std::nullopt; // as many as there are positions
  return std::move(named_);
}

/// The label of the argument that names parameters; empty for a transform without one.
std::string_view NamedReader::labelOfPositions() const {
  if (transform_ == IntrinsicKind::Linearize) return {};
  return transform_ == IntrinsicKind::Vmap ? "each" : "wrt";
}

void NamedReader::unknown(const CallArg& arg, std::string_view label) {
  std::string hint(argumentHabit(label));
  if (transform_ == IntrinsicKind::Vmap && label == "wrt") hint = mappedHint;
  if (hint.empty()) hint = intrinsicHint(transform_);
  body_.sink.report(DiagId::UnknownArgument, arg.span, intrinsicName(transform_), label).hint =
      std::move(hint);
}

/// A name, a position, or a tuple of these.
bool NamedReader::readPositions(const CallArg& arg) {
  const Ast& ast = body_.ast;
  const ParameterNames names(body_, function_);
  const std::string_view label = labelOfPositions();
  const size_t count = *body_.aritiesOf(function_).rbegin();
  std::vector<SynId> items{arg.syntax};
  if (ast.kind(arg.syntax) == SynKind::Tuple) items = ast[arg.syntax].as<Many>().items;
  for (SynId item : items) {
    std::optional<uint32_t> position;
    if (ast.kind(item) == SynKind::IntLit)
      position = static_cast<uint32_t>(Checker::literalBits(ast[item].as<Text>().text));
    else if (ast.kind(item) == SynKind::Name)
      position = names.positionOf(ast[item].as<Name>().name);
    const std::string_view text = body_.c.modules.sources.text(ast.span(item));
    if (!position || *position >= count) {
      body_.sink.report(DiagId::NoSuchParameter, ast.span(item), label, text, std::to_string(count));
      return false;
    }
    if (std::ranges::find(named_.positions, *position) != named_.positions.end()) {
      body_.sink.report(DiagId::RepeatedParameter, ast.span(item), label, text);
      return false;
    }
    named_.positions.push_back(*position);
  }
  if (items.empty()) body_.sink.report(DiagId::NoParameterNamed, arg.span, label);
  return !items.empty();
}

/// An axis, or a tuple of one for each mapped parameter.
bool NamedReader::readAxes(const CallArg& arg) {
  const NodeId over = body_.checkArg(arg);
  if (body_.b.kindOf(over) == TypeKind::Error) return false;
  std::vector<NodeId> items{over};
  const bool isTuple = body_.instance.nodes[over].kind == NodeKind::Tuple;
  if (isTuple) items = body_.instance.nodes[over].children;
  for (NodeId item : items) named_.axes.push_back({body_.b.literal(item), body_.b.spanOf(item)});
  const size_t count = named_.positions.size();
  const std::set<size_t> arities = body_.aritiesOf(function_);
  if (!isTuple || (count > 0 ? items.size() == count : arities.contains(items.size()))) return true;
  body_.sink.report(DiagId::AxesOfParameters, arg.span, std::to_string(items.size()),
                    std::to_string(count > 0 ? count : *arities.rbegin()));
  return false;
}

/// What a message calls a function that has no declaration.
std::string calleeName(Body& body, TypeId function) {
  if (body.types.kind(function) != TypeKind::Known) return "function";
  const Known& value = body.c.program_.known(body.types[function].known);
  if (value.kind == KnownKind::Transform) return value.name + "(f)";
  return value.kind == KnownKind::Lambda ? "lambda" : "function";
}

/// The position of each argument of a call; none after a report.
std::optional<std::vector<size_t>> positionsOf(Body& body, TypeId function, const std::vector<CallArg>& args,
                                               Span span) {
  const ParameterNames names(body, function);
  const std::vector<std::string_view> known = names.texts();
  std::vector<size_t> positions;
  auto isGiven = [&](size_t at) { return std::ranges::find(positions, at) != positions.end(); };
  for (const CallArg& arg : args) {
    const std::optional<size_t> at = arg.label ? names.positionOf(arg.label) : positions.size();
    if (!at || isGiven(*at)) {
      body.unknownArgument(arg, calleeName(body, function), at.has_value(), known);
      return std::nullopt;
    }
    positions.push_back(*at);
  }
  for (size_t k = 0; k < args.size(); ++k)
    if (!isGiven(k)) {
      body.sink.report(DiagId::MissingArgument, span, calleeName(body, function),
                       k < known.size() ? known[k] : std::to_string(k));
      return std::nullopt;
    }
  return positions;
}

} // namespace

std::optional<NamedParameters> readNamed(Body& body, IntrinsicKind transform,
                                         const std::vector<CallArg>& args, TypeId function) {
  return NamedReader(body, transform, function).read(args);
}

NodeId callByNames(Body& body, NodeId function, const std::vector<CallArg>& args, TypeId expected,
                   Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(function);
  const auto positions = positionsOf(body, type, args, span);
  if (!positions) return b.error(span);
  std::vector<NodeId> nodes;
  std::vector<CallArg> ordered(args.size());
  for (size_t k = 0; k < args.size(); ++k) {
    const size_t at = (*positions)[k];
    NodeId value = body.transformArg(args[k], body.expectedArgument(type, at, args.size()));
    if (b.kindOf(value) == TypeKind::Error) return value;
    value = b.local(b.bind("x", value, nodes), args[k].span);
    ordered[at] = {NameId::none(), SynId::none(), value, args[k].span};
  }
  nodes.push_back(body.callValue(function, ordered, expected, span));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
