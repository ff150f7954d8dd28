#include "check/derivatives/leaves.h"

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

NodeId Leaves::map(const LeafCall& f, const std::vector<NodeId>& values, Span span) {
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
  nodes.push_back(mapParts(f, locals, type, {}, span));
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

NodeId Leaves::mapParts(const LeafCall& f, const std::vector<NodeId>& values, TypeId type,
                        const LeafPath& path, Span span) {
  TypeId tangent = types::tangentType(b.types, type);
  if (b.types.isUnit(tangent) || isHidden(type)) return values[0];
  if (isLeaf(type)) return f.call(argumentsOf(f, values, path, span), type);
  if (b.types.kind(type) == TypeKind::Array)
    return b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      std::vector<NodeId> elements;
      for (NodeId value : values) elements.push_back(b.at(value, i, span));
      return mapParts(f, elements, b.types.element(type), atIndices(f, path, i, span), span);
    });
  if (b.types.kind(type) == TypeKind::Pack) {
    Together all = openTogether(values, span);
    NodeId mapped = mapParts(f, all.values, b.typeOf(all.values[0]), path, span);
    if (b.kindOf(mapped) == TypeKind::Error) return mapped;
    all.nodes.push_back(b.make(NodeKind::Pack, type, span, {mapped}, Dims{std::move(all.sizes)}));
    return b.block(std::move(all.nodes), span);
  }
  if (isDict(type)) return mapEntries(f, values, type, path, span);
  if (!isComposite(type) || b.isBoxed(type)) {
    b.sink.report(DiagId::NoLeaves, span, "map_leaves", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    std::vector<NodeId> fields;
    for (NodeId value : values) fields.push_back(b.field(value, k, span));
    parts.push_back(mapParts(f, fields, b.typeOf(fields[0]), inPart(path, type, k), span));
  }
  return b.rebuilt(type, std::move(parts), span);
}

/// A Dict of the keys of the first in their order. A key that a tangent has not counts as zero.
NodeId Leaves::mapEntries(const LeafCall& f, const std::vector<NodeId>& values, TypeId type,
                          const LeafPath& path, Span span) {
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
        NodeId mapped = mapParts(f, of, b.typeOf(of[0]), atKey(f, path, key, span), span);
        failed = b.kindOf(mapped) == TypeKind::Error;
        inside.push_back(b.tuple({key, mapped}, span));
        return b.block(std::move(inside), span);
      },
      span);
  if (failed) return b.error(span);
  nodes.push_back(b.library.callPrelude("dict_of", {made}, span));
  return b.block(std::move(nodes), span);
}

NodeId Leaves::fold(const Combining& by, NodeId zero, const LeafCall& f, NodeId value, Span span) {
  std::vector<NodeId> nodes;
  LocalId whole = b.bind("v", value, nodes);
  nodes.push_back(foldParts(by, zero, f, b.local(whole, span), {}, span));
  return b.block(std::move(nodes), span);
}

NodeId Leaves::foldParts(const Combining& by, NodeId sofar, const LeafCall& f, NodeId value,
                         const LeafPath& path, Span span) {
  TypeId type = b.typeOf(value);
  if (isLeaf(type))
    return by.op({sofar, f.call(argumentsOf(f, {value}, path, span), TypeId::none())}, TypeId::none());
  if (isHidden(type)) return sofar;
  if (b.types.kind(type) == TypeKind::Array) return foldElements(by, sofar, f, value, path, span);
  if (b.types.kind(type) == TypeKind::Pack) {
    NodeBuilder::Opened opened = b.open(value, span);
    opened.nodes.push_back(foldParts(by, sofar, f, opened.value, path, span));
    return b.block(std::move(opened.nodes), span);
  }
  if (isDict(type)) return foldEntries(by, sofar, f, value, path, span);
  if (!isComposite(type) || b.isBoxed(type)) {
    b.sink.report(DiagId::NoLeaves, span, "fold_leaves", b.show(type));
    return b.error(span);
  }
  for (uint32_t k = 0; k < partCount(type); ++k)
    sofar = foldParts(by, sofar, f, b.field(value, k, span), inPart(path, type, k), span);
  return sofar;
}

NodeId Leaves::foldElements(const Combining& by, NodeId sofar, const LeafCall& f, NodeId value,
                            const LeafPath& path, Span span) {
  std::vector<NodeId> extents;
  for (DimId d : b.dimsOf(b.typeOf(value))) extents.push_back(b.dimValue(d, span));
  auto round = [&](NodeId before, const std::vector<LocalId>& i) {
    return foldParts(by, before, f, b.at(value, i, span), atIndices(f, path, i, span), span);
  };
  return foldOver(by, sofar, extents, round, span);
}

NodeId Leaves::foldEntries(const Combining& by, NodeId sofar, const LeafCall& f, NodeId dict,
                           const LeafPath& path, Span span) {
  std::vector<NodeId> nodes;
  NodeId entries = b.local(b.bind("entries", b.library.callPrelude("dict_items", {dict}, span), nodes), span);
  auto round = [&](NodeId before, const std::vector<LocalId>& i) {
    const Step step{StepKind::Element, 0, b.local(i[0], span), {}, {}, 1, span};
    const NodeId entry = b.elementOf(entries, step, span);
    const LeafPath at = atKey(f, path, b.field(entry, 0, span), span);
    return foldParts(by, before, f, b.field(entry, 1, span), at, span);
  };
  NodeId count = b.make(NodeKind::Length, b.types.int64(), span, {entries});
  nodes.push_back(foldOver(by, sofar, {count}, round, span));
  return b.block(std::move(nodes), span);
}

