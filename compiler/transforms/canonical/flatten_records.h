#pragma once
// Flattens records: the leaves of a tuple, a struct, a known function or a flat enum replace it, and an array
// of these is an array for each leaf.
//
//   before:  fn f (%p: (f32, f32[N])) -> ((f32, f32[N])) { %a = get %p.0 … %q = set %p.0 = %b  yield %q }
//   after:   fn f (%p_0: f32, %p_1: f32[N]) -> (f32) { … yield %b }      callers go on with their %p_1
//
//   before:  %x = get %b[%i].0[%k]          %b: Body[][N], with at: f64[3] and mass: f64
//   after:   %x = get %b_at[%i, %k]         %b_at: f64[N, 3], %b_mass: f64[N]
//
//   before:  %r = match %kind cases[0, 1] {} {%year → …}     %kind: Kind, with Star and Planet(year: f64)
//   after:   %r = match %kind_tag cases[0, 1] {} {…}         %kind_tag: bool, %kind_0: f64
//
// Parameters, results, carries, results of branches, reductions and accumulators are leaves then
// (RecordsFlat). A result that is a parameter goes, so callers see that a part stays; a parameter or result
// that nobody needs goes, round recursion too. flatten_rules.def has a rule for each op. A record is whole
//   1. in memory, as an element of a list, a payload, the inside of a pack: it is put together before it is
//      stored, and split where it is loaded;
//   2. where a function is called from outside or has a derivative rule of its own;
//   3. if it has no leaf, or more than `types::mostLeaves`; a result is split up to `mostInResults`.
// Requires: verified Core without derivatives and function values. Keeps: all values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Leaves of a result that its function yields one by one: the caller puts a larger record together from
/// these.
inline constexpr size_t mostInResults = 256;

/// The rule for an op with operands or results that are records.
enum class FlattenRule : uint8_t {
  Leaf,     ///< it gives no record, and takes one only as it is stored
  Parts,    ///< it goes: its leaves are the leaves of its operands
  Case,     ///< the same in slots, with a tag; a box that is stored, if the enum is not flat
  Place,    ///< the place is one of the leaves, or some of them
  Each,     ///< an op for each leaf
  Memory,   ///< it stores or loads whole records
  Elements, ///< it becomes an iteration over the elements
  Region,   ///< its slots and the parameters of its regions are leaves
  Call,     ///< arguments and results are leaves
  Gone,     ///< it is not there any more
};
FlattenRule flattenRuleOf(ops::OpKind kind);

/// Whether anything changed.
bool flattenRecords(core::Module& module);

} // namespace melix::transforms
