#pragma once
// Random sums over what two sides say, as programs.

#include "fuzz/run.h"

#include <string>

namespace melix::fuzz {

/// A program that prints all numbers of a contraction, and of its gradient where there is one: sides of none
/// to 70, some thousands to sum, sizes known or not, read as they lie, transposed, in batches, through
/// indices, as windows of any stride and hole (of images with channels, too), from a field, less something,
/// scaled; a product, a distance or a term under a mask; with a bias, a scale, an activation; in either order
/// of its rows and columns; and sums, or the best, of such sums, with a matrix for each of
/// some parts; chains that keep what they carry, forwards and backwards; among
/// the numbers now and then infinities and negative zeros.
std::string randomContraction(Random& random);
/// The same of some layers for each of a batch: products, soft-max to all places or those of a mask, also row
/// by row, norms; of arrays, some that indices choose which may be known before or not, in branches, loops
/// and nests of batches, of lists; with gradients of each and of all.
std::string randomBatch(Random& random);

} // namespace melix::fuzz
