// Builders and generators: headers, bodies (rules 13, 24, 28, 29).
#include "check/body/attempt.h"
#include "check/body/dicts.h"
#include "check/body/function_values.h"
#include "check/body/iteration.h"
#include "check/signatures/free_names.h"
#include "check/statements/on_device.h"

namespace melix::check {

using namespace syntax;

namespace {

/// Checks one builder: ranges and what is iterated outside, then the body once, then the ranges that its uses
/// give.
class BuilderCheck {
public:
  BuilderCheck(Body& body, const Builder& builder, Span span, BuilderUse use, const Body::CheckElement* inner)
      : body_(body), types_(body.types), b_(body.b), builder_(builder), inner_(inner), span_(span), use_(use),
        scopeMark_(body.scope.size()), outermost_(body.builders.empty()) {}
  /// `want`: the array asked for, or the list that the elements go to; none.
  NodeId check(TypeId want);

private:
  /// What stands after `in`.
  struct Range {
    NodeId first, step; ///< none: 0, 1
    int64_t stride = 1; ///< 0: not a literal
    DimId firstDim, extent;
    NodeId elements;   ///< iterated instead
    std::string shown; ///< a range as it is written; else empty
  };
  bool prepare(size_t header);
  bool isRectangular(size_t header);
  bool prepareRange(const Header& header, Range& range);
  bool prepareStep(SynId step, Range& range);
  bool prepareValue(NodeId value, Range& range);
  bool prepareElements(const Header& header, Range& range);
  DimId dimension(NodeId value, bool exact = false);
  bool open(const Header& header, const Range& range);
  void openPack(const Header& header);
  size_t packRank(NameId name);
  void openElements(const Header& header, const Range& range);
  HeaderIndex addAxis(NameId name, DimId extent, Span at);
  DimId wantedExtent() const;
  TypeId wantedBody() const;
  NodeId finish(NodeId value, NodeId filter);
  NodeId withExistentialSizes(NodeId value);
  NodeId made(NodeId value, NodeId filter);
  NodeId withLets(NodeId value);

