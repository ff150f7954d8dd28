#include "core/ir/monoid.h"

namespace melix::core {

bool isExact(MonoidKind monoid, TypeKind kind) {
  return infoOf(monoid).op.has_value() && !isRounded(monoid, kind);
}

} // namespace melix::core
