#include "check/statements/on_device.h"

namespace melix::check {

NodeId checkOn(Body& body, const syntax::On& on, Span span, TypeId expected) {
  const std::string name(body.types.names.text(on.device));
  const Device device = deviceNamed(name);
  if (device == Device::Caller) {
    body.sink.report(DiagId::UnknownDevice, span, name);
  } else if (on.number) {
    body.sink.report(DiagId::NoDeviceNumbers, span);
    body.sink.hintLast("several devices are not supported yet: `on " + name + " { … }` runs on the first");
  }
  const NodeId block = body.checkExpr(on.body, expected);
  return body.b.make(NodeKind::On, body.b.typeOf(block), span, {block}, OnDevice{device});
}

void refuseOnInBuilder(Body& body, SynId text) {
  switch (body.ast.kind(text)) {
  case SynKind::On:
    body.sink.report(DiagId::OnInBuilder, body.ast.span(text),
                     body.types.names.text(body.ast[text].as<syntax::On>().device));
    return;
  case SynKind::Lambda: return;
  case SynKind::Builder:
  case SynKind::Generator:
    for (const syntax::Header& header : body.ast[text].as<syntax::Builder>().headers)
      if (header.range) refuseOnInBuilder(body, header.range);
    return;
  default: syntax::forEachChild(body.ast, text, [&](SynId child) { refuseOnInBuilder(body, child); });
  }
}

} // namespace melix::check
