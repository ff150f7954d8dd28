#pragma once
// Finds the known name that a misspelt name most likely means.

#include <string>
#include <string_view>
#include <vector>

namespace melix {

/// Whether inserting, deleting or changing one character, or swapping two neighbours, makes `b` of `a`.
/// Digits are not misspelt: `layer2` is another name than `layer1`.
bool isOneEdit(std::string_view a, std::string_view b);

/// The results of inserting, deleting or changing a letter or `_`, or swapping two neighbours, in a name.
std::vector<std::string> editsOf(std::string_view name);

/// The known name that is nearest to `wrong`; empty if none is near enough to have been meant. A name is near
/// by one of these criteria, an earlier one before a later one. Of equally near names the first is taken.
/// 1. It has the same letters, except for case and `_`.
/// 2. It has `shortestMisspelt` characters or more, and one edit leads to it.
/// 3. It is whole words of `wrong`, or `wrong` is whole words of it. Together the words have four letters and
///    half of the longer name at least, as `cross_entropy` in `cross_entropy_loss`, or `size` in `sizes`.
std::string_view nearestName(std::string_view wrong, const std::vector<std::string_view>& known);

/// In a shorter name an edit changes too much: `cov` is not `cos`.
inline constexpr size_t shortestMisspelt = 5;

} // namespace melix
