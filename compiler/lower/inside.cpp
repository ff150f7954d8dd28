// Places whose value is in other variables for a while: what `match &place` binds, what is taken out to be
// changed inside.
#include "lower/body.h"
#include "lower/place.h"

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
ValueId whole(BodyLowering& fn, LocalId local, const std::vector<Step>& steps) {
  ValueId value = fn.values.at(local);
  for (const Held& h : fn.held) {
    if (h.place.root != local || apart(h.place.steps, steps)) continue;
    ValueId part = h.value();
    value = h.path.path.empty() ? fn.cast(part, fn.b.typeOf(value))
                                : fn.b.set(value, part, h.path.path, h.path.indices);
  }
  return value;
}

/// `body` while the value of a place is elsewhere; it comes back however control leaves the body.
ValueId holding(BodyLowering& fn, Held held, const Make& body) {
  fn.held.push_back(held);
  ValueId result = body();
  fn.held.pop_back();
  writePath(fn, held.place, held.path, held.value());
  return result;
}

ValueId lowerWithin(BodyLowering& fn, const Node& node) {
  const Within& ref = node.as<Within>();
  std::vector<NodeId> children;
  indexNodes(ref.place.steps, children);
  return fn.after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = 0;
    LoweredPath path = placePath(fn, ref.place, v, next);
    ValueId value = current(fn, ref.place, path);
    TypeId outside = fn.b.typeOf(value), inside = fn.T(fn.instance.locals[ref.local].type);
    std::vector<DimId> sizes; // that the place hides
    if (fn.types.kind(outside) == TypeKind::Pack) {
      core::Op op = Builder::simple(OpKind::Unpack, {value});
      std::vector<DimId> opened;
      for (uint32_t k = 0; k < fn.types[outside].number; ++k) {
        op.resultDims.push_back(fn.b.newDim("n"));
        opened.push_back(fn.types.dims.symbol(op.resultDims.back()));
      }
      value = fn.b.one(std::move(op), fn.types.openPack(outside, opened));
      types::DimSubst named;
      fn.matchDims(fn.b.typeOf(value), inside, named);
      for (DimId d : opened) {
        auto found = named.find(*fn.types.dims.asSymbol(d));
        sizes.push_back(found != named.end() ? found->second : d);
        if (sizes.back() != d)
          fn.check(core::CheckKind::DimEqual, {}, {d, sizes.back()}, "the size of what is changed here");
      }
    }
    fn.values[ref.local] = fn.cast(value, inside);
    auto back = [&fn, local = ref.local, outside, sizes] {
      ValueId now = fn.values.at(local);
      if (fn.types.kind(outside) != TypeKind::Pack) return fn.cast(now, outside);
      core::Op op = Builder::simple(OpKind::Pack, {fn.cast(now, fn.types.openPack(outside, sizes))});
      op.dims = sizes;
      return fn.b.one(std::move(op), outside);
    };
    return holding(fn, {ref.place, path, back}, [&] { return fn.expr(node.children[0]); });
  });
}

} // namespace melix::lower
