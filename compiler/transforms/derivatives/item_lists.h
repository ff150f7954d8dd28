#pragma once
// How the items of the iterations of a `while` are kept. How many iterations there will be is not known, so
// an iteration pushes its items: items that are numbers and small arrays of numbers to a List for each type
// of number, all others as one record. So a small array takes no block of its own. A number goes with the
// arrays of its type; without any, numbers stay in the record.
//
//   items of an iteration          (%d: f64, %x: f64[N], %k: i64, %s: str)
//   forward companion        push %kept, (%k, %s)      push %numbers, each of %x, then %d
//   backward, of iteration %t     %x[i] = get %numbers<%t * (N + 1) + i>   %d = get %numbers<%t * (N + 1) +
//   N>

#include "transforms/derivatives/derivative_context.h"
#include "types/leaves.h"

namespace melix::transforms {

struct ItemLists {
  /// A leaf of an item: a number, or an array of numbers.
  struct Part {
    size_t item;
    types::Leaf leaf;
    DimId at; ///< its place among the numbers of an iteration
  };
  /// A List of numbers of one type.
  struct Row {
    TypeId number;
    std::vector<Part> parts; ///< arrays, then numbers; an item has its leaves in order
    DimId size;              ///< how many numbers an iteration has
  };
  std::vector<size_t> records; ///< items that a List of records keeps
  std::vector<Row> rows;
};

/// Of the items of the body; with the sizes of the source. The List of records comes first, if there is
/// one, then one for each row.
ItemLists itemListsOf(types::TypeStore& types, std::span<const ResidualItem> items);

/// The element of a List of records of these items.
TypeId recordOfItems(types::TypeStore& types, std::span<const ResidualItem> items, const ItemLists& lists);

/// The List `numbers` with the numbers of a leaf of `item` after it.
ValueId pushLeaf(Emit& e, ValueId numbers, ValueId item, const types::Leaf& leaf);

/// Where the numbers of a leaf stand.
struct LeafNumbers {
  ValueId list, at;
};
/// The item of a type whose leaves these are.
ValueId itemOf(Emit& e, TypeId type, std::span<const LeafNumbers> leaves);

} // namespace melix::transforms
