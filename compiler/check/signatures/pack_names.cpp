#include "check/signatures/pack_names.h"

#include <string>

namespace melix::check {

NameId packDimName(Interner& names, NameId pack, size_t axis) {
  if (names.isMarked(pack))
    return names.marked(packDimName(names, names.unmarkedOnce(pack), axis), names.markOf(pack));
  return names.intern(std::string(names.text(pack)) + "#" + std::to_string(axis));
}

std::optional<PackAxis> packAxisOf(Interner& names, NameId dim) {
  if (names.isMarked(dim)) {
    std::optional<PackAxis> axis = packAxisOf(names, names.unmarkedOnce(dim));
    if (axis) axis->pack = names.marked(axis->pack, names.markOf(dim));
    return axis;
  }
  const std::string text(names.text(dim));
  const size_t at = text.find('#');
  if (at == std::string::npos) return std::nullopt;
  return PackAxis{names.intern(text.substr(0, at)), std::stoul(text.substr(at + 1))};
}

} // namespace melix::check
