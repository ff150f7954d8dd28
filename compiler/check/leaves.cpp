#include "check/leaves.h"

#include "types/tangent.h"

namespace melix::check {

bool Leaves::isComposite(TypeId t) {
  TypeKind k = b.types.kind(t);
  return k == TypeKind::Struct || k == TypeKind::Tuple;
}

bool Leaves::isLeaf(TypeId t) {
  return b.types.isScalar(b.types.element(t)) || b.isNumber(b.types.element(t));
}

bool Leaves::isHidden(TypeId t) {
  TypeId element = b.types.element(t);
  return b.types.kind(element) == TypeKind::Slope || (b.types.isParam(element) && !b.types.isFloat(element));
}

size_t Leaves::partCount(TypeId t) {
  return b.types.kind(t) == TypeKind::Tuple ? b.types[t].parts.size()
                                            : b.types.recordInfo(b.types[t].record).cases[0].fields.size();
}

std::string Leaves::partName(TypeId t, size_t k) {
  if (b.types.kind(t) == TypeKind::Tuple) return std::to_string(k);
  return std::string(b.types.names.text(b.types.recordInfo(b.types[t].record).cases[0].fields[k].name));
}

NodeId Leaves::rebuild(TypeId t, std::vector<NodeId> parts, Span span) {
  return b.make(b.types.kind(t) == TypeKind::Tuple ? NodeKind::Tuple : NodeKind::Struct, t, span,
                std::move(parts));
}

NodeId Leaves::map(const TemplateCall& f, const std::vector<NodeId>& values, Span span) {
  std::vector<NodeId> nodes, locals;
  TypeId type = b.typeOf(values[0]);
  for (size_t k = 0; k < values.size(); ++k) {
    NodeId value = b.local(b.bind("v", values[k], nodes), span);
    if (k > 0) { // a T, or a tangent of T
      UnifyResult asValue = b.infer.unify(type, b.typeOf(value));
      UnifyResult match = asValue.kind > UnifyKind::NeedsCheck
                              ? b.infer.unify(types::tangentType(b.types, type), b.typeOf(value))
                              : asValue;
      if (match.kind > UnifyKind::NeedsCheck) {
        b.sink.report(DiagId::ArgumentType, b.spanOf(value), "map_leaves", b.show(type),
                      b.show(b.typeOf(value)));
        return b.error(span);
      }
      if (!match.checks.empty())
        nodes.push_back(b.dimChecks(
            b.worded(std::move(match.checks), DiagId::ShapeMismatch, type, b.typeOf(value)), span));
    }
    locals.push_back(value);
  }
  closeWhole(type);
  type = b.infer.zonk(type);
  nodes.push_back(mapParts(f, locals, type, span));
  return b.block(std::move(nodes), span);
}

/// Whole numbers that nothing made floats are kept: `map_leaves` is for leaves with a derivative.
void Leaves::closeWhole(TypeId type) {
  for (TypeId var : b.infer.openVars({type}))
    if (b.infer.varClass(var) == types::VarClass::OpenInt) b.infer.unify(b.types.int64(), var);
}

NodeId Leaves::mapParts(const TemplateCall& f, const std::vector<NodeId>& values, TypeId type, Span span) {
  TypeId tangent = types::tangentType(b.types, type);
  if (b.types.isUnit(tangent) || isHidden(type)) return values[0];
  if (isLeaf(type)) return f(values, type);
  if (b.types.kind(type) == TypeKind::Array)
    return b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      std::vector<NodeId> elements;
      for (NodeId value : values) elements.push_back(b.at(value, i, span));
      return mapParts(f, elements, b.types.element(type), span);
    });
  if (!isComposite(type)) {
    b.sink.report(DiagId::NoLeaves, span, "map_leaves", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    std::vector<NodeId> fields;
    for (NodeId value : values) fields.push_back(b.field(value, k, span));
    parts.push_back(mapParts(f, fields, b.typeOf(fields[0]), span));
  }
  return rebuild(type, std::move(parts), span);
}

