#include "check/tree/node_factory.h"

#include <algorithm>

namespace melix::check {

std::string NodeFactory::show(TypeId t) {
  TypeId type = infer.mapVars(infer.zonk(t), [this](TypeId var) {
    switch (infer.varClass(var)) {
    case types::VarClass::OpenInt: return types.int64();
    case types::VarClass::OpenFloat: return types.scalar(TypeKind::F32);
    case types::VarClass::Any: break;
    }
    return var;
  });
  // Arrays of what is open, and it alone, are shown as the numbers they would be.
  return types.show(types.rewrite(
      type, [this](TypeId part) { return infer.isOpen(part) ? types.scalar(TypeKind::F32) : part; }));
}

NodeId NodeFactory::make(NodeKind kind, TypeId type, Span span, std::vector<NodeId> children,
                         Payload payload) {
  if (isTooLarge(types, sink, type, span)) return error(span);
  Node node;
  node.kind = kind;
  node.type = type;
  node.span = span;
  node.children = std::move(children);
  node.payload = std::move(payload);
  return instance.nodes.add(std::move(node));
}

bool isTooLarge(const TypeStore& types, DiagnosticSink& sink, TypeId type, Span span) {
  if (!type.valid() || types.partCount(type) <= TypeStore::mostParts) return false;
  const std::string text = types.show(type);
  bool isTold = sink.isTold(
      [&](const Diagnostic& told) { return told.id == DiagId::TooManyParts && told.args[0] == text; });
  if (!isTold) sink.report(DiagId::TooManyParts, span, text);
  return true;
}

NodeId NodeFactory::composite(NodeKind kind, TypeId type, Span span, std::vector<NodeId> parts,
                              Payload payload) {
  auto never =
      std::find_if(parts.begin(), parts.end(), [&](NodeId part) { return kindOf(part) == TypeKind::Never; });
  if (never == parts.end()) return make(kind, type, span, std::move(parts), std::move(payload));
  parts.erase(never + 1, parts.end());
  return block(std::move(parts), span);
}

NodeId NodeFactory::integer(int64_t value, Span span, TypeId type) {
  Const c;
  c.bits = static_cast<uint64_t>(value);
  return make(NodeKind::Const, type ? type : types.int64(), span, {}, c);
}

NodeId NodeFactory::number(std::string text, TypeId type, Span span) {
  Const c;
  c.text = std::move(text);
  return make(NodeKind::Const, type, span, {}, std::move(c));
}

NodeId NodeFactory::boolean(bool value, Span span) {
  Const c;
  c.bits = value;
  return make(NodeKind::Const, types.boolean(), span, {}, c);
}

NodeId NodeFactory::string(std::string text, Span span) {
  Const c;
  c.text = std::move(text);
  return make(NodeKind::Const, types.str(), span, {}, std::move(c));
}

NodeId NodeFactory::tuple(std::vector<NodeId> parts, Span span) {
  std::vector<TypeId> kinds;
  for (NodeId part : parts) kinds.push_back(typeOf(part));
  return make(NodeKind::Tuple, types.tuple(std::move(kinds)), span, std::move(parts));
}

NodeId NodeFactory::block(std::vector<NodeId> nodes, Span span) {
  if (nodes.size() == 1) return nodes[0];
  TypeId type = nodes.empty() ? types.unit() : instance.nodes[nodes.back()].type;
  return make(NodeKind::Block, type, span, std::move(nodes));
}

NodeId NodeFactory::local(LocalId l, Span span) {
  return make(NodeKind::Local, instance.locals[l].type, span, {}, LocalRef{l});
}

LocalId NodeFactory::newLocal(std::string_view name, TypeId type, Span span, bool isVar) {
  Local l;
  l.name = types.names.intern(name);
  l.type = type;
  l.isVar = isVar;
  l.span = span;
  return instance.locals.add(std::move(l));
}

PatternId NodeFactory::bindPattern(LocalId l, TypeId type, Span span) {
  Pattern p;
  p.kind = PatternKind::Bind;
  p.type = type;
  p.local = l;
  p.span = span;
  return instance.patterns.add(std::move(p));
}

NodeId NodeFactory::let(LocalId l, NodeId init) {
  const Local& local = instance.locals[l];
  return make(NodeKind::Let, types.unit(), spanOf(init), {init},
              PatternRef{bindPattern(l, local.type, local.span)});
}

LocalId NodeFactory::bind(std::string_view name, NodeId init, std::vector<NodeId>& into) {
  const Node& node = instance.nodes[init];
  if (node.kind == NodeKind::Local && !instance.locals[node.as<LocalRef>().local].isVar)
    return node.as<LocalRef>().local;
  LocalId l = newLocal(name, instance.nodes[init].type, spanOf(init));
  standsFor.add(l, init);
  into.push_back(let(l, init));
  return l;
}

void NodeFactory::noteBound(PatternId pattern, NodeId init) {
  const Pattern& p = instance.patterns[pattern];
  if (p.kind == PatternKind::Bind && !instance.locals[p.local].isVar) boundTo.add(p.local, init);
  if (p.kind != PatternKind::Parts || instance.nodes[init].kind != NodeKind::Tuple) return;
  const std::vector<NodeId>& parts = instance.nodes[init].children;
  const std::vector<PatternId>& subs = p.subs;
  for (size_t k = 0; k < subs.size() && k < parts.size(); ++k) noteBound(subs[k], parts[k]);
}

NodeId NodeFactory::valueOf(LocalId l) const {
  for (const auto* values : {&boundTo, &standsFor})
    if (auto found = values->find(l); found != values->end()) return found->second;
  return NodeId::none();
}

NodeId NodeFactory::after(NodeId x, NodeId result, Span span) {
  NodeId root = x;
  while (instance.nodes[root].kind == NodeKind::Get) {
    const std::vector<Step>& steps = instance.nodes[root].as<Steps>().steps;
    if (!std::all_of(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Field; }))
      break;
    root = instance.nodes[root].children[0];
  }
  if (instance.nodes[root].kind == NodeKind::Local) return result;
  std::vector<NodeId> nodes;
  bind("x", x, nodes);
  nodes.push_back(result);
  return block(std::move(nodes), span);
}