  Body& body_;
  TypeStore& types_;
  NodeBuilder& b_;
  const Builder& builder_;
  const Body::CheckElement* inner_; ///< none: the elements are the builder's body
  Span span_;
  BuilderUse use_;
  size_t scopeMark_;
  bool outermost_;
  /// The type asked for, none if there is none: of an array, of the elements of a list.
  struct Asked {
    TypeId array, element;
  } asked_;
  std::vector<Range> ranges_;
  std::vector<NestAxis> axes_;
  std::vector<NodeId> before_; ///< evaluated once, in front of the builder
  std::vector<NodeId> lets_;   ///< at the start of the body: offsets, elements
  std::vector<NameId> packs_;
};

} // namespace

/// An end of a range. What is counted in steps has to be `exact`; else a range is as long as an `int` that
/// wraps says, and the dimension is the same modulo 2^64.
DimId BuilderCheck::dimension(NodeId value, bool exact) {
  value = b_.endOf(body_.asInt(value, b_.spanOf(value)), before_);
  if (b_.kindOf(value) == TypeKind::Error) return DimId::none();
  if (DimId d = b_.dimOf(value); d && (!exact || b_.isExact(d))) return d;
  LocalId named = b_.newLocal("n", types_.int64(), b_.spanOf(value));
  before_.push_back(b_.let(named, value));
  return b_.dimOf(b_.local(named, b_.spanOf(value)));
}

/// Ranges belong to the outside: they are checked before any index is in scope.
bool BuilderCheck::prepare(size_t at) {
  const Header& header = builder_.headers[at];
  Range range;
  if (header.range) {
    if (!isRectangular(at)) return false;
    bool isRange = body_.ast.kind(header.range) == SynKind::Range;
    if (!(isRange ? prepareRange(header, range) : prepareElements(header, range))) return false;
  }
  ranges_.push_back(range);
  return true;
}

/// The range of an index does not depend on the other indices: a name in it is none of those before it, and
/// of those behind it only if it means something outside.
bool BuilderCheck::isRectangular(size_t at) {
  std::set<NameId> before, all;
  for (size_t k = 0; k < builder_.headers.size(); ++k) {
    collectNames(body_.ast, builder_.headers[k].pattern, all);
    if (k < at) collectNames(body_.ast, builder_.headers[k].pattern, before);
  }
  SynId use = firstUse(body_.ast, builder_.headers[at].range, [&](NameId name, bool inBrackets) {
    if (inBrackets && scalarNamed(types_.names.text(name))) return false; // the type of that name
    return before.contains(name) || (all.contains(name) && !body_.lookupAny(name));
  });
  if (!use) return true;
  const NameId name = body_.ast[use].as<Name>().name;
  const std::string shown(types_.names.text(name));
  Diagnostic& d = body_.sink.report(DiagId::RangeOfIndex, body_.ast.span(use), shown);
  if (!before.contains(name))
    d.hint = "`" + shown + "` stands first: a range of a loop, a reduction or `list(for …)` may depend on " +
             "indices before it";
  return false;
}

bool BuilderCheck::prepareRange(const Header& header, Range& range) {
  const auto& written = body_.ast[header.range].as<syntax::Range>();
  NodeId lo = body_.checkExpr(written.first);
  if (!written.last) {
    std::string_view name = body_.c.modules.sources.text(body_.ast.span(header.pattern));
    body_.sink.report(DiagId::RangeNeeded, header.span, name);
    return false;
  }
  NodeId hi = body_.checkExpr(written.last);
  if (b_.kindOf(lo) == TypeKind::Error || b_.kindOf(hi) == TypeKind::Error) return false;
  bool zero = b_.literal(lo) == 0;
  DimId first = dimension(lo, written.step.valid()), last = dimension(hi, written.step.valid());
  if (!first || !last) return false;
  range.extent = types_.dims.sub(last, first);
  if (zero) types_.dims.spell(range.extent, body_.c.modules.sources.text(body_.ast.span(written.last)));
  if (!zero) range.first = b_.dimValue(first, header.span), range.firstDim = first;
  range.shown = body_.writtenShort(body_.ast.span(header.range));
  return !written.step || prepareStep(written.step, range);
}

/// A `Range` that is a value.
bool BuilderCheck::prepareValue(NodeId value, Range& range) {
  const RangeValue held(body_, b_.bind("range", value, before_), b_.spanOf(value));
  range.extent = held.size(before_);
  range.shown = body_.writtenShort(b_.spanOf(value));
  types_.dims.spell(range.extent, range.shown);
  range.firstDim = dimension(held.first()), range.first = b_.dimValue(range.firstDim, b_.spanOf(value));
  range.step = held.step(), range.stride = 0;
  return true;
}

/// `step c`: the extent counts the steps, rounded up.
bool BuilderCheck::prepareStep(SynId written, Range& range) {
  Span span = body_.ast.span(written);
  NodeId step = body_.checkExpr(written);
  if (isWrongStep(body_, step, written)) return false;
  auto literal = b_.literal(step);
  DimId stride = dimension(step);
  if (!stride) return false;
  range.stride = literal.value_or(0);
  if (range.stride == 1) return true;
  range.step = b_.dimValue(stride, span);
  if (!literal) before_.push_back(positiveStep(body_, range.step, span));
  types::DimStore& dims = types_.dims;
  DimId one = dims.constant(1);
  range.extent = dims.add(dims.floorDiv(dims.sub(range.extent, one), stride), one);
  return true;
}

bool BuilderCheck::prepareElements(const Header& header, Range& range) {
  NodeId xs = iteratedList(body_, body_.unpacked(body_.checkExpr(header.range), header.span), header.span);
  TypeKind k = b_.kindOf(xs);
  if (k == TypeKind::Error) return false;
  if (body_.isRange(b_.typeOf(xs))) return prepareValue(xs, range);
  if (k == TypeKind::Str) {
    xs = listOfIterator(body_, xs, header.span);
    k = b_.kindOf(xs);
  }
  if (k != TypeKind::Array && k != TypeKind::List) {
    body_.sink.report(DiagId::NoLength, body_.ast.span(header.range), b_.show(b_.typeOf(xs)));
    return false;
  }
  range.elements = b_.local(b_.bind("xs", xs, before_), header.span);
  bool array = b_.kindOf(xs) == TypeKind::Array;
  range.extent = array ? b_.dimsOf(b_.typeOf(xs))[0]
                       : dimension(b_.make(NodeKind::Length, types_.int64(), header.span, {range.elements}));
  return true;
}

/// The extent that the type asked for gives the next axis. A filter leaves the number of elements open.
DimId BuilderCheck::wantedExtent() const {
  if (!asked_.array || builder_.filter || axes_.size() >= types_.rank(asked_.array)) return DimId::none();
  DimId d = types_[asked_.array].dims[axes_.size()];
  return body_.infer.hasInferenceDim(d) ? DimId::none() : d;
}

TypeId BuilderCheck::wantedBody() const {
  if (asked_.element) return asked_.element;
  size_t own = builder_.filter ? 1 : axes_.size();
  if (!asked_.array || types_.rank(asked_.array) < own) return TypeId::none();
  const std::vector<DimId>& dims = types_[asked_.array].dims;
  return types_.array(types_.element(asked_.array), {dims.begin() + static_cast<ptrdiff_t>(own), dims.end()});
}

/// A header index with the extent that is given, or one to be found.
HeaderIndex BuilderCheck::addAxis(NameId name, DimId extent, Span at) {
  std::string shown(name ? types_.names.text(name) : "k");
  HeaderIndex h;
  h.local = b_.newLocal(shown, types_.int64(), at);
  h.extent = body_.infer.freshDim(shown, at);
  h.given = extent.valid();
  if (extent) body_.infer.solve(h.extent, extent);
  h.builder = body_.builders.size();
  h.conditions = body_.conditions;
  h.name = name;
  h.span = at;
  axes_.push_back({h.local, types_.dims.symbol(h.extent), at});
  return h;
}

/// The type asked for may have more axes than the pack: those of the body.
void BuilderCheck::openPack(const Header& header) {
  NameId name = body_.ast[header.pattern].as<Name>().name;
  size_t others = builder_.headers.size() - 1, rank = packRank(name);
  if (rank == SIZE_MAX)
    rank = asked_.array && types_.rank(asked_.array) >= others ? types_.rank(asked_.array) - others : 0;
  std::vector<LocalId> locals;
  for (size_t k = 0; k < rank; ++k) {
    body_.headerIndices.push_back(addAxis(name, wantedExtent(), header.span));
    locals.push_back(body_.headerIndices.back().local);
  }
  body_.indexPacks.set(name, locals);
  packs_.push_back(name);
}

void BuilderCheck::openElements(const Header& header, const Range& range) {
  HeaderIndex h = addAxis(NameId::none(), range.extent, header.span);
  body_.headerIndices.push_back(h);
  NodeId element;
  if (b_.kindOf(range.elements) == TypeKind::Array) {
    element = b_.at(range.elements, {h.local}, header.span);
  } else {
    Step step{StepKind::Element, 0, b_.local(h.local, header.span), {}, {}, 1, header.span};
    TypeId type = types_[b_.typeOf(range.elements)].parts[0];
    element = b_.make(NodeKind::Get, type, header.span, {range.elements}, Steps{{step}});
  }
  bool refutable = false;
  PatternId pattern = body_.checkPattern(header.pattern, b_.typeOf(element), false, refutable);
  if (refutable) body_.sink.report(DiagId::Refutable, header.span);
  lets_.push_back(b_.make(NodeKind::Let, types_.unit(), header.span, {element}, PatternRef{pattern}));
}

/// Brings the names of a header into scope.
bool BuilderCheck::open(const Header& header, const Range& range) {
  if (header.isPack) return openPack(header), true;
  if (range.elements.valid()) return openElements(header, range), true;
  SynKind kind = body_.ast.kind(header.pattern);
  if (kind != SynKind::Name && kind != SynKind::Underscore) {
    body_.sink.report(DiagId::PatternType, header.span, "int");
    return false;
  }
  NameId name = kind == SynKind::Name ? body_.ast[header.pattern].as<Name>().name : NameId::none();
  HeaderIndex h = addAxis(name, range.extent ? range.extent : wantedExtent(), header.span);
  axes_.back().range = range.shown;
  LocalId index = h.local;
  if (range.first.valid() || range.step.valid()) {
    NodeId value = b_.local(index, header.span);
    if (range.step.valid()) value = b_.op(OpKind::Mul, types_.int64(), {value, range.step}, header.span);
    if (range.first.valid()) value = b_.op(OpKind::Add, types_.int64(), {value, range.first}, header.span);
    index = h.named = b_.newLocal(name ? types_.names.text(name) : "_", types_.int64(), header.span);
    h.first = range.firstDim;
    h.step = range.stride;
    lets_.push_back(b_.let(index, value));
  }
  body_.headerIndices.push_back(h);
  if (name) body_.scope.add({name, index});
  return true;
}

/// Rank of the index pack `name`: from its uses `x[..name, …]` in the body; SIZE_MAX if there is none.
size_t BuilderCheck::packRank(NameId name) {
  const Ast& ast = body_.ast;
  size_t rank = SIZE_MAX;
  std::function<void(SynId)> look = [&](SynId node) {
    if (rank != SIZE_MAX) return;
    if (ast.kind(node) == SynKind::Brackets) {
      const auto& brackets = ast[node].as<Brackets>();
      bool uses = false;
      for (const Argument& item : brackets.items)
        uses |= ast.kind(item.value) == SynKind::PackUse && ast[item.value].as<Name>().name == name;
      if (uses) {
        Attempt attempt(body_); // only its rank is asked for
        TypeId type = b_.typeOf(body_.checkExpr(brackets.base));
        size_t others = brackets.items.size() - 1; // more than there are axes is an error where it is used
        rank = types_.rank(type) > others ? types_.rank(type) - others : 0;
        return;
      }
    }
    forEachChild(ast, node, look);
  };
  look(builder_.body);
  return rank;
}

NodeId BuilderCheck::check(TypeId want) {
  if (use_ == BuilderUse::Array)
    asked_.array = want;
  else if (want && builder_.headers.size() == 1)
    asked_.element = types_[want].parts[0];
  for (size_t k = 0; k < builder_.headers.size(); ++k)
    if (!prepare(k)) return b_.error(span_);
  body_.builders.push_back({scopeMark_,
                            static_cast<uint32_t>(body_.instance.locals.size()),
                            static_cast<uint32_t>(types_.dims.symCount()),
                            {},
                            {}});
  ++body_.builderDepth;
  refuseOnInBuilder(body_, builder_.body);
  if (builder_.filter) refuseOnInBuilder(body_, builder_.filter);
  bool good = true;
  for (size_t k = 0; k < builder_.headers.size() && good; ++k) good = open(builder_.headers[k], ranges_[k]);
  NodeId filter, value = b_.error(span_);
  if (good) {
    if (builder_.filter) filter = body_.checkBoolean(builder_.filter, "a filter");
    body_.conditions += filter.valid();
    TypeId asked = wantedBody();
    value = inner_ ? (*inner_)() : body_.checkExpr(builder_.body, asked);
    if (asked && b_.kindOf(value) != TypeKind::Error) value = body_.coerce(value, asked, b_.spanOf(value));
    if (use_ != BuilderUse::Terms) value = withFunctionTypes(body_, value);
    value = withExistentialSizes(value);
    body_.collectUsesInClosures(builder_.body);
    body_.conditions -= filter.valid();
  }
  --body_.builderDepth;
  body_.scope.leave(scopeMark_);
  for (NameId pack : packs_) body_.indexPacks.erase(pack);
  bool failed =
      b_.kindOf(value) == TypeKind::Error || (filter.valid() && b_.kindOf(filter) == TypeKind::Error);
  NodeId node = finish(failed ? b_.error(span_) : value, filter);
  body_.builders.pop_back();
  if (outermost_) {
    body_.headerIndices.clear();
    body_.indexUses.clear();
  }
  return node;
}

namespace {

/// Sizes that a type keeps beside it.
struct Keeping {
  TypeStore& types;
  const std::vector<DimSym>& own; ///< what is kept is one of them, or made of some
  std::vector<DimSym> kept;
  std::vector<DimId> sizes; ///< what each is

