// Ranges of the indices of builders, from how they are used (rule 28).
#include "check/body/attempt.h"
#include "check/signatures/free_names.h"
#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

namespace {

void reportDifference(DiagnosticSink& sink, types::TypeStore& types, Span use, std::string_view index,
                      DimId one, DimId other) {
  types::DimStore& dims = types.dims;
  sink.report(DiagId::RangesDiffer, use, index, dims.show(one), dims.show(other),
              dims.show(dims.min(one, other)));
}

} // namespace

/// The index as Σ c·header index + constant, computed exactly; false if it is anything else.
bool Body::affine(NodeId n, IndexUse& use, int64_t scale) {
  const Node& node = instance.nodes[n];
  types::DimStore& dims = types.dims;
  if (node.kind == NodeKind::Convert) return affine(node.children[0], use, scale);
  if (node.kind == NodeKind::Local) {
    LocalId l = node.as<LocalRef>().local;
    for (const HeaderIndex& h : headerIndices) {
      if (h.local != l && h.named != l) continue;
      if (h.named == l && !h.step) return false;
      int64_t coefficient = scale;
      if (h.named == l && __builtin_mul_overflow(scale, h.step, &coefficient)) return false;
      use.terms.emplace_back(h.local, coefficient);
      if (h.named == l && h.first)
        use.constant = dims.add(use.constant, dims.mul(dims.constant(scale), h.first));
      return true;
    }
  }
  if (node.kind == NodeKind::Op && node.children.size() == 2) {
    OpKind k = node.as<OpRef>().kind;
    if (k == OpKind::Add || k == OpKind::Sub)
      return affine(node.children[0], use, scale) && (k == OpKind::Add || scale != INT64_MIN) &&
             affine(node.children[1], use, k == OpKind::Sub ? -scale : scale);
    if (k == OpKind::Mul)
      for (size_t side = 0; side < 2; ++side)
        if (auto factor = b.literal(node.children[side]))
          return !__builtin_mul_overflow(scale, *factor, &scale) &&
                 affine(node.children[1 - side], use, scale);
  }
  DimId d = b.dimOf(n);
  if (d) use.constant = dims.add(use.constant, dims.mul(dims.constant(scale), d));
  return d.valid();
}

void Body::noteIndexUse(NodeId index, DimId extent) {
  if (headerIndices.empty()) return;
  IndexUse use;
  use.constant = types.dims.constant(0);
  use.extent = extent;
  use.span = b.spanOf(index);
  if (!affine(index, use, 1) || use.terms.empty()) return;
  for (const HeaderIndex& h : headerIndices)
    for (auto [local, coefficient] : use.terms)
      use.conditional |= local == h.local && conditions > h.conditions;
  indexUses.push_back(std::move(use));
}

/// Indices that only functions in the body use, `[for b: grad(w => w * x[b])(1.0)]`: these are read as if
/// they stood before the functions, where nothing in the body binds their names.
void Body::collectUsesInClosures(SynId body) {
  auto mayGive = [&](NameId name) {
    return std::any_of(headerIndices.begin(), headerIndices.end(),
                       [&](const HeaderIndex& h) { return !h.given && h.name == name; });
  };
  std::vector<Span> functions;
  forEachInside(ast, body, [&](SynId node, const IsBound& isBound) {
    const Span at = ast.span(node);
    if (ast.kind(node) == SynKind::Lambda || ast.kind(node) == SynKind::Fn) functions.push_back(at);
    bool inside = std::any_of(functions.begin(), functions.end(),
                              [&](Span f) { return f.begin <= at.begin && at.end <= f.end; });
    if (!inside || ast.kind(node) != SynKind::Brackets) return;
    bool gives = false, free = true;
    forEachInside(ast, node, [&](SynId part, const IsBound&) {
      if (ast.kind(part) != SynKind::Name) return;
      NameId name = ast[part].as<Name>().name;
      gives |= mayGive(name);
      free &= !isBound(name);
    });
    if (!gives || !free) return;
    const size_t before = indexUses.size();
    Attempt attempt(*this);
    ++conditions;    // whether the function is called is not known
    checkExpr(node); // notes its indices
    --conditions;
    const std::vector<IndexUse> found(indexUses.begin() + static_cast<ptrdiff_t>(before), indexUses.end());
    attempt.drop();
    for (const IndexUse& use : found) indexUses.push_back(use);
  });
}

/// Whether a size is known in front of the builder at hand: nothing in its body defines it.
bool Body::isInvariant(DimId d) {
  const BuilderFrame& frame = builders.back();
  std::vector<DimSym> symbols;
  types.dims.collectSymbols(infer.zonk(d), symbols);
  return std::all_of(symbols.begin(), symbols.end(), [&](DimSym s) {
    DimSymKind kind = types.dims.info(s).kind;
    if (kind == DimSymKind::Unknown) return s.index < frame.firstSymbol || frame.aheadSymbols.contains(s);
    if (kind != DimSymKind::Value || s.index < frame.firstSymbol) return true;
    for (uint32_t k = 0; k < frame.firstLocal; ++k)
      if (instance.locals[LocalId(k)].asDim == s) return true;
    return false; // of a variable of the body, or of an attempt there
  });
}

