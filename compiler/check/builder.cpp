// Builders and generators: headers, ranges of indices (rule 28), bodies.
#include "check/body.h"

namespace melix::check {

using namespace syntax;

namespace {

/// What the headers of one builder have become.
struct Headers {
  std::vector<NestAxis> axes;
  std::vector<NodeId> before; ///< evaluated once, before the builder
  std::vector<NodeId> lets;   ///< at the start of the body: offsets, elements
};

} // namespace

/// Solves the extents of the header indices from `first` on by their uses; false after an error.
bool Body::resolveRanges(size_t first) {
  types::DimStore& dims = types.dims;
  bool ok = true;
  for (size_t k = first; k < headerIndices.size(); ++k) {
    const HeaderIndex h = headerIndices[k];
    if (h.given) continue;
    DimId self = dims.symbol(h.extent);
    for (const IndexUse& use : h.uses) {
      if (!use.bare) continue;
      UnifyKind match = infer.unifyDim(self, use.extent);
      if (match == UnifyKind::DimsDiffer) {
        sink.report(DiagId::RangesDiffer, use.span, types.names.text(h.name), dims.print(infer.zonk(self)),
                    dims.print(infer.zonk(use.extent)));
        ok = false;
      } else if (match == UnifyKind::NeedsCheck) {
        rangeChecks.push_back({infer.zonk(self), infer.zonk(use.extent),
                               "range of `" + std::string(types.names.text(h.name)) + "`"});
      }
    }
  }
  // Uses as c·i + others + constant: the largest range that keeps them in bounds.
  for (size_t k = first; ok && k < headerIndices.size(); ++k) {
    const HeaderIndex h = headerIndices[k];
    if (h.given || infer.zonk(dims.symbol(h.extent)) != dims.symbol(h.extent)) continue;
    DimId found;
    for (const IndexUse& use : h.uses) {
      int64_t mine = 0;
      DimId reach = use.constant;
      bool known = true;
      for (auto [local, coefficient] : use.terms) {
        if (local == h.local) {
          mine += coefficient;
          continue;
        }
        for (const HeaderIndex& other : headerIndices)
          if (other.local == local) {
            DimId extent = infer.zonk(dims.symbol(other.extent));
            known &= !infer.hasInferenceDim(extent) && coefficient > 0;
            reach = dims.add(reach, dims.mul(dims.constant(coefficient), dims.sub(extent, dims.constant(1))));
          }
      }
      if (mine < 1 || !known) continue;
      DimId room = dims.sub(dims.sub(infer.zonk(use.extent), dims.constant(1)), reach);
      DimId range = dims.add(dims.floorDiv(room, dims.constant(mine)), dims.constant(1));
      if (found && found != range) {
        sink.report(DiagId::RangesDiffer, use.span, types.names.text(h.name), dims.print(found),
                    dims.print(range));
        ok = false;
      }
      found = range;
    }
    if (found && ok)
      infer.solve(h.extent, found);
    else if (ok) {
      sink.report(DiagId::RangeNeeded, h.span, types.names.text(h.name));
      ok = false;
    }
  }
  return ok;
}

/// Rank of the index pack `name`: from its uses `x[..name, …]` in the body; SIZE_MAX if there is none.
size_t Body::packRank(SynId body, NameId name) {
  size_t rank = SIZE_MAX;
  std::function<void(SynId)> look = [&](SynId node) {
    if (rank != SIZE_MAX) return;
    if (ast.kind(node) == SynKind::Brackets) {
      const auto brackets = ast[node].as<Brackets>();
      bool uses = false;
      for (const Argument& item : brackets.items)
        uses |= ast.kind(item.value) == SynKind::PackUse && ast[item.value].as<Name>().name == name;
      if (uses) {
        size_t before = sink.all().size();
        TypeId type = b.typeOf(checkExpr(brackets.base));
        sink.rewind(before);
        if (types.kind(type) == TypeKind::Array)
          rank = types.rank(type) - (brackets.items.size() - 1);
        else
          rank = 0;
        return;
      }
    }
    forEachChild(ast, node, look);
  };
  look(body);
  return rank;
}

NodeId Body::checkBuilder(const Builder& builder, Span span, TypeId expected, bool generator) {
  TypeId want = expected ? infer.zonk(expected) : TypeId::none();
  if (generator || !want || types.kind(want) != TypeKind::Array) want = TypeId::none();
  if (expected && !generator && types.kind(infer.zonk(expected)) == TypeKind::List) {
    NodeId array = checkBuilder(builder, span, TypeId::none(), false);
    return b.kindOf(array) == TypeKind::Array ? b.make(NodeKind::ToList, infer.zonk(expected), span, {array})
                                              : array;
  }
  std::vector<DimId> wanted = want ? b.dimsOf(want) : std::vector<DimId>();
  Headers made;
  size_t mark = scope.size(), firstIndex = headerIndices.size(), level = builderDepth;
  // Ranges belong to the outside: they are checked before any index is in scope.
  struct Prepared {
    NodeId lo, iterable;
    DimId extent;
    int64_t step = 1;
  };
  std::vector<Prepared> prepared;
  auto dimension = [&](NodeId value) {
    value = coerce(value, types.int64(), b.spanOf(value));
    if (DimId d = b.dimOf(value)) return d;
    LocalId named = b.newLocal("n", types.int64(), b.spanOf(value));
    made.before.push_back(b.let(named, value));
    return b.dimOf(b.local(named, b.spanOf(value)));
  };
  for (const Header& header : builder.headers) {
    Prepared p;
    if (header.range && ast.kind(header.range) == SynKind::Range) {
      const auto range = ast[header.range].as<syntax::Range>();
      NodeId lo = checkExpr(range.first);
      if (!range.last) {
        sink.report(DiagId::RangeNeeded, header.span, c.modules.sources.text(ast.span(header.pattern)));
        return b.error(span);
      }
      NodeId hi = checkExpr(range.last);
      if (b.kindOf(lo) == TypeKind::Error || b.kindOf(hi) == TypeKind::Error) return b.error(span);
      if (range.step) {
        auto step = b.literal(checkExpr(range.step));
        if (!step || *step < 1) {
          sink.report(DiagId::Unsupported, ast.span(range.step),
                      "a step that is not a positive literal in a builder");
          return b.error(span);
        }
        p.step = *step;
      }
      bool zero = b.literal(lo) == 0;
      DimId first = dimension(lo), last = dimension(hi);
      if (!first || !last) return b.error(span);
      p.extent = types.dims.sub(last, first);
      if (p.step != 1)
        p.extent = types.dims.floorDiv(types.dims.add(p.extent, types.dims.constant(p.step - 1)),
                                       types.dims.constant(p.step));
      if (!zero) p.lo = b.dimValue(first, header.span);
    } else if (header.range) {
      NodeId xs = checkExpr(header.range);
      TypeKind k = b.kindOf(xs);
      if (k == TypeKind::Error) return xs;
      if (k != TypeKind::Array && k != TypeKind::List) xs = callPrelude("list", {xs}, header.span);
      if (b.kindOf(xs) == TypeKind::Error) return xs;
      LocalId held = b.bind("xs", xs, made.before);
      p.iterable = b.local(held, header.span);
      TypeId type = b.typeOf(xs);
      if (types.kind(type) == TypeKind::Array)
        p.extent = b.dimsOf(type)[0];
      else
        p.extent = dimension(b.make(NodeKind::Length, types.int64(), header.span, {p.iterable}));
    }
    prepared.push_back(p);
  }
  ++builderDepth;
  builderScopes.push_back(mark);
  auto addAxis = [&](NameId name, DimId extent, bool given, Span at) {
    LocalId index = b.newLocal(name ? types.names.text(name) : "k", types.int64(), at);
    HeaderIndex h;
    h.local = index;
    h.given = given;
    h.level = level;
    h.name = name;
    h.span = at;
    if (given) {
      DimSym symbol = infer.freshDim(name ? std::string(types.names.text(name)) : "k", at);
      infer.solve(symbol, extent);
      h.extent = symbol;
    } else {
      h.extent = infer.freshDim(std::string(types.names.text(name)), at);
      extent = types.dims.symbol(h.extent);
    }
    headerIndices.push_back(h);
    made.axes.push_back({index, extent, at});
    return index;
  };
  std::vector<NameId> packNames;
  size_t axis = 0;
  for (size_t k = 0; k < builder.headers.size(); ++k) {
    const Header& header = builder.headers[k];
    const Prepared& p = prepared[k];
    NameId name =
        ast.kind(header.pattern) == SynKind::Name ? ast[header.pattern].as<Name>().name : NameId::none();
    if (header.isPack) {
      size_t others = builder.headers.size() - 1;
      size_t rank = packRank(builder.body, name); // the type asked for may have more axes: those of the body
      if (rank == SIZE_MAX) rank = want && wanted.size() >= others ? wanted.size() - others : 0;
      std::vector<LocalId> locals;
      for (size_t r = 0; r < rank; ++r, ++axis)
        locals.push_back(addAxis(name, axis < wanted.size() ? wanted[axis] : DimId::none(),
                                 axis < wanted.size(), header.span));
      indexPacks[name] = locals;
      packNames.push_back(name);
      continue;
    }
    if (p.iterable.valid()) {
      LocalId index = addAxis(NameId::none(), p.extent, true, header.span);
      NodeId element;
      if (b.kindOf(p.iterable) == TypeKind::Array)
        element = b.at(p.iterable, {index}, header.span);
      else
        element =
            b.make(NodeKind::Get, types[b.typeOf(p.iterable)].parts[0], header.span, {p.iterable},
                   Steps{{Step{StepKind::Element, 0, b.local(index, header.span), {}, {}, 1, header.span}}});
      bool refutable = false;
      PatternId pattern = checkPattern(header.pattern, b.typeOf(element), false, refutable);
      if (refutable) sink.report(DiagId::Refutable, header.span);
      made.lets.push_back(b.make(NodeKind::Let, types.unit(), header.span, {element}, PatternRef{pattern}));
      ++axis;
      continue;
    }
    if (!name && ast.kind(header.pattern) != SynKind::Underscore) {
      sink.report(DiagId::PatternType, header.span, "int");
      --builderDepth;
      builderScopes.pop_back();
      headerIndices.resize(firstIndex);
      scope.resize(mark);
      return b.error(span);
    }
    bool given = p.extent || axis < wanted.size();
    DimId extent = p.extent ? p.extent : given ? wanted[axis] : DimId::none();
    LocalId index = addAxis(name, extent, given, header.span);
    ++axis;
    if (p.lo.valid() || p.step != 1) {
      NodeId value = b.local(index, header.span);
      if (p.step != 1)
        value = b.op(OpKind::Mul, types.int64(), {value, b.integer(p.step, header.span)}, header.span);
      if (p.lo.valid()) value = b.op(OpKind::Add, types.int64(), {value, p.lo}, header.span);
      index = b.newLocal(name ? types.names.text(name) : "_", types.int64(), header.span);
      made.lets.push_back(b.let(index, value));
    }
    if (name) scope.push_back({name, index});
  }
  TypeId bodyWant;
  if (want && wanted.size() >= axis) {
    std::vector<DimId> rest(wanted.begin() + static_cast<ptrdiff_t>(axis), wanted.end());
    bodyWant = types.array(types.element(want), std::move(rest));
  }
  NodeId filter;
  if (builder.filter) filter = checkBoolean(builder.filter, "a filter");
  NodeId body = checkExpr(builder.body, bodyWant);
  if (bodyWant && b.kindOf(body) != TypeKind::Error) body = coerce(body, bodyWant, b.spanOf(body));
  --builderDepth;
  builderScopes.pop_back();
  scope.resize(mark);
  for (NameId pack : packNames) indexPacks.erase(pack);
  std::vector<DimCheckItem> outerChecks = std::move(rangeChecks);
  rangeChecks.clear();
  bool ok = resolveRanges(firstIndex);
  std::vector<DimCheckItem> checks = std::move(rangeChecks);
  rangeChecks = std::move(outerChecks);
  if (firstIndex == 0) headerIndices.clear();
  for (size_t k = firstIndex; k < headerIndices.size(); ++k)
    headerIndices[k].given = true; // kept: the ranges of outer indices may depend on it (`x[i + k]`)
  if (!ok || b.kindOf(body) == TypeKind::Error || (filter.valid() && b.kindOf(filter) == TypeKind::Error))
    return b.error(span);
  TypeId inner = b.typeOf(body);
  if (types.kind(inner) == TypeKind::Never) {
    sink.report(DiagId::TypeMismatch, b.spanOf(body), "a value", "a body that never gives one");
    return b.error(span);
  }
  if (builder.headers.empty()) return body;
  Nest nest;
  nest.filtered = filter.valid();
  std::vector<DimId> dims;
  for (NestAxis& a : made.axes) {
    a.extent = infer.zonk(a.extent);
    dims.push_back(a.extent);
  }
  std::vector<DimId> innerDims = b.dimsOf(inner);
  std::vector<DimSym> sizes;
  if (nest.filtered) {
    sizes.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span}));
    dims = {types.dims.symbol(sizes[0])};
  }
  dims.insert(dims.end(), innerDims.begin(), innerDims.end());
  nest.axes = made.axes;
  auto withLets = [&](NodeId value) {
    if (made.lets.empty()) return value;
    std::vector<NodeId> nodes = made.lets;
    nodes.push_back(value);
    return b.block(std::move(nodes), span);
  };
  std::vector<NodeId> children{withLets(body)};
  if (filter.valid()) children.push_back(withLets(filter));
  NodeId node = b.make(NodeKind::Nest, types.array(types.element(inner), std::move(dims)), span,
                       std::move(children), std::move(nest));
  instance.nodes[node].resultDims = sizes;
  if (!checks.empty())
    made.before.push_back(b.make(NodeKind::DimCheck, types.unit(), span, {}, DimChecks{std::move(checks)}));
  if (made.before.empty()) return node;
  if (generator) { // the reduction takes the nest over: what comes before goes with the statement around it
    generatorBefore.insert(generatorBefore.end(), made.before.begin(), made.before.end());
    return node;
  }
  made.before.push_back(node);
  return b.block(std::move(made.before), span);
}

} // namespace melix::check