NodeId NodeFactory::endOf(NodeId n, std::vector<NodeId>& before) {
  while (instance.nodes[n].kind == NodeKind::Block && !instance.nodes[n].children.empty()) {
    const std::vector<NodeId>& children = instance.nodes[n].children;
    before.insert(before.end(), children.begin(), children.end() - 1);
    n = children.back();
  }
  return n;
}

NodeId NodeFactory::dimValue(DimId d, Span span) {
  return make(NodeKind::DimValue, types.int64(), span, {}, Dim{d});
}

NodeId NodeFactory::field(NodeId base, uint32_t k, Span span) {
  TypeId type = typeOf(base);
  TypeId part = types.kind(type) == TypeKind::Tuple ? types[type].parts[k] : types.fieldType(type, 0, k);
  Step step{StepKind::Field, k, {}, {}, {}, 1, span};
  return make(NodeKind::Get, part, span, {base}, Steps{{step}});
}

NodeId NodeFactory::at(NodeId base, const std::vector<LocalId>& indices, Span span) {
  TypeId type = typeOf(base);
  if (indices.empty()) return base;
  std::vector<DimId> dims = dimsOf(type);
  Steps steps;
  for (LocalId index : indices) {
    Step step{StepKind::Index, 0, local(index, span), {}, {}, 1, span};
    steps.steps.push_back(step);
  }
  dims.erase(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(indices.size()));
  TypeId part = types.array(types.element(type), std::move(dims));
  return make(NodeKind::Get, part, span, {base}, std::move(steps));
}

NodeId NodeFactory::op(OpKind kind, TypeId type, std::vector<NodeId> operands, Span span, uint32_t index) {
  return make(NodeKind::Op, type, span, std::move(operands), OpRef{kind, index});
}

NodeId NodeFactory::convert(NodeId value, TypeId to, Span span, bool checked, ops::ConvertMode mode) {
  if (typeOf(value) == infer.zonk(to)) return value;
  return make(NodeKind::Convert, to, span, {value}, ConvertRef{mode, checked});
}

NodeId NodeFactory::collect(const std::vector<DimId>& dims, Span span,
                            FunctionRef<NodeId(const std::vector<LocalId>&)> body) {
  Nest nest;
  std::vector<LocalId> indices;
  for (size_t k = 0; k < dims.size(); ++k) {
    LocalId index = newLocal(k < 6 ? std::string(1, static_cast<char>('i' + k)) : "i" + std::to_string(k),
                             types.int64(), span);
    nest.axes.push_back({index, dims[k], span});
    indices.push_back(index);
  }
  NodeId value = body(indices);
  if (dims.empty()) return value;
  TypeId inner = typeOf(value);
  std::vector<DimId> all = dims;
  for (DimId d : dimsOf(inner)) all.push_back(d);
  return make(NodeKind::Nest, types.array(types.element(inner), std::move(all)), span, {value},
              std::move(nest));
}

