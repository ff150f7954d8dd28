#include "check/calls/nested_reduction.h"

#include "check/body/iteration.h"
#include "check/signatures/free_names.h"

namespace melix::check {

using namespace syntax;

namespace {

/// The first header behind `first` whose range depends on an index from `first` on; their number if none
/// does.
size_t dependentHeader(const Ast& ast, const Builder& builder, size_t first) {
  std::set<NameId> names;
  for (size_t k = first; k < builder.headers.size(); ++k) {
    const Header& header = builder.headers[k];
    if (header.range && firstUse(ast, header.range, [&](NameId name, bool) { return names.contains(name); }))
      return k;
    collectNames(ast, header.pattern, names);
  }
  return builder.headers.size();
}

/// A level for each index that a later range depends on, the innermost with the filter and the body. Sums,
/// products and the like are reductions of reductions. A mean sums pairs (term, 1) and divides once. Where no
/// pair at all is an error, or places are wanted, loops keep the best term so far.
class NestedReduction {
public:
  NestedReduction(Body& body, IntrinsicKind kind, const Builder& builder, Span span)
      : body_(body), types_(body.types), b_(body.b), kind_(kind), builder_(builder), span_(span),
        wantsPlaces_(kind == IntrinsicKind::ArgMax || kind == IntrinsicKind::ArgMin) {}
  NodeId check();

private:
  NodeId level(size_t first);
  bool start(NodeId nest);
  NodeId combined(NodeId nest, bool isInnermost);
  NodeId looped(const Node& nest, NodeId statement);
  NodeId notNegative(const NestAxis& axis);
  void startBest();
  LocalId variable(std::string_view name, NodeId init);
  NodeId assign(LocalId to, NodeId value);
  NodeId keepIfBest(NodeId term);
  NodeId isBetter(LocalId term);
  NodeId places();
  NodeId bestFound(NodeId best);

