#include "syntax/ast.h"

#include <gtest/gtest.h>

namespace melix::syntax {
namespace {

TEST(Ast, ChildrenComeInSourceOrder) {
  Ast ast;
  Interner names;
  NodeId a = ast.add(NodeKind::Name, {}, Name{names.intern("a")});
  NodeId b = ast.add(NodeKind::Name, {}, Name{names.intern("b")});
  NodeId sum = ast.add(NodeKind::Binary, {}, Binary{BinaryOp::Add, a, b, {}});
  std::vector<NodeId> seen;
  forEachChild(ast, sum, [&](NodeId child) { seen.push_back(child); });
  EXPECT_EQ(seen, (std::vector<NodeId>{a, b}));
}

TEST(Ast, MissingChildrenAreNotVisited) {
  Ast ast;
  NodeId ret = ast.add(NodeKind::Return, {}, One{});
  forEachChild(ast, ret, [](NodeId) { FAIL() << "`return` without a value has no child"; });
}

TEST(Ast, DumpsAreAnOutline) {
  Ast ast;
  Interner names;
  NodeId one = ast.add(NodeKind::IntLit, {}, Text{"1"});
  NodeId minus = ast.add(NodeKind::Unary, {}, Unary{UnaryOp::Neg, one});
  ast.root = ast.add(NodeKind::Module, {}, Many{{minus}});
  EXPECT_EQ(dump(ast, names), "module\n  unary -\n    int 1\n");
}

TEST(Ast, EveryKindHasAText) {
  for (int k = 0; k <= static_cast<int>(NodeKind::CheckItem); ++k)
    EXPECT_FALSE(nodeText(static_cast<NodeKind>(k)).empty());
}

} // namespace
} // namespace melix::syntax