  DimId keep(DimId size) {
    std::vector<DimSym> symbols;
    types.dims.collectSymbols(size, symbols);
    if (std::find_first_of(symbols.begin(), symbols.end(), own.begin(), own.end()) == symbols.end() ||
        types.dims.mentionsKind(size, types::DimSymKind::Bound))
      return size;
    auto at = static_cast<size_t>(std::find(sizes.begin(), sizes.end(), size) - sizes.begin());
    if (at == sizes.size()) {
      sizes.push_back(size);
      kept.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, Span()}));
    }
    return types.dims.symbol(kept[at]);
  }
  TypeId keepIn(TypeId type) {
    types::Type made = types[type];
    for (DimId& size : made.dims) size = keep(size);
    for (TypeId& part : made.parts) part = keepIn(part);
    return made.kind == TypeKind::Array ? types.array(made.parts[0], std::move(made.dims))
                                        : types.intern(std::move(made));
  }
};

/// `type` with the sizes in it that are made of `own` kept beside it: in a tuple, beside each part.
TypeId hiding(TypeStore& types, TypeId type, const std::vector<DimSym>& own) {
  if (types.kind(type) == TypeKind::Tuple) {
    std::vector<TypeId> parts = types[type].parts;
    for (TypeId& part : parts) part = hiding(types, part, own);
    return types.tuple(std::move(parts));
  }
  Keeping keeping{types, own, {}, {}};
  TypeId inner = keeping.keepIn(type);
  return types.pack(inner, keeping.kept);
}

} // namespace

