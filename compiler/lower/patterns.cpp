#include "lower/patterns.h"

#include <algorithm>

namespace melix::lower {

using check::Instance;
using check::LocalId;
using check::Pattern;
using check::PatternId;
using check::PatternKind;

bool isIrrefutable(const Instance& instance, PatternId id) {
  const Pattern& p = instance.patterns[id];
  switch (p.kind) {
  case PatternKind::Wildcard:
  case PatternKind::Bind:
  case PatternKind::BindPlace: return true;
  case PatternKind::Parts:
    return std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return isIrrefutable(instance, s); });
  default: return false;
  }
}

bool bindsPlace(const Instance& instance, PatternId id) {
  const Pattern& p = instance.patterns[id];
  return p.kind == PatternKind::BindPlace ||
         std::any_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return bindsPlace(instance, s); });
}

bool changesPlace(const Instance& instance, PatternId id, const std::set<LocalId>& assigned) {
  const Pattern& p = instance.patterns[id];
  if (p.kind == PatternKind::BindPlace) return assigned.contains(p.local);
  return std::any_of(p.subs.begin(), p.subs.end(),
                     [&](PatternId s) { return changesPlace(instance, s, assigned); });
}

void namesOf(const Instance& instance, PatternId id, std::vector<LocalId>& locals,
             std::vector<types::DimSym>& sizes) {
  const Pattern& p = instance.patterns[id];
  if (p.local) locals.push_back(p.local);
  sizes.insert(sizes.end(), p.unpacked.begin(), p.unpacked.end());
  for (size_t k = 0; k < p.subs.size() && (k == 0 || p.kind != PatternKind::Or); ++k)
    namesOf(instance, p.subs[k], locals, sizes);
}

} // namespace melix::lower