NodeId Leaves::fold(const TemplateCall& op, NodeId zero, const TemplateCall& f, NodeId value, Span span) {
  std::vector<NodeId> nodes;
  LocalId whole = b.bind("v", value, nodes);
  nodes.push_back(foldParts(op, zero, f, b.local(whole, span), span));
  return b.block(std::move(nodes), span);
}

NodeId Leaves::foldParts(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId value,
                         Span span) {
  TypeId type = b.typeOf(value);
  if (isLeaf(type)) return op({sofar, f({value}, TypeId::none())}, TypeId::none());
  if (isHidden(type)) return sofar;
  if (!isComposite(type)) {
    b.sink.report(DiagId::NoLeaves, span, "fold_leaves", b.show(type));
    return b.error(span);
  }
  for (uint32_t k = 0; k < partCount(type); ++k)
    sofar = foldParts(op, sofar, f, b.field(value, k, span), span);
  return sofar;
}

NodeId Leaves::joined(NodeId prefix, const std::string& path, Span span) {
  if (!prefix.valid()) return b.string(path, span);
  return b.make(NodeKind::Builtin, b.types.str(), span, {prefix, b.string(path, span)},
                BuiltinRef{ops::BuiltinKind::StrConcat});
}

NodeId Leaves::build(const TemplateCall& make, TypeId type, Span span) {
  return buildParts(make, type, "", NodeId::none(), span);
}

NodeId Leaves::buildParts(const TemplateCall& make, TypeId type, const std::string& path, NodeId prefix,
                          Span span) {
  if (isLeaf(type)) return make({joined(prefix, path, span)}, type);
  if (isHidden(type)) return b.op(OpKind::Undef, type, {}, span);
  if (b.types.kind(type) == TypeKind::Array)
    return b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      NodeId inner = joined(prefix, path, span);
      for (LocalId index : i) {
        NodeId number = b.make(NodeKind::Format, b.types.str(), span, {b.local(index, span)}, FormatSpec{});
        inner = b.make(NodeKind::Builtin, b.types.str(), span, {inner, b.string(".", span), number},
                       BuiltinRef{ops::BuiltinKind::StrConcat});
      }
      return buildParts(make, b.types.element(type), "", inner, span);
    });
  if (!isComposite(type)) {
    b.sink.report(DiagId::NoLeaves, span, "build", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    TypeId part =
        b.types.kind(type) == TypeKind::Tuple ? b.types[type].parts[k] : b.types.fieldType(type, 0, k);
    std::string name = partName(type, k);
    bool first = path.empty() && !prefix.valid();
    parts.push_back(buildParts(make, part, first ? name : path + "." + name, prefix, span));
  }
  return rebuild(type, std::move(parts), span);
}

NodeId Leaves::dot(NodeId x, NodeId y, Span span) {
  TypeId type = b.typeOf(x);
  if (b.types.kind(type) == TypeKind::Array && isLeaf(type))
    return b.reduce(NestKind::Sum, b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      return b.binary(BinaryKind::Mul, b.at(x, i, span), b.at(y, i, span), span);
    });
  if (isLeaf(type)) return b.binary(BinaryKind::Mul, x, y, span);
  if (isHidden(type)) return b.number("0", b.infer.freshVar(types::VarClass::OpenFloat, span), span);
  if (!isComposite(type)) {
    b.sink.report(DiagId::NoLeaves, span, "dot", b.show(type));
    return b.error(span);
  }
  NodeId total;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    NodeId left = b.field(x, k, span);
    if (b.types.isUnit(b.typeOf(left))) continue;
    NodeId part = dot(left, b.field(y, k, span), span);
    total = total.valid() ? b.binary(BinaryKind::Add, total, part, span) : part;
  }
  return total.valid() ? total : b.number("0", b.infer.freshVar(types::VarClass::OpenFloat, span), span);
}

NodeId Leaves::zero(TypeId type, Span span) { return b.op(OpKind::Zero, type, {}, span); }

} // namespace melix::check