/// `var total = sofar; for i in … { total = round(total, i…) }; total`
NodeId Leaves::foldOver(const Combining& by, NodeId sofar, const std::vector<NodeId>& extents,
                        FoldRound round, Span span) {
  const TypeId unit = b.types.unit();
  std::vector<LocalId> indices;
  auto newIndices = [&] {
    indices.clear();
    while (indices.size() < extents.size()) indices.push_back(b.newLocal("i", b.types.int64(), span));
  };
  sofar = by.growing(sofar, [&](NodeId before) {
    newIndices();
    return round(before, indices);
  });
  LocalId total = b.newLocal("total", b.typeOf(sofar), span, true);
  std::vector<check::For> loops(extents.size());
  for (check::For& loop : loops) loop.loop = static_cast<LoopId>(b.instance.nodes.size());
  newIndices();
  for (size_t k = 0; k < loops.size(); ++k) loops[k].index = indices[k];
  NodeBuilder::Opened before = openLocal(total, span);
  NodeId next = round(before.value, indices);
  TypeId type = b.instance.locals[total].type;
  if (b.kindOf(next) != TypeKind::Error) next = by.coerce(next, type);
  if (b.kindOf(next) == TypeKind::Error) return next;
  before.nodes.push_back(b.make(NodeKind::Assign, unit, span, {next}, Place{total, {}, type}));
  NodeId body = b.block(std::move(before.nodes), span);
  for (size_t k = loops.size(); k-- > 0;)
    body = b.make(NodeKind::For, unit, span, {b.integer(0, span), extents[k], body}, loops[k]);
  NodeBuilder::Opened after = openLocal(total, span);
  after.nodes.insert(after.nodes.begin(), {b.let(total, sofar), body});
  after.nodes.push_back(after.value);
  return b.block(std::move(after.nodes), span);
}

/// A variable that is read, with the sizes named that it keeps.
NodeBuilder::Opened Leaves::openLocal(LocalId local, Span span) {
  NodeId value = b.local(local, span);
  if (b.kindOf(value) == TypeKind::Pack) return b.open(value, span);
  return {{}, value, {}};
}

// --- paths

LeafPath Leaves::inPart(LeafPath path, TypeId t, uint32_t k) {
  const bool isFirst = path.text.empty() && !path.before.valid();
  path.text += (isFirst ? "" : ".") + partName(t, k);
  return path;
}

/// Behind the path, a point and each text.
LeafPath Leaves::behind(const LeafPath& path, const std::vector<NodeId>& texts, Span span) {
  NodeId before;
  std::string point = path.text.empty() && !path.before.valid() ? "" : ".";
  if (!point.empty()) before = whole(path, span);
  for (NodeId text : texts) {
    std::vector<NodeId> parts{text};
    if (!point.empty()) parts = {before, b.string(point, span), text};
    before = parts.size() == 1 ? text
                               : b.make(NodeKind::Builtin, b.types.str(), span, std::move(parts),
                                        BuiltinRef{ops::BuiltinKind::StrConcat});
    point = ".";
  }
  return {before, ""};
}

/// The path of an element of an array; the same where nobody takes it.
LeafPath Leaves::atIndices(const LeafCall& f, const LeafPath& path, const std::vector<LocalId>& i,
                           Span span) {
  return f.text ? behind(path, numbers(i, span), span) : path;
}

/// The path of the value at a key of a Dict.
LeafPath Leaves::atKey(const LeafCall& f, const LeafPath& path, NodeId key, Span span) {
  return f.text ? behind(path, {f.text(key)}, span) : path;
}

std::vector<NodeId> Leaves::numbers(const std::vector<LocalId>& indices, Span span) {
  std::vector<NodeId> out;
  for (LocalId index : indices)
    out.push_back(b.make(NodeKind::Format, b.types.str(), span, {b.local(index, span)}, FormatSpec{}));
  return out;
}

NodeId Leaves::whole(const LeafPath& path, Span span) {
  if (!path.before.valid()) return b.string(path.text, span);
  if (path.text.empty()) return path.before;
  return b.make(NodeKind::Builtin, b.types.str(), span, {path.before, b.string(path.text, span)},
                BuiltinRef{ops::BuiltinKind::StrConcat});
}

std::vector<NodeId> Leaves::argumentsOf(const LeafCall& f, std::vector<NodeId> leaf, const LeafPath& path,
                                        Span span) {
  if (f.text) leaf.insert(leaf.begin(), whole(path, span));
  return leaf;
}

NodeId Leaves::build(const TemplateCall& make, TypeId type, Span span) {
  return buildParts(make, type, {}, span);
}

NodeId Leaves::buildParts(const TemplateCall& make, TypeId type, const LeafPath& path, Span span) {
  if (isLeaf(type)) return make({whole(path, span)}, type);
  if (isHidden(type)) return b.op(OpKind::Undef, type, {}, span);
  if (b.types.kind(type) == TypeKind::Array)
    return b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
      return buildParts(make, b.types.element(type), behind(path, numbers(i, span), span), span);
    });
  if (isDict(type) || !isComposite(type) || b.isBoxed(type)) { // a type says no keys
    b.sink.report(DiagId::NoLeaves, span, "build", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < partCount(type); ++k) {
    TypeId part =
        b.types.kind(type) == TypeKind::Tuple ? b.types[type].parts[k] : b.types.fieldType(type, 0, k);
    parts.push_back(buildParts(make, part, inPart(path, type, k), span));
    if (b.kindOf(parts.back()) == TypeKind::Error) return parts.back();
  }
  return b.rebuilt(type, std::move(parts), span);
}

NodeId Leaves::dot(NodeId x, NodeId y, Span span) {
  TypeId type = b.typeOf(x);
  if (b.types.kind(type) == TypeKind::Array)
    return b.reduce(ops::MonoidKind::Sum, b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
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
