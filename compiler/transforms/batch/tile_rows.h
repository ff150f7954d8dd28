#pragma once
// Tiles nests over rows (strip-mining): a loop takes some rows at a time, and its body is a nest over these
// rows. Arrays that batching makes then have the rows of one tile.
//
//   before:  %s = nest (b: B) -> sum { … %x … yield %u }
//   after:   %s = for (B + K - 1) / K, 0 { (%t, %sum)
//              %from = %t * K   bind m = min(K, B - %from)
//              %u = nest (i: m) -> sum { … of row %from + i … }
//              yield %sum + %u }
//
// A nest is tiled if it has products that batching takes, and no row of it is in memory otherwise: it gives
// nothing by row, and reads no rows of an array row by row. As many rows are a tile as have `tileElements`
// elements, in steps of 64. Any other nest has arrays of all rows around it already.
// If a number of rows is given, each nest with such products is tiled by at most so many rows, if it
// collects, sums numbers and adds to accumulators only. Tests compare the bits of rows by that.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values of rows, every effect and
// their order. Sums of floats are sums of tiles, added in order.

#include "transforms/batch/batching_log.h"

namespace melix::transforms {

inline constexpr int64_t tileElements = int64_t(1) << 21;

/// Whether anything changed. Writes its decisions into a log, if one is given.
bool tileRows(core::Module& module, std::optional<int64_t> mostRows, BatchingLog* log = nullptr);

} // namespace melix::transforms
