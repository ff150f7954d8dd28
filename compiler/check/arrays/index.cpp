// The items of a bracket on an array: indices, slices, whole and new axes, index packs, index arrays, masks
// (rule 30).
#include "check/arrays/index.h"

#include "check/body/iteration.h"
#include "check/signatures/free_names.h"

namespace melix::check {

using namespace syntax;

namespace {

/// The number of elements of a slice in steps of `stride`, rounded up.
DimId stepped(types::DimStore& dims, DimId size, DimId stride) {
  DimId one = dims.constant(1); // a sum with the stride could wrap
  return dims.add(dims.floorDiv(dims.sub(size, one), stride), one);
}

} // namespace

IndexItems::IndexItems(Body& body, TypeId array, Span span)
    : body_(body), types_(body.types), b_(body.b), array_(array), dims_(b_.dimsOf(array)), span_(span) {}

bool IndexItems::isNewAxis(SynId item) const {
  return namesNewAxis(body_.ast, types_.names, item) && !body_.lookupAny(body_.ast[item].as<Name>().name);
}

bool IndexItems::add(const std::vector<Argument>& items) {
  alone_ = items.size() == 1;
  bool hasRest = false;
  for (const Argument& item : items) {
    const SynNode& n = body_.ast[item.value];
    if (n.kind == SynKind::RestAxes && std::exchange(hasRest, true)) {
      body_.sink.report(DiagId::RestTwice, n.span);
      return false;
    }
    auto pack =
        n.kind == SynKind::PackUse ? body_.indexPacks.find(n.as<Name>().name) : body_.indexPacks.end();
    if (pack != body_.indexPacks.end())
      plain_ += pack->second.size();
    else
      plain_ += n.kind != SynKind::RestAxes && !isNewAxis(item.value);
  }
  for (const Argument& item : items) {
    if (item.label) {
      body_.sink.report(DiagId::NoNamedAxes, body_.ast.span(item.value)).hint = "ranges are written `a..b`";
      return false;
    }
    if (!addItem(item.value)) return false;
  }
  while (!gathers.mask.valid() && axis_ < dims_.size()) kept_.push_back(dims_[axis_++]);
  return true;
}

TypeId IndexItems::type() const { return types_.array(types_.element(array_), kept_); }

TypeId IndexItems::typeWithNewAxes() const {
  std::vector<DimId> dims = kept_;
  for (size_t k : newAxes) dims.insert(dims.begin() + static_cast<ptrdiff_t>(k), types_.dims.constant(1));
  return types_.array(types_.element(array_), std::move(dims));
}

bool IndexItems::addItem(SynId item) {
  const SynNode& n = body_.ast[item];
  if (n.kind == SynKind::RestAxes) return addRest(n.span), true;
  if (n.kind == SynKind::PackUse) return addPack(n);
  if (isNewAxis(item)) {
    newAxes.push_back(kept_.size() + newAxes.size());
    return true;
  }
  if (axis_ >= dims_.size()) {
    Diagnostic& d = body_.sink.report(DiagId::RankMismatch, span_, b_.show(array_),
                                      std::to_string(dims_.size()), std::to_string(plain_));
    if (body_.isRagged(array_))
      d.hint = "each element has a size of its own: `x[i][j]` takes the element first";
    return false;
  }
  if (n.kind == SynKind::Colon) return addWhole(n.span), true;
  if (n.kind == SynKind::Range) return addSlice(n.as<syntax::Range>(), n.span);
  return addIndex(item, n.span);
}

void IndexItems::addWhole(Span span) {
  steps.push_back({StepKind::All, 0, {}, {}, {}, 1, span});
  kept_.push_back(dims_[axis_++]);
}

/// `..`: the axes that no other item speaks of.
void IndexItems::addRest(Span span) {
  for (size_t k = plain_; k < dims_.size() && axis_ < dims_.size(); ++k) addWhole(span);
}

bool IndexItems::addPack(const SynNode& n) {
  auto found = body_.indexPacks.find(n.as<Name>().name);
  if (found == body_.indexPacks.end()) {
    body_.sink.report(DiagId::RangeWithoutStart, n.span, types_.names.text(n.as<Name>().name));
    return false;
  }
  for (size_t k = 0; k < found->second.size() && axis_ < dims_.size(); ++k)
    addAt(b_.local(found->second[k], n.span), n.span);
  return true;
}

void IndexItems::addAt(NodeId index, Span span) {
  body_.noteIndexUse(index, dims_[axis_]);
  steps.push_back({StepKind::Index, 0, index, {}, {}, 1, span});
  ++axis_;
}

/// An end of a slice as a dimension; what is none yet is evaluated before and named, so that the size has a
/// name.
DimId IndexItems::end(SynId written, NodeId& node) {
  Span span = body_.ast.span(written);
  node = body_.asInt(body_.checkExpr(written), span);
  if (b_.kindOf(node) == TypeKind::Error) return DimId::none();
  if (auto literal = b_.literal(node); literal && *literal < 0) {
    if (!mayCountFromEnd(body_, written, *literal)) return DimId::none();
    DimId d = types_.dims.add(dims_[axis_], types_.dims.constant(*literal));
    node = b_.dimValue(d, span);
    return d;
  }
  if (DimId d = b_.dimOf(node)) return d;
  return named(node, span);
}

DimId IndexItems::named(NodeId& node, Span span) {
  LocalId end = b_.newLocal("end", types_.int64(), span);
  before.push_back(b_.let(end, node));
  node = b_.local(end, span);
  return b_.dimOf(node);
}

/// The same where the dimension must be the number that the `int` is.
DimId IndexItems::exactEnd(SynId written, NodeId& node) {
  DimId d = end(written, node);
  return !d || b_.isExact(d) ? d : named(node, body_.ast.span(written));
}

bool IndexItems::addSlice(const syntax::Range& range, Span span) {
  types::DimStore& dims = types_.dims;
  Step step{StepKind::Slice, 0, {}, {}, {}, 1, span};
  auto endOf = [&](SynId written, NodeId& node) {
    return range.step ? exactEnd(written, node) : end(written, node);
  };
  DimId lo = endOf(range.first, step.index), hi = range.last ? endOf(range.last, step.end) : dims_[axis_];
  if (!lo || !hi) return false;
  step.length = dims.sub(hi, lo);
  step.mayWrap = !b_.isExact(lo) || !b_.isExact(hi);
  std::optional<int64_t> by = 1;
  if (range.step) {
    NodeId written = body_.asInt(body_.checkExpr(range.step), body_.ast.span(range.step));
    if (b_.kindOf(written) == TypeKind::Error || isWrongStep(body_, written, range.step)) return false;
    by = b_.literal(written);
  }
  if (dims.asConstant(step.length).value_or(0) < 0) {
    body_.sink.report(DiagId::SliceBackwards, span, body_.c.modules.sources.text(span));
    return false;
  }
  if (!by) return addStepped(step, range.step);
  step.step = *by;
  if (range.step) step.length = stepped(dims, step.length, dims.constant(*by));
  steps.push_back(step);
  kept_.push_back(step.length);
  ++axis_;
  return true;
}

/// A slice in steps that are found at run time: an index array.
bool IndexItems::addStepped(const Step& slice, SynId written) {
  Span span = slice.span;
  NodeId by;
  DimId stride = end(written, by);
  if (!stride) return false;
  before.push_back(positiveStep(body_, by, span));
  NodeId first = slice.index;
  DimId count = stepped(types_.dims, slice.length, stride);
  NodeId ids = b_.collect({count}, span, [&](const std::vector<LocalId>& k) {
    NodeId offset = b_.op(OpKind::Mul, types_.int64(), {b_.local(k[0], span), by}, span);
    return b_.op(OpKind::Add, types_.int64(), {first, offset}, span);
  });
  addArray(ids, span);
  return true;
}

void IndexItems::addArray(NodeId ids, Span span) {
  gathers.arrays.push_back({steps.size(), ids});
  steps.push_back({StepKind::Index, 0, {}, {}, {}, 1, span});
  for (DimId d : b_.dimsOf(b_.typeOf(ids))) kept_.push_back(d);
  ++axis_;
}

bool IndexItems::addIndex(SynId item, Span span) {
  NodeId index = body_.checkExpr(item);
  if (body_.isRange(b_.typeOf(index))) index = arrayOfRange(body_, index, span);
  TypeId type = b_.typeOf(index);
  if (types_.kind(type) == TypeKind::Error) return false;
  if (types_.kind(type) == TypeKind::Never) { // never gets to the element
    index = b_.block({index, b_.integer(0, span)}, span);
    type = types_.int64();
  }
  bool array = types_.kind(type) == TypeKind::Array;
  TypeId element = body_.infer.shallow(types_.element(type));
  if (array && types_.kind(element) == TypeKind::Bool && alone_) {
    gathers.mask = index;
    return true;
  }
  if (!array && body_.infer.isOpen(element)) body_.infer.unify(types_.int64(), element);
  element = body_.infer.shallow(element);
  bool open = body_.infer.isOpen(element) && body_.infer.varClass(element) == types::VarClass::OpenInt;
  if (!types_.isInt(element) && !(array && open)) {
    if (!b_.lacks(element, "Int", "an index", span))
      body_.sink.report(DiagId::IndexType, span, b_.show(type)).hint =
          array && types_.kind(element) == TypeKind::Bool ? "a mask stands alone in its brackets: `x[mask]`"
                                                          : "";
    return false;
  }
  if (array) return addArray(index, span), true;
  if (auto literal = b_.literal(index)) {
    auto size = types_.dims.asConstant(body_.infer.zonk(dims_[axis_]));
    if (size && (*literal >= *size || *literal < -*size)) {
      body_.sink.report(DiagId::IndexOutOfRange, span, std::to_string(*literal), std::to_string(*size));
      return false;
    }
    if (*literal < 0 && !mayCountFromEnd(body_, item, *literal)) return false;
    if (*literal < 0)
      index = b_.dimValue(types_.dims.add(dims_[axis_], types_.dims.constant(*literal)), span);
  }
  addAt(b_.convert(index, types_.int64(), span, true), span);
  return true;
}

} // namespace melix::check
