#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::check {

namespace {

/// One member for each payload, and none for any: a payload without one does not compile.
template <class NodeT>
class Teller {
  template <class T>
  using Of = NodeParts<NodeT>::template Of<T>;

public:
  Teller(NodeT& node, NodeParts<NodeT>& parts) : node_(node), parts_(parts) {}

  void operator()(Of<std::monostate>&) { children(); }
  void operator()(Of<Const>&) { children(); }
  void operator()(Of<LocalRef>& ref) { parts_.reads(ref.local); }
  void operator()(Of<Dim>& dim) { parts_.size(dim.dim); }
  void operator()(Of<Dims>& dims) { children(), sizes(dims.dims); }
  void operator()(Of<Index>&) { children(); }
  void operator()(Of<KnownRef>&) { children(); }
  void operator()(Of<Steps>& steps) { children(), indices(steps.steps), lengths(steps.steps); }
  void operator()(Of<Place>& place) { indices(place.steps), children(), changes(place); }
  void operator()(Of<OpRef>&) { children(); }
  void operator()(Of<ConvertRef>&) { children(); }
  void operator()(Of<Elementwise>& ref) { defines(ref.elements), children(); }
  void operator()(Of<DimChecks>& checks) {
    children();
    for (auto& item : checks.items) parts_.size(item.left), parts_.size(item.right), sizes(item.shown);
  }
  void operator()(Of<Update>& update) {
    defines({update.value, update.current});
    indices(update.place.steps), children(), changes(update.place);
  }
  void operator()(Of<Scatter>& scatter) { axes(scatter.axes), children(); }
  void operator()(Of<Within>& within) {
    defines({within.local});
    indices(within.place.steps), children(), changes(within.place);
  }
  void operator()(Of<Loop>&) { children(); }
  void operator()(Of<For>& loop) { defines({loop.index}), children(); }
  void operator()(Of<Nest>& nest) {
    axes(nest.axes);
    const std::vector<NodeId>& parts = node_.children;
    const bool isReduce = nest.reduction == ops::MonoidKind::Combine;
    if (isReduce) defines({nest.left, nest.right}), parts_.child(parts[parts.size() - 2]); // the unit
    if (nest.filtered) parts_.child(parts[1]);
    parts_.child(parts[0]);
    if (isReduce) parts_.child(parts.back()); // how two are combined
  }
  void operator()(Of<CallTarget>& target) { children(), call(target); }
  void operator()(Of<BuiltinRef>&) { children(); }
  void operator()(Of<FormatSpec>&) { children(); }
  void operator()(Of<DerivativeRef>& ref) { children(), call(ref.target); }
  void operator()(Of<Arms>& arms) {
    children(); // what is matched
    for (auto& place : arms.places) indices(place.steps);
    for (auto& arm : arms.arms) {
      parts_.binds(arm.pattern);
      if (arm.guard.valid()) parts_.child(arm.guard);
      parts_.child(arm.body);
    }
    for (auto& place : arms.places) changes(place);
  }
  void operator()(Of<PatternRef>& ref) { children(), parts_.binds(ref.pattern); }
  void operator()(Of<OnDevice>&) { children(); }

private:
  void children() {
    for (NodeId child : node_.children)
      if (child.valid()) parts_.child(child);
  }
  void defines(const std::vector<LocalId>& locals) {
    for (LocalId local : locals) parts_.defines(local);
  }
  void sizes(Of<std::vector<DimId>>& dims) {
    for (auto& d : dims) parts_.size(d);
  }
  void axes(Of<std::vector<NestAxis>>& axes) {
    for (auto& axis : axes) parts_.size(axis.extent), parts_.defines(axis.index);
  }
  void indices(const std::vector<Step>& steps) {
    forEachIndex(steps, [this](NodeId index) { parts_.child(index); });
  }
  void lengths(Of<std::vector<Step>>& steps) {
    for (auto& step : steps)
      if (step.length) parts_.size(step.length);
  }
  void changes(Of<Place>& place) {
    lengths(place.steps);
    if (place.type) parts_.type(place.type);
    parts_.place(place);
  }
  void call(Of<CallTarget>& target) {
    sizes(target.dims);
    for (auto& arg : target.inouts) indices(arg.place.steps);
    parts_.calls(target);
    for (auto& arg : target.inouts) changes(arg.place);
  }

  NodeT& node_;
  NodeParts<NodeT>& parts_;
};

using Telling = NodeParts<const Node>;

} // namespace

