// Messages about sizes: the same words when compiling and at run time, and where each size comes from.
#include "check/tree/size_checks.h"

#include "check/tree/text_hint.h"

#include <algorithm>

namespace melix::check {

namespace {

/// The sizes that one message of a check can tell, besides the two that are compared.
constexpr size_t mostShown = 8;

} // namespace

/// A type as the message of a check shows it: `{k}` stands for each size that only the run knows.
std::string SizeChecks::showAtRun(TypeId type, std::vector<DimId>& shown) {
  types::Type told = types[infer.zonk(type)];
  for (DimId& d : told.dims) {
    if (types.dims.asConstant(d) || shown.size() == mostShown) continue;
    std::string place = "{" + std::to_string(2 + shown.size()) + "}";
    shown.push_back(d);
    d = types.dims.symbol(types.dims.newSym({place, types::DimSymKind::Unknown, 0, Span()}));
  }
  return show(types.intern(std::move(told)));
}

void SizeChecks::reportBadAxis(size_t rank, Span span) {
  sink.report(DiagId::BadAxis, span, std::to_string(rank), std::to_string(static_cast<int64_t>(rank) - 1));
}

std::optional<size_t> SizeChecks::axisOf(std::optional<int64_t> literal, size_t rank, Span span) {
  const auto count = static_cast<int64_t>(rank);
  if (literal && *literal >= -count && *literal < count)
    return static_cast<size_t>(*literal < 0 ? *literal + count : *literal);
  reportBadAxis(rank, span);
  return std::nullopt;
}

DimCheckItem SizeChecks::withMessage(DimCheckItem check, DiagId id, TypeId left, TypeId right,
                                     std::vector<std::string> args) {
  Diagnostic message{id, Span(), {}, {}, {}};
  message.args = {showAtRun(left, check.shown), showAtRun(right, check.shown)};
  message.args.insert(message.args.end(), args.begin(), args.end());
  check.text = diagMessage(message);
  return check;
}

std::vector<DimCheckItem> SizeChecks::withMessages(std::vector<DimCheckItem> checks, DiagId id, TypeId left,
                                                   TypeId right) {
  for (DimCheckItem& check : checks) {
    std::string axis = std::to_string(check.axis);
    bool both = id == DiagId::ShapeMismatch; // it names the axis of each
    std::vector<std::string> args{axis, "{0}", "{1}"};
    if (both) args.insert(args.begin() + 2, axis);
    check = withMessage(std::move(check), id, left, right, std::move(args));
  }
  return checks;
}

DimCheckItem SizeChecks::shapesFit(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis) {
  return withMessage({dimsOf(left)[leftAxis], dimsOf(right)[rightAxis], {}, {}, 0}, DiagId::ShapeMismatch,
                     left, right, {std::to_string(leftAxis), "{0}", std::to_string(rightAxis), "{1}"});
}

NodeId SizeChecks::dimChecks(std::vector<DimCheckItem> checks, Span span, bool written) {
  return make(NodeKind::DimCheck, types.unit(), span, {}, checksOf(std::move(checks), written));
}

DimChecks SizeChecks::checksOf(std::vector<DimCheckItem> items, bool written) {
  for (DimCheckItem& item : items) {
    item.isOpen = infer.hasInferenceDim(item.left) || infer.hasInferenceDim(item.right);
    if (item.isOpen) item.equal = infer.equalHere;
  }
  return {std::move(items), written};
}

/// The hint is for sizes that have names: two numbers that differ are never equal.
Diagnostic& SizeChecks::shapesDiffer(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis, Span span,
                                     Span rightOperand) {
  DimId x = infer.zonk(dimsOf(left)[leftAxis]), y = infer.zonk(dimsOf(right)[rightAxis]);
  Diagnostic& d = sink.report(DiagId::ShapeMismatch, span, show(left), show(right), std::to_string(leftAxis),
                              types.dims.show(x), std::to_string(rightAxis), types.dims.show(y));
  if (types.dims.asConstant(x) && types.dims.asConstant(y)) return d;
  bool sameAxes = leftAxis == rightAxis && types.rank(left) == types.rank(right);
  d.hint = "a size that is only known to be equal at run time is checked by `" +
           library.writtenOperand(rightOperand) + " as " + (sameAxes ? show(left) : "T[…]") + "`";
  return d;
}

void SizeChecks::hintProduct(Diagnostic& to, NodeId left, NodeId right) {
  const std::vector<DimId> l = dimsOf(typeOf(left)), r = dimsOf(typeOf(right));
  const std::string a = library.writtenOperand(spanOf(left)), b = library.writtenOperand(spanOf(right));
  std::vector<std::string> fitting;
  if (r.size() == 2 && areSame(l.back(), r[1])) fitting.push_back(a + " @ transpose(" + asArgument(b) + ")");
  if (l.size() == 2 && areSame(l[0], r[0])) fitting.push_back("transpose(" + asArgument(a) + ") @ " + b);
  if (fitting.empty() && l.size() <= 2 && areSame(r.back(), l[0])) fitting.push_back(b + " @ " + a);
  if (fitting.size() == 1) to.hint = "`" + fitting[0] + "` fits";
  if (fitting.size() == 2) to.hint = "`" + fitting[0] + "` and `" + fitting[1] + "` fit";
}

void SizeChecks::hintOperands(Diagnostic& to, NodeId left, NodeId right) {
  const std::vector<DimId> l = dimsOf(typeOf(left)), r = dimsOf(typeOf(right));
  if (areTurned(l, r))
    to.hint = "`transpose(" + asArgument(library.writtenOperand(spanOf(right))) + ")` has the sizes of `" +
              library.writtenOperand(spanOf(left)) + "`";
  else
    hintNewAxes(to, left, right);
}

bool SizeChecks::areTurned(const std::vector<DimId>& a, const std::vector<DimId>& b) {
  return a.size() == 2 && b.size() == 2 && areSame(a[0], b[1]) && areSame(a[1], b[0]);
}

std::string SizeChecks::axisHint(TypeId want, TypeId got, const std::string& written) {
  std::vector<DimId> wanted = dimsOf(want), given = dimsOf(got);
  const bool adds = wanted.size() == given.size() + 1;
  if (given.empty() || wanted.empty() || (!adds && given.size() != wanted.size() + 1) ||
      (types.element(want) != types.element(got) && !infer.isOpen(types.element(got))))
    return {};
  std::vector<DimId>&many = adds ? wanted : given, &few = adds ? given : wanted;
  auto isRest = [&](size_t first) {
    return std::equal(few.begin(), few.end(), many.begin() + static_cast<ptrdiff_t>(first),
                      [this](DimId x, DimId y) {
                        return areSame(x, y) || infer.hasInferenceDim(x) || infer.hasInferenceDim(y);
                      });
  };
  auto isOne = [&](DimId d) { return types.dims.asConstant(infer.zonk(d)) == 1; };
  const std::string item = adds ? "new" : "0";
  std::string index;
  if (isOne(many.back()) && isRest(0)) {
    for (size_t k = 0; k < few.size(); ++k) index += ":, ";
    index += item;
  } else if (isOne(many.front()) && isRest(1)) {
    index = item;
  }
  return index.empty() ? "" : "`" + written + "[" + index + "]` has these sizes";
}

void SizeChecks::hintNewAxes(Diagnostic& to, NodeId left, NodeId right) {
  std::vector<DimId> few = dimsOf(typeOf(left)), many = dimsOf(typeOf(right));
  NodeId smaller = left;
  if (few.size() > many.size()) {
    std::swap(few, many);
    smaller = right;
  }
  if (few.empty() || few.size() == many.size()) return;
  for (size_t k = 0; k < few.size(); ++k)
    if (!areSame(few[k], many[k])) return;
  std::string index;
  for (size_t k = 0; k < many.size(); ++k)
    index += (k == 0 ? "" : ", ") + std::string(k < few.size() ? ":" : "new");
  to.hint = "shapes meet at their last axes: `" + library.writtenOperand(spanOf(smaller)) + "[" + index +
            "]` has an axis of size 1 there";
}

void SizeChecks::noteNames(Diagnostic& to, DimId size) {
  std::vector<DimSym> symbols;
  types.dims.collectSymbols(size, symbols);
  for (DimSym s : symbols) {
    const types::DimSymInfo& info = types.dims.info(s);
    DimId is = infer.zonk(types.dims.symbol(s));
    bool solved = is != types.dims.symbol(s);
    if (info.origin.valid())
      to.note(info.origin,
              "`" + info.name + "` " + (solved ? "is " + types.dims.show(is) : "comes from") + " here");
  }
}

void SizeChecks::noteOrigin(Diagnostic& to, NodeId value, size_t axis) {
  if (kindOf(value) != TypeKind::Array) return; // a tuple with the array inside
  DimId size = infer.zonk(dimsOf(typeOf(value))[axis]);
  if (!types.dims.asConstant(size)) return noteNames(to, size);
  auto isOwn = [this](const Node& n) {
    return n.kind == NodeKind::Local && standsFor.contains(n.as<LocalRef>().local);
  };
  while (isOwn(instance.nodes[value])) value = standsFor.at(instance.nodes[value].as<LocalRef>().local);
  const Node& node = instance.nodes[value];
  const Local* local = node.kind == NodeKind::Local ? &instance.locals[node.as<LocalRef>().local] : nullptr;
  std::string name = local ? "`" + std::string(types.names.text(local->name)) + "`" : "this";
  Span at = local ? local->span : node.span;
  if (at.valid()) to.note(at, name + " is `" + show(typeOf(value)) + "`");
}

void SizeChecks::reportMismatch(const UnifyResult& match, TypeId want, TypeId got, NodeId value, Span span,
                                Asking asking) {
  DimId left = infer.zonk(match.left), right = infer.zonk(match.right);
  std::string expected = show(want);
  Diagnostic& d = sink.report(DiagId::ShapeExpected, span, expected, show(got), std::to_string(match.axis),
                              types.dims.show(left), types.dims.show(right));
  if (areTurned(dimsOf(want), dimsOf(got)))
    d.hint = "`transpose(" + asArgument(library.writtenOperand(span)) + ")` has these sizes";
  else if (!types.dims.asConstant(left) || !types.dims.asConstant(right))
    d.hint = "a size that is only known to be equal at run time is checked by `" +
             library.writtenOperand(span) + " as " + expected + "`";
  std::string what = "`" + std::string(asking.what) + "`";
  if (asking.asker.valid() && types.dims.asConstant(match.asked)) // no name tells where it is asked for
    d.note(asking.asker, asking.what.empty() ? "this is `" + expected + "`" : what + " asks for it here");
  else if (!asking.what.empty())
    d.note(Span(), "in the call of " + what);
  noteNames(d, match.asked);
  noteNames(d, left);
  noteNames(d, right);
  bool isName = value.valid() && instance.nodes[value].kind == NodeKind::Local;
  if (isName && types.dims.asConstant(right) && match.axis < dimsOf(typeOf(value)).size())
    noteOrigin(d, value, match.axis);
}

Diagnostic& SizeChecks::reportUnequal(const UnifyResult& match, NodeId left, NodeId right, Span span,
                                      DiagId id, std::vector<std::string> rest) {
  DimId leftSize = infer.zonk(match.left), rightSize = infer.zonk(match.right);
  std::string axis = std::to_string(match.axis);
  std::vector<std::string> args{
      show(typeOf(left)),        show(typeOf(right)), axis, types.dims.show(leftSize), axis,
      types.dims.show(rightSize)};
  args.insert(args.end(), rest.begin(), rest.end());
  Diagnostic& d = sink.reportList(id, span, std::move(args));
  for (auto [value, size] : {std::pair(left, leftSize), std::pair(right, rightSize)}) {
    bool isArray = match.axis < dimsOf(typeOf(value)).size();
    if (isArray)
      noteOrigin(d, value, match.axis);
    else
      noteNames(d, size);
  }
  return d;
}

/// Branches may differ in size where a type with `_` is asked of them (rule 24).
void SizeChecks::reportBranches(const UnifyResult& match, NodeId first, NodeId other, Span span) {
  Diagnostic& d = reportUnequal(match, first, other, span, DiagId::BranchShapes);
  types::Type free = types[typeOf(first)];
  const std::vector<DimId> others = dimsOf(typeOf(other));
  if (free.kind != TypeKind::Array || others.size() != free.dims.size()) return;
  for (size_t k = 0; k < others.size(); ++k)
    if (infer.zonk(free.dims[k]) != infer.zonk(others[k]))
      free.dims[k] = types.dims.symbol(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, Span()}));
  std::string asked = show(types.intern(std::move(free)));
  d.hint = "where a type with `_` is expected, each has a size of its own: `let x: " + asked +
           " = …`, `fn f(…) -> " + asked + "`";
}

Diagnostic& SizeChecks::reportShapes(NodeId left, size_t leftAxis, NodeId right, size_t rightAxis,
                                     Span span) {
  Diagnostic& d = shapesDiffer(typeOf(left), leftAxis, typeOf(right), rightAxis, span, spanOf(right));
  noteOrigin(d, left, leftAxis);
  noteOrigin(d, right, rightAxis);
  return d;
}

NodeId SizeChecks::checked(NodeId value, TypeId type, std::vector<DimCheckItem> checks, Span span,
                           bool written) {
  if (checks.empty()) return value;
  return make(NodeKind::CastDims, type, span, {value}, checksOf(std::move(checks), written));
}

} // namespace melix::check