/// Elements of a list that are of a size found in the body have it beside them (rule 24).
NodeId BuilderCheck::withExistentialSizes(NodeId value) {
  if (use_ != BuilderUse::List || builder_.headers.size() != 1 || b_.kindOf(value) == TypeKind::Error)
    return value;
  std::vector<DimSym> symbols, own;
  types_.collectSymbols(b_.typeOf(value), symbols);
  for (DimSym s : symbols)
    if (!body_.isInvariant(types_.dims.symbol(s))) own.push_back(s);
  return own.empty() ? value : body_.coerce(value, hiding(types_, b_.typeOf(value), own), b_.spanOf(value));
}

NodeId BuilderCheck::finish(NodeId value, NodeId filter) {
  std::vector<DimCheckItem> checks;
  bool failed = b_.kindOf(value) == TypeKind::Error;
  if (failed || !body_.resolveRanges(checks, value)) return b_.error(span_);
  for (size_t k = 0; outermost_ && k < body_.indexUses.size(); ++k)
    if (!body_.checkReach(body_.indexUses[k])) return b_.error(span_);
  TypeId type = b_.typeOf(value);
  if (types_.kind(type) == TypeKind::Never) {
    body_.sink.report(DiagId::NoElement, b_.spanOf(value));
    return b_.error(span_);
  }
  std::vector<DimSym> symbols;
  types_.collectSymbols(body_.infer.zonk(type), symbols);
  for (DimSym s : symbols)
    if (!body_.isInvariant(types_.dims.symbol(s))) {
      body_.sink.report(DiagId::RaggedBuilder, b_.spanOf(value), b_.show(type));
      return b_.error(span_);
    }
  std::vector<NodeId>& ahead = body_.builders.editBack().ahead;
  before_.insert(before_.end(), ahead.begin(), ahead.end());
  if (!checks.empty()) before_.push_back(b_.dimChecks(std::move(checks), span_));
  NodeId node = builder_.headers.empty() ? value : made(value, filter);
  if (before_.empty()) return node;
  if (use_ == BuilderUse::Terms) { // the reduction takes the nest over
    body_.generatorBefore.exchange(std::move(before_));
    return node;
  }
  before_.push_back(node);
  return b_.block(std::move(before_), span_);
}

