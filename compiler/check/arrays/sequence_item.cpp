// Elements and slices of Lists and texts (rule 30).
#include "check/arrays/index.h"
#include "check/body/iteration.h"

namespace melix::check {

bool mayCountFromEnd(Body& body, SynId written, int64_t value) {
  if (body.isNumberLiteral(written)) return true;
  body.sink.report(DiagId::NegativeIndex, body.ast.span(written), std::to_string(value));
  return false;
}

NodeId SequenceItem::place(FunctionRef<NodeId()> holder) const {
  const Span span = body_.ast.span(item_);
  NodeId index = body_.checkExpr(item_);
  if (!body_.isRange(body_.b.typeOf(index))) return place(item_, index, holder);
  const bool isList = body_.types.kind(body_.b.typeOf(holder())) == TypeKind::List;
  body_.sink.report(DiagId::IndexType, span, body_.b.show(body_.b.typeOf(index))).hint =
      isList ? "a slice of a List is a new List: nothing is stored in it"
             : "a slice of a string is written in the brackets: `s[a..b]`";
  return body_.b.error(span);
}

NodeId SequenceItem::place(SynId written, NodeId index, FunctionRef<NodeId()> holder) const {
  NodeBuilder& b = body_.b;
  const Span span = body_.ast.span(written);
  index = body_.asInt(index, span);
  auto literal = b.literal(index);
  if (!literal || *literal >= 0) return index;
  if (!mayCountFromEnd(body_, written, *literal)) return b.error(span);
  NodeId length = b.make(NodeKind::Length, body_.types.int64(), span, {holder()});
  return b.op(OpKind::Add, body_.types.int64(), {length, b.integer(*literal, span)}, span);
}

std::pair<NodeId, NodeId> SequenceItem::ends(const syntax::Range& range, NodeId whole, Span span) const {
  auto at = [&](SynId written) { return place(written, body_.checkExpr(written), [&] { return whole; }); };
  NodeId first = at(range.first);
  return {first,
          range.last ? at(range.last) : body_.b.make(NodeKind::Length, body_.types.int64(), span, {whole})};
}

NodeId SequenceItem::ofList(NodeId list, Span span) const {
  NodeBuilder& b = body_.b;
  std::vector<NodeId> nodes;
  if (body_.ast.kind(item_) == SynKind::Range) {
    const auto& range = body_.ast[item_].as<syntax::Range>();
    list = b.local(b.bind("xs", list, nodes), span);
    auto [first, last] = ends(range, list, span);
    NodeId step = range.step ? body_.asInt(body_.checkExpr(range.step), body_.ast.span(range.step))
                             : b.integer(1, span);
    for (NodeId part : {first, last, step})
      if (b.kindOf(part) == TypeKind::Error) return part;
    if (range.step && isWrongStep(body_, step, range.step)) return b.error(span);
    nodes.push_back(body_.callPrelude("list_slice", {list, first, last, step}, span));
    return b.block(std::move(nodes), span);
  }
  NodeId index = body_.checkExpr(item_);
  if (body_.isRange(b.typeOf(index))) return body_.callPrelude("list_slice", {list, index}, span);
  index = place(item_, index, [&] {
    list = b.local(b.bind("xs", list, nodes), span);
    return list;
  });
  if (b.kindOf(index) == TypeKind::Error) return index;
  Steps steps{{Step{StepKind::Element, 0, index, {}, {}, 1, span}}};
  TypeId element = body_.types[b.typeOf(list)].parts[0];
  nodes.push_back(b.make(NodeKind::Get, element, span, {list}, std::move(steps)));
  return b.block(std::move(nodes), span);
}

NodeId SequenceItem::ofText(NodeId text, Span span) const {
  NodeBuilder& b = body_.b;
  std::vector<NodeId> nodes;
  text = b.local(b.bind("s", text, nodes), span);
  if (body_.ast.kind(item_) != SynKind::Range) {
    NodeId at = place([&] { return text; });
    nodes.push_back(b.make(NodeKind::Builtin, body_.types.scalar(TypeKind::Char), span, {text, at},
                           BuiltinRef{ops::BuiltinKind::StrCharAt}));
    return b.block(std::move(nodes), span);
  }
  const auto& range = body_.ast[item_].as<syntax::Range>();
  if (range.step) {
    body_.sink.report(DiagId::IndexType, body_.ast.span(item_), "a..b step c").hint =
        "a slice of a string has no `step`";
    return b.error(span);
  }
  auto [first, last] = ends(range, text, span);
  nodes.push_back(b.make(NodeKind::Builtin, body_.types.str(), span, {text, first, last},
                         BuiltinRef{ops::BuiltinKind::StrSlice}));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
