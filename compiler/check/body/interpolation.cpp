#include "check/body/interpolation.h"

#include "melix/format_limits.h"

namespace melix::check {

using namespace syntax;

NodeId Body::toStr(NodeId value, std::string spec, Span span) {
  if (b.kindOf(value) == TypeKind::Error) return value;
  if (b.kindOf(value) == TypeKind::Str && spec.empty()) return value;
  if (b.kindOf(value) == TypeKind::Known || types.holdsFunction(infer.zonk(b.typeOf(value)))) {
    sink.report(DiagId::FunctionText, span);
    return b.error(span);
  }
  if (b.lacksInside(b.typeOf(value), "Show", "conversion to a string", span)) return b.error(span);
  return b.make(NodeKind::Format, types.str(), span, {value}, FormatSpec{std::move(spec)});
}

namespace {

/// A width or number of digits that a value gives, within what one written as a literal may be.
NodeId formatNumber(Body& body, SynId written, bool isWidth) {
  NodeBuilder& b = body.b;
  const TypeId boolean = body.types.boolean();
  const Span span = body.ast.span(written);
  NodeId value = body.asInt(body.checkExpr(written, body.types.int64()), span);
  if (b.kindOf(value) == TypeKind::Error) return value;
  std::vector<NodeId> nodes;
  LocalId n = b.bind("n", value, nodes);
  auto compared = [&](ops::CmpKind kind, int64_t limit) {
    return b.op(OpKind::Cmp, boolean, {b.local(n, span), b.integer(limit, span)}, span,
                static_cast<uint32_t>(kind));
  };
  const int most = isWidth ? MELIX_FORMAT_WIDTH : MELIX_FORMAT_DIGITS;
  NodeId fits =
      b.op(OpKind::And, boolean, {compared(ops::CmpKind::Ge, 0), compared(ops::CmpKind::Le, most)}, span);
  const std::string what = isWidth ? "the width of a format is" : "the digits of a format are";
  NodeId why = b.string(what + " from 0 to " + std::to_string(most), span);
  NodeId panic = b.make(NodeKind::Panic, body.types.never(), span, {why});
  nodes.push_back(b.make(NodeKind::If, body.types.unit(), span, {fits, b.unit(span), panic}));
  nodes.push_back(b.local(n, span));
  return b.block(std::move(nodes), span);
}

/// `{value:format}`; each `{}` of the format is a number that is computed.
NodeId formatted(Body& body, const StringPart& part) {
  NodeBuilder& b = body.b;
  NodeId text = body.toStr(body.checkExpr(part.value), part.format, part.span);
  size_t at = 0;
  for (SynId written : part.formatValues) {
    at = part.format.find("{}", at) + 2;
    NodeId number = formatNumber(body, written, at == 2 || part.format[at - 3] != '.');
    if (b.kindOf(text) == TypeKind::Error || b.kindOf(number) == TypeKind::Error) return b.error(part.span);
    body.instance.nodes.edit(text).children.push_back(number);
  }
  return text;
}

} // namespace

NodeId checkString(Body& body, const StringLit& literal, Span span) {
  NodeBuilder& b = body.b;
  const std::vector<StringPart>& written = literal.parts;
  if (written.empty()) return b.string("", span);
  if (written.size() == 1 && !written[0].value) return b.string(written[0].text, span);
  std::vector<NodeId> parts;
  for (const StringPart& part : written)
    parts.push_back(part.value ? formatted(body, part) : b.string(part.text, part.span));
  if (parts.size() == 1) return parts[0];
  return b.make(NodeKind::Builtin, body.types.str(), span, std::move(parts),
                BuiltinRef{ops::BuiltinKind::StrConcat});
}

} // namespace melix::check
