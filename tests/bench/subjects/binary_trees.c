// Complete binary trees of a depth: made, counted and dropped.
#include "timing.h"

typedef struct Tree {
  struct Tree *left, *right;
} Tree;

APART static Tree* grow(int64_t depth) {
  if (depth == 0) return NULL;
  Tree* t = malloc(sizeof *t);
  if (!t) exit(3);
  t->left = grow(depth - 1);
  t->right = grow(depth - 1);
  return t;
}

APART static int64_t nodes(const Tree* t) { return t ? 1 + nodes(t->left) + nodes(t->right) : 1; }

APART static void drop(Tree* t) {
  if (!t) return;
  drop(t->left);
  drop(t->right);
  free(t);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t depth = argument(argv, 1), count = 0;
  MEASURE("grow_count_drop", count, {
    Tree* t = grow(black_box(depth));
    count = nodes(t);
    drop(t);
  })
  return 0;
}
