#pragma once
// How the items of the turns of a `while` are kept. How many turns there will be is not known, so a turn
// pushes what it keeps: items that are numbers and small arrays of numbers to a List for each type of number,
// all others as one record. So a small array takes no block of its own. A number goes with the arrays of its
// type; without any, numbers stay in the record.
//
//   items of a turn          (%d: f64, %x: f64[N], %k: i64, %s: str)
//   forward companion        push %kept, (%k, %s)      push %numbers, each of %x, then %d
//   backward, of turn %t     %x[i] = get %numbers<%t * (N + 1) + i>   %d = get %numbers<%t * (N + 1) + N>

#include "transforms/derivatives/derivative_context.h"
#include "types/leaves.h"

namespace melix::transforms {

struct TurnLists {
  /// A leaf of an item: a number, or an array of numbers.
  struct Part {
    size_t item;
    types::Leaf leaf;
    DimId at; ///< its place among the numbers of a turn
  };
  /// A List of numbers of one type.
  struct Row {
    TypeId number;
    std::vector<Part> parts; ///< arrays, then numbers; those of an item in the order of its leaves
    DimId size;              ///< how many numbers a turn has
  };
  std::vector<size_t> records; ///< items that a List of records keeps
  std::vector<Row> rows;
};

/// Of the items of the body; the sizes are those of the source. The List of records comes first, if there is
/// one, then one for each row.
TurnLists turnListsOf(types::TypeStore& types, std::span<const ResidualItem> items);

/// The element of a List of records of these items.
TypeId recordOfTurn(types::TypeStore& types, std::span<const ResidualItem> items, const TurnLists& lists);

/// The List `numbers` with those of a leaf of `item` behind it.
ValueId pushLeaf(Emit& e, ValueId numbers, ValueId item, const types::Leaf& leaf);

/// Where the numbers of a leaf stand.
struct LeafNumbers {
  ValueId list, at;
};
/// The item of a type whose leaves these are.
ValueId itemOf(Emit& e, TypeId type, std::span<const LeafNumbers> leaves);

} // namespace melix::transforms