  Body& body_;
  TypeStore& types_;
  NodeBuilder& b_;
  IntrinsicKind kind_;
  const Builder& builder_;
  Span span_;
  bool wantsPlaces_;
  bool keepsBest_ = false;
  TypeId element_;                ///< of a term
  std::vector<NodeId> variables_; ///< declared in front of the loops
  LocalId found_, best_;
  NodeId kept_;                  ///< the block that keeps a term
  std::vector<LocalId> indices_; ///< of all levels
};

NodeId NestedReduction::check() {
  NodeId made = level(0);
  if (b_.kindOf(made) == TypeKind::Error) return made;
  if (keepsBest_) {
    NodeId best = wantsPlaces_ ? places() : b_.local(best_, span_);
    variables_.push_back(made);
    variables_.push_back(bestFound(best));
    return b_.block(std::move(variables_), span_);
  }
  if (kind_ != IntrinsicKind::Mean) return made;
  std::vector<NodeId> nodes;
  LocalId total = b_.bind("total", made, nodes);
  nodes.push_back(body_.arrays.meanOf(b_.field(b_.local(total, span_), 0, span_), element_,
                                      b_.field(b_.local(total, span_), 1, span_), span_));
  return b_.block(std::move(nodes), span_);
}

/// The headers from `first` up to one that depends on them, around the level of the rest.
NodeId NestedReduction::level(size_t first) {
  const size_t next = dependentHeader(body_.ast, builder_, first);
  const bool isInnermost = next == builder_.headers.size();
  Builder part{{builder_.headers.begin() + static_cast<ptrdiff_t>(first),
                builder_.headers.begin() + static_cast<ptrdiff_t>(next)},
               isInnermost ? builder_.filter : SynId::none(),
               builder_.body};
  const Body::CheckElement inner = [&] { return level(next); };
  body_.generatorBefore.clear();
  NodeId nest =
      body_.checkBuilder(part, span_, TypeId::none(), BuilderUse::Terms, isInnermost ? nullptr : &inner);
  std::vector<NodeId> before = body_.generatorBefore.exchange({});
  if (b_.kindOf(nest) == TypeKind::Error) return nest;
  if (isInnermost && !start(nest)) return b_.error(span_);
  before.push_back(combined(nest, isInnermost));
  return b_.block(std::move(before), span_);
}

/// What the terms are decides how they are reduced.
bool NestedReduction::start(NodeId nest) {
  element_ = b_.typeOf(body_.instance.nodes[nest].children[0]);
  if (body_.refuseOwnSum(kind_, element_, span_) || !body_.arrays.reduces(kind_, element_, span_))
    return false;
  const bool isExtremum = kind_ == IntrinsicKind::Max || kind_ == IntrinsicKind::Min;
  keepsBest_ = wantsPlaces_ || (isExtremum && !types_.isFloat(body_.infer.shallow(element_)));
  if (keepsBest_) startBest();
  return true;
}

NodeId NestedReduction::combined(NodeId nest, bool isInnermost) {
  Node& node = body_.instance.nodes.edit(nest);
  if (keepsBest_) {
    const Node copy = node;
    const std::vector<NestAxis>& axes = copy.as<Nest>().axes;
    for (size_t k = axes.size(); k-- > 0;)
      indices_.insert(indices_.begin(), axes[k].index); // levels end inside out
    NodeId statement = isInnermost ? keepIfBest(copy.children[0]) : copy.children[0];
    return looped(copy, statement);
  }
  if (kind_ != IntrinsicKind::Mean) return body_.arrays.reduceGenerator(kind_, nest, span_);
  if (isInnermost) {
    NodeId term = node.children[0];
    if (types_.isScalar(body_.infer.shallow(element_))) term = body_.arrays.summand(kind_, term, span_);
    NodeId counted = b_.tuple({term, b_.integer(1, span_)}, span_);
    body_.instance.nodes.edit(nest).children[0] = counted;
  }
  return body_.arrays.reduceGenerator(IntrinsicKind::Sum, nest, span_);
}

/// As in a nest, a range that ends before it begins is an error.
NodeId NestedReduction::notNegative(const NestAxis& axis) {
  NodeId shown = b_.string(axis.shownExtent(types_.dims), span_);
  return body_.callPrelude("has_length", {b_.dimValue(axis.extent, span_), shown}, span_);
}

/// The statement for each point of a nest, in order; it gives 0, to be the element of the level around it.
NodeId NestedReduction::looped(const Node& nest, NodeId statement) {
  const std::vector<NestAxis> axes = nest.as<Nest>().axes;
  statement = b_.block({statement, b_.unit(span_)}, span_);
  if (nest.as<Nest>().filtered)
    statement = b_.make(NodeKind::If, types_.unit(), span_, {nest.children[1], statement});
  for (size_t k = axes.size(); k-- > 0;) {
    check::For loop;
    loop.loop = static_cast<LoopId>(body_.instance.nodes.size());
    loop.index = axes[k].index;
    NodeId extent = b_.dimValue(axes[k].extent, span_);
    statement = b_.make(NodeKind::For, types_.unit(), span_, {b_.integer(0, span_), extent, statement}, loop);
    statement = b_.block({notNegative(axes[k]), statement}, span_);
  }
  return b_.block({statement, b_.integer(0, span_)}, span_);
}

LocalId NestedReduction::variable(std::string_view name, NodeId init) {
  LocalId made = b_.newLocal(name, b_.typeOf(init), span_, true);
  variables_.push_back(b_.let(made, init));
  return made;
}

void NestedReduction::startBest() {
  const bool isBool = types_.kind(element_) == TypeKind::Bool;
  found_ = variable("found", b_.boolean(false, span_));
  best_ = variable("best", isBool ? b_.boolean(false, span_) : b_.number("0", element_, span_));
}

NodeId NestedReduction::assign(LocalId to, NodeId value) {
  TypeId type = body_.instance.locals[to].type;
  return b_.make(NodeKind::Assign, types_.unit(), span_, {value}, Place{to, {}, type});
}

/// `let v = term; if not found or v is better { found = true; best = v }`
NodeId NestedReduction::keepIfBest(NodeId term) {
  std::vector<NodeId> nodes;
  if (wantsPlaces_) term = b_.make(NodeKind::StopGradient, element_, span_, {term});
  LocalId value = b_.bind("v", term, nodes);
  NodeId isFirst = b_.logicalNot(b_.local(found_, span_), span_);
  NodeId takes = b_.op(OpKind::Or, types_.boolean(), {isFirst, isBetter(value)}, span_);
  kept_ = b_.block(
      {assign(found_, b_.boolean(true, span_)), assign(best_, b_.local(value, span_)), b_.unit(span_)},
      span_);
  nodes.push_back(b_.make(NodeKind::If, types_.unit(), span_, {takes, kept_}));
  return b_.block(std::move(nodes), span_);
}

/// Whether a term takes the place of the best so far: the first nan stays, else the first extremum, where 0.0
/// is above -0.0. Of floats that is whether the extremum of both is another number than the best, or has
/// another sign.
NodeId NestedReduction::isBetter(LocalId term) {
  const bool least = kind_ == IntrinsicKind::Min || kind_ == IntrinsicKind::ArgMin;
  auto read = [&](LocalId x) { return b_.local(x, span_); };
  auto compared = [&](ops::CmpKind kind, NodeId x, NodeId y) {
    return b_.op(OpKind::Cmp, types_.boolean(), {x, y}, span_, static_cast<uint32_t>(kind));
  };
  const TypeId type = b_.infer.shallow(element_);
  const bool isOpenFloat = b_.infer.isOpen(type) && b_.infer.varClass(type) == types::VarClass::OpenFloat;
  if (!isOpenFloat && !types_.isFloat(type))
    return compared(least ? ops::CmpKind::Lt : ops::CmpKind::Gt, read(term), read(best_));
  auto both = [&] {
    return b_.op(least ? OpKind::Min : OpKind::Max, type, {read(best_), read(term)}, span_);
  };
  auto sign = [&](NodeId x) {
    return b_.op(OpKind::CopySign, type, {b_.number("1", type, span_), x}, span_);
  };
  NodeId isOther = b_.op(
      OpKind::And, types_.boolean(),
      {compared(ops::CmpKind::Ne, both(), read(best_)), compared(ops::CmpKind::Eq, read(best_), read(best_))},
      span_);
  NodeId hasOtherSign = compared(ops::CmpKind::Ne, sign(both()), sign(read(best_)));
  return b_.op(OpKind::Or, types_.boolean(), {isOther, hasOtherSign}, span_);
}

/// The indices that are kept beside the best term, in the order of the header.
NodeId NestedReduction::places() {
  std::vector<NodeId> assigned, read;
  for (LocalId index : indices_) {
    LocalId at = variable("at", b_.integer(0, span_));
    assigned.push_back(assign(at, b_.local(index, span_)));
    read.push_back(b_.local(at, span_));
  }
  std::vector<NodeId>& kept = body_.instance.nodes.edit(kept_).children;
  kept.insert(kept.begin(), assigned.begin(), assigned.end());
  return b_.tuple(std::move(read), span_);
}

/// What the loops found; without any pair what the reduction of nothing is.
NodeId NestedReduction::bestFound(NodeId best) {
  NodeId nothing = b_.collect({types_.dims.constant(0)}, span_,
                              [&](const std::vector<LocalId>&) { return b_.local(best_, span_); });
  NodeId none = body_.arrays.reduceGenerator(kind_, nothing, span_);
  if (!wantsPlaces_) return b_.make(NodeKind::If, element_, span_, {b_.local(found_, span_), best, none});
  std::vector<NodeId> nodes;
  b_.bind("none", none, nodes);
  nodes.push_back(b_.unit(span_));
  NodeId isNone = b_.logicalNot(b_.local(found_, span_), span_);
  NodeId guard = b_.make(NodeKind::If, types_.unit(), span_, {isNone, b_.block(std::move(nodes), span_)});
  return b_.block({guard, best}, span_);
}

/// The list from header `first` on; the rows of each header but the last are joined.
NodeId listFrom(Body& body, const Builder& builder, size_t first, TypeId want, Span span) {
  Builder part{{builder.headers[first]}, SynId::none(), builder.body};
  if (first + 1 == builder.headers.size()) {
    part.filter = builder.filter;
    return body.checkBuilder(part, span, want, BuilderUse::List);
  }
  const Body::CheckElement inner = [&] {
    NodeId row = listFrom(body, builder, first + 1, want, span);
    return body.b.kindOf(row) == TypeKind::Error ? row : asList(body, row, span);
  };
  NodeId rows = body.checkBuilder(part, span, want ? body.types.list(want) : want, BuilderUse::List, &inner);
  if (body.b.kindOf(rows) == TypeKind::Error) return rows;
  return body.callPrelude("flatten", {asList(body, rows, span)}, span);
}

} // namespace

bool isNested(const Ast& ast, const Builder& builder) {
  return dependentHeader(ast, builder, 0) < builder.headers.size();
}

NodeId reduceNested(Body& body, IntrinsicKind kind, const Builder& builder, Span span) {
  return NestedReduction(body, kind, builder, span).check();
}

NodeId listOfBuilder(Body& body, const Builder& builder, TypeId want, Span span) {
  if (isNested(body.ast, builder)) return listFrom(body, builder, 0, want, span);
  return body.checkBuilder(builder, span, want, BuilderUse::List);
}

NodeId arrayOfNested(Body& body, const Builder& builder, Span span) {
  NodeId terms = listFrom(body, builder, 0, TypeId::none(), span);
  return body.b.kindOf(terms) == TypeKind::Error ? terms : body.callPrelude("array", {terms}, span);
}

} // namespace melix::check
