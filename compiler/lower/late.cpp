#include "lower/late.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

namespace {

bool isChoice(NodeKind kind) { return kind == NodeKind::If || kind == NodeKind::Match; }

/// Whether it makes a form of its first child: a function value, of several too, or claimed sizes.
bool isForm(const Instance& instance, const types::TypeStore& types, NodeId n) {
  const Node& node = instance.nodes[n];
  return node.kind == NodeKind::ToClosure || node.kind == NodeKind::CastDims ||
         (isChoice(node.kind) && types.kind(node.type) == types::TypeKind::Function);
}

/// Whether what the branches of `choice` do is to name functions.
bool namesFunctions(const Instance& instance, const Node& choice) {
  bool named = true;
  forEachChild(choice, [&](NodeId child) {
    if (child == choice.children[0]) return;
    forEachNode(instance, child, [&](NodeId n) {
      switch (instance.nodes[n].kind) {
      case NodeKind::ToClosure:
      case NodeKind::Known:
      case NodeKind::Local:
      case NodeKind::Const:
      case NodeKind::Block:
      case NodeKind::If:
      case NodeKind::Match: return;
      default: named = false;
      }
    });
  });
  return named;
}

template <class T>
bool meet(const std::set<T>& one, const std::set<T>& other) {
  return std::any_of(one.begin(), one.end(), [&](const T& item) { return other.contains(item); });
}

} // namespace

std::vector<size_t> formedLate(const Instance& instance, const types::TypeStore& types,
                               const std::vector<NodeId>& children) {
  std::vector<size_t> late;
  const auto mayBe = [&](NodeId n) { return isForm(instance, types, n); };
  if (children.size() < 2 || std::none_of(children.begin(), children.end() - 1, mayBe)) return late;
  Names behind;
  std::set<LocalId> changed;
  for (size_t k = children.size(); k-- > 0;) {
    const NodeId n = children[k];
    const Node& node = instance.nodes[n];
    if (mayBe(n) && !behind.sizes.empty()) {
      Names read;
      collectRead(instance, types, n, read);
      const bool waits =
          !isChoice(node.kind) || (namesFunctions(instance, node) && !meet(read.locals, changed));
      if (waits && meet(read.sizes, behind.sizes)) late.insert(late.begin(), k);
    }
    collectDefined(instance, n, behind);
    collectChanged(instance, n, changed);
  }
  return late;
}

} // namespace melix::lower
