#pragma once
// Facts about a pattern that hold before there is a value.

#include "check/tree/typed.h"

#include <set>

namespace melix::lower {

/// Whether it matches every value of its type.
bool isIrrefutable(const check::Instance& instance, check::PatternId p);
bool bindsPlace(const check::Instance& instance, check::PatternId p);
/// Whether it binds a place that is among the variables `assigned`.
bool changesPlace(const check::Instance& instance, check::PatternId p,
                  const std::set<check::LocalId>& assigned);
/// The locals that it binds, and the sizes it names.
void namesOf(const check::Instance& instance, check::PatternId p, std::vector<check::LocalId>& locals,
             std::vector<types::DimSym>& sizes);

} // namespace melix::lower
