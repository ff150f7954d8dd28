// Places whose value is in other variables for a while: what `match &place` binds, what is taken out to be
// changed inside.
#include "lower/body.h"

namespace melix::lower {

using namespace check;

namespace {

/// Whether two places of one variable part at different fields.
bool apart(const std::vector<Step>& a, const std::vector<Step>& b) {
  for (size_t k = 0; k < a.size() && k < b.size() && a[k].kind == b[k].kind; ++k)
    if (a[k].kind == check::StepKind::Field && a[k].number != b[k].number) return true;
  return false;
}

} // namespace

/// The value of a variable, for a read at `steps`, with the places in it that other variables hold.
ValueId BodyLowering::whole(LocalId local, const std::vector<Step>& steps) {
  ValueId value = values_.at(local);
  for (const Held& h : held_) {
    if (h.place.root != local || apart(h.place.steps, steps)) continue;
    ValueId part = h.value();
    value =
        h.path.path.empty() ? cast(part, b_.typeOf(value)) : b_.set(value, part, h.path.path, h.path.indices);
  }
  return value;
}

/// `body` while the value of a place is elsewhere; it comes back however control leaves the body.
ValueId BodyLowering::holding(Held held, const Make& body) {
  held_.push_back(held);
  ValueId result = body();
  held_.pop_back();
  write(held.place, held.path, held.value());
  return result;
}

ValueId BodyLowering::within(const Node& node) {
  const Within& ref = node.as<Within>();
  std::vector<NodeId> children;
  indexNodes(ref.place.steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath path = placePath(ref.place, v, next);
    ValueId value = current(ref.place, path);
    TypeId outside = b_.typeOf(value), inside = T(instance_.locals[ref.local].type);
    std::vector<DimId> sizes; // that the place hides
    if (types_.kind(outside) == TypeKind::Pack) {
      core::Op op = Builder::simple(OpKind::Unpack, {value});
      std::vector<DimId> opened;
      for (uint32_t k = 0; k < types_[outside].number; ++k) {
        op.resultDims.push_back(b_.newDim("n"));
        opened.push_back(types_.dims.symbol(op.resultDims.back()));
      }
      value = b_.one(std::move(op), types_.openPack(outside, opened));
      types::DimSubst named;
      matchDims(b_.typeOf(value), inside, named);
      for (DimId d : opened) {
        auto found = named.find(*types_.dims.asSymbol(d));
        sizes.push_back(found != named.end() ? found->second : d);
        if (sizes.back() != d)
          check(core::CheckKind::DimEqual, {}, {d, sizes.back()}, "the size of what is changed here");
      }
    }
    values_[ref.local] = cast(value, inside);
    auto back = [this, local = ref.local, outside, sizes] {
      ValueId now = values_.at(local);
      if (types_.kind(outside) != TypeKind::Pack) return cast(now, outside);
      core::Op op = Builder::simple(OpKind::Pack, {cast(now, types_.openPack(outside, sizes))});
      op.dims = sizes;
      return b_.one(std::move(op), outside);
    };
    return holding({ref.place, path, back}, [&] { return expr(node.children[0]); });
  });
}

} // namespace melix::lower