NodeId NodeFactory::reduce(ops::MonoidKind kind, const std::vector<DimId>& dims, Span span,
                           FunctionRef<NodeId(const std::vector<LocalId>&)> body) {
  Nest nest;
  nest.reduction = kind;
  std::vector<LocalId> indices;
  for (size_t k = 0; k < dims.size(); ++k) {
    LocalId index = newLocal("r" + std::to_string(k), types.int64(), span);
    nest.axes.push_back({index, dims[k], span});
    indices.push_back(index);
  }
  NodeId value = body(indices);
  TypeId type = typeOf(value);
  if (nest.isPosition())
    type = dims.size() == 1 ? types.int64() : types.tuple(std::vector<TypeId>(dims.size(), types.int64()));
  if (dims.empty() && !nest.isPosition()) return value;
  return make(NodeKind::Nest, type, span, {value}, std::move(nest));
}

bool NodeFactory::isNumber(TypeId element) {
  element = infer.shallow(element);
  if (types.kind(element) == TypeKind::Var) return infer.varClass(element) != types::VarClass::Any;
  return types.isNumber(element);
}

bool NodeFactory::isLiteral(NodeId n) const {
  const Node& node = instance.nodes[n];
  if (node.kind == NodeKind::Const) return !node.as<Const>().text.empty();
  bool negated = node.kind == NodeKind::Op && node.as<OpRef>().kind == OpKind::Neg;
  return negated && isLiteral(node.children[0]);
}

std::optional<int64_t> NodeFactory::literal(NodeId n) {
  const Node& node = instance.nodes[n];
  if (node.kind == NodeKind::Op && node.as<OpRef>().kind == OpKind::Neg)
    if (auto value = literal(node.children[0])) return -*value;
  if (node.kind == NodeKind::Convert && kindOf(n) == TypeKind::I64 && types.isInt(typeOf(node.children[0])))
    return literal(node.children[0]);
  if (node.kind != NodeKind::Const || kindOf(n) == TypeKind::Str) return std::nullopt;
  const Const& c = node.as<Const>();
  if (c.text.empty()) {
    const unsigned unused = types.isInt(node.type) ? 64 - types::scalarBits(kindOf(n)) : 0;
    const bool isSigned = types::scalarClass(kindOf(n)) == types::ScalarClass::SInt;
    return isSigned ? static_cast<int64_t>(c.bits << unused) >> unused : static_cast<int64_t>(c.bits);
  }
  if (c.text.size() > 18 || c.text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (infer.isOpen(node.type)) infer.unify(types.int64(), node.type);
  return std::stoll(c.text);
}

DimId NodeFactory::dimOf(NodeId n) {
  const Node& node = instance.nodes[n];
  types::DimStore& dims = types.dims;
  if (auto value = literal(n)) return dims.constant(*value);
  if (node.kind == NodeKind::DimValue) return node.as<Dim>().dim;
  if (node.kind == NodeKind::Local) {
    const LocalId id = node.as<LocalRef>().local;
    const Local& local = instance.locals[id];
    TypeId type = infer.shallow(local.type);
    if (infer.isOpen(type)) infer.unify(types.int64(), type);
    if (local.isVar || types.kind(infer.shallow(local.type)) != TypeKind::I64) return DimId::none();
    if (!local.asDim)
      instance.locals.note(id).asDim = dims.newSym(
          {std::string(types.names.text(local.name)), types::DimSymKind::Value, INT64_MIN, local.span});
    return dims.symbol(local.asDim);
  }
  if (node.kind != NodeKind::Op || node.children.size() != 2) return DimId::none();
  DimId x = dimOf(node.children[0]), y = dimOf(node.children[1]);
  if (!x || !y) return DimId::none();
  const DimId made = combined(node.as<OpRef>().kind, x, y);
  return made && !dims.isTooLarge(made) ? made : DimId::none();
}

/// Sums and products that wrap are still the exact ones modulo 2^64. Of what may wrap a quotient, remainder,
/// minimum or maximum is not: it is no dimension.
DimId NodeFactory::combined(OpKind kind, DimId x, DimId y) {
  types::DimStore& dims = types.dims;
  const bool areExact = isExact(x) && isExact(y), divides = dims.asConstant(y).value_or(0) > 0;
  switch (kind) {
  case OpKind::Add: return dims.add(x, y);
  case OpKind::Sub: return dims.sub(x, y);
  case OpKind::Mul: return dims.mul(x, y);
  case OpKind::IDiv: return areExact && divides ? dims.floorDiv(x, y) : DimId::none();
  case OpKind::IRem: return areExact && divides ? dims.mod(x, y) : DimId::none();
  case OpKind::Min: return areExact ? dims.min(x, y) : DimId::none();
  case OpKind::Max: return areExact ? dims.max(x, y) : DimId::none();
  default: return DimId::none();
  }
}

} // namespace melix::check