void tellParts(const Node& node, Telling& parts) {
  std::visit(Teller<const Node>(node, parts), node.payload);
}
void tellParts(Node& node, NodeParts<Node>& parts) { std::visit(Teller<Node>(node, parts), node.payload); }

void forEachIndex(const std::vector<Step>& steps, OnNode f) {
  for (const Step& step : steps)
    for (NodeId index : {step.index, step.end})
      if (index.valid()) f(index);
}

void forEachChild(const Node& node, OnNode f) {
  struct Children : Telling {
    OnNode f;
    explicit Children(OnNode on) : f(on) {}
    void child(NodeId n) override { f(n); }
  } children(f);
  tellParts(node, children);
}

void forEachNode(const Instance& instance, NodeId n, OnNode f) {
  f(n);
  forEachChild(instance.nodes[n], [&](NodeId child) { forEachNode(instance, child, f); });
}

void forEachPlace(const Node& node, FunctionRef<void(const Place&)> f) {
  struct Places : Telling {
    FunctionRef<void(const Place&)> f;
    explicit Places(FunctionRef<void(const Place&)> on) : f(on) {}
    void place(const Place& p) override { f(p); }
  } places(f);
  tellParts(node, places);
}

void forEachPattern(const Instance& instance, PatternId pattern, FunctionRef<void(const Pattern&)> f) {
  const Pattern& p = instance.patterns[pattern];
  f(p);
  for (PatternId sub : p.subs) forEachPattern(instance, sub, f);
}

const CallTarget* targetOf(const Node& node) {
  struct Target : Telling {
    const CallTarget* found = nullptr;
    void calls(const CallTarget& target) override { found = &target; }
  } target;
  tellParts(node, target);
  return target.found;
}

void collectSymbols(const Node& node, const types::TypeStore& types, std::vector<DimSym>& used) {
  struct Sizes : Telling {
    const types::TypeStore& types;
    std::vector<DimSym>& used;
    Sizes(const types::TypeStore& store, std::vector<DimSym>& out) : types(store), used(out) {}
    void size(const DimId& d) override {
      if (d) types.dims.collectSymbols(d, used);
    }
    void type(const TypeId& t) override { types.collectSymbols(t, used); }
  } sizes(types, used);
  types.collectSymbols(node.type, used);
  tellParts(node, sizes);
}

bool Names::meets(const Names& other) const {
  auto common = [](const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(), [&](auto x) { return b.contains(x); });
  };
  return common(locals, other.locals) || common(sizes, other.sizes);
}

void collectDefined(const Instance& instance, NodeId n, Names& names) {
  struct Defined : Telling {
    const Instance& instance;
    Names& names;
    Defined(const Instance& of, Names& out) : instance(of), names(out) {}
    void defines(LocalId local) override {
      names.locals.insert(local);
      if (DimSym size = instance.locals[local].asDim) names.sizes.insert(size);
    }
    void binds(PatternId id) override {
      forEachPattern(instance, id, [this](const Pattern& p) {
        if (p.local) defines(p.local);
        names.sizes.insert(p.unpacked.begin(), p.unpacked.end());
      });
    }
  } defined(instance, names);
  forEachNode(instance, n, [&](NodeId at) {
    const Node& node = instance.nodes[at];
    names.sizes.insert(node.resultDims.begin(), node.resultDims.end());
    tellParts(node, defined);
  });
}

void collectChanged(const Instance& instance, NodeId n, std::set<LocalId>& roots) {
  forEachNode(instance, n, [&](NodeId at) {
    forEachPlace(instance.nodes[at], [&](const Place& place) { roots.insert(place.root); });
  });
}

void collectRead(const Instance& instance, const types::TypeStore& types, NodeId n, Names& names) {
  struct Read : Telling {
    std::set<LocalId> locals;
    void reads(LocalId local) override { locals.insert(local); }
    void place(const Place& p) override { locals.insert(p.root); }
  } read;
  Names own;
  collectDefined(instance, n, own);
  std::vector<DimSym> used;
  forEachNode(instance, n, [&](NodeId at) {
    tellParts(instance.nodes[at], read);
    collectSymbols(instance.nodes[at], types, used);
  });
  for (LocalId l : read.locals)
    if (!own.locals.contains(l)) names.locals.insert(l);
  for (DimSym s : used)
    if (!own.sizes.contains(s)) names.sizes.insert(s);
}

} // namespace melix::check