/// What `use` adds to `index` at most: its constant and the last values of the other indices. None while
/// these have no range, or if one of them is subtracted.
DimId Body::otherIndicesReach(const IndexUse& use, const HeaderIndex& index) {
  types::DimStore& dims = types.dims;
  DimId reach = use.constant;
  for (auto [local, coefficient] : use.terms)
    for (const HeaderIndex& other : headerIndices) {
      if (other.local != local || local == index.local) continue;
      DimId extent = infer.zonk(dims.symbol(other.extent));
      if (infer.hasInferenceDim(extent) || coefficient < 0) return DimId::none();
      reach = dims.add(reach, dims.mul(dims.constant(coefficient), dims.sub(extent, dims.constant(1))));
    }
  return reach;
}

/// The largest range of `index` that keeps `use` in bounds; none if the use does not say.
DimId Body::rangeFrom(const IndexUse& use, const HeaderIndex& index) {
  types::DimStore& dims = types.dims;
  int64_t factor = 0;
  for (auto [local, coefficient] : use.terms)
    if (local == index.local && __builtin_add_overflow(factor, coefficient, &factor)) return DimId::none();
  DimId reach = factor >= 1 ? otherIndicesReach(use, index) : DimId::none();
  DimId extent = infer.zonk(use.extent);
  if (!reach || infer.hasInferenceDim(extent) || !isInvariant(extent) || !isInvariant(reach))
    return DimId::none();
  DimId room = dims.sub(dims.sub(extent, dims.constant(1)), reach);
  return dims.add(dims.floorDiv(room, dims.constant(factor)), dims.constant(1));
}

/// Bare uses `a[…, i, …]` give an index the extents of their axes, which must be equal.
bool Body::rangesFromBareUses(std::vector<DimCheckItem>& checks) {
  bool ok = true;
  for (const HeaderIndex& h : headerIndices) {
    if (h.given || h.builder != builders.size()) continue;
    DimId self = types.dims.symbol(h.extent);
    std::string name(types.names.text(h.name));
    for (const IndexUse& use : indexUses) {
      bool bare = use.terms.size() == 1 && use.terms[0] == std::pair(h.local, int64_t(1)) &&
                  types.dims.asConstant(use.constant) == 0;
      if (!bare || !isInvariant(use.extent)) continue;
      UnifyKind match = infer.unifyDim(self, use.extent);
      if (match == UnifyKind::NeedsCheck)
        checks.push_back({infer.zonk(self),
                          infer.zonk(use.extent),
                          diagMessage({DiagId::RangesDiffer, {}, {name, "{0}", "{1}"}, {}, {}}),
                          {},
                          0});
      if (match != UnifyKind::DimsDiffer) continue;
      reportDifference(sink, types, use.span, name, infer.zonk(self), infer.zonk(use.extent));
      ok = false;
    }
  }
  return ok;
}

/// The range that all uses as c·i + other indices + constant give an index; none if they give none, `differ`
/// if several.
DimId Body::rangeFromUses(const HeaderIndex& index, bool& differ) {
  DimId found;
  for (const IndexUse& use : indexUses) {
    DimId range = rangeFrom(use, index);
    if (!range || range == found) continue;
    if (!found) {
      found = range;
      continue;
    }
    reportDifference(sink, types, use.span, types.names.text(index.name), found, range);
    differ = true;
    return found;
  }
  return found;
}

/// Solves the extents of the indices of the builder at hand; false after an error.
bool Body::resolveRanges(std::vector<DimCheckItem>& checks, NodeId value) {
  if (!rangesFromBareUses(checks)) return false;
  auto open = [&](const HeaderIndex& h) {
    DimId self = types.dims.symbol(h.extent);
    return !h.given && h.builder == builders.size() && infer.zonk(self) == self;
  };
  for (bool solved = true; solved;) { // a range found may give those of others
    solved = false;
    for (const HeaderIndex& h : headerIndices) {
      if (!open(h)) continue;
      bool differ = false;
      DimId found = rangeFromUses(h, differ);
      if (differ) return false;
      solved |= found && infer.solve(h.extent, found);
    }
  }
  auto left = std::find_if(headerIndices.begin(), headerIndices.end(), open);
  if (left == headerIndices.end()) return true;
  if (!meetsError(value)) sink.report(DiagId::RangeNeeded, left->span, types.names.text(left->name));
  return false;
}

