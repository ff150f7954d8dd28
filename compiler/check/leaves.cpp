#include "check/leaves.h"

#include "types/tangent.h"

#include <algorithm>

namespace melix::check {

bool Leaves::isComposite(TypeId t) {
  TypeKind k = b.types.kind(t);
  return k == TypeKind::Struct || k == TypeKind::Tuple;
}

/// A Dict whose values end somewhere: they are unrolled.
bool Leaves::isDict(TypeId t) { return b.types.isDict(t) && !types::holdsItself(b.types, t, true); }

bool Leaves::isLeaf(TypeId t) {
  const TypeId element = b.types.element(t);
  return b.types.isScalar(element) || b.isNumber(element) || b.types.kind(element) == TypeKind::Str;
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

NodeId Leaves::map(const TemplateCall& f, const std::vector<NodeId>& values, Span span) {
  for (NodeId value : values)
    if (b.kindOf(value) == TypeKind::Never) return b.block(values, span);
  std::vector<NodeId> nodes, locals;
  TypeId type = b.typeOf(values[0]);
  for (size_t k = 0; k < values.size(); ++k) {
    NodeId value = b.local(b.bind("v", values[k], nodes), span);
    if (k > 0) { // a T, or a tangent of T
      UnifyResult asValue = b.infer.unify(type, b.typeOf(value));
      UnifyResult match = asValue.kind > UnifyKind::NeedsCheck
                              ? b.infer.unify(types::tangentType(b.types, type), b.typeOf(value))
                              : asValue;
      if (match.kind == UnifyKind::DimsDiffer)
        b.reportMismatch(match, type, b.typeOf(value), value, b.spanOf(value), {"map_leaves", {}});
      if (match.kind == UnifyKind::Mismatch)
        b.sink.report(DiagId::ArgumentType, b.spanOf(value), "map_leaves", b.show(type),
                      b.show(b.typeOf(value)));
      if (match.kind > UnifyKind::NeedsCheck) return b.error(span);
      if (!match.checks.empty())
        nodes.push_back(b.dimChecks(
            b.withMessages(std::move(match.checks), DiagId::ShapeMismatch, type, b.typeOf(value)), span));
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

Leaves::Together Leaves::openTogether(const std::vector<NodeId>& packed, Span span) {
  Together all;
  for (NodeId value : packed) {
    NodeBuilder::Opened opened = b.open(value, span);
    all.nodes.insert(all.nodes.end(), opened.nodes.begin(), opened.nodes.end());
    if (all.values.empty()) {
      all.values.push_back(opened.value);
      all.sizes = opened.sizes;
      continue;
    }
    TypeId first = b.typeOf(all.values[0]), mine = b.typeOf(opened.value);
    std::vector<DimId> dims = b.dimsOf(mine);
    std::vector<DimCheckItem> checks;
    for (size_t k = 0; k < all.sizes.size(); ++k) {
      auto axis = std::find(dims.begin(), dims.end(), opened.sizes[k]) - dims.begin();
      std::string at = std::to_string(static_cast<size_t>(axis) < dims.size() ? axis : 0);
      checks.push_back(b.withMessage({all.sizes[k], opened.sizes[k], "", {}, 0}, DiagId::ShapeMismatch, first,
                                     mine, {at, "{0}", at, "{1}"}));
    }
    TypeId fits = b.types.openPack(b.typeOf(value), all.sizes);
    all.values.push_back(b.checked(opened.value, fits, std::move(checks), span));
  }
  return all;
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
  if (b.types.kind(type) == TypeKind::Pack) {
    Together all = openTogether(values, span);
    NodeId mapped = mapParts(f, all.values, b.typeOf(all.values[0]), span);
    if (b.kindOf(mapped) == TypeKind::Error) return mapped;
    all.nodes.push_back(b.make(NodeKind::Pack, type, span, {mapped}, Dims{std::move(all.sizes)}));
    return b.block(std::move(all.nodes), span);
  }
  if (isDict(type)) return mapEntries(f, values, type, span);
  if (!isComposite(type) || b.isBoxed(type)) {
    b.sink.report(DiagId::NoLeaves, span, "map_leaves", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    std::vector<NodeId> fields;
    for (NodeId value : values) fields.push_back(b.field(value, k, span));
    parts.push_back(mapParts(f, fields, b.typeOf(fields[0]), span));
  }
  return b.rebuilt(type, std::move(parts), span);
}

/// A Dict of the keys of the first in their order. A key that a tangent has not counts as zero.
NodeId Leaves::mapEntries(const TemplateCall& f, const std::vector<NodeId>& values, TypeId type, Span span) {
  std::vector<NodeId> nodes, dicts;
  for (NodeId value : values) dicts.push_back(b.local(b.bind("d", value, nodes), span));
  const bool isOwn = types::tangentType(b.types, type) == type;
  for (size_t k = 1; k < dicts.size(); ++k)
    nodes.push_back(b.library.callPrelude("dict_has_keys", {dicts[0], dicts[k]}, span));
  NodeId items = b.library.callPrelude("dict_items", {dicts[0]}, span);
  NodeId entries = b.local(b.bind("entries", items, nodes), span);
  const TypeId pair = b.types.tuple(b.types.typeArgs(type));
  NodeId count = b.make(NodeKind::Length, b.types.int64(), span, {entries});
  bool failed = false;
  NodeId made = b.listOfEach(
      pair, count,
      [&](const Step& k) {
        std::vector<NodeId> inside;
        NodeId entry = b.local(b.bind("entry", b.elementOf(entries, k, span), inside), span);
        NodeId key = b.field(entry, 0, span);
        std::vector<NodeId> of{b.field(entry, 1, span)};
        for (size_t d = 1; d < dicts.size(); ++d) {
          const bool isTangent = isOwn || b.typeOf(dicts[d]) != type;
          of.push_back(b.library.callPrelude(isTangent ? "dict_slope" : "dict_at", {dicts[d], key}, span));
        }
        NodeId mapped = mapParts(f, of, b.typeOf(of[0]), span);
        failed = b.kindOf(mapped) == TypeKind::Error;
        inside.push_back(b.tuple({key, mapped}, span));
        return b.block(std::move(inside), span);
      },
      span);
  if (failed) return b.error(span);
  nodes.push_back(b.library.callPrelude("dict_of", {made}, span));
  return b.block(std::move(nodes), span);
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
  if (b.types.kind(type) == TypeKind::Array) return foldElements(op, sofar, f, value, span);
  if (b.types.kind(type) == TypeKind::Pack) {
    NodeBuilder::Opened opened = b.open(value, span);
    opened.nodes.push_back(foldParts(op, sofar, f, opened.value, span));
    return b.block(std::move(opened.nodes), span);
  }
  if (isDict(type)) return foldEntries(op, sofar, f, value, span);
  if (!isComposite(type) || b.isBoxed(type)) {
    b.sink.report(DiagId::NoLeaves, span, "fold_leaves", b.show(type));
    return b.error(span);
  }
  for (uint32_t k = 0; k < partCount(type); ++k)
    sofar = foldParts(op, sofar, f, b.field(value, k, span), span);
  return sofar;
}

NodeId Leaves::foldElements(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId value,
                            Span span) {
  std::vector<NodeId> extents;
  for (DimId d : b.dimsOf(b.typeOf(value))) extents.push_back(b.dimValue(d, span));
  return foldOver(
      op, sofar, f, extents, [&](const std::vector<LocalId>& i) { return b.at(value, i, span); }, span);
}

NodeId Leaves::foldEntries(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId dict,
                           Span span) {
  std::vector<NodeId> nodes;
  NodeId entries = b.local(b.bind("entries", b.library.callPrelude("dict_items", {dict}, span), nodes), span);
  auto value = [&](const std::vector<LocalId>& i) {
    const Step step{StepKind::Element, 0, b.local(i[0], span), {}, {}, 1, span};
    return b.field(b.elementOf(entries, step, span), 1, span);
  };
  NodeId count = b.make(NodeKind::Length, b.types.int64(), span, {entries});
  nodes.push_back(foldOver(op, sofar, f, {count}, value, span));
  return b.block(std::move(nodes), span);
}

/// `var total = sofar; for i in … { total = … element(i) … }; total`
NodeId Leaves::foldOver(const TemplateCall& op, NodeId sofar, const TemplateCall& f,
                        const std::vector<NodeId>& extents,
                        const std::function<NodeId(const std::vector<LocalId>&)>& element, Span span) {
  const TypeId unit = b.types.unit();
  LocalId total = b.newLocal("total", b.typeOf(sofar), span, true);
  std::vector<check::For> loops(extents.size());
  std::vector<LocalId> indices;
  for (check::For& loop : loops) {
    loop.loop = static_cast<LoopId>(b.instance.nodes.size());
    loop.index = b.newLocal("i", b.types.int64(), span);
    indices.push_back(loop.index);
  }
  NodeId next = foldParts(op, b.local(total, span), f, element(indices), span);
  TypeId type = b.instance.locals[total].type;
  if (b.kindOf(next) == TypeKind::Error) return next;
  UnifyResult match = b.infer.unify(type, b.typeOf(next));
  if (match.kind > UnifyKind::NeedsCheck) {
    b.sink.report(DiagId::TypeMismatch, span, b.show(type), b.show(b.typeOf(next)));
    return b.error(span);
  }
  next = b.checked(
      next, type, b.withMessages(std::move(match.checks), DiagId::ShapeMismatch, type, b.typeOf(next)), span);
  NodeId body = b.make(NodeKind::Assign, unit, span, {next}, Place{total, {}, type});
  for (size_t k = loops.size(); k-- > 0;)
    body = b.make(NodeKind::For, unit, span, {b.integer(0, span), extents[k], body}, loops[k]);
  return b.block({b.let(total, sofar), body, b.local(total, span)}, span);
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
  if (isDict(type) || !isComposite(type) || b.isBoxed(type)) { // a type says no keys
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
    if (b.kindOf(parts.back()) == TypeKind::Error) return parts.back();
  }
  return b.rebuilt(type, std::move(parts), span);
}

NodeId Leaves::dot(NodeId x, NodeId y, Span span) {
  TypeId type = b.typeOf(x);
  if (b.types.kind(type) == TypeKind::Array)
    return b.reduce(NestKind::Sum, b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      return dot(b.at(x, i, span), b.at(y, i, span), span);
    });
  if (isLeaf(type)) return b.binary(BinaryKind::Mul, b.summable(x, span), b.summable(y, span), span);
  if (isHidden(type)) return b.number("0", b.infer.freshVar(types::VarClass::OpenFloat, span), span);
  if (b.types.kind(type) == TypeKind::Pack) {
    Together both = openTogether({x, y}, span);
    both.nodes.push_back(dot(both.values[0], both.values[1], span));
    return b.block(std::move(both.nodes), span);
  }
  if (b.types.isDict(type) && types::tangentType(b.types, type) == type)
    return b.library.callPrelude("dict_dot", {x, y}, span);
  if (b.isBoxed(type) && types::tangentType(b.types, type) == type)
    return types::widestFloat(b.types, type).valid() ? b.library.callDotted(x, y, span) : b.error(span);
  if (!isComposite(type) || b.isBoxed(type)) {
    b.sink.report(DiagId::NoLeaves, span, "dot", b.show(type));
    return b.error(span);
  }
  return dotParts(x, y, span);
}

NodeId Leaves::dotParts(NodeId x, NodeId y, Span span) {
  const TypeId type = b.typeOf(x);
  NodeId total;
  TypeId widest = types::widestFloat(b.types, b.infer.zonk(type));
  for (uint32_t k = 0; k < partCount(type); ++k) {
    NodeId left = b.field(x, k, span);
    if (b.types.isUnit(b.typeOf(left))) continue;
    NodeId part = dot(left, b.field(y, k, span), span);
    if (b.types.isFloat(b.typeOf(part))) part = b.convert(part, widest, span);
    total = total.valid() ? b.binary(BinaryKind::Add, total, part, span) : part;
  }
  return total.valid() ? total : b.number("0", b.infer.freshVar(types::VarClass::OpenFloat, span), span);
}

NodeId Leaves::zero(TypeId type, Span span) {
  if (types::hasZero(b.types, type)) return b.op(OpKind::Zero, type, {}, span);
  b.sink.report(DiagId::NoZero, span, b.show(type));
  return b.error(span);
}

} // namespace melix::check