NodeId BuilderCheck::made(NodeId value, NodeId filter) {
  Nest nest;
  nest.filtered = filter.valid();
  std::vector<DimId> dims;
  for (NestAxis& a : axes_) {
    a.extent = body_.infer.zonk(a.extent);
    dims.push_back(a.extent);
  }
  nest.axes = axes_;
  std::vector<DimSym> sizes;
  if (nest.filtered) {
    sizes.push_back(types_.dims.newSym({"_", types::DimSymKind::Unknown, 0, span_}));
    dims = {types_.dims.symbol(sizes[0])};
  }
  TypeId inner = b_.typeOf(value);
  for (DimId d : b_.dimsOf(inner)) dims.push_back(d);
  std::vector<NodeId> children{withLets(value)};
  if (filter.valid()) children.push_back(withLets(filter));
  TypeId type = types_.array(types_.element(inner), std::move(dims));
  NodeId node = b_.make(NodeKind::Nest, type, span_, std::move(children), std::move(nest));
  body_.instance.nodes.edit(node).resultDims = sizes;
  return node;
}

NodeId BuilderCheck::withLets(NodeId value) {
  if (lets_.empty()) return value;
  std::vector<NodeId> nodes = lets_;
  nodes.push_back(value);
  return b_.block(std::move(nodes), span_);
}