/// Whether what went wrong elsewhere is part of a value.
bool Body::meetsError(NodeId value) {
  const Node& node = instance.nodes[value];
  if ((node.kind == NodeKind::Error || node.kind == NodeKind::Local) && b.kindOf(value) == TypeKind::Error)
    return true;
  bool found = false;
  forEachChild(node, [&](NodeId child) { found = found || meetsError(child); });
  return found;
}

/// A use that is out of range for some values of its indices is an error, unless a condition stands around
/// it: whether that ever holds is not asked (rule 57).
bool Body::checkReach(const IndexUse& use) {
  types::DimStore& dims = types.dims;
  if (use.conditional) return true;
  DimId low = use.constant, high = use.constant;
  const HeaderIndex* own = nullptr;
  for (auto [local, coefficient] : use.terms)
    for (const HeaderIndex& h : headerIndices) {
      if (h.local != local) continue;
      const DimId size = infer.zonk(dims.symbol(h.extent)), last = dims.sub(size, dims.constant(1));
      if (size == dims.constant(0)) return true; // it reaches nothing
      DimId& end = coefficient > 0 ? high : low;
      end = dims.add(end, dims.mul(dims.constant(coefficient), last));
      if (!own && !h.given) own = &h;
    }
  low = infer.zonk(low), high = infer.zonk(high);
  DimId extent = infer.zonk(use.extent), above = dims.sub(high, extent);
  auto lowest = dims.asConstant(low), over = dims.asConstant(above);
  const bool below = lowest && *lowest < 0;
  if (!below && !(over && *over >= 0)) return true;
  Diagnostic& d = sink.report(DiagId::IndexLeavesRange, use.span, c.modules.sources.text(use.span),
                              dims.show(below ? low : high), dims.show(extent));
  if (!own) return false;
  std::string range = std::string(types.names.text(own->name)) + " in ";
  bool single = use.terms.size() == 1 && use.terms[0].second == 1;
  const bool isEmpty = dims.sub(infer.zonk(dims.symbol(own->extent)),
                                dims.constant(below && single ? -*lowest : 0)) == dims.constant(0);
  if (isEmpty) return false;
  if (below && single)
    d.hint = "give the range: `" + range + std::to_string(-*lowest) + ".." +
             dims.show(infer.zonk(dims.symbol(own->extent))) + "`";
  else if (DimId fits = below ? DimId::none() : rangeFrom(use, *own))
    d.hint = "give the range: `" + range + "0.." + dims.show(fits) + "`";
  return false;
}

/// Whether `node` reads what the body of a builder makes: a local up to `last`, or a size.
bool Body::readsFrom(NodeId node, const BuilderFrame& builder, uint32_t last) {
  Names reads;
  collectRead(instance, types, node, reads);
  if (auto local = reads.locals.lower_bound(LocalId(builder.firstLocal));
      local != reads.locals.end() && local->index < last)
    return true;
  std::vector<DimSym> sizes;
  for (DimSym s : reads.sizes) types.dims.collectSymbols(infer.zonk(types.dims.symbol(s)), sizes);
  return std::any_of(sizes.begin(), sizes.end(), [&](DimSym s) {
    if (types.dims.info(s).kind == DimSymKind::Unknown)
      return s.index >= builder.firstSymbol && reads.sizes.contains(s);
    for (uint32_t k = builder.firstLocal; k < last; ++k)
      if (instance.locals[LocalId(k)].asDim == s) return true;
    return false;
  });
}

/// An array whose size is only known once it is evaluated, and gives the range of an index: it is evaluated
/// in front of the builder that the index belongs to. Locals from `firstOwn` on belong to `base`.
NodeId Body::hoistFromBuilder(NodeId base, uint32_t firstOwn, const std::vector<Argument>& items) {
  if (builders.empty() || instance.nodes[base].kind == NodeKind::Local || b.kindOf(base) != TypeKind::Array)
    return base;
  std::vector<DimSym> symbols;
  types.collectSymbols(b.typeOf(base), symbols);
  bool unknown = std::any_of(symbols.begin(), symbols.end(),
                             [&](DimSym s) { return types.dims.info(s).kind == DimSymKind::Unknown; });
  size_t first = headerIndices.size(); // the outermost index without a range among the items
  std::function<void(SynId)> look = [&](SynId s) {
    if (ast.kind(s) == SynKind::Name)
      for (size_t k = 0; k < headerIndices.size(); ++k)
        if (!headerIndices[k].given && headerIndices[k].local == lookupAny(ast[s].as<Name>().name))
          first = std::min(first, k);
    forEachChild(ast, s, look);
  };
  for (const Argument& item : items) look(item.value);
  if (!unknown || first == headerIndices.size()) return base;
  size_t k = headerIndices[first].builder - 1;
  if (readsFrom(base, builders[k], firstOwn)) return base;
  builders.edit(k).aheadSymbols.insert(symbols.begin(), symbols.end());
  return b.local(b.bind("xs", base, builders.edit(k).ahead), b.spanOf(base));
}

} // namespace melix::check
