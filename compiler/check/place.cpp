// Places and indexing (rules 14, 28, 30).
#include "check/body.h"

namespace melix::check {

using namespace syntax;

NodeId Body::readPlace(const Place& place, Span span) {
  NodeId base = b.local(place.root, span);
  if (place.steps.empty()) return base;
  return b.make(NodeKind::Get, infer.zonk(place.type), span, {base}, Steps{place.steps});
}

bool Body::checkTarget(SynId node, Target& target) {
  return targetOf(node, target, true) && mayChange(target.place, node);
}

bool Body::checkPlaceTarget(SynId node, Target& target) {
  return partOf(node, target, true) && mayChange(target.place, node);
}

/// A target that is one place.
bool Body::partOf(SynId node, Target& target, bool report) {
  if (!targetOf(node, target, report)) return false;
  if (!target.gathers.any()) return true;
  if (report) sink.report(DiagId::NotOnePlace, ast.span(node));
  return false;
}

bool Body::placeOfName(SynId node, Place& place, bool report) {
  const SynNode n = ast[node];
  NameId name = n.as<Name>().name;
  std::string_view text = types.names.text(name);
  LocalId l = lookupAny(name);
  if (!l) {
    if (report)
      sink.report(DiagId::UnknownName, n.span, text).hint = c.suggestName(module, name, visibleNames());
    return false;
  }
  const check::Local local = instance.locals[l];
  if (!local.isVar) {
    if (!report) return false;
    bool capture = false;
    for (uint32_t k = 0; k < instance.captures && k < instance.params.size(); ++k)
      capture |= instance.params[k] == l;
    sink.report(capture ? DiagId::CaptureAssigned : DiagId::NotAssignable, n.span, text);
    return false;
  }
  if (builderDepth > 0 && report) {
    size_t begin = builders.back().scopeBegin;
    for (size_t k = 0; k < begin && k < scope.size(); ++k)
      if (scope[k].local == l) {
        sink.report(DiagId::BuilderAssigns, n.span, text);
        return false;
      }
  }
  used.insert(l);
  auto alias = aliases.find(l);
  place = alias != aliases.end() ? alias->second : Place{l, {}, infer.zonk(local.type)};
  return true;
}

/// A field of a struct, or a part of a tuple, of the place at hand.
bool Body::placeOfField(SynId node, Place& place, bool report) {
  const SynNode n = ast[node];
  bool named = n.kind == SynKind::Member;
  TypeId type = infer.zonk(place.type);
  auto step = [&](uint32_t k, TypeId part) {
    place.steps.push_back({StepKind::Field, k, {}, {}, {}, 1, n.span});
    place.type = part;
    return true;
  };
  if (named && types.kind(type) == TypeKind::Struct) {
    const std::vector<types::Field> fields = types.recordInfo(types[type].record).cases[0].fields;
    for (uint32_t k = 0; k < fields.size(); ++k)
      if (fields[k].name == n.as<Member>().name) return step(k, types.fieldType(type, 0, k));
  }
  if (!named && types.kind(type) == TypeKind::Tuple && n.as<TupleIndex>().index < types[type].parts.size())
    return step(n.as<TupleIndex>().index, types[type].parts[n.as<TupleIndex>().index]);
  if (!report || types.kind(type) == TypeKind::Error) return false;
  if (named)
    sink.report(DiagId::UnknownField, n.as<Member>().nameSpan, b.show(type),
                types.names.text(n.as<Member>().name));
  else
    sink.report(DiagId::UnknownField, n.span, b.show(type), std::to_string(n.as<TupleIndex>().index));
  return false;
}

bool Body::targetOf(SynId node, Target& target, bool report) {
  const SynNode n = ast[node];
  Place& place = target.place;
  switch (n.kind) {
  case SynKind::Paren: return targetOf(n.as<One>().inner, target, report);
  case SynKind::Name: return placeOfName(node, place, report);
  case SynKind::Member:
  case SynKind::TupleIndex: {
    SynId base = n.kind == SynKind::Member ? n.as<Member>().base : n.as<TupleIndex>().base;
    if (!partOf(base, target, report)) return false;
    if (types.kind(infer.zonk(place.type)) == TypeKind::Pack) openTarget(target, n.span);
    return placeOfField(node, place, report);
  }
  case SynKind::Brackets: {
    const auto brackets = n.as<Brackets>();
    if (!partOf(brackets.base, target, report)) return false;
    if (needsOpening(place)) openTarget(target, n.span);
    TypeId type = infer.zonk(place.type);
    target.whole = type;
    target.bracket = place.steps.size();
    if (!addSteps(type, brackets.items, n.span, place.steps, target.gathers)) return false;
    for (size_t k = target.bracket; k < place.steps.size(); ++k)
      if (place.steps[k].kind == StepKind::Slice && !place.steps[k].index.valid()) { // `x[new]`
        if (report) sink.report(DiagId::NotAssignable, n.span, c.modules.sources.text(n.span));
        return false;
      }
    fromTheEnd(place, target.bracket, n.span);
    place.type = type;
    return true;
  }
  default:
    if (report) sink.report(DiagId::NotAssignable, n.span, c.modules.sources.text(n.span));
    return false;
  }
}

/// `xs[-1]` of a list: the last element.
void Body::fromTheEnd(Place& place, size_t step, Span span) {
  if (step >= place.steps.size() || place.steps[step].kind != StepKind::Element) return;
  auto literal = b.literal(place.steps[step].index);
  if (!literal || *literal >= 0) return;
  Place list{
      place.root, {place.steps.begin(), place.steps.begin() + static_cast<ptrdiff_t>(step)}, place.type};
  NodeId length = b.make(NodeKind::Length, types.int64(), span, {readPlace(list, span)});
  place.steps[step].index = b.op(OpKind::Add, types.int64(), {length, b.integer(*literal, span)}, span);
}

NodeId Body::checkIndexing(SynId node) {
  const SynNode n = ast[node];
  const auto brackets = n.as<Brackets>();
  auto firstOwn = static_cast<uint32_t>(instance.locals.size());
  NodeId base = aheadOfBuilder(checkExpr(brackets.base), firstOwn, brackets.items);
  return indexInto(base, brackets.items, n.span);
}

NodeId Body::indexInto(NodeId base, const std::vector<Argument>& items, Span span) {
  TypeId type = b.typeOf(base);
  TypeKind k = types.kind(type);
  if (k == TypeKind::Error) return base;
  if (k == TypeKind::Str && items.size() == 1) {
    if (ast.kind(items[0].value) == SynKind::Range) {
      const auto range = ast[items[0].value].as<syntax::Range>();
      std::vector<NodeId> nodes;
      NodeId text = b.local(b.bind("s", base, nodes), span);
      NodeId first = coerce(checkExpr(range.first), types.int64(), span);
      NodeId last = range.last ? coerce(checkExpr(range.last), types.int64(), span)
                               : b.make(NodeKind::Length, types.int64(), span, {text});
      nodes.push_back(b.make(NodeKind::Builtin, types.str(), span, {text, first, last},
                             BuiltinRef{ops::BuiltinKind::StrSlice}));
      return b.block(std::move(nodes), span);
    }
    NodeId index = coerce(checkExpr(items[0].value), types.int64(), span);
    return b.make(NodeKind::Builtin, types.scalar(TypeKind::Char), span, {base, index},
                  BuiltinRef{ops::BuiltinKind::StrCharAt});
  }
  if (k == TypeKind::List && items.size() == 1) {
    NodeId index = coerce(checkExpr(items[0].value), types.int64(), span);
    if (auto literal = b.literal(index); literal && *literal < 0) {
      std::vector<NodeId> nodes;
      NodeId list = b.local(b.bind("xs", base, nodes), span);
      NodeId length = b.make(NodeKind::Length, types.int64(), span, {list});
      index = b.op(OpKind::Add, types.int64(), {length, b.integer(*literal, span)}, span);
      Steps steps{{Step{StepKind::Element, 0, index, {}, {}, 1, span}}};
      nodes.push_back(b.make(NodeKind::Get, types[type].parts[0], span, {list}, std::move(steps)));
      return b.block(std::move(nodes), span);
    }
    Steps steps{{Step{StepKind::Element, 0, index, {}, {}, 1, span}}};
    return b.make(NodeKind::Get, types[type].parts[0], span, {base}, std::move(steps));
  }
  if (k == TypeKind::Known) {
    sink.report(DiagId::Unsupported, span, "explicit parameters of a function that is not called at once");
    return b.error(span);
  }
  // `x[..i]` of a scalar: a pack without axes.
  bool packsOnly = k != TypeKind::Array && !items.empty();
  for (const Argument& item : items) {
    auto pack = ast.kind(item.value) == SynKind::PackUse ? indexPacks.find(ast[item.value].as<Name>().name)
                                                         : indexPacks.end();
    packsOnly &= pack != indexPacks.end() && pack->second.empty();
  }
  if (packsOnly) return base;
  if (k != TypeKind::Array) {
    sink.report(DiagId::CannotIndex, span, b.show(type));
    return b.error(span);
  }
  TypeId whole = type;
  std::vector<Step> steps;
  Gathers gathers;
  if (!addSteps(type, items, span, steps, gathers)) return b.error(span);
  if (gathers.mask.valid()) return maskSelect(base, gathers.mask, span);
  // `new` axes are marked by a Slice step without an index.
  bool hasNew = false;
  for (const Step& s : steps) hasNew |= s.kind == StepKind::Slice && !s.index.valid();
  if (hasNew) {
    std::vector<Step> real;
    std::vector<DimId> dims;
    std::vector<DimId> from = b.dimsOf(whole);
    size_t axis = 0;
    for (const Step& s : steps) {
      if (s.kind == StepKind::Slice && !s.index.valid()) {
        dims.push_back(types.dims.constant(1));
        continue;
      }
      if (s.kind == StepKind::All)
        dims.push_back(from[axis]);
      else if (s.kind == StepKind::Slice)
        dims.push_back(s.length);
      real.push_back(s);
      ++axis;
    }
    for (; axis < from.size(); ++axis) dims.push_back(from[axis]);
    if (gathers.any()) {
      sink.report(DiagId::Unsupported, span, "`new` beside an index array");
      return b.error(span);
    }
    bool allWhole = true;
    for (const Step& s : real) allWhole &= s.kind == StepKind::All;
    NodeId inner = base;
    if (!allWhole) {
      std::vector<DimId> innerDims;
      for (DimId d : dims)
        if (types.dims.asConstant(d) != 1) innerDims.push_back(d);
      inner = b.make(NodeKind::Get, types.array(types.element(whole), innerDims), span, {base}, Steps{real});
    }
    return b.make(NodeKind::Reshape, types.array(types.element(whole), dims), span, {inner});
  }
  if (gathers.any()) return gather(base, std::move(steps), gathers, type, span);
  return b.make(NodeKind::Get, type, span, {base}, Steps{std::move(steps)});
}

/// Steps for the items of a bracket on an array of `type`, which becomes the type of the place. Index arrays
/// become Index steps without an index and are listed in `gathers`; a mask stands alone and makes no step.
bool Body::addSteps(TypeId& type, const std::vector<Argument>& items, Span span, std::vector<Step>& steps,
                    Gathers& gathers) {
  if (types.kind(type) == TypeKind::List && items.size() == 1) {
    NodeId index = coerce(checkExpr(items[0].value), types.int64(), span);
    steps.push_back({StepKind::Element, 0, index, {}, {}, 1, span});
    type = types[type].parts[0];
    return true;
  }
  if (types.kind(type) != TypeKind::Array) {
    if (types.kind(type) != TypeKind::Error) sink.report(DiagId::CannotIndex, span, b.show(type));
    return false;
  }
  const std::vector<DimId> dims = b.dimsOf(type);
  std::vector<DimId> kept;
  size_t axis = 0;
  auto isNewAxis = [&](SynId item) {
    return ast.kind(item) == SynKind::Name && types.names.text(ast[item].as<Name>().name) == "new" &&
           !lookupAny(ast[item].as<Name>().name);
  };
  size_t plain = 0;
  for (const Argument& item : items)
    plain += ast.kind(item.value) != SynKind::RestAxes && ast.kind(item.value) != SynKind::PackUse &&
             !isNewAxis(item.value);
  for (const Argument& item : items) {
    const SynNode n = ast[item.value];
    if (item.label) {
      Diagnostic& d = sink.report(DiagId::Unsupported, n.span, "named axes");
      d.hint = "ranges are written `a..b`";
      return false;
    }
    if (n.kind == SynKind::RestAxes || n.kind == SynKind::PackUse) {
      size_t rest = dims.size() >= plain ? dims.size() - plain : 0;
      const std::vector<LocalId>* pack = nullptr;
      if (n.kind == SynKind::PackUse) {
        auto found = indexPacks.find(n.as<Name>().name);
        if (found == indexPacks.end()) {
          sink.report(DiagId::RangeWithoutStart, n.span);
          return false;
        }
        pack = &found->second;
        rest = pack->size();
      }
      for (size_t k = 0; k < rest && axis < dims.size(); ++k, ++axis) {
        if (!pack) {
          steps.push_back({StepKind::All, 0, {}, {}, {}, 1, n.span});
          kept.push_back(dims[axis]);
          continue;
        }
        NodeId index = b.local((*pack)[k], n.span);
        noteIndexUse(index, dims[axis]);
        steps.push_back({StepKind::Index, 0, index, {}, {}, 1, n.span});
      }
      continue;
    }
    if (isNewAxis(item.value)) {
      steps.push_back({StepKind::Slice, 0, {}, {}, types.dims.constant(1), 1, n.span});
      kept.push_back(types.dims.constant(1));
      continue;
    }
    if (axis >= dims.size()) {
      sink.report(DiagId::RankMismatch, span, b.show(type), std::to_string(dims.size()),
                  std::to_string(plain));
      return false;
    }
    DimId extent = dims[axis];
    if (n.kind == SynKind::Colon) {
      steps.push_back({StepKind::All, 0, {}, {}, {}, 1, n.span});
      kept.push_back(extent);
      ++axis;
      continue;
    }
    if (n.kind == SynKind::Range) {
      const auto range = n.as<syntax::Range>();
      // Ends are evaluated once and, where they are no dimension yet, named, so that the size has a name.
      auto end = [&](SynId e, NodeId& node) {
        node = coerce(checkExpr(e), types.int64(), ast.span(e));
        if (auto literal = b.literal(node); literal && *literal < 0)
          return types.dims.add(extent, types.dims.constant(*literal));
        return b.dimOf(node);
      };
      Step step{StepKind::Slice, 0, {}, {}, {}, 1, n.span};
      DimId lo = end(range.first, step.index);
      DimId hi = range.last ? end(range.last, step.end) : extent;
      if (auto literal = b.literal(step.index); literal && *literal < 0) step.index = b.dimValue(lo, n.span);
      if (step.end.valid())
        if (auto literal = b.literal(step.end); literal && *literal < 0) step.end = b.dimValue(hi, n.span);
      if (range.step) {
        NodeId stepNode = checkExpr(range.step);
        auto literal = b.literal(stepNode);
        if (!literal || *literal < 1) {
          sink.report(DiagId::Unsupported, ast.span(range.step),
                      "a slice step that is not a positive literal");
          return false;
        }
        step.step = *literal;
      }
      if (lo && hi) {
        DimId size = types.dims.sub(hi, lo);
        DimId stride = types.dims.constant(step.step);
        step.length =
            step.step == 1
                ? size
                : types.dims.floorDiv(types.dims.add(size, types.dims.constant(step.step - 1)), stride);
      } else {
        sink.report(DiagId::UnknownSize, n.span, c.modules.sources.text(n.span)).hint =
            "bind the ends of the slice with `let` first";
        return false;
      }
      steps.push_back(step);
      kept.push_back(step.length);
      ++axis;
      continue;
    }
    NodeId index = checkExpr(item.value);
    TypeId indexType = b.typeOf(index);
    TypeKind k = types.kind(indexType);
    if (k == TypeKind::Error) return false;
    if (k == TypeKind::Array) {
      TypeId element = types.element(indexType);
      if (types.kind(element) == TypeKind::Bool && items.size() == 1) {
        gathers.mask = index;
        return true;
      }
      if (!types.isInt(infer.shallow(element)) &&
          !(infer.isOpen(element) && infer.varClass(element) == types::VarClass::OpenInt)) {
        sink.report(DiagId::IndexType, n.span, b.show(indexType));
        return false;
      }
      gathers.arrays.push_back({steps.size(), index});
      steps.push_back({StepKind::Index, 0, {}, {}, {}, 1, n.span});
      for (DimId d : b.dimsOf(indexType)) kept.push_back(d);
      ++axis;
      continue;
    }
    if (infer.isOpen(indexType)) infer.unify(types.int64(), indexType);
    if (!types.isInt(infer.shallow(indexType))) {
      sink.report(DiagId::IndexType, n.span, b.show(indexType));
      return false;
    }
    if (auto literal = b.literal(index)) {
      auto size = types.dims.asConstant(infer.zonk(extent));
      if (size && (*literal >= *size || *literal < -*size)) {
        sink.report(DiagId::IndexOutOfRange, n.span, std::to_string(*literal), std::to_string(*size));
        return false;
      }
      if (*literal < 0) index = b.dimValue(types.dims.add(extent, types.dims.constant(*literal)), n.span);
    }
    index = b.convert(index, types.int64(), n.span);
    noteIndexUse(index, extent);
    steps.push_back({StepKind::Index, 0, index, {}, {}, 1, n.span});
    ++axis;
  }
  for (; axis < dims.size(); ++axis) kept.push_back(dims[axis]);
  type = types.array(types.element(type), std::move(kept));
  return true;
}

} // namespace melix::check
