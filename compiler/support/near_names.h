#pragma once
// Which known name a misspelt one was meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace melix {

/// Whether inserting, deleting or changing one character, or swapping two neighbours, makes `b` of `a`.
/// Digits are not misspelt: `layer2` is another name than `layer1`.
bool isOneEdit(std::string_view a, std::string_view b);

/// What inserting, deleting or changing a letter or `_`, or swapping two neighbours, makes of a name.
std::vector<std::string> editsOf(std::string_view name);

/// The known name that is nearest to `wrong`; empty if none is near enough to have been meant. Near is, in
/// this order, of equally near ones the first:
///   the same letters, apart from case and `_`;
///   a name of `shortestMisspelt` characters or more that one edit leads to;
///   whole words of `wrong`, or a name of which `wrong` is whole words: together four letters and half of the
///   longer name at least, as `cross_entropy` in `cross_entropy_loss`, or `size` in `sizes`.
std::string_view nearestName(std::string_view wrong, const std::vector<std::string_view>& known);

/// In a shorter name an edit changes too much: `cov` is not `cos`.
inline constexpr size_t shortestMisspelt = 5;

} // namespace melix
