#include "core/ir/trace_name.h"

namespace melix::core {

std::string traceName(std::string_view name) {
  std::string_view own = name;
  for (bool found = true; found;) {
    found = false;
    for (std::string_view made : {"jvp(", "fwd(", "bwd("}) {
      if (!own.starts_with(made) || !own.ends_with(')')) continue;
      own = own.substr(made.size(), own.size() - made.size() - 1);
      found = true;
    }
  }
  return std::string(own) + (own.size() == name.size() ? "" : " (derivative)");
}

} // namespace melix::core
