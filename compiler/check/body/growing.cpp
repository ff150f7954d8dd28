#include "check/body/growing.h"

#include "check/body/attempt.h"

#include <algorithm>

namespace melix::check {

namespace {

/// Finds the sizes that one more round changes, until it changes none but those that are hidden.
class Growing {
public:
  Growing(Body& body, Span span) : body_(body), types_(body.types), span_(span) {}
  NodeId of(NodeId start, FunctionRef<NodeId(NodeId)> next);

private:
  bool holdsSizes(TypeId type);
  TypeId after(TypeId before, FunctionRef<NodeId(NodeId)> next);
  TypeId widened(TypeId type, TypeId other);
  DimId widened(DimId size, DimId other);

  Body& body_;
  TypeStore& types_;
  Span span_;
  std::vector<DimSym> hidden_;
};

NodeId Growing::of(NodeId start, FunctionRef<NodeId(NodeId)> next) {
  TypeId type = body_.infer.zonk(body_.b.typeOf(start));
  if (!holdsSizes(type)) return start;
  for (size_t known = 0;; known = hidden_.size()) {
    const TypeId made = after(type, next);
    if (!made) return start; // the loop itself tells of it
    type = widened(type, made);
    if (hidden_.size() == known) break;
  }
  return hidden_.empty() ? start : body_.coerce(start, types_.pack(type, hidden_), span_);
}

bool Growing::holdsSizes(TypeId type) {
  std::vector<DimSym> symbols;
  types_.collectSymbols(type, symbols);
  bool found = !symbols.empty();
  types_.rewrite(type, [&](TypeId part) {
    found |= !types_[part].dims.empty();
    return part;
  });
  return found;
}

/// The type of a value after one round; none where that is not known or no value comes.
TypeId Growing::after(TypeId before, FunctionRef<NodeId(NodeId)> next) {
  Attempt attempt(body_);
  const NodeId value = body_.b.local(body_.b.newLocal("before", before, span_), span_);
  const TypeId made = body_.infer.zonk(body_.b.typeOf(next(value)));
  const bool isKnown =
      !attempt.hasErrors() && types_.kind(made) != TypeKind::Never && !types_.holds(made, TypeKind::Error);
  return isKnown ? made : TypeId::none();
}

TypeId Growing::widened(TypeId one, TypeId other) {
  types::Type type = types_[one];
  const types::Type theirs = types_[other];
  const bool isArray = type.kind == TypeKind::Array, isTuple = type.kind == TypeKind::Tuple;
  if (type.kind != theirs.kind || (!isArray && !isTuple && !type.record)) return one;
  if (type.parts.size() != theirs.parts.size() || type.dims.size() != theirs.dims.size()) return one;
  for (size_t k = 0; k < type.dims.size(); ++k) type.dims[k] = widened(type.dims[k], theirs.dims[k]);
  if (type.record) return types_.record(type.record, std::move(type.dims));
  for (size_t k = 0; k < type.parts.size(); ++k) type.parts[k] = widened(type.parts[k], theirs.parts[k]);
  return isArray ? types_.array(type.parts[0], std::move(type.dims)) : types_.tuple(std::move(type.parts));
}

DimId Growing::widened(DimId size, DimId other) {
  const auto symbol = types_.dims.asSymbol(size);
  const bool isHidden = symbol && std::find(hidden_.begin(), hidden_.end(), *symbol) != hidden_.end();
  if (size == other || isHidden) return size;
  hidden_.push_back(types_.dims.newSym({"_", types::DimSymKind::Unknown, 0, span_}));
  return types_.dims.symbol(hidden_.back());
}

} // namespace

NodeId growing(Body& body, NodeId start, FunctionRef<NodeId(NodeId before)> next, Span span) {
  return Growing(body, span).of(start, next);
}

} // namespace melix::check