NodeId Body::checkBuilder(const Builder& builder, Span span, TypeId expected, BuilderUse use,
                          const CheckElement* inner) {
  TypeId want = expected ? infer.zonk(expected) : TypeId::none();
  if (want && types.kind(want) == TypeKind::Pack) want = openedPack(want); // the builder tells its sizes
  TypeKind kind = want && use != BuilderUse::Terms ? types.kind(want) : TypeKind::Error;
  bool becomesList = use == BuilderUse::Array && kind == TypeKind::List;
  if (becomesList) use = BuilderUse::List;
  bool fits = kind == (use == BuilderUse::List ? TypeKind::List : TypeKind::Array);
  NodeId made = BuilderCheck(*this, builder, span, use, inner).check(fits ? want : TypeId::none());
  if (becomesList && b.kindOf(made) == TypeKind::Array) return b.make(NodeKind::ToList, want, span, {made});
  return made;
}

/// A builder over several indices as one axis of its elements, in row-major order.
NodeId Body::inOneAxis(NodeId array, Span span) {
  if (b.kindOf(array) != TypeKind::Array) return array;
  std::vector<NodeId> before;
  const Node& end = instance.nodes[b.endOf(array, before)];
  if (end.kind != NodeKind::Nest || end.as<Nest>().filtered || end.as<Nest>().axes.size() < 2) return array;
  auto indices = static_cast<ptrdiff_t>(end.as<Nest>().axes.size());
  TypeId type = b.typeOf(array);
  std::vector<DimId> dims = b.dimsOf(type), leading(dims.begin(), dims.begin() + indices);
  dims.erase(dims.begin(), dims.begin() + indices);
  dims.insert(dims.begin(), types.dims.product(leading));
  return b.make(NodeKind::Reshape, types.array(types.element(type), std::move(dims)), span, {array});
}

} // namespace melix::check
